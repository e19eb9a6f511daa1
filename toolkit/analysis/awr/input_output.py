"""I/O by function and by type of file, as the report of an instance prints it, and as that of a cluster does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from toolkit.analysis.awr.fields import Record, amount, cells, latency, number, records, size, table_rows
from toolkit.model.interval import InputOutput, Listing

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
