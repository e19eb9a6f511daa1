"""Drives the sessions of some users: one loop for sessions that can be waited for together, else a thread each.

A user chooses a transaction, draws its parameters, runs it, and tries it again where the database gave it up for
others' sake. In a closed loop the next one begins when it is done (and has thought); in an open loop at the time
that was planned for it, from which its latency counts: a stall delays many, and all of them are counted so.
"""

from __future__ import annotations

import heapq
import random
import resource
import select
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from toolkit.executors.users.values import Value, Values, choice_of, drawing
from toolkit.model.protocols import DatabaseError
from toolkit.model.workload import Draw, Measured, Told, Workload, bucket_of
from toolkit.targets.base import UserSession

_LOOK_SECONDS = 0.2
"""How long a loop sleeps at most before it looks whether it is to end."""
_END_SECONDS = 30.0
_NOTED_SECONDS = 0.02
"""After how long what ended in an interval has been written down."""
Waits = Generator[float | None, None, None]
"""What a user waits for: the time at which it goes on, or None for an answer of its session."""


@dataclass(slots=True)
class _Window:
    """The measured interval, and what one thread saw end in it."""

    begin: float
    end: float
    told: list[Told]
    seconds: list[int]

    def note(self, which: int, now: float, latency: float, failed: DatabaseError | None) -> None:
        """Note a transaction that ended now."""
        told = self.told[which]
        if failed is None:
            bucket = bucket_of(latency)
            told.latencies[bucket] = told.latencies.get(bucket, 0) + 1
            self.seconds[int(now - self.begin)] += 1
        else:
            told.errors[failed.code] = told.errors.get(failed.code, 0) + 1
            told.messages.setdefault(failed.code, failed.sentence)

    def by_name(self, workload: Workload) -> dict[str, Told]:
        """Return what was noted by the names of the transactions."""
        return {one.name: told for one, told in zip(workload.transactions, self.told, strict=True)}


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
    _loops: list[_Loop] = field(default_factory=list)
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
            if len(self.numbers) == 1:
                session.wait_alone()
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
        users = [
            _User(self, number, session, read, arrivals)
            for number, session in zip(self.numbers, self._sessions, strict=True)
        ]
        together = all(session.descriptor is not None for session in self._sessions)
        shares = [users] if together else [[user] for user in users]
        self._arrivals, self._loops = arrivals, [_Loop(self, share) for share in shares]

    def begin(self, at: float) -> None:
        """Let the users begin one after the other, from a time of `time.monotonic` on."""
        if self._arrivals is not None:
            self._arrivals.begin(at)
        for loop in self._loops:
            thread = threading.Thread(target=loop.run, args=(at,), daemon=True, name="users")
            self._threads.append(thread)
            thread.start()

    def measure(self, begin: float, end: float, wait: Callable[[float], None]) -> Measured:
        """Return what ended in an interval.

        Args:
            begin: when, of `time.monotonic`.
            end: when.
            wait: waits until a time; it may raise.
        """
        for loop in self._loops:
            loop.open_window(begin, end)
        wait(begin)
        before = _cpu_seconds()
        wait(end)
        used = _cpu_seconds() - before
        wait(end + _NOTED_SECONDS)
        behind = 0 if self._arrivals is None else self._arrivals.behind(end)
        found = Measured(driver_seconds=used, busiest_part=used / (end - begin), behind=behind)
        for loop in self._loops:
            if loop.window is not None:
                found.add(Measured(loop.window.by_name(self.workload), loop.window.seconds))
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
    """One user: what it does, as what it waits for."""

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
        self._crew, self._work, self.session, self._own = crew, work, session, own
        self._choose = choice_of(work.transactions, own)
        self._draws = [drawing(one, own, (number, work.users), read) for one in work.transactions]
        self._arrivals = arrivals
        self._begins_after = work.ramp_up_seconds * number / work.users

    def go(self, at: float, loop: _Loop) -> Waits:
        """Work until the crew is to stop."""
        crew, clock, arrivals, think = self._crew, time.monotonic, self._arrivals, self._work.think_seconds
        if (due := at + self._begins_after) > clock():
            yield due
        while True:
            due = arrivals.take() if arrivals is not None else clock()
            if due > clock():
                yield due
            if crew.stop:
                return
            which = self._choose()
            failed = yield from self._tried(which, self._draws[which](), loop)
            now, seen = clock(), loop.window
            if seen is not None and seen.begin <= now < seen.end:
                seen.note(which, now, now - due, failed)
            if think:
                yield clock() + self._own.expovariate(1 / think)

    def _tried(
        self, which: int, values: Values, loop: _Loop
    ) -> Generator[float | None, None, DatabaseError | None]:
        """Run a transaction, again where that helps; return what it failed of."""
        session, last = self.session, self._work.tries
        for turn in range(1, last + 1):
            try:
                yield from session.run(which, values)
            except DatabaseError as error:
                if error.lost:
                    raise
                if turn == last or error.code not in session.retried or self._crew.stop:
                    return error
                now, seen = time.monotonic(), loop.window
                if seen is not None and seen.begin <= now < seen.end:
                    retries = seen.told[which].retries
                    retries[error.code] = retries.get(error.code, 0) + 1
            else:
                return None
        return None


class _Loop:
    """Drives users in one thread."""

    def __init__(self, crew: Crew, users: Sequence[_User]) -> None:
        self._crew, self._users = crew, users
        self.window: _Window | None = None

    def open_window(self, begin: float, end: float) -> None:
        """Note from now on what ends in an interval."""
        told = [Told() for _ in self._crew.workload.transactions]
        self.window = _Window(begin, end, told, [0] * (int(end - begin) + 1))

    def run(self, at: float) -> None:
        """Drive the users until the crew is to stop, or one of them lost its session."""
        try:
            self._drive([user.go(at, self) for user in self._users])
        except DatabaseError as error:
            self._crew.failed(error)
        except OSError as error:
            self._crew.failed(DatabaseError(str(error), code=type(error).__name__, lost=True))

    def _drive(self, waits: Sequence[Waits]) -> None:
        poll = select.poll()
        descriptors = [user.session.descriptor for user in self._users]
        places = {descriptor: place for place, descriptor in enumerate(descriptors)}
        heard: set[int] = set()
        sleeping: list[tuple[float, int]] = []
        left = len(waits)

        def go_on(place: int) -> int:
            """Let a user go on to its next wait; return 1 when it ended."""
            wanted, descriptor = next(waits[place], _ENDED), descriptors[place]
            if wanted is None:
                assert descriptor is not None
                if place not in heard:
                    heard.add(place)
                    poll.register(descriptor, select.POLLIN)
                return 0
            if place in heard and descriptor is not None:
                heard.discard(place)
                poll.unregister(descriptor)
            if wanted is _ENDED:
                return 1
            heapq.heappush(sleeping, (wanted, place))
            return 0

        for place in range(len(waits)):
            left -= go_on(place)
        while left:
            for descriptor, _ in poll.poll(1000 * _wait_seconds(sleeping)):
                left -= go_on(places[descriptor])
            now = time.monotonic()
            while sleeping and (sleeping[0][0] <= now or self._crew.stop):
                left -= go_on(heapq.heappop(sleeping)[1])


_ENDED = -1.0


def _wait_seconds(sleeping: Sequence[tuple[float, int]]) -> float:
    if not sleeping:
        return _LOOK_SECONDS
    return min(_LOOK_SECONDS, max(0.0, sleeping[0][0] - time.monotonic()))


def dealt(users: int, processes: int) -> list[range]:
    """Deal users out to processes."""
    return [range(process, users, processes) for process in range(processes)]
