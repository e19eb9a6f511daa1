"""Runs or resumes one experiment in a process of its own, and kills it when told.

    python -m tests.runner.driver '{"url": ..., "store": ..., "operation": ..., "die_at": 17, ...}'

`die_at` counts the statements sent to the database; the process ends by SIGKILL just before that one, or, with
`die_in`, so many seconds after it was sent. `die_with` names words of the statement instead. Prints the run's id,
then its end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Event
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.store import open_store
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


def main(told: dict[str, Any]) -> None:
    target = target_of(told["url"])
    target.observer = killer(told)
    approvals = Approvals(not_production=True)
    with open_store(told["store"]) as store:
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
