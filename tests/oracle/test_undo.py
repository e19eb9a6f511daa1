"""Whatever dies at whatever step: `clean` finds the database as it was, but for what a job has made."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.oracle import wreck
from tests.oracle.make import target
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Act, Fault, break_connection, fail_with, kill_session
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.repair import CleanReport, clean
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Factor, QualifiedName
from toolkit.model.words import Mode, ObjectKind, OperationName
from toolkit.rendering import step_of
from toolkit.store import Store, open_store

TABLE, INDEX = "TABLE DBATK.MADE", "INDEX DBATK.NEW_IX"
SETTLED = ("1", "YES", "VALID", "VISIBLE")
"""Degree, logging, status and visibility of what a job leaves."""

KILLS = [
    ("ctas-job", 'CREATE TABLE "DBATK"."MADE"', AFTER, TABLE),
    ("ctas-job", 'ALTER TABLE "DBATK"."MADE" LOGGING', BEFORE, TABLE),
    ("ctas-sweep", 'CREATE TABLE "DBATK"."DBATK_', AFTER, None),
    ("insert-job", "INSERT /*+", BEFORE, None),
    ("insert-job", "COMMIT", AFTER, None),
    ("index-build-job", 'CREATE INDEX "DBATK"."NEW_IX"', AFTER, INDEX),
    ("index-rebuild-job", "REBUILD", AFTER, None),
]


@pytest.mark.thin(3)
@pytest.mark.parametrize(("operation", "words", "when", "made"), thinned(KILLS, 3))
def test_a_client_killed_at_a_statement_leaves_nothing_that_clean_does_not_put_back(
    operation: str, words: str, when: str, made: str | None, tmp_path: Path
) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        before = wreck.look(standin)
        assert wreck.kill(
            standin, tmp_path, Fault(break_connection, words=words, when=when), *wreck.OPERATIONS[operation]
        )
        (script,) = wreck.undo_scripts(tmp_path)
        assert stat.S_IMODE(script.stat().st_mode) == 0o600
        _, shown = wreck.run(standin, tmp_path, "runs", "show", "last")
        assert shown["undo_script"] == str(script)
        status, done = wreck.clean(standin, tmp_path)
        assert (status, done["left"]) == (0, [])
        after = wreck.look(standin)
        if made is not None:
            assert after.pop(made)[1:] == SETTLED
        assert after == before
        assert wreck.undo_scripts(tmp_path) == []
        _, again = wreck.clean(standin, tmp_path)
        assert (again["done"], again["left"]) == ([], [])


_OPTIONS = {
    "ctas": {"source": "GTEST", "table": "MADE", "logging": "nologging"},
    "insert": {"source": "GTEST", "table": "APP.ORDERS", "logging": "nologging"},
    "index-build": {"table": "GTEST", "columns": ("ID",), "name": "NEW_IX", "logging": "nologging"},
    "index-rebuild": {"index": "GTEST_IX", "logging": "nologging", "restore": "found"},
}


def experiment(standin: Standin, operation: OperationName, mode: Mode = Mode.JOB) -> Experiment:
    options = {key: value for key, value in _OPTIONS[operation].items() if mode is Mode.JOB or key != "logging"}
    return Experiment(
        standin.url, operation, options, (Factor("degree", (4,)),), mode, repeat=1, warmup=0, seed=1  # type: ignore[arg-type]
    )  # fmt: skip


def run(standin: Standin, store: Store, what: Experiment) -> Heard:
    """Run an experiment to whatever end it takes."""
    heard = Heard()
    resolved = target(standin)
    try:
        start(what, resolved, store=store, approvals=Approvals(not_production=True), events=heard)
    except ToolkitError:
        pass
    finally:
        resolved.close()
    return heard


def cleaned(standin: Standin, store: Store, run_id: str | None = None) -> CleanReport:
    resolved = target(standin)
    try:
        return clean(resolved, run=run_id, store=store, events=Heard())
    finally:
        resolved.close()


LOST, KILLED, FULL = break_connection, kill_session, fail_with(1652)
STEPS: list[tuple[Act, OperationName, str, str]] = [
    (LOST, "ctas", "ALTER SESSION", BEFORE),
    (LOST, "ctas", 'CREATE TABLE "DBATK"."MADE"', AFTER),
    (FULL, "ctas", 'CREATE TABLE "DBATK"."MADE"', BEFORE),
    (KILLED, "ctas", "NOPARALLEL", BEFORE),
    (LOST, "ctas", '"MADE" LOGGING', AFTER),
    (KILLED, "insert", '"ORDERS" NOLOGGING', AFTER),
    (LOST, "insert", "INSERT /*+", AFTER),
    (FULL, "insert", "INSERT /*+", BEFORE),
    (LOST, "insert", '"ORDERS" LOGGING', BEFORE),
    (KILLED, "index-build", "CREATE INDEX", AFTER),
    (LOST, "index-build", '"NEW_IX" LOGGING', BEFORE),
    (KILLED, "index-rebuild", "REBUILD", BEFORE),
    (LOST, "index-rebuild", "REBUILD", AFTER),
    (FULL, "index-rebuild", "REBUILD", BEFORE),
    (FULL, "index-rebuild", "PARALLEL 2", BEFORE),
]


@pytest.mark.thin(2)
@pytest.mark.parametrize(("act", "operation", "words", "when"), thinned(STEPS, 9))
def test_what_breaks_beneath_a_job_leaves_degree_and_logging_as_they_were(
    act: Act, operation: OperationName, words: str, when: str, tmp_path: Path
) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        wreck.prepare(standin)
        before = wreck.look(standin)
        fault = Fault(act, words=words, when=when)
        standin.engine.faults.append(fault)
        run(standin, store, experiment(standin, operation))
        assert fault.struck is not None
        assert cleaned(standin, store).left == ()
        after = wreck.look(standin)
        for made in (TABLE, INDEX):
            assert after.pop(made, (0, *SETTLED))[1:] == SETTLED
        assert after == before
        assert wreck.undo_scripts(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "when"),
    thinned(
        [
            ('CREATE TABLE "DBATK"."DBATK_', AFTER),
            ("COMMENT ON", BEFORE),
            ("DROP TABLE", BEFORE),
            ("DROP TABLE", AFTER),
        ],
        4,
    ),
)
def test_a_sweep_goes_on_after_a_lost_connection_and_leaves_nothing(words: str, when: str, tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        before = wreck.look(standin)
        standin.engine.faults.append(Fault(break_connection, words=words, when=when))
        run(standin, store, experiment(standin, "insert", Mode.MEASUREMENT))
        assert cleaned(standin, store).done == ()
        assert wreck.look(standin) == before


def scratch(standin: Standin) -> list[tuple[str, str]]:
    return [made.name for made in standin.engine.state.tables() if made.name[1].startswith("DBATK_")]


@pytest.mark.full
def test_a_table_that_somebody_made_anew_under_our_name_is_not_dropped(tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        killed = wreck.OPERATIONS["insert-sweep"]
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words="INSERT /*+"), *killed)
        (name,) = scratch(standin)
        made = standin.engine.state.objects["TABLE", name]
        made.object_id += 500
        status, done = wreck.clean(standin, tmp_path)
        assert status == 3
        assert f'if it does, run: DROP TABLE "DBATK"."{name[1]}" PURGE;' in str(done["left"])
        assert scratch(standin) == [name]
        made.object_id -= 500
        assert store.open_entries_all()
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert scratch(standin) == []


@pytest.mark.full
def test_partitions_of_the_same_name_and_a_truncate_do_not_change_which_table_it_is(tmp_path: Path) -> None:
    with running_standin() as standin:
        assert wreck.kill(
            standin, tmp_path, Fault(break_connection, words="INSERT /*+"), *wreck.OPERATIONS["insert-sweep"]
        )
        (name,) = scratch(standin)
        made = standin.engine.state.objects["TABLE", name]
        rows = [
            {"OWNER": name[0], "OBJECT_NAME": name[1], "SUBOBJECT_NAME": part, "OBJECT_ID": number,
             "DATA_OBJECT_ID": 99, "OBJECT_TYPE": kind, "CREATED": made.created}
            for part, number, kind in (
                (None, made.object_id, "TABLE"), ("P1", 1, "TABLE PARTITION"), ("S1", 2, "TABLE SUBPARTITION")
            )
        ]  # fmt: skip
        standin.engine.scenario = Scenario(views={"ALL_OBJECTS": rows})
        status, done = wreck.clean(standin, tmp_path)
        assert (status, done["left"]) == (0, [])
        assert scratch(standin) == []


def test_the_undo_script_says_all_without_the_store(tmp_path: Path) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        assert wreck.kill(
            standin, tmp_path, Fault(break_connection, words="REBUILD", when=AFTER),
            *wreck.OPERATIONS["index-rebuild-job"],
        )  # fmt: skip
        (script,) = wreck.undo_scripts(tmp_path)
        text = script.read_text()
        made = standin.engine.state.objects["INDEX", ("DBATK", "GTEST_IX")]
        assert "SET ECHO ON DEFINE OFF" in text
        assert f"o.object_id = {made.object_id}" in text
        assert 'EXECUTE IMMEDIATE \'ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 2\'' in text
        assert 'EXECUTE IMMEDIATE \'ALTER INDEX "DBATK"."GTEST_IX" LOGGING\'' in text
        assert f"client_identifier = '{script.stem}'" in text
        assert standin.password not in text


def test_no_change_is_made_where_the_undo_script_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "undo").write_text("a file where the folder would be")
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        before = wreck.look(standin)
        run(standin, store, experiment(standin, "index-rebuild"))
        (trial,) = store.load_run(store.resolve("last")).trials
        assert (trial.outcome.value, trial.error_code) == ("failed", "TK-0405")
        assert wreck.look(standin) == before
        assert not any(text.startswith("ALTER INDEX") for text in standin.statements)


@pytest.mark.full
@pytest.mark.parametrize("operation", thinned(_OPTIONS, 4))
def test_what_was_written_nologging_needs_a_backup_since_then(operation: OperationName, tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        heard = run(standin, store, experiment(standin, operation))
        record = store.load_run(store.resolve("last"))
        (said,) = [warning for warning in record.warnings if "needs a backup" in warning]
        assert said in heard.texts("warning")
        assert "ORA-26040" in said
        assert "users01.dbf" in said
        assert cleaned(standin, store, record.head.run).backup == (f"{record.head.run}: {said}",)


@pytest.mark.full
@pytest.mark.parametrize(
    ("scenario", "words"),
    thinned(
        [
            (Scenario(denied=frozenset({"V$DATAFILE"})), "cannot be read"),
            (Scenario(views={"V$DATABASE": [{"LOG_MODE": "ARCHIVELOG", "FORCE_LOGGING": "YES"}]}), None),
            (
                Scenario(views={"V$DATABASE": [{"FORCE_LOGGING": "STANDBY NOLOGGING FOR DATA AVAILABILITY"}]}),
                "V$DATAFILE",
            ),
        ],
        3,
    ),
    ids=["not-readable", "forced", "18c-standby-nologging"],
)
def test_forced_logging_needs_no_backup_and_a_refused_view_is_said(
    scenario: Scenario, words: str | None, tmp_path: Path
) -> None:
    with running_standin(scenario) as standin, open_store(tmp_path / "store.db") as store:
        run(standin, store, experiment(standin, "index-rebuild"))
        said = [each for each in store.load_run(store.resolve("last")).warnings if "needs a backup" in each]
    assert [words in each for each in said if words] == ([True] if words else [])


@pytest.mark.full
def test_a_dropped_object_needs_no_backup(tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.db") as store:
        what = experiment(standin, "ctas")
        run(standin, store, what)
        run_id = store.resolve("last")
        del standin.engine.state.objects["TABLE", ("DBATK", "MADE")]
        assert cleaned(standin, store, run_id).backup == ()


@pytest.mark.full
def test_a_killed_job_whose_table_was_made_is_resumed_without_making_it_twice(tmp_path: Path) -> None:
    with running_standin() as standin:
        assert wreck.kill(
            standin, tmp_path, Fault(break_connection, words='CREATE TABLE "DBATK"."MADE"', when=AFTER),
            *wreck.OPERATIONS["ctas-job"],
        )  # fmt: skip
        resolved = target(standin)
        with open_store(tmp_path / "store.db") as store:
            run_id = store.resolve("last")
            resume(run_id, resolved, store=store, approvals=Approvals(not_production=True), events=Heard())
            record = store.load_run(run_id)
            assert store.journal(run_id).open_entries() == ()
        resolved.close()
        made = standin.engine.state.objects["TABLE", ("DBATK", "MADE")]
        assert (made.degree, made.logging) == ("1", "YES")
        assert sum('CREATE TABLE "DBATK"."MADE"' in text for text in standin.statements) == 1
        assert any("needs a backup" in warning for warning in record.warnings)


def test_the_undo_script_looks_where_the_tool_looks_and_says_what_it_is_not_shown() -> None:
    ref = ObjectRef(ObjectKind.INDEX, QualifiedName("IX", "APP"))
    call = DIALECT.by_hand('ALTER INDEX "APP"."IX" PARALLEL 2', ref, "70001 2026-11-21 05:13:42", None)
    assert call is not None
    text = " ".join(step_of(DIALECT, call).text.split())
    first, _, otherwise = text.partition("EXCEPTION WHEN OTHERS THEN IF SQLCODE NOT IN (-942, -1031, -41900)")
    assert "FROM sys.dba_objects o" in first and "o.object_id = 70001" in first
    assert "FROM all_objects o" in otherwise and otherwise.count("o.object_id = 70001") == 2
    assert "p.privilege IN ('SELECT ANY TABLE'" in otherwise
    assert "RAISE_APPLICATION_ERROR(-20001, 'index `APP.IX`: not shown to this user" in otherwise
    assert 'run: ALTER INDEX "APP"."IX" PARALLEL 2\')' in otherwise
