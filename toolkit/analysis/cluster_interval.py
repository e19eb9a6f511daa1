"""The interval of a cluster: that of each instance, and their sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from toolkit.model.interval import Interval, Listing, Statement, Wait

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
