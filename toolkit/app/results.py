"""What is stored: runs, configurations and snapshots by name, their comparisons and reports.

What compares is loaded only for that: a list or one run needs none of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.app.ceilings import ceilings_of
from toolkit.app.files import write_file
from toolkit.errors import ToolkitError
from toolkit.model.records import RunHead, RunRecord
from toolkit.model.state import SnapshotHead
from toolkit.model.values import Cell, spell_level
from toolkit.model.words import Mode, Outcome, RunState, status
from toolkit.store import Store

if TYPE_CHECKING:
    from toolkit.analysis.compare import Comparison
    from toolkit.analysis.snapshot_diff import SnapshotDiff
    from toolkit.report.render import Format


@dataclass(frozen=True, slots=True)
class ComparedSnapshots:
    """What happened between two snapshots, and notes on how their names were understood."""

    between: SnapshotDiff
    sentences: tuple[str, ...]


def compare_snapshots(store: Store, a: str, b: str) -> ComparedSnapshots:
    """Return what happened between two stored snapshots.

    Raises:
        ToolkitError: TK-0114 for a label that is not stored, TK-0110 when the two cannot be compared.
    """
    from toolkit.analysis.snapshot_diff import between

    (one, notes_a), (other, notes_b) = find_snapshot(store, a), find_snapshot(store, b)
    found = between(store.load_snapshot(one.number), store.load_snapshot(other.number))
    return ComparedSnapshots(found, tuple(dict.fromkeys((*notes_a, *notes_b, *found.sentences))))


def is_stored(store: Store, text: str) -> bool:
    """Whether a label or number (`#7`) names a snapshot."""
    return bool(_named(store, text))


def find_snapshot(store: Store, text: str) -> tuple[SnapshotHead, tuple[str, ...]]:
    """Return the newest snapshot of a label, or the one of a number (`#7`), and a note if there was a choice.

    Raises:
        ToolkitError: TK-0114.
    """
    found = _named(store, text)
    if not found:
        raise ToolkitError(f"there is no snapshot `{text}`", code="TK-0114", hint=_near(store, text))
    if len(found) > 1:
        return found[0], (
            f"{len(found)} snapshots are named `{text}`; the newest is used (#{found[0].number}), an older one "
            f"is #{found[1].number}",
        )
    return found[0], ()


def _named(store: Store, text: str) -> Sequence[SnapshotHead]:
    if text.startswith("#") and text[1:].isascii() and text[1:].isdecimal():
        return [head for head in store.snapshots() if head.number == int(text[1:])]
    return list(store.snapshots(text.strip()))


def _near(store: Store, text: str) -> str:
    from toolkit.documents import nearest

    near = nearest(text, {head.label for head in store.snapshots()})
    return f"did you mean `{near}`? see `dbatk snapshot list`" if near else "see `dbatk snapshot list`"


@dataclass(frozen=True, slots=True)
class RunSelection:
    """A run, or one cell of it, as a user named it."""

    run: RunRecord
    cell: Cell | None = None


def find_run(store: Store, ref: str, *, samples: bool = False) -> RunRecord:
    """Return the run of an id, its beginning, a label, or `last`, in the state that `runs list` shows.

    Raises:
        ToolkitError: TK-0109.
    """
    record = store.load_run(store.resolve(ref), samples=samples)
    (head,) = _as_they_stand(store, [record.head])
    return replace(record, head=head, ceilings=ceilings_of(store, record.environment))


def listed_runs(store: Store, limit: int | None) -> list[RunHead]:
    """Return the newest runs (without a limit all), each with the state that `find_run` gives it."""
    return _as_they_stand(store, store.list_runs(limit))


def statuses(store: Store, heads: Sequence[RunHead]) -> list[str]:
    """Return the word that people read for how each run ended: `ok` if each trial's last attempt was."""
    done = [head.run for head in heads if head.state is RunState.DONE]
    doubtful = store.runs_with_trials(done, frozenset(Outcome) - {Outcome.OK})
    return [status(head.state, well=head.run not in doubtful) for head in heads]


def statuses_of(store: Store, runs: Iterable[str]) -> dict[str, str]:
    """Return the word that `statuses` has for each of some runs, as a list shows it; deleted ones are left out."""
    heads = []
    for run in dict.fromkeys(runs):
        with contextlib.suppress(ToolkitError):
            heads.append(store.load_head(run))
    standing = _as_they_stand(store, heads)
    return {head.run: word for head, word in zip(standing, statuses(store, standing), strict=True)}


def _as_they_stand(store: Store, stored: Iterable[RunHead]) -> list[RunHead]:
    """Show a run whose process was killed as interrupted, and a job as failed of which something was not done."""
    heads = [_died(store, head) for head in stored]
    done = [head.run for head in heads if head.mode is Mode.JOB and head.state is RunState.DONE]
    undone = store.runs_with_trials(done, (Outcome.FAILED, Outcome.INTERRUPTED))
    return [replace(head, state=RunState.FAILED) if head.run in undone else head for head in heads]


def _died(store: Store, head: RunHead) -> RunHead:
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


def compare_named(
    store: Store, a: str, b: str, *, force: bool = False, metrics: Collection[str] = ()
) -> Comparison:
    """Compare two runs, or two cells of one or two runs.

    Args:
        store: where they are.
        a: the run to compare with.
        b: the run in question.
        force: compare what did not do the same work all the same.
        metrics: what is compared besides that by which the operation is judged.

    Raises:
        ToolkitError: TK-0109 for an unknown name, TK-0110 for work that is not the same, TK-0107 for the same run
            or configuration twice.
    """
    from toolkit.analysis.compare import compare
    from toolkit.app.environments import with_environments_kept
    from toolkit.app.history import earlier_runs

    first, second = find_named(store, a), find_named(store, b)
    cell_a, cell_b = first.cell or second.cell, second.cell or first.cell  # a run beside a configuration means it
    if (first.run.head.run, cell_a) == (second.run.head.run, cell_b):
        what = f"run `{first.run.head.run}`" + (f", configuration `{cell_a}`" if cell_a else "")
        before = (
            f"the run before it is `{a.partition('/')[0]}~1`; "
            if len(store.of_one_name(a.partition("/")[0])) > 1
            else ""
        )
        raise ToolkitError(
            f"`{a}` and `{b}` are the same: {what}",
            code="TK-0107",
            hint=f"{before}name two runs, or two configurations such as RUN/degree=4; see `dbatk runs list`",
        )

    found = compare(
        first.run,
        second.run,
        cell_a=first.cell,
        cell_b=second.cell,
        force=force,
        history=() if first.run.head.run == second.run.head.run else earlier_runs(store, first.run, metrics),
    )
    return with_environments_kept(store, found)


def choices(store: Store, *refs: str) -> Iterator[str]:
    """Say of each label that names several runs which one is meant."""
    for ref in dict.fromkeys(name.partition("/")[0] for name in refs):
        found = store.of_one_name(ref)
        if len(found) > 1:
            yield (
                f"{len(found)} runs are named `{ref}`; the newest is used: {found[0].run}, of "
                f"{found[0].began_at:%Y-%m-%d %H:%M} UTC (the one before is `{ref}~1`, {found[1].run})"
            )


def report(store: Store, refs: Sequence[str], format: Format, worth_pct: float) -> str:
    """Return the report of one or several runs; two that can be compared are compared in it.

    Raises:
        ToolkitError: TK-0109.
    """
    from toolkit.report.render import render

    runs = [find_run(store, ref, samples=True) for ref in dict.fromkeys(refs)]
    comparisons = []
    if len(runs) == 2:
        from toolkit.analysis.compare import compare
        from toolkit.app.environments import with_environments_kept
        from toolkit.app.history import earlier_runs

        # a report of two unlike runs is still a report of both
        with contextlib.suppress(ToolkitError):
            found = compare(runs[0], runs[1], history=earlier_runs(store, runs[0]))
            comparisons.append(with_environments_kept(store, found))
    return render(runs[0] if len(runs) == 1 else runs, format, comparisons=comparisons, worth_pct=worth_pct)


def format_of(out: Path | None, format: str | None) -> Format:
    """Choose a format: the one named, else by the file's suffix, else text on a terminal and HTML in a file.

    Raises:
        ToolkitError: TK-0102 for an unknown format, or a suffix that is of none.
    """
    from toolkit.report.render import Format

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
    suffix = out.suffix.lower()
    if suffix not in by_suffix and out.name != out.stem:
        paper = "write `.html` and print it from a browser; " if suffix == ".pdf" else ""
        raise ToolkitError(
            f"no report is written as `{suffix}`",
            code="TK-0102",
            hint=f"{paper}a suffix says the format: {', '.join(by_suffix)}; or give `--format`",
        )
    return Format(by_suffix.get(suffix, "html"))


def export(store: Store, ref: str, path: Path) -> str:
    """Write a run to one JSON file; return the run's id.

    Raises:
        ToolkitError: TK-0109, TK-0405.
    """
    run = store.resolve(ref)
    write_file(path, store.export_run(run))
    return run


def undo_script_left(store: Store, run: str) -> Path | None:
    """Return the path of a run's undo script while it is there: something is still to be undone."""
    path = store.undo_script(run)
    return path if path.is_file() else None


def ended_well(run: RunRecord) -> bool:
    """Whether every cell has a good repetition and no trial failed (a job: whether all of it was done)."""
    if run.head.state is not RunState.DONE:
        return False
    latest = run.latest_trials
    if run.head.mode is Mode.JOB:
        return bool(latest) and all(trial.outcome is Outcome.OK for trial in latest)
    if any(trial.outcome is Outcome.FAILED for trial in latest):
        return False
    from toolkit.analysis.cells import cells

    summaries = cells(run)
    return bool(summaries) and all(summary.n > 0 for summary in summaries)


def job_done(run: RunRecord) -> bool:
    """Whether all work of a job was done, if perhaps with less parallelism than was asked for."""
    latest = run.latest_trials
    return run.head.state is RunState.DONE and bool(latest) and all(trial.done for trial in latest)


def failures(run: RunRecord) -> Iterable[str]:
    """Name what did not end ok, each outcome and reason once, with the cells and the number of their trials.

    And the cells whose good trials were all disturbed by other load: they have no time, though nothing failed.
    """
    ended, only = dict[tuple[Outcome, str], list[str]](), "the only configuration"
    for trial in run.latest_trials:
        if trial.outcome is not Outcome.OK:
            ended.setdefault((trial.outcome, trial.reason or ""), []).append(str(trial.cell) or only)
    for (outcome, reason), trials in ended.items():
        word = "failed" if outcome is Outcome.FAILED else "warning"
        cells_named = "; ".join(dict.fromkeys(trials))
        what = cells_named if outcome is Outcome.FAILED else f"{cells_named}: {outcome}"
        times = f", {len(trials)} trials" if len(trials) > 1 else ""
        yield f"{word}: {what}{times}" + (f" ({reason})" if reason else "")
    if run.head.mode is Mode.MEASUREMENT:
        from toolkit.analysis.cells import cells

        for each in cells(run):
            if each.disturbed and not each.n:
                what = str(each.cell) or only
                yield f"warning: {what}: other load disturbed all trials; measure it when the host is quieter"


class Stored(StrEnum):
    """What the store keeps that `compare` takes."""

    RUNS = "runs"
    SNAPSHOTS = "snapshots"


def kind_of(store: Store, a: str, b: str) -> tuple[Stored, str | None]:
    """Return what two names mean, and a note where they could mean something else as well.

    Raises:
        ToolkitError: TK-0109 or TK-0114 for a name that means neither, TK-0102 for a run against a snapshot.
    """
    errors = [_error_of_run(store, name) for name in (a, b)]
    snapshots = [is_stored(store, name) for name in (a, b)]
    if errors == [None, None]:
        note = f"`{a}` and `{b}` are also labels of snapshots: give those by number, such as `#1`"
        return Stored.RUNS, note if all(snapshots) else None
    if all(snapshots):
        return Stored.SNAPSHOTS, None
    for name, error, is_snapshot in zip((a, b), errors, snapshots, strict=True):
        if error is not None and not is_snapshot:
            raise _unknown(store, name, error, run=None in errors, snapshot=any(snapshots))
    run, snapshot = (a, b) if errors[0] is None else (b, a)
    raise ToolkitError(
        f"`{run}` is a run and `{snapshot}` is a snapshot",
        code="TK-0102",
        hint="compare two runs, two snapshots, or two intervals such as `A1..A2`",
    )


def _error_of_run(store: Store, name: str) -> ToolkitError | None:
    try:
        store.resolve(name.partition("/")[0])
    except ToolkitError as error:
        return error
    return None


def _unknown(store: Store, name: str, error: ToolkitError, *, run: bool, snapshot: bool) -> ToolkitError:
    """Return the error for a name that is not stored, in the words of what the other name means."""
    if snapshot and not run:
        try:
            find_snapshot(store, name)
        except ToolkitError as missing:
            return missing
    separator = " " if error.hint.endswith("?") else "; "
    hint = error.hint if run else f"{error.hint}{separator}`dbatk snapshot list` lists the snapshots"
    return ToolkitError(error.message, code=error.code, hint=hint)
