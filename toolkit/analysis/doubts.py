"""What a reader of a run should keep in mind: outcomes that are not ok, noise, an odd baseline, too few CPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolkit.analysis.cells import CellSummary, RunAnalysis, scale_level
from toolkit.analysis.fit import FEWEST_DEGREES, Noise
from toolkit.model.values import Cell, spell_level
from toolkit.model.words import Outcome
from toolkit.units import count, number, percent, seconds, seconds_span

TARGET_PCT = 5.0
"""The difference a DBA wants told when nothing could be."""

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


def beyond_cpus(found: RunAnalysis) -> tuple[str, ...]:
    """Say which levels ask for more than the CPUs of the environment."""
    cpus = found.run.environment.get("cpu_count")
    if isinstance(cpus, bool) or not isinstance(cpus, int | float) or cpus < 1:
        return ()
    beyond = sorted({level for cell in _cells(found) if (level := scale_level(cell, found.scale) or 0) > cpus})
    if not beyond:
        return ()
    levels = ", ".join(spell_level(level) for level in beyond)
    return (f"{found.scale} {levels}: more than the {number(int(cpus))} CPUs there are",)


def _cells(found: RunAnalysis) -> Iterable[Cell]:
    return (summary.cell for summary in found.cells)


def noise_sentence(found: RunAnalysis) -> tuple[str, ...]:
    """Say how small a difference could be told, and how many repeats would tell one of 5 %."""
    noise = found.fit.noise
    measured = [summary for summary in found.cells if summary.n]
    repeats = min(summary.n for summary in measured)
    if noise.degrees <= 0:
        least = _repeats_for(len(measured), lambda _: True)
        return (f"with {repeats} of each cell there is no measure of the noise: use at least {least} repeats",)
    smallest = noise.times(2 / repeats).smallest_tellable_pct() or 0.0
    needed = repeats_needed(noise, len(measured))
    more = f"about {needed} repeats" if needed else f"more than {_MOST_REPEATS} repeats"
    told = f"the smallest difference that {repeats} repeats could tell is {percent(smallest)}"
    if noise.degrees < FEWEST_DEGREES:
        return (f"too few repeats to know the noise; {more} would tell {percent(TARGET_PCT)}",)
    if smallest <= TARGET_PCT:
        return (told,)
    return (f"{told}; {more} would tell {percent(TARGET_PCT)}",)


def repeats_needed(noise: Noise, cells: int, target_pct: float = TARGET_PCT) -> int | None:
    """Return how many repeats would tell a difference, with a power of 80 %; None above 200.

    The same formula as `Noise.smallest_tellable_pct`, solved for the number of repeats, with the degrees of
    freedom that so many whole sweeps over `cells` cells leave.
    """

    def enough(repeats: int) -> bool:
        later = Noise(noise.variance * 2 / repeats, _degrees(cells, repeats))
        smallest = later.smallest_tellable_pct()
        return smallest is not None and smallest <= target_pct

    return _repeats_for(cells, enough)


def _repeats_for(cells: int, enough: Callable[[int], bool]) -> int | None:
    candidates = range(2, _MOST_REPEATS + 1)
    return next((n for n in candidates if _degrees(cells, n) >= FEWEST_DEGREES and enough(n)), None)


def _degrees(cells: int, repeats: int) -> int:
    return (max(cells, 2) - 1) * (repeats - 1)
