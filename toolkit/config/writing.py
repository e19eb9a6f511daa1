"""Writes a small file at once or not at all: who reads it meanwhile sees the former one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from toolkit.errors import ToolkitError


def replace_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Write a text file, replacing a former one.

    Args:
        path: where; its folder is made when it is missing.
        text: what.
        mode: permissions, whatever the umask is.

    Raises:
        ToolkitError: TK-0405.
    """
    name = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755 if mode & 0o044 else 0o700)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(path)
        name = None
    except OSError as error:
        raise ToolkitError(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0405",
            hint="check the permissions of its folder, and that there is room",
        ) from None
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)
