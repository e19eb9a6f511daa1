"""What a reader of a run should keep in mind: outcomes that are not ok, noise, an odd baseline, too few CPUs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection

from toolkit.analysis.cells import CellSummary, RunAnalysis, scale_level
from toolkit.analysis.fit import FEWEST_DEGREES, Noise
from toolkit.model.values import spell_level
from toolkit.model.words import Outcome
from toolkit.units import count, number, percent, seconds, seconds_span

TARGET_PCT = 5.0
"""The difference a DBA wants told when nothing could be."""

_WIDE_TARGET_PCT = 10.0
_TARGET, _WIDE_TARGET = (f"{pct:g} %" for pct in (TARGET_PCT, _WIDE_TARGET_PCT))
_AFFORDABLE_REPEATS = 30

_MOST_REPEATS = 200
_MOST_SENTENCES = 8
_NOT_OK = tuple(outcome for outcome in Outcome if outcome is not Outcome.OK)


def spelled_time(summary: CellSummary) -> str:
    """Spell a median with its spread: its interval, else the range of the trials; never the median alone."""
    middle = seconds(summary.median_seconds)
    if summary.ci_low is not None and summary.ci_high is not None:
        return f"{middle} ({seconds_span(summary.ci_low, summary.ci_high)} at 95 %)"
    if summary.n == 1:
        return f"{middle} (one trial)"
    return f"{middle} ({seconds_span(min(summary.seconds), max(summary.seconds))} in {summary.n} trials)"


def outcomes_not_ok(found: RunAnalysis) -> tuple[str, ...]:
    """Name the cells with trials that did not end ok, with the reason, and the disturbed ones."""
    said = []
    for summary in found.cells:
        parts = [
            f"{count(summary.outcomes[outcome])} {outcome.value}"
            for outcome in _NOT_OK
            if outcome in summary.outcomes
        ]
        if parts:
            why = f": {summary.reasons[0]}" if summary.reasons else ""
            gone = "" if summary.n else "; it has no time"
            said.append(f"`{summary.cell}`: {', '.join(parts)}{gone}{why}")
    more = len(said) - _MOST_SENTENCES
    if more > 0:
        said = [*said[:_MOST_SENTENCES], f"{more} more cells have trials that did not end ok"]
    disturbed = sum(summary.disturbed for summary in found.cells)
    if disturbed:
        trials = "1 trial was" if disturbed == 1 else f"{count(disturbed)} trials were"
        said.append(f"{trials} disturbed by other load and kept out of the numbers")
    return tuple(said)


def gathered_differently(found: RunAnalysis) -> tuple[str, ...]:
    """Say that cells gathered statistics of another number of tables, or that locks changed meanwhile."""
    counts: dict[float, list[str]] = {}
    locks: set[float] = set()
    for trial in found.run.trials:
        if not trial.counts:
            continue
        told = {metric.name: metric.value for metric in trial.metrics}
        if "tables_gathered" in told:
            counts.setdefault(told["tables_gathered"], []).append(str(trial.cell))
        locks |= {told[name] for name in ("locked_before", "locked_after") if name in told}
    said = []
    if len(counts) > 1:
        shown = ", ".join(
            f"{count(int(tables))} at `{cells[0]}`" for tables, cells in sorted(counts.items())[:_MOST_SENTENCES]
        )
        said.append(f"not every trial gathered the same number of tables ({shown}): their times do not compare")
    if len(locks) > 1:
        shown = " to ".join(count(int(tables)) for tables in (min(locks), max(locks)))
        said.append(f"the number of tables with locked statistics changed during the run: {shown}")
    return tuple(said)


def super_linear(found: RunAnalysis) -> tuple[str, ...]:
    """Say of cells that gain more than their share: then the baseline did other work, or worked badly."""
    odd = [summary for summary in found.cells if _is_super_linear(found, summary)]
    if not odd:
        return ()
    sure = any(summary.speedup_low is not None for summary in odd)
    names = ", ".join(f"`{summary.cell}` (efficiency {number(summary.efficiency)})" for summary in odd[:4])
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


def beyond_cpus(found: RunAnalysis, *, said: Collection[float] = ()) -> tuple[str, ...]:
    """Say which levels ask for more than the CPUs of the environment, but for those spoken of already."""
    cpus = cpu_count(found)
    levels = {scale_level(summary.cell, found.scale) or 0.0 for summary in found.cells}
    high = sorted(level for level in levels if cpus is not None and level > cpus and level not in said)
    if not high:
        return ()
    lie = "lies" if len(high) == 1 else "lie"
    return (f"{found.scale} {', '.join(map(spell_level, high))} {lie} beyond the {number(cpus)} CPUs",)


def noise_sentence(found: RunAnalysis) -> tuple[str, ...]:
    """Say how small a difference shows, and how many repeats would show one of 5 %."""
    noise = found.fit.noise
    measured = [summary for summary in found.cells if summary.n]
    repeats = min(summary.n for summary in measured)
    least = _repeats_for(len(measured), lambda _: True)
    if noise.degrees <= 0:
        return (f"repeat each cell at least {least} times: one time says nothing about the noise",)
    needed = repeats_needed(noise, len(measured))
    more = f"about {needed} repeats" if needed else f"more than {_MOST_REPEATS} repeats"
    if noise.degrees < FEWEST_DEGREES:
        known = f"by the little known of the noise, {more} would show a difference of {_TARGET}"
        return (f"repeat each cell at least {least} times; {known}",)
    smallest = noise.times(2 / repeats).minimum_detectable_pct() or 0.0
    shown = f"differences of {spelled_difference(smallest)} or more show with {repeats} repeats"
    return (shown,) if smallest <= TARGET_PCT else (f"{shown}; {more} would show {_TARGET}",)


def quieter_or_more(found: RunAnalysis) -> str:
    """Say what to do about a run that tells nothing: more repeats where they help, else a quieter machine."""
    needed = repeats_needed(found.fit.noise, sum(bool(summary.n) for summary in found.cells), _WIDE_TARGET_PCT)
    if needed and needed <= _AFFORDABLE_REPEATS:
        return f"run it again with about {needed} repeats: they would show a difference of {_WIDE_TARGET}"
    return "run it again when the machine is quiet: at this noise more repeats alone hardly help"


def spelled_difference(pct: float) -> str:
    """Spell the size of a difference between two times: `13 %`, `2.9 times`."""
    return percent(pct) if pct < 99.5 else f"{number(1 + pct / 100, 2)} times"


def repeats_needed(noise: Noise, cells: int, target_pct: float = TARGET_PCT) -> int | None:
    """Return how many repeats would tell a difference, with a power of 80 %; None above 200.

    The same formula as `Noise.minimum_detectable_pct`, solved for the number of repeats, with the degrees of
    freedom that so many whole sweeps over `cells` cells leave.
    """

    def enough(repeats: int) -> bool:
        later = Noise(noise.variance * 2 / repeats, _degrees(cells, repeats))
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
