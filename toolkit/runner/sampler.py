"""Samples the providers while the clock runs, on a thread of its own.

Where samples are evidence (a degree above 1), the first come quickly and then ever more slowly, up to one a
second: a statement of half a second is seen as well as one of half an hour, and long ones are not disturbed.
Elsewhere one a second is enough.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from toolkit.model.records import Sample
from toolkit.runner.timeouts import TIMEOUT_SECONDS
from toolkit.snapshots import Provider

_FIRST_SECONDS = 0.04
_LAST_SECONDS = 1.0
_SHARE = 0.12
_MOST = 600


class Sampler:
    """Runs from `begin` to `end`; thins what it keeps to 600 instants."""

    def __init__(self, providers: Sequence[Provider], *, evidence: bool = True) -> None:
        self._providers = providers
        self._first = _FIRST_SECONDS if evidence else _LAST_SECONDS
        self._ended = threading.Event()
        self._samples: list[tuple[Sample, ...]] = []
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        self._ended.clear()
        self._samples = []
        self._thread = threading.Thread(target=self._run, daemon=True, name="sampler")
        self._thread.start()

    def _run(self) -> None:
        origin = time.perf_counter()
        wait = self._first
        while not self._ended.wait(wait):
            at = time.perf_counter() - origin
            taken = tuple(sample for provider in self._providers for sample in provider.sample(at))
            if taken:
                self._samples.append(taken)
            if len(self._samples) > 2 * _MOST:
                self._samples = self._samples[::2]
            wait = min(_LAST_SECONDS, max(self._first, at * _SHARE))

    def end(self, seconds: float = TIMEOUT_SECONDS) -> bool:
        """Stop sampling; return when the last sample is taken, or False when it is not taken in time."""
        self._ended.set()
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def samples(self) -> tuple[Sample, ...]:
        """Return what was sampled, in order of time."""
        step = max(1, -(-len(self._samples) // _MOST))
        return tuple(sample for taken in self._samples[::step] for sample in taken)
