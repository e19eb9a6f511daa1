"""What runs of steps left that no step goes on with: undone by the next plan run on their target.

A run whose last DROP failed (a full disk, a lost session) has done its work all the same. Its step is done, or was
begun anew under another run since, so that nobody else looks after what is left; nor does anybody where the plan
has such a step no more. A step that would go on with its run may not be due for months.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Event
from time import monotonic

from toolkit.app.maintenance.attempt import StepAttempt
from toolkit.errors import unexpected
from toolkit.model.operations import Options
from toolkit.model.plan import StepRecord
from toolkit.runner import Stop, within
from toolkit.runner.ownership import host_elsewhere

_LAST_BEGIN_SECONDS = 5.0
"""How long the next of several is begun after the first: the others are left to the next plan run."""
_LONGEST_SECONDS = 20.0
_CANCEL_SECONDS = 5.0
_LOCKS: Options = {"lock_wait": "2s", "lock_tries": 1}

History = Mapping[str, Sequence[StepRecord]]


def left_alone(attempt: StepAttempt, plan: str, history: History) -> dict[str, str]:
    """Return the step of each run here that left something and that no step goes on with.

    Args:
        attempt: of the plan run that holds the target.
        plan: its name; what became of steps that it has here no more is read.
        history: of each step that it has here, newest first.
    """
    store, target = attempt.store, attempt.plan_target.name
    dropped = {
        name: store.step_history(plan, name, target) for name in store.step_names(plan) if name not in history
    }
    left = _left(attempt, {**dropped, **history})
    going_on = _going_on(attempt, history, left.values())
    return {run: step for run, step in left.items() if run not in going_on}


def left_by(attempt: StepAttempt, history: History, resting: Collection[str]) -> dict[str, str]:
    """Return the step of each run here that left something, and that a step would go on with if not resting."""
    left = _left(attempt, history)
    waiting = _going_on(attempt, history, set(left.values()).intersection(resting))
    return {run: step for run, step in left.items() if run in waiting}


def tidy(
    attempt: StepAttempt,
    left: Mapping[str, str],
    over: Callable[[], bool],
    say: Callable[[str], None],
    *,
    last: bool = False,
) -> None:
    """Undo what runs left on a target; what takes long goes on beside the steps.

    Args:
        attempt: of the plan run that holds the target.
        left: the step of each run.
        over: whether nothing more may begin.
        say: takes a sentence for each run.
        last: whether no step follows: what takes long is cancelled, for the target is let go then.
    """
    stop, told, ended = Stop(), list[str](), Event()

    def undo() -> None:
        try:
            for sentence in _undone(attempt, left, over, stop):
                told.append(sentence)
                say(sentence)
        finally:
            ended.set()

    if over():
        for run, step in left.items():
            say(_waits(run, step))
        return
    try:
        with suppress(RuntimeError):  # this host starts no more threads: the next plan run tries again
            within(_LONGEST_SECONDS, undo, over) if left else None
    except TimeoutError:
        if not last:
            say("what earlier plan runs left is not undone yet; no step waits for that")
            return
        stop.request()
        if not ended.wait(_CANCEL_SECONDS):
            for run, step in list(left.items())[len(told) :]:
                say(_waits(run, step))


def _waits(run: str, step: str) -> str:
    return f"what run {run} of step `{step}` left is not undone yet: the next plan run tries again"


def _left(attempt: StepAttempt, history: History) -> dict[str, str]:
    """Return the step of each run that has open entries on this host."""
    opened = {entry.run for entry in attempt.store.open_entries_all() if host_elsewhere(entry) is None}
    return {
        record.run: name
        for name, records in history.items()
        for record in records
        if record.run is not None and record.run in opened
    }


def _going_on(attempt: StepAttempt, history: History, steps: Iterable[str]) -> set[str | None]:
    """Return the runs that steps go on with."""
    return {attempt.left_behind(history[name]) for name in set(steps) if name in history}


def _undone(attempt: StepAttempt, left: Mapping[str, str], over: Callable[[], bool], stop: Stop) -> Iterator[str]:
    until = monotonic() + _LAST_BEGIN_SECONDS
    for run, step in left.items():
        if over() or stop.requested or monotonic() > until:
            yield _waits(run, step)
            continue
        try:
            attempt.store.refuse_live_run(run)
            report = attempt.clean(run, stop, _LOCKS)
        except Exception as error:  # noqa: BLE001 - what an earlier run left never ends a plan run
            yield f"what run {run} of step `{step}` left could not be undone: {unexpected(error).sentence}"
        else:
            yield f"step `{step}` had left something: {'; '.join((*report.done, *report.left)) or 'it is gone'}"
