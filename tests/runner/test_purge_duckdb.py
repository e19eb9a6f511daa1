"""Rows deleted, moved and changed in chunks on DuckDB, by keys and by addresses; and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.engines.arena import Heard
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode, Outcome
from toolkit.runner import Sweep, trial
from toolkit.store import Store, open_store
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget

ROWS = 1_000
MAY = Approvals(not_production=True)


class Killed(BaseException):
    """What ends a process without anything being told."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "rows.duckdb"
    ask(made, f"CREATE TABLE keyed AS SELECT range AS id, range % 4 AS k, 'x' || range AS w FROM range({ROWS})")
    ask(made, "ALTER TABLE keyed ADD PRIMARY KEY (id)")
    ask(made, 'CREATE TABLE two (a INTEGER, "b\'" VARCHAR, k INTEGER, PRIMARY KEY (a, "b\'"))')
    ask(made, f"INSERT INTO two SELECT range // 7, 'x''' || (range % 7), range % 4 FROM range({ROWS})")
    ask(made, "CREATE TABLE archive (w VARCHAR, id BIGINT, k BIGINT)")
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def ask(path: Path, text: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(path)) as session:
        return session.execute(text).fetchall()


def target(path: Path) -> DuckdbTarget:
    return DuckdbTarget(Access(parse_url(f"duckdb:///{path}")))


def purge(path: Path, store: Store, table: str = "keyed", chunk: int = 30, **more: OptionValue) -> RunRecord:
    options: dict[str, OptionValue] = {"table": table, "where": "k = 0", **more}
    factors = (Factor("degree", (1,)), Factor("chunk", (chunk,)))
    work = Experiment(f"duckdb:///{path}", "purge", options, factors, Mode.JOB)
    opened = target(path)
    try:
        return store.load_run(start(work, opened, store=store, approvals=MAY, events=Heard()))
    finally:
        opened.close()


@pytest.mark.thin(2)
@pytest.mark.parametrize("table", ["keyed", "two"])
def test_rows_go_chunk_by_chunk_and_the_notes_of_it_go_too(path: Path, store: Store, table: str) -> None:
    (ended,) = purge(path, store, table).trials
    assert (ended.outcome, ended.rows, len(ended.items)) == (Outcome.OK, 250, 9), ended.reason
    assert ask(path, f"SELECT count(*), count(*) FILTER (k = 0) FROM {table}") == [(750, 0)]
    assert {name for (name,) in ask(path, "SELECT table_name FROM duckdb_tables()")} == {"keyed", "two", "archive"}


@pytest.mark.parametrize(
    ("where", "hint"),
    [
        ("idd = 0 and w <> 'not'", "did you mean the column `id`?"),
        ("W2 = '1'", "did you mean the column `w`?"),
        ("t.k = 0", "the table has no alias here: leave `t.` out, or name the table instead"),
        ("id IN (SELECT t.idd FROM two t)", "check the names in the query"),
        ("k = = 0", "check the query's syntax"),
        ("k = 'none'", "cast it in the query"),
        ("no_such(k)", "check the name and the schema"),
    ],
)
def test_a_condition_that_is_wrong_as_it_is_written_is_bad_input(
    path: Path, store: Store, where: str, hint: str
) -> None:
    with pytest.raises(ToolkitError) as caught:
        purge(path, store, where=where)
    assert (caught.value.code, caught.value.exit_code, caught.value.hint) == ("TK-0102", 2, hint)
    assert ask(path, "SELECT count(*) FROM keyed") == [(ROWS,)]


@pytest.mark.full
def test_addresses_that_move_while_a_table_shrinks_let_no_row_slip_past(path: Path, store: Store) -> None:
    ask(
        path,
        "CREATE TABLE many AS SELECT range AS id, hash(range) % 4 AS k, md5(range::VARCHAR) AS w "
        "FROM range(600000)",
    )
    ask(path, "DELETE FROM many WHERE id % 3 = 0 OR id BETWEEN 100000 AND 390000")  # groups to be put together
    (before,) = ask(path, "SELECT count(*), count(*) FILTER (k = 0), sum(id) FILTER (k > 0) FROM many")
    (ended,) = purge(path, store, "many", 2_000).trials
    assert (ended.outcome, ended.rows) == (Outcome.OK, before[1]), ended.reason
    assert len(ended.items) > 20
    (after,) = ask(path, "SELECT count(*), count(*) FILTER (k = 0), sum(id) FROM many")
    assert after == (int(str(before[0])) - int(str(before[1])), 0, before[2])


def test_rows_are_moved_whole(path: Path, store: Store) -> None:
    before = ask(path, "SELECT id, k, w FROM keyed WHERE k = 0 ORDER BY id")
    (ended,) = purge(path, store, archive_to="archive").trials
    assert (ended.outcome, ended.rows) == (Outcome.OK, 250), ended.reason
    assert ask(path, "SELECT id, k, w FROM archive ORDER BY id") == before
    assert ask(path, "SELECT count(*) FROM keyed WHERE k = 0") == [(0,)]


@pytest.mark.full
def test_a_condition_that_answers_anew_each_time_moves_nothing(path: Path, store: Store) -> None:
    (ended,) = purge(path, store, archive_to="archive", where="random() < 0.5").trials
    assert ended.outcome is Outcome.FAILED
    assert "did not find the same rows" in str(ended.reason)
    rows = ask(path, "SELECT count(*) FROM (FROM keyed UNION ALL SELECT id, k, w FROM archive)")
    assert rows == [(ROWS,)]


def test_rows_are_changed_once_each(path: Path, store: Store) -> None:
    (ended,) = purge(path, store, "two", set=("k = k + 4",)).trials
    assert (ended.outcome, ended.rows) == (Outcome.OK, 250), ended.reason
    assert ask(path, "SELECT k, count(*) FROM two GROUP BY k ORDER BY k") == [
        (1, 250),
        (2, 250),
        (3, 250),
        (4, 250),
    ]


@pytest.mark.thin(2)
@pytest.mark.parametrize(("options", "changed"), [({}, "0, NULL"), ({"set": ("k = k + 4",)}, "250, 4")])
def test_a_kill_before_anything_is_told_is_settled_by_the_notes(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, options: dict[str, OptionValue], changed: str
) -> None:
    def dies(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(trial, "_journal_made", dies)
        broken.setattr(Store, "add_items", lambda *_: None)
        broken.setattr(Sweep, "_cleanup", dies)
        with pytest.raises(Killed):
            purge(path, store, **options)
    opened = target(path)
    resume(store.list_runs()[0].run, opened, store=store, approvals=MAY, events=Heard())
    opened.close()
    (run,) = store.list_runs()
    (ended,) = [each for each in store.load_run(run.run).trials if each.outcome is Outcome.OK]
    assert ended.rows == 250
    query = "SELECT count(*) FILTER (k % 4 = 0), max(k) FILTER (k % 4 = 0) FROM keyed"
    assert ask(path, query) == ask(path, f"SELECT {changed}")
    assert ask(path, "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'dbatk%'") == [(0,)]


def test_a_column_that_hides_addresses_is_refused(path: Path, store: Store) -> None:
    ask(path, "CREATE TABLE hidden AS SELECT range AS rowid, range % 2 AS k FROM range(10)")
    with pytest.raises(ToolkitError, match="hides the addresses of its rows"):
        purge(path, store, "hidden")


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "text",
    ["k", "k = 1; DROP TABLE x", "k = 1, w = 'x'", "k = (SELECT 1)", "k = 1 -- all", "k = 1 WHERE id = 2", "= 3"],
)
def test_what_is_no_assignment_is_refused(path: Path, store: Store, text: str) -> None:
    from toolkit.design.user_sql import check_assignment

    with pytest.raises(ToolkitError) as caught:
        check_assignment(text, "duckdb")
    assert caught.value.code == "TK-0105"


@pytest.mark.parametrize(
    "text", ["k = k + 1", "\"odd name\" = 'a, b; c'", "k = CASE WHEN w = 'x' AND k > 1 THEN 2 ELSE f(k, 3) END"]
)
def test_an_assignment_is_taken_as_written(text: str) -> None:
    from toolkit.design.user_sql import check_assignment

    assert check_assignment(f" {text}\n", "duckdb") == text
