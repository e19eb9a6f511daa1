"""Asks the monitor session: never longer than a while, and once before the first trial for what is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Stages
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.runner.context import RunContext
from toolkit.runner.timeouts import TIMEOUT_SECONDS, T, within
from toolkit.snapshots import CounterProvider, Provider

_NO_STATEMENT = "0000000000000"


def in_time(context: RunContext, provider: Provider, read: Callable[[], T], otherwise: T) -> T:
    """Let a provider read; one that asks a database which does not answer is not waited for without end."""
    if not isinstance(provider, CounterProvider):
        return read()
    try:
        return within(TIMEOUT_SECONDS, read)
    except TimeoutError:
        give_up(context, f"{provider.name}: counters")
        return otherwise


def give_up(context: RunContext, what: str) -> None:
    """Take the monitor session for dead."""
    context.sessions.abandon(Role.MONITOR)
    context.warn(f"the monitor session does not answer and was given up; {what} are missing")


def answers(context: RunContext) -> bool:
    """Tell whether the database answers the control session, which nobody else uses while the clock runs."""
    ask = step_of(context.dialect, context.dialect.instant())
    try:
        within(TIMEOUT_SECONDS, partial(context.sessions.run, ask))
    except TimeoutError:
        context.sessions.abandon(Role.CONTROL)
        return False
    except DatabaseError as error:
        return not error.lost
    except ToolkitError:
        return False
    return True


def learn_refusals(context: RunContext, stages: Stages) -> None:
    """Read once, before the first trial, all that is read around a trial.

    A view that is not granted takes the others of its statement with it, and they are then read one by one. Done
    here, that is done for the whole run, and the first trial asks no more often than the others do.
    """
    for provider in context.providers:
        if isinstance(provider, CounterProvider):
            in_time(context, provider, partial(_read_once, provider), None)
    with suppress(DatabaseError, ToolkitError):  # what fails here fails again in the trial, and is told there
        for step in stages.evidence:
            if step.parts and step.own_read and not step.tolerates:
                context.refusals.read(step, lambda part: context.sessions.run(part, 0))


def _read_once(provider: CounterProvider) -> None:
    provider.begin()
    if provider.explains:
        provider.explain(_NO_STATEMENT)
    provider.end()
