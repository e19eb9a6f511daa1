"""Runs programs of this host for a step: RMAN, pg_basebackup, pgBackRest; never a shell, never a secret in sight.

A program gets an argument list, an environment, and what it reads from its standard input. It runs in a session of
its own, so that Ctrl-C reaches it only through us: first SIGINT, then SIGTERM, then SIGKILL, to it and all its
children. What it writes is read line by line, scrubbed of secrets, and kept. Every program knows its run by the
variable `DBATK_RUN`: so those that a killed dbatk left behind are found and ended.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from toolkit.errors import ToolkitError
from toolkit.executors.hosts import ProgramsHost
from toolkit.executors.keeping import RUN_VARIABLE, KeptPrograms
from toolkit.executors.parameter_file import with_file
from toolkit.executors.users.hosts import UsersHost
from toolkit.executors.users.users import Users
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.steps import Step, Timed
from toolkit.model.words import READS_TEXT, Effect, StepKind
from toolkit.targets.base import ProgramAccess, Target

Judge = Callable[[str, int, Sequence[str]], DatabaseError | None]
Listener = Callable[[Step, OutputLine], None]

_OWN = "DBATK_"
_TICK_SECONDS = 0.1
_TIMEOUT_SECONDS = {signal.SIGINT: 10.0, signal.SIGTERM: 5.0}
"""How long a program may take to end after a signal before the next one is sent."""
_READER_SECONDS = 5.0
_LONGEST_LINE = 8000
_MOST_LINES = 200_000


class _User(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]
    cwd: str


@dataclass(slots=True)
class _Running:
    """A program at work: `asked` is when somebody first wanted it to end."""

    process: subprocess.Popen[bytes]
    asked: float | None = None
    sent: list[signal.Signals] = field(default_factory=list)

    def escalate(self) -> None:
        """Send the next signal that is due to the whole group."""
        if self.asked is None:
            return
        waited, due = time.monotonic() - self.asked, [signal.SIGINT]
        if waited > _TIMEOUT_SECONDS[signal.SIGINT]:
            due.append(signal.SIGTERM)
        if waited > sum(_TIMEOUT_SECONDS.values()):
            due.append(signal.SIGKILL)
        for number in due:
            if number not in self.sent:
                self.sent.append(number)
                _signal_group(self.process.pid, number)


class Programs:
    """Runs the programs of one run; safe to `cancel` from another thread.

    Args:
        run: the run's id.
        target: on which the users of its workloads work, in processes as well; None where there are none.
    """

    def __init__(self, run: str, target: Target | None = None) -> None:
        self._run = run
        self._users = Users(target, run, {RUN_VARIABLE: run}, self._is_to_end)
        self._kept = KeptPrograms(run, self._is_to_end)
        self._kept.closed = self._is_closed
        self._running: list[_Running] = []
        self._lock = threading.Lock()
        self._elsewhere: Sequence[ProgramsHost] = ()
        self._leave_hosts: Callable[[], None] = lambda: None
        self.listener: Listener | None = None
        self.asked_to_end: Callable[[], bool] = lambda: False
        """Whether the run is to end: then what does not clean up ends too, on the clock or off it."""
        self.closed: Callable[[], bool] = lambda: False
        """Whether it is to end because its window is closed: then its programs have less time for that."""

    def run(self, step: Step, access: ProgramAccess, judge: Judge) -> Answer:
        """Run the program of a step to its end.

        Args:
            step: of kind COMMAND or RMAN.
            access: how it gets into the database; empty for a program that does not.
            judge: tells from exit status and output whether it failed.

        Raises:
            DatabaseError: it failed or was cancelled; `lines` hold what it wrote.
            ToolkitError: TK-0203 when it cannot be begun.
        """
        if step.users is not None:
            return self._users.run(step.users)
        if step.program is not None and step.program.node:
            return self._elsewhere[step.program.node - 1].run(step, self._is_to_end)
        if step.program is not None:
            return self._kept.run(step, inherited(step))
        access.inspect(step.text)
        if step.kind is StepKind.PARAMETERS:
            with with_file(step, access) as (with_logon, hiding, typed):
                return self._done_by(with_logon, hiding, typed, judge)
        opening = access.opening if step.kind is StepKind.RMAN else ""
        return self._done_by(step, access, opening + step.text if step.kind in READS_TEXT else "", judge)

    def _done_by(self, step: Step, access: ProgramAccess, text: str, judge: Judge) -> Answer:
        """Run a program that reads a text from its standard input."""
        begun, used = time.monotonic(), _children_seconds()
        running = _Running(self._begin(step, access))
        lines: list[OutputLine] = []
        reader = threading.Thread(
            target=self._read, args=(step, running.process, access, begun, lines), daemon=True, name="program"
        )
        # a program that reads nothing lets a long text wait, which nothing could cancel
        feeder = threading.Thread(target=_feed, args=(running.process, text), daemon=True, name="feeder")
        with self._listed(running):
            try:
                reader.start()
                feeder.start()
            except RuntimeError:
                with running.process:
                    _signal_group(running.process.pid, signal.SIGKILL)
                raise
            status = self._wait(running, step)
            _signal_group(running.process.pid, signal.SIGKILL)
            reader.join(_READER_SECONDS)
            _close(running.process)
            if not reader.is_alive() and running.process.stdout is not None:
                running.process.stdout.close()
        row = {
            "exit_status": status,
            "cpu_seconds": _children_seconds() - used,
            "elapsed_seconds": time.monotonic() - begun,
        }
        return _answer(step, Answer((row,), lines=tuple(lines)), running, judge)

    def cancel(self) -> None:
        """Let whatever runs now end; a program that does not listen is killed after a while."""
        self._kept.cancel()
        self._users.cancel()
        for host in self._elsewhere:
            host.cancel()
        with self._lock:
            for running in self._running:
                running.asked = running.asked or time.monotonic()
                running.escalate()

    def _is_to_end(self) -> bool:
        return self.asked_to_end()

    def _is_closed(self) -> bool:
        return self.closed()

    def make_ready(self, timed: Timed) -> None:
        """Do, before the clock begins, what programs of the user's on it need to be begun together.

        Raises:
            ToolkitError: TK-0203 when this host begins no more processes.
        """
        nodes = [step.program.node for item in timed.items for step in item.steps if step.program is not None]
        if 0 in nodes:
            self._kept.make_ready(timed.workers)
        for node in sorted({*nodes} - {0}):
            self._elsewhere[node - 1].make_ready()

    @property
    def at_work(self) -> bool:
        """Whether a program of the user's runs, which ends once it was asked to: by SIGKILL if by nothing else."""
        return self._kept.at_work or self._users.at_work or any(host.at_work for host in self._elsewhere)

    @property
    def elsewhere(self) -> Sequence[ProgramsHost]:
        """The other hosts on which programs run."""
        return self._elsewhere

    def let_users_live_on(self, hosts: Sequence[UsersHost], leave: Callable[[], None]) -> None:
        """Deal the users of workloads out over other hosts, until the run leaves them."""
        self._users.hosts, self._leave_hosts = hosts, leave

    def let_jobs_run_on(self, hosts: Sequence[ProgramsHost], leave: Callable[[], None]) -> None:
        """Let the programs of node n run on the nth of these hosts, until the run leaves them."""
        self._elsewhere, self._leave_hosts = hosts, leave

    def leave_hosts(self) -> None:
        """Leave the other hosts on which users lived; nothing where there are none."""
        leave, self._leave_hosts = self._leave_hosts, lambda: None
        leave()

    def close(self) -> None:
        """Give back what is ready for further programs, and end what still runs."""
        self._users.close()
        self._kept.close()
        for host in self._elsewhere:
            host.close()

    def _wait(self, running: _Running, step: Step) -> int:
        """Wait for the program, sending the next signal when one is due."""
        while True:
            try:
                return running.process.wait(_TICK_SECONDS)
            except subprocess.TimeoutExpired:
                if step.effect is not Effect.DROPS and self.asked_to_end():
                    running.asked = running.asked or time.monotonic()
                running.escalate()

    @contextlib.contextmanager
    def _listed(self, running: _Running) -> Iterator[None]:
        with self._lock:
            self._running.append(running)
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(running)

    def _begin(self, step: Step, access: ProgramAccess) -> subprocess.Popen[bytes]:
        program = step.argv[0]
        try:
            return subprocess.Popen(
                list(step.argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_environment(self._run, step, access),
                start_new_session=True,
                **_as_user(step),
            )
        except OSError as error:
            raise ToolkitError(
                f"`{program}` cannot be run: {(error.strerror or type(error).__name__).lower()}",
                code="TK-0203",
                hint="install it, or give its location with `--bin-dir`",
            ) from None

    def _read(
        self,
        step: Step,
        process: subprocess.Popen[bytes],
        access: ProgramAccess,
        begun: float,
        lines: list[OutputLine],
    ) -> None:
        """Take what the program writes, as it comes; beyond a limit only the newest lines are kept."""
        assert process.stdout is not None
        for raw in process.stdout:
            text = access.scrub(raw[:_LONGEST_LINE].decode(errors="replace").rstrip("\r\n"))
            line = OutputLine(time.monotonic() - begun, text)
            lines.append(line)
            if len(lines) > _MOST_LINES:
                del lines[_MOST_LINES // 2]
            if self.listener is not None:
                self.listener(step, line)


def _answer(step: Step, answer: Answer, running: _Running, judge: Judge) -> Answer:
    status = running.process.returncode
    if running.asked is not None and status != 0:
        raise DatabaseError(
            f"{step.argv[0].rpartition('/')[2]} was stopped", code="cancelled", cancelled=True, lines=answer.lines
        )
    error = judge(step.name, status, [line.text for line in answer.lines])
    if error is not None:
        error.lines = answer.lines
        raise error
    return answer


def _environment(run: str, step: Step, access: ProgramAccess) -> dict[str, str]:
    """Return what the program sees: our environment without our own secrets, and messages in English."""
    ours = {RUN_VARIABLE: run}
    given = {name: value for name, value in inherited(step).items() if name not in access.without}
    return {**_in_english(given), **ours, **access.environment, **access.secrets, **step.environment}


def _in_english(given: Mapping[str, str]) -> dict[str, str]:
    """Let messages be English, which are read; LC_ALL would outrank that, and is what the rest follows."""
    every = given.get("LC_ALL")
    if every:
        kept = {name: value for name, value in given.items() if not name.startswith("LC_")}
        given = {**kept, "LANG": every}
    return {**given, "LC_MESSAGES": "C"}


def inherited(step: Step) -> dict[str, str]:
    """Return the variables that a program has from its host: none of dbatk's own, but for dbatk itself."""
    own = step.program is not None and step.program.own
    unwanted = step.without if own else (_OWN, *step.without)
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


def _as_user(step: Step) -> _User:
    """Return how root runs a program as the user whose files it works on; nothing for everybody else."""
    if step.as_user is None or os.geteuid() != 0:
        return {}
    user = pwd.getpwnam(step.as_user)
    groups = os.getgrouplist(step.as_user, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups, "cwd": "/"}


def _feed(process: subprocess.Popen[bytes], text: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(text.encode())
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdout is not None:
        process.stdout.close()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
