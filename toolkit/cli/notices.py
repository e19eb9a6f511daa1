"""`notify`: whether messages arrive, and the daily digest; and the messages at the end of a plan."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out_json, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, new_group, option
from toolkit.errors import ExitCode, ToolkitError

if TYPE_CHECKING:
    from toolkit.config.notices import Notices
    from toolkit.store import Store

_NO_STORE = tuple(one for one in OUTPUT if one.name != "store")
_EXPECTED = frozenset({"TK-0310", "TK-0130"})
"""A window that is closed, and a stop that somebody asked for, are no failures."""
_NEWS_DAYS = 7
"""A death that was not told for so long is told no more."""


def notify_group() -> typer.Typer:
    """Return the group with its commands."""
    group = new_group("Test and send messages about plans.")
    add_command(group, "test", _test, _NO_STORE, "Send a test message to every recipient in notify.toml.")
    since = option("since", "period that the digest covers (default 1d)", metavar="1d")
    add_command(group, "digest", _digest, [since, *OUTPUT], "Send a digest of plan runs to its subscribers.")
    return group


def tell_of(store: Store, plan: str) -> None:
    """Notify all recipients of the result of a plan; a message that could not be sent is a warning."""
    from toolkit.app.notices import tell

    for problem in tell(store.plan_runs_to_tell(plan)):
        say(f"warning: {problem}")


def tell_died(store: Store, plan: str | None = None, *, deliver: bool = False) -> None:
    """Say of plan runs whose process died that they did; with `deliver` notify all recipients, until one has it.

    A command that only reads tries it once, for what it found and on the host of the run: elsewhere others may be
    configured. What nobody has then is left to `run` and `digest`.
    """
    from toolkit.app.dead_plan_runs import end_dead_runs, silent_runs

    found = end_dead_runs(store, plan)
    for run in found:
        say(f"warning: run {run.plan_run} of plan {run.plan} died: {run.stopped_by}")
    for holder in silent_runs(store, plan):
        at, host = holder.lease.heartbeat_at, holder.lease.host
        say(f"warning: {holder.lease.run} on `{host}`: no heartbeat since {at:%Y-%m-%d %H:%M:%S} UTC")
    here = frozenset(run.plan_run for run in found if run.host == socket.gethostname())
    if deliver or here:
        _deliver_deaths(store, plan, None if deliver else here)


def _deliver_deaths(store: Store, plan: str | None, only: frozenset[str] | None) -> None:
    from datetime import timedelta

    from toolkit.app.notices import tell_death
    from toolkit.model.plan import PlanNote
    from toolkit.store.plans import DEATH_TOLD

    now = store.now()
    for name, plan_run in store.deaths_to_tell(plan, now - timedelta(days=_NEWS_DAYS)):
        if only is not None and plan_run not in only:
            continue
        told, problems = tell_death(store.plan_runs_to_tell(name), plan_run)
        for problem in problems:
            say(f"warning: {problem}")
        if told:
            store.note_plan_run(plan_run, PlanNote("", DEATH_TOLD, now))


def tell_experiment_ended(name: str, run: str, reasons: Sequence[str]) -> None:
    """Notify all recipients of an experiment that nobody watches and that did not end well."""
    if sys.stdin.isatty():
        return
    from toolkit.app.notices import tell_experiment

    for problem in tell_experiment(name, run, reasons):
        say(f"warning: {problem}")


@contextmanager
def told_of_refusals(name: str, *, experiment: bool = False) -> Iterator[None]:
    """Tell everybody when a plan that nobody watches cannot even begin; the error goes on its way.

    Of an experiment any error is told: it has no other end of which somebody would hear.
    """
    try:
        yield
    except ToolkitError as error:
        if error.code not in _EXPECTED and not sys.stdin.isatty():
            from toolkit.app.notices import tell_refused

            for problem in tell_refused(name, error, experiment=experiment):
                say(f"warning: {problem}")
        raise


def _test(arguments: Arguments) -> int:
    from toolkit.app.notices import tell_trial

    notices = _notices()
    return _show(arguments, len(notices.to), tell_trial(notices))


def _digest(arguments: Arguments) -> int:
    from datetime import UTC, datetime, timedelta

    from toolkit.app.notices import tell_digest
    from toolkit.store import open_store
    from toolkit.units import parse_duration

    notices = _notices()
    since = datetime.now(UTC) - timedelta(seconds=parse_duration(arguments.text("since") or "1d"))
    with open_store(arguments.text("store"), at_once=False) as store:
        tell_died(store, deliver=True)
        runs = [run for run in store.plan_runs(limit=10_000) if run.began_at >= since]
    return _show(arguments, *tell_digest(runs, since, notices))


def _notices() -> Notices:
    from toolkit.config.notices import load_notices, notices_file

    notices = load_notices()
    if not notices.to:
        raise ToolkitError(
            "no recipient is configured",
            code="TK-0107",
            hint=f'`docs/cookbook/tell-me-when-it-failed.md` shows {notices_file()}: `[[to]]`, `name = "dba"`, '
            '`url = {file = "/etc/dbatk/mail.url"}`; that file (mode 0600) holds '
            "`mailto://USER:PASSWORD@HOST?to=dba@example.com`",
        )
    return notices


def _show(arguments: Arguments, asked: int, problems: tuple[str, ...]) -> int:
    if arguments.flag("json"):
        out_json({"asked": asked, "told": asked - len(problems), "problems": list(problems)})
    else:
        for problem in problems:
            say(f"warning: {problem}")
        say(f"sent {asked - len(problems)} of {asked}")
    return ExitCode.FAILED if problems else ExitCode.DONE
