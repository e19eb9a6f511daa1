"""Checksums of the files of a backup, in the form of `sha256sum`: written beside them, and compared again."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from toolkit.documents import open_file
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import SUMS

_DIGITS = 64


def seal(path: Path, more: Sequence[str]) -> Answer:
    """Write the checksums of all files below a folder, as `sha256sum` does; they are on disk when this returns."""
    del more
    files = _files_below(path)
    with (path / SUMS).open("x", encoding="utf-8", errors="surrogateescape") as sums:
        for name in files:
            if "\n" in name or "\\" in name:
                raise DatabaseError(f"`{name!r}` has a name that no list of checksums holds", code="EINVAL")
            sums.write(f"{_digest(path / name)}  {name}\n")
        sums.flush()
        os.fsync(sums.fileno())
    return Answer(({"verified": len(files)},))


def _files_below(path: Path) -> list[str]:
    found = (Path(folder) / name for folder, _, files in os.walk(path) for name in files)
    return sorted(name for each in found if (name := str(each.relative_to(path))) != SUMS)


def _digest(path: Path) -> str:
    with open_file(path, os.O_NOFOLLOW) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prove(path: Path, more: Sequence[str]) -> Answer:
    """Compare all files below a folder with their checksums; each must be listed, and none be missing."""
    del more
    try:
        text = (path / SUMS).read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise DatabaseError(f"the checksums (`{SUMS}`) are missing in the backup", code="checksums") from None
    listed: dict[str, str] = {}
    for line in text.split("\n")[:-1]:
        digest, _, name = line.partition("  ")
        if len(digest) != _DIGITS or not name:
            raise DatabaseError(f"the checksums (`{SUMS}`) cannot be read: `{line[:80]}`", code="checksums")
        listed[name] = digest
    if not text.endswith("\n"):
        raise DatabaseError(f"the checksums (`{SUMS}`) are cut off", code="checksums")
    begun, there = time.monotonic(), _files_below(path)
    for what, names in (("is missing", listed.keys() - there), ("has no checksum", set(there) - listed.keys())):
        for name in sorted(names):
            raise DatabaseError(f"`{name}` {what} in the backup", code="checksums")
    for name in there:
        if _digest(path / name) != listed[name]:
            raise DatabaseError(f"`{name}` does not have its checksum: the file was changed", code="checksums")
    return Answer(({"verified": len(there), "elapsed_seconds": time.monotonic() - begun},))
