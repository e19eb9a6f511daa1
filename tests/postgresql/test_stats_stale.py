"""Statistics of those tables alone of which many rows changed, on PostgreSQL."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.postgresql.test_stats_extend import session
from tests.postgresql.test_vacuum import Session
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home", "session"]

pytestmark = pytest.mark.postgresql


def test_only_tables_that_changed_are_gathered_and_none_is_a_sentence(
    session: Session, dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str
) -> None:
    session.execute("CREATE TABLE calm AS SELECT g AS id FROM generate_series(1, 3000) g")
    if session.info.server_version < 150000:
        pytest.skip("before 15 what was counted arrives late")
    for text in ("SELECT 1", "ANALYZE calm, towns", "UPDATE towns SET city = city + 1"):
        session.execute(text)
        session.execute("SELECT pg_stat_force_next_flush()")
        session.execute("SELECT 1")
    asked = ("stats", "gather", "-t", postgresql_url, "--schema", postgresql_schema, "--gather", "stale")
    done = dbatk(*asked, "--not-production", "--json")
    assert done.status == 0, done.err
    (trial,) = json.loads(done.out)["trials"]
    assert [item["label"].rpartition(".")[2] for item in trial["items"]] == ["towns"]
    assert dbatk(*asked, "--repeat", "2").status == 5, "copies are gathered as they are"
    again = dbatk(*asked, "--not-production")
    assert again.status == 0 and "nothing to do: no table needs it" in again.err, again.err
