"""What a database is asked between two steps: by threads of their own, so that what hangs keeps nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar, cast

from toolkit.errors import ToolkitError, no_more_threads, unexpected
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.targets.base import SessionTag
from toolkit.units import seconds

ASKING = SessionTag("dbatk plan")
"""Of the sessions that ask, for whichever plan; guards do not count them among those of others."""
_MOMENT_SECONDS = 0.5
"""How long answers are waited for before the loop goes on with what else there is: they usually come at once."""

T = TypeVar("T")


class NotYetError(Exception):
    """A question is not answered yet: it is to be asked for again."""


@dataclass(slots=True)
class _Question:
    """A question in its thread."""

    ask: Callable[[], object]
    ended: threading.Event = field(default_factory=threading.Event)
    begun: float = field(default_factory=monotonic)
    answer: object = None
    error: ToolkitError | DatabaseError | None = None
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self.run, daemon=True, name="question")

    def run(self) -> None:
        try:
            self.answer = self.ask()
        except DatabaseError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - it is raised again where the answer is taken
            self.error = unexpected(error)
        finally:
            self.ended.set()


class Questions:
    """Asks questions, each known by a key until its answer was taken or its time was over."""

    def __init__(self) -> None:
        self._open: dict[Hashable, _Question] = {}
        self._until = monotonic()

    def wait_a_moment(self) -> None:
        """Wait for the answers of the next moment: half a second for all of them together."""
        self._until = monotonic() + _MOMENT_SECONDS

    def answer(self, key: Hashable, ask: Callable[[], T], limit_seconds: float) -> T:
        """Return the answer to a question; it is asked anew when it was answered before.

        Raises:
            NotYetError: there is none yet.
            ToolkitError: TK-0207 when there is none after the time limit, TK-0901 when its thread died; what the
                question raised.
            DatabaseError: what the question raised.
        """
        question = self._open.get(key)
        if question is None:
            question = self._put(key, ask)
            question.ended.wait(max(0.0, self._until - monotonic()))
        if not question.thread.is_alive() and not question.ended.is_set():
            del self._open[key]
            raise ToolkitError("a thread of this host ended as it was started", code="TK-0901")
        if not question.ended.is_set():
            if monotonic() - question.begun < limit_seconds:
                raise NotYetError
            del self._open[key]
            raise _unanswered(limit_seconds)
        del self._open[key]
        if question.error is not None:
            raise question.error
        return cast("T", question.answer)

    def _put(self, key: Hashable, ask: Callable[[], object]) -> _Question:
        question = self._open[key] = _Question(ask)
        try:
            question.thread.start()
        except RuntimeError:
            question.error = no_more_threads()
            question.ended.set()
        return question


@contextmanager
def limited(session: Connection, limit_seconds: float) -> Iterator[None]:
    """Cancel, on the server too, what a session does for longer than a while.

    Raises:
        ToolkitError: TK-0207 where that ended it, whatever the database calls it.
    """
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        while not done.wait(limit_seconds):
            late.set()
            session.cancel()

    threading.Thread(target=watch, daemon=True, name="limit of a question").start()
    try:
        yield
    except (DatabaseError, ToolkitError):
        if late.is_set():
            raise _unanswered(limit_seconds) from None
        raise
    finally:
        done.set()


def _unanswered(limit_seconds: float) -> ToolkitError:
    return ToolkitError(f"the database did not answer within {seconds(limit_seconds)}", code="TK-0207")
