"""One measure in two intervals, per second; and what events and statements account for by themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from toolkit.model.interval import Interval, Listing, Statement, Wait

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Amount:
    """A measure over one interval: its total, or the most it can be where the interval does not show it.

    Neither is there when nothing is known.
    """

    total: float | None
    most: float | None
    seconds: float | None

    @property
    def rate(self) -> float | None:
        """The total per second of the interval."""
        return self.total / self.seconds if self.total is not None and self.seconds else None

    @property
    def most_rate(self) -> float | None:
        """The most it can be per second, where the total is not known."""
        return self.most / self.seconds if self.total is None and self.most is not None and self.seconds else None


@dataclass(frozen=True, slots=True)
class Change:
    """A measure before and after."""

    key: str
    before: Amount
    after: Amount

    @property
    def delta(self) -> float | None:
        """How much more per second afterwards; of a side that is only bounded, the least it can be.

        A row that is in the list of one interval only changed at least by what it has above the last row of the
        other list. None when that is not known.
        """
        before, after = self.before.rate, self.after.rate
        if before is not None and after is not None:
            return after - before
        if after is not None and self.before.most_rate is not None:
            return max(0.0, after - self.before.most_rate)
        if before is not None and self.after.most_rate is not None:
            return min(0.0, self.after.most_rate - before)
        return None

    @property
    def bounded(self) -> bool:
        """Whether one side is known by its bound only; what can be nothing at most is known."""
        absent = [one for one in (self.before, self.after) if one.total is None]
        return len(absent) == 1 and absent[0].most_rate != 0

    @property
    def ratio(self) -> float | None:
        """After by before, per second; None where one of them is not known, or nothing before."""
        before, after = self.before.rate, self.after.rate
        return after / before if before and after is not None else None

    @property
    def presence(self) -> str:
        """Say where it stands: `both`, `new`, `gone`, or `neither`."""
        if self.before.total is None:
            return "neither" if self.after.total is None else "new"
        return "gone" if self.after.total is None else "both"


def amount(interval: Interval, value: float | None, most: float | None = None) -> Amount:
    """Return a total over an interval as an amount."""
    return Amount(value, most if value is None else None, interval.origin.elapsed_seconds)


def rates(before: Interval, after: Interval, name: str) -> Change:
    """Return the change of a rate of the load profile."""
    return Change(name, *(Amount(side.load.get(name), None, 1.0) for side in (before, after)))


def cached_reads(before: Interval, after: Interval) -> Change:
    """Return the change of reads into the buffer cache: those past it are not for its size to answer."""
    reads = rates(before, after, "physical_reads")
    into = []
    for side, one in ((before, reads.before), (after, reads.after)):
        direct, elapsed = side.counters.get("physical reads direct"), side.origin.elapsed_seconds
        if one.rate is None or direct is None or not elapsed:
            return reads
        into.append(Amount(max(one.rate - direct / elapsed, 0.0), None, 1.0))
    return Change("cached_reads", *into)


def matched(
    before: Interval,
    after: Interval,
    listing: Callable[[Interval], Listing[T]],
    measure: str,
) -> dict[str, Change]:
    """Match the rows of two lists by key, the largest change first; rows without a known change come last."""
    lists = (listing(before), listing(after))
    found = {}
    for key in dict.fromkeys([*lists[1].rows, *lists[0].rows]):
        sides = [
            amount(side, _value(rows.rows.get(key), measure), None if key in rows.rows else rows.most(measure))
            for side, rows in zip((before, after), lists, strict=True)
        ]
        found[key] = Change(key, *sides)
    return dict(sorted(found.items(), key=lambda one: -abs(one[1].delta or 0.0)))


def _value(row: object, measure: str) -> float | None:
    value = getattr(row, measure, None)
    return float(value) if isinstance(value, int | float) else None


# -- events -----------------------------------------------------------------------------------------------------
_MANY = 10.0
"""From so many times the waits on, their number is the change, however much longer each is."""


@dataclass(frozen=True, slots=True)
class Split:
    """One event: how much of its rise is longer waits, and how much more of them."""

    name: str
    latency: float
    count: float
    evidence: tuple[Change, ...]

    @property
    def rise(self) -> float:
        """The rise altogether."""
        return self.latency + self.count

    @property
    def longer(self) -> float:
        """How many times as long a wait takes."""
        return self._times("latency") or 1.0

    @property
    def oftener(self) -> float:
        """How many times as many waits there are; infinite where there were none before."""
        seconds = self.evidence[0]
        new = seconds.after.rate and not seconds.before.rate
        return self._times("waits") or (math.inf if new else 1.0)

    def _times(self, key: str) -> float | None:
        return next((one.ratio for one in self.evidence if one.key == key), None)


def parts_of(before: Interval, after: Interval, factor: float) -> dict[str, Split]:
    """Return every event, and CPU, that took more than in proportion to the load."""
    found = {}
    for name, change in matched(before, after, lambda side: side.waits, "seconds").items():
        split = _split(before, after, name, change, factor)
        if split is not None and split.rise > 0:
            found[name] = split
    return found


def _split(before: Interval, after: Interval, name: str, change: Change, factor: float) -> Split | None:
    b, a = change.before, change.after
    if a.rate is None or (b.rate is None and b.most_rate is None):
        return None
    known = b.rate if b.rate is not None else b.most_rate or 0.0
    excess = a.rate - factor * known
    rows = [side.waits.rows.get(name) for side in (before, after)]
    latency = _latency(rows)
    evidence = [change, *([] if latency is None else [latency])]
    waits = [None if row is None else row.waits for row in rows]
    if latency is None or latency.before.rate is None or latency.after.rate is None or not waits[1]:
        return Split(name, 0.0, excess, tuple(evidence))
    count = Change("waits", amount(before, waits[0]), amount(after, waits[1]))
    grown = count.ratio or math.inf
    many = grown >= _MANY * factor and grown > (latency.ratio or 1.0)
    number = factor * (count.before.rate or 0.0) if many else count.after.rate or 0.0
    longer = (latency.after.rate - latency.before.rate) * number
    longer = min(max(longer, 0.0), max(excess, 0.0))
    return Split(name, longer, excess - longer, (*evidence, count))


def _latency(rows: Sequence[Wait | None]) -> Change | None:
    """Return the average wait before and after, in seconds."""
    found = [None if row is None else row.latency_seconds for row in rows]
    return None if None in found else Change("latency", *(Amount(one, None, 1.0) for one in found))


# -- statements -------------------------------------------------------------------------------------------------
_MORE_WORK, _OTHER_WORK = 1.2, 2.0
"""From the second on it is another plan or other data: all that an execution takes longer is its own."""
_UNKNOWN = 0.6
"""The certainty of a slower execution whose work is unknown: it may be a victim."""
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
        return _new(key, rise, changes, shown, before)
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


def _new(
    key: str, rise: float, changes: dict[str, Change], shown: tuple[Change, ...], before: Interval
) -> OwnShare:
    """Judge a statement that the earlier interval does not list.

    It was there perhaps, below the last row: only more executions or gets than that prove that it did more. Or it
    was not captured: of what is as large as all that was not, nothing is proved.
    """
    proved = any(
        change.delta is not None
        and change.before.most_rate is not None
        and change.delta > 0.2 * change.before.most_rate
        for change in (changes["executions"], changes["gets"])
    )
    missed = before.uncaptured_seconds / (before.origin.elapsed_seconds or 1.0)
    return OwnShare(key, rise, "new", shown, 1.0 if proved and rise > missed else _UNKNOWN)


def _without_executions(
    key: str, excess: float, changes: dict[str, Change], shown: tuple[Change, ...], factor: float
) -> OwnShare | None:
    """Judge a statement whose executions are unknown, or that never ended, by its total work."""
    grown = _ratio(changes["gets"])
    if grown is None:
        return OwnShare(key, excess, "slower", shown, _UNKNOWN)
    if grown <= _MORE_WORK * factor:
        return None
    before = changes["elapsed_s"].before.rate or 0.0
    return OwnShare(key, min(excess, before * (grown - factor)), "work", shown)
