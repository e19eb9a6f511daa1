"""Direct path loads by python-oracledb: `Connection.direct_path_load`, thin mode, from release 3.4 of the driver.

The driver takes the rows of one call at once and commits them at its end; values must already be of the types of
their columns, so text is converted here.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation

from toolkit.model.protocols import At, DatabaseError
from toolkit.model.transfers import FileFormat, RejectedRow, Stream
from toolkit.targets.oracle_driver import RawConnection

_Value = str | int | float | bytes | Decimal | datetime | None
_NO_WAY = "DPY-3001"
_BAD_VALUE = "ORA-01722"


def load_direct(raw: RawConnection, stream: Stream) -> int:
    """Load a chunk in one call.

    Returns:
        How many rows were loaded.

    Raises:
        DatabaseError: a value does not fit its column, or this driver has no direct path.
    """
    load = getattr(raw, "direct_path_load", None)
    if load is None or not getattr(raw, "thin", False):
        why = "thick mode has" if load is not None else "this release of python-oracledb has"
        raise DatabaseError(f"{why} no direct path load (thin mode from release 3.4)", code=_NO_WAY)
    transfer = stream.transfer
    rows = list(_rows(stream))
    if rows:
        size = {"batch_size": transfer.batch_rows} if transfer.batch_rows else {}
        load(transfer.table.schema, transfer.table.name, list(transfer.columns), rows, **size)
    return len(rows)


def _rows(stream: Stream) -> Iterator[tuple[_Value, ...]]:
    transfer = stream.transfer
    plain = transfer.chunk.format is FileFormat.CSV
    delimiter, quote = (transfer.style.delimiter, transfer.style.quote) if plain else (",", '"')
    lines: list[tuple[int, str]] = []

    def texts() -> Iterator[str]:
        for line, record in stream.records():
            lines[:] = [(line, record.decode(transfer.style.encoding if plain else "utf-8"))]
            yield lines[0][1]

    reader = csv.reader(
        texts(), delimiter=delimiter, quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE, strict=True,
    )  # fmt: skip
    converters = [_converter(of_type) for of_type in transfer.types]
    while True:
        try:
            fields = next(reader, None)
        except (csv.Error, UnicodeDecodeError) as error:
            raise DatabaseError(str(error), code="TK-0106", at=At(lines[0][0] if lines else 1)) from None
        if fields is None:
            return
        found = _converted(fields, converters, stream, lines[0])
        if found is not None:
            yield found


def _converted(
    fields: Sequence[str], converters: Sequence[Callable[[str], _Value]], stream: Stream, at: tuple[int, str]
) -> tuple[_Value, ...] | None:
    """Return the values of a row; None for one that was left out.

    Raises:
        DatabaseError: it may not be left out.
    """
    transfer, (line, text) = stream.transfer, at
    column, why = "", ""
    values: list[_Value] = []
    if len(fields) != len(converters):
        why = f"{len(fields)} fields instead of {len(converters)}"
    for name, field, convert in zip(transfer.columns, fields, converters, strict=False):
        try:
            values.append(None if field in (transfer.style.null, "") else convert(field))
        except (ValueError, InvalidOperation):
            column, why = name, f'"{field}" does not fit the type of the column'
            break
    if not why:
        return tuple(values)
    if not transfer.max_rejects:
        raise DatabaseError(why, code=_BAD_VALUE, at=At(line, column))
    stream.reject(RejectedRow(line, column, why, text.rstrip("\r\n")))
    return None


def _converter(of_type: str) -> Callable[[str], _Value]:
    kind = of_type.upper()
    if kind.startswith(("NUMBER", "INTEGER", "FLOAT")):
        return _number
    if kind.startswith("BINARY_"):
        return float
    if kind.startswith(("DATE", "TIMESTAMP")):
        return datetime.fromisoformat
    return bytes.fromhex if kind.startswith("RAW") else str


def _number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("+-").isdigit() else Decimal(text)
