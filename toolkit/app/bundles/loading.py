"""Files that a bundle loaded by SQL*Loader: what its logs say of the items of a trial."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from toolkit.model.values import Row
from toolkit.operations.base import Piece
from toolkit.readers.attempts import AttemptRead
from toolkit.readers.sqlldr import LoaderLog, read_log

_LOG = re.compile(r"t(\d{4,6})-a(\d{1,4})-i(\d{1,6})\.log", re.ASCII)
_REASONS_SHOWN = 5


def logs_by_attempt(
    folder: Path, text_of: Callable[[Path], str]
) -> Mapping[tuple[int, int], Mapping[int, LoaderLog]]:
    """Return the logs of SQL*Loader by trial and attempt, then by item; `folder`: of the spools."""
    found: dict[tuple[int, int], dict[int, LoaderLog]] = {}
    for name in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = _LOG.fullmatch(name.name)
        if match is not None and name.is_file():
            found.setdefault((int(match[1]), int(match[2])), {})[int(match[3])] = read_log(text_of(name))
    return found


def moved(read: AttemptRead, logs: Mapping[int, LoaderLog], pieces: Sequence[Piece]) -> tuple[Row, ...]:
    """Let items have the rows of their logs; return what was moved, a row for each."""
    files = [piece.work.transfer.chunk.path if piece.work.transfer else "" for piece in pieces]
    found: list[Row] = []
    for number, item in sorted(read.items.items()):
        log = logs.get(number)
        if log is None:
            continue
        item.rows = log.rows
        found.append({
            "file": files[number - 1] if number <= len(files) else "", "file_bytes": item.loaded_bytes,
            "row_count": log.rows, "rejected_rows": (log.rejected or 0) + (log.discarded or 0),
            "seconds": log.elapsed_seconds, "cpu_seconds": log.cpu_seconds,
        })  # fmt: skip
    return tuple(found)


def rejected(logs: Mapping[int, LoaderLog]) -> Iterator[str]:
    """Tell the first rejected rows of each file, as the logs do."""
    for number, log in sorted(logs.items()):
        for each in log.records[:_REASONS_SHOWN]:
            column = f", column {each.column}" if each.column else ""
            yield f"item {number}, record {each.number}{column}: {each.reason}"
