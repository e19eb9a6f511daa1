"""`awr diff` and `awr trend`: what changed between two reports, and when it began."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.analysis.awr.diff import IntervalDiff
    from toolkit.analysis.awr.pseudonyms import Pseudonyms
    from toolkit.app.intervals.comparing import Trends

MASK = (
    option("mask", "replace names and literals, so that it can be sent out", kind=bool),
    option("salt", "with --mask: the same salt gives the same names again", metavar="TEXT"),
)
_OUT = option("out", "write a page, html, to this file", metavar="FILE")


def add_intervals(awr: typer.Typer) -> None:
    """Add the commands."""
    before = argument("before", "report before, `T:101-104`, `a..b` of snapshots, or a run", metavar="BEFORE")
    after = argument("after", "the same for the interval after", metavar="AFTER")
    anyway = option("anyway", "compare two different databases", kind=bool)
    add_command(
        awr,
        "diff",
        _diff,
        [before, after, _OUT, anyway, *MASK, *OUTPUT],
        "Say what changed between two reports, and why.",
    )
    several = argument(
        "files", "reports or folders of them, `T:101-140`, `label:NAME`", kind=list[str], metavar="FILES|DIR..."
    )
    sql = option("sql", "follow this statement too; repeatable", "--sql", kind=list[str], metavar="SQL_ID")
    sheet = option("csv", "print one row for each interval as CSV", kind=bool)
    add_command(
        awr,
        "trend",
        _trend,
        [several, sql, sheet, _OUT, *MASK, *OUTPUT],
        "Set many reports in a row, and say what changed when.",
    )


def _diff(arguments: Arguments) -> int:
    from toolkit.app.intervals.comparing import compare_sources
    from toolkit.cli.launch import reach

    diff = compare_sources(
        arguments.required("before"), arguments.required("after"), anyway=arguments.flag("anyway"),
        store=arguments.text("store"), names=pseudonyms(arguments), reach=reach,
    )  # fmt: skip
    return show_diff(diff, arguments)


def pseudonyms(arguments: Arguments) -> Pseudonyms | None:
    """Return what gives names others, where that is asked for.

    Raises:
        ToolkitError: TK-0102 for a salt that nothing asks for.
    """
    if arguments.flag("mask"):
        from toolkit.analysis.awr.pseudonyms import Pseudonyms

        return Pseudonyms(arguments.text("salt"))
    if arguments.text("salt") is not None:
        raise ToolkitError("--salt is of use with --mask only", code="TK-0102", hint="add --mask")
    return None


def show_diff(diff: IntervalDiff, arguments: Arguments) -> int:
    """Show a comparison as a screen or a document, and write its page where one is wanted."""
    from toolkit.report.interval.document import diff_document

    if file := arguments.text("out"):
        from toolkit.app.results import write_file
        from toolkit.report.interval.page import diff_page

        write_file(Path(file), diff_page(diff))
        say(f"wrote {file}")
    if arguments.flag("json"):
        out_json(diff_document(diff))
    else:
        from toolkit.report.interval.text import diff_text

        out(diff_text(diff))
    return ExitCode.DONE


def _trend(arguments: Arguments) -> int:
    from toolkit.app.intervals.comparing import read_trends

    if arguments.flag("csv") and arguments.flag("json"):
        raise ToolkitError("--csv and --json are two documents", code="TK-0102", hint="ask for one of them")
    from toolkit.cli.launch import reach

    trends = read_trends(
        arguments.texts("files"),
        arguments.texts("sql"),
        pseudonyms(arguments),
        store=arguments.text("store"),
        reach=reach,
    )
    for fault in trends.faults:
        say(f"error: {fault} [TK-0113]")
    for skipped in trends.skipped:
        say(f"skipped: {skipped}")
    if not trends.series:
        raise ToolkitError(
            "none of the files is a report that says when it was", code="TK-0113",
            hint="give AWR or Statspack reports, html or text",
        )  # fmt: skip
    return _show_trends(trends, arguments)


def _show_trends(trends: Trends, arguments: Arguments) -> int:
    from toolkit.report.interval import trend

    if file := arguments.text("out"):
        from toolkit.app.results import write_file

        write_file(Path(file), trend.trend_page(trends.series, [*trends.faults, *trends.skipped]))
        say(f"wrote {file}")
    if arguments.flag("json"):
        out_json(trend.trend_document(trends.series, [*trends.faults, *trends.skipped]))
    elif arguments.flag("csv"):
        out(trend.trend_sheet(trends.series))
    else:
        out(trend.trend_text(trends.series))
    return ExitCode.USAGE if trends.faults else ExitCode.DONE
