"""`awr show`: reports in files, read one by one, several at once on several cores."""

from __future__ import annotations

import gc
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from toolkit.documents import open_file, unreadable
from toolkit.errors import ToolkitError
from toolkit.units import counted

if TYPE_CHECKING:
    from toolkit.analysis.awr.masking import Pseudonyms
    from toolkit.readers.awr.report import Reading

T = TypeVar("T")
_LARGEST_FILE, _LARGEST_PIPED = 4_000_000_000, 200_000_000
_WORTH_A_PROCESS = 6_000_000
"""Bytes of reports that are read quicker by one process than a second one begins."""
_MOST_PROCESSES = 8
_TREE = json.JSONEncoder(allow_nan=False, check_circular=False)
_NUMBERED = re.compile(r"(.+)#([1-9]\d{0,5})", re.ASCII | re.DOTALL)
_MOST_FILES = 20_000
_NEAR = 50
"""Files that are read in the order of their size."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What became of one report of a file.

    `text` is its document as JSON, empty where the file is no report; `faults` are the sentences for which the
    file counts as bad input: no report at all, cut off, or contradicting itself. `aside` is True for what a
    folder, an archive or a mail holds besides reports: that is skipped.
    """

    file: str
    text: str
    faults: Sequence[str] = field(default=())
    hint: str = ""
    aside: bool = False

    def document(self) -> dict[str, object]:
        """Return the document of the report."""
        document: dict[str, object] = json.loads(self.text)
        return document


def show_reports(names: Sequence[str]) -> Iterator[Shown]:
    """Read reports, in the order given.

    Args:
        names: Files, folders that hold them, and `FILE#2` for one report of a file with several.

    Yields:
        A result per report; what cannot be read gives its sentence and does not stop the others.

    Raises:
        ToolkitError: TK-0113 for a folder with too many files.
    """
    held = {file: Path(name).is_dir() for name in names for file in files_of(name)}
    files = list(held) if any(held.values()) else [Path(name) for name in names]
    for file, found in zip(files, spread(_show, files), strict=True):
        for one in found:
            yield replace(one, aside=one.aside or (held.get(file, False) and not one.text))


def files_of(name: str) -> list[Path]:
    """Return the files a name stands for: itself, or those in a folder and below it, sorted.

    Raises:
        ToolkitError: TK-0113 for a folder with too many files.
    """
    folder, found = Path(name), []
    if not folder.is_dir():
        return [folder]
    for at, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(at, each) for each in sorted(names) if not each.startswith(".")]
        if len(found) > _MOST_FILES:
            raise ToolkitError(
                f"`{folder}` holds more than {_MOST_FILES:,} files", code="TK-0113", hint="name a smaller folder"
            )
    return found


def masked_reports(files: Sequence[str], names: Pseudonyms) -> Iterator[Shown]:
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

    import toolkit.readers.awr.html
    import toolkit.readers.awr.report  # noqa: F401

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


def _show(file: Path) -> list[Shown]:
    """Read a file without looking for cycles, which what a report is made of does not have."""
    gc.disable()
    try:
        return list(map(_shown, read_all(file)))
    finally:
        gc.enable()


def _shown(one: Reading) -> Shown:
    if one.report is None:
        assert one.fault is not None
        return Shown(one.name, "", [one.fault.message], one.fault.hint, one.aside)
    text = _TREE.encode(one.report.document())
    return Shown(one.name, text, [f"`{one.name}`: {fault}" for fault in one.report.faults])


def read_all(file: Path) -> list[Reading]:
    """Read the reports of a file, or the one of `FILE#2`; a file that is none gives its fault."""
    from toolkit.readers.awr.report import Reading, read_reports

    place, number = (file, 0) if file.exists() else _numbered(file)
    try:
        found = read_reports(read_file(place), str(place))
    except ToolkitError as error:
        return [Reading(str(file), None, error)]
    if not number:
        return found
    if number > len(found):
        fault = ToolkitError(
            f"`{place}` holds {counted(len(found), 'text')}", code="TK-0113", hint="check the number behind `#`"
        )
        return [Reading(str(file), None, fault)]
    return [found[number - 1]]


def read_one(file: Path) -> Reading:
    """Read the one report of a file; a file of several gives the fault that says how to name one."""
    from toolkit.readers.awr.report import one_of

    return one_of(read_all(file), str(file))


def _numbered(file: Path) -> tuple[Path, int]:
    """Return file and number of `FILE#2`, 0 for any other name."""
    match = _NUMBERED.fullmatch(str(file))
    return (Path(match[1]), int(match[2])) if match is not None and Path(match[1]).is_file() else (file, 0)


def read_file(file: Path) -> bytes:
    """Return what a file holds, or what a pipe gives that the shell has opened (`<(...)`, /dev/stdin).

    Raises:
        ToolkitError: TK-0113 when there is none, it cannot be read, or it is larger than any report.
    """
    if file.is_dir():
        raise ToolkitError(f"there is no file in the folder `{file}`", code="TK-0113", hint="check the path")
    try:
        with open_file(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            content = (
                opened.read(_LARGEST_PIPED + 1) if not size else opened.read() if size <= _LARGEST_FILE else b""
            )
    except OSError as error:
        raise _unreadable(file, error) from None
    if size > _LARGEST_FILE or len(content) > max(size, _LARGEST_PIPED):
        limit = _LARGEST_FILE if size else _LARGEST_PIPED
        raise ToolkitError(
            f"`{file}` is larger than {limit / 1e9:g} GB, so it is not a report",
            code="TK-0113",
            hint="check the path",
        )
    return content


def _unreadable(file: Path, error: OSError) -> ToolkitError:
    special = file.exists() and not file.is_file()
    hint = "name what is piped `/dev/stdin`" if str(file) == "-" else ""
    hint = "save what it gives to a file, and name that" if special else hint
    return unreadable(file, error, hint, code="TK-0113")
