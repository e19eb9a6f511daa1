"""What differs between the surroundings of two runs: shown first, never a reason to refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolkit.model.records import RunRecord
from toolkit.model.values import Scalar, spell_level


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting, option or property that is not the same; None is one that is not there."""

    name: str
    a: Scalar
    b: Scalar


def differences_of(a: RunRecord, b: RunRecord) -> tuple[Difference, ...]:
    """Return what differs: the target, then the options, then the environment by name."""
    found = []
    for of in (_head, _options, _surroundings):
        first, second = of(a), of(b)
        names = sorted({*first, *second})
        found += [
            Difference(name, first.get(name), second.get(name))
            for name in names
            if first.get(name) != second.get(name)
        ]
    return tuple(found)


def _head(run: RunRecord) -> Mapping[str, Scalar]:
    head = run.head
    return {
        "target": head.experiment.target,
        "database": head.target_name or None,
        "mode": head.mode.value,
        "dbatk version": head.tool_version or None,
    }


def _options(run: RunRecord) -> Mapping[str, Scalar]:
    return {
        f"option {name}": ", ".join(value) if isinstance(value, tuple) else spell_level(value)
        for name, value in run.head.experiment.options.items()
    }


def _surroundings(run: RunRecord) -> Mapping[str, Scalar]:
    return run.environment
