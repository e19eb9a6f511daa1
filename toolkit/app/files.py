"""Files and folders that commands write: as a whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from toolkit.documents import open_to_write
from toolkit.errors import ToolkitError

_LOOKED_AT_BYTES = 8192
_PRIVATE_FILE, _PRIVATE_PROGRAM = 0o600, 0o700


def write_file(path: Path, content: str | bytes, mode: int = _PRIVATE_FILE) -> None:
    """Write a file at once, or not at all.

    A text may be replaced, as a report is that is written again. Anything else (a database, a dump) is not. A new
    file is its owner's only, whatever the umask: reports hold statements and names. One that is replaced keeps its
    permissions.

    Args:
        path: where; its folder must exist.
        content: what.
        mode: the permissions of a new file.

    Raises:
        ToolkitError: TK-0405.
    """
    _refuse_binary(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    name = None
    try:
        if path.exists() and not path.is_file():
            # /dev/stdout and pipes of a shell are written to, not replaced
            with os.fdopen(open_to_write(path, 0), "wb") as stream:
                stream.write(data)
            return
        before = stat.S_IMODE(path.stat().st_mode) if path.exists() else mode
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, before)
            file.write(data)
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


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a folder for its owner only; programs (`.sh`) may be run.

    Args:
        folder: must not exist, or be empty; the folder it lies in must exist.
        files: their texts by path.

    Raises:
        ToolkitError: TK-0406 when something is there, TK-0405 when it cannot be written; nothing is left then.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 (a symbolic link stays one)
    _refuse_occupied(folder)
    made: Path | None = None
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", dir=folder.parent))
        for path, text in files.items():
            _write(made / path, text)
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    except OSError as error:
        raise ToolkitError(
            f"`{folder}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0405",
            hint="check that its parent folder exists, is writable and has free space",
        ) from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _refuse_occupied(folder: Path) -> None:
    try:
        occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError:
        occupied = True
    if occupied:
        raise ToolkitError(
            f"`{folder}` exists and is not empty",
            code="TK-0406",
            hint="choose another folder; nothing is overwritten",
        )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    program = path.suffix == ".sh"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_PROGRAM if program else _PRIVATE_FILE)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
