"""The report over all instances of a cluster: totals under the keys of one instance, and a record per instance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from toolkit.model.values import Scalar
from toolkit.readers.awr.labels import LOAD_PROFILE
from toolkit.readers.awr.tables import AwrTable, Numbers, instant, reduce

Record = dict[str, object]
_IDENTITY = (
    ("instance", r"instance", "text"), ("host", r"host", "text"), ("startup_time", r"startup", "time"),
    ("begin_snap_time", r"begin snap time", "time"), ("end_snap_time", r"end snap time", "time"),
    ("version", r"release", "text"), ("elapsed_min", r"elapsed time ?min", "number"),
    ("db_time_min", r"db time ?min", "number"), ("up_time_hrs", r"up time ?hrs", "number"),
    ("avg_active_sessions", r"avg active sessions", "number"), ("platform", r"platform", "text"),
)  # fmt: skip
_HOST = (
    ("cpus", r"cpu #cpus"), ("cores", r"cpu #cores"), ("sockets", r"cpu #sckts"), ("load_begin", r"load begin"),
    ("load_end", r"load end"), ("busy_pct", r"% cpu % ?busy"), ("user_pct", r"% cpu % ?usr"),
    ("sys_pct", r"% cpu % ?sys"), ("wio_pct", r"% cpu % ?wio"), ("idle_pct", r"% cpu % ?idl"),
    ("memory_mb", r"memory mb"),
)  # fmt: skip
_RATES = (
    ("logical_reads", r"logical reads"), ("physical_reads", r"physical reads"),
    ("physical_writes", r"physical writes"), ("redo_size_bytes", r"redo size k"),
    ("block_changes", r"block changes"), ("user_calls", r"user calls"), ("executes", r"execs"),
    ("parses", r"parses"), ("logons", r"logons"), ("transactions", r"txns"),
)  # fmt: skip
_MODEL = (
    ("DB time", r"db time s"), ("DB CPU", r"db cpu s"), ("sql execute elapsed time", r"sql exec ela s"),
    ("parse time elapsed", r"parse ela s"), ("hard parse elapsed time", r"hard parse ela s"),
    ("PL/SQL execution elapsed time", r"pl sql ela s"), ("Java execution elapsed time", r"java ela s"),
    ("background elapsed time", r"bg time s"), ("background cpu time", r"bg cpu s"),
)  # fmt: skip
_CLASSES = (
    ("User I/O", "user i o"), ("System I/O", "sys i o"), ("Other", "other"), ("Application", "applic"),
    ("Commit", "commit"), ("Network", "network"), ("Concurrency", "concurcy"), ("Configuration", "config"),
    ("Cluster", "cluster"), ("Administrative", "admin"), ("Scheduler", "scheduler"), ("DB CPU", "db cpu"),
)  # fmt: skip
_CLASS_SECONDS = tuple((name, f"{key} s") for name, key in _CLASSES)
_SUMMARY = (
    r"(.* )?db time( .*)?", r"(.* )?elapsed time( .*)?", r"(.* )?begin( .*)?", r"(.* )?end( .*)?",
    r"(.* )?id",
)  # fmt: skip
"""The headings of the summary of the database; groups of columns may stand above, in text over any of them."""
_KIB = 1024
"""`Redo Size (k)` times this is the statistic `redo size` of the same report."""


def instances(tables: Sequence[AwrTable], numbers: Numbers) -> list[Record]:
    """Return the instances a cluster report includes, in its order; none where one instance reports."""
    for table in tables:
        keys = table.keys
        if {"i#", "instance", "host"} <= set(keys) and "startup" in keys:
            return [_identity(row, keys, numbers) for row in table.rows if row and row[0].strip().isdigit()]
    return []


def _identity(row: tuple[str, ...], keys: tuple[str, ...], numbers: Numbers) -> Record:
    record: Record = {"inst_num": numbers.number(row[0])}
    for name, pattern, kind in _IDENTITY:
        cell = _cell(row, keys, pattern)
        read = {"text": lambda text: text, "time": instant, "number": numbers.number}[kind]
        record[name] = read(cell) if cell else None
    return record


@lru_cache(maxsize=4096)
def _place(keys: tuple[str, ...], pattern: str) -> int | None:
    return next((i for i, key in enumerate(keys) if re.fullmatch(pattern, key)), None)


def _cell(row: tuple[str, ...], keys: tuple[str, ...], pattern: str) -> str:
    place = _place(keys, pattern)
    return row[place] if place is not None and place < len(row) else ""


def summary(tables: Sequence[AwrTable], numbers: Numbers) -> dict[str, Scalar]:
    """Return elapsed and DB time of the whole and its snapshots from the summary of the database."""
    for table in tables:
        keys = table.keys
        if "i#" in keys or not table.rows or not all(_place(keys, pattern) is not None for pattern in _SUMMARY):
            continue
        row = table.rows[0]
        begin, end = (_cell(row, keys, rf"(.* )?{side}( .*)?") for side in ("begin", "end"))
        return {
            "db_name": _cell(row, keys, r"(.* )?name") or None,
            "dbid": numbers.number(_cell(row, keys, r"(.* )?id")),
            "db_time_min": numbers.number(_cell(row, keys, _SUMMARY[0])),
            "elapsed_min": numbers.number(_cell(row, keys, _SUMMARY[1])),
            "begin_snap_id": numbers.number(begin),
            "end_snap_id": numbers.number(end),
        }
    return {}


def add_sections(tables: Sequence[AwrTable], known: list[Record], numbers: Numbers) -> dict[str, object]:
    """Put what belongs to an instance into its record, and return the sections of the whole."""
    whole: dict[str, object] = {}
    by_number = {str(record["inst_num"]): record for record in known}
    for table in tables:
        keys = table.keys
        if not keys or keys[0] != "i#":
            _percents(table, whole, numbers)
        elif _has(keys, _HOST, 6):
            for row, record in _of_instances(table, by_number):
                record["host_cpu"] = {name: _number(row, keys, pattern, numbers) for name, pattern in _HOST}
        elif _has(keys, _MODEL, 5):
            _spread("time_model", table, by_number, whole, lambda row, keys=keys: _model(row, keys, numbers))
        elif _has(keys, _CLASS_SECONDS, 6):
            _spread("wait_classes", table, by_number, whole, lambda row, keys=keys: _classes(row, keys, numbers))
        elif suffix := next((one for one in (" s", " tx") if _has(keys, _suffixed(one), 6)), None):
            name = "load_profile_per_sec" if suffix == " s" else "load_profile_per_txn"
            _spread(
                name, table, by_number, whole, lambda row, keys=keys, one=suffix: _rates(row, keys, one, numbers)
            )
    return whole


@lru_cache
def _suffixed(suffix: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, pattern + suffix) for name, pattern in _RATES)


@lru_cache(maxsize=4096)
def _has(keys: tuple[str, ...], wanted: tuple[tuple[str, str], ...], least: int) -> bool:
    if len(keys) < least:
        return False
    lines = "\n".join(keys)
    return sum(re.search(rf"(?m)^(?:{pattern})$", lines) is not None for _, pattern in wanted) >= least


def _of_instances(table: AwrTable, known: Mapping[str, Record]) -> list[tuple[tuple[str, ...], Record]]:
    return [(row, known[row[0].strip()]) for row in table.rows if row and row[0].strip() in known]


def _spread(
    name: str, table: AwrTable, known: Mapping[str, Record], whole: dict[str, object], read: object
) -> None:
    assert callable(read)
    for row, record in _of_instances(table, known):
        record.setdefault(name, read(row))
    for row in table.rows:
        if row and reduce(row[0]) == "sum":
            whole.setdefault(name, read(row))


def _number(row: tuple[str, ...], keys: tuple[str, ...], pattern: str, numbers: Numbers) -> Scalar:
    cell = _cell(row, keys, pattern)
    return numbers.number(cell) if cell else None


def _model(row: tuple[str, ...], keys: tuple[str, ...], numbers: Numbers) -> list[Mapping[str, Scalar]]:
    return [{"name": name, "time_s": _number(row, keys, pattern, numbers)} for name, pattern in _MODEL]


def _classes(row: tuple[str, ...], keys: tuple[str, ...], numbers: Numbers) -> list[dict[str, Scalar]]:
    return [
        {"wait_class": name, "waits": None, "time_s": _number(row, keys, f"{key} s", numbers), "avg_wait_ms": None,
         "pct_db_time": None}
        for name, key in _CLASSES
    ]  # fmt: skip


def _rates(row: tuple[str, ...], keys: tuple[str, ...], suffix: str, numbers: Numbers) -> dict[str, Scalar]:
    rates: dict[str, Scalar] = dict.fromkeys(LOAD_PROFILE)
    for name, pattern in _RATES:
        value = _number(row, keys, pattern + suffix, numbers)
        if name == "redo_size_bytes" and isinstance(value, int | float):
            value = round(value * _KIB, 2)
        rates[name] = value
    return rates


def _percents(table: AwrTable, whole: dict[str, object], numbers: Numbers) -> None:
    """Add the shares of DB time, which stand in a table of their own with one row for the whole cluster."""
    keys = table.keys
    classes = whole.get("wait_classes")
    shares = whole.setdefault("_shares", {})
    assert isinstance(shares, dict)
    if len(table.rows) == 1 and _has(keys, _CLASSES, 8):
        shares.update({name: _number(table.rows[0], keys, key, numbers) for name, key in _CLASSES})
    if isinstance(classes, list):
        for one in classes:
            one["pct_db_time"] = shares.get(one["wait_class"])
