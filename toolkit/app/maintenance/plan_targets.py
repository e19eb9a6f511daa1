"""Where a plan runs: each target with the jobs that its steps are there, checked before anything begins."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolkit.app.approvals import Approvals, check_experiment
from toolkit.app.results import find_run
from toolkit.app.targets import Prompt, ResolvedTarget, find_target, fitted
from toolkit.config.profiles import Profile, load_profiles
from toolkit.design.plan_step import experiment_of
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.plan import ConditionKind, MaintenancePlan, PlanStep
from toolkit.model.values import Level
from toolkit.store import Store


@dataclass(frozen=True, slots=True)
class TargetStep:
    """A step on a target."""

    step: PlanStep
    experiment: Experiment

    @property
    def degree(self) -> int:
        """What it takes of the plan's budget; a degree left to the engine counts as one."""
        levels = [factor.levels[0] for factor in self.experiment.factors if factor.name in ("degree", "channels")]
        each = max((int(level) for level in levels if isinstance(level, int)), default=1)
        sessions = self.step.options.get("concurrency", self.step.levels.get("concurrency", 1))
        return max(1, each) * (int(sessions) if isinstance(sessions, int) else 1)


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """A target and what is to be done there, in the order of the file."""

    name: str
    resolved: ResolvedTarget
    jobs: tuple[TargetStep, ...]
    refused: ToolkitError | None = None
    """Why nothing may be done there in this run: it could not be checked against what was approved."""


def plan_targets_of(
    plan: MaintenancePlan, store: Store, approvals: Approvals, *, prompt: Prompt | None = None
) -> tuple[PlanTarget, ...]:
    """Return every target of a plan with its jobs; nothing is connected yet.

    Raises:
        ToolkitError: TK-0111 for a target that is not there, TK-0304 for a step that an engine or a profile does
            not take, TK-0107 for a measurement that has no best cell, TK-0301 for what must be allowed; the
            sentence names step and target.
    """
    profiles = load_profiles()
    names = sorted(profiles)
    everywhere = [name for text in plan.targets for name in _fitting(text, names)]
    own = {step.name: frozenset(_fitting(step.target, names)) for step in plan.steps if step.target}
    common = frozenset(everywhere)
    found = []
    for name in dict.fromkeys((*everywhere, *(name for names in own.values() for name in sorted(names)))):
        steps = [step for step in plan.steps if name in own.get(step.name, common)]
        found.append(_plan_target(plan, name, steps, profiles, store, approvals, prompt))
    return tuple(found)


def plan_target_at(
    plan: MaintenancePlan, target: str, steps: Iterable[str], store: Store, approvals: Approvals
) -> PlanTarget:
    """Return one target of a plan with the jobs that some of its steps are there, by the profiles of this host.

    Raises:
        ToolkitError: as `plan_targets_of`.
    """
    return _plan_target(plan, target, [plan.step(name) for name in steps], load_profiles(), store, approvals)


def _plan_target(
    plan: MaintenancePlan,
    target: str,
    steps: Iterable[PlanStep],
    profiles: Mapping[str, Profile],
    store: Store,
    approvals: Approvals,
    prompt: Prompt | None = None,
) -> PlanTarget:
    resolved = find_target(target, prompt=prompt, profiles=profiles)
    return PlanTarget(
        target, resolved, tuple(_job(plan, step, target, resolved, store, approvals) for step in steps)
    )


def _fitting(text: str, profiles: Iterable[str]) -> list[str]:
    if "://" in text or not set(text) & set("*?["):
        return [text]
    found = [name for name in profiles if fnmatch.fnmatchcase(name, text)]
    if not found:
        raise ToolkitError(f"no target matches `{text}`", code="TK-0111", hint="see `dbatk target list`")
    return found


def _job(
    plan: MaintenancePlan,
    step: PlanStep,
    target: str,
    resolved: ResolvedTarget,
    store: Store,
    approvals: Approvals,
) -> TargetStep:
    try:
        job = TargetStep(step, fitted(experiment_of(step, target, _best_levels(step, store)), resolved))
        check_experiment(job.experiment, resolved.policy, approvals)
        _check_conditions(step, resolved)
    except ToolkitError as error:
        raise ToolkitError(
            f"step `{step.name}` on `{target}`: {error.message}", code=error.code, hint=error.hint
        ) from None
    if plan.max_degree is not None and job.degree > plan.max_degree:
        raise ToolkitError(
            f"step `{step.name}` needs {job.degree} degrees, but the plan allows {plan.max_degree}",
            code="TK-0304",
            hint="lower its degree or its concurrency, or raise `max_degree`",
        )
    return job


def _check_conditions(step: PlanStep, resolved: ResolvedTarget) -> None:
    """Refuse a condition that the engine has no figures for, before anything begins."""
    kinds = {condition.kind for condition in step.only_if}
    if ConditionKind.STALE in kinds and not engine(resolved.target.engine).dates_statistics:
        raise ToolkitError(
            "duckdb does not report stale statistics", code="TK-0304", hint="use `{sql = ..., at_least = ...}`"
        )


def _best_levels(step: PlanStep, store: Store) -> dict[str, Level]:
    """Return the levels that measurements recommend: of the best cell that ended ok."""
    from toolkit.analysis.cells import analyse

    levels: dict[str, Level] = {}
    for factor, ref in step.best_of.items():
        run = find_run(store, ref)
        if run.head.experiment.operation != step.operation:
            raise ToolkitError(
                f"run `{ref}` measured {run.head.experiment.operation}, not {step.operation}",
                code="TK-0107",
                hint="name a measurement of the same operation",
            )
        found = analyse(run)
        good = [each.cell for each in found.cells if each.n > 0 and factor in each.cell]
        if not good:
            raise ToolkitError(
                f"run `{ref}` has no successful configuration with `{factor}`",
                code="TK-0107",
                hint="measure again, or give a level",
            )
        levels[factor] = min(good, key=found.rank)[factor]
    return levels
