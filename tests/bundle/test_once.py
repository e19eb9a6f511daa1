"""A job that adds rows to a table of the user's and broke off: done once, or asked about, never done twice."""

from __future__ import annotations

import subprocess
from contextlib import closing

import pytest

from tests.bundle.conftest import Maker, Workshop
from tests.oracle.make import connect
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from toolkit.model.words import Outcome

INSERT = 'source = "GTEST"\ntable = "GTEST"\nmode = "job"\nsnapshot = "none"'
ROWS = 2000


def inserted(shop: Workshop) -> int:
    with closing(connect(shop.standin)) as session:
        (row,) = session.execute("SELECT COUNT(*) AS n FROM GTEST").rows
    return int(str(row["n"])) - ROWS


def broken_off(shop: Workshop, words: str, when: str, spared: int = 0) -> Workshop:
    shop.export(operation="insert", options=INSERT, factors="degree = [1]")
    shop.standin.engine.faults.append(Fault(break_connection, words=words, when=when, spared=spared))
    status, said = shop.run()
    assert status == 3 and "trial 1 did not come to its end" in said, said
    return shop


def test_what_was_committed_before_it_broke_off_is_not_done_again(workshop: Maker) -> None:
    shop = broken_off(workshop(), "v$pq_sesstat", BEFORE, spared=1)  # it is read once before the clock
    assert inserted(shop) == ROWS
    status, said = shop.run()
    assert (status, inserted(shop)) == (0, ROWS), said
    assert "its work is there, so it is not done again" in said
    assert shop.run()[0] == 0 and inserted(shop) == ROWS
    assert shop.ingest().returncode == 0
    (trial,) = [each for each in shop.record().trials if each.outcome is Outcome.OK]
    assert trial.elapsed_seconds is None and "its work is there" in str(trial.reason)


@pytest.mark.thin(2)
@pytest.mark.parametrize(("when", "word", "there"), [(AFTER, "there", ROWS), (BEFORE, "missing", 0)])
def test_a_commit_whose_answer_was_lost_is_asked_about(workshop: Maker, when: str, word: str, there: int) -> None:
    shop = broken_off(workshop(), "COMMIT", when)
    assert inserted(shop) == there
    status, said = shop.run()
    assert (status, inserted(shop)) == (3, there), said
    assert "whether its work was committed is not known" in said and f"-r {word}" in said
    status, said = shop.run("-r", word)
    assert (status, inserted(shop)) == (0, ROWS), said
    assert shop.ingest().returncode == 0
    assert shop.record().trials[-1].outcome is Outcome.OK


def test_another_word_is_refused_before_anything_is_asked_of_the_database(workshop: Maker) -> None:
    shop = workshop()
    shop.export(operation="insert", options=INSERT, factors="degree = [1]")
    before = len(shop.standin.statements)
    command = ["sh", str(shop.bundle / "run.sh"), "-y", "-r", "maybe", shop.where]
    done = subprocess.run(command, env=shop.environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 2 and "usage" in done.stderr
    assert len(shop.standin.statements) == before


@pytest.mark.full
def test_what_makes_objects_of_its_own_is_simply_run_again(workshop: Maker) -> None:
    shop = workshop()
    shop.export()
    shop.standin.engine.faults.append(Fault(break_connection, words="CREATE TABLE", when=AFTER))
    assert shop.run()[0] == 3
    status, said = shop.run()
    assert status == 0, said
