"""What is done on this host besides running programs of a database: short commands, folders, questions.

A command is an argument list, never a shell. Of folders only those that bear the mark of a run are changed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolkit.documents import open_file
from toolkit.errors import ToolkitError
from toolkit.executors.backup_files import content, may_enter
from toolkit.executors.checksums import prove, seal
from toolkit.executors.data_files import chunks_of, files_of
from toolkit.executors.devices import why_not_run
from toolkit.executors.field_kinds import fields_of_files
from toolkit.model.facts import Probe
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import CONTENT, MARK_FILE, FolderAct, Step
from toolkit.model.values import Row
from toolkit.model.words import ProbeKind


# -- commands -----------------------------------------------------------------------------------------------------
def run_command(argv: Sequence[str], *, limit_seconds: float = 60.0) -> str:
    """Run a command and return its standard output, stripped.

    Raises:
        ToolkitError: TK-0203 when it is not there, fails, or takes too long; its error output is quoted.
    """
    shown = argv[0]
    if (why := why_not_run(argv)) is not None:
        raise ToolkitError(why, code="TK-0203", hint="name a device that nothing uses")
    try:
        done = subprocess.run(
            list(argv),
            capture_output=True,
            text=True,
            timeout=limit_seconds,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise ToolkitError(f"command `{shown}` not found", code="TK-0203", hint="give its full path") from None
    except PermissionError:
        raise ToolkitError(
            f"no permission to run `{shown}`", code="TK-0203", hint="check its permissions"
        ) from None
    except subprocess.TimeoutExpired:
        raise ToolkitError(
            f"`{shown}` did not end within {limit_seconds:g} s", code="TK-0207", hint="run it by hand first"
        ) from None
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise ToolkitError(
            f"`{shown}` ended with {done.returncode}: {reason[0]}", code="TK-0203", hint="run it by hand first"
        )
    return done.stdout.strip()


# -- folders with the mark of a run -------------------------------------------------------------------------------
_MODE, _OTHERS = 0o700, 0o077
_LONGEST_MARK = 4096


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
        reason = (error.strerror or type(error).__name__).lower()
        message = f"cannot {act} the folder `{error.filename or path}`: {reason}"
        raise DatabaseError(message, code=name) from None


def _make(path: Path, more: Sequence[str]) -> Answer:
    path.mkdir(mode=_MODE)
    handle = os.open(path / MARK_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(more[0] + "\n")
        file.flush()
        os.fsync(file.fileno())
    for owner in more[1:]:
        user = _user(owner)
        os.chown(path, user.pw_uid, user.pw_gid)
    return Answer()


def _user(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise DatabaseError(f"there is no user `{name}` on this host", code="ENOENT") from None


def _look(path: Path, more: Sequence[str]) -> Answer:
    del more
    if not os.path.lexists(path):
        return Answer()
    row: Row = {"identity": _identity(path.lstat()), "mark": _mark(path), "born": None}
    return Answer((row,))


def _identity(state: os.stat_result) -> str:
    return f"{state.st_dev}:{state.st_ino}"


def _mark(path: Path) -> str | None:
    """Return the mark of a folder; one that is empty, but for a mark without a word, was about to get it."""
    if path.is_symlink() or not path.is_dir():
        return None
    mark = ""
    with contextlib.suppress(FileNotFoundError), open_file(path / MARK_FILE, os.O_NOFOLLOW) as file:
        mark = file.read(_LONGEST_MARK).decode("utf-8", "replace").strip()
    return mark or (None if any(each.name != MARK_FILE for each in path.iterdir()) else path.name)


def _measure(path: Path, more: Sequence[str]) -> Answer:
    del more
    total, count = 0, 0
    for folder, _, files in os.walk(path):
        for name in files:
            total += (Path(folder) / name).lstat().st_size
            count += 1
    return Answer(({"byte_count": total, "file_count": count},))


def _list(path: Path, more: Sequence[str]) -> Answer:
    """Tell by a digest which files with which sizes are below a folder; links are named, not followed."""
    del more
    if path.is_symlink() or not path.is_dir():
        return Answer()
    lines = []
    for folder, folders, files in os.walk(path):
        for name in (*files, *(each for each in folders if (Path(folder) / each).is_symlink())):
            each = Path(folder) / name
            what = str(each.readlink()) if each.is_symlink() else str(each.lstat().st_size)
            lines.append(f"{each.relative_to(path)}\0{what}")
    digest = hashlib.sha256("\n".join(sorted(lines)).encode(errors="surrogateescape"))
    return Answer(({"listing": digest.hexdigest(), "file_count": len(lines)},))


def _publish(path: Path, more: Sequence[str]) -> Answer:
    """Move the content to its final name, which must be free, and remove our folder around it."""
    final = Path(more[0])
    if os.path.lexists(final):
        raise FileExistsError(errno.EEXIST, "it already exists", str(final))
    _keep_to_owner(path / CONTENT)
    (path / CONTENT).rename(final)
    _sync(final.parent)
    with suppress(OSError):  # the backup is where it stays: what is left of the folder around it is undone
        _remove_marked(path)
    return Answer()


def _keep_to_owner(top: Path) -> None:
    """Take from others what the umask of a program gave them; until now our folder around it kept them out."""
    for folder, _, files in os.walk(top):
        for path in (Path(folder), *(Path(folder) / name for name in files)):
            mode = stat.S_IMODE(path.lstat().st_mode)
            if mode & _OTHERS and not path.is_symlink():
                path.chmod(mode & ~_OTHERS)


def _take_back(path: Path, more: Sequence[str]) -> Answer:
    """Move a backup from its final name into a folder of the run, from which a kill lets it only be removed."""
    final = Path(more[0])
    if _identity(final.lstat()) != more[1]:
        raise DatabaseError(f"`{final}` is another folder by now and is kept", code="ESTALE")
    final.rename(path / CONTENT)
    _sync(final.parent)
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
        raise DatabaseError(f"`{path}` was not created by dbatk and is kept", code="EPERM")
    _remove_marked(path)
    return Answer()


def _remove_marked(path: Path) -> None:
    """Remove a folder, its mark last: what a kill leaves of it still bears it."""
    for each in path.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        elif each.name != MARK_FILE:
            each.unlink()
    (path / MARK_FILE).unlink(missing_ok=True)
    path.rmdir()


_ACTS: dict[FolderAct, Callable[[Path, Sequence[str]], Answer]] = {
    FolderAct.MAKE: _make,
    FolderAct.LOOK: _look,
    FolderAct.LIST: _list,
    FolderAct.MEASURE: _measure,
    FolderAct.PUBLISH: _publish,
    FolderAct.TAKE_BACK: _take_back,
    FolderAct.REMOVE: _remove,
    FolderAct.SEAL: seal,
    FolderAct.PROVE: prove,
}


# -- what a backup must know of this host -------------------------------------------------------------------------
_LIMIT_SECONDS = 15.0


def read_probes(probes: Iterable[Probe], places: Iterable[str] = ()) -> Mapping[str, tuple[Row, ...]]:
    """Return the answers by key.

    Args:
        probes: the questions.
        places: folders of programs that the target's profile names.
    """
    folders = tuple(places)
    return {probe.key: _answers(probe, folders) for probe in probes}


def _answers(probe: Probe, places: tuple[str, ...]) -> tuple[Row, ...]:
    match probe.kind:
        case ProbeKind.LOOKUP:
            return ({"path": _find(probe, places)},)
        case ProbeKind.PROGRAM:
            return (_program(probe, places),)
        case ProbeKind.DATA_FILES:
            return files_of(probe)
        case ProbeKind.CHUNKS:
            return chunks_of(probe)
        case ProbeKind.FIELDS:
            return fields_of_files(probe)
        case ProbeKind.FOLDER | ProbeKind.CONTENT | ProbeKind.USER as own:
            return (_OF_FOLDERS[own](probe),)


def _folder(probe: Probe) -> Row:
    path = Path(probe.names[0])
    is_there, is_folder = os.path.lexists(path), path.is_dir()
    me = pwd.getpwuid(os.geteuid()).pw_name
    row: dict[str, str | int | None] = {
        "asked_by": me,
        "path": str(probe.names[0]),
        "real_path": os.path.realpath(path),
        "is_there": _word(is_there),
        "is_folder": _word(is_folder),
        "is_writable": _word(is_folder and os.access(path, os.W_OK | os.X_OK)),
        "is_empty": "no",
        "free_byte_count": None,
        "owner": None,
    }
    if is_folder:
        try:
            row["owner"] = path.owner()
            row["is_empty"] = _word(not any(path.iterdir()))
            row["free_byte_count"] = shutil.disk_usage(path).free
        except (OSError, KeyError):
            row["is_writable"] = "no" if row["free_byte_count"] is None else row["is_writable"]
    return row


_OF_FOLDERS = {ProbeKind.FOLDER: _folder, ProbeKind.CONTENT: content, ProbeKind.USER: may_enter}


def _word(value: object) -> str:
    return "yes" if value else "no"


def _program(probe: Probe, places: tuple[str, ...]) -> Row:
    path = _find(probe, places)
    if path is None:
        where = f"in `{probe.places[0]}`" if probe.places else "on the PATH or in its usual location"
        problem = f"`{probe.names[0]}` is not {where}"
        return {"path": None, "version_text": None, "problem": problem}
    try:
        done = subprocess.run(
            [path, *probe.arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"path": path, "version_text": None, "problem": f"`{path}` cannot be run: {type(error).__name__}"}
    lines = (done.stdout or done.stderr).strip().splitlines()
    failed = f"`{path}` ended with status {done.returncode}" if done.returncode else None
    return {"path": path, "version_text": lines[0][:200] if lines else None, "problem": failed}


def _find(probe: Probe, places: tuple[str, ...]) -> str | None:
    for folder in probe.places or (*places, *probe.usual):
        for name in probe.names:
            place = Path(folder) / name
            if place.is_file() and os.access(place, os.X_OK):
                return str(place)
    found = [] if probe.places else [shutil.which(name) for name in probe.names]
    return next((each for each in found if each is not None), None)
