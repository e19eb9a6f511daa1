"""Metrics for node_exporter's textfile collector, in Prometheus' text format.

Names, units and types as the Prometheus documentation has them (naming; exposition formats): base units, seconds
since 1970 for instants, a gauge each. A sample carries no time of its own: the collector refuses that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.model.plan import ENDED_WELL, PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState

Labels = Mapping[str, str]
_STEP_STATES = tuple(StepState)


@dataclass(frozen=True, slots=True)
class _Metric:
    name: str
    help: str


_BEGAN = _Metric("dbatk_plan_last_run_begin_timestamp_seconds", "When the plan last began.")
_ENDED = _Metric("dbatk_plan_last_run_end_timestamp_seconds", "When the plan last ended.")
_WELL = _Metric("dbatk_plan_last_run_success", "Whether all steps of the last run ended well.")
_SUCCESS = _Metric("dbatk_plan_last_success_timestamp_seconds", "When the plan last ended well.")
_WINDOW = _Metric("dbatk_plan_window_end_timestamp_seconds", "When the window of the last run closed or closes.")
_COUNT = _Metric("dbatk_plan_last_run_steps", "Steps of the last run by what became of them.")
_STATE = _Metric("dbatk_step_last_state", "What became of the step in the last run: 1 for that state.")
_STEP_SUCCESS = _Metric(
    "dbatk_step_last_success_timestamp_seconds", "When the step last ended well on the target."
)
_DURATION = _Metric("dbatk_step_last_duration_seconds", "How long the step took in the last run it was begun in.")
_EXPECTED = _Metric(
    "dbatk_step_expected_duration_seconds", "How long its history lets expect that the step takes."
)


def file_name(plan: str) -> str:
    """Return the name of a plan's file; the collector reads `*.prom`."""
    return f"dbatk_{plan}.prom"


def exposition(nights: Sequence[PlanRunRecord]) -> str:
    """Return the metrics of one plan.

    Args:
        nights: its nights, the newest first; the older ones tell when a step last ended well.
    """
    if not nights:
        return ""
    families = [*_of_plan(nights), *_of_steps(nights)]
    return "".join(line for metric, samples in families for line in _family(metric, samples))


def _of_plan(nights: Sequence[PlanRunRecord]) -> Iterator[tuple[_Metric, list[tuple[Labels, float]]]]:
    last = nights[0]
    plan = {"plan": last.plan}
    success = next((night.ended_at for night in nights if night.state is RunState.DONE and night.ended_at), None)
    yield _BEGAN, [(plan, last.began_at.timestamp())]
    yield _ENDED, list(_instant(plan, last.ended_at))
    yield _WELL, [(plan, float(last.state is RunState.DONE and all(s.state in ENDED_WELL for s in last.steps)))]
    yield _SUCCESS, list(_instant(plan, success))
    yield _WINDOW, list(_instant(plan, last.window_end))
    counts = {state: sum(step.state is state for step in last.steps) for state in _STEP_STATES}
    yield _COUNT, [({**plan, "state": state.value}, float(count)) for state, count in counts.items()]


def _of_steps(nights: Sequence[PlanRunRecord]) -> Iterator[tuple[_Metric, list[tuple[Labels, float]]]]:
    last = nights[0]
    known: dict[tuple[str, str], list[StepRecord]] = {(step.step, step.target): [] for step in last.steps}
    for night in nights:
        for step in night.steps:
            if (step.step, step.target) in known:
                known[step.step, step.target].append(step)
    told = [({"plan": last.plan, "step": step, "target": target}, of) for (step, target), of in known.items()]
    yield (
        _STATE,
        [
            ({**labels, "state": state.value}, float(of[0].state is state))
            for labels, of in told
            for state in _STEP_STATES
        ],
    )
    successes = [
        (labels, next((one.ended_at for one in of if one.state is StepState.DONE and one.ended_at), None))
        for labels, of in told
    ]
    yield _STEP_SUCCESS, [sample for labels, at in successes for sample in _instant(labels, at)]
    yield (
        _DURATION,
        [
            (labels, took)
            for labels, of in told
            if (took := next((one.elapsed_seconds for one in of if one.elapsed_seconds is not None), None))
            is not None
        ],
    )
    yield (
        _EXPECTED,
        [(labels, of[0].expected_seconds) for labels, of in told if of[0].expected_seconds is not None],
    )


def _instant(labels: Labels, at: datetime | None) -> Iterator[tuple[Labels, float]]:
    if at is not None:
        yield labels, at.timestamp()


def _family(metric: _Metric, samples: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    lines = [f"{metric.name}{{{_labels(labels)}}} {_number(value)}\n" for labels, value in samples]
    if lines:
        yield f"# HELP {metric.name} {metric.help}\n"
        yield f"# TYPE {metric.name} gauge\n"
        yield from lines


def _labels(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    kept = value.encode("utf-8", "replace").decode("utf-8")
    return kept.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN"
    return str(int(value)) if value == int(value) else f"{value:.3f}"
