"""What statements account for by themselves: executed more often, doing more work each time, or new."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from toolkit.analysis.awr.changes import Amount, Change, amount
from toolkit.model.interval import Interval, Statement

_MORE_WORK, _OTHER_WORK = 1.2, 2.0
"""From the second on it is another plan or other data: all that an execution takes longer is its own."""
_UNKNOWN = 0.6
"""The certainty of a slower execution whose work is not told: it may be a victim."""
_BLOCK = re.compile(r"\s*(begin|declare|call)\b", re.IGNORECASE)
_MOSTLY = 0.5
_INNER, _EQUAL = 0.5, 0.05
_MEASURES = ("executions", "elapsed_s", "cpu_s", "gets", "reads", "temp_blocks")


@dataclass(frozen=True, slots=True)
class OwnShare:
    """A statement's own part of the change, in DB time per second, why, and how certain it is its own."""

    key: str
    impact: float
    part: str
    evidence: tuple[Change, ...]
    certainty: float = 1.0

    @property
    def weight(self) -> float:
        """What it is ranked by."""
        return self.impact * self.certainty


def own_parts(before: Interval, after: Interval, factor: float) -> list[OwnShare]:
    """Return the statements that account for a rise by themselves, the largest first.

    A block of PL/SQL holds the time of the statements it calls: it counts for half where one of them, or several
    together, account for at least half of it, and not at all where one of them is all of it.
    """
    found = []
    for key, row in after.statements.rows.items():
        one = _own(before, after, key, row, factor)
        if one is not None and one.impact > 0:
            found.append(one)
    inner = [one.impact for one in found if not _is_block(after, one.key)]
    plain = sum(inner)
    found = [
        one
        for one in found
        if not _is_block(after, one.key) or all(abs(each / one.impact - 1) > _EQUAL for each in inner)
    ]
    held = [
        replace(one, certainty=one.certainty * _INNER)
        if _is_block(after, one.key) and plain >= _INNER * one.impact
        else one
        for one in found
    ]
    return sorted(held, key=lambda one: -one.weight)


def _is_block(interval: Interval, key: str) -> bool:
    row = interval.statements.rows.get(key)
    return row is not None and row.text is not None and _BLOCK.match(row.text) is not None


def changes_of(before: Interval, after: Interval, key: str) -> dict[str, Change]:
    """Return the measures of a statement before and after, with the bounds of the lists that lack it."""
    return {
        measure: Change(measure, *(_amount(side, key, measure) for side in (before, after)))
        for measure in _MEASURES
    }


def _amount(side: Interval, key: str, measure: str) -> Amount:
    row = side.statements.rows.get(key)
    value = None if row is None else getattr(row, measure)
    most = side.statements.most(measure) if row is None else None
    return amount(side, value, most)


def _own(before: Interval, after: Interval, key: str, row: Statement, factor: float) -> OwnShare | None:
    changes = changes_of(before, after, key)
    elapsed = changes["elapsed_s"]
    rise = elapsed.delta
    if rise is None or elapsed.after.rate is None:
        return None
    shown = tuple(one for one in changes.values() if one.before.total is not None or one.after.total is not None)
    old = before.statements.rows.get(key)
    if old is None or elapsed.before.rate is None:
        return _new(key, rise, changes, shown)
    excess = elapsed.after.rate - factor * elapsed.before.rate
    if excess <= 0:
        return None
    times = _times(changes["executions"])
    if times is None or times <= 0:
        return _without_executions(key, excess, changes, shown, factor)
    often = max(0.0, (times - factor) * elapsed.before.rate)
    slower = max(0.0, excess - often)
    each, certain = _each(changes, times), 1.0
    if row.plan and old.plan and row.plan != old.plan and (each is None or each > _MORE_WORK):
        work = slower
    elif each is None:
        burnt = _more_cpu(changes["cpu_s"], times)
        each = math.inf if burnt >= _MOSTLY * slower else None
        work, certain = slower, 1.0 if each else _UNKNOWN
    else:
        work = _by_work(slower, times * elapsed.before.rate, each)
    part = "executions" if often >= work * certain else "slower" if certain < 1 else "work"
    impact = min(often + work, excess)
    return OwnShare(key, impact, part, shown, (often + work * certain) / (often + work) if impact else 1.0)


def _more_cpu(cpu: Change, times: float) -> float:
    """Return the CPU time that executions take above what so many took before: who only waits takes none."""
    before, after = cpu.before.rate, cpu.after.rate
    return 0.0 if before is None or after is None else after - times * before


def _by_work(slower: float, at_old_cost: float, each: float) -> float:
    """Return how much of the longer time the work accounts for, which one execution does `each` times of."""
    if each >= _OTHER_WORK:
        return slower
    return min(slower, at_old_cost * (each - 1)) if each > _MORE_WORK else 0.0


def _times(executions: Change) -> float | None:
    """Return how many times as often it was executed; a count of zero means that it had not ended yet."""
    before, after = executions.before.rate, executions.after.rate
    return after / before if before and after else None


def _each(changes: dict[str, Change], times: float) -> float | None:
    """Return how many times the work one execution does: by gets, or by temporary blocks.

    A list that lacks the statement says how many gets it had at most, and so the least that they can have grown.
    """
    gets, temp = _ratio(changes["gets"]), _ratio(changes["temp_blocks"])
    if temp is None and changes["temp_blocks"].before.rate == 0 and changes["temp_blocks"].after.rate:
        temp = math.inf
    found = [one for one in (gets, temp) if one is not None]
    return max(found) / times if found else None


def _ratio(change: Change) -> float | None:
    before = change.before.rate if change.before.rate is not None else change.before.most_rate
    return change.after.rate / before if change.after.rate is not None and before else None


def _new(key: str, rise: float, changes: dict[str, Change], shown: tuple[Change, ...]) -> OwnShare | None:
    """Judge a statement that the earlier interval does not list.

    It was there perhaps, below the last row: only more executions or gets than that prove that it did more.
    """
    proved = any(
        change.delta is not None
        and change.before.most_rate is not None
        and change.delta > 0.2 * change.before.most_rate
        for change in (changes["executions"], changes["gets"])
    )
    return OwnShare(key, rise, "new", shown, 1.0 if proved else _UNKNOWN)


def _without_executions(
    key: str, excess: float, changes: dict[str, Change], shown: tuple[Change, ...], factor: float
) -> OwnShare | None:
    """Judge a statement whose executions are not told, or that never ended: all its work together must tell."""
    grown = _ratio(changes["gets"])
    if grown is None:
        return OwnShare(key, excess, "slower", shown, _UNKNOWN)
    if grown <= _MORE_WORK * factor:
        return None
    before = changes["elapsed_s"].before.rate or 0.0
    return OwnShare(key, min(excess, before * (grown - factor)), "work", shown)
