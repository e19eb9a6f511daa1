"""One AWR or Statspack report as a screen of text: what is asked of every report, and with `--all` its details."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from toolkit.terminal import line_width
from toolkit.units import byte_size, counted

_EVENTS, _STATEMENTS, _WARNINGS, _MODEL = 10, 5, 6, 6
_LEAST_NAME = 15
_WHOLE, _SMALL = 1_000_000, 0.01
"""From here on digits behind the point say nothing, and below it three of them are too few."""
_PROFILE = (
    ("DB time (s)", "db_time_s"), ("DB CPU (s)", "db_cpu_s"), ("redo (bytes)", "redo_size_bytes"),
    ("logical reads", "logical_reads"), ("physical reads", "physical_reads"),
    ("physical writes", "physical_writes"),
    ("user calls", "user_calls"), ("parses", "parses"), ("hard parses", "hard_parses"), ("executes", "executes"),
    ("transactions", "transactions"),
)  # fmt: skip
_SCOPES = {"instance": "one instance", "rac_global": "the whole cluster", "pdb": "one pluggable database"}

Record = Mapping[str, object]


Columns = tuple[tuple[str, str, int], ...]
_SQL: Columns = (
    ("elapsed (s)", "elapsed_s", 13), ("executions", "executions", 13), ("% total", "pct_total", 9),
)  # fmt: skip
_PLAN: Columns = (("plan hash", "plan_hash", 12),)
_WAITS: Columns = (
    ("waits", "waits", 15), ("time (s)", "time_s", 13), ("avg (ms)", "avg_wait_ms", 11),
    ("% DB", "pct_db_time", 7),
)  # fmt: skip
_BACKGROUND = ("% bg", "pct_bg_time", 7)
_FINDINGS: Columns = (("% activity", "pct_active_sessions", 12), ("avg sessions", "avg_active_sessions", 14))
_IO: Columns = (
    ("read", "read_bytes", 13), ("written", "write_bytes", 13), ("read/s", "read_bytes_per_s", 13),
    ("written/s", "write_bytes_per_s", 13), ("avg (ms)", "avg_wait_ms", 10),
)  # fmt: skip
"""A report of one instance prints the bytes of its interval, one of a cluster those of a second."""
_SAMPLES: Columns = (("% activity", "pct_activity", 12), ("% event", "pct_event", 9))
_FILES: Columns = (
    ("reads", "reads", 14), ("avg (ms)", "avg_read_ms", 10), ("writes", "writes", 14),
    ("buffer waits", "buffer_waits", 14),
)  # fmt: skip
_ADVICE: Columns = (("factor", "size_factor", 8),)
_DETAILS: tuple[tuple[str, str, str, int, Columns], ...] = (
    ("samples of statements", "ash_sql_by_event", "sql_id", 15, (("plan hash", "plan_hash", 12), *_SAMPLES)),
    ("samples of blockers", "ash_blocking_sessions", "session", 20, _SAMPLES),
    ("samples of events", "ash_events", "event", 36,
     (("session type", "session_type", 14), _SAMPLES[0])),
    ("I/O by function", "io_by_function", "function", 24, _IO),
    ("I/O by file type", "io_by_file_type", "file_type", 24, _IO[:4]),
    ("tablespaces", "tablespace_io", "tablespace", 24, _FILES),
    ("files", "file_io", "filename", 24, _FILES),
    ("buffer cache advice (MB)", "buffer_cache_advice", "size_mb", 24,
     (*_ADVICE, ("physical reads", "physical_reads", 20))),
    ("PGA advice (MB)", "pga_advice", "size_mb", 24,
     (*_ADVICE, ("cache hit %", "cache_hit_pct", 14), ("overallocations", "overallocations", 17))),
    ("SGA advice (MB)", "sga_advice", "size_mb", 24,
     (*_ADVICE, ("DB time (s)", "db_time_s", 16), ("physical reads", "physical_reads", 20))),
    ("shared pool advice (MB)", "shared_pool_advice", "size_mb", 24,
     (*_ADVICE, ("time saved (s)", "time_saved_s", 18), ("load time (s)", "load_time_s", 16))),
    ("enqueues", "enqueues", "enqueue", 36,
     (("waits", "waits", 12), ("time (s)", "time_s", 12), ("avg (ms)", "avg_wait_ms", 12))),
    ("latches", "latch_sleeps", "latch", 36,
     (("misses", "misses", 14), ("sleeps", "sleeps", 12))),
    ("undo", "undo_over_time", "end_time", 20,
     (("blocks", "undo_blocks", 12), ("longest query (s)", "longest_query_s", 19))),
    ("global cache load", "gc_load", "name", 40, (("per second", "per_second", 14), ("per txn", "per_txn", 12))),
    ("global cache times", "gc_workload", "name", 56, (("value", "value", 14),)),
    ("global cache blocks a second, by instance", "gc_rates_by_instance", "inst_num", 16,
     (("cr received", "blocks_received_per_second_gc_cr", 14),
      ("current received", "blocks_received_per_second_gc_current", 18),
      ("cr served", "blocks_served_per_second_gc_cr", 12),
      ("current served", "blocks_served_per_second_gc_current", 16))),
    ("block accesses in %, by instance", "gc_efficiency_by_instance", "inst_num", 16,
     (("local", "buffer_access_local_pct", 10), ("remote", "buffer_access_remote_pct", 10),
      ("disk", "buffer_access_disk_pct", 10))),
    ("global cache times in µs, by instance", "gc_latency_by_instance", "inst_num", 16,
     (("cr received", "cr_blocks_receive_time_us", 14), ("current received", "cu_blocks_receive_time_us", 18),
      ("cr built", "cr_blocks_build_time_us", 11), ("pinned", "cu_blocks_pin_time_us", 10))),
)  # fmt: skip
"""What `--all` shows besides: title, section, the value that names a row and its width, columns."""
_MORE = (
    "add --all for the I/O profile, SQL by CPU, gets and reads, segments, active session history, I/O, advice, "
    "locks, undo and the global cache; --json has every row"
)


def screen(report: Record, *, whole: bool = False) -> str:
    """Return a report as text of at most 80 columns; what it does not say is left out or shown as `-`.

    Args:
        report: Its document.
        whole: Show its details as well.
    """
    parts = [_head, _profile, _events, _classes, _model, _findings, _cpu, _statements]
    parts += [_io_profile, _other_statements, _segments, _details] if whole else []
    parts += [_instances, _warnings]
    blocks = ["\n\n".join(_blocks(part(report))) for part in parts]
    if not whole:
        blocks.append("\n".join(_folded("", _MORE)))
    return "\n\n".join(block for block in blocks if block)


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    """Yield the parts of a text that are parted by empty lines."""
    block: list[str] = []
    for line in lines:
        if line:
            block.append(line[: line_width()].rstrip())
        elif block:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)


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
    host = [counted(number, one) for key, one in _HOST if isinstance(number := report[key], int | float)]
    host += [] if report["memory_gb"] is None else [f"{_number(report['memory_gb'])} GB"]
    if report["host"] or host:
        parts = ", ".join(filter(None, [_text(report["host"]), _text(report["platform"]), *host]))
        yield from _folded("  host       ", parts)
    begin, end = _moment(report["begin_snap_time"]), _moment(report["end_snap_time"])
    snapshots = f"snapshots {_id(report['begin_snap_id'])} to {_id(report['end_snap_id'])}"
    yield from _folded("  interval   ", f"{begin} to {end}, {snapshots}")
    elapsed, db_time = report["elapsed_min"], _db_time(report)
    sessions = f", {_ratio(db_time, elapsed)} active sessions" if _ratio(db_time, elapsed) else ""
    times = f"{_number(elapsed)} min elapsed, {_number(db_time)} min DB time{sessions}"
    yield from _folded("  time       ", times)


def _db_time(report: Record) -> object:
    """Return minutes of DB time; Statspack before 11g prints it in the time model alone."""
    if report["db_time_min"] is not None:
        return report["db_time_min"]
    seconds = [row["time_s"] for row in _rows(report["time_model"]) if row.get("name") == "DB time"]
    return round(float(str(seconds[0])) / 60, 2) if seconds and _is_number(seconds[0]) else None


_HOST = (("cpus", "CPU"), ("cores", "core"), ("sockets", "socket"))


def _profile(report: Record) -> Iterator[str]:
    per_second, per_txn = report["load_profile_per_sec"], report["load_profile_per_txn"]
    if isinstance(per_second, Mapping):
        other = per_txn if isinstance(per_txn, Mapping) else {}
        yield f"{'load profile':<20}{'per second':>18}{'per transaction':>18}"
        for title, key in _PROFILE:
            if per_second.get(key) is not None or other.get(key) is not None:
                yield f"  {title:<18}{_number(per_second.get(key)):>18}{_number(other.get(key)):>18}"


def _events(report: Record) -> Iterator[str]:
    rows = _rows(report["top_events"])[:_EVENTS]
    yield from _table("top events", 31, _WAITS, rows, lambda row: row.get("event"))


def _classes(report: Record) -> Iterator[str]:
    rows = [row for row in _rows(report["wait_classes"]) if row.get("time_s") or row.get("pct_db_time")]
    rows.sort(key=lambda row: (-_amount(row.get("time_s")), -_amount(row.get("pct_db_time"))))
    yield from _table("wait classes", 31, _known(_WAITS, rows), rows, lambda row: row.get("wait_class"))


def _findings(report: Record) -> Iterator[str]:
    rows = [{**row, "avg_active_sessions": _of_finding(row)} for row in _rows(report.get("addm_findings"))]
    rows = rows[:_STATEMENTS]
    yield from _table("ADDM findings", 48, _FINDINGS, rows, lambda row: row.get("finding"))


def _of_finding(row: Record) -> float | None:
    """Return the active sessions of a finding: its share of those of the whole task, which is what is printed."""
    share, whole = row.get("pct_active_sessions"), row.get("task_avg_active_sessions")
    return _amount(share) * _amount(whole) / 100 if _is_number(share) and _is_number(whole) else None


def _model(report: Record) -> Iterator[str]:
    rows = [row for row in _rows(report["time_model"]) if _is_number(row.get("time_s"))]
    rows.sort(key=lambda row: -_amount(row["time_s"]))
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
    by = next((by for by in _ORDERS if _rows(report.get(f"sql_by_{by}"))), "")
    yield from _top_sql(report, by)


def _other_statements(report: Record) -> Iterator[str]:
    first, *others = [by for by in _ORDERS if _rows(report.get(f"sql_by_{by}"))] or [""]
    for by in others if first else ():
        yield from _top_sql(report, by)
        yield ""


_ORDERS = ("elapsed", "cpu", "gets", "reads")
_ORDERED: Mapping[str, Columns] = {
    "elapsed": (), "cpu": (("CPU (s)", "cpu_s", 12),), "gets": (("gets", "gets", 16),),
    "reads": (("reads", "reads", 14),),
}  # fmt: skip


def _top_sql(report: Record, by: str) -> Iterator[str]:
    rows = _rows(report.get(f"sql_by_{by}"))[:_STATEMENTS]
    plans = _PLAN if any(row.get("plan_hash") for row in rows) else ()
    yield from _table(
        f"top SQL by {by}", 15, (*_ORDERED.get(by, ()), *_SQL, *plans), rows,
        lambda row: row.get("sql_id") or row.get("old_hash_value"), lambda row: row.get("text"),
    )  # fmt: skip


def _io_profile(report: Record) -> Iterator[str]:
    profile = report["io_profile"]
    columns = (
        ("read+write/s", "read_write_per_s", 16), ("read/s", "read_per_s", 14), ("write/s", "write_per_s", 14),
    )  # fmt: skip
    rows = [{"name": name, **row} for name, row in profile.items()] if isinstance(profile, Mapping) else []
    yield from _table("I/O profile", 30, columns, rows, lambda row: row.get("name"))


def _segments(report: Record) -> Iterator[str]:
    segments = report["segments"]
    for measure, rows in segments.items() if isinstance(segments, Mapping) else ():
        columns = (("value", "value", 18), ("%", "pct", 8))
        yield from _table(f"segments by {measure}", 48, columns, _rows(rows)[:_STATEMENTS], _segment)
        yield ""


def _segment(row: Record) -> object:
    names = (row.get("owner"), row.get("object") or row.get("object_name"), row.get("subobject"))
    return ".".join(str(one) for one in names if one)


def _details(report: Record) -> Iterator[str]:
    for title, section, name, wide, columns in _DETAILS:
        rows = _rows(report.get(section))
        if name != "inst_num":  # of the whole cluster, where those of its instances stand in the same list
            rows = [row for row in rows if row.get("inst_num") in {None, "*"}]
        kept = rows if name == "size_mb" else rows[:_EVENTS]
        tail = _value_of("event") if columns[-1:] == _SAMPLES[-1:] else None
        yield from _table(title, wide, _known(columns, kept), kept, _value_of(name), tail)
        yield ""
    for instance in _rows(report["instances"]):
        for words, section in (("top events", "top_events"), ("top background events", "background_events")):
            rows = _rows(instance.get(section))[:_STATEMENTS]
            title = f"{words} of {_text(instance.get('instance'))}"
            yield from _table(title, 31, _known((*_WAITS, _BACKGROUND), rows), rows, _value_of("event"))
            yield ""


def _known(columns: Columns, rows: Sequence[Record]) -> Columns:
    """Return the columns without those that no row has a value for, but never none."""
    return tuple(one for one in columns if any(row.get(one[1]) is not None for row in rows)) or columns


def _amount(value: object) -> float:
    return float(str(value)) if _is_number(value) else 0.0


def _value_of(name: str) -> Callable[[Record], object]:
    return lambda row: row.get(name)


def _instances(report: Record) -> Iterator[str]:
    columns = (("elapsed (min)", "elapsed_min", 15), ("DB time (min)", "db_time_min", 15),
               ("active sessions", "avg_active_sessions", 17))  # fmt: skip
    yield from _table("instances", 20, columns, _rows(report["instances"]), lambda row: row.get("instance"))


def _warnings(report: Record) -> Iterator[str]:
    warnings = report["warnings"]
    if isinstance(warnings, Sequence) and warnings:
        yield "warnings"
        # a cell that Oracle printed as `####` says less than two values that differ
        for warning in sorted(map(_text, warnings), key=lambda one: "no number" in one)[:_WARNINGS]:
            yield from _folded("  ", warning)
        if len(warnings) > _WARNINGS:
            yield f"  and {len(warnings) - _WARNINGS} more: see --json"
    if isinstance(lists := report.get("completeness"), Mapping):
        yield ""
        yield from _folded("lists  ", _text(lists["sentence"]))


def _table(
    title: str, wide: int, columns: Sequence[tuple[str, str, int]], rows: Sequence[Record],
    name: Callable[[Record], object], tail: Callable[[Record], object] | None = None,
) -> Iterator[str]:  # fmt: skip
    if not rows:
        return
    heads = [head for head, _, _ in columns]
    figures = [[_figure(row.get(key), is_size="_bytes" in key) for _, key, _ in columns] for row in rows]
    names = [_number(called) if _is_number(called) else _text(called) for called in map(name, rows)]
    least = max(_LEAST_NAME, *(len(word) for called in names for word in called.split(" ")))
    widths = [max(one[2], *(1 + len(row[place]) for row in figures)) for place, one in enumerate(columns)]
    if line_width() - sum(widths) - 2 < least:
        widths = [2 + max(map(len, cells)) for cells in zip(heads, *figures, strict=True)]
    room = min(max(wide, len(title) - 2, *map(len, names)), line_width() - sum(widths) - 2)
    wide = 0 if room < _LEAST_NAME else room + 2
    yield from _row(title, heads, widths, wide)
    for called, cells, row in zip(names, figures, rows, strict=True):
        yield from _row(called, cells, widths, wide, "  ", f"  {_text(tail(row))}" if tail else "")


def _row(
    name: str, cells: Sequence[str], widths: Sequence[int], wide: int, indent: str = "", words: str = ""
) -> Iterator[str]:
    """Yield a row with what does not fit of its name below it, or its name above where `wide` leaves no room."""
    first, *more = textwrap.wrap(
        name, wide or line_width(), initial_indent=indent, subsequent_indent="    ", break_on_hyphens=False
    ) or [""]
    figures = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    if wide:
        yield from (_shortened(f"{first:<{wide}}{figures}", words), *more)
    else:
        yield from (first, *more, _shortened(figures, words))


def _shortened(row: str, words: str) -> str:
    """Return a row with as much of the words behind it as the line holds."""
    line, room = f"{row}{words}", line_width()
    if len(line) <= room:
        return line
    return f"{line[: room - 1]}…" if len(row) <= room - _LEAST_NAME else row


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
    if value and abs(value) < _SMALL:
        return f"{float(f'{value:.2g}'):.9f}".rstrip("0")
    return f"{round(value):,}" if isinstance(value, int) or abs(value) >= _WHOLE else f"{round(value, 3):,}"


def _figure(value: object, *, is_size: bool = False) -> str:
    """Return a value as text; sizes, which reports abbreviate, with no more digits than they have there."""
    if is_size and isinstance(value, int | float):
        return byte_size(value)
    return _text(value) if isinstance(value, str) else _number(value)


def _id(value: object) -> str:
    return str(value) if isinstance(value, int) else "?"


def _folded(first: str, text: str) -> Iterator[str]:
    """Return a line, folded at the width of the screen under its own beginning."""
    below = " " * len(first)
    yield from textwrap.wrap(text, line_width(), initial_indent=first, subsequent_indent=below) or [first]
