"""What made the difference: candidates for the cause, each with the DB time it accounts for, the largest first.

DB time is cut twice: by what sessions did (CPU, each wait event, the rest) and by statement. More waits are a
symptom where something else made for them, so these are distinguished:

- *load*: what is in proportion to transactions and calls, together with executions or the blocks read, where
  the intervals did the same work at all (`load.load_factor`); else the change itself is told;
- *a statement's own part*: executed more often, or doing more work (buffer gets) each time. A statement that only
  takes longer for the same work is a victim, and no candidate;
- *latency*: as many waits as before, each of them longer. This is the event's own, and a statement whose work is
  not known, and that may have waited for it (`families.may_wait`), is told with it;
- *work*: more waits of I/O, network or commits, and more CPU. What statements, hard parses or a smaller cache
  account for is taken off.

All amounts are seconds of DB time per second (average active sessions). The parts overlap where the
source does not tell them apart, so they need not sum to the whole; the ranking is what they are for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolkit.analysis.awr import families
from toolkit.analysis.awr.changes import Change, own_parts, parts_of
from toolkit.analysis.awr.families import IntervalPair, RisePart
from toolkit.analysis.awr.load import asked_factor, load_factor, load_measures
from toolkit.model.interval import Interval

_NOTHING = 1e-6
_LEAST_SHARE = 0.02
"""Of the DB time of the busier interval: what is less is no cause worth a line."""
_NAMED_SHARE = 0.25
"""Of the change: from here on what has a name stands before the rest that has none, however large."""
_SAME = 0.05
_MOSTLY = 0.5
"""Of the change between unlike work: from here on one statement is the cause of what sessions wait for."""
_ROUGHLY = 1.25
"""Of the time of row locks: so much may statements that wait for them take, with whatever else they do."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A candidate.

    Attributes:
        kind: `load`, `statement`, `parsing`, `redo`, `cache`, `temp`, `cluster`, `reads`, `cpu`, `event`, `queue`,
            `commit`.
        key: What it is called: an event, a sql_id, a family.
        impact: DB time per second it added (below zero: took away), at the load of the later interval.
        part: Why: `executions`, `work`, `new`, `latency`, `count`, `size` ...
        evidence: The numbers that changed, before and after.
        events: The wait events whose time it accounts for.
        certainty: The share of its impact that it is ranked with: less than 1 where it may be a victim.
        statements: Those whose time may be the same, as they may wait for the event.
    """

    kind: str
    key: str
    impact: float
    part: str = ""
    evidence: tuple[Change, ...] = ()
    events: tuple[str, ...] = ()
    certainty: float = 1.0
    statements: tuple[Cause, ...] = ()

    @property
    def weight(self) -> float:
        """What it is ranked by."""
        return self.impact * self.certainty


def causes(before: Interval, after: Interval) -> list[Cause]:
    """Return candidates: those in the direction of the whole change first, each direction by impact."""
    factor = load_factor(before, after)
    a, b = (_db_time_rate(side) for side in (before, after))
    least = max(_LEAST_SHARE * max((a or 0.0) * factor, b or 0.0), _NOTHING)
    # a decrease is computed at the load before, and reported at the load after as an increase is
    falls = [
        replace(one, impact=-one.impact * (1 if _is_gone(one) else factor), evidence=_turned(one.evidence))
        for one in _rises(after, before, 1 / factor, least / factor)
    ]
    gone = -sum(one.impact for one in falls if _is_gone(one) and abs(one.weight) >= least)
    every = (*_load(before, after, factor, gone), *_rises(before, after, factor, least), *falls)
    found = _with_statements([one for one in _once(every) if abs(one.weight) >= least], after, before)
    whole = whole_change(before, after)
    grew = _costlier(before, after) if not whole else whole > 0
    if grew is None:
        grew = sum(one.weight for one in found) >= 0
    last = _rest_is_last(found, abs(whole or 0.0), grew=grew)
    return sorted(
        found, key=lambda one: ((one.impact > 0) != grew, last and one.key == families.REST, -abs(one.weight))
    )


def _rest_is_last(found: Sequence[Cause], whole: float, *, grew: bool) -> bool:
    """Whether what has a name explains enough of a change to stand before what is left, which has none."""
    named = sum(abs(one.weight) for one in found if (one.impact > 0) == grew and one.key != families.REST)
    return named >= _NAMED_SHARE * whole


def _once(every: Sequence[Cause]) -> list[Cause]:
    """Return the causes with each event named once: that its waits are more and longer is one change."""
    kept: list[Cause] = []
    for one in sorted(every, key=lambda each: -abs(each.weight)):
        place = next((i for i, other in enumerate(kept) if _same_event(other, one)), None)
        if place is None:
            kept.append(one)
        else:
            kept[place] = replace(kept[place], impact=kept[place].impact + one.impact)
    return kept


def _same_event(one: Cause, other: Cause) -> bool:
    same = one.kind == other.kind and one.key == other.key
    held = other.kind == "event" and one.kind in ("reads", "event") and other.key in one.events
    return (same or held) and (one.impact > 0) == (other.impact > 0) and other.kind != "statement"


def _with_statements(found: Sequence[Cause], *sides: Interval) -> list[Cause]:
    """Tell statements of unknown work with the row locks they may wait for: of both it is the same time.

    They are together no larger than the time of the locks is, but for what else they do (`_ROUGHLY`).
    """
    kept = list(found)
    for lock in [one for one in found if families.ROW_LOCKS.match(one.key)]:
        room, held = abs(lock.impact) * _ROUGHLY, []
        for one in sorted(kept, key=lambda each: -abs(each.impact)):
            doubtful = one.kind == "statement" and one.certainty < 1 and one.impact * lock.impact > 0
            if doubtful and abs(one.impact) <= room and families.may_wait(one.key, sides):
                held.append(one)
                room -= abs(one.impact)
        if held:
            kept = [
                replace(lock, statements=tuple(held)) if one is lock else one for one in kept if one not in held
            ]
    return kept


def whole_change(before: Interval, after: Interval) -> float | None:
    """Return the DB time per second to be accounted for, above zero where it got slower.

    DB time changed, and what it is for the same load did: the larger of the two is reported. Sessions that all
    wait are as many as sessions that all work, and only what they get done has changed; but of a fifth more
    DB time for a quarter more work it is the work that is asked about.
    Zero where work that is not the same takes about as much DB time: then its parts have changed, not the whole.
    """
    a, b = _db_time_rate(before), _db_time_rate(after)
    if a is None or b is None:
        return None
    factor = load_factor(before, after)
    if factor != asked_factor(before, after):
        return 0.0 if abs(b - a) < _SAME * max(a, b) else b - a
    expected = factor * a
    if not a or not b or abs(b / expected - 1) < _SAME:
        return b - a
    return b - expected if abs(math.log(b / expected)) > abs(math.log(b / a)) else b - a


def _costlier(before: Interval, after: Interval) -> bool | None:
    """Whether what was asked takes more DB time than before, None where that is not known.

    Of as much DB time for other work, what sessions spend it on now is told first where they get less done.
    """
    a, b = _db_time_rate(before), _db_time_rate(after)
    return None if not a or b is None else b >= asked_factor(before, after) * a


def _is_gone(one: Cause) -> bool:
    """Whether it is a statement that only one side lists, which is none of the load of the other."""
    return one.kind == "statement" and one.part == "new"


def _turned(evidence: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(Change(one.key, one.after, one.before) for one in evidence)


def _db_time_rate(side: Interval) -> float | None:
    seconds, elapsed = side.db_time_seconds, side.origin.elapsed_seconds
    return seconds / elapsed if seconds is not None and elapsed else None


def _load(before: Interval, after: Interval, factor: float, gone: float) -> Iterator[Cause]:
    """Return the DB time that more or less load accounts for: at the cost before, at most what changed.

    What statements took that are `gone` is none of it: their end is a cause of its own.
    """
    a, b = _db_time_rate(before), _db_time_rate(after)
    if factor == 1 or not a:
        return
    grown = (factor - 1) * max(a - gone, 0.0)
    if b is not None:
        grown = min(max(grown, min(b - a, 0.0)), max(b - a, 0.0))
    yield Cause("load", "load", grown, "load", load_measures(before, after))


def _rises(before: Interval, after: Interval, factor: float, least: float) -> Iterator[Cause]:
    """Return what took more DB time after than the load explains, with its impact above zero.

    What a statement has below `least` stays with the waits and the CPU: it is told nowhere else.
    """
    statements = [
        Cause("statement", one.key, one.impact, one.part, one.evidence, certainty=one.certainty)
        for one in own_parts(before, after, factor)
    ]
    parts = parts_of(before, after, factor)
    if factor != asked_factor(before, after):
        # statements of other work are new, all of them: what sessions waited for is not theirs alone
        least = max(least, _MOSTLY * abs(whole_change(before, after) or 0.0))
    owned = sum(one.weight for one in statements if one.weight >= least)
    groups = _without_owned(families.groups(IntervalPair(before, after, factor), parts), owned)
    yield from statements
    for one in groups:
        if one.impact > 0:
            yield Cause(one.kind, one.key, one.impact, one.part, one.evidence, one.events)


def _without_owned(groups: Sequence[RisePart], owned: float) -> list[RisePart]:
    """Take from what is mere work the time that statements account for by their own."""
    work = sum(one.impact for one in groups if one.work and one.impact > 0)
    left = max(0.0, 1 - owned / work) if work > 0 else 0.0
    return [replace(one, impact=one.impact * left) if one.work else one for one in groups]
