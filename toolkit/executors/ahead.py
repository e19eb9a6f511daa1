"""Sessions that are opened before anybody asks for them: connecting takes time that other work can use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from toolkit.model.protocols import Connection
from toolkit.model.words import Role

Key = tuple[Role, int]


class Ahead:
    """Opens sessions in threads; each is taken once, by whoever asks for it first, and waited for then."""

    def __init__(self) -> None:
        self._opening: dict[Key, tuple[threading.Thread, Future[Connection]]] = {}

    def begin(self, keys: Iterable[Key], open_one: Callable[[Role], Connection]) -> None:
        """Begin to open sessions; where this host starts no more threads, who asks for one opens it."""
        for key in keys:
            opening: Future[Connection] = Future()
            thread = threading.Thread(target=_open, args=(opening, open_one, key[0]), daemon=True, name="opening")
            try:
                thread.start()
            except RuntimeError:
                return
            self._opening[key] = thread, opening

    def take(self, key: Key) -> Connection | None:
        """Return a session that was begun, None where there is none, or where its thread died before it was there.

        Raises:
            ToolkitError: what opening it raised; it has a limit of its own.
        """
        if (begun := self._opening.pop(key, None)) is None:
            return None
        thread, opening = begun
        thread.join()
        return opening.result() if opening.done() else None

    def close(self) -> None:
        """Close what nobody took, also what is there only later."""
        while self._opening:
            _, (_, opening) = self._opening.popitem()
            opening.add_done_callback(_close)


def _open(opening: Future[Connection], open_one: Callable[[Role], Connection], role: Role) -> None:
    try:
        opening.set_result(open_one(role))
    except BaseException as error:  # noqa: BLE001 (raised again where the session is asked for)
        opening.set_exception(error)


def _close(opened: Future[Connection]) -> None:
    if opened.exception() is None:
        opened.result().close()
