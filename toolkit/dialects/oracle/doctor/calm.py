"""Who else may be at work, or change what this session is: windows, logon triggers, statistics, passwords."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.degrees import parameters
from toolkit.model.facts import Facts

_DAYS_OF_WARNING = 14


def checks(facts: Facts) -> Iterator[Check]:
    """Judge the calm of the place."""
    yield from _windows(facts)
    yield from _triggers(facts)
    yield from _statistics(facts)
    yield from _password(facts)


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
            f"{', '.join(tasks) or 'maintenance tasks'} may run beside a trial, and its plan limits the CPU",
            "measure after it closes; never sweep statistics inside it",
        )
    if not windows:
        yield Check("maintenance-window", "ok", f"none open; enabled tasks: {', '.join(tasks) or 'none told'}")


def _triggers(facts: Facts) -> Iterator[Check]:
    rows = facts.rows("doctor_logon_triggers")
    if rows:
        names = ", ".join(f"{row.get('owner_name')}.{row.get('trigger_name')}" for row in rows)
        yield Check(
            "logon-trigger",
            "note",
            names,
            "may set degree policy, NLS or parallel DML of every session",
            "compare V$PARAMETER of a trial with what was set; our sessions set their own after it",
        )
    elif "doctor_logon_triggers" in facts.answers:
        yield Check("logon-trigger", "ok", "none")


def _statistics(facts: Facts) -> Iterator[Check]:
    if parameters(facts).get("optimizer_use_pending_statistics", "").upper() == "TRUE":
        yield Check(
            "pending-statistics-used",
            "warning",
            "optimizer_use_pending_statistics is TRUE",
            "plans follow statistics nobody published",
            "set it FALSE",
        )
    for row in facts.rows("doctor_statistics"):
        count, what = int(row.get("table_count") or 0), str(row.get("what"))
        if not count:
            continue
        evidence = f"{count} in your schema, such as {row.get('example')}"
        if what == "locked":
            yield Check("statistics-locked", "note", evidence, "a gather skips or refuses them (ORA-20005)")
        elif what == "pending":
            yield Check(
                "statistics-pending",
                "note",
                evidence,
                "gathered by somebody and not published; never deleted by us",
            )
        else:
            yield Check(
                "statistics-" + what.lower().replace(" ", "-"), "note", evidence, "it outranks the default"
            )


def _password(facts: Facts) -> Iterator[Check]:
    row = facts.first("doctor_user")
    status, expires, now = row.get("account_status"), row.get("expires_at"), row.get("read_at")
    if status is not None and "GRACE" in str(status):
        yield Check(
            "password", "warning", f"account is {status}", "logons end soon", "change the password in time"
        )
    elif expires is not None and now is not None:
        days = (datetime.fromisoformat(str(expires)) - datetime.fromisoformat(str(now))).days
        if days < _DAYS_OF_WARNING:
            yield Check(
                "password", "warning", f"expires in {days} days", "a long run may outlive it", "change it before"
            )
        else:
            yield Check("password", "ok", f"expires in {days} days")
