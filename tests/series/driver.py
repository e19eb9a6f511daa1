"""`dbatk` that stops at one of its statements until it is told to go on: `python -m tests.series.driver ...`.

`SERIES_GATE` names a Unix socket, `SERIES_AT` the number of the statement. What is sent to the database is counted
over all sessions of the process, and of the processes of `dbatk` that it begins. Just before that statement the
process connects to the socket, writes the text, and waits for a byte. `SERIES_TRACE` names a file that every
statement is written to. How long is waited for a network that answers nobody is made short where a fault is to
strike; without one, the machine may be busy.
"""

from __future__ import annotations

import faulthandler
import fcntl
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from toolkit.executors import keeping, waiting
from toolkit.model.steps import Program, Step
from toolkit.targets import postgresql


class Gate:
    """Counts statements, and holds the one that was named."""

    def __init__(self, at: int, address: str | None, trace: str | None) -> None:
        self._at, self._address = at, address
        self._trace = None if trace is None else Path(trace)
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        with self._lock:
            now = self._number()
            if self._trace is not None:
                with self._trace.open("a") as file:
                    file.write(json.dumps(text) + "\n")
        if now == self._at and self._address is not None:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(self._address)
                line.sendall(text.encode())
                line.shutdown(socket.SHUT_WR)
                line.recv(1)

    def _number(self) -> int:
        """Count a statement, where all processes of a gate count theirs."""
        if self._address is None:
            return 0
        with open(f"{self._address}.count", "ab", buffering=0) as file:  # noqa: PTH123 - appended to by others too
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(b".")
            return os.fstat(file.fileno()).st_size


def _set_up() -> None:
    gate = Gate(
        int(os.environ.get("SERIES_AT", "0")), os.environ.get("SERIES_GATE"), os.environ.get("SERIES_TRACE")
    )
    target = postgresql.PostgresqlTarget
    made = target.__init__

    def make(self: postgresql.PostgresqlTarget, *given: object, **named: object) -> None:
        made(self, *given, **named)  # type: ignore[arg-type]
        self.observer = gate

    target.__init__ = make  # type: ignore[method-assign, assignment]
    argv = keeping._argv

    def as_we_are(step: Step, program: Program) -> list[str]:
        own = [sys.executable, "-m", "tests.series.driver", *step.argv[1:]]
        return own if program.own else argv(step, program)

    keeping._argv = as_we_are
    if os.environ.get("SERIES_AT", "0") == "0":
        return
    waiting.LOOK_SECONDS, waiting.PROBE_SECONDS = 1.0, 1.0
    postgresql._NETWORK["connect_timeout"] = 2


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    _set_up()
    from toolkit.cli.main import run

    run()
