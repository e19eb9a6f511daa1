"""Whole schemas against PostgreSQL's own tools, side by side in one run.

    PYTHONPATH=. python benchmarks/against_postgresql_tools.py

`index rebuild --schema` against `reindexdb -j`, `stats gather --schema` against `vacuumdb --analyze-only -j`, at
the same number of sessions, on a schema of unequal tables. Printed are medians and the ratio of ours to theirs;
ours is the time on the clock, theirs the whole command's. The exit status says whether ours takes no longer.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

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
REPEAT = 5
ROWS = (40_000, 1_200_000, 60_000, 90_000, 500_000, 30_000, 250_000, 700_000)


class Silent:
    def emit(self, event: Event) -> None:
        pass


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


def ours(server: Server, folder: Path, operation: OperationName, factor: str) -> float:
    options: dict[str, OptionValue] = {"schema": ("s",)}
    factors = (Factor("degree", (1,)), Factor("concurrency", (1,)))
    factors = tuple(Factor(f.name, (SESSIONS,)) if f.name == factor else f for f in factors)
    work = Experiment(server.url, operation, options, factors, Mode.JOB, seed=1)
    target = PostgresqlTarget(Access(parse_url(server.url)))
    with open_store(folder / "store.sqlite") as store:
        run = start(work, target, store=store, approvals=Approvals(not_production=True), events=Silent())
        (trial,) = store.load_run(run).trials
    assert trial.elapsed_seconds is not None, trial.reason
    return trial.elapsed_seconds


def theirs(server: Server, tool: str, *more: str) -> float:
    assert server.bin_dir is not None
    command = [
        str(server.bin_dir / tool), "-h", server.host, "-p", str(server.port), "-U", server.user, "-d",
        server.database, "-j", str(SESSIONS), *more,
    ]  # fmt: skip
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def pair(name: str, one: Callable[[], float], other: Callable[[], float]) -> bool:
    """Interleave both ways, in turn first, and print their medians."""
    mine, tools = [], []
    one(), other()
    for repeat in range(REPEAT):
        if repeat % 2:
            tools.append(other())
            mine.append(one())
        else:
            mine.append(one())
            tools.append(other())
    a, b = statistics.median(mine), statistics.median(tools)
    print(f"{name:<44} ours {a:6.2f} s  theirs {b:6.2f} s  ratio {a / b:.3f}")
    return a <= b


def main() -> int:
    with (
        tempfile.TemporaryDirectory() as name,
        running_postgresql({"default_statistics_target": "1000"}) as server,
    ):
        make(server)
        folder = Path(name)
        rebuilt = pair(
            f"index rebuild --schema against reindexdb -j {SESSIONS}",
            lambda: ours(server, folder, "index-rebuild", "concurrency"),
            lambda: theirs(server, "reindexdb", "--schema", "s"),
        )
        gathered = pair(
            f"stats gather --schema against vacuumdb -j {SESSIONS}",
            lambda: ours(server, folder, "stats-gather", "degree"),
            lambda: theirs(server, "vacuumdb", "--analyze-only", "--schema", "s"),
        )
    return 0 if rebuilt and gathered else 1


if __name__ == "__main__":
    sys.exit(main())
