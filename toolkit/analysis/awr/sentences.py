"""The sentence of each cause: what it is, what shows it, and the DB time it accounts for.

No sentence says more than its numbers (`wording`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolkit.analysis.awr.causes import Cause
from toolkit.analysis.awr.changes import Change
from toolkit.analysis.awr.diff import IntervalDiff
from toolkit.analysis.awr.families import BUSY, COMMIT_SETTINGS
from toolkit.analysis.awr.findings import RATE_NAMES, SAME
from toolkit.analysis.awr.statement_sentence import excerpt, statement_sentence
from toolkit.analysis.awr.wording import Lead, event_name, head, hundredths, joined, shift, unlike_load
from toolkit.model.interval import LOAD
from toolkit.units import byte_size, number, percent, seconds

_WORTH = 0.05
"""Of the change: what explains less is no cause worth a sentence."""
_ABOVE_THE_WHOLE = 100.5
"""Percent of the change: from here on others must have worked against a cause, and its share says so."""


def worth_telling(causes: Sequence[Cause], diff: IntervalDiff) -> list[Cause]:
    """Return the causes that explain at least a twentieth of the change, and the first in any case."""
    whole = abs(diff.whole or 0.0)
    return [one for place, one in enumerate(causes) if not place or abs(one.weight) >= _WORTH * whole]


_SECTIONS = {
    "latency": "wait events", "waits": "wait events", "hard parse elapsed time": "time model",
    "Buffer Cache": "cache sizes", "Buffer Hit": "instance efficiency", "host_cpu": "host CPU", "cpus": "header",
    "cached_reads": "instance activity", "unaccounted": "DB time less CPU and waits", "DB CPU": "time model",
    "on CPU": "sampled sessions", "executions": "SQL lists", "elapsed_s": "SQL lists", "cpu_s": "SQL lists",
    "gets": "SQL lists", "reads": "SQL lists", "temp_blocks": "SQL lists",
}  # fmt: skip
"""Where a number of the evidence stands; what is not named here is a rate of the load profile or an event."""
_NAMES = {
    "elapsed_s": "elapsed seconds per second", "cpu_s": "CPU seconds per second", "latency": "average wait",
    "waits": "waits per second", "executions": "executions per second", "gets": "logical reads per second",
    "reads": "physical reads per second", "temp_blocks": "temporary blocks per second", "host_cpu": "busy",
    "cpus": "CPUs", "redo_size_bytes": "redo", "temp_io_bytes": "temporary I/O", "db_time_s": "DB time",
    "db_cpu_s": "DB CPU", "cached_reads": "reads less direct ones",
}  # fmt: skip
"""How a number of the evidence is called; what is not named here is called as the report does."""
_UNITS: dict[str, Callable[[float | None], str]] = {
    "latency": seconds, "Buffer Cache": byte_size, "Buffer Hit": hundredths, "host_cpu": percent,
    "redo_size_bytes": byte_size, "temp_io_bytes": byte_size,
}  # fmt: skip


def evidence(cause: Cause, of: str = "") -> list[str]:
    """Return what a cause was concluded from: the section, and the value of each side as it was used.

    Times and counts are per second of the interval, but averages, ratios and sizes.

    Args:
        cause: Which.
        of: What the values are of, where they are not of the cause itself.
    """
    found = []
    for one in cause.evidence:
        section = _SECTIONS.get(one.key) or ("load profile" if one.key in LOAD else "wait events")
        spell = _UNITS.get(one.key, number)
        sides = [
            spell(side.rate) if side.rate is not None
            else "unknown" if side.most_rate is None
            else f"below {spell(side.most_rate)}"
            for side in (one.before, one.after)
        ]  # fmt: skip
        name = _NAMES.get(one.key, one.key.replace("_", " ") if one.key in LOAD else one.key)
        found.append(f"{section}: {of}{name} {sides[0]} -> {sides[1]}")
    found += [line for one in cause.statements for line in evidence(one, f"`{one.key}` ")]
    if cause.certainty < 1 and not of:
        unseen = ", or one that the report does not list" if cause.part == "new" else ""
        found.append(
            f"ranked with {percent(100 * cause.certainty)} of it: the statement may be a victim of a wait{unseen}"
        )
    return found


def cause_sentence(cause: Cause, diff: IntervalDiff) -> str:
    """Say what a cause is, what shows it, and the DB time it accounts for."""
    return f"{_what(cause, diff)}; {_accounts(cause, diff)}"


def _accounts(cause: Cause, diff: IntervalDiff) -> str:
    sign = "more" if cause.impact > 0 else "fewer"
    apart = cause.kind == "load" or cause.part == "new" or abs(diff.explained - 1) <= SAME
    beyond = "" if apart else " than the load explains"
    most = "up to " if cause.certainty < 1 else ""
    sentence = f"{most}{number(abs(cause.impact))} {sign} active sessions{beyond}"
    if (whole := diff.whole) and whole * cause.impact > 0 and abs(whole) >= 1e-4:
        share = cause.impact / whole * 100
        if share >= _ABOVE_THE_WHOLE:
            return f"{sentence}, more than the whole change ({percent(share)} of it)"
        return f"{sentence}, {percent(share)} of the change"
    return f"{sentence}, in the opposite direction" if whole and whole * cause.impact < 0 else sentence


def _what(cause: Cause, diff: IntervalDiff) -> str:
    if cause.kind == "commit":
        return _commit(cause, diff)
    if cause.kind == "statement":
        return statement_sentence(cause, diff)
    return f"{_TELLERS.get(cause.kind, _event)(cause)}{_waiting(cause, diff)}"


def _waiting(cause: Cause, diff: IntervalDiff) -> str:
    """Name the statements whose time may be that of the wait; a report does not say which of them waited."""
    texts = {one.key: one.text for one in diff.statements}
    sign = "more active sessions" if cause.impact > 0 else "fewer active sessions"
    named = [
        f"`{one.key}`{excerpt(texts.get(one.key))} up to {number(abs(one.impact))}{'' if place else f' {sign}'}"
        for place, one in enumerate(cause.statements)
    ]
    several = "statements" if len(named) > 1 else "the statement"
    return f", in {several} that may wait for it: {', '.join(named)}" if named else ""


def _get(cause: Cause, key: str) -> Change | None:
    return next((one for one in cause.evidence if one.key == key), None)


def _load(cause: Cause) -> str:
    grew = cause.impact > 0
    leads = [Lead(one, "the database did more work", "the database did less work") for one in cause.evidence]
    against = [one.moved == (-1 if grew else 1) for one in leads]
    facts = [shift(one, RATE_NAMES[one.key]) for one in cause.evidence]
    with_it = [fact for fact, other in zip(facts, against, strict=True) if not other]
    other_way = ", ".join(fact for fact, other in zip(facts, against, strict=True) if fact and other)
    told = joined(head(grew, leads, ("the load accounts for more", "the load accounts for less")), *with_it)
    return f"{told}, though {other_way}" if other_way else told


def name_of_waits(cause: Cause) -> str:
    """Return what a DBA calls what sessions waited for: of redo, by the event that took most of it."""
    return event_name(cause.events[0] if cause.kind == "redo" and cause.events else cause.key)


def _event(cause: Cause) -> str:
    latency, waits = _get(cause, "latency"), _get(cause, "waits")
    key = f"`{cause.key}`"
    longer = Lead(latency, f"each wait for {key} takes longer", f"each wait for {key} takes less time", seconds)
    time = Lead(_get(cause, cause.key), f"more time in {key}", f"less time in {key}")
    often = Lead(waits, f"more waits for {key}", f"fewer waits for {key}")
    leads = [longer, time, often] if cause.part == "latency" else [time, often]
    otherwise = unlike_load(
        _get(cause, cause.key), f"time in {key}", (f"more time in {key}", f"less time in {key}")
    )
    others = [f"`{name}`" for name in cause.events if name != cause.key][:3]
    also = f"also {', '.join(others)}" if others else ""
    name = event_name(cause.key)
    facts = (shift(latency, "average wait", seconds), shift(waits, "waits per second"), also)
    return joined(f"{name}: {head(cause.impact > 0, leads, otherwise)}" if name else
                   head(cause.impact > 0, leads, otherwise), *facts)  # fmt: skip


def _reads(cause: Cause) -> str:
    lead = Lead(
        _get(cause, "latency"), "storage answers reads slower: ", "storage answers reads faster: ", seconds
    )
    return f"{head(cause.impact > 0, [lead], ('', ''))}{_event(cause)}"


def _parsing(cause: Cause) -> str:
    hard, spent = _get(cause, "hard_parses"), _get(cause, "hard parse elapsed time")
    leads = [
        Lead(hard, "more hard parses", "fewer hard parses"),
        Lead(spent, "more time in hard parses", "less time in hard parses"),
    ]
    otherwise = unlike_load(hard, "hard parses", ("hard parses account for more", "hard parses account for less"))
    words = head(cause.impact > 0, leads, otherwise)
    return joined(words, shift(hard, "a second"), shift(spent, "active sessions parsing"), _with(cause))


def _redo(cause: Cause) -> str:
    size = _get(cause, "redo_size_bytes")
    lead = Lead(size, "more redo is written", "less redo is written", byte_size)
    otherwise = unlike_load(size, "redo", ("redo accounts for more", "redo accounts for less"), byte_size)
    words = head(cause.impact > 0, [lead], otherwise)
    name = name_of_waits(cause)
    return joined(f"{name}: {words}" if name else words, shift(size, "bytes per second", byte_size), _with(cause))


def _commit(cause: Cause, diff: IntervalDiff) -> str:
    head = f"sessions wait {'more' if cause.impact > 0 else 'less'} for the write-ahead log, as COMMIT does"
    changed = [
        f"`{name}` {_setting(before)} -> {_setting(after)}"
        for name, (before, after) in diff.parameters.items()
        if name in COMMIT_SETTINGS
    ]
    return joined(head, _with(cause), *changed)


def _setting(value: str | None) -> str:
    return "not set" if value is None else value or "''"


def _temp(cause: Cause) -> str:
    size = _get(cause, "temp_io_bytes")
    lead = Lead(size, "work areas spill more to temporary files", "less data spills to temporary files", byte_size)
    otherwise = ("temporary files account for more", "temporary files account for less")
    words = head(cause.impact > 0, [lead], unlike_load(size, "temporary I/O", otherwise, byte_size))
    return joined(words, shift(size, "bytes per second", byte_size), _with(cause))


def _cache(cause: Cause) -> str:
    cached, hit, into = (_get(cause, name) for name in ("Buffer Cache", "Buffer Hit", "cached_reads"))
    reads = into or _get(cause, "physical_reads")
    lead = Lead(reads, "the buffer cache satisfies fewer reads", "the buffer cache satisfies more reads")
    words = head(
        cause.impact > 0,
        [lead],
        ("reads past the buffer cache account for more", "reads past the buffer cache account for less"),
    )
    return joined(
        words, shift(cached, "its size", byte_size), shift(hit, "hit ratio", hundredths),
        shift(reads, "blocks read into it per second" if into else "physical reads per second"),
        shift(_get(cause, "logical_reads"), "logical reads per second"),
    )  # fmt: skip


def _cluster(cause: Cause) -> str:
    latency, waits = _get(cause, "latency"), _get(cause, "waits")
    words = "waits for blocks of other instances"
    largest = _get(cause, cause.events[0])
    said = head(
        cause.impact > 0,
        [],
        unlike_load(largest, f"{words}: `{cause.events[0]}`", (f"{words} take more", f"{words} take less")),
    )
    facts = (shift(latency, f"average of `{cause.events[0]}`", seconds), shift(waits, "waits per second"))
    return joined(said, *(facts if cause.part == "latency" else facts[::-1]), _with(cause))


def _cpu(cause: Cause) -> str:
    used = _get(cause, cause.key)
    leads = Lead(used, "more CPU is used", "less CPU is used")
    words = head(cause.impact > 0, [leads], unlike_load(used, "CPU", (leads.rise, leads.fall)))
    return joined(words, shift(used, "sessions on CPU"))


def _queue(cause: Cause) -> str:
    """Say what is neither CPU nor a wait; a queue for CPU only where the host is shown to be full."""
    busy, cpus = _get(cause, "host_cpu"), _get(cause, "cpus")
    if cause.key == "host CPU":
        words = "the host has hardly any CPU left" if cause.impact > 0 else "the host has free CPU again"
        return joined(words, shift(busy, "busy", percent), shift(cpus, "CPUs") if cpus and cpus.ratio != 1 else "")
    more = "more" if cause.impact > 0 else "less"
    words = f"{more} time that is neither CPU nor a listed wait"
    if busy is None:
        return f"{words}; the host's CPU is not shown, so whether sessions queued for it is unknown"
    then = busy.after.rate if cause.impact > 0 else busy.before.rate
    host = "on a host with hardly any CPU left" if (then or 0.0) >= BUSY else "with CPU left on the host"
    return joined(f"{words}, {host}", shift(busy, "busy", percent))


def _with(cause: Cause) -> str:
    return f"seen in {', '.join(f'`{name}`' for name in cause.events[:3])}" if cause.events else ""


_TELLERS: dict[str, Callable[[Cause], str]] = {
    "load": _load, "reads": _reads, "parsing": _parsing, "redo": _redo, "temp": _temp,
    "cache": _cache, "cluster": _cluster, "cpu": _cpu, "queue": _queue,
}  # fmt: skip
