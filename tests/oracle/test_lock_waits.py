"""Transactions of others: what restores or drops something waits for them, and what stays is named."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle import wreck
from tests.oracle.make import assumed, connect, target, work
from tests.oracle.standin import running_standin
from tests.oracle.standin.faults import AFTER, Act, Fault, Struck
from tests.oracle.standin.state import State
from tests.oracle.test_undo import experiment
from tests.servers import forks
from tests.tiers import thinned
from toolkit.app.runs.preview import script
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.errors import ExitCode
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind

REBUILD = wreck.OPERATIONS["index-rebuild-job"]
GTEST = ("DBATK", "GTEST")
LIVE = ObjectRef(ObjectKind.INDEX, QualifiedName("GTEST_IX", "DBATK"), table=QualifiedName("GTEST", "DBATK"))
TARGET = ObjectRef(ObjectKind.TABLE, QualifiedName("GTEST", "DBATK"))


def lock(seconds: float, scratch: bool = False) -> Act:
    """Let others hold the user's table, or every scratch table, for so long."""

    def act(backend: Struck, state: State) -> None:
        del backend
        names = [made.name for made in state.tables() if made.name[1].startswith("DBATK_")] if scratch else [GTEST]
        state.locks.update(dict.fromkeys(names, seconds))

    return act


def test_ddl_waits_only_as_long_as_its_session_says() -> None:
    with running_standin() as standin:
        session = connect(standin)
        standin.engine.state.locks[GTEST] = 50.0
        for waits, refused in ((0, True), (20, True), (60, False)):
            session.execute(f"ALTER SESSION SET DDL_LOCK_TIMEOUT = {waits}")
            if refused:
                with pytest.raises(DatabaseError, match="ORA-00054"):
                    session.execute("ALTER TABLE GTEST NOLOGGING")
            else:
                session.execute("ALTER TABLE GTEST NOLOGGING")
        session.close()


@pytest.mark.parametrize(
    ("held", "options"), thinned([(50, ()), (150, ()), (100, ("--lock-wait", "25s", "--lock-tries", "4"))], 3)
)
def test_a_degree_is_put_back_once_others_are_done(held: float, options: tuple[str, ...], tmp_path: Path) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        before = wreck.look(standin)
        standin.engine.faults.append(Fault(lock(held), words="REBUILD", when=AFTER))
        status, _ = wreck.run(standin, tmp_path, *REBUILD, *options, "-t", standin.url, "--not-production")
        assert status == ExitCode.DONE
        assert wreck.look(standin) == before


def test_what_stays_changed_is_named_with_both_values_and_what_mends_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        before = wreck.look(standin)
        standin.engine.faults.append(Fault(lock(math.inf), words="REBUILD", when=AFTER))
        status, document = wreck.run(standin, tmp_path, *REBUILD, "-t", standin.url, "--not-production")
        assert status == ExitCode.INCOMPLETE
        (said,) = {text for text in map(str, document["warnings"]) if "ORA-00054" in text and "by hand" in text}
        assert "index `DBATK.GTEST_IX`" in said
        assert "degree is `4`, was `2`" in said
        assert 'ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 2;' in said
        standin.engine.state.locks.clear()
        assert wreck.clean(standin, tmp_path)[0] == ExitCode.DONE
        assert wreck.look(standin) == before


@pytest.mark.full
def test_copies_that_cannot_be_dropped_are_named_and_the_run_is_not_called_done(tmp_path: Path) -> None:
    with running_standin() as standin:
        before = wreck.look(standin)
        fault = Fault(lock(math.inf, scratch=True), words='CREATE TABLE "DBATK"."DBATK_', when=AFTER)
        standin.engine.faults.append(fault)
        status, document = wreck.run(
            standin, tmp_path, *wreck.OPERATIONS["ctas-sweep"], "--lock-tries", "1", "-t", standin.url,
            "--not-production",
        )  # fmt: skip
        assert status == ExitCode.INCOMPLETE
        left = set(wreck.look(standin)) - set(before)
        assert left
        for name in left:
            drop = f'DROP TABLE "DBATK"."{name.rpartition(".")[2]}" PURGE;'
            assert any("ORA-00054" in str(text) and drop in str(text) for text in document["warnings"]), name
        standin.engine.state.locks.clear()
        assert wreck.clean(standin, tmp_path)[0] == ExitCode.DONE
        assert wreck.look(standin) == before


@for_each(
    ("item", "words"),
    [
        (
            work("index-rebuild", 1, Mode.JOB, ref=LIVE),
            ["at degree 1 too", "60 s", "queue behind it", "statistics"],
        ),
        (work("index-rebuild", 1, Mode.JOB, ref=LIVE, lock_wait="2m"), ["120 s"]),
        (
            work("index-rebuild", 4, Mode.JOB, ref=LIVE, online=True),
            ["cancels the build after 60 s", "statistics"],
        ),
        (work("index-build", 1, Mode.JOB, ref=LIVE), ["at degree 1 too"]),
        (
            work("insert", 1, Mode.JOB, ref=TARGET),
            ["locks `DBATK.GTEST` exclusively", "cancels it after 60 s", "queue behind it"],
        ),
        (
            work("table-move", 1, Mode.JOB, ref=TARGET),
            ["nobody can change rows of `DBATK.GTEST`", "60 s", "queue behind it"],
        ),
        (work("table-move", 1, Mode.JOB, ref=TARGET, online=True), ["cancels it after 60 s"]),
        (work("insert", 1, Mode.JOB, ref=TARGET, load="conventional"), []),
        (work("index-rebuild", 1), []),
        (work("insert", 1), []),
    ],
)
def test_what_others_will_notice_is_said_before_work_on_a_live_object(item: Work, words: list[str]) -> None:
    said = "; ".join(DIALECT.work.remarks(item, assumed()))
    assert [word for word in words if word not in said] == []
    about = ("exclusively", "at degree 1 too", "open transactions", "new statistics")
    assert words or not any(word in said for word in about)


def test_a_script_says_what_a_live_rebuild_means_for_others() -> None:
    with running_standin() as standin:
        resolved = target(standin)
        shown, _ = script(experiment(standin, "index-rebuild"), resolved)
        resolved.close()
    assert "nobody can change rows of `DBATK.GTEST`" in shown


@pytest.mark.thin(2)
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_the_screen_names_what_is_left_whatever_else_it_has_to_say(quiet: tuple[str, ...], tmp_path: Path) -> None:
    with running_standin() as standin:
        wreck.prepare(standin)
        standin.engine.faults.append(Fault(lock(math.inf), words="PARALLEL 2"))
        command = ("toolkit", *REBUILD, "-t", standin.url, "--not-production", "--lock-tries", "1", *quiet)
        done = forks.run(*command, env=wreck.environment(standin, tmp_path))
    assert done.returncode == ExitCode.INCOMPLETE
    said = " ".join(done.stdout.split())
    assert "! index `DBATK.GTEST_IX` (degree is `4`, was `2`; logging is `NO`, was `YES`)" in said, said
    assert 'run: ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 2; ALTER INDEX "DBATK"."GTEST_IX" LOGGING;' in said
    assert "not everything is undone: `dbatk clean" in done.stderr
