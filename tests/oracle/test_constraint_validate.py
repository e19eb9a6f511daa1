"""Constraints validated against the stand-in: one by one, at a degree that is put back, enabled before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.state import Made
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_table_shrink import altered

_LINE = ("constraint", "validate", "--snapshot", "none", "--table", "GTEST")


def waiting(standin: Standin, *, status: str = "ENABLED", violated: str = "") -> Made:
    """Give GTEST a foreign key, a check and a key that are not validated."""
    table = standin.engine.state.objects["TABLE", ("DBATK", "GTEST")]
    table.constraints = [
        {"OWNER": "DBATK", "TABLE_NAME": "GTEST", "CONSTRAINT_NAME": name, "CONSTRAINT_TYPE": kind,
         "STATUS": "DISABLED" if kind == "P" else status, "VALIDATED": "NOT VALIDATED",
         "VIOLATED": name == violated}
        for name, kind in (("GTEST_FK", "R"), ("Positive", "C"), ("GTEST_PK", "P"))
    ]  # fmt: skip
    return table


def states(table: Made) -> dict[object, str]:
    return {row["CONSTRAINT_NAME"]: f"{row['STATUS']} {row['VALIDATED']}" for row in table.constraints}


def test_they_are_validated_at_a_degree_that_the_table_has_meanwhile(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table = waiting(standin)
        status, run = dbatk(standin, tmp_path, *_LINE, "--degree", "4")
        assert status == 0, run
        assert altered(standin) == [
            'ALTER TABLE "DBATK"."GTEST" PARALLEL 4',
            'ALTER TABLE "DBATK"."GTEST" MODIFY CONSTRAINT "GTEST_FK" ENABLE VALIDATE',
            'ALTER TABLE "DBATK"."GTEST" MODIFY CONSTRAINT "Positive" ENABLE VALIDATE',
            'ALTER TABLE "DBATK"."GTEST" NOPARALLEL',
        ]
        assert states(table) == {
            "GTEST_FK": "ENABLED VALIDATED", "Positive": "ENABLED VALIDATED", "GTEST_PK": "DISABLED NOT VALIDATED",
        }  # fmt: skip
        assert table.degree == "1"
        status, answer = dbatk(standin, tmp_path, *_LINE)
        assert (status, "disabled keys, which need an index" in answer["error"]["message"]) == (5, True)  # type: ignore[index]


def test_of_a_schema_without_any_that_waits_nothing_is_done_and_that_is_well(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table = waiting(standin, status="DISABLED")
        status, run = dbatk(standin, tmp_path, *_LINE[:-2], "--schema", "DBATK", "--degree", "4")
        assert (status, altered(standin), set(states(table).values())) == (0, [], {"DISABLED NOT VALIDATED"})
        assert "nothing to do: " in str(run) and "add --disabled" in str(run)


def test_disabled_ones_hold_for_new_rows_first(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table = waiting(standin, status="DISABLED")
        status, answer = dbatk(standin, tmp_path, *_LINE)
        assert (status, "add --disabled" in answer["error"]["message"]) == (5, True)  # type: ignore[index]
        status, run = dbatk(standin, tmp_path, *_LINE, "--disabled", "--constraint", "GTEST_FK")
        assert status == 0, run
        assert [text.rpartition('" ')[2] for text in altered(standin)] == ["ENABLE NOVALIDATE", "ENABLE VALIDATE"]
        assert states(table)["GTEST_FK"] == "ENABLED VALIDATED"
        assert states(table)["Positive"] == "DISABLED NOT VALIDATED"


@pytest.mark.parametrize("status_before", ["DISABLED", "ENABLED"])
def test_rows_that_violate_one_leave_it_as_it_was(status_before: str, tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table = waiting(standin, status=status_before, violated="GTEST_FK")
        status, run = dbatk(standin, tmp_path, *_LINE, "--disabled", "--degree", "2", "--constraint", "GTEST_FK")
        assert status == 3, run
        assert "ORA-02298" in run["trials"][0]["reason"]  # type: ignore[index]
        assert states(table)["GTEST_FK"] == f"{status_before} NOT VALIDATED"
        assert table.degree == "1"


def test_one_that_fails_leaves_those_validated_that_were_disabled_before_it(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table = waiting(standin, status="DISABLED", violated="Positive")
        status, run = dbatk(standin, tmp_path, *_LINE, "--disabled", "--degree", "2")
        items = run["trials"][0]["items"]  # type: ignore[index]
        assert (status, [each["outcome"] for each in items]) == (3, ["ok", "failed"])
        assert states(table)["GTEST_FK"] == "ENABLED VALIDATED"
        assert states(table)["Positive"] == "DISABLED NOT VALIDATED"
        assert (dbatk(standin, tmp_path, "clean")[0], table.degree) == (0, "1")
        assert states(table)["GTEST_FK"] == "ENABLED VALIDATED"


def test_after_a_connection_that_is_lost_clean_puts_degree_and_state_back(tmp_path: Path) -> None:
    with running_standin(Scenario(lose="constraint_state")) as standin:
        table = waiting(standin, status="DISABLED")
        dbatk(standin, tmp_path, *_LINE, "--disabled", "--degree", "2", "--constraint", "GTEST_FK")
        standin.engine.scenario = replace(standin.engine.scenario, lose=None)
        status, run = dbatk(standin, tmp_path, "clean")
        assert (status, table.degree) == (0, "1"), run
        assert states(table)["GTEST_FK"] == "DISABLED NOT VALIDATED"


def test_a_misspelt_one_and_repeats_are_refused(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        waiting(standin)
        status, answer = dbatk(standin, tmp_path, *_LINE, "--constraint", "GTEST_KF")
        assert (status, answer["error"]["code"]) == (2, "TK-0204")  # type: ignore[index]
        assert "GTEST_FK" in answer["error"]["hint"]  # type: ignore[index]
        status, answer = dbatk(standin, tmp_path, *_LINE, "--degree", "1,2")
        assert "validated once" in str(answer)
        assert altered(standin) == []
