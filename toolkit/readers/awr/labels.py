"""What a report prints under labels, not in lists: its header, the load profile, and the blocks beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from toolkit.model.values import Scalar
from toolkit.readers.awr.tables import (
    AwrTable,
    Numbers,
    Patterns,
    ReportDocument,
    instant,
    label,
    reduce,
    reduced,
    snake,
)

FACTS = (
    "file", "kind", "format", "scope", "db_name", "dbid", "unique_name", "role", "edition", "instance", "inst_num",
    "version", "rac", "cdb", "container_name", "container_dbid", "startup_time", "host", "platform", "cpus",
    "cores", "sockets", "memory_gb", "begin_snap_id", "begin_snap_time", "begin_sessions",
    "begin_cursors_per_session",
    "end_snap_id", "end_snap_time", "end_sessions", "end_cursors_per_session", "elapsed_min", "db_time_min",
    "db_cpu_min",
)  # fmt: skip
_IDENTITY = (
    ("db_name", r"db name|database|database name", "text"),
    ("dbid", r"db id|database id", "whole"),
    ("unique_name", r"(database )?unique name|db unique name", "text"),
    ("role", r"(database |db )?role", "text"),
    ("edition", r"(database )?edition", "text"),
    ("version", r"release|version", "text"),
    ("rac", r"(database )?rac|cluster", "yes"),
    ("cdb", r"(database )?cdb", "yes"),
    ("instance", r"instance", "text"),
    ("inst_num", r"inst num|instance num(ber)?", "whole"),
    ("startup_time", r"startup time|startup", "time"),
    ("host", r"host name|host", "text"),
    ("platform", r"platform", "text"),
    ("cpus", r"cpus?|num cpus?", "whole"),
    ("cores", r"cores", "whole"),
    ("sockets", r"sockets", "whole"),
    ("memory_gb", r"memory (gb|g)", "number"),
)
_PATTERNS = Patterns(pattern for _, pattern, _ in _IDENTITY)
_TELLING = frozenset({"dbid", "inst_num", "startup_time", "host"})
"""A table is believed to be of the header when it has one of these and another; 12.1 has a table for CDB alone."""
_MINUTES = re.compile(r"(elapsed|db time|db cpu)\s*:\s*([-+\d.,' ]+?)\s*\(min", re.IGNORECASE)
_NAMED = re.compile(r"(?:DB|DB/Inst)\s*:\s*([\w$#.-]+)\s*(?:[,/]|Inst\w*:)\s*(?:Inst\s*:\s*)?([\w$#.-]+)?")
_CPUS = re.compile(r"\b(CPUs|Cores|Sockets):\s*(\d{1,6})\b")
_SNAPS = re.compile(r"Snaps?:\s*(\d+)\s*-\s*(\d+)")


def read_header(document: ReportDocument, numbers: Numbers) -> tuple[dict[str, Scalar], list[str]]:
    """Return the facts of the header, and sentences about what it leaves to the title.

    What the report does not say is None.
    """
    facts: dict[str, Scalar] = dict.fromkeys(FACTS)
    facts["format"] = document.format
    for note in document.notes:  # lines, where a value stands beside its label: columns may mix it with the next
        for match in _MINUTES.finditer(note):
            name = f"{match[1].lower().replace(' ', '_')}_min"
            if facts[name] is None:
                facts[name] = numbers.number(match[2])
    for table in document.tables:
        _identity(table, numbers, facts)
        _container(table, numbers, facts)
        _snapshots(table, numbers, facts)
        _cpus(table, facts)
    remarks = _from_title(document, facts)
    if len([1 for table in document.tables if _is_containers(table)]) > 1:
        facts["container_name"] = facts["container_dbid"] = None
    return facts, remarks


@lru_cache(maxsize=16384)
def _named(key: str) -> frozenset[str]:
    """Return which of the patterns of the header a heading meets."""
    return frozenset(_PATTERNS.met(key))


@lru_cache(maxsize=4096)
def _identity_places(columns: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """Return where the columns of a table of the header stand, nothing for any other table."""
    places: dict[str, tuple[int, str]] = {}
    keys = reduced(columns)
    for place, key in enumerate(keys):
        met = _named(key)
        for name, pattern, kind in _IDENTITY if met else ():
            if name not in places and pattern in met:
                places[name] = place, kind
                break
    if "platform" in places and "host" not in places and "name" in keys:
        places["host"] = keys.index("name"), "text"  # Statspack of 11.1 and later: `Host` stands above tildes
    other = {"container name", "snap id", "container db id", "i#"} & set(keys)
    telling = (places.keys() & _TELLING and len(places) > 1) or "cdb" in places
    return places if telling and not other else {}


def _identity(table: AwrTable, numbers: Numbers, facts: dict[str, Scalar]) -> None:
    places = _identity_places(table.columns)
    if not places or not table.rows or (len(table.rows) > 3 and len(places) < 4):
        return
    row = _whole_row(table.rows)
    for name, (place, kind) in places.items():
        cell = row[place] if place < len(row) else ""
        if facts[name] is None and cell:
            facts[name] = _fact(cell, kind, numbers)


def _whole_row(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the first row; a long host name of a text report goes on in the row below."""
    first = list(rows[0])
    for row in rows[1:]:
        filled = [place for place, cell in enumerate(row) if cell]
        if len(filled) == 1 and filled[0] < len(first):
            first[filled[0]] += row[filled[0]]
    return tuple(first)


def _fact(cell: str, kind: str, numbers: Numbers) -> Scalar:
    if kind == "text":
        return cell
    if kind == "time":
        return instant(cell)
    if kind == "yes":
        return {"YES": True, "NO": False}.get(cell.upper())
    value = numbers.number(cell)
    return value if kind == "number" or isinstance(value, int) else None


def _cpus(table: AwrTable, facts: dict[str, Scalar]) -> None:
    for match in _CPUS.finditer(table.section):
        name = match[1].lower()
        facts[name] = int(match[2]) if facts[name] is None else facts[name]


def _is_containers(table: AwrTable) -> bool:
    return {"container db id", "container name"} <= set(table.keys)


def _container(table: AwrTable, numbers: Numbers, facts: dict[str, Scalar]) -> None:
    if _is_containers(table) and len(table.rows) == 1:
        row, keys = table.rows[0], table.keys
        for name, key in (("container_name", "container name"), ("container_dbid", "container db id")):
            place = keys.index(key)
            cell = row[place] if place < len(row) else ""
            facts[name] = (numbers.number(cell) if name == "container_dbid" else cell) or None


def _snapshots(table: AwrTable, numbers: Numbers, facts: dict[str, Scalar]) -> None:
    if len(table.rows) > _MOST_LABELS or not table.begins_with(("snap", "elapsed", "time")):
        return
    keys = ["" if place == 0 and not key else key for place, key in enumerate(table.keys)]
    for row in table.rows:
        first = reduce(row[0]) if row else ""
        if first in {"begin snap", "end snap"} and len(row) >= 3 and facts[f"{first[:-5]}_snap_id"] is None:
            side = first[:-5]
            facts[f"{side}_snap_id"] = numbers.number(_under(row, keys, r"snap id", 1))
            facts[f"{side}_snap_time"] = instant(_under(row, keys, r"snap time", 2))
            facts[f"{side}_sessions"] = numbers.number(_under(row, keys, r"sessions", 3))
            facts[f"{side}_cursors_per_session"] = numbers.number(
                _under(row, keys, r"curs(ors)? ?(per )?sess(ion)?", 4)
            )
        elif first in {"elapsed", "db time"}:
            name = "elapsed_min" if first == "elapsed" else "db_time_min"
            cell = next((cell for cell in row[1:] if re.search(r"\d.*\(min", cell)), "")
            if cell and facts[name] is None:
                facts[name] = numbers.number(cell.partition("(")[0])


def _under(row: tuple[str, ...], keys: Sequence[str], pattern: str, usual: int) -> str:
    place = next((i for i, key in enumerate(keys) if re.fullmatch(pattern, key)), usual)
    return row[place] if place < len(row) else ""


def _from_title(document: ReportDocument, facts: dict[str, Scalar]) -> list[str]:
    """Take from the title line what the header leaves blank, as reports of an Autonomous Database do.

    Returns:
        A sentence about what was taken.
    """
    found: dict[str, Scalar] = {}
    if match := _NAMED.search(document.title):
        found["db_name"] = match[1]
        if match[2] and facts["scope"] != "rac_global":
            found["instance"] = match[2]
    if match := _SNAPS.search(document.title):
        found["begin_snap_id"], found["end_snap_id"] = int(match[1][:18]), int(match[2][:18])
    taken = {name: value for name, value in found.items() if facts[name] in {None, ""}}
    facts.update(taken)
    words = ", ".join(f"{_TITLED[name]} `{value}`" for name, value in taken.items())
    return [f"the header is blank where the title of the report has the {words}: taken from there"] * bool(taken)


_TITLED = {
    "db_name": "database", "instance": "instance", "begin_snap_id": "first snapshot",
    "end_snap_id": "last snapshot",
}  # fmt: skip


# -- blocks of labels -------------------------------------------------------------------------------------------
LOAD_PROFILE = (
    "db_time_s", "db_cpu_s", "redo_size_bytes", "logical_reads", "block_changes", "physical_reads",
    "physical_writes", "user_calls", "parses", "hard_parses", "executes", "logons", "rollbacks", "transactions",
)  # fmt: skip
_RATES = (
    (r"db time( s)?", "db_time_s"), (r"db cpu( s)?", "db_cpu_s"), (r"background cpu( s)?", "background_cpu_s"),
    (r"redo size( bytes)?", "redo_size_bytes"), (r"logical reads?( blocks)?", "logical_reads"),
    (r"block changes", "block_changes"), (r"physical reads?( blocks)?", "physical_reads"),
    (r"physical writes?( blocks)?", "physical_writes"), (r"user calls", "user_calls"),
    (r"parses( sql)?", "parses"), (r"hard parses( sql)?", "hard_parses"), (r"executes( sql)?", "executes"),
    (r"logons", "logons"), (r"rollbacks", "rollbacks"), (r"transactions", "transactions"),
)  # fmt: skip
_EFFICIENCY = frozenset(
    {"buffer nowait %", "redo nowait %", "buffer hit %", "library hit %", "soft parse %", "latch hit %",
     "execute to parse %", "in memory sort %", "optimal w a exec %", "% non parse cpu"}
)  # fmt: skip
_MOST_LABELS = 80
"""Rows: what is longer is no table of labels."""
_TRAILING_PERCENT = re.compile(r"\s*%$")


def rate_name(text: str) -> str:
    """Return the name of a rate of the load profile, dbatk's own if there is one."""
    words = reduce(text)
    return next((name for pattern, name in _RATES if re.fullmatch(pattern, words)), snake(words))


def load_profile(table: AwrTable, numbers: Numbers) -> tuple[dict[str, Scalar], dict[str, Scalar]] | None:
    """Return rates per second and per transaction where the table is a load profile."""
    second, txn = _rates_at(table.columns)
    if second is None or len(table.rows) > _MOST_LABELS:
        return None
    names = {reduce(row[0]) for row in table.rows if row}
    if not any(name.startswith("redo size") for name in names) or "block changes" not in names:
        return None
    by: tuple[dict[str, Scalar], dict[str, Scalar]] = (dict.fromkeys(LOAD_PROFILE), dict.fromkeys(LOAD_PROFILE))
    for row in table.rows:
        if not row or not row[0].strip(" :"):
            continue
        name = rate_name(row[0])
        for rates, place in zip(by, (second, txn), strict=True):
            cell = row[place] if place is not None and place < len(row) else ""
            rates[name] = numbers.number(cell) if cell else None
    return by


@lru_cache(maxsize=4096)
def _rates_at(columns: tuple[str, ...]) -> tuple[int | None, int | None]:
    """Return the columns of what happened per second and per transaction."""
    keys = reduced(columns)
    second = next((i for i, key in enumerate(keys) if re.fullmatch(r"per sec(ond)?", key)), None)
    return second, next((i for i, key in enumerate(keys) if re.fullmatch(r"per trans(action)?", key)), None)


def _has_labels(table: AwrTable) -> bool:
    """Whether a table is one of labels: most are not, and need no look at each cell."""
    if len(table.rows) > _MOST_LABELS:
        return False
    whole = "\0".join(["\0".join(row) for row in table.rows])
    return ":\0" in whole or whole.endswith(":")


def efficiency(table: AwrTable, numbers: Numbers) -> dict[str, Scalar] | None:
    """Return the ratios of instance efficiency, named as printed, where the table holds them."""
    if not _has_labels(table) or len(table.labels() & _EFFICIENCY) < 3:
        return None
    found: dict[str, Scalar] = {}
    for row in (table.columns, *table.rows):
        for name, value in _pairs(row):
            found[_TRAILING_PERCENT.sub("", name) or name] = numbers.number(value)
    return found


def _pairs(row: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return label and value wherever a label stands in a row."""
    return [
        (label_of(cell), next((one for one in takewhile(_is_value, row[place + 1 :]) if one), ""))
        for place, cell in enumerate(row)
        if cell.endswith(":")
    ]


def _is_value(cell: str) -> bool:
    return not cell.endswith(":")


def label_of(cell: str) -> str:
    """Return a label as printed, its percent sign kept before (`% Non-Parse CPU`) and left out behind."""
    return label(cell)


def io_profile(table: AwrTable, numbers: Numbers) -> dict[str, Mapping[str, Scalar]] | None:
    """Return reads and writes per second by kind where the table is an I/O profile."""
    places = _io_at(table.columns)
    if len(places) < 3 or not any(reduce(row[0]).startswith("total requests") for row in table.rows if row):
        return None
    return {
        label_of(row[0]): {
            name: numbers.number(row[place]) if place < len(row) and row[place] else None
            for name, place in places.items()
        }
        for row in table.rows
        if row and row[0]
    }


_IO = (
    (r"read write( per)? s(ec(ond)?)?", "read_write_per_s"),
    (r"reads?( per)? s(ec(ond)?)?", "read_per_s"),
    (r"writes?( per)? s(ec(ond)?)?", "write_per_s"),
)


@lru_cache(maxsize=4096)
def _io_at(columns: tuple[str, ...]) -> Mapping[str, int]:
    return {
        name: place
        for place, key in enumerate(reduced(columns))
        for pattern, name in _IO
        if re.fullmatch(pattern, key)
    }


def begin_and_end(table: AwrTable, numbers: Numbers) -> tuple[str, dict[str, Mapping[str, Scalar]]] | None:
    """Return memory statistics, cache sizes or shared pool statistics, with the name of their section."""
    if len(table.rows) > _MOST_LABELS or not table.begins_with(("mem", "cache")):
        return None
    labels = {reduce(row[0]) for row in table.rows if row}
    name = next((name for word, name in _BEGIN_AND_END if word in labels), None)
    if name is None:
        return None
    found: dict[str, Mapping[str, Scalar]] = {}
    for row in table.rows:
        for place, cell in enumerate(row):
            if not cell.endswith(":"):
                continue
            values = []
            for value in row[place + 1 : place + 3]:
                if value.endswith(":"):
                    break
                values.append(value)
            found[label_of(cell)] = _two(values, numbers, as_printed=name == "cache_sizes")
    return name, found


_BEGIN_AND_END = (("host mem mb", "memory_mb"), ("memory usage %", "shared_pool"), ("buffer cache", "cache_sizes"))


def _two(values: list[str], numbers: Numbers, *, as_printed: bool) -> Mapping[str, Scalar]:
    read = [(value or None) if as_printed else numbers.number(value) if value else None for value in values]
    return dict(zip(("begin", "end"), [*read, None, None], strict=False))


def instance_cpu(table: AwrTable, numbers: Numbers) -> dict[str, Scalar] | None:
    """Return how much of the CPU the instance took, where a text report tells it by labels."""
    found: dict[str, Scalar] = {}
    for row in table.rows if _has_labels(table) else ():
        for name, value in _pairs(row):
            words = reduce(name)
            for pattern, key in _INSTANCE_CPU:
                if re.match(pattern, words):
                    found[key] = numbers.number(value) if value else None
    return found if "pct_busy_cpu" in found else None


_INSTANCE_CPU = (
    (r"% of total cpu", "pct_total_cpu"),
    (r"% of busy cpu", "pct_busy_cpu"),
    (r"%db time waiting for cpu|% db time waiting", "pct_db_time_waiting_for_cpu"),
    (r"% of time host is busy", "pct_host_busy"),
    (r"host total time s", "host_total_s"),
    (r"host busy cpu time s", "host_busy_s"),
    (r"instance total cpu time s", "instance_cpu_s"),
    (r"instance total database time s", "instance_db_time_s"),
)
