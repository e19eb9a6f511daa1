"""Tables of a DuckDB file rewritten in one transaction: rows, keys, defaults and comments stay, space goes."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk, dbatk, home

__all__ = ["dbatk", "home"]


@pytest.fixture
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A table most of whose rows are deleted, few rows unless a test asks for more."""
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE t (id integer PRIMARY KEY, w varchar DEFAULT 'x' NOT NULL, "
                     "g integer GENERATED ALWAYS AS (id * 2), CHECK (id >= 0))")  # fmt: skip
        made.execute("INSERT INTO t (id, w) SELECT i, md5(i::varchar) FROM range(?) s(i)",
                     [getattr(request, "param", 20_000)])  # fmt: skip
        made.execute("CREATE INDEX t_w ON t (w)")
        made.execute("COMMENT ON TABLE t IS 'kept'")
        made.execute("CHECKPOINT")
        made.execute("DELETE FROM t WHERE id % 10 < 8")
    return path


def told(path: Path) -> list[tuple[object, ...]]:
    with duckdb.connect(path, read_only=True) as there:
        text = "SELECT count(*), sum(hash(id, w)), sum(g) FROM t"
        about = "SELECT sql, comment, index_count FROM duckdb_tables() WHERE table_name = 't'"
        return [*there.execute(text).fetchall(), *there.execute(about).fetchall()]


# with fewer rows nothing is free at the end of the file, where it can be cut
@pytest.mark.parametrize("file", [400_000], indirect=True)
@pytest.mark.full
def test_the_space_of_deleted_rows_goes_and_everything_else_stays(dbatk: Dbatk, file: Path) -> None:
    before, size = told(file), file.stat().st_size
    answer = dbatk("table", "move", "-t", f"duckdb:///{file}", "--table", "t", "--json")
    assert answer.status == 0, answer.err
    assert told(file) == before
    assert file.stat().st_size < size / 2
    (trial,) = json.loads(answer.out)["trials"]
    found = {metric["name"]: metric["value"] for metric in trial["metrics"]}
    assert found["table_bytes_before"] > 2 * found["table_bytes_after"]


@pytest.mark.full
def test_a_table_that_others_refer_to_is_refused_and_of_a_schema_left_out(dbatk: Dbatk, file: Path) -> None:
    with duckdb.connect(file) as made:
        made.execute("CREATE TABLE parent (id integer PRIMARY KEY)")
        made.execute("CREATE TABLE child (id integer REFERENCES parent (id))")
        made.execute("INSERT INTO parent VALUES (1)")
        made.execute("INSERT INTO child VALUES (1)")
    one = dbatk("table", "move", "-t", f"duckdb:///{file}", "--table", "parent")
    assert (one.status, "a foreign key of `child` refers to it" in one.err) == (5, True)
    whole = dbatk("table", "move", "-t", f"duckdb:///{file}", "--schema", "main", "--json")
    (trial,) = json.loads(whole.out)["trials"]
    outcomes = {item["label"]: item["outcome"] for item in trial["items"]}
    assert outcomes["main.t"] == outcomes["main.child"] == "ok"
    assert outcomes.get("main.parent") != "ok"


@pytest.mark.full
def test_a_checkpoint_is_measured_on_copies_with_deleted_rows(dbatk: Dbatk, file: Path) -> None:
    before = told(file)
    answer = dbatk(
        "vacuum", "-t", f"duckdb:///{file}", "--table", "t", "--repeat", "2", "--dead-rows", "50", "--json"
    )
    assert answer.status == 0, answer.err
    assert {trial["outcome"] for trial in json.loads(answer.out)["trials"]} == {"ok"}
    assert told(file) == before
