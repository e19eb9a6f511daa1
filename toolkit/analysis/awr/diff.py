"""Two intervals compared: everything a reader may ask, each list by what it has to do with the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolkit.analysis.awr.causes import Cause, causes, whole_change
from toolkit.analysis.awr.changes import Amount, Change, amount, changes_of, matched, rates
from toolkit.analysis.awr.comparable import (
    IntervalDifference,
    changed_parameters,
    doubts,
    refuse_unlike,
    wrong_order,
)
from toolkit.analysis.awr.cut_names import whole_names
from toolkit.analysis.awr.details import DetailChange, detail_changes
from toolkit.analysis.awr.load import asked_factor, counted, load_factor
from toolkit.model.interval import LOAD, InputOutput, Interval, Listing, Wait


@dataclass(frozen=True, slots=True)
class WaitChange:
    """An event or class: its time, its number and its average wait."""

    key: str
    wait_class: str | None
    seconds: Change
    waits: Change
    latency: Change


@dataclass(frozen=True, slots=True)
class StatementChange:
    """A statement: its measures by name (`elapsed_s`, `executions`, `gets` ...), and its plans."""

    key: str
    text: str | None
    module: str | None
    measures: Mapping[str, Change]
    plans: tuple[str | None, str | None]

    @property
    def elapsed(self) -> Change:
        """Its elapsed time."""
        return self.measures["elapsed_s"]

    @property
    def plan_changed(self) -> bool | None:
        """Whether its plan is another; None where one side does not tell."""
        before, after = self.plans
        return None if before is None or after is None else before != after

    def each(self, measure: str) -> Change:
        """Return a measure per execution."""
        sides = []
        for name in ("before", "after"):
            total = getattr(self.measures[measure], name).total
            executions = getattr(self.measures["executions"], name).total
            sides.append(Amount(total / executions if total is not None and executions else None, None, 1.0))
        return Change(measure, *sides)


@dataclass(frozen=True, slots=True)
class InputOutputChange:
    """A function, file type or kind of request: bytes, requests and average wait."""

    key: str
    read_bytes: Change
    write_bytes: Change
    requests: Change
    latency: Change


@dataclass(frozen=True, slots=True)
class IntervalDiff:
    """The comparison. Lists stand in order of their contribution to the change.

    Attributes:
        swapped: The two were given in the wrong order, and are in the right one here.
        factor: How many times as much was asked of the database afterwards.
        explained: By how much that explains more DB time; 1 where it does not (`load_factor`).
        whole: The DB time per second that the causes are to account for; above zero where it got slower.
        db_time: Per second.
        per_transaction: DB time by transaction; None where an interval holds too few.
        causes: Candidates, the first the likeliest.
    """

    before: Interval
    after: Interval
    swapped: bool
    doubts: tuple[IntervalDifference, ...]
    factor: float
    explained: float
    whole: float | None
    db_time: Change
    per_transaction: Change | None
    per_execution: Change | None
    causes: tuple[Cause, ...]
    load: tuple[Change, ...]
    time_model: tuple[Change, ...]
    classes: tuple[WaitChange, ...]
    waits: tuple[WaitChange, ...]
    background: tuple[WaitChange, ...]
    functions: tuple[InputOutputChange, ...]
    file_types: tuple[InputOutputChange, ...]
    host_cpu: tuple[Change, ...]
    memory: tuple[Change, ...]
    ratios: tuple[Change, ...]
    statements: tuple[StatementChange, ...]
    segments: Mapping[str, tuple[Change, ...]]
    counters: tuple[Change, ...]
    parameters: Mapping[str, tuple[str | None, str | None]]
    details: Mapping[str, tuple[DetailChange, ...]] = field(default_factory=dict)
    instances: tuple[IntervalDiff, ...] = field(default=())
    unmatched_instances: tuple[str, ...] = field(default=())


def compare_intervals(before: Interval, after: Interval, *, force: bool = False) -> IntervalDiff:
    """Compare two intervals; given in the wrong order they are swapped, and `swapped` says so.

    Args:
        before: The earlier one.
        after: The later one.
        force: Compare two different databases.

    Raises:
        ToolkitError: TK-0115 when they cannot be compared.
    """
    refuse_unlike(before, after, force=force)
    before, after = whole_names(before, after)
    swapped = wrong_order(before, after)
    return _diff(after, before, swapped=True) if swapped else _diff(before, after)


def _diff(a: Interval, b: Interval, *, swapped: bool = False) -> IntervalDiff:
    numbered = {one.origin.instance: one for one in b.instances}
    pairs = [(one, numbered[one.origin.instance]) for one in a.instances if one.origin.instance in numbered]
    both = {one.origin.instance for one, _ in pairs}
    return IntervalDiff(
        before=a,
        after=b,
        swapped=swapped,
        doubts=tuple(doubts(a, b)),
        factor=asked_factor(a, b),
        explained=load_factor(a, b),
        whole=whole_change(a, b),
        db_time=Change("DB time", *(amount(side, side.db_time_seconds) for side in (a, b))),
        per_transaction=_per(a, b, "transactions"),
        per_execution=_per(a, b, "executes"),
        causes=tuple(causes(a, b)),
        load=tuple(rates(a, b, name) for name in _names(a.load, b.load, LOAD)),
        time_model=_mapped(a, b, lambda side: side.time_model),
        classes=_waits(a, b, lambda side: side.classes),
        waits=_waits(a, b, lambda side: side.waits),
        background=_waits(a, b, lambda side: side.background),
        functions=_io(a, b, lambda side: side.functions),
        file_types=_io(a, b, lambda side: side.file_types),
        host_cpu=_gauges(a.host_cpu, b.host_cpu),
        memory=_gauges(_ends(a), _ends(b)),
        ratios=_gauges(a.ratios, b.ratios),
        statements=_statements(a, b),
        segments=_segments(a, b),
        counters=_mapped(a, b, lambda side: side.counters),
        parameters=changed_parameters(a, b),
        details=detail_changes(a, b),
        instances=tuple(_diff(one, other) for one, other in pairs),
        unmatched_instances=tuple(
            str(one.origin.instance) for one in (*a.instances, *b.instances) if one.origin.instance not in both
        ),
    )


def _names(first: Mapping[str, object], second: Mapping[str, object], order: tuple[str, ...] = ()) -> list[str]:
    known = {*first, *second}
    return [*(name for name in order if name in known), *sorted(known - set(order))]


def _per(a: Interval, b: Interval, name: str) -> Change | None:
    sides = []
    for side in (a, b):
        total, time = side.total(name), side.db_time_seconds
        if not counted(side, name) or not total or time is None:
            return None
        sides.append(Amount(time / total, None, 1.0))
    return Change(name, *sides)


def _mapped(
    a: Interval, b: Interval, values: Callable[[Interval], Mapping[str, float]]
) -> tuple[Change, ...]:  # fmt: skip
    found = [
        Change(name, *(amount(side, values(side).get(name)) for side in (a, b)))
        for name in _names(values(a), values(b))
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.delta or 0.0)))


def _gauges(a: Mapping[str, float], b: Mapping[str, float]) -> tuple[Change, ...]:
    names = list(dict.fromkeys([*a, *b]))
    return tuple(Change(name, *(Amount(side.get(name), None, 1.0) for side in (a, b))) for name in names)


def _ends(side: Interval) -> dict[str, float]:
    found = {}
    for name, (begin, end) in side.memory.items():
        value = end if end is not None else begin
        if value is not None:
            found[name] = value
    return found


def _waits(a: Interval, b: Interval, listing: Callable[[Interval], Listing[Wait]]) -> tuple[WaitChange, ...]:
    times, numbers = matched(a, b, listing, "seconds"), matched(a, b, listing, "waits")
    found = []
    for key, seconds in times.items():
        rows = [listing(side).rows.get(key) for side in (a, b)]
        latency = [Amount(None if row is None else row.latency_seconds, None, 1.0) for row in rows]
        kind = next((row.wait_class for row in rows if row is not None and row.wait_class), None)
        found.append(WaitChange(key, kind, seconds, numbers[key], Change("latency", *latency)))
    return tuple(found)


def _statements(a: Interval, b: Interval) -> tuple[StatementChange, ...]:
    found = []
    for key in matched(a, b, lambda side: side.statements, "elapsed_s"):
        rows = [side.statements.rows.get(key) for side in (a, b)]
        known = [row for row in reversed(rows) if row is not None]
        found.append(
            StatementChange(
                key,
                next((row.text for row in known if row.text), None),
                next((row.module for row in known if row.module), None),
                changes_of(a, b, key),
                (None if rows[0] is None else rows[0].plan, None if rows[1] is None else rows[1].plan),
            )
        )
    return tuple(found)


def _segments(a: Interval, b: Interval) -> dict[str, tuple[Change, ...]]:
    found = {}
    for measure in dict.fromkeys([*a.segments, *b.segments]):
        changes = matched(a, b, lambda side, measure=measure: side.segments.get(measure, Listing()), "value")  # type: ignore[misc]
        found[measure] = tuple(changes.values())
    return found


def _io(
    a: Interval, b: Interval, listing: Callable[[Interval], Listing[InputOutput]]
) -> tuple[InputOutputChange, ...]:
    reads, writes = matched(a, b, listing, "read_bytes"), matched(a, b, listing, "write_bytes")
    found = []
    for key in reads:
        rows = [listing(side).rows.get(key) for side in (a, b)]
        requests = [amount(side, _requests(row)) for side, row in zip((a, b), rows, strict=True)]
        latency = [Amount(None if row is None else row.latency_seconds, None, 1.0) for row in rows]
        found.append(
            InputOutputChange(
                key, reads[key], writes[key], Change("requests", *requests), Change("latency", *latency)
            )
        )
    return tuple(sorted(found, key=lambda one: -abs((one.read_bytes.delta or 0) + (one.write_bytes.delta or 0))))


def _requests(row: InputOutput | None) -> float | None:
    known = [] if row is None else [one for one in (row.read_requests, row.write_requests) if one is not None]
    return sum(known) if known else None
