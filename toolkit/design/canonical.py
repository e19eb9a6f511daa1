"""A plan or experiment as keys and values with every default filled in: what it means, not how it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum

from toolkit.model.audit import Value
from toolkit.model.experiment import Experiment
from toolkit.model.plan import MaintenancePlan
from toolkit.model.values import Level

_NOT_MEANT = frozenset({"text"})
"""Fields of a plan that say how it was written."""
_NAMES = frozenset({"seed", "label"})
"""Fields of an experiment by which one run is told from another."""


def plan_values(plan: MaintenancePlan) -> dict[str, Value]:
    """Return a plan as keys and values: `plan max_degree`, `step copy options.table`; names hold no blank."""
    values: dict[str, Value] = {"plan steps": tuple(step.name for step in plan.steps)}
    for each in fields(plan):
        if each.name not in {*_NOT_MEANT, "steps"}:
            values.update(_flat(f"plan {each.name}", getattr(plan, each.name)))
    for step in plan.steps:
        for each in fields(step):
            values.update(_flat(f"step {step.name} {each.name}", getattr(step, each.name)))
    return values


def experiment_values(experiment: Experiment) -> dict[str, Value]:
    """Return an experiment as keys and values: `experiment repeat`, `experiment factors.degree.levels`."""
    values: dict[str, Value] = {}
    for each in fields(experiment):
        if each.name not in _NAMES:
            values.update(_flat(f"experiment {each.name}", getattr(experiment, each.name)))
    return values


def _flat(key: str, value: object) -> Iterator[tuple[str, Value]]:
    """Yield the plain values below a key; what is not set is left out."""
    if value is None:
        return
    if is_dataclass(value):
        for each in fields(value):
            yield from _flat(f"{key}.{each.name}", getattr(value, each.name))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    elif isinstance(value, frozenset | set):
        yield key, tuple(sorted(map(_plain, value), key=repr))
    elif isinstance(value, tuple | list):
        yield from _list(key, tuple(value))
    else:
        yield key, _plain(value)


def _list(key: str, value: tuple[object, ...]) -> Iterator[tuple[str, Value]]:
    if not any(is_dataclass(one) or isinstance(one, Mapping | tuple | list | set | frozenset) for one in value):
        yield key, tuple(map(_plain, value))
        return
    for at, one in enumerate(value, 1):
        name = str(getattr(one, "name", ""))
        # a name that could be taken for a part of the key is told by its place
        yield from _flat(f"{key}.{name if name.isidentifier() else at}", one)


def _plain(value: object) -> Level:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str | int | float | bool):
        return value
    msg = f"a value of type {type(value).__name__} cannot be approved"
    raise TypeError(msg)
