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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from toolkit.executors.blocking import FIRST_SECONDS, Blockers
from toolkit.executors.line import Line, SilentError
from toolkit.executors.reaching import PROBE_SECONDS, Asking, Reach, number_of, unreachable
from toolkit.model.engines import engine
from toolkit.model.protocols import Answer, Connection, DatabaseError, LoadingConnection
from toolkit.model.transfers import Stream
from toolkit.model.values import Scalar
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag, Target

MONITOR_SECONDS = 70.0
"""Longest time of a read of the monitor, which is short; a driver's own limit, if any, is shorter still."""
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
_CLOSE_SECONDS = 2.0
_TOLD_SECONDS = 4.0
"""How long a user who asked for the end waits for a statement until it is said which, and what ends dbatk now."""
_SHOWN = 60


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


def open_session(
    target: Target,
    role: Role,
    tag: SessionTag,
    *,
    read_only: bool = False,
    timeouts: Timeouts | None = None,
    blockers: Blockers | None = None,
    connect: Callable[[], Connection] | None = None,
) -> Connection:
    """Open a session that is given up when the database no longer answers anybody.

    Args:
        target: the database; one that this process opens itself needs no waiting.
        role: of the session; reads of the monitor have a limit.
        tag: by which the session is found.
        read_only: whether it may only read.
        timeouts: shared by the sessions of a run.
        blockers: tells of whom they wait for locks.
        connect: opens it, where it is not opened from here.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, in time once somebody asked to end, or when it answers
            nobody (a driver's own limit is over once TCP has connected); TK-0206.
    """
    connect = connect or partial(target.connect, role, tag, read_only=read_only)
    if engine(target.engine).embedded:
        return connect()
    timeouts = timeouts or Timeouts()
    if timeouts.over:
        raise unreachable(target)
    line = Line()
    hurry, watch = _Hurry(timeouts), _Watch(target, timeouts, tag.run)
    try:
        session = line.ask(connect, lambda: hurry.is_over() or watch.is_over())
    except SilentError:
        timeouts.unheard()
        line.end(lambda found: found.close())
        raise unreachable(target) from None
    except BaseException:
        line.end(lambda found: found.close())
        raise
    timeouts.heard()
    return Waited(session, line, target, timeouts, tag.run, role, blockers)


class _Hurry:
    """Waits without end until the run is to end, and a moment longer: a short one where a user asked."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts, self._until = timeouts, math.inf

    def is_over(self) -> bool:
        now = time.monotonic()
        if self._timeouts.hurried() or self._timeouts.ending():
            self._until = min(self._until, now + self._timeouts.connect_seconds)
        return now >= self._until


class _Watch:
    """Tells of one call when to give it up."""

    def __init__(
        self, target: Target, timeouts: Timeouts, run: str, session: str = "", limit_seconds: float | None = None
    ) -> None:
        now = time.monotonic()
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


class Waited:
    """A session whose answers are waited for while the database answers anybody."""

    def __init__(
        self,
        session: Connection,
        line: Line,
        target: Target,
        timeouts: Timeouts,
        run: str,
        role: Role,
        blockers: Blockers | None = None,
    ) -> None:
        self._blockers = None if role is Role.MONITOR else blockers
        self._session, self._line, self._target, self._timeouts, self._run_id = (
            session,
            line,
            target,
            timeouts,
            run,
        )
        self._limit_seconds = MONITOR_SECONDS if role is Role.MONITOR else None
        self._ends_with_run = role is not Role.MONITOR
        self._tells = role is Role.CONTROL  # of what workers do the clock tells, in the thread of the run
        self.proves = False
        """Whether the next statement only proves what was done."""
        self._lock = threading.Lock()
        self._calls = 0
        self._cancelling: threading.Thread | None = None
        self._given_up = False

    @property
    def identity(self) -> str:
        return self._session.identity

    @property
    def transaction_id(self) -> str | None:
        return self._session.transaction_id

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        """Run one statement.

        Raises:
            DatabaseError: of the database; TK-0202, lost, when it answers nobody.
            ToolkitError: TK-0303 when the guard refuses the statement.
        """
        return self._asked(partial(self._session.execute, text, binds), text)

    def load(self, text: str, stream: Stream) -> Answer:
        """Run a statement that takes its rows from a data file.

        Raises:
            DatabaseError: as `execute`.
        """
        return self._asked(partial(cast(LoadingConnection, self._session).load, text, stream), text)

    def _asked(self, work: Callable[[], Answer], text: str) -> Answer:
        with self._lock:
            self._calls += 1
        number = number_of(self._session)
        watch = _Watch(self._target, self._timeouts, self._run_id, number, self._limit_seconds)
        begun = time.monotonic()
        lasts_since = begun + FIRST_SECONDS

        def is_over() -> bool:
            if self._tells:
                self._timeouts.tell_late(begun, f"`{' '.join(text.split())[:_SHOWN]}`")
            if self._blockers is not None and time.monotonic() >= lasts_since:
                self._blockers.look(lasts_since)
            if self._ends_with_run and (self._timeouts.cancels or (self.proves and self._timeouts.proved_enough)):
                self._timeouts.cancelled = True
                self.cancel()  # again at each tick: one that came between two statements hit nothing
            return self._given_up or watch.is_over()

        try:
            answer = self._line.ask(partial(self._run, work), is_over)
        except SilentError:
            self._give_up()
            raise DatabaseError(
                "the database does not respond; the statement may still be running", code="TK-0202", lost=True
            ) from None
        except DatabaseError as error:
            if self._blockers is not None:
                self._blockers.name(error, number, lasts_since)
            raise
        except (KeyboardInterrupt, SystemExit):
            self.cancel()
            if (cancelling := self._cancelling) is not None:
                cancelling.join(_CLOSE_SECONDS)
            self._give_up()
            raise
        assert answer is not None
        self._timeouts.heard()
        return answer

    def _run(self, work: Callable[[], Answer]) -> Answer:
        try:
            return work()
        finally:
            with self._lock:
                self._calls -= 1
                cancelling, self._cancelling = self._cancelling, None
            if cancelling is not None:  # it must not hit the next statement
                cancelling.join()

    def tag(self, action: str) -> None:
        self._session.tag(action)

    def cancel(self) -> None:
        """Cancel the running statement, without waiting until the request is sent."""
        with self._lock:
            if self._calls and (self._cancelling is None or not self._cancelling.is_alive()):
                cancelling = threading.Thread(target=self._session.cancel, daemon=True, name="cancel")
                with suppress(RuntimeError):  # this host starts no more threads: the next tick tries again
                    cancelling.start()
                    self._cancelling = cancelling

    def _give_up(self) -> None:
        self._given_up = True
        self._line.end()

    def close(self) -> None:
        """Close it, without waiting for a farewell that does not come, nor for a thread that cannot begin."""
        with self._lock:
            at_work = self._calls > 0
            ended, self._given_up = self._given_up, True
        with suppress(RuntimeError, SilentError):  # what cannot be closed ends with the process
            if at_work or ended:
                threading.Thread(target=self._session.close, daemon=True, name="close").start()
            else:
                until = time.monotonic() + _CLOSE_SECONDS
                self._line.ask(self._session.close, lambda: time.monotonic() > until)
        if not ended:
            self._line.end()
