"""What the guards of a target read, from the rows of their files, and whether that exceeds a limit: pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolkit.model.plan import SPACES, Guard, Guards
from toolkit.model.values import Row, Scalar
from toolkit.units import byte_size, counted, number, seconds


@dataclass(frozen=True, slots=True)
class GuardReading:
    """What a guard shows.

    Attributes:
        value: in the unit of its limit; None where nothing is known, or nothing is there to be watched.
        said: the same in words, or why there is no value.
        unread: why it could not be read, or not wholly; None where it could.
    """

    value: float | None
    said: str
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class Behind:
    """Sessions of others that wait for locks behind sessions of one name."""

    waiters: int
    longest_seconds: float


@dataclass(frozen=True, slots=True)
class GuardReadings:
    """One look; `behind` is by the name of our sessions, which is their run's."""

    readings: Mapping[Guard, GuardReading] = field(default_factory=dict)
    behind: Mapping[str, Behind] = field(default_factory=dict)


def behind(rows: Iterable[Row], ours: Collection[str]) -> dict[str, Behind]:
    """Return who waits behind each of our runs, directly or behind one that does.

    Args:
        rows: who waits behind whom, as `toolkit.dialects.states.GUARD_COLUMNS` has it.
        ours: names of our sessions; that they wait behind each other is nobody else's matter.
    """
    after: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    waited: dict[str, float] = {}
    for row in rows:
        waiter, blocker = str(row["waiter"]), str(row["blocker"])
        after.setdefault(blocker, set()).add(waiter)
        names |= {waiter: str(row["waiter_name"] or ""), blocker: str(row["blocker_name"] or "")}
        waited[waiter] = max(waited.get(waiter, 0.0), _float(row["waited_seconds"]))
    found: dict[str, Behind] = {}
    for name in {names[blocker] for blocker in after} & set(ours):
        first = [session for session in after if names[session] == name]
        others = {session for session in _following(first, after) if names[session] not in ours}
        if others:
            found[name] = Behind(len(others), max(waited[session] for session in others))
    return found


def _following(first: Iterable[str], after: Mapping[str, set[str]]) -> set[str]:
    """Return all that wait behind some sessions; a circle (a deadlock) ends where it began."""
    found: set[str] = set()
    left = [waiter for session in first for waiter in after.get(session, ())]
    while left:
        session = left.pop()
        if session not in found:
            found.add(session)
            left += after.get(session, ())
    return found


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def reading_behind(guard: Guard, found: Behind | None) -> GuardReading:
    """Return what a guard of locks shows of one run, or of all."""
    if found is None:
        return GuardReading(0.0, "no session waits for a lock behind it")
    if guard is Guard.LOCK_WAITERS:
        verb = "waits" if found.waiters == 1 else "wait"
        return GuardReading(found.waiters, f"{counted(found.waiters, 'session')} {verb} for locks behind it")
    return GuardReading(
        found.longest_seconds, f"a session has waited {seconds(found.longest_seconds)} for a lock behind it"
    )


def breach(guards: Guards, guard: Guard, reading: GuardReading) -> str | None:
    """Return the sentence of a limit that is passed, or None."""
    if reading.value is None or not guards.passed(guard, reading.value):
        return None
    return f"{reading.said}, the limit is {spell(guard, guards.limits[guard])}"


def spell(guard: Guard, value: float) -> str:
    """Spell a value of a guard with its unit."""
    if guard in SPACES:
        return byte_size(value)
    return seconds(value) if guard in (Guard.LAG, Guard.BLOCKING) else number(value)


# -- from rows to a reading; columns as in `toolkit.dialects.states` ------------------------------------------
def sessions_reading(rows: Sequence[Row]) -> GuardReading:
    """Return how many sessions of others are at work; hidden ones may be, too."""
    active, hidden = (int(_number(rows[0][name]) or 0) for name in ("active_sessions", "hidden_sessions"))
    unread = f"{counted(hidden, 'session')} of other users hidden from this one" if hidden else None
    return GuardReading(active, f"{counted(active, 'session')} active", unread)


def lag_reading(rows: Sequence[Row]) -> GuardReading:
    """Return how far the slowest standby is behind."""
    known = {str(row["standby_name"]): _number(row["lag_seconds"]) for row in rows}
    behind = {name: value for name, value in known.items() if value is not None}
    problems = [
        f"the lag of `{row['standby_name']}` is unknown: {row['problem'] or 'not reported'}"
        for row in rows
        if _number(row["lag_seconds"]) is None
    ]
    unread = "; ".join(problems) or None
    if not behind:
        return GuardReading(None, "no standby" if not rows else "unknown", unread)
    slowest = max(behind, key=lambda name: behind[name])
    return GuardReading(
        max(0.0, behind[slowest]), f"`{slowest}` is {seconds(max(0.0, behind[slowest]))} behind", unread
    )


def space_reading(rows: Sequence[Row], nothing: str = "no such location") -> GuardReading:
    """Return the free bytes of the fullest place, or say that there is nothing of the kind."""
    free = {str(row["place"]): _number(row["free_byte_count"]) for row in rows}
    known = {name: value for name, value in free.items() if value is not None}
    if not known:
        return GuardReading(None, nothing if not rows else "unknown", None if not rows else "no size is reported")
    fullest = min(known, key=lambda name: known[name])
    return GuardReading(known[fullest], f"{byte_size(known[fullest])} free in `{fullest}`")


def load_reading(rows: Sequence[Row]) -> GuardReading:
    """Return the load for each CPU."""
    average, cpus = (_number(rows[0][name]) if rows else None for name in ("load_average", "cpu_count"))
    if average is None or not cpus:
        return GuardReading(None, "unknown", "the server does not report the load of its host")
    return GuardReading(average / cpus, f"load {number(average / cpus, 2)} per CPU")


def locks_reading(rows: Sequence[Row]) -> GuardReading:
    """Return how many wait for locks at all; who waits behind us is judged run by run."""
    waiting = len({row["waiter"] for row in rows})
    return GuardReading(None, f"{counted(waiting, 'session')} waiting for a lock")


def _number(value: Scalar) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


READINGS: Mapping[Guard, Callable[[Sequence[Row]], GuardReading]] = {
    Guard.ACTIVE_SESSIONS: sessions_reading,
    Guard.LAG: lag_reading,
    Guard.TABLESPACE: space_reading,
    Guard.TEMP: space_reading,
    Guard.RECOVERY_AREA: lambda rows: space_reading(rows, "no recovery area"),
    Guard.LOAD: load_reading,
    Guard.LOCK_WAITERS: locks_reading,
    Guard.BLOCKING: locks_reading,
}
