"""Names that end where the column of a text report ends, matched with those that are whole elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from toolkit.model.interval import InputOutput, Interval, Listing, Segment, Wait

_SHORTEST = 12
"""Characters of the narrowest column in which text reports cut names."""
_VALUE = 28
"""Characters of a parameter's value, above which it may be cut."""
T = TypeVar("T")


def whole_names(before: Interval, after: Interval) -> tuple[Interval, Interval]:
    """Return both intervals, the names that one of them cuts spelt as the other spells them."""
    return _spelt(before, after), _spelt(after, before)


def longer(name: str, names: Iterable[str]) -> str | None:
    """Return the one name that begins as a cut one; None where there is no such name, or several."""
    if len(name) < _SHORTEST:
        return None
    found = {one for one in names if one.startswith(name)}
    return found.pop() if len(found) == 1 else None


def _spelt(side: Interval, other: Interval) -> Interval:
    if not side.origin.cuts_names:
        return side
    return replace(
        side,
        waits=_listing(side.waits, other.waits),
        background=_listing(side.background, other.background),
        functions=_listing(side.functions, other.functions),
        file_types=_listing(side.file_types, other.file_types),
        segments={
            measure: _listing(listing, other.segments.get(measure, Listing()))
            for measure, listing in side.segments.items()
        },
        time_model=_renamed(side.time_model, other.time_model),
        counters=_renamed(side.counters, other.counters),
        parameters=_parameters(side.parameters, other.parameters),
        container_parameters={
            name: _parameters(values, other.container_parameters.get(name, {}))
            for name, values in side.container_parameters.items()
        },
    )


def _renamed(values: Mapping[str, T], other: Mapping[str, object]) -> dict[str, T]:
    found: dict[str, T] = {}
    for name, value in values.items():
        spelt = name if name in other else longer(name, other.keys() - values.keys())
        found[spelt or name] = value
    return found


def _listing(listing: Listing[T], other: Listing[T]) -> Listing[T]:
    rows = {name: _named(row, name) for name, row in _renamed(listing.rows, other.rows).items()}
    return replace(listing, rows=rows)


def _named(row: T, name: str) -> T:
    if isinstance(row, Wait | InputOutput):
        return replace(row, name=name)
    return row if not isinstance(row, Segment) or row.key == name else _segment(row, name)  # type: ignore[return-value]


def _segment(row: Segment, key: str) -> Segment:
    owner = f"{row.owner}." if row.owner else ""
    part = f".{row.part}" if row.part else ""
    return replace(row, name=key.removeprefix(owner).removesuffix(part))


def _parameters(values: Mapping[str, str | None], other: Mapping[str, str | None]) -> dict[str, str | None]:
    found = _renamed(values, other)
    return {name: other.get(name) if _cut(value, other.get(name)) else value for name, value in found.items()}


def _cut(value: str | None, whole: str | None) -> bool:
    """Whether each part of a value begins a part of another."""
    if not value or not whole:
        return False
    parts, others = value.split(", "), whole.split(", ")
    return len(parts) == len(others) and all(
        part == one or (len(part) >= _VALUE and one.startswith(part))
        for part, one in zip(parts, others, strict=True)
    )
