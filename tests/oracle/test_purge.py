"""Rows removed, moved and changed by ranges of rowids: each once, whatever strikes, and nothing else."""

from __future__ import annotations

import datetime
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.make import SOURCE, assumed, connect, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection, fail_with
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import Mode, ObjectKind

_LINE = ("purge", "--table", "GTEST", "--where", "AMOUNT < 30", "--chunk", "100", "--snapshot", "none")
ROWS, OLD = 2000, 630
"""Of GTEST, and those with `AMOUNT < 30`."""


def ask(standin: Standin, text: str) -> list[tuple[object, ...]]:
    return standin.engine.cursor().execute(text).fetchall()


def left(standin: Standin) -> tuple[object, ...]:
    (row,) = ask(standin, 'SELECT COUNT(*), COUNT(*) FILTER (WHERE AMOUNT < 30) FROM "DBATK"."GTEST"')
    return row


def archive(standin: Standin) -> None:
    standin.engine.run_as_dba(
        'CREATE TABLE "DBATK"."OLD_ROWS" AS SELECT g.idname, g.id, g.amount FROM dbatk.gtest g WHERE 1 = 0'
    )


@pytest.mark.parametrize("more", [(), ("--degree", "3", "--commit-every", "2")], ids=["alone", "by-three"])
def test_what_matches_is_deleted_chunk_by_chunk_and_counted(more: tuple[str, ...], tmp_path: Path) -> None:
    with running_standin() as standin:
        status, run = dbatk(standin, tmp_path, *_LINE, *more)
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (status, trial["outcome"], trial["rows"]) == (0, "ok", OLD), run
        assert left(standin) == (ROWS - OLD, 0)
        told = {metric["name"]: metric["value"] for metric in trial["metrics"]}
        assert (told["rows_before"], told["rows_left"]) == (OLD, 0)
        each = sorted(item["rows"] for item in trial["items"])
        assert each == ([30] + [100] * 6 if not more else [30, 200, 200, 200])
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}, "the notes are gone"


def test_rows_are_moved_to_the_archive_within_one_view_of_the_rows(tmp_path: Path) -> None:
    with running_standin() as standin:
        archive(standin)
        before = ask(standin, 'SELECT ID, IDNAME FROM "DBATK"."GTEST" WHERE AMOUNT < 30 ORDER BY ID')
        status, run = dbatk(standin, tmp_path, *_LINE, "--archive-to", "OLD_ROWS", "--degree", "2")
        assert (status, run["trials"][0]["rows"], left(standin)) == (0, OLD, (ROWS - OLD, 0)), run  # type: ignore[index]
        assert ask(standin, 'SELECT ID, IDNAME FROM "DBATK"."OLD_ROWS" ORDER BY ID') == before
        begun = [text for text in standin.statements if text.startswith("SET TRANSACTION ISOLATION")]
        assert len(begun) == 7


def test_rows_are_changed_once_each(tmp_path: Path) -> None:
    with running_standin() as standin:
        status, run = dbatk(standin, tmp_path, *_LINE, "--set", "AMOUNT = AMOUNT + 100", "--degree", "2")
        assert (status, run["trials"][0]["rows"]) == (0, OLD), run  # type: ignore[index]
        (changed,) = ask(standin, 'SELECT COUNT(*) FROM "DBATK"."GTEST" WHERE AMOUNT BETWEEN 100 AND 129')
        assert (changed, left(standin)) == ((OLD,), (ROWS, 0))


def test_what_doctor_prescribes_is_enough_for_a_table_of_another_user(tmp_path: Path) -> None:
    may = ("CREATE SESSION", "CREATE TABLE", "SELECT ANY TABLE", *DIALECT.work.of("purge").privileges_elsewhere)
    with running_standin(Scenario(privileges=may)) as standin:
        line = ("purge", "--table", "APP.ORDERS", "--where", "AMOUNT < 30", "--chunk", "100", "--snapshot", "none")
        status, run = dbatk(standin, tmp_path, *line)
        assert status == 0 and run["trials"][0]["rows"] > 100, run  # type: ignore[index]


@pytest.mark.thin(4)
@pytest.mark.parametrize("way", [(), ("--archive-to", "OLD_ROWS"), ("--set", "AMOUNT = AMOUNT + 1000")])
@pytest.mark.parametrize(("when", "words"), [(BEFORE, "COMMIT"), (AFTER, "COMMIT"), (AFTER, "ROWID >=")])
def test_a_connection_that_breaks_is_settled_by_the_notes_and_resume_does_the_rest(
    way: tuple[str, ...], when: str, words: str, tmp_path: Path
) -> None:
    with running_standin() as standin:
        archive(standin)
        ids = ask(standin, 'SELECT ID FROM "DBATK"."GTEST" WHERE AMOUNT < 30 ORDER BY ID')
        standin.engine.faults.append(Fault(break_connection, words=words, when=when, spared=3))
        status, run = dbatk(standin, tmp_path, *_LINE, *way)
        assert status == 3, run
        assert 0 < int(str(left(standin)[1])) < OLD, "some chunks are done"
        status, run = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, run["trials"][-1]["rows"]) == (0, OLD), run  # type: ignore[index]
        if "--set" in way:
            assert ask(standin, 'SELECT ID FROM "DBATK"."GTEST" WHERE AMOUNT >= 1000 ORDER BY ID') == ids
        else:
            assert left(standin) == (ROWS - OLD, 0)
        moved = ask(standin, 'SELECT ID FROM "DBATK"."OLD_ROWS" ORDER BY ID')
        assert moved == (ids if "--archive-to" in way else [])
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS", "DBATK.OLD_ROWS"}


@pytest.mark.thin(2)
@pytest.mark.parametrize("way", [(), ("--set", "AMOUNT = AMOUNT + 1000")])
def test_a_table_that_was_moved_since_is_not_gone_on_with(way: tuple[str, ...], tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=BEFORE, spared=3))
        status, run = dbatk(standin, tmp_path, *_LINE, *way)
        assert status == 3, run
        before = left(standin)
        table = next(made for made in standin.engine.state.tables() if made.name == ("DBATK", "GTEST"))
        table.altered = table.created + datetime.timedelta(days=1)
        status, answer = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, answer["error"]["code"]) == (3, "TK-0211"), answer  # type: ignore[index]
        assert left(standin) == before
        standin.engine.faults.clear()
        status, _ = dbatk(standin, tmp_path, *_LINE)
        assert (status, left(standin)[1]) == (0, 0)


@pytest.mark.full
def test_a_chunk_that_fails_leaves_nothing_of_itself_to_the_next_commit_of_its_session(tmp_path: Path) -> None:
    with running_standin() as standin:
        archive(standin)
        standin.engine.faults.append(Fault(fail_with(8177), words="DELETE FROM", when=BEFORE, spared=2))
        status, run = dbatk(standin, tmp_path, *_LINE, "--archive-to", "OLD_ROWS")
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (status, trial["outcome"]) == (3, "failed"), run
        assert sorted(item["outcome"] for item in trial["items"]) == ["failed"] + ["ok"] * 6
        assert ask(standin, 'SELECT COUNT(*) FROM "DBATK"."OLD_ROWS"') == [(OLD - 100,)]
        status, run = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, left(standin)) == (0, (ROWS - OLD, 0)), run
        assert ask(standin, 'SELECT COUNT(*), COUNT(DISTINCT ID) FROM "DBATK"."OLD_ROWS"') == [(OLD, OLD)]


@pytest.mark.full
def test_a_measurement_divides_its_copies_anew_and_leaves_the_table_alone(tmp_path: Path) -> None:
    with running_standin() as standin:
        archive(standin)
        how = (
            "--degree",
            "1,2",
            "--chunk",
            "100,300",
            "--archive-to",
            "OLD_ROWS",
            "--repeat",
            "1",
            "--warmup",
            "0",
        )
        status, run = dbatk(standin, tmp_path, *_LINE[:5], *how)
        assert status == 0, run
        assert [(trial["outcome"], trial["rows"]) for trial in run["trials"]] == [("ok", OLD)] * 4  # type: ignore[attr-defined]
        assert (left(standin), ask(standin, 'SELECT COUNT(*) FROM "DBATK"."OLD_ROWS"')) == ((ROWS, OLD), [(0,)])
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS", "DBATK.OLD_ROWS"}
        worked = [text for text in standin.statements if text.startswith("DELETE FROM")]
        assert worked and all("DBATK_" in text and "b.first_row" in text for text in worked if "ROWID" in text)


def test_a_condition_that_every_row_meets_is_refused(tmp_path: Path) -> None:
    with running_standin() as standin:
        line = ("purge", "--table", "GTEST", "--where", "ID IS NOT NULL")
        status, answer = dbatk(standin, tmp_path, *line)
        assert (status, answer["error"]["code"]) == (5, "TK-0315"), answer  # type: ignore[index]
        assert left(standin) == (ROWS, OLD)


def test_a_condition_with_a_wrong_column_is_bad_input_that_names_the_nearest(tmp_path: Path) -> None:
    with running_standin() as standin:
        told = []
        for where in ("amont < 30", "AMOUNT = = 30", "t.AMOUNT < 30"):
            status, answer = dbatk(standin, tmp_path, "purge", "--table", "GTEST", "--where", where)
            error = answer["error"]
            told.append((status, error["code"], error["hint"]))  # type: ignore[index, call-overload]
        assert {row[:2] for row in told} == {(2, "TK-0102")}, told
        assert told[0][2] == "did you mean the column `AMOUNT`?"
        assert "has no alias here: leave `t.` out" in str(told[2][2])
        assert left(standin) == (ROWS, OLD)


def test_a_null_counts_as_a_row_that_does_not_match(tmp_path: Path) -> None:
    with running_standin() as standin:
        ask(standin, 'UPDATE "DBATK"."GTEST" SET AMOUNT = NULL WHERE ID = 7')
        status, run = dbatk(standin, tmp_path, "purge", "--table", "GTEST", "--where", "AMOUNT >= 0", "--dry-run")
        assert status == 0, run


def test_the_wait_for_a_row_of_others_is_bounded_on_the_users_table_alone() -> None:
    job = work("purge", 1, Mode.JOB, lock_wait="5s")
    found = DIALECT.work.of("purge").endless_wait(job, assumed())
    assert found is not None and (found.call.template, found.seconds) == ("transaction_waits", 5)
    copy = replace(job, object=replace(job.object, scratch=True))
    assert DIALECT.work.of("purge").endless_wait(copy, assumed()) is None


# -- what stands in the way ---------------------------------------------------------------------------------------
def judged(mode: Mode = Mode.JOB, answers: dict[str, tuple[Row, ...]] | None = None, **of_table: object) -> str:
    table: Row = {"table_name": "GTEST", "schema_name": "DBATK", "kind": "table", **of_table}  # type: ignore[dict-item]
    facts: Facts = replace(assumed("19-ee", target=(table,), **(answers or {})), assumed=False)
    item = work("purge", 2, mode, where="ID < 9")
    return DIALECT.work.support(replace(item, **_CHANGED.pop() if _CHANGED else {}), facts).sentence


_CHANGED: list[dict[str, object]] = []


def test_tables_that_rowids_do_not_divide_are_refused_with_a_sentence() -> None:
    assert judged() == ""
    assert "index-organized" in judged(iot_type="IOT")
    assert "temporary table" in judged(temporary="Y")


def test_a_long_cannot_be_archived_or_copied_but_deleted() -> None:
    long: dict[str, tuple[Row, ...]] = {"columns": ({"column_name": "TEXT", "data_type": "LONG"},)}
    assert judged(answers=long) == ""
    assert "ORA-00997" in judged(Mode.MEASUREMENT, long)
    _CHANGED.append({"archive": ObjectRef(ObjectKind.TABLE, SOURCE)})
    assert "ORA-00997" in judged(answers=long)


@pytest.mark.parametrize(("movement", "refused"), [("ENABLED", True), ("DISABLED", False)])
def test_rows_that_may_move_are_not_changed_by_their_addresses(movement: str, refused: bool) -> None:
    answers: dict[str, tuple[Row, ...]] = {"rows_in_place": ({"row_movement": movement},)}
    _CHANGED.append({"assignments": (("AMOUNT", "0"),)})
    assert ("changed twice" in judged(answers=answers)) is refused
    assert judged(answers=answers) == "", "a row is deleted once wherever it is"


def test_triggers_and_foreign_keys_are_said_before() -> None:
    key: Row = {"referring_schema": "DBATK", "referring_table": "LINES", "constraint_name": "FK"}
    facts = assumed(
        "19-ee",
        triggers=({"trigger_name": "GONE", "triggering_event": "INSERT OR DELETE"},),
        referring=(key,),
    )
    said = " ".join(DIALECT.work.remarks(work("purge", 1, Mode.JOB), facts))
    assert "trigger GONE" in said and "ORA-02292" in said and "there is no undo" in said
    changed = replace(work("purge", 1, Mode.JOB), assignments=(("AMOUNT", "0"),))
    assert "GONE" not in " ".join(DIALECT.work.remarks(changed, facts))


def test_a_user_with_a_session_of_others_open_is_not_disturbed(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin, closing(connect(standin)) as other:
        status, run = dbatk(standin, tmp_path, *_LINE)
        assert status == 0, run
        assert other.execute("SELECT COUNT(*) AS n FROM gtest").rows == ({"n": ROWS - OLD},)
