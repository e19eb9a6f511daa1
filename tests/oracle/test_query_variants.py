"""Several texts of a query on Oracle: counted before anything is measured, and each looked at for licences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.standin import running_standin
from tests.oracle.test_command_line import dbatk

ALL = "SELECT g.id, g.amount FROM gtest g"


def files(folder: Path, other: str) -> str:
    (folder / "all.sql").write_text(ALL, encoding="ascii")
    (folder / "other.sql").write_text(other, encoding="ascii")
    return f"{folder / 'all.sql'},{folder / 'other.sql'}"


def test_queries_of_as_many_rows_are_measured_and_it_is_said_that_only_these_were_compared(tmp_path: Path) -> None:
    queries = files(tmp_path, "SELECT g.id, g.amount FROM gtest g ORDER BY g.id")
    with running_standin() as standin:
        status, run = dbatk(
            standin, tmp_path, "ctas", "--query", queries, "--table", "C", "--repeat", "1", "--warmup", "0"
        )
        assert status == 0, run
        assert [trial["factors"]["query"] for trial in run["trials"]] in (["all", "other"], ["other", "all"])  # type: ignore[index, attr-defined]
        assert any("whether these are the same was not compared" in one for one in run["warnings"])  # type: ignore[attr-defined]
        made = [text for text in standin.statements if text.lstrip().startswith("CREATE TABLE")]
        assert ("ORDER BY" in made[0]) is not ("ORDER BY" in made[1])


@pytest.mark.parametrize(
    ("other", "status", "code"),
    [
        ("SELECT g.id, g.amount FROM gtest g WHERE g.id < 10", 2, "TK-0110"),
        ("SELECT h.snap_id id, h.value amount FROM dba_hist_sysstat h", 5, "TK-0303"),
    ],
)
def test_a_query_of_other_rows_or_of_a_pack_is_refused_before_anything_is_made(
    other: str, status: int, code: str, tmp_path: Path
) -> None:
    queries = files(tmp_path, other)
    with running_standin() as standin:
        ended, told = dbatk(
            standin, tmp_path, "ctas", "--query", queries, "--table", "C", "--repeat", "1", "--warmup", "0"
        )
        assert (ended, told["error"]["code"]) == (status, code), told  # type: ignore[index]
        assert not any(text.lstrip().startswith("CREATE") for text in standin.statements)
