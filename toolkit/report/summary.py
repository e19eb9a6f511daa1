"""The few lines shown at the end of a run: the cells, and what to make of them; 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from toolkit import units
from toolkit.analysis import CellSummary, advice, cells
from toolkit.model.records import RunRecord
from toolkit.model.words import Mode, Outcome
from toolkit.report.safe import clean

WIDTH = 80
_MOST_DOUBTS = 4


def summary_text(runs: Sequence[RunRecord]) -> str:
    """Return a short account of runs: a table of cells each, and the advice made from the numbers."""
    return "\n\n".join("\n".join(_run(run)) for run in runs) + "\n"


def _run(run: RunRecord) -> list[str]:
    experiment = run.head.experiment
    table = experiment.options.get("table") or experiment.options.get("index") or experiment.options.get("schema")
    title = f"{experiment.operation} {' '.join(table) if isinstance(table, tuple) else table or ''}".strip()
    if run.head.mode is Mode.JOB:
        return [clean(f"{title}  (job {run.head.run})"), *_job(run)]
    found = advice(run)
    lines = [clean(f"{title}  (run {run.head.run})"), *_table(cells(run)), *_wrapped(found.headline)]
    for sentence in found.sentences:
        lines += _wrapped(sentence, "- ")
    doubts = [*found.doubts, *run.warnings]
    for sentence in doubts[:_MOST_DOUBTS]:
        lines += _wrapped(sentence, "! ")
    if len(doubts) > _MOST_DOUBTS:
        lines.append(f"! and {len(doubts) - _MOST_DOUBTS} more, see the report")
    return lines


def _job(run: RunRecord) -> list[str]:
    lines = []
    for trial in run.trials:
        rows = f", {trial.rows:,} rows" if trial.rows is not None else ""
        size = f", {units.byte_size(trial.bytes)}" if trial.bytes else ""
        degree = f", degree {trial.granted_degree}" if trial.granted_degree else ""
        time = units.seconds(trial.elapsed_seconds) if trial.elapsed_seconds is not None else "no time"
        said = f" ({trial.reason})" if trial.reason else ""
        lines += _wrapped(f"{trial.outcome}{said}: {time}{rows}{size}{degree}")
        bad = [item for item in trial.items if item.outcome is not Outcome.OK]
        for item in bad[:10]:
            lines += _wrapped(f"{item.label}: {item.outcome}, {item.reason}", "- ")
    for warning in run.warnings[:_MOST_DOUBTS]:
        lines += _wrapped(warning, "! ")
    return lines


def _table(found: Sequence[CellSummary]) -> list[str]:
    """Return the cells in columns; a cell without a good trial says why instead of a time."""
    wide = max([len(str(each.cell)) for each in found] + [4])
    head = f"{'cell':<{wide}}  {'median':>9}  {'95 % interval':>19}  {'speed-up':>8}  {'eff.':>5}  {'n':>2}"
    return [head, *(_line(each, wide) for each in found)]


def _line(each: CellSummary, wide: int) -> str:
    name = f"{each.cell!s:<{wide}}"
    if each.median_seconds is None:
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in each.outcomes.items())
        return f"{name}  {'-':>9}  {outcomes}"[:WIDTH]
    low_high = "-"
    if each.ci_low is not None and each.ci_high is not None:
        low_high = units.seconds_span(each.ci_low, each.ci_high)
    speedup = f"{each.speedup:.2f}x" if each.speedup is not None else "-"
    efficiency = f"{100 * each.efficiency:.0f} %" if each.efficiency is not None else "-"
    median = units.seconds(each.median_seconds)
    return f"{name}  {median:>9}  {low_high:>19}  {speedup:>8}  {efficiency:>5}  {each.n:>2}"


def _wrapped(text: str, lead: str = "") -> list[str]:
    indent = " " * len(lead)
    return textwrap.wrap(clean(text), WIDTH, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False)
