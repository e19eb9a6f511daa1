"""ONLINE builds wait for the transactions of others without a limit of the server's: watched, and ended."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.oracle.make import assumed, connect, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind

GTEST = ("DBATK", "GTEST")
FORMS = {
    "build": ("index", "build", "--table", "GTEST", "--columns", "ID", "--name", "NEW_IX", "--online"),
    "rebuild": ("index", "rebuild", "--index", "GTEST_IX", "--online"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_build_that_waits_for_a_transaction_is_ended_and_the_blocker_is_named(form: str, tmp_path: Path) -> None:
    with running_standin() as standin, closing(connect(standin)) as other:
        del other
        (blocker,) = standin.engine.state.sessions.values()
        blocker.client_identifier = "app"
        standin.engine.state.transactions[GTEST] = blocker.sid
        status, run = dbatk(standin, tmp_path, *FORMS[form], "--degree", "2", "--lock-wait", "1s")
        assert status in (1, 3), run
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (trial["outcome"], trial["error_code"]) == ("failed", "TK-0212")
        assert f"session {blocker.sid},7 of DBATK (python@standin)" in trial["reason"]
        if form == "build":
            said = " ".join(run["warnings"])  # type: ignore[arg-type]
            assert "NEW_IX" in said and "ONLINE_INDEX_CLEAN" in said, "half-built, and what takes it away"


def test_a_transaction_that_ends_in_time_costs_the_build_nothing(tmp_path: Path) -> None:
    with running_standin() as standin, closing(connect(standin)):
        state = standin.engine.state
        (blocker,) = state.sessions.values()
        blocker.client_identifier = "app"
        state.transactions[GTEST] = blocker.sid
        real = type(state).rows_of

        def ends(view: str, session: object) -> object:
            rows = real(state, view, session)  # type: ignore[arg-type]
            if any(each.waited_looks == 1 for each in list(state.sessions.values())):
                state.transactions.clear()
            return rows

        state.rows_of = ends  # type: ignore[method-assign, assignment]
        status, run = dbatk(standin, tmp_path, *FORMS["build"], "--lock-wait", "2m")
    assert status == 0, run


def test_a_wait_that_cannot_be_seen_is_said_to_be_unbounded(tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({"V$SESSION"}), delay_seconds=0.5)) as standin:
        _, run = dbatk(standin, tmp_path, *FORMS["build"], "--lock-wait", "1s")
    assert any("not bounded" in text and "V$SESSION" in text for text in run["warnings"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "scratch", "watched"),
    [({"online": True}, False, True), ({}, False, False), ({"online": True}, True, False),
     ({"online": True, "on_live_objects": True}, True, True)],
)  # fmt: skip
def test_only_what_waits_without_a_limit_is_watched(
    options: dict[str, bool], scratch: bool, watched: bool
) -> None:
    ref = ObjectRef(ObjectKind.INDEX, QualifiedName("IX", "DBATK"), scratch, QualifiedName("GTEST", "DBATK"))
    item = work("index-build", 2, Mode.JOB, ref=ref, **options)
    wait = DIALECT.work.of("index-build").endless_wait(item, assumed())
    assert (wait is not None) is watched
    assert wait is None or wait.seconds == 60
