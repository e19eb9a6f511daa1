"""What was stored: runs and configurations by name, their comparisons and reports."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolkit.analysis.cells import cells
from toolkit.analysis.compare import Comparison, compare
from toolkit.app.files import write_file
from toolkit.errors import ToolkitError
from toolkit.model.records import RunHead, RunRecord
from toolkit.model.values import Cell, spell_level
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.report.render import Format, render
from toolkit.store import Store


@dataclass(frozen=True, slots=True)
class RunSelection:
    """A run, or one cell of it, as a user named it."""

    run: RunRecord
    cell: Cell | None = None


def find_run(store: Store, ref: str, *, samples: bool = False) -> RunRecord:
    """Return the run of an id, its beginning, a label, or `last`.

    Raises:
        ToolkitError: TK-0109.
    """
    record = store.load_run(store.resolve(ref), samples=samples)
    return replace(record, head=_as_it_stands(store, record.head))


def listed_runs(store: Store, limit: int) -> list[RunHead]:
    """Return the newest runs; one whose process was killed shows as interrupted, not as running."""
    return [_as_it_stands(store, head) for head in store.list_runs(limit)]


def _as_it_stands(store: Store, head: RunHead) -> RunHead:
    if head.state is not RunState.RUNNING:
        return head
    try:
        store.refuse_live_run(head.run)
    except ToolkitError:
        return head
    return replace(head, state=RunState.INTERRUPTED)


def find_named(store: Store, ref: str) -> RunSelection:
    """Return a run, or a cell written `RUN/degree=4,compression=none`; levels that tell it suffice.

    Raises:
        ToolkitError: TK-0109 when there is no such run or cell, or when several cells fit.
    """
    name, slash, levels = ref.partition("/")
    run = find_run(store, name)
    return RunSelection(run, _find_cell(run, levels) if slash else None)


def _find_cell(run: RunRecord, text: str) -> Cell:
    found = list(dict.fromkeys(trial.cell for trial in run.trials))
    exact = [cell for cell in found if str(cell) == text]
    wanted = {part.partition("=")[0].strip(): part.partition("=")[2].strip() for part in text.split(",")}
    fitting = exact or [cell for cell in found if _fits(cell, wanted)]
    if len(fitting) == 1:
        return fitting[0]
    what = (
        f"several configurations of run `{run.head.run}` fit"
        if fitting
        else f"run `{run.head.run}` has no configuration"
    )
    shown = ", ".join(f"`{cell}`" for cell in (fitting or found)[:8])
    raise ToolkitError(f"{what} `{text}`", code="TK-0109", hint=f"its configurations are {shown or 'none'}")


def _fits(cell: Cell, wanted: dict[str, str]) -> bool:
    spelled = {name: spell_level(level) for name, level in cell.levels}
    return all(spelled.get(name) == level for name, level in wanted.items())


def compare_named(store: Store, a: str, b: str, *, force: bool = False) -> Comparison:
    """Compare two runs, or two cells of one or two runs.

    Raises:
        ToolkitError: TK-0109 for an unknown name, TK-0110 for work that is not the same.
    """
    first, second = find_named(store, a), find_named(store, b)
    return compare(first.run, second.run, cell_a=first.cell, cell_b=second.cell, force=force)


def report(store: Store, refs: Sequence[str], format: Format) -> str:
    """Return the report of one or several runs; two that can be compared are compared in it.

    Raises:
        ToolkitError: TK-0109.
    """
    runs = [find_run(store, ref, samples=True) for ref in dict.fromkeys(refs)]
    comparisons = []
    if len(runs) == 2:
        # a report of two unlike runs is still a report of both
        with contextlib.suppress(ToolkitError):
            comparisons.append(compare(runs[0], runs[1]))
    return render(runs[0] if len(runs) == 1 else runs, format, comparisons=comparisons)


def format_of(out: Path | None, format: str | None) -> Format:
    """Choose a format: the one named, else by the file's suffix, else text on a terminal and HTML in a file.

    Raises:
        ToolkitError: TK-0102 for an unknown format.
    """
    known = [one.value for one in Format]
    if format is not None:
        if format not in known:
            raise ToolkitError(f"there is no format `{format}`", code="TK-0102", hint="one of " + ", ".join(known))
        return Format(format)
    if out is None:
        return Format.TEXT
    by_suffix = {
        ".html": "html",
        ".htm": "html",
        ".txt": "text",
        ".md": "markdown",
        ".json": "json",
        ".csv": "csv",
    }
    return Format(by_suffix.get(out.suffix.lower(), "html"))


def export(store: Store, ref: str, path: Path) -> str:
    """Write a run to a file that another store can take; return the run's id.

    Raises:
        ToolkitError: TK-0109, TK-0405.
    """
    run = store.resolve(ref)
    write_file(path, store.export_run(run), private=True)
    return run


def ended_well(run: RunRecord) -> bool:
    """Whether every cell has a good repetition (a job: whether all of it was done)."""
    if run.head.state is not RunState.DONE:
        return False
    if run.head.mode is Mode.JOB:
        latest = {trial.trial: trial for trial in sorted(run.trials, key=lambda trial: trial.attempt)}
        return bool(latest) and all(trial.outcome is Outcome.OK for trial in latest.values())
    summaries = cells(run)
    return bool(summaries) and all(summary.n > 0 for summary in summaries)


def failures(run: RunRecord) -> Iterable[str]:
    """Name what did not end ok, once for each cell and reason."""
    told = dict.fromkeys(
        (str(trial.cell), trial.outcome.value, trial.reason or "") for trial in run.trials if trial.outcome != "ok"
    )
    for cell, outcome, reason in told:
        yield f"{cell}: {outcome}" + (f" ({reason})" if reason else "")
