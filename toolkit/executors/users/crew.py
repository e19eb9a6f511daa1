"""Drives the sessions of some users, each in a thread of its own.

A user chooses a transaction, draws its parameters, runs it, and tries it again where the database gave it up for
others' sake. In a closed loop the next one begins when it is done (and has thought); in an open loop at the time
that was planned for it, from which its latency counts: a stall delays many, and all of them are counted so. In a
loop in the server many are run by one call, which ends at the first that fails; when each ended says the server.

What is done for each transaction is part of what is measured. Between two calls the database has the processor and
its caches, so every line here is slower than it looks: a call that waits takes less than sending, polling and
receiving in a loop for several sessions, and latencies are put into buckets many at a time.
"""

from __future__ import annotations

import random
import resource
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from toolkit.executors.users.values import Value, choice_of, drawing
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import CALL_SECONDS, CALL_TRANSACTIONS, Draw, Measured, Told, Workload, bucket_of
from toolkit.targets.base import Chosen, LoopSession, UserSession

_LOOK_SECONDS = 0.2
"""How long a user sleeps at most before it looks whether it is to end."""
_END_SECONDS = 30.0
_NOTED_SECONDS = 0.02
"""After how long what ended in an interval has been written down."""
_AT_A_TIME = 512
"""How many numbers are noted before they are put into their buckets."""
_AHEAD = 64
"""How many transactions a user draws at a time."""


@dataclass(slots=True)
class _Window:
    """The measured interval, and what one user saw end in it."""

    begin: float
    end: float
    told: list[Told]
    seconds: list[int]
    _ended: list[list[float]]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def done(self, which: int, now: float, latency: float) -> None:
        """Note a transaction that ended well now."""
        ended = self._ended[which]
        ended += now, latency
        if len(ended) >= _AT_A_TIME:
            self._count(which)

    def failed(self, which: int, error: DatabaseError) -> None:
        """Note a transaction that failed now."""
        told = self.told[which]
        told.errors[error.code] = told.errors.get(error.code, 0) + 1
        told.messages.setdefault(error.code, error.sentence)

    def _count(self, which: int) -> None:
        with self._lock:
            ended, self._ended[which] = tuple(self._ended[which]), []  # a late user may still add to the list
            latencies, seconds, begin = self.told[which].latencies, self.seconds, self.begin
            for now, latency in zip(ended[::2], ended[1::2], strict=True):
                bucket = bucket_of(latency)
                latencies[bucket] = latencies.get(bucket, 0) + 1
                seconds[int(now - begin)] += 1

    def measured(self, workload: Workload) -> Measured:
        """Return what was noted by the names of the transactions."""
        for which in range(len(self.told)):
            self._count(which)
        named = {one.name: told for one, told in zip(workload.transactions, self.told, strict=True)}
        return Measured(named, self.seconds)


@dataclass(slots=True)
class Crew:
    """The users of one process.

    Args:
        workload: what all users do.
        numbers: which of the users these are.
        open_session: opens the session of one user.
    """

    workload: Workload
    numbers: Sequence[int]
    open_session: Callable[[], UserSession]
    stop: bool = False
    error: DatabaseError | None = None
    _sessions: list[UserSession] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _users: list[_User] = field(default_factory=list)
    _arrivals: _Arrivals | None = None

    def connect(self) -> None:
        """Open all sessions and prepare what they run.

        Raises:
            DatabaseError: a statement cannot be prepared.
            ToolkitError: TK-0201.
        """
        work = self.workload
        for _ in self.numbers:
            session = self.open_session()
            self._sessions.append(session)
            session.prepare(work)
        read = {
            one.read: self._sessions[0].read(one.read)
            for transaction in work.transactions for one in transaction.parameters if one.read
        }  # fmt: skip
        for transaction in work.transactions:
            for one in transaction.parameters:
                if one.draw is Draw.CHOICE and not (read[one.read] if one.read else one.values):
                    what = f"parameter `{one.name}` of `{transaction.name}`: there is nothing to choose from"
                    raise DatabaseError(f"{what}: {one.read}", code="no-values")
        own = random.Random(f"{work.seed} {self.numbers[0]}")  # noqa: S311 (no secret is drawn)
        arrivals = _Arrivals(work.rate * len(self.numbers) / work.users, own) if work.rate else None
        self._arrivals = arrivals
        self._users = [
            _User(self, number, session, read, arrivals)
            for number, session in zip(self.numbers, self._sessions, strict=True)
        ]

    def begin(self, at: float) -> None:
        """Let the users begin one after the other, from a time of `time.monotonic` on."""
        if self._arrivals is not None:
            self._arrivals.begin(at)
        for user in self._users:
            thread = threading.Thread(target=user.work, args=(at,), daemon=True, name="user")
            self._threads.append(thread)
            thread.start()

    def measure(self, begin: float, end: float, wait: Callable[[float], None]) -> Measured:
        """Return what ended in an interval.

        Args:
            begin: when, of `time.monotonic`.
            end: when.
            wait: waits until a time; it may raise.
        """
        for user in self._users:
            user.open_window(begin, end)
        wait(begin)
        before = _cpu_seconds()
        wait(end)
        used = _cpu_seconds() - before
        wait(end + _NOTED_SECONDS)
        while self.workload.loop and not self.stop and any(user.told_until < end for user in self._users):
            wait(time.monotonic() + _NOTED_SECONDS)  # a call tells what ended in it when it ends itself
        behind = 0 if self._arrivals is None else self._arrivals.behind(end)
        found = Measured(driver_seconds=used, busiest_part=used / (end - begin), behind=behind)
        for user in self._users:
            if user.window is not None:
                found.add(user.window.measured(self.workload))
        return found

    def end(self) -> None:
        """Let the users end what they are at, and close their sessions; those that do not are cut off."""
        self.stop = True
        until = time.monotonic() + _END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for session in self._sessions:
            session.close()

    def cancel(self) -> None:
        """Let the statements end that run now."""
        self.stop = True
        for session in tuple(self._sessions):
            session.cancel()

    def failed(self, error: DatabaseError) -> None:
        """Note why the users cannot go on: the first error counts."""
        self.error = self.error or error
        self.stop = True


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class _Arrivals:
    """When transactions of an open loop are to begin: at random, so many a second; users take them in turn."""

    def __init__(self, rate: float, own: random.Random) -> None:
        self._rate, self._own = rate, own
        self._next = 0.0
        self._lock = threading.Lock()

    def begin(self, at: float) -> None:
        """Plan the first one."""
        self._next = at + self._own.expovariate(self._rate)

    def take(self) -> float:
        """Return when the next one is planned, and plan another."""
        with self._lock:
            planned = self._next
            self._next += self._own.expovariate(self._rate)
        return planned

    def behind(self, at: float) -> int:
        """Tell about how many were planned by a time and taken by nobody yet."""
        return max(0, int((at - self._next) * self._rate))


class _User:
    """One user, and what it saw."""

    def __init__(
        self,
        crew: Crew,
        number: int,
        session: UserSession,
        read: Mapping[str, Sequence[Value]],
        arrivals: _Arrivals | None,
    ) -> None:
        work = crew.workload
        own = random.Random(f"{work.seed} user {number}")  # noqa: S311 (no secret is drawn)
        self._crew, self._work, self._session, self._own = crew, work, session, own
        self._choose = choice_of(work.transactions, own)
        self._draws = [drawing(one, own, (number, work.users), read) for one in work.transactions]
        self._arrivals = arrivals
        self._begins_after = work.ramp_up_seconds * number / work.users
        self.window: _Window | None = None
        self.told_until = 0.0
        """All that ended before is told, in a loop in the server."""

    def open_window(self, begin: float, end: float) -> None:
        """Note from now on what ends in an interval."""
        told = [Told() for _ in self._work.transactions]
        self.window = _Window(begin, end, told, [0] * (int(end - begin) + 1), [[] for _ in told])

    def work(self, at: float) -> None:
        """Work from a time on until the crew is to stop, or the session is lost."""
        try:
            self._sleep(at + self._begins_after)
            if self._work.loop:
                self._call_on()
            else:
                self._work_on()
        except DatabaseError as error:
            self._crew.failed(error)
        except Exception as error:  # noqa: BLE001 - a user that is missing is never taken for one that is slow
            self._crew.failed(DatabaseError(str(error), code=type(error).__name__, lost=True))

    def _work_on(self) -> None:
        crew, clock, arrivals, think = self._crew, time.monotonic, self._arrivals, self._work.think_seconds
        for which, run in self._bound():
            if arrivals is None:
                due = clock()
            else:
                self._sleep(due := arrivals.take())
            if crew.stop:
                return
            try:
                run()
                failed = None
            except DatabaseError as error:
                failed = self._tried_again(which, run, error)
            now = clock()
            self._note(which, now, now - due, failed)
            if think:
                self._sleep(clock() + self._own.expovariate(1 / think))

    def _call_on(self) -> None:
        """Let the server run many transactions for each call; one that fails is tried again by the next call.

        Their latencies go from one end to the next by the server's clock; of what failed by ours.
        """
        crew, clock, loop = self._crew, time.monotonic, cast("LoopSession", self._session).loop
        chosen, waited, tried = deque[Chosen](), 0.0, 1
        while not crew.stop:
            while len(chosen) < CALL_TRANSACTIONS:
                which = self._choose()
                chosen.append(Chosen(which, self._draws[which]()))
            called, seen = clock(), self.window
            until = called + CALL_SECONDS
            looped = loop(chosen, (seen.end if seen and called < seen.end < until else until) - called)
            now, last = clock(), 0.0
            for ended in looped.ended:
                self._note(chosen.popleft().which, min(called + ended, now), waited + ended - last, None)
                last, waited, tried = ended, 0.0, 1
            if looped.error is not None:
                waited += now - called - last
                if self._retries(chosen[0].which, now, looped.error, tried):
                    tried += 1
                else:
                    self._note(chosen.popleft().which, now, waited, looped.error)
                    waited, tried = 0.0, 1
            self.told_until = now

    def _note(self, which: int, now: float, latency: float, failed: DatabaseError | None) -> None:
        """Note what ended now, if it is measured."""
        seen = self.window
        if seen is None or not seen.begin <= now < seen.end:
            return
        if failed is None:
            seen.done(which, now, latency)
        else:
            seen.failed(which, failed)

    def _retries(self, which: int, now: float, error: DatabaseError, tried: int) -> bool:
        """Tell whether a transaction that failed is tried again; note that it is."""
        if tried >= self._work.tries or error.lost or error.code not in self._session.retried or self._crew.stop:
            return False
        seen = self.window
        if seen is not None and seen.begin <= now < seen.end:
            retries = seen.told[which].retries
            retries[error.code] = retries.get(error.code, 0) + 1
        return True

    def _bound(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """Choose transactions and draw their values without end, some ahead of their time."""
        choose, draws, bind = self._choose, self._draws, self._session.bind
        while True:
            chosen = [choose() for _ in range(_AHEAD)]
            yield from [(which, bind(which, draws[which]())) for which in chosen]

    def _tried_again(self, which: int, run: Callable[[], None], error: DatabaseError) -> DatabaseError | None:
        """Run a transaction again that failed, where that helps; return what it failed of at last.

        Raises:
            DatabaseError: the session is lost.
        """
        tried = 1
        while self._retries(which, time.monotonic(), error, tried):
            tried += 1
            try:
                run()
            except DatabaseError as again:
                error = again
            else:
                return None
        if error.lost:
            raise error
        return error

    def _sleep(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0 and not self._crew.stop:
            time.sleep(min(left, _LOOK_SECONDS))


def dealt(numbers: Sequence[int], parts: int) -> list[Sequence[int]]:
    """Deal users out, by their numbers, to hosts or processes."""
    return [numbers[part::parts] for part in range(parts)]
