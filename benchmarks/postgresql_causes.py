"""Eleven causes provoked on a real PostgreSQL between two intervals of the same load: each must stand first.

    PYTHONPATH=. python benchmarks/postgresql_causes.py

Snapshots are taken as `dbatk snapshot take` takes them, the second one with `--watch`; the two intervals are
compared as `dbatk compare` compares them. The exit status says whether at most one of them does not stand first.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.servers.postgresql import Server, begun_from, installed
from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.app.intervals.comparing import stored_interval
from toolkit.app.snapshots.taking import take
from toolkit.app.targets import ResolvedTarget, find_target
from toolkit.store import Store, open_store

SECONDS, WATCHED = 3.0, 2.0
SESSIONS = 3
SETTINGS = {"shared_preload_libraries": "pg_stat_statements", "track_io_timing": "on", "jit": "off",
            "max_parallel_workers_per_gather": "0", "autovacuum": "off", "shared_buffers": "128MB"}  # fmt: skip
Session = psycopg.Connection[tuple[object, ...]]


@dataclass
class Case:
    """What a session does again and again, what is changed between, and how the cause is called.

    `first` names a wait event, or a piece of the statement's text, of the cause that must stand first.
    """

    name: str
    make: Sequence[str]
    step: str
    change: Sequence[str]
    first: str
    pause: float = 0.0
    holder: tuple[str, ...] = ()
    later_step: str = ""
    later_pause: float | None = None


def filled(name: str, rows: int = 60_000) -> str:
    return (
        f"CREATE TABLE {name} AS SELECT i AS id, i % 500 AS k, md5(i::text) AS t FROM generate_series(1, {rows}) i"
    )


CASES = (
    Case("an index is dropped", (filled("t1"), "CREATE INDEX t1_k ON t1 (k)"),
         "SELECT count(t) FROM t1 WHERE k = 17", ("DROP INDEX t1_k",), "FROM t1"),
    Case("work_mem is small", (filled("t2"),), "SELECT t FROM t2 ORDER BY t OFFSET 59000",
         ("ALTER ROLE CURRENT_USER SET work_mem = '64kB'",), "FROM t2"),
    Case("a row is locked", (filled("t3", 100), "ALTER TABLE t3 ADD PRIMARY KEY (id)"),
         "UPDATE t3 SET k = k + 1 WHERE id = 5", (), "Lock:",
         holder=("UPDATE t3 SET k = 0 WHERE id = 5",)),
    Case("a table is locked", (filled("t4", 1000),), "SELECT count(*) FROM t4", (), "Lock:relation",
         holder=("LOCK TABLE t4 IN ACCESS EXCLUSIVE MODE",)),
    Case("an advisory lock is held", (filled("t5", 10),),
         "SELECT pg_advisory_lock(5), pg_advisory_unlock(5)", (), "Lock:advisory",
         holder=("SELECT pg_advisory_lock(5)",)),
    Case("a statement is executed far oftener", (filled("t6"),), "SELECT sum(k) FROM t6", (), "FROM t6",
         pause=0.2, later_pause=0.0),
    Case("statistics mislead the planner", (filled("t7"), "CREATE INDEX t7_k ON t7 (k)"),
         "SELECT count(t) FROM t7 WHERE k = 3",
         ("ALTER ROLE CURRENT_USER SET enable_indexscan = off",
          "ALTER ROLE CURRENT_USER SET enable_bitmapscan = off"), "FROM t7"),
    Case("a new report runs too", (filled("t8"), "CREATE INDEX t8_k ON t8 (k)"),
         "SELECT t FROM t8 WHERE k = 9", (), "GROUP BY",
         later_step="SELECT t FROM t8 WHERE k = 9; SELECT k, count(*), max(t) FROM t8 GROUP BY k"),
    Case("a table is full of dead rows", (filled("t9", 20_000),), "SELECT count(*) FROM t9",
         ("UPDATE t9 SET k = k + 1",) * 12, "FROM t9"),
    Case("commits wait for the write-ahead log",
         (filled("t10", 1000), "ALTER TABLE t10 ADD PRIMARY KEY (id)",
          "ALTER ROLE CURRENT_USER SET synchronous_commit = off"),
         "UPDATE t10 SET k = k + 1 WHERE id = (random() * 900)::int + 1",
         ("ALTER ROLE CURRENT_USER SET synchronous_commit = on",), "write-ahead log"),
    Case("code sleeps", ("CREATE FUNCTION work() RETURNS int LANGUAGE sql AS 'SELECT 1'",), "SELECT work()",
         ("CREATE OR REPLACE FUNCTION work() RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_sleep(0.05)'",),
         "Timeout:PgSleep", pause=0.02),
)  # fmt: skip


def work(server: Server, step: str, pause: float, stop: threading.Event) -> None:
    with contextlib.suppress(psycopg.Error), server.connect() as session:
        statements = [one for one in step.split(";") if one.strip()]
        while not stop.is_set():
            for one in statements:
                session.execute(one)  # type: ignore[call-overload]
            if pause:
                stop.wait(pause)


def hold(server: Server, statements: Sequence[str], stop: threading.Event) -> None:
    """Hold what others wait for, most of the time."""
    with server.connect() as session:
        while not stop.is_set():
            session.execute("BEGIN")
            for one in statements:
                session.execute(one)  # type: ignore[call-overload]
            stop.wait(0.25)
            session.execute("COMMIT")
            session.execute("SELECT pg_advisory_unlock_all()")
            stop.wait(0.005)


@contextlib.contextmanager
def load(server: Server, step: str, pause: float, holder: Sequence[str]) -> Iterator[None]:
    stop = threading.Event()
    threads = [threading.Thread(target=work, args=(server, step, pause, stop)) for _ in range(SESSIONS)]
    threads += [threading.Thread(target=hold, args=(server, holder, stop))] if holder else []
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.3)
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def interval(take_one: Callable[[str, float], None], name: str) -> str:
    take_one(f"{name} begin", 0.0)
    time.sleep(SECONDS)
    take_one(f"{name} end", WATCHED)
    return f"{name} begin..{name} end"


def provoke(server: Server, resolved: ResolvedTarget, store: Store, case: Case) -> IntervalDiff:
    def take_one(label: str, watch: float) -> None:
        take(store, resolved, server.url, label, watch_seconds=watch)

    with server.connect() as session:
        for one in case.make:
            session.execute(one)  # type: ignore[call-overload]
        session.execute("VACUUM ANALYZE")
    with load(server, case.step, case.pause, ()):
        before = interval(take_one, f"{case.name} 1")
    with server.connect() as session:
        for one in case.change:
            session.execute(one)  # type: ignore[call-overload]
    later = case.pause if case.later_pause is None else case.later_pause
    with load(server, case.later_step or case.step, later, case.holder):
        after = interval(take_one, f"{case.name} 2")
    with server.connect() as session:
        session.execute("ALTER ROLE CURRENT_USER RESET ALL")
    return compare_intervals(stored_interval(store, before), stored_interval(store, after))


def stands_first(case: Case, diff: IntervalDiff) -> bool:
    if not diff.causes:
        return False
    first = diff.causes[0]
    text = next((one.text for one in diff.statements if one.key == first.key), None) or ""
    named = first.key.startswith(case.first) or case.first in text
    return named and first.impact > 0


def main() -> int:
    folder = next(path for path in installed().values())
    first = 0
    with begun_from(folder, SETTINGS) as server, tempfile.TemporaryDirectory() as scratch:
        with server.connect() as session:
            session.execute("CREATE EXTENSION pg_stat_statements")
        resolved = find_target(server.url)
        with open_store(str(Path(scratch, "store.sqlite"))) as store:
            for case in CASES:
                diff = provoke(server, resolved, store, case)
                kept = stands_first(case, diff)
                first += kept
                print(f"{'first    ' if kept else 'NOT FIRST'} {case.name}")
                for cause in diff.causes[: 1 if kept else 4]:
                    print(f"          {cause_sentence(cause, diff)[:300]}")
        resolved.target.close()
    print(f"{first} of {len(CASES)} causes stand first")
    return int(first < len(CASES) - 1)


if __name__ == "__main__":
    sys.exit(main())
