"""Rows of a file as the direct path of the driver takes them: text converted to the types of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

import pytest

from toolkit.executors.csv_text import records_of
from toolkit.model.protocols import DatabaseError
from toolkit.model.transfers import CsvStyle, FileFormat, FilePart, RejectedRow, Transfer
from toolkit.model.values import QualifiedName
from toolkit.targets.oracle_direct import load_direct

_TYPES = ("NUMBER", "VARCHAR2(20)", "DATE", "RAW(4)", "BINARY_DOUBLE")


@dataclass
class Raw:
    """The driver's connection, as far as a direct path load uses it."""

    thin: bool = True
    calls: list[tuple[object, ...]] = field(default_factory=list)

    def direct_path_load(self, *what: object, **how: object) -> None:
        self.calls.append((*what, how))


@dataclass
class Text:
    """A chunk in memory."""

    transfer: Transfer
    text: bytes
    rejected: list[RejectedRow] = field(default_factory=list)

    def blocks(self) -> Iterator[bytes]:
        yield self.text

    def records(self) -> Iterator[tuple[int, bytes]]:
        return records_of(self.blocks(), b'"')

    def reject(self, row: RejectedRow) -> None:
        self.rejected.append(row)


def stream(text: str, **more: int) -> Text:
    part = FilePart("/data/lines.csv", FileFormat.CSV)
    columns = ("ID", "NAME", "DAY", "CODE", "X")
    return Text(
        Transfer(part, CsvStyle(), columns, QualifiedName("LINES", "APP"), types=_TYPES, **more), text.encode()
    )


def test_text_is_converted_to_the_types_of_the_columns() -> None:
    raw = Raw()
    rows = load_direct(raw, stream('1,"a, b",2020-01-02,00ff,1.5\n2.50,,2020-01-02 03:04:05,,\n', batch_rows=7))  # type: ignore[arg-type]
    assert rows == 2
    assert raw.calls == [
        ("APP", "LINES", ["ID", "NAME", "DAY", "CODE", "X"],
         [(1, "a, b", datetime(2020, 1, 2), b"\x00\xff", 1.5),
          (Decimal("2.50"), None, datetime(2020, 1, 2, 3, 4, 5), None, None)],
         {"batch_size": 7})
    ]  # fmt: skip


def test_a_bad_row_is_told_with_line_and_column_and_nothing_is_sent() -> None:
    raw = Raw()
    with pytest.raises(DatabaseError, match='"many" does not fit') as caught:
        load_direct(raw, stream('1,"a\nb",,,\nmany,x,,,\n'))  # type: ignore[arg-type]
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == (3, "ID")
    assert raw.calls == []


def test_bad_rows_that_may_be_left_out_are() -> None:
    raw, text = Raw(), stream("1,x,,,\nmany,x,,,\n3,x\n", max_rejects=5)
    assert load_direct(raw, text) == 1  # type: ignore[arg-type]
    assert [(row.line, row.column, row.text) for row in text.rejected] == [(2, "ID", "many,x,,,"), (3, "", "3,x")]


@pytest.mark.parametrize("raw", [Raw(thin=False), object()], ids=["thick", "old"])
def test_a_driver_without_direct_path_says_so(raw: object) -> None:
    with pytest.raises(DatabaseError, match="no direct path load"):
        load_direct(raw, stream("1,x,,,\n"))  # type: ignore[arg-type]
