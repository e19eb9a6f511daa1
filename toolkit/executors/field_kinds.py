"""What the columns of data files hold, from all their rows: a row for each column of each file.

Of a column: `path`, `column_name`, `kind`, `digits`, `scale` (`toolkit.model.file_columns`), `text_since` (the
line whose value made it text where those before were none; else null). Of its file: `odd_rows`, `odd_since` (how
many rows have another number of fields and are left out of account, and the line of the first).
"""

from __future__ import annotations

import csv
import functools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice

from toolkit.errors import ToolkitError
from toolkit.executors.csv_text import blocks_of, lines_before, records_of
from toolkit.executors.data_files import files_of
from toolkit.model.facts import Probe
from toolkit.model.file_columns import ColumnKind, ColumnValues
from toolkit.model.transfers import CsvStyle, FileFormat
from toolkit.model.values import Row

_BATCH = 4096
"""Rows whose fields are looked at together."""
_SEPARATOR = "\x1f"
"""Between values that are matched in one go; a value that contains it is looked at alone."""
_QUOTED = "\ue000"
"""Stands for an empty text in quotes, which is no NULL."""
_LONGEST_INTEGER = 18
"""Digits of which any number fits in 64 bits."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?P<time>[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?",
    re.ASCII,
)
_TEXT = ColumnValues(ColumnKind.TEXT)


def fields_of_files(probe: Probe) -> tuple[Row, ...]:
    """Return a row for each column of each file.

    Raises:
        ToolkitError: TK-0106 for a file that cannot be read, naming the line.
    """
    return tuple(row for file in files_of(probe) for row in _columns(file, probe.style))


def _columns(file: Row, style: CsvStyle) -> Iterator[Row]:
    path, names = str(file["path"]), [str(name) for name in json.loads(str(file["columns"]))]
    if file["format"] == FileFormat.PARQUET:
        kinds = [_of_parquet(str(one)) for one in json.loads(str(file["types"]))]
        found = _Found([_Column(kind) for kind in kinds])
    else:
        found = _read(
            path, len(names), style, begin=int(str(file["data_begin"])), gzipped=file["is_gzipped"] == "yes"
        )
    for name, column in zip(names, found.columns, strict=True):
        yield {
            "path": path, "column_name": name, "kind": column.field.kind.value, "digits": column.field.digits,
            "scale": column.field.scale, "text_since": column.text_since, "odd_rows": found.odd_rows,
            "odd_since": found.odd_since,
        }  # fmt: skip


# -- CSV ----------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class _Column:
    field: ColumnValues = field(default_factory=ColumnValues)
    text_since: int | None = None


@dataclass(slots=True)
class _Found:
    columns: list[_Column]
    odd_rows: int = 0
    odd_since: int | None = None


def _read(path: str, width: int, style: CsvStyle, *, begin: int, gzipped: bool) -> _Found:
    found = _Found([_Column() for _ in range(width)])
    text = _Text(style, lines_before(path, begin, gzipped=gzipped))
    records = csv.reader(
        text.records(blocks_of(path, begin, None, gzipped=gzipped)), delimiter=style.delimiter,
        quotechar=style.quote or None, quoting=csv.QUOTE_MINIMAL if style.quote else csv.QUOTE_NONE, strict=True,
    )  # fmt: skip
    numbered = ((text.line, row or [""]) for row in records)
    try:
        while batch := list(islice(numbered, _BATCH)):
            _look(found, batch, style.null)
    except UnicodeDecodeError:
        what, hint = f"not {style.encoding} text", "name its encoding with --encoding"
    except (csv.Error, EOFError, OSError) as error:
        what, hint = str(error), "check --delimiter and --quote, and that the file is whole"
    else:
        return found
    raise ToolkitError(f"`{path}`, line {text.line}: {what}", code="TK-0106", hint=hint)


class _Text:
    """The records of a file as text, and the line that the last one ends on."""

    def __init__(self, style: CsvStyle, line: int) -> None:
        self.line = line
        self._style = style
        self._null = f"{style.quote}{style.null}{style.quote}"
        ends = re.escape(style.delimiter), re.escape(style.quote)
        self._fields = re.compile(r"(?:\A|(?<={0})){1}(?:[^{1}]|{1}{1})*{1}(?={0}|\r?\n?\Z)".format(*ends))

    def records(self, blocks: Iterable[bytes]) -> Iterator[str]:
        """Yield each record; what stands for NULL is a text where it is in quotes, and is marked there."""
        before, quote = self.line, self._style.quote.encode()
        for line, record in records_of(blocks, quote):
            self.line = before + line
            text = record.decode(self._style.encoding)
            yield self._fields.sub(self._marked, text) if quote and self._null in text else text

    def _marked(self, field: re.Match[str]) -> str:
        return f"{self._style.quote}{_QUOTED}{self._style.quote}" if field[0] == self._null else field[0]


def _look(found: _Found, batch: list[tuple[int, list[str]]], null: str) -> None:
    width = len(found.columns)
    odd = [line for line, row in batch if len(row) != width]
    if odd:
        found.odd_since = found.odd_since or odd[0]
        found.odd_rows += len(odd)
        batch = [(line, row) for line, row in batch if len(row) == width]
    for column, values in zip(found.columns, zip(*(row for _, row in batch), strict=True), strict=False):
        if column.field.kind is ColumnKind.TEXT:
            continue
        distinct = set(values) - {null}
        if _takes(column.field, distinct):
            continue
        wider = functools.reduce(ColumnValues.with_, map(_kind_of, distinct), column.field)
        if wider.kind is ColumnKind.TEXT:
            column.text_since = _text_since(column.field, batch, values, null)
        column.field = wider


def _takes(known: ColumnValues, values: set[str]) -> bool:
    """Tell whether a column of numbers takes further values, without a look at each."""
    if known.kind is ColumnKind.INTEGER:
        one = f"-?(?:0|[1-9][0-9]{{0,{known.digits - 1}}})"
    elif known.kind is ColumnKind.DECIMAL and known.scale:
        one = rf"-?(?:0|[1-9][0-9]{{0,{known.digits - 1}}})(?:\.[0-9]{{1,{known.scale}}})?"
    else:
        return not values
    joined = _SEPARATOR.join(values)
    return joined.count(_SEPARATOR) == len(values) - 1 and bool(_many(one).fullmatch(joined))


@functools.lru_cache(maxsize=256)
def _many(one: str) -> re.Pattern[str]:
    return re.compile(f"(?>(?:{one}(?:{_SEPARATOR}|$))+)", re.ASCII)


def _text_since(
    known: ColumnValues, batch: list[tuple[int, list[str]]], values: tuple[str, ...], null: str
) -> int | None:
    """Return the line whose value made a column text; None where no value before it was of another kind."""
    for (line, _), value in zip(batch, values, strict=True):
        if value == null:
            continue
        wider = known.with_(_kind_of(value))
        if wider.kind is ColumnKind.TEXT:
            return None if known.kind is ColumnKind.NOTHING else line
        known = wider
    return None


@functools.lru_cache(maxsize=16384)
def _kind_of(value: str) -> ColumnValues:
    """Return the narrowest kind whose values can be written so; what would come back changed (`007`) is text."""
    if number := _NUMBER.fullmatch(value):
        whole, after, exponent = number.groups()
        digits, scale = len(whole), len(after or "")
        if exponent:
            return ColumnValues(ColumnKind.FLOAT, digits, scale)
        kind = ColumnKind.DECIMAL if scale or digits > _LONGEST_INTEGER else ColumnKind.INTEGER
        return ColumnValues(kind, digits, scale)
    if value.lower() in ("true", "false"):
        return ColumnValues(ColumnKind.BOOLEAN)
    found = _TIME.fullmatch(value)
    return _TEXT if found is None else _of_time(value, found)


def _of_time(value: str, found: re.Match[str]) -> ColumnValues:
    try:
        if found["time"] is None:
            date.fromisoformat(value)
            return ColumnValues(ColumnKind.DATE)
        datetime.fromisoformat(value)
    except ValueError:
        return _TEXT
    return ColumnValues(ColumnKind.TIMESTAMP if found["zone"] is None else ColumnKind.ZONED_TIMESTAMP)


# -- parquet ------------------------------------------------------------------------------------------------------
_OF_PARQUET = {
    "BOOLEAN": ColumnValues(ColumnKind.BOOLEAN),
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"),
        ColumnValues(ColumnKind.INTEGER, 18),
    ),
    "UBIGINT": ColumnValues(ColumnKind.DECIMAL, 20),
    "FLOAT": ColumnValues(ColumnKind.FLOAT),
    "DOUBLE": ColumnValues(ColumnKind.FLOAT),
    "DATE": ColumnValues(ColumnKind.DATE),
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), ColumnValues(ColumnKind.TIMESTAMP)
    ),
    "TIMESTAMP WITH TIME ZONE": ColumnValues(ColumnKind.ZONED_TIMESTAMP),
    "BLOB": ColumnValues(ColumnKind.BYTES),
}
_OF_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


def _of_parquet(of_type: str) -> ColumnValues:
    """Return the kind of a column by its type, as DuckDB names it; text for what is none of them."""
    if found := _OF_DECIMAL.fullmatch(of_type):
        return ColumnValues(ColumnKind.DECIMAL, int(found[1]) - int(found[2]), int(found[2]))
    return _OF_PARQUET.get(of_type, _TEXT)
