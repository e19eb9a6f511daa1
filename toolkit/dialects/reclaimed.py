"""What storage work changed: figures of the catalogue before it and right after, as metrics of the trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import AFTER, BEFORE, Kept
from toolkit.dialects.work import Work
from toolkit.model.records import Metric
from toolkit.model.values import Row

SOURCE = "catalogue before and after"
_UNITS = {
    "table_bytes": "bytes",
    "index_bytes": "bytes",
    "free_bytes": "bytes",
    "dead_rows": "rows",
    "transaction_age": "transactions",
    "unusable_parts": "parts",
}
"""Columns of what is read, each a figure of all objects together."""


def names_of(works: Sequence[Work]) -> str:
    """Return the objects of works as a JSON array of pairs, for one bind."""
    return json.dumps([[work.object.name.schema, work.object.name.name] for work in works])


def tell(kept: Kept, sentences: tuple[str, ...] = (), without: frozenset[str] = frozenset()) -> TrialFindings:
    """Return each figure `<name>_before` and `<name>_after`, and the bytes there are now."""
    read = {when: kept[when][0] for when in (BEFORE, AFTER) if kept.get(when)}
    metrics = tuple(
        metric
        for when, row in read.items()
        for metric in _metrics(when, row)
        if metric.name.rpartition("_")[0] not in without
    )
    size = read.get(AFTER, {}).get("table_bytes")
    return TrialFindings(metrics, sentences, int(size) if isinstance(size, int | float) else None)


def _metrics(when: str, row: Row) -> Iterator[Metric]:
    for name, unit in _UNITS.items():
        value = row.get(name)
        if isinstance(value, int | float):
            yield Metric(f"{name}_{when}", float(value), unit, SOURCE)


def figure(kept: Mapping[str, tuple[Row, ...]], when: str, name: str) -> float | None:
    """Return one figure; None where it was not read."""
    rows = kept.get(when, ())
    value = rows[0].get(name) if rows else None
    return float(value) if isinstance(value, int | float) else None
