"""`awr diff` and `awr trend`: what changed between two reports, and when it began."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import OUTPUT, Said, add_command, argument, option
from toolkit.errors import ExitCode

if TYPE_CHECKING:
    from toolkit.analysis.awr.diff import IntervalDiff

_HERE = [one for one in OUTPUT if one.name != "store"]
_OUT = option("out", "write a page, html, to this file", metavar="FILE")


def add_intervals(awr: typer.Typer) -> None:
    """Add the commands."""
    before = argument("before", "report of the interval before, or `a..b` of stored snapshots", metavar="BEFORE")
    after = argument("after", "the same for the interval after", metavar="AFTER")
    anyway = option("anyway", "compare two different databases", kind=bool)
    add_command(
        awr,
        "diff",
        _diff,
        [before, after, _OUT, anyway, *OUTPUT],
        "Say what changed between two reports, and why.",
    )


def _diff(said: Said) -> int:
    from toolkit.app.intervals import compare_sources

    diff = compare_sources(
        said.required("before"), said.required("after"), anyway=said.flag("anyway"), store=said.text("store")
    )
    return show_diff(diff, said)


def show_diff(diff: IntervalDiff, said: Said) -> int:
    """Show a comparison as a screen or a document, and write its page where one is wanted."""
    from toolkit.report.interval.document import diff_document

    if file := said.text("out"):
        from toolkit.app.results import write_file
        from toolkit.report.interval.page import diff_page

        write_file(Path(file), diff_page(diff))
        say(f"wrote {file}")
    if said.flag("json"):
        out_json(diff_document(diff))
    else:
        from toolkit.report.interval.text import diff_text

        out(diff_text(diff))
    return ExitCode.DONE
