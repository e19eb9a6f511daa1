"""The database around a trial: its packs, its free space, who else may be at work, and the user's account."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle import places
from toolkit.dialects.oracle.degrees import number, parameters
from toolkit.dialects.oracle.names import package_name
from toolkit.dialects.oracle.space import tablespaces
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Scalar
from toolkit.units import byte_size, counted

_LITTLE = 1024**3
_DAYS_OF_WARNING = 14


# -- packs and Statspack -----------------------------------------------------------------------------------------
def _awr(facts: Facts) -> Iterator[Check]:
    value = parameters(facts).get("control_management_pack_access")
    declared = sorted(str(row["licence"]) for row in facts.rows("licences"))
    if places.service_of(facts).packs_included:
        yield Check("awr", "ok", f"{places.service_of(facts).words} includes the packs")
        return
    shown = f"control_management_pack_access is {value or 'not known'}"
    if "diagnostics_pack" not in declared:
        yield Check(
            "awr",
            "note",
            f"{shown}; the profile declares {', '.join(declared) or 'nothing'}",
            "the parameter is a switch, not proof of a licence: AWR, ASH and SQL Monitor are not read",
            "if licensed: dbatk target add NAME URL --license diagnostics_pack --licensed-by YOU",
        )
    elif value is not None and value.upper() == "NONE":
        yield Check(
            "awr",
            "warning",
            f"{shown}; the profile declares {', '.join(declared)}",
            "snapshots contain no rows while it is NONE",
            "have it set to DIAGNOSTIC, or use vstat",
        )
    else:
        yield Check("awr", "ok", f"{shown}; you declared {', '.join(declared)}")


def _statspack(facts: Facts) -> Iterator[Check]:
    if not any(row.get("schema_mark") == "PERFSTAT" for row in facts.rows("doctor_marks")):
        if "doctor_marks" in facts.answers:
            yield Check("statspack", "ok", "not installed; vstat is used instead")
        return
    seen = {row.get("object_name") for row in facts.rows("doctor_visible") if row.get("owner_name") == "PERFSTAT"}
    if {"STATSPACK", "STATS$SNAPSHOT"} <= seen:
        yield Check("statspack", "ok", "installed and readable")
    else:
        yield Check(
            "statspack",
            "note",
            "installed, not readable",
            "it is not used",
            "`dbatk doctor --grants` lists the grants",
        )


# -- space -------------------------------------------------------------------------------------------------------
def _tablespaces(facts: Facts) -> Iterator[Check]:
    own = facts.value("doctor_user", "default_tablespace")
    for row in tablespaces(facts):
        free, growth = _bytes(row, "free_byte_count"), _bytes(row, "growth_byte_count")
        name, evidence = row.get("tablespace_name"), f"{byte_size(free)} free, {byte_size(growth)} to grow"
        if free + growth >= _LITTLE:
            state, consequence = "ok", ""
        else:
            state, consequence = ("warning" if own in (None, name) else "ok"), "less than 1 GiB for the next trial"
        unclear = "; a bigfile on ASM may have more" if row.get("bigfile") == "YES" else ""
        yield Check(f"tablespace {name}", state, evidence + unclear, consequence)


def _quota(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_user")
    if not row:
        return
    place = row.get("default_tablespace")
    unlimited = any(one.get("privilege") == "UNLIMITED TABLESPACE" for one in facts.rows("doctor_privileges"))
    limit = row.get("quota_byte_count")
    if unlimited or (limit is not None and int(limit) < 0):
        yield Check("quota", "ok", f"unlimited on {place}")
    elif limit is None:
        user = facts.value("server", "user_name") or "the_user"
        yield Check(
            "quota",
            "problem",
            f"none on {place}",
            "no table can be created there (ORA-01950)",
            f'ALTER USER "{user}" QUOTA 50G ON "{place}"',
        )
    else:
        left = int(limit) - _bytes(row, "used_byte_count")
        yield Check(
            "quota",
            "ok" if left >= _LITTLE else "warning",
            f"{byte_size(left)} left of {byte_size(int(limit))} on {place}",
        )


def _temporary(facts: Facts) -> Iterator[Check]:
    rows = facts.rows("doctor_temp")
    if not rows:
        return
    names = ", ".join(str(row.get("tablespace_name")) for row in rows)
    free = sum(_bytes(row, "free_byte_count") for row in rows)
    group = facts.value("doctor_user", "temporary_tablespace")
    of_group = f", group {group}" if group and group not in names.split(", ") else ""
    state = "ok" if free >= _LITTLE else "warning"
    consequence = "" if state == "ok" else "a sort or an index build may end with ORA-01652"
    yield Check("temp", state, f"{byte_size(free)} free in {names}{of_group}", consequence)


def _surprises(facts: Facts) -> Iterator[Check]:
    values = parameters(facts)
    if (number(values, "resumable_timeout") or 0) > 0:
        yield Check(
            "resumable",
            "warning",
            f"resumable_timeout is {values['resumable_timeout']}",
            "running out of space suspends a statement instead of failing it",
            "ALTER SESSION DISABLE RESUMABLE (needs RESUMABLE), or watch DBA_RESUMABLE",
        )
    if values.get("recyclebin", "").upper() == "ON":
        yield Check(
            "recyclebin", "ok", "on; dbatk drops its tables with PURGE, a table dropped otherwise keeps its space"
        )


def _bytes(row: Row, name: str) -> int:
    value: Scalar = row.get(name)
    return int(value or 0)


# -- windows, triggers, statistics, passwords --------------------------------------------------------------------
def _windows(facts: Facts) -> Iterator[Check]:
    if "doctor_windows" not in facts.answers:
        return
    tasks = [str(row["item"]) for row in facts.rows("doctor_windows") if row.get("what") == "task"]
    windows = [row for row in facts.rows("doctor_windows") if row.get("what") == "window"]
    for row in windows:
        yield Check(
            "maintenance-window",
            "warning",
            f"{row.get('item')} is open, plan {row.get('resource_plan')}",
            f"{', '.join(tasks) or 'maintenance tasks'} may run during a trial, and its plan limits the CPU",
            "measure after it closes; never measure statistics during it",
        )
    if not windows:
        yield Check("maintenance-window", "ok", f"none open; enabled tasks: {', '.join(tasks) or 'none known'}")


def _triggers(facts: Facts) -> Iterator[Check]:
    rows = facts.rows("doctor_logon_triggers")
    if rows:
        names = ", ".join(f"{row.get('owner_name')}.{row.get('trigger_name')}" for row in rows)
        yield Check(
            "logon-trigger",
            "note",
            names,
            "may set degree policy, NLS or parallel DML for every session",
            "compare V$PARAMETER of a trial with what was set; dbatk's sessions set theirs after it",
        )
    elif "doctor_logon_triggers" in facts.answers:
        yield Check("logon-trigger", "ok", "none")


def _statistics(facts: Facts) -> Iterator[Check]:
    if parameters(facts).get("optimizer_use_pending_statistics", "").upper() == "TRUE":
        yield Check(
            "pending-statistics-used",
            "warning",
            "optimizer_use_pending_statistics is TRUE",
            "plans follow statistics that were not published",
            "set it to FALSE",
        )
    for row in facts.rows("doctor_statistics"):
        count, what = int(row.get("table_count") or 0), str(row.get("what"))
        if not count:
            continue
        evidence = f"{count} in your schema, such as {row.get('example')}"
        if what == "locked":
            yield Check("statistics-locked", "note", evidence, "gathering skips or rejects them (ORA-20005)")
        elif what == "pending":
            yield Check(
                "statistics-pending",
                "note",
                evidence,
                "gathered by another user and not published; dbatk never deletes them",
            )
        else:
            yield Check(
                "statistics-" + what.lower().replace(" ", "-"), "note", evidence, "it overrides the default"
            )


def _password(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_user")
    status, expires, now = row.get("account_status"), row.get("expires_at"), row.get("read_at")
    if status is not None and "GRACE" in str(status):
        yield Check(
            "password", "warning", f"account is {status}", "logons will soon fail", "change the password in time"
        )
    elif expires is not None and now is not None:
        days = (datetime.fromisoformat(str(expires)) - datetime.fromisoformat(str(now))).days
        if days < _DAYS_OF_WARNING:
            yield Check(
                "password",
                "warning",
                f"expires in {counted(days, 'day')}",
                "a long run may last longer",
                "change it first",
            )
        else:
            yield Check("password", "ok", f"expires in {counted(days, 'day')}")


# -- what waits to be mended --------------------------------------------------------------------------------------
_SHOWN = 5
_WAITING = {
    "unusable index": (
        "warning",
        "STATUS of ALL_INDEXES and of their partitions",
        "no query uses them, and changes of the table may fail (ORA-01502)",
        "dbatk index rebuild --schema {schema} --unusable-only",
    ),
    "unvalidated constraint": (
        "note",
        "VALIDATED of ALL_CONSTRAINTS",
        "new rows are checked, the optimizer cannot rely on those of before",
        "dbatk constraint validate --schema {schema}",
    ),
    "chained rows": (
        "note",
        "CHAIN_CNT of ALL_TABLES, which ANALYZE fills and DBMS_STATS does not: as old as the last ANALYZE",
        "a read by ROWID takes a second block for each of these rows",
        "dbatk table move --table {table} where they are many of its rows (rows longer than a block stay chained)",
    ),
}


def _waiting(facts: Facts) -> Iterator[Check]:
    """Name what is worth a job, and how it was found; of Oracle's own schemas nothing."""
    theirs = {row.get("schema_name") for row in facts.rows("doctor_maintained")}
    rows = [row for row in facts.rows("doctor_waiting") if row.get("schema_name") not in theirs]
    for kind, (state, source, consequence, action) in _WAITING.items():
        found = [row for row in rows if row.get("kind") == kind]
        if not found:
            continue
        named = ", ".join(_named(row) for row in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        schema, name = (package_name(str(found[0].get(key) or "")) for key in ("schema_name", "object_name"))
        typed = {"schema": shlex.quote(schema), "table": shlex.quote(f"{schema}.{name}")}
        yield Check(
            kind.replace(" ", "-"), state, f"{named}{more} ({source})", consequence, action.format(**typed)
        )


def _named(row: Row) -> str:
    name, many = f"{row.get('schema_name')}.{row.get('object_name')}", row.get("number_of")
    chained = row.get("kind") == "chained rows" and isinstance(many, int | float)
    return f"{name} with {counted(int(str(many or 0).partition('.')[0]), 'row')}" if chained else name


CHECKS = (
    _awr,
    _statspack,
    _tablespaces,
    _quota,
    _temporary,
    _surprises,
    _windows,
    _triggers,
    _statistics,
    _waiting,
    _password,
)
