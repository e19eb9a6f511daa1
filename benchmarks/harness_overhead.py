"""How much the harness adds: to what it times, and between trials.

    PYTHONPATH=. python benchmarks/harness_overhead.py

Three figures, side by side in one run:

- DuckDB: our `elapsed_seconds` against the engine's own profile of the same statements;
- PostgreSQL: our `elapsed_seconds` against the duration that the server logs for the same statements;
- DuckDB: what lies between two clocks and is neither spent in the database nor on purpose.

At most 1 % or 5 ms above the server's figure, and below 50 ms between trials, are the limits; the exit status says
whether they hold.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import duckdb

from tests.servers.postgresql import NoServer, running_postgresql
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.config.urls import parse_url
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Answer, Event
from toolkit.model.records import TrialRecord
from toolkit.model.values import Factor, Scalar
from toolkit.model.words import Mode, Role
from toolkit.store import open_store
from toolkit.targets.base import Access, SessionTag, Target
from toolkit.targets.duckdb import DuckdbConnection, DuckdbTarget
from toolkit.targets.postgresql import PostgresqlTarget

ROWS = 1_000_000
REPEAT = 8


class Silent:
    def emit(self, event: Event) -> None:
        pass


class Profiled(DuckdbTarget):
    """Adds up the engine's own latency of the workers' statements, and the time spent inside the database."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.latencies: list[float] = []
        self.inside = 0.0

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> DuckdbConnection:
        connection = super().connect(role, tag, read_only=read_only)
        target, plain = self, connection.execute
        if role is Role.WORKER:
            plain("PRAGMA enable_profiling = 'no_output'")

        def execute(text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
            begun = time.perf_counter()
            answer = plain(text, binds)
            spent = time.perf_counter() - begun
            target.inside += spent
            if role is Role.WORKER and text.startswith(("CREATE", "COMMENT", "BEGIN", "COMMIT")):
                target.note(connection, spent)
            return answer

        connection.execute = execute  # type: ignore[method-assign]
        return connection

    def note(self, connection: DuckdbConnection, spent: float) -> None:
        """Keep the profile's time of a statement; BEGIN and COMMIT have none, so theirs is the call's."""
        told = json.loads(connection._cursor.get_profiling_information("json"))
        self.latencies.append(float(told["query"]["total_time"]) if "query" in told else spent)


def run(target: Target, options: dict[str, str], folder: Path) -> tuple[TrialRecord, ...]:
    factors = (Factor("degree", (1,)),)
    work = Experiment(target.display, "ctas", options, factors, Mode.MEASUREMENT, REPEAT, 1, seed=1)
    with open_store(folder / "store.sqlite") as store:
        made = start(work, target, store=store, approvals=Approvals(not_production=True), events=Silent())
        return store.load_run(made).trials


def of_duckdb(folder: Path) -> tuple[float, float, float]:
    """Return median own seconds, median engine seconds, and median seconds between trials."""
    path = folder / "b.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE g AS SELECT range AS i, md5(range::VARCHAR) AS t FROM range({ROWS})")
    target = Profiled(Access(parse_url(f"duckdb:///{path}")))
    begun = time.perf_counter()
    trials = run(target, {"source": "main.g", "table": "main.x"}, folder)
    spent = time.perf_counter() - begun
    target.close()
    each = len(target.latencies) // len(trials)
    engine = [sum(target.latencies[k * each : (k + 1) * each]) for k in range(len(trials))]
    own = [trial.elapsed_seconds or 0.0 for trial in trials]
    between = (spent - target.inside) / len(trials)
    return statistics.median(own), statistics.median(engine), between


def of_postgresql(folder: Path) -> tuple[float, float]:
    """Return our and the server's logged seconds of the timed statements, summed over the trials."""
    log = folder / "log"
    log.mkdir()
    log.chmod(0o777)
    settings = {
        "log_min_duration_statement": "0", "log_min_messages": "log", "logging_collector": "on",
        "log_directory": str(log), "log_filename": "server.log", "log_file_mode": "0644",
    }  # fmt: skip
    folder.chmod(0o755)
    with running_postgresql(settings) as server:
        with server.connect() as made:
            made.execute(f"CREATE TABLE g AS SELECT i, md5(i::text) t FROM generate_series(1, {ROWS}) i")
        target = PostgresqlTarget(Access(parse_url(server.url)))
        trials = run(target, {"source": "public.g", "table": "public.x"}, folder)
    logged = (log / "server.log").read_text()
    timed = r"duration: ([0-9.]+) ms  \w+[^:]*: (?:BEGIN$|CREATE TABLE \"public\".\"dbatk|COMMENT|COMMIT$)"
    server_seconds = sum(float(found[1]) for found in re.finditer(timed, logged, re.MULTILINE)) / 1000
    return sum(trial.elapsed_seconds or 0.0 for trial in trials), server_seconds


def told(name: str, own: float, engine: float) -> bool:
    above = own - engine
    print(f"{name:<12} ours {own * 1000:8.1f} ms  server {engine * 1000:8.1f} ms  above {above * 1000:6.2f} ms "
          f"({100 * above / engine:.2f} %)")  # fmt: skip
    return above <= max(0.005, 0.01 * engine)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own, engine, between = of_duckdb(folder)
        good = told("duckdb", own, engine)
        try:
            good = told("postgresql", *of_postgresql(folder)) and good
        except NoServer as error:
            print(f"postgresql   left out: {error}")
    print(f"between two trials on DuckDB, outside the database: {between * 1000:.1f} ms")
    return 0 if good and between < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
