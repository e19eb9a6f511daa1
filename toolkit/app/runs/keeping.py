"""`--keep best`: the best configuration of a measurement, run once more as a job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from toolkit.analysis.advice import advice
from toolkit.app.runs.doubt import refuse_loaded_in_part
from toolkit.app.runs.planning import collect_facts
from toolkit.errors import UNREACHED, ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.records import TrialRecord
from toolkit.model.words import Outcome, RunState
from toolkit.runner import RunContext, job_of
from toolkit.runner.leftovers import note_completed
from toolkit.runner.parts import named_later, nothing_named
from toolkit.runner.settings import ServerSettings
from toolkit.runner.trial import run_trial


def keep_best(context: RunContext) -> None:
    """Run the best cell of a measurement as a job; its trial is stored with repeat 0, out of the numbers.

    That is the one which is recommended, or where nothing is, the one with the best median. A resume that finds it
    done does not do it twice.

    Raises:
        ToolkitError: TK-0205 when the object exists by now; TK-0203 when the job fails; TK-0130 when it is
            stopped.
    """
    stored = context.store.load_run(context.run)
    refuse_loaded_in_part(context)
    before = [trial for trial in stored.trials if trial.trial > stored.head.trials_planned]
    if any(map(_kept, before)):
        return
    cell = advice(stored).first
    if cell is None:
        context.warn("no configuration succeeded, so there is no best one to keep")
        return
    job = job_of(context.experiment, cell)
    planning = collect_facts(job, context.dialect, context.sessions)
    own = replace(context, planning=planning, server=ServerSettings())
    planner = own.planner()
    own.operation.check(planner)
    # a further attempt of the trial that failed, which then counts no more
    number = before[-1].trial if before else 1 + stored.head.trials_planned
    planned = PlannedTrial(number, cell, 0)
    context.store.begin_trial(context.run, number, context.attempt, cell, 0, datetime.now(UTC))
    pieces, stages = own.operation.pieces(planner, cell), own.stages(cell, 0)
    record = run_trial(own, planned, context.attempt, pieces, stages).record
    record = nothing_named(record) if named_later(stages) else record
    context.store.end_trial(context.run, record)
    made = record.outcome is Outcome.OK or note_completed(
        context.run, context.experiment, context.changes, context.store, context.warn
    )
    context.warn(*context.changes.undo_all(keep_open=True).left)  # settings of the server
    context.sessions.close()
    if record.outcome is Outcome.INTERRUPTED:
        raise ToolkitError(
            f"run {context.run} was interrupted while keeping the best configuration", code="TK-0130"
        )
    if not made:
        raise ToolkitError(f"the best configuration ({cell}) could not be kept: {record.reason}", code="TK-0203")
    if record.outcome is not Outcome.OK:
        context.warn(f"the best configuration ({cell}) was kept, and then its trial failed: {record.reason}")
    context.events.emit(Event("kept", f"kept the best configuration ({cell}) as `{pieces[0].work.object.name}`"))


@contextmanager
def interrupted_where_cut_off(context: RunContext) -> Iterator[None]:
    """Let no run stay `done` whose sessions were lost after its trials: `clean` looks for what is left of them."""
    try:
        yield
    except (DatabaseError, ToolkitError) as error:
        if (
            context.sessions.cut_off
            or error.code in UNREACHED
            or (isinstance(error, DatabaseError) and error.lost)
        ):
            context.store.end_run(context.run, RunState.INTERRUPTED, datetime.now(UTC))
        raise


def _kept(trial: TrialRecord) -> bool:
    return trial.outcome is Outcome.OK or any(item.outcome is Outcome.OK for item in trial.items)
