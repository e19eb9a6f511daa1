"""`datapump read`: logs of expdp and impdp as a user has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracle.test_datapump import LOG
from toolkit.cli.main import main
from toolkit.errors import ExitCode

GOOD = LOG.replace("completed with 1 error(s)", "successfully completed").replace("ORA-", "-- ")


def _file(folder: Path, text: str, name: str = "dp.log") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_log_without_errors_is_completed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datapump", "read", _file(tmp_path, GOOD)]) == ExitCode.DONE
    said = capsys.readouterr().out
    assert "export completed\n" in said and "3 tables or partitions, 43,701 rows" in said
    assert "SH.SALES:SALES_Q1_1998: 43,687 rows" in said and "workers that moved tables: 2" in said


def test_errors_and_a_missing_end_are_told_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["datapump", "read", _file(tmp_path, LOG), "--json"]) == ExitCode.INCOMPLETE
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["error_count"], found["rows"]) == ("completed_with_errors", 1, 43701)
    assert found["errors"][1].startswith("ORA-01555")
    cut = _file(tmp_path, GOOD.rpartition("Job")[0], "cut.log")
    assert main(["datapump", "read", cut, _file(tmp_path, GOOD), "--json"]) == ExitCode.INCOMPLETE
    logs = json.loads(capsys.readouterr().out)["logs"]
    assert [one["outcome"] for one in logs] == ["incomplete", "completed"]


@pytest.mark.parametrize(
    "text", ["nothing of Data Pump in these lines at all, only words\n" * 9, "", "\0\1" * 400]
)
def test_what_is_no_such_log_is_a_sentence(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datapump", "read", _file(tmp_path, text)]) == ExitCode.USAGE
    assert "dp.log" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datapump", "read", str(tmp_path / "none.log")]) == ExitCode.USAGE
    assert "cannot be read: no such file" in capsys.readouterr().err
