"""Data files that are loaded: the parts they are divided into, and how their text is to be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Protocol

from toolkit.model.values import QualifiedName


class FileFormat(StrEnum):
    """What a data file holds, by its first bytes."""

    CSV = "csv"
    PARQUET = "parquet"


class Conversion(StrEnum):
    """What a client makes of a field's text where it is not the server that converts it."""

    NUMBER = "number"
    FLOAT = "float"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TEXT = "text"
    NATIONAL_TEXT = "national text"
    LONG_TEXT = "long text"
    LONG_NATIONAL_TEXT = "long national text"
    BYTES = "bytes"
    LONG_BYTES = "long bytes"


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How the text of a CSV file is to be read; a quote within quotes is doubled.

    Attributes:
        delimiter: one character between fields.
        quote: one character around a field; empty where nothing is quoted.
        null: the unquoted text that stands for NULL.
        encoding: as Python names it.
        header: whether the first line names the columns.
    """

    delimiter: str = ","
    quote: str = '"'
    null: str = ""
    encoding: str = "utf-8"
    header: bool = True


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a data file that is loaded by one transaction.

    Attributes:
        path: of the file.
        format: of the file.
        gzipped: whether it is compressed by gzip; then there is one chunk, and `first` counts what it unpacks to.
        first: first byte of a CSV file, first row of a parquet file.
        end: the one it ends before; None for the end of the file.
        bytes: how many bytes of the file it is, of parquet about how many.
        whole: whether it is the whole file.
    """

    path: str
    format: FileFormat
    gzipped: bool = False
    first: int = 0
    end: int | None = None
    bytes: float = 0.0
    whole: bool = True

    @property
    def name(self) -> str:
        """The file's name, and which part of it where it has several."""
        name = PurePath(self.path).name
        if self.whole:
            return name
        unit = "rows" if self.format is FileFormat.PARQUET else "bytes"
        return f"{name} {unit} {self.first}-{'' if self.end is None else self.end - 1}"


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a statement takes from a data file of this host, and how its bad rows are dealt with.

    Attributes:
        chunk: the part of the file.
        style: of its text.
        columns: of the table that are filled, in the order of the file.
        table: that is filled.
        types: what the client makes of the text for these columns; empty where the server converts it.
        sample_rows: only so many rows of it, to check them; None for all.
        max_rejects: how many rows may be rejected by all chunks of a trial together.
        rejects: the file that rejected rows are written to.
        batch_rows: how many rows go at once, where rows and not text are sent; 0 for the driver's own number.
    """

    chunk: FilePart
    style: CsvStyle
    columns: tuple[str, ...]
    table: QualifiedName
    sample_rows: int | None = None
    max_rejects: int = 0
    rejects: str = ""
    batch_rows: int = 0
    types: tuple[Conversion, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was not loaded: where it is, why, and its text; `by_record` as in `At`."""

    line: int
    column: str
    reason: str
    text: str
    by_record: bool = False


def line_of(record: tuple[int, bytes]) -> int:
    """Return the line that a record of `Stream.records` begins on."""
    end, text = record
    return end - text.count(b"\n") + text.endswith(b"\n")


class Stream(Protocol):
    """What a session reads a chunk from while it loads it."""

    transfer: Transfer
    read_elsewhere: bool
    """Whether the session is on another host, and reads it there: what it tells has its place in the file."""

    def blocks(self) -> Iterator[bytes]:
        """Yield the text of the chunk, from its beginning."""
        ...

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield each record with the number of its last line, counted from 1 within the chunk."""
        ...

    def reject(self, row: RejectedRow) -> None:
        """Keep a rejected row; `line` counts within the chunk, of one read elsewhere in the whole file.

        Raises:
            DatabaseError: it is one more than may be rejected.
        """
        ...
