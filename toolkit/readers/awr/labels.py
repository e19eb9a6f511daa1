"""Tables of labels, such as `Redo size: | 1,234.5 | 6.7`: load profile, efficiency, memory and their like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import takewhile

from toolkit.model.values import Scalar
from toolkit.readers.awr.numbers import Numbers
from toolkit.readers.awr.tables import AwrTable, label, reduce, reduced, snake

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
    """Return the name of a rate of the load profile, ours where there is one."""
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
    (r"read write( per)? sec(ond)?", "read_write_per_s"),
    (r"reads?( per)? sec(ond)?", "read_per_s"),
    (r"writes?( per)? sec(ond)?", "write_per_s"),
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
