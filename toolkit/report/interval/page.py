"""A comparison of two intervals as one self-contained page."""

from __future__ import annotations

from toolkit.analysis.awr.diff import IntervalDiff
from toolkit.report.html import render_page
from toolkit.report.interval.view import interval_view


def diff_page(diff: IntervalDiff) -> str:
    """Return the page."""
    view = interval_view(diff)
    return render_page("report/intervals.html.j2", title=view.title, view=view)
