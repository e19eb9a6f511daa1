"""What data files hold, read before anything is loaded: their columns, and where they may be divided.

Of a file: `path`, `format`, `is_gzipped`, `byte_count`, `modified`, `columns` and `types` (JSON lists; CSV has no
types), `data_begin` (the first byte after the line that names the columns). Of a chunk: `path`, `first`, `end`.
"""

from __future__ import annotations

import csv
import errno
import glob
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from toolkit.documents import unreadable
from toolkit.errors import ToolkitError
from toolkit.executors.csv_text import blocks_of, borders, done_in_time, records_of, wide_encoding
from toolkit.model.facts import Probe
from toolkit.model.transfers import CsvStyle, FileFormat
from toolkit.model.values import Row

_BOM = b"\xef\xbb\xbf"
_MAGIC = {
    b"\x1f\x8b": "gzip", b"PAR1": "parquet", b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"BZh": "compressed by bzip2", b"\xfd7zXZ": "compressed by xz",
    b"ORC": "an ORC file", b"Obj\x01": "an Avro file",
}  # fmt: skip
_LOADED = "CSV, CSV compressed by gzip, and parquet are loaded"
_TAKEN = frozenset({"gzip", "parquet"})
_WIDEST_HEADER = 2**20
_LOOKED_AT = 4096
"""Bytes of a file that show whether it is text."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The first line of a CSV file: the names in it, and where the data begin."""

    columns: tuple[str, ...]
    begin: int


def paths_of(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that paths and patterns name, those of a pattern by name, each once.

    Raises:
        ToolkitError: TK-0106 when there is none, or it is not a file.
    """
    found: list[str] = []
    for pattern in patterns:
        names = [pattern] if Path(pattern).exists() or not glob.has_magic(pattern) else sorted(glob.glob(pattern))  # noqa: PTH207
        if not names:
            raise ToolkitError(
                f"no file matches `{pattern}`", code="TK-0106", hint="check the folder and the name"
            )
        found += names
    for name in found:
        if not Path(name).exists():
            raise unreadable(Path(name), FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        if not Path(name).is_file():
            raise ToolkitError(f"`{name}` is not a file", code="TK-0106", hint="name the files themselves")
    return tuple(dict.fromkeys(found))


def files_of(probe: Probe) -> tuple[Row, ...]:
    """Return a row for each file.

    Raises:
        ToolkitError: TK-0106 for a file that cannot be loaded, with the reason.
    """
    try:
        paths = done_in_time(lambda: paths_of(probe.names))
    except OSError as error:
        raise unreadable(Path(error.filename or probe.names[0]), error) from None
    return tuple(_file(path, probe.style) for path in paths)


@contextmanager
def _of_file(path: str) -> Iterator[None]:
    """Name the file that cannot be read, or hangs."""
    try:
        yield
    except OSError as error:
        raise unreadable(Path(path), error) from None


def _file(path: str, style: CsvStyle) -> Row:
    with _of_file(path):
        return _seen(path, style)


def _seen(path: str, style: CsvStyle) -> Row:
    kind, state = done_in_time(lambda: (_kind(path), Path(path).stat()))
    if kind not in (*_TAKEN, ""):
        raise ToolkitError(f"`{path}` is {kind}", code="TK-0106", hint=_LOADED)
    row: dict[str, str | int | None] = {
        "path": path,
        "format": (FileFormat.PARQUET if kind == "parquet" else FileFormat.CSV).value,
        "is_gzipped": "yes" if kind == "gzip" else "no",
        "byte_count": state.st_size,
        "modified": state.st_mtime_ns,
    }
    if kind == "parquet":
        from toolkit.targets.parquet import layout_of

        columns = done_in_time(lambda: layout_of(path)).columns
        names, types = [name for name, _ in columns], [of_type for _, of_type in columns]
        return row | {"columns": json.dumps(names), "types": json.dumps(types), "data_begin": 0}
    head = _head(path, style, gzipped=kind == "gzip")
    return row | {"columns": json.dumps(head.columns), "types": "[]", "data_begin": head.begin}


def _kind(path: str) -> str:
    """Say what a file is by its first bytes; empty for plain text."""
    with Path(path).open("rb") as file:
        begin = file.read(8)
    return next((kind for magic, kind in _MAGIC.items() if begin.startswith(magic)), "")


def _head(path: str, style: CsvStyle, *, gzipped: bool) -> _Head:
    """Read the first record, which names the columns or has as many fields as there are.

    Raises:
        ToolkitError: TK-0106 when it is no text, or has no end.
    """
    try:
        first = next(blocks_of(path, 0, _WIDEST_HEADER, gzipped=gzipped), b"")
    except TimeoutError:
        raise
    except (EOFError, OSError) as error:
        raise ToolkitError(
            f"`{path}` cannot be unpacked: {error}", code="TK-0106", hint="check that it is whole"
        ) from None
    wide = wide_encoding(first)
    if wide:
        hint = f"convert it first: iconv -f {wide} -t UTF-8"
        raise ToolkitError(f"`{path}` is {wide[:6]} text", code="TK-0106", hint=hint)
    if 0 in first[:_LOOKED_AT]:
        raise ToolkitError(
            f"`{path}` is not a text file",
            code="TK-0106",
            hint=_LOADED,
        )
    if b"\r" in first and b"\n" not in first:
        raise ToolkitError(
            f"`{path}`: its lines end with a carriage return alone",
            code="TK-0106",
            hint="convert it first: tr '\\r' '\\n' < OLD > NEW",
        )
    skipped = len(_BOM) if first.startswith(_BOM) else 0
    text = first[skipped:]
    _, record = next(records_of(iter([text]), style.quote.encode()), (0, b""))
    if len(record) == len(text) >= _WIDEST_HEADER:
        raise ToolkitError(
            f"`{path}`, line 1: the line that names the columns does not end",
            code="TK-0106",
            hint="check --delimiter and --quote, and that it is a text file",
        )
    try:
        decoded = record.decode(style.encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ToolkitError(
            f"`{path}`, line 1, byte {error.start + 1}: not {style.encoding} text",
            code="TK-0106",
            hint="name its encoding with --encoding",
        ) from None
    try:
        reader = csv.reader([decoded], delimiter=style.delimiter, quotechar=style.quote or None,
                            quoting=csv.QUOTE_MINIMAL if style.quote else csv.QUOTE_NONE)  # fmt: skip
        fields = tuple(next(reader, []))
    except csv.Error as error:
        raise ToolkitError(
            f"`{path}`, line 1: {error}",
            code="TK-0106",
            hint="check --delimiter and --quote, and how lines end",
        ) from None
    return _Head(fields, skipped + (len(record) if style.header else 0))


def chunks_of(probe: Probe) -> tuple[Row, ...]:
    """Return a row for each part of the files that a transaction loads.

    A file compressed by gzip can only be read from its beginning, and is one part.
    """
    files = files_of(probe)
    total = sum(int(str(row["byte_count"])) for row in files)
    wanted = max(1, min(probe.chunk_bytes, -(-total // max(1, probe.sessions)))) if probe.chunk_bytes else 0
    return tuple(
        {"path": row["path"], "first": first, "end": end, "byte_count": size}
        for row in files
        for first, end, size in _divided(row, wanted, probe.style)
    )


def _divided(row: Row, wanted: int, style: CsvStyle) -> tuple[tuple[int, int | None, int], ...]:
    with _of_file(str(row["path"])):
        return tuple(_parts(row, wanted, style))


def _parts(row: Row, wanted: int, style: CsvStyle) -> Iterator[tuple[int, int | None, int]]:
    path, size, begin = str(row["path"]), int(str(row["byte_count"])), int(str(row["data_begin"]))
    if row["format"] == FileFormat.PARQUET:
        yield from _row_groups(path, size, wanted)
    elif row["is_gzipped"] == "yes" or not wanted:
        yield begin, None, size
    else:
        ends = borders(path, begin, size, wanted, style.quote.encode())
        for first, end in zip([begin, *ends], ends, strict=False):
            yield first, end, end - first


def _row_groups(path: str, size: int, wanted: int) -> Iterator[tuple[int, int | None, int]]:
    """Put row groups together until they are as many bytes as wanted."""
    from toolkit.targets.parquet import layout_of

    ends = list(accumulate(done_in_time(lambda: layout_of(path)).groups))
    if not wanted or len(ends) < 2:
        yield 0, None, size
        return
    each, first = wanted * ends[-1] / max(1, size), 0
    for number, end in enumerate(ends):
        following = ends[number + 1] if number + 1 < len(ends) else None
        if following is None or following - first > each:
            yield first, end, round(size * (end - first) / max(1, ends[-1]))
            first = end
