"""Two experiments as one: their configurations run alternately, so that a changing machine meets both alike.

Each sweep runs every configuration of both once, and its order is that of another sweep reversed (AB, BA), as with
all sweeps (`order`). To run two versions as a pair under the same conditions is the idea of duet benchmarking:
Bulej, Horky, Tuma and others, "Duet Benchmarking: Improving Measurement Accuracy in the Cloud", ICPE 2020. Theirs
run at the same time, ours one after the other: a heavy job is to be measured alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolkit.design.build import DETECT_PCT, LARGEST_SEED, MOST_SWEEPS, WARMUP
from toolkit.design.order import cells_of
from toolkit.design.searchable import refuse_search
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.values import Cell, Factor
from toolkit.model.words import Keep, Mode

VARIANT = "variant"
"""The factor that says which of the two experiments a configuration is of."""

_BOTH = "only what an experiment can vary may differ: degree and other factors, or a `[[factor]]`"


def interleaved(a: Experiment, b: Experiment, names: tuple[str, str]) -> Experiment:
    """Return the measurement that runs the configurations of two experiments alternately.

    Args:
        a: the first one.
        b: another one of the same operation and target, which differs in levels of factors.
        names: what tells them apart.

    Raises:
        ToolkitError: TK-0110 where they differ in more, TK-0107 where a factor stands in one only or they are the
            same.
    """
    _check(a, b, names)
    factors = tuple(_both(one, other) for one, other in zip(a.factors, _ordered(a, b), strict=True))
    cells = tuple(_cells(a, names[0])) + tuple(_cells(replace(b, factors=_ordered(a, b)), names[1]))
    measured = a.mode is b.mode is Mode.MEASUREMENT
    fixed = [one.repeat for one in (a, b) if one.mode is Mode.MEASUREMENT and one.detect_pct is None]
    repeat = max(fixed, default=MOST_SWEEPS)
    asked = [one.detect_pct for one in (a, b) if one.detect_pct is not None]
    detect_pct = None if fixed else min(asked, default=DETECT_PCT)
    return replace(
        a,
        factors=(Factor(VARIANT, names), *factors),
        only=cells,
        mode=Mode.MEASUREMENT,
        repeat=repeat,
        detect_pct=detect_pct,
        warmup=max(a.warmup, b.warmup) if measured else max(a.warmup, b.warmup, WARMUP),
        keep=Keep.NONE,
        label=None,
        name=f"{names[0]} and {names[1]} interleaved",
        seed=secrets.randbelow(LARGEST_SEED),
    )


def _cells(experiment: Experiment, name: str) -> Iterator[Cell]:
    for cell in cells_of(experiment.factors):
        yield Cell(((VARIANT, name), *cell.levels))


def _ordered(a: Experiment, b: Experiment) -> tuple[Factor, ...]:
    by_name = {factor.name: factor for factor in b.factors}
    return tuple(by_name[factor.name] for factor in a.factors)


def _both(one: Factor, other: Factor) -> Factor:
    return replace(one, levels=tuple(dict.fromkeys((*one.levels, *other.levels))))


def _check(a: Experiment, b: Experiment, names: tuple[str, str]) -> None:
    for each in (a, b):
        refuse_search(each, "an interleaved run")
    first, second = _fixed(a), _fixed(b)
    unlike = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    if unlike:
        raise ToolkitError(f"`{names[0]}` and `{names[1]}` differ in `{unlike[0]}`", code="TK-0110", hint=_BOTH)
    alone = {factor.name for factor in a.factors} ^ {factor.name for factor in b.factors}
    if alone:
        name = min(alone)
        raise ToolkitError(
            f"`{name}` stands in one of the two files only",
            code="TK-0107",
            hint=f"give `{name}` in both, with the level that each is to have",
        )
    for one, other in zip(a.factors, _ordered(a, b), strict=True):
        if (one.command, one.setting) != (other.command, other.setting):
            raise ToolkitError(f"the factor `{one.name}` is applied in two ways", code="TK-0110", hint=_BOTH)
    if all(set(one.levels) == set(other.levels) for one, other in zip(a.factors, _ordered(a, b), strict=True)):
        raise ToolkitError(
            f"`{names[0]}` and `{names[1]}` are the same experiment",
            code="TK-0107",
            hint="change a level in one of them; `dbatk noise --measure` measures identical work",
        )


def _fixed(experiment: Experiment) -> Mapping[str, object]:
    """Return what both must have alike."""
    return {
        "operation": experiment.operation,
        "target": experiment.target,
        "work_schema": experiment.work_schema,
        "snapshot": experiment.snapshot,
        **experiment.options,
    }
