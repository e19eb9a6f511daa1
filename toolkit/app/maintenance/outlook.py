"""What a plan would do before it runs: when, where, in which order; who does not answer; what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from zoneinfo import ZoneInfo

from toolkit.app.maintenance.choice import Choice, ExpectedDuration, NextStep, choose, expected
from toolkit.app.maintenance.conditions import unmet, what_must_hold
from toolkit.app.maintenance.guards import GuardRow, guard_rows
from toolkit.app.maintenance.hours import scheduler_sentences
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.runs.databases import database_of, read_server
from toolkit.app.runs.planning import read_planning
from toolkit.app.runs.retention import foreseen
from toolkit.app.runs.undoable import refuse_unasked
from toolkit.design.window import spell_window
from toolkit.dialects.backups import Backups, backups_of
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.executors.reaching import Reach, reach
from toolkit.model.operations import options_of
from toolkit.model.plan import MaintenancePlan, PlanRunRecord, StepRecord, StepState
from toolkit.model.protocols import DatabaseError
from toolkit.model.window import TimeSpan
from toolkit.runner.monitor import within
from toolkit.store import Store
from toolkit.units import seconds

FORMAT = 1
Histories = Mapping[str, Sequence[StepRecord]]
_TARGETS_IN_MEMORY = 50
"""Targets whose histories are held in memory together."""
_ASKED_AT_ONCE = 16
_ANSWER_SECONDS = 120.0
"""How long a target has for an answer: somebody may be typing its password."""
_CLOCK = timedelta(minutes=1)
"""Clocks of two hosts of one plan may differ so much."""
_SHOWN = 3
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class OutlookRow:
    """A step on a target, as the outlook shows it; texts, with `-` for what is not known."""

    target: str
    step: str
    operation: str
    last_done: str
    expected: str
    slow: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a plan would do: in sentences, and each step in the order it would begin."""

    plan: str
    sentences: tuple[str, ...]
    rows: tuple[OutlookRow, ...]


def outlook_of(plan: MaintenancePlan, targets: Sequence[PlanTarget], store: Store, now: datetime) -> Outlook:
    """Return what a plan would do if it began in its next opening, one step after the other.

    Conditions are not asked, but for how long ago a step was done: they are asked when it is about to begin.
    """
    span = plan.windows.now(now) or plan.windows.next(now)
    rows: list[OutlookRow] = []
    for at in range(0, len(targets), _TARGETS_IN_MEMORY):
        some = targets[at : at + _TARGETS_IN_MEMORY]
        known = store.step_histories(plan.name, [step.name for step in plan.steps], [each.name for each in some])
        for plan_target in some:
            history = {job.step.name: known.get((plan_target.name, job.step.name), []) for job in plan_target.jobs}
            rows += _rows(plan, plan_target, history, span, now)
    return Outlook(plan.name, (*_sentences(plan, span, now), *remarks(plan, store, now)), tuple(rows))


def full_outlook(
    plan: MaintenancePlan,
    targets: Sequence[PlanTarget],
    store: Store,
    refused: Mapping[str, ToolkitError] = MappingProxyType({}),
) -> tuple[Outlook, list[GuardRow]]:
    """Return the outlook of this moment with what the targets themselves answer, and what their guards read.

    Args:
        plan: as written.
        targets: where it runs.
        store: where its runs are.
        refused: why nothing may be done on a target without somebody who can be asked.
    """
    now = datetime.now(UTC)
    outlook = outlook_of(plan, targets, store, now)
    unreached = _unreached(targets)
    answering = [plan_target for plan_target in targets if plan_target.name not in unreached]
    sentences = (
        *unreached.values(),
        *scheduler_sentences(plan, answering, now),
        *_removed(plan, answering, store),
        *(sentence for each in answering for sentence in _refused(each)),
    )
    hints = tuple(f"{name} would be refused: {error.sentence}; {error.hint}" for name, error in refused.items())
    rows = tuple(
        replace(row, verdict=f"no: {refused[row.target].sentence}; {refused[row.target].hint}")
        if row.target in refused
        else row
        for row in outlook.rows
    )
    return replace(outlook, rows=rows, sentences=outlook.sentences + hints + sentences), guard_rows(targets)


def _sentences(plan: MaintenancePlan, span: TimeSpan | None, now: datetime) -> list[str]:
    if not plan.windows.each:
        return ["it has no window and may run at any time"]
    sentences = ["window " + ", ".join(spell_window(one) for one in plan.windows.each)]
    if span is not None:
        zone = ZoneInfo(plan.windows.each[0].zone)
        if plan.windows.now(span.end) is not None:
            # what is looked at ends there, the opening does not
            always = plan.windows.spans(now, now + _WEEK)[0].end >= now + _WEEK
            until = "and all week" if always else f"at least until {_moment(span.end, zone)} ({zone.key})"
            return [*sentences, f"open now, {until}"]
        opens = "open now" if span.holds(now) else f"opens {_moment(span.begin, zone)}"
        sentences.append(f"{opens}, closes {_moment(span.end, zone)} ({zone.key})")
    return sentences


def _moment(instant: datetime, zone: ZoneInfo) -> str:
    return f"{instant.astimezone(zone):%a %Y-%m-%d %H:%M}"


def _rows(
    plan: MaintenancePlan, plan_target: PlanTarget, history: Histories, span: TimeSpan | None, now: datetime
) -> list[OutlookRow]:
    """Play the run: each step takes as long as it is expected to, one after the other."""
    records = {
        job.step.name: StepRecord(at, plan_target.name, job.step.name) for at, job in enumerate(plan_target.jobs)
    }
    begin = now if span is None else max(now, span.begin)
    left = None if span is None else (span.end - begin).total_seconds()
    rows: list[OutlookRow] = []
    while True:
        choice = Choice(plan, plan_target.jobs, records, history, frozenset(), left)
        verdict = choose(choice)
        if verdict.step is None:
            return rows
        estimate = expected(history[verdict.step])
        job = next(each for each in plan_target.jobs if each.step.name == verdict.step)
        young = unmet(job, plan_target, history[verdict.step], begin, asking=False)
        if young is not None:
            verdict = NextStep(job.step.name, StepState.SKIPPED, f"not due: {young}")
        if verdict.state is None and left is not None and estimate is not None:
            left -= estimate.seconds
        state = verdict.state or StepState.DONE
        ended = now if state is StepState.DONE else None
        records[job.step.name] = StepRecord(0, plan_target.name, job.step.name, state=state, ended_at=ended)
        asked = what_must_hold(job.step)
        word = verdict.reason or (f"if {asked}" if asked else "yes")
        if verdict.state is StepState.STOPPED and job.step.only_if:
            word = f"{word}; its condition, asked only when it would begin, may skip it"
        rows.append(_row(plan_target.name, job, history[job.step.name], estimate, word))


def _row(
    target: str, job: TargetStep, history: Sequence[StepRecord], estimate: ExpectedDuration | None, verdict: str
) -> OutlookRow:
    done = [each.ended_at for each in history if each.state is StepState.DONE and each.ended_at is not None]
    return OutlookRow(
        target,
        job.step.name,
        job.step.operation,
        f"{max(done):%Y-%m-%d %H:%M}" if done else "never",
        seconds(estimate.seconds if estimate else None),
        seconds(estimate.slow_seconds if estimate else None),
        verdict,
    )


def outlook_document(outlook: Outlook, guards: Sequence[GuardRow] = ()) -> dict[str, object]:
    """Return an outlook as JSON, with what the guards of each target show."""
    return {
        "format": FORMAT,
        "plan": outlook.plan,
        "notes": list(outlook.sentences),
        "steps": [asdict(row) for row in outlook.rows],
        "guards": [asdict(row) for row in guards],
    }


# -- which backups would go -----------------------------------------------------------------------------------
def _removed(plan: MaintenancePlan, targets: Sequence[PlanTarget], store: Store) -> Iterator[str]:
    """Say which older backups the steps would remove, or why that is not known, on targets that answer."""
    for plan_target in targets:
        jobs = [job for job in plan_target.jobs if job.experiment.options.get("keep_for") is not None]
        if not jobs:
            continue
        target = plan_target.resolved.target
        unknown = f"{plan_target.name}: which older backups would be removed is unknown: "
        try:
            dialect = dialect_of(target.engine)
            files = {file for job in jobs for _, file, _ in _ways(dialect, job).clone_differs_in}
            facts = within(_ANSWER_SECONDS, partial(read_server, target, dialect, also=sorted(files)))
        except TimeoutError:
            yield unknown + f"no response within {seconds(_ANSWER_SECONDS)}"
            continue
        except (ToolkitError, DatabaseError) as error:
            yield unknown + error.sentence
            continue
        for job in jobs:
            database = database_of(facts, target)
            approved = plan.approved_only or plan_target.resolved.policy.approved_only
            for sentence in foreseen(job.experiment, database, facts, dialect, store, approved=approved):
                yield f"{job.step.name} on {plan_target.name}: {sentence}"


def _ways(dialect: Dialect, job: TargetStep) -> Backups:
    return backups_of(dialect.work, job.experiment.operation)


# -- what would be refused ------------------------------------------------------------------------------------
def _refused(plan_target: PlanTarget) -> list[str]:
    """Say which steps would be refused for values that no option says how to restore, or that this is unknown."""
    engine = plan_target.resolved.target.engine
    jobs = [
        job for job in plan_target.jobs
        if any(each.name == "restore" and each.is_of(engine) for each in options_of(job.experiment.operation))
    ]  # fmt: skip
    try:
        return within(_ANSWER_SECONDS, partial(_refusals, plan_target, jobs)) if jobs else []
    except TimeoutError:
        unknown = f"{plan_target.name}: whether a step would be refused is unknown: no response within "
        return [unknown + seconds(_ANSWER_SECONDS)]


def _refusals(plan_target: PlanTarget, jobs: Iterable[TargetStep]) -> list[str]:
    target, policy = plan_target.resolved.target, plan_target.resolved.policy
    sessions, found = Sessions(target, "dbatk plan", read_only=True), []
    try:
        for job in jobs:
            try:
                refuse_unasked(
                    read_planning(job.experiment, dialect_of(target.engine), sessions, policy, for_show=True)
                )
            except (ToolkitError, DatabaseError) as error:
                # Another error may be gone once an earlier step is done: it is the run's to tell.
                if isinstance(error, ToolkitError) and error.code == "TK-0118":
                    refused = f"would be refused: {error.sentence}; {error.hint}"
                    found.append(f"{job.step.name} on {plan_target.name} {refused}")
    finally:
        sessions.close()
    return found


# -- who does not answer --------------------------------------------------------------------------------------
def _unreached(targets: Sequence[PlanTarget]) -> dict[str, str]:
    """Return a sentence, by name, for each target that opens no session now; several are asked at a time."""
    if not targets:
        return {}
    with ThreadPoolExecutor(min(_ASKED_AT_ONCE, len(targets)), thread_name_prefix="reach") as pool:
        asked = zip(targets, pool.map(_unreachable_sentence, targets), strict=True)
        return {plan_target.name: sentence for plan_target, sentence in asked if sentence is not None}


def _unreachable_sentence(plan_target: PlanTarget) -> str | None:
    found = reach(plan_target.resolved.target, _ANSWER_SECONDS)
    if found.refused is None:
        return None
    verbs = {Reach.ANSWERS: "refuses sessions", Reach.NOT_ASKED: "could not be asked"}
    return f"{plan_target.name} {verbs.get(found.reach, 'does not answer')} now: {found.refused}"


# -- what has changed since the last run --------------------------------------------------------------------


def remarks(plan: MaintenancePlan, store: Store, now: datetime) -> Sequence[str]:
    """Return what somebody should know who begins a plan now.

    Its steps and its locks are known by the plan's name: a second plan of that name, or an edited file, takes over
    the history of the first. A clock that was set back makes what was done look younger than it is.

    Args:
        plan: about to begin.
        store: where its runs are.
        now: by the clock that dates them.
    """
    found = store.plan_runs(plan.name, limit=1)
    return [sentence for run in found for sentence in _of(plan, run, now)]


def _of(plan: MaintenancePlan, run: PlanRunRecord, now: datetime) -> Iterator[str]:
    last = max(run.began_at, run.ended_at or run.began_at)
    if last > now + _CLOCK:
        yield (
            f"the clock was set back: the last run of `{plan.name}` is of {last:%Y-%m-%d %H:%M} UTC, and it is"
            f" {now:%Y-%m-%d %H:%M}; what was done then counts as done until the clock is past it"
        )
    steps, before = {step.name for step in plan.steps}, {step.step for step in run.steps}
    if run.text == plan.text or steps == before:
        return
    if not steps & before:
        yield (
            f"the last run of a plan `{plan.name}` had other steps ({_names(before)}): two plans of one name"
            " share a lock and a history; give one of them another name"
        )
        return
    new, gone = steps - before, before - steps
    parts = [f"{word}: {_names(names)}" for word, names in (("new", new), ("gone", gone)) if names]
    yield f"plan `{plan.name}` was edited since its last run ({'; '.join(parts)})"


def _names(names: Iterable[str]) -> str:
    ordered = sorted(names)
    shown = ", ".join(f"`{name}`" for name in ordered[:_SHOWN])
    return shown + (", ..." if len(ordered) > _SHOWN else "")
