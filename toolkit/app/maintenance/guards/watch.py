"""Looks at guards again and again, on a thread of its own; a session that hangs never holds up anything else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import partial

from toolkit.app.maintenance.guards.reader import GuardReader
from toolkit.app.maintenance.guards.readings import GuardReading, GuardReadings
from toolkit.model.plan import Guard
from toolkit.runner.monitor import TIMEOUT_SECONDS, within
from toolkit.units import seconds

_FIRST_LOOK_SECONDS = 2.0


def look_once(reader: GuardReader, guards: Collection[Guard], ours: Collection[str]) -> tuple[GuardReadings, bool]:
    """Return a look, and whether the reader answered in time; one that did not is to be given up.

    What does not answer in time is closed by its own thread.
    """
    try:
        return within(TIMEOUT_SECONDS, partial(reader.read, ours)), True
    except TimeoutError:
        reason = f"the session of the guards did not answer within {seconds(TIMEOUT_SECONDS)}"
        threading.Thread(target=reader.close, daemon=True, name="farewell").start()
    except Exception as error:  # noqa: BLE001 - a fault of ours must not end the night
        reason = f"fault of dbatk: {error!r}"
    return GuardReadings({guard: GuardReading(None, "not known", reason) for guard in guards}), False


class GuardWatch:
    """Looks from `begin` to `end`; `latest` is the newest look and its number, from 1."""

    def __init__(
        self,
        reader: Callable[[], GuardReader],
        guards: Collection[Guard],
        ours: Callable[[], Collection[str]],
        every_seconds: float,
    ) -> None:
        self._new_reader, self._guards, self._ours, self._every = reader, guards, ours, every_seconds
        self._ended = threading.Event()
        self._looked = threading.Event()
        self._thread: threading.Thread | None = None
        self.latest: tuple[int, GuardReadings] = (0, GuardReadings())

    def begin(self) -> None:
        """Begin to look, and wait a moment for the first look, which the first step must wait for anyway."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="guards")
        self._thread.start()
        self._looked.wait(_FIRST_LOOK_SECONDS)

    def _run(self) -> None:
        reader, number = self._new_reader(), 0
        while not self._ended.is_set():
            look, answered = look_once(reader, self._guards, self._ours())
            if not answered:
                reader = self._new_reader()
            number += 1
            self.latest = (number, look)
            self._looked.set()
            self._ended.wait(self._every)
        reader.close()

    def end(self) -> None:
        """Look no more; a look that hangs is not waited for much longer than it may take."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(TIMEOUT_SECONDS)
