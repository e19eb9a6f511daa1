"""What the file of a scheduler's job has done: the steps of a plan, or one experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from toolkit.app.runs.several_targets import names_of
from toolkit.config.profiles import find_profile, load_profiles
from toolkit.design.build import check_label
from toolkit.design.file import load_experiment
from toolkit.design.plan_file import is_plan, load_plan
from toolkit.design.plan_step import experiment_of
from toolkit.documents import read_document
from toolkit.model.experiment import Experiment
from toolkit.model.operations import declaration
from toolkit.model.words import OperationName
from toolkit.schedule import Opening, openings_of


@dataclass(frozen=True, slots=True)
class ScheduledPart:
    """One step of a plan, or an experiment: on which targets (as written), and what it is on one of them."""

    targets: tuple[str, ...]
    operation: OperationName
    on: Callable[[str], Experiment]
    about: str = ""
    """How a sentence about it begins."""
    changes_host: bool = False
    """Whether a factor of it runs commands, which change the host."""


@dataclass(frozen=True, slots=True)
class ScheduledWork:
    """What a file has done, a plan's or an experiment's; the latter has no window."""

    name: str
    parts: tuple[ScheduledPart, ...]
    openings: tuple[Opening, ...] = ()
    approved_only: bool = False
    shows: str = ""
    """By which label the runs of an experiment are found; empty for a plan, which has reports of its own."""
    arguments: tuple[str, ...] = ()
    """For the command that runs it: an experiment without a label gets the name of its file, no other run's."""

    @property
    def writes_files(self) -> bool:
        """Whether some of it writes files of this host."""
        return any(declaration(part.operation).writes_files for part in self.parts)


def read_work(path: Path) -> ScheduledWork:
    """Read what a file has done.

    Raises:
        ToolkitError: as `load_plan` and `load_experiment`; as `find_profile` for the target of an experiment.
    """
    if is_plan(read_document(path)):
        plan = load_plan(path)
        parts = tuple(
            ScheduledPart(
                (step.target,) if step.target else plan.targets,
                step.operation,
                partial(experiment_of, step),
                f"step `{step.name}` on ",
            )
            for step in plan.steps
        )
        return ScheduledWork(plan.name, parts, openings_of(plan.windows), plan.approved_only)
    experiment = load_experiment(path)
    targets = names_of(experiment.target, load_profiles)
    for name in targets:
        if "://" not in name:
            find_profile(name)
    part = ScheduledPart(
        targets,
        experiment.operation,
        lambda name: replace(experiment, target=name),
        changes_host=any(
            factor.command is not None and factor.command.runs_commands for factor in experiment.factors
        ),
    )
    if not experiment.label:
        check_label(path.stem)
    labels = () if experiment.label else ("--label", path.stem)
    return ScheduledWork(path.stem, (part,), shows=experiment.label or path.stem, arguments=labels)
