"""The sentences of a comparison, made from its numbers: what became faster, and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolkit.analysis.awr.causes import Cause
from toolkit.analysis.awr.changes import Change
from toolkit.analysis.awr.diff import IntervalDiff, StatementChange
from toolkit.units import byte_size, change, number, percent, seconds

TOLD = 3
"""The number of causes that are described in sentences."""
_EXCERPT = 60
_SAME = 0.05
_FROM_TIMES = 1.995
_RATE_NAMES = {
    "transactions": "transactions per second", "user_calls": "user calls per second",
    "executes": "executions per second",
}  # fmt: skip


def headline(diff: IntervalDiff) -> str:
    """Say whether it got faster, by the measure that allows for the load: DB time per transaction or execution."""
    measure, words = _measure(diff)
    if measure is None or measure.ratio is None:
        lacking = [side for side in (diff.before, diff.after) if side.db_time_seconds is None]
        who = "neither of the two has a DB time" if len(lacking) > 1 else "one of the two lacks its DB time"
        return f"inconclusive: {who}"
    ratio = measure.ratio
    verdict = _verdict(ratio)
    before, after = _sides(measure, seconds)
    if words == "second":
        was, now = _sides(measure, number)
        sentence = f"{was} sessions were active on average before, {now} after"
        return f"{verdict}: {sentence} ({_by(ratio)})"
    return f"{verdict}: one {words} takes {after} of DB time instead of {before} ({_by(ratio)})"


def _measure(diff: IntervalDiff) -> tuple[Change | None, str]:
    if diff.per_transaction is not None and _steady(diff):
        return diff.per_transaction, "transaction"
    if diff.per_execution is not None:
        return diff.per_execution, "execution"
    return diff.db_time, "second"


def _steady(diff: IntervalDiff) -> bool:
    """Whether a transaction means the same on both sides: about as many executions in each.

    Where they are batches of another size, an execution is the better measure.
    """
    per = []
    for side in (diff.before, diff.after):
        executes, transactions = side.load.get("executes"), side.load.get("transactions")
        per.append(executes / transactions if executes and transactions else None)
    return per[0] is None or per[1] is None or 1 / 3 < per[1] / per[0] < 3


def _verdict(ratio: float) -> str:
    if abs(ratio - 1) < _SAME:
        return "it is about as fast as before"
    return "it got slower" if ratio > 1 else "it got faster"


def _by(ratio: float) -> str:
    return f"{number(ratio)} times as much" if ratio >= _FROM_TIMES else change(ratio)


def _sides(one: Change, spell: Callable[[float | None], str]) -> tuple[str, str]:
    return spell(one.before.rate), spell(one.after.rate)


def measures(diff: IntervalDiff) -> Iterator[str]:
    """Say the same for each of the measures: per second, throughput, DB time per transaction and per execution."""
    if diff.db_time.ratio is not None:
        before, after = _sides(diff.db_time, number)
        yield f"per second: {before} active sessions before, {after} after ({_by(diff.db_time.ratio)})"
    for name, words in (("transactions", "transactions"), ("executes", "executions")):
        one = next((one for one in diff.load if one.key == name), None)
        if one is not None and one.ratio is not None:
            before, after = _sides(one, number)
            yield f"throughput: {before} {words} per second before, {after} after ({_by(one.ratio)})"
    for per, words in ((diff.per_transaction, "transaction"), (diff.per_execution, "execution")):
        if per is not None and per.ratio is not None:
            before, after = _sides(per, seconds)
            yield f"DB time per {words}: {before} before, {after} after ({_by(per.ratio)})"
    if diff.per_transaction is None and diff.db_time.ratio is not None:
        yield "no verdict per transaction: an interval has fewer than 10 of them, or does not count them"


def cause_sentence(cause: Cause, diff: IntervalDiff) -> str:
    """Say what a cause is, what shows it, and the DB time it accounts for."""
    return f"{_what(cause, diff)}; {_accounts(cause, diff)}"


def _accounts(cause: Cause, diff: IntervalDiff) -> str:
    sign = "more" if cause.impact > 0 else "fewer"
    beyond = " than the load explains" if cause.kind != "load" and abs(diff.factor - 1) > _SAME else ""
    most = "up to " if cause.certainty < 1 else ""
    sentence = f"{most}{number(abs(cause.impact))} {sign} active sessions{beyond}"
    whole = diff.whole
    if whole and whole * cause.impact > 0 and abs(whole) >= 1e-4:
        share = cause.impact / whole * 100
        return f"{sentence}, {percent(min(share, 100.0))} of the change" if share < 150 else sentence
    return f"{sentence}, in the opposite direction" if whole and whole * cause.impact < 0 else sentence


def _what(cause: Cause, diff: IntervalDiff) -> str:
    if cause.kind == "commit":
        return _commit(cause, diff)
    return _statement(cause, diff) if cause.kind == "statement" else _TELLERS.get(cause.kind, _event)(cause)


def _get(cause: Cause, key: str) -> Change | None:
    return next((one for one in cause.evidence if one.key == key), None)


def _shift(one: Change | None, name: str, spell: Callable[[float | None], str] = number) -> str:
    """Say what a number was and is, with its ratio; nothing where it is not known."""
    if one is None or (one.before.rate is None and one.after.rate is None):
        return ""
    before, after = _sides(one, spell)
    if one.before.rate is None:
        return f"{name} {after}{_bound(one.before.most_rate, 'before', spell)}"
    if one.after.rate is None:
        return f"{name} {before} before{_bound(one.after.most_rate, 'now', spell)}"
    return f"{name} {before} -> {after}" + (f" ({_by(one.ratio)})" if one.ratio and spell is not percent else "")


def _bound(most: float | None, when: str, spell: Callable[[float | None], str]) -> str:
    if most is None:
        return ""
    return f" ({when} below {spell(most)})" if most else f" (none {when})"


def _joined(head: str, *facts: str) -> str:
    facts_text = ", ".join(fact for fact in facts if fact)
    return f"{head}: {facts_text}" if facts_text else head


def _load(cause: Cause) -> str:
    less = "more" if cause.impact > 0 else "less"
    facts = [_shift(one, _RATE_NAMES[one.key]) for one in cause.evidence]
    return _joined(f"{less} work was requested of the database", *facts)


def _statement(cause: Cause, diff: IntervalDiff) -> str:
    row = next((one for one in diff.statements if one.key == cause.key), None)
    if row is None:
        return f"statement `{cause.key}`"
    grew = cause.impact > 0
    called = f"statement `{cause.key}`{_excerpt(row.text)}"
    timed = row.each("elapsed_s").ratio is not None
    heads = {
        "executions": f"is executed {'more' if grew else 'less'} often",
        "work": f"does {'more' if grew else 'less'} work per execution",
        "slower": f"takes {'longer' if grew else 'less time'} per execution, its work is not known in both",
        "new": "is new among the top statements" if grew else "is no longer among the top statements",
    }
    if not timed and cause.part in ("work", "slower"):
        heads[cause.part] = f"takes {'more' if grew else 'less'} time, {_not_timed(row)}"
    facts = [
        _shift(row.elapsed, "active sessions") if cause.part == "new" or not timed else "",
        _executions(row, after=grew),
        _shift(row.each("gets"), "gets per execution"),
        "" if row.each("gets").ratio else _shift(row.each("cpu_s"), "CPU per execution", seconds),
        _temp_each(row),
        _shift(row.each("elapsed_s"), "time per execution", seconds),
    ]
    if row.plan_changed:
        facts.append(f"plan {row.plans[0]} -> {row.plans[1]}")
    return _joined(f"{called} {heads[cause.part]}" if cause.part in heads else called, *facts)


def _excerpt(text: str | None) -> str:
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


def _executions(row: StatementChange, *, after: bool) -> str:
    """Tell how often it was executed; what ran and counts none did not end within the interval."""
    executions = row.measures["executions"]
    one, when = (executions.after, "after") if after else (executions.before, "before")
    if one.total == 0:
        return f"none of its executions ended in the interval {when}"
    return _shift(executions, "executions per second")


def _temp_each(row: StatementChange) -> str:
    each = row.each("temp_blocks")
    spilt = (each.before.rate or 0.0) > 0 or (each.after.rate or 0.0) > 0
    return _shift(each, "temporary blocks per execution") if spilt else ""


def _event(cause: Cause) -> str:
    latency, waits = _get(cause, "latency"), _get(cause, "waits")
    grew = cause.impact > 0
    if cause.part == "latency":
        head = f"each wait for `{cause.key}` takes {'longer' if grew else 'less time'}"
    elif _against(cause):
        head = f"time in `{cause.key}` {'fell' if grew else 'rose'} by less than the load"
    else:
        head = f"{'more' if grew else 'less'} time in `{cause.key}`"
    others = [f"`{name}`" for name in cause.events if name != cause.key][:3]
    also = f"also {', '.join(others)}" if others else ""
    return _joined(head, _shift(latency, "average wait", seconds), _shift(waits, "waits per second"), also)


def _reads(cause: Cause) -> str:
    return f"storage answers reads {'slower' if cause.impact > 0 else 'faster'}: {_event(cause)}"


def _parsing(cause: Cause) -> str:
    more = "more" if cause.impact > 0 else "fewer"
    spent = _shift(_get(cause, "hard parse elapsed time"), "active sessions parsing")
    return _joined(f"{more} hard parses", _shift(_get(cause, "hard_parses"), "a second"), spent, _with(cause))


def _redo(cause: Cause) -> str:
    redo = _shift(_get(cause, "redo_size_bytes"), "bytes per second", byte_size)
    return _joined(f"{'more' if cause.impact > 0 else 'less'} redo is written", redo, _with(cause))


_OF_COMMIT = ("fsync", "synchronous_commit", "synchronous_standby_names", "wal_sync_method", "commit_delay")
"""Settings on which it depends what a COMMIT waits for."""


def _commit(cause: Cause, diff: IntervalDiff) -> str:
    head = f"sessions wait {'more' if cause.impact > 0 else 'less'} for the write-ahead log, as COMMIT does"
    changed = [
        f"`{name}` {_setting(before)} -> {_setting(after)}"
        for name, (before, after) in diff.parameters.items()
        if name in _OF_COMMIT
    ]
    return _joined(head, _with(cause), *changed)


def _setting(value: str | None) -> str:
    return "not set" if value is None else value or "''"


def _temp(cause: Cause) -> str:
    head = "work areas spill to temporary files" if cause.impact > 0 else "less data spills to temporary files"
    return _joined(head, _shift(_get(cause, "temp_io_bytes"), "bytes per second", byte_size), _with(cause))


def _cache(cause: Cause) -> str:
    head = (
        "the buffer cache satisfies fewer reads" if cause.impact > 0 else "the buffer cache satisfies more reads"
    )
    return _joined(
        head, _shift(_get(cause, "Buffer Cache"), "its size", byte_size),
        _shift(_get(cause, "Buffer Hit"), "hit ratio", percent),
        _shift(_get(cause, "physical_reads"), "physical reads per second"),
        _shift(_get(cause, "logical_reads"), "logical reads per second"),
    )  # fmt: skip


def _cluster(cause: Cause) -> str:
    head = "waits for blocks of other instances " + ("rose" if cause.impact > 0 else "fell")
    return _joined(head, _shift(_get(cause, "latency"), f"average of `{cause.events[0]}`", seconds), _with(cause))


def _against(cause: Cause) -> bool:
    """Whether a time fell that is reported as more, or rose that is reported as less: the load changed by more."""
    ratio = one.ratio if (one := _get(cause, cause.key)) is not None else None
    return ratio is not None and (ratio < 1) == (cause.impact > 0)


def _cpu(cause: Cause) -> str:
    head = "more CPU is used" if cause.impact > 0 else "less CPU is used"
    if _against(cause):
        head = f"CPU {'fell' if cause.impact > 0 else 'rose'} by less than the load"
    return _joined(head, _shift(_get(cause, cause.key), "sessions on CPU"))


def _queue(cause: Cause) -> str:
    busy, cpus = _get(cause, "host_cpu"), _get(cause, "cpus")
    if busy is None:
        more = "more" if cause.impact > 0 else "less"
        return f"{more} time that is neither CPU nor a listed wait: mostly sessions queued for CPU"
    head = "the host has no free CPU" if cause.impact > 0 else "the host has free CPU again"
    return _joined(head, _shift(busy, "busy", percent), _shift(cpus, "CPUs") if cpus and cpus.ratio != 1 else "")


def _with(cause: Cause) -> str:
    return f"seen in {', '.join(f'`{name}`' for name in cause.events[:3])}" if cause.events else ""


_TELLERS: dict[str, Callable[[Cause], str]] = {
    "load": _load, "reads": _reads, "parsing": _parsing, "redo": _redo, "temp": _temp,
    "cache": _cache, "cluster": _cluster, "cpu": _cpu, "queue": _queue,
}  # fmt: skip
