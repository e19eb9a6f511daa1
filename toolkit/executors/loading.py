"""Loads chunks of data files through a session, and tells where in a file a load failed.

Rows that may be left out are kept in a file before their chunk is committed; a chunk that is loaded again finds
them there, so each stands there once.
"""

from __future__ import annotations

import csv
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath
from typing import Protocol, TextIO

from toolkit.documents import open_to_write
from toolkit.executors.csv_text import blocks_of, in_time, lines_before, records_of
from toolkit.model.protocols import Answer, At, DatabaseError, LoadingConnection
from toolkit.model.transfers import FileFormat, FilePart, RejectedRow, Transfer, line_of
from toolkit.model.values import QualifiedName, Row, Scalar

_HEADER = ("file", "line", "column", "reason", "row")
_TOO_MANY = "TK-0213"
_PLACED = frozenset({_TOO_MANY, "TK-0214"})
"""Codes of sentences that have their place, where they have none beside."""


class KeepsRows(Protocol):
    """Keeps the rows that are left out."""

    def add(self, transfer: Transfer, row: RejectedRow) -> bool:
        """Keep a row; tell whether so many may be rejected. `row.line` counts in the whole file.

        Raises:
            OSError: it cannot be written.
        """
        ...


@dataclass(slots=True)
class KeptRows:
    """The rows that one chunk left out, to be kept by another host."""

    rows: list[RejectedRow] = field(default_factory=list)
    _lines: set[int] = field(default_factory=set)

    def add(self, transfer: Transfer, row: RejectedRow) -> bool:
        """Keep a row; the chunk alone may have as many as all of the load."""
        if row.line in self._lines:
            return True
        if len(self.rows) >= transfer.max_rejects:
            return False
        self._lines.add(row.line)
        self.rows.append(row)
        return True


@dataclass(slots=True)
class Rejected:
    """The rows that the trials of a run left out, by the table that each filled."""

    _known: dict[QualifiedName, set[tuple[str, int]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, transfer: Transfer, row: RejectedRow) -> bool:
        """Keep a row that the file of rejected rows does not have yet, as `KeepsRows`."""
        with self._lock:
            known = self._known.setdefault(transfer.table, set()) or self._read(transfer)
            key = (transfer.chunk.path, row.line)
            if key in known:
                return True
            if len(known) >= transfer.max_rejects:
                return False
            known.add(key)
            with _appending(Path(transfer.rejects)) as file:
                csv.writer(file).writerow((transfer.chunk.path, row.line, row.column, row.reason, row.text))
            return True

    def _read(self, transfer: Transfer) -> set[tuple[str, int]]:
        """Return what an earlier attempt has written."""
        known = self._known[transfer.table]
        path = Path(transfer.rejects)
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                for row in islice(csv.reader(file), 1, None):
                    if len(row) == len(_HEADER) and row[1].isdigit():
                        known.add((row[0], int(row[1])))
        return known


def _appending(path: Path) -> TextIO:
    new = not path.exists()
    handle = open_to_write(path, os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
    file = os.fdopen(handle, "a", newline="", encoding="utf-8", errors="backslashreplace")
    if new:
        csv.writer(file).writerow(_HEADER)
    return file


@dataclass(slots=True)
class ChunkStream:
    """Reads a chunk, and measures what that takes."""

    transfer: Transfer
    rejected: KeepsRows
    read_elsewhere: bool = False
    read_seconds: float = 0.0
    text_bytes: int = 0
    rejects: int = 0
    _lines_before: int | None = None
    _walk: Iterator[tuple[int, bytes]] | None = None
    _walked: int = 0

    def blocks(self) -> Iterator[bytes]:
        blocks = self._sample() if self.transfer.sample_rows is not None else self._blocks()
        begun = time.perf_counter()
        for block in blocks:
            self.read_seconds += time.perf_counter() - begun
            self.text_bytes += len(block)
            yield block
            begun = time.perf_counter()

    def _sample(self) -> Iterator[bytes]:
        yield b"".join(record for _, record in self.records())

    def _blocks(self) -> Iterator[bytes]:
        chunk = self.transfer.chunk
        from toolkit.targets.parquet import as_csv

        try:
            if chunk.format is FileFormat.CSV:
                yield from blocks_of(chunk.path, chunk.first, chunk.end, gzipped=chunk.gzipped)
            else:
                yield from in_time(as_csv(chunk.path, chunk.first, chunk.end))
        except (OSError, EOFError) as error:
            raise _unreadable(chunk, error) from None

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Return the records, of a sample its own, each with the number of the line on which it ends."""
        return islice(self._all_records(), self.transfer.sample_rows)

    def _all_records(self) -> Iterator[tuple[int, bytes]]:
        """Return the records of the whole chunk: DuckDB may find a bad one behind those of a sample."""
        quote = self.transfer.style.quote if self.transfer.chunk.format is FileFormat.CSV else '"'
        return records_of(self._blocks(), quote.encode())

    def reject(self, row: RejectedRow) -> None:
        """Keep a rejected row.

        Raises:
            DatabaseError: it is one more than may be rejected, cannot be kept, or is the rest of the file.
        """
        whole = row if self.read_elsewhere else self._in_whole_file(row)
        try:
            kept = self.rejected.add(self.transfer, whole)
        except OSError as error:
            sentence = (
                f"the file for rejected rows cannot be written: {error.strerror} (`{self.transfer.rejects}`)"
            )
            raise DatabaseError(sentence, code="TK-0901") from None
        if not kept:
            raise DatabaseError(
                f"{_place(self.transfer, whole.line, row.column)}: {row.reason}; more than "
                f"{self.transfer.max_rejects} bad rows (--max-rejects)",
                code=_TOO_MANY,
            )
        self.rejects += 1

    def _in_whole_file(self, row: RejectedRow) -> RejectedRow:
        """Return a row with its line in the whole file.

        Raises:
            DatabaseError: it is the rest of the file.
        """
        line = self._line_of(At(row.line, by_record=row.by_record)) + self._before()
        if self._swallows(row.text):
            raise DatabaseError(
                f"{_place(self.transfer, line, '')}: a quote that begins in this row is not closed: the rest of "
                "the file would be left out with it",
                code="TK-0214",
            )
        return RejectedRow(line, row.column, row.reason, row.text)

    def _swallows(self, text: str) -> bool:
        """Tell whether a bad row is the rest of the file, by a quote that is not closed."""
        chunk, quote = self.transfer.chunk, self.transfer.style.quote
        in_csv = chunk.format is FileFormat.CSV and bool(quote)
        return in_csv and text.count(quote) % 2 == 1 and "\n" in text.rstrip("\r\n")

    def _before(self) -> int:
        """Return how many lines of the file come before the chunk; of parquet how many rows."""
        if self._lines_before is None:
            chunk = self.transfer.chunk
            by_rows = chunk.format is FileFormat.PARQUET
            self._lines_before = (
                chunk.first if by_rows else lines_before(chunk.path, chunk.first, gzipped=chunk.gzipped)
            )
        return self._lines_before

    def located(self, error: DatabaseError) -> DatabaseError:
        """Return an error with the place in the file in its sentence."""
        if self.read_elsewhere or (error.code in _PLACED and error.at is None):
            return error
        place = f"`{PurePath(self.transfer.chunk.path).name}`"
        with suppress(OSError, EOFError):
            if error.at is not None:
                line = self._line_of(error.at) + self._before()
                place = _place(self.transfer, line, error.at.column)
        why = f"{error.sentence.rstrip('.')}{_NAME_ENCODING if _OTHER_ENCODING.search(error.sentence) else ''}"
        return DatabaseError(
            error.message, code=error.code, lost=error.lost, unsent=error.unsent, cancelled=error.cancelled,
            headline=f"{place}: {why}",
        )  # fmt: skip

    def _line_of(self, at: At) -> int:
        """Return the line within the chunk on which a record begins, or which was counted otherwise."""
        if self.transfer.chunk.format is FileFormat.PARQUET:
            return at.line
        if at.by_record:
            return self._record_begin(at.line)
        return self._copied_begin(at.line) if at.by_copy else at.line

    def _copied_begin(self, counted: int) -> int:
        """Return the first line of the record in which COPY had counted so many lines."""
        # within quotes it counts what ends lines, which is CR until it knows better (copyfromparse.c)
        lines, ending = 0, b"\r"
        for record in self._all_records():
            text = record[1].removesuffix(b"\n").removesuffix(b"\r")
            lines += 1 + text.count(ending)
            if lines >= counted:
                return line_of(record)
            ending = b"\r" if record[1].endswith(b"\r\n") else b"\n"
        return counted

    def _record_begin(self, number: int) -> int:
        """Return the first line of a record; asked in ascending order, the text is read once."""
        if self._walk is None or number <= self._walked:
            self._walk, self._walked = self._all_records(), 0
        line = number
        for end, record in self._walk:
            self._walked += 1
            if self._walked == number:
                line = line_of((end, record))
                break
        return line


_OTHER_ENCODING = re.compile(r"not utf-8|invalid byte sequence for encoding(?!.*: 0x00$)|is not [\w-]+ text")
"""Said of bytes that are none of the encoding: by DuckDB, by PostgreSQL, and by what reads rows for Oracle.

A zero byte, which PostgreSQL takes in no encoding, is not meant.
"""
_NAME_ENCODING = "; name the encoding of the file, for example --encoding latin-1"


def _place(transfer: Transfer, line: int, column: str) -> str:
    unit = "row" if transfer.chunk.format is FileFormat.PARQUET else "line"
    of = f", column {column}" if column else ""
    return f"`{PurePath(transfer.chunk.path).name}`, {unit} {line}{of}"


def _unreadable(chunk: FilePart, error: Exception) -> DatabaseError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return DatabaseError(f"`{chunk.path}` cannot be read: {why}", code="TK-0106")


def load(connection: LoadingConnection, text: str, transfer: Transfer, rejected: KeepsRows) -> Answer:
    """Load a chunk.

    Returns:
        The rows loaded, and one row about what moved.

    Raises:
        DatabaseError: with the place in the file.
    """
    # a sample is loaded once more with its chunk, which keeps what it leaves out
    stream = ChunkStream(transfer, rejected if transfer.sample_rows is None else KeptRows())
    begun = time.perf_counter()
    try:
        answer = connection.load(text, stream)
    except DatabaseError as error:
        raise stream.located(error) from None
    row = answer.rows[0] if stream.read_elsewhere else _moved(stream, answer, time.perf_counter() - begun)
    return Answer(() if transfer.sample_rows is not None else (row,), answer.rowcount, answer.notices,
                  warnings=answer.warnings)  # fmt: skip


def _moved(stream: ChunkStream, answer: Answer, seconds: float) -> Row:
    chunk = stream.transfer.chunk
    row: dict[str, Scalar] = {
        "file": chunk.path, "file_bytes": chunk.bytes, "row_count": answer.rowcount,
        "rejected_rows": stream.rejects, "seconds": seconds,
    }  # fmt: skip
    if stream.text_bytes:
        reading = "convert_seconds" if chunk.format is FileFormat.PARQUET else "read_seconds"
        row |= {
            "text_bytes": stream.text_bytes, reading: stream.read_seconds,
            "write_seconds": seconds - stream.read_seconds,
        }  # fmt: skip
    return row
