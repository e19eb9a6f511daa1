"""An interval made of two stored snapshots, on any engine.

A value that the engine does not count is not there, never zero. Load is per second by the server's own clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from toolkit.analysis.snapshot_diff import RowDelta, SectionDelta, SnapshotDiff, between
from toolkit.model.engines import engine
from toolkit.model.interval import InputOutput, Interval, Listing, Origin, Segment, Statement, Wait
from toolkit.model.state import BEGUN, INSTANT, Snapshot, State
from toolkit.model.values import Scalar

_ORACLE_LOAD = (
    ("redo_size_bytes", "redo size"), ("logical_reads", "session logical reads"),
    ("block_changes", "db block changes"), ("physical_reads", "physical reads"),
    ("physical_writes", "physical writes"), ("user_calls", "user calls"), ("parses", "parse count (total)"),
    ("hard_parses", "parse count (hard)"), ("executes", "execute count"), ("logons", "logons cumulative"),
    ("rollbacks", "user rollbacks"), ("read_io_bytes", "physical read total bytes"),
    ("write_io_bytes", "physical write total bytes"), ("read_io_requests", "physical read total IO requests"),
    ("write_io_requests", "physical write total IO requests"),
)  # fmt: skip
_POSTGRESQL_LOAD = (
    ("db_time_s", "active_seconds"), ("physical_reads", "blocks_read"), ("redo_size_bytes", "wal_bytes"),
    ("rollbacks", "rollbacks"), ("temp_io_bytes", "temp_bytes"), ("read_io_bytes", "io_read_bytes"),
    ("write_io_bytes", "io_write_bytes"), ("read_io_requests", "io_reads"), ("write_io_requests", "io_writes"),
)  # fmt: skip
_TEMP = ("physical reads direct temporary tablespace", "physical writes direct temporary tablespace")
_MODEL = (("db_time_s", "DB time"), ("db_cpu_s", "DB CPU"), ("background_cpu_s", "background cpu time"))
_TABLE_MEASURES = (
    ("Rows of Full Scans", "full_scan_rows"), ("Full Scans", "full_scans"), ("Blocks Read", "blocks_read"),
    ("Rows Inserted", "rows_inserted"), ("Rows Updated", "rows_updated"), ("Rows Deleted", "rows_deleted"),
    ("Dead Rows", "dead_rows"),
)  # fmt: skip
_INDEX_MEASURES = (("Index Scans", "index_scans"), ("Index Blocks Read", "blocks_read"))


def interval_between(a: Snapshot, b: Snapshot, name: str) -> Interval:
    """Return what a database did between two snapshots of it.

    Raises:
        ToolkitError: as `between`.
    """
    found = between(a, b)
    early, late = (a, b) if found.before.number == a.head.number else (b, a)
    seconds = found.seconds or None
    counters = _counters(found)
    model = _totals(found.sections.get("time_model"), "total_seconds")
    return Interval(
        origin=_origin(early, late, name, found.seconds),
        load=_load(found, counters, model) if seconds else {},
        counters=counters,
        time_model=model,
        waits=_waits(found, model, late.state),
        classes=_classes(found),
        statements=_statements(found),
        segments=_segments(found),
        functions=_functions(found),
        host_cpu=_host_cpu(counters),
        memory=_memory(found),
        ratios=_ratios(counters),
        parameters=_parameters(late.state),
        changed_parameters={
            one.name: (_text(one.before), _text(one.after)) for one in found.changed if one.section == "settings"
        },
        indexes=_indexes(late.state),
        warnings=found.sentences,
    )


def _origin(early: Snapshot, late: Snapshot, name: str, seconds: float) -> Origin:
    identity = late.state.identity
    return Origin(
        name=name,
        # What is compared are V$ counters, also where AWR took a snapshot of its own beside them.
        snapshot_source=engine(late.state.engine).counters or late.state.provider,
        scope=engine(late.state.engine).counted_in,
        engine=late.state.engine,
        database=_text(identity.get("database_name") or identity.get("database")),
        dbid=_text(identity.get("database")),
        instance=_text(identity.get("instance")),
        host=_text(identity.get("host")),
        version=_text(identity.get("release")),
        rac=_yes(identity.get("is_cluster")),
        cpus=_float(identity.get("cpus")) or _gauge(late.state, "NUM_CPUS"),
        memory_bytes=_gauge(late.state, "PHYSICAL_MEMORY_BYTES"),
        startup=_moment(identity.get(BEGUN)),
        begin=_instant(early),
        end=_instant(late),
        begin_snapshot=early.head.label,
        end_snapshot=late.head.label,
        elapsed_seconds=seconds,
        begin_sessions=_float(early.state.identity.get("sessions")) or _gauge(early.state, "logons current"),
        end_sessions=_float(identity.get("sessions")) or _gauge(late.state, "logons current"),
    )


def _yes(value: Scalar) -> bool | None:
    return None if value is None else str(value).upper() == "YES"


def _float(value: Scalar) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Scalar) -> str | None:
    return None if value is None or value == "" else str(value)


def _moment(value: Scalar) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)) if value is not None else None
    except ValueError:
        return None


def _instant(snapshot: Snapshot) -> datetime:
    instant = _float(snapshot.state.identity.get(INSTANT))
    return snapshot.head.taken_at if instant is None else datetime.fromtimestamp(instant, UTC)


def _gauge(state: State, name: str) -> float | None:
    """Return a gauge of a plain section."""
    for section in state.sections.values():
        names = [column.name for column in section.columns]
        if names[:1] == ["name"] and "value" in names:
            row = section.by_key().get((name,))
            if row is not None:
                return _float(row[names.index("value")])
    return None


# -- totals -----------------------------------------------------------------------------------------------------
def _totals(section: SectionDelta | None, column: str) -> dict[str, float]:
    if section is None or not section.counted:
        return {}
    return {row.name: row.counters[column] for row in section.rows if column in row.counters}


_WIDE = frozenset({"statements", "events", "time_model", "functions", "segments", "tables", "indexes", "disks"})


def _counters(found: SnapshotDiff) -> dict[str, float]:
    """Return every plain counter by its own name."""
    totals: dict[str, float] = {}
    for name, section in found.sections.items():
        if name not in _WIDE:
            totals |= _totals(section, "total")
    return totals


def _load(found: SnapshotDiff, counters: Mapping[str, float], model: Mapping[str, float]) -> dict[str, float]:
    names = _POSTGRESQL_LOAD if found.after.provider == "pgstat" else _ORACLE_LOAD
    totals = {ours: counters[theirs] for ours, theirs in names if theirs in counters}
    totals |= {ours: model[theirs] for ours, theirs in _MODEL if theirs in model}
    for committed, rolled_back in (("user commits", "user rollbacks"), ("commits", "rollbacks")):
        if committed in counters and rolled_back in counters:
            totals["transactions"] = counters[committed] + counters[rolled_back]
    if "blocks_hit" in counters and "blocks_read" in counters:
        totals["logical_reads"] = counters["blocks_hit"] + counters["blocks_read"]
    statements = found.sections.get("statements")
    if "executes" not in totals and statements is not None and (calls := statements.sum("calls")) is not None:
        totals["executes"] = calls
    block = _block_bytes(found)
    if all(name in counters for name in _TEMP) and block:
        totals["temp_io_bytes"] = sum(counters[name] for name in _TEMP) * block
    return {name: total / found.seconds for name, total in totals.items()}


def _block_bytes(found: SnapshotDiff) -> float | None:
    settings = found.sections.get("settings")
    for row in settings.rows if settings is not None else ():
        if row.name == "db_block_size" and str(row.words.get("value") or "").isdecimal():
            return float(str(row.words["value"]))
    return None


# -- lists ------------------------------------------------------------------------------------------------------
def _waits(found: SnapshotDiff, model: Mapping[str, float], late: State) -> Listing[Wait]:
    events = found.sections.get("events")
    if events is None or not events.counted:
        return _watched(found, late)
    rows = {
        row.name: Wait(
            row.name,
            row.counters.get("user_wait_seconds"),
            row.counters.get("user_waits"),
            _text(row.words.get("wait_class")),
        )
        for row in events.rows
        if row.fate != "gone"
    }
    if "DB CPU" in model:
        rows["DB CPU"] = Wait("DB CPU", model["DB CPU"])
    return Listing(rows, whole=True)


def _watched(found: SnapshotDiff, late: State) -> Listing[Wait]:
    """Return what sessions were seen waiting for, scaled from the time watched to the interval.

    A snapshot that was taken with `--watch` looked at sessions again and again just before it was read.
    """
    section = late.sections.get("watched")
    span = _float(late.identity.get("watched_seconds"))
    if section is None or not span or not found.seconds:
        return Listing()
    scale = found.seconds / span
    rows = {}
    for row in section.rows:
        event, kind, seconds = str(row[0]), _text(row[1]), _float(row[2]) or 0.0
        rows[event] = Wait(event, seconds * scale, None, kind)
    return Listing(rows, whole=True)


def _classes(found: SnapshotDiff) -> Listing[Wait]:
    events = found.sections.get("events")
    if events is None or not events.counted:
        return Listing()
    seconds: dict[str, float] = {}
    waits: dict[str, float] = {}
    for row in events.rows:
        kind = str(row.words.get("wait_class") or "")
        seconds[kind] = seconds.get(kind, 0.0) + row.counters.get("user_wait_seconds", 0.0)
        waits[kind] = waits.get(kind, 0.0) + row.counters.get("user_waits", 0.0)
    return Listing({kind: Wait(kind, seconds[kind], waits[kind]) for kind in seconds}, whole=True)


def _statements(found: SnapshotDiff) -> Listing[Statement]:
    section = found.sections.get("statements")
    if section is None or not section.counted:
        return Listing()
    rows = {row.name: _statement(row) for row in section.rows if row.fate != "gone"}
    return Listing(rows, whole=not section.cut)


def _statement(row: RowDelta) -> Statement:
    got = row.counters.get
    temp = [got(name) for name in ("temp_blocks_read", "temp_blocks_written") if name in row.counters]
    hit, read = got("blocks_hit"), got("blocks_read")
    return Statement(
        row.name,
        executions=got("executions", got("calls")),
        elapsed_s=got("elapsed_seconds"),
        cpu_s=got("cpu_seconds"),
        gets=got("gets", hit + read if hit is not None and read is not None else None),
        reads=got("disk_reads", read),
        temp_blocks=sum(one for one in temp if one is not None) if temp else None,
        parse_calls=got("parse_calls"),
        plan=_text(row.words.get("plan_id")),
        text=_text(row.words.get("statement_text")),
    )


def _segments(found: SnapshotDiff) -> dict[str, Listing[Segment]]:
    measures: dict[str, dict[str, Segment]] = {}
    section = found.sections.get("segments")
    for row in section.rows if section is not None and section.counted else ():
        owner, name, part, kind, measure = (_text(one) for one in row.key)
        one = Segment(owner, name, part, kind, row.counters.get("total"))
        measures.setdefault(str(measure).title(), {})[one.key] = one
    whole = section is None or not section.cut
    for listed, kind, names in (("tables", "TABLE", _TABLE_MEASURES), ("indexes", "INDEX", _INDEX_MEASURES)):
        of_section = found.sections.get(listed)
        if of_section is None or not of_section.counted:
            continue
        for title, column in names:
            for row in of_section.rows:
                value = row.counters.get(column)
                if value is not None:
                    one = Segment(_text(row.key[0]), _text(row.key[1]), None, kind, value)
                    measures.setdefault(title, {})[one.key] = one
        whole = whole and not of_section.cut
    return {measure: Listing(rows, whole=whole) for measure, rows in measures.items()}


def _indexes(state: State) -> dict[str, str]:
    """Return the indexes with their tables, where the state has all of them."""
    section = state.sections.get("indexes")
    names = [column.name for column in section.columns] if section is not None else []
    if section is None or section.cut or "table_name" not in names:
        return {}
    at = names.index("table_name")
    return {".".join(map(str, key)): str(row[at]) for key, row in section.by_key().items()}


def _functions(found: SnapshotDiff) -> Listing[InputOutput]:
    section = found.sections.get("functions")
    if section is None or not section.counted:
        return Listing()
    rows = {}
    for row in section.rows:
        got = row.counters.get
        waits, seconds = got("waits"), got("wait_seconds")
        latency = seconds / waits if waits and seconds is not None else None
        rows[row.name] = InputOutput(
            row.name, got("read_bytes"), got("write_bytes"), got("read_requests"), got("write_requests"), waits,
            latency,
        )  # fmt: skip
    return Listing(rows, whole=True)


# -- host, memory, settings -------------------------------------------------------------------------------------
def _host_cpu(counters: Mapping[str, float]) -> dict[str, float]:
    """Return shares of the host's CPU time: as the instance tells them, or as we read them ourselves."""
    oracle = {"user": "USER_TIME", "sys": "SYS_TIME", "wio": "IOWAIT_TIME", "idle": "IDLE_TIME"}
    found = {ours: counters[theirs] for ours, theirs in oracle.items() if theirs in counters}
    if "BUSY_TIME" in counters and "IDLE_TIME" in counters:
        whole = counters["BUSY_TIME"] + counters["IDLE_TIME"]
        return _shares(found, whole) | ({"busy_pct": 100 * counters["BUSY_TIME"] / whole} if whole else {})
    own = {name: counters.get(f"host_cpu_{name}_seconds") for name in ("user", "nice", "system", "idle", "iowait")}
    if own["user"] is None or own["idle"] is None:
        return {}
    known = {name: value or 0.0 for name, value in own.items()}
    whole = sum(known.values())
    shares = {
        "user": known["user"] + known["nice"],
        "sys": known["system"],
        "wio": known["iowait"],
        "idle": known["idle"],
    }
    busy = shares["user"] + shares["sys"]
    return _shares(shares, whole) | ({"busy_pct": 100 * busy / whole} if whole else {})


def _shares(times: Mapping[str, float], whole: float) -> dict[str, float]:
    return {f"{name}_pct": 100 * seconds / whole for name, seconds in times.items()} if whole else {}


def _memory(found: SnapshotDiff) -> dict[str, tuple[float | None, float | None]]:
    rows = {}
    for section in found.sections.values():
        for row in section.rows:
            if str(row.words.get("unit")) == "bytes" and "value" in row.gauges:
                rows[row.name] = row.gauges["value"]
    return rows


def _ratios(counters: Mapping[str, float]) -> dict[str, float]:
    hit, read = counters.get("blocks_hit"), counters.get("blocks_read")
    if hit is not None and read is not None and hit + read:
        return {"Buffer Hit": 100 * hit / (hit + read)}
    cached = [counters.get(name) for name in ("consistent gets from cache", "db block gets from cache")]
    missed = counters.get("physical reads cache")
    gets = sum(one for one in cached if one is not None)
    if missed is not None and gets and None not in cached:
        return {"Buffer Hit": 100 * (1 - missed / gets)}
    return {}


def _parameters(state: State) -> dict[str, str | None]:
    section = state.sections.get("settings")
    if section is None:
        return {}
    return {str(key[0]): _text(row[1]) for key, row in section.by_key().items()}
