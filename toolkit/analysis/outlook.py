"""What a measurement will need, told before it begins from the noise and the times of earlier runs.

Where no run of the same ended by itself, runs are played by the rules of `sequential`, with levels and noise drawn
as uncertain as the earlier runs leave them: the median, and the range in which nine of ten end, are what is told.
How often that holds was simulated (`docs/measurement.md`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean, median

from toolkit.analysis.fit import FEWEST_DEGREES, SEQUENTIAL_CONFIDENCE, Components, Noise
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import components_of
from toolkit.analysis.sequential import LOOKS, decide
from toolkit.design.judging import chosen
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import RunState
from toolkit.units import counted, percent, seconds, seconds_span, span


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run is expected to need, from earlier ones; `seconds` of the trials themselves.

    Attributes:
        repeats, seconds: the median; None where it is not known, or the most repeats are probably not enough.
        repeats_between, seconds_between: nine of ten such runs end between them; None where the same was run.
        runs: how many earlier runs it was found from.
    """

    repeats: int | None
    seconds: float | None
    runs: int
    repeats_between: tuple[int, int] | None = None
    seconds_between: tuple[float, float] | None = None

    def sentence(self, detect_pct: float) -> str:
        """Say it."""
        what = f"a difference of {detect_pct:g} % is detected or excluded, after {LOOKS[0]} to {LOOKS[-1]} repeats"
        if not self.runs:
            return f"it ends when {what}; how many it needs is not known: no such run is stored"
        by = f"by the noise of {counted(self.runs, 'earlier run')}"
        if self.repeats is None:
            return f"it ends when {what}; {by} more are needed, so it will probably end inconclusive"
        takes = f", {seconds(self.seconds)}" if self.seconds else ""
        return f"it ends when {what}; {by} about {self.repeats}{takes}{self._between()}"

    def _between(self) -> str:
        if self.repeats_between is None or self.repeats_between[0] == self.repeats_between[1]:
            return ""
        low, high = self.repeats_between
        times = f", {seconds_span(*self.seconds_between)}" if self.seconds_between else ""
        return f" (nine of ten such runs: {low} to {high}{times})"


def expected(experiment: Experiment, cells: Sequence[Cell], history: Sequence[RunRecord]) -> Expected:
    """Predict what a run that is no search needs, from earlier runs of the same options on its database.

    Without runs of the same that ended by themselves, such runs are played: by the times of its configurations and
    the noise that the earlier runs show, and by how uncertain both are.

    Args:
        experiment: what is about to run.
        cells: its configurations.
        history: earlier runs of its operation.
    """
    judged = Judged(chosen(experiment))
    same = [run for run in history if run.trials and run.head.experiment.options == experiment.options]
    components = components_of(same, judged)
    if not components.rest_degrees or experiment.detect_pct is None:
        return Expected(None, None, 0)
    ended = [run for run in same if _ended_alike(run, experiment, cells)]
    if ended:
        swept = round(median(max(trial.repeat for trial in run.trials) for run in ended))
        return Expected(swept, median(sum(map(_seconds, run.trials)) for run in ended), len(ended))
    took = _took(cells, same)
    rule = _Rule(
        experiment.detect_pct, _halves(len(cells), experiment.repeat), [took.get(cell, 0.0) for cell in cells]
    )
    played = _played(rule, _levels(cells, same, judged), components)
    repeats, times = sorted(each for each, _ in played), sorted(time for _, time in played)
    warm = experiment.warmup * sum(took.values())
    low, middle, high = len(played) // 20, len(played) // 2, -1 - len(played) // 20
    known = len(took) == len(cells)
    return Expected(
        repeats[middle] if repeats[middle] <= LOOKS[-1] else None,
        times[middle] + warm if known else None,
        len(same),
        (repeats[low], min(repeats[high], LOOKS[-1])),
        (times[low] + warm, times[high] + warm) if known else None,
    )


@dataclass(frozen=True, slots=True)
class Detectable:
    """The difference in per cent that a fixed number of repeats is expected to detect, by so many earlier runs.

    `seconds` are those of all trials, None where a configuration was never run.
    """

    repeats: int
    middle: float
    between: tuple[float, float]
    seconds: float | None
    runs: int

    def sentence(self) -> str:
        """Say it."""
        low, high = map(percent, self.between)
        takes = f"; they take about {seconds(self.seconds)}" if self.seconds else ""
        return (
            f"by the noise of {counted(self.runs, 'earlier run')} {self.repeats} repeats detect a difference of "
            f"about {percent(self.middle)} (nine of ten such runs: {span(low, high)}){takes}"
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
    components = components_of(same, Judged(chosen(experiment)))
    degrees = (len(cells) - 1) * (experiment.repeat - 1)
    if degrees < FEWEST_DEGREES or not components.rest_degrees:
        return None
    random, shown = Random(len(cells)), list[float]()  # noqa: S311 (no secret)
    for _ in range(_PLAYS):
        variance = components.rest_squares / random.gammavariate(components.rest_degrees / 2, 2)
        seen = variance * random.gammavariate(degrees / 2, 2) / degrees
        shown.append(Noise(seen * 2 / experiment.repeat, degrees, len(cells)).minimum_detectable_pct() or 0.0)
    shown.sort()
    low, middle, high = (shown[place] for place in (len(shown) // 20, len(shown) // 2, -1 - len(shown) // 20))
    took = _took(cells, same)
    time = (experiment.repeat + experiment.warmup) * sum(took.values()) if len(took) == len(cells) else None
    return Detectable(experiment.repeat, middle, (low, high), time, len(same))


# -- runs that are played -----------------------------------------------------------------------------------------
_PLAYS, _FEWEST_PLAYS, _PLAYED_TRIALS = 200, 5, 5_000
_UNKNOWN = (0.02, 0.1, 0.4)
"""How far a configuration that was never run may be from the others, on the logarithmic scale."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a run that is played obeys.

    Attributes:
        detect_pct: the difference that is to be detected or excluded.
        halves: of each look the number of repeats, the degrees of freedom, and how many standard errors an
            interval reaches to either side.
        seconds: that a trial of each configuration takes.
    """

    detect_pct: float
    halves: Sequence[tuple[int, int, float]]
    seconds: Sequence[float]

    def play(self, random: Random, levels: Sequence[float], variance: float) -> tuple[int, float]:
        """Return after how many repeats a run ends (more than the most: it does not), and its seconds."""
        sums, counts = [0.0] * len(levels), [0] * len(levels)
        active, squares, degrees, repeats, time = list(range(len(levels))), 0.0, 0, 0, 0.0
        limit = math.log1p(self.detect_pct / 100)
        for look, of_look, reach in self.halves:
            more = look - repeats
            for place in active:
                sums[place] += random.gauss(levels[place] * more, math.sqrt(variance * more))
                counts[place] = look
                time += self.seconds[place] * (more + random.gauss(0, math.sqrt(variance * more)))
            squares += variance * random.gammavariate((of_look - degrees) / 2, 2)
            degrees, repeats = of_look, look
            if degrees < FEWEST_DEGREES:
                continue
            means = [total / count for total, count in zip(sums, counts, strict=True)]
            best = min(range(len(means)), key=means.__getitem__)
            error, is_open, given_up = squares / degrees, False, set[int]()
            for place in (each for each in active if each != best):
                half = reach * math.sqrt(error * (1 / counts[place] + 1 / counts[best]))
                apart = means[place] - means[best]
                if apart - half > limit:
                    given_up.add(place)
                is_open = is_open or (apart - half <= 0 and apart + half > limit)
            if not is_open:
                return look, time
            active = [place for place in active if place not in given_up]
        return LOOKS[-1] + 1, time


def _halves(cells: int, most: int) -> list[tuple[int, int, float]]:
    """Return each look with its degrees of freedom, and how many standard errors an interval then reaches."""
    found = []
    for look in (look for look in LOOKS if look <= max(most, LOOKS[0])):
        degrees = (max(cells, 2) - 1) * (look - 1)
        interval = Noise(1.0, degrees, max(cells, 2), confidence=SEQUENTIAL_CONFIDENCE).interval(0.0)
        found.append((look, degrees, math.log(interval.high) if interval else math.inf))
    return found


def _played(rule: _Rule, levels: Sequence[tuple[float, int]], components: Components) -> list[tuple[int, float]]:
    """Play runs whose noise, and whose values of the configurations, are drawn from what is known of them.

    Args:
        rule: of the runs.
        levels: the mean of each configuration on the logarithmic scale, lower if better, and of how many trials.
        components: what is known of the noise.
    """
    single, sweeps = components.single(), max(1, *(n for _, n in levels))
    random, found = Random(len(levels)), []  # noqa: S311 (no secret)
    for _ in range(max(_FEWEST_PLAYS, min(_PLAYS, _PLAYED_TRIALS // len(levels)))):
        variance = components.rest_squares / random.gammavariate(components.rest_degrees / 2, 2)
        unknown = random.choice(_UNKNOWN)
        drawn = [random.gauss(mean, math.sqrt(variance / n) if n else unknown) for mean, n in levels]
        took = [
            each * math.exp(random.gauss(0, math.sqrt(variance / max(n, 1))))
            for each, (_, n) in zip(rule.seconds, levels, strict=True)
        ]
        repeats, time = replace(rule, seconds=took).play(random, drawn, variance)
        # what all configurations of a sweep share may make all of a run longer
        shared = single.variance * single.degrees / random.gammavariate(single.degrees / 2, 2) / sweeps
        found.append((repeats, time * math.exp(random.gauss(0, math.sqrt(shared)))))
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
        and {trial.cell for trial in run.trials} == set(cells)
        and (bool(decide(run).reason) or max(trial.repeat for trial in run.trials) >= asked.repeat)
    )


def _seconds(trial: TrialRecord) -> float:
    return (trial.ended_at - trial.began_at).total_seconds()
