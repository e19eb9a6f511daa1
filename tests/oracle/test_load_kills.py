"""A load of files into Oracle whose process is killed: once resumed, each row is there once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.hosts.conftest import until
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


def check(standin: Standin, folder: Path, file: Path, *faults: Fault) -> None:
    """Load, die at the first fault, resume and die at each further one, resume to the end."""
    how = ("--commit-every", "4K", "--batch-rows", "50", "--degree", "2")
    first, *further = faults
    assert wreck.kill(standin, folder, first, "load", str(file), "--table", "GTEST", *how)
    for fault in further:
        # what a killed process has sent may still be at work: it must not be what the next fault strikes
        until(lambda: not standin.engine.state.sessions)
        assert wreck.kill(standin, folder, fault, "runs", "resume", "last", "--not-production", url=False)
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


_AGAIN = [
    (first, again, when)
    for first in (_COMMIT, _NOTE)
    for again in (_COMMIT, _NOTE, _INSERT)
    for when in (AFTER, BEFORE)
]


@pytest.mark.parametrize(("first", "again", "when"), thinned(_AGAIN, 4))
def test_killed_again_while_it_is_resumed_no_row_is_lost_or_doubled(
    tmp_path: Path, first: str, again: str, when: str
) -> None:
    file = written(tmp_path / "a.csv", [*_LINES])
    faults = (
        Fault(break_connection, words=first, when=AFTER, spared=1),
        Fault(break_connection, words=again, when=when, spared=1),
        Fault(break_connection, words=again, when=when),
    )
    with running_standin() as standin:
        check(standin, tmp_path, file, *faults)
