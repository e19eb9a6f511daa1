"""The lists of a report as values: waits, statements, segments, input and output, each with its least value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime

from toolkit.analysis.awr.cut_names import longer
from toolkit.model.interval import InputOutput, Listing, Segment, Statement, Wait

Record = Mapping[str, object]
_SIZE = re.compile(r"\s*([\d,]*\.?\d+)\s*([KMGTP]?)B?\s*", re.IGNORECASE)
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_LATENCY = re.compile(r"\s*([\d,]*\.?\d+)\s*(ns|us|ms|s)?\s*", re.IGNORECASE)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_COUNTS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_COUNT = re.compile(r"\s*(-?[\d,]*\.?\d+)\s*([KMGBT]?)\s*", re.IGNORECASE)


def number(value: object) -> float | None:
    """Return a number, or None for whatever is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def text(value: object) -> str | None:
    """Return a text that says something, or None."""
    return str(value) if value is not None and str(value).strip() else None


def moment(value: object) -> datetime | None:
    """Return the instant of an ISO 8601 text, or None."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def record(value: object) -> Record:
    """Return a mapping; an empty one for whatever is none."""
    return value if isinstance(value, Mapping) else {}


def records(value: object) -> list[Record]:
    """Return the mappings of a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def numbers(value: object) -> dict[str, float]:
    """Return what of a mapping is numbers."""
    return {str(key): found for key, one in record(value).items() if (found := number(one)) is not None}


def cells(value: object) -> list[str]:
    """Return the cells of a row."""
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def table_rows(table: Record) -> list[list[str]]:
    """Return the rows of a table."""
    rows = table.get("rows")
    return [cells(row) for row in rows] if isinstance(rows, list | tuple) else []


def size(cell: str, unit: str = "") -> float | None:
    """Return bytes: `99.6G`, `19,904M`; a bare number counts in `unit`."""
    match = _SIZE.fullmatch(cell)
    return None if match is None else _float(match[1]) * _BYTES[(match[2] or unit).upper()]


def latency(cell: str, unit: str = "ms") -> float | None:
    """Return seconds of `1.04ms` or `620us`; a bare number counts in `unit`."""
    match = _LATENCY.fullmatch(cell)
    return None if match is None else _float(match[1]) * _SECONDS[(match[2] or unit).lower()]


def amount(cell: str) -> float | None:
    """Return a count as printed: `5.5M`, `1,234`."""
    match = _COUNT.fullmatch(cell)
    return None if match is None else _float(match[1]) * _COUNTS[match[2].upper()]


def _float(digits: str) -> float:
    return float(digits.replace(",", ""))


_WHOLE = "*"
"""What the report of a cluster prints for the number of all instances together."""
_TOTALS = ("TOTAL:", "Total")
_MIB = 2**20


def functions(report: Record, elapsed: float | None) -> Listing[InputOutput]:
    """Return what each function read and wrote."""
    return _io(report, "functionname", elapsed)


def file_types(report: Record, elapsed: float | None) -> Listing[InputOutput]:
    """Return what was read and written by type of file."""
    return _io(report, "filetypename", elapsed)


def _io(report: Record, heading: str, elapsed: float | None) -> Listing[InputOutput]:
    for table in records(report.get("tables")):
        columns = cells(table.get("columns"))
        heads = [re.sub(r"[^a-z]", "", name.lower()) for name in columns]
        if heads[:2] == ["i", heading] and (made := _of_cluster(report, table_rows(table), heads, elapsed)):
            return _listing(made)
        named = heads[:1] == [heading] or (heads[:1] == ["function"] and heading == "functionname")
        if not named or len(heads) < 7 or not heads[1].startswith(("readsdata", "readdatavolume")):
            continue
        average = re.search(r"\((us|ms|s)\)", columns[8]) if len(columns) > 8 else None
        counted = len(heads) > 7 and heads[7].startswith("waits")
        unit = average[1] if average else "ms"
        return _listing([_row(row, elapsed, unit, counted) for row in table_rows(table)])
    return Listing()


def _listing(made: Sequence[InputOutput]) -> Listing[InputOutput]:
    return Listing({one.name: one for one in made if one.name and one.name not in _TOTALS}, whole=True)


def _row(row: list[str], elapsed: float | None, unit: str, counted: bool) -> InputOutput:
    filled = [*row, *[""] * (9 - len(row))]
    return InputOutput(
        filled[0].strip(),
        read_bytes=size(filled[1], "M"),
        write_bytes=size(filled[4], "M"),
        read_requests=_times(amount, filled[2], elapsed),
        write_requests=_times(amount, filled[5], elapsed),
        waits=amount(filled[7]) if counted else None,
        latency_seconds=latency(filled[8], unit) if counted else latency(filled[7], unit),
    )


def _times(read: Callable[[str], float | None], cell: str, elapsed: float | None) -> float | None:
    rate = read(cell)
    return rate * elapsed if rate is not None and elapsed else None


def _of_cluster(
    report: Record, rows: list[list[str]], heads: Sequence[str], elapsed: float | None
) -> list[InputOutput]:
    """Return the rows of the whole cluster, or of one of its instances, which stand in one table."""
    instance = number(report.get("inst_num")) if report.get("scope") == "instance" else None
    wanted = _WHOLE if instance is None else str(int(instance))
    places = {name: heads.index(head) for name, head in _CLUSTER.items() if head in heads}
    if not {"read", "write"} <= places.keys():
        return []
    found = []
    for row in rows:
        if len(row) < len(heads) or row[0].strip() != wanted:
            continue
        cell = {name: row[place] for name, place in places.items()}
        read, write = (_times(amount, cell[name], elapsed) for name in ("read", "write"))
        found.append(
            InputOutput(
                row[1].strip(),
                read_bytes=None if read is None else read * _MIB,
                write_bytes=None if write is None else write * _MIB,
                read_requests=_times(amount, cell.get("reads", ""), elapsed),
                write_requests=_times(amount, cell.get("writes", ""), elapsed),
                waits=amount(cell.get("waits", "")),
                latency_seconds=latency(cell.get("average", cell.get("small", "")), "ms"),
            )
        )
    return found


_CLUSTER = {
    "reads": "requestsreadss", "writes": "requestswritess", "read": "mbreadmbs", "write": "mbwritembs",
    "waits": "waitscount", "average": "avgtime", "small": "servicetimesmallread",
}  # fmt: skip
"""The columns of the report of a cluster, letters only: `Requests Reads/s`, `MB Read MB/s` ..."""


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
