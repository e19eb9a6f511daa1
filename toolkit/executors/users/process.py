"""The process in which some users live: opens their sessions, drives them, and ends with the run that began it.

Runs by `python -P -m toolkit.executors.users.process`. Orders come over the socket at its standard input. When
that is closed the run is gone, however it ended: the process ends at once, and the server ends its sessions.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import cast

from toolkit.errors import ToolkitError
from toolkit.executors.keeper import receive, send
from toolkit.executors.users.crew import Crew
from toolkit.executors.users.orders import Json, error_told, target_of, workload_of
from toolkit.model.protocols import DatabaseError
from toolkit.targets.base import SessionTag


class _Process:
    def __init__(self, link: socket.socket) -> None:
        self._link = link

    def serve(self) -> None:
        """Do what is ordered until the other end is gone."""
        order, _ = receive(self._link)
        target = target_of(cast("Json", order["access"]))
        tag = SessionTag(str(order["run"]))
        numbers = cast("list[int]", order["numbers"])
        crew = Crew(workload_of(cast("Json", order["work"])), numbers, partial(target.connect_user, tag))
        try:
            crew.connect()
            send(self._link, {"ready": True})
            while self._do(crew, receive(self._link)[0]):
                pass
        except (DatabaseError, ToolkitError) as error:
            send(self._link, error_told(error))
            receive(self._link)  # until it is closed

    def _do(self, crew: Crew, order: Json) -> bool:
        """Do one order; return whether more may come."""
        if "begin" in order:
            crew.begin(float(str(order["begin"])))
        elif "look" in order:
            send(self._link, {"well": True} if crew.error is None else error_told(crew.error))
        elif "measure" in order:
            begin, end = cast("list[float]", order["measure"])
            found = crew.measure(begin, end, partial(self._wait, crew))
            send(self._link, asdict(found) if crew.error is None else error_told(crew.error))
        else:
            crew.end()
            send(self._link, {"ended": True})
            return False
        return True

    def _wait(self, crew: Crew, until: float) -> None:
        """Wait, unless the users cannot go on; end when the other end is gone."""
        while crew.error is None and (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([self._link], [], [], min(left, 0.5))
            if ready and not self._link.recv(1, socket.MSG_PEEK):
                raise EOFError


def _end_with(link: socket.socket) -> None:
    """End the process at once when the other end is gone, whatever its other threads wait for."""
    watched = select.poll()
    watched.register(link, 0)  # nothing is asked for: a hang-up is told in any case
    watched.poll()
    os._exit(LEFT)


LEFT = 4
"""Exit status of a process whose run is gone."""


def main() -> None:
    """Serve the socket at standard input until it is closed."""
    link = socket.socket(fileno=os.dup(0))
    threading.Thread(target=_end_with, args=(link,), daemon=True, name="watch").start()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    # threads that wait for the server do not hold the end up: they are daemons
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        _Process(link).serve()


if __name__ == "__main__":
    main()
