"""The few lines shown at the end of a run: the cells, and what to make of them; 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolkit.analysis.advice import advise
from toolkit.analysis.cells import analyse
from toolkit.analysis.judged import Judged, judged_of
from toolkit.analysis.sequential import how_it_ended
from toolkit.model.operations import degree_factor
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.words import Mode, Outcome
from toolkit.report.labels import label_of
from toolkit.report.layout import bullets, text_table, wrapped
from toolkit.report.restored import restored
from toolkit.report.safe import clean
from toolkit.report.tables import short_cells_table
from toolkit.units import byte_size, count, counted, quantity, seconds

_MOST_DOUBTS = 4
_MOST_ITEMS = 10


def summary_text(run_or_runs: RunRecord | Sequence[RunRecord], *, whole: bool = False) -> str:
    """Return a short account of runs: a table of cells each, and the advice made from the numbers.

    Args:
        run_or_runs: one run, or several.
        whole: leave no warning to the report: one of them may name what a run changed and could not undo.
    """
    runs = [run_or_runs] if isinstance(run_or_runs, RunRecord) else run_or_runs
    most = None if whole else _MOST_DOUBTS
    return "\n\n".join("\n".join(_run(run, most)) for run in runs) + "\n"


def _run(run: RunRecord, most: int | None) -> list[str]:
    kind = "job" if run.head.mode is Mode.JOB else "run"
    title = wrapped(clean(f"{run.head.experiment.operation} {_object(run)} ({kind} {run.head.run})"))
    return [*title, *(_job(run, most) if run.head.mode is Mode.JOB else _measurement(run, most))]


def _object(run: RunRecord) -> str:
    options = run.head.experiment.options
    named = (options.get(name) for name in ("table", "index", "schema"))
    found = next((name for name in named if name), "")
    return " ".join(found) if isinstance(found, tuple) else str(found)


def _measurement(run: RunRecord, most: int | None) -> list[str]:
    found = analyse(run)
    advice = advise(found)
    cells = text_table(short_cells_table(found, advice.best, advice.recommended)) if found.cells else []
    return [
        *cells,
        *wrapped(clean(advice.headline)),
        *bullets(map(clean, (*advice.sentences, *how_it_ended(run)))),
        *_doubts((*advice.doubts, *run.warnings), most),
    ]


def _doubts(doubts: Sequence[str], most: int | None) -> list[str]:
    more = 0 if most is None else len(doubts) - most
    lines = bullets(map(clean, doubts[:most]), "! ")
    return [*lines, f"! and {more} more, see the report"] if more > 0 else lines


def _job(run: RunRecord, most: int | None) -> list[str]:
    if not run.trials:
        return ["nothing was executed", *_doubts(run.warnings, most)]
    word = degree_factor(run.head.experiment.operation)
    judged = judged_of(run)
    done = (line for trial in run.trials for line in _execution(trial, word, judged))
    return [*done, *_doubts(run.warnings, most)]


def job_headline(run: RunRecord) -> str:
    """Say in one sentence how a job ended: beside its state, so of one that ended well only the figures."""
    if not run.trials:
        return "nothing was executed"
    last, word, judged = run.trials[-1], degree_factor(run.head.experiment.operation), judged_of(run)
    if last.outcome is Outcome.OK and not last.reason:
        return ", ".join(_figures(last, word, judged))
    return _ended(last, word, judged)


def _ended(trial: TrialRecord, word: str, judged: Judged) -> str:
    # an error already carries its code; the reason stands last, it may be long
    why = f": {trial.reason}" if trial.reason else ""
    parts = _figures(trial, word, judged)
    measured = f" ({', '.join(parts)})" if parts else ""
    return clean(f"{trial.outcome}{measured}{why}")


def _figures(trial: TrialRecord, word: str, judged: Judged) -> list[str]:
    parts = [seconds(trial.elapsed_seconds)] if trial.elapsed_seconds is not None else []
    value = judged.of(trial)
    parts += [judged.spell(value)] if value is not None and not judged.is_time else []
    parts += [counted(trial.rows, "row")] if trial.rows is not None else []
    parts += [byte_size(trial.bytes)] if trial.bytes else []
    unknown = trial.elapsed_seconds is not None and (trial.requested_degree or 1) > 1
    parts += [_degree(trial, word)] if word and (trial.granted_degree or unknown) else []
    return parts


def _execution(trial: TrialRecord, word: str, judged: Judged) -> Iterator[str]:
    """Say how a job ended, and name the items that did not end ok; `word` is what its degree is called."""
    yield from wrapped(_ended(trial, word, judged))
    yield from bullets(map(clean, _changed(trial)))
    yield from bullets(map(clean, restored(trial)))
    bad = [item for item in trial.items if item.outcome is not Outcome.OK]
    for item in bad[:_MOST_ITEMS]:
        why = f", {item.reason}" if item.reason and item.reason != trial.reason else ""  # said once
        yield from wrapped(clean(f"{item.label}: {item.outcome}{why}"), "- ")
    if len(bad) > _MOST_ITEMS:
        yield f"- and {count(len(bad) - _MOST_ITEMS)} more items not ok, see the report"


def _changed(trial: TrialRecord) -> Iterator[str]:
    """Say what the catalogue told before the work and tells after it."""
    found = {metric.name: metric for metric in trial.metrics}
    for name, before in found.items():
        what = name.removesuffix("_before")
        after = found.get(f"{what}_after")
        if what != name and after is not None and (before.value or after.value):
            values = [quantity(each.value, each.unit) for each in (before, after)]
            yield f"{label_of(what)}: {values[0]} before, {values[1]} after"


def _degree(trial: TrialRecord, word: str) -> str:
    asked = trial.requested_degree
    of_asked = f" of {asked}" if asked is not None and asked != trial.granted_degree else ""
    return f"{word} {trial.granted_degree or 'unknown'}{of_asked}"
