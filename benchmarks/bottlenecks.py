"""Bottlenecks planted for real on PostgreSQL and DuckDB: `dbatk advise` must name each first.

    PYTHONPATH=. python benchmarks/bottlenecks.py [NAME...]

Needs a PostgreSQL server's binaries; the throttled disk also root, a loop device and cgroup v1 (blkio), else it is
skipped with a sentence. On a machine that others use, what needs idle CPUs is skipped as well: there the load of
others is the true answer. The exit status says whether more than one of those judged was not named first.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psutil

from tests.servers.postgresql import Server, begun_from, installed
from toolkit.analysis.bottlenecks import BottleneckKind as Kind
from toolkit.analysis.recommendation import Recommendation
from toolkit.app.advising import advised
from toolkit.cli.main import main as dbatk
from toolkit.store import open_store

ROWS = 1_500_000
SETTINGS = {"jit": "off", "shared_buffers": "32MB", "max_wal_size": "4GB", "parallel_setup_cost": "0",
            "parallel_tuple_cost": "0", "min_parallel_table_scan_size": "0"}  # fmt: skip
HEAVY = "SELECT count(*) AS n, max(md5(md5(md5(i::text)))) AS m FROM {source}"
LIGHT = "SELECT count(*) AS n FROM s"
SORT = "SELECT md5(i::text) AS t, i FROM s ORDER BY 1"


class CannotBePlantedError(Exception):
    """It cannot be planted here; the message says why."""


@dataclass(frozen=True)
class Case:
    """What is measured, what is in its way, and what must be named first."""

    name: str
    kind: Kind
    query: str
    options: Sequence[str] = ()
    planted: Callable[[Server], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    make: Sequence[str] = ()
    role: Sequence[str] = ()
    engine: str = "postgresql"
    idle_cpus: bool = False
    factor: str = ""


# -- what is planted --------------------------------------------------------------------------------------------
@contextlib.contextmanager
def again_and_again(turn: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do something in a thread until the end."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            turn(stop)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextlib.contextmanager
def lock(server: Server) -> Iterator[None]:
    """Let two sessions hold a lock in turn: while one has it the other waits for it, so there is no gap."""

    def turn(stop: threading.Event) -> None:
        with server.connect() as session:
            while not stop.is_set():
                session.execute("BEGIN")
                session.execute("LOCK TABLE s IN ACCESS EXCLUSIVE MODE")
                stop.wait(2)
                session.execute("COMMIT")

    with again_and_again(turn), again_and_again(turn):
        yield


def no_standby(server: Server) -> contextlib.AbstractContextManager[None]:
    """Let commits wait for a standby that is not there, most of the time."""

    def turn(stop: threading.Event) -> None:
        with server.connect() as session:
            for name, seconds in (("nobody", 6.0), ("", 0.3)):
                session.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")  # type: ignore[call-overload]
                session.execute("SELECT pg_reload_conf()")
                stop.wait(0.0 if name and stop.is_set() else seconds)

    return again_and_again(turn)


@contextlib.contextmanager
def load(_: Server | None) -> Iterator[None]:
    """Keep all CPUs busy for a while with something else.

    A shell begins it that ends, or it would be a program of dbatk's; in sessions of its own, since Linux shares
    CPUs out among sessions.
    """
    spin = f'"{sys.executable}" -c "import time; end = time.time() + 120\nwhile time.time() < end: pass"'
    begin = f"for _ in $(seq {4 * (psutil.cpu_count() or 1)}); do setsid {spin} >/dev/null 2>&1 & echo $!; done"
    begun = subprocess.run(["sh", "-c", begin], capture_output=True, text=True, check=True)
    try:
        yield
    finally:
        for pid in begun.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


@contextlib.contextmanager
def slow_disk(server: Server) -> Iterator[None]:
    """Put the table on a loop device that reads 12 MB a second, and out of the page cache again and again."""
    group = Path("/sys/fs/cgroup/blkio/dbatk-bench")
    if os.geteuid() or not group.parent.is_dir() or server.process is None:
        raise CannotBePlantedError("a throttled disk needs root, a loop device and cgroup v1 (blkio)")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dbatk-bench-")))
        folder.chmod(0o711)
        image, place = folder / "disk.img", folder / "mount"
        place.mkdir()
        with image.open("wb") as file:
            file.truncate(600 * 2**20)
        run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()  # noqa: E731
        try:
            run("mkfs.ext4", "-q", str(image))
            device = run("losetup", "-f", "--show", str(image))
            stack.callback(run, "losetup", "-d", device)
            run("mount", device, str(place))
            stack.callback(run, "umount", str(place))
            group.mkdir(exist_ok=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CannotBePlantedError(f"no loop device or cgroup is allowed here: {error}") from None
        data = place / "data"
        data.mkdir()
        owner = Path(str(server.data)).stat()
        os.chown(data, owner.st_uid, owner.st_gid)
        with server.connect() as session:
            session.execute(f"CREATE TABLESPACE slow LOCATION '{data}'")  # type: ignore[call-overload]
            session.execute("ALTER TABLE s SET TABLESPACE slow")
            session.execute("CHECKPOINT")
        numbers = Path(device).stat().st_rdev
        limit = f"{os.major(numbers)}:{os.minor(numbers)} {12 * 2**20}"
        (group / "blkio.throttle.read_bps_device").write_text(limit)
        stack.callback(move, server, group.parent, group)
        move(server, group, None)

        def evict(stop: threading.Event) -> None:
            for path in data.rglob("*"):
                with contextlib.suppress(OSError), path.open("rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            stop.wait(0.1)

        try:
            with again_and_again(evict):
                yield
        finally:
            with server.connect() as session:
                session.execute("ALTER TABLE s SET TABLESPACE pg_default")
                session.execute("DROP TABLESPACE slow")


def move(server: Server, group: Path, gone: Path | None) -> None:
    """Put the server into a control group; sessions to come are begun in it."""
    assert server.process is not None
    for process in (server.process.pid, *server.backends()):
        with contextlib.suppress(OSError):
            (group / "cgroup.procs").write_text(str(process))
    if gone is not None:
        gone.rmdir()


PARTITIONS = (
    "CREATE TABLE p (i int) PARTITION BY RANGE (i)",
    *(f"CREATE TABLE p{at} PARTITION OF p FOR VALUES FROM ({low}) TO ({high}) WITH (parallel_workers = 0)"
      for at, (low, high) in enumerate([(0, 2_000_000), (2_000_000, 2_010_000), (2_010_000, 2_020_000)])),
    f"INSERT INTO p SELECT g FROM generate_series(1, {ROWS}) g",
    "INSERT INTO p SELECT g FROM generate_series(2000000, 2019999) g", "ANALYZE p",
)  # fmt: skip
FUNCTION = (
    "CREATE OR REPLACE FUNCTION slow_{kind}(i int) RETURNS text LANGUAGE plpgsql PARALLEL {kind} COST 1 AS "
    "'BEGIN RETURN md5(md5(md5(md5(i::text)))); END'"
)
LITTLE = """
[[factor]]
name = "memory_limit"
levels = ["150.0MiB"]
read_sql = "SELECT replace(current_setting('memory_limit'), ' ', '')"
apply_sql = "SET memory_limit = '{level}'"
undo_sql = "SET memory_limit = '{before}'"
"""
CASES = (
    Case("small memory", Kind.MEMORY, SORT, ("--degree", "1", "--work-mem", "64K")),
    Case("exhausted workers", Kind.SERVERS, HEAVY.format(source="s"), ("--degree", "4"),
         role=("max_parallel_workers = 1",)),
    Case("a lock", Kind.LOCKS, LIGHT, ("--degree", "1"), planted=lock),
    Case("an unsafe function", Kind.SERIAL, "SELECT max(slow_unsafe(i)) AS m FROM s WHERE i % 4 = 0",
         ("--degree", "2"), make=(FUNCTION.format(kind="unsafe"),)),
    Case("a restricted function", Kind.SERIAL, "SELECT slow_restricted(i) AS m FROM s WHERE i % 3 = 0",
         ("--degree", "3"), make=(FUNCTION.format(kind="restricted"),)),
    Case("skewed data", Kind.SKEW, HEAVY.format(source="p"), ("--degree", "3"), make=PARTITIONS,
         role=("parallel_leader_participation = off",)),
    Case("a second load", Kind.OTHERS, HEAVY.format(source="s"), ("--degree", "1"), planted=load),
    Case("commits wait", Kind.LOG, "SELECT i FROM s WHERE i % 100 = 0", ("--degree", "1"), planted=no_standby),
    Case("CPUs full", Kind.CPU, HEAVY.format(source="s"), ("--degree", "2"), idle_cpus=True),
    Case("a throttled disk", Kind.IO, LIGHT, ("--degree", "1"), planted=slow_disk),
    Case("small memory, DuckDB", Kind.MEMORY, "SELECT * FROM big ORDER BY t", engine="duckdb",
         options=("--degree", "1"), factor=LITTLE),
    Case("a serial query, DuckDB", Kind.SERIAL, engine="duckdb", options=("--degree", "2"),
         query="SELECT list_reduce(range(1500000), lambda x, y: (x * 31 + y) % 1000003) AS m"),
    Case("a second load, DuckDB", Kind.OTHERS, "SELECT max(md5(md5(t))) AS m FROM big", engine="duckdb",
         options=("--degree", "1"), planted=load),
    Case("CPUs full, DuckDB", Kind.CPU, "SELECT max(md5(md5(t))) AS m, k FROM big GROUP BY k", engine="duckdb",
         options=("--degree", "2"), idle_cpus=True),
)  # fmt: skip


# -- the runs ---------------------------------------------------------------------------------------------------
def measure(case: Case, url: str, folder: Path) -> Recommendation:
    """Measure a case as a user does, and return what is advised."""
    label = case.name.replace(" ", "-").replace(",", "")
    query, file = folder / "query.sql", folder / f"{label}.toml"
    query.write_text(case.query)
    streams = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with streams[0], streams[1]:
        dbatk(["ctas", "-q", "-t", url, "--query", str(query), "--table", "made", "--label", label,
               "--repeat", "2", "--warmup", "0", *case.options, "--save-as", str(file)])  # fmt: skip
        file.write_text(file.read_text() + case.factor)
        dbatk(["run", "-q", str(file), "--not-production"])
    with open_store(None) as store:
        return advised(store, label, 5.0, {})


def on_postgresql(case: Case, server: Server, folder: Path) -> Recommendation:
    with server.connect() as session:
        for text in (*case.make, *(f"ALTER ROLE CURRENT_USER SET {one}" for one in case.role)):
            session.execute(text)  # type: ignore[call-overload]
    try:
        with case.planted(server):
            return measure(case, server.url, folder)
    finally:
        with server.connect() as session:
            session.execute("ALTER ROLE CURRENT_USER RESET ALL")


def on_duckdb(case: Case, folder: Path) -> Recommendation:
    file = folder / "bench.duckdb"
    if not file.exists():
        with duckdb.connect(str(file)) as session:
            session.execute(
                f"CREATE TABLE big AS SELECT i, i % 7 AS k, md5(i::text) t FROM range({2 * ROWS}) r(i)"
            )
    url = f"duckdb:///{file}"
    with case.planted(None):  # type: ignore[arg-type]
        return measure(case, url, folder)


def idle() -> bool:
    return psutil.cpu_percent(2.0) < 20


def main(names: Sequence[str]) -> int:
    judged = first = 0
    chosen = [case for case in CASES if not names or case.name in names]
    with (
        tempfile.TemporaryDirectory() as scratch,
        begun_from(next(iter(installed().values())), SETTINGS) as server,
    ):
        folder = Path(scratch)
        os.environ["DBATK_STORE"], os.environ["DBATK_CONFIG"] = (
            str(folder / "store.sqlite"),
            str(folder / "config"),
        )
        with server.connect() as session:
            session.execute(f"CREATE TABLE s AS SELECT g AS i FROM generate_series(1, {ROWS}) g")  # type: ignore[call-overload]
            session.execute("VACUUM ANALYZE s")
        for case in chosen:
            if case.idle_cpus and not idle():
                print(f"skipped    {case.name}: the machine is not idle")
                continue
            try:
                found = on_duckdb(case, folder) if case.engine == "duckdb" else on_postgresql(case, server, folder)
            except CannotBePlantedError as reason:
                print(f"skipped    {case.name}: {reason}")
                continue
            good = bool(found.limits) and found.limits[0].kind is case.kind
            judged, first = judged + 1, first + good
            print(f"{'first     ' if good else 'NOT FIRST '} {case.name}", flush=True)
            for each in found.limits[: 2 if good else 6]:
                print(f"           {each.sentence} [{each.cell}]", flush=True)
    print(f"{first} of {judged} bottlenecks were named first")
    return int(first < judged - 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
