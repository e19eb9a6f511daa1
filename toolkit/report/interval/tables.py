"""The tables of a comparison of intervals: side by side, the largest change first, with a bar for its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from toolkit.analysis.awr.changes import Amount, Change
from toolkit.analysis.awr.diff import InputOutputChange, IntervalDiff, StatementChange, WaitChange
from toolkit.report.tables import Column, Table, left, right, table
from toolkit.units import MISSING, byte_size, number, percent, ratio, seconds

ABSENT = "not listed"
_SHOWN = 25
_NEXT_TO_NOTHING, _LEAST = 0.001, 1e-6
_LONGEST_SQL = 160
Spell = Callable[[float | None], str]


@dataclass(frozen=True, slots=True)
class BarTable:
    """A table, and a bar for each of its rows: -1 to 1, below zero for what fell.

    `judged` where more is worse: time that is waited or spent. Of work that was done more is neither.
    """

    table: Table
    bars: tuple[float, ...]
    judged: bool = False


def side(amount: Amount, spell: Spell = number) -> str:
    """Spell one side: its value, the most it can be, or that it is not there."""
    if amount.rate is not None:
        return f"<{spell(_LEAST)}" if 0 < amount.rate < _LEAST else spell(amount.rate)
    if amount.most_rate is not None:
        return f"{ABSENT}, below {spell(max(amount.most_rate, _LEAST))}" if amount.most_rate else "0"
    return MISSING


def delta(change: Change, spell: Spell = number) -> str:
    """Spell a difference with its sign; `at least` where one side is only bounded."""
    found = change.delta
    if found is None:
        return MISSING
    text = _signed(found, spell)
    return f"at least {text}" if change.bounded and found else text


def _signed(value: float, spell: Spell) -> str:
    if 0 < abs(value) < _LEAST:
        return "about 0"
    return f"{'+' if value > 0 else ''}{spell(value)}"


def times(change: Change) -> str:
    """Spell after by before; what is left of almost none needs no digits."""
    found = change.ratio
    return "<0.001x" if found is not None and 0 < found < _NEXT_TO_NOTHING else ratio(found)


def barred(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[tuple[Sequence[str], float | None]],
    shown: int = _SHOWN,
    *,
    judged: bool = False,
) -> BarTable:
    """Make a table of rows and what each contributes; bars are as long as its share of the largest."""
    kept = list(rows)[:shown]
    largest = max((abs(share or 0.0) for _, share in kept), default=0.0)
    bars = tuple((share or 0.0) / largest if largest else 0.0 for _, share in kept)
    return BarTable(table(caption, columns, (cells for cells, _ in kept)), bars, judged)


_LOAD = {
    "db_time_s": ("DB time (active sessions)", number), "db_cpu_s": ("DB CPU (sessions on CPU)", number),
    "background_cpu_s": ("background CPU", number), "redo_size_bytes": ("redo", byte_size),
    "read_io_bytes": ("read I/O", byte_size), "write_io_bytes": ("write I/O", byte_size),
    "temp_io_bytes": ("temporary I/O", byte_size), "read_io_requests": ("read I/O requests", number),
    "write_io_requests": ("write I/O requests", number), "im_scan_rows": ("In-Memory scan rows", number),
    "session_logical_read_im": ("In-Memory logical reads", number),
    "sql_work_area_mb": ("SQL work areas, MB", number),
}  # fmt: skip


def load_measure(key: str) -> tuple[str, Callable[[float | None], str]]:
    """Return how a measure of the load profile is called, and what spells its values."""
    return _LOAD.get(key, (key.replace("_", " "), number))


def load_table(diff: IntervalDiff) -> BarTable:
    """Return the load profile, per second and per transaction side by side."""
    transactions = [one.load.get("transactions") for one in (diff.before, diff.after)]
    rows = []
    for change in diff.load:
        title, spell = load_measure(change.key)
        each = [
            spell(amount.rate / count) if amount.rate is not None and count else MISSING
            for amount, count in zip((change.before, change.after), transactions, strict=True)
        ]
        each = ["", ""] if change.key == "transactions" else each
        cells = [title, side(change.before, spell), side(change.after, spell), times(change), *each]
        rows.append((cells, None if change.ratio is None else change.ratio - 1))
    columns = [
        *left("measure"),
        *right("per s before", "after", "after / before", "per txn before", "per txn after"),
    ]
    made = barred("Load profile", columns, rows, 60)
    return BarTable(made.table, tuple(max(-1.0, min(1.0, share or 0.0)) for _, share in rows))


def model_table(diff: IntervalDiff) -> BarTable:
    """Return the time model."""
    return _simple("Time model, seconds per second", diff.time_model, number, judged=True)


def _simple(caption: str, changes: Sequence[Change], spell: Spell, *, judged: bool = False) -> BarTable:
    rows = (
        ([one.key, side(one.before, spell), side(one.after, spell), delta(one, spell), times(one)], one.delta)
        for one in changes
    )
    columns = [*left("what"), *right("before", "after", "change", "after / before")]
    return barred(caption, columns, rows, judged=judged)


def wait_table(caption: str, changes: Sequence[WaitChange], *, classes: bool = False) -> BarTable:
    """Return events or classes: active sessions in each, the average wait, and how often."""
    rows = []
    for one in changes:
        cells = [one.key, *([] if classes else [one.wait_class or ""])]
        cells += [side(one.seconds.before), side(one.seconds.after), delta(one.seconds)]
        cells += [side(one.latency.before, seconds), side(one.latency.after, seconds)]
        cells += [_rate(one.waits.before), _rate(one.waits.after)]
        rows.append((cells, one.seconds.delta))
    columns = [*left("class" if classes else "event"), *([] if classes else left("class"))]
    columns += right("sessions before", "after", "change", "avg wait before", "after", "waits/s before", "after")
    return barred(caption, columns, rows, judged=True)


def _rate(amount: Amount) -> str:
    return number(amount.rate)


def latency_table(changes: Sequence[WaitChange]) -> BarTable:
    """Return the events whose average wait changed most, by the time that costs."""
    found = []
    for one in changes:
        before, after, waits = one.latency.before.rate, one.latency.after.rate, one.waits.after.rate
        if before is not None and after is not None and waits:
            found.append((one, (after - before) * waits))
    found.sort(key=lambda pair: -abs(pair[1]))
    rows = (
        ([one.key, side(one.latency.before, seconds), side(one.latency.after, seconds), times(one.latency),
          _rate(one.waits.after), _signed(cost, number)], cost)
        for one, cost in found
    )  # fmt: skip
    columns = [
        *left("event"),
        *right("avg wait before", "after", "after / before", "waits/s after", "cost in sessions"),
    ]
    return barred("Average waits", columns, rows, 15, judged=True)


def io_table(caption: str, changes: Sequence[InputOutputChange]) -> BarTable:
    """Return functions or file types: bytes per second read and written, requests, average wait."""
    rows = (
        ([one.key, side(one.read_bytes.before, byte_size), side(one.read_bytes.after, byte_size),
          side(one.write_bytes.before, byte_size), side(one.write_bytes.after, byte_size),
          _rate(one.requests.before), _rate(one.requests.after),
          side(one.latency.before, seconds), side(one.latency.after, seconds)],
         (one.read_bytes.delta or 0.0) + (one.write_bytes.delta or 0.0))
        for one in changes
    )  # fmt: skip
    titles = (
        "read/s before",
        "after",
        "written/s before",
        "after",
        "requests/s before",
        "after",
        "avg wait before",
    )
    return barred(caption, [*left("what"), *right(*titles, "after")], rows)


_CPU = {
    "user_pct": "user", "sys_pct": "system", "wio_pct": "waiting for I/O", "idle_pct": "idle", "busy_pct": "busy",
    "load_begin": "load at start", "load_end": "load at end",
}  # fmt: skip


def host_table(diff: IntervalDiff) -> BarTable:
    """Return the host's CPU."""
    rows = [
        ([_CPU.get(one.key, one.key), *_both(one, percent if one.key.endswith("pct") else number)], None)
        for one in diff.host_cpu
    ]
    cpus = Change("CPUs", *(Amount(one.origin.cpus, None, 1.0) for one in (diff.before, diff.after)))
    if cpus.before.rate is not None or cpus.after.rate is not None:
        rows.append((["CPUs", *_both(cpus, number)], None))
    return barred("Host CPU", [*left("what"), *right("before", "after")], rows)


def _both(change: Change, spell: Spell) -> list[str]:
    return [side(change.before, spell), side(change.after, spell)]


def memory_table(diff: IntervalDiff) -> BarTable:
    """Return memory at the end of each interval, and the ratios of efficiency."""
    rows = [([one.key, *_both(one, byte_size)], None) for one in diff.memory]
    rows += [([f"{one.key} %", *_both(one, number)], None) for one in diff.ratios]
    return barred("Memory and ratios", [*left("what"), *right("before", "after")], rows, 60)


_PRESENCE = {"both": "in both", "new": "new", "gone": "gone", "neither": ""}


def statement_table(changes: Sequence[StatementChange]) -> BarTable:
    """Return the statements: in total and per execution."""
    rows = []
    for one in changes:
        gets, each = one.each("gets"), one.each("elapsed_s")
        executions = one.measures["executions"]
        cells = [one.key, _PRESENCE[one.elapsed.presence] if one.elapsed.presence != "neither" else _listed(one)]
        cells += [side(one.elapsed.before), side(one.elapsed.after), delta(one.elapsed)]
        cells += [side(executions.before), side(executions.after), *_both(each, seconds), *_both(gets, number)]
        cells += [_plan(one), one.module or "", _short(one.text)]
        rows.append((cells, one.elapsed.delta))
    columns = [*left("SQL", "where"), *right("sessions before", "after", "change", "executions/s before", "after")]
    columns += [*right("time each before", "after", "gets each before", "after"), *left("plan", "module", "text")]
    return barred("Statements", columns, rows, 40, judged=True)


def _listed(one: StatementChange) -> str:
    return _PRESENCE[one.measures["executions"].presence]


def _plan(one: StatementChange) -> str:
    if one.plan_changed is None:
        return one.plans[0] or one.plans[1] or ""
    return f"{one.plans[0]} -> {one.plans[1]}" if one.plan_changed else "same"


def _short(text: str | None) -> str:
    whole = " ".join((text or "")[: 4 * _LONGEST_SQL].split())
    return whole if len(whole) <= _LONGEST_SQL else f"{whole[: _LONGEST_SQL - 1]}…"


def segment_tables(diff: IntervalDiff) -> list[BarTable]:
    """Return the segments, a table for each measure."""
    return [_simple(measure, changes, number) for measure, changes in diff.segments.items()]


def parameter_table(diff: IntervalDiff, most: int | None = None) -> BarTable:
    """Return the parameters that are not the same, all or as many as wanted."""
    rows = [
        ([name, *(MISSING if value is None else value for value in both)], None)
        for name, both in list(diff.parameters.items())[:most]
    ]
    return barred("Parameters", left("parameter", "before", "after"), rows, 500)


def counter_table(diff: IntervalDiff) -> BarTable:
    """Return the statistics that changed most, by how many times."""
    told = [
        one
        for one in diff.counters
        if one.ratio is not None and max(one.before.total or 0, one.after.total or 0) >= 100
    ]
    told.sort(key=lambda one: -abs(_fold(one.ratio)))
    rows = (([one.key, side(one.before), side(one.after), times(one)], _fold(one.ratio)) for one in told)
    return barred("Statistics", [*left("statistic"), *right("per s before", "after", "after / before")], rows, 30)


def _fold(value: float | None) -> float:
    if not value:
        return -100.0
    return value - 1 if value >= 1 else 1 - 1 / value
