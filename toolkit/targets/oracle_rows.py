"""Rows of a file on their way into Oracle: text that is converted here, sent to an INSERT in batches.

The driver's batch errors tell each row that the server refused, and insert the others of its batch
(python-oracledb, "Handling Data Errors").
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal
from itertools import islice
from typing import assert_never

from toolkit.model.protocols import At, DatabaseError
from toolkit.model.transfers import Conversion, CsvStyle, FileFormat, RejectedRow, Stream, Transfer, line_of
from toolkit.targets import oracle_driver as driver
from toolkit.targets.csv_fields import QUOTED_NULL, fields_of

_BATCH_ROWS = 5000
_OF_ROWS = frozenset({
    "ORA-00001", "ORA-01400", "ORA-01401", "ORA-01426", "ORA-01438", "ORA-01461", "ORA-01841", "ORA-02290",
    "ORA-02291", "ORA-12899", "ORA-14400",
})  # fmt: skip
"""Errors that lie in a row itself; any other ends the load whatever may be rejected."""
_COLUMN = re.compile(r'"[^"]+"\."[^"]+"\."([^"]+)"')
"""In ORA-01400 and ORA-12899: `"OWNER"."TABLE"."COLUMN"`."""
_BAD_ROW = "TK-0214"
_FIGURES = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*", re.ASCII)
_NUMBERS = Context(prec=38, Emax=125, Emin=-130)
"""NUMBER (SQL Language Reference, NUMBER Data Type): 1E-130 to below 1E126, rounded to 38 digits."""


@dataclass(frozen=True, slots=True)
class Read:
    """A record: the line that it begins on (of parquet its number), its values, its text."""

    line: int
    values: Sequence[object]
    text: str


@dataclass(frozen=True, slots=True)
class Bad:
    """A record without values: the column, where one is to blame, and the reason."""

    line: int
    column: str
    reason: str
    text: str


def inserted(raw: driver.RawConnection, text: str, stream: Stream) -> int:
    """Send a chunk; of a sample nothing: it is converted, and the server parses the statement.

    Returns:
        How many rows were inserted.

    Raises:
        DatabaseError: a row is bad that may not be left out.
    """
    transfer = stream.transfer
    with raw.cursor() as cursor:
        if transfer.sample_rows is not None:
            cursor.parse(text)
            for each in read(stream, transfer.sample_rows):
                if isinstance(each, Bad) and not transfer.max_rejects:
                    raise _refused(each, _BAD_ROW)
            return 0
        rows, records = 0, read(stream, None)
        while batch := list(islice(records, transfer.batch_rows or _BATCH_ROWS)):
            rows += _send(cursor, text, stream, batch)
        return rows


def _send(cursor: driver.RawCursor, text: str, stream: Stream, batch: Sequence[Read | Bad]) -> int:
    good = []
    for each in batch:
        if isinstance(each, Read):
            good.append(each)
        else:
            _reject(stream, each, _BAD_ROW)
    if not good:
        return 0
    cursor.setinputsizes(*_sizes(stream.transfer.types))
    cursor.executemany(text, [each.values for each in good], batcherrors=True)
    errors = cursor.getbatcherrors()
    for error in errors:
        row = good[error.offset]
        column = _COLUMN.search(error.message)
        reason = error.message.strip().splitlines()[0]
        bad = Bad(row.line, column[1] if column else "", reason, row.text)
        if error.full_code not in _OF_ROWS:
            raise _refused(bad, error.full_code)
        _reject(stream, bad, error.full_code)
    return len(good) - len(errors)


def _reject(stream: Stream, bad: Bad, code: str) -> None:
    if not stream.transfer.max_rejects:
        raise _refused(bad, code)
    stream.reject(RejectedRow(bad.line, bad.column, bad.reason, bad.text))


def _refused(bad: Bad, code: str) -> DatabaseError:
    return DatabaseError(bad.reason, code=code, at=At(bad.line, bad.column))


# -- records and their values -------------------------------------------------------------------------------------
def read(stream: Stream, most: int | None) -> Iterator[Read | Bad]:
    """Yield the records of a chunk with their values; `most` of them, or all."""
    transfer = stream.transfer
    by_rows = transfer.chunk.format is FileFormat.PARQUET
    # what is made of parquet has the usual style, whatever the text files have
    style = CsvStyle() if by_rows else transfer.style
    fields = fields_of(style)
    for number, record in enumerate(islice(stream.records(), most), 1):
        line = number if by_rows else line_of(record)
        yield _values(line, record[1], style, fields, transfer)


def _values(
    line: int, record: bytes, style: CsvStyle, fields: Callable[[str], list[str]], transfer: Transfer
) -> Read | Bad:
    try:
        text = record.decode(style.encoding)
    except UnicodeDecodeError as error:
        shown = record.decode(style.encoding, "backslashreplace").rstrip("\r\n")
        return Bad(line, "", f"byte {error.start + 1} of the row is not {style.encoding} text", shown)
    shown = text.rstrip("\r\n")
    try:
        found = fields(text) or [""]
    except csv.Error as error:
        return Bad(line, "", str(error), shown)
    if len(found) != len(transfer.columns):
        return Bad(line, "", f"{len(found)} fields instead of {len(transfer.columns)}", shown)
    values: list[object] = []
    for name, field, kind in zip(transfer.columns, found, transfer.types, strict=True):
        try:
            values.append(None if field in (style.null, "") else _converted(field, kind))
        except (ValueError, ArithmeticError):
            return Bad(line, name, f"`{field[:100]}` is not a {kind}", shown)
    return Read(line, values, shown)


def _converted(field: str, kind: Conversion) -> object:
    """Return the value of a text; an empty one is NULL in Oracle, and does not come here.

    Raises:
        ValueError, ArithmeticError: it has none.
    """
    match kind:
        case Conversion.TEXT | Conversion.NATIONAL_TEXT | Conversion.LONG_TEXT | Conversion.LONG_NATIONAL_TEXT:
            return field.removeprefix(QUOTED_NULL)
        case Conversion.NUMBER if _FIGURES.fullmatch(field):
            return _NUMBERS.create_decimal(field.strip()) or Decimal(0)
        case Conversion.FLOAT if "_" not in field:
            return float(field)
        case Conversion.DATE | Conversion.TIMESTAMP:
            moment = datetime.fromisoformat(field.strip())
            if moment.tzinfo is not None or (kind is Conversion.DATE and moment.microsecond):
                raise ValueError(field)  # the column would lose it without a word
            return moment
        case Conversion.BYTES | Conversion.LONG_BYTES:
            return bytes.fromhex(field.removeprefix("\\x"))
        case Conversion.NUMBER | Conversion.FLOAT:
            raise ValueError(field)
        case _:
            assert_never(kind)


def _sizes(kinds: Sequence[Conversion]) -> Iterator[object]:
    """Yield the driver's types: without them it would take that of the first value of each column."""
    import oracledb

    names = {
        Conversion.NUMBER: "DB_TYPE_NUMBER", Conversion.FLOAT: "DB_TYPE_BINARY_DOUBLE",
        Conversion.DATE: "DB_TYPE_DATE", Conversion.TIMESTAMP: "DB_TYPE_TIMESTAMP",
        Conversion.TEXT: "DB_TYPE_VARCHAR", Conversion.NATIONAL_TEXT: "DB_TYPE_NVARCHAR",
        Conversion.LONG_TEXT: "DB_TYPE_LONG", Conversion.LONG_NATIONAL_TEXT: "DB_TYPE_LONG_NVARCHAR",
        Conversion.BYTES: "DB_TYPE_RAW", Conversion.LONG_BYTES: "DB_TYPE_LONG_RAW",
    }  # fmt: skip
    return (getattr(oracledb, names[kind]) for kind in kinds)
