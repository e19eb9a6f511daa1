"""Statistics that wait are published, deleted or restored: compared first, and looked at afterwards."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.errors import ora
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.standin.statistics import Statistics
from tests.oracle.test_live_statistics import ANALYZE_ANY, MINE, Bench, nothing, played

OTHERS = ("APP", "ORDERS")
PUBLISH = ("stats", "publish", "--schema", "DBATK,APP")
_BEFORE = datetime.datetime(2026, 11, 20)


def waiting(state: Statistics) -> None:
    """Let statistics of two tables wait, one of which differ much."""
    state.pending.update({MINE: _BEFORE, OTHERS: _BEFORE})
    state.differences[OTHERS] = 73.0


def test_pending_statistics_that_do_not_differ_too_much_are_published_and_the_others_stay(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        waiting(context.statistics)
        shown = context.start(*PUBLISH, "--max-difference", "50", "--dry-run")
        script, _ = shown.communicate(timeout=300)
        assert list(context.statistics.pending) == [MINE, OTHERS]
        answer = context.run(*PUBLISH, "--max-difference", "50")
        assert list(context.statistics.pending) == [OTHERS]
        assert list(context.statistics.published) == [("TABLE", MINE)]
        rest = context.run(*PUBLISH)
        assert rest.status == 0 and not context.statistics.pending
        again = context.run(*PUBLISH)
    assert script.count("DBMS_STATS.PUBLISH_PENDING_STATS(") == 2
    (trial,) = answer.document["trials"]
    assert answer.status == 3 and "ORA-20901" in trial["reason"] and "by 73 percent" in trial["reason"]
    assert [item["outcome"] for item in trial["items"]] == ["ok", "failed"]
    assert "nothing takes that back by itself" in answer.warnings
    assert again.status == 2 and "APP has no pending statistics" in again.error


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        ((), 5, "locked (ALL); give --force-locked"),
        (("--force-locked",), 0, ""),
        (("--discard",), 0, ""),
    ],
)
def test_locked_statistics_are_replaced_only_by_force(
    options: tuple[str, ...], status: int, reason: str, tmp_path: Path
) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        context.statistics.pending[MINE] = _BEFORE
        context.statistics.lock(*MINE)
        answer = context.run("stats", "publish", "--table", "GTEST", *options)
        assert answer.status == status, answer.said
        assert bool(context.statistics.pending) == bool(reason)
        assert bool(context.statistics.published) == (options == ("--force-locked",))
    assert not reason or reason in answer.error


def test_a_schema_of_locked_tables_is_refused_as_a_locked_table_is(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        waiting(context.statistics)
        for table in (MINE, OTHERS):
            context.statistics.lock(*table)
        answer = context.run(*PUBLISH)
    assert (answer.status, answer.document["error"]["code"]) == (5, "TK-0304")
    assert "locked (ALL); give --force-locked" in answer.error


def test_a_table_that_is_locked_meanwhile_is_not_said_to_be_published(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        context.statistics.pending[MINE] = _BEFORE
        publish = context.statistics.call

        def meanwhile(procedure: str, *given: object) -> object:
            context.statistics.lock(*MINE)
            return publish(procedure, *given)  # type: ignore[arg-type]

        context.statistics.call = meanwhile  # type: ignore[method-assign,assignment]
        answer = context.run("stats", "publish", "--table", "GTEST")
    assert answer.status == 3 and "still pending" in answer.document["trials"][0]["reason"]


def test_one_locked_table_of_a_schema_is_left_out_with_the_reason(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        waiting(context.statistics)
        context.statistics.lock(*OTHERS)
        answer = context.run(*PUBLISH)
        assert list(context.statistics.pending) == [OTHERS]
    (trial,) = answer.document["trials"]
    assert {item["label"]: item["outcome"] for item in trial["items"]} == {
        "DBATK.GTEST": "ok", "APP.ORDERS": "skipped"
    }  # fmt: skip


def test_statistics_of_an_earlier_time_are_restored_by_the_clock_of_the_database(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        now = datetime.datetime.now()
        context.statistics.history = {MINE: [now - datetime.timedelta(hours=1)], OTHERS: [_BEFORE]}
        asked = (now - datetime.timedelta(hours=2)).isoformat(timespec="seconds")
        answer = context.run(*PUBLISH, "--as-of", asked)
        assert answer.status == 0, answer.said
        ((name, sent),) = context.statistics.restored.items()
        later = context.run(*PUBLISH, "--as-of", (now + datetime.timedelta(days=2)).isoformat())
        older = context.run(*PUBLISH, "--as-of", "1999-01-01T00:00")
        none = context.run(*PUBLISH, "--as-of", now.isoformat(timespec="seconds"))
    assert name == MINE and sent.startswith(asked.replace("T", " ")) and sent[-6] in "+-"
    assert later.status == 5 and "still to come" in later.error
    assert older.status == 5 and "the history of statistics begins at" in older.error
    assert none.status == 2 and "no statistics that were replaced after" in none.error


def test_what_may_not_be_read_is_not_taken_for_absent(tmp_path: Path) -> None:
    hidden = Scenario(denied=frozenset({"DBA_TAB_PENDING_STATS"}))
    answer = played(tmp_path, hidden, nothing, "stats", "publish", "--table", "GTEST")
    assert answer.status == 5 and "cannot be read" in answer.error
    assert "GRANT SELECT ON SYS.DBA_TAB_PENDING_STATS TO DBATK" in answer.document["error"]["hint"]


def test_a_killed_job_publishes_the_rest_when_it_is_resumed(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        waiting(context.statistics)
        fault = Fault(break_connection, words="PUBLISH_PENDING_STATS", spared=1)
        assert wreck.kill(standin, tmp_path, fault, *PUBLISH)
        assert len(context.statistics.pending) == 1
        answer = context.run("runs", "resume", "last")
        assert not context.statistics.pending, (answer.document, answer.said)
    assert answer.status == 0, answer.said


def test_a_job_whose_server_had_published_all_is_done_when_it_is_resumed(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        waiting(context.statistics)
        fault = Fault(break_connection, words="PUBLISH_PENDING_STATS", spared=1, when=AFTER)
        assert wreck.kill(standin, tmp_path, fault, *PUBLISH)
        assert not context.statistics.pending
        answer = context.run("runs", "resume", "last")
        assert (answer.status, "nothing was sent again" in answer.said) == (0, True), answer
        (trial,) = [each for each in answer.document["trials"] if each["outcome"] == "ok"]
        assert [item["outcome"] for item in trial["items"]] == ["ok", "ok"]
        sent = [text for text in standin.statements if "PUBLISH_PENDING_STATS" in text]
        assert len(sent) == 2, sent
        again = context.run("runs", "resume", "last")
        assert again.status == 0, again
        fresh = context.run(*PUBLISH)
    assert (fresh.status, "has no pending statistics" in fresh.error) == (2, True), fresh


def test_pending_statistics_that_somebody_deleted_were_not_published(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        waiting(context.statistics)
        fault = Fault(break_connection, words="PUBLISH_PENDING_STATS", when=BEFORE)
        assert wreck.kill(standin, tmp_path, fault, *PUBLISH)
        assert len(context.statistics.pending) == 2
        context.statistics.pending.clear()
        answer = context.run("runs", "resume", "last")
        assert (answer.status, "has no pending statistics" in answer.error) == (2, True), answer


# -- by a table of statistics -----------------------------------------------------------------------------------
def test_statistics_are_exported_to_a_table_that_is_made_once_and_imported_after_a_comparison(
    tmp_path: Path,
) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        export = ("stats", "export", "--stat-table", "KEPT", "--stat-id", '"it is before"')
        first = context.run(*export, "--schema", "DBATK,APP")
        second = context.run(*export, "--table", "GTEST")
        assert (first.status, second.status) == (0, 0), (first.document, first.said + second.said)
        assert "DBATK.KEPT" in standin.tables() and context.statistics.exported == [
            ("DBATK", "KEPT"), ("APP", "KEPT"), ("DBATK", "KEPT"),
        ]  # fmt: skip
        context.statistics.differences[MINE] = 30.0
        load = ("stats", "publish", "--table", "GTEST", "--stat-table", "KEPT", "--stat-id", '"it is before"')
        refused = context.run(*load, "--max-difference", "10")
        assert not context.statistics.published
        taken = context.run(*load, "--max-difference", "40")
        assert list(context.statistics.published) == [("TABLE", MINE)], taken.said
        whole = context.run("stats", "publish", "--schema", "DBATK,APP", "--stat-table", "KEPT")
        sent = [text for text in standin.statements if "_STATS(" in text and "STATTAB" in text.upper()]
    assert (refused.status, taken.status, whole.status) == (3, 0, 0), whole.said
    assert sum("CREATE_STAT_TABLE" in text for text in standin.statements) == 1
    assert sum("IMPORT_SCHEMA_STATS" in text for text in sent) == 2
    assert "is replaced where it holds the same tables already" in second.warnings


def test_a_failed_export_is_done_again_into_the_table_that_it_made(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        answer = context.run("stats", "export", "--schema", "DBATK,NOBODY", "--stat-table", "KEPT")
        assert answer.status == 2 and "there is no schema `NOBODY`" in answer.error
        call = context.statistics.call

        def fails(procedure: str, *given: object) -> object:
            if procedure.startswith("EXPORT"):
                raise ora(20000, "unable to analyze")
            return call(procedure, *given)  # type: ignore[arg-type]

        context.statistics.call = fails  # type: ignore[method-assign,assignment]
        answer = context.run("stats", "export", "--schema", "DBATK", "--stat-table", "KEPT")
        assert answer.status == 3 and "stays if an export fails" in answer.warnings
        context.statistics.call = call  # type: ignore[method-assign]
        again = context.run("runs", "resume", "last", "--retry-failed")
        assert again.status == 0 and context.statistics.exported == [("DBATK", "KEPT")], again.said
        view = context.run("stats", "export", "--schema", "DBATK", "--stat-table", "KEPT", "--repeat", "2")
    assert view.status == 2 and "nothing to measure" in view.error
