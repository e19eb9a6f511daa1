"""DBMS_MVIEW.REFRESH as a DBA types it, against the stand-in: what is asked, what came of it, what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import SOURCE, assumed, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.state import Made
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import Mode, ObjectKind

_LINE = ("mview", "refresh", "--snapshot", "none")
_VIEW = ("DBATK", "GTEST_MV")
_QUERY = 'SELECT * FROM "DBATK"."GTEST"'


def refreshes(standin: Standin) -> list[str]:
    asked = [" ".join(text.split()) for text in standin.statements]
    return [re.sub(r".*REFRESH\( (.*) \); END;", r"\1", text) for text in asked if "DBMS_MVIEW" in text]


def emptied(standin: Standin, **how: object) -> Made:
    """Make a materialized view whose rows are gone from it."""
    made = standin.engine.add_view(_VIEW, _QUERY, **how)
    standin.engine.data.execute('DELETE FROM "DBATK"."GTEST_MV"')
    return made


def rows(standin: Standin) -> int:
    (number,) = standin.engine.data.execute('SELECT COUNT(*) FROM "DBATK"."GTEST_MV"').fetchone() or (0,)
    return int(number)


def test_a_view_is_refreshed_by_its_own_method_in_one_transaction(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        made = emptied(standin)
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST_MV")
        assert (status, refreshes(standin)) == (0, ["list => 'DBATK.GTEST_MV' , atomic_refresh => TRUE"]), run
        assert (rows(standin), made.view and made.view.staleness) == (2000, "FRESH")


def test_a_degree_is_forced_on_the_session_and_taken_back(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        emptied(standin)
        how = ("--method", "complete", "--degree", "4", "--atomic-refresh", "no")
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST_MV", *how)
        switched = [" ".join(text.split()) for text in standin.statements if " PARALLEL " in text]
        assert status == 0, run
        assert refreshes(standin) == ["list => 'DBATK.GTEST_MV' , method => 'C' , atomic_refresh => FALSE"]
        for text in ("FORCE PARALLEL QUERY PARALLEL 4", "FORCE PARALLEL DML PARALLEL 4"):
            assert f"ALTER SESSION {text}" in switched
        trial = run["trials"][0]  # type: ignore[index]
        # the last statement of the package notes the refresh: it tells no degree, and none is guessed
        assert (trial["requested_degree"], trial["granted_degree"]) == (4, None)
        assert rows(standin) == 2000


def test_a_sweep_refreshes_the_view_itself_and_only_completely(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        emptied(standin)
        sweep = ("--table", "GTEST_MV", "--atomic-refresh", "yes,no", "--repeat", "2", "--warmup", "0")
        status, answer = dbatk(standin, tmp_path, *_LINE, *sweep)
        assert (status, refreshes(standin)) == (2, []) or status == 5, answer
        assert "cannot be measured on a copy" in answer["error"]["message"]  # type: ignore[index]
        status, answer = dbatk(standin, tmp_path, *_LINE, *sweep, "--on-live-objects")
        assert (status, refreshes(standin)) == (5, []), answer
        status, run = dbatk(standin, tmp_path, *_LINE, *sweep, "--on-live-objects", "--method", "complete")
        assert (status, len(refreshes(standin))) == (0, 4), run
        assert {trial["factors"]["atomic_refresh"] for trial in run["trials"]} == {"yes", "no"}  # type: ignore[index]


@pytest.mark.parametrize(("atomic", "left"), [("yes", 1), ("no", 0)])
def test_a_refresh_that_fails_is_failed_and_its_remark_told_what_is_left(
    tmp_path: Path, atomic: str, left: int
) -> None:
    with running_standin(Scenario(fail={"mview_rows": 1652})) as standin:
        emptied(standin)
        standin.engine.data.execute(f'INSERT INTO "DBATK"."GTEST_MV" {_QUERY} WHERE ROWID = 0')
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST_MV", "--method", "complete",
                            "--atomic-refresh", atomic)  # fmt: skip
        assert (status, run["trials"][0]["outcome"]) == (3, "failed")  # type: ignore[index]
        assert rows(standin) == left
        assert any("a failure leaves" in each for each in run["warnings"]), run["warnings"]  # type: ignore[attr-defined]


def test_what_was_not_as_hoped_for_is_told(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        made = emptied(standin, fast="DML", changed=True)
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST_MV")
        assert (status, made.view and made.view.last) == (0, "FAST"), run
        assert "is STALE after the refresh" in str(run)


def test_the_views_of_a_schema_are_refreshed_and_its_tables_left_alone(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        emptied(standin)
        standin.engine.add_view(("DBATK", "Other mv"), _QUERY)
        standin.engine.add_view(("DBATK", "SET_ASIDE"), _QUERY, method="NEVER")
        status, run = dbatk(standin, tmp_path, *_LINE, "--schema", "DBATK", "--concurrency", "2")
        assert status == 0, run
        named = sorted(text.split(" , ")[0] for text in refreshes(standin))
        assert named == ["list => 'DBATK.\"Other mv\"'", "list => 'DBATK.GTEST_MV'"]
        assert "NEVER REFRESH" in str(run)


def test_a_schema_without_such_views_says_so(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, answer = dbatk(standin, tmp_path, *_LINE, "--schema", "DBATK")
        assert (status, answer["error"]["code"]) == (2, "TK-0204")  # type: ignore[index]
        assert "no materialized views" in answer["error"]["message"]  # type: ignore[index]


@pytest.mark.parametrize("named", [("--table", "GTEST_MV"), ("--schema", "DBATK")])
def test_a_view_on_what_is_licensed_is_not_refreshed(tmp_path: Path, named: tuple[str, ...]) -> None:
    reads = {"OWNER": "DBATK", "NAME": "GTEST_MV", "TYPE": "MATERIALIZED VIEW", "REFERENCED_OWNER": "SYS",
             "REFERENCED_NAME": "DBA_HIST_SQLSTAT", "REFERENCED_TYPE": "VIEW"}  # fmt: skip
    with running_standin(Scenario(views={"ALL_DEPENDENCIES": [reads]})) as standin:
        emptied(standin)
        status, answer = dbatk(standin, tmp_path, *_LINE, *named)
        assert (status, refreshes(standin)) == (5, []), answer
        assert "Diagnostics Pack" in answer["error"]["message"]  # type: ignore[index]


# -- what stands in the way -
def about(release: str = "19-ee", **row: object) -> Facts:
    view: Row = {"schema_name": "DBATK", "table_name": "GTEST", "refresh_mode": "DEMAND",
                 "refresh_method": "FORCE", "fast_refreshable": "NO", **row}  # type: ignore[dict-item] # fmt: skip
    table: Row = {"schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "logging": "YES"}
    return replace(assumed(release, target=(table,), mviews=(view,)), assumed=False)


def judged(found: Facts, mode: Mode = Mode.JOB, **options: object) -> str:
    made = work("mview-refresh", 1, mode, ref=ObjectRef(ObjectKind.TABLE, SOURCE), **options)  # type: ignore[arg-type]
    return DIALECT.work.support(made, found).sentence


@for_each(
    ("row", "options", "words"),
    [
        ({}, {}, ""),
        ({"refresh_mode": None}, {}, "is not a materialized view"),
        ({"refresh_method": "NEVER"}, {}, "ORA-23538"),
        ({}, {"method": "fast"}, "ORA-12004"),
        ({"fast_refreshable": "DIRLOAD_DML"}, {"method": "fast"}, ""),
        ({}, {"method": "complete", "out_of_place": True, "atomic_refresh": "no"}, ""),
    ],
)  # fmt: skip
def test_what_cannot_be_refreshed_so_is_refused_with_a_sentence(row: dict, options: dict, words: str) -> None:
    sentence = judged(about(**row), **options)
    assert words in sentence
    assert bool(words) == bool(sentence)


def test_out_of_place_comes_with_12_1_and_a_second_refresh_of_changes_measures_nothing() -> None:
    assert "12.1" in judged(about("11.2-ee"), out_of_place=True, atomic_refresh="no")
    assert "--method complete" in judged(about(), Mode.MEASUREMENT, method="force", on_live_objects=True)
    assert judged(about(), Mode.MEASUREMENT, method="complete", on_live_objects=True) == ""


def test_blocks_that_a_standby_would_lack_are_refused() -> None:
    found = about()
    answers = {
        **found.answers,
        "target": ({**found.first("target"), "logging": "NO"},),
        "doctor_database": ({"log_mode": "ARCHIVELOG", "force_logging": "NO"},),
        "doctor_standbys": ({"db_unique_name": "STBY", "status": "VALID"},),
    }
    found = replace(found, answers=answers)
    assert judged(found, atomic_refresh="yes") == ""
    assert "STBY" in judged(found, atomic_refresh="no")


def test_an_atomic_refresh_out_of_place_is_refused_before_anybody_connects(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, answer = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST_MV", "--out-of-place")
        assert (status, answer["error"]["code"], standin.statements) == (2, "TK-0102", []), answer  # type: ignore[index]
