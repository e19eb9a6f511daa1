"""The sessions of a run: one for control, one that watches, and the workers; opened when first needed.

Every statement is a round trip, so what has the same columns is read by one (UNION ALL). A view that is not
granted would take the others with it: the parts are then read one by one, once, and the refused ones are left out
from there on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar, cast

from toolkit.dialects.answers import LockWaits
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors.ahead import Ahead
from toolkit.executors.blocking import Blockers, claimed_by
from toolkit.executors.host import run_folder
from toolkit.executors.hosts import Host, SessionsHost, ticks_ahead
from toolkit.executors.line import is_given_up
from toolkit.executors.loading import Rejected, load
from toolkit.executors.programs import Programs
from toolkit.executors.restart import by_sysdba
from toolkit.executors.waited import SILENT, Waited, open_session
from toolkit.executors.waiting import Timeouts
from toolkit.model.engines import engine
from toolkit.model.experiment import OptionValue
from toolkit.model.protocols import Answer, Connection, DatabaseError, LoadingConnection
from toolkit.model.steps import Step, Timed
from toolkit.model.values import Row
from toolkit.model.words import ON_HOST, Effect, Role, StepKind
from toolkit.rendering import step_of
from toolkit.targets.base import ProgramAccess, SessionTag, Target

_T = TypeVar("_T")
UNDOES = "-clean"  # behind the name of a run: what its sessions are called that undo it


class Sessions:
    """Opens, finds again, cancels and closes the sessions of one run."""

    def __init__(
        self, target: Target, run: str, *, read_only: bool = False, timeouts: Timeouts | None = None
    ) -> None:
        self._target = target
        self.timeouts = timeouts or Timeouts()
        self._tag = SessionTag(run)
        self._read_only = read_only
        self._open: dict[tuple[Role, int], Connection] = {}
        self._busy: set[tuple[Role, int]] = set()
        self._lock = threading.Lock()
        self.programs = Programs(run, target)
        self._waits = LockWaits()
        self._blockers = Blockers(target, self._tag)
        self._waiting: Connection | None = None
        self._ours: Callable[[str], bool] | None = None
        self._claimed: Connection | None = None
        self._ahead = Ahead()
        self.restart: tuple[str, ...] = ()  # the command that starts the server again, if that is allowed
        self.sysdba: tuple[str, ...] = ()  # the client that connects as SYSDBA, if the profile names one
        self.orphaned = False
        """Whether a lost session may still be at work in the database, unheard by anybody."""
        self.cut_off = False
        """Whether a session was lost that the database may still have: idle, but with the database's own lock."""
        self._rejected = Rejected()
        self._hosts: Sequence[SessionsHost] = ()
        self._hosts_used: Sequence[SessionsHost] = ()
        self._where: dict[tuple[Role, int], SessionsHost | None] = {}
        self._leave_hosts: Callable[[], None] = lambda: None
        self.monitor_queries = 0  # statements of the monitor session: what watching costs is counted, too

    @property
    def target(self) -> Target:
        return self._target

    @property
    def programs_folders(self) -> tuple[str, ...]:
        """Where the target's profile says that the engine's programs are."""
        return () if (folder := self._target.programs_folder) is None else (folder,)

    def administer(self, restart: tuple[str, ...], sysdba: tuple[str, ...]) -> None:
        """Allow what the target's profile names: to start the server again, and a client that is SYSDBA."""
        self.restart, self.sysdba = restart, sysdba

    def wait_for_locks(self, options: Mapping[str, OptionValue]) -> None:
        """Let changes of the control session wait for locks, and be tried again, as the options say.

        Where queries of the catalogue wait for locks as well, they do so from now on.
        """
        self._waits = dialect_of(self._target.engine).lock_waits(options)
        if self._waits.reads:
            self._let_wait(self.get(Role.CONTROL))

    def claim(self, ours: Callable[[str], bool]) -> None:
        """Take the database's own lock, now and in each control session that replaces a lost one.

        Args:
            ours: whether a run is one whose work may go on beside this one.

        Raises:
            ToolkitError: TK-0302 when a run that is not ours has it: which, from where, since when.
            DatabaseError: of the database.
        """
        self._ours, control = ours, self._open.get((Role.CONTROL, 0))
        if control is None:
            self.get(Role.CONTROL)  # claims
        else:
            self._claim(control)

    def _claim(self, session: Connection) -> None:
        row = self._try_to_claim(session)
        if row is not None and not row["run"]:  # its holder left between the try and the look
            row = self._try_to_claim(session)
        if row is None or self._ours is None:
            return
        run = str(row["run"] or "")
        # what undoes a run is of the same plan as the run
        if run != self._tag.run and not self._ours(run.removesuffix(UNDOES)):
            raise claimed_by(run, row)

    def _try_to_claim(self, session: Connection) -> Row | None:
        """Take the lock unless this session has it; return who has it, None when nobody else."""
        call = dialect_of(self._target.engine).claim()
        if call is None or self._ours is None or session is self._claimed:
            return None
        row = session.execute(step_of(dialect_of(self._target.engine), call).text).rows[0]
        if row["taken"] == "no":
            return row
        self._claimed = session
        return None

    def get(self, role: Role, number: int = 0) -> Connection:
        """Return the session of a role, opening it when needed.

        Raises:
            ToolkitError: TK-0201 when the database cannot be reached;
                TK-0302 when another run claimed it since a session was lost.
            DatabaseError: of the claim; TK-0202, lost, in a thread that was given up.
        """
        if is_given_up():  # it opens no other session, to go on in
            raise DatabaseError(SILENT, code="TK-0202", lost=True)
        key, host = (role, number), self._host_of(role, number)
        if self._where.get(key) is not host:
            self.forget(*key)  # it is on another host than it is to be now
        with self._lock:
            found = self._open.get(key)
        if found is None:
            found = self._ahead.take(key) or self._opened(role, host)
            if role is Role.CONTROL:
                try:
                    self._claim(found)
                except BaseException:
                    found.close()
                    raise
            with self._lock:
                self._open[key], self._where[key] = found, host
        return found

    def open_ahead(self, *keys: tuple[Role, int]) -> None:
        """Begin to open sessions of these roles and numbers, where the engine is for it."""
        if engine(self._target.engine).opens_ahead:
            self._ahead.begin(keys, lambda role: self._opened(role, None))

    def _opened(self, role: Role, host: SessionsHost | None) -> Connection:
        return open_session(
            self._target, role, self._tag, read_only=self._read_only, timeouts=self.timeouts,
            blockers=self._blockers, connect=None if host is None else host.connect,
        )  # fmt: skip

    # -- on other hosts -----------------------------------------------------------------------------------------
    def let_workers_be_on(self, hosts: Sequence[SessionsHost], leave: Callable[[], None]) -> None:
        """Open the worker sessions on other hosts from now on, dealt out over them, until the run leaves them."""
        self._hosts, self._hosts_used, self._leave_hosts = hosts, hosts, leave

    def deal_out(self, timed: Timed) -> None:
        """Let the worker sessions of a trial be on as many of the other hosts as it is for."""
        self._hosts_used = self._hosts[: timed.hosts or None]

    def make_ready(self, timed: Timed) -> None:
        """Do, before the clock begins, what is needed for all to begin together.

        Raises:
            DatabaseError: a host is lost.
            ToolkitError: TK-0203 when this host begins no more processes.
        """
        self.programs.make_ready(timed)
        for host in self._hosts_used:
            host.make_ready()

    def begin_together(self) -> float:
        """Set the common begin of the trial: now, or a moment ahead where other hosts must know it first.

        Returns:
            The begin, by `time.perf_counter`.
        """
        ahead = max((host.lead_seconds for host in self._hosts_used), default=0.0)
        ticks, begin = ticks_ahead(), time.monotonic() + ahead
        for host in self._hosts_used:
            host.begin_at(begin)
        return begin + ticks

    @property
    def other_hosts(self) -> Sequence[Host]:
        """The other hosts that take part in the trial, on which programs run or sessions are."""
        return self.programs.elsewhere or self._hosts_used

    def _host_of(self, role: Role, number: int) -> SessionsHost | None:
        used = self._hosts_used
        return used[number % len(used)] if used and role is Role.WORKER else None

    def run(self, step: Step, number: int = 0) -> Answer:
        """Run a step in the session it asks for; a code it tolerates gives an empty answer.

        Raises:
            DatabaseError: any other error of the database.
        """
        if step.kind in ON_HOST:
            return self._run_on_host(step)
        if step.session is Role.CONTROL and (self._waits.reads or step.effect is not Effect.READS):
            return self.trying_again(lambda: self._run_anew(step, number))
        return self._run_anew(step, number)

    def together(self, number: int, work: Callable[[], None]) -> bool:
        """Let a worker run many statements; a session with a thread of its own does so there, all in one.

        Returns:
            Whether the work ended; if not, the database answers nobody, and what ends later is of no interest.
        """
        session = self.get(Role.WORKER, number)
        if not isinstance(session, Waited):
            work()
            return True
        ended = session.together(work)
        if not ended and not self._is_replaced((Role.WORKER, number), session):
            self.abandon(Role.WORKER, number)
        return ended

    def trying_again(self, work: Callable[[], _T]) -> _T:
        """Do what waits for locks of others, as often as the options say while they are not free in time."""
        for _ in range(self._waits.tries - 1):
            try:
                return work()
            except (DatabaseError, ToolkitError) as error:
                code = error.code if isinstance(error, DatabaseError) else error.database_code
                if code not in self._waits.busy:
                    raise
        return work()

    def _run_anew(self, step: Step, number: int) -> Answer:
        try:
            return self._run_once(step, number)
        except DatabaseError as error:
            # A session that was ended while it was idle (IDLE_TIME) costs nothing but a new one. A worker's has
            # settings and a transaction, which a new one would lack.
            if step.session in (Role.WORKER, Role.HOLDER) or not (error.unsent or (error.lost and step.own_read)):
                raise
        return self._run_once(step, number)

    def _run_once(self, step: Step, number: int) -> Answer:
        key = (step.session, number if step.session is Role.WORKER else 0)
        connection = self.get(*key)
        self._busy.add(key)
        timer = self._limit(step, connection)
        if step.session is Role.MONITOR:
            self.monitor_queries += 1
        try:
            if step.session is Role.CONTROL and step.effect is not Effect.READS:
                self._try_to_claim(connection)  # a run of the same plan that had it may have ended
                self._let_wait(connection)
            if isinstance(connection, Waited):
                connection.proves = step.own_read and step.session is Role.WORKER
            if step.transfer is not None:
                return load(cast(LoadingConnection, connection), step.text, step.transfer, self._rejected)
            return connection.execute(step.text, step.binds or None)
        except DatabaseError as error:
            if error.lost:
                self.orphaned = self.orphaned or not (step.own_read or error.unsent)
                self.cut_off = self.cut_off or not error.unsent
                if self._is_replaced(key, connection):
                    raise
                self.forget(*key)
            if error.code in step.tolerates:
                return Answer(notices=(error.message,))
            raise
        finally:
            if not self._is_replaced(key, connection):
                self._busy.discard(key)
            if timer is not None:
                timer.cancel()

    def _is_replaced(self, key: tuple[Role, int], connection: Connection) -> bool:
        """Tell whether another session has the place of one that was given up and ends only now."""
        return self._open.get(key, connection) is not connection

    def comes_back(self, error: DatabaseError, tried: int) -> bool:
        """Tell whether an object that was locked is to be tried again, after so many tries."""
        return error.code in self._waits.busy and tried < self._waits.tries

    def _let_wait(self, connection: Connection) -> None:
        """Let a session wait for locks from its first change on; one that may not be told so goes on without."""
        if connection is self._waiting:
            return
        for call in self._waits.begin:
            step = step_of(dialect_of(self._target.engine), call)
            try:
                connection.execute(step.text)
            except DatabaseError as error:
                if error.code not in step.tolerates:
                    raise
        self._waiting = connection

    def _run_on_host(self, step: Step) -> Answer:
        """Run a program, or do what is to be done to a folder; no session is needed for it."""
        if step.kind is StepKind.SYSDBA:
            step = by_sysdba(step, self.sysdba, self._target.engine)
        timer = self._limit(step, self.programs)
        try:
            if step.kind is StepKind.FOLDER:
                return run_folder(step)
            access = self._target.programs_access(self._tag.run) if step.access else ProgramAccess()
            return self.programs.run(step, access, dialect_of(self._target.engine).program_error)
        except DatabaseError as error:
            if error.code in step.tolerates:
                return Answer(notices=(error.message,), lines=error.lines)
            raise
        finally:
            if timer is not None:
                timer.cancel()

    @staticmethod
    def _limit(step: Step, connection: Connection | Programs) -> threading.Timer | None:
        if step.limit_seconds is None:
            return None
        timer = threading.Timer(step.limit_seconds, connection.cancel)
        timer.daemon = True
        timer.start()
        return timer

    def cancel(self) -> None:
        """Cancel what runs now in control and worker sessions; called from another thread."""
        self._cancel(key for key in tuple(self._busy) if key[0] is not Role.MONITOR)
        self.programs.cancel()

    def cancel_worker(self, number: int) -> None:
        """Cancel what runs now in the session of one worker; called from another thread."""
        self._cancel(key for key in tuple(self._busy) if key == (Role.WORKER, number))

    def _cancel(self, keys: Iterable[tuple[Role, int]]) -> None:
        with self._lock:
            running = [self._open[key] for key in keys if key in self._open]
        for connection in running:
            connection.cancel()

    def forget(self, role: Role, number: int = 0) -> None:
        """Give up a session that is lost; the next use opens a new one."""
        with self._lock:
            lost = self._open.pop((role, number), None)
        if lost is not None:
            lost.close()

    def abandon(self, role: Role, number: int = 0) -> None:
        """Give up a session that does not answer, without waiting for it to close."""
        with self._lock:
            silent = self._open.pop((role, number), None)
        self.orphaned, self.cut_off = self.orphaned or role is not Role.MONITOR, True
        if silent is not None:
            with suppress(RuntimeError):  # this host starts no more threads: it stays until the process ends
                threading.Thread(target=silent.close, daemon=True, name="close").start()

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the sessions that are open, as the database lists them (`pid 4711` has the id 4711)."""
        with self._lock:
            open_ones = [connection.identity for connection in self._open.values()]
        if (asking := self._blockers.identity) is not None:
            open_ones.append(asking)
        return frozenset(identity.partition(" ")[2] for identity in open_ones)

    def end(self) -> None:
        """Close all sessions, and leave the other hosts that took part; never raises."""
        self.close()
        self.programs.leave_hosts()
        self._leave_hosts()

    def close(self) -> None:
        """Close all sessions; never raises."""
        self.programs.close()
        self._blockers.close()
        self._ahead.close()
        with self._lock:
            everything, self._open = list(self._open.values()), {}
        for connection in everything:
            connection.close()
        for host in self._hosts:
            host.close()
