"""The log of a Data Pump job: rows and bytes of each table, errors, workers, and how the job ended.

Forms of the lines: Oracle Database Utilities 11.2 to 23, Data Pump Export and Import, examples (`METRICS=YES`
puts the worker before a line, and seconds after the rows; `LOGTIME` an instant before it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIZES = {"B": 1, "BYTES": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_ROWS = re.compile(
    r"^(?:.*?\bW-(?P<worker>\d+)\s+)?.*?\. \. (?:ex|im)ported (?P<name>\"[^\"]+\"(?:[.:]\"[^\"]+\")*)\s+"
    r"(?P<size>[\d.,]+) (?P<unit>[KMGT]?B|bytes)\s+(?P<rows>\d+) rows(?: in (?P<seconds>\d+) seconds)?"
)
_ERROR = re.compile(r"\b(?P<code>(?:ORA|UDE|UDI|LRM)-\d{5}): (?P<text>.*)")
_END = re.compile(
    r"Job .* (?P<how>successfully completed|completed with (?P<count>\d+) error\(s\)|stopped due to)"
)


@dataclass(frozen=True, slots=True)
class DumpedTable:
    """A table or partition: as the log names it, its bytes as they are in the dump, rows, seconds."""

    name: str
    bytes: int
    rows: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class DumpLog:
    """What a log tells.

    Attributes:
        tables: in the order of the log.
        errors: code and text of each, as they stand there.
        workers: how many different ones wrote tables; None where lines do not name them.
        error_count: what the last line says; None where no line says it, or not in English.
    """

    tables: tuple[DumpedTable, ...]
    errors: tuple[str, ...]
    workers: int | None
    error_count: int | None


def read(text: str) -> DumpLog:
    """Read a log; lines of other kinds are left out."""
    tables: list[DumpedTable] = []
    errors: list[str] = []
    workers: set[str] = set()
    count: int | None = None
    for line in text.splitlines():
        if found := _ROWS.match(line):
            tables.append(_table(found))
            workers |= {found["worker"]} - {None}
        elif ended := _END.search(line):
            # stopped by a fatal error: the error before this line says which
            count = 0 if ended["how"].startswith("successfully") else int(ended["count"] or max(1, len(errors)))
        elif error := _ERROR.search(line):
            errors.append(f"{error['code']}: {error['text'].strip()}")
    return DumpLog(tuple(tables), tuple(errors), len(workers) or None, count)


def _table(found: re.Match[str]) -> DumpedTable:
    size = float(found["size"].replace(",", "")) * _SIZES[found["unit"].upper()]
    seconds = None if found["seconds"] is None else float(found["seconds"])
    name = found["name"].replace('"', "")
    return DumpedTable(name, round(size), int(found["rows"]), seconds)
