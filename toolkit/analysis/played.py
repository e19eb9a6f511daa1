"""Runs that are played before one begins, with levels, times and noise as uncertain as earlier runs leave them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, median
from statistics import variance as spread

from toolkit.analysis.fit import FEWEST_DEGREES, SEQUENTIAL_CONFIDENCE, Components, Noise
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import NEWEST_RUNS, components_of
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Cell

_PLAYS, _FEWEST_PLAYS, _PLAYED_TRIALS = 200, 5, 5_000
_FEWEST_RUNS = 5
"""Runs from which it is known how much their noise varies."""
_UNKNOWN = (0.02, 0.1, 0.4)
"""How far a configuration that was never run may be from the others, on the logarithmic scale."""
_LEVELS_APART = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""How far configurations may be from each other."""
_NOISE_APART = (0.0, 0.2, 0.4, 0.8, 1.6)
"""How far the variances of runs may be from each other, on the logarithmic scale."""
_RUNS_APART = 0.1
"""How far the times of two runs may be apart as a whole, on the logarithmic scale, where only one was made."""
_MOST = 25.0
"""The largest variance that is drawn: a factor of e to the fifth, beyond which nothing is known anyway."""


@dataclass(frozen=True, slots=True)
class Played:
    """How a run ended that was played; `detects_pct` is None where it told nothing, being too short."""

    repeats: int
    seconds: float
    is_settled: bool
    detects_pct: float | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """What a run that is played obeys.

    Attributes:
        detect_pct: the difference that is to be detected or excluded.
        looks: the numbers of repeats after which it is judged.
        budget: the seconds that all trials may take.
    """

    detect_pct: float
    looks: Sequence[int]
    budget: float

    def play(self, random: Random, levels: Sequence[float], took: Sequence[float], variance: float) -> Played:
        """Play a run of configurations of these levels, on the logarithmic scale, whose trials take so long."""
        sums, counts = [0.0] * len(levels), [0] * len(levels)
        active, squares, repeats, time = list(range(len(levels))), 0.0, 0, 0.0
        degrees = 1 - len(levels)
        limit, ended = math.log1p(self.detect_pct / 100), Played(0, 0.0, is_settled=False)
        for look in self.looks:
            sweep = sum(took[place] for place in active)
            room = (self.budget - time) / sweep if sweep else math.inf
            # the first sweep is run whatever it takes
            more = int(min(look - repeats, max(room, 0 if repeats else 1)))
            if not more:
                break
            repeats += more
            for place in active:
                sums[place] += random.gauss(levels[place] * more, math.sqrt(variance * more))
                counts[place] = repeats
                time += took[place] * more * math.exp(random.gauss(0, math.sqrt(variance / more)))
            before, degrees = max(degrees, 0), degrees + (len(active) - 1) * more
            squares += variance * random.gammavariate((degrees - before) / 2, 2) if degrees > before else 0.0
            ended = Played(repeats, time, is_settled=False)
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
            ended = Played(repeats, time, not is_open, _detects(error * 2 / repeats, degrees, len(levels)))
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
class KnownNoise:
    """What is known of the noise within runs: pooled, and of each run where there are enough of them.

    Attributes:
        pooled: over all earlier runs.
        fits: how likely it is that the logarithms of the variances of the newest runs are so far apart.
    """

    pooled: Components
    fits: Sequence[_Fit] = ()

    @classmethod
    def of(cls, runs: Sequence[RunRecord], judged: Judged) -> KnownNoise:
        """Look at runs, the newest first."""
        logs = []
        for run in runs[:NEWEST_RUNS]:
            each = components_of([run], judged)
            if each.rest_degrees and each.rest_squares:
                half = each.rest_degrees / 2
                # what the logarithm of a variance is too low by, on average
                log = math.log(each.rest_squares / each.rest_degrees) + 1 / each.rest_degrees
                # and what it varies by: the trigamma function of half the degrees of freedom
                logs.append((log, 1 / half + 1 / (2 * half**2) + 1 / (6 * half**3)))
        return cls(components_of(runs, judged), _fits(logs, _NOISE_APART) if len(logs) >= _FEWEST_RUNS else ())

    def drawn(self, random: Random) -> float:
        """Draw the variance of a run to come, as uncertain as the earlier ones leave it."""
        apart, common = _drawn_from(self.fits, random) if self.fits else (0.0, 0.0)
        if not apart:
            return min(self.pooled.rest_squares / random.gammavariate(self.pooled.rest_degrees / 2, 2), _MOST)
        return min(math.exp(random.gauss(common, apart)), _MOST)


@dataclass(frozen=True, slots=True)
class KnownTimes:
    """What is known of the seconds that a trial of each configuration takes, off the clock, too.

    Attributes:
        seconds: of each configuration; 0 where it was never run.
        trials: how many of it there were.
        variance: of the logarithm of what all trials of a run share.
        degrees: of freedom that carry it.
        apart: the standard deviation of the same that no run shows.
    """

    seconds: Sequence[float]
    trials: Sequence[int]
    variance: float
    degrees: float
    apart: float = 0.0

    @property
    def are_whole(self) -> bool:
        """Whether each configuration was run before."""
        return all(self.trials)

    @classmethod
    def of(cls, cells: Sequence[Cell], runs: Sequence[RunRecord], pooled: Components) -> KnownTimes:
        """Look at runs, the newest first, with their sums of squares."""
        took: dict[Cell, list[float]] = {cell: [] for cell in cells}
        for trial in (trial for run in runs for trial in run.trials if trial.cell in took):
            took[trial.cell].append(seconds_of(trial))
        usual = {cell: median(each) for cell, each in took.items() if each}
        middle, trials = [usual.get(cell, 0.0) for cell in cells], [len(took[cell]) for cell in cells]
        longer = [ratio for run in runs[:NEWEST_RUNS] if (ratio := _beside(run, usual))]
        if len(longer) > 1:
            return cls(middle, trials, spread(map(math.log, longer)) * (1 + 1 / len(longer)), len(longer) - 1)
        # of one run it is known only what its sweeps shared
        single = pooled.single()
        return cls(middle, trials, single.variance / max(1, *trials), single.degrees, _RUNS_APART)

    def drawn(self, random: Random, variance: float) -> list[float]:
        """Draw the seconds of each configuration in a run to come, in which single trials vary so much."""
        shared = min(self.variance * self.degrees / random.gammavariate(self.degrees / 2, 2), _MOST)
        longer = random.gauss(0, math.sqrt(shared + self.apart**2))
        return [
            each * math.exp(longer + random.gauss(0, math.sqrt(variance / max(n, 1))))
            for each, n in zip(self.seconds, self.trials, strict=True)
        ]


def _beside(run: RunRecord, usual: Mapping[Cell, float]) -> float | None:
    """Return how long the trials of a run took beside what such trials took in the median of all runs."""
    known = [trial for trial in run.trials if trial.cell in usual]
    by_all = sum(usual[trial.cell] for trial in known)
    return sum(map(seconds_of, known)) / by_all if by_all else None


def played(rule: Rule, levels: Sequence[tuple[float, int]], noise: KnownNoise, times: KnownTimes) -> list[Played]:
    """Play runs whose noise, and whose values of the configurations, are drawn from what is known of them.

    Args:
        rule: of the runs.
        levels: the mean of each configuration on the logarithmic scale, lower if better, and of how many trials.
        noise: what is known of it.
        times: what is known of them.
    """
    random, found = Random(len(levels)), []  # noqa: S311 (no secret)
    for _ in range(max(_FEWEST_PLAYS, min(_PLAYS, _PLAYED_TRIALS // len(levels)))):
        variance = noise.drawn(random)
        took = times.drawn(random, variance)
        found.append(rule.play(random, _drawn(levels, variance, random), took, variance))
    return found


def _drawn(levels: Sequence[tuple[float, int]], variance: float, random: Random) -> list[float]:
    """Draw the levels of a run to come: configurations that differ by no more than chance may be alike."""
    unknown, known = random.choice(_UNKNOWN), [(mean, variance / n) for mean, n in levels if n]
    apart, common = _drawn_from(_fits(known, _LEVELS_APART), random) if known and variance else (1.0, 0.0)
    found = []
    for mean, n in levels:
        by_chance = variance / n if n else unknown**2
        share = apart**2 / (apart**2 + by_chance) if n else 1.0
        found.append(random.gauss(common + share * (mean - common), math.sqrt(share * by_chance)))
    return found


_Fit = tuple[float, float, float, float]
"""A distance, how likely it is beside the others, and the middle with its precision."""


def _fits(seen: Sequence[tuple[float, float]], distances: Sequence[float]) -> list[_Fit]:
    """Say how likely it is that what was seen is truly so far apart (a standard deviation).

    Each distance is as likely as the others before anything is seen, and so is each middle.

    Args:
        seen: values, each with the variance that it has by chance.
        distances: that may be true.
    """
    tried = []
    for distance in distances:
        precisions = [1 / (distance**2 + variance) for _, variance in seen]
        total = sum(precisions)
        middle = sum(value * each for (value, _), each in zip(seen, precisions, strict=True)) / total
        squares = sum(each * (value - middle) ** 2 for (value, _), each in zip(seen, precisions, strict=True))
        tried.append((distance, (sum(map(math.log, precisions)) - math.log(total) - squares) / 2, middle, total))
    most = max(likely for _, likely, _, _ in tried)
    return [(distance, math.exp(likely - most), middle, total) for distance, likely, middle, total in tried]


def _drawn_from(fits: Sequence[_Fit], random: Random) -> tuple[float, float]:
    """Draw how far what was seen is truly apart, and its middle."""
    (apart, _, middle, precision), *_ = random.choices(fits, [likely for _, likely, _, _ in fits])
    return apart, random.gauss(middle, 1 / math.sqrt(precision))


def levels_of(cells: Sequence[Cell], runs: Sequence[RunRecord], judged: Judged) -> list[tuple[float, int]]:
    """Return the mean log value of each configuration, lower if better, and its trials; 0 where never run."""
    logs: dict[Cell, list[float]] = {}
    for seen in (seen for run in runs for seen in judged.observed(run.trials)):
        logs.setdefault(seen.cell, []).append(math.log(seen.value) * judged.rank(1.0))
    known = [fmean(logs[cell]) for cell in cells if cell in logs]
    middle = median(known) if known else 0.0
    return [(fmean(logs[cell]), len(logs[cell])) if cell in logs else (middle, 0) for cell in cells]


def seconds_of(trial: TrialRecord) -> float:
    """Return how long a trial took, off the clock, too."""
    return (trial.ended_at - trial.began_at).total_seconds()
