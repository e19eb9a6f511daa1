"""Statistics of live schemas against the stand-in: measured without moving any, gathered as a job and verified."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.statistics import Statistics
from tests.servers.forks import Forked
from tests.tiers import thinned

ONCE = ("--repeat", "1", "--warmup", "0")
LIVE = ("stats", "gather", "--schema", "DBATK", "--degree", "1,4", *ONCE, "--on-live-objects")
MINE = ("DBATK", "GTEST")
ANALYZE_ANY = {"SESSION_PRIVS": [{"PRIVILEGE": "ANALYZE ANY"}]}


@dataclass
class Answer:
    """What a command gave back."""

    status: int
    document: dict[str, Any]
    said: str

    @property
    def environment(self) -> dict[str, Any]:
        return dict(self.document["environment"])

    @property
    def warnings(self) -> str:
        return "\n".join(self.document["warnings"])

    @property
    def error(self) -> str:
        return str(self.document["error"]["message"])

    def metrics(self, name: str) -> list[float]:
        return [
            metric["value"]
            for trial in self.document["trials"]
            for metric in trial["metrics"]
            if metric["name"] == name
        ]


@dataclass
class Bench:
    """A stand-in, and a folder for the program that works on it."""

    standin: Standin
    folder: Path
    more: Sequence[str] = field(default=("--not-production",))

    @property
    def statistics(self) -> Statistics:
        return self.standin.engine.state.statistics

    def start(self, *arguments: str) -> Forked:
        environment = {
            **os.environ,
            "DBATK_STORE": str(self.folder / "store.db"),
            "DBATK_CONFIG": str(self.folder / "config"),
            "DBATK_PASSWORD": self.standin.password,
        }
        where = () if arguments[:2] == ("runs", "show") else ("-t", self.standin.url)
        return Forked("toolkit", *arguments, *where, env=environment)

    def run(self, *arguments: str) -> Answer:
        process = self.start(*arguments, *self.more, "--json")
        out, said = process.communicate(timeout=300)
        return Answer(process.returncode, json.loads(out), said)

    def unchanged(self) -> bool:
        """Tell whether a measurement left statistics, preferences and objects as they were."""
        state = self.statistics
        stored = [name for name, values in state.preferences.items() if values]
        return not state.published and not state.pending and not stored and self.standin.tables() == {
            "DBATK.GTEST", "APP.ORDERS"
        }  # fmt: skip


def played(folder: Path, scenario: Scenario, before: Callable[[Statistics], None], *arguments: str) -> Answer:
    """Run one command on a stand-in that `before` prepared."""
    with running_standin(scenario) as standin:
        context = Bench(standin, folder)
        before(context.statistics)
        return context.run(*arguments)


def nothing(_: Statistics) -> None:
    """Leave the statistics as they are."""


# -- measured on live objects -----------------------------------------------------------------------------------
def test_a_sweep_of_a_live_schema_moves_nothing_and_proves_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*LIVE)
        assert answer.status == 0, answer.said
        assert context.unchanged()
        blocks = [
            text for text in standin.statements if "DBMS_STATS." in text and text.startswith(("BEGIN", "DEC"))
        ]
    assert answer.environment["published_statistics"].startswith("proven: none of 2 ")
    assert [trial["outcome"] for trial in answer.document["trials"]] == ["ok", "ok"]
    order = [next(word for word in _STEPS if word in text) for text in blocks]
    trial = ["GATHER_SCHEMA_STATS", "DELETE_PENDING_STATS"]
    assert order == [
        "CREATE_STAT_TABLE",
        "LOCK_TABLE",
        "EXPORT_SCHEMA",
        "SET_TABLE_PREFS",
        *trial,
        *trial,
        "DELETE_TABLE",
    ]
    assert not [text for text in blocks if "FORCE" in text.upper() or "PUBLISH_PENDING" in text]


_STEPS = (
    "CREATE_STAT_TABLE", "LOCK_TABLE", "EXPORT_SCHEMA", "SET_TABLE_PREFS", "GATHER_SCHEMA_STATS",
    "DELETE_PENDING_STATS", "DELETE_TABLE",
)  # fmt: skip


@pytest.mark.full
def test_pending_statistics_are_deleted_table_by_table_and_younger_than_the_run(tmp_path: Path) -> None:
    with running_standin() as standin:
        Bench(standin, tmp_path).run(*LIVE)
        deleting = [text for text in standin.statements if "DELETE_PENDING_STATS" in text]
    assert len(deleting) == 2
    assert all(
        "tabname => '\"' || pending.table_name || '\"'" in text and "HAVING MIN(" in text for text in deleting
    )


@pytest.mark.full
def test_a_publish_of_the_tables_own_is_put_back_as_it_was(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        context.statistics.preferences[MINE] = {"PUBLISH": "TRUE", "DEGREE": "8"}
        assert context.run(*LIVE).status == 0
        assert context.statistics.preferences[MINE] == {"PUBLISH": "TRUE", "DEGREE": "8"}


@pytest.mark.full
def test_two_schemas_are_gathered_by_two_sessions_and_both_are_proven(tmp_path: Path) -> None:
    arguments = ("stats", "gather", "--schema", "DBATK,APP", "--concurrency", "2", *ONCE, "--on-live-objects")
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*arguments)
        assert answer.status == 0, answer.said
        assert context.unchanged()
    assert answer.environment["published_statistics"].startswith("proven: none of 4 ")
    assert answer.metrics("tables_gathered") == [2.0]
    labels = {item["label"] for item in answer.document["trials"][0]["items"]}
    assert {"DBATK", "APP", "DBATK.GTEST", "APP.ORDERS"} <= labels


@pytest.mark.full
def test_seconds_of_each_object_are_kept_with_the_trial(tmp_path: Path) -> None:
    answer = played(tmp_path, Scenario(), nothing, *LIVE)
    items = {item["label"]: item["elapsed_seconds"] for item in answer.document["trials"][0]["items"]}
    assert items["DBATK.GTEST"] == 1


@pytest.mark.full
def test_one_live_table_can_be_measured_too(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run("stats", "gather", "--table", "APP.ORDERS", *ONCE, "--on-live-objects")
        assert answer.status == 0, answer.said
        assert context.unchanged()
    assert answer.environment["published_statistics"].startswith("proven: none of 2 ")


# -- refused before anything is changed -------------------------------------------------------------------------
def _foreign_pending(state: Statistics) -> None:
    from datetime import datetime

    state.pending[MINE] = datetime(2026, 10, 1, 12)


def _unpublished(state: Statistics) -> None:
    state.preferences[MINE] = {"PUBLISH": "FALSE"}


def _everything_unpublished(state: Statistics) -> None:
    state.defaults["PUBLISH"] = "FALSE"


def _concurrent(state: Statistics) -> None:
    state.defaults["CONCURRENT"] = "MANUAL"


def _gathering(state: Statistics) -> None:
    state.run_forever("gather_database_stats(auto)", None)


_WINDOW = {"DBA_SCHEDULER_WINDOWS": [{"WINDOW_NAME": "MONDAY_WINDOW", "ACTIVE": "TRUE"}]}


@pytest.mark.parametrize(
    ("before", "scenario", "reason"),
    thinned(
        [
            (_foreign_pending, Scenario(), "pending statistics of DBATK.GTEST exist that this run did not gather"),
            (_unpublished, Scenario(), "PUBLISH of DBATK.GTEST is FALSE already"),
            (_everything_unpublished, Scenario(), "PUBLISH is FALSE for the whole database"),
            (_concurrent, Scenario(), "CONCURRENT is MANUAL"),
            (_gathering, Scenario(), "gather_database_stats(auto) of the database has been running since"),
            (nothing, Scenario(views=_WINDOW), "the maintenance window MONDAY_WINDOW is open"),
            (
                nothing,
                Scenario(parameters={"optimizer_use_pending_statistics": "TRUE"}),
                "OPTIMIZER_USE_PENDING_STATISTICS is TRUE",
            ),
            (
                nothing,
                Scenario(denied=frozenset({"DBA_TAB_PENDING_STATS"})),
                "GRANT SELECT ON SYS.DBA_TAB_PENDING_STATS TO DBATK",
            ),
            (nothing, Scenario(denied=frozenset({"DBA_OPTSTAT_OPERATIONS"})), "SYS.DBA_OPTSTAT_OPERATIONS"),
        ],
        3,
    ),
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_a_live_schema_that_is_not_ours_alone_is_refused(
    before: Callable[[Statistics], None], scenario: Scenario, reason: str, tmp_path: Path
) -> None:
    with running_standin(scenario) as standin:
        context = Bench(standin, tmp_path)
        before(context.statistics)
        pending, stored = dict(context.statistics.pending), dict(context.statistics.preferences)
        answer = context.run(*LIVE)
        assert answer.status == 5, answer.said
        assert reason in answer.error
        assert (context.statistics.pending, context.statistics.preferences) == (pending, stored)
        assert not [text for text in standin.statements if text.startswith(("BEGIN", "DECLARE"))]


def test_production_is_refused_whatever_is_approved(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path, ("--allow-production", "FREE"))
        answer = context.run(*LIVE)
        assert answer.status == 5 and "production" in answer.error
        assert not [text for text in standin.statements if "SET_TABLE_PREFS" in text]


@pytest.mark.full
# -- when things go wrong ---------------------------------------------------------------------------------------
def test_statistics_that_somebody_else_moves_are_not_proven_and_not_put_back_unasked(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        _when(standin, "GATHER_SCHEMA_STATS", lambda: context.statistics.move(*MINE))
        answer = context.run(*LIVE)
        kept = [name for name in standin.tables() if name.endswith("_S1")]
        assert answer.environment["published_statistics"].startswith(
            "not proven: published statistics of 1 table are"
        )
        assert "DBMS_STATS.RESTORE_TABLE_STATS( ownname => 'DBATK' , tabname => 'GTEST'" in answer.warnings
        assert "TO_TIMESTAMP_TZ('20" in answer.warnings and "+00:00'" in answer.warnings
        assert not [text for text in standin.statements if "RESTORE_TABLE_STATS" in text]
        assert len(kept) == 1 and kept[0] in answer.warnings
        assert not context.statistics.preferences[MINE]


def test_pending_statistics_of_somebody_else_meanwhile_refuse_the_next_trial_and_stay(tmp_path: Path) -> None:
    with running_standin(Scenario(views=ANALYZE_ANY)) as standin:
        context = Bench(standin, tmp_path)
        _when(standin, "DELETE_PENDING_STATS", lambda: _foreign_pending(context.statistics))
        answer = context.run(*LIVE)
        assert MINE in context.statistics.pending
    assert answer.status == 3
    assert [trial["outcome"] for trial in answer.document["trials"]] == ["ok", "failed"]
    assert "did not gather" in answer.document["trials"][1]["reason"]


@pytest.mark.full
def test_locked_tables_are_skipped_counted_and_said(tmp_path: Path) -> None:
    def lock(state: Statistics) -> None:
        state.lock("APP", "ORDERS")

    arguments = ("stats", "gather", "--schema", "DBATK,APP", *ONCE, "--on-live-objects")
    answer = played(tmp_path, Scenario(views=ANALYZE_ANY), lock, *arguments)
    assert answer.status == 0, answer.said
    assert "1 of 1 tables of APP are locked and will be skipped, never forced: ORDERS" in answer.warnings
    assert (answer.metrics("locked_before"), answer.metrics("locked_after")) == ([1.0], [1.0])
    assert answer.metrics("tables_gathered") == [1.0]


@pytest.mark.full
def test_a_failed_gathering_leaves_nothing_pending(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"stats": 1555}, fail_times=1)) as standin:
        context = Bench(standin, tmp_path)
        answer = context.run(*LIVE)
        assert answer.status == 3
        assert context.unchanged()
    assert answer.environment["published_statistics"].startswith("proven")


def test_a_killed_client_is_put_right_by_clean(tmp_path: Path) -> None:
    with running_standin(Scenario(delay_seconds=30)) as standin:
        context = Bench(standin, tmp_path)
        gathering = _when(standin, "GATHER_SCHEMA_STATS", lambda: None)
        process = context.start(*LIVE, "--not-production")
        assert gathering.wait(300)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
        standin.engine.released.set()
        assert context.statistics.preferences[MINE] == {"PUBLISH": "FALSE"}
        context.more = ()
        answer = context.run("clean")
        assert answer.status == 0, answer.said
        assert context.unchanged()
        shown = context.run("runs", "show", "last")
    assert "restored statistics `DBATK` by deleting the pending statistics" in str(answer.document["done"])
    assert "proven: none of 2" in answer.said
    assert shown.environment["published_statistics"].startswith("proven")


@pytest.mark.full
def test_a_killed_sweep_is_resumed_and_proven_against_its_very_beginning(tmp_path: Path) -> None:
    with running_standin(Scenario(delay_seconds=30)) as standin:
        context = Bench(standin, tmp_path)
        gathering = _when(standin, "GATHER_SCHEMA_STATS", lambda: None)
        process = context.start(*LIVE, "--not-production")
        assert gathering.wait(300)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
        standin.engine.released.set()
        answer = context.run("runs", "resume", "last")
        assert answer.status == 0, answer.said
        assert context.unchanged()
    assert answer.environment["published_statistics"].startswith("proven")


def _when(standin: Standin, word: str, then: Callable[[], None]) -> threading.Event:
    """Do something once, just before a statement with this word is executed."""
    met = threading.Event()
    command = standin.engine.command

    def watched(session: Any, data: Any, text: str) -> int:
        if word in text and not met.is_set():
            met.set()
            done = command(session, data, text) if word == "DELETE_PENDING_STATS" else None
            then()
            return command(session, data, text) if done is None else done
        return command(session, data, text)

    standin.engine.command = watched  # type: ignore[method-assign]
    return met


# -- as a job ---------------------------------------------------------------------------------------------------
def test_a_job_gathers_the_live_schema_and_verifies_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        answer = context.run("stats", "gather", "--schema", "DBATK", "--degree", "4")
        assert answer.status == 0, answer.said
        assert ("TABLE", MINE) in context.statistics.published
        assert not [text for text in standin.statements if "PREFS(" in text and text.startswith("BEGIN")]
    assert answer.environment["published_statistics"].startswith(
        "verified: the statistics of the one table are newer"
    )


def test_a_job_says_which_statistics_are_not_newer_and_why(tmp_path: Path) -> None:
    def lock(state: Statistics) -> None:
        state.lock(*MINE)

    answer = played(tmp_path, Scenario(), lock, "stats", "gather", "--schema", "DBATK")
    assert "the statistics of 1 table are not newer" in answer.warnings
    assert "DBATK.GTEST: analyzed 2026-11-01 06:30:00; its statistics are locked (ALL)" in answer.warnings


def test_a_job_under_publish_false_says_that_it_is_pending(tmp_path: Path) -> None:
    answer = played(tmp_path, Scenario(), _unpublished, "stats", "gather", "--schema", "DBATK")
    assert "PUBLISH is FALSE, so the gathered statistics are pending" in answer.warnings


# -- before a run -----------------------------------------------------------------------------------------------
def _script(context: Bench, *arguments: str) -> str:
    process = context.start(*arguments, "--dry-run")
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return out


def test_a_dry_run_shows_what_would_be_gathered_and_how_it_is_put_back(tmp_path: Path) -> None:
    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        text = _script(context, *LIVE)
        assert not [
            sent for sent in standin.statements if not sent.lstrip().upper().startswith(("SELECT", "WITH"))
        ]
    assert "--   Statistics Gathering Report" in text and "--   DBATK.GTEST" in text
    assert text.index("SET_TABLE_PREFS") < text.index("GATHER_SCHEMA_STATS(") < text.index("DELETE_TABLE_PREFS")


def test_a_dry_run_goes_on_where_the_report_is_refused(tmp_path: Path) -> None:
    from tests.oracle.standin.errors import ora

    with running_standin() as standin:
        context = Bench(standin, tmp_path)
        query = standin.engine.query

        def refusing(session: Any, data: Any, text: str, binds: Any) -> Any:
            if "REPORT_GATHER" in text:
                raise ora(6572, "function has out arguments")
            return query(session, data, text, binds)

        standin.engine.query = refusing  # type: ignore[method-assign]
        text = _script(context, "stats", "gather", "--schema", "DBATK")
    assert "the list of what would be gathered could not be read: ORA-06572" in text
