"""A load of the user's own table is never done twice because nobody knows how it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.standin import Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.test_command_line import dbatk


def rows_of(standin: Standin) -> int:
    """Count the rows of the user's table."""
    counted = standin.engine.cursor().execute('SELECT COUNT(*) FROM "DBATK"."GTEST"').fetchone()
    assert counted is not None
    return int(counted[0])


def load(standin: Standin, folder: Path) -> dict[str, object]:
    """Load the user's table as a job."""
    query = folder / "q.sql"
    query.write_text("SELECT g.id, g.idname, g.amount FROM gtest g WHERE g.id < 10", encoding="ascii")
    _, run = dbatk(
        standin, folder, "insert", "--query", str(query), "--table", "GTEST", "--columns", "ID,IDNAME,AMOUNT"
    )
    return run


@pytest.mark.parametrize(("words", "when", "added"), [("COMMIT", AFTER, 10), ("INSERT /*+", BEFORE, 0)])
def test_a_job_whose_connection_broke_is_not_loaded_again_unasked(
    words: str, when: str, added: int, tmp_path: Path
) -> None:
    with running_standin() as standin:
        before = rows_of(standin)
        standin.engine.faults.append(Fault(break_connection, words=words, when=when))
        run = load(standin, tmp_path)
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (trial["outcome"], trial["error_code"]) == ("interrupted", "TK-0209"), run
        assert rows_of(standin) == before + added
        status, told = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert status == 5
        assert told["error"]["code"] == "TK-0209"  # type: ignore[index]
        assert "count the rows of `GTEST`" in told["error"]["hint"]  # type: ignore[index]
        assert rows_of(standin) == before + added


def test_a_measurement_goes_on_for_its_copies_are_its_own(tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.faults.append(Fault(break_connection, words="COMMIT", when=AFTER))
        status, run = dbatk(
            standin, tmp_path, "insert", "--source", "GTEST", "--table", "GTEST", "--degree", "1,2",
            "--repeat", "2", "--warmup", "0",
        )  # fmt: skip
        assert status == 0
        assert [trial["outcome"] for trial in run["trials"]].count("failed") == 1  # type: ignore[index, attr-defined]
