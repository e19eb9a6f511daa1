"""What is approved: a plan or an experiment, with what it does on each target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.targets import ResolvedTarget
from toolkit.design.approval_file import approval_path
from toolkit.design.canonical import experiment_values, plan_values
from toolkit.model.audit import Value
from toolkit.model.experiment import Experiment
from toolkit.model.plan import MaintenancePlan


@dataclass(frozen=True, slots=True)
class TargetWork:
    """What is done on one target: steps by name."""

    target: str
    resolved: ResolvedTarget
    experiments: Mapping[str, Experiment]


@dataclass(frozen=True, slots=True)
class Subject:
    """A plan or experiment that is approved, or held against its approval."""

    file: Path
    name: str
    kind: str
    values: Mapping[str, Value]
    works: tuple[TargetWork, ...]

    @property
    def approval_path(self) -> Path:
        return approval_path(self.file)


def subject_of_plan(file: Path, plan: MaintenancePlan, places: Sequence[PlanTarget]) -> Subject:
    """Return a plan as it is approved: with what its places resolve from elsewhere."""
    values = plan_values(plan)
    for place in places:
        for job in place.jobs:
            values.update(_resolved(place.name, job))
    works = tuple(
        TargetWork(place.name, place.resolved, {job.step.name: job.experiment for job in place.jobs})
        for place in places
    )
    return Subject(file, plan.name, "plan", values, works)


def _resolved(target: str, job: TargetStep) -> Mapping[str, Value]:
    """Return what a step takes from a measurement and from the target's profile."""
    found: dict[str, Value] = {}
    for factor in job.experiment.factors:
        if factor.name in job.step.best_of:
            found[f"on {target} {job.step.name} {factor.name}"] = factor.levels[0]
    if job.step.work_schema is None and job.experiment.work_schema is not None:
        found[f"on {target} {job.step.name} work_schema"] = job.experiment.work_schema
    return found


def subject_of_experiment(file: Path, experiment: Experiment, resolved: ResolvedTarget) -> Subject:
    """Return an experiment as it is approved."""
    name = experiment.name or file.stem
    work = TargetWork(experiment.target, resolved, {name: experiment})
    return Subject(file, name, "experiment", experiment_values(experiment), (work,))
