"""A trial of a mix: which job ran when and where, what it used, and whom it waited for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.lanes import LaneBar, Lanes, lanes_of
from toolkit.model.mix import RanJob, StartedJob, jobs_of, longest_chain, waited_for, waited_for_a_turn
from toolkit.model.operations import options_of
from toolkit.model.options import OptionKind
from toolkit.model.records import PROGRAMS, ItemRecord, RunRecord, TrialRecord
from toolkit.model.steps import added
from toolkit.model.values import Scalar


@dataclass(frozen=True, slots=True)
class JobOfMix:
    """One job as it went; figures that are not known of it are None."""

    started: StartedJob
    item: ItemRecord
    cpu_seconds: float | None
    storage_bytes: float | None
    run: str | None
    waited_for: str | None
    waited_seconds: float
    """For its turn: it could have been begun, but as many as may, or one at its target, were at work."""


@dataclass(frozen=True, slots=True)
class MixTrial:
    """The jobs of a trial as they began; `chain` are those that took longest one after another."""

    trial: TrialRecord
    jobs: tuple[JobOfMix, ...]
    chain: tuple[JobOfMix, ...]

    @property
    def lanes(self) -> Lanes:
        """Each job in a lane of its own."""
        return lanes_of([
            LaneBar(
                job.started.label, job.started.job.group or job.started.job.name, job.item.begin_seconds or 0.0,
                (job.item.begin_seconds or 0.0) + (job.item.elapsed_seconds or 0.0),
            )
            for job in self.jobs if job.item.elapsed_seconds is not None
        ])  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobGroup:
    """The jobs of one group that have a time."""

    name: str
    seconds: tuple[float, ...]
    cpu_seconds: float | None
    storage_bytes: float | None

    @property
    def median_seconds(self) -> float:
        return median(self.seconds)


def mix_trial(run: RunRecord) -> MixTrial | None:
    """Return the jobs of the last trial that counts; None for another operation."""
    experiment = run.head.experiment
    if not any(one.kind is OptionKind.JOBS for one in options_of(experiment.operation)):
        return None
    from toolkit.design.mix import mix_of  # which reads experiments and plans

    trials = [trial for trial in run.trials if trial.items and not trial.warmup]
    trial = next((trial for trial in reversed(trials) if trial.counts), trials[-1] if trials else None)
    mix = None if trial is None else mix_of(experiment.operation, experiment.options, trial.cell)
    if mix is None or trial is None:
        return None
    copies, nodes = (int(str(trial.cell.get(each, 1))) for each in ("copies", "nodes"))
    jobs = jobs_of(mix, copies, nodes)
    items = {item.label: item for item in trial.items}
    used = _used(run, trial)
    ran = {
        label: RanJob(item.begin_seconds or 0.0, item.elapsed_seconds)
        for label, item in items.items() if item.elapsed_seconds is not None
    }  # fmt: skip
    slots = waited_for_a_turn(jobs, ran)
    found = {
        job.label: JobOfMix(
            job, items[job.label], _number(used.get(job.label, {}), "cpu_seconds"),
            _number(used.get(job.label, {}), "read_bytes", "write_bytes"),
            _text(used.get(job.label, {}).get("run")), waited_for(job, ran), slots.get(job.label, 0.0),
        )
        for job in jobs if job.label in items
    }  # fmt: skip
    order = sorted(found.values(), key=lambda job: (job.item.begin_seconds is None, job.item.begin_seconds or 0.0))
    return MixTrial(
        trial, tuple(order), tuple(found[label] for label in longest_chain(jobs, ran) if label in found)
    )


def groups_of(jobs: Sequence[JobOfMix]) -> tuple[JobGroup, ...]:
    """Return the groups of a mix; a job without one is a group of its own name."""
    names = dict.fromkeys(job.started.job.group or job.started.job.name for job in jobs)
    found = []
    for name in names:
        own = [job for job in jobs if (job.started.job.group or job.started.job.name) == name]
        times = tuple(job.item.elapsed_seconds for job in own if job.item.elapsed_seconds is not None)
        if times:
            cpu, moved = added(job.cpu_seconds for job in own), added(job.storage_bytes for job in own)
            found.append(JobGroup(name, times, cpu, moved))
    return tuple(found)


def _used(run: RunRecord, trial: TrialRecord) -> Mapping[str, Mapping[str, Scalar]]:
    """Return what was kept of each program of a trial, by its label."""
    kept = next((one for one in run.artifacts if one.name == PROGRAMS and one.trial == trial.trial), None)
    if kept is None:
        return {}
    try:
        return {str(row["label"]): row for row in json.loads(kept.content)["programs"]}
    except (ValueError, KeyError, TypeError):
        return {}  # an artifact of others' making


def _number(row: Mapping[str, Scalar], *names: str) -> float | None:
    values = [float(value) for name in names if isinstance(value := row.get(name), int | float)]
    return sum(values) if values else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
