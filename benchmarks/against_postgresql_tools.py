"""Whole schemas against PostgreSQL's own tools, side by side in one run.

    PYTHONPATH=. python benchmarks/against_postgresql_tools.py

`index rebuild --schema` against `reindexdb -j`, `stats gather --schema` against `vacuumdb --analyze-only -j`,
at the same number of sessions, none with parallel workers: on a schema of unequal tables, where ours is the
time on the clock, and on schemas of 60 tables and of 800 small ones, where ours is the whole run with
journal, evidence and store. Theirs is the whole command's time. Both take turns, which begins alternates, and
each pair gives a ratio: printed are the medians of both, and median, least and greatest of the ratios, with our
own CPU time and how many statements we sent. It takes less than four minutes on two idle cores. The exit status
says whether ours takes no longer on the clock, and in all at most 1.1 times (60 tables) and 1.3 times (800) as
long.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.servers.postgresql import Server, running_postgresql
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.config.urls import parse_url
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.protocols import Event
from toolkit.model.values import Factor
from toolkit.model.words import Mode, OperationName
from toolkit.store import open_store
from toolkit.targets.base import Access
from toolkit.targets.postgresql import PostgresqlTarget

SESSIONS = 2
PAIRS_ON_THE_CLOCK, PAIRS = 3, 9
ROWS = (20_000, 600_000, 30_000, 45_000, 250_000, 15_000, 125_000, 350_000)


class Took(NamedTuple):
    """What a run of ours took: by the clock, of our CPU, and in statements sent."""

    seconds: float
    cpu_seconds: float
    statements: int


class Silent:
    def emit(self, event: Event) -> None:
        pass


def make_many(server: Server, schema: str, tables: int, rows: int) -> None:
    with server.connect() as made:
        made.execute(f"CREATE SCHEMA {schema}")
        for number in range(tables):
            made.execute(
                f"CREATE TABLE {schema}.t{number} AS SELECT i, md5(i::text) AS t FROM generate_series(1, {rows}) i"
            )
            made.execute(f"CREATE INDEX ON {schema}.t{number} (t)")
        made.execute("CHECKPOINT")


def make(server: Server) -> None:
    with server.connect() as made:
        made.execute("CREATE SCHEMA s")
        for number, rows in enumerate(ROWS):
            made.execute(
                f"CREATE TABLE s.t{number} AS SELECT i, i % 1000 AS k, md5(i::text) AS t "
                f"FROM generate_series(1, {rows}) i"
            )
            made.execute(f"CREATE INDEX ON s.t{number} (t)")
            made.execute(f"CREATE INDEX ON s.t{number} (k)")
        made.execute("SET default_statistics_target = 1000")
        made.execute("CHECKPOINT")


def ours(
    server: Server, folder: Path, operation: OperationName, factor: str, schema: str = "s", *, whole: bool = False
) -> Took:
    options: dict[str, OptionValue] = {"schema": (schema,)}
    factors = (Factor("degree", (1,)), Factor("concurrency", (1,)))
    factors = tuple(Factor(f.name, (SESSIONS,)) if f.name == factor else f for f in factors)
    work = Experiment(server.url, operation, options, factors, Mode.JOB, seed=1)
    target, sent = PostgresqlTarget(Access(parse_url(server.url))), list[str]()
    target.observer = sent.append
    begun, used = time.perf_counter(), time.process_time()
    with open_store(folder / "store.sqlite") as store:
        run = start(work, target, store=store, approvals=Approvals(not_production=True), events=Silent())
        took, used = time.perf_counter() - begun, time.process_time() - used
        (trial,) = store.load_run(run).trials
    assert trial.elapsed_seconds is not None, trial.reason
    return Took(took if whole else trial.elapsed_seconds, used, len(sent))


def theirs(server: Server, tool: str, *more: str) -> float:
    assert server.bin_dir is not None
    command = [
        str(server.bin_dir / tool), "-h", server.host, "-p", str(server.port), "-U", server.user, "-d",
        server.database, "-j", str(SESSIONS), *more,
    ]  # fmt: skip
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def pair(name: str, one: Callable[[], Took], other: Callable[[], float], pairs: int, most: float = 1.0) -> bool:
    """Interleave both ways, in turn first; print and judge the median of the pairs' ratios."""
    mine, tools = list[Took](), list[float]()
    one(), other()
    for number in range(pairs):
        if number % 2:
            tools.append(other())
            mine.append(one())
        else:
            mine.append(one())
            tools.append(other())
    ratios = [a.seconds / b for a, b in zip(mine, tools, strict=True)]
    ratio, (cpu, sent) = statistics.median(ratios), mine[0][1:]
    print(
        f"{name:<44} ours {statistics.median(a.seconds for a in mine):6.2f} s  theirs "
        f"{statistics.median(tools):6.2f} s  ratio {ratio:.3f} ({min(ratios):.2f} to {max(ratios):.2f}), at most "
        f"{most}; our CPU {cpu:.2f} s, {sent:,} statements",
        flush=True,
    )
    return ratio <= most


def main() -> int:
    gc.set_threshold(20_000)  # as the command line does
    with (
        tempfile.TemporaryDirectory() as name,
        running_postgresql(
            {"default_statistics_target": "1000", "max_parallel_maintenance_workers": "0"}
        ) as server,
    ):
        make(server)
        folder = Path(name)
        rebuilt = pair(
            f"index rebuild --schema against reindexdb -j {SESSIONS}",
            lambda: ours(server, folder, "index-rebuild", "concurrency"),
            lambda: theirs(server, "reindexdb", "--schema", "s"),
            PAIRS_ON_THE_CLOCK,
        )
        gathered = pair(
            f"stats gather --schema against vacuumdb -j {SESSIONS}",
            lambda: ours(server, folder, "stats-gather", "degree"),
            lambda: theirs(server, "vacuumdb", "--analyze-only", "--schema", "s"),
            PAIRS_ON_THE_CLOCK,
        )
        passed = [rebuilt, gathered]
        for schema, tables, rows, most in (("sixty", 60, 40_000, 1.1), ("many", 800, 500, 1.3)):
            make_many(server, schema, tables, rows)
            for operation, factor, tool in (
                ("index-rebuild", "concurrency", ("reindexdb",)),
                ("stats-gather", "degree", ("vacuumdb", "--analyze-only")),
            ):
                passed.append(
                    pair(
                        f"{operation} of {tables} tables, in all",
                        partial(ours, server, folder, operation, factor, schema, whole=True),
                        partial(theirs, server, *tool, "--schema", schema),
                        PAIRS,
                        most,
                    )
                )
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
