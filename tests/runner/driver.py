"""Runs or resumes one experiment in a process of its own, and kills it when told.

    python -m tests.runner.driver '{"url": ..., "store": ..., "operation": ..., "die_at": 17, ...}'

`die_at` counts the statements sent to the database; the process ends by SIGKILL just before that one, or, with
`die_in`, so many seconds after it was sent. `die_with` names words of the statement instead. With
`die_below` (a folder), `die_at` counts instead what this process changes below it: folders made, renamed, removed
and flushed; all of them are told on the standard error. With `die_storing`, `die_at` counts the transactions of
the store that ended, and the kill comes just after that one. `host` is the name of the host that it takes itself
to be on. Prints the run's id, then its end.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.repair import clean
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Event
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.store import open_store
from toolkit.store.database import Database
from toolkit.targets.base import Access, Target
from toolkit.targets.duckdb import DuckdbTarget
from toolkit.targets.postgresql import PostgresqlTarget


class Told:
    def emit(self, event: Event) -> None:
        print(f"{event.kind}: {event.text}", flush=True)


def target_of(url: str) -> Target:
    access = Access(parse_url(url))
    return DuckdbTarget(access) if access.address.engine == "duckdb" else PostgresqlTarget(access)


def killer(told: dict[str, Any]) -> Any:
    sent = 0
    lock = threading.Lock()

    def observe(text: str) -> None:
        nonlocal sent
        with lock:
            sent += 1
            now = sent
        if now == told.get("die_at") or told.get("die_with", "\0") in text:
            after = told.get("die_in")
            if after is None:
                os.kill(os.getpid(), signal.SIGKILL)
            threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()

    return observe


_CHANGES = frozenset({"os.mkdir", "os.rename", "os.remove", "os.rmdir"})


def watch_folder(told: dict[str, Any]) -> None:
    """Die just before the change of the folder that `die_at` counts."""
    changed = 0

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal changed
        # what is removed below a folder that is open is named relative to that
        inside = str(arguments[0]).startswith(told["die_below"]) or not Path(str(arguments[0])).is_absolute()
        if event in _CHANGES and inside:
            changed += 1
            print(f"{event} {arguments[0]}", flush=True)
            if changed == told.get("die_at"):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(lambda event, arguments: heard(event, arguments) if event in _CHANGES else None)


def watch_store(told: dict[str, Any]) -> None:
    """Die just after the transaction of the store that `die_at` counts."""
    real, stored = Database.write, 0

    @contextmanager
    def write(self: Database, what: str, *, durable: bool = True) -> Iterator[Connection]:
        nonlocal stored
        with real(self, what, durable=durable) as connection:
            yield connection
        stored += 1
        print(f"stored {what}", flush=True)
        if stored == told.get("die_at"):
            os.kill(os.getpid(), signal.SIGKILL)

    Database.write = write  # type: ignore[method-assign]


def main(told: dict[str, Any]) -> None:
    if told.get("host"):
        socket.gethostname = lambda: told["host"]
    target = target_of(told["url"])
    if told.get("die_below"):
        watch_folder(told)
    elif told.get("die_storing"):
        watch_store(told)
    else:
        target.observer = killer(told)
    approvals = Approvals(not_production=True)
    with open_store(told["store"]) as store:
        if told.get("clean"):
            report = clean(target, run=told["clean"], store=store, events=Told())
            print(*report.done, *report.left, sep="\n", flush=True)
            return
        if told.get("resume"):
            run = resume(told["resume"], target, store=store, approvals=approvals, events=Told())
        else:
            options = {k: tuple(v) if isinstance(v, list) else v for k, v in told["options"].items()}
            experiment = Experiment(
                told["url"],
                told["operation"],
                options,
                tuple(Factor(name, tuple(levels)) for name, levels in told["factors"].items()),
                Mode(told["mode"]),
                repeat=told.get("repeat", 1),
                warmup=told.get("warmup", 0),
                seed=3,
                time_limit_seconds=told.get("time_limit"),
            )
            run = start(experiment, target, store=store, approvals=approvals, events=Told())
    target.close()
    print(f"ended {run}", flush=True)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except ToolkitError as error:
        print(f"error {error.code}: {error.message} | {error.hint}", flush=True)
        sys.exit(int(error.exit_code))
