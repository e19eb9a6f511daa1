"""Redo of a whole run against the room of archived logs: refused before it, watched between trials (ORA-00257)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.make import assumed, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.scenarios import database
from tests.oracle.test_command_line import dbatk
from tests.servers import forks
from toolkit.dialects.oracle import archiving
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.values import Row

GTEST = 196608
CTAS = ("ctas", "--source", "GTEST", "--table", "C", "--degree", "1,4", "--repeat", "2", "--warmup", "0")
DATABASE: Row = {"log_mode": "ARCHIVELOG", "force_logging": "NO", "flashback_on": "NO"}
AREA: Row = {"place_kind": "area", "place": "+FRA", "limit_bytes": 100.0, "free_bytes": 40.0}
TO_AREA: Row = {"place_kind": "destination", "place": "USE_DB_RECOVERY_FILE_DEST"}


def facts(*rows: Row, **answers: tuple[Row, ...]) -> Facts:
    read = {"doctor_database": (DATABASE,), archiving.FILE: rows, **answers}
    return replace(assumed(**read), assumed=False)


def test_a_run_whose_archived_redo_cannot_fit_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with running_standin(Scenario(recovery_area=3 * GTEST)) as standin:
        status, said = dbatk(standin, tmp_path, *CTAS)
        assert not any(text.startswith("CREATE") for text in standin.statements)
        assert status == 5, said
        message = said["error"]["message"]  # type: ignore[index]
        assert "4 trials" in message and "ORA-00257" in message and "`/fra`" in message
        unlogged, _ = dbatk(standin, tmp_path, *CTAS, "--nologging")
        assert unlogged == 0


def test_a_run_stops_before_the_trial_that_fills_the_area_and_is_resumed_when_there_is_room(
    tmp_path: Path,
) -> None:
    with running_standin(Scenario(recovery_area=6 * GTEST)) as standin:
        state = standin.engine.state
        real = type(state).rows_of

        def filled(view: str, session: object) -> object:
            if view == "V$RECOVERY_FILE_DEST" and state.archived > GTEST:
                state.archived = max(state.archived, 5 * GTEST)  # somebody else's jobs
            return real(state, view, session)  # type: ignore[arg-type]

        state.rows_of = filled  # type: ignore[method-assign, assignment]
        _, run = dbatk(standin, tmp_path, *CTAS)
        assert run["state"] == "interrupted"
        assert [trial["outcome"] for trial in run["trials"]] == ["ok", "ok"]  # type: ignore[index, attr-defined]
        assert any("left for archived logs" in line for line in run["warnings"])  # type: ignore[attr-defined]
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
        state.archived = 0
        status, run = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, run["state"], len(run["trials"])) == (0, "done", 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("denied", ["V$RECOVERY_FILE_DEST", "V$DATABASE"])
def test_what_cannot_be_read_is_said_and_refuses_nothing(denied: str, tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({denied}))) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS)
    assert status == 0
    (line,) = [text for text in run["warnings"] if "of redo" in text]  # type: ignore[attr-defined]
    assert "unknown" in line and denied in line


def test_the_dry_run_shows_redo_and_room_and_what_flashback_takes(tmp_path: Path) -> None:
    flashing = {**database(), "FLASHBACK_ON": "YES"}
    with running_standin(Scenario(views={"V$DATABASE": [flashing]})) as standin:
        done = forks.run(
            "toolkit", *CTAS, "-t", standin.url, "--dry-run",
            env={"DBATK_STORE": str(tmp_path / "s.db"), "DBATK_CONFIG": str(tmp_path), "DBATK_PASSWORD": "tiger"},
        )  # fmt: skip
    (line,) = [text for text in done.stdout.splitlines() if "of redo" in text]
    assert "400 GiB are free for archived logs in `/fra`" in line and "FLASHBACK_ON is YES" in line


def test_redo_goes_to_the_recovery_area_or_to_a_folder_of_which_nothing_is_known() -> None:
    area = DIALECT.archive_room(facts(AREA, TO_AREA))
    assert area is not None and (area.place, area.free_bytes) == ("+FRA", 40.0)
    folder = DIALECT.archive_room(facts(AREA, {**TO_AREA, "place": "/arch"}))
    assert folder is not None and (folder.place, folder.free_bytes) == ("/arch", None) and folder.unknown
    mode = {**DATABASE, "log_mode": "NOARCHIVELOG"}
    assert DIALECT.archive_room(facts(AREA, TO_AREA, doctor_database=(mode,))) is None
    assert DIALECT.archive_room(assumed()) is None


@pytest.mark.parametrize(
    ("operation", "options", "least", "most"),
    [
        ("ctas", {}, 100, 120),
        ("ctas", {"sample": 10}, 10, 12),
        ("ctas", {"logging": "nologging"}, 0, 0),
        ("insert", {}, 150, 200),
        ("insert", {"bare": True}, 100, 120),
        ("insert", {"logging": "nologging"}, 50, 70),
        ("insert", {"load": "conventional", "bare": True}, 120, 150),
    ],
)
def test_redo_is_blocks_rows_and_entries_of_indexes(
    operation: str, options: dict[str, object], least: float, most: float
) -> None:
    table: Row = {"schema_name": "DBATK", "table_name": "GTEST", "byte_count": 100.0}
    index: Row = {"schema_name": "DBATK", "index_name": "IX", "table_schema": "DBATK", "table_name": "GTEST"}
    known = facts(AREA, source=(table,), target=(table,), table_indexes=(index,))
    (first, *_) = DIALECT.work.timed(work(operation, **options), known)  # type: ignore[arg-type]
    assert first.redo_bytes is not None and least <= first.redo_bytes <= most


def test_redo_of_a_query_is_unknown() -> None:
    (call, *_) = DIALECT.work.timed(work("ctas", query="SELECT 1 AS a FROM dual"), facts(AREA))
    assert call.redo_bytes is None
