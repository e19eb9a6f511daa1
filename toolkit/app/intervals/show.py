"""`awr show`: reports in files, read one by one, several at once on several cores."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.analysis.awr.masking import Pseudonyms

T = TypeVar("T")
_LARGEST_FILE = 4_000_000_000
_WORTH_A_PROCESS = 6_000_000
"""Bytes of reports that are read quicker by one process than a second one begins."""
_MOST_PROCESSES = 8
_TREE = json.JSONEncoder(allow_nan=False, check_circular=False)
_NEAR = 50
"""Files that are read in the order of their size."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of one file.

    `text` is its document as JSON, empty where the file is no report; `faults` are the sentences for which the
    file counts as bad input: no report at all, cut off, or contradicting itself.
    """

    file: str
    text: str
    faults: Sequence[str] = field(default=())
    hint: str = ""

    def document(self) -> dict[str, object]:
        """Return the document of the report."""
        document: dict[str, object] = json.loads(self.text)
        return document


def show_reports(files: Sequence[Path]) -> Iterator[Shown]:
    """Read reports, in the order given.

    Yields:
        One result per file; a file that cannot be read gives its sentence and does not stop the others.
    """
    yield from spread(_show, files)


def masked_reports(files: Sequence[Path], names: Pseudonyms) -> Iterator[Shown]:
    """Read reports without their names; what is wrong with a file still tells which one it is."""
    from toolkit.analysis.awr.masking import mask_report

    for shown in show_reports(files):
        if not shown.text:
            yield shown
            continue
        text = json.dumps(mask_report(shown.document(), names), allow_nan=False)
        yield replace(shown, text=text)


def spread(work: Callable[[Path], T], files: Sequence[Path]) -> Iterator[T]:
    """Do a piece of work for each file, in their order, on several cores where that is quicker."""
    workers = min(len(files), _MOST_PROCESSES, _cores())
    if workers < 2 or sum(map(_size, files)) < _WORTH_A_PROCESS:
        yield from map(work, files)
        return
    from concurrent.futures import ProcessPoolExecutor

    import toolkit.readers.awr.report  # noqa: F401 - each process that is forked has it then

    pool = ProcessPoolExecutor(workers, initializer=gc.freeze)
    try:
        awaited = {place: pool.submit(work, files[place]) for place in _large_first(files)}
        for place in range(len(files)):
            yield awaited.pop(place).result()
    finally:
        pool.shutdown(cancel_futures=True)


def _large_first(files: Sequence[Path]) -> Iterator[int]:
    """Yield the places of files so that no large one is left to the last, yet few results wait for their turn."""
    for begin in range(0, len(files), _NEAR):
        near = range(begin, min(begin + _NEAR, len(files)))
        yield from sorted(near, key=lambda place: _size(files[place]), reverse=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _show(file: Path) -> Shown:
    from toolkit.readers.awr.report import read_report

    try:
        report = read_report(read_file(file), str(file))
    except ToolkitError as error:
        return Shown(str(file), "", [error.message], error.hint)
    text = _TREE.encode(report.document())
    return Shown(str(file), text, [f"`{file}`: {fault}" for fault in report.faults])


def read_file(file: Path) -> bytes:
    if file.is_dir():
        raise ToolkitError(f"`{file}` is a folder", code="TK-0113", hint="name the report files in it")
    if not file.is_file():
        raise ToolkitError(f"there is no file `{file}`", code="TK-0113", hint="check the path")
    if _size(file) > _LARGEST_FILE:
        raise ToolkitError(
            f"`{file}` is larger than 4 GB, so it is no report", code="TK-0113", hint="check the path"
        )
    try:
        return file.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ToolkitError(
            f"`{file}` cannot be read: {reason}", code="TK-0113", hint="check its permissions"
        ) from None
