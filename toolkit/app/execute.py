"""Runs experiments: begin, resume, clean. Everything a front end needs, without printing anything."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit import __version__
from toolkit.app.approvals import Approvals, Standing, check_experiment, check_production
from toolkit.app.keeping import keep_best
from toolkit.app.planning import (
    Plan,
    cells_in_order,
    collect_facts,
    describe,
    facts_to_text,
    planned_trials,
    planner_of,
    script,
    support_table,
    with_licences,
)
from toolkit.app.providers import host_is_ours, providers_of
from toolkit.app.space import check_space, free_disk_bytes, needed_bytes
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError, Event, Events
from toolkit.model.records import Artifact, RunHead, TrialRecord
from toolkit.model.runid import new_run_id
from toolkit.model.words import Keep, Mode, Outcome, RunState
from toolkit.operations import operation
from toolkit.runner import (
    Bench,
    Changes,
    Stop,
    Sweep,
    end_ghosts,
    environment_of,
    holding_lease,
    interrupted,
)
from toolkit.store import Store
from toolkit.targets.base import Target

__all__ = [
    "Approvals",
    "CleanReport",
    "Plan",
    "Standing",
    "clean",
    "describe",
    "resume",
    "script",
    "start",
]


@dataclass(frozen=True, slots=True)
class CleanReport:
    """What `clean` put back, and what it left with the statement to run by hand."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def start(
    experiment: Experiment,
    target: Target,
    *,
    store: Store,
    approvals: Approvals,
    events: Events,
    standing: Standing | None = None,
    stop: Stop | None = None,
) -> str:
    """Run an experiment and return the run's id; outcomes of trials are in the store, not exceptions.

    Args:
        experiment: what is run.
        target: where.
        store: where results go.
        approvals: what the user allowed.
        events: told what happens.
        standing: what the target's profile says; nothing for a URL.
        stop: asked between and during trials; signals set it when this is the main thread.

    Raises:
        ToolkitError: whatever refuses the run before it begins, and TK-0202 when the server does not come back.
    """
    standing = standing or Standing()
    check_experiment(experiment, standing, approvals)
    run = new_run_id(datetime.now(UTC), random.Random(secrets.randbits(64)))  # noqa: S311 (an id, no secret)
    sessions = Sessions(target, run)
    try:
        dialect = dialect_of(target.engine)
        facts = with_licences(collect_facts(experiment, dialect, sessions), standing.licences)
        _approve(target, facts, standing, approvals)
        _check(experiment, dialect, facts, target)
        store.create_run(_head(run, experiment, target, facts))
        with holding_lease(store, target.lease_key, run):
            bench = _bench(run, experiment, dialect, facts, sessions, store, events, stop or Stop(), target)
            _keep(bench, facts, target, standing.licences)
            return _sweep(bench, target, planned_trials(experiment), ())
    except DatabaseError as error:
        raise _translated(dialect_of(target.engine), error) from None
    finally:
        sessions.close()


def _approve(target: Target, facts: Facts, standing: Standing, approvals: Approvals) -> None:
    names = {standing.profile_name, str(facts.value("server", "database_name", "") or "")}
    check_production(target.engine, standing, approvals, frozenset(name for name in names if name))


def _check(experiment: Experiment, dialect: Dialect, facts: Facts, target: Target) -> None:
    """Refuse what cannot work before anything is written."""
    planner = planner_of(experiment, dialect, facts)
    work = operation(experiment.operation)
    work.check(planner)
    support_table(experiment, planner, work, cells_in_order((), experiment))
    check_space(experiment, facts, target)


def _head(run: str, experiment: Experiment, target: Target, facts: Facts) -> RunHead:
    return RunHead(
        run,
        experiment,
        target.engine,
        RunState.RUNNING,
        datetime.now(UTC),
        operation_version=operation(experiment.operation).version,
        tool_version=__version__,
        trials_planned=len(planned_trials(experiment)),
        target_name=str(facts.value("server", "database_id", "") or target.display),
    )


def _bench(
    run: str,
    experiment: Experiment,
    dialect: Dialect,
    facts: Facts,
    sessions: Sessions,
    store: Store,
    events: Events,
    stop: Stop,
    target: Target,
    attempt: int = 1,
) -> Bench:
    return Bench(
        run,
        experiment,
        operation(experiment.operation),
        dialect,
        facts,
        sessions,
        store,
        Changes(sessions, dialect, store.journal(run)),
        providers_of(experiment, dialect, facts, sessions, run, target),
        stop,
        events,
        attempt,
        needed_bytes=needed_bytes(experiment, facts),
        free_bytes=lambda: free_disk_bytes(facts, target),
    )


def _keep(bench: Bench, facts: Facts, target: Target, declared: frozenset[str]) -> None:
    """Keep what explains the run: environment, facts, and the script as shown."""
    store, run = bench.store, bench.run
    store.set_environment(run, environment_of(facts, host_is_ours=host_is_ours(target)))
    text = facts_to_text(facts)
    store.save_facts(run, text)
    shown = script(bench.experiment, None, engine=target.engine, facts_text=text, declared=declared)
    store.keep_artifact(run, Artifact("script.sql", "application/sql", shown.encode()))
    mode = "a measurement: every object is ours and is dropped" if not bench.job else "a job: what it makes stays"
    bench.events.emit(Event("mode", f"run {run}, {mode}", {"run": run, "mode": bench.experiment.mode.value}))
    _say_when_too_few(bench)


_LEAST_FREEDOM = 4


def _say_when_too_few(bench: Bench) -> None:
    """Say before, not after, that so few repeats cannot tell a difference."""
    cells = len(cells_in_order((), bench.experiment))
    if cells < 2 or (cells - 1) * (bench.experiment.repeat - 1) >= _LEAST_FREEDOM:
        return
    enough = 1 + -(-_LEAST_FREEDOM // (cells - 1))
    repeats = "1 repeat" if bench.experiment.repeat == 1 else f"{bench.experiment.repeat} repeats"
    sentence = f"{repeats} of each cell will not tell a difference from noise"
    bench.events.emit(Event("warning", f"{sentence}; --repeat {enough} is the least that can"))


def _sweep(bench: Bench, target: Target, planned: Sequence[PlannedTrial], done: Sequence[TrialRecord]) -> str:
    with bench.stop.listening():
        state = Sweep(bench, target, planned, done).run()
        if state is RunState.DONE and bench.experiment.keep is Keep.BEST:
            keep_best(bench, target)
    bench.events.emit(Event("run-ended", state.value, {"run": bench.run, "state": state.value}))
    if bench.stop.requested and state is RunState.INTERRUPTED:
        raise ToolkitError(
            f"run {bench.run} was interrupted", code="TK-0130", hint=f"`dbatk runs resume {bench.run}` goes on"
        )
    return bench.run


def _translated(dialect: Dialect, error: DatabaseError) -> ToolkitError:
    advice = dialect.explain(error.code, error.message)
    return ToolkitError(
        error.message.strip().splitlines()[0] if error.message.strip() else error.code,
        code="TK-0202" if error.lost else "TK-0203",
        hint=advice.advice if advice else None,
        database_code=error.code,
    )


# -- after an interruption --------------------------------------------------------------------------------------
def resume(
    run: str,
    target: Target,
    *,
    store: Store,
    approvals: Approvals,
    events: Events,
    standing: Standing | None = None,
    stop: Stop | None = None,
) -> str:
    """Run exactly the trials (of a job: the items) that are missing.

    Ghost sessions are ended first, what was left is undone, the broken trial is marked `interrupted`, and other
    facts or another environment are warned of.

    Raises:
        ToolkitError: TK-0302 when the run is alive, TK-0308 when its sessions cannot be ended; as `start`.
    """
    standing = standing or Standing()
    record = store.load_run(run)
    experiment = record.head.experiment
    check_experiment(experiment, standing, approvals)
    dialect = dialect_of(target.engine)
    store.refuse_live_run(run)
    sessions = Sessions(target, run)
    try:
        with holding_lease(store, target.lease_key, run):
            end_ghosts(target, dialect, run)
            facts = with_licences(collect_facts(experiment, dialect, sessions), standing.licences)
            _approve(target, facts, standing, approvals)
            attempt = 1 + max((trial.attempt for trial in record.trials), default=0)
            attempt = max(attempt, 1 + max((mark.attempt for mark in store.unended_trials(run)), default=0))
            bench = _bench(
                run, experiment, dialect, facts, sessions, store, events, stop or Stop(), target, attempt
            )
            _mark_broken(bench)
            finished = _finished_job_object(bench)
            _undo(bench)
            _warn_of_changes(bench, facts, target)
            store.reopen_run(run)
            if not finished:
                _check(experiment, dialect, facts, target)
            return _sweep(bench, target, planned_trials(experiment), store.load_run(run).trials)
    except DatabaseError as error:
        raise _translated(dialect, error) from None
    finally:
        sessions.close()


def _mark_broken(bench: Bench) -> None:
    """Record the trial that a kill cut off as interrupted; it is never in the numbers."""
    for mark in bench.store.unended_trials(bench.run):
        planned = PlannedTrial(mark.trial, mark.cell, mark.repeat)
        bench.store.end_trial(bench.run, interrupted(planned, mark.attempt, mark.began_at))
        bench.events.emit(Event("warning", f"trial {mark.trial} ({mark.cell}) was cut off and is run again"))


def _finished_job_object(bench: Bench) -> bool:
    """Record the object of a job that was made although nobody lived to say so.

    A CREATE is atomic: when the object exists, its name was free before, and it was born after we meant to make it
    (on DuckDB, whose objects carry no birth: the file was our process's alone), the work was done.
    """
    if bench.experiment.mode is not Mode.JOB:
        return False
    found = bench.changes.completed_job_objects()
    for trial, label in found:
        from toolkit.model.records import ItemRecord

        if any(
            item.label == label and item.outcome is Outcome.OK for item in bench.store.items_of(bench.run, trial)
        ):
            continue
        broken = max(bench.store.load_run(bench.run).trials, key=lambda each: each.attempt)
        item = ItemRecord(label, Outcome.OK, reason="found complete after the interruption")
        bench.store.add_item(bench.run, trial, broken.attempt, item)
        bench.warn(f"`{label}` had been made before the interruption; its time is not known")
    return bool(found)


def _undo(bench: Bench) -> None:
    undone = bench.changes.undo_all(bench.run)
    for sentence in undone.done:
        bench.events.emit(Event("cleanup", sentence))
    if undone.left:
        raise ToolkitError(undone.left[0], code="TK-0307", hint="decide about it by hand, then resume again")


_TIDES = frozenset({"server", "space", "settings", "target_name"})


def _warn_of_changes(bench: Bench, facts: Facts, target: Target) -> None:
    """Say what differs from the first attempt: catalogue and environment."""
    from toolkit.app.planning import facts_from_text

    before = bench.store.load_facts(bench.run)
    if before is not None:
        old = facts_from_text(before)
        changed = [
            key for key in facts.answers if key not in _TIDES and old.answers.get(key) != facts.answers[key]
        ]
        if changed:
            bench.warn(f"the catalogue has changed since the first attempt: {', '.join(sorted(changed))}")
    now = environment_of(facts, host_is_ours=host_is_ours(target))
    then = bench.store.load_run(bench.run).environment
    differ = sorted(
        name for name in now if name in then and str(then[name]) != str(now[name]) and name != "host_load_1min"
    )
    if differ:
        bench.warn(f"the environment has changed since the first attempt: {', '.join(differ)}")


def clean(target: Target, *, run: str | None, store: Store, events: Events) -> CleanReport:
    """Undo what crashed runs left on this target.

    Args:
        target: where to look.
        run: only this run; None takes every run of this target with open journal entries.
        store: where the journal is.
        events: told what happens.

    Raises:
        ToolkitError: TK-0302 when the run is alive, TK-0308 when its sessions cannot be ended.
    """
    dialect = dialect_of(target.engine)
    runs = [run] if run is not None else _runs_left(store, target)
    done: list[str] = []
    left: list[str] = []
    for each in runs:
        store.refuse_live_run(each)
        sessions = Sessions(target, f"{each}-clean")
        try:
            end_ghosts(target, dialect, each)
            undone = Changes(sessions, dialect, store.journal(each)).undo_all(each)
        except DatabaseError as error:
            raise _translated(dialect, error) from None
        finally:
            sessions.close()
        done += [f"{each}: {sentence}" for sentence in undone.done]
        left += [f"{each}: {sentence}" for sentence in undone.left]
        events.emit(Event("cleanup", f"run {each}: {len(undone.done)} undone, {len(undone.left)} left"))
    return CleanReport(tuple(done), tuple(left))


def _runs_left(store: Store, target: Target) -> list[str]:
    """Return the runs with open entries whose experiment was on this target."""
    runs = dict.fromkeys(entry.run for entry in store.open_entries_all())
    return [run for run in runs if store.load_head(run).engine is target.engine]
