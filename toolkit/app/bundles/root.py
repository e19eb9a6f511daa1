"""The folder of a bundle, from which nothing is read that is elsewhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolkit.documents import open_below
from toolkit.readers.manifest import not_a_bundle


@dataclass(frozen=True, slots=True)
class Root:
    """A bundle's folder, opened once: whatever takes its place meanwhile is not read."""

    path: Path
    handle: int

    def bytes_of(self, path: Path) -> bytes:
        """Return a file of the bundle.

        Raises:
            ToolkitError: TK-0406 when it cannot be read, or is elsewhere.
        """
        name = path.relative_to(self.path)
        try:
            with open_below(self.handle, name) as file:
                return file.read()
        except OSError as error:
            why = "it is a symbolic link" if error.errno in _LINKED else error.strerror or "unknown reason"
            raise not_a_bundle(f"`{name}` of the bundle cannot be read: {why.lower()}") from None

    def text_of(self, path: Path) -> str:
        """Return the text of a file of the bundle; raises as `bytes_of`."""
        return self.bytes_of(path).decode("utf-8", "replace")


_LINKED = frozenset({errno.ELOOP, errno.ENOTDIR})


@contextmanager
def opened(path: Path) -> Iterator[Root]:
    """Give a bundle's folder, open until the block ends.

    Raises:
        ToolkitError: TK-0406 where it is no folder, or a link to one.
    """
    if path.is_symlink():
        raise not_a_bundle(f"`{path}` is a symbolic link: give the folder itself")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        why = (error.strerror or "unknown reason").lower()
        raise not_a_bundle(f"`{path}` is not a bundle: {why}") from None
    try:
        yield Root(path, handle)
    finally:
        os.close(handle)
