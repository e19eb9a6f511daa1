"""Programs that a shell or another program starts in a test, at a tenth of the cost of an interpreter.

A program is a few lines that need no import. They hand their streams, arguments and environment to the process
that tests, whose fork server begins what the program stands for (`forks`); they pass signals on, and end as that
ends. Where they are killed, the kernel kills it. It is in no process group of theirs: what stops or kills a whole
group needs a program of its own.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import stat
import sys
import tempfile
import threading
from multiprocessing import connection
from pathlib import Path

from tests.servers.forks import begin
from tests.tidy import run_folder

_PROGRAM = """#!{python} -IS
import _signal, _socket, os, sys

numbers = [_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP]
ignored = [number for number in numbers if _signal.getsignal(number) == _signal.SIG_IGN]
pid, early = 0, []
def pass_on(number, frame):
    os.kill(pid, number) if pid else early.append(number)
for number in set(numbers) - set(ignored):
    _signal.signal(number, pass_on)

variables = [name + b"=" + value for name, value in os.environb.items()]
arguments = [os.fsencode(word) for word in sys.argv[1:]]
lists = [[os.fsencode(os.getcwd())], [b"%d" % number for number in ignored], arguments, variables]
text = b"\\0\\0".join(b"\\0".join(b"." + one for one in part) for part in lists)
server = _socket.socket(_socket.AF_UNIX)
server.connect({path!r})
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([len(text).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall({module!r}.ljust(80).encode() + text)
pid = int.from_bytes(server.recv(4), "big")
for number in early:
    os.kill(pid, number)
status = int.from_bytes(server.recv(4) or b"\\0\\0\\0\\x01", "big", signed=True)
if status < 0:
    if status != -_signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def program(path: Path, module: str) -> Path:
    """Write a program that does what `python -m module` would, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_PROGRAM.format(python=sys.executable, path=_address(), module=module), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path


@functools.cache
def _address() -> str:
    """Listen to programs in threads of this process, and return where."""
    address = str(Path(tempfile.mkdtemp(prefix="s", dir=run_folder())) / "s")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)

    def listen() -> None:
        while True:
            caller, _ = listening.accept()
            threading.Thread(target=_serve, args=(caller,), daemon=True, name="program").start()

    threading.Thread(target=listen, daemon=True, name="programs").start()
    return address


def _serve(caller: socket.socket) -> None:
    """Begin what one program stands for, and tell the program how it ended."""
    with caller, contextlib.suppress(OSError, EOFError), contextlib.ExitStack() as held:
        length, streams, _, _ = socket.recv_fds(caller, 8, 3)
        for stream in streams:
            held.callback(os.close, stream)
        text = b""
        while len(text) < 80 + int.from_bytes(length, "big"):
            text += (part := caller.recv(1 << 20))
            if not part:  # it was killed before it had said all; who reads its streams waits until we close them
                return
        module = text[:80].decode().strip()
        folder, ignored, arguments, variables = (
            [os.fsdecode(one[1:]) for one in part.split(b"\0") if one] for part in text[80:].split(b"\0\0")
        )
        given = {name: value for name, _, value in (one.partition("=") for one in variables)}
        process = begin(module, arguments, [*streams, caller.fileno()], given, folder[0], tuple(map(int, ignored)))
        held.close()
        assert process.pid is not None
        caller.sendall(process.pid.to_bytes(4, "big"))
        if process.sentinel not in connection.wait([process.sentinel, caller]):
            process.kill()
        process.join()
        caller.sendall((process.exitcode or 0).to_bytes(4, "big", signed=True))


def die_with(caller: int) -> None:
    """Let the kernel kill this process when the other end of a socket is closed; Linux only."""
    import fcntl

    if sys.platform == "linux":
        fcntl.fcntl(caller, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(caller, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(caller, fcntl.F_SETFL, fcntl.fcntl(caller, fcntl.F_GETFL) | os.O_ASYNC)
