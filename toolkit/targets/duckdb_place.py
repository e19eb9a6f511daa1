"""Finds the row of a data file that broke a constraint: DuckDB says which constraint, and not which row.

The file is read once more, by this process. Not found are a CHECK, and a key that it writes otherwise than DuckDB
shows it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from toolkit.model.protocols import At
from toolkit.model.transfers import CsvStyle, FileFormat, Stream, line_of
from toolkit.targets.csv_fields import QUOTED_NULL, fields_of

_NULL = re.compile(r'NOT NULL constraint failed: .*?\.(?:"((?:[^"]|"")+)"|(\w+))$', re.MULTILINE)
_RETURN = re.compile(r"^ *new_line = \\r\\n", re.MULTILINE)
"""How DuckDB shows what ends the lines of a file."""
_KEY = re.compile(r'[Dd]uplicate key "(.*)"', re.DOTALL)


def is_of_a_key(message: str) -> bool:
    """Tell whether an error says that a key is there twice."""
    return _KEY.search(message) is not None


def place_of_constraint(message: str, stream: Stream, keys: Sequence[tuple[str, ...]]) -> At | None:
    """Return the row that broke a constraint; None where it is not found.

    Args:
        message: of DuckDB.
        stream: of the chunk; its records are read.
        keys: columns of the keys of the table.
    """
    null, key = _NULL.search(message), _KEY.search(message)
    if null is not None:
        column = null[2] or null[1].replace('""', '"')
        return _first_null(stream, column)
    return None if key is None else _duplicate(stream, key[1], keys)


def place_of_line_end(message: str, stream: Stream) -> tuple[At, str] | None:
    """Return the first row with a line end, or part of one, that those of the file are not, and what is wrong.

    Args:
        message: of DuckDB, which says that its reader does not go on, and not where.
        stream: of the chunk; its records are read.
    """
    if "state machine reached an invalid state" not in message:
        return None
    quote, with_return = stream.transfer.style.quote.encode(), _RETURN.search(message) is not None
    for record in stream.records():
        text = b"".join(record[1].split(quote)[::2]) if quote else record[1]
        ended = text.removesuffix(b"\r\n")
        if b"\r" in (ended if with_return else text):
            return At(line_of(record)), "a carriage return outside quotes that does not end a line as the others"
        if with_return and ended.endswith(b"\n"):
            return At(line_of(record)), "a line end without the carriage return that the others have"
    return None


def _first_null(stream: Stream, column: str) -> At | None:
    columns = stream.transfer.columns
    if column not in columns:
        return None
    at = columns.index(column)
    null = _style(stream).null
    found = (line for line, fields in _rows(stream) if fields[at] == null)
    line = next(found, None)
    return None if line is None else At(line, column)


def _duplicate(stream: Stream, shown: str, keys: Sequence[tuple[str, ...]]) -> At | None:
    """Return the second row with a key; where there is one, the first: the table has the key already."""
    columns = stream.transfer.columns
    lines: list[tuple[int, str]] = []
    wanted = [
        (tuple(map(columns.index, key)), values, ", ".join(key))
        for key in keys
        if set(key) <= set(columns) and (values := _values(shown, key)) is not None
    ]
    for line, fields in _rows(stream):
        for places, values, names in wanted:
            if all(_same(fields[place], value) for place, value in zip(places, values, strict=True)):
                lines.append((line, names))
        if len(lines) > 1:
            break
    return At(lines[-1][0], lines[-1][1]) if lines else None


def _values(shown: str, key: tuple[str, ...]) -> tuple[str, ...] | None:
    """Read the values of a key as DuckDB shows them: `id: 1, name: x`, or `1, x`; None where they are not its."""
    named = r", ".join(rf"{re.escape(name)}: (.*)" for name in key)
    plain = r", ".join(["(.*)"] * len(key))
    found = re.fullmatch(named, shown, re.DOTALL) or re.fullmatch(plain, shown, re.DOTALL)
    return None if found is None else found.groups()


def _same(field: str, value: str) -> bool:
    if field.removeprefix(QUOTED_NULL) == value:
        return True
    try:
        return Decimal(field) == Decimal(value)
    except InvalidOperation:
        return False


def _style(stream: Stream) -> CsvStyle:
    return CsvStyle() if stream.transfer.chunk.format is FileFormat.PARQUET else stream.transfer.style


def _rows(stream: Stream) -> Iterator[tuple[int, list[str]]]:
    """Yield the line of each row (of parquet its number) with its fields; others are passed over."""
    style, by_rows = _style(stream), stream.transfer.chunk.format is FileFormat.PARQUET
    fields = fields_of(style)
    for number, record in enumerate(stream.records(), 1):
        try:
            found = fields(record[1].decode(style.encoding, "replace").rstrip("\r\n"))
        except csv.Error:
            continue
        if len(found) == len(stream.transfer.columns):
            yield number if by_rows else line_of(record), found
