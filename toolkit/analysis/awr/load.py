"""How much was asked of the database in two intervals, and how far that explains what it spent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from toolkit.analysis.awr.changes import Amount, Change, amount, matched, rates
from toolkit.analysis.awr.comparable import unaccounted
from toolkit.model.interval import Interval, Statement

OTHER_WORK = 3.0
"""From this ratio of load on two intervals did not do the same work."""
ALIKE = 1.5
"""Below this ratio of transactions, and of DB time, two intervals are alike in them."""
_LEAST_COUNT = 10
"""Transactions or executions an interval must hold for a figure of one of them to say something."""
_LOAD_NAMES = ("transactions", "user_calls", "executes")
_READING_LOAD = ("transactions", "user_calls", "logical_reads")
"""What tells a load whose executions do more each (arrays), or are fewer of the recursive ones."""
_LOAD_CHANGE = 0.1
_ALONE = 0.7
"""The share of additional executions from which they are one statement's."""
_BESIDE = 1 / 3
"""Of the change of DB time: so much may lie beside what another load makes of it, for that load to explain it."""


def asked_factor(before: Interval, after: Interval) -> float:
    """Return how many times as much was asked of the database: only as far as all measures of it agree.

    Transactions, user calls and executions all grew: the least of the three. All fell: the largest. Where
    executions went against the two others, and the blocks that were read with these, the blocks stand in for
    them. Else 1, and 1 where one statement alone is executed more often.
    """
    factor, _ = _asked(before, after)
    return 1.0 if _one_statement(before, after) else factor


def load_factor(before: Interval, after: Interval) -> float:
    """Return by how much the load explains more, or less, DB time: by what was asked, 1 where that says nothing.

    Of intervals that did not do the same work the change itself is told, for what each event and statement would
    take at a load many times as large is a fiction; unless all parts of DB time went with that load. Nor does
    a load explain DB time that was not spent in its interval.
    """
    factor = asked_factor(before, after)
    if any(unaccounted(side) is not None for side in (before, after)):
        return 1.0
    apart = other_work(before, after) is not None or max(factor, 1 / factor) >= OTHER_WORK
    return factor if not apart or _followed(before, after, factor) else 1.0


def load_measures(before: Interval, after: Interval) -> tuple[Change, ...]:
    """Return what tells the load, before and after."""
    names = dict.fromkeys((*_LOAD_NAMES, *_asked(before, after)[1]))
    return tuple(one for one in (rates(before, after, name) for name in names) if one.ratio is not None)


def verdict_by(before: Interval, after: Interval) -> str:
    """Return by the time of what both intervals are judged: `transactions`, `executes`, or nothing but DB time."""
    sides = (before, after)
    if all(counted(side, "transactions") for side in sides) and _steady(before, after):
        return "transactions"
    return "executes" if all(counted(side, "executes") for side in sides) else ""


def counted(side: Interval, name: str) -> bool:
    """Whether an interval has enough of something for a time of one of them."""
    total = side.total(name)
    return total is not None and total >= _LEAST_COUNT and side.db_time_seconds is not None


def other_work(before: Interval, after: Interval) -> Change | None:
    """Return which of transactions and executions is most apart, where that is `OTHER_WORK` times or more.

    About as many executions that take longer are slower, however many transactions they are put into. And where as
    many transactions take about as much DB time, users got the same for the same, of however many executions each
    consists: that is a verdict, with the executions beside it (`executions_each`).
    """
    if _alike(before, after):
        return None
    sides = (before, after)
    name = verdict_by(before, after)
    loads = [rates(before, after, one) for one in dict.fromkeys((name, "executes"))] if name else []
    if name == "executes" and _apart(loads[0], ALIKE) and all(counted(side, "transactions") for side in sides):
        loads.append(rates(before, after, "transactions"))
    most = max(loads or [_db_time(before, after)], key=_distance)
    return most if _apart(most) else None


def long_executions(side: Interval) -> tuple[Statement, float] | None:
    """Return the largest statement, and its share of DB time, where a few executions took most of that time.

    Of an interval that one report or job fills, a time of one transaction or execution describes what ran beside
    it. A statement that calls others contains their time: where those that ran often have most of it, too, these
    are the work.

    Returns:
        The largest of the statements with fewer than `_LEAST_COUNT` executions, where these took more than half of
        the DB time, and its share from 0 to 1; None otherwise, and where the statements do not tell.
    """
    total = side.db_time_seconds
    known = [one for one in side.statements.rows.values() if one.executions is not None and one.elapsed_s]
    few = [one for one in known if (one.executions or 0.0) < _LEAST_COUNT]
    if not total or not few or 2 * _elapsed(few) <= total or 2 * (_elapsed(known) - _elapsed(few)) > total:
        return None
    most = max(few, key=lambda one: one.elapsed_s or 0.0)
    return most, (most.elapsed_s or 0.0) / total


def executions_each(before: Interval, after: Interval) -> Change:
    """Return the executions in each transaction."""
    return Change("executes", *(Amount(_executions_each(side), None, 1.0) for side in (before, after)))


def _elapsed(statements: Sequence[Statement]) -> float:
    return math.fsum(one.elapsed_s or 0.0 for one in statements)


def _alike(before: Interval, after: Interval) -> bool:
    """Whether both intervals hold enough transactions, about as many, that took about as much DB time."""
    both = (rates(before, after, "transactions"), _db_time(before, after))
    return all(counted(side, "transactions") for side in (before, after)) and all(
        one.ratio is not None and not _apart(one, ALIKE) for one in both
    )


def _apart(one: Change, times: float = OTHER_WORK) -> bool:
    return one.ratio is not None and not 1 / times < one.ratio < times


def _db_time(before: Interval, after: Interval) -> Change:
    return Change("db_time", *(amount(side, side.db_time_seconds) for side in (before, after)))


def _steady(before: Interval, after: Interval) -> bool:
    """Whether a transaction is the measure: about as many executions in each, or else as many of them rather.

    Of what both intervals did nearly as often the time tells more: as many executions in more transactions, of
    which each does less, are not faster.
    """
    each = executions_each(before, after).ratio
    if each is None or max(each, 1 / each) <= 1 + _LOAD_CHANGE:
        return True
    return _distance(rates(before, after, "transactions")) <= _distance(rates(before, after, "executes"))


def _distance(one: Change) -> float:
    """Return how far a ratio is from 1, either way."""
    return abs(math.log(one.ratio)) if one.ratio else 0.0


def _executions_each(side: Interval) -> float | None:
    executes, transactions = side.load.get("executes"), side.load.get("transactions")
    return executes / transactions if executes and transactions else None


def _followed(before: Interval, after: Interval, factor: float) -> bool:
    """Whether DB time, each wait and the CPU in it went with the load, as seen at the larger of both loads."""
    whole = _db_time(before, after)
    parts = [whole, *matched(before, after, lambda side: side.waits, "seconds").values()]
    changed = whole.delta
    if changed is None or factor == 1:
        return False
    beside = [
        abs(b - factor * a) / min(factor, 1.0)
        for a, b in ((one.before.rate or 0.0, one.after.rate or 0.0) for one in parts)
    ]
    return max(beside[0], sum(beside[1:])) <= _BESIDE * abs(changed)


def _asked(before: Interval, after: Interval) -> tuple[float, tuple[str, ...]]:
    """Return the factor on which measures of the load agree, and these; 1 where none do."""
    factor, executes = _agreed(before, after, _LOAD_NAMES), rates(before, after, "executes").ratio or 1.0
    instead = _agreed(before, after, _READING_LOAD)
    if _changed(executes) and _changed(instead) and (executes > 1) != (instead > 1):
        return instead, _READING_LOAD
    return (factor if _changed(factor) else 1.0), _LOAD_NAMES


def _agreed(before: Interval, after: Interval, names: Sequence[str]) -> float:
    """Return by what all of these rates grew, or fell, at least; 1 where they disagree, or one is not known."""
    known = [rates(before, after, name).ratio for name in names]
    ratios = [one for one in known if one] if names == _LOAD_NAMES else [one or 1.0 for one in known]
    return min(ratios) if min(ratios, default=1) > 1 else max(ratios) if max(ratios, default=1) < 1 else 1.0


def _changed(factor: float) -> bool:
    return max(factor, 1 / factor) > 1 + _LOAD_CHANGE


def _one_statement(before: Interval, after: Interval) -> bool:
    """Whether one statement alone makes for the executions that are more: then it is the cause, not the load.

    Where they are fewer nothing follows: sessions that wait execute less often.
    """
    executes = rates(before, after, "executes").delta
    if executes is None or executes <= 0:
        return False
    each = matched(before, after, lambda side: side.statements, "executions").values()
    return any((one.delta or 0.0) >= _ALONE * executes for one in each)
