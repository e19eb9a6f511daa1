"""One or several runs as a report of any format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum

from toolkit.analysis.compare import Comparison
from toolkit.analysis.documents import JsonObject, comparison_document, reports_document, run_document
from toolkit.model.records import RunRecord


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
            from toolkit.report.sheet import sheet

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
