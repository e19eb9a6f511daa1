"""A job whose client died while the server went on: what was read when it began, and now, tells that it is done.

Work that the server has done cannot be done again: what was pending is pending no more, a partition that was split
is gone. Its implementation says so (`Implementation.ended_before`), and nothing is sent a second time.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from toolkit.model.facts import facts_from_text
from toolkit.model.protocols import Event, Events
from toolkit.model.records import ItemRecord, TrialRecord
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.runner import PlanningContext
from toolkit.runner.todo import done_before
from toolkit.store import Store

DONE_MEANWHILE = "found done after the interruption; its time is unknown"


def found_done(run: str, planning: PlanningContext, attempt: int, store: Store, events: Events) -> bool:
    """Record a job as done where all that it was to do is done; tell whether it is.

    Args:
        run: a run that was interrupted.
        planning: with the facts of now.
        attempt: the number of the one that begins.
        store: holds the facts of its beginning.
        events: receives what was found.
    """
    recorded, experiment = store.load_facts(run), planning.experiment
    if experiment.mode is not Mode.JOB or recorded is None:
        return False
    then = replace(planning, facts=facts_from_text(recorded))
    how, (trial,) = planning.dialect.work.of(experiment.operation), planning.trials
    works = {piece.label: piece.work for piece in then.pieces(trial.cell)}
    known = done_before(store, run, trial.number)
    ended = {label for label, work in works.items() if how.ended_before(work, then.facts, planning.facts)}
    if not ended or not works.keys() <= known.keys() | ended:
        return False
    if works.keys() <= known.keys() and store.load_head(run).state is RunState.DONE:
        return True
    if any(each.trial == trial.number and each.outcome is Outcome.OK for each in store.load_run(run).trials):
        # its client was cut off between the end of the trial and that of the run
        store.end_run(run, RunState.DONE, datetime.now(UTC))
        return True
    items = tuple(known.get(label) or ItemRecord(label, Outcome.OK, reason=DONE_MEANWHILE) for label in works)
    now = datetime.now(UTC)
    store.end_trial(
        run,
        TrialRecord(trial.number, attempt, trial.cell, trial.repeat, Outcome.OK, now, now, reason=DONE_MEANWHILE,
                    items=items),
    )  # fmt: skip
    store.end_run(run, RunState.DONE, now)
    if named := ", ".join(f"`{label}`" for label in works if label not in known):
        events.emit(Event("warning", f"{named}: {DONE_MEANWHILE}, and nothing was sent again"))
    return True
