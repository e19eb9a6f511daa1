"""One or several runs as a report of any format; CSV is written here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from toolkit.analysis.compare import Comparison
from toolkit.analysis.documents import JsonObject, comparison_document, reports_document, run_document
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Scalar
from toolkit.report.safe import csv_text


class Format(StrEnum):
    """The formats of a report."""

    HTML = "html"
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


def render(
    run_or_runs: RunRecord | Sequence[RunRecord],
    format: Format | str,
    *,
    comparisons: Sequence[Comparison] = (),
) -> str:
    """Return the report of one or several runs.

    Args:
        run_or_runs: what to report; several runs get a section each.
        format: `html` is one self-contained file, `text` fits 80 columns, `csv` has one row for each trial.
        comparisons: shown after the runs; not in CSV.
    """
    runs = [run_or_runs] if isinstance(run_or_runs, RunRecord) else list(run_or_runs)
    match Format(format):
        case Format.JSON:
            return json_text(_document(runs, comparisons))
        case Format.CSV:
            from toolkit.report.render import sheet

            return sheet(runs)
        case Format.HTML:
            from toolkit.report.html import page

            return page(runs, comparisons)
        case Format.TEXT:
            from toolkit.report.text import text_report

            return text_report(runs, comparisons)
        case Format.MARKDOWN:
            from toolkit.report.markdown import markdown_report

            return markdown_report(runs, comparisons)


def render_comparison(comparison: Comparison, format: Format | str) -> str:
    """Return a comparison alone; CSV has one row for each trial of both runs."""
    both = [comparison.a] if comparison.a.head.run == comparison.b.head.run else [comparison.a, comparison.b]
    match Format(format):
        case Format.JSON:
            return json_text(comparison_document(comparison))
        case Format.CSV:
            return render(both, Format.CSV)
        case chosen:
            return render([], chosen, comparisons=[comparison])


def json_text(document: JsonObject) -> str:
    """Write a document as one JSON text; escaped to ASCII, so that no terminal acts on it."""
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _document(runs: Sequence[RunRecord], comparisons: Sequence[Comparison]) -> JsonObject:
    return run_document(runs[0]) if len(runs) == 1 and not comparisons else reports_document(runs, comparisons)


# -- CSV --------------------------------------------------------------------------------------------------------
_BEFORE = ("run", "label", "engine", "operation", "mode", "trial", "attempt")
_AFTER = (
    "repeat",
    "warmup",
    "outcome",
    "reason",
    "error_code",
    "began_at",
    "ended_at",
    "elapsed_seconds",
    "requested_degree",
    "granted_degree",
    "effective_parallelism",
    "rows",
    "bytes",
    "disturbed",
)


def sheet(runs: Sequence[RunRecord]) -> str:
    """Return the trials of all runs; every factor of any run is a column, named `factor:<name>`."""
    factors = list(dict.fromkeys(name for run in runs for trial in run.trials for name in trial.cell))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    writer.writerow([*_BEFORE, *(csv_text(f"factor:{name}") for name in factors), *_AFTER])
    for run in runs:
        for trial in sorted(run.trials, key=lambda trial: (trial.trial, trial.attempt)):
            writer.writerow([_spell(value) for value in _row(run, trial, factors)])
    return out.getvalue()


def _row(run: RunRecord, trial: TrialRecord, factors: Iterable[str]) -> list[Scalar | datetime]:
    head = run.head
    return [
        *(head.run, head.label, head.engine, head.experiment.operation, head.mode.value),
        *(trial.trial, trial.attempt),
        *(trial.cell.get(name) for name in factors),
        *(trial.repeat, trial.warmup, trial.outcome.value, trial.reason, trial.error_code),
        *(trial.began_at, trial.ended_at, trial.elapsed_seconds),
        *(trial.requested_degree, trial.granted_degree, trial.effective_parallelism),
        *(trial.rows, trial.bytes, trial.disturbed),
    ]


def _spell(value: Scalar | datetime) -> str:
    """Spell raw values for machines; only text can carry a formula, so only text is guarded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return csv_text(value) if isinstance(value, str) else repr(value)
