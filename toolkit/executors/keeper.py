"""Keeps one program at a time: begins it, waits for it, and ends all that came of it, also when dbatk is killed.

Runs as a process of its own, by `python -I -S keeper.py MODE`, with the standard library alone. It begins
programs by `posix_spawn`, sees their end at once (SIGCHLD), and takes the times: no thread of dbatk delays them.
In the mode `all` it is the parent of whatever a program leaves behind (PR_SET_CHILD_SUBREAPER of Linux), a
daemon too, so that it can count what the whole tree used, and end it. In the mode `group` a program may leave a
daemon: a server that it started.

Over the socket at its standard input come and go JSON texts, each after its length in four bytes. An order to
begin a program comes with the file descriptor that it writes to; `{"signal": n}` sends a signal to its process
group. When the socket is closed, dbatk is gone: what runs is ended.
"""

# ruff: noqa: PTH123, PTH208 (pathlib would be a third of the time in which this begins)

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import stat
import sys
import time
from contextlib import suppress

_SUBREAPER = 36
_ALONE_SECONDS = 0.1
"""How long what a program left may take to end by itself: the last of a pipeline, say."""
_POLITE_SECONDS = 2.0
_LAST_SECONDS = 10.0
_STEP_SECONDS = 0.005
_MOST_BYTES = 1 << 26
_DEFAULTS = [
    getattr(signal, name)
    for name in ("SIGPIPE", "SIGXFSZ", "SIGINT", "SIGTERM", "SIGHUP", "SIGCHLD")
    if hasattr(signal, name)
]


def send(link: socket.socket, message: object, descriptors: tuple[int, ...] = ()) -> None:
    """Send one message, with file descriptors."""
    text = json.dumps(message).encode()
    length = len(text).to_bytes(4, "big")
    if descriptors:
        socket.send_fds(link, [length], descriptors)
    else:
        link.sendall(length)
    link.sendall(text)


def receive(link: socket.socket) -> tuple[dict[str, object], list[int]]:
    """Wait for one message and return it with its file descriptors.

    Raises:
        EOFError: the other end is closed.
    """
    head, descriptors, _, _ = socket.recv_fds(link, 4, 2)
    length = int.from_bytes(head + _exactly(link, 4 - len(head)) if head else _closed(), "big")
    if length > _MOST_BYTES:
        _closed()
    return json.loads(_exactly(link, length)), descriptors


def _closed() -> bytes:
    raise EOFError


def _exactly(link: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        parts += link.recv(count - len(parts)) or _closed()
    return bytes(parts)


# -- what runs below this process -------------------------------------------------------------------------------
def below(pid: int) -> list[int]:
    """Return the processes below one, nearest first; none where the system does not tell."""
    found, todo = list[int](), [pid]
    while todo:
        parent = todo.pop()
        with suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                with suppress(OSError), open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as file:
                    children = [int(word) for word in file.read().split()]
                    found += children
                    todo += children
    return found


def _reap() -> None:
    """Take the exit statuses of all that ended, so that what they used is counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _signal_all(number: int) -> None:
    for pid in below(os.getpid()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _wait_until_alone(seconds: float) -> bool:
    until = time.monotonic() + seconds
    while True:
        _reap()
        if not below(os.getpid()):
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(_STEP_SECONDS)


def _end_all() -> bool:
    """End all that is below this process; return whether nothing is left."""
    for number, seconds in ((signal.SIGTERM, _POLITE_SECONDS), (signal.SIGKILL, _LAST_SECONDS)):
        if not below(os.getpid()):
            break
        _signal_all(number)
        _wait_until_alone(seconds)
    return _wait_until_alone(0.0)


def _named(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
        return f"{file.read().strip()} ({pid})"
    return str(pid)


# -- what was used ------------------------------------------------------------------------------------------------
def _disk_bytes() -> dict[str, int]:
    """Return what this process and all that it waited for read from and wrote to storage; nothing if unknown."""
    found: dict[str, int] = {}
    with suppress(OSError, ValueError), open("/proc/self/io", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in ("read_bytes", "write_bytes"):
                found[name] = int(value)
    return found


class _Used:
    """What the programs below used since this was made."""

    def __init__(self) -> None:
        _reap()
        self._before, self._disk = resource.getrusage(resource.RUSAGE_CHILDREN), _disk_bytes()

    def until_now(self) -> dict[str, float]:
        after, disk = resource.getrusage(resource.RUSAGE_CHILDREN), _disk_bytes()
        return {
            "user_seconds": after.ru_utime - self._before.ru_utime,
            "system_seconds": after.ru_stime - self._before.ru_stime,
            **{name: float(value - self._disk.get(name, 0)) for name, value in disk.items()},
        }


_FIRST_SECONDS, _LAST_LOOK_SECONDS, _SHARE, _TIMES_ITS_COST = 0.03, 1.0, 0.12, 1000
_PAGE = resource.getpagesize()


class _TreeMemory:
    """The most private memory that all processes below had together, of looks that come ever more slowly.

    None comes sooner than after 1,000 times what the last one took: of a processor that the programs could have,
    all looks together take 0.1 %, however many processes there are to look at. With 0.4 % a program that begins
    400 others took 0.9 % longer on the same processor (standard error 0.4 %): a look also delays whoever begins or
    ends a process meanwhile.

    What processes share (program text, mapped files, shared memory) is left out, or it would count once for each.
    A cgroup would know the exact peak, but with all pages of files that were read; and a process that moves to one
    of its own leaves the limits of the service that it was begun in.
    """

    def __init__(self) -> None:
        self._begun = self._last = time.perf_counter()
        self.peak = self._cost = 0.0

    def due_seconds(self) -> float:
        """Return in how many seconds the next look is due."""
        now = time.perf_counter()
        between = min(_LAST_LOOK_SECONDS, max(_FIRST_SECONDS, (now - self._begun) * _SHARE))
        return max(0.0, self._last + max(between, self._cost * _TIMES_ITS_COST) - now)

    def look(self) -> None:
        begun = time.perf_counter()
        self.peak = max(self.peak, float(sum(map(_private_bytes, below(os.getpid())))))
        self._last = time.perf_counter()
        self._cost = self._last - begun

    def found(self) -> dict[str, float]:
        """Return the figure; nothing of what was over before the first look, or where the system does not tell."""
        return {"tree_memory_bytes": self.peak} if self.peak else {}


def _private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no file: resident less shared pages of statm (proc(5))."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", encoding="ascii") as file:
        pages = file.read().split()
        return (int(pages[1]) - int(pages[2])) * _PAGE
    return 0


# -- one program --------------------------------------------------------------------------------------------------
class _Keeper:
    def __init__(self, link: socket.socket, *, all_of_it: bool) -> None:
        self._link, self._all = link, all_of_it
        self._cpus = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
        self._woken, writer = os.pipe()
        os.set_blocking(writer, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._poll = select.poll()
        self._poll.register(self._woken, select.POLLIN)
        self._poll.register(link, select.POLLIN)

    def serve(self) -> None:
        """Do what is ordered until the other end is gone."""
        while True:
            order, descriptors = receive(self._link)
            if "path" in order:
                send(self._link, self._run(order, descriptors[0]))

    def _run(self, order: dict[str, object], output: int) -> dict[str, object]:
        used, memory, cpus = _Used(), _TreeMemory(), order.get("cpus")
        try:
            if self._cpus and isinstance(cpus, list):
                os.sched_setaffinity(0, cpus or self._cpus)  # which what it begins inherits
            begun, pid = _spawn(order, output)
        except OSError as error:
            return {"error": (error.strerror or type(error).__name__).lower(), "file": error.filename}
        finally:
            os.close(output)
        try:
            ended, status, peak = self._wait(pid, memory)
        except EOFError:
            self._let_go(pid)
            raise
        found = self._left(pid)
        return {
            "begun": begun, "ended": ended, "exit_status": os.waitstatus_to_exitcode(status),
            "peak_memory_bytes": peak, **memory.found(), **used.until_now(), **found,
        }  # fmt: skip

    def _wait(self, pid: int, memory: _TreeMemory) -> tuple[float, int, float]:
        """Wait for the end of a program, look at its memory meanwhile, and pass signals on."""
        while True:
            ready = self._poll.poll(memory.due_seconds() * 1000)
            now = time.perf_counter()
            if memory.due_seconds() == 0.0:
                memory.look()
            for descriptor, _ in ready:
                if descriptor == self._woken:
                    with suppress(BlockingIOError):
                        os.read(self._woken, 4096)
            found, status, used = os.wait4(pid, os.WNOHANG)
            if found:
                unit = 1 if sys.platform == "darwin" else 1024
                return now, status, float(used.ru_maxrss * unit)
            if any(descriptor == self._link.fileno() for descriptor, _ in ready):
                order, _ = receive(self._link)
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, int(str(order["signal"])))

    def _left(self, pid: int) -> dict[str, object]:
        """End what a program left; of a group also what is not seen below this process."""
        if not self._all:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            return {}
        if _wait_until_alone(_ALONE_SECONDS):
            return {}
        names = [_named(each) for each in below(os.getpid())]
        return {"left": names, "ended_all": _end_all()}

    def _let_go(self, pid: int) -> None:
        """End a program that nobody waits for any more."""
        if self._all:
            _end_all()
            return
        for number, seconds in ((signal.SIGTERM, _POLITE_SECONDS), (signal.SIGKILL, 0.0)):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, number)
            until = time.monotonic() + seconds
            while time.monotonic() < until and not os.waitpid(pid, os.WNOHANG)[0]:
                time.sleep(_STEP_SECONDS)


def _spawn(order: dict[str, object], output: int) -> tuple[float, int]:
    """Begin a program; return when, and its process id.

    Raises:
        OSError: it, its folder or what it reads cannot be had.
    """
    argv, environment = order["argv"], order["environment"]
    assert isinstance(argv, list)
    assert isinstance(environment, dict)
    if order["cwd"]:
        os.chdir(str(order["cwd"]))
    source = _opened(str(order["stdin"]) or os.devnull)
    actions = [(os.POSIX_SPAWN_DUP2, here, there) for here, there in ((source, 0), (output, 1), (output, 2))]
    try:
        begun = time.perf_counter()
        pid = os.posix_spawn(
            str(order["path"]), argv, environment, file_actions=actions, setpgroup=0, setsigdef=_DEFAULTS
        )
    except OSError as error:
        error.filename = order["path"]
        raise
    finally:
        os.close(source)
    return begun, pid


def _opened(path: str) -> int:
    """Open what a program reads, never waiting: a named pipe may have no writer, a device no end.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if path != os.devnull and not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "what it reads is a pipe, a device or a folder, not a file", path)
    os.set_blocking(handle, True)
    return handle


def main() -> None:
    """Serve the socket at standard input until it is closed."""
    link = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    all_of_it = sys.argv[1:] == ["all"]
    if all_of_it and sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
    try:
        send(link, {"ready": True})
        _Keeper(link, all_of_it=all_of_it).serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        if all_of_it:
            _end_all()


if __name__ == "__main__":
    main()
