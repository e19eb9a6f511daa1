"""One AWR or Statspack report as a screen of text: what is asked of every report, and with `--all` its details."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from toolkit.cli.awr_table import Columns, Record, folded, is_number, number, table, text
from toolkit.terminal import line_width
from toolkit.units import counted

_EVENTS, _STATEMENTS, _WARNINGS, _MODEL = 10, 5, 6, 6
_PROFILE = (
    ("DB time (s)", "db_time_s"), ("DB CPU (s)", "db_cpu_s"), ("redo (bytes)", "redo_size_bytes"),
    ("logical reads", "logical_reads"), ("physical reads", "physical_reads"),
    ("physical writes", "physical_writes"),
    ("user calls", "user_calls"), ("parses", "parses"), ("hard parses", "hard_parses"), ("executes", "executes"),
    ("transactions", "transactions"),
)  # fmt: skip
_SCOPES = {"instance": "one instance", "rac_global": "the whole cluster", "pdb": "one pluggable database"}

_SQL: Columns = (
    ("elapsed (s)", "elapsed_s", 13), ("executions", "executions", 13), ("% total", "pct_total", 9),
)  # fmt: skip
_PLAN: Columns = (("plan hash", "plan_hash", 12),)
_WAITS: Columns = (
    ("waits", "waits", 15), ("time (s)", "time_s", 13), ("avg (ms)", "avg_wait_ms", 11),
    ("% DB", "pct_db_time", 7),
)  # fmt: skip
_BACKGROUND = ("% bg", "pct_bg_time", 7)
_FINDINGS: Columns = (
    ("% activity", "pct_active_sessions", 12), ("sessions", "avg_active_sessions", 10), ("time", "time", 22),
)  # fmt: skip
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
        blocks.append("\n".join(folded("", _MORE)))
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
    yield from folded("", f"{kind} report of {_SCOPES[str(report['scope'])]}: {text(report['file'])}")
    names = [
        text(report["db_name"]),
        f"instance {text(report['instance'])}" if report["instance"] else "",
        f"container {text(report['container_name'])}" if report["container_name"] else "",
        f"release {text(report['version'])}" if report["version"] else "",
        "RAC" if report["rac"] else "",
    ]
    yield from folded("  database   ", ", ".join(filter(None, names)))
    host = [counted(many, one) for key, one in _HOST if isinstance(many := report[key], int | float)]
    host += [] if report["memory_gb"] is None else [f"{number(report['memory_gb'])} GB"]
    if report["host"] or host:
        parts = ", ".join(filter(None, [text(report["host"]), text(report["platform"]), *host]))
        yield from folded("  host       ", parts)
    begin, end = _moment(report["begin_snap_time"]), _moment(report["end_snap_time"])
    snapshots = f"snapshots {_id(report['begin_snap_id'])} to {_id(report['end_snap_id'])}"
    yield from folded("  interval   ", f"{begin} to {end}, {snapshots}")
    elapsed, db_time = report["elapsed_min"], _db_time(report)
    sessions = f", {_ratio(db_time, elapsed)} active sessions" if _ratio(db_time, elapsed) else ""
    times = f"{number(elapsed)} min elapsed, {number(db_time)} min DB time{sessions}"
    yield from folded("  time       ", times)


def _db_time(report: Record) -> object:
    """Return minutes of DB time; Statspack before 11g prints it in the time model alone."""
    if report["db_time_min"] is not None:
        return report["db_time_min"]
    seconds = [row["time_s"] for row in _rows(report["time_model"]) if row.get("name") == "DB time"]
    return round(float(str(seconds[0])) / 60, 2) if seconds and is_number(seconds[0]) else None


_HOST = (("cpus", "CPU"), ("cores", "core"), ("sockets", "socket"))


def _profile(report: Record) -> Iterator[str]:
    per_second, per_txn = report["load_profile_per_sec"], report["load_profile_per_txn"]
    if isinstance(per_second, Mapping):
        other = per_txn if isinstance(per_txn, Mapping) else {}
        yield f"{'load profile':<20}{'per second':>18}{'per transaction':>18}"
        for title, key in _PROFILE:
            if per_second.get(key) is not None or other.get(key) is not None:
                yield f"  {title:<18}{number(per_second.get(key)):>18}{number(other.get(key)):>18}"


def _events(report: Record) -> Iterator[str]:
    rows = _rows(report["top_events"])[:_EVENTS]
    yield from table("top events", 31, _WAITS, rows, lambda row: row.get("event"))


def _classes(report: Record) -> Iterator[str]:
    rows = [row for row in _rows(report["wait_classes"]) if row.get("time_s") or row.get("pct_db_time")]
    rows.sort(key=lambda row: (-_amount(row.get("time_s")), -_amount(row.get("pct_db_time"))))
    yield from table("wait classes", 31, _known(_WAITS, rows), rows, lambda row: row.get("wait_class"))


def _findings(report: Record) -> Iterator[str]:
    rows = [
        {**row, "avg_active_sessions": _of_finding(row), "time": _time_of_finding(row)}
        for row in _rows(report.get("addm_findings"))[:_STATEMENTS]
    ]
    yield from table("ADDM findings", 32, _FINDINGS, rows, lambda row: row.get("finding"))


def _of_finding(row: Record) -> float | None:
    """Return the active sessions of a finding: its share of those of the whole task, which is what is printed."""
    share, whole = row.get("pct_active_sessions"), row.get("task_avg_active_sessions")
    return _amount(share) * _amount(whole) / 100 if is_number(share) and is_number(whole) else None


def _time_of_finding(row: Record) -> str:
    """Return when the task looked at the database, which may be an hour of the many of a report."""
    begin, end = (_moment(row.get(key)) for key in ("begin_snap_time", "end_snap_time"))
    if "?" in {begin, end}:
        return "unknown"
    return f"{begin[:16]} to {end[11:16] if end[:10] == begin[:10] else end[:16]}"


def _model(report: Record) -> Iterator[str]:
    rows = [row for row in _rows(report["time_model"]) if is_number(row.get("time_s"))]
    rows.sort(key=lambda row: -_amount(row["time_s"]))
    columns = (("time (s)", "time_s", 18), ("% DB", "pct_db_time", 9))
    yield from table("time model", 46, columns, rows[:_MODEL], lambda row: row.get("name"))


def _cpu(report: Record) -> Iterator[str]:
    cpu = report["host_cpu"]
    if isinstance(cpu, Mapping):
        shares = (
            ("user_pct", "user"),
            ("sys_pct", "system"),
            ("wio_pct", "waiting for I/O"),
            ("idle_pct", "idle"),
        )
        parts = [f"{number(cpu.get(key))}% {name}" for key, name in shares if cpu.get(key) is not None]
        load = f"; load {number(cpu.get('load_begin'))} to {number(cpu.get('load_end'))}"
        yield from folded("host CPU     ", f"{', '.join(parts)}{load}")


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
    yield from table(
        f"top SQL by {by}", 15, (*_ORDERED.get(by, ()), *_SQL, *plans), rows,
        lambda row: row.get("sql_id") or row.get("old_hash_value"), lambda row: row.get("text"),
    )  # fmt: skip


def _io_profile(report: Record) -> Iterator[str]:
    profile = report["io_profile"]
    columns = (
        ("read+write/s", "read_write_per_s", 16), ("read/s", "read_per_s", 14), ("write/s", "write_per_s", 14),
    )  # fmt: skip
    rows = [{"name": name, **row} for name, row in profile.items()] if isinstance(profile, Mapping) else []
    yield from table("I/O profile", 30, columns, rows, lambda row: row.get("name"))


def _segments(report: Record) -> Iterator[str]:
    segments = report["segments"]
    for measure, rows in segments.items() if isinstance(segments, Mapping) else ():
        columns = (("value", "value", 18), ("%", "pct", 8))
        yield from table(f"segments by {measure}", 48, columns, _rows(rows)[:_STATEMENTS], _segment)
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
        yield from table(title, wide, _known(columns, kept), kept, _value_of(name), tail)
        yield ""
    for instance in _rows(report["instances"]):
        for words, section in (("top events", "top_events"), ("top background events", "background_events")):
            rows = _rows(instance.get(section))[:_STATEMENTS]
            title = f"{words} of {text(instance.get('instance'))}"
            yield from table(title, 31, _known((*_WAITS, _BACKGROUND), rows), rows, _value_of("event"))
            yield ""


def _known(columns: Columns, rows: Sequence[Record]) -> Columns:
    """Return the columns without those that no row has a value for, but never none."""
    return tuple(one for one in columns if any(row.get(one[1]) is not None for row in rows)) or columns


def _amount(value: object) -> float:
    return float(str(value)) if is_number(value) else 0.0


def _value_of(name: str) -> Callable[[Record], object]:
    return lambda row: row.get(name)


def _instances(report: Record) -> Iterator[str]:
    columns = (("elapsed (min)", "elapsed_min", 15), ("DB time (min)", "db_time_min", 15),
               ("active sessions", "avg_active_sessions", 17))  # fmt: skip
    yield from table("instances", 20, columns, _rows(report["instances"]), lambda row: row.get("instance"))


def _warnings(report: Record) -> Iterator[str]:
    warnings = report["warnings"]
    if isinstance(warnings, Sequence) and warnings:
        yield "warnings"
        # a cell that Oracle printed as `####` says less than two values that differ
        for warning in sorted(map(text, warnings), key=lambda one: "no number" in one)[:_WARNINGS]:
            yield from folded("  ", warning)
        if len(warnings) > _WARNINGS:
            yield f"  and {len(warnings) - _WARNINGS} more: see --json"
    if isinstance(lists := report.get("completeness"), Mapping):
        yield ""
        yield from folded("lists  ", text(lists["sentence"]))


def _rows(value: object) -> list[Record]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _ratio(part: object, whole: object) -> str:
    known = isinstance(part, int | float) and isinstance(whole, int | float) and whole > 0
    return f"{float(str(part)) / float(str(whole)):,.2f}" if known else ""


def _moment(value: object) -> str:
    return "?" if value is None else text(value).replace("T", " ")


def _id(value: object) -> str:
    return str(value) if isinstance(value, int) else "?"
