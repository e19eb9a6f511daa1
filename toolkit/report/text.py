"""A report for a terminal or a plain mail: 80 columns, no colour codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolkit.analysis.compare import Comparison
from toolkit.model.records import RunRecord
from toolkit.report.comparison_view import ComparisonView, comparison_view
from toolkit.report.layout import WIDTH, bullets, text_table, wrapped
from toolkit.report.metric_tables import Metrics, PairMetrics
from toolkit.report.view import RunView, run_view


def text_report(runs: Sequence[RunRecord], comparisons: Sequence[Comparison]) -> str:
    """Return the report as text; no line is longer than 80 characters."""
    sections = [_run(run_view(run)) for run in runs]
    sections += [_comparison(comparison_view(comparison)) for comparison in comparisons]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _headed(title: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return ["", title.upper(), *body] if body else []


def _run(view: RunView) -> list[str]:
    metrics = _metrics(view.metrics) if view.metrics else []
    environment, more = view.short_environment
    named = max(len(label) for label, _ in view.facts) + 2
    facts = [line for label, text in view.facts for line in wrapped(text, f"{label:<{named}}")]
    return [
        *wrapped(view.title),
        "=" * min(len(view.title), WIDTH),
        *facts,
        *_headed("Result", [*wrapped(view.advice.headline), *bullets(view.advice.sentences)]),
        *_headed("Limitations", bullets([*view.advice.doubts, *view.warnings])),
        *_headed("Cells", text_table(view.short_cells) if view.short_cells.rows else []),
        *_headed("Cost of each configuration, medians", text_table(view.costs) if view.costs.rows else []),
        *_headed("All trials in run order", text_table(view.short_trials)),
        *_headed(view.short_objects.caption, text_table(view.short_objects) if view.short_objects.rows else []),
        *_headed("Metrics of each configuration, medians", metrics),
        *_headed("Environment", [*text_table(environment), *bullets(more)] if view.environment.rows else []),
        *_headed("Method", bullets(view.method)),
        *_headed("Licences", bullets(view.licences)),
    ]


def _metrics(metrics: Metrics) -> list[str]:
    key = [line for sentence in metrics.short_key for line in wrapped(sentence)]
    return [*key, *text_table(metrics.short), *bullets(metrics.short_notes)]


def _pair_metrics(metrics: PairMetrics) -> list[str]:
    lines = [line for name, found in metrics.short for line in (*wrapped(name), *text_table(found), "")]
    return [*lines, *bullets(metrics.short_notes)] if metrics.short_notes else lines[:-1]


def _comparison(view: ComparisonView) -> list[str]:
    differences = text_table(view.differences) if view.differences.rows else ["no recorded setting differs"]
    return [
        *wrapped(view.title),
        "=" * min(len(view.title), WIDTH),
        *_headed("What differs", differences),
        *_headed("Result", [*wrapped(view.headline), *bullets(view.verdicts)]),
        *_headed("Limitations", bullets(view.notes)),
        *_headed(view.short_pairs.caption, text_table(view.short_pairs)),
        *_headed("Cost of both, medians", text_table(view.costs) if view.costs.rows else []),
        *_headed("Metrics of both, medians", _pair_metrics(view.metrics) if view.metrics else []),
        *_headed("How to read it", bullets(view.method)),
    ]
