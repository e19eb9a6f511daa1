"""Parameters that hold once the instance is started again: set in its server parameter file (SPFILE), by SYSDBA.

CREATE PFILE and CREATE SPFILE take SYSDBA or SYSOPER (SQL Language Reference), and the SPFILE of a pluggable
database's instance is the root's; so all of it is done by the client that the target's profile names, which
connects as SYSDBA on the host of the instance, whether that is up or down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolkit.dialects.settings import SystemChange
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError
from toolkit.model.settings import Setting
from toolkit.model.values import Row
from toolkit.model.words import Effect, StepKind

CLIENT = "oracle/sysdba"
"""Name of the step that such a client runs."""
PLACE, INSTANCE = "setting_spfile", "setting_instance"
_MARK = "DBATK|"
_ERROR = re.compile(r"^(?:ERROR:\s*)?((?:ORA|SP2|TNS)-\d{4,5}): ?(.*)")
_IS_DOWN = frozenset({"ORA-01034", "ORA-27101"})
"""Not available, and that its shared memory is not there: both are printed of an instance that is down."""
_OWN_NAME = re.compile(r"\+.*\.\d+\.\d+")
"""A name that ASM gave a file: none can be made with it."""


def error(status: int, lines: Sequence[str]) -> DatabaseError | None:
    """Tell from exit status and output how a client of SYSDBA failed; None when it did not.

    A client without the right to log on asks again and ends with 0 once its input is at an end, so that its
    messages count, too.
    """
    found = [match for line in lines if (match := _ERROR.match(line.strip()))]
    if found and status == 0:
        found = [match for match in found if match[1] not in _IS_DOWN]  # SHUTDOWN ABORT of what is down
    if found:
        last = found[-1]
        return DatabaseError("\n".join(lines), code=last[1], headline=f"{last[1]}: {last[2]}")
    if status == 0:
        return None
    said = next((line for line in reversed(lines) if line.strip()), "no output")
    return DatabaseError(
        "\n".join(lines), code=f"exit {status}", headline=f"the client of SYSDBA ended with {status}: {said}"
    )


class SpfileClient:
    """The client that connects as SYSDBA, and what it is asked."""

    def look(self, setting: Setting) -> Call:
        """Ask SYSDBA where the instance is, where its files are, and what the SPFILE has of a parameter."""
        return Call("spfile_look", {"name": setting.name}, kind=StepKind.SYSDBA)

    def seen(self, setting: Setting, lines: Sequence[str]) -> tuple[str, Row]:
        """Return what `look` printed as one row of the facts, and their key.

        Raises:
            ToolkitError: TK-0107 where it is not an answer, or what stands there could not be put back.
        """
        told: dict[str, list[str]] = {}
        for line in lines:
            if line.startswith(_MARK):
                word, _, rest = line.removeprefix(_MARK).partition("|")
                told.setdefault(word, []).append(rest.rstrip())
        if "place" not in told:
            raise ToolkitError(
                "the client that `sysdba` of the profile names gave no answer",
                code="TK-0107",
                hint=f"it must read statements from its standard input; it wrote: {' '.join(lines)[:200]}",
            )
        own = [entry.partition("|") for entry in told.get("set", [])]
        named = [sid for sid, _, _ in own if sid != "*"]
        if named:
            raise ToolkitError(
                f"the SPFILE has a value of `{setting.name}` for the instance `{named[0]}` alone",
                code="TK-0107",
                hint="set it for all (SID='*'), or measure each level by hand and `dbatk compare` the runs",
            )
        if len(own) > 1:
            raise ToolkitError(
                f"`{setting.name}` has a list of values", code="TK-0107", hint="measure each level by hand"
            )
        return PLACE, {
            "name": setting.name,
            "place": told["place"][0],
            "spfile": told.get("spfile", [""])[0],
            "folder": told.get("trace", [""])[0],
            "cluster": "cluster" in told,
            "written": own[0][2] if own else None,
        }


def change(
    setting: Setting, level: Mapping[str, ContextValue], former: Mapping[str, ContextValue] | None, facts: Facts,
    key: str,
) -> SystemChange:  # fmt: skip
    """Return how a level is written into the SPFILE, and back, after a copy of it was made.

    Args:
        setting: the parameter.
        level, former: the value as the template takes it, and that of the SPFILE; None where it has none.
        facts: with what `look` found.
        key: of the run, its attempt, and the copy, which carries it.

    Raises:
        ToolkitError: TK-0107 where there is no SPFILE, or the client is on another instance.
    """
    row = _row(setting, facts)
    copy = f"{row['folder']}/dbatk_{key}_{setting.name}.ora"
    back = ("spfile_reset", {"name": level["name"]}) if former is None else ("spfile_set", former)
    return SystemChange(
        (Call("spfile_set", level, kind=StepKind.SYSDBA, effect=Effect.CHANGES),),
        (Call(*back, kind=StepKind.SYSDBA),),
        setting.value or "",
        copy=Call("spfile_copy", {"copy": copy}, kind=StepKind.SYSDBA, effect=Effect.CHANGES),
        offline=Call("spfile_restore", {"spfile": row["spfile"], "copy": copy}, kind=StepKind.SYSDBA),
        up=Call("spfile_up", kind=StepKind.SYSDBA),
        kept=f"a copy of the SPFILE as it was stays on the server: {copy}",
    )


def _row(setting: Setting, facts: Facts) -> Row:
    row = next((row for row in facts.rows(PLACE) if row["name"] == setting.name), None)
    if row is None:
        raise ToolkitError(
            f"`{setting.name}` is set in the SPFILE, which takes a client that connects as SYSDBA",
            code="TK-0107",
            hint='name it in the profile of the target: `sysdba = ["sqlplus", "-L", "-S", "/", "as", "sysdba"]`',
        )
    here = facts.rows(INSTANCE)[0]["place"] if facts.rows(INSTANCE) else None
    if row["place"] != here:
        raise ToolkitError(
            f"the client that `sysdba` of the profile names is on `{row['place']}`, and the target is `{here}`",
            code="TK-0107",
            hint="let it connect to the instance of the target (ORACLE_SID, ORACLE_HOME)",
        )
    if row["cluster"]:
        raise ToolkitError(
            f"`{setting.name}` needs a restart, and the database is a cluster (CLUSTER_DATABASE): its instances "
            "have one SPFILE, which cannot be made anew while another one is up",
            code="TK-0107",
            hint="measure each level by hand and `dbatk compare` the runs",
        )
    if not row["spfile"] or not row["folder"]:
        lacking = "was started without an SPFILE" if not row["spfile"] else "has no folder of traces (V$DIAG_INFO)"
        raise ToolkitError(
            f"`{setting.name}` needs a restart, and the instance {lacking}",
            code="TK-0107",
            hint="CREATE SPFILE FROM PFILE, and start the instance with it" if not row["spfile"] else "",
        )
    if _OWN_NAME.fullmatch(str(row["spfile"])):
        raise ToolkitError(
            f"the SPFILE has a name that ASM gave it (`{row['spfile']}`), under which it could not be made anew",
            code="TK-0107",
            hint="give it an alias, and start the instance with that",
        )
    return row
