"""Makes a restored PostgreSQL cluster a server for one try, starts it, and ends it: a program of its own.

`configure DATA` reads the configuration from its standard input: it is the only one that counts, for what the
backup brought (settings that archive, replicate or load libraries, a standby's signal) is taken away, but for how
the archived log is read. With `--new` the cluster is no backup's, but was just made. `start` waits until the
server is open, and tells the cause if it does not open. `stop` ends every process that works in the folder,
whoever started it, and needs no file of the server's for it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pwd
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypedDict

_KEPT = re.compile(r"\s*(restore_command|recovery_target\w*)\s*=")
"""Settings of `postgresql.auto.conf` that say how the log is read and how far: pgBackRest writes them."""
_HBA = "local all all trust\n"
"""Whoever reaches the socket owns the folder that it is in."""
_SIGNALS = ("standby.signal", "postmaster.pid", "postmaster.opts")
_CAUSE = re.compile(r"(?:FATAL|PANIC): {1,2}(.*)")
_DETAIL = re.compile(r"(?:DETAIL|HINT): {1,2}(.*)")
_END_SECONDS = ((signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
_LOOK_SECONDS = 0.02
_LOG_BYTES = 1 << 20
_STATE = 7
"""The line of `postmaster.pid`, counted from 0, that has the state of the server (PostgreSQL, `miscadmin.h`)."""


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    reader = argparse.ArgumentParser()
    act = reader.add_subparsers(required=True, dest="act")
    for name in ("configure", "start", "stop"):
        one = act.add_parser(name)
        if name == "start":
            one.add_argument("--pg-ctl", required=True)
            one.add_argument("--log", type=Path, required=True)
            one.add_argument("--user")
        if name == "configure":
            one.add_argument("--new", action="store_true")
        one.add_argument("data", type=Path)
    given = reader.parse_args(arguments)
    acts: dict[str, Callable[[], str | None]] = {
        "configure": lambda: configure(given.data, sys.stdin.read(), new=given.new),
        "start": lambda: start(given.data, given.pg_ctl, given.log, given.user),
        "stop": lambda: stop(given.data),
    }
    try:
        problem = acts[given.act]()
    except OSError as error:
        problem = f"{(error.strerror or type(error).__name__).lower()}: {error.filename}"
    if problem is not None:
        print(f"{given.act}: error: {problem}", flush=True)  # noqa: T201 (a program of its own)
    return 0 if problem is None else 1


def configure(data: Path, text: str, *, new: bool) -> str | None:
    """Write the configuration; return what stands in the way."""
    if not new and not (data / "backup_label").is_file():
        return "`backup_label` is missing: the server would begin at the wrong place of the log"
    auto = data / "postgresql.auto.conf"
    kept = []
    if auto.is_file() and not auto.is_symlink():
        kept = [line for line in auto.read_text(errors="replace").splitlines() if _KEPT.match(line)]
    for name in _SIGNALS:
        (data / name).unlink(missing_ok=True)
    files = {
        "postgresql.conf": text, auto.name: "".join(f"{line}\n" for line in kept), "pg_hba.conf": _HBA,
        "pg_ident.conf": "",
    }  # fmt: skip
    if (data / "tablespace_map").is_file():
        files["tablespace_map"] = _mapped(data)
    sockets = data.parent / "socket"
    sockets.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    with _folder(data) as folder, _folder(sockets) as other:
        owner = os.fstat(folder)
        for name, content in files.items():
            _write(folder, name, content, owner)
        os.fchown(other, owner.st_uid, owner.st_gid)
    return None


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[int]:
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield opened
    finally:
        os.close(opened)


def _write(folder: int, name: str, content: str, owner: os.stat_result) -> None:
    """Write a new file: the owner of the folder, who may be another user, can put a link there at any time."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(name, flags, stat.S_IRUSR | stat.S_IWUSR, dir_fd=folder), "w") as file:
        file.write(content)
        os.fchown(file.fileno(), owner.st_uid, owner.st_gid)


def _mapped(data: Path) -> str:
    """Return the map of tablespaces as it is here: the server makes its links by it."""
    links = sorted(each for each in (data / "pg_tblspc").iterdir() if each.is_symlink())
    return "".join(f"{link.name} {link.readlink()}\n" for link in links)


# -- the server ---------------------------------------------------------------------------------------------------
def start(data: Path, pg_ctl: str, log: Path, user: str | None) -> str | None:
    """Start the server, root as another user, and wait until it is open; return the cause if it does not open."""
    command = [pg_ctl, "start", "--wait", "--timeout=604800", "--silent", f"--log={log}", f"--pgdata={data}"]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, cwd="/", **_as(user)
    )
    if done.returncode == 0 and _is_open(data):
        return None
    said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["pg_ctl gave no reason"]
    return _cause(log) or said[0]


def _is_open(data: Path) -> bool:
    """Wait until the recovery has ended: without hot standby, pg_ctl only waits until it has begun."""
    while True:
        try:
            lines = (data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        if len(lines) > _STATE and lines[_STATE].strip() == "ready":
            return True
        if not _lives(int(lines[0])):
            return False
        time.sleep(_LOOK_SECONDS)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class _User(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


def _as(name: str | None) -> _User:
    if name is None:
        return {}
    found = pwd.getpwnam(name)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": os.getgrouplist(name, found.pw_gid)}


def _cause(log: Path) -> str | None:
    try:
        lines = log.read_text(errors="replace")[-_LOG_BYTES:].splitlines()
    except OSError:
        return None
    found = [(number, match[1]) for number, line in enumerate(lines) if (match := _CAUSE.search(line))]
    if not found:
        return None
    number, cause = found[0]
    following = _DETAIL.search(lines[number + 1]) if number + 1 < len(lines) else None
    return f"{cause} ({following[1]})" if following else cause


def stop(data: Path) -> str | None:
    """End what works in the folder; return what is left."""
    for sign, wait in _END_SECONDS:
        until = time.monotonic() + wait
        for pid in (found := _inside(data)):
            _send(pid, sign)
        while found and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
            found = _inside(data)
        if not found:
            return None
    return f"processes {', '.join(map(str, _inside(data)))} of the scratch server could not be ended"


def _send(pid: int, sign: signal.Signals) -> None:
    try:
        os.kill(pid, sign)
    except (ProcessLookupError, PermissionError):
        return


def _inside(data: Path) -> list[int]:
    """Return the processes that work in the folder: a server of PostgreSQL does in its data directory."""
    import psutil

    place, found = os.path.realpath(data), []
    for process in psutil.process_iter():
        try:
            where = process.cwd()
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
        except (psutil.Error, OSError):
            continue
        if where.removesuffix(" (deleted)") == place or where.startswith(place + os.sep):
            found.append(process.pid)
    return [pid for pid in found if pid != os.getpid()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
