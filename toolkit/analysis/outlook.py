"""What a measurement will need, told before it begins from the noise and the times of earlier runs.

Runs are played by the rules of `sequential` (`played`), and runs of the same that ended by themselves count beside
them. One number is told only where enough of all these lie near it, else the range alone in which nine of ten end.
How often both hold was simulated (`benchmarks/predictions.py`, `docs/measurement.md`).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import median, median_low
from typing import Literal

from toolkit.analysis.cells import analyse
from toolkit.analysis.doubts import FROM_A_FACTOR, spelled_difference
from toolkit.analysis.fit import FEWEST_DEGREES, Noise
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import NEWEST_RUNS
from toolkit.analysis.played import KnownNoise, KnownTimes, Played, Rule, levels_of, played, seconds_of
from toolkit.analysis.sequential import LOOKS, decide
from toolkit.design.judging import chosen
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import RunState
from toolkit.units import counted, number, seconds, seconds_span, span

NEAR = 0.25
"""A number is right if what came differs from it by no more than this part of what came."""
SURE = 0.9
"""The share of what was played that must lie near a number before it is told; chosen by simulation."""
_NEARLY_ALL = 0.95
"""The share from which the median is told, though another number may lie near some more."""
_OUTSIDE = 0.04
"""The share of what was played that a range leaves out on either side; with 0.05 it held in 88 % only."""
_AS_PLAYED = 10
"""A run of the same that ended by itself counts as much as so many that were played."""
_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is expected: between what nine of ten lie, and one number where it is known well enough, else None."""

    number: float | None
    low: float
    high: float

    @staticmethod
    def of(drawn: Iterable[float]) -> Forecast:
        """Look at what was drawn."""
        shown = sorted(drawn)
        middle, wide = median_low(shown), (1 + NEAR) / (1 - NEAR)
        # each window that one number is right for, and in it the number closest to the median
        upper = [bisect_right(shown, least * wide) - 1 for least in shown]
        numbers = [
            max((1 - NEAR) * shown[last], min(middle, (1 + NEAR) * least))
            for least, last in zip(shown, upper, strict=True)
        ]
        return Forecast._told(numbers, shown)

    @staticmethod
    def of_repeats(drawn: Iterable[int]) -> Forecast:
        """Look at numbers of repeats."""
        shown = sorted(drawn)
        return Forecast._told(range(shown[0], shown[-1] + 1), shown)

    @staticmethod
    def _told(numbers: Iterable[float], shown: Sequence[float]) -> Forecast:
        """Tell the median where it is right for nearly all, else the number that is right for most."""
        middle, out = median_low(shown), int(len(shown) * _OUTSIDE)
        best = middle if _sure(middle, shown) >= _NEARLY_ALL else max(numbers, key=lambda told: _near(told, shown))
        is_told = best < math.inf and _sure(best, shown) >= SURE
        return Forecast(best if is_told else None, shown[out], shown[-1 - out])

    def spelled(self) -> str:
        """Spell differences in per cent; those of more than double as factors, as `spelled_difference` does."""
        told = None if self.number is None else spelled_difference(self.number)
        if self.low >= FROM_A_FACTOR and self.high < math.inf:
            factors = _between(*(number(1 + pct / 100, 2) for pct in (self.low, self.high)))
            return _about(told, factors if told else f"a factor of {factors}")
        return _about(told, _between(spelled_difference(self.low), spelled_difference(self.high)))


def _near(told: float, shown: Sequence[float]) -> int:
    """Count what a number is right for, of what was drawn, in order."""
    return bisect_right(shown, told / (1 - NEAR)) - bisect_left(shown, told / (1 + NEAR))


def _sure(told: float, shown: Sequence[float]) -> float:
    """Return the share of what was drawn that a number is right for; few draws are never sure."""
    return (_near(told, shown) + 1) / (len(shown) + 2)


def _between(low: str, high: str) -> str:
    return low if low == high else span(low, high)


def _about(told: str | None, between: str) -> str:
    if told is None:
        return f"{between} in nine of ten such runs: too uncertain for one number"
    return f"about {told}" if told == between else f"about {told} (nine of ten such runs: {between})"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run is expected to need and to detect, from earlier ones.

    Attributes:
        repeats: None where nothing is known.
        seconds: of the trials themselves; None where a configuration was never run.
        detects: the difference in per cent that is detected or excluded at its end: what was asked for, if that is
            known by then; infinite where so few repeats detect nothing.
        runs: how many earlier runs it was found from.
        inconclusive: the share of such runs that end before what was asked for is known.
        cut_by: what ends those.
    """

    repeats: Forecast | None
    seconds: Forecast | None
    detects: Forecast | None
    runs: int
    inconclusive: float = 0.0
    cut_by: Literal["repeats", "budget"] | None = None

    def sentence(self, detect_pct: float) -> str:
        """Say it."""
        what = f"a difference of {detect_pct:g} % is detected or excluded, after {LOOKS[0]} to {LOOKS[-1]} repeats"
        if self.repeats is None or self.detects is None:
            return f"it ends when {what}; how many it needs is not known: no such run is stored"
        by, amount = f"by the noise of {counted(self.runs, 'earlier run')}", self._amount(self.repeats)
        if self.cut_by is None:
            return f"it ends when {what}; {by} {amount}"
        room = " than the budget has room for" if self.cut_by == "budget" else ""
        if self.inconclusive > 0.5:
            needed = f"more are needed{room}, so it will probably end inconclusive, after {amount}"
        else:
            needed = f"{amount}; more may be needed{room}, so it may end inconclusive"
        return f"it ends when {what}; {by} {needed}; {self._detects(self.detects)}"

    def _amount(self, repeats: Forecast) -> str:
        told = [] if repeats.number is None else [counted(repeats.number, "repeat")]
        most = counted(repeats.high, "repeat")
        between = [most if repeats.low == repeats.high else f"{number(repeats.low)} to {most}"]
        if self.seconds is not None:
            told += [] if self.seconds.number is None else [seconds(self.seconds.number)]
            between += [seconds_span(self.seconds.low, self.seconds.high)]
        return _about(", ".join(told) or None, ", ".join(between))

    def _detects(self, detects: Forecast) -> str:
        if detects.high < math.inf:
            return f"at its end it detects a difference of {detects.spelled()}"
        return "so few detect nothing" if detects.low == math.inf else "so few may detect nothing"


def expected(experiment: Experiment, cells: Sequence[Cell], history: Sequence[RunRecord]) -> Expected:
    """Predict what a run that is no search needs, from earlier runs of the same options on its database.

    Such runs are played: by the times of its configurations and the noise that the earlier runs show, and by how
    uncertain both are. Runs of the same that ended by themselves count beside those.

    Args:
        experiment: what is about to run.
        cells: its configurations.
        history: earlier runs of its operation.
    """
    found = _ends(experiment, cells, history)
    if experiment.detect_pct is None or not found.ends:
        return Expected(None, None, None, 0)
    asked = experiment.detect_pct
    detects = [asked if each.is_settled else max(asked, _detected(each)) for each in found.ends]
    cut = [each.repeats for each in found.ends if not each.is_settled]
    inconclusive = len(cut) / len(found.ends)
    cut_by: Literal["repeats", "budget"] | None = None
    if inconclusive > _OUTSIDE:
        cut_by = "budget" if median(cut) < experiment.repeat else "repeats"
    return Expected(
        Forecast.of_repeats(each.repeats for each in found.ends),
        Forecast.of(each.seconds for each in found.ends) if found.is_timed else None,
        Forecast.of(detects),
        found.runs,
        inconclusive,
        cut_by,
    )


def _detected(end: Played) -> float:
    return math.inf if end.detects_pct is None else end.detects_pct


@dataclass(frozen=True, slots=True)
class _Ends:
    """How runs end that were played, and those of the same that ended by themselves."""

    ends: Sequence[Played]
    runs: int
    is_timed: bool


def _ends(experiment: Experiment, cells: Sequence[Cell], history: Sequence[RunRecord]) -> _Ends:
    same, judged = _same(experiment, history), Judged(chosen(experiment))
    noise = KnownNoise.of(same, judged)
    if not noise.pooled.rest_degrees or experiment.detect_pct is None:
        return _Ends((), 0, False)
    times = KnownTimes.of(cells, same, noise.pooled)
    warm = experiment.warmup * sum(times.seconds)
    budget = math.inf if experiment.budget_seconds is None else experiment.budget_seconds
    rule = Rule(
        experiment.detect_pct,
        [look for look in LOOKS if look <= max(experiment.repeat, LOOKS[0])],
        budget - warm if times.are_whole else math.inf,
    )
    ends = [
        replace(each, seconds=each.seconds + warm)
        for each in played(rule, levels_of(cells, same, judged), noise, times)
    ]
    ended = [_ended(run) for run in same[:NEWEST_RUNS] if _ended_alike(run, experiment, cells)]
    if all(each.seconds <= budget for each in ended):
        ends += ended * _AS_PLAYED
    return _Ends(ends, len(same), times.are_whole)


def _same(experiment: Experiment, history: Sequence[RunRecord]) -> list[RunRecord]:
    return [run for run in history if run.trials and run.head.experiment.options == experiment.options]


def _ended_alike(run: RunRecord, experiment: Experiment, cells: Sequence[Cell]) -> bool:
    """Whether a run asked for the same of the same configurations, and ended for what it found."""
    asked = run.head.experiment
    return (
        run.head.state is RunState.DONE
        and not asked.search
        and (asked.detect_pct, asked.warmup) == (experiment.detect_pct, experiment.warmup)
        and (asked.judge, asked.volume) == (experiment.judge, experiment.volume)
        and {trial.cell for trial in run.trials} == set(cells)
        and (bool(decide(run).reason) or max(trial.repeat for trial in run.trials) >= asked.repeat)
    )


def _ended(run: RunRecord) -> Played:
    """Tell how a run ended as if it had been played."""
    repeats = max(trial.repeat for trial in run.trials)
    detects = analyse(run).fit.noise.times(2 / repeats).minimum_detectable_pct()
    return Played(repeats, sum(map(seconds_of, run.trials)), bool(decide(run).reason), detects)


@dataclass(frozen=True, slots=True)
class Detectable:
    """The difference in per cent that a fixed number of repeats is expected to detect, by so many earlier runs.

    `seconds` are those of all trials, None where a configuration was never run.
    """

    repeats: int
    detects: Forecast
    seconds: Forecast | None
    runs: int

    def sentence(self) -> str:
        """Say it."""
        takes = f"; they take {self._takes(self.seconds)}" if self.seconds else ""
        return (
            f"by the noise of {counted(self.runs, 'earlier run')} {self.repeats} repeats detect a difference of "
            f"{self.detects.spelled()}{takes}"
        )

    def _takes(self, took: Forecast) -> str:
        told = None if took.number is None else seconds(took.number)
        return _about(told, _between(seconds(took.low), seconds(took.high)))


def detectable(experiment: Experiment, cells: Sequence[Cell], history: Sequence[RunRecord]) -> Detectable | None:
    """Predict what difference a fixed number of repeats shows; None where nothing is known of the noise.

    The variance that the run will show is to that of the earlier ones as two estimates of one variance are.

    Args:
        experiment: what is about to run.
        cells: its configurations.
        history: earlier runs of its operation.
    """
    same, judged = _same(experiment, history), Judged(chosen(experiment))
    noise, degrees = KnownNoise.of(same, judged), (len(cells) - 1) * (experiment.repeat - 1)
    if degrees < FEWEST_DEGREES or not noise.pooled.rest_degrees:
        return None
    times, sweeps = KnownTimes.of(cells, same, noise.pooled), experiment.repeat + experiment.warmup
    random, shown, took = Random(len(cells)), list[float](), list[float]()  # noqa: S311 (no secret)
    for _ in range(_DRAWS):
        variance = noise.drawn(random)
        seen = variance * random.gammavariate(degrees / 2, 2) / degrees
        shown.append(Noise(seen * 2 / experiment.repeat, degrees, len(cells)).minimum_detectable_pct() or 0.0)
        each = times.drawn(random, variance)
        took.append(sum(one * sweeps * math.exp(random.gauss(0, math.sqrt(variance / sweeps))) for one in each))
    time = Forecast.of(took) if times.are_whole else None
    return Detectable(experiment.repeat, Forecast.of(shown), time, len(same))
