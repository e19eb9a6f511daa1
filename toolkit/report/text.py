"""A report for a terminal or a plain mail: 80 columns, no colour codes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from toolkit.analysis.compare import Comparison
from toolkit.model.records import RunRecord
from toolkit.report.tables import Table
from toolkit.report.view import ComparisonView, RunView, comparison_view, run_view

WIDTH = 80
_GAP = "  "


def text_report(runs: Sequence[RunRecord], comparisons: Sequence[Comparison]) -> str:
    """Return the report as text; no line is longer than 80 characters."""
    sections = [_run(run_view(run)) for run in runs]
    sections += [_comparison(comparison_view(comparison)) for comparison in comparisons]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def text_table(table: Table) -> list[str]:
    """Return a table in aligned columns, or entry by entry where it is wider than the page."""
    titles = [column.title for column in table.columns]
    used = [index for index in range(len(titles)) if not table.rows or any(row[index] for row in table.rows)]
    widths = {index: max(len(titles[index]), *(len(row[index]) for row in table.rows), 0) for index in used}
    if sum(widths.values()) + len(_GAP) * (len(used) - 1) > WIDTH:
        return list(_entries(table, used))
    return [_aligned(table, used, widths, line) for line in (titles, *table.rows)]


def _aligned(table: Table, used: Iterable[int], widths: dict[int, int], line: Sequence[str]) -> str:
    parts = (
        line[index].rjust(widths[index]) if table.columns[index].numeric else line[index].ljust(widths[index])
        for index in used
    )
    return _GAP.join(parts).rstrip()


def _entries(table: Table, used: Sequence[int]) -> Iterator[str]:
    for row in table.rows:
        filled = [f"{table.columns[index].title} {row[index]}" for index in used if row[index]]
        yield from _wrapped("; ".join(filled), "- ")


def _wrapped(text: str, lead: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    ) or [lead.rstrip()]


def _headed(title: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return ["", title.upper(), *body] if body else []


def _bullets(sentences: Iterable[str], lead: str = "- ") -> list[str]:
    return [line for sentence in sentences for line in _wrapped(sentence, lead)]


def _run(view: RunView) -> list[str]:
    named = max(len(label) for label, _ in view.facts) + 2
    facts = [line for label, text in view.facts for line in _wrapped(text, f"{label:<{named}}")]
    metrics = text_table(view.metrics) if view.metrics else []
    return [
        *_wrapped(view.title),
        "=" * min(len(view.title), WIDTH),
        *facts,
        *_headed("What it tells", [*_wrapped(view.advice.headline), *_bullets(view.advice.sentences)]),
        *_headed("Keep in mind", _bullets([*view.advice.doubts, *view.warnings])),
        *_headed("Cells", text_table(view.short_cells)),
        *_headed("Every trial in the order run", text_table(view.short_trials)),
        *_headed("Metrics of each cell, median (range)", metrics),
        *_headed("Environment", text_table(view.environment) if view.environment.rows else []),
        *_headed("How it was measured", _bullets(view.method)),
    ]


def _comparison(view: ComparisonView) -> list[str]:
    differences = text_table(view.differences) if view.differences.rows else ["nothing that was recorded"]
    return [
        *_wrapped(view.title),
        "=" * min(len(view.title), WIDTH),
        *_headed("What differs", differences),
        *_headed("What it tells", _bullets(view.verdicts)),
        *_headed("Keep in mind", _bullets(view.notes)),
        *_headed("Cell against cell", text_table(view.pairs)),
        *_headed("Metrics of both", text_table(view.metrics) if view.metrics else []),
        *_headed("How to read it", _bullets(view.method)),
    ]
