"""DELETE in chunks by several sessions: each row once, none but those that match, and the rest by resume alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.postgresql.helpers import target_of
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.preview import script
from toolkit.dialects.postgresql.advice import ERRORS
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Factor, Level
from toolkit.model.words import Mode, Outcome
from toolkit.runner import Sweep, trial
from toolkit.store import Store, open_store

pytestmark = pytest.mark.postgresql
MAY = Approvals(not_production=True)
ROWS = 9_000
OLD = 3_000
"""Rows that match `k = 0`."""
WHERE = "k = 0"


class Killed(BaseException):
    """What ends a process without anything being told."""


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    rows = f"SELECT g AS id, g % 3 AS k, 'key ' || g AS word FROM generate_series(1, {ROWS}) g"
    with postgresql_server.schema(
        "purged",
        f"CREATE TABLE purged.keyed AS {rows}",
        "ALTER TABLE purged.keyed ADD PRIMARY KEY (id)",
        f"CREATE TABLE purged.keyless AS {rows}",
        f'CREATE TABLE purged.wide AS SELECT id / 7 AS a, word AS "B\'", k FROM ({rows}) AS s',
        'ALTER TABLE purged.wide ADD PRIMARY KEY (a, "B\'")',
    ):
        yield postgresql_server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def ask(server: Server, query: str) -> list[tuple[object, ...]]:
    with server.connect() as session:
        cursor = session.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def left(server: Server, table: str = "keyed") -> tuple[object, ...]:
    (row,) = ask(server, f"SELECT count(*), count(*) FILTER (WHERE {WHERE}) FROM purged.{table}")
    return row


DONE = (ROWS - OLD, 0)


def experiment(server: Server, table: str = "keyed", **more: object) -> Experiment:
    levels = {"degree": 3, "chunk": 250, "commit_every": 1} | {
        name: more.pop(name) for name in ("degree", "chunk", "commit_every") if name in more
    }
    factors = tuple(Factor(name, (level,)) for name, level in levels.items() if isinstance(level, Level))
    options = {"table": f"purged.{table}", "where": WHERE, **more}
    return Experiment(server.url, "purge", options, factors, Mode.JOB)  # type: ignore[arg-type]


def purge(
    server: Server, store: Store, table: str = "keyed", *, observe: Callable[[str], None] = lambda _: None,
    heard: Heard | None = None, **more: object,
) -> RunRecord:  # fmt: skip
    target = target_of(server)
    target.observer = observe
    work = experiment(server, table, **more)
    return store.load_run(start(work, target, store=store, approvals=MAY, events=heard or Heard()))


def together(sessions: int) -> Callable[[str], None]:
    """Let no session delete another chunk before each has begun one: on a busy machine one is quicker than all."""
    begun, met = threading.Barrier(sessions), set[int]()

    def observe(text: str) -> None:
        if text.startswith("DELETE") and threading.get_ident() not in met and len(met) < sessions:
            met.add(threading.get_ident())
            begun.wait(5)

    return observe


def done(trial: TrialRecord) -> tuple[bool, int | None]:
    """Whether a trial did its work, also where one session did what several were to do, and how many rows."""
    alone = trial.outcome is Outcome.DOWNGRADED and "at work at once" in str(trial.reason)
    return trial.outcome is Outcome.OK or alone, trial.rows


def go_on(server: Server, store: Store, run: str) -> RunRecord:
    resume(run, target_of(server), store=store, approvals=MAY, events=Heard())
    return store.load_run(run)


@pytest.mark.thin(3)
@pytest.mark.parametrize("table", ["keyed", "keyless", "wide"])
@pytest.mark.parametrize("commit_every", [1, 5])
def test_several_sessions_delete_what_matches_chunk_by_chunk(
    server: Server, store: Store, table: str, commit_every: int
) -> None:
    record = purge(server, store, table, observe=together(3), commit_every=commit_every)
    (ended,) = record.trials
    assert left(server, table) == DONE
    assert done(ended) == (True, OLD), ended.reason
    each = [250 * commit_every] * (12 // commit_every) + ([500] if commit_every == 5 else [])
    assert sorted(item.rows or 0 for item in ended.items) == sorted(each)
    metrics = {metric.name: metric.value for metric in ended.metrics}
    assert (metrics["rows_before"], metrics["rows_left"]) == (OLD, 0)
    assert store.journal(record.head.run).open_entries() == ()


def test_nothing_to_delete_is_done_at_once_and_well(server: Server, store: Store) -> None:
    (ended,) = purge(server, store, where="k = 17").trials
    assert (ended.outcome, ended.rows) == (Outcome.OK, 0)
    assert left(server) == (ROWS, OLD)


def test_a_condition_that_every_row_meets_is_refused_unless_that_is_meant(server: Server, store: Store) -> None:
    with pytest.raises(ToolkitError, match=r"every row of `purged\.keyed` matches") as caught:
        purge(server, store, where="id > 0")
    assert caught.value.code == "TK-0315"
    assert left(server) == (ROWS, OLD) and store.list_runs() == []
    (ended,) = purge(server, store, where="id > 0", all_rows=True).trials
    assert (ended.rows, left(server)) == (ROWS, (0, 0))


@pytest.mark.parametrize(
    ("where", "hint"),
    [
        ("wrd = ''", "did you mean the column `word`?"),
        ("keyed.wrd = ''", "did you mean the column `word`?"),
        ("\"WORD\" = ''", "did you mean the column `word`?"),
        ("t.k = 0", "the table has no alias here: leave `t.` out, or name the table instead"),
        ("id IN (SELECT t.idd FROM (SELECT 1) t)", "did you mean the column `id`?"),
        ("k = = 0", "check the syntax of the query"),
        ("k = 'none'", "cast or clean it in the query"),
    ],
)
def test_a_condition_that_is_wrong_as_it_is_written_is_bad_input(
    server: Server, store: Store, where: str, hint: str
) -> None:
    with pytest.raises(ToolkitError) as caught:
        purge(server, store, where=where)
    assert (caught.value.code, caught.value.exit_code, caught.value.hint) == ("TK-0102", 2, hint)
    assert left(server) == (ROWS, OLD)


def test_a_missing_grant_is_no_fault_of_the_text() -> None:
    assert {code: ERRORS[code].of_text for code in ("42703", "42883", "42501", "57014")} == {
        "42703": True, "42883": True, "42501": False, "57014": False,
    }  # fmt: skip


def test_the_script_counts_what_matches_and_shows_the_first_chunk(server: Server) -> None:
    shown, _ = script(experiment(server, "wide", degree=1), target_of(server), full=False)
    assert (
        "the condition applies to 3,000 rows of `purged.wide`, in 12 chunks of at most 250 by key a, B'" in shown
    )
    assert shown.count("DELETE FROM") == 1 and "-- and 11 more as the last" in shown
    assert """("a", "B'") >= ('0', 'key 3')""" in shown
    whole, _ = script(experiment(server, "wide", degree=1), target_of(server))
    assert whole.count("DELETE FROM") == 12
    assert left(server, "wide") == (ROWS, OLD)


def test_rows_of_others_within_a_range_are_left_alone_and_late_ones_are_told(server: Server, store: Store) -> None:
    written: list[str] = []

    def observe(text: str) -> None:
        if text.startswith("DELETE FROM") and not written:
            written.append(text)
            ask(server, f"INSERT INTO purged.keyed VALUES ({ROWS + 3}, 0, 'late')")

    heard = Heard()
    (ended,) = purge(server, store, observe=observe, heard=heard).trials
    assert done(ended) == (True, OLD)
    assert left(server) == (ROWS - OLD + 1, 1)
    assert any(
        "`purged.keyed` has 1 row left to which the condition applies" in text for text in heard.texts("warning")
    )


def test_a_row_that_is_locked_fails_its_chunk_alone_and_resume_does_that_one(server: Server, store: Store) -> None:
    with server.connect() as session:
        session.execute(b"BEGIN")
        session.execute(b"SELECT FROM purged.keyed WHERE id = 1500 FOR UPDATE")
        record = purge(server, store, lock_wait="0.2s", lock_tries=1)
        session.execute(b"ROLLBACK")
    (ended,) = record.trials
    assert ended.outcome is Outcome.FAILED and ended.error_code == "55P03", ended.reason
    assert sorted(item.outcome.value for item in ended.items) == ["failed"] + ["ok"] * 11
    assert left(server) == (ROWS - OLD + 250, 250)
    again = go_on(server, store, record.head.run)
    assert (*done(again.trials[-1]), left(server)) == (True, OLD, DONE)


def test_a_kill_before_anything_is_told_is_settled_by_the_server(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise Killed

    ask(server, "CREATE FUNCTION purged.no() RETURNS trigger LANGUAGE plpgsql AS "
                "$$BEGIN IF OLD.id = 1500 THEN RAISE 'not yet'; END IF; RETURN OLD; END$$")  # fmt: skip
    ask(server, "CREATE TRIGGER no BEFORE DELETE ON purged.keyed FOR EACH ROW EXECUTE FUNCTION purged.no()")
    with monkeypatch.context() as broken:
        broken.setattr(trial, "_journal_made", dies)
        broken.setattr(Store, "add_items", lambda *_: None)
        broken.setattr(Sweep, "_cleanup", dies)
        with pytest.raises(Killed):
            purge(server, store)
    run = store.list_runs()[0].run
    assert left(server) == (ROWS - OLD + 250, 250)
    ask(server, "DROP TRIGGER no ON purged.keyed")
    again = go_on(server, store, run)
    assert (*done(again.trials[-1]), left(server)) == (True, OLD, DONE)


def test_a_view_has_no_rows_of_its_own(server: Server, store: Store) -> None:
    ask(server, "CREATE VIEW purged.seen AS SELECT * FROM purged.keyed")
    with pytest.raises(ToolkitError, match="is a view, which has no rows of its own") as caught:
        purge(server, store, "seen")
    assert caught.value.code == "TK-0304"


def test_a_partitioned_table_without_a_key_is_named_partition_by_partition(server: Server, store: Store) -> None:
    ask(server, "CREATE TABLE purged.parted (id int, k int) PARTITION BY RANGE (id);"
                "CREATE TABLE purged.parted_1 PARTITION OF purged.parted DEFAULT")  # fmt: skip
    with pytest.raises(ToolkitError, match="a partitioned table without a key cannot be divided"):
        purge(server, store, "parted")


# -- moved and changed ------------------------------------------------------------------------------------------
def test_rows_are_moved_to_the_archive_and_no_other(server: Server, store: Store) -> None:
    ask(server, "CREATE TABLE purged.old (word text, id int, moved_on date DEFAULT current_date, k int)")
    before = ask(server, f"SELECT id, k, word FROM purged.keyed WHERE {WHERE} ORDER BY id")
    (ended,) = purge(server, store, archive_to="purged.old", commit_every=2).trials
    assert (*done(ended), left(server)) == (True, OLD, DONE), ended.reason
    assert ask(server, "SELECT id, k, word FROM purged.old ORDER BY id") == before
    assert ask(server, "SELECT count(*) FROM purged.old WHERE moved_on IS NULL") == [(0,)]


def test_an_archive_that_may_drop_a_row_or_lacks_a_column_is_refused(server: Server, store: Store) -> None:
    ask(server, "CREATE TABLE purged.old (LIKE purged.keyed); CREATE TABLE purged.narrow (id int, k int);"
                "CREATE RULE less AS ON INSERT TO purged.old WHERE NEW.id < 9 DO INSTEAD NOTHING")  # fmt: skip
    for archive, sentence in {
        "old": "the rule `less` of the archive may leave out rows",
        "narrow": "has no column `word`",
        "keyed": "cannot be its own archive",
        "nowhere": "`purged.nowhere` does not exist",
    }.items():
        with pytest.raises(ToolkitError, match=sentence):
            purge(server, store, archive_to=f"purged.{archive}")
    assert left(server) == (ROWS, OLD)


def test_rows_are_changed_once_each(server: Server, store: Store) -> None:
    (ended,) = purge(server, store, "wide", set=("k = k + 10",)).trials
    assert done(ended) == (True, OLD), ended.reason
    assert ask(server, "SELECT k, count(*) FROM purged.wide GROUP BY k ORDER BY k") == [
        (1, OLD), (2, OLD), (10, OLD)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "assignment", "sentence"),
    [
        ("keyed", "id = id + 1", "is part of the key"),
        ("keyed", "wrod = 'x'", "has no column `wrod`"),
        ("keyless", "k = 1", "by its address a row could be changed twice"),
    ],
)
def test_what_could_change_a_row_twice_is_refused(
    server: Server, store: Store, table: str, assignment: str, sentence: str
) -> None:
    with pytest.raises(ToolkitError, match=sentence):
        purge(server, store, table, set=(assignment,))


def test_a_measurement_moves_rows_of_a_copy_into_a_copy(server: Server, store: Store) -> None:
    ask(server, "CREATE TABLE purged.old (LIKE purged.keyed)")
    options = {"table": "purged.keyed", "where": WHERE, "archive_to": "purged.old"}
    factors = (Factor("degree", (1, 2)), Factor("chunk", (500, 2000)))
    work = Experiment(server.url, "purge", options, factors, Mode.MEASUREMENT, 1)
    run = start(work, target_of(server), store=store, approvals=MAY, events=Heard())
    trials = store.load_run(run).trials
    reasons = [each.reason for each in trials]
    assert [done(each) for each in trials] == [(True, OLD)] * 4, reasons
    # of two sessions a quick one may move all chunks
    alone = [each.outcome for each in trials if dict(each.cell.levels)["degree"] == 1]
    assert alone == [Outcome.OK] * 2, reasons
    assert left(server) == (ROWS, OLD)
    assert ask(server, "SELECT count(*) FROM pg_class WHERE relname LIKE 'dbatk%'") == [(0,)]
