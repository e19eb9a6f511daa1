"""What a comparison of two intervals says, and how it is laid out as text and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from toolkit.analysis.awr import findings, sentences
from toolkit.analysis.awr.causes import Cause
from toolkit.analysis.awr.diff import IntervalDiff
from toolkit.model.interval import Origin
from toolkit.report.chart import Chart
from toolkit.report.interval import tables as made
from toolkit.report.interval.details import advice_charts, detail_tables
from toolkit.report.interval.tables import BarTable, barred, side, times
from toolkit.report.layout import bullets, text_table, wrapped
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.terminal import line_width, width
from toolkit.units import MISSING, number, percent, seconds

_CAUSES = 10
_STATEMENTS_FIRST, _PARAMETERS_FIRST = 12, 12


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and its tables."""

    key: str
    title: str
    tables: tuple[BarTable, ...]
    note: str = ""
    charts: tuple[Chart, ...] = ()
    appendix: bool = False
    """Whether most readers can do without."""


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause in words: its sentence, and what it was concluded from."""

    sentence: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IntervalView:
    """A comparison as a reader sees it; `look` is `faster`, `slower` or `same`.

    Each cause is its sentence and the evidence for it; `change` is what they are of, `unexplained` is shown if
    there are none.
    """

    title: str
    headline: str
    look: str
    measures: tuple[str, ...]
    causes: tuple[CauseView, ...]
    against: tuple[CauseView, ...]
    doubts: tuple[str, ...]
    completeness: tuple[str, ...]
    who: Table
    sections: tuple[PageSection, ...]
    method: tuple[str, ...]
    change: str = ""
    unexplained: str = "no dominant cause"


def interval_view(diff: IntervalDiff) -> IntervalView:
    """Prepare a comparison for reading."""
    grew = (diff.whole or 0.0) >= 0
    main = [one for one in diff.causes if (one.impact > 0) == grew]
    other = [one for one in diff.causes if (one.impact > 0) != grew]
    return IntervalView(
        title=clean(_title(diff)),
        headline=clean(findings.headline(diff)),
        look=_look(diff),
        measures=tuple(clean(one) for one in findings.measures(diff)),
        causes=_told(main, diff),
        against=_told(other, diff),
        doubts=tuple(clean(one) for one in _doubts(diff)),
        completeness=tuple(
            f"{name}: {clean(one.completeness)}"
            for name, one in (("before", diff.before), ("after", diff.after))
            if one.completeness
        ),
        who=_who(diff),
        sections=tuple(
            one for one in _sections(diff) if one.charts or any(each.table.rows for each in one.tables)
        ),
        method=_METHOD,
        change=findings.accounted_for(diff),
        unexplained=_unexplained(diff),
    )


def _unexplained(diff: IntervalDiff) -> str:
    if diff.whole is not None:
        return "no dominant cause"
    return "without DB time no cause can be ranked; the tables show what else was counted"


def _told(causes: Sequence[Cause], diff: IntervalDiff) -> tuple[CauseView, ...]:
    return tuple(
        CauseView(clean(sentences.cause_sentence(one, diff)), tuple(map(clean, sentences.evidence(one))))
        for one in sentences.worth_telling(causes, diff)
    )


def _title(diff: IntervalDiff) -> str:
    a, b = diff.before.origin, diff.after.origin
    name = a.container or a.instance or a.database or a.name
    other = b.container or b.instance or b.database or b.name
    if name == other and a.dbid != b.dbid and a.dbid and b.dbid:
        name, other = f"{name} ({a.dbid})", f"{other} ({b.dbid})"
    if name == other and a.begin == b.begin:
        of = next(((one, two) for one, two in _distinctions(a, b) if one and two and one != two), None)
        name, other = (f"{name} ({of[0]})", f"{other} ({of[1]})") if of else (name, other)
    if name != other:
        return f"{other} against {name}"
    if a.begin is None or b.begin is None or a.begin == b.begin:
        return f"{name}: before and after"
    return f"{name}: {b.begin:%Y-%m-%d %H:%M} against {a.begin:%Y-%m-%d %H:%M}"


def _distinctions(a: Origin, b: Origin) -> Iterator[tuple[str | None, str | None]]:
    """Yield what two intervals of one name may differ by, as a reader knows them."""
    yield from ((a.instance, b.instance), (a.database, b.database), (a.host, b.host), (a.name, b.name))


def _look(diff: IntervalDiff) -> str:
    headline = findings.headline(diff)
    return next((look for look in ("faster", "slower") if headline.startswith(f"it got {look}")), "same")


def _doubts(diff: IntervalDiff) -> Iterator[str]:
    if diff.swapped:
        yield "the two were given in reverse order and have been swapped, so that the earlier one is `before`"
    for one in diff.doubts:
        yield one.sentence
    if diff.unmatched_instances:
        yield f"instances in only one of the reports: {', '.join(diff.unmatched_instances)}"


_METHOD = (
    "All values are per second of the interval, so that intervals of unequal length can be compared. Active "
    "sessions are seconds of DB time (or of waiting) per second.",
    "Lists hold the topmost rows. A row that one report lacks is not zero there but below the last row of its "
    "list: `not listed, below` gives that bound, and a change computed from it is marked `at least`.",
    "Causes are ranked by the DB time they account for. A wait is a cause as far as each wait took longer; where "
    "there are more waits, the statements, hard parses or the cache that cause them come first. A statement is a "
    "cause when it is executed more often or does more work (buffer gets) in each execution: one that only takes "
    "longer for the same work is a victim. Plans are known only where active session history sampled them.",
    "Causes overlap where a report does not separate them, so they need not add up to the total.",
)


def _who(diff: IntervalDiff) -> Table:
    rows = []
    for title, spell in _IDENTITY:
        both = [spell(one.origin) for one in (diff.before, diff.after)]
        if any(both):
            rows.append([title, *(one or MISSING for one in both)])
    return table("What is compared", left("", "before", "after"), rows)


def _moment(value: datetime | None) -> str:
    return "" if value is None else value.isoformat(sep=" ", timespec="seconds")


def _snapshots(origin: Origin) -> str:
    if origin.begin_snapshot is None or origin.end_snapshot is None:
        return ""
    return f"{origin.begin_snapshot} to {origin.end_snapshot}"


_IDENTITY = (
    ("source", lambda one: PurePath(one.name).name),
    ("database", lambda one: one.database or ""),
    ("database id", lambda one: str(one.dbid or "")),
    ("instance", lambda one: one.instance or ""),
    ("container", lambda one: one.container or ""),
    ("host", lambda one: one.host or ""),
    ("CPUs", lambda one: "" if one.cpus is None else number(int(one.cpus))),
    ("release", lambda one: one.version or ""),
    ("begin", lambda one: _moment(one.begin)),
    ("end", lambda one: _moment(one.end)),
    ("snapshots", _snapshots),
    ("length", lambda one: "" if one.elapsed_seconds is None else seconds(one.elapsed_seconds)),
)


def _sections(diff: IntervalDiff) -> Iterator[PageSection]:
    note = shares_note([one.impact for one in diff.causes[:_CAUSES]], diff.whole)
    yield PageSection("causes", "Causes by DB time", (_cause_table(diff),), note)
    if diff.instances:
        yield PageSection("instances", "By instance", (_instance_table(diff),))
    yield PageSection("load", "Load profile", (made.load_table(diff),), "Bars: the change, cut off at double.")
    yield PageSection("model", "Time model", (made.model_table(diff),), "Seconds per second.")
    classes = made.wait_table("Wait classes", diff.classes, classes=True)
    yield PageSection("classes", "Wait classes", (classes,))
    yield PageSection("events", "Wait events of sessions", (made.wait_table("Wait events", diff.waits),))
    few = f"Statements, the first {_STATEMENTS_FIRST} of {len(diff.statements)}"
    many = len(diff.statements) > _STATEMENTS_FIRST
    first = made.statement_table(diff.statements[:_STATEMENTS_FIRST])
    yield PageSection("statements", few if many else "Statements", (first,))
    yield PageSection("host", "Host CPU", (made.host_table(diff),))
    yield PageSection("advice", "Memory advice", (), charts=advice_charts(diff))
    most = len(diff.parameters) > _PARAMETERS_FIRST
    shown = f"Parameters that differ, the first {_PARAMETERS_FIRST} of {len(diff.parameters)}"
    found = made.parameter_table(diff, _PARAMETERS_FIRST)
    yield PageSection("parameters", shown if most else "Parameters that differ", (found,))
    background = made.wait_table("Background events", diff.background)
    for key, title, tables in (
        ("latency", "Average wait of events", (made.latency_table(diff.waits),)),
        ("background", "Wait events of background processes", (background,)),
        ("functions", "I/O by function", (made.io_table("I/O by function", diff.functions),)),
        ("files", "I/O by file type", (made.io_table("I/O by file type", diff.file_types),)),
        ("memory", "Memory and ratios", (made.memory_table(diff),)),
        ("segments", "Segments", tuple(one for one in made.segment_tables(diff) if one.table.rows)),
        ("statistics", "Statistics that changed most", (made.counter_table(diff),)),
        ("every", "All statements", (made.statement_table(diff.statements),) if many else ()),
        ("all_parameters", "All parameters that differ", (made.parameter_table(diff),) if most else ()),
    ):
        yield PageSection(key, title, tables, appendix=True)
    for section, title, found in detail_tables(diff):
        yield PageSection(section, title, (found,), appendix=True)


def shares_note(impacts: Sequence[float], whole: float | None) -> str:
    """Say of shares that come to more than the whole why they do."""
    if not whole or sum(impact / whole for impact in impacts if impact / whole > 0) <= 1.005:
        return ""
    return (
        "Together more than 100 %: causes overlap where a report does not separate them, and others work in the "
        "opposite direction."
    )


def _cause_table(diff: IntervalDiff) -> BarTable:
    whole = diff.whole
    rows = []
    for one in diff.causes[:_CAUSES]:
        share = percent(one.impact / whole * 100) if whole and abs(whole) > 1e-4 else MISSING
        sign = "+" if one.impact > 0 else ""
        rows.append(([one.key, one.kind, f"{sign}{number(one.impact)}", share], one.impact))
    columns = [*left("cause", "kind"), *right("active sessions", "of the change")]
    return barred("Causes", columns, rows, judged=True)


def _instance_table(diff: IntervalDiff) -> BarTable:
    rows = []
    for one in diff.instances:
        first = next((each for each in one.causes), None)
        cells = [one.before.origin.instance or "", made.side(one.db_time.before), made.side(one.db_time.after)]
        cells += [
            made.delta(one.db_time),
            made.times(one.db_time),
            "" if first is None else sentences.cause_sentence(first, one),
        ]
        rows.append((cells, one.db_time.delta))
    columns = [
        *left("instance"),
        *right("sessions before", "after", "change", "after / before"),
        *left("main cause"),
    ]
    return barred("By instance", columns, rows)


# -- page -------------------------------------------------------------------------------------------------------
def diff_page(diff: IntervalDiff) -> str:
    """Return the page."""
    from toolkit.report.html import render_page

    view = interval_view(diff)
    return render_page("report/intervals.html.j2", title=view.title, view=view)


# -- text: 80 columns, the essential only -----------------------------------------------------------------------
_EVENTS, _STATEMENTS, _PARAMETERS, _INSTANCES = 10, 8, 12, 16


def diff_text(diff: IntervalDiff, *, why: bool = False) -> str:
    """Return the comparison as text, with `why` the evidence of each cause; no line is over 80 characters long."""
    view = interval_view(diff)
    lines = [*wrapped(view.title), "=" * min(len(view.title), width()), *_head(view, why=why)]
    for title, found in _tables(diff):
        if found.rows:
            lines += ["", title.upper(), *text_table(found)]
    if diff.parameters:
        lines += ["", "PARAMETERS THAT DIFFER", *_sides(_parameters(diff))]
    lines += ["", *wrapped("for everything else use --out FILE.html, or --json")]
    return "\n".join(line[: line_width()].rstrip() for line in lines) + "\n"


def _head(view: IntervalView, *, why: bool) -> list[str]:
    lines = ["", *wrapped(view.headline), *bullets(view.measures)]
    if view.doubts:
        lines += ["", "CAVEATS", *bullets(view.doubts)]
    if view.causes:
        lines += ["", f"CAUSES of {view.change}" if view.change else "CAUSES"]
        for place, one in enumerate(view.causes, 1):
            lines += [*wrapped(one.sentence, f"{place}. "), *(_evidence(one) if why else ())]
    else:
        lines += ["", *wrapped(view.unexplained)]
    if view.against:
        lines += ["", "AGAINST THE TREND"]
        for one in view.against:
            lines += [*bullets((one.sentence,)), *(_evidence(one) if why else ())]
    lines += ["", *_sides(view.who)]
    if why:
        lines += [line for one in view.completeness for line in ("", *wrapped(one))]
    return lines


def _sides(found: Table) -> list[str]:
    """Lay out what is named, before and after; what is too long to stand side by side stands below."""
    beside = (line_width() - max(len(row[0]) for row in found.rows) - 4) // 2
    long = [row for row in found.rows if any(len(cell) > beside for cell in row[1:])]
    short = replace(found, rows=tuple(row for row in found.rows if row not in long))
    lines = text_table(short) if short.rows else []
    for name, before, after in long:
        lines += [*wrapped(name), *wrapped(before, "  before  "), *wrapped(after, "  after   ")]
    return lines


def _evidence(cause: CauseView) -> list[str]:
    return [line for one in cause.evidence for line in wrapped(one, "     ")]


def _tables(diff: IntervalDiff) -> list[tuple[str, Table]]:
    load = [
        [title, side(one.before, spell), side(one.after, spell), times(one)]
        for one, (title, spell) in ((one, made.load_measure(one.key)) for one in diff.load)
        if one.ratio is not None and one.key in _LOAD
    ]
    events = [
        [one.key, _brief(side(one.seconds.before)), _brief(side(one.seconds.after)),
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
    return [
        ("load per second", table("", [*left(""), *right("before", "after", "ratio")], load)),
        ("instances, active sessions and main cause",
         table("", [*left(""), *right("before", "after", "ratio"), *left("cause")], instances)),
        ("wait events, active sessions and average wait",
         table("", [*left("event"), *right("before", "after", "avg", "avg after")], events)),
        ("statements, active sessions, executions/s and time each",
         table("", [*left("SQL"), *right("before", "after", "ex/s", "after", "each", "after")], statements)),
    ]  # fmt: skip


def _parameters(diff: IntervalDiff) -> Table:
    rows = [[name, a or "-", b or "-"] for name, (a, b) in list(diff.parameters.items())[:_PARAMETERS]]
    return table("", left("parameter", "before", "after"), rows)


_LOAD = {
    "db_time_s", "db_cpu_s", "transactions", "user_calls", "executes", "logical_reads", "physical_reads",
    "physical_writes", "redo_size_bytes", "hard_parses", "temp_io_bytes",
}  # fmt: skip


def _brief(text: str) -> str:
    return text.replace("not listed, below ", "<")
