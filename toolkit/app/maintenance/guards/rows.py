"""What the guards of a plan show now, and whether they can be read: for those who look before they let it run."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from toolkit.app.maintenance.guards.keeper import watched_guards
from toolkit.app.maintenance.guards.reader import GuardReader
from toolkit.app.maintenance.guards.readings import breach, spell
from toolkit.app.maintenance.guards.watch import look_once
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.model.plan import Guards

_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class GuardRow:
    """A guard on a target: its limit, what it shows, and `ok`, `passed` or `unreadable`."""

    target: str
    guard: str
    limit: str
    now: str
    verdict: str


def guard_rows(places: Sequence[PlanTarget]) -> list[GuardRow]:
    """Read the guards of each target once, several targets at a time; none is waited for without end."""
    guarded = [place for place in places if any(job.step.guards.limits for job in place.jobs)]
    if not guarded:
        return []
    with ThreadPoolExecutor(min(_AT_ONCE, len(guarded)), thread_name_prefix="guards") as pool:
        return [row for rows in pool.map(_rows, guarded) for row in rows]


def _rows(place: PlanTarget) -> list[GuardRow]:
    tables: dict[str, Guards] = {job.step.name: job.step.guards for job in place.jobs}
    watched = watched_guards(tables.values())
    reader = GuardReader(place.resolved.target, "dbatk plan", place.jobs, watched, {})
    look, answered = look_once(reader, watched, ("dbatk plan",))
    if answered:
        reader.close()
    rows = []
    for guard in watched:
        reading = look.readings[guard]
        limits = {guards.limits[guard]: guards for guards in tables.values() if guard in guards.limits}
        for limit, guards in limits.items():
            now = f"{reading.said}: {reading.unread}" if reading.unread else reading.said
            passed = breach(guards, guard, reading) is not None
            verdict = "passed" if passed else "unreadable" if reading.unread else "ok"
            rows.append(
                GuardRow(
                    place.name,
                    guard.value,
                    f"at {'least' if guard.at_least else 'most'} {spell(guard, limit)}",
                    now,
                    verdict,
                )
            )
    return rows
