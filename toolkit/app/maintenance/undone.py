"""What undoing a failed step came to, in words: what was put back, and what stays and why."""

from __future__ import annotations

from toolkit.app.runs.repair import CleanReport
from toolkit.model.words import EntryState, Outcome
from toolkit.store import Store
from toolkit.units import counted, number


def told_of_undoing(report: CleanReport, run: str, store: Store) -> str:
    """Return what became of the changes of a run.

    What a step made whole is its user's, and rows that were committed cannot be told from others any more: nothing
    of that is taken away, and it is named instead.
    """
    said = [f"{counted(len(report.done), 'change')} put back"] if report.done else []
    if report.left:
        said.append(f"{len(report.left)} left: see `dbatk clean`")
    said += _staying(run, store)
    return ", ".join(said) or "it left nothing to put back"


def _staying(run: str, store: Store) -> list[str]:
    """Name what a run made that stays."""
    entries = (
        each for each in store.journal(run).entries() if each.state is EntryState.ABANDONED and each.identity
    )
    names = dict.fromkeys(
        f"{each.object_kind} `{f'{each.schema}.' if each.schema else ''}{each.name}`" for each in entries
    )
    said = [f"{name} stays" for name in names]
    record = store.load_run(run, samples=False)
    if record.head.experiment.operation == "insert":
        rows = sum(trial.rows or 0 for trial in record.trials if trial.outcome is Outcome.OK)
        if rows:
            said.append(f"{number(rows)} rows stay: they are committed")
    return said
