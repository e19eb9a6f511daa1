"""Factors that change together, so that no number tells which of them made a difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from toolkit.model.values import Cell, Level


def confounded(cells: Collection[Cell]) -> tuple[str, ...]:
    """Name factors that always change together, and those that no two of these configurations differ in alone."""
    varied = [name for name in next(iter(cells), Cell(())) if len({cell.get(name) for cell in cells}) > 1]
    if len(varied) < 2:
        return ()
    alike: dict[tuple[int, ...], list[str]] = {}
    for name in varied:
        alike.setdefault(_partition([cell[name] for cell in cells]), []).append(name)
    always = [names for names in alike.values() if len(names) > 1]
    never = [name for names in alike.values() if len(names) == 1 for name in names if _never_alone(name, cells)]
    return (
        *(f"{_listed(names)} are confounded: they always change together, {_WHICH}" for names in always),
        *(f"no two configurations differ in `{name}` alone: its effect shows only with others" for name in never),
    )


_WHICH = "so it cannot be told which of them makes a difference"


def several_at_once(pairs: Sequence[tuple[Cell, Cell]]) -> tuple[str, ...]:
    """Say of compared configurations that they differ in several factors: no single one explains the ratio."""
    changed = dict.fromkeys(tuple(name for name in a if name in b and a[name] != b[name]) for a, b in pairs)
    return tuple(
        f"A and B differ in {_listed(names)} at once (confounded), {_WHICH}" for names in changed if len(names) > 1
    )


def levels_changed(pairs: Sequence[tuple[Cell, Cell]]) -> tuple[tuple[str, Level | None, Level | None], ...]:
    """Return each factor in which all compared configurations differ alike, with its level in A and in B."""
    names = dict.fromkeys(name for pair in pairs for cell in pair for name in cell)
    changes = [(name, {(a.get(name), b.get(name)) for a, b in pairs}) for name in names]
    alike = [(name, *next(iter(found))) for name, found in changes if len(found) == 1]
    return tuple((name, a, b) for name, a, b in alike if a != b)


def _partition(levels: Sequence[Level]) -> tuple[int, ...]:
    """Return which levels are equal, whatever they are: two factors with one partition change together."""
    places = {level: place for place, level in enumerate(dict.fromkeys(levels))}
    return tuple(places[level] for level in levels)


def _never_alone(name: str, cells: Collection[Cell]) -> bool:
    others = {frozenset((other, level) for other, level in cell.items() if other != name) for cell in cells}
    return len(others) == len(cells)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:-1]) + f" and `{names[-1]}`"
