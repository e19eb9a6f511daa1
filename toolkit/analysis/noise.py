"""How much runs of identical work differ: what a comparison of two runs made at different times is held against.

Two runs differ by more than the noise within each of them shows: the machine is another one from minute to minute.
How much is known only from other runs of identical work (the same options and configuration, on the same target),
which the store has. Each run gives one value for each configuration, the mean of its log values.

A difference between two runs counts only if it exceeds both the interval of Student's t that the spread of those
values gives, and the largest difference between any two of them. The second rule holds where a load comes and
goes, so that most runs are alike and some are far off, which no spread of a few runs shows: with m runs of
identical work and a load that is there in a part q of all runs, a difference is reported falsely only if all m met
the same state and the two did not, in 2 q (1 - q) ((1 - q)^m + q^m) of the comparisons, which is at most 5 % from
m = 13 on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from toolkit.analysis.doubts import spelled_difference
from toolkit.analysis.fit import Components, Noise, Observation, fit
from toolkit.analysis.judged import Judged
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.units import count, counted, percent, seconds

FEWEST_RUN_DEGREES = 12
"""Degrees of freedom between runs that a verdict needs: those of 13 runs of identical work."""

NEWEST_RUNS = 20
"""So many runs of identical work count, the newest: the largest difference would grow with each further one."""

LOAD = "host_others_pct"
LOAD_APART_PCT = 10.0
"""Loads of others that differ by less, in per cent of the host, are alike."""

SETTLES = (
    "`dbatk compare --interleave A.toml B.toml` measures both alternately in one run; "
    "`dbatk noise -t TARGET --measure FILE.toml` measures how much such runs differ"
)
"""What helps where two runs cannot carry a verdict."""

_Work = tuple[object, Cell]


# -- what is alike ----------------------------------------------------------------------------------------------
def size_class(run: RunRecord) -> int | None:
    """Return the power of ten of the rows that the trials processed; None where nobody counted them."""
    rows = max((trial.rows for trial in run.trials if trial.counts and trial.rows), default=0)
    return math.floor(math.log10(rows)) if rows else None


def spelled_class(power: int | None) -> str:
    """Spell a size class: `1M to 10M rows`."""
    return "rows not counted" if power is None else f"{_short(power)} to {_short(power + 1)} rows"


def _short(power: int) -> str:
    letter = " kMGT"[min(power // 3, 4)].strip()
    return f"{10 ** (power - 3 * min(power // 3, 4))}{letter}"


def alike(history: Iterable[RunRecord], run: RunRecord) -> tuple[RunRecord, ...]:
    """Return the runs of the operation, database and size class of one, oldest first."""
    wanted = (*_place(run), size_class(run))
    found = [other for other in history if (*_place(other), size_class(other)) == wanted]
    return tuple(sorted(found, key=lambda other: other.head.began_at))


def _place(run: RunRecord) -> tuple[object, ...]:
    head = run.head
    return head.engine, head.target_name, head.experiment.operation, head.operation_version


def load_of(run: RunRecord) -> float | None:
    """Return the median part of the host that others used in the trials that count, in per cent."""
    found = [
        metric.value for trial in run.trials if trial.counts for metric in trial.metrics if metric.name == LOAD
    ]
    return median(found) if found else None


# -- how much runs differ ---------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RunMean:
    """The mean log value of a configuration in a run, and of how many trials."""

    run: RunRecord
    value: float
    trials: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How much the values of identical work differ from run to run, on the log scale.

    Attributes:
        variance: of the value of one run, pooled over all configurations.
        degrees: of freedom; configurations of one run differ together and count once.
        widest: the largest difference between two runs.
    """

    variance: float
    degrees: int
    widest: float


def spread_of(works: Mapping[_Work, Sequence[float]]) -> Spread:
    """Return the spread of values that are lists of runs, one list for each options and configuration."""
    squares, singles, degrees = 0.0, 0, dict[object, int]()
    widest = 0.0
    for (options, _), values in works.items():
        if len(values) > 1:
            middle = fmean(values)
            squares += sum((value - middle) ** 2 for value in values)
            singles += len(values) - 1
            widest = max(widest, max(values) - min(values))
            degrees[options] = max(degrees.get(options, 0), len(values) - 1)
    return Spread(squares / singles if singles else 0.0, sum(degrees.values()), widest)


def run_means(history: Iterable[RunRecord], judged: Judged) -> dict[_Work, list[RunMean]]:
    """Return the values of the newest runs by their work, oldest first."""
    works: dict[_Work, list[RunMean]] = {}
    for run in sorted(history, key=lambda run: run.head.began_at):
        experiment = run.head.experiment
        options = (experiment.mode, tuple(sorted(experiment.options.items())))
        logs: dict[Cell, list[float]] = {}
        for seen in judged.observed(run.trials):
            logs.setdefault(seen.cell, []).append(math.log(seen.value))
        for cell, values in logs.items():
            means = works.setdefault((options, cell), [])
            means.append(RunMean(run, fmean(values), len(values)))
            del means[:-NEWEST_RUNS]
    return works


@dataclass(frozen=True, slots=True)
class RunNoise:
    """What the runs of identical work show.

    Attributes:
        spread: between runs.
        runs: how many there are.
        trials: how many a value is the mean of, as the harmonic mean of all.
        sampling: variance of a single trial within those runs.
        span_seconds: between the beginnings of the first and the last of them.
        loads: the lowest and the highest load of others among them, in per cent of the host.
    """

    spread: Spread
    runs: int
    trials: float
    sampling: float
    span_seconds: float
    loads: tuple[float, float] | None

    def of_pair(self, own: Noise, trials_a: int, trials_b: int) -> Noise:
        """Return the noise of the difference between two runs with so many trials each.

        Fewer trials than the stored runs have add what they are less certain by. Where the two runs themselves
        are noisier than all that (`own` is that of a single trial), theirs counts.
        """
        share = 1 / trials_a + 1 / trials_b
        extra = max(0.0, share - 2 / self.trials) * self.sampling
        stored = Noise(2 * self.spread.variance + extra, self.spread.degrees, pairs=own.pairs)
        shown = own.times(share)
        larger = shown if shown.degrees >= FEWEST_OWN and shown.variance > stored.variance else stored
        return larger.reaching(self.spread.widest)


FEWEST_OWN = 4
"""Degrees of freedom from which the noise of the two runs themselves counts."""


def run_noise(history: Sequence[RunRecord], judged: Judged) -> RunNoise:
    """Return what runs of one size class show, none of which is one of the two that are compared."""
    works = {work: means for work, means in run_means(history, judged).items() if len(means) > 1}
    means = [mean for found in works.values() for mean in found]
    runs = {mean.run.head.run: mean.run for mean in means}
    began = [run.head.began_at for run in runs.values()]
    loads = [load for run in runs.values() if (load := load_of(run)) is not None]
    return RunNoise(
        spread_of({work: [mean.value for mean in found] for work, found in works.items()}),
        len(runs),
        len(means) / sum(1 / mean.trials for mean in means) if means else 1.0,
        components_of(runs.values(), judged).single().variance,
        (max(began) - min(began)).total_seconds() if began else 0.0,
        (min(loads), max(loads)) if loads else None,
    )


def components_of(runs: Iterable[RunRecord], judged: Judged) -> Components:
    """Return the sums of squares within runs, pooled over several."""
    pooled = Components(0.0, 0, 0.0, 0, 1.0)
    for run in runs:
        seen: Sequence[Observation] = judged.observed(run.trials)
        if seen:
            pooled = pooled.pooled_with(fit(seen).components)
    return pooled


# -- what two runs can carry ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BetweenRuns:
    """Whether two runs made at different times can carry a verdict; else `reason` says why not."""

    noise: RunNoise
    reason: str | None

    @property
    def sentence(self) -> str:
        """Say what the comparison is held against."""
        found = self.noise
        if self.reason is not None:
            return f"two runs made at different times cannot carry a verdict: {self.reason}"
        span = f" within {spelled_span(found.span_seconds)}" if found.span_seconds else ""
        return (
            f"the noise between runs is that of {count(found.runs)} stored runs{span}, of the same size on this "
            f"target, compared where their work was identical: two of them differed by up to "
            f"{spelled_difference(pct_of(found.spread.widest))}"
        )


def between_runs(a: RunRecord, b: RunRecord, history: Iterable[RunRecord], judged: Judged) -> BetweenRuns:
    """Say whether two runs can be compared, by all other runs that are alike."""
    both = {a.head.run, b.head.run}
    others = [run for run in alike(history, a) if run.head.run not in both]
    noise = run_noise(others, judged)
    return BetweenRuns(noise, _reason(a, b, noise))


def _reason(a: RunRecord, b: RunRecord, noise: RunNoise) -> str | None:
    if noise.spread.degrees < FEWEST_RUN_DEGREES:
        known = f"{count(noise.runs)} {'is' if noise.runs == 1 else 'are'}" if noise.runs else "none is"
        needed = FEWEST_RUN_DEGREES + 1
        return f"how much such runs differ is known from {needed} other runs of identical work; {known} stored"
    apart = abs((b.head.began_at - a.head.began_at).total_seconds())
    if apart > noise.span_seconds:
        return (
            f"they were made {spelled_span(apart)} apart, and the {count(noise.runs)} runs that show how much "
            f"such runs differ were all made within {spelled_span(noise.span_seconds)}"
        )
    return _load_reason(load_of(a), load_of(b), noise.loads)


def _load_reason(a: float | None, b: float | None, loads: tuple[float, float] | None) -> str | None:
    """Say it when the load of others explains a difference: it differs more than it did in the stored runs."""
    if a is None or b is None:
        return None
    usual = loads[1] - loads[0] if loads else 0.0
    if abs(a - b) <= max(LOAD_APART_PCT, usual):
        return None
    return f"others used {percent(a)} of the host's CPU in A and {percent(b)} in B, which is unusual here"


def spelled_span(value: float) -> str:
    """Spell how far apart runs are: `14 days`, `5 h 00 min`."""
    return counted(round(value / 86_400), "day") if value >= 2 * 86_400 else seconds(value)


def pct_of(log_difference: float) -> float:
    """Return a difference of logarithms in per cent."""
    return (math.exp(log_difference) - 1) * 100 if log_difference < 700 else math.inf
