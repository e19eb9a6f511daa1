"""Bottlenecks planted on a real PostgreSQL and on DuckDB: what `advise` names. `benchmarks/` has more of them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.servers.postgresql import Server

pytestmark = [pytest.mark.postgresql, pytest.mark.full]
FUNCTION = (
    'CREATE FUNCTION "{schema}".slow(i int) RETURNS text LANGUAGE plpgsql PARALLEL {kind} COST 1 AS '
    "'BEGIN RETURN md5(md5(md5(i::text))); END'"
)
HEAVY = 'SELECT max(md5(md5(i::text))) AS m FROM "{schema}".s'
EAGER = {"parallel_setup_cost": "0", "parallel_tuple_cost": "0", "min_parallel_table_scan_size": "0"}


@pytest.fixture
def source(postgresql_server: Server, postgresql_schema: str) -> str:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".s AS SELECT g AS i FROM generate_series(1, 400000) g')
        session.execute(f'ANALYZE "{postgresql_schema}".s')
        for name, value in EAGER.items():
            session.execute(f"ALTER ROLE CURRENT_USER SET {name} = {value}")
    yield postgresql_schema  # type: ignore[misc]
    with postgresql_server.connect() as session:
        session.execute("ALTER ROLE CURRENT_USER RESET ALL")


def first_limit(dbatk: Dbatk, url: str, query: str, *options: str) -> dict[str, str]:
    """Measure a query, and return what is named first."""
    Path("query.sql").write_text(query, encoding="utf-8")
    line = ("ctas", "-q", "-t", url, "--not-production", "--query", "query.sql", "--table", "made", "--label", "x")
    dbatk(*line, "--repeat", "2", "--warmup", "0", *options)
    limits = json.loads(dbatk("advise", "x", "--json").out)["limits"]
    assert limits
    return dict(limits[0])


def test_small_memory(dbatk: Dbatk, postgresql_url: str, source: str) -> None:
    # One row comes out, so that the log of a disk that others use is never the larger wait.
    query = (
        f'SELECT max(t) AS t FROM (SELECT md5(i::text) AS t, i FROM "{source}".s ORDER BY 1 OFFSET 0) AS sorted'
    )
    found = first_limit(dbatk, postgresql_url, query, "--degree", "1", "--work-mem", "64K")
    assert found["reason"] == "too little memory"


def test_exhausted_workers(dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, source: str) -> None:
    with postgresql_server.connect() as session:
        session.execute("ALTER ROLE CURRENT_USER SET max_parallel_workers = 1")
    found = first_limit(dbatk, postgresql_url, HEAVY.format(schema=source), "--degree", "4")
    assert found["reason"] == "parallel servers not granted"


def test_an_unsafe_function(dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, source: str) -> None:
    with postgresql_server.connect() as session:
        session.execute(FUNCTION.format(schema=source, kind="UNSAFE"))
    # Long enough that a commit on a disk that others use is never the larger part.
    query = f'SELECT max("{source}".slow(i)) AS m FROM "{source}".s WHERE i % 5 = 0'
    found = first_limit(dbatk, postgresql_url, query, "--degree", "2")
    assert (found["reason"], "`Aggregate`" in found["evidence"]) == ("a serial part", True)


def test_a_lock(dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, source: str) -> None:
    stop = threading.Event()

    def hold() -> None:
        with postgresql_server.connect() as session:
            while not stop.is_set():
                session.execute("BEGIN")
                session.execute(f'LOCK TABLE "{source}".s IN ACCESS EXCLUSIVE MODE')
                stop.wait(2)
                session.execute("COMMIT")
                stop.wait(0.02)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        query = f'SELECT count(*) AS n FROM "{source}".s'
        found = first_limit(dbatk, postgresql_url, query, "--degree", "1")
    finally:
        stop.set()
        holder.join()
    assert found["reason"] == "waits for locks"


def test_a_serial_query_of_duckdb(dbatk: Dbatk, url: str) -> None:
    query = "SELECT list_reduce(range(300000), lambda x, y: (x * 31 + y) % 1000003) AS m"
    assert first_limit(dbatk, url, query, "--degree", "2")["reason"] == "a serial part"
