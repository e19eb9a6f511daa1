"""Cancelling during a call: the client's break marker is seen while a statement waits.

The driver sends its marker at once (MARKER packet, type interrupt), also while it waits for an answer; the
server's loop reads it after the call. So whoever waits in a call looks at the
socket without taking anything.
"""

from __future__ import annotations

import select
import socket
import threading

from tests.oracle.standin.errors import ora

_MARKER = 12
_LOOK_SECONDS = 0.02
SERVING = threading.local()


def wait(seconds: float, released: threading.Event) -> None:
    """Wait as a slow statement does, until it is done, the stand-in ends, or the client breaks.

    Raises:
        BackendError: ORA-01013 when the client broke the call.
    """
    client: socket.socket | None = getattr(SERVING, "client", None)
    for _ in range(max(1, round(seconds / _LOOK_SECONDS))):
        if released.wait(_LOOK_SECONDS):
            return
        if client is not None and _broken(client):
            raise ora(1013)


def gone() -> bool:
    """Tell whether the client of this call is gone, so that no handler of its block is run for it."""
    client: socket.socket | None = getattr(SERVING, "client", None)
    if client is None or not select.select([client], [], [], 0)[0]:
        return False
    return client.recv(1, socket.MSG_PEEK) == b""


def _broken(client: socket.socket) -> bool:
    """Tell whether the next packet that waits is a marker (byte 4 of its header), or the client is gone."""
    if not select.select([client], [], [], 0)[0]:
        return False
    head = client.recv(5, socket.MSG_PEEK)
    return head == b"" or (len(head) == 5 and head[4] == _MARKER)
