"""Where a plan runs: each target with the jobs that its steps are there, checked before anything begins."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from toolkit.app.approvals import Approvals, check_approved, check_experiment
from toolkit.app.results import find_run
from toolkit.app.ruling import ruled_now
from toolkit.app.runs import licensing
from toolkit.app.targets import Prompt, ResolvedTarget, find_target, fitted
from toolkit.config.profiles import Profile, load_profiles
from toolkit.design.plan_step import experiment_of
from toolkit.errors import UNREACHED, ToolkitError
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.plan import ConditionKind, MaintenancePlan, PlanStep
from toolkit.model.records import RunRecord
from toolkit.model.values import Level
from toolkit.store import Store
from toolkit.targets.base import Target

_AT_ONCE = 16
_PASSING = UNREACHED | {"TK-0302"}


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
    refuse_one_twice((each.name, each.resolved.target) for each in found)
    return tuple(found)


def refuse_one_twice(found: Iterable[tuple[str, Target]]) -> None:
    """Refuse a plan that names one database twice: two works of it would wait for each other's locks.

    Raises:
        ToolkitError: TK-0107, naming the two.
    """
    known: dict[str, str] = {}
    for name, target in found:
        first = known.setdefault(target.lease_key, name)
        if first != name:
            raise ToolkitError(
                f"the targets `{first}` and `{name}` are the same database",
                code="TK-0107",
                hint="name one of them, or write a plan for each",
            )


def obeying_profiles(targets: Iterable[PlanTarget], approvals: Approvals) -> tuple[PlanTarget, ...]:
    """Return targets with the limits of all profiles of their databases; one that these forbid is refused alone.

    Where a target cannot be reached now, each step that begins there is held against them.
    """
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="limits") as pool:
        return tuple(pool.map(lambda each: _obeying(each, approvals), targets))


def _obeying(plan_target: PlanTarget, approvals: Approvals) -> PlanTarget:
    resolved = plan_target.resolved
    try:
        policy = ruled_now(resolved.policy, resolved.target)
        for job in plan_target.jobs:
            check_experiment(job.experiment, policy, approvals)
    except ToolkitError as error:
        return plan_target if error.code in _PASSING else replace(plan_target, refused=error)
    finally:
        resolved.target.close()
    return replace(plan_target, resolved=replace(resolved, policy=policy))


def approved_or_refused(plan_target: PlanTarget, approvals: Approvals) -> PlanTarget:
    """Return a target, refused where only approved work may run and nobody approved this."""
    try:
        check_approved(plan_target.resolved.policy, approvals)
    except ToolkitError as error:
        return replace(plan_target, refused=error)
    return plan_target


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
    licensing.allow(resolved.target, unseen=approvals.unseen_ok)
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
    found = engine(resolved.target.engine)
    if ConditionKind.TRANSACTION_AGE in kinds and not found.ages_transactions:
        raise ToolkitError(
            f"transaction numbers of {found.title} do not wrap around: its tables have no age in transactions",
            code="TK-0304",
            hint="omit `transaction_age` on this target",
        )


def _best_levels(step: PlanStep, store: Store) -> dict[str, Level]:
    """Return the levels that measurements recommend.

    Raises:
        ToolkitError: TK-0107 for a measurement of something else, and for one that recommends nothing.
    """
    levels: dict[str, Level] = {}
    for factor, ref in step.best_of.items():
        run = find_run(store, ref)
        if run.head.experiment.operation != step.operation:
            raise ToolkitError(
                f"run `{ref}` measured {run.head.experiment.operation}, not {step.operation}",
                code="TK-0107",
                hint="name a measurement of the same operation",
            )
        levels[factor] = _recommended(run, factor, ref)
    return levels


def _recommended(run: RunRecord, factor: str, ref: str) -> Level:
    """Return the level that a measurement recommends, or the only one that it was made of."""
    from toolkit.analysis.advice import advise
    from toolkit.analysis.cells import analyse
    from toolkit.analysis.choice import granted_cells

    found = analyse(run)
    granted = [cell for cell in granted_cells(found) if factor in cell]
    if not granted:
        raise ToolkitError(
            f"run `{ref}` has no successful configuration with `{factor}`",
            code="TK-0107",
            hint="measure again, or give a level",
        )
    told = advise(found)
    if told.recommended:
        return told.recommended[0][factor]
    if len({cell[factor] for cell in found.by_cell if factor in cell}) == 1:
        return granted[0][factor]
    raise ToolkitError(
        f"run `{ref}` recommends no level of `{factor}`: {told.headline}",
        code="TK-0107",
        hint=f"give a level, or measure again: `dbatk advise {ref}` says how",
    )
