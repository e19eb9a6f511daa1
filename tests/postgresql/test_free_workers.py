"""Workers that others hold are not granted to us: the trial is downgraded, and doctor says how many are free."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.servers.postgresql import Server
from toolkit.report.summary import summary_text
from toolkit.report.tables import trials_table
from toolkit.store import open_store

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

Session = psycopg.Connection[tuple[object, ...]]
_SLOW = "SELECT count(*) AS n, max(md5(md5(x))) AS m, pg_sleep(2) IS NULL AS slept FROM {0}.big"
"""Worth workers, and longer than the second after which they are looked for."""


@pytest.fixture
def starved(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    """A role whose statements find no worker free, and a table worth some."""
    with postgresql_server.connect() as session:
        session.execute(
            f"CREATE TABLE {postgresql_schema}.big AS "
            "SELECT g AS i, md5(g::text) AS x FROM generate_series(1, 200000) g"
        )
        session.execute(f"ANALYZE {postgresql_schema}.big")
        session.execute("ALTER ROLE dbatk SET max_parallel_workers = 0")
        yield session
        session.execute("ALTER ROLE dbatk RESET max_parallel_workers")


def test_a_degree_of_which_nothing_was_granted_is_a_downgrade(
    dbatk: Dbatk, starved: Session, postgresql_url: str, postgresql_schema: str, tmp_path: Path
) -> None:
    query = tmp_path / "q.sql"
    query.write_text(_SLOW.format(postgresql_schema))
    line = ("ctas", "-t", postgresql_url, "--query", str(query), "--table", f"{postgresql_schema}.made")
    answer = dbatk(*line, "--degree", "4", "--not-production", "--json")
    (trial,) = json.loads(answer.out)["trials"]
    assert trial["elapsed_seconds"] > 1
    assert (trial["outcome"], trial["granted_degree"]) == ("downgraded", 1), trial
    assert "max_parallel_workers" in trial["reason"]
    assert answer.status == 3


def test_doctor_tells_how_many_workers_are_free_now(dbatk: Dbatk, postgresql_url: str) -> None:
    checks = json.loads(dbatk("doctor", "-t", postgresql_url, "--json").out)["checks"]
    (free,) = [check for check in checks if check["name"] == "free workers"]
    assert free["evidence"] == "8 of 8 workers are free now"


def test_a_degree_that_nobody_saw_is_shown_as_unknown(
    dbatk: Dbatk, postgresql_url: str, postgresql_server: Server, postgresql_schema: str, tmp_path: Path
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f"CREATE TABLE {postgresql_schema}.t AS SELECT 1 AS i")
    answer = dbatk(
        *("ctas", "-t", postgresql_url, "--source", f"{postgresql_schema}.t", "--not-production"),
        *("--table", f"{postgresql_schema}.made", "--degree", "1"),
    )
    assert answer.status == 0
    with open_store(tmp_path / "store.sqlite") as store:
        run = store.load_run(store.resolve("last"))

    (trial,) = run.trials
    run = replace(run, trials=(replace(trial, requested_degree=4, granted_degree=None),))
    assert "unknown of 4" in str(trials_table(run))
    assert "degree unknown of 4" in summary_text(run)
