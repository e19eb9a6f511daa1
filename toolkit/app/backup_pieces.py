"""Sizes of backup pieces from their files: `backup read --pieces-from DIR`."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.readers.rman.model import BackupPiece, Log
from toolkit.units import byte_size, counted

_MOST_FILES = 200_000
_MOST_NAMED = 3
_ROUNDED = 0.01
"""LIST rounds to two digits behind the point."""


@dataclass(frozen=True, slots=True)
class PieceFiles:
    """The files of a folder and of those below it, by their own names.

    Attributes:
        sizes: bytes; only of regular files.
        unlike: names that several files of different sizes have.
        others: names of links, devices and the like, which are not measured.
    """

    folder: Path
    sizes: dict[str, int] = field(default_factory=dict)
    unlike: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)


def files_in(folder: Path) -> PieceFiles:
    """Look which files are in a folder; no link is followed, and none is opened.

    Raises:
        ToolkitError: TK-0102 when it is no folder, is a link, cannot be read, or holds too many files.
    """
    try:
        mode = folder.lstat().st_mode
    except OSError as error:
        raise _refused(folder, (error.strerror or "it cannot be read").lower()) from None
    if stat.S_ISLNK(mode):
        raise _refused(folder, "it is a link: name the folder it leads to")
    if not stat.S_ISDIR(mode):
        raise _refused(folder, "it is not a folder")
    found = PieceFiles(folder)
    failed: list[OSError] = []
    for at, _, names in os.walk(folder, onerror=failed.append):
        for name in names:
            _add(found, Path(at, name))
        if len(found.sizes) > _MOST_FILES:
            raise _refused(folder, f"it holds more than {_MOST_FILES:,} files")
    if failed and not found.sizes:
        raise _refused(folder, (failed[0].strerror or "it cannot be read").lower())
    return found


def _add(found: PieceFiles, file: Path) -> None:
    try:
        status = file.lstat()
    except OSError:
        return
    if not stat.S_ISREG(status.st_mode):
        found.others.add(file.name)
    elif found.sizes.setdefault(file.name, status.st_size) != status.st_size:
        found.unlike.add(file.name)


def _refused(folder: Path, why: str) -> ToolkitError:
    return ToolkitError(
        f"`--pieces-from {folder}`: {why}", code="TK-0102", hint="name the folder that the backup pieces are in"
    )


def with_sizes(log: Log, files: PieceFiles) -> tuple[Log, list[str]]:
    """Return a log with the sizes of its pieces, and sentences about those that have none.

    A piece is found by the last part of its handle, whatever folder it was in when it was written.
    """
    pieces = [_sized(piece, files) for piece in log.pieces]
    wanted = {name: piece for piece in log.pieces if (name := _base(piece.handle))}
    known = [name for name in wanted if name in files.sizes and name not in files.unlike]
    missing = [name for name in wanted if name not in files.sizes and name not in files.others]
    sentences = [f"{counted(len(known), 'piece')} of {len(log.pieces):,} measured in `{files.folder}`"]
    if missing:
        sentences.append(f"no file in `{files.folder}` for {_named(missing)}")
    if links := [name for name in wanted if name in files.others and name not in files.sizes]:
        sentences.append(f"not a regular file, and not measured: {_named(links)}")
    if unlike := [name for name in wanted if name in files.unlike]:
        sentences.append(f"several files of different sizes, and not measured: {_named(unlike)}")
    for name in known:
        listed, size = wanted[name].bytes, files.sizes[name]
        if listed is not None and abs(listed - size) > _ROUNDED * max(listed, size) + 20_000:
            sentences.append(f"`{name}` has {byte_size(size)}, where LIST printed {byte_size(listed)}")
    return replace(log, pieces=pieces), sentences


def _sized(piece: BackupPiece, files: PieceFiles) -> BackupPiece:
    name = _base(piece.handle)
    size = None if name in files.unlike else files.sizes.get(name)
    return piece if size is None else piece._replace(bytes=size)


def _base(handle: str | None) -> str:
    return re.split(r"[/\\]", handle)[-1] if handle else ""


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED:,} more"
