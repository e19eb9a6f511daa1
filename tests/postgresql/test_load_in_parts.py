"""An INSERT by several sessions: one state of the source, no row lost or doubled, and the rest by resume alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.postgresql.helpers import target_of
from tests.servers.postgresql import Server
from toolkit.app.approvals import Approvals
from toolkit.app.runs.doubt import load_in_doubt
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.repair import clean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Keep, Mode, Outcome
from toolkit.runner import Sweep, trial
from toolkit.store import Store, open_store

pytestmark = pytest.mark.postgresql
MAY = Approvals(not_production=True)
ROWS = 20_000
OPTIONS = {"source": "parted.src", "table": "parted.into"}


class Killed(BaseException):
    """What ends a process without anything being told."""


@pytest.fixture
def server(postgresql_server: Server) -> Iterator[Server]:
    with postgresql_server.schema(
        "parted",
        f"CREATE TABLE parted.src AS SELECT g AS id, repeat('x', 90) AS x FROM generate_series(1, {ROWS}) g",
        "CREATE TABLE parted.into (id int PRIMARY KEY, x text)",
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


def loaded(server: Server) -> tuple[object, ...]:
    (row,) = ask(server, "SELECT count(*), coalesce(sum(id), 0) FROM parted.into")
    return row


WHOLE = (ROWS, ROWS * (ROWS + 1) // 2)


def load(
    server: Server, store: Store, *, degree: int = 3, options: dict[str, object] | None = None,
    observe: Callable[[str], None] = lambda _: None, heard: Heard | None = None,
) -> RunRecord:  # fmt: skip
    target = target_of(server)
    target.observer = observe
    given = {**OPTIONS, **(options or {})}
    experiment = Experiment(server.url, "insert", given, (Factor("degree", (degree,)),), Mode.JOB)  # type: ignore[arg-type]
    run = start(experiment, target, store=store, approvals=MAY, events=heard or Heard())
    return store.load_run(run)


def together(sessions: int) -> Callable[[str], None]:
    """Let no session load another part before each has begun one: on a busy machine one is quicker than all."""
    begun = threading.Barrier(sessions)

    def observe(text: str) -> None:
        if text.startswith("INSERT INTO") and "ctid" in text:
            begun.wait(300)

    return observe


def go_on(server: Server, store: Store, run: str) -> RunRecord:
    resume(run, target_of(server), store=store, approvals=MAY, events=Heard())
    return store.load_run(run)


def last_run(store: Store) -> str:
    return store.list_runs()[0].run


def test_sessions_load_one_state_of_the_source_whatever_is_written_meanwhile(server: Server, store: Store) -> None:
    written: list[str] = []
    meet = together(3)

    def observe(text: str) -> None:
        if text.startswith("INSERT INTO") and not written:
            written.append(text)  # the row moves from the first blocks to the last one
            ask(server, "UPDATE parted.src SET x = 'moved' WHERE id = 1; INSERT INTO parted.src VALUES (0, 'new')")
        meet(text)

    record = load(server, store, observe=observe)
    (ended,) = record.trials
    assert written and loaded(server) == WHOLE
    assert ask(server, "SELECT x = 'moved' FROM parted.into WHERE id = 1") == [(False,)]
    assert (ended.outcome, ended.rows, ended.granted_degree) == (Outcome.OK, ROWS, 3), ended
    assert sorted(item.worker for item in ended.items) == [0, 1, 2]
    assert len({row[0] for row in ask(server, "SELECT DISTINCT xmin::text FROM parted.into")}) == 3
    assert store.journal(record.head.run).open_entries() == ()


def test_a_part_that_fails_leaves_the_others_and_resume_loads_it_alone(server: Server, store: Store) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    heard = Heard()
    record = load(server, store, heard=heard)
    (ended,) = record.trials
    assert ended.outcome is Outcome.FAILED, ended.reason
    assert sorted(item.outcome.value for item in ended.items) == ["failed", "ok", "ok"], [
        x.reason for x in ended.items
    ]
    (said,) = [text for text in heard.texts("warning") if "loaded in part" in text]
    assert "from blocks 0 to" in said and f"runs resume {record.head.run}" in said
    ask(server, f"DELETE FROM parted.into WHERE id = {ROWS // 2}")
    again = go_on(server, store, record.head.run)
    assert loaded(server) == WHOLE
    assert (again.trials[-1].outcome, again.trials[-1].rows) == (Outcome.OK, ROWS)
    (dated,) = [text for text in again.warnings if store.resume_command(record.head.run) in text]
    assert dated == f"before it was resumed: {said}"


@pytest.mark.thin(2)
@pytest.mark.parametrize("cleaned", [False, True])
def test_a_kill_before_anything_is_told_is_settled_by_the_server(
    server: Server, store: Store, monkeypatch: pytest.MonkeyPatch, cleaned: bool
) -> None:
    def dies(*_: object) -> None:
        raise Killed

    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    with monkeypatch.context() as broken:
        broken.setattr(trial, "_journal_made", dies)
        broken.setattr(Store, "add_items", lambda *_: None)
        broken.setattr(Sweep, "_cleanup", dies)
        with pytest.raises(Killed):
            load(server, store)
    run = last_run(store)
    ask(server, f"DELETE FROM parted.into WHERE id = {ROWS // 2}")
    for _ in range(2 if cleaned else 0):  # the second one finds no open entry any more
        (left,) = clean(target_of(server), run=None, store=store, events=Heard()).left
        assert "is loaded in part" in left and f"`{store.resume_command(run)}` loads the rest" in left
    again = go_on(server, store, run)
    assert loaded(server) == WHOLE
    assert again.trials[-1].rows == ROWS, again.trials[-1].reason
    assert not load_in_doubt(run, store) and store.journal(run).open_entries() == ()


def test_a_session_that_is_lost_before_its_commit_is_asked_after_and_loaded_by_resume(
    server: Server, store: Store
) -> None:
    ended: list[str] = []

    def observe(text: str) -> None:
        if text == "COMMIT" and not ended:
            ended.append(text)
            ask(
                server,
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
                # One whose number is noted, so that its COMMIT comes next: another could still be loading.
                " AND state = 'idle in transaction' AND query LIKE '%pg_current_xact_id_if_assigned()%'"
                " AND application_name LIKE '2%-%-%' LIMIT 1",
            )

    record = load(server, store, observe=observe)
    assert record.trials[-1].outcome is Outcome.INTERRUPTED
    assert load_in_doubt(record.head.run, store)
    again = go_on(server, store, record.head.run)
    assert (again.trials[-1].outcome, loaded(server)) == (Outcome.OK, WHOLE), again.trials[-1].reason


def test_clean_names_a_load_in_part_until_it_is_whole_or_taken_back_and_forgotten(
    server: Server, store: Store
) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    run = load(server, store).head.run
    (left,) = clean(target_of(server), run=None, store=store, events=Heard()).left
    ask(server, f"DELETE FROM parted.into WHERE id = {ROWS // 2}")
    taking_back = re.search(r"DELETE FROM .*?;", left)
    assert taking_back is not None and f"`dbatk runs delete {run}`" in left
    ask(server, taking_back[0])
    assert loaded(server) == (0, 0)
    store.delete_run(run)
    assert clean(target_of(server), run=None, store=store, events=Heard()).left == ()


def test_clean_says_nothing_of_a_load_that_resume_made_whole(server: Server, store: Store) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    run = load(server, store).head.run
    ask(server, f"DELETE FROM parted.into WHERE id = {ROWS // 2}")
    go_on(server, store, run)
    assert clean(target_of(server), run=run, store=store, events=Heard()).left == ()


def test_a_source_that_was_written_since_is_not_loaded_further(server: Server, store: Store) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    run = load(server, store).head.run
    ask(server, f"DELETE FROM parted.into WHERE id = {ROWS // 2}; UPDATE parted.src SET x = 'y' WHERE id = 1")
    with pytest.raises(ToolkitError) as refused:
        go_on(server, store, run)
    assert refused.value.code == "TK-0211" and loaded(server)[0] != 0
    remove = str(refused.value.hint).partition("DELETE")
    ask(server, f"DELETE{remove[2]}")
    assert loaded(server) == (0, 0)


_ANEW = "DROP TABLE parted.into; CREATE TABLE parted.into (id int PRIMARY KEY, x text)"


@pytest.mark.thin(2)
@pytest.mark.parametrize("how", ["TRUNCATE parted.into", "DELETE FROM parted.into", _ANEW])
def test_a_table_that_lost_what_was_loaded_gets_no_rest_that_would_be_taken_for_the_whole(
    server: Server, store: Store, how: str
) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    run = load(server, store).head.run
    ask(server, how)
    with pytest.raises(ToolkitError, match=r"none of the [0-9,]+ rows that this run has committed") as refused:
        go_on(server, store, run)
    assert refused.value.code == "TK-0211" and f"`dbatk runs delete {run}`" in str(refused.value.hint)
    assert loaded(server) == (0, 0)
    (left,) = clean(target_of(server), run=None, store=store, events=Heard()).left
    assert left.startswith(f"{run}: none of the ") and "resume" not in left, left
    assert left.endswith(f"`dbatk runs delete {run}`, then begin anew")


def test_who_may_only_insert_is_told_that_nobody_could_see_whether_what_was_loaded_is_there(
    server: Server, store: Store
) -> None:
    """The rest is loaded all the same: who may not read the table could never resume else."""
    ask(server, "DO $$ BEGIN CREATE ROLE only_inserts LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    ask(server, "GRANT USAGE ON SCHEMA parted TO only_inserts; GRANT SELECT ON parted.src TO only_inserts")
    ask(server, "GRANT INSERT ON parted.into TO only_inserts")
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    inserter = replace(server, user="only_inserts")
    run = load(inserter, store).head.run
    ask(server, f"DELETE FROM parted.into WHERE id = {ROWS // 2}")
    (left,) = clean(target_of(inserter), run=run, store=store, events=Heard()).left
    assert "whether they are still there could not be seen (permission denied for table into)" in left
    warnings = go_on(inserter, store, run).warnings
    (said,) = [text for text in warnings if "that this run has committed" in text]
    assert said.endswith(
        "rows that this run has committed in `parted.into` are still there could not be seen "
        "(permission denied for table into): the rest is loaded all the same"
    )
    assert loaded(server) == WHOLE


def test_a_table_that_was_rewritten_has_what_was_loaded(server: Server, store: Store) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    run = load(server, store).head.run
    ask(server, "DELETE FROM parted.into WHERE x = 'in the way'")
    ask(server, "VACUUM (FULL, FREEZE) parted.into")
    go_on(server, store, run)
    assert loaded(server) == WHOLE


def test_a_best_configuration_that_was_kept_in_part_is_not_loaded_once_more(server: Server, store: Store) -> None:
    ask(server, f"INSERT INTO parted.into VALUES ({ROWS // 2}, 'in the way')")
    factors = (Factor("degree", (2,)),)
    best = Experiment(server.url, "insert", OPTIONS, factors, Mode.MEASUREMENT, repeat=1, warmup=0, keep=Keep.BEST)
    with pytest.raises(ToolkitError, match="duplicate key"):
        start(best, target_of(server), store=store, approvals=MAY, events=Heard())
    (before,) = ask(server, "SELECT count(*) FROM parted.into")
    with pytest.raises(ToolkitError) as refused:
        go_on(server, store, last_run(store))
    assert refused.value.code == "TK-0211" and "DELETE" in str(refused.value.hint)
    assert ask(server, "SELECT count(*) FROM parted.into") == [before]


def test_a_sweep_compares_numbers_of_sessions_on_copies(server: Server, store: Store) -> None:
    factors = (Factor("degree", (1, 2)),)
    experiment = Experiment(server.url, "insert", OPTIONS, factors, Mode.MEASUREMENT, repeat=1, warmup=0)
    target = target_of(server)
    target.observer = together(2)
    run = start(experiment, target, store=store, approvals=MAY, events=Heard())
    found = [
        (each.cell.get("degree"), each.outcome, each.granted_degree, each.rows)
        for each in store.load_run(run).trials
    ]
    assert sorted(found) == [(1, Outcome.OK, 1, ROWS), (2, Outcome.OK, 2, ROWS)]
    assert all(each.bytes for each in store.load_run(run).trials)
    assert loaded(server) == (0, 0)
    assert ask(server, "SELECT count(*) FROM pg_tables WHERE schemaname = 'parted'") == [(2,)]


@pytest.mark.parametrize(
    ("made", "options", "why"),
    [
        ("CREATE VIEW parted.other AS SELECT * FROM parted.src", {"source": "parted.other"}, "a view has none"),
        (
            "CREATE TABLE parted.other (id int, x text) PARTITION BY HASH (id)",
            {"source": "parted.other"}, "a partitioned table has none",
        ),
        ("SELECT 1", {"sample": 10.0}, "and a sample reads all of them"),
        ("SELECT 1", {"source": None, "query": "SELECT * FROM parted.src"}, "a query has none"),
    ],
)  # fmt: skip
def test_what_has_no_blocks_of_its_own_is_refused(
    server: Server, store: Store, made: str, options: dict[str, object], why: str
) -> None:
    ask(server, made)
    given = {name: value for name, value in {**OPTIONS, **options}.items() if value is not None}
    experiment = Experiment(server.url, "insert", given, (Factor("degree", (2,)),), Mode.JOB)  # type: ignore[arg-type]
    with pytest.raises(ToolkitError) as refused:
        start(experiment, target_of(server), store=store, approvals=MAY, events=Heard())
    assert why in refused.value.message
    assert loaded(server) == (0, 0)
