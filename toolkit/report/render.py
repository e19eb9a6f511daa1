"""One or several runs as a report of any format: page, Markdown, text, JSON, CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.analysis.choice import WORTH_PCT
from toolkit.analysis.compare import Comparison
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Scalar
from toolkit.report.comparison_view import ComparisonView, comparison_view
from toolkit.report.layout import bullets, text_table, wrapped
from toolkit.report.metric_tables import Metrics, PairMetrics
from toolkit.report.recommendation import recommendation_lines
from toolkit.report.safe import csv_text, json_text, markdown
from toolkit.report.tables import Table
from toolkit.report.view import KeptScript, RunView, run_view
from toolkit.terminal import width

if TYPE_CHECKING:
    from toolkit.analysis.documents import JsonObject


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
    worth_pct: float = WORTH_PCT,
) -> str:
    """Return the report of one or several runs.

    Args:
        run_or_runs: what to report; several runs get a section each.
        format: `html` is one self-contained file, `text` fits 80 columns, `csv` has one row for each trial.
        comparisons: shown after the runs; not in CSV.
        worth_pct: by how much a larger level must be better to be recommended.
    """
    runs = [run_or_runs] if isinstance(run_or_runs, RunRecord) else list(run_or_runs)
    match Format(format):
        case Format.JSON:
            return json_text(_document(runs, comparisons, worth_pct))
        case Format.CSV:
            return sheet(runs)
        case Format.HTML:
            from toolkit.report.html import page_of_views

            return page_of_views([run_view(run, worth_pct) for run in runs], comparisons, runs)
        case Format.TEXT:
            return text_report([run_view(run, worth_pct) for run in runs], comparisons)
        case Format.MARKDOWN:
            return markdown_report([run_view(run, worth_pct) for run in runs], comparisons)


def render_comparison(comparison: Comparison, format: Format | str) -> str:
    """Return a comparison alone; CSV has one row for each trial of both runs."""
    both = [comparison.a] if comparison.a.head.run == comparison.b.head.run else [comparison.a, comparison.b]
    match Format(format):
        case Format.JSON:
            from toolkit.analysis.documents import comparison_document

            return json_text(comparison_document(comparison))
        case Format.CSV:
            return render(both, Format.CSV)
        case chosen:
            return render([], chosen, comparisons=[comparison])


def _document(runs: Sequence[RunRecord], comparisons: Sequence[Comparison], worth_pct: float) -> JsonObject:
    from toolkit.analysis.documents import reports_document, run_document

    if len(runs) == 1 and not comparisons:
        return run_document(runs[0], worth_pct)
    return reports_document(runs, comparisons, worth_pct)


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


_CODE = re.compile(r"`([^`]+)`")
_TICKS = re.compile(r"`+")


def markdown_report(runs: Sequence[RunView], comparisons: Sequence[Comparison]) -> str:
    """Return the report as Markdown with pipe tables."""
    blocks = [block for run in runs for block in _run(run)]
    blocks += [block for comparison in comparisons for block in _comparison(comparison_view(comparison))]
    return "\n\n".join(blocks) + "\n"


def markdown_table(table: Table) -> str:
    """Return a pipe table."""
    titles = [markdown(column.title) for column in table.columns]
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    lines = [titles, rules, *([markdown(text) for text in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _sentence(text: str) -> str:
    """Escape a sentence, but keep its names in code spans."""
    pieces = _CODE.split(text)
    return "".join(f"`{piece}`" if index % 2 else markdown_inline(piece) for index, piece in enumerate(pieces))


def markdown_inline(text: str) -> str:
    """Escape a piece of a line, its outer blanks kept."""
    inner = text.strip(" ")
    if not inner:
        return text
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
    return f"{before}{markdown(inner)}{after}"


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {_sentence(sentence)}" for sentence in sentences)


def _headed(title: str, body: str) -> Iterator[str]:
    if body:
        yield f"## {title}"
        yield body


def _run(view: RunView) -> Iterator[str]:
    yield f"# {markdown(view.title)}"
    yield "\n".join(f"- {label}: {markdown(text)}" for label, text in view.facts)
    yield from _headed("Result", f"**{_sentence(view.advice.headline)}**")
    if view.setting:
        yield "\n".join(f"- {name}: {_sentence(text)}" for name, text in view.setting)
    if view.advice.sentences:
        yield _bullets(view.advice.sentences)
    yield from _headed("Limitations", _bullets([*view.advice.doubts, *view.warnings]))
    yield from _headed("Configurations", markdown_table(view.cells))
    if view.costs.rows:
        yield from _headed("Cost of each configuration, medians", markdown_table(view.costs))
    yield from _headed("All trials in run order", markdown_table(view.trials))
    yield from _headed("Jobs", _bullets(view.jobs))
    if view.objects.rows:
        yield from _headed(view.objects.caption, markdown_table(view.objects))
    if view.metrics:
        yield "## Metrics of each configuration, medians"
        yield from map(_sentence, view.metrics.short_key)
        yield markdown_table(view.metrics.short)
        yield from filter(None, [_bullets(view.metrics.short_notes)])
    environment, more = view.short_environment
    if environment.rows:
        yield from _headed("Environment", markdown_table(environment))
        yield from filter(None, [_bullets(more)])
    yield from _headed("Scripts and plans", "\n\n".join(map(_fenced, view.scripts)))
    yield from _headed("Method", _bullets(view.method))
    yield from _headed("Licences", _bullets(view.licences))


def _fenced(script: KeptScript) -> str:
    # longer than any run of back-ticks inside, so that the text cannot end the block
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(script.text)), default=0))
    return f"{markdown(script.name)}\n\n{fence}sql\n{script.text}\n{fence}"


def _comparison(view: ComparisonView) -> Iterator[str]:
    yield f"# {markdown(view.title)}"
    differences = markdown_table(view.differences) if view.differences.rows else "No recorded setting differs."
    yield from _headed("What differs", differences)
    yield from _headed("Result", f"**{_sentence(view.headline)}**")
    yield from filter(None, [_bullets(view.verdicts)])
    yield from _headed("Limitations", _bullets(view.notes))
    yield from _headed("Configurations compared", markdown_table(view.pairs))
    if view.costs.rows:
        yield from _headed("Cost of both, medians", markdown_table(view.costs))
    if view.metrics:
        yield "## Metrics of both, medians"
        for name, found in view.metrics.short:
            yield f"### {markdown(name)}"
            yield markdown_table(found)
        yield from filter(None, [_bullets(view.metrics.short_notes)])
    yield from _headed("How to read it", _bullets(view.method))


def text_report(runs: Sequence[RunView], comparisons: Sequence[Comparison]) -> str:
    """Return the report as text; no line is longer than the terminal is wide."""
    sections = [_run_text(run) for run in runs]
    sections += [_comparison_text(comparison_view(comparison)) for comparison in comparisons]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _headed_text(title: str, lines: Iterable[str]) -> list[str]:
    body = list(lines)
    return ["", title.upper(), *body] if body else []


def _run_text(view: RunView) -> list[str]:
    metrics = _metrics(view.metrics) if view.metrics else []
    environment, more = view.short_environment
    named = max(len(label) for label, _ in view.facts) + 2
    facts = [line for label, text in view.facts for line in wrapped(text, f"{label:<{named}}")]
    return [
        *wrapped(view.title),
        "=" * min(len(view.title), width()),
        *facts,
        *_headed_text("Result", [*wrapped(view.advice.headline), *recommendation_lines(view.setting)]),
        *bullets(view.advice.sentences),
        *_headed_text("Limitations", bullets([*view.advice.doubts, *view.warnings])),
        *_headed_text("Configurations", text_table(view.short_cells) if view.short_cells.rows else []),
        *_headed_text("Cost of each configuration, medians", text_table(view.costs) if view.costs.rows else []),
        *_headed_text("All trials in run order", text_table(view.short_trials)),
        *_headed_text("Jobs", bullets(view.jobs)),
        *_headed_text(
            view.short_objects.caption, text_table(view.short_objects) if view.short_objects.rows else []
        ),
        *_headed_text("Metrics of each configuration, medians", metrics),
        *_headed_text("Environment", [*text_table(environment), *bullets(more)] if view.environment.rows else []),
        *_headed_text("Method", bullets(view.method)),
        *_headed_text("Licences", bullets(view.licences)),
    ]


def _metrics(metrics: Metrics) -> list[str]:
    key = [line for sentence in metrics.short_key for line in wrapped(sentence)]
    return [*key, *text_table(metrics.short), *bullets(metrics.short_notes)]


def _pair_metrics(metrics: PairMetrics) -> list[str]:
    lines = [line for name, found in metrics.short for line in (*wrapped(name), *text_table(found), "")]
    return [*lines, *bullets(metrics.short_notes)] if metrics.short_notes else lines[:-1]


def _comparison_text(view: ComparisonView) -> list[str]:
    differences = text_table(view.differences) if view.differences.rows else ["no recorded setting differs"]
    return [
        *wrapped(view.title),
        "=" * min(len(view.title), width()),
        *_headed_text("What differs", differences),
        *_headed_text("Result", [*wrapped(view.headline), *bullets(view.verdicts)]),
        *_headed_text("Limitations", bullets(view.notes)),
        *_headed_text(view.short_pairs.caption, text_table(view.short_pairs)),
        *_headed_text("Cost of both, medians", text_table(view.costs) if view.costs.rows else []),
        *_headed_text("Metrics of both, medians", _pair_metrics(view.metrics) if view.metrics else []),
        *_headed_text("How to read it", bullets(view.method)),
    ]
