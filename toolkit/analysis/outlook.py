"""What a measurement will need, told before it begins from the noise and the times of earlier runs.

Where no run of the same ended by itself, runs are played by the rules of `sequential`, with levels and noise drawn
as uncertain as the earlier runs leave them: the median, and the range in which nine of ten end, are what is told.
How often that holds was simulated (`docs/measurement.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from statistics import fmean, median
from statistics import variance as spread
from typing import Literal

from toolkit.analysis.doubts import FROM_A_FACTOR, spelled_difference
from toolkit.analysis.fit import FEWEST_DEGREES, SEQUENTIAL_CONFIDENCE, Components, Noise
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import NEWEST_RUNS, components_of
from toolkit.analysis.sequential import LOOKS, decide
from toolkit.design.judging import chosen
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import RunState
from toolkit.units import counted, number, percent, seconds, seconds_span, span


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run is expected to need, from earlier ones; `seconds` of the trials themselves.

    Attributes:
        repeats, seconds: the median; None where it is not known.
        repeats_between, seconds_between: nine of ten such runs end between them.
        runs: how many earlier runs it was found from.
        cut_by: what probably ends it before enough is known; None if nothing does.
        detects: the difference in per cent that it then detects, between which nine of ten such runs lie.
    """

    repeats: int | None
    seconds: float | None
    runs: int
    repeats_between: tuple[int, int] | None = None
    seconds_between: tuple[float, float] | None = None
    cut_by: Literal["repeats", "budget"] | None = None
    detects: NineOfTen | None = None

    def sentence(self, detect_pct: float) -> str:
        """Say it."""
        what = f"a difference of {detect_pct:g} % is detected or excluded, after {LOOKS[0]} to {LOOKS[-1]} repeats"
        if self.repeats is None:
            return f"it ends when {what}; how many it needs is not known: no such run is stored"
        by = f"by the noise of {counted(self.runs, 'earlier run')}"
        takes = f", {seconds(self.seconds)}" if self.seconds else ""
        repeats = counted(self.repeats, "repeat")
        if self.cut_by is None:
            return f"it ends when {what}; {by} about {repeats}{takes}{self._between()}"
        if self.detects is not None:
            detects = f"; so many detect a difference of {self.detects.spelled()}"
        else:
            detects = "; so few detect nothing" if self.cut_by == "budget" else ""
        room = " than the budget has room for" if self.cut_by == "budget" else ""
        return (
            f"it ends when {what}; {by} more are needed{room}, so it will probably end inconclusive, after about "
            f"{repeats}{takes}{self._between()}{detects}"
        )

    def _between(self) -> str:
        if self.repeats_between is None:
            return ""
        low, high = self.repeats_between
        repeats = counted(high, "repeat") if low == high else f"{low} to {counted(high, 'repeat')}"
        times = f", {seconds_span(*self.seconds_between)}" if self.seconds_between else ""
        return f" (nine of ten such runs: {repeats}{times})"


@dataclass(frozen=True, slots=True)
class NineOfTen:
    """The middle of what was drawn, and between what nine of ten lie."""

    low: float
    middle: float
    high: float

    @staticmethod
    def of(drawn: Iterable[float]) -> NineOfTen:
        """Order what was drawn."""
        shown = sorted(drawn)
        return NineOfTen(shown[len(shown) // 20], shown[len(shown) // 2], shown[-1 - len(shown) // 20])

    def spelled(self) -> str:
        """Spell differences in per cent; those of more than double as factors, as `spelled_difference` does."""
        if self.middle < FROM_A_FACTOR:
            between = span(percent(self.low), spelled_difference(self.high))
            return f"about {percent(self.middle)} (nine of ten such runs: {between})"
        low, middle, high = (number(1 + pct / 100, 2) for pct in (self.low, self.middle, self.high))
        return f"about a factor of {middle} (nine of ten such runs: {low} to {high})"


def expected(experiment: Experiment, cells: Sequence[Cell], history: Sequence[RunRecord]) -> Expected:
    """Predict what a run that is no search needs, from earlier runs of the same options on its database.

    Such runs are played: by the times of its configurations and the noise that the earlier runs show, and by how
    uncertain both are. Where runs of the same ended by themselves, their repeats and times are told.

    Args:
        experiment: what is about to run.
        cells: its configurations.
        history: earlier runs of its operation.
    """
    judged = Judged(chosen(experiment))
    same = [run for run in history if run.trials and run.head.experiment.options == experiment.options]
    noise = _RunNoise.of(same, judged)
    if not noise.pooled.rest_degrees or experiment.detect_pct is None:
        return Expected(None, None, 0)
    took = _took(cells, same)
    known, warm = len(took) == len(cells), experiment.warmup * sum(took.values())
    budget = math.inf if experiment.budget_seconds is None else experiment.budget_seconds
    rule = _Rule(
        experiment.detect_pct,
        [look for look in LOOKS if look <= max(experiment.repeat, LOOKS[0])],
        [took.get(cell, 0.0) for cell in cells],
        budget - warm if known else math.inf,
    )
    played = _played(rule, _levels(cells, same, judged), noise)
    repeats = NineOfTen.of(each.repeats for each in played)
    time = NineOfTen.of(each.seconds + warm for each in played)
    cut = [each for each in played if not each.is_settled]
    is_open = len(cut) > len(played) / 2
    told = Expected(
        round(repeats.middle),
        time.middle if known else None,
        len(same),
        (round(repeats.low), round(repeats.high)),
        (time.low, time.high) if known else None,
    )
    ended = [run for run in same if _ended_alike(run, experiment, cells)]
    lasted = [sum(map(_seconds, run.trials)) for run in ended]
    if ended and median(lasted) <= budget:
        told = _told_by(told, [max(trial.repeat for trial in run.trials) for run in ended], lasted)
        is_open = sum(not decide(run).reason for run in ended) > len(ended) / 2
    if not is_open:
        return told
    shown = [each.detects_pct for each in cut if each.detects_pct is not None]
    cut_by: Literal["repeats", "budget"] = "budget" if (told.repeats or 0) < experiment.repeat else "repeats"
    return replace(told, cut_by=cut_by, detects=NineOfTen.of(shown) if len(shown) > len(cut) / 2 else None)


def _told_by(played: Expected, repeats: Sequence[int], lasted: Sequence[float]) -> Expected:
    """Tell what runs of the same took that ended by themselves, with a range that holds played ones, too."""
    few, many = played.repeats_between or (repeats[0], repeats[0])
    least, most = played.seconds_between or (lasted[0], lasted[0])
    swept, took = NineOfTen.of(map(float, repeats)), NineOfTen.of(lasted)
    return replace(
        played,
        repeats=round(median(repeats)),
        seconds=median(lasted),
        runs=len(repeats),
        repeats_between=(min(few, round(swept.low)), max(many, round(swept.high))),
        seconds_between=(min(least, took.low), max(most, took.high)),
    )


@dataclass(frozen=True, slots=True)
class Detectable:
    """The difference in per cent that a fixed number of repeats is expected to detect, by so many earlier runs.

    `seconds` are those of all trials, None where a configuration was never run.
    """

    repeats: int
    detects: NineOfTen
    seconds: float | None
    runs: int

    def sentence(self) -> str:
        """Say it."""
        takes = f"; they take about {seconds(self.seconds)}" if self.seconds else ""
        return (
            f"by the noise of {counted(self.runs, 'earlier run')} {self.repeats} repeats detect a difference of "
            f"{self.detects.spelled()}{takes}"
        )


def detectable(experiment: Experiment, cells: Sequence[Cell], history: Sequence[RunRecord]) -> Detectable | None:
    """Predict what difference a fixed number of repeats shows; None where nothing is known of the noise.

    The variance that the run will show is to that of the earlier ones as two estimates of one variance are.

    Args:
        experiment: what is about to run.
        cells: its configurations.
        history: earlier runs of its operation.
    """
    same = [run for run in history if run.trials and run.head.experiment.options == experiment.options]
    noise, degrees = _RunNoise.of(same, Judged(chosen(experiment))), (len(cells) - 1) * (experiment.repeat - 1)
    if degrees < FEWEST_DEGREES or not noise.pooled.rest_degrees:
        return None
    random, shown = Random(len(cells)), list[float]()  # noqa: S311 (no secret)
    for _ in range(_PLAYS):
        variance = noise.drawn(random)
        seen = variance * random.gammavariate(degrees / 2, 2) / degrees
        shown.append(Noise(seen * 2 / experiment.repeat, degrees, len(cells)).minimum_detectable_pct() or 0.0)
    took = _took(cells, same)
    time = (experiment.repeat + experiment.warmup) * sum(took.values()) if len(took) == len(cells) else None
    return Detectable(experiment.repeat, NineOfTen.of(shown), time, len(same))


# -- runs that are played -----------------------------------------------------------------------------------------
_PLAYS, _FEWEST_PLAYS, _PLAYED_TRIALS = 200, 5, 5_000
_FEWEST_RUNS = 5
"""Runs from which it is known how much their noise varies."""
_UNKNOWN = (0.02, 0.1, 0.4)
"""How far a configuration that was never run may be from the others, on the logarithmic scale."""


@dataclass(frozen=True, slots=True)
class _Played:
    """How a run that was played ended; `detects_pct` is None where it told nothing, being too short."""

    repeats: int
    seconds: float
    is_settled: bool
    detects_pct: float | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a run that is played obeys.

    Attributes:
        detect_pct: the difference that is to be detected or excluded.
        looks: the numbers of repeats after which it is judged.
        seconds: that a trial of each configuration takes.
        budget: the seconds that all trials may take.
    """

    detect_pct: float
    looks: Sequence[int]
    seconds: Sequence[float]
    budget: float

    def play(self, random: Random, levels: Sequence[float], variance: float) -> _Played:
        """Play a run of configurations of these levels, on the logarithmic scale."""
        sums, counts = [0.0] * len(levels), [0] * len(levels)
        active, squares, repeats, time = list(range(len(levels))), 0.0, 0, 0.0
        degrees = 1 - len(levels)
        limit, ended = math.log1p(self.detect_pct / 100), _Played(0, 0.0, is_settled=False)
        for look in self.looks:
            sweep = sum(self.seconds[place] for place in active)
            room = (self.budget - time) / sweep if sweep else math.inf
            # the first sweep is run whatever it takes
            more = int(min(look - repeats, max(room, 0 if repeats else 1)))
            if not more:
                break
            repeats += more
            for place in active:
                sums[place] += random.gauss(levels[place] * more, math.sqrt(variance * more))
                counts[place] = repeats
                time += self.seconds[place] * (more + random.gauss(0, math.sqrt(variance * more)))
            before, degrees = max(degrees, 0), degrees + (len(active) - 1) * more
            squares += variance * random.gammavariate((degrees - before) / 2, 2) if degrees > before else 0.0
            ended = _Played(repeats, time, is_settled=False)
            if degrees < FEWEST_DEGREES:
                continue
            reach = _reach(len(levels), degrees)
            means = [total / count for total, count in zip(sums, counts, strict=True)]
            best = min(range(len(means)), key=means.__getitem__)
            error, is_open, given_up = squares / degrees, False, set[int]()
            for place in (each for each in active if each != best):
                half = reach * math.sqrt(error * (1 / counts[place] + 1 / counts[best]))
                apart = means[place] - means[best]
                if apart - half > limit:
                    given_up.add(place)
                is_open = is_open or (apart - half <= 0 and apart + half > limit)
            ended = _Played(repeats, time, not is_open, _detects(error * 2 / repeats, degrees, len(levels)))
            if not is_open or repeats < look:
                break
            active = [place for place in active if place not in given_up]
        return ended


@cache
def _reach(cells: int, degrees: int) -> float:
    """Return how many standard errors an interval of a look reaches to either side."""
    interval = Noise(1.0, degrees, cells, confidence=SEQUENTIAL_CONFIDENCE).interval(0.0)
    return math.log(interval.high) if interval else math.inf


def _detects(variance: float, degrees: float, cells: int) -> float | None:
    return Noise(variance, degrees, cells, confidence=SEQUENTIAL_CONFIDENCE).minimum_detectable_pct()


@dataclass(frozen=True, slots=True)
class _RunNoise:
    """What is known of the noise within runs: pooled, and of each run where there are enough of them.

    Attributes:
        pooled: over all earlier runs.
        logs: the logarithms of the variances of the newest runs; none where these differ by chance alone.
        chance: how much they vary by chance, the trigamma function of half the degrees of freedom.
    """

    pooled: Components
    logs: tuple[float, ...] = ()
    chance: float = 0.0

    @classmethod
    def of(cls, runs: Sequence[RunRecord], judged: Judged) -> _RunNoise:
        """Look at runs, the newest first."""
        logs, chance = [], []
        for run in runs[:NEWEST_RUNS]:
            each = components_of([run], judged)
            if each.rest_degrees and each.rest_squares:
                half = each.rest_degrees / 2
                # what the logarithm of a variance is too low by, on average
                logs.append(math.log(each.rest_squares / each.rest_degrees) + 1 / each.rest_degrees)
                chance.append(1 / half + 1 / (2 * half**2) + 1 / (6 * half**3))
        pooled = components_of(runs, judged)
        varies = len(logs) >= _FEWEST_RUNS and spread(logs) > fmean(chance)
        return cls(pooled, tuple(logs), fmean(chance)) if varies else cls(pooled)

    def drawn(self, random: Random) -> float:
        """Draw the variance of a run to come, as uncertain as the earlier ones leave it."""
        if not self.logs:
            return self.pooled.rest_squares / random.gammavariate(self.pooled.rest_degrees / 2, 2)
        degrees = len(self.logs) - 1
        total = spread(self.logs) * degrees / random.gammavariate(degrees / 2, 2)
        middle = random.gauss(fmean(self.logs), math.sqrt(total / len(self.logs)))
        return math.exp(random.gauss(middle, math.sqrt(max(0.0, total - self.chance))))


def _played(rule: _Rule, levels: Sequence[tuple[float, int]], noise: _RunNoise) -> list[_Played]:
    """Play runs whose noise, and whose values of the configurations, are drawn from what is known of them.

    Args:
        rule: of the runs.
        levels: the mean of each configuration on the logarithmic scale, lower if better, and of how many trials.
        noise: what is known of it.
    """
    single, sweeps = noise.pooled.single(), max(1, *(n for _, n in levels))
    random, found = Random(len(levels)), []  # noqa: S311 (no secret)
    for _ in range(max(_FEWEST_PLAYS, min(_PLAYS, _PLAYED_TRIALS // len(levels)))):
        variance = noise.drawn(random)
        unknown = random.choice(_UNKNOWN)
        drawn = [random.gauss(mean, math.sqrt(variance / n) if n else unknown) for mean, n in levels]
        took = [
            each * math.exp(random.gauss(0, math.sqrt(variance / max(n, 1))))
            for each, (_, n) in zip(rule.seconds, levels, strict=True)
        ]
        # what all configurations of a sweep share may make all of a run longer
        shared = single.variance * single.degrees / random.gammavariate(single.degrees / 2, 2) / sweeps
        longer = math.exp(random.gauss(0, math.sqrt(shared)))
        found.append(replace(rule, seconds=[each * longer for each in took]).play(random, drawn, variance))
    return found


def _levels(cells: Sequence[Cell], runs: Sequence[RunRecord], judged: Judged) -> list[tuple[float, int]]:
    """Return the mean log value of each configuration, lower if better, and its trials; 0 where never run."""
    logs: dict[Cell, list[float]] = {}
    for seen in (seen for run in runs for seen in judged.observed(run.trials)):
        logs.setdefault(seen.cell, []).append(math.log(seen.value) * judged.rank(1.0))
    known = [fmean(logs[cell]) for cell in cells if cell in logs]
    middle = median(known) if known else 0.0
    return [(fmean(logs[cell]), len(logs[cell])) if cell in logs else (middle, 0) for cell in cells]


def _took(cells: Sequence[Cell], runs: Sequence[RunRecord]) -> dict[Cell, float]:
    """Return the seconds that a trial of each configuration takes, off the clock, too; of those that were run."""
    took: dict[Cell, list[float]] = {}
    for trial in (trial for run in runs for trial in run.trials):
        took.setdefault(trial.cell, []).append(_seconds(trial))
    return {cell: median(took[cell]) for cell in cells if cell in took}


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


def _seconds(trial: TrialRecord) -> float:
    return (trial.ended_at - trial.began_at).total_seconds()
