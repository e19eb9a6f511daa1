"""The lists of a report: events, statements, segments; and what each says of a row it does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from toolkit.analysis.awr.cut_names import longer
from toolkit.analysis.awr.fields import Record, cells, number, record, records, table_rows, text
from toolkit.model.interval import Listing, Segment, Statement, Wait

_CPU = "DB CPU"
_IDLE = re.compile(
    r"SQL\*Net (message|vector data) from (client|dblink)|rdbms ipc message|[ps]mon timer|.* idle( wait)?"
    r"|PX Deq:? ?(Execution Msg|Execute Reply|Credit.*|Table Q Normal|Parse Reply|Join ACK|Signal ACK.*)?"
    r"|jobq slave wait|virtual circuit (status|wait for .*)|wait for unread message on broadcast channel"
    r"|Streams AQ: .*|wakeup time manager|dispatcher timer|pipe get|Null event|client message|single-task message"
    r"|DIAG idle wait|.*slave wait|PL/SQL lock timer|Space Manager: .*|HS message to agent|i/o slave wait",
    re.IGNORECASE,
)
"""Statspack prints idle events among the others; AWR leaves their share of DB time blank."""
_MEASURES = ("executions", "elapsed_s", "cpu_s", "gets", "reads", "parse_calls")
_LISTS = {
    "sql_by_elapsed": "elapsed_s", "sql_by_cpu": "cpu_s", "sql_by_gets": "gets", "sql_by_reads": "reads",
    "sql_by_executions": "executions", "sql_by_parse_calls": "parse_calls", "sql_by_user_io": "",
    "sql_by_cluster_wait": "",
}  # fmt: skip
_ROUNDED, _EXACT = 0.5, 20
"""Seconds: what a printed `0` can be; below the second, number and average of waits tell a whole number better."""
_DIGITS = re.compile(r"\d+")


def waits(report: Record, model: Mapping[str, float]) -> Listing[Wait]:
    """Return what sessions of users waited for, with DB CPU as one of the rows.

    AWR of 10g and Statspack before 11g list all processes together, and so do their topmost events: what the
    server's own processes waited for is in no DB time, and is taken off by their own list.
    """
    foreground = records(report.get("foreground_events"))
    rows = foreground or records(report.get("wait_events"))
    top = {str(row.get("event")): _wait(row, "event") for row in records(report.get("top_events"))}
    top = {("DB CPU" if name == "CPU time" else name): one for name, one in top.items()}
    found = {one.name: one for one in (_wait(row, "event") for row in rows if not _idle(row, rows)) if one.name}
    for name, one in top.items():
        known = found.get(name) or found.pop(_cut(name, one, found), None)
        # the list of the topmost has a decimal more and the wait class, the long one whole counts
        found[name] = one if known is None else replace(
            known, seconds=one.seconds if one.seconds is not None else known.seconds,
            wait_class=one.wait_class or known.wait_class,
        )  # fmt: skip
    seconds = model.get(_CPU)
    found.pop(_CPU, None) if seconds is not None else None
    shortest = _shortest(found)
    if rows and not foreground:
        found = _of_sessions(found, _servers(report))
    if seconds is not None:
        found[_CPU] = Wait(_CPU, seconds)
    return Listing(found, floors={} if shortest is None else {"seconds": shortest})


def _of_sessions(found: Mapping[str, Wait], servers: Mapping[str, Wait]) -> dict[str, Wait]:
    """Take off what the server's own processes waited for; an event that is theirs alone is none of a session."""
    kept = {}
    for name, one in found.items():
        theirs = servers.get(name) or next((servers[cut] for cut in servers if longer(cut, [name])), None)
        if theirs is None:
            kept[name] = one
        elif one.seconds is not None and theirs.seconds is not None:
            seconds = one.seconds - theirs.seconds
            waits = None if one.waits is None or theirs.waits is None else max(one.waits - theirs.waits, 0.0)
            # both are printed in whole seconds: less than one is nothing
            if seconds >= 2 * _ROUNDED and waits != 0:
                kept[name] = replace(one, seconds=seconds, waits=waits, printed_latency=None)
        else:
            kept[name] = one
    return kept


def _cut(name: str, top: Wait, found: Mapping[str, Wait]) -> str:
    """Return the name under which the long list has an event; its column is narrower than that of the topmost."""
    return next(
        (one for one, row in found.items() if longer(one, [name]) and row.waits == top.waits), ""
    )  # fmt: skip


def background(report: Record) -> Listing[Wait]:
    """Return what the server's own processes waited for, idle events left out."""
    found = {
        name: one
        for name, one in _servers(report).items()
        if one.wait_class != "Idle" and not _IDLE.fullmatch(name)
    }
    shortest = _shortest(found)
    return Listing(found, floors={} if shortest is None else {"seconds": shortest})


def _servers(report: Record) -> dict[str, Wait]:
    return {one.name: one for one in (_wait(row, "event") for row in records(report.get("background_events")))}


def _shortest(found: Mapping[str, Wait]) -> float | None:
    """Return the most time of events that are not listed: a printed `0` is up to half a second."""
    last = _last(one.seconds for one in found.values())
    return None if last is None else max(last, _ROUNDED)


def classes(report: Record, model: Mapping[str, float]) -> Listing[Wait]:
    """Return the wait classes of user sessions; a class that is not there had no waits."""
    rows = records(report.get("foreground_wait_classes")) or records(report.get("wait_classes"))
    found = {one.name: one for one in (_wait(row, "wait_class") for row in rows) if one.name}
    if found and _CPU in model:
        found[_CPU] = Wait(_CPU, model[_CPU])
    return Listing(found, whole=bool(found))


def _wait(row: Record, name: str) -> Wait:
    milliseconds, seconds, waits = (number(row.get(key)) for key in ("avg_wait_ms", "time_s", "waits"))
    if seconds is not None and seconds < _EXACT and seconds.is_integer() and waits and milliseconds:
        seconds = waits * milliseconds / 1000
    return Wait(
        str(row.get(name) or ""),
        seconds,
        waits,
        text(row.get("wait_class")),
        # a printed zero is less than half a millisecond, not nothing: time by waits is nearer
        milliseconds / 1000 if milliseconds else None,
    )


def _idle(row: Record, rows: list[Record]) -> bool:
    if _IDLE.fullmatch(str(row.get("event"))) or row.get("wait_class") == "Idle":
        return True
    shared = any(number(one.get("pct_db_time")) is not None for one in rows)
    return shared and number(row.get("pct_db_time")) is None


def _last(values: Iterable[float | None]) -> float | None:
    return min((one for one in values if one is not None), default=None)


def statements(report: Record) -> Listing[Statement]:
    """Return every statement of any of the lists, with all that any of them says of it."""
    found: dict[str, Statement] = {}
    floors: dict[str, float] = {}
    texts, plans = record(report.get("sql_text")), _plans(report)
    for name, measure in _LISTS.items():
        rows = records(report.get(name))
        for row in rows:
            if key := _key(row):
                found[key] = _joined(found.get(key), _statement(key, row, texts))
        shortest = _last(number(row.get(measure)) for row in rows) if measure else None
        if shortest is not None:
            floors[measure] = shortest
    for key, plan in plans.items():
        if key in found:
            found[key] = replace(found[key], plan=plan)
    return Listing(found, floors=floors)


def _key(row: Record) -> str | None:
    return text(row.get("sql_id")) or text(row.get("old_hash_value"))


def _statement(key: str, row: Record, texts: Record) -> Statement:
    executions, elapsed, cpu, gets, reads, parses = (number(row.get(name)) for name in _MEASURES)
    whole = text(texts.get(key)) or text(row.get("text"))
    return Statement(
        key, executions, elapsed, cpu, gets, reads, None, parses, None, text(row.get("module")), whole
    )


def _joined(known: Statement | None, more: Statement) -> Statement:
    if known is None:
        return more
    missing = {
        one.name: getattr(more, one.name) for one in fields(Statement) if getattr(known, one.name) in (None, "")
    }
    return replace(known, **missing)


def _plans(report: Record) -> dict[str, str]:
    """Return the plan hash of statements that active session history saw; several plans joined."""
    found: dict[str, set[str]] = {}
    for table in records(report.get("tables")):
        columns = [re.sub(r"[^a-z]", "", str(name).lower()) for name in cells(table.get("columns"))]
        if "sqlid" not in columns or not {"planhash", "planhashvalue"} & set(columns):
            continue
        key, plan = (
            columns.index("sqlid"),
            next(i for i, name in enumerate(columns) if name.startswith("planhash")),
        )
        for row in table_rows(table):
            if len(row) > max(key, plan) and row[key] and _DIGITS.fullmatch(row[plan]) and int(row[plan]):
                found.setdefault(row[key], set()).add(row[plan])
    return {key: ", ".join(sorted(plans)) for key, plans in found.items()}


def segments(report: Record) -> dict[str, Listing[Segment]]:
    """Return the segments by measure."""
    found: dict[str, Listing[Segment]] = {}
    for measure, rows in record(report.get("segments")).items():
        made: dict[str, Segment] = {}
        for row in records(rows):
            one = Segment(
                text(row.get("owner")), text(row.get("object") or row.get("object_name")),
                text(row.get("subobject")), text(row.get("type")), number(row.get("value")),
            )  # fmt: skip
            if one.key:
                made.setdefault(one.key, one)
        shortest = _last(one.value for one in made.values())
        found[str(measure)] = Listing(made, floors={} if shortest is None else {"value": shortest})
    return found
