"""ONLINE builds wait for the transactions of others without a limit of the server's: watched, and ended."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import assumed, connect, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.test_command_line import dbatk
from tests.runner.context import context_of, warnings_of
from tests.runner.world import RUN, World
from tests.store.make import head
from tests.tiers import thinned
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import ObjectRef, Step, TimedItem
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind
from toolkit.runner import waits
from toolkit.store import open_store

GTEST = ("DBATK", "GTEST")
FORMS = {
    "build": ("index", "build", "--table", "GTEST", "--columns", "ID", "--name", "NEW_IX", "--online"),
    "rebuild": ("index", "rebuild", "--index", "GTEST_IX", "--online"),
}


@pytest.mark.parametrize("form", thinned(FORMS, 2))
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


def test_a_direct_load_that_waits_for_its_table_is_ended_and_the_blocker_is_named(tmp_path: Path) -> None:
    load = ("insert", "--source", "GTEST", "--table", "APP.ORDERS", "--degree", "2", "--lock-wait", "1s")
    with running_standin() as standin, closing(connect(standin)) as other:
        del other
        (blocker,) = standin.engine.state.sessions.values()
        blocker.client_identifier = "app"
        orders = standin.engine.state.objects["TABLE", ("APP", "ORDERS")]
        rows = orders.rows
        standin.engine.state.transactions["APP", "ORDERS"] = blocker.sid
        status, run = dbatk(standin, tmp_path, *load)
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (status, trial["outcome"], trial["error_code"]) == (3, "failed", "TK-0212"), run
        assert f"session {blocker.sid},7 of DBATK (python@standin)" in trial["reason"]
        assert orders.rows == rows


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


@pytest.mark.parametrize(
    ("late", "asked", "ended"), [(False, False, True), (True, False, False), (True, True, True)]
)
def test_a_build_is_thrown_away_at_its_end_only_where_a_limit_was_asked_for(
    late: bool, asked: bool, ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "_LONGEST_SECONDS", 0.0)
    monkeypatch.setattr(waits, "_SHORTEST_SECONDS", 0.0)
    monkeypatch.setattr(waits, "_BEGINNING_SECONDS", 0.0)
    options = {"online": True, "lock_wait": "59s"} if asked else {"online": True}
    build = 'CREATE INDEX "DBATK"."NEW_IX" ON "DBATK"."GTEST" ("ID") ONLINE'
    with ExitStack() as ended_at_last:
        standin = ended_at_last.enter_context(running_standin())
        kept = ended_at_last.enter_context(open_store(tmp_path / "store.sqlite"))
        kept.create_run(head(RUN))
        other, control, worker = (ended_at_last.enter_context(closing(connect(standin))) for _ in range(3))
        del other
        state = standin.engine.state
        blocker, _, building = sorted(state.sessions.values(), key=lambda each: each.sid)
        building.client_identifier = RUN

        class Asking(World):
            def run(self, step: Step, number: int = 0) -> Answer:
                del number
                return control.execute(step.text, step.binds)

        held = state.late_transactions if late else state.transactions
        held[GTEST] = 0 if late else blocker.sid
        context = context_of(Asking(), kept, operation="index-build")
        ref = ObjectRef(ObjectKind.INDEX, QualifiedName("NEW_IX", "DBATK"), table=QualifiedName("GTEST", "DBATK"))
        watch = waits.TransactionWaits(context, [Work("index-build", Mode.JOB, ref, options)])
        running = {0: TimedItem("NEW_IX", (Step("build", build),))}

        def work_on() -> None:
            with suppress(DatabaseError):
                worker.execute(build)

        thread = threading.Thread(target=work_on, daemon=True)
        thread.start()
        if late:
            assert watch.overdue(running) == {}  # it is at work
            held[GTEST] = blocker.sid
        else:
            while building.waits_behind is None:
                thread.join(0.01)
        found: Mapping[int, DatabaseError] = {}
        while not found and not warnings_of(context):
            found = watch.overdue(running)
        worker.cancel()
        thread.join(300)
    assert [error.code for error in found.values()] == (["TK-0212"] if ended else [])
    said = " ".join([*warnings_of(context), *(error.message for error in found.values())])
    assert f"session {blocker.sid},7 of DBATK" in said
    assert ("after its work had begun: it waits on" in said) is not ended


def test_a_wait_that_cannot_be_seen_is_said_to_be_unbounded(tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({"V$SESSION"}), delay_seconds=0.5)) as standin:
        _, run = dbatk(standin, tmp_path, *FORMS["build"], "--lock-wait", "1s")
    assert any("not bounded" in text and "V$SESSION" in text for text in run["warnings"])  # type: ignore[attr-defined]


@for_each(
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
    assert wait is None or (wait.seconds, wait.ends_late) == (60, False)
