"""The sentence of a statement that accounts for a part of the change: what it did otherwise, and what shows it."""

from __future__ import annotations

from toolkit.analysis.awr.causes import Cause
from toolkit.analysis.awr.diff import IntervalDiff, StatementChange
from toolkit.analysis.awr.wording import Lead, head, joined, shift, unlike_load
from toolkit.model.interval import Interval
from toolkit.units import percent, seconds

_EXCERPT = 60
_NEARLY_ALL = 0.95
"""Of the DB time: what is not captured then is too little for a statement worth a sentence."""


def statement_sentence(cause: Cause, diff: IntervalDiff) -> str:
    row = next((one for one in diff.statements if one.key == cause.key), None)
    if row is None:
        return f"statement `{cause.key}`"
    grew = cause.impact > 0
    called = f"statement `{cause.key}`{excerpt(row.text)}"
    timed = row.each("elapsed_s").ratio is not None
    sampled = _sampled(row, diff)
    does = _does(row, cause.part, grew, diff)
    share = _is_share(row, diff)
    if cause.part == "new" and sampled:
        does = f"is in the lists of statements only {'after' if grew else 'before'}"
    facts = [
        sampled if cause.part == "new" else "",
        shift(row.elapsed, "active sessions")
        if cause.part == "new" or not timed or does.startswith("whose")
        else "",
        _executions(row, diff, after=grew),
        shift(row.each("gets"), "gets per execution"),
        "" if row.each("gets").ratio else shift(row.each("cpu_s"), "CPU per execution", seconds),
        _temp_each(row),
        shift(row.each("elapsed_s"), "time per execution", seconds),
        f"plan {row.plans[0]} -> {row.plans[1]}" if row.plan_changed else "",
        "what it did on other instances is not in these reports" if share else "",
        _longer_than_interval(row, diff),
        _not_captured(diff, grew) if cause.part == "new" and not sampled else "",
    ]
    return joined(f"{called} {does}", *facts)


def _sampled(row: StatementChange, diff: IntervalDiff) -> str:
    """Say that active session history saw a statement in both intervals, whichever of them counts its time."""
    sides = [
        sum(
            one.get("pct_event", 0.0)
            for key, one in side.details.get(_SAMPLES, {}).items()
            if key.partition(", ")[0] == row.key
        )
        for side in (diff.before, diff.after)
    ]
    if not all(sides):
        return ""
    before, after = map(percent, sides)
    return f"though active session history saw it in both ({before} of the samples before, {after} after)"


_OFTENER = "is executed more often", "is executed less often"
_AS_OFTEN = "is executed as often, in a shorter interval", "is executed as often, in a longer interval"


_SHARES = "does more work on this instance per execution", "does less work on this instance per execution"
_SHARES_TIME = (
    "takes more time on this instance per execution",
    "takes less time on this instance per execution",
)


def _does(row: StatementChange, part: str, grew: bool, diff: IntervalDiff) -> str:
    """Say what a statement did otherwise; more work only where the work of both sides is shown."""
    if part == "new":
        return "is new among the top statements" if grew else "is no longer among the top statements"
    executions = row.measures["executions"]
    often = Lead(executions, *(_AS_OFTEN if executions.before.total == executions.after.total else _OFTENER))
    share = _is_share(row, diff)
    gets, spills, burns, takes = (_SHARES, _SHARES, _SHARES, _SHARES_TIME) if share else _EACH
    each = (
        Lead(row.each("gets"), *gets),
        Lead(row.each("temp_blocks"), *spills),
        Lead(row.each("cpu_s"), *burns, seconds),
    )
    slow = Lead(row.each("elapsed_s"), *takes, seconds)
    whole = Lead(row.elapsed, "takes more time", "takes less time")
    leads = [often, slow, whole] if part == "executions" else [*each, slow, whole]
    if part == "slower":
        leads = [slow, whole]
    said = head(grew, leads, unlike_load(row.elapsed, "whose time", ("takes more time", "takes less time")))
    if row.plan_changed and part != "executions":
        return f"runs with another plan, {said}"
    if part == "slower" and row.each("elapsed_s").ratio is None:
        return f"{said}, {_not_timed(row)}"
    return f"{said}, its work is not known in both" if part == "slower" else said


_EACH = (
    ("needs more buffer gets per execution", "needs fewer buffer gets per execution"),
    ("spills more per execution", "spills less per execution"),
    ("needs more CPU per execution", "needs less CPU per execution"),
    ("takes longer per execution", "takes less time per execution"),
)
_PARALLELIZED = ("queries parallelized", "DML statements parallelized", "DDL statements parallelized")
_REMOTE = ("PX remote messages sent", "PX remote messages recv'd")


def _is_share(row: StatementChange, diff: IntervalDiff) -> bool:
    """Whether a side may show one instance's share of a statement that ran on several.

    A parallel statement counts as executed where its coordinator is; gets, CPU and time of its servers count where
    these run.
    """
    executions = row.measures["executions"]
    sides = ((diff.before, executions.before.total), (diff.after, executions.after.total))
    return any(ended is not None and _may_be_share(side, ended) for side, ended in sides)


def _may_be_share(side: Interval, ended: float) -> bool:
    """Whether a statement of so many executions may have run in parallel, where servers of instances talk.

    Messages between instances: Distr Msgs of V$PQ_SYSSTAT, "PX remote messages" of the instance's activity.
    """
    across = any(side.counters.get(name) for name in _REMOTE)
    if not side.origin.rac or side.origin.scope == "rac_global" or not across:
        return False
    return ended <= sum(side.counters.get(name, 0.0) for name in _PARALLELIZED)


_SAMPLES = "ash_sql_by_event"


def _longer_than_interval(row: StatementChange, diff: IntervalDiff) -> str:
    """Warn where an execution lasted longer than the interval it is counted in, or in which it did not end."""
    each, whole, often = row.each("elapsed_s"), row.elapsed, row.measures["executions"]
    for side, one, spent, ended in (
        (diff.before, each.before.rate, whole.before.total, often.before.total),
        (diff.after, each.after.rate, whole.after.total, often.after.total),
    ):
        length = side.origin.elapsed_seconds
        longest = spent if ended == 0 else one
        if length and longest is not None and longest > length:
            return "an execution takes longer than the interval: it ran in parallel, or began before it"
    return ""


def _not_captured(diff: IntervalDiff, grew: bool) -> str:
    """Say that a statement that is not in a list may be one that the report did not notice."""
    side, when = (diff.before, "before") if grew else (diff.after, "after")
    captured = side.statements.captured
    if captured is None or captured >= _NEARLY_ALL:
        return ""
    return f"unless the report {when} did not capture it (captured: {percent(100 * captured)} of DB time)"


def excerpt(text: str | None) -> str:
    """Return the begin of a statement's text, by which a reader knows it."""
    words = " ".join((text or "")[: 4 * _EXCERPT].replace("`", "'").split())
    if not words:
        return ""
    return f" ({words})" if len(words) <= _EXCERPT else f" ({words[:_EXCERPT].rstrip()}…)"


def _not_timed(row: StatementChange) -> str:
    executions = row.measures["executions"]
    if executions.before.total is None and executions.after.total is None:
        return "its executions are not known"
    return "the time of an execution is not known in both"


def _executions(row: StatementChange, diff: IntervalDiff, *, after: bool) -> str:
    """Tell how often it was executed; what ran and counts none did not end within the interval."""
    executions = row.measures["executions"]
    one, side, when = (
        (executions.after, diff.after, "after") if after else (executions.before, diff.before, "before")
    )
    if one.total == 0:
        elsewhere = ", or another instance coordinated it" if _may_be_share(side, 0.0) else ""
        return f"none of its executions ended in the interval {when}{elsewhere}"
    return shift(executions, "executions per second")


def _temp_each(row: StatementChange) -> str:
    each = row.each("temp_blocks")
    spilt = (each.before.rate or 0.0) > 0 or (each.after.rate or 0.0) > 0
    return shift(each, "temporary blocks per execution") if spilt else ""
