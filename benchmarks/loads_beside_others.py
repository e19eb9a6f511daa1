"""Loads of one CSV file beside what people use for it, in turns.

    PYTHONPATH=. python benchmarks/loads_beside_others.py [ROWS] [REPEATS]

On PostgreSQL: `dbatk load` with one and with two sessions beside `psql \\copy` and a `COPY FROM STDIN` written by
hand with psycopg. On DuckDB: beside one INSERT of `read_csv` with the same number of threads by DuckDB's own API,
and by its client program where there is one (`duckdb`). All load the same file into a new, empty table, with a
warm disk cache; ours is the time on the clock of a job, COMMIT included, theirs that of the statement or the
command. Each round has all of them, forwards and backwards in turns. Printed are medians, their rate, and the
median of the ratios of our rate to theirs in each round. The exit status says whether each is at least 0.95. CPU
time is that of client and server, which other load hardly changes; ours is that of the whole job, with what comes
before and after the clock. Where others work on the host, `chrt --fifo 1` before the command puts all of it before
them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import psutil

from tests.servers.postgresql import Server, running_postgresql
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.targets import allow_folders
from toolkit.config.urls import parse_url
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Event
from toolkit.model.values import Factor
from toolkit.model.words import Mode
from toolkit.store import open_store
from toolkit.store.store import Store
from toolkit.targets.base import Access, Target
from toolkit.targets.duckdb import DuckdbTarget
from toolkit.targets.postgresql import PostgresqlTarget

COLUMNS = "id bigint, name varchar, price decimal(12,2), day date"
LEAST = 0.95
Timed = Callable[[], float]
Spent = Callable[[], float]


def spent(server: Server | None = None) -> float:
    """Return the CPU seconds of this process, of what it has waited for, and of a server with its sessions."""
    own = sum(os.times()[:4])
    if server is None or server.process is None:
        return own
    main = psutil.Process(server.process.pid)
    while True:  # a session that ends meanwhile would be counted twice or not at all
        sessions = main.children()
        with contextlib.suppress(psutil.NoSuchProcess):
            found = sum(main.cpu_times()[:4]) + sum(sum(each.cpu_times()[:2]) for each in sessions)
            if main.children() == sessions:
                return own + found


class Silent:
    def emit(self, event: Event) -> None:
        pass


def ours(target: Target, url: str, file: Path, degree: int, store: Store) -> float:
    work = Experiment(
        url, "load", {"files": (str(file),), "table": "lines"}, (Factor("degree", (degree,)),), Mode.JOB,
        snapshot="none",
    )  # fmt: skip
    allow_folders(work, target)
    try:
        run = start(work, target, store=store, approvals=Approvals(not_production=True), events=Silent())
    finally:
        target.close()
    (trial,) = store.load_run(run).trials
    assert trial.elapsed_seconds is not None, trial.reason
    return trial.elapsed_seconds


def clocked(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def by_hand(server: Server, file: Path) -> None:
    statement = "COPY lines FROM STDIN WITH (FORMAT csv, HEADER true)"
    with server.connect() as session, file.open("rb") as text, session.cursor().copy(statement) as copy:
        while block := text.read(256 * 1024):
            copy.write(block)


def by_psql(server: Server, file: Path) -> None:
    psql = shutil.which("psql") or str(server.bin_dir / "psql" if server.bin_dir else "psql")
    command = f"\\copy lines from '{file}' with (format csv, header true)"
    subprocess.run([psql, "-X", "-q", "-d", server.url, "-c", command], check=True)


def on_postgresql(server: Server, file: Path, store: Store) -> dict[str, Timed]:
    def emptied(work: Timed) -> Timed:
        def run() -> float:
            with server.connect() as session:
                session.execute("DROP TABLE IF EXISTS lines")
                session.execute(f"CREATE TABLE lines ({COLUMNS})".encode())
                session.execute("CHECKPOINT")
            return work()

        return run

    def load(degree: int) -> Timed:
        return lambda: ours(
            PostgresqlTarget(Access(parse_url(server.url), password=lambda: server.password)), server.url, file,
            degree, store,
        )  # fmt: skip

    return {
        "dbatk load, one session": emptied(load(1)),
        "dbatk load, two sessions": emptied(load(2)),
        "psql \\copy": emptied(lambda: clocked(lambda: by_psql(server, file))),
        "COPY by hand (psycopg)": emptied(lambda: clocked(lambda: by_hand(server, file))),
    }


def on_duckdb(folder: Path, file: Path, store: Store) -> dict[str, Timed]:
    path = folder / "lines.duckdb"

    def emptied(work: Timed) -> Timed:
        def run() -> float:
            path.unlink(missing_ok=True)
            with duckdb.connect(str(path)) as made:
                made.execute(f"CREATE TABLE lines ({COLUMNS})")
            return work()

        return run

    def api(threads: int) -> Timed:
        def run() -> float:
            with duckdb.connect(str(path)) as session:
                session.execute(f"SET threads = {threads}")
                return clocked(lambda: session.execute(f"INSERT INTO lines SELECT * FROM read_csv('{file}')"))

        return run

    def program(threads: int) -> Timed:
        insert = f"SET threads = {threads}; INSERT INTO lines SELECT * FROM read_csv('{file}')"
        called = ("duckdb", str(path), "-c")

        def run() -> float:
            path.unlink(missing_ok=True)  # another release may not read what the library has written
            subprocess.run([*called, f"CREATE TABLE lines ({COLUMNS})"], check=True)
            return clocked(lambda: subprocess.run([*called, insert], check=True, stdout=subprocess.DEVNULL))

        return run

    def load(degree: int) -> Timed:
        url = f"duckdb:///{path}"
        return lambda: ours(DuckdbTarget(Access(parse_url(url))), url, file, degree, store)

    ways = {
        "dbatk load, one thread": emptied(load(1)),
        "dbatk load, two threads": emptied(load(2)),
        "read_csv, one thread": emptied(api(1)),
        "read_csv, two threads": emptied(api(2)),
    }
    if shutil.which("duckdb"):
        ways |= {"duckdb, one thread": program(1), "duckdb, two threads": program(2)}
    return ways


def compare(
    ways: dict[str, Timed], repeats: int, size: int, rows: int, pairs: dict[str, str], spent: Spent
) -> bool:
    times: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(repeats + 1):
        for name, way in (list(ways.items()), list(ways.items())[::-1])[number % 2]:
            before = spent()
            seconds = way()
            if number:  # the first round warms caches
                times[name].append(seconds)
                cpu[name].append(spent() - before)
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, seconds in medians.items():
        spread, rate = f"{min(times[name]):.2f} to {max(times[name]):.2f}", size / seconds / 1e6
        used = statistics.median(cpu[name])
        print(
            f"{name:28} {seconds:7.2f} s ({spread}) {rate:7.1f} MB/s {rows / seconds:11,.0f} rows/s "
            f"CPU {used:.2f} s"
        )
    good = True
    for theirs, own in pairs.items():
        # of one round both met the same host: what changes from round to round is not in their ratio
        ratios = [b / a for a, b in zip(times[own], times[theirs], strict=True)]
        ratio = statistics.median(ratios)
        good = good and ratio >= LEAST
        print(f"rate of `{own}` to `{theirs}`: {ratio:.3f} ({min(ratios):.2f} to {max(ratios):.2f})")
    return good


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as place, open_store(Path(place) / "store.sqlite") as store:
        folder = Path(place)
        file = folder / "lines.csv"
        with duckdb.connect() as session:
            made = (
                "SELECT range AS id, 'line ' || range AS name, range % 9973 / 100 AS price, "
                f"DATE '2020-01-01' + (range % 999)::INT AS day FROM range({rows})"
            )
            session.execute(f"COPY ({made}) TO '{file}' (HEADER)")
        size = file.stat().st_size
        print(f"{rows:,} rows, {size / 1e6:.0f} MB, {repeats} repeats in turns")
        with running_postgresql() as server:
            theirs = dict.fromkeys(("psql \\copy", "COPY by hand (psycopg)"), "dbatk load, one session")
            good = compare(on_postgresql(server, file, store), repeats, size, rows, theirs, lambda: spent(server))
        ways = on_duckdb(folder, file, store)
        pairs = {name: f"dbatk load,{name.partition(',')[2]}" for name in ways if not name.startswith("dbatk")}
        return 0 if compare(ways, repeats, size, rows, pairs, spent) and good else 1


if __name__ == "__main__":
    sys.exit(main())
