"""Which snapshots may be taken of an Oracle database, best first: AWR, Statspack, V$ counters; and why.

AWR is taken only where the Diagnostics Pack is declared (on Autonomous Database it is included) and
`control_management_pack_access` does not switch it off: without rows a snapshot is useless. Statspack needs no
licence, but must have been installed and granted. Sources: F1, F4 and F5 of the field guide: Licensing
Information; Database Reference, DBA_HIST_SNAPSHOT; Multitenant Administrator's Guide; spdoc.txt.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.dialects.oracle import places
from toolkit.dialects.oracle.licences import DIAGNOSTICS, look
from toolkit.dialects.oracle.licences.context import context_of, judge, refuse
from toolkit.dialects.oracle.places import ServiceLimit
from toolkit.dialects.oracle.releases import Feature, has
from toolkit.dialects.repositories import Repository, RepositorySnapshot, SnapshotSource
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import Row

FILES = ("cloud_service", "doctor_container", "doctor_database", "doctor_marks", "doctor_pdb", "pack_access")
STATSPACK_FILE = "statspack_visible"
VSTAT = "vstat"


# -- the reports of the database itself (PL/SQL Packages Reference, DBMS_WORKLOAD_REPOSITORY) -------------------
def report_call(
    begin: RepositorySnapshot,
    end: RepositorySnapshot,
    other: tuple[RepositorySnapshot, RepositorySnapshot] | None = None,
    *,
    whole: bool = False,
    html: bool = True,
) -> Call:
    """Return the call of a report.

    Args:
        begin: the first snapshot.
        end: the last one.
        other: those of a second period: then Oracle's own comparison of the two.
        whole: of the whole cluster instead of one instance.
        html: as a page; else as text.
    """
    values: dict[str, str | int] = {
        "dbid": begin.dbid, "instance": begin.instance, "first_snap": begin.snapshot, "last_snap": end.snapshot,
    }  # fmt: skip
    words = ["AWR", *(["GLOBAL"] if whole else []), *(["DIFF"] if other else []), "REPORT"]
    values["function"] = "_".join([*words, "HTML" if html else "TEXT"])
    if other is not None:
        values |= {"other_first": other[0].snapshot, "other_last": other[1].snapshot}
    return Call("_".join(words).lower(), values)


def report_text(rows: Iterable[Row]) -> str:
    """Join the lines of a report with line ends, as SQL*Plus spools it: a null row is an empty line."""
    lines = ("" if row.get("output") is None else str(row["output"]).rstrip("\n") for row in rows)
    return "\n".join(lines) + "\n"


# -- the sources ------------------------------------------------------------------------------------------------
def _deltas(prefix: str, *names: str) -> dict[str, Call]:
    return {name: Call(f"{prefix}_{name}", file=True) for name in names}


AWR = Repository(
    "awr",
    newest=Call("awr_newest", file=True),
    range=Call("awr_range", file=True),
    place=Call("awr_database", file=True),
    deltas=_deltas("awr", "sysstat", "time_model", "events", "host", "statements"),
    container=Call("awr_container", file=True),
    flags=Call("awr_flags", file=True),
    snap_template="awr_snapshot",
    extras=_deltas("awr", "texts", "parameters"),
    report=report_call,
)
STATSPACK = Repository(
    "statspack",
    newest=Call("statspack_newest", file=True),
    range=Call("statspack_range", file=True),
    place=Call("awr_database", file=True),
    deltas=_deltas("statspack", "sysstat", "time_model", "events", "host"),
    snap_template="statspack_snapshot",
    marked="statspack_marked",
    extras=_deltas("statspack", "statements", "texts", "parameters"),
)


def choose(wanted: str, facts: Facts, declared: frozenset[str], *, reading: bool = False) -> SnapshotSource:
    """Return the snapshot source that is taken.

    Args:
        wanted: `auto`, or the name of a snapshot source.
        facts: with the answers of `FILES`, and of `STATSPACK_FILE` where there is a schema PERFSTAT.
        declared: licences that the profile declares and that hold today.
        reading: snapshots are read, none is taken.

    Raises:
        ToolkitError: TK-0303 for AWR that is not declared, TK-0304 for what cannot be had here.
    """
    if wanted == AWR.provider:
        _refuse_undeclared(facts, declared)
        if why := None if reading else awr_refusal(facts):
            raise ToolkitError(f"no AWR snapshot can be taken: {why}", code="TK-0304", hint=_instead(facts))
        return SnapshotSource(AWR.provider, _awr_reason(facts, declared), AWR)
    if wanted == STATSPACK.provider:
        unasked = facts.assumed and "doctor_marks" not in facts.answers
        if why := None if unasked else statspack_refusal(facts, reading=reading):
            hint = "`vstat` needs no setup; `dbatk doctor --grants` lists what Statspack needs"
            raise ToolkitError(f"no Statspack snapshot can be taken: {why}", code="TK-0304", hint=hint)
        return SnapshotSource(STATSPACK.provider, "requested", STATSPACK)
    if wanted == VSTAT:
        return SnapshotSource(VSTAT, "requested")
    return _best(facts, declared, reading=reading)


def _best(facts: Facts, declared: frozenset[str], *, reading: bool) -> SnapshotSource:
    verdict = judge(DIAGNOSTICS, context_of(facts, declared))
    there = None if reading else awr_refusal(facts)
    no_awr = there if verdict.allowed else f"the Diagnostics Pack is a licence {verdict.reason}"
    if not no_awr:
        return SnapshotSource(AWR.provider, _awr_reason(facts, declared), AWR)
    no_statspack = statspack_refusal(facts, reading=reading)
    if not no_statspack:
        return SnapshotSource(
            STATSPACK.provider, f"no AWR: {no_awr}; Statspack is installed and granted", STATSPACK
        )
    return SnapshotSource(VSTAT, f"no AWR: {no_awr}; no Statspack: {no_statspack}")


def _awr_reason(facts: Facts, declared: frozenset[str]) -> str:
    return f"the Diagnostics Pack: {judge(DIAGNOSTICS, context_of(facts, declared)).reason}"


def _refuse_undeclared(facts: Facts, declared: frozenset[str]) -> None:
    refuse(look("BEGIN DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT('TYPICAL'); END;"), context_of(facts, declared))


def awr_refusal(facts: Facts) -> str | None:
    """Say why AWR cannot take a snapshot here, whatever is licensed."""
    if why := _not_writable(facts):
        return f"{why}; remote snapshots of a standby are not taken"
    name = facts.value("doctor_container", "container_name")
    in_pdb = name is not None and name not in {"CDB$ROOT", "PDB$SEED"} and _is_container(facts)
    if in_pdb and not has(facts.release, Feature.PDB_SNAPSHOTS):
        return "before 12.2, AWR snapshots can only be taken in the root, and this is a pluggable database"
    return None


def _is_container(facts: Facts) -> bool:
    # CON_ID is 0 in a database that is no container (Database Reference, USERENV).
    return str(facts.value("doctor_container", "container_id") or "0") not in {"0", "1"}


def statspack_refusal(facts: Facts, *, reading: bool = False) -> str | None:
    """Say why Statspack cannot take a snapshot here."""
    service = places.service_of(facts)
    if ServiceLimit.STATSPACK in service.barred:
        return service.barred[ServiceLimit.STATSPACK]
    if "doctor_marks" not in facts.answers:
        why = "no server was asked" if facts.assumed else facts.refused.get("doctor_marks", "it was not read")
        return f"whether it is installed is not known ({why})"
    if not any(row.get("schema_mark") == "PERFSTAT" for row in facts.rows("doctor_marks")):
        return "it is not installed (no schema PERFSTAT)"
    seen = {row.get("object_name") for row in facts.rows(STATSPACK_FILE)}
    if not {"STATSPACK", "STATS$SNAPSHOT"} <= seen:
        return "it is installed, but not granted to this user"
    return None if reading else _not_writable(facts)


def _not_writable(facts: Facts) -> str | None:
    role = facts.value("doctor_database", "database_role")
    mode = facts.value("doctor_pdb", "open_mode") or facts.value("doctor_database", "open_mode")
    if mode in (None, "READ WRITE"):
        return None
    return f"this database is a {role}, open {mode}" if role != "PRIMARY" else f"this database is open {mode}"


def _instead(facts: Facts) -> str:
    return "`--snapshot vstat` reads counters" if statspack_refusal(facts) else "`statspack` can be used here"
