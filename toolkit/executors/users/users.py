"""The users of a run, seen from the run: begun, measured and ended by the steps of a trial.

Each process drives several users, so that neither one process nor a switch between many is what is measured. An
engine that is a library of this process has its users in threads of it.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import cast

from toolkit.executors.keeper import receive, send
from toolkit.executors.keeping import begin_linked
from toolkit.executors.users.crew import Crew, dealt
from toolkit.executors.users.orders import Json, access_told, measured_of, raise_told
from toolkit.model.engines import engine
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.values import Row
from toolkit.model.workload import Measured, UsersAct, UsersStep, Workload, seconds_of
from toolkit.targets.base import SessionTag, Target, UsersTarget
from toolkit.units import counted

_TICK_SECONDS = 0.1
_BEGIN_SECONDS = 120.0
_LEAD_SECONDS = 0.1
"""How far ahead a common time is set, so that every process knows it by then."""
_END_SECONDS = 40.0
Wait = Callable[[float], None]


@dataclass(slots=True)
class _Process:
    """One process of users."""

    process: subprocess.Popen[bytes]
    link: socket.socket

    def ask(self, order: Mapping[str, object]) -> None:
        """Send an order."""
        try:
            send(self.link, order)
        except OSError:
            raise _gone() from None

    def answer(self, seconds: float, look: Callable[[], None]) -> Json:
        """Wait for an answer.

        Raises:
            DatabaseError: what the users failed of; it did not come in time; the process is gone.
        """
        until = time.monotonic() + seconds
        while not select.select([self.link], [], [], _TICK_SECONDS)[0]:
            look()
            if time.monotonic() > until:
                raise DatabaseError("the users did not answer in time", code="users-silent", lost=True)
        try:
            told, _ = receive(self.link)
        except (OSError, EOFError, ValueError):
            raise _gone() from None
        raise_told(told)
        return told

    def close(self) -> None:
        """Let it end, at once."""
        with suppress(OSError):
            self.link.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_TICK_SECONDS)
            return
        self.process.kill()
        self.process.wait()


def _gone() -> DatabaseError:
    return DatabaseError("a process of users ended by itself or was killed", code="users-killed")


class Users:
    """Does the steps of kind USERS; safe to `cancel` from another thread.

    Args:
        target: on which they work.
        run: the run's id.
        variables: what their processes have in their environment: by it those of a killed run are found.
        asked_to_end: whether the run is to end.
    """

    def __init__(
        self, target: Target | None, run: str, variables: Mapping[str, str], asked_to_end: Callable[[], bool]
    ) -> None:
        self._target, self._tag = cast("UsersTarget", target), SessionTag(run)
        self._variables, self._asked_to_end = variables, asked_to_end
        self._processes: list[_Process] = []
        self._crew: Crew | None = None
        self._cancelled = threading.Event()
        self.at_work = False

    def run(self, step: UsersStep) -> Answer:
        """Do one step.

        Raises:
            DatabaseError: a session cannot be opened or was lost, a statement is wrong, or it was cancelled.
        """
        workload = step.workload
        if step.act is UsersAct.END:
            self._end(workload.ramp_down_seconds if self.at_work else 0.0)
            return Answer()
        try:
            if step.act is UsersAct.BEGIN:
                self._begin(workload)
                return Answer()
            return self._measure(workload)
        except BaseException:
            self.close()
            raise

    def cancel(self) -> None:
        """Let what is waited for end."""
        self._cancelled.set()
        crew = self._crew
        if crew is not None:
            crew.cancel()

    def close(self) -> None:
        """End whatever is there, at once."""
        self.at_work = False
        processes, self._processes = self._processes, []
        for one in processes:
            one.close()
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.cancel()
            crew.end()

    # -- one step each -------------------------------------------------------------------------------------------
    def _begin(self, workload: Workload) -> None:
        self.close()
        self._cancelled.clear()
        if engine(self._target.engine).in_process:
            self._crew = Crew(workload, range(workload.users), partial(self._target.connect_user, self._tag))
            self._crew.connect()
        else:
            self._begin_processes(workload)
        at = time.monotonic() + _LEAD_SECONDS
        for one in self._processes:
            one.ask({"begin": at})
        if self._crew is not None:
            self._crew.begin(at)
        self.at_work = True
        self._wait(at + workload.ramp_up_seconds)
        for one in self._processes:
            one.ask({"look": True})
        for one in self._processes:
            one.answer(_BEGIN_SECONDS, self._look)
        self._look()

    def _begin_processes(self, workload: Workload) -> None:
        access, told = access_told(self._target.users_access), asdict(workload)
        # a process drives several sessions at once: more of them than processors only take turns
        count = min(workload.users, max(2, os.cpu_count() or 1))
        for numbers in dealt(workload.users, count):
            one = self._spawn()
            self._processes.append(one)
            one.ask({"access": access, "run": self._tag.run, "work": told, "numbers": list(numbers)})
        for one in self._processes:
            one.answer(_BEGIN_SECONDS, self._look)

    def _spawn(self) -> _Process:
        module = "toolkit.executors.users.process"
        process, ours = begin_linked(("-P", "-m", module), {**os.environ, **self._variables})
        return _Process(process, ours)

    def _measure(self, workload: Workload) -> Answer:
        begin = time.monotonic() + _LEAD_SECONDS
        end = begin + workload.measure_seconds
        offset = time.perf_counter() - time.monotonic()
        for one in self._processes:
            one.ask({"measure": [begin, end]})
        found = Measured()
        if self._crew is not None:
            found.add(self._crew.measure(begin, end, self._wait))
            found.driver_seconds = None  # the database works in the same process
            found.busiest_part = 0.0
            self._look()
        for one in self._processes:
            left = workload.measure_seconds + _BEGIN_SECONDS
            found.add(measured_of(one.answer(left, self._look)))
        _refuse_what_never_ends_well(found)
        rows = tuple(_rows(found))
        return Answer(rows, lines=tuple(_lines(found)), span=(begin + offset, end + offset))

    def _end(self, ramp_down: float) -> None:
        if self.at_work:
            with suppress(DatabaseError):
                self._wait(time.monotonic() + ramp_down)
        try:
            for one in self._processes:
                one.ask({"end": True})
            for one in self._processes:
                one.answer(_END_SECONDS, self._look)
            if self._crew is not None:
                self._crew.end()
                self._crew = None
        finally:
            self.close()

    def _wait(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            self._look()
            self._cancelled.wait(min(left, _TICK_SECONDS))

    def _look(self) -> None:
        """Raise what keeps the users from going on."""
        if self._cancelled.is_set() or self._asked_to_end():
            raise DatabaseError("the users were stopped", code="cancelled", cancelled=True)
        if self._crew is not None and self._crew.error is not None:
            raise self._crew.error


def _refuse_what_never_ends_well(found: Measured) -> None:
    """Fail a trial with a transaction that failed each time, or in which nothing ended.

    Raises:
        DatabaseError: with the code of the most frequent error.
    """
    lines = tuple(_lines(found))
    for name, told in found.transactions.items():
        if told.failed and not told.done:
            code = max(told.errors, key=lambda each: told.errors[each])
            raise DatabaseError(
                f"the transaction `{name}` failed each of {counted(told.failed, 'time')} that it ended: "
                f"{told.messages[code]}",
                code=code,
                lines=lines,
            )
    if not any(told.done for told in found.transactions.values()):
        raise DatabaseError("no transaction ended in the measured interval", code="none-ended", lines=lines)


# -- how it is handed on ------------------------------------------------------------------------------------------
def _rows(found: Measured) -> Sequence[Row]:
    """Return a row for each transaction, and one for each error; the first one is of all of them."""
    first: Row = {
        "kind": "all", "driver_seconds": found.driver_seconds, "busiest_part": found.busiest_part,
        "behind": found.behind,
    }  # fmt: skip
    rows: list[Row] = [first]
    for name, told in found.transactions.items():
        rows.append({"kind": "transaction", "name": name, "done": told.done, "failed": told.failed})
        rows += ({"kind": "latency", "name": name, "bucket": b, "count": n} for b, n in told.latencies.items())
        for kind, counts in (("error", told.errors), ("retry", told.retries)):
            rows += (
                {"kind": kind, "name": name, "code": code, "count": n, "message": told.messages.get(code, "")}
                for code, n in counts.items()
            )
    rows += ({"kind": "second", "number": number, "count": n} for number, n in enumerate(found.seconds))
    return rows


def _lines(found: Measured) -> Sequence[OutputLine]:
    """Return what was measured as a log that is kept with the trial: throughput over time, all latencies."""
    lines = [OutputLine(float(at), f"second {at + 1}: {n} transactions") for at, n in enumerate(found.seconds)]
    last = float(len(found.seconds))
    for name, told in found.transactions.items():
        lines.append(OutputLine(last, f"transaction {name}: {told.done} done, {told.failed} failed"))
        for bucket, n in sorted(told.latencies.items()):
            lines.append(OutputLine(last, f"latency {name} {seconds_of(bucket):.6g} s: {n}"))
        for kind, counts in (("error", told.errors), ("retry", told.retries)):
            lines += [OutputLine(last, f"{kind} {name} {code}: {n}") for code, n in counts.items()]
    return lines
