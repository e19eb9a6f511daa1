"""pg_repack on a real server: a table rewritten while others change it, refusals, and what a kill leaves."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session, figures
from tests.servers import forks
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql
_SECONDS = 120
_GATE = 4711
"""An advisory lock: whoever holds it stops the build of an index of `slow`."""
_WAITS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = %s"
LEFT = """
SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'repack'::regnamespace AND c.relname ~ '_[0-9]+$'
 UNION ALL SELECT typname::text FROM pg_type WHERE typnamespace = 'repack'::regnamespace AND typname ~ '^pk_'
 UNION ALL SELECT g.tgname::text FROM pg_trigger g WHERE g.tgname = 'repack_trigger'
 UNION ALL SELECT c.relname::text FROM pg_class c WHERE c.relname ILIKE 'dbatk%'
"""
TABLES = (
    "CREATE EXTENSION IF NOT EXISTS pg_repack",
    'CREATE TABLE r."my t" (i int PRIMARY KEY, "K k" int, w text)',
    """INSERT INTO r."my t" SELECT g, (g * 7919) % 9001, repeat('x', 90) FROM generate_series(1, 9000) g""",
    'CREATE INDEX my_k ON r."my t" ("K k", i)',
    'CREATE INDEX my_d ON r."my t" ("K k" DESC)',
    'DELETE FROM r."my t" WHERE i % 3 = 0',
    "CREATE TABLE r.bare AS SELECT g AS i FROM generate_series(1, 100) g",
    "CREATE UNLOGGED TABLE r.quick (i int PRIMARY KEY)",
    "CREATE TABLE r.parent (i int PRIMARY KEY) PARTITION BY RANGE (i)",
    "CREATE TABLE r.low PARTITION OF r.parent FOR VALUES FROM (0) TO (100)",
    "CREATE TABLE r.high PARTITION OF r.parent FOR VALUES FROM (100) TO (200)",
    "INSERT INTO r.parent SELECT g FROM generate_series(0, 199) g",
    f"""CREATE FUNCTION r.gate(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared({_GATE}); RETURN i; END $$""",
    "CREATE TABLE r.slow (i int PRIMARY KEY)",
    "INSERT INTO r.slow SELECT g FROM generate_series(1, 100) g",
    "CREATE INDEX slow_gate ON r.slow (r.gate(i))",
)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folders = [folder for folder in installed().values() if (folder / "pg_repack").exists()]
    if not folders:
        missing("pg_repack", "no pg_repack beside a PostgreSQL here: apt-get install postgresql-15-repack")
    with begun_from(folders[0]) as begun:
        yield begun


@pytest.fixture
def session(server: Server) -> Iterator[Session]:
    with server.schema("r", *TABLES), server.connect() as opened:
        yield opened


@pytest.fixture
def asked(server: Server) -> tuple[str, ...]:
    assert server.bin_dir is not None
    return ("table", "move", "-t", server.url, "--method", "pg_repack", "--bin-dir", str(server.bin_dir),
            "--not-production")  # fmt: skip


def left(session: Session) -> list[object]:
    return [row[0] for row in session.execute(LEFT).fetchall()]


@contextmanager
def _writing(server: Server) -> Iterator[None]:
    """Insert, update and delete rows of the table as fast as one session can, until the block ends."""
    over = threading.Event()

    def write() -> None:
        with server.connect() as writer:
            number = 10_000
            while not over.is_set():
                number += 1
                writer.execute('INSERT INTO r."my t" VALUES (%s, 0)', [number])
                writer.execute('UPDATE r."my t" SET "K k" = i WHERE i = %s', [number])
                writer.execute('DELETE FROM r."my t" WHERE i = %s AND i %% 2 = 0', [number])
                writer.execute("INSERT INTO r.written VALUES (%s)", [number])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_SECONDS)


def test_a_table_is_rewritten_while_others_change_it_and_no_change_is_lost(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...]
) -> None:
    session.execute("CREATE TABLE r.written (i int)")
    with _writing(server):
        answer = dbatk(*asked, "--table", 'r."my t"', "--degree", "2", "--maintenance-work-mem", "64M", "--json")
    (trial,) = json.loads(answer.out)["trials"]
    # on a busy machine one session may have built all before the other begins
    assert answer.status == 0 or "had an index at once" in trial["reason"], answer.out
    found = figures(answer.out)
    assert found["table_bytes_after"] < found["table_bytes_before"]
    wrong = """SELECT count(*) FROM (SELECT i FROM r.written WHERE i % 2 = 1) a
                 FULL JOIN (SELECT i FROM r."my t" WHERE i > 10000 AND "K k" = i) b USING (i)
                WHERE a.i IS NULL OR b.i IS NULL"""
    assert session.execute(wrong).fetchone() == (0,)
    assert session.execute('SELECT count(*) FROM r."my t" WHERE i < 10000').fetchone() == (6000,)
    assert session.execute("SELECT count(*) > 0 FROM r.written").fetchone() == (True,)
    assert left(session) == []


def test_rows_are_put_in_the_order_of_columns_and_no_other_order(
    dbatk: Dbatk, session: Session, asked: tuple[str, ...]
) -> None:
    other = dbatk(*asked, "--table", 'r."my t"', "--order-by-index", "my_d")
    assert (other.status, "ascending" in other.err) == (5, True), other.err
    answer = dbatk(*asked, "--table", 'r."my t"', "--order-by-index", "my_k", "--json")
    assert answer.status == 0, answer.out
    found = session.execute('SELECT "K k", i FROM r."my t" ORDER BY ctid').fetchall()
    assert found == sorted(found) and len(found) == 6000


def test_it_is_measured_on_copies_beside_the_rewrite_that_locks(
    dbatk: Dbatk, session: Session, asked: tuple[str, ...]
) -> None:
    node = """SELECT pg_relation_filenode('r."my t"')"""
    before = session.execute(node).fetchone()
    both = [*asked]
    both[both.index("pg_repack")] = "rewrite,pg_repack"
    answer = dbatk(*both, "--table", 'r."my t"', "--repeat", "1", "--warmup", "0", "--json")
    trials = json.loads(answer.out)["trials"]
    assert {(trial["factors"]["method"], trial["outcome"]) for trial in trials} == {
        ("rewrite", "ok"), ("pg_repack", "ok"),
    }, answer.out  # fmt: skip
    assert session.execute(node).fetchone() == before
    assert left(session) == []


def test_partitions_are_rewritten_and_of_a_schema_all_that_have_a_key(
    dbatk: Dbatk, session: Session, asked: tuple[str, ...]
) -> None:
    nodes = "SELECT pg_relation_filenode('r.low'), pg_relation_filenode('r.high'), pg_relation_filenode('r.bare')"
    before = session.execute(nodes).fetchone()
    one = dbatk(*asked, "--table", "r.parent")
    assert one.status == 0, one.out + one.err
    after = session.execute(nodes).fetchone()
    assert before is not None and after is not None
    assert [now == then for now, then in zip(after, before, strict=True)] == [False, False, True]
    whole = dbatk(*asked, "--schema", "r", "--json")
    assert whole.status == 0, whole.out
    assert "`r.bare` has no primary key" in whole.out and "as `r.quick` is" in whole.out
    last = session.execute(nodes).fetchone()
    assert last is not None and [now == then for now, then in zip(last, after, strict=True)] == [
        False,
        False,
        True,
    ]


def test_what_it_cannot_do_is_refused_with_what_helps(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...], tmp_path: Path
) -> None:
    def said(*arguments: str, folder: Path | None = None) -> str:
        own = (
            asked
            if folder is None
            else tuple(str(folder) if word == str(server.bin_dir) else word for word in asked)
        )
        answer = dbatk(*own, *arguments)
        assert answer.status == 5, answer.out
        return " ".join(answer.err.split())

    assert "`r.bare` has no primary key and no unique index" in said("--table", "r.bare")
    assert "unlogged" in said("--table", "r.quick")
    (tmp_path / "pg_repack").write_text("#!/bin/sh\necho pg_repack 9.9.1\n")
    (tmp_path / "pg_repack").chmod(0o755)
    other = said("--table", "r.slow", folder=tmp_path)
    assert "pg_repack 9.9.1" in other and "--bin-dir" in other
    assert "pg_repack" in said("--table", "r.slow", folder=tmp_path / "nowhere")
    session.execute("CREATE ROLE plain LOGIN")
    session.execute("GRANT USAGE ON SCHEMA r TO plain; ALTER TABLE r.slow OWNER TO plain")
    try:
        url = server.url.replace(f"//{server.user}@", "//plain@")
        answer = dbatk(*asked[:3], url, *asked[4:], "--table", "r.slow")
        assert (answer.status, "superuser" in answer.err) == (5, True), answer.err
    finally:
        session.execute("REASSIGN OWNED BY plain TO CURRENT_USER; DROP OWNED BY plain; DROP ROLE plain")
    session.execute("CREATE TRIGGER repack_trigger AFTER INSERT ON r.slow FOR EACH ROW EXECUTE FUNCTION "
                    "repack.repack_trigger('SELECT 1')")  # fmt: skip
    assert "that was killed left its trigger on `r.slow`" in said("--table", "r.slow")
    session.execute("DROP EXTENSION pg_repack CASCADE")
    absent = said("--table", "r.slow")
    assert "is not in database" in absent and "CREATE EXTENSION pg_repack" in absent


def test_a_lock_of_others_is_waited_for_as_long_as_asked_and_they_are_not_ended(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...]
) -> None:
    node = "SELECT pg_relation_filenode('r.slow')"
    before = session.execute(node).fetchone()
    with server.connect() as holder:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE r.slow IN ACCESS SHARE MODE")
        answer = dbatk(*asked, "--table", "r.slow", "--lock-wait", "1s", "--lock-tries", "2", "--json")
        assert holder.execute("SELECT 1").fetchone() == (1,)
        holder.execute("COMMIT")
    (trial,) = json.loads(answer.out)["trials"]
    assert (answer.status, trial["error_code"]) == (3, "55P03"), answer.out
    assert "did not obtain a lock in time" in trial["reason"]
    assert session.execute(node).fetchone() == before
    assert left(session) == []


def _until(condition: Callable[[], bool], process: forks.Forked) -> None:
    until = time.monotonic() + _SECONDS
    while not condition():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < until
        os.sched_yield()


def _begun(holder: Session, asked: tuple[str, ...], *more: str) -> forks.Forked:
    """Begin a run over `slow` and wait until an index cannot be built for the gate."""
    line = (*asked, "--table", "r.slow", "--snapshot", "none", *more)
    process = forks.Forked("toolkit", *line, env=dict(os.environ))
    _until(lambda: holder.execute(_WAITS, [_GATE]).fetchone() == (1,), process)
    return process


def _programs(server: Server) -> list[psutil.Process]:
    """Find the pg_repack that works on `slow` here; one that has ended, not yet waited for, has no arguments."""
    every = psutil.process_iter(["name", "cmdline", "environ"])
    ours = (each for each in every if each.info["name"] == "pg_repack")
    here = (each for each in ours if (each.info["environ"] or {}).get("PGPORT") == str(server.port))
    return [each for each in here if '--table="r"."slow"' in (each.info["cmdline"] or ())]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("order", ["clean", "resume"])
def test_what_a_kill_leaves_is_removed_and_the_table_is_rewritten(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...], home: Path, order: str, alone: bool
) -> None:
    node = "SELECT pg_relation_filenode('r.slow')"
    before = session.execute(node).fetchone()
    with server.connect() as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [_GATE])
        process = _begun(holder, asked)
        assert "repack_trigger" in left(session)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=_SECONDS)
        for program in [] if alone else _programs(server):
            program.kill()
        cleaned = dbatk("clean", "-t", server.url, "--json") if order == "clean" else None
        assert cleaned is None or cleaned.status == 0, cleaned.out + cleaned.err
        if order == "clean":
            assert left(session) == []
        holder.execute("SELECT pg_advisory_unlock(%s)", [_GATE])
    if order == "clean":
        assert session.execute(node).fetchone() == before
        answer = dbatk(*asked, "--table", "r.slow")
    else:
        answer = dbatk("runs", "resume", "last", "--not-production")
    assert answer.status == 0, answer.out + answer.err
    assert left(session) == []
    assert _programs(server) == []
    assert session.execute(node).fetchone() != before
    assert session.execute("SELECT count(*), sum(i) FROM r.slow").fetchone() == (100, 5050)


@pytest.mark.parametrize("what", ["program", "sessions"])
def test_a_pg_repack_that_is_killed_alone_is_a_failure_that_leaves_nothing(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...], what: str
) -> None:
    node = "SELECT pg_relation_filenode('r.slow')"
    before = session.execute(node).fetchone()
    with server.connect() as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", [_GATE])
        process = _begun(holder, asked)
        if what == "program":
            (program,) = _programs(server)
            program.kill()
        else:
            holder.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            )
        out, err = process.communicate(timeout=_SECONDS)  # the gate is shut: a session of it waits on
        assert process.returncode == 3, out + err
        assert left(session) == []
    assert session.execute(node).fetchone() == before
    answer = dbatk("runs", "resume", "last", "--not-production")
    assert answer.status == 0, answer.out + answer.err
    assert left(session) == []
    assert session.execute(node).fetchone() != before
    assert session.execute("SELECT count(*), sum(i) FROM r.slow").fetchone() == (100, 5050)


def test_two_at_once_which_would_wait_for_each_other_are_refused(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...]
) -> None:
    several = dbatk(*asked, "--schema", "r", "--concurrency", "2")
    assert (several.status, "wait for each other's transactions without end" in several.err) == (5, True)
    with server.connect() as other:
        other.execute("SET application_name = 'pg_repack'")
        answer = dbatk(*asked, "--table", "r.slow")
    assert (answer.status, "a pg_repack is at work in database" in answer.err) == (5, True), answer.err
    assert left(session) == []


def test_a_measurement_that_was_killed_leaves_no_copy(
    dbatk: Dbatk, session: Session, server: Server, asked: tuple[str, ...]
) -> None:
    with server.connect() as first, server.connect() as then:
        first.execute("SELECT pg_advisory_lock(%s)", [_GATE])
        process = _begun(first, asked, "--repeat", "1", "--warmup", "0")  # waits for the index of the copy
        shuts = threading.Thread(target=lambda: then.execute("SELECT pg_advisory_lock(%s)", [_GATE]))
        shuts.start()
        _until(lambda: first.execute(_WAITS, [_GATE]).fetchone() == (2,), process)
        first.execute("SELECT pg_advisory_unlock(%s)", [_GATE])
        shuts.join(_SECONDS)  # once that index is there, and before pg_repack builds it anew
        _until(lambda: first.execute(_WAITS, [_GATE]).fetchone() == (1,), process)
        assert "repack_trigger" in left(session)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=_SECONDS)
        answer = dbatk("clean", "-t", server.url, "--json")
    assert answer.status == 0, answer.out + answer.err
    assert left(session) == []
