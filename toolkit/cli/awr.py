"""`awr show`, `trend` and `fetch`: AWR and Statspack reports."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import WIDTH, out, out_json, out_raw, say
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
    files = argument("files", "AWR or Statspack reports, html or text", kind=list[str], metavar="FILE...")
    add_command(awr, "show", _show, [files, *MASK, *no_store], "Show the contents of AWR or Statspack reports.")
    several = argument(
        "files", "reports, folders of reports, `T:101-140` or `label:NAME`", kind=list[str], metavar="FILES|DIR..."
    )
    sql = option("sql", "also track this SQL_ID; repeatable", "--sql", kind=list[str], metavar="SQL_ID")
    sheet = option("csv", "print one CSV row per interval", kind=bool)
    page = option("out", "also write an HTML page to this file", metavar="FILE")
    add_command(
        awr, "trend", _trend, [several, sql, sheet, page, *MASK, *OUTPUT],
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

    files = [Path(name) for name in arguments.texts("files")]
    names = pseudonyms(arguments)
    shown = show_reports(files) if names is None else masked_reports(files, names)
    if not arguments.flag("json"):
        return _screens(shown)
    return _document(next(iter(shown))) if len(files) == 1 else _documents(shown)


def _document(shown: Shown) -> int:
    if not shown.text:
        raise ToolkitError(shown.faults[0], code="TK-0113", hint=shown.hint)
    out_raw(shown.text)
    return _status([shown])


def _documents(shown: Iterable[Shown]) -> int:
    """Print each document as soon as it is read, so that a thousand reports need no more memory than a few."""
    seen: list[Shown] = []
    before = '{"reports": ['
    for one in shown:
        if one.text:
            out_raw(before + one.text)
            before = ","
        seen.append(replace(one, text=""))
    out_raw("]}" if before == "," else before + "]}")
    return _status(seen)


def _screens(shown: Iterable[Shown]) -> int:
    seen: list[Shown] = []
    printed = False
    for one in shown:
        if one.text:
            if printed:
                out("")
            printed = True
            out(screen(one.document()))
        seen.append(replace(one, text=""))
    return _status(seen)


def _status(shown: list[Shown]) -> int:
    """Say what is wrong with each file on standard error, and return the exit code."""
    for one in shown:
        for fault in one.faults:
            say(f"error: {fault} [TK-0113]")
        if one.hint:
            say(f"\nhint: {one.hint}")
        elif one.faults:
            say("\nhint: get the complete file as written by the database; only the readable part is shown")
    return ExitCode.USAGE if any(one.faults for one in shown) else ExitCode.DONE


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
    for skipped in trends.skipped:
        say(f"skipped: {skipped}")
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

        write_file(Path(file), trend.trend_page(trends.series, [*trends.faults, *trends.skipped]))
        say(f"wrote {file}")
    if arguments.flag("json"):
        out_json(trend.trend_document(trends.series, [*trends.faults, *trends.skipped]))
    elif arguments.flag("csv"):
        out(trend.trend_sheet(trends.series))
    else:
        out(trend.trend_text(trends.series))
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


_EVENTS, _STATEMENTS, _WARNINGS = 10, 5, 6
_MODEL = 6
_WHOLE = 1_000_000
"""From here on digits behind the point say nothing."""
_PROFILE = (
    ("DB time (s)", "db_time_s"), ("DB CPU (s)", "db_cpu_s"), ("redo (bytes)", "redo_size_bytes"),
    ("logical reads", "logical_reads"), ("physical reads", "physical_reads"),
    ("physical writes", "physical_writes"),
    ("user calls", "user_calls"), ("parses", "parses"), ("hard parses", "hard_parses"), ("executes", "executes"),
    ("transactions", "transactions"),
)  # fmt: skip
_SCOPES = {"instance": "one instance", "rac_global": "the whole cluster", "pdb": "one pluggable database"}

Record = Mapping[str, object]


def screen(report: Record) -> str:
    """Return a report as text of at most 80 columns; what it does not say is left out or shown as `-`."""
    parts = (_head, _profile, _events, _model, _cpu, _statements, _instances, _warnings)
    blocks = ("\n".join(line[:WIDTH].rstrip() for line in part(report)) for part in parts)
    return "\n\n".join(block for block in blocks if block)


def _head(report: Record) -> Iterator[str]:
    kind = "Statspack" if report["kind"] == "statspack" else "AWR"
    yield from _folded("", f"{kind} report of {_SCOPES[str(report['scope'])]}: {_text(report['file'])}")
    names = [
        _text(report["db_name"]),
        f"instance {_text(report['instance'])}" if report["instance"] else "",
        f"container {_text(report['container_name'])}" if report["container_name"] else "",
        f"release {_text(report['version'])}" if report["version"] else "",
        "RAC" if report["rac"] else "",
    ]
    yield from _folded("  database   ", ", ".join(filter(None, names)))
    host = [f"{_number(report[key])} {name}" for key, name in _HOST if report[key] is not None]
    if report["host"] or host:
        parts = ", ".join(filter(None, [_text(report["host"]), _text(report["platform"]), *host]))
        yield from _folded("  host       ", parts)
    begin, end = _moment(report["begin_snap_time"]), _moment(report["end_snap_time"])
    snapshots = f"snapshots {_id(report['begin_snap_id'])} to {_id(report['end_snap_id'])}"
    yield from _folded("  interval   ", f"{begin} to {end}, {snapshots}")
    elapsed, db_time = report["elapsed_min"], _db_time(report)
    sessions = f", {_ratio(db_time, elapsed)} active sessions" if _ratio(db_time, elapsed) else ""
    yield f"  time       {_number(elapsed)} min elapsed, {_number(db_time)} min DB time{sessions}"


def _db_time(report: Record) -> object:
    """Return minutes of DB time; Statspack before 11g prints it in the time model alone."""
    if report["db_time_min"] is not None:
        return report["db_time_min"]
    seconds = [row["time_s"] for row in _rows(report["time_model"]) if row.get("name") == "DB time"]
    return round(float(str(seconds[0])) / 60, 2) if seconds and _is_number(seconds[0]) else None


_HOST = (("cpus", "CPUs"), ("cores", "cores"), ("sockets", "sockets"), ("memory_gb", "GB"))


def _profile(report: Record) -> Iterator[str]:
    per_second, per_txn = report["load_profile_per_sec"], report["load_profile_per_txn"]
    if isinstance(per_second, Mapping):
        other = per_txn if isinstance(per_txn, Mapping) else {}
        yield f"{'load profile':<20}{'per second':>18}{'per transaction':>18}"
        for title, key in _PROFILE:
            if per_second.get(key) is not None or other.get(key) is not None:
                yield f"  {title:<18}{_number(per_second.get(key)):>18}{_number(other.get(key)):>18}"


def _events(report: Record) -> Iterator[str]:
    columns: tuple[tuple[str, str, int], ...] = (
        ("waits", "waits", 15), ("time (s)", "time_s", 13), ("avg (ms)", "avg_wait_ms", 11),
        ("% DB", "pct_db_time", 7),
    )  # fmt: skip
    yield from _table(
        "top events", 31, columns, _rows(report["top_events"])[:_EVENTS], lambda row: row.get("event")
    )


def _model(report: Record) -> Iterator[str]:
    rows = [row for row in _rows(report["time_model"]) if _is_number(row.get("time_s"))]
    rows.sort(key=lambda row: -float(str(row["time_s"])))
    columns = (("time (s)", "time_s", 18), ("% DB", "pct_db_time", 9))
    yield from _table("time model", 46, columns, rows[:_MODEL], lambda row: row.get("name"))


def _cpu(report: Record) -> Iterator[str]:
    cpu = report["host_cpu"]
    if isinstance(cpu, Mapping):
        shares = (
            ("user_pct", "user"),
            ("sys_pct", "system"),
            ("wio_pct", "waiting for I/O"),
            ("idle_pct", "idle"),
        )
        parts = [f"{_number(cpu.get(key))}% {name}" for key, name in shares if cpu.get(key) is not None]
        load = f"; load {_number(cpu.get('load_begin'))} to {_number(cpu.get('load_end'))}"
        yield from _folded("host CPU     ", f"{', '.join(parts)}{load}")


def _statements(report: Record) -> Iterator[str]:
    by, rows = next(
        ((by, rows) for by in ("elapsed", "cpu", "gets", "reads") if (rows := _rows(report.get(f"sql_by_{by}")))),
        ("", []),
    )
    columns = (("elapsed (s)", "elapsed_s", 13), ("executions", "executions", 13), ("% total", "pct_total", 9))
    yield from _table(
        f"top SQL by {by}", 15, columns, rows[:_STATEMENTS],
        lambda row: row.get("sql_id") or row.get("old_hash_value"), lambda row: row.get("text"),
    )  # fmt: skip


def _instances(report: Record) -> Iterator[str]:
    columns = (("elapsed (min)", "elapsed_min", 15), ("DB time (min)", "db_time_min", 15),
               ("active sessions", "avg_active_sessions", 17))  # fmt: skip
    yield from _table("instances", 20, columns, _rows(report["instances"]), lambda row: row.get("instance"))


def _warnings(report: Record) -> Iterator[str]:
    warnings = report["warnings"]
    if isinstance(warnings, Sequence) and warnings:
        yield "warnings"
        for warning in warnings[:_WARNINGS]:
            yield from _folded("  ", _text(warning))
        if len(warnings) > _WARNINGS:
            yield f"  and {len(warnings) - _WARNINGS} more: see --json"


def _table(
    title: str, wide: int, columns: Sequence[tuple[str, str, int]], rows: Sequence[Record],
    name: Callable[[Record], object], tail: Callable[[Record], object] | None = None,
) -> Iterator[str]:  # fmt: skip
    if not rows:
        return
    yield f"{title:<{wide + 2}}" + "".join(f"{head:>{width}}" for head, _, width in columns)
    for row in rows:
        figures = "".join(f" {_number(row.get(key)):>{width - 1}}" for _, key, width in columns)
        rest = f"  {_text(tail(row))}" if tail else ""
        yield f"  {_text(name(row))[:wide]:<{wide}}{figures}{rest}"


def _rows(value: object) -> list[Record]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ratio(part: object, whole: object) -> str:
    known = isinstance(part, int | float) and isinstance(whole, int | float) and whole > 0
    return f"{float(str(part)) / float(str(whole)):,.2f}" if known else ""


def _text(value: object) -> str:
    from toolkit.report.safe import clean

    return "" if value is None else clean(str(value))


def _moment(value: object) -> str:
    return "?" if value is None else _text(value).replace("T", " ")


def _number(value: object) -> str:
    if not isinstance(value, int | float):
        return "-"
    return f"{round(value):,}" if isinstance(value, int) or abs(value) >= _WHOLE else f"{round(value, 3):,}"


def _id(value: object) -> str:
    return str(value) if isinstance(value, int) else "?"


def _folded(first: str, text: str) -> Iterator[str]:
    """Return a line, folded at the width of the screen under its own beginning."""
    yield from textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)) or [first]
