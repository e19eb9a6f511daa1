"""How noisy a database is: by operation and size of the work, within a sweep, between sweeps, runs and days."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from toolkit.analysis.fit import Components, Noise
from toolkit.analysis.judged import Judged, judged_of
from toolkit.analysis.noise import (
    FEWEST_RUN_DEGREES,
    RunMean,
    RunNoise,
    components_of,
    pct_of,
    run_means,
    run_noise,
    size_class,
    spelled_class,
)
from toolkit.model.records import RunRecord
from toolkit.model.words import OperationName

USUAL_REPEATS = 5
"""Trials of a configuration for which the minimum detectable effect is given."""

_DAY_APART_SECONDS = 8 * 3600.0
"""Runs of the same work that follow each other within so long are of one day, whatever the calendar says."""


@dataclass(frozen=True, slots=True)
class NoiseRow:
    """The noise of one operation and size class: standard deviations in per cent, None where it is not known.

    Attributes:
        operation: what was run.
        size: of the work, as it is spelled.
        runs: how many are stored.
        within_sweep_pct: of trials of a sweep, their configurations taken out.
        between_sweeps_pct: of sweeps of a run, beyond that.
        between_runs_pct: of the values of runs of identical work on one day.
        between_days_pct: of the values of runs of identical work on different days.
        noise: what two runs are compared by.
        detectable_pct: the minimum detectable effect between two runs of `USUAL_REPEATS` trials.
    """

    operation: OperationName
    size: str
    runs: int
    within_sweep_pct: float | None
    between_sweeps_pct: float | None
    between_runs_pct: float | None
    between_days_pct: float | None
    noise: RunNoise
    detectable_pct: float | None


def noise_rows(runs: Iterable[RunRecord]) -> tuple[NoiseRow, ...]:
    """Return a row for each operation and size class of a database's runs."""
    groups: dict[tuple[OperationName, float], list[RunRecord]] = {}
    for run in runs:
        power = size_class(run)
        key = run.head.experiment.operation, -1.0 if power is None else float(power)
        groups.setdefault(key, []).append(run)
    return tuple(_row(groups[key]) for key in sorted(groups))


def _row(runs: Sequence[RunRecord]) -> NoiseRow:
    judged = judged_of(runs[0])
    inside = components_of(runs, judged)
    noise = run_noise(runs, judged)
    within, sweeps = _parts(inside)
    of_day, of_days = _run_parts(runs, judged)
    known = noise.spread.degrees >= FEWEST_RUN_DEGREES
    pair = noise.of_pair(Noise(0.0, 0.0), USUAL_REPEATS, USUAL_REPEATS)
    return NoiseRow(
        runs[0].head.experiment.operation,
        spelled_class(size_class(runs[0])),
        len(runs),
        within,
        sweeps,
        of_day,
        of_days,
        noise,
        pair.minimum_detectable_pct() if known else None,
    )


def _parts(inside: Components) -> tuple[float | None, float | None]:
    """Return the deviation within a sweep and between sweeps; of one configuration they are not told apart."""
    single = inside.single()
    if not inside.rest_degrees:
        return None, _deviation(single.variance) if single.degrees else None
    rest = inside.rest_squares / inside.rest_degrees
    return _deviation(rest), _deviation(max(0.0, single.variance - rest))


def _run_parts(runs: Sequence[RunRecord], judged: Judged) -> tuple[float | None, float | None]:
    inside_squares, inside_degrees, day_squares, day_degrees = 0.0, 0, 0.0, 0
    for means in run_means(runs, judged).values():
        days = [[mean.value for mean in day] for day in _days(means)]
        inside_squares += sum(_squares(day) for day in days)
        inside_degrees += sum(len(day) - 1 for day in days)
        # a day counts by one run, so that its own noise is in: the mean of a day has less of it
        day_squares += _squares([day[0] for day in days])
        day_degrees += len(days) - 1
    return (
        _deviation(inside_squares / inside_degrees) if inside_degrees else None,
        _deviation(day_squares / day_degrees) if day_degrees else None,
    )


def _days(means: Sequence[RunMean]) -> list[list[RunMean]]:
    days: list[list[RunMean]] = []
    for mean in means:
        before = days[-1][-1].run.head.began_at if days else None
        began = mean.run.head.began_at
        if before is None or (began - before).total_seconds() > _DAY_APART_SECONDS:
            days.append([])
        days[-1].append(mean)
    return days


def _squares(values: Sequence[float]) -> float:
    middle = fmean(values)
    return sum((value - middle) ** 2 for value in values)


def _deviation(variance: float) -> float:
    return pct_of(math.sqrt(variance))


def noise_document(target: str, rows: Iterable[NoiseRow]) -> Mapping[str, object]:
    """Return the JSON document; what is not known is null."""
    return {"format": 1, "target": target, "noise": [_document(row) for row in rows]}


def _document(row: NoiseRow) -> Mapping[str, object]:
    noise = row.noise
    return {
        "operation": row.operation,
        "size": row.size,
        "runs": row.runs,
        "within_sweep_pct": row.within_sweep_pct,
        "between_sweeps_pct": row.between_sweeps_pct,
        "between_runs_pct": row.between_runs_pct,
        "between_days_pct": row.between_days_pct,
        "identical_runs": noise.runs,
        "degrees_of_freedom": noise.spread.degrees,
        "widest_pct": pct_of(noise.spread.widest) if noise.runs else None,
        "span_seconds": noise.span_seconds,
        "detectable_pct": row.detectable_pct,
    }
