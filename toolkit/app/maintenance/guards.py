"""What the guards of a target let a plan do: which step must wait for its begin, and which is to be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from toolkit.app.maintenance.asking import ASKING
from toolkit.app.maintenance.guard_reader import GuardReader, GuardWatch, look_once
from toolkit.app.maintenance.guard_readings import GuardReading, GuardReadings, breach, reading_behind, spell
from toolkit.app.maintenance.plan_targets import PlanTarget
from toolkit.errors import ToolkitError
from toolkit.model.plan import OF_LOCKS, WAIT_WITHOUT_WINDOW_SECONDS, Guard, Guards, OnBreach, PlanStep, Unreadable
from toolkit.runner import Stop
from toolkit.units import seconds

_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class GuardHold:
    """Why a step may not begin now; `for_good` when it has waited long enough."""

    reason: str
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class _Bad:
    """A guard that keeps a step from its work: in words, and since how many looks."""

    guard: Guard
    sentence: str
    looks: int


class GuardKeeper:
    """Keeps the guards of one target through a plan run; with no guard it lets everything pass.

    Before a step begins, the newest look decides: one that shows a limit passed keeps it waiting, one that does
    not lets it begin. A step that runs is stopped only when `looks` looks in a row show a limit passed, and at
    once when a session has waited behind it for longer than `max_blocking`.

    Args:
        plan_target: the target and its jobs.
        plan_run: the plan run, which is also the name of the guards' session.
        runs: returns the step of each run that is at work here.
        note: receives what the run report is to contain.
        now: the clock.
        in_window: whether a window ends the plan run.
    """

    def __init__(
        self,
        plan_target: PlanTarget,
        plan_run: str,
        runs: Callable[[], Mapping[str, str]],
        note: Callable[[str], None],
        now: Callable[[], datetime],
        *,
        in_window: bool,
    ) -> None:
        self._guards = {job.step.name: job.step.guards for job in plan_target.jobs}
        self._runs, self._note, self._now, self._in_window = runs, note, now, in_window
        self._every: dict[tuple[str, Guard], int] = {}
        self._seen = 0
        self._said: set[Guard] = set()
        self._since: dict[str, datetime] = {}
        self._why: dict[str, str] = {}
        self._turn = threading.Lock()
        self._watch = self._watching(plan_target, plan_run)

    def _watching(self, plan_target: PlanTarget, plan_run: str) -> GuardWatch | None:
        watched = watched_guards(self._guards.values())
        if not watched:
            return None
        refused: dict[str, str] = {}
        target = plan_target.resolved.target
        return GuardWatch(
            lambda: GuardReader(target, plan_run, plan_target.jobs, watched, refused),
            watched,
            lambda: (plan_run, ASKING.run, *self._runs()),
            min(guards.every_seconds for guards in self._guards.values()),
        )

    def __enter__(self) -> GuardKeeper:
        if self._watch is not None:
            self._watch.begin()
        return self

    def __exit__(self, *_: object) -> None:
        if self._watch is not None:
            self._watch.end()

    # -- before a step ------------------------------------------------------------------------------------------
    def before(self, step: PlanStep) -> GuardHold | None:
        """Return why a step, or its next chunk, may not begin now, or None; it is asked again until it may."""
        with self._turn:
            return self._before(step)

    def _before(self, step: PlanStep) -> GuardHold | None:
        if self._watch is None or not step.guards.limits:
            return None
        number, look = self._watch.latest
        if number == 0:
            return GuardHold("its guards are checked")
        self._count(number, look)
        bad = next(self._bad(step.name, look, look.behind), None)
        if bad is None:
            self._begins(step.name)
            return None
        now = self._now()
        waited = (now - self._since.setdefault(step.name, now)).total_seconds()
        # what cannot be read, or in part only, is not worth waiting for; a limit that is passed is
        reading = look.readings[bad.guard]
        unread = reading.unread is not None and breach(step.guards, bad.guard, reading) is None
        hopeless = unread and bad.looks >= step.guards.looks
        if hopeless or waited >= self._timeout(step.guards):
            self._why.pop(step.name, None)
            waited_for = f" after waiting {seconds(waited)}" if waited >= 1 else ""
            return GuardHold(f"not started{waited_for}: {bad.sentence}", for_good=True)
        if step.name not in self._why:
            self._note(f"`{step.name}` waits: {bad.sentence}")
        self._why[step.name] = bad.sentence
        return GuardHold(bad.sentence)

    def waits_for(self, step: str) -> str | None:
        """Return what a step waits for, or None when it does not."""
        return self._why.get(step)

    def _begins(self, step: str) -> None:
        why, since = self._why.pop(step, None), self._since.pop(step, None)
        if why is not None and since is not None:
            self._note(f"`{step}` waited {seconds((self._now() - since).total_seconds())}: {why}")

    def _timeout(self, guards: Guards) -> float:
        if guards.wait_at_most_seconds is not None:
            return guards.wait_at_most_seconds
        return float("inf") if self._in_window else WAIT_WITHOUT_WINDOW_SECONDS

    # -- while steps run ----------------------------------------------------------------------------------------
    def to_stop(self, working: Collection[str]) -> list[tuple[str, ToolkitError]]:
        """Return the steps that are to be stopped now, and why."""
        with self._turn:
            return self._to_stop(working)

    def _to_stop(self, working: Collection[str]) -> list[tuple[str, ToolkitError]]:
        if self._watch is None:
            return []
        number, look = self._watch.latest
        self._count(number, look)
        found = ((step, self._stopping(step, look)) for step in working)
        return [
            (
                step,
                ToolkitError(
                    f"stopped by the guard `{bad.guard}`: {bad.sentence}",
                    code="TK-0311",
                    hint="the next run continues it",
                ),
            )
            for step, bad in found
            if bad is not None
        ]

    def _stopping(self, step: str, look: GuardReadings) -> _Bad | None:
        guards = self._guards[step]
        for bad in self._bad(step, look, self._own(step, look)):
            if bad.guard is Guard.BLOCKING and look.readings[bad.guard].unread is None:
                return bad
            if guards.on_breach is OnBreach.STOP and bad.looks >= guards.looks:
                return bad
        return None

    # -- judging ------------------------------------------------------------------------------------------------
    def _count(self, number: int, look: GuardReadings) -> None:
        """Take note of a new look: how many in a row showed a guard bad, and what could not be read."""
        if number == self._seen:
            return
        self._seen = number
        for guard, reading in look.readings.items():
            if reading.unread is not None and guard not in self._said:
                self._said.add(guard)
                self._note(f"the guard `{guard}` cannot be read: {reading.unread}")
        for step, guards in self._guards.items():
            own = self._own(step, look)
            for guard in guards.limits:
                bad = self._sentence(step, guard, look, own) is not None
                self._every[step, guard] = self._every.get((step, guard), 0) + 1 if bad else 0

    def _own(self, step: str, look: GuardReadings) -> list[str]:
        """Return those runs of a step behind which others wait."""
        runs = self._runs() if look.behind else {}
        return [run for run in look.behind if runs.get(run) == step]

    def _bad(self, step: str, look: GuardReadings, ours: Iterable[str]) -> Iterator[_Bad]:
        """Return what is bad for a step, if it is about sessions that some of the runs block."""
        for guard in self._guards[step].limits:
            sentence = self._sentence(step, guard, look, ours)
            if sentence is not None:
                yield _Bad(guard, sentence, self._every.get((step, guard), 0))

    def _sentence(self, step: str, guard: Guard, look: GuardReadings, ours: Iterable[str]) -> str | None:
        guards, reading = self._guards[step], look.readings.get(guard, GuardReading(None, "unknown"))
        shown = [reading_behind(guard, look.behind[run]) for run in ours] if guard in OF_LOCKS else [reading]
        found = [breach(guards, guard, each) for each in shown]
        if reading.unread is not None and guards.unreadable is Unreadable.STOP:
            found.append(f"the guard `{guard}` cannot be read: {reading.unread}")
        return next((sentence for sentence in found if sentence is not None), None)


_TICK_SECONDS = 0.5


def wait_for_guards(keeper: GuardKeeper, step: PlanStep, stop: Stop, what: str, hint: str) -> bool:
    """Wait until a trial or chunk of a step may begin; tell whether it may.

    One that has waited long enough asks the step to end: TK-0311.

    Args:
        keeper: of the guards.
        step: whose guards count.
        stop: of the run.
        what: is to begin.
        hint: what continues the run.
    """
    while not stop.requested:
        hold = keeper.before(step)
        if hold is None:
            return True
        if hold.for_good:
            stop.request(ToolkitError(f"the next {what} was {hold.reason}", code="TK-0311", hint=hint))
        else:
            stop.wait(_TICK_SECONDS)
    return False


def watched_guards(each: Iterable[Guards]) -> Sequence[Guard]:
    """Return the guards that any of some tables has, in a steady order."""
    named = {guard for guards in each for guard in guards.limits}
    return [guard for guard in Guard if guard in named]


# -- for those who look before they let it run ----------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class GuardRow:
    """A guard on a target: its limit, what it shows, and `ok`, `passed` or `unreadable`."""

    target: str
    guard: str
    limit: str
    now: str
    verdict: str


def guard_rows(targets: Sequence[PlanTarget]) -> list[GuardRow]:
    """Read the guards of each target once, several targets at a time; none is waited for without end."""
    guarded = [plan_target for plan_target in targets if any(job.step.guards.limits for job in plan_target.jobs)]
    if not guarded:
        return []
    with ThreadPoolExecutor(min(_AT_ONCE, len(guarded)), thread_name_prefix="guards") as pool:
        return [row for rows in pool.map(_rows, guarded) for row in rows]


def _rows(plan_target: PlanTarget) -> list[GuardRow]:
    tables: dict[str, Guards] = {job.step.name: job.step.guards for job in plan_target.jobs}
    watched = watched_guards(tables.values())
    reader = GuardReader(plan_target.resolved.target, "dbatk plan", plan_target.jobs, watched, {})
    look, answered = look_once(reader, watched, ("dbatk plan",))
    if answered:
        reader.close()
    rows = []
    for guard in watched:
        reading = look.readings[guard]
        limits = {guards.limits[guard]: guards for guards in tables.values() if guard in guards.limits}
        for limit, guards in limits.items():
            now = f"{reading.said}: {reading.unread}" if reading.unread else reading.said
            passed = breach(guards, guard, reading) is not None
            verdict = "passed" if passed else "unreadable" if reading.unread else "ok"
            rows.append(
                GuardRow(
                    plan_target.name,
                    guard.value,
                    f"at {'least' if guard.at_least else 'most'} {spell(guard, limit)}",
                    now,
                    verdict,
                )
            )
    return rows
