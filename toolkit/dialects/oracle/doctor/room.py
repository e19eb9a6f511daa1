"""Room: tablespaces, the user's quota, temporary space, and what happens when it runs out."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.degrees import number, parameters
from toolkit.dialects.oracle.space import tablespaces
from toolkit.model.facts import Facts
from toolkit.model.values import Row, Scalar
from toolkit.units import byte_size

_LITTLE = 1024**3


def checks(facts: Facts) -> Iterator[Check]:
    """Judge free space and its surprises."""
    yield from _tablespaces(facts)
    yield from _quota(facts)
    yield from _temporary(facts)
    yield from _surprises(facts)


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
            "no table can be made there (ORA-01950)",
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
            "out of space suspends a statement instead of failing it",
            "ALTER SESSION DISABLE RESUMABLE (needs RESUMABLE), or watch DBA_RESUMABLE",
        )
    if values.get("recyclebin", "").upper() == "ON":
        yield Check(
            "recyclebin", "ok", "on; ours are dropped with PURGE, a table dropped by others keeps its space"
        )


def _bytes(row: Row, name: str) -> int:
    value: Scalar = row.get(name)
    return int(value or 0)
