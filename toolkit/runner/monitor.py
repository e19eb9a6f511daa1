"""Samples the providers while the clock runs and reads the monitor session, never waiting without end.

The first samples come quickly and then ever more slowly, up to one a second: a statement of half a second is seen
as well as one of half an hour, and long ones are not disturbed. The schedule depends on the time since the clock
began and on nothing else, so that sampling costs every configuration alike; what it cost is kept with the trial.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TypeVar

from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import SAMPLE_QUERIES, SAMPLER, SAMPLING_SECONDS, Metric, Sample
from toolkit.model.steps import Stages
from toolkit.model.words import Role
from toolkit.runner.context import RunContext
from toolkit.snapshots import CounterProvider, Provider

TIMEOUT_SECONDS = 20.0
"""How long a look at counters may take before the run goes on without it."""

_LOOK_SECONDS = 0.5

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T], over: Callable[[], bool] | None = None) -> T:
    """Do work in a thread of its own and return its result.

    What does not end in time goes on in its thread, and with it whatever it holds: its session must be given up.

    Args:
        seconds: how long it may take.
        work: what is done.
        over: whether it is not waited for any longer.

    Raises:
        TimeoutError: it did not end in time, or before it was over.
        Exception: what the work raised.
    """
    results: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 (raised again where it was waited for)
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name="timeout")
    thread.start()
    until = monotonic() + seconds
    while thread.is_alive() and (left := until - monotonic()) > 0 and not (over is not None and over()):
        thread.join(left if over is None else min(left, _LOOK_SECONDS))
    if raised:
        raise raised[0]
    if not results:
        raise TimeoutError
    return results[0]


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


# -- the monitor session ------------------------------------------------------------------------------------------
_NO_STATEMENT = "0000000000000"


def in_time(context: RunContext, provider: Provider, read: Callable[[], T], otherwise: T) -> T:
    """Let a provider read; one that asks a database which does not answer is not waited for without end."""
    if not isinstance(provider, CounterProvider):
        return read()
    try:
        return within(TIMEOUT_SECONDS, read)
    except TimeoutError:
        give_up(context, f"{provider.name}: counters")
        return otherwise


def give_up(context: RunContext, what: str) -> None:
    """Take the monitor session for dead."""
    context.sessions.abandon(Role.MONITOR)
    context.warn(f"the monitor session did not respond and was abandoned; {what} are missing")


def learn_refusals(context: RunContext, stages: Stages) -> None:
    """Read once, before the first trial, all that is read around a trial.

    A view that is not granted takes the others of its statement with it, and they are then read one by one. Done
    here, that is done for the whole run, and the first trial asks no more often than the others do.
    """
    for provider in context.providers:
        if isinstance(provider, CounterProvider):
            in_time(context, provider, partial(_read_once, provider), None)
    with suppress(DatabaseError, ToolkitError):  # what fails here fails again in the trial, and is reported there
        for step in stages.evidence:
            if step.parts and step.own_read and not step.tolerates:
                context.refusals.read(step, lambda part: context.sessions.run(part, 0))


def _read_once(provider: CounterProvider) -> None:
    provider.begin()
    if provider.explains:
        provider.explain(_NO_STATEMENT)
    provider.end()
