"""What a reader of a run should keep in mind, and what configurations besides the recommended one gain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

from toolkit.analysis.cells import CellSummary, RunAnalysis, other_levels, scale_level
from toolkit.analysis.fit import FEWEST_DEGREES, ConfidenceInterval, Noise
from toolkit.model.records import FOUND_IN_CACHE, READ_DIRECT, READ_INTO_CACHE, TrialRecord
from toolkit.model.values import Cell, spell_level
from toolkit.model.words import Outcome
from toolkit.units import count, counted, number, percent

TARGET_PCT = 5.0
"""The difference that a DBA wants to detect, shown for inconclusive results."""
FROM_A_FACTOR = 99.5
_WIDE_TARGET_PCT = 10.0
_TARGET = f"{TARGET_PCT:g} %"
_AFFORDABLE_REPEATS = 30
_MOST_REPEATS = 200
_MOST_SENTENCES = 8
_NOT_OK = tuple(outcome for outcome in Outcome if outcome is not Outcome.OK)


def spelled_median(found: RunAnalysis, cell: Cell) -> str:
    """Spell a median with its spread: its interval, else the range of the trials; never the median alone.

    A time that is not the one of the whole trial, and a size, are named.
    """
    summary, judged = found.by_cell[cell], found.judged
    middle = f"{judged.spell(summary.median)}{judged.of_what}"
    if summary.ci_low is not None and summary.ci_high is not None:
        return f"{middle} ({judged.span(summary.ci_low, summary.ci_high)} at 95 %)"
    if summary.n == 1:
        return f"{middle} (one trial)"
    return f"{middle} ({judged.span(min(summary.values), max(summary.values))} in {summary.n} trials)"


def outcomes_not_ok(found: RunAnalysis) -> tuple[str, ...]:
    """Name the cells with trials that did not end ok, with the reason, and the disturbed ones.

    Cells of which the same is to be said stand in one sentence.
    """
    alike: dict[tuple[str, bool, str], list[Cell]] = {}
    for summary in found.cells:
        parts = [
            f"{count(summary.outcomes[outcome])} {outcome.value}"
            for outcome in _NOT_OK
            if outcome in summary.outcomes
        ]
        if parts:
            key = (", ".join(parts), not summary.n, summary.reasons[0] if summary.reasons else "")
            alike.setdefault(key, []).append(summary.cell)
    sentences = [_not_ok(cells, *key, found.judged.by.title) for key, cells in alike.items()]
    more = sum(map(len, list(alike.values())[_MOST_SENTENCES:]))
    if more:
        trials = "configuration has" if more == 1 else "configurations have"
        sentences = [*sentences[:_MOST_SENTENCES], f"{count(more)} more {trials} trials that did not end ok"]
    disturbed = sum(summary.disturbed for summary in found.cells)
    if disturbed:
        trials = "1 trial was" if disturbed == 1 else f"{count(disturbed)} trials were"
        sentences.append(f"{trials} disturbed by other load and not counted")
    return tuple(sentences)


def _not_ok(cells: Sequence[Cell], outcomes: str, nothing: bool, reason: str, title: str) -> str:
    names = ", ".join(map(named, cells[:_MOST_SENTENCES]))
    more = f" and {count(len(cells) - _MOST_SENTENCES)} more" if len(cells) > _MOST_SENTENCES else ""
    each, have = (" each", "they have") if len(cells) > 1 else ("", "it has")
    gone = f"; {have} no measured {title}" if nothing else ""
    return f"{names}{more}: {outcomes}{each}{gone}{f': {reason}' if reason else ''}"


def granted_unknown(found: RunAnalysis) -> tuple[str, ...]:
    """Name the cells of a degree of which no trial shows what was granted: it may have been less."""
    unknown = {
        trial.cell: True for trial in found.run.trials if trial.counts and (trial.requested_degree or 0) > 1
    }
    unknown |= {
        trial.cell: False for trial in found.run.trials if trial.counts and trial.granted_degree is not None
    }
    names = [named(summary.cell) for summary in found.cells if unknown.get(summary.cell)]
    if not names:
        return ()
    more = len(names) - _MOST_SENTENCES
    shown = ", ".join(names[:_MOST_SENTENCES]) + (f" and {more} more" if more > 0 else "")
    return (f"the degree granted is not known at {shown}: it may have been less, which longer trials would show",)


def gathered_differently(found: RunAnalysis) -> tuple[str, ...]:
    """Say that cells gathered statistics of another number of tables, or that locks changed meanwhile."""
    counts: dict[float, list[str]] = {}
    locks: set[float] = set()
    for trial in found.run.trials:
        if not trial.counts:
            continue
        metrics = {metric.name: metric.value for metric in trial.metrics}
        if "tables_gathered" in metrics:
            counts.setdefault(metrics["tables_gathered"], []).append(str(trial.cell))
        locks |= {metrics[name] for name in ("locked_before", "locked_after") if name in metrics}
    sentences = []
    if len(counts) > 1:
        shown = ", ".join(
            f"{count(int(tables))} at `{cells[0]}`" for tables, cells in sorted(counts.items())[:_MOST_SENTENCES]
        )
        sentences.append(
            f"not every trial gathered the same number of tables ({shown}): their times cannot be compared"
        )
    if len(locks) > 1:
        shown = " to ".join(count(int(tables)) for tables in (min(locks), max(locks)))
        sentences.append(f"the number of tables with locked statistics changed during the run: {shown}")
    return tuple(sentences)


def odd_values(found: RunAnalysis) -> tuple[str, ...]:
    """Name values that are no measurement, since they are 0, and the one that lies farthest from its others."""
    zeros = sum(trial.counts and found.judged.of(trial) == 0 for trial in found.run.trials)
    have = "1 trial has" if zeros == 1 else f"{count(zeros)} trials have"
    sentences = [f"{have} a {found.judged.by.title} of 0 and cannot be counted"] if zeros else []
    apart = [
        (max(value / middle, middle / value), value, summary)
        for summary in found.cells
        if summary.n >= _ENOUGH_FOR_ODD and (middle := summary.median)
        for value in summary.values
    ]
    times, value, summary = max(apart, key=lambda each: each[0], default=(0.0, 0.0, None))
    if summary is not None and times >= _ODD:
        usual = found.judged.spell(summary.median)
        sentences.append(
            f"one trial of {named(summary.cell)} had {found.judged.spell(value)}, where its median is {usual}"
        )
    return tuple(sentences)


_ODD, _ENOUGH_FOR_ODD = 10.0, 3
"""A value is named where it is so many times its median, or its median so many times it, among so many."""


def read_differently(found: RunAnalysis) -> tuple[str, ...]:
    """Say that configurations came by their blocks in different ways, from disk or from the buffer cache."""
    ways: dict[str, list[str]] = {}
    trials: dict[Cell, list[TrialRecord]] = {}
    for trial in found.run.trials:
        trials.setdefault(trial.cell, []).append(trial)
    for summary in found.cells:
        most = way_of_reading(trials.get(summary.cell, ()))
        if most is not None:
            ways.setdefault(most[0], []).append(f"{named(summary.cell)} {most[0]} ({percent(100 * most[1])})")
    if len(ways) < 2:
        return ()
    shown = "; ".join(_shortened([text for told in ways.values() for text in told]))
    return (f"configurations read in different ways, so their times compare the buffer cache, too: {shown}",)


def way_of_reading(trials: Sequence[TrialRecord]) -> tuple[str, float] | None:
    """Return how trials came by most of the blocks that they read, with its share; None where nobody counted."""
    totals = dict.fromkeys(_HOW, 0.0)
    for metric in (metric for trial in trials if trial.counts for metric in trial.metrics):
        if metric.name in totals:
            totals[metric.name] += metric.value
    whole = sum(totals.values())
    name = max(totals, key=lambda name: totals[name])
    return (_HOW[name], totals[name] / whole) if whole else None


_HOW = {
    READ_DIRECT: "read directly from disk",
    READ_INTO_CACHE: "read from disk into the buffer cache",
    FOUND_IN_CACHE: "found its blocks in the buffer cache",
}


def super_linear(found: RunAnalysis) -> tuple[str, ...]:
    """Say of cells that gain more than their share: then the baseline did other work, or worked badly."""
    odd = [summary for summary in found.cells if _is_super_linear(found, summary)]
    if not odd:
        return ()
    sure = any(summary.speedup_low is not None for summary in odd)
    names = ", ".join(f"{named(summary.cell)} (efficiency {number(summary.efficiency)})" for summary in odd[:4])
    consequence = (
        "the baseline is not comparable" if sure else "unless that is noise, the baseline is not comparable"
    )
    return (f"more than linear at {names}: {consequence}, so do not trust the speed-ups",)


def _is_super_linear(found: RunAnalysis, summary: CellSummary) -> bool:
    if summary.efficiency is None or summary.speedup is None or summary.efficiency <= 1:
        return False
    if summary.speedup_low is None:
        # without an interval only what stands out: a tenth above the share
        return found.fit.noise.degrees < FEWEST_DEGREES and summary.efficiency > 1.1
    return summary.speedup_low / summary.speedup * summary.efficiency > 1


def cpu_count(found: RunAnalysis) -> int | None:
    """Return the CPUs of the database's host, if the environment says."""
    cpus = found.run.environment.get("cpu_count")
    if isinstance(cpus, bool) or not isinstance(cpus, int | float) or cpus < 1:
        return None
    return int(cpus)


def beyond_cpus(found: RunAnalysis, *, known: Collection[float] = ()) -> tuple[str, ...]:
    """Say which levels ask for more than the CPUs of the environment, but for those spoken of already."""
    cpus = cpu_count(found)
    levels = {scale_level(summary.cell, found.scale) or 0.0 for summary in found.cells}
    high = sorted(level for level in levels if cpus is not None and level > cpus and level not in known)
    if not high:
        return ()
    exceed = "exceeds" if len(high) == 1 else "exceed"
    return (f"{found.scale} {', '.join(map(spell_level, high))} {exceed} the {counted(cpus or 0, 'CPU')}",)


def noise_sentence(found: RunAnalysis) -> tuple[str, ...]:
    """Say how small a difference shows, and how many repeats would show one of 5 %."""
    if found.run.head.experiment.search:
        return ()  # it has run each as often as it needed to
    noise = found.fit.noise
    measured = [summary for summary in found.cells if summary.n]
    best = min((one.cell for one in measured), key=found.rank)  # what is shown to be worse may have been given up
    repeats = min(one.n for one in measured if not (seen := found.ratio(one.cell, best)[1]) or seen.low <= 1)
    least = _repeats_for(len(measured), lambda _: True)
    if noise.degrees <= 0:
        return (
            f"repeat each configuration at least {least} times: "
            f"a single {found.judged.by.title} does not show the noise",
        )
    needed = repeats_needed(noise, len(measured))
    more = f"about {needed} repeats" if needed else f"more than {_MOST_REPEATS} repeats"
    if noise.degrees < FEWEST_DEGREES:
        known = f"as far as the noise is known, {more} would show a difference of {_TARGET}"
        if least is not None and max(summary.n for summary in measured) >= least:
            # so many were made, and some of the others do not count
            return (f"repeat until at least {least} trials of each configuration count; {known}",)
        return (f"repeat each configuration at least {least} times; {known}",)
    smallest = noise.times(2 / repeats).minimum_detectable_pct() or 0.0
    shown = f"the minimum detectable effect with {counted(repeats, 'repeat')} is {spelled_difference(smallest)}"
    return (shown,) if smallest <= TARGET_PCT else (f"{shown}; {more} would detect {_TARGET}",)


def quieter_or_more(found: RunAnalysis, granted: Sequence[Cell]) -> str:
    """Say what to do: more repeats, for a difference that was not excluded yet, or else a quieter machine."""
    measured = [found.by_cell[cell].n for cell in granted]
    for target_pct in (_WIDE_TARGET_PCT, TARGET_PCT):
        needed = repeats_needed(found.fit.noise, len(measured), target_pct)
        if needed is None or needed > _AFFORDABLE_REPEATS:
            break
        if needed > min(measured):
            return f"run it again with about {needed} repeats to detect a difference of {target_pct:g} %"
    return "run it again when the machine is idle: with this noise, more repeats alone hardly help"


def spelled_difference(pct: float) -> str:
    """Spell the size of a difference between two values: `13 %`, `a factor of 2.9`."""
    return percent(pct) if pct < FROM_A_FACTOR else f"a factor of {number(1 + pct / 100, 2)}"


def repeats_needed(noise: Noise, cells: int, target_pct: float = TARGET_PCT) -> int | None:
    """Return how many repeats would tell a difference, with a power of 80 %; None above 200.

    The same formula as `Noise.minimum_detectable_pct`, solved for the number of repeats, with the degrees of
    freedom that so many whole sweeps over `cells` cells leave.
    """

    def enough(repeats: int) -> bool:
        degrees = _degrees(cells, repeats)
        later = Noise(noise.variance * 2 / repeats, degrees, max(cells, 2), confidence=noise.confidence)
        smallest = later.minimum_detectable_pct()
        return smallest is not None and smallest <= target_pct

    return _repeats_for(cells, enough)


def _repeats_for(cells: int, enough: Callable[[int], bool]) -> int | None:
    """Return the fewest repeats that are enough, by halving: more repeats never tell less."""
    candidates = [n for n in range(2, _MOST_REPEATS + 1) if _degrees(cells, n) >= FEWEST_DEGREES]
    place = bisect_left(candidates, True, key=enough)
    return candidates[place] if place < len(candidates) else None


def _degrees(cells: int, repeats: int) -> int:
    return (max(cells, 2) - 1) * (repeats - 1)


# -- other configurations ---------------------------------------------------------------------------------------
_MOST_OF_A_KIND = 6
"""Of one kind; the table of cells has the rest."""


def named(cell: Cell) -> str:
    """Name a cell in a sentence; without factors there is one, which has no name."""
    return f"`{cell}`" if cell.levels else "the only configuration"


def inconclusive(interval: ConfidenceInterval | None) -> bool:
    """Whether an interval of a ratio leaves open which is better."""
    return interval is None or interval.holds(1.0)


def lowest_of_its_kind(found: RunAnalysis, cell: Cell, measured: Sequence[Cell]) -> Cell | None:
    """Return the measured cell of the lowest level of the scale factor at equal other levels."""
    kind = other_levels(cell, found.scale)
    levels = [
        (level, other)
        for other in measured
        if other_levels(other, found.scale) == kind and (level := scale_level(other, found.scale)) is not None
    ]
    return min(levels, key=lambda pair: pair[0])[1] if levels else None


def beyond(
    found: RunAnalysis, granted: Sequence[Cell], chosen: Cell, worth_pct: float
) -> tuple[list[str], frozenset[float]]:
    """Say what degrees above the chosen one gain or lose, and return the levels spoken of.

    Levels beyond the CPUs of the host get that as the reason, in the same sentence.
    """
    start, cpus = scale_level(chosen, found.scale), cpu_count(found)
    kind = other_levels(chosen, found.scale)
    alike: dict[tuple[int, bool], dict[float, ConfidenceInterval]] = {}
    for cell in granted:
        level = scale_level(cell, found.scale) or 0.0
        if start is None or level <= start or other_levels(cell, found.scale) != kind:
            continue
        interval = found.ratio(cell, chosen)[1]
        if interval is not None:
            worse = (interval.low > 1) - (interval.high < 1)
            alike.setdefault((worse, cpus is not None and level > cpus), {})[level] = interval
    sentences = [
        _beyond(found, levels, worse, worth_pct, cpus if too_many else None)
        for (worse, too_many), levels in sorted(alike.items())
    ]
    return sentences, frozenset(level for levels in alike.values() for level in levels)


def _beyond(
    found: RunAnalysis, levels: dict[float, ConfidenceInterval], worse: int, worth_pct: float, cpus: int | None
) -> str:
    scale = found.scale or ""
    many = len(levels) > 1
    who = f"{scale} {', '.join(spell_level(level) for level in levels)}"
    where = "" if cpus is None else f"exceed{'' if many else 's'} the {counted(cpus, 'CPU')} and "
    what = {
        -1: f"{'are' if many else 'is'} {found.judged.good}, but not measurably by more than {worth_pct:g} %",
        0: f"bring{'' if many else 's'} no measurable gain",
        1: found.judged.loses(many),
    }[worse]
    spans = "; ".join(
        f"{f'{scale} {spell_level(level)}: ' if many else ''}{found.judged.changed(interval)}"
        for level, interval in levels.items()
    )
    return f"{who} {where}{what} ({spans})"


def other_groups(found: RunAnalysis, measured: Sequence[Cell], chosen: Cell) -> list[str]:
    """Say what the scale factor gains at each setting of the other factors, but for that of the chosen cell."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in measured:
        groups.setdefault(other_levels(cell, found.scale), []).append(cell)
    groups.pop(other_levels(chosen, found.scale), None)
    sentences = []
    for group in groups.values() if found.scale else ():
        best = min(group, key=found.rank)
        base = lowest_of_its_kind(found, best, group)
        if base is not None and base != best:
            sentences.append(f"{named(best)} is the best of its kind: {_against(found, best, base)}")
    return _shortened(sentences)


def _against(found: RunAnalysis, cell: Cell, base: Cell) -> str:
    """Say how much better a cell is than another, or that it is inconclusive."""
    value, interval = found.ratio(base, cell)
    if interval is None or inconclusive(interval):
        return f"no measurable difference from {named(base)} ({found.judged.changed(found.ratio(cell, base)[1])})"
    return found.judged.times_better(value, interval, named(base))


def other_factors(found: RunAnalysis, measured: Sequence[Cell], chosen: Cell) -> list[str]:
    """Say what another level of each other factor costs at the chosen cell's levels."""
    sentences = []
    for cell in measured:
        changed = [name for name in chosen if cell.get(name) != chosen[name]]
        if len(changed) == 1 and changed[0] != found.scale:
            name = changed[0]
            _, interval = found.ratio(cell, chosen)
            swap = f"`{name}={spell_level(cell[name])}` instead of `{name}={spell_level(chosen[name])}`"
            sentences.append(f"{swap} {_swapped(found, interval)} ({found.judged.changed(interval)})")
    return _shortened(sentences)


def _swapped(found: RunAnalysis, interval: ConfidenceInterval | None) -> str:
    if interval is None or inconclusive(interval):
        return "makes no measurable difference"
    return found.judged.swapped(worse=interval.low > 1)


def _shortened(said: list[str]) -> list[str]:
    more = len(said) - _MOST_OF_A_KIND
    return said if more <= 0 else [*said[:_MOST_OF_A_KIND], f"the table has {more} more of this kind"]
