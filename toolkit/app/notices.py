"""Tells people and monitoring what came of a plan; whatever goes wrong here is a warning, never a failed run."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from toolkit.config.notices import Notices, NotifyOn, Recipient, load_notices
from toolkit.config.paths import replace_file
from toolkit.config.secrets import resolver
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord
from toolkit.model.words import RunState
from toolkit.notify.deliver import LIMIT_SECONDS, DeliveryAddress, deliver
from toolkit.notify.message import (
    Message,
    digest_message,
    experiment_message,
    reasons_of,
    refusal_message,
    run_message,
    trial_message,
)
from toolkit.notify.metrics import exposition, file_name

_BEAT_SECONDS = 30.0
_FIRST_SECONDS = 1.0
"""How often is looked whether the plan run has begun."""


def tell(
    runs: Sequence[PlanRunRecord],
    notices: Notices | None = None,
    *,
    limit_seconds: float = LIMIT_SECONDS,
) -> tuple[str, ...]:
    """Send the messages and write the metrics of a plan that has ended.

    Args:
        runs: the plan's runs, the newest first (`store.plan_runs_to_tell(plan)`).
        notices: the recipients; None reads `notify.toml`.
        limit_seconds: how long all of it may take.

    Returns:
        What could not be done, a sentence each.
    """
    if not runs:
        return ()
    return _tell_one(runs, 0, notices, limit_seconds)[1]


def tell_death(
    runs: Sequence[PlanRunRecord],
    plan_run: str,
    notices: Notices | None = None,
    *,
    limit_seconds: float = LIMIT_SECONDS,
) -> tuple[bool, tuple[str, ...]]:
    """Send the message of a plan run that died; see `tell`.

    Returns:
        Whether it needs to be told no more (somebody has it, or nobody of those configured wants it), and what
        could not be done.
    """
    at = next((at for at, run in enumerate(runs) if run.plan_run == plan_run), None)
    return (True, ()) if at is None else _tell_one(runs, at, notices, limit_seconds)


def _tell_one(
    runs: Sequence[PlanRunRecord], at: int, notices: Notices | None, limit_seconds: float
) -> tuple[bool, tuple[str, ...]]:
    last = runs[at]
    try:
        known = notices if notices is not None else load_notices()
    except ToolkitError as error:
        return False, (f"no message was sent: {error.sentence}",)
    problems = _metrics(runs, known)
    reasons = reasons_of(last, runs[at + 1 :])
    wanted = [one for one in known.to if one.wants(last.plan, reasons)]
    reached, unsent = _sent(wanted, run_message(last, reasons), limit_seconds)
    return reached > 0 or bool(known.to and not wanted), (*problems, *unsent)


@contextmanager
def heartbeats(read: Callable[[], Sequence[PlanRunRecord]]) -> Iterator[None]:
    """Write the metrics of a plan again and again while the block runs: that they grow old tells of its death.

    Args:
        read: returns the plan's runs, the newest first.
    """
    ended = threading.Event()

    def beats() -> None:
        begun = False
        while not ended.wait(_BEAT_SECONDS if begun else _FIRST_SECONDS):
            # what cannot be read or written is said at the end of the plan run
            with suppress(ToolkitError):
                runs = read()
                begun = bool(runs) and runs[0].state is RunState.RUNNING
                if begun:
                    _metrics(runs, load_notices())

    thread = threading.Thread(target=beats, daemon=True, name="heartbeat metric")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(LIMIT_SECONDS)


def tell_digest(
    runs: Sequence[PlanRunRecord], since: datetime, notices: Notices, *, limit_seconds: float = LIMIT_SECONDS
) -> tuple[int, tuple[str, ...]]:
    """Send the digest to all who want one; return how many they are, and who was not reached."""
    sent, problems = 0, list[str]()
    for one in notices.to:
        if NotifyOn.DIGEST in one.when:
            own = [run for run in runs if one.wants(run.plan, frozenset({NotifyOn.DIGEST}))]
            problems += _send([one], digest_message(own, since), limit_seconds)
            sent += 1
    return sent, tuple(problems)


def tell_refused(name: str, error: ToolkitError, *, experiment: bool = False) -> tuple[str, ...]:
    """Send the message of a plan that could not begin, or of an experiment that an error ended.

    Returns:
        What could not be done, a sentence each.
    """
    return _tell_failed(name, refusal_message(name, error, socket.gethostname(), experiment=experiment))


def tell_experiment(name: str, run: str, reasons: Sequence[str]) -> tuple[str, ...]:
    """Send the message of an experiment that did not end well; see `experiment_message` and `tell_refused`."""
    return _tell_failed(name, experiment_message(name, run, reasons, socket.gethostname()))


def _tell_failed(name: str, message: Message) -> tuple[str, ...]:
    try:
        known = load_notices()
    except ToolkitError as unread:
        return (f"no message was sent: {unread.sentence}",)
    wanted = [one for one in known.to if one.wants(name, frozenset({NotifyOn.FAILURE, NotifyOn.ALWAYS}))]
    return _send(wanted, message, LIMIT_SECONDS)


def tell_trial(notices: Notices, *, limit_seconds: float = LIMIT_SECONDS) -> tuple[str, ...]:
    """Send a test message to all recipients; return who was not reached."""
    return _send(notices.to, trial_message(socket.gethostname()), limit_seconds)


def _metrics(runs: Sequence[PlanRunRecord], notices: Notices) -> Sequence[str]:
    if notices.metrics_folder is None or not runs:
        return ()
    try:
        path = notices.metrics_folder / file_name(runs[0].plan)
        # node_exporter reads as another user; its folder must be there already, or nobody reads it
        if not notices.metrics_folder.is_dir():
            return (f"no metrics were written: there is no folder `{notices.metrics_folder}`",)
        replace_file(path, exposition(runs, datetime.now(UTC)), mode=0o644)
    except ToolkitError as error:
        return (f"no metrics were written: {error.sentence}",)
    return ()


def _send(to: Sequence[Recipient], message: Message, limit_seconds: float) -> tuple[str, ...]:
    return _sent(to, message, limit_seconds)[1]


def _sent(to: Sequence[Recipient], message: Message, limit_seconds: float) -> tuple[int, tuple[str, ...]]:
    """Send a message; return how many have it, and who was not reached."""
    if not to:
        return 0, ()
    addresses, problems = list[DeliveryAddress](), list[str]()
    for one in to:
        try:
            url = resolver(one.url, one.name)()
        except ToolkitError as error:
            problems.append(f"`{one.name}` received no message: {error.sentence}")
        else:
            addresses.append(DeliveryAddress(one.name, url or ""))
    try:
        unsent = deliver(addresses, message, limit_seconds=limit_seconds)
        return len(addresses) - len(unsent), (*problems, *unsent)
    except ToolkitError as error:
        return 0, (*problems, f"no message was sent: {error.sentence}; {error.hint}")
