"""Finds what a job made although nobody lived, or no connection held, to say so."""

from __future__ import annotations

from collections.abc import Callable

from toolkit.model.experiment import Experiment
from toolkit.model.records import ItemRecord
from toolkit.model.words import Keep, Mode, Outcome
from toolkit.runner.changes import Changes
from toolkit.store import Store

_MAKES_ONE = frozenset({"ctas", "index-build"})


def note_completed(
    run: str, experiment: Experiment, changes: Changes, store: Store, warn: Callable[[str], None]
) -> bool:
    """Record the object of a job (or of `--keep best`) that was made before client or connection were lost.

    A CREATE is atomic: when the object exists, its name was free before, and it was born after we meant to make it
    (on DuckDB, whose objects carry no birth: the file was our process's alone), the work was done. To be asked
    before the journal is undone, which gives the object to its user.

    Returns:
        Whether there is such an object.
    """
    if experiment.mode is not Mode.JOB and experiment.keep is not Keep.BEST:
        return False
    found = changes.completed_job_objects()
    noted = experiment.mode is Mode.JOB and experiment.operation in _MAKES_ONE and _noted_before(run, store)
    for trial, label in found:
        items = store.items_of(run, trial)
        if any(item.label == label and item.outcome is Outcome.OK for item in items):
            continue
        ended = [each.attempt for each in store.load_run(run).trials if each.trial == trial]
        begun = [each.attempt for each in store.unended_trials(run) if each.trial == trial]
        attempt = max(ended + begun)
        store.add_item(
            run, trial, attempt, ItemRecord(label, Outcome.OK, reason="found complete after the interruption")
        )
        warn(f"`{label}` had been made before the interruption; its time is not known")
    return bool(found) or noted


def _noted_before(run: str, store: Store) -> bool:
    """Tell whether an earlier look found the object: its entry in the journal is closed since."""
    trials = {each.trial for each in store.load_run(run).trials}
    return any(item.outcome is Outcome.OK for trial in trials for item in store.items_of(run, trial))
