"""The proof that statistics did not move, when a run that measured on live objects is cleaned up after a crash."""

from __future__ import annotations

from toolkit.app.runs.planning import facts_from_text
from toolkit.dialects.base import Dialect
from toolkit.executors import Sessions
from toolkit.model.operations import declaration
from toolkit.model.protocols import Events
from toolkit.model.records import RunHead, run_key
from toolkit.model.words import Mode
from toolkit.runner import Changes, PlanningContext
from toolkit.runner.gathering import prove, publish
from toolkit.store import Store


def prove_after_crash(
    head: RunHead, store: Store, dialect: Dialect, sessions: Sessions, changes: Changes, events: Events
) -> None:
    """Compare the statistics with those recorded at the run's beginning, before anything is put back."""
    experiment = head.experiment
    recorded = store.load_facts(head.run)
    unfinished = bool(store.journal(head.run).open_entries())
    if not declaration(experiment.operation).publishes_statistics or experiment.mode is not Mode.MEASUREMENT:
        return
    if recorded is None or not unfinished:
        return
    facts = facts_from_text(recorded)
    planning = PlanningContext(experiment, dialect, facts)
    found = prove(planning.planner(run_key(head.run), 0), planning.cells[0], facts, sessions, changes)
    if found is not None:
        publish(store, head.run, found, events)
