"""`awr show`, `trend` and `fetch`: AWR and Statspack reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_json, out_raw, say
from toolkit.cli.parameters import OUTPUT, TARGET, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.analysis.awr.masking import Pseudonyms
    from toolkit.app.intervals.comparing import Trends
    from toolkit.app.intervals.show import Shown

_TEXT = frozenset({".txt", ".lst", ".text", ".log"})


MASK = (
    option("mask", "replace names and literals with pseudonyms, so that the result can be shared", kind=bool),
    option("salt", "with --mask: the same salt always gives the same pseudonyms", metavar="TEXT"),
)


def add_awr(awr: typer.Typer) -> None:
    """Add the commands."""
    no_store = [one for one in OUTPUT if one.name != "store"]
    what = "AWR or Statspack reports (html, text, zip, gz, mail), or folders of them"
    files = argument("files", what, kind=list[str], metavar="FILE|DIR...")
    every = option(
        "whole",
        "also show SQL by CPU, gets and reads, segments, I/O, advice ...; name each file skipped",
        "--all",
        kind=bool,
    )
    shown = [files, every, *MASK, *no_store]
    add_command(awr, "show", _show, shown, "Show the contents of AWR or Statspack reports.")
    several = argument(
        "files", "reports, folders of reports, `T:101-140` or `label:NAME`", kind=list[str], metavar="FILES|DIR..."
    )
    sql = option("sql", "also track this SQL_ID; repeatable", "--sql", kind=list[str], metavar="SQL_ID")
    full = option(
        "full", "of several databases, show the changes and intervals of each; name each file skipped", kind=bool
    )
    sheet = option("csv", "print one CSV row per interval", kind=bool)
    page = option("out", "also write an HTML page to this file", metavar="FILE")
    add_command(
        awr, "trend", _trend, [several, sql, full, sheet, page, *MASK, *OUTPUT],
        "Order reports by time and show what changed, and when.",
    )  # fmt: skip
    fetched = [
        argument("range", "two AWR snapshots: 101-104"),
        TARGET,
        option("out", "output file; `.txt` gets the text report", metavar="FILE"),
        option("diff", "second range: fetch Oracle's own comparison of the two", metavar="105-108"),
        option("whole", "report on the whole cluster instead of this instance", "--global", kind=bool),
        option("pdb", "use the pluggable database's own snapshots", kind=bool),
        *no_store,
    ]
    add_command(awr, "fetch", _fetch, fetched, "Fetch Oracle's AWR report for a range of snapshots.")


def pseudonyms(arguments: Arguments) -> Pseudonyms | None:
    """Return what gives names others, where that is asked for.

    Raises:
        ToolkitError: TK-0102 for a salt that nothing asks for.
    """
    if arguments.flag("mask"):
        from toolkit.analysis.awr.masking import Pseudonyms

        return Pseudonyms(arguments.text("salt"))
    if arguments.text("salt") is not None:
        raise ToolkitError("`--salt` needs `--mask`", code="TK-0102", hint="add --mask")
    return None


def _show(arguments: Arguments) -> int:
    from toolkit.app.intervals.show import masked_reports, show_reports

    files = arguments.texts("files")
    names = pseudonyms(arguments)
    shown = show_reports(files) if names is None else masked_reports(files, names)
    if not arguments.flag("json"):
        return _screens(shown, whole=arguments.flag("whole"))
    several = len(files) > 1 or Path(files[0]).is_dir()
    first = [] if several else list(islice(shown, 2))
    if len(first) == 1:
        return _document(first[0])
    return _documents(chain(first, shown), whole=arguments.flag("whole"))


def _document(shown: Shown) -> int:
    if not shown.text:
        raise ToolkitError(shown.faults[0], code="TK-0113", hint=shown.hint)
    out_raw(shown.text)
    return _status([shown], whole=True)


def _documents(shown: Iterable[Shown], *, whole: bool) -> int:
    """Print each document as soon as it is read, so that a thousand reports need no more memory than a few."""
    seen: list[Shown] = []
    before = '{"reports": ['
    for one in shown:
        if one.text:
            out_raw(before + one.text)
            before = ","
        seen.append(replace(one, text=""))
    out_raw("]}" if before == "," else before + "]}")
    return _status(seen, whole=whole)


def _screens(shown: Iterable[Shown], *, whole: bool) -> int:
    from toolkit.cli.awr_screen import screen

    seen: list[Shown] = []
    printed = False
    for one in shown:
        if one.text:
            if printed:
                out("")
            printed = True
            out(screen(one.document(), whole=whole))
        seen.append(replace(one, text=""))
    return _status(seen, whole=whole)


def _status(shown: list[Shown], *, whole: bool) -> int:
    """Say what is wrong with each file on standard error, and return the exit code."""
    if not all(one.aside for one in shown):
        _say_skipped([one.faults[0] for one in shown if one.aside], None if whole else "--all")
        shown = [one for one in shown if not one.aside]
    for one in shown:
        for fault in one.faults:
            say(f"error: {fault} [TK-0113]")
        if one.hint:
            say(f"\nhint: {one.hint}")
        elif one.faults:
            say("\nhint: get the complete file as written by the database; only the readable part is shown")
    return ExitCode.USAGE if any(one.faults for one in shown) else ExitCode.DONE


def _say_skipped(files: Sequence[str], shown_by: str | None) -> None:
    """Say which files were skipped: how many, where there are several and an option shows each."""
    if shown_by is None or len(files) < 2:
        for one in files:
            say(f"skipped: {one}")
    else:
        what = f"{len(files):,} files that are not complete AWR or Statspack reports"
        say(f"skipped: {what} (`{shown_by}` names them)")


def _trend(arguments: Arguments) -> int:
    from toolkit.app.intervals.comparing import read_trends

    if arguments.flag("csv") and arguments.flag("json"):
        raise ToolkitError(
            "`--csv` and `--json` are mutually exclusive", code="TK-0102", hint="use only one of them"
        )
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
    _say_skipped(trends.skipped, None if arguments.flag("full") else "--full")
    for gap in trends.gaps:
        say(f"skipped: {gap}")
    if not trends.series:
        raise ToolkitError(
            "none of the files is a report with a time", code="TK-0113",
            hint="give AWR or Statspack reports, html or text",
        )  # fmt: skip
    return _show_trends(trends, arguments)


def _show_trends(trends: Trends, arguments: Arguments) -> int:
    from toolkit.report.interval import trend

    if file := arguments.text("out"):
        from toolkit.app.files import write_file

        write_file(Path(file), trend.trend_page(trends.series, trends.notes))
        say(f"wrote {file}")
    if arguments.flag("json"):
        out_json(trend.trend_document(trends.series, trends.notes))
    elif arguments.flag("csv"):
        out(trend.trend_sheet(trends.series))
    else:
        out(trend.trend_text(trends.series, whole=arguments.flag("full") or bool(arguments.texts("sql"))))
    return ExitCode.USAGE if trends.faults else ExitCode.DONE


def _fetch(arguments: Arguments) -> int:
    from toolkit.app.files import write_file
    from toolkit.app.intervals.names import range_of
    from toolkit.app.intervals.ranges import fetch_report
    from toolkit.cli.launch import reach

    asked, text = range_of(arguments.required("range")), arguments.text("diff")
    other = None if text is None else range_of(text)
    target = asked.target or arguments.text("target")
    if asked.target and arguments.text("target"):
        raise ToolkitError("two targets were given", code="TK-0107", hint="omit `-t`, or the name in the range")
    name = arguments.text("out")
    path = None if name in {None, "-"} else Path(str(name))
    resolved = reach(target)
    try:
        report = fetch_report(
            resolved, asked, other=other, whole=arguments.flag("whole"), container=arguments.flag("pdb"),
            html=path is None or path.suffix.lower() not in _TEXT,
        )  # fmt: skip
    finally:
        resolved.target.close()
    if path is None:
        out_raw(report)
        return ExitCode.DONE
    write_file(path, report)
    if arguments.flag("json"):
        out_json({"file": str(path), "begin_snapshot": asked.first, "end_snapshot": asked.last})
    else:
        say(f"wrote {path}")
    return ExitCode.DONE
