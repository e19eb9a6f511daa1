"""The sentences of a comparison, made from its numbers: what became faster, and by what."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from toolkit.analysis.awr.changes import Change
from toolkit.analysis.awr.comparable import by_ratio, other_databases, unaccounted
from toolkit.analysis.awr.diff import IntervalDiff
from toolkit.analysis.awr.load import executions_each, long_executions, other_work, verdict_by
from toolkit.units import number, percent, seconds

_MOST_WAITS = 4
SAME = 0.05
_MOSTLY = 0.5
_AS_FAST = "it is about as fast as before"
_OTHER_DATABASES = "of different databases, whose work need not be the same"
_IDLE = 0.005
"""Active sessions below which an instance only keeps itself going (18 s of DB time in an hour)."""
RATE_NAMES = {
    "transactions": "transactions per second", "user_calls": "user calls per second",
    "executes": "executions per second", "logical_reads": "logical reads per second",
}  # fmt: skip


def headline(diff: IntervalDiff) -> str:
    """Say whether it got faster, by the measure that allows for the load: DB time per transaction or execution.

    No such thing is said of two databases, nor where `_no_verdict` has a reason.
    """
    if why := _no_verdict(diff):
        return f"inconclusive: {why}"
    measure, words = _measure(diff)
    if measure is None or measure.ratio is None:
        lacking = [side for side in (diff.before, diff.after) if side.db_time_seconds is None]
        who = "neither of the two has a DB time" if len(lacking) > 1 else "one of the two lacks its DB time"
        return f"inconclusive: {who}"
    ratio = measure.ratio
    other = other_databases(diff.before.origin, diff.after.origin)
    verdict = _OTHER_DATABASES if other else _verdict(ratio)
    before, after = both(measure, seconds)
    if words == "second":
        was, now = both(measure, number)
        sentence = f"{was} sessions were active on average before, {now} after"
        return f"{verdict}: {sentence} ({by_ratio(ratio)})"
    holds = "" if verdict == _AS_FAST else _holds(diff, words, ratio)
    return f"{verdict}: one {words} takes {after} of DB time instead of {before} ({by_ratio(ratio)}){holds}"


def _no_verdict(diff: IntervalDiff) -> str:
    """Say why the two cannot be judged.

    Both did next to nothing; a few executions took most of a DB time (a report, a job), and these are not so many
    of anything; the loads are `load.OTHER_WORK` times apart; or much of a DB time was not spent in its interval.
    """
    rates = [one.rate for one in (diff.db_time.before, diff.db_time.after)]
    if all(one is not None and one < _IDLE for one in rates):
        before, after = both(diff.db_time, number)
        return f"hardly any work in either: {before} active sessions before, {after} after"
    if few := _long_executions(diff):
        return f"{few}, and the time of one transaction or execution says nothing of them"
    if other := _other_work(diff):
        return f"not the same work: {other}"
    for words, side in (("before", diff.before), ("after", diff.after)):
        if unaccounted(side) is not None:
            return f"much of the DB time {words} is neither a wait nor CPU of its interval"
    return ""


def _holds(diff: IntervalDiff, words: str, ratio: float) -> str:
    """Say how many executions a transaction holds, where that is at least half of why it takes longer or less."""
    each = executions_each(diff.before, diff.after)
    if words != "transaction" or not each.ratio or not ratio or math.log(each.ratio) / math.log(ratio) < _MOSTLY:
        return ""
    before, after = both(each, number)
    return f", with {after} executions in each instead of {before}"


def _other_work(diff: IntervalDiff) -> str:
    """Say by how much the loads are apart, nothing where they are near enough for a verdict."""
    load = other_work(diff.before, diff.after)
    if load is None:
        return ""
    words = RATE_NAMES.get(load.key, "DB time per second").removesuffix(" per second")
    before, after = both(load, number)
    return f"{number(load.ratio)} times the {words} ({before} -> {after} per second)"


def _long_executions(diff: IntervalDiff) -> str:
    """Say which statement a few executions of took most of the DB time, on each side where that is so."""
    sides = (("before", long_executions(diff.before)), ("after", long_executions(diff.after)))
    told = [f"`{of[0].key}` {percent(100 * of[1])} {words}" for words, of in sides if of]
    return f"a few long executions took most of the DB time ({', '.join(told)})" if told else ""


def _waited(diff: IntervalDiff) -> Iterator[str]:
    """Say what the sessions of each side spent their time on, as shares of its DB time."""
    for words, side in (("before", diff.before), ("after", diff.after)):
        total = side.db_time_seconds
        rows = sorted(side.waits.rows.values(), key=lambda one: -(one.seconds or 0.0))
        spent = [f"{one.name} {percent(100 * one.seconds / total)}" for one in rows if total and one.seconds]
        if spent:
            yield f"time {words}: {', '.join(spent[:_MOST_WAITS])} of DB time"


def _measure(diff: IntervalDiff) -> tuple[Change | None, str]:
    name = verdict_by(diff.before, diff.after)
    if name == "transactions":
        return diff.per_transaction, "transaction"
    return (diff.per_execution, "execution") if name else (diff.db_time, "second")


def _verdict(ratio: float) -> str:
    if abs(ratio - 1) < SAME:
        return _AS_FAST
    return "it got slower" if ratio > 1 else "it got faster"


def both(one: Change, spell: Callable[[float | None], str]) -> tuple[str, str]:
    """Return a rate before and after as printed."""
    return spell(one.before.rate), spell(one.after.rate)


def measures(diff: IntervalDiff) -> Iterator[str]:
    """Say the same for each of the measures: per second, throughput, DB time per transaction and per execution."""
    if diff.db_time.ratio is not None:
        before, after = both(diff.db_time, number)
        yield f"active sessions on average: {before} before, {after} after ({by_ratio(diff.db_time.ratio)})"
    for name, words in (("transactions", "transactions"), ("executes", "executions")):
        one = next((one for one in diff.load if one.key == name), None)
        if one is not None and one.ratio is not None:
            before, after = both(one, number)
            yield f"throughput: {before} {words} per second before, {after} after ({by_ratio(one.ratio)})"
    for per, words in ((diff.per_transaction, "transaction"), (diff.per_execution, "execution")):
        if per is not None and per.ratio is not None:
            before, after = both(per, seconds)
            yield f"DB time per {words}: {before} before, {after} after ({by_ratio(per.ratio)})"
    each, other = executions_each(diff.before, diff.after), _other_work(diff)
    if not other and diff.per_transaction is not None and each.ratio and abs(each.ratio - 1) >= SAME:
        before, after = both(each, number)
        yield f"executions in each transaction: {before} before, {after} after ({by_ratio(each.ratio)})"
    if other or _long_executions(diff):
        yield from _waited(diff)
    if diff.per_transaction is None and diff.db_time.ratio is not None:
        yield "no verdict per transaction: an interval has fewer than 10 of them, or does not count them"


def accounted_for(diff: IntervalDiff) -> str:
    """Say what change the causes are of, nothing where there is none or it is not known."""
    whole = diff.whole
    if not whole or diff.db_time.delta is None:
        return ""
    beyond = "" if math.isclose(whole, diff.db_time.delta) else " than the load explains"
    return f"{number(abs(whole))} {'more' if whole > 0 else 'fewer'} active sessions{beyond}"
