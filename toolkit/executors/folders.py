"""Makes, looks at, publishes and removes folders of ours; no other folder is ever changed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from toolkit.model.folders import CONTENT, MARK_FILE, FolderAct
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row

_MODE = 0o700


def run_folder(step: Step) -> Answer:
    """Do what a step of kind FOLDER says.

    Raises:
        DatabaseError: the system refused; its code is the name of the error number (`ENOSPC`).
    """
    act, path, more = FolderAct(step.argv[0]), Path(step.argv[1]), step.argv[2:]
    try:
        return _ACTS[act](path, more)
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "OSError")
        said = (error.strerror or type(error).__name__).lower()
        message = f"cannot {act} the folder `{error.filename or path}`: {said}"
        raise DatabaseError(message, code=name) from None


def _make(path: Path, more: Sequence[str]) -> Answer:
    path.mkdir(mode=_MODE)
    handle = os.open(path / MARK_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(more[0] + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Answer()


def _look(path: Path, more: Sequence[str]) -> Answer:
    del more
    if not os.path.lexists(path):
        return Answer()
    state = path.lstat()
    row: Row = {"identity": f"{state.st_dev}:{state.st_ino}", "mark": _mark(path), "born": None}
    return Answer((row,))


def _mark(path: Path) -> str | None:
    """Return the mark of a folder of ours; an empty folder with a generated name was about to get one."""
    if path.is_symlink() or not path.is_dir():
        return None
    try:
        return (path / MARK_FILE).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return None if any(path.iterdir()) else path.name


def _measure(path: Path, more: Sequence[str]) -> Answer:
    del more
    total, count = 0, 0
    for folder, _, files in os.walk(path):
        for name in files:
            total += (Path(folder) / name).lstat().st_size
            count += 1
    return Answer(({"byte_count": total, "file_count": count},))


def _publish(path: Path, more: Sequence[str]) -> Answer:
    """Move the content to its final name, which must be free, and remove our folder around it."""
    final = Path(more[0])
    if os.path.lexists(final):
        raise FileExistsError(errno.EEXIST, "it is there already", str(final))
    (path / CONTENT).rename(final)
    _sync(final.parent)
    shutil.rmtree(path)
    return Answer()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(path: Path, more: Sequence[str]) -> Answer:
    del more
    if _mark(path) is None:
        raise DatabaseError(f"`{path}` bears no mark of ours and stays", code="EPERM")
    shutil.rmtree(path)
    return Answer()


_ACTS: dict[FolderAct, Callable[[Path, Sequence[str]], Answer]] = {
    FolderAct.MAKE: _make,
    FolderAct.LOOK: _look,
    FolderAct.MEASURE: _measure,
    FolderAct.PUBLISH: _publish,
    FolderAct.REMOVE: _remove,
}
