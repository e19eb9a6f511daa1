"""DB time by what sessions did, grouped where it has one cause: logging, parsing, temporary I/O ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from toolkit.analysis.awr.changes import Amount, Change, Split, amount, cached_reads, rates
from toolkit.model.interval import Interval

_PARSING = re.compile(
    r"(library cache|cursor: |latch: (library cache|shared pool|row cache)|row cache|kksfbc|LWLock:Plan).*",
    re.IGNORECASE,
)
LOGGING = re.compile(r"(log (file|buffer)|LGWR|IO:W[Aa][Ll]|LWLock:WAL|latch: redo|IPC:SyncRep).*", re.IGNORECASE)
COMMIT = re.compile(r"(IO:W[Aa][Ll](Write|Sync)|LWLock:WALWrite|IPC:SyncRep)$")
"""What COMMIT waits for on PostgreSQL: the log is written, flushed (by us or by who flushes for us), replicated.

`LWLock:WALInsert` and `LWLock:WALBufMapping` are not: those who write rows wait for them.
Source: PostgreSQL, Monitoring Database Activity, Wait Events; `WALSync` is `WalSync` since 17.
"""
COMMIT_SETTINGS = (
    "fsync", "synchronous_commit", "synchronous_standby_names", "wal_sync_method", "commit_delay",
)  # fmt: skip
"""Settings on which it depends what a COMMIT waits for."""
_TEMP = re.compile(r"(direct path (read|write) temp|IO:BufFile|local write wait).*", re.IGNORECASE)
_CACHED = re.compile(
    r"(db file (sequential|scattered|parallel) read|read by other session|IO:DataFileRead|free buffer waits"
    r"|cell (single|multi|list of).* physical read).*",
    re.IGNORECASE,
)
_READS = re.compile(
    r"(db file .*read|direct path read$|cell .* (read|scan)|read by other session|IO:DataFile(Read|Prefetch)).*",
    re.IGNORECASE,
)
_CLUSTER = re.compile(r"(gc[ s]|gcs |ges |cr request retry).*", re.IGNORECASE)
ROW_LOCKS = re.compile(r"enq: TX - row lock|Lock:(transactionid|tuple)", re.IGNORECASE)
_QUERY = re.compile(r"(?:[\s(]|/\*(?:[^*]|\*(?!/))*\*/|--[^\n]*\n)*(?:select|with)\b", re.IGNORECASE)
_LOCKING = re.compile(
    r"\bfor\s+(?:no\s+key\s+|key\s+)?(?:update|share)\b|\b(?:insert|update|delete|merge)\b", re.IGNORECASE
)
_RESOURCES = re.compile(r"resmgr:.*", re.IGNORECASE)
_ON_CPU = ("DB CPU", "on CPU")
_WORK = re.compile(
    r"(db file|direct path|cell |read by other|gc |SQL\*Net|IO:|Client:|log file sync|LWLock:WAL|BufferIO).*",
    re.IGNORECASE,
)
"""Events of which a statement that does more simply has more."""
_SYNC = "log file sync"
_RISEN, _MUCH, _FLAT = 1.3, 1.5, 1.25
_LONGER = 1.5
_SMALLER = 0.98
_PARSED = 0.3
BUSY = 85.0
"""Percent of the host's CPU from which sessions queue for it."""
_BUSIER = 10.0


@dataclass(frozen=True, slots=True)
class IntervalPair:
    """The two intervals, and how many times as much was asked of the database."""

    before: Interval
    after: Interval
    factor: float

    @property
    def sides(self) -> tuple[Interval, Interval]:
        """Both."""
        return self.before, self.after

    def rates(self, name: str) -> Change:
        """Return the change of a rate of the load profile."""
        return rates(self.before, self.after, name)


@dataclass(frozen=True, slots=True)
class RisePart:
    """A part of the rise: `work` is what statements that do more account for."""

    kind: str
    key: str
    impact: float
    part: str
    evidence: tuple[Change, ...]
    events: tuple[str, ...]
    work: bool = False


def may_wait(key: str, sides: Iterable[Interval]) -> bool:
    """Whether a statement may wait for a row lock: a query that locks no row does not, as far as its text goes."""
    rows = [side.statements.rows.get(key) for side in sides]
    text = next((one.text for one in rows if one is not None and one.text), "")
    return _QUERY.match(text) is None or _LOCKING.search(text) is not None


def groups(ground: IntervalPair, parts: dict[str, Split]) -> list[RisePart]:
    """Return the parts, those that have one cause together.

    Each event is in one part for its longer waits and in one for their number, so nothing counts twice.
    """
    left = dict(parts)
    found: list[RisePart] = []
    for make in (_parsing, _library, _saturated, _redo, _commit, _temp, _cluster, _cache, _storage):
        one, claimed = make(ground, left)
        if one is not None:
            found.append(one)
            left = _without(left, claimed)
    for name, split in left.items():
        found.extend(_single(name, split))
    if (rest := _queue(ground)) is not None and not any(one.kind == "queue" for one in found):
        found.append(rest)
    return found


_Shares = tuple[float, float]
"""Of an event: how much of its longer waits is claimed, and of their number."""
_ALL: _Shares = (1.0, 1.0)
_LATENCY: _Shares = (1.0, 0.0)
_COUNT: _Shares = (0.0, 1.0)
_Claim = tuple[RisePart | None, dict[str, _Shares]]
_NONE: _Claim = (None, {})


def _without(parts: dict[str, Split], claimed: dict[str, _Shares]) -> dict[str, Split]:
    """Take out of each event what is claimed of it."""
    kept = {}
    for name, split in parts.items():
        latency, count = claimed.get(name, (0.0, 0.0))
        if min(latency, count) < 1:
            kept[name] = Split(name, (1 - latency) * split.latency, (1 - count) * split.count, split.evidence)
    return kept


def _single(name: str, split: Split) -> Iterable[RisePart]:
    if name in _ON_CPU:
        yield RisePart("cpu", name, split.rise, "count", split.evidence, (name,), work=True)
        return
    works = _WORK.match(name) is not None
    if not works:
        yield RisePart(
            "event",
            name,
            split.rise,
            "latency" if split.latency > split.count else "count",
            split.evidence,
            (name,),
        )
        return
    yield RisePart("event", name, split.latency, "latency", split.evidence, (name,))
    yield RisePart("event", name, split.count, "count", split.evidence, (name,), work=True)


def _of(parts: dict[str, Split], pattern: re.Pattern[str]) -> dict[str, Split]:
    return {name: split for name, split in parts.items() if pattern.match(name)}


def _named(evidence: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(one for one in evidence if one.before.rate is not None or one.after.rate is not None)


def _parsing(ground: IntervalPair, parts: dict[str, Split]) -> _Claim:
    hard = ground.rates("hard_parses")
    if (
        hard.after.rate is None
        or hard.after.rate < _MUCH * ground.factor * (hard.before.rate or 0.0)
        or hard.after.rate < 1
    ):
        return _NONE
    events = _of(parts, _PARSING)
    name = "hard parse elapsed time"
    times = Change(name, *(amount(side, side.time_model.get(name)) for side in ground.sides))
    a, b = times.before.rate, times.after.rate
    known = a is not None and b is not None
    spent = b - ground.factor * a if a is not None and b is not None else 0.0
    waited = sum(one.rise for one in events.values())
    # waits above the time of parsing are for something else that sessions do to a cursor
    impact = spent if known else max(spent, waited)
    if impact <= 0 or (known and spent < _PARSED * waited):
        return _NONE
    part = min(impact / waited, 1.0) if waited else 1.0
    claimed = dict.fromkeys(events, (part, part))
    cpu = next((parts[one] for one in _ON_CPU if one in parts), None)
    if cpu is not None and spent - waited >= 0.5 * cpu.rise:
        claimed[cpu.name] = _ALL
    return RisePart("parsing", "hard parses", impact, "count", _named((hard, times)), tuple(events)), claimed


def _library(_: IntervalPair, parts: dict[str, Split]) -> _Claim:
    """Put together what sessions wait for each other for in the library cache, for whatever reason."""
    events = _of(parts, _PARSING)
    if len(events) < 2:
        return _NONE
    names = _largest(events)
    first = events[names[0]]
    rise = sum(one.rise for one in events.values())
    return RisePart("event", names[0], rise, "count", first.evidence, tuple(names)), dict.fromkeys(events, _ALL)


def _saturated(ground: IntervalPair, parts: dict[str, Split]) -> _Claim:
    """Say that the host has hardly any CPU left: the time that is neither CPU nor wait is spent in its queue."""
    busy = _busy(ground)
    if busy.after.rate is None or busy.after.rate < BUSY or busy.after.rate < (busy.before.rate or 0.0) + _BUSIER:
        return _NONE
    cpus = Change("cpus", *(Amount(side.origin.cpus, None, 1.0) for side in ground.sides))
    queue = _queue(ground)
    managed = _of(parts, _RESOURCES)
    impact = (0.0 if queue is None else queue.impact) + sum(one.rise for one in managed.values())
    if impact <= 0:
        return _NONE
    return RisePart("queue", "host CPU", impact, "size", _named((busy, cpus)), tuple(managed)), dict.fromkeys(
        managed, _ALL
    )


REST = "time neither on CPU nor waiting"
"""What is left of DB time: it has a name only where the host has hardly any CPU left (`_saturated`)."""


def _queue(ground: IntervalPair) -> RisePart | None:
    """Return the rise of DB time that is neither CPU nor any wait that is listed."""
    rest = Change("unaccounted", *map(_unaccounted, ground.sides))
    a, b = rest.before.rate, rest.after.rate
    if a is None or b is None or b <= 0:
        return None
    impact = b - ground.factor * max(a, 0.0)
    name = REST
    evidence = _named((rest, _busy(ground)))
    return RisePart("queue", name, impact, "count", evidence, (), work=True) if impact > 0 else None


def _busy(ground: IntervalPair) -> Change:
    return Change("host_cpu", *(Amount(side.host_cpu.get("busy_pct"), None, 1.0) for side in ground.sides))


def _unaccounted(side: Interval) -> Amount:
    total = side.db_time_seconds
    named = [one.seconds for one in side.waits.rows.values() if one.seconds is not None]
    if total is None or not named or not any(name in side.waits.rows for name in _ON_CPU):
        return amount(side, None)
    return amount(side, total - sum(named))


def _redo(ground: IntervalPair, parts: dict[str, Split]) -> _Claim:
    redo = ground.rates("redo_size_bytes")
    grown = (redo.ratio or 0.0) / ground.factor
    events = _of(parts, LOGGING)
    a, b = (side.parameters for side in ground.sides)
    if any(a.get(name) != b.get(name) for name in COMMIT_SETTINGS):
        events = {name: one for name, one in events.items() if not COMMIT.match(name)}
    if grown < _RISEN or not events:
        return _NONE
    # of commits that grew by more than redo each writes less: they are many, it is not much that is written
    events = {name: one for name, one in events.items() if name != _SYNC or one.oftener <= (redo.ratio or 1.0)}
    if not events:
        return _NONE
    # a log that became slower by far more than redo grew is slow by itself
    longest = max(events.values(), key=lambda one: one.rise)
    if longest.longer > 2.5 * grown:
        return _NONE
    impact = sum(one.rise for one in events.values())
    made = RisePart("redo", "redo", impact, "size", (redo, *longest.evidence), tuple(_largest(events)))
    return made, dict.fromkeys(events, _ALL)


def _commit(_: IntervalPair, parts: dict[str, Split]) -> _Claim:
    """Put together what sessions of PostgreSQL wait for in a COMMIT: no statement's own time holds it."""
    events = _of(parts, COMMIT)
    if not events:
        return _NONE
    names = _largest(events)
    rise = sum(one.rise for one in events.values())
    made = RisePart("commit", "write-ahead log", rise, "count", events[names[0]].evidence, tuple(names))
    return made, dict.fromkeys(events, _ALL)


def _temp(ground: IntervalPair, parts: dict[str, Split]) -> _Claim:
    events = _of(parts, _TEMP)
    if not events:
        return _NONE
    size = ground.rates("temp_io_bytes")
    # the same temporary I/O, only slower, is for the storage to answer
    if size.ratio is not None and size.ratio < _RISEN * ground.factor:
        return _NONE
    impact = sum(one.rise for one in events.values())
    return RisePart("temp", "temporary I/O", impact, "size", _named((size,)), tuple(events)), dict.fromkeys(
        events, _ALL
    )


def _cluster(_: IntervalPair, parts: dict[str, Split]) -> _Claim:
    events = _of(parts, _CLUSTER)
    if len(events) < 2:
        return _NONE
    longest = max(events.values(), key=lambda one: one.rise)
    latency = sum(one.latency for one in events.values())
    rise = sum(one.rise for one in events.values())
    part = "latency" if latency >= rise / 2 else "count"
    made = RisePart("cluster", "cluster waits", rise, part, longest.evidence, tuple(_largest(events)))
    return made, dict.fromkeys(events, _ALL)


def _largest(events: dict[str, Split], by: Callable[[Split], float] = lambda one: one.rise) -> list[str]:
    return sorted(events, key=lambda name: -by(events[name]))


def _cache(ground: IntervalPair, parts: dict[str, Split]) -> _Claim:
    """Say that more is read from disk for the same logical reads: the buffer cache holds less of it.

    A cache that is as large as it was has not changed: other blocks are read.
    """
    size = Change("Buffer Cache", *(_cache_size(side) for side in ground.sides))
    if size.ratio is not None and size.ratio > _SMALLER:
        return _NONE
    physical, logical = cached_reads(*ground.sides), ground.rates("logical_reads")
    if (
        physical.ratio is None
        or logical.ratio is None
        or physical.ratio < _RISEN * max(ground.factor, logical.ratio)
    ):
        return _NONE
    events = {name: split for name, split in _of(parts, _CACHED).items() if split.count > 0}
    if not events or logical.ratio > _FLAT * ground.factor:
        return _NONE
    impact = sum(one.count for one in events.values())
    hit = Change("Buffer Hit", *(Amount(side.ratios.get("Buffer Hit"), None, 1.0) for side in ground.sides))
    evidence = _named((physical, logical, size, hit))
    names = tuple(_largest(events, lambda one: one.count))
    made = RisePart("cache", "buffer cache", impact, "size", evidence, names, work=True)
    return made, dict.fromkeys(events, _COUNT)


def _cache_size(side: Interval) -> Amount:
    both = side.memory.get("Buffer Cache") or side.memory.get("buffer cache") or (None, None)
    return Amount(both[1] if both[1] is not None else both[0], None, 1.0)


def _storage(_: IntervalPair, parts: dict[str, Split]) -> _Claim:
    """Put the reads together that all take longer: it is the storage, not one of the events."""
    events = {
        name: split for name, split in _of(parts, _READS).items() if split.longer >= _LONGER and split.latency > 0
    }
    if not events:
        return _NONE
    names = _largest(events, lambda one: one.latency)
    first = events[names[0]]
    impact = sum(one.latency for one in events.values())
    return RisePart("reads", names[0], impact, "latency", first.evidence, tuple(names)), dict.fromkeys(
        events, _LATENCY
    )
