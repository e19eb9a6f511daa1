"""The JSON documents of runs and comparisons: the published format, version 1.

Absent values are null, medians and intervals of cells in the unit of `judged_by`, times seconds, sizes bytes,
instants ISO 8601 in UTC.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, cast

from toolkit.analysis.advice import Advice, advise
from toolkit.analysis.cells import CellSummary, analyse
from toolkit.analysis.choice import WORTH_PCT
from toolkit.analysis.judged import Judged
from toolkit.analysis.noise import BetweenRuns, pct_of
from toolkit.analysis.search import NotRun, Prospect, not_run
from toolkit.analysis.sequential import ended_because, given_up
from toolkit.model.bill import bill_among, bill_document
from toolkit.model.records import ItemRecord, RunHead, RunRecord, TrialRecord
from toolkit.model.values import Cell, Level, Scalar

if TYPE_CHECKING:  # a run's document needs none of their modules
    from toolkit.analysis.compare import Comparison, Pair
    from toolkit.analysis.holding import VerifiedGain
    from toolkit.analysis.recommendation import Gain, Recommendation

FORMAT = 1

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
JsonObject = dict[str, Json]


def run_document(run: RunRecord, worth_pct: float = WORTH_PCT) -> JsonObject:
    """Return the document of a run: head, environment, every trial in the order run, the cells, and the advice."""
    trials = sorted(run.trials, key=lambda trial: (trial.trial, trial.attempt))
    found = analyse(run)
    return {
        "format": FORMAT,
        **_head(run.head),
        "seed": run.head.experiment.seed,
        "environment": {name: _scalar(value) for name, value in run.environment.items()},
        "warnings": list(run.warnings),
        "licences": _licences(run),
        "trials": [_trial(trial) for trial in trials],
        "judged_by": _judged(found.judged),
        "cells": [_cell(summary, found.judged) for summary in found.cells],
        "advice": _advice(advise(found, worth_pct), worth_pct),
        "detect_pct": run.head.experiment.detect_pct,
        "ended_because": ended_because(run),
        "not_run": [_not_run(group) for group in not_run(run)] if run.head.experiment.search else None,
        "given_up": [
            {"factors": _levels(cell), "after_repeats": repeats} for cell, repeats in given_up(run).items()
        ],
    }


def runs_document(heads: Iterable[RunHead]) -> JsonObject:
    """Return the document of a list of runs, newest first."""
    newest_first = sorted(heads, key=lambda head: (head.began_at, head.run), reverse=True)
    return {
        "format": FORMAT,
        "runs": [
            {**_head(head), "trials_planned": head.trials_planned, "trials_ended": head.trials_ended}
            for head in newest_first
        ],
    }


def comparison_document(comparison: Comparison) -> JsonObject:
    """Return the document of a comparison; `ratio` is B over A.

    `factors_b` stands beside `factors` only where two cells of different levels were named.
    """
    return {
        "format": FORMAT,
        "a": comparison.a.head.run,
        "b": comparison.b.head.run,
        "judged_by": _judged(comparison.judged),
        "pairs": [_pair(pair, comparison.judged) for pair in comparison.pairs],
        "differences": [
            {"name": found.name, "a": _scalar(found.a), "b": _scalar(found.b)} for found in comparison.differences
        ],
        "notes": list(comparison.notes),
        "between_runs": None if comparison.between is None else _between(comparison.between),
    }


def recommendation_document(one: Recommendation, file: str | None = None) -> JsonObject:
    """Return the document of what to set; `file` holds the next experiment."""
    head, law, first = one.found.run.head, one.law, one.advice.first
    return {
        "format": FORMAT,
        "run": head.run,
        "judged": _judged(one.found.judged),
        "verdict": "conclusive" if one.conclusive else "inconclusive",
        "headline": one.advice.headline,
        "recommended": None if one.setting is None else {n: _scalar(level) for n, level in one.setting.items()},
        "any_of": {name: [_scalar(level) for level in levels] for name, levels in one.any_of.items()},
        "present": _levels(one.present.over) if one.present is not None and one.present_known else None,
        "gain": _gain(one.present),
        "gain_over_smaller": _gain(one.smaller),
        "not_excluded": _not_excluded(one.advice),
        "cost": {"efficiency": _scalar(one.efficiency), "cpu_ratio": _scalar(one.cpu_ratio)},
        "limits": [
            {"reason": each.kind.value, "evidence": each.evidence, "factors": _levels(each.cell)}
            for each in one.limits
        ],
        "limit_known": any(each.cell == first for each in one.limits),
        "law": None if law is None else {
            "name": law.name,
            "peak": _scalar(law.law.peak),
            "peak_low": _scalar(law.law.peak_low),
            "peak_high": _scalar(law.law.peak_high),
            "knee": _scalar(law.knee),
        },
        "stopped_because": one.stopped_because,
        "next": file,
        "next_because": None if one.following is None else one.following.why,
    }  # fmt: skip


def verification_document(one: Recommendation, result: VerifiedGain) -> JsonObject:
    """Return the document of a gain that was measured again."""
    return {
        "format": FORMAT,
        "run": one.found.run.head.run,
        "verified_by": result.run,
        "factors": _levels(result.chosen),
        "former": _levels(result.then.over),
        "then": _gain(result.then),
        "now": _gain(result.now),
        "verdict": result.verdict.value,
        "sentence": result.sentence,
    }


def _gain(gain: Gain | None) -> Json:
    """How many times better the recommended configuration is than another."""
    if gain is None:
        return None
    return {
        "over": _levels(gain.over),
        "ratio": _scalar(gain.ratio),
        "ci_low": _scalar(gain.interval.low if gain.interval else None),
        "ci_high": _scalar(gain.interval.high if gain.interval else None),
    }


def reports_document(
    runs: Iterable[RunRecord], comparisons: Iterable[Comparison], worth_pct: float = WORTH_PCT
) -> JsonObject:
    """Return one document of several runs and their comparisons."""
    return {
        "format": FORMAT,
        "runs": [run_document(run, worth_pct) for run in runs],
        "comparisons": [comparison_document(comparison) for comparison in comparisons],
    }


def _licences(run: RunRecord) -> Json:
    """What the run used that is paid for and who declared it; null for engines without licences."""
    bill = bill_among(run.artifacts)
    return None if bill is None else cast("JsonObject", bill_document(bill))


def _head(head: RunHead) -> JsonObject:
    return {
        "run": head.run,
        "label": head.label,
        "mode": head.mode.value,
        "state": head.state.value,
        "target": head.experiment.target,
        "engine": head.engine,
        "operation": head.experiment.operation,
        "began_at": _instant(head.began_at),
        "ended_at": _instant(head.ended_at),
    }


def _trial(trial: TrialRecord) -> JsonObject:
    return {
        "trial": trial.trial,
        "attempt": trial.attempt,
        "factors": _levels(trial.cell),
        "repeat": trial.repeat,
        "warmup": trial.warmup,
        "outcome": trial.outcome.value,
        "reason": trial.reason,
        "error_code": trial.error_code,
        "began_at": _instant(trial.began_at),
        "ended_at": _instant(trial.ended_at),
        "elapsed_seconds": _scalar(trial.elapsed_seconds),
        "requested_degree": trial.requested_degree,
        "granted_degree": trial.granted_degree,
        "effective_parallelism": _scalar(trial.effective_parallelism),
        "rows": trial.rows,
        "bytes": trial.bytes,
        "disturbed": trial.disturbed,
        "phases": {name: _scalar(spent) for name, spent in trial.phases.items()},
        "items": [_item(item) for item in trial.items],
        "metrics": [
            {"name": found.name, "value": _scalar(found.value), "unit": found.unit, "source": found.source}
            for found in trial.metrics
        ],
    }


def _item(item: ItemRecord) -> JsonObject:
    return {
        "label": item.label,
        "outcome": item.outcome.value,
        "reason": item.reason,
        "error_code": item.error_code,
        "begin_seconds": _scalar(item.begin_seconds),
        "elapsed_seconds": _scalar(item.elapsed_seconds),
        "worker": item.worker,
        "rows": item.rows,
        "bytes": item.bytes,
    }


def _judged(judged: Judged) -> JsonObject:
    """What medians, intervals and verdicts are of."""
    by = judged.by
    return {"metric": by.metric, "unit": by.unit, "better": "lower" if by.lower_is_better else "higher"}


def _seconds(value: float | None, judged: Judged) -> float | None:
    return value if judged.by.unit == "seconds" else None


def _cell(summary: CellSummary, judged: Judged) -> JsonObject:
    return {
        "factors": _levels(summary.cell),
        "n": summary.n,
        "median": _scalar(summary.median),
        "median_seconds": _scalar(_seconds(summary.median, judged)),
        "ci_low": _scalar(summary.ci_low),
        "ci_high": _scalar(summary.ci_high),
        "speedup": _scalar(summary.speedup),
        "efficiency": _scalar(summary.efficiency),
    }


def _advice(advice: Advice, worth_pct: float) -> JsonObject:
    return {
        "headline": advice.headline,
        "recommended": [_levels(cell) for cell in advice.recommended],
        "best_median": None if advice.best is None else _levels(advice.best),
        "not_excluded": _not_excluded(advice),
        "worth_pct": worth_pct,
        "sentences": list(advice.sentences),
        "doubts": list(advice.doubts),
    }


def _not_excluded(advice: Advice) -> Json:
    """What may be better than what is recommended by more than matters, and up to how many times."""
    left = advice.unsure
    if left is None:
        return None
    return {"factors": _levels(left.cell), "than": _levels(left.than), "ratio": _scalar(1 / left.interval.low)}


def _not_run(group: NotRun) -> JsonObject:
    """Spell configurations that a search left out, and what is predicted of them; nobody measured it."""
    return {
        "factors": [_levels(cell) for cell in group.cells],
        "expected": group.expected.value,
        "worse_pct": group.worse_pct if group.expected is Prospect.WORSE else None,
    }


def _between(between: BetweenRuns) -> JsonObject:
    """What two runs were held against; without a verdict `reason` says why."""
    noise = between.noise
    return {
        "reason": between.reason,
        "runs": noise.runs,
        "degrees_of_freedom": noise.spread.degrees,
        "deviation_pct": _scalar(pct_of(math.sqrt(noise.spread.variance))),
        "widest_pct": _scalar(pct_of(noise.spread.widest)),
        "span_seconds": noise.span_seconds,
    }


def _pair(pair: Pair, judged: Judged) -> JsonObject:
    document: JsonObject = {
        "factors": _levels(pair.cell_a),
        "n_a": pair.n_a,
        "n_b": pair.n_b,
        "median_a": _scalar(pair.median_a),
        "median_b": _scalar(pair.median_b),
        "median_a_seconds": _scalar(_seconds(pair.median_a, judged)),
        "median_b_seconds": _scalar(_seconds(pair.median_b, judged)),
        "ratio": _scalar(pair.ratio),
        "ci_low": _scalar(pair.interval.low if pair.interval else None),
        "ci_high": _scalar(pair.interval.high if pair.interval else None),
        "verdict": pair.verdict.value,
        "minimum_detectable_pct": _scalar(pair.minimum_detectable_pct),
        "metrics": [
            {
                "name": each.name,
                "unit": each.unit,
                "source": each.source,
                "median_a": _scalar(each.median_a),
                "median_b": _scalar(each.median_b),
                "ratio": _scalar(each.ratio),
            }
            for each in pair.metrics
        ],
    }
    if dict(pair.cell_a) != dict(pair.cell_b):
        document["factors_b"] = _levels(pair.cell_b)
    return document


def _levels(cell: Cell) -> Json:
    levels: Mapping[str, Level] = cell
    return {name: _scalar(level) for name, level in levels.items()}


def _scalar(value: Scalar) -> Json:
    """JSON knows no infinity and no NaN: they are absent values."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _instant(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
