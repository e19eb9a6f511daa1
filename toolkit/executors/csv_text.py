"""CSV text as bytes: where records end, and which line of a file a record is in.

A quote turns quoting on or off wherever it stands, as `COPY` of PostgreSQL reads it; two within quotes do both.
All encodings that are taken leave quotes, delimiters and line ends single bytes.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, TypeVar, cast

from toolkit.units import seconds

BLOCK_BYTES = 2**20
HANGS_SECONDS = 60.0
"""How long a block is waited for: a disk or a file server that hangs answers nobody, and cannot be interrupted."""
_Block = TypeVar("_Block")

_WIDE = (
    ("UTF-32", 4, (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    ("UTF-16", 2, (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)
"""Bytes of one character, and what such a text may begin with; UTF-16's mark is the beginning of UTF-32's."""


def wide_encoding(content: bytes) -> str | None:
    """Name the encoding of a text with two or four bytes a character, as Windows saves them; None for any other.

    Without a byte order mark it is known by the zeros of its first characters: letters and digits have them in
    the same bytes of each. The name then says the order, as `iconv` wants to know it: `UTF-16LE`.
    """
    for name, size, marks in _WIDE:
        if content.startswith(marks):
            return name
        head = content[: 16 * size]
        lanes = [{*head[at::size]} for at in range(size)]
        zeros = [lane == {0} for lane in lanes]
        if len(head) >= 2 * size and sum(zeros) == size - 1 and 0 not in lanes[zeros.index(False)]:
            return f"{name}{'BE' if zeros[0] else 'LE'}"
    return None


def opened(path: str, *, gzipped: bool) -> BinaryIO:
    """Open a file for its text."""
    return cast(BinaryIO, gzip.open(path, "rb")) if gzipped else Path(path).open("rb")


def in_time(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """Yield what is read in a thread of its own, one block after the other; that is left alone where it hangs.

    Raises:
        TimeoutError: a block did not come in time.
    """
    asked: SimpleQueue[bool] = SimpleQueue()
    came: SimpleQueue[_Block | Exception | None] = SimpleQueue()

    def read() -> None:
        while asked.get():
            try:
                came.put(next(blocks, None))
            except Exception as error:  # noqa: BLE001 - raised where it was asked for
                came.put(error)

    threading.Thread(target=read, daemon=True, name="read blocks").start()
    try:
        while True:
            asked.put(True)
            found = came.get(timeout=HANGS_SECONDS)
            if isinstance(found, Exception):
                raise found
            if found is None:
                return
            yield found
    except Empty:
        why = f"nothing came for {seconds(HANGS_SECONDS)}; does its disk or file server hang?"
        raise TimeoutError(errno.ETIMEDOUT, why) from None
    finally:
        asked.put(False)


def done_in_time(what: Callable[[], _Block]) -> _Block:
    """Return what a call returns that looks at files.

    Raises:
        TimeoutError: it did not return in time.
    """
    return next(in_time(what() for _ in range(1)))


def blocks_of(path: str, first: int, end: int | None, *, gzipped: bool) -> Iterator[bytes]:
    """Yield the bytes of a file from `first` on, to before `end`.

    Raises:
        OSError: it cannot be read, or hangs.
    """
    return in_time(_read(path, first, end, gzipped=gzipped))


def _read(path: str, first: int, end: int | None, *, gzipped: bool) -> Iterator[bytes]:
    with opened(path, gzipped=gzipped) as file:
        file.seek(first)
        left = None if end is None else end - first
        while left is None or left > 0:
            try:
                block = file.read(BLOCK_BYTES if left is None else min(BLOCK_BYTES, left))
            except zlib.error as error:  # it is none of gzip's own errors, which are OSErrors
                raise gzip.BadGzipFile(str(error)) from None
            if not block:
                return
            left = None if left is None else left - len(block)
            yield block


def borders(path: str, begin: int, size: int, target: int, quote: bytes) -> list[int]:
    """Return where chunks of about `target` bytes end, each after the line end of a record; the last is `size`.

    Where there are quotes the file is read as a whole, since a line end may stand within a field.

    Raises:
        OSError: it cannot be read, or hangs.
    """
    cuts = [begin + target * number for number in range(1, max(1, round((size - begin) / target)))]
    if not cuts:
        return [size]
    found = _after_quotes(path, begin, cuts, quote) if quote else in_time(_line_end(path, cut) for cut in cuts)
    ends = dict.fromkeys(end for end in found if begin < end < size)
    return [*ends, size]


def _line_end(path: str, cut: int) -> int:
    with Path(path).open("rb") as file:
        file.seek(cut)
        file.readline()
        return file.tell()


def _after_quotes(path: str, begin: int, cuts: list[int], quote: bytes) -> Iterator[int]:
    at, quoted, waiting = begin, False, list(cuts)
    for block in blocks_of(path, begin, None, gzipped=False):
        done = 0
        while waiting and (index := max(waiting[0] - at, done)) < len(block):
            quoted ^= bool(block.count(quote, done, index) & 1)
            index, quoted, ended = _record_end(block, index, quoted, quote)
            done = index
            if not ended:
                break
            yield at + index
            waiting.pop(0)
        if not waiting:
            return
        quoted ^= bool(block.count(quote, done) & 1)
        at += len(block)


def _record_end(block: bytes, index: int, quoted: bool, quote: bytes) -> tuple[int, bool, bool]:
    """Find the end of the record that `index` is in: where, whether within quotes there, and if it was found."""
    while (line_end := block.find(b"\n", index)) >= 0:
        quoted ^= bool(block.count(quote, index, line_end) & 1)
        index = line_end + 1
        if not quoted:
            return index, False, True
    return index, quoted, False


def records_of(blocks: Iterable[bytes], quote: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each record with its line end, and the number of its last line, counted from 1."""
    kept: list[bytes] = []
    line, quoted = 0, False
    for text in _lines(blocks):
        line += 1
        quoted ^= bool(quote and text.count(quote) & 1)
        kept.append(text)
        if not quoted:
            yield line, b"".join(kept)
            kept = []
    if kept:
        yield line, b"".join(kept)


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from (line + b"\n" for line in whole)
    if rest:
        yield rest


def lines_before(path: str, first: int, *, gzipped: bool) -> int:
    """Count the lines of a file before a byte."""
    return sum(block.count(b"\n") for block in blocks_of(path, 0, first, gzipped=gzipped)) if first else 0
