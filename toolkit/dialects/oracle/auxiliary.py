"""DUPLICATE to an auxiliary instance, and RESTORE on another host, as scripts: dbatk runs neither.

The copy has a name, a folder and parameters of its own; a file of the database can be hit by none of its names.
Sources: RMAN Reference 19, DUPLICATE, SET (NEWNAME FOR DATABASE, with %b and %f); Backup and Recovery User's
Guide, "Duplicating Databases", "Restoring a Database on a New Host"; Database Reference, DB_NAME (8 characters).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from toolkit.dialects.auxiliaries import AuxiliaryRequest
from toolkit.dialects.oracle.backup import facts as known
from toolkit.dialects.oracle.backup.script import channel_names
from toolkit.dialects.oracle.backup.texts import fits
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.values import Row
from toolkit.model.words import CopyForm, StepKind

FILES, DATABASE, CONTAINER = "auxiliary_files", "doctor_database", "doctor_container"
_NAME = re.compile(r"[A-Z][A-Z0-9]{0,7}")


class OracleAuxiliary:
    """The scripts of RMAN, of SQL*Plus, and the parameters of the instance."""

    def reads(self, release: Release) -> tuple[Query, ...]:
        container = (Query(CONTAINER, CONTAINER),) if has(release, Feature.PLUGGABLE) else ()
        configured = Query(known.CONFIGURATION, known.CONFIGURATION, optional=True)
        return (Query(FILES, FILES), Query(DATABASE, DATABASE), configured, *container)

    def check(self, request: AuxiliaryRequest, facts: Facts) -> None:
        _check_container(facts)
        _check_name(request, facts)
        _check_folder(request, facts)

    def needs_bytes(self, facts: Facts) -> int:
        sizes = {(row.get("kind"), row.get("file_number")): row.get("byte_count") for row in facts.rows(FILES)}
        return sum(int(size) for size in sizes.values() if isinstance(size, int | float))

    def scripts(self, request: AuxiliaryRequest, facts: Facts) -> Mapping[str, Call]:
        check = Call("auxiliary_check", {"name": request.name, "tables": request.tables})
        return {
            f"init{request.name}.ora": _parameters(request, facts),
            f"{request.form}.rman": _rman(request, facts),
            "check.sql": check,
        }

    def steps(self, request: AuxiliaryRequest, facts: Facts) -> tuple[str, ...]:
        database = str(facts.value(DATABASE, "database_name"))
        start = f"sqlplus / as sysdba: STARTUP NOMOUNT PFILE='init{request.name}.ora'"
        check = "sqlplus / as sysdba @check.sql"
        if request.tables and _is_root(facts):
            check += ", after ALTER SESSION SET CONTAINER to the pluggable database that has the tables"
        end = f"to end it: sqlplus / as sysdba, SHUTDOWN ABORT, then remove {request.folder}"
        named = f"export ORACLE_SID={request.name}, and mkdir -p {request.folder}/archive"
        if request.form is CopyForm.DUPLICATE:
            run = f"rman target /@{database} auxiliary / cmdfile duplicate.rman (a wallet has its password)"
            return (named, start, run, check, end)
        other = f"on another host than that of {database}, with its backups under the same paths"
        ends = "" if request.until else " (which ends with RMAN-06054 where there is no more redo)"
        run = f"rman target / cmdfile restore.rman{ends}; then ALTER DATABASE OPEN RESETLOGS"
        return (other, named, start, run, check, end)


AUXILIARY = OracleAuxiliary()


def _is_root(facts: Facts) -> bool:
    return facts.value(CONTAINER, "container_name") == "CDB$ROOT"


def _check_container(facts: Facts) -> None:
    container = facts.value(CONTAINER, "container_name")
    if container in (None, "CDB$ROOT") or container == facts.value(DATABASE, "database_name"):
        return
    raise ToolkitError(
        f"the session is in the pluggable database {container}: a copy is made of the whole database",
        code="TK-0107",
        hint="connect to the root (CDB$ROOT)",
    )


def _check_name(request: AuxiliaryRequest, facts: Facts) -> None:
    if _NAME.fullmatch(request.name) is None:
        raise ToolkitError(
            f"`{request.name[:40]}` cannot be the name of an instance here",
            code="TK-0102",
            hint="give 1 to 8 capital letters and digits, a letter first, as DB_NAME has them",
        )
    taken = {str(facts.value(DATABASE, key) or "").upper() for key in ("database_name", "db_unique_name")}
    taken.add(str(facts.value("server", "instance_name") or "").upper())
    if request.name in taken:
        raise ToolkitError(
            f"`{request.name}` is the name of the database itself: the copy would take its place",
            code="TK-0305",
            hint="give the auxiliary instance another name",
        )


def _check_folder(request: AuxiliaryRequest, facts: Facts) -> None:
    folder = request.folder
    if not folder.startswith("/") or not fits("rman_format", folder) or "%" in folder or ".." in folder:
        raise ToolkitError(
            f"`{folder[:100]}` cannot be the folder of the copy",
            code="TK-0102",
            hint="give its full path, without quotes and signs that mean something to RMAN (`?`, `@`, `&`, `%`)",
        )
    here = PurePosixPath(folder)
    for row in facts.rows(FILES):
        theirs = PurePosixPath(str(row.get("file_name") or "")).parent
        if str(theirs).startswith("/") and (here.is_relative_to(theirs) or theirs.is_relative_to(here)):
            raise ToolkitError(
                f"`{folder}` is where the database has its own files (`{row['file_name']}`)",
                code="TK-0305",
                hint="give a folder that holds nothing of the database",
            )


def _parameters(request: AuxiliaryRequest, facts: Facts) -> Call:
    original = str(facts.value(DATABASE, "database_name"))
    values: dict[str, ContextValue] = {
        "database": request.name if request.form is CopyForm.DUPLICATE else original,
        "name": request.name,
        "control_file": f"{request.folder}/control01.ctl",
        "archive": f"LOCATION={request.folder}/archive",
        "pluggable": _is_root(facts),
        "memory_bytes": request.memory_bytes,
    }
    return Call("auxiliary_init.ora", values, kind=StepKind.SCRIPT)


def _rman(request: AuxiliaryRequest, facts: Facts) -> Call:
    logs = [row for row in facts.rows(FILES) if row.get("kind") == "log"]
    if not logs:
        raise ToolkitError(
            "V$LOG shows no online logs, which the copy needs, too",
            code="TK-0203",
            hint="GRANT SELECT ON SYS.V_$LOG and SYS.V_$LOGFILE to this user",
        )
    values: dict[str, ContextValue] = {
        "name": request.name,
        "dbid": str(facts.value(DATABASE, "dbid")),
        "channels": channel_names(request.channels),
        "newname": f"{request.folder}/%f_%b",
        "until": request.until,
        "autobackup": _autobackup(facts),
        **(_groups(request, logs) if request.form is CopyForm.DUPLICATE else _members(request, logs)),
    }
    return Call(f"auxiliary_{request.form}", values, kind=StepKind.RMAN)


def _autobackup(facts: Facts) -> str | None:
    """Return where autobackups of the control file are, where it is configured to be elsewhere than by default."""
    configured = known.configured(facts, "CONTROLFILE AUTOBACKUP FORMAT FOR DEVICE TYPE")
    found = re.search(r"DISK TO '([^']+)'", str(configured or ""))
    return found[1] if found and fits("rman_format", found[1]) else None


def _groups(request: AuxiliaryRequest, logs: list[Row]) -> dict[str, tuple[str, ...]]:
    sizes = {str(row["file_number"]): int(float(str(row["byte_count"] or 0))) for row in logs}
    return {
        "groups": tuple(sizes),
        "files": tuple(f"{request.folder}/redo{group}.log" for group in sizes),
        "bytes": tuple(f"{max(4, -(-size // 2**20))}M" for size in sizes.values()),
    }


def _members(request: AuxiliaryRequest, logs: list[Row]) -> dict[str, tuple[str, ...]]:
    names = tuple(str(row["file_name"]) for row in logs)
    return {
        "members": names,
        "files": tuple(f"{request.folder}/redo{number}.log" for number in range(1, len(names) + 1)),
    }
