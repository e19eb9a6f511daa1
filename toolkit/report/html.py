"""A report as one self-contained page: no network, no script, every text escaped by the template engine."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from toolkit import resources
from toolkit.model.records import RunRecord
from toolkit.report import chart
from toolkit.report.safe import clean

if TYPE_CHECKING:
    from toolkit.analysis.compare import Comparison
    from toolkit.report.view import RunView

_CODE = re.compile(r"`([^`]+)`")
_DATE = re.compile(r"(\b\d{4}-\d\d-\d\d\b)")
_NUMBER_AND_UNIT = re.compile(r"(\d) (%|[µm]?s|min|h|B|[KMGTP]iB)(?![\w=])")
_MANY_ROWS, _FEW_ROWS = 60, 15
"""Longer tables are folded, so that the page stays short; printing unfolds them."""


def page_of_views(
    views: Sequence[RunView], comparisons: Sequence[Comparison], runs: Sequence[RunRecord], home: str = ""
) -> str:
    """Return the page of runs that are prepared for reading.

    Args:
        views: of the runs.
        comparisons: shown before them.
        runs: the records of the views.
        home: the address of the page that lists this one, if there is one.
    """
    from toolkit.report.comparison_view import comparison_view  # what other pages do without
    from toolkit.report.view import place_of

    compared = [comparison_view(comparison) for comparison in comparisons]
    titles = [*(view.title for view in views), *(view.title for view in compared)]
    places = {place_of(run.head.experiment.target) for run in runs}
    results = f"{len(titles)} results{f' on {clean(places.pop())}' if len(places) == 1 else ''}"
    return (
        environment()
        .get_template("report/page.html.j2")
        .render(
            title=titles[0] if len(titles) == 1 else results,
            runs=views,
            comparisons=compared,
            home=home,
            frame=chart,
            many_rows=_MANY_ROWS,
            few_rows=_FEW_ROWS,
        )
    )


def render_page(template: str, **values: object) -> str:
    """Return a page of another kind, by the same rules: everything is escaped, nothing is loaded."""
    known = {"frame": chart, "many_rows": _MANY_ROWS, "few_rows": _FEW_ROWS}
    rendered: str = environment().get_template(template).render(**known, **values)
    return rendered


def code_spans(text: str) -> Markup:
    """Escape a sentence, begin it with a capital, set its names between back-ticks as code.

    A number keeps its unit beside it, and a name (`work_mem`, `crm2`) at the begin its letters.
    """
    word = text.split(maxsplit=1)[0].rstrip(",.:;").replace("-", "").replace("'", "") if text.strip() else ""
    return as_written(text[:1].upper() + text[1:] if word.isalpha() else text)


def as_written(text: str) -> Markup:
    """Do the same to a value, which begins as it is written."""
    pieces = _CODE.split(_NUMBER_AND_UNIT.sub("\\1\u00a0\\2", text))
    parts = (
        Markup("<code>{}</code>").format(piece) if index % 2 else escape(piece)
        for index, piece in enumerate(pieces)
    )
    return Markup("").join(parts)


def css_text(text: str) -> Markup:
    """Spell a text for a string in a style sheet: every sign that could end it stands by its number."""
    signs = (sign if sign.isalnum() or sign in " .,:_=%()-" else f"\\{ord(sign):x} " for sign in text)
    return Markup("").join(map(escape, signs))


def whole_dates(text: str) -> Markup:
    """Escape a title; a date in it is not broken at its hyphens."""
    pieces = _DATE.split(text)
    parts = (
        Markup('<span class="date">{}</span>').format(piece) if index % 2 else escape(piece)
        for index, piece in enumerate(pieces)
    )
    return Markup("").join(parts)


@functools.cache
def environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(resources.template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["code_spans"] = code_spans
    made.filters["as_written"] = as_written
    made.filters["css_text"] = css_text
    made.filters["whole_dates"] = whole_dates
    return made
