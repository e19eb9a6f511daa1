"""Files that commands write: replaced as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from toolkit.errors import ToolkitError

_LOOKED_AT_BYTES = 8192


def write_file(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file at once, or not at all.

    A text may be replaced, as a report is that is written again. Anything else (a database, a dump) is not.

    Args:
        path: where; its folder must exist.
        content: what.
        private: readable by its owner only.

    Raises:
        ToolkitError: TK-0405.
    """
    _refuse_binary(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    name = None
    try:
        if path.exists() and not path.is_file():
            # /dev/stdout and pipes are written to, not replaced
            path.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if not private:
            Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        raise ToolkitError(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0405",
            hint="check that the folder exists, is writable and has free space",
        ) from None


def _refuse_binary(path: Path) -> None:
    """Refuse to replace a binary file: dbatk writes text, so the file is not one of its own."""
    try:
        if not path.is_file():
            return
        with path.open("rb") as file:
            beginning = file.read(_LOOKED_AT_BYTES)
    except OSError:
        return
    if b"\0" in beginning:
        raise ToolkitError(
            f"`{path}` exists and is not a text file",
            code="TK-0405",
            hint="choose another name; it is not overwritten",
        )


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
