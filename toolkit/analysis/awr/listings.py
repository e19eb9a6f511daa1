"""The lists of a report as values: waits, statements, segments, input and output, each with its least value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime

from toolkit.analysis.awr.cut_names import longer
from toolkit.model.interval import InputOutput, Listing, Segment, Statement, Wait
from toolkit.readers.awr.averages import uncertainty

Record = Mapping[str, object]
_SIZE = re.compile(r"\s*([\d,]*\.?\d+)\s*([KMGTP]?)B?\s*", re.IGNORECASE)
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}


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


def size(cell: str, unit: str = "") -> float | None:
    """Return bytes: `99.6G`, `19,904M`; a bare number counts in `unit`."""
    match = _SIZE.fullmatch(cell)
    return None if match is None else _float(match[1]) * _BYTES[(match[2] or unit).upper()]


def _float(digits: str) -> float:
    return float(digits.replace(",", ""))


_WHOLE = "*"
"""What the report of a cluster prints for the number of all instances together."""
_TOTALS = ("TOTAL:", "Total")


def functions(report: Record, elapsed: float | None) -> Listing[InputOutput]:
    """Return what each function read and wrote."""
    return _io(report, "io_by_function", "function", elapsed)


def file_types(report: Record, elapsed: float | None) -> Listing[InputOutput]:
    """Return what was read and written by type of file."""
    return _io(report, "io_by_file_type", "file_type", elapsed)


def _io(report: Record, section: str, name: str, elapsed: float | None) -> Listing[InputOutput]:
    made = [_input_output(row, name, elapsed) for row in of_scope(report, records(report.get(section)))]
    return Listing({one.name: one for one in made if one.name and one.name not in _TOTALS}, whole=bool(made))


def of_scope(report: Record, rows: Sequence[Record]) -> list[Record]:
    """Return the rows of the whole cluster, or of one of its instances, where those of all stand in one table."""
    instance = number(report.get("inst_num")) if report.get("scope") == "instance" else None
    wanted = _WHOLE if instance is None else str(int(instance))
    return [row for row in rows if str(row.get("inst_num", wanted)).strip() == wanted]


def _input_output(row: Record, name: str, elapsed: float | None) -> InputOutput:
    milliseconds = number(row.get("avg_wait_ms", row.get("small_read_ms")))
    return InputOutput(
        str(row.get(name) or "").strip(),
        read_bytes=_first(number(row.get("read_bytes")), _times(row.get("read_bytes_per_s"), elapsed)),
        write_bytes=_first(number(row.get("write_bytes")), _times(row.get("write_bytes_per_s"), elapsed)),
        read_requests=_times(row.get("read_requests_per_s"), elapsed),
        write_requests=_times(row.get("write_requests_per_s"), elapsed),
        waits=number(row.get("waits")),
        latency_seconds=None if milliseconds is None else milliseconds / 1000,
    )


def _first(*values: float | None) -> float | None:
    return next((one for one in values if one is not None), None)


def _times(rate: object, elapsed: float | None) -> float | None:
    value = number(rate)
    return value * elapsed if value is not None and elapsed else None


_CPU = "DB CPU"
_SERVER_CPU = "background cpu time"
"""What the report of a cluster lists among the events of the server's own processes, and is no wait."""
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
_ROUNDED = 0.5
"""Seconds: what a printed `0` can be."""


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
    rows = (_wait(row, "event") for row in records(report.get("background_events")))
    return {one.name: one for one in rows if one.name != _SERVER_CPU}


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
    """Return a row of waits, whose time is worked out from its average where that is nearer."""
    milliseconds, seconds, waits = (number(row.get(key)) for key in ("avg_wait_ms", "time_s", "waits"))
    if milliseconds and waits and seconds is not None:
        rough = uncertainty(seconds) if seconds else math.inf
        nearer = uncertainty(milliseconds) + uncertainty(waits, count=True) < rough
        seconds = waits * milliseconds / 1000 if nearer else seconds
    average = milliseconds / 1000 if milliseconds else None
    return Wait(str(row.get(name) or ""), seconds, waits, text(row.get("wait_class")), average)


def _idle(row: Record, rows: list[Record]) -> bool:
    if _IDLE.fullmatch(str(row.get("event"))) or row.get("wait_class") == "Idle":
        return True
    shared = any(number(one.get("pct_db_time")) is not None for one in rows)
    return shared and number(row.get("pct_db_time")) is None


def _last(values: Iterable[float | None]) -> float | None:
    return min((one for one in values if one is not None), default=None)


_TIMES = ("elapsed_s", "cpu_s")
_HALF_SECOND = 0.5


def statements(report: Record) -> Listing[Statement]:
    """Return every statement of any of the lists, with all that any of them says of it."""
    found: dict[str, Statement] = {}
    floors: dict[str, float] = {}
    texts = record(report.get("sql_text"))
    for name, measure in _LISTS.items():
        rows = records(report.get(name))
        for row in rows:
            if key := _key(row):
                found[key] = _joined(found.get(key), _statement(key, row, texts))
        shortest = _last(number(row.get(measure)) for row in rows) if measure else None
        if shortest is not None:
            floors[measure] = shortest
    percent = number(report.get("captured_sql_pct"))
    return Listing(found, floors=floors, captured=None if percent is None else min(max(percent / 100, 0.0), 1.0))


def _key(row: Record) -> str | None:
    return text(row.get("sql_id")) or text(row.get("old_hash_value"))


def _statement(key: str, row: Record, texts: Record) -> Statement:
    executions, elapsed, cpu, gets, reads, parses = (number(row.get(name)) for name in _MEASURES)
    whole = text(texts.get(key)) or text(row.get("text"))
    return Statement(
        key,
        executions,
        elapsed,
        cpu,
        gets,
        reads,
        None,
        parses,
        text(row.get("plan_hash")),
        text(row.get("module")),
        whole,
    )


def _joined(known: Statement | None, more: Statement) -> Statement:
    if known is None:
        return more
    missing = {
        one.name: getattr(more, one.name) for one in fields(Statement) if getattr(known, one.name) in (None, "")
    }
    finer = {name: getattr(more, name) for name in _TIMES if _rounds(getattr(more, name), getattr(known, name))}
    return replace(known, **{**missing, **finer})


def _rounds(fine: float | None, coarse: float | None) -> bool:
    """Whether a time of one list is what another prints in whole seconds, as 10.2 and 11.1 do in two of them."""
    if fine is None or coarse is None:
        return False
    return coarse.is_integer() and not fine.is_integer() and abs(fine - coarse) <= _HALF_SECOND


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
