"""Metrics for node_exporter's textfile collector, in Prometheus' text format.

Names, units and types as the Prometheus documentation has them (naming; exposition formats): base units, seconds
since 1970 for instants, a gauge each. A sample carries no time of its own: the collector refuses that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.model.plan import ENDED_WELL, PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

Labels = Mapping[str, str]
Sample = tuple[Labels, float]
_STEP_STATES = tuple(StepState)


def file_name(plan: str) -> str:
    """Return the name of a plan's file; the collector reads `*.prom`."""
    return f"dbatk_{plan}.prom"


def exposition(runs: Sequence[PlanRunRecord], now: datetime) -> str:
    """Return the metrics of one plan.

    Args:
        runs: its runs, the newest first; the older ones tell when a step last succeeded.
        now: when the process of the newest one, if it has not ended, is known to be alive.
    """
    if not runs:
        return ""
    # loaded only where metrics are written: it begins to watch this process as soon as it is imported
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(_Families([*_of_plan(runs, now), *_of_steps(runs)]))
    return generate_latest(registry).decode()


@dataclass(frozen=True, slots=True, eq=False)
class _Families:
    """What the library writes: metrics that were made before."""

    families: Sequence[GaugeMetricFamily]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self.families


def _gauge(name: str, help: str, samples: Sequence[Sample]) -> Iterator[GaugeMetricFamily]:
    """Yield a metric with its samples; one without a sample is left out."""
    from prometheus_client.core import GaugeMetricFamily

    if samples:
        family = GaugeMetricFamily(name, help, labels=list(samples[0][0]))
        for labels, value in samples:
            # a name may hold what is no character of UTF-8
            family.add_metric([text.encode("utf-8", "replace").decode() for text in labels.values()], value)
        yield family


def _of_plan(runs: Sequence[PlanRunRecord], now: datetime) -> Iterator[GaugeMetricFamily]:
    last = runs[0]
    plan = {"plan": last.plan}
    well = last.state is RunState.DONE and all(step.state in ENDED_WELL for step in last.steps)
    success = next((run.ended_at for run in runs if run.state is RunState.DONE and run.ended_at), None)
    counts = [
        ({**plan, "state": state.value}, float(sum(step.state is state for step in last.steps)))
        for state in _STEP_STATES
    ]
    prefix = "dbatk_plan_last_run"
    yield from _gauge(f"{prefix}_begin_timestamp_seconds", "When the plan last started.", _at(plan, last.began_at))
    yield from _gauge(f"{prefix}_end_timestamp_seconds", "When the plan last ended.", _at(plan, last.ended_at))
    running = float(last.state is RunState.RUNNING)
    yield from _gauge("dbatk_plan_running", "Whether the last run has not ended yet.", [(plan, running)])
    yield from _gauge(
        "dbatk_plan_heartbeat_timestamp_seconds",
        "When the last run was last heard of: renewed every half minute while it runs.",
        _at(plan, last.ended_at or now),
    )
    yield from _gauge(f"{prefix}_success", "Whether all steps of the last run succeeded.", [(plan, float(well))])
    yield from _gauge(
        "dbatk_plan_last_success_timestamp_seconds", "When the plan last succeeded.", _at(plan, success)
    )
    yield from _gauge(
        "dbatk_plan_window_end_timestamp_seconds",
        "When the window of the last run closed or closes.",
        _at(plan, last.window_end),
    )
    yield from _gauge(f"{prefix}_steps", "Steps of the last run by state.", counts)


def _of_steps(runs: Sequence[PlanRunRecord]) -> Iterator[GaugeMetricFamily]:
    last = runs[0]
    known: dict[tuple[str, str], list[StepRecord]] = {(step.step, step.target): [] for step in last.steps}
    for run in runs:
        for step in run.steps:
            if (step.step, step.target) in known:
                known[step.step, step.target].append(step)
    histories = [({"plan": last.plan, "step": name, "target": on}, of) for (name, on), of in known.items()]
    states: list[Sample] = []
    successes: list[Sample] = []
    durations: list[Sample] = []
    expected: list[Sample] = []
    for labels, of in histories:
        states += [({**labels, "state": state.value}, float(of[0].state is state)) for state in _STEP_STATES]
        done = (step.ended_at for step in of if step.state is StepState.DONE and step.ended_at)
        successes += _at(labels, next(done, None))
        took = (step.elapsed_seconds for step in of if step.elapsed_seconds is not None)
        durations += [(labels, seconds) for seconds in (next(took, None),) if seconds is not None]
        expected += [(labels, seconds) for seconds in (of[0].expected_seconds,) if seconds is not None]
    yield from _gauge("dbatk_step_last_state", "State of the step in the last run: 1 for that state.", states)
    yield from _gauge(
        "dbatk_step_last_success_timestamp_seconds", "When the step last ended well on the target.", successes
    )
    yield from _gauge(
        "dbatk_step_last_duration_seconds", "How long the step took in the last run that started it.", durations
    )
    yield from _gauge(
        "dbatk_step_expected_duration_seconds", "How long the step is expected to take, by its history.", expected
    )


def _at(labels: Labels, instant: datetime | None) -> list[Sample]:
    return [] if instant is None else [(labels, instant.timestamp())]
