"""Rows of the tables that belong to a trial, from records and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, Row, Select, Table, select

from toolkit.model.records import ItemRecord, Metric, Sample, TrialMark, TrialRecord
from toolkit.model.values import Cell, Level, Scalar, spell_level
from toolkit.model.words import Outcome

# -- values -------------------------------------------------------------------------------------------------------
SAMPLES_KEPT = 600
_CLOCKS_DIFFER = timedelta(minutes=5)
"""Clocks of hosts that share a store may differ so much."""


def pack(value: Scalar) -> tuple[str | None, str]:
    """Return the text of a value and the name of its type."""
    if value is None:
        return None, "null"
    if isinstance(value, bool):
        return spell_level(value), "boolean"
    if isinstance(value, int):
        return str(value), "integer"
    if isinstance(value, float):
        return repr(value), "real"
    return value, "text"


def unpack(text: str | None, kind: str) -> Scalar:
    """Return the value that `pack` took apart."""
    if text is None:
        return None
    if kind == "boolean":
        return text == "yes"
    if kind == "integer":
        return int(text)
    return float(text) if kind == "real" else text


def newest_first(
    query: Select[*tuple[Any, ...]], table: Table, limit: int | None, *where: ColumnElement[bool]
) -> Select[*tuple[Any, ...]]:
    """Return a query for the newest runs; those of a clock that was ahead come last: they would hide later ones.

    Args:
        query: what is read of each run; only those that are shown are read whole.
        table: of runs or plan runs.
        limit: how many at most; all without a limit.
        where: which ones.
    """
    key, order = next(iter(table.primary_key)), newest_order(table)
    if limit is not None:
        query = query.where(key.in_(select(key).where(*where).order_by(*order).limit(limit)))
    return query.where(*where).order_by(*order)


def newest_order(table: Table) -> tuple[ColumnElement[Any], ...]:
    """Return the order of runs or plan runs, newest first, those of a clock that was ahead last."""
    began, key = table.c.began_at, next(iter(table.primary_key))
    return began > datetime.now(UTC) + _CLOCKS_DIFFER, began.desc(), key.desc()


def instant_text(instant: datetime) -> str:
    """Write an aware instant as UTC in ISO 8601, always with microseconds, so that text order is time order."""
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def instant_of(text: str) -> datetime:
    """Read what `instant_text` wrote."""
    return datetime.fromisoformat(text)


def finite(value: float) -> bool:
    """Tell whether it is a number: a quantity that is not is unknown, and what is unknown is not stored."""
    return math.isfinite(value)


def thin(samples: Iterable[Sample], limit: int = SAMPLES_KEPT) -> list[Sample]:
    """Return at most `limit` points of each name, the lowest and the highest of each stretch of time.

    Taking every n-th point would lose the peaks, which are what one looks at samples for.
    """
    series: dict[str, list[Sample]] = {}
    for sample in samples:
        if finite(sample.value):
            series.setdefault(sample.name, []).append(sample)
    return [sample for points in series.values() for sample in _thin_series(points, limit)]


def _thin_series(points: Sequence[Sample], limit: int) -> Sequence[Sample]:
    if len(points) <= limit:
        return points
    stretches = limit // 2
    edges = [len(points) * number // stretches for number in range(stretches + 1)]
    return [sample for begin, end in pairwise(edges) for sample in _extremes(points[begin:end])]


def _extremes(stretch: Sequence[Sample]) -> list[Sample]:
    low = min(range(len(stretch)), key=lambda at: stretch[at].value)
    high = max(range(len(stretch)), key=lambda at: stretch[at].value)
    return [stretch[at] for at in sorted({low, high})]


# -- rows ---------------------------------------------------------------------------------------------------------
Rows = list[dict[str, object]]
AnyRow = Row[*tuple[Any, ...]]


def trial_row(run: str, record: TrialRecord) -> dict[str, object]:
    """Return the whole row of a trial that ended."""
    mark = mark_row(run, TrialMark(record.trial, record.attempt, record.cell, record.repeat, record.began_at))
    return mark | result_row(record)


def mark_row(run: str, mark: TrialMark) -> dict[str, object]:
    """Return the row of a trial that began."""
    return {
        "run": run,
        "trial": mark.trial,
        "attempt": mark.attempt,
        "repeat": mark.repeat,
        "began_at": mark.began_at,
    }


def result_row(record: TrialRecord) -> dict[str, object]:
    """Return the columns that the end of a trial fills in; its clock may have begun later than its mark says."""
    return {
        "began_at": record.began_at,
        "ended_at": record.ended_at,
        "outcome": record.outcome.value,
        "reason": record.reason,
        "error_code": record.error_code,
        "elapsed_seconds": record.elapsed_seconds,
        "requested_degree": record.requested_degree,
        "granted_degree": record.granted_degree,
        "granted_source": record.granted_source,
        "effective_parallelism": record.effective_parallelism,
        "row_count": record.rows,
        "size_bytes": record.bytes,
        "disturbed": record.disturbed,
    }


def factor_rows(trial_id: int, cell: Cell) -> Rows:
    """Return a row for every factor of a cell."""
    rows: Rows = []
    for position, (factor, level) in enumerate(cell.levels):
        text, kind = pack(level)
        rows.append(
            {"trial_id": trial_id, "position": position, "factor": factor, "level": text, "level_type": kind}
        )
    return rows


def item_rows(trial_id: int, items: Iterable[ItemRecord], first: int = 0) -> Rows:
    """Return a row for every item, numbered from `first`."""
    return [
        {
            "trial_id": trial_id,
            "position": position,
            "label": item.label,
            "outcome": item.outcome.value,
            "elapsed_seconds": item.elapsed_seconds,
            "begin_seconds": item.begin_seconds,
            "worker": item.worker,
            "row_count": item.rows,
            "size_bytes": item.bytes,
            "reason": item.reason,
            "error_code": item.error_code,
        }
        for position, item in enumerate(items, first)
    ]


def phase_rows(trial_id: int, phases: Mapping[str, float]) -> Rows:
    """Return a row for every phase."""
    known = [(name, seconds) for name, seconds in phases.items() if finite(seconds)]
    return [
        {"trial_id": trial_id, "position": position, "phase": name, "elapsed_seconds": seconds}
        for position, (name, seconds) in enumerate(known)
    ]


def metric_rows(trial_id: int, metrics: Iterable[Metric]) -> Rows:
    """Return a row for every metric that has a value."""
    known = [metric for metric in metrics if finite(metric.value)]
    return [
        {
            "trial_id": trial_id,
            "position": position,
            "name": metric.name,
            "value": metric.value,
            "unit": metric.unit,
            "source": metric.source,
        }
        for position, metric in enumerate(known)
    ]


def sample_rows(trial_id: int, samples: Iterable[Sample], first: int = 0) -> Rows:
    """Return a row for every sample, numbered from `first`."""
    return [
        {
            "trial_id": trial_id,
            "position": position,
            "at_seconds": sample.at_seconds,
            "name": sample.name,
            "value": sample.value,
        }
        for position, sample in enumerate(samples, first)
    ]


def level_of(text: str | None, kind: str) -> Level:
    """Return a level from its text and type."""
    return cast("Level", unpack(text, kind))


def new_key(inserted: CursorResult[Any]) -> int:
    """Return the key that the database gave to a new row."""
    key = inserted.inserted_primary_key
    assert key is not None, "every table has a primary key"
    return int(key[0])


def item_of(row: AnyRow) -> ItemRecord:
    """Return an item from a row of the table `item`."""
    values = row._mapping
    return ItemRecord(
        label=values["label"],
        outcome=Outcome(values["outcome"]),
        elapsed_seconds=values["elapsed_seconds"],
        begin_seconds=values["begin_seconds"],
        worker=values["worker"],
        rows=values["row_count"],
        bytes=values["size_bytes"],
        reason=values["reason"],
        error_code=values["error_code"],
    )
