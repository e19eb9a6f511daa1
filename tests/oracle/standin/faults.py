"""What strikes a session at one statement: the client dies, the connection breaks, an ORA- error comes.

A fault strikes just before a statement is run, in the middle of it, or just after it was run and before the
client hears of it: instants that a client can never tell apart. In the middle matters to what is not atomic: an
index that is built ONLINE stays half-built. `somebody` is no fault: another session does something between two
statements.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tests.oracle.standin.errors import ora
from tests.oracle.standin.state import Session, State

if TYPE_CHECKING:
    from tests.oracle.standin.engine import Engine

BEFORE, DURING, AFTER = "before", "during", "after"
_LOOK_SECONDS = 0.02
_LITERAL = re.compile(r"'[^']*'")


class Struck(Protocol):
    """The backend of the session that a fault strikes."""

    engine: Engine
    socket: socket.socket

    @property
    def session(self) -> Session | None: ...

    def drop_connection(self) -> object: ...


Act = Callable[[Struck, State], object]


def _words_of(text: str, wanted: str) -> str:
    """Return a statement in which words are looked for; a command (REBUILD) is none within the data of a query."""
    found = " ".join(text.split())
    return _LITERAL.sub("''", found) if wanted.isalpha() and wanted.isupper() else found


@dataclass
class Fault:
    """Strikes once: at the statement of a number (all sessions count together), or the first with these words."""

    act: Act
    at: int | None = None
    words: str | None = None
    when: str = BEFORE
    struck: str | None = None
    """The statement that it struck."""
    spared: int = 0
    """How many statements with these words are let pass before."""

    def fits(self, number: int, text: str) -> bool:
        if self.struck is not None:
            return False
        found = number == self.at or (self.words is not None and self.words in _words_of(text, self.words))
        if found and self.spared:
            self.spared -= 1
            return False
        return found


def strike(faults: list[Fault], backend: Struck, state: State, number: int, text: str, when: str) -> None:
    """Let the faults that fit strike."""
    for fault in faults:
        if fault.when == when and fault.fits(number, text):
            fault.struck = text
            if when == DURING and backend.session is not None:
                backend.engine.leave_half_done(backend.session, text)
            fault.act(backend, state)


def break_connection(backend: Struck, state: State) -> None:
    """Let the network go: no answer comes."""
    del state
    backend.drop_connection()


def orphan(until: threading.Event, begun: threading.Event | None = None, *, deaf: bool = False) -> Act:
    """Let the client go in the middle of a statement: the server does not notice, works on, and then commits.

    Args:
        until: when the statement is done.
        begun: is set once the client is gone.
        deaf: whether the session does not see at once that it was killed (ORA-00031).
    """

    def act(backend: Struck, state: State) -> None:
        session = backend.session
        assert session is not None
        session.deaf = deaf
        with suppress(OSError):
            backend.socket.shutdown(socket.SHUT_RDWR)
        if begun is not None:
            begun.set()
        while not until.wait(_LOOK_SECONDS):
            if session.sid not in state.sessions:
                raise ora(28)
        if session.marked or session.sid not in state.sessions:
            raise ora(28)

    return act


def kill_session(backend: Struck, state: State) -> None:
    """End the session as ALTER SYSTEM KILL SESSION does: ORA-00028, and nothing after it."""
    if backend.session is not None:
        state.sessions.pop(backend.session.sid, None)
    raise ora(28)


def somebody(*statements: str) -> Act:
    """Let a session of the DBA run statements, to their end; nobody tells the client."""

    def act(backend: Struck, state: State) -> None:
        del state
        backend.engine.run_as_dba(*statements)

    return act


def fail_with(number: int) -> Act:
    """Answer with an ORA- error; what was run stays as it is."""

    def act(backend: Struck, state: State) -> None:
        del backend, state
        raise ora(number)

    return act


def kill_client(process: Callable[[], int], after: Act | None = None) -> Act:
    """Kill the client's process with SIGKILL: nobody hears the answer; `after` is what becomes of its session."""

    def act(backend: Struck, state: State) -> None:
        os.kill(process(), signal.SIGKILL)
        if after is not None:
            after(backend, state)
        else:
            backend.drop_connection()

    return act
