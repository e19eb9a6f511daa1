"""What to make of a run: one recommendation made from its numbers, never more certain than its intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolkit.analysis.backups import backup_sentences
from toolkit.analysis.cells import RunAnalysis, analyse, scale_level
from toolkit.analysis.doubts import (
    beyond,
    beyond_cpus,
    gathered_differently,
    inconclusive,
    lowest_of_its_kind,
    named,
    noise_sentence,
    other_factors,
    other_groups,
    outcomes_not_ok,
    quieter_or_more,
    read_differently,
    spelled_difference,
    spelled_median,
    super_linear,
)
from toolkit.model.operations import declaration
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import Mode, Outcome

CLOSE = 1.25
"""A smaller degree is good enough when, at 95 %, it is at most this times worse than the best."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What a run tells.

    Attributes:
        headline: the one sentence to read.
        sentences: what stands behind it, most useful first.
        doubts: what to keep in mind: outcomes that are not ok, noise, an odd baseline.
        best: the cell with the best median, which may be chance.
        recommended: the smallest degree that is as good as the best; None when the run is inconclusive.
    """

    headline: str
    sentences: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    best: Cell | None = None
    recommended: Cell | None = None


def advice(run: RunRecord) -> Advice:
    """Say which cell of a run is better, by how much, and what is inconclusive."""
    return advise(analyse(run))


def advise(found: RunAnalysis) -> Advice:
    """Say it of a run that was analysed already; of a backup also its throughput, its limit and its window."""
    advice = _advise(found)
    if not declaration(found.run.head.experiment.operation).backs_up:
        return advice
    more = backup_sentences(found, advice.recommended or advice.best)
    return replace(advice, sentences=(*advice.sentences, *more))


def _advise(found: RunAnalysis) -> Advice:
    measured = [summary.cell for summary in found.cells if summary.n]
    doubts = (
        *outcomes_not_ok(found),
        *super_linear(found),
        *gathered_differently(found),
        *read_differently(found),
    )
    if not measured:
        return Advice(f"{_why_not(found)}: there is no {found.judged.by.title} to judge by", doubts=doubts)
    if len(measured) == 1:
        return Advice(_alone(found, measured[0]), doubts=doubts, best=measured[0])
    best = min(measured, key=found.rank)
    if found.fit.value_interval(best) is None:
        return _too_few(found, best, doubts)
    recommended = _recommended(found, measured, best)
    if _may_be_beaten(found, measured, best, recommended):
        return _too_noisy(found, measured, best, doubts)
    against = _compared_with(found, measured, recommended)
    if against != recommended and inconclusive(found.ratio(against, recommended)[1]):
        return _no_better(found, measured, recommended, against, doubts)
    return _told(found, measured, best, recommended, doubts)


def _why_not(found: RunAnalysis) -> str:
    if any(trial.counts for trial in found.run.trials):
        return f"no trial has a value of `{found.judged.by.metric}`"
    done = any(each.outcome is Outcome.OK and each.elapsed_seconds is None for each in found.run.trials)
    return "it was done, but its end was not recorded" if done else "no trial succeeded"


def _alone(found: RunAnalysis, cell: Cell) -> str:
    median = spelled_median(found, cell)
    if found.run.head.mode is Mode.JOB or found.by_cell[cell].n == 1:
        return f"done once, {median}: a single execution does not show the spread"
    return f"{named(cell)} {found.judged.reaches} {median}; there is no other configuration to compare it with"


def _lowest(found: RunAnalysis, best: Cell) -> str:
    return f"{named(best)} had the {found.judged.best_median}, {spelled_median(found, best)}, possibly by chance"


def _too_few(found: RunAnalysis, best: Cell, doubts: tuple[str, ...]) -> Advice:
    return Advice(
        "too few repeats to tell which is better",
        (*noise_sentence(found), _lowest(found, best)),
        (*doubts, *beyond_cpus(found)),
        best,
    )


def _too_noisy(found: RunAnalysis, measured: list[Cell], best: Cell, doubts: tuple[str, ...]) -> Advice:
    repeats = min(found.by_cell[cell].n for cell in measured)
    smallest = found.fit.noise.times(2 / repeats).minimum_detectable_pct() or 0.0
    headline = (
        f"this run is inconclusive: the {found.judged.values} vary so much that the minimum detectable effect is "
        f"{spelled_difference(smallest)}"
    )
    sentences = (quieter_or_more(found), _lowest(found, best))
    return Advice(headline, sentences, (*doubts, *beyond_cpus(found)), best)


def _compared_with(found: RunAnalysis, measured: list[Cell], chosen: Cell) -> Cell:
    """Return what a recommendation must be better than: the lowest degree of its kind, else the worst of all."""
    return lowest_of_its_kind(found, chosen, measured) or max(measured, key=found.rank)


def _no_better(
    found: RunAnalysis, measured: list[Cell], chosen: Cell, against: Cell, doubts: tuple[str, ...]
) -> Advice:
    """Recommend nothing where the best is not measurably better than what costs least."""
    judged, (_, interval) = found.judged, found.ratio(against, chosen)
    headline = (
        f"no configuration can be recommended: {named(chosen)} had the {judged.best_median}, "
        f"{spelled_median(found, chosen)}, but {named(against)} is not measurably {judged.bad} "
        f"({judged.changed(interval)})"
    )
    sentences = [*_smaller(found, measured, chosen), quieter_or_more(found)]
    return Advice(headline, tuple(sentences), (*doubts, *beyond_cpus(found)), chosen)


def _recommended(found: RunAnalysis, measured: list[Cell], best: Cell) -> Cell:
    """Return the smallest degree that is close to the best; of two at the same degree the better one."""
    level = scale_level(best, found.scale)
    if level is None:
        return best
    near = [
        (degree, found.rank(cell), cell.levels, cell)
        for cell in measured
        if (degree := scale_level(cell, found.scale)) is not None
        and degree <= level
        and (cell == best or _is_close(found, cell, best))
    ]
    return min(near, key=lambda entry: entry[:2])[3]


def _is_close(found: RunAnalysis, cell: Cell, best: Cell) -> bool:
    interval = found.ratio(cell, best)[1]
    return interval is not None and interval.low <= 1 and interval.high <= CLOSE


def _may_be_beaten(found: RunAnalysis, measured: list[Cell], best: Cell, recommended: Cell) -> bool:
    """Whether the run is inconclusive and some other cell may well be better than the recommended one."""
    if not all(inconclusive(found.ratio(cell, best)[1]) for cell in measured if cell != best):
        return False
    against = (found.ratio(cell, recommended)[1] for cell in measured if cell != recommended)
    return any(interval is None or interval.low < 1 / CLOSE for interval in against)


def _told(
    found: RunAnalysis, measured: list[Cell], best: Cell, recommended: Cell, doubts: tuple[str, ...]
) -> Advice:
    sentence, levels = beyond(found, measured, recommended)
    sentences = [
        *_smaller(found, measured, recommended),
        *sentence,
        *other_groups(found, measured, recommended),
        *other_factors(found, measured, recommended),
    ]
    doubts = (*doubts, *beyond_cpus(found, known=levels), *noise_sentence(found))
    return Advice(_headline(found, measured, recommended), tuple(sentences), doubts, best, recommended)


def _headline(found: RunAnalysis, measured: list[Cell], chosen: Cell) -> str:
    use = f"use {named(chosen)}: {spelled_median(found, chosen)}"
    base = _compared_with(found, measured, chosen)
    if base == chosen:
        return f"{use}; {_no_higher(found, measured, chosen)}"
    value, interval = found.ratio(base, chosen)
    assert interval is not None, "what is not better for sure is not recommended"
    return f"{use}, {found.judged.times_better(value, interval, named(base))}"


def _no_higher(found: RunAnalysis, measured: list[Cell], chosen: Cell) -> str:
    start = scale_level(chosen, found.scale) or 0
    higher = [cell for cell in measured if (scale_level(cell, found.scale) or 0) > start]
    if not higher:
        return f"the {found.judged.best_median}"
    judged = found.judged
    worse = all((interval := found.ratio(cell, chosen)[1]) and interval.low > 1 for cell in higher)
    return (
        f"every higher {found.scale} is {judged.bad}"
        if worse
        else f"no higher {found.scale} is measurably {judged.good}"
    )


def _smaller(found: RunAnalysis, measured: list[Cell], chosen: Cell) -> list[str]:
    """Name smaller degrees that may be as good, though it takes more repeats to know."""
    level = scale_level(chosen, found.scale) or 0
    lowest = lowest_of_its_kind(found, chosen, measured)
    maybe = [
        cell
        for cell in measured
        if (scale_level(cell, found.scale) or level) < level
        and cell != lowest
        and inconclusive(found.ratio(cell, chosen)[1])
    ]
    spans = "; ".join(f"{named(cell)}: {found.judged.changed(found.ratio(cell, chosen)[1])}" for cell in maybe[:3])
    return [f"a smaller {found.scale} may do as well: more repeats would show ({spans})"] if maybe else []
