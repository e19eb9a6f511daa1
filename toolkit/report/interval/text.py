"""A comparison of two intervals for a terminal or a mail: 80 columns, the essential only."""

from __future__ import annotations

from dataclasses import replace

from toolkit.analysis.awr.diff import IntervalDiff
from toolkit.report.interval.tables import side, times
from toolkit.report.interval.view import IntervalView, interval_view
from toolkit.report.layout import WIDTH, bullets, text_table, wrapped
from toolkit.report.tables import Table, left, right, table
from toolkit.units import number, seconds

_BESIDE = (WIDTH - 15) // 2
"""Characters of a cell that fits beside another."""
_EVENTS, _STATEMENTS, _PARAMETERS, _INSTANCES = 10, 8, 12, 16


def diff_text(diff: IntervalDiff) -> str:
    """Return the comparison as text; no line is longer than 80 characters."""
    view = interval_view(diff)
    lines = [*wrapped(view.title), "=" * min(len(view.title), WIDTH), *_head(view)]
    for title, found in _tables(diff):
        if found.rows:
            lines += ["", title.upper(), *text_table(found)]
    lines += ["", *wrapped("everything else: --out FILE.html, or --json")]
    return "\n".join(line[:WIDTH].rstrip() for line in lines) + "\n"


def _head(view: IntervalView) -> list[str]:
    lines = ["", *wrapped(view.headline), *bullets(view.measures)]
    if view.doubts:
        lines += ["", "KEEP IN MIND", *bullets(view.doubts)]
    if view.causes:
        lines += ["", "WHAT ACCOUNTS FOR IT", *_numbered(view.causes)]
    else:
        lines += ["", *wrapped(view.unexplained)]
    if view.against:
        lines += ["", "THE OTHER WAY", *bullets(view.against)]
    return [*lines, "", *_who(view.who)]


def _who(who: Table) -> list[str]:
    """Lay out what is compared; what is too long to stand side by side, as names of files are, stands below."""
    long = [row for row in who.rows if any(len(cell) > _BESIDE for cell in row[1:])]
    lines = text_table(replace(who, rows=tuple(row for row in who.rows if row not in long)))
    for title, *sides in long:
        for when, text in zip(("before", "after"), sides, strict=True):
            lines += wrapped(f"{title} {when}: {text}")
    return lines


def _numbered(sentences: tuple[str, ...]) -> list[str]:
    return [line for place, one in enumerate(sentences, 1) for line in wrapped(one, f"{place}. ")]


def _tables(diff: IntervalDiff) -> list[tuple[str, Table]]:
    load = [
        [one.key, side(one.before), side(one.after), times(one)]
        for one in diff.load
        if one.ratio is not None and one.key in _LOAD
    ]
    events = [
        [one.key[:34], _brief(side(one.seconds.before)), _brief(side(one.seconds.after)),
         seconds(one.latency.before.rate), seconds(one.latency.after.rate)]
        for one in diff.waits[:_EVENTS]
    ]  # fmt: skip
    statements = [
        [one.key, _brief(side(one.elapsed.before)), _brief(side(one.elapsed.after)),
         number(one.measures["executions"].before.rate), number(one.measures["executions"].after.rate),
         seconds(one.each("elapsed_s").before.rate), seconds(one.each("elapsed_s").after.rate)]
        for one in diff.statements[:_STATEMENTS]
    ]  # fmt: skip
    instances = [
        [str(one.after.origin.instance or "?"), number(one.db_time.before.rate), number(one.db_time.after.rate),
         times(one.db_time), one.causes[0].key if one.causes else "-"]
        for one in diff.instances[:_INSTANCES]
    ]  # fmt: skip
    parameters = [[name, a or "-", b or "-"] for name, (a, b) in list(diff.parameters.items())[:_PARAMETERS]]
    return [
        ("load per second", table("", [*left(""), *right("before", "after", "ratio")], load)),
        ("instances, active sessions, and the first cause of each",
         table("", [*left(""), *right("before", "after", "ratio"), *left("cause")], instances)),
        ("wait events, active sessions and average wait",
         table("", [*left("event"), *right("before", "after", "avg", "avg after")], events)),
        ("statements, active sessions, executions/s and time each",
         table("", [*left("SQL"), *right("before", "after", "ex/s", "after", "each", "after")], statements)),
        ("parameters that differ", table("", left("parameter", "before", "after"), parameters)),
    ]  # fmt: skip


_LOAD = {
    "db_time_s", "db_cpu_s", "transactions", "user_calls", "executes", "logical_reads", "physical_reads",
    "physical_writes", "redo_size_bytes", "hard_parses", "temp_io_bytes",
}  # fmt: skip


def _brief(text: str) -> str:
    return text.replace("not listed, below ", "<")
