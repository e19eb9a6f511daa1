"""Statistics of column groups against the stand-in: created, measured on copies, dropped, failed half-way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.test_command_line import dbatk

_LINE = ("stats", "extend", "--snapshot", "none", "--table", "GTEST", "--columns", "ID,AMOUNT")
_TABLE = ("DBATK", "GTEST")


def groups(standin: Standin) -> dict[tuple[str, str], list[str]]:
    return {name: found for name, found in standin.engine.state.statistics.extensions.items() if found}


def test_a_group_is_created_once_and_dropped_by_its_columns(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, run = dbatk(standin, tmp_path, *_LINE)
        assert status == 0, run
        assert groups(standin) == {_TABLE: ['("ID","AMOUNT")']}
        status, answer = dbatk(standin, tmp_path, *_LINE[:-1], "AMOUNT,ID")
        assert (status, "extended statistics of AMOUNT, ID already" in str(answer)) == (5, True)
        status, run = dbatk(standin, tmp_path, *_LINE, "--drop")
        assert status == 0, run
        assert groups(standin) == {}
        status, answer = dbatk(standin, tmp_path, *_LINE, "--drop")
        assert (status, "has no extended statistics of ID, AMOUNT" in str(answer)) == (5, True)


def test_an_expression_is_found_however_it_was_written(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        line = _LINE[:-2]
        status, run = dbatk(standin, tmp_path, *line, "--expression", "mod(amount, 7) || ', '")
        assert status == 0, run
        assert groups(standin) == {_TABLE: ["""(MOD("AMOUNT",7)||', ')"""]}
        status, answer = dbatk(standin, tmp_path, *line, "--expression", """( MOD("AMOUNT",7)||', ' )""")
        assert (status, "ORA-20007" in str(answer)) == (5, True)
        status, answer = dbatk(standin, tmp_path, *line, "--expression", "mod(amount, 7) || ',  '", "--drop")
        assert (status, "has no extended statistics" in str(answer)) == (5, True)
        status, run = dbatk(standin, tmp_path, *line, "--expression", "mod(amount, 7) || ', '", "--drop")
        assert status == 0, run
        assert groups(standin) == {}


def test_an_expression_of_two_columns_is_no_group_of_them(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, run = dbatk(standin, tmp_path, *_LINE[:-2], "--expression", "id + amount")
        assert status == 0, run
        status, run = dbatk(standin, tmp_path, *_LINE)
        assert status == 0, run
        assert groups(standin) == {_TABLE: ['("ID"+"AMOUNT")', '("ID","AMOUNT")']}


def test_gathering_that_fails_takes_the_group_back(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        standin.engine.state.statistics.lock(*_TABLE)
        status, run = dbatk(standin, tmp_path, *_LINE)
        assert status == 3 and "ORA-20005" in str(run)
        assert groups(standin) == {}


def test_it_is_measured_at_several_degrees_on_copies(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, run = dbatk(standin, tmp_path, *_LINE, "--degree", "1,4", "--repeat", "1", "--warmup", "0")
        assert status == 0, run
        assert [trial["outcome"] for trial in run["trials"]] == ["ok", "ok"]  # type: ignore[union-attr]
        assert _TABLE not in groups(standin)
        assert [
            name for kind, name in standin.engine.state.objects if kind == "TABLE" and "DBATK_2" in name[1]
        ] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--columns", "ID"), "a column group has two columns at least"),
        (("--columns", "ID,NOTHING"), "ORA-20001"),
        (("--expression", "LOWER(NOTHING)"), "ORA-20001"),
        (("--columns", "ID", "--expression", "LOWER(AMOUNT)"), "a group of columns, or one expression"),
        (("--expression", "ID + 1", "--expression", "ID + 2"), "a group of columns, or one expression"),
        (("--expression", "'x) FROM dual"), "unclosed quote"),
        (("--columns", "ID,AMOUNT", "--kinds", "mcv"), "kinds"),
        (("--columns", "ID,AMOUNT", "--drop", "--degree", "1,2"), "not measured"),
    ],
)
def test_what_cannot_be_is_a_sentence(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, answer = dbatk(standin, tmp_path, *_LINE[:-2], *options)
        assert status in (2, 3, 5) and words in str(answer)
        assert groups(standin) == {}
