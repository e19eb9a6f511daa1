"""Samples the providers while the clock runs, on a thread of its own.

The first samples come quickly and then ever more slowly, up to one a second: a statement of half a second is seen
as well as one of half an hour, and long ones are not disturbed. The schedule depends on the time since the clock
began and on nothing else, so that sampling costs every configuration alike; what it cost is kept with the trial.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from toolkit.model.records import SAMPLE_QUERIES, SAMPLER, SAMPLING_SECONDS, Metric, Sample
from toolkit.runner.timeouts import TIMEOUT_SECONDS
from toolkit.snapshots import Provider

_FIRST_SECONDS = 0.04
_LAST_SECONDS = 1.0
_SHARE = 0.12
_MOST = 600


class Sampler:
    """Runs from `begin` to `end`; thins what it keeps to 600 instants.

    Args:
        providers: what is sampled.
        queries: returns how many queries the monitor session has run so far.
    """

    def __init__(self, providers: Sequence[Provider], queries: Callable[[], int] = lambda: 0) -> None:
        self._providers = providers
        self._queries = queries
        self._queries_before = 0
        self._seconds = 0.0
        self._ended = threading.Event()
        self._samples: list[tuple[Sample, ...]] = []
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        self._ended.clear()
        self._samples = []
        self._seconds, self._queries_before = 0.0, self._queries()
        self._thread = threading.Thread(target=self._run, daemon=True, name="sampler")
        self._thread.start()

    def _run(self) -> None:
        origin = time.perf_counter()
        wait = _FIRST_SECONDS
        while not self._ended.wait(wait):
            at = time.perf_counter() - origin
            taken = tuple(sample for provider in self._providers for sample in provider.sample(at))
            self._seconds += time.perf_counter() - origin - at
            if taken:
                self._samples.append(taken)
            if len(self._samples) > 2 * _MOST:
                self._samples = self._samples[::2]
            wait = min(_LAST_SECONDS, max(_FIRST_SECONDS, at * _SHARE))

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

    def cost(self) -> tuple[Metric, ...]:
        """Return the queries of the monitor session since `begin`, and the seconds spent on sampling."""
        if not self._providers:
            return ()
        return (
            Metric(SAMPLE_QUERIES, float(self._queries() - self._queries_before), "queries", SAMPLER),
            Metric(SAMPLING_SECONDS, self._seconds, "s", SAMPLER),
        )
