"""Several texts of a query on a PostgreSQL server: the same rows in whatever order, or none is measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk, dbatk, home
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql


def test_queries_are_compared_by_their_rows_before_they_are_measured(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, tmp_path: Path
) -> None:
    table = f"{postgresql_schema}.t"
    with postgresql_server.connect() as session:
        session.execute(
            f"CREATE TABLE {table} AS SELECT g AS dbatk, md5(g::text) AS x FROM generate_series(1, 99) g"
        )
    texts = {
        "plain": f"SELECT dbatk, x FROM {table}",
        "sorted": f"WITH s AS (SELECT * FROM {table}) SELECT s.dbatk, s.x FROM s ORDER BY 2 DESC",
        "twice": f"SELECT dbatk, x FROM {table} UNION ALL SELECT dbatk, x FROM {table}",
        "changed": f"SELECT dbatk, x || ' ' AS x FROM {table}",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.sql").write_text(text)

    def measured(*names: str) -> tuple[int, str]:
        queries = ",".join(str(tmp_path / f"{name}.sql") for name in names)
        answer = dbatk(
            *("insert", "-t", postgresql_url, "--query", queries, "--table", table, "--degree", "1"),
            *("--repeat", "1", "--warmup", "0", "--not-production", "--json"),
        )
        return answer.status, answer.out

    status, out = measured("plain", "sorted")
    assert status == 0, out
    assert {trial["factors"]["query"] for trial in json.loads(out)["trials"]} == {"plain", "sorted"}
    for other, says in (
        ("twice", "gives 198 rows"),
        ("changed", "as many rows as `plain` (99), but not the same"),
    ):
        status, out = measured("plain", other)
        assert (status, says in json.loads(out)["error"]["message"]) == (2, True), out
