"""A report for a ticket or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from toolkit.analysis.compare import Comparison
from toolkit.model.records import RunRecord
from toolkit.report.comparison_view import ComparisonView, comparison_view
from toolkit.report.safe import markdown
from toolkit.report.tables import Table
from toolkit.report.view import KeptScript, RunView, run_view

_CODE = re.compile(r"`([^`]+)`")
_TICKS = re.compile(r"`+")


def markdown_report(runs: Sequence[RunRecord], comparisons: Sequence[Comparison]) -> str:
    """Return the report as Markdown with pipe tables."""
    blocks = [block for run in runs for block in _run(run_view(run))]
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
    if view.advice.sentences:
        yield _bullets(view.advice.sentences)
    yield from _headed("Limitations", _bullets([*view.advice.doubts, *view.warnings]))
    yield from _headed("Cells", markdown_table(view.cells))
    if view.costs.rows:
        yield from _headed("Cost of each configuration, medians", markdown_table(view.costs))
    yield from _headed("All trials in run order", markdown_table(view.trials))
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
    yield from _headed("Executed scripts", "\n\n".join(map(_fenced, view.scripts)))
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
