"""Whether two intervals may be compared, and what of the difference they were taken under must be kept in mind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.errors import ToolkitError
from toolkit.model.interval import Interval, Origin
from toolkit.readers.awr.consistency import unexplained
from toolkit.units import byte_size, change, counted, number, percent, seconds

_SCOPES = {
    "rac_global": "a whole cluster", "instance": "one instance", "pdb": "one pluggable database",
    "database": "one database",
}  # fmt: skip
_SNAPSHOT_SOURCES = {
    "awr": "AWR", "statspack": "Statspack", "vstat": "counters of the instance",
    "pgstat": "counters of PostgreSQL", "duckstat": "counters of DuckDB",
}  # fmt: skip
_LENGTHS, _LOAD = 1.5, 1.5
_FROM_TIMES = 1.995
"""A ratio that would round to 100 % more is told as a multiple."""
"""From these ratios on, length and load are worth a sentence."""
_BATCH = 0.3
_LACKING = re.compile(r"cut off|incomplete|has no |contradict|cannot be separated|missing$")


@dataclass(frozen=True, slots=True)
class IntervalDifference:
    """Something the two intervals differ in; `kind` is a word a program can look for."""

    kind: str
    sentence: str


def refuse_unlike(before: Interval, after: Interval, *, force: bool = False) -> None:
    """Refuse two intervals that cannot be compared whatever the reader knows.

    Args:
        before: One of them.
        after: The other.
        force: Compare two different databases.

    Raises:
        ToolkitError: TK-0115.
    """
    a, b = before.origin, after.origin
    if a.snapshot_source != b.snapshot_source:
        kinds = " against ".join(_SNAPSHOT_SOURCES.get(one.snapshot_source, one.snapshot_source) for one in (a, b))
        raise _unlike(f"{kinds}: they count differently", "compare two of the same kind")
    if a.scope != b.scope:
        scopes = " against ".join(_SCOPES.get(one.scope, one.scope) for one in (a, b))
        raise _unlike(f"{scopes}: their totals are not comparable", "compare two of the same scope")
    if _same_interval(a, b):
        raise _unlike(
            "both are the same interval of the same database", "give the interval before and the interval after"
        )
    missing = next((one for one in (a, b) if not one.elapsed_seconds), None)
    if missing is not None:
        raise _unlike(f"`{missing.name}` does not contain the length of its interval", "give the complete report")
    if not force and other_databases(a, b):
        raise _unlike(
            f"they are from different databases, `{a.database}` and `{b.database}`",
            "if that is intended (a migration, a clone under another name), add `--allow-unlike`",
        )


def other_databases(a: Origin, b: Origin) -> bool:
    """Whether two intervals are of databases of different names and ids: of neither a copy nor a renamed one."""
    if not a.database or not b.database:
        return False
    return a.dbid != b.dbid and a.database.lower() != b.database.lower()


def _unlike(why: str, hint: str) -> ToolkitError:
    return ToolkitError(f"the two intervals cannot be compared: {why}", code="TK-0115", hint=hint)


def _same_interval(a: Origin, b: Origin) -> bool:
    if a.begin is None or (a.database, a.dbid, a.instance, a.container) != (
        b.database,
        b.dbid,
        b.instance,
        b.container,
    ):
        return False
    return (a.begin, a.end, a.begin_snapshot, a.end_snapshot) == (b.begin, b.end, b.begin_snapshot, b.end_snapshot)


def wrong_order(before: Interval, after: Interval) -> bool:
    """Whether what is called before began after the other, of the same database."""
    a, b = before.origin, after.origin
    if a.begin is None or b.begin is None or (a.begin.tzinfo is None) != (b.begin.tzinfo is None):
        return False
    return a.dbid == b.dbid and a.begin > b.begin


def doubts(before: Interval, after: Interval) -> list[IntervalDifference]:
    """Return what differs between the two besides what is compared, the most serious first."""
    found = [*_identity(before.origin, after.origin), *_times(before.origin, after.origin), *_loads(before, after)]
    found.extend(_indexes(before, after))
    found.extend(_parameters(before, after))
    found.extend(_plans(before, after))
    for name, side in (("before", before), ("after", after)):
        if side.all_changes:
            names = ", ".join(f"`{one}`" for one in list(side.all_changes)[:5])
            found.append(
                IntervalDifference("parameters_within", f"parameters changed during the interval {name}: {names}")
            )
        if lacking := next((one for one in side.warnings if _LACKING.search(one)), None):
            found.append(IntervalDifference("incomplete", f"the source of {name} is incomplete: {lacking}"))
    return found


def _identity(a: Origin, b: Origin) -> Iterator[IntervalDifference]:
    if a.database != b.database or a.dbid != b.dbid:
        yield IntervalDifference("database", f"different databases: {_named(a)} and {_named(b)}")
    pairs = (
        ("container", "containers", a.container, b.container), ("host", "hosts", a.host, b.host),
        ("instance", "instances", a.instance, b.instance), ("version", "releases", a.version, b.version),
        ("platform", "platforms", a.platform, b.platform),
    )  # fmt: skip
    for kind, words, one, other in pairs:
        if one and other and one != other:
            yield IntervalDifference(kind, f"different {words}: `{one}` and `{other}`")
    if a.cpus and b.cpus and a.cpus != b.cpus:
        yield IntervalDifference("cpus", f"{counted(int(a.cpus), 'CPU')} before, {number(int(b.cpus))} after")
    if a.memory_bytes and b.memory_bytes and abs(a.memory_bytes / b.memory_bytes - 1) > 0.02:
        yield IntervalDifference(
            "memory", f"{byte_size(a.memory_bytes)} of memory before, {byte_size(b.memory_bytes)} after"
        )


def _named(origin: Origin) -> str:
    return f"`{origin.database or '?'}` ({origin.dbid or 'no id'})"


def _times(a: Origin, b: Origin) -> Iterator[IntervalDifference]:
    same = (a.dbid, a.instance) == (b.dbid, b.instance)
    if same and restarted(a, b):
        yield IntervalDifference(
            "restart", "the instance was restarted between them: caches were cold and counters started from zero"
        )
    elif same and a.startup and b.startup and a.startup != b.startup:
        yield IntervalDifference(
            "startup",
            f"different startups of the instance are named, {a.startup:%Y-%m-%d %H:%M} and "
            f"{b.startup:%Y-%m-%d %H:%M}, both before the first interval: it was not restarted between them",
        )
    if a.begin and b.begin and _zoned(a.begin) == _zoned(b.begin) and a.begin > b.begin:
        yield IntervalDifference("order", "the order of two databases is kept: `after` is the earlier one in time")
    long, other = a.elapsed_seconds, b.elapsed_seconds
    if long and other and max(long / other, other / long) >= _LENGTHS:
        yield IntervalDifference(
            "length",
            f"unequal lengths: {seconds(long)} before and {seconds(other)} after; all values are per second, "
            "but a short interval shows peaks that a long one evens out",
        )
    naive = {one.tzinfo is None for one in (a.begin, a.end, b.begin, b.end) if one is not None}
    if (
        same
        and len(naive) == 1
        and a.begin
        and a.end
        and b.begin
        and b.end
        and a.begin < b.end
        and b.begin < a.end
    ):
        yield IntervalDifference("overlap", "the two intervals overlap in time")
    if a.begin and b.begin and (a.begin.weekday() >= 5) != (b.begin.weekday() >= 5):
        yield IntervalDifference(
            "weekday", f"{a.begin:%A} before, {b.begin:%A} after: weekends usually have another load"
        )
    elif a.begin and b.begin and min(hours := abs(a.begin.hour - b.begin.hour), 24 - hours) >= 3:
        yield IntervalDifference(
            "hour", f"different hours of the day: {a.begin:%H:%M} before, {b.begin:%H:%M} after"
        )


def restarted(first: Origin, then: Origin) -> bool:
    """Whether an instance was restarted between two intervals: it began after the first of them had begun.

    A page and a text of the same snapshots were seen to print 16:04 and 16:33 for one startup.
    """
    began = then.startup
    if first.startup is None or began is None or first.startup == began:
        return False
    return first.begin is None or _zoned(first.begin) != _zoned(began) or began > first.begin


def _zoned(moment: datetime) -> bool:
    return moment.tzinfo is not None


def by_ratio(ratio: float) -> str:
    """Say by how much a ratio changes what it is of: `+12 %`, or `3.4 times` from twice on, of any noun."""
    return f"{number(ratio)} times" if ratio >= _FROM_TIMES else change(ratio)


def _loads(before: Interval, after: Interval) -> Iterator[IntervalDifference]:
    for name, words in (
        ("transactions", "transactions"),
        ("executes", "executions"),
        ("user_calls", "user calls"),
    ):
        a, b = before.load.get(name), after.load.get(name)
        if a and b and max(a / b, b / a) >= _LOAD:
            yield IntervalDifference(
                "load", f"the load is not the same: {number(a)} {words} per second before, {number(b)} after "
                        f"({by_ratio(b / a)})"
            )  # fmt: skip
            break
    for words, side in (("before", before), ("after", after)):
        if (spent := unaccounted(side)) is not None:
            yield IntervalDifference("unaccounted", f"{words}: waits and CPU account for {spent}")
        begin, end = side.origin.begin_sessions, side.origin.end_sessions
        if begin and end and max(begin, end) >= 20 and abs(end - begin) / max(begin, end) > _BATCH:
            yield IntervalDifference(
                "sessions", f"{number(int(begin))} sessions at the start of the interval {words} and "
                            f"{number(int(end))} at its end: a snapshot may fall inside a batch"
            )  # fmt: skip


def unaccounted(side: Interval) -> str | None:
    """Say it where much of the DB time is neither a wait nor CPU of its interval, though the host had idle CPU."""
    whole, known, elapsed = side.db_time_seconds, side.accounted_seconds, side.origin.elapsed_seconds
    idle = side.host_cpu.get("idle_pct")
    if not unexplained(whole, known, elapsed, idle) or not whole or known is None or not elapsed:
        return None
    return (
        f"{number(known / elapsed)} of {number(whole / elapsed)} active sessions, on a host {percent(idle)} idle: "
        "the rest was spent before the interval or was not measured"
    )


def _indexes(before: Interval, after: Interval) -> Iterator[IntervalDifference]:
    """Name the indexes that were dropped, and those that are new, where both sides know all of theirs."""
    if not before.indexes or not after.indexes or before.origin.dbid != after.origin.dbid:
        return
    for one, other, kind, words in (
        (before, after, "indexes_gone", "no longer there"), (after, before, "indexes_new", "new"),
    ):  # fmt: skip
        names = sorted(one.indexes.keys() - other.indexes.keys())
        if names:
            shown = ", ".join(f"index `{name}` of `{one.indexes[name]}`" for name in names[:5])
            yield IntervalDifference(kind, f"{words}: {shown}{' ...' if names[5:] else ''}")


def _parameters(before: Interval, after: Interval) -> Iterator[IntervalDifference]:
    changed = changed_parameters(before, after)
    if changed:
        shown = ", ".join(
            f"`{name}` {_value(old)} -> {_value(new)}" for name, (old, new) in [*changed.items()][:6]
        )
        more = f" and {len(changed) - 6} more" if len(changed) > 6 else ""
        apart = "differ" if len(changed) > 1 else "differs"
        verb = "changed" if _same_place(before.origin, after.origin) else apart
        yield IntervalDifference(
            "parameters", f"{len(changed)} parameter{'s' if len(changed) > 1 else ''} {verb}: {shown}{more}"
        )


def _same_place(a: Origin, b: Origin) -> bool:
    """Whether both are of one instance of a database, where a parameter that differs must have changed."""
    return (a.dbid, a.instance, a.container) == (b.dbid, b.instance, b.container)


_LONGEST_VALUE = 40


def _value(value: str | None) -> str:
    if value is None:
        return "(not listed)"
    return value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}..."


def _plans(before: Interval, after: Interval) -> Iterator[IntervalDifference]:
    """Name the statements that ran with other plans, where both sides know them."""
    both = [(key, before.statements.rows[key].plan, one.plan) for key, one in after.statements.rows.items()
            if key in before.statements.rows]  # fmt: skip
    changed = [f"`{key}` {old} -> {new}" for key, old, new in both if old and new and old != new]
    if changed:
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        yield IntervalDifference("plans", f"other plans than before: {', '.join(changed[:5])}{more}")


def changed_parameters(before: Interval, after: Interval) -> dict[str, tuple[str | None, str | None]]:
    """Return the parameters that differ, or that only one side lists, before and after.

    A report lists what is not at its default: a parameter that one of two reports lacks is at its default there.
    """
    a, b = before.all_parameters, after.all_parameters
    if not a or not b:
        return {}
    return {
        name: (a.get(name), b.get(name))
        for name in sorted({*a, *b})
        if _spelled(a.get(name)) != _spelled(b.get(name))
    }


def _spelled(value: str | None) -> str:
    return "" if value is None else " ".join(value.split()).lower()
