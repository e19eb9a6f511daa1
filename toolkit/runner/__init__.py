"""The runner: takes planned trials through their stages and survives whatever happens meanwhile."""

from toolkit.runner.around import environment_of
from toolkit.runner.changes import Changes
from toolkit.runner.context import Gates, PlanningContext, RunContext, job_of, spec_of, trials_of
from toolkit.runner.judging import interrupted
from toolkit.runner.lease import Locks, holding_lease, holding_locks
from toolkit.runner.leftovers import end_orphaned_sessions
from toolkit.runner.monitor import within
from toolkit.runner.stop import Stop
from toolkit.runner.sweep import Sweep
from toolkit.runner.todo import OUT_OF_REACH, missing, worth_repeating
from toolkit.runner.undo_script import UndoScript
from toolkit.runner.undoing import Undone

__all__ = [
    "OUT_OF_REACH",
    "Changes",
    "Gates",
    "Locks",
    "PlanningContext",
    "RunContext",
    "Stop",
    "Sweep",
    "UndoScript",
    "Undone",
    "end_orphaned_sessions",
    "environment_of",
    "holding_lease",
    "holding_locks",
    "interrupted",
    "job_of",
    "missing",
    "spec_of",
    "trials_of",
    "within",
    "worth_repeating",
]
