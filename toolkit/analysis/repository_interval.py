"""An interval made of what AWR or Statspack kept between two snapshots, of one instance or of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from toolkit.dialects.repositories import RepositorySnapshot
from toolkit.model.facts import Facts
from toolkit.model.interval import Interval, Listing, Origin, Statement, Wait
from toolkit.model.values import Row, Scalar

_LOAD = (
    ("redo_size_bytes", "redo size"), ("logical_reads", "session logical reads"),
    ("block_changes", "db block changes"), ("physical_reads", "physical reads"),
    ("physical_writes", "physical writes"), ("user_calls", "user calls"), ("parses", "parse count (total)"),
    ("hard_parses", "parse count (hard)"), ("executes", "execute count"), ("logons", "logons cumulative"),
    ("rollbacks", "user rollbacks"), ("read_io_bytes", "physical read total bytes"),
    ("write_io_bytes", "physical write total bytes"), ("read_io_requests", "physical read total IO requests"),
    ("write_io_requests", "physical write total IO requests"),
)  # fmt: skip
_MODEL = (("db_time_s", "DB time"), ("db_cpu_s", "DB CPU"), ("background_cpu_s", "background cpu time"))
_SHARES = (
    ("user_pct", "USER_TIME"),
    ("sys_pct", "SYS_TIME"),
    ("wio_pct", "IOWAIT_TIME"),
    ("idle_pct", "IDLE_TIME"),
)
_MOST = 1000

Sections = Mapping[str, Sequence[Row]]


def interval_of_rows(
    name: str,
    begin: RepositorySnapshot,
    end: RepositorySnapshot,
    ends: Sequence[Row],
    sections: Sections,
    facts: Facts,
) -> Interval:
    """Return the interval between two snapshots.

    Args:
        name: what the user called it.
        begin: the earlier snapshot.
        end: the later one.
        ends: the snapshots of the range, with their times.
        sections: what lies between, by section.
        facts: of the database.
    """
    origin = _origin(name, begin, end, ends, facts, _totals(sections.get("host", ()), "total"))
    counters = {one: total for one, total in _totals(sections.get("sysstat", ()), "total").items() if total >= 0}
    model = _totals(sections.get("time_model", ()), "total_seconds")
    first, last = _parameters(sections.get("parameters", ()), begin, end)
    return Interval(
        origin=origin,
        load=_load(counters, model, origin.elapsed_seconds),
        counters=counters,
        time_model=model,
        waits=_waits(sections.get("events", ()), model),
        classes=_classes(sections.get("events", ())),
        statements=_statements(sections.get("statements", ()), sections.get("texts", ())),
        host_cpu=_host(_totals(sections.get("host", ()), "total")),
        parameters=first,
        changed_parameters={
            one: (first.get(one), last.get(one))
            for one in {*first, *last}
            if last and first and first.get(one) != last.get(one)
        },
    )


def _origin(
    name: str,
    begin: RepositorySnapshot,
    end: RepositorySnapshot,
    ends: Sequence[Row],
    facts: Facts,
    host: Mapping[str, float],
) -> Origin:
    times = {int(str(row["snap_id"])): row for row in ends if int(str(row["instance_number"])) == begin.instance}
    first, last = times.get(begin.snapshot, {}), times.get(end.snapshot, {})
    begun, ended = _moment(first.get("end_time")), _moment(last.get("end_time"))
    container = facts.value("doctor_container", "container_name")
    return Origin(
        name=name,
        snapshot_source=begin.provider,
        database=_text(facts.value("server", "database_name")),
        dbid=begin.dbid,
        instance=_text(facts.value("server", "instance_name")),
        host=_text(facts.value("doctor_instance", "host_name")),
        version=".".join(map(str, facts.release.number)) or None,
        container=_text(container),
        rac=len(facts.rows("doctor_instances")) > 1,
        cpus=host.get("NUM_CPUS"),
        memory_bytes=host.get("PHYSICAL_MEMORY_BYTES"),
        startup=_moment(last.get("begun")),
        begin=begun,
        end=ended,
        begin_snapshot=begin.snapshot,
        end_snapshot=end.snapshot,
        elapsed_seconds=(ended - begun).total_seconds() if begun and ended else None,
    )


def _moment(value: Scalar) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)) if value is not None else None
    except ValueError:
        return None


def _text(value: Scalar) -> str | None:
    return None if value is None or value == "" else str(value)


def _number(value: Scalar) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _totals(rows: Sequence[Row], column: str) -> dict[str, float]:
    return {str(row["statistic_name"]): number for row in rows if (number := _number(row.get(column))) is not None}


def _load(counters: Mapping[str, float], model: Mapping[str, float], seconds: float | None) -> dict[str, float]:
    if not seconds:
        return {}
    totals = {ours: counters[theirs] for ours, theirs in _LOAD if theirs in counters}
    totals |= {ours: model[theirs] for ours, theirs in _MODEL if theirs in model}
    if "user commits" in counters and "user rollbacks" in counters:
        totals["transactions"] = counters["user commits"] + counters["user rollbacks"]
    return {name: total / seconds for name, total in totals.items()}


def _waits(rows: Sequence[Row], model: Mapping[str, float]) -> Listing[Wait]:
    found = {}
    for row in rows:
        seconds, waits = _number(row.get("wait_seconds")), _number(row.get("waits"))
        if seconds is not None and seconds >= 0:
            event = str(row["event"])
            found[event] = Wait(event, seconds, waits, _text(row.get("wait_class")))
    if "DB CPU" in model:
        found["DB CPU"] = Wait("DB CPU", model["DB CPU"])
    return Listing(found, whole=bool(found))


def _classes(rows: Sequence[Row]) -> Listing[Wait]:
    seconds: dict[str, float] = {}
    waits: dict[str, float] = {}
    for row in rows:
        kind = _text(row.get("wait_class"))
        if kind is not None:
            seconds[kind] = seconds.get(kind, 0.0) + (_number(row.get("wait_seconds")) or 0.0)
            waits[kind] = waits.get(kind, 0.0) + (_number(row.get("waits")) or 0.0)
    return Listing({kind: Wait(kind, seconds[kind], waits[kind]) for kind in seconds}, whole=bool(seconds))


def _statements(rows: Sequence[Row], texts: Sequence[Row]) -> Listing[Statement]:
    by_id = {str(row["statement_id"]): _text(row.get("statement_text")) for row in texts}
    found = {}
    for row in rows:
        key = str(row["statement_id"])
        found[key] = Statement(
            key,
            executions=_number(row.get("executions")),
            elapsed_s=_number(row.get("elapsed_seconds")),
            cpu_s=_number(row.get("cpu_seconds")),
            gets=_number(row.get("gets")),
            reads=_number(row.get("disk_reads")),
            parse_calls=_number(row.get("parse_calls")),
            plan=_text(row.get("plan_id")),
            module=_text(row.get("module")),
            text=by_id.get(key),
        )
    # AWR itself keeps the topmost statements of each snapshot only: what is not there was small, not zero.
    least = min((one.elapsed_s for one in found.values() if one.elapsed_s is not None), default=None)
    return Listing(found, floors={} if least is None else {"elapsed_s": least})


def _host(totals: Mapping[str, float]) -> dict[str, float]:
    busy, idle = totals.get("BUSY_TIME"), totals.get("IDLE_TIME")
    if busy is None or idle is None or not busy + idle:
        return {}
    whole = busy + idle
    shares = {ours: 100 * totals[theirs] / whole for ours, theirs in _SHARES if theirs in totals}
    return {**shares, "busy_pct": 100 * busy / whole}


def _parameters(
    rows: Sequence[Row], begin: RepositorySnapshot, end: RepositorySnapshot
) -> tuple[dict[str, str | None], dict[str, str | None]]:
    sides: tuple[dict[str, str | None], dict[str, str | None]] = ({}, {})
    for row in rows:
        snapshot = int(str(row["snap_id"]))
        for side, mark in zip(sides, (begin, end), strict=True):
            if snapshot == mark.snapshot:
                side[str(row["name"])] = _text(row.get("value"))
    return sides


# -- clusters ---------------------------------------------------------------------------------------------------
T = TypeVar("T")
_MEASURES = ("executions", "elapsed_s", "cpu_s", "gets", "reads", "parse_calls")


def cluster_interval(instances: Sequence[Interval], warnings: Sequence[str] = ()) -> Interval:
    """Return the whole of the instances, which cover the same snapshots; the first gives its name and its time.

    What is a share or a gauge of one host (CPU, memory) has no sum, and stands with the instances only.
    """
    first = instances[0]
    return Interval(
        origin=replace(
            first.origin, scope="rac_global", instance=None, host=None, rac=True, cpus=None, memory_bytes=None,
            startup=None,
        ),
        load=_sums(one.load for one in instances),
        counters=_sums(one.counters for one in instances),
        time_model=_sums(one.time_model for one in instances),
        waits=_listed([one.waits for one in instances], _wait),
        classes=_listed([one.classes for one in instances], _wait),
        statements=_listed([one.statements for one in instances], _statement),
        parameters=_common([one.parameters for one in instances]),
        changed_parameters=_common([one.changed_parameters for one in instances]),
        instances=tuple(instances),
        warnings=tuple(warnings),
    )  # fmt: skip


def _sums(values: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in values:
        for name, value in one.items():
            found[name] = found.get(name, 0.0) + value
    return found


def _listed(listings: Sequence[Listing[T]], put: Callable[[Sequence[T]], T]) -> Listing[T]:
    rows: dict[str, list[T]] = {}
    for listing in listings:
        for key, row in listing.rows.items():
            rows.setdefault(key, []).append(row)
    floors = [listing.floors for listing in listings]
    shared = set.intersection(*map(set, floors))
    return Listing(
        {key: put(found) for key, found in rows.items()},
        whole=all(listing.whole for listing in listings),
        floors={measure: sum(one[measure] for one in floors) for measure in shared},
    )


def _total(rows: Sequence[object], measure: str) -> float | None:
    known = [value for row in rows if (value := getattr(row, measure)) is not None]
    return sum(known) if known else None


def _wait(rows: Sequence[Wait]) -> Wait:
    return replace(
        rows[0], seconds=_total(rows, "seconds"), waits=_total(rows, "waits"), printed_latency=None
    )  # fmt: skip


def _statement(rows: Sequence[Statement]) -> Statement:
    totals = {measure: _total(rows, measure) for measure in _MEASURES}
    plans = {row.plan for row in rows if row.plan}
    return replace(rows[0], **totals, plan=", ".join(sorted(plans)) or None)  # type: ignore[arg-type]


def _common(values: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """Return what is the same on every instance; the rest stands with each."""
    return {
        name: value
        for name, value in values[0].items()
        if all(name in one and one[name] == value for one in values)
    }
