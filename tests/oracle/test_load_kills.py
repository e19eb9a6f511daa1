"""A load of files into Oracle whose process is killed: once resumed, each row is there once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.test_load_files import _LINES, written
from tests.tiers import thinned

_INSERT, _NOTE, _COMMIT = 'INSERT INTO "DBATK"."GTEST"', '("ITEM")', "COMMIT"
_AT = [
    (words, spared, when)
    for words in (_COMMIT, _NOTE, _INSERT)
    for spared in (1, 0, 3)
    for when in (AFTER, BEFORE)
]


def rows(standin: Standin) -> list[tuple[object, ...]]:
    asked = standin.engine.cursor().execute(
        "SELECT ID, IDNAME, AMOUNT FROM DBATK.GTEST WHERE ID >= 100000 ORDER BY ID"
    )
    return asked.fetchall()


def check(standin: Standin, folder: Path, file: Path, fault: Fault) -> None:
    """Load, die at the fault, resume to the end."""
    how = ("--commit-every", "4K", "--batch-rows", "50", "--degree", "2")
    assert wreck.kill(standin, folder, fault, "load", str(file), "--table", "GTEST", *how)
    status, told = wreck.run(standin, folder, "runs", "resume", "last", "--not-production")
    assert status in (0, 2), told  # 2: it was killed after all was done
    assert rows(standin) == _LINES
    left = standin.engine.cursor().execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert [name for (name,) in left if str(name).startswith("DBATK_")] == []


@pytest.mark.thin(3)
@pytest.mark.parametrize(("words", "spared", "when"), thinned(_AT, 6))
def test_killed_at_each_statement_of_a_chunk_no_row_is_lost_or_doubled(
    tmp_path: Path, words: str, spared: int, when: str
) -> None:
    file = written(tmp_path / "a.csv", [*_LINES])
    with running_standin() as standin:
        check(standin, tmp_path, file, Fault(break_connection, words=words, when=when, spared=spared))
