"""What to make of a run: one recommendation made from its numbers, never more certain than its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolkit.analysis.backups import backup_sentences
from toolkit.analysis.cells import RunAnalysis, analyse, scale_level
from toolkit.analysis.choice import (
    WORTH_PCT,
    GoodEnough,
    NotExcluded,
    best_of,
    choose,
    granted_cells,
    not_excluded,
    shown_worse,
    spelled_choice,
)
from toolkit.analysis.confounded import confounded
from toolkit.analysis.doubts import (
    beyond,
    beyond_cpus,
    gathered_differently,
    granted_unknown,
    lowest_of_its_kind,
    named,
    noise_sentence,
    odd_values,
    other_factors,
    other_groups,
    outcomes_not_ok,
    quieter_or_more,
    read_differently,
    spelled_difference,
    spelled_median,
    super_linear,
)
from toolkit.analysis.laws import law_sentences
from toolkit.analysis.metrics import cpu_ratio
from toolkit.analysis.search import undecided
from toolkit.analysis.sequential import used_up_budget
from toolkit.design.build import DETECT_PCT
from toolkit.design.judging import metric_missing
from toolkit.model.operations import declaration
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import Mode, Outcome
from toolkit.units import percent, value_change


@dataclass(frozen=True, slots=True)
class Advice:
    """What a run tells.

    Attributes:
        headline: the one sentence to read.
        sentences: what stands behind it, most useful first.
        doubts: what to keep in mind: outcomes that are not ok, noise, an odd baseline.
        best: the cell with the best median, which may be chance; a downgraded one only where there is no other.
        recommended: the cells of the smallest degree that is good enough, the best median first; none when the run
            is inconclusive, several when they were not told apart.
        unsure: what may be better than that by more than matters, for all that the run shows.
    """

    headline: str
    sentences: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    best: Cell | None = None
    recommended: tuple[Cell, ...] = ()
    unsure: NotExcluded | None = None

    @property
    def first(self) -> Cell | None:
        """Return the cell whose numbers stand in the headline."""
        return self.recommended[0] if self.recommended else self.best


def advice(run: RunRecord, worth_pct: float = WORTH_PCT) -> Advice:
    """Say which cell of a run is better, by how much, and what is inconclusive."""
    return advise(analyse(run), worth_pct)


def advise(found: RunAnalysis, worth_pct: float = WORTH_PCT) -> Advice:
    """Say it of a run that was analysed already; of a backup also its throughput, its limit and its window."""
    advice = _advise(found, worth_pct)
    if not declaration(found.run.head.experiment.operation).backs_up:
        return advice
    more = backup_sentences(found, advice.first)
    return replace(advice, sentences=(*advice.sentences, *more))


def _advise(found: RunAnalysis, worth_pct: float) -> Advice:
    measured = [summary.cell for summary in found.cells if summary.n]
    doubts = (
        *outcomes_not_ok(found),
        *granted_unknown(found),
        *odd_values(found),
        *super_linear(found),
        *gathered_differently(found),
        *read_differently(found),
        *confounded(measured),
    )
    if not measured:
        return Advice(f"{_why_not(found)}: there is no {found.judged.by.title} to judge by", doubts=doubts)
    if len(measured) == 1:
        return Advice(_alone(found, measured[0]), doubts=doubts, best=measured[0])
    granted = granted_cells(found)
    best = best_of(found, granted or measured)
    if found.fit.value_interval(best) is None:
        return _too_few(found, best, doubts)
    if len(granted) < 2:
        return _not_granted(found, granted, best, doubts)
    choice = choose(found, granted, worth_pct)
    if not choice.cells:
        return _too_noisy(found, granted, best, doubts)
    return _told(found, granted, choice, worth_pct, doubts)


def _why_not(found: RunAnalysis) -> str:
    values = {found.judged.of(trial) for trial in found.run.trials if trial.counts}
    if values == {0}:
        return f"every trial has a {found.judged.by.title} of 0"
    if values:
        return f"no trial has a value of `{found.judged.by.metric}`"
    ended = [each for each in found.run.trials if each.outcome in (Outcome.OK, Outcome.DOWNGRADED)]
    if ended and all(metric_missing(found.run.head.experiment, each) for each in ended):
        return f"no trial has a value of `{found.judged.by.metric}`"
    if not found.run.trials or (ended and all(each.warmup for each in ended)):
        return f"{'only warm-ups were run' if ended else 'no trial was run'}{_short_of_time(found.run)}"
    untimed = [each for each in found.run.trials if each.outcome is Outcome.OK and each.elapsed_seconds is None]
    if any(each.items and all(item.outcome is Outcome.SKIPPED for item in each.items) for each in untimed):
        return "there was nothing to do"
    return "it was done, but its end was not recorded" if untimed else "no trial succeeded"


def _short_of_time(run: RunRecord) -> str:
    used_up = used_up_budget(run)
    return "" if used_up is None else f", since {used_up}"


def _alone(found: RunAnalysis, cell: Cell) -> str:
    median = spelled_median(found, cell)
    if found.run.head.mode is Mode.JOB:
        return f"done once, {median}: a single execution does not show the spread"
    if len(found.cells) > 1:
        return f"{named(cell)} {found.judged.reaches} {median}; no other configuration has a trial that counts"
    if found.by_cell[cell].n == 1:
        return f"measured once, {median}: a single trial does not show the spread"
    return f"{named(cell)} {found.judged.reaches} {median}; there is no other configuration to compare it with"


def _lowest(found: RunAnalysis, best: Cell) -> str:
    return f"{named(best)} had the {found.in_front(best)}, {spelled_median(found, best)}, possibly by chance"


def _too_few(found: RunAnalysis, best: Cell, doubts: tuple[str, ...]) -> Advice:
    return Advice(
        "too few repeats to tell which is better",
        (*noise_sentence(found), _lowest(found, best)),
        (*doubts, *beyond_cpus(found)),
        best,
    )


def _not_granted(found: RunAnalysis, granted: Sequence[Cell], best: Cell, doubts: tuple[str, ...]) -> Advice:
    which = f"all others than {named(granted[0])}" if granted else "all"
    return Advice(
        f"no configuration can be recommended: {which} had downgraded trials",
        (_lowest(found, best),),
        (*doubts, *beyond_cpus(found)),
        best,
    )


def _too_noisy(found: RunAnalysis, granted: Sequence[Cell], best: Cell, doubts: tuple[str, ...]) -> Advice:
    smallest = found.detectable_pct(granted) or 0.0
    asked = found.run.head.experiment.detect_pct or DETECT_PCT
    noisy = f"the {found.judged.values} vary so much that" if smallest > asked else "no difference was detected;"
    headline = f"this run is inconclusive: {noisy} the minimum detectable effect is {spelled_difference(smallest)}"
    sentences = (quieter_or_more(found, granted), _lowest(found, best))
    return Advice(headline, sentences, (*doubts, *beyond_cpus(found)), best)


def _told(
    found: RunAnalysis, granted: Sequence[Cell], choice: GoodEnough, worth_pct: float, doubts: tuple[str, ...]
) -> Advice:
    chosen = choice.cells[0]
    sentence, levels = beyond(found, granted, chosen, worth_pct)
    sentences = (
        *_passed_over(found, granted),
        *sentence,
        *other_groups(found, granted, chosen),
        *other_factors(found, granted, chosen),
        *law_sentences(found, granted, chosen, worth_pct),
    )
    doubts = (*doubts, *beyond_cpus(found, known=levels), *noise_sentence(found))
    unsure = not_excluded(found, _rivals(found, granted), choice.cells, worth_pct)
    headline = _headline(found, granted, choice, worth_pct, unsure)
    return Advice(headline, sentences, doubts, choice.best, choice.cells, unsure)


def _headline(
    found: RunAnalysis, granted: Sequence[Cell], choice: GoodEnough, worth_pct: float, unsure: NotExcluded | None
) -> str:
    """Say what to use, and that it is not sure where the run leaves a gain open that matters."""
    at_best = "at best " if len(choice.cells) > 1 else ""
    use = f"use {spelled_choice(found, choice.cells)}{' for now' if unsure else ''}: {at_best}"
    said = _said(found, granted, choice, worth_pct, f"{use}{spelled_median(found, choice.cells[0])}")
    if unsure is None:
        return said
    than = "" if unsure.than == choice.cells[0] else f" than {named(unsure.than)}"
    return f"{said}, but this run does not exclude {open_gain(found, unsure)} with {named(unsure.cell)}{than}"


def _rivals(found: RunAnalysis, granted: Sequence[Cell]) -> Sequence[Cell]:
    """Return what might have been chosen; a search has done with most of what it ran."""
    return undecided(found) if found.run.head.experiment.search else granted


def open_gain(found: RunAnalysis, left: NotExcluded) -> str:
    """Spell how much better another configuration may be: `12 % less time`."""
    low = left.interval.low
    return found.judged.change(low if found.judged.by.lower_is_better else 1 / low)


def _said(found: RunAnalysis, granted: Sequence[Cell], choice: GoodEnough, worth_pct: float, use: str) -> str:
    chosen, judged = choice.cells[0], found.judged
    base = compared_with(found, granted, chosen)
    value, interval = found.ratio(base, chosen)
    if interval is not None and shown_worse(interval):
        better = judged.times_better(value, interval, named(base))
        return f"{use}, {better}{_at_what_cost(found, chosen, base)}"
    if base == chosen or not choice.differs:
        return f"{use}; {none_better(found, granted, chosen, worth_pct)}"
    run = " was run and" if found.run.head.experiment.search else ""
    smallest = f"the smallest {found.scale} that{run} is not measurably {judged.bad} than {named(choice.best)}"
    return f"{use}; {smallest} by more than {worth_pct:g} %"


def compared_with(found: RunAnalysis, granted: Sequence[Cell], chosen: Cell) -> Cell:
    """Return what a choice is held against: the lowest degree of its kind, else the worst that was told apart.

    It is held against itself where it is the lowest and there are higher ones, and where nothing was told apart.
    """
    lowest = lowest_of_its_kind(found, chosen, granted)
    if lowest is not None and (lowest != chosen or _higher(found, granted, chosen)):
        return lowest
    worse = [cell for cell in granted if shown_worse(found.ratio(cell, chosen)[1])]
    return max(worse, key=found.rank, default=chosen)


def _higher(found: RunAnalysis, cells: Sequence[Cell], chosen: Cell) -> list[Cell]:
    level = scale_level(chosen, found.scale) or 0.0
    return [cell for cell in cells if (scale_level(cell, found.scale) or 0.0) > level]


def none_better(found: RunAnalysis, granted: Sequence[Cell], chosen: Cell, worth_pct: float) -> str:
    """Say what is known of the others where the smallest is chosen: never more than their intervals hold."""
    judged, higher = found.judged, _higher(found, granted, chosen)
    measured = [summary.cell for summary in found.cells if summary.n]
    that = " that was granted" if len(_higher(found, measured, chosen)) > len(higher) else ""
    that = that or (" that was run" if found.run.head.experiment.search else "")
    others = higher or [cell for cell in granted if cell != chosen]
    kind = f"higher {found.scale}{that}" if higher else f"other configuration{that}"
    intervals = [interval for cell in others if (interval := found.ratio(cell, chosen)[1]) is not None]
    if higher and all(map(shown_worse, intervals)):
        return f"every {kind} is {judged.bad}"
    if all(interval.low * (1 + worth_pct / 100) >= 1 for interval in intervals):
        return f"no {kind} is more than {worth_pct:g} % {judged.good}"
    better = any(interval.high < 1 for interval in intervals)
    return f"no {kind} is measurably {judged.good}{f' by more than {worth_pct:g} %' if better else ''}"


def _at_what_cost(found: RunAnalysis, chosen: Cell, base: Cell) -> str:
    """Say at which efficiency, and for how much more CPU time."""
    efficiency = found.by_cell[chosen].efficiency if lowest_of_its_kind(found, chosen, [base]) else None
    parts = [] if efficiency is None else [f"at {percent(efficiency * 100)} efficiency"]
    if (cpu := cpu_ratio(found.run, chosen, base)) is not None:
        parts.append(f"for {value_change(cpu, of='CPU time')}")
    return f", {' and '.join(parts)}" if parts else ""


def _passed_over(found: RunAnalysis, granted: Sequence[Cell]) -> list[str]:
    """Name the downgraded configuration with the best median, where that is better than any other."""
    best = min((summary.cell for summary in found.cells if summary.n), key=found.rank)
    if best in granted:
        return []
    return [f"{named(best)} had the {found.judged.best_median}, but was downgraded, so it is not recommended"]
