"""The users of a run, seen from the run: begun, measured and ended by the steps of a trial.

They live on hosts: on the run's own, or dealt out over others. All of them begin at one instant and are measured
in one interval, which each host is told by its own clock; what they counted is added up. A host that is lost fails
the trial: what the others did is no measurement of what was asked for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

from toolkit.dialects.answers import ErrorAdvice
from toolkit.dialects.registry import dialect_of
from toolkit.executors.hosts import ticks_ahead
from toolkit.executors.users.crew import dealt
from toolkit.executors.users.hosts import TICK_SECONDS, Act, Order, ThisHost, UsersHost
from toolkit.model.hosts import THIS_HOST, HostPart
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.values import Row
from toolkit.model.workload import Measured, UsersAct, UsersStep, Workload, seconds_of
from toolkit.targets.base import Target, UsersTarget
from toolkit.units import counted


@dataclass(frozen=True, slots=True)
class _Group:
    """The users of one host."""

    host: UsersHost
    numbers: tuple[int, ...]


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
        self.hosts: Sequence[UsersHost] = (ThisHost(cast("UsersTarget", target), run, variables),)
        """Where users live; a workload that is for fewer hosts takes the first ones."""
        self._target = target
        self._asked_to_end = asked_to_end
        self._groups: tuple[_Group, ...] = ()
        self._cancelled = threading.Event()
        self.at_work = False

    def run(self, step: UsersStep) -> Answer:
        """Do one step.

        Raises:
            DatabaseError: a session cannot be opened or was lost, a statement is wrong, a host is lost, or it was
                cancelled.
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
        for group in self._groups:
            group.host.cancel()

    def close(self) -> None:
        """End whatever is there, at once."""
        self.at_work = False
        groups, self._groups = self._groups, ()
        for group in groups:
            group.host.close()

    # -- one step each -------------------------------------------------------------------------------------------
    def _begin(self, workload: Workload) -> None:
        self.close()
        self._cancelled.clear()
        hosts = self.hosts[: min(workload.hosts or len(self.hosts), workload.users)]
        numbers = dealt(range(workload.users), len(hosts))
        self._groups = tuple(map(_Group, hosts, map(tuple, numbers)))
        for group in self._groups:
            group.host.ask(Order(Act.CONNECT, workload, group.numbers))
        self._answers()
        at = time.monotonic() + self._lead_seconds
        self._all(Order(Act.BEGIN, at=(at,)))
        self.at_work = True
        self._wait(at + workload.ramp_up_seconds)
        self._all(Order(Act.LOOK))

    def _measure(self, workload: Workload) -> Answer:
        offset = ticks_ahead()
        begin = time.monotonic() + self._lead_seconds
        end = begin + workload.measure_seconds
        parts = [HostPart(group.host.name, len(group.numbers), clock=group.host.clock) for group in self._groups]
        found = Measured()
        for group, part, own in zip(
            self._groups, parts, self._all(Order(Act.MEASURE, at=(begin, end))), strict=True
        ):
            part.done = sum(told.done for told in own.transactions.values())
            part.driver_seconds = own.driver_seconds
            part.samples = tuple(replace(one, at=one.at - begin) for one in group.host.samples(begin, end))
            found.add(own)
        _refuse_what_never_ends_well(found)
        if self._target is not None:
            refuse_what_is_outside(found, dialect_of(self._target.engine).explain)
        rows = (*_rows(found), *_host_rows(parts))
        return Answer(rows, lines=tuple(_lines(found)), span=(begin + offset, end + offset))

    def _end(self, ramp_down: float) -> None:
        if self.at_work:
            with suppress(DatabaseError):
                self._wait(time.monotonic() + ramp_down)
        try:
            self._all(Order(Act.END))
        finally:
            self.close()

    @property
    def _lead_seconds(self) -> float:
        return max(group.host.lead_seconds for group in self._groups)

    def _all(self, order: Order) -> list[Measured]:
        """Give all hosts an order, and return their answers once all of them have it."""
        for group in self._groups:
            group.host.ask(order)
        return self._answers()

    def _answers(self) -> list[Measured]:
        return [group.host.answer(self._look) for group in self._groups]

    def _wait(self, until: float) -> None:
        while (left := until - time.monotonic()) > 0:
            self._look()
            self._cancelled.wait(min(left, TICK_SECONDS))

    def _look(self) -> None:
        """Raise what keeps the users from going on."""
        if self._cancelled.is_set() or self._asked_to_end():
            raise DatabaseError("the users were stopped", code="cancelled", cancelled=True)
        for group in self._groups:
            group.host.check()


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


def refuse_what_is_outside(found: Measured, explain: Callable[[str, str], ErrorAdvice | None]) -> None:
    """Fail a trial in which transactions failed of what no configuration can help, as of a full disk.

    What ended well beside them is no throughput: an error is told at once, and the others had less company.

    Raises:
        DatabaseError: with the code of the most frequent of these errors.
    """
    counts, sentences = dict[str, int](), dict[str, str]()
    for told in found.transactions.values():
        for code, count in told.errors.items():
            advice = explain(code, told.messages[code])
            if advice is not None and advice.outside:
                counts[code] = counts.get(code, 0) + count
                sentences.setdefault(code, told.messages[code])
    if not counts:
        return
    code = max(counts, key=counts.__getitem__)
    ended = sum(one.done + one.failed for one in found.transactions.values())
    raise DatabaseError(
        f"{sum(counts.values()):,} of {counted(ended, 'transaction')} failed of what no configuration can help: "
        f"{sentences[code]}",
        code=code,
        lines=tuple(_lines(found)),
    )


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


def _host_rows(parts: Sequence[HostPart]) -> Sequence[Row]:
    """Return a row for each host but the run's own, and one for each value that it saw of itself."""
    rows: list[Row] = []
    for part in parts:
        if part.name == THIS_HOST:
            continue
        rows.append({
            "kind": "host", "name": part.name, "users": part.users, "done": part.done,
            "driver_seconds": part.driver_seconds, "ahead_seconds": part.clock.wall_ahead_seconds,
            "uncertainty_seconds": part.clock.uncertainty_seconds,
        })  # fmt: skip
        rows += (
            {"kind": "host-sample", "name": part.name, "at": sample.at, "what": what, "value": value}
            for sample in part.samples for what, value in sample.values.items()
        )  # fmt: skip
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
