"""Turns the rows that a guard's file returned into a reading; columns as in `toolkit.dialects.guards`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolkit.app.maintenance.guards.readings import GuardReading
from toolkit.model.plan import Guard
from toolkit.model.values import Row, Scalar
from toolkit.units import byte_size, counted, number, seconds


def sessions(rows: Sequence[Row]) -> GuardReading:
    """Return how many sessions of others are at work; hidden ones may be, too."""
    active, hidden = (int(_number(rows[0][name]) or 0) for name in ("active_sessions", "hidden_sessions"))
    unread = f"{counted(hidden, 'session')} of other users hidden from this one" if hidden else None
    return GuardReading(active, f"{counted(active, 'session')} at work", unread)


def lag(rows: Sequence[Row]) -> GuardReading:
    """Return how far the slowest standby is behind."""
    known = {str(row["standby_name"]): _number(row["lag_seconds"]) for row in rows}
    behind = {name: value for name, value in known.items() if value is not None}
    problems = [
        f"the lag of `{row['standby_name']}` is not known: {row['problem'] or 'it does not tell'}"
        for row in rows
        if _number(row["lag_seconds"]) is None
    ]
    unread = "; ".join(problems) or None
    if not behind:
        return GuardReading(None, "no standby" if not rows else "not known", unread)
    slowest = max(behind, key=lambda name: behind[name])
    return GuardReading(
        max(0.0, behind[slowest]), f"`{slowest}` is {seconds(max(0.0, behind[slowest]))} behind", unread
    )


def space(rows: Sequence[Row], nothing: str = "no such place") -> GuardReading:
    """Return the free bytes of the fullest place, or say that there is nothing of the kind."""
    free = {str(row["place"]): _number(row["free_byte_count"]) for row in rows}
    known = {name: value for name, value in free.items() if value is not None}
    if not known:
        return GuardReading(None, nothing if not rows else "not known", None if not rows else "no size is told")
    fullest = min(known, key=lambda name: known[name])
    return GuardReading(known[fullest], f"{byte_size(known[fullest])} free in `{fullest}`")


def load(rows: Sequence[Row]) -> GuardReading:
    """Return the load for each CPU."""
    average, cpus = (_number(rows[0][name]) if rows else None for name in ("load_average", "cpu_count"))
    if average is None or not cpus:
        return GuardReading(None, "not known", "the server does not tell the load of its host")
    return GuardReading(average / cpus, f"load {number(average / cpus, 2)} per CPU")


def locks(rows: Sequence[Row]) -> GuardReading:
    """Return how many wait for locks at all; who waits behind us is judged run by run."""
    waiting = len({row["waiter"] for row in rows})
    return GuardReading(None, f"{counted(waiting, 'session')} waiting for a lock")


def _number(value: Scalar) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


READINGS: Mapping[Guard, Callable[[Sequence[Row]], GuardReading]] = {
    Guard.ACTIVE_SESSIONS: sessions,
    Guard.LAG: lag,
    Guard.TABLESPACE: space,
    Guard.TEMP: space,
    Guard.RECOVERY_AREA: lambda rows: space(rows, "no recovery area"),
    Guard.LOAD: load,
    Guard.LOCK_WAITERS: locks,
    Guard.BLOCKING: locks,
}
