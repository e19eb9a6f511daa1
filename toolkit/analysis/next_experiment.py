"""What to measure next: the run's own experiment, changed in one respect, so that its file runs as the run did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from toolkit.analysis.advice import Advice
from toolkit.analysis.bottlenecks import Bottleneck, BottleneckKind
from toolkit.analysis.cells import RunAnalysis, scale_level
from toolkit.analysis.doubts import cpu_count, repeats_needed
from toolkit.analysis.laws import FittedLaw
from toolkit.analysis.sort_memory import levels_to_try, spill_of
from toolkit.model.experiment import Experiment
from toolkit.model.operations import declaration, options_of
from toolkit.model.options import Option, OptionKind
from toolkit.model.values import Cell, Factor, Level, spell_level
from toolkit.model.words import Keep, Mode
from toolkit.units import counted

_REPEATS, _MOST_REPEATS = 5, 30
_TELL_PCT = 10.0
_QUIET_SECONDS = 300.0
_BEYOND = 2
"""Degrees are tried up to so many times the CPUs."""


@dataclass(frozen=True, slots=True)
class NextExperiment:
    """An experiment to run next, and why."""

    why: str
    experiment: Experiment


def next_experiment(
    found: RunAnalysis,
    advice: Advice,
    granted: Sequence[Cell],
    law: FittedLaw | None,
    limits: Sequence[Bottleneck],
) -> NextExperiment | None:
    """Return what would tell most; None where nothing that a file can say promises anything."""
    experiment = found.run.head.experiment
    if experiment.mode is Mode.JOB or not any(summary.n for summary in found.cells):
        return None
    if not says_how(experiment):
        return None
    steps = (
        _tell_at_all(found, advice, granted),
        _memory(found, advice, limits),
        _higher(found, advice, limits),
        _tell(found, granted) if advice.unsure is not None else None,
        _between(found, advice, granted, law),
    )
    return next((step for step in steps if step is not None), None)


def says_how(experiment: Experiment) -> bool:
    """Whether an experiment says how its work is done: what others measured and was imported may not."""
    required = declaration(experiment.operation).required
    return not any(experiment.options.keys().isdisjoint(group) for group in required)


def _measured(found: RunAnalysis, factors: tuple[Factor, ...] | None = None) -> Experiment:
    """Return the run's experiment as one that is measured anew, with other factors where they are given."""
    former = found.run.head.experiment
    return replace(
        former,
        factors=_that_were_run(found) if factors is None else factors,
        search=False,
        mode=Mode.MEASUREMENT,
        keep=Keep.NONE,
        label=None,
        warmup=max(1, former.warmup),
        repeat=max(_REPEATS, former.repeat),
    )


def _that_were_run(found: RunAnalysis) -> tuple[Factor, ...]:
    """Return the factors at the levels that were run, which of a search are a few."""
    former = found.run.head.experiment
    if not former.search:
        return former.factors
    run = {(name, level) for cell in found.by_cell for name, level in cell.levels}
    return tuple(
        replace(factor, levels=tuple(level for level in factor.levels if (factor.name, level) in run))
        for factor in former.factors
    )


def _tell_at_all(found: RunAnalysis, advice: Advice, granted: Sequence[Cell]) -> NextExperiment | None:
    """Repeat an inconclusive run so often that a difference of 10 % shows, where that can be had."""
    return None if advice.recommended or len(granted) < 2 else _tell(found, granted)


def _tell(found: RunAnalysis, granted: Sequence[Cell]) -> NextExperiment:
    noise = found.fit.noise
    needed = repeats_needed(noise, len(granted), _TELL_PCT) if noise.degrees > 0 else _REPEATS
    repeats = max(_REPEATS, min(needed or _MOST_REPEATS, _MOST_REPEATS))
    calm = needed is not None and needed <= _MOST_REPEATS
    wait = "" if calm else ", each trial when the machine is idle"
    why = f"{counted(repeats, 'repeat')} of each configuration, to detect a difference of 10 %{wait}"
    quiet = None if calm else _QUIET_SECONDS
    return NextExperiment(
        why, replace(_measured(found), repeat=repeats, detect_pct=None, quiet_wait_seconds=quiet)
    )


def _at(found: RunAnalysis, cell: Cell, name: str, levels: Sequence[Level]) -> tuple[Factor, ...]:
    """Return the factors at the levels of a cell, but one, which takes the levels given."""
    factors = [
        replace(factor, levels=tuple(levels) if factor.name == name else (cell[factor.name],))
        for factor in found.run.head.experiment.factors
        if factor.name in cell or factor.name == name
    ]
    known = {factor.name for factor in factors}
    return tuple(factors) if name in known else (*factors, Factor(name, tuple(levels)))


# -- memory -----------------------------------------------------------------------------------------------------
def _memory(found: RunAnalysis, advice: Advice, limits: Sequence[Bottleneck]) -> NextExperiment | None:
    """Try sort memory by which what was written to disk is merged once, or not written at all."""
    cell = next((each.cell for each in limits if each.kind is BottleneckKind.MEMORY), None)
    option = next(_memory_options(found), None)
    if cell is None or option is None or advice.first is None:
        return None
    spill = spill_of(trial for trial in found.run.trials if trial.cell == cell and trial.counts)
    if spill is None or not spill.bytes:
        return None
    processes = scale_level(cell, found.scale) or 1.0
    wanted = levels_to_try(spill, processes, option.shared, option.merge_buffer)
    measured = {spell_level(each[option.name]) for each in found.by_cell if option.name in each}
    given = found.run.head.experiment.options.get(option.name)
    now = [cell[option.name]] if option.name in cell else [given] if isinstance(given, str | int) else []
    levels = [_spelled(option, mebibytes) for mebibytes in wanted]
    levels = [level for level in levels if spell_level(level) not in measured and level != given]
    if not levels:
        return None
    options = {name: value for name, value in found.run.head.experiment.options.items() if name != option.name}
    shown = ", ".join(map(spell_level, levels))
    why = f"`{option.name}` {shown}: from merging once what it wrote to disk to writing nothing"
    factors = _at(found, advice.first, option.name, [*now, *levels])
    return NextExperiment(why, replace(_measured(found, factors), options=options))


def _memory_options(found: RunAnalysis) -> Iterator[Option]:
    head = found.run.head
    return (
        one
        for one in options_of(head.experiment.operation)
        if one.merge_buffer and one.factor and one.is_of(head.engine)
    )


def _spelled(option: Option, mebibytes: int) -> Level:
    if option.kind is OptionKind.SIZE:
        return f"{mebibytes}M"
    return int(min(mebibytes, option.high or mebibytes))


# -- degrees ----------------------------------------------------------------------------------------------------
_NO_MORE_HELPS = (BottleneckKind.SERVERS, BottleneckKind.SERIAL, BottleneckKind.LOCKS)


def _higher(found: RunAnalysis, advice: Advice, limits: Sequence[Bottleneck]) -> NextExperiment | None:
    """Go on where the highest level is the best, unless more of them are known not to help."""
    chosen, scale = advice.first, found.scale
    if chosen is None or scale is None or (own := scale_level(chosen, scale)) is None:
        return None
    levels = [level for cell in found.by_cell if (level := scale_level(cell, scale)) is not None]
    most = max(levels)
    cpus = cpu_count(found)
    if own < most or any(each.kind in _NO_MORE_HELPS for each in limits):
        return None
    higher = [level for level in (int(1.5 * most), int(2 * most), int(4 * most)) if level > most]
    higher = [level for level in dict.fromkeys(higher) if cpus is None or level <= max(_BEYOND * cpus, most)]
    if not higher:
        return None
    shown = ", ".join(map(str, higher))
    which = "the best was the highest that" if len(set(levels)) > 1 else f"only {scale} {int(own)}"
    why = f"{scale} {shown}: {which} was measured"
    return NextExperiment(why, _measured(found, _at(found, chosen, scale, [int(own), *higher])))


def _between(
    found: RunAnalysis, advice: Advice, granted: Sequence[Cell], law: FittedLaw | None
) -> NextExperiment | None:
    """Try whole levels between the best and its neighbours, where the law puts its peak there or there is none."""
    chosen, scale = advice.first, found.scale
    if chosen is None or scale is None or (own := scale_level(chosen, scale)) is None:
        return None
    levels = sorted({level for cell in granted if (level := scale_level(cell, scale)) is not None})
    at = levels.index(own) if own in levels else 0
    near = [int(level) for level in levels[max(0, at - 1) : at + 2]]
    wanted = {(low + high) // 2 for low, high in pairwise(near) if high - low > 1}
    if law is not None and near[0] <= law.law.peak <= near[-1]:
        wanted.add(round(law.law.peak))
    new = sorted(level for level in wanted if level not in levels)
    if not new:
        return None
    shown = ", ".join(map(str, new))
    why = f"{scale} {shown}: between the best and its neighbours"
    return NextExperiment(why, _measured(found, _at(found, chosen, scale, sorted({*near, *new}))))
