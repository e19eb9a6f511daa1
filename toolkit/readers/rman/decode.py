"""The lines of a file: gzip, byte order marks, UTF-16 without one, other code pages, HTML, any line ends."""

from __future__ import annotations

import codecs
import html
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO

_STEP = 1 << 18
_SNIFFED = 1 << 16
_LONGEST_LINE = 1 << 16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_PAGE = re.compile(
    r"&(?:gt|lt|nbsp|#\d{2,4}|quot|amp);|<br\s*/?>|</?(?:pre|p|div|span|code|td|li)\b", re.IGNORECASE
)
_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|tr)>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,400}>")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LONGEST_UNPACKED = 20_000_000_000


def lines_of(file: BinaryIO) -> Iterator[str]:
    """Return the lines of a file, without their ends; see `blocks_of`."""
    for block in blocks_of(file):
        yield from block[:-1].split("\n")


def blocks_of(file: BinaryIO) -> Iterator[str]:
    """Return the text of a file in blocks of whole lines, each with one line feed behind it; any bytes will do.

    Memory does not grow with the file: it is decoded a part at a time, and a line longer than 64 kB is cut.
    """
    first = file.read(_SNIFFED)
    chunks: Iterable[bytes] = _chunks(first, file)
    if first[:2] == b"\x1f\x8b":
        unpacked, first = _unpacked(chunks), b""
        # the first member of several may be shorter than a byte order mark
        while len(first) < _SNIFFED and (part := next(unpacked, b"")):
            first += part
        chunks = chain([first], unpacked)
    encoding, skipped = _encoding(first)
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    text = decoder.decode(first[skipped:_SNIFFED])
    decoder.reset()
    clean = _cleaner(text)
    rest = ""
    for number, chunk in enumerate(chunks):
        more = decoder.decode(chunk[skipped:] if number == 0 else chunk)
        block, rest = _cut(_plain_ends(rest + more if rest else more))
        if block:
            yield block if clean is None else _cleaned(block, clean)
    rest += decoder.decode(b"", final=True)
    if rest:
        rest = rest.rstrip("\r")
        yield f"{rest}\n" if clean is None else _cleaned(f"{rest}\n", clean)


def _plain_ends(text: str) -> str:
    if "\r" not in text:
        return text
    # half of a line end, perhaps: the next chunk tells
    held = "\r" if text[-1] == "\r" else ""
    return (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n") + held


def _cut(text: str) -> tuple[str, str]:
    """Return the whole lines of a text and the one that has not ended."""
    end = text.rfind("\n") + 1
    if len(text) - end > _LONGEST_LINE:
        return f"{text[: end + _LONGEST_LINE]}\n", ""
    return text[:end], text[end:]


def _chunks(first: bytes, file: BinaryIO) -> Iterator[bytes]:
    yield first
    while chunk := file.read(_STEP):
        yield chunk


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Return what gzip packed; a file cut off gives what can be had of it."""
    unpacker, size = zlib.decompressobj(wbits=31), 0
    try:
        for chunk in chunks:
            left = chunk
            while left:
                part = unpacker.decompress(left, _STEP)
                size += len(part)
                if size > _LONGEST_UNPACKED:
                    return
                if part:
                    yield part
                left = unpacker.unconsumed_tail
                if unpacker.eof:
                    left = unpacker.unused_data
                    unpacker = zlib.decompressobj(wbits=31)
    except zlib.error:
        return


def _encoding(first: bytes) -> tuple[str, int]:
    for mark, encoding in _BOMS:
        if first.startswith(mark):
            return encoding, len(mark)
    head = first[:4096]
    if head.count(0) > len(head) // 4:
        return ("utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"), 0
    try:
        first.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(first) - 4:
            return "cp1252", 0
    return "utf-8", 0


def _cleaner(text: str) -> Callable[[str], list[str]] | None:
    """Return what makes plain lines of one line of this file; None when its lines are plain."""
    page, coloured = _PAGE.search(text) is not None, "\x1b" in text
    if not page and not coloured:
        return None

    def clean(line: str) -> list[str]:
        line = _COLOURS.sub("", line) if "\x1b" in line else line
        if not page or ("&" not in line and "<" not in line):
            return [line]
        parts = _BREAK.sub("\n", line).split("\n")
        parts = [html.unescape(_TAG.sub("", part)).replace("\xa0", " ") for part in parts]
        return parts if parts[-1] or len(parts) == 1 else parts[:-1]

    return clean


def _cleaned(block: str, clean: Callable[[str], list[str]]) -> str:
    lines = [part for line in block[:-1].split("\n") for part in clean(line)]
    return "\n".join(lines) + "\n"
