"""Waits for a database, but not for one that answers nobody: a cut network holds neither a run nor its end.

TCP notices a peer that is gone. What keeps connections open and hands nothing over (a proxy that hangs) is noticed
here: each session works in a thread of its own, and who waits for its answer asks meanwhile, in one new session
for all of the run, whether the database answers at all; a server that refuses it does. A statement that takes long
is waited for as long as the server works on it: where it answers and shows the session idle, or does not have it
any more, its answer is lost on the way, however well TCP acknowledges. A user who asked the run to end, and a
window that closes, are not kept waiting.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from toolkit.executors.reaching import PROBE_SECONDS, Asking, Reach
from toolkit.targets.base import Target

LOOK_SECONDS, MISSES = 60.0, 2
"""When it is asked for the first time, and how often it may not give an answer."""
HURRIED_LOOK_SECONDS, HURRIED_PROBE_SECONDS, LATE_PROBE_SECONDS = 0.5, 2.5, 1.0
"""The same once the run's end is waited for: one look is enough then, and after one in vain a short one."""
_AGAIN_SECONDS = 10.0
"""How long an end that is asked for counts on the last thing that was learned."""
_ON_THE_WAY_SECONDS, _HURRIED_ON_THE_WAY_SECONDS = 5.0, 1.0
"""How long an answer may still be on its way after the server showed the session idle or gone."""
PROOF_SECONDS = 2.5
"""How long what a worker did may still be proved once the run's end is waited for: its table may be locked."""
_TOLD_SECONDS = 4.0
"""How long a user who asked for the end waits for a statement until it is said which, and what ends dbatk now."""


@dataclass(slots=True)
class Timeouts:
    """How long the sessions of a run wait, and what they learned of the database meanwhile, by one probe for all.

    Attributes:
        hurried: whether a user asked the run to end, or its window closed: its end is waited for.
        ending: whether the run is to end for any reason: what sessions wait for is cancelled, and who waits for
            the database has the ordinary time then.
    """

    hurried: Callable[[], bool] = lambda: False
    ending: Callable[[], bool] = lambda: False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _probe: Asking | None = None
    _misses: int = 0
    _answered_at: float = -math.inf
    _silent_at: float = -math.inf
    _idle: frozenset[str] = frozenset()
    _there: frozenset[str] | None = None
    _idle_at: float = -math.inf
    _finishing: int = 0
    _hurried_at: float = math.inf
    _in_vain: bool = False
    cancelled: bool = False
    """Whether a statement was cancelled because the run is to end."""
    tell: Callable[[str], None] = lambda _: None
    """Says once what an end that a user asked for waits for."""
    told: bool = False

    def tell_late(self, since: float, what: str) -> None:
        """Say once that a user who asked for the end waits for `what`, if that lasts; called again and again."""
        if not self.told and time.monotonic() - max(since, self._hurried_since()) >= _TOLD_SECONDS:
            self.told = True
            self.tell(what)

    def _hurried_since(self) -> float:
        if self.hurried():
            self._hurried_at = min(self._hurried_at, time.monotonic())
        return self._hurried_at

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Cancel nothing for the run's end: the clock does that; what was done is proved, settled or undone."""
        self._finishing += 1
        try:
            yield
        finally:
            self._finishing -= 1

    @property
    def cancels(self) -> bool:
        """Whether what sessions wait for is cancelled now: the run is to end, and nothing is lost by it."""
        return not self._finishing and self.ending()

    @property
    def proved_enough(self) -> bool:
        """Whether nobody waits any more for reads that prove what was done: the run's end is waited for."""
        return time.monotonic() >= self._hurried_since() + PROOF_SECONDS

    @property
    def over(self) -> bool:
        """Whether the run ends and nothing was heard a moment ago: nothing is waited for, nor begun."""
        silent = time.monotonic() < self._silent_at + _AGAIN_SECONDS
        return silent and (self.hurried() or self.ending())

    def heard(self) -> None:
        """Note that the database answered somebody."""
        self._silent_at = -math.inf

    def unheard(self) -> None:
        """Note that nothing came from the database."""
        self._silent_at, self._in_vain = time.monotonic(), self._in_vain or self.hurried()

    @property
    def connect_seconds(self) -> float:
        """How long a connection is waited for when the run is to end; sessions that are open may still answer."""
        late = LATE_PROBE_SECONDS if self._in_vain else HURRIED_PROBE_SECONDS
        return late if self.hurried() else PROBE_SECONDS

    def is_at_no_work(self, identity: str, since: float) -> bool:
        """Tell whether a probe begun at `since` or later was shown a session (empty: none yet) idle, or gone."""
        gone = bool(identity) and self._there is not None and identity not in self._there
        return self._idle_at >= since and (gone or identity in self._idle)

    def look(self, target: Target, run: str, since: float, *, hurried: bool) -> bool:
        """Ask whether the database answers anybody, one probe for all; called again and again.

        Args:
            target: the database.
            run: by which its sessions are found.
            since: when the caller's time to look came: silence that was found before says nothing of its call.
            hurried: whether one probe without an answer is enough, and an answer before `since` is too old.

        Returns:
            Whether it was found silent since.
        """
        with self._lock:
            now = time.monotonic()
            if self._silent_at >= since:
                return True
            if self._probe is None or self._probe.begun < since - PROBE_SECONDS:  # one that nobody waited for
                fresh = now - self._answered_at < (_AGAIN_SECONDS if hurried else LOOK_SECONDS)
                asks = not fresh or (hurried and self._answered_at < since)
                probe = Asking(target, now, run)
                self._probe = probe if asks and probe.begin() is not None else None
                return False
            late = now - self._probe.begun >= (HURRIED_PROBE_SECONDS if hurried else PROBE_SECONDS)
            probe, found = self._probe, self._probe.found
            if found is Reach.NOTHING_YET and not late:
                return False
            self._probe = None
            # Where connecting fails and nobody waits, TCP itself tells of the sessions that there are.
            if found is Reach.ANSWERS or (found is Reach.NO_WAY_IN and not hurried):
                self._idle, self._there, self._idle_at = probe.idle, probe.there, probe.begun
                self._misses, self._answered_at = 0, now
                self.heard()
                return False
            self._misses += 1
            if hurried or self._misses >= MISSES:
                self._misses = 0
                self.unheard()
            return self._silent_at >= since


class Hurry:
    """Waits without end until the run is to end, and a moment longer: a short one where a user asked."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts, self._until = timeouts, math.inf

    def is_over(self) -> bool:
        now = time.monotonic()
        if self._timeouts.hurried() or self._timeouts.ending():
            self._until = min(self._until, now + self._timeouts.connect_seconds)
        return now >= self._until


class Watch:
    """Tells of one call when to give it up; `begun`: when it began, now if not given."""

    def __init__(
        self, target: Target, timeouts: Timeouts, run: str, session: str = "",
        limit_seconds: float | None = None, begun: float | None = None,
    ) -> None:  # fmt: skip
        now = time.monotonic() if begun is None else begun
        self._target, self._timeouts, self._run, self._session = target, timeouts, run, session
        self._ends_at = math.inf if limit_seconds is None else now + limit_seconds
        self._look_at = now + LOOK_SECONDS
        self._hurried = False
        self._idle_since: float | None = None

    def is_over(self) -> bool:
        now = time.monotonic()
        if not self._hurried and self._timeouts.hurried():
            self._hurried = True
            self._look_at = now + HURRIED_LOOK_SECONDS
        if self._timeouts.over or now >= self._ends_at:
            return True
        if now < self._look_at:
            return False
        if self._timeouts.look(self._target, self._run, self._look_at, hurried=self._hurried):
            return True
        return self._timeouts.is_at_no_work(self._session, self._look_at) and self._is_lost(now)

    def _is_lost(self, now: float) -> bool:
        """Tell whether nothing came for a while after the server showed this session idle or gone."""
        self._idle_since = now if self._idle_since is None else self._idle_since
        on_the_way = _HURRIED_ON_THE_WAY_SECONDS if self._hurried else _ON_THE_WAY_SECONDS
        return now - self._idle_since >= on_the_way
