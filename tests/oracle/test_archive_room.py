"""Redo of a whole run against the room of archived logs: refused before it, watched between trials (ORA-00257)."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import OURS, assumed, connect, work
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.scenarios import database
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_round_trips import swept
from tests.servers import forks
from tests.tiers import thinned
from toolkit.dialects.answers import Room
from toolkit.dialects.oracle import archiving
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Step
from toolkit.model.values import Row
from toolkit.model.words import Effect, StepKind

GTEST = 196608
CTAS = ("ctas", "--source", "GTEST", "--table", "C", "--degree", "1,4", "--repeat", "2", "--warmup", "0")
DATABASE: Row = {"log_mode": "ARCHIVELOG", "force_logging": "NO", "flashback_on": "NO"}
AREA: Row = {"place_kind": "area", "place": "+FRA", "limit_bytes": 100.0, "free_bytes": 40.0}
TO_AREA: Row = {"place_kind": "destination", "place": "USE_DB_RECOVERY_FILE_DEST"}


def facts(*rows: Row, **answers: tuple[Row, ...]) -> Facts:
    read = {"doctor_database": (DATABASE,), archiving.FILE: rows, **answers}
    return replace(assumed(**read), assumed=False)


@pytest.mark.full
def test_a_run_whose_archived_redo_cannot_fit_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with running_standin(Scenario(recovery_area=3 * GTEST)) as standin:
        status, said = dbatk(standin, tmp_path, *CTAS)
        assert not any(text.startswith("CREATE") for text in standin.statements)
        assert status == 5, said
        message = said["error"]["message"]  # type: ignore[index]
        assert "of archived redo in the recovery area `/fra`" in message and "ORA-00257" in message
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
        assert any("are left in the recovery area `/fra`" in line for line in run["warnings"])  # type: ignore[attr-defined]
        assert standin.tables() == {"DBATK.GTEST", "APP.ORDERS"}
        state.archived = 0
        status, run = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, run["state"], len(run["trials"])) == (0, "done", 4)  # type: ignore[arg-type]


@pytest.mark.full
@pytest.mark.parametrize("denied", thinned(["V$RECOVERY_FILE_DEST", "V$DATABASE"], 2))
def test_what_cannot_be_read_is_said_and_refuses_nothing(denied: str, tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({denied}))) as standin:
        status, run = dbatk(standin, tmp_path, *CTAS)
    assert status == 0
    (line,) = [text for text in run["warnings"] if "of archived redo" in text]  # type: ignore[attr-defined]
    assert "unknown" in line and denied in line


def test_the_dry_run_shows_redo_and_room_and_what_flashback_takes(tmp_path: Path) -> None:
    flashing = {**database(), "FLASHBACK_ON": "YES"}
    with running_standin(Scenario(views={"V$DATABASE": [flashing]})) as standin:
        done = forks.run(
            "toolkit", *CTAS, "-t", standin.url, "--dry-run",
            env={"DBATK_STORE": str(tmp_path / "s.db"), "DBATK_CONFIG": str(tmp_path), "DBATK_PASSWORD": "tiger"},
        )  # fmt: skip
    (line,) = [text for text in done.stdout.splitlines() if "of archived redo" in text]
    assert "in the recovery area `/fra`, where 400 GiB are free" in line and "FLASHBACK_ON is YES" in line


def room(known: Facts) -> tuple[Place | None, Room | None]:
    place = archiving.place(known)
    return place, None if place is None else DIALECT.room(place, known)


def test_redo_goes_to_the_recovery_area_or_to_a_folder_of_which_nothing_is_known() -> None:
    place, area = room(facts(AREA, TO_AREA))
    assert place == Place(PlaceKind.RECOVERY_AREA, "+FRA") and area is not None
    assert (area.free_bytes, area.least_bytes) == (40.0, 3.0)
    place, folder = room(facts(AREA, {**TO_AREA, "place": "/arch"}))
    assert place == Place(PlaceKind.LOGS, "/arch") and folder is not None
    assert folder.free_bytes is None and folder.unknown
    mode = {**DATABASE, "log_mode": "NOARCHIVELOG"}
    assert room(facts(AREA, TO_AREA, doctor_database=(mode,))) == (None, None)
    assert room(assumed()) == (None, None)


@for_each(
    ("changes", "taken"),
    [
        ({"redo_bytes": 5.0}, (5.0, False)),
        ({"redo_bytes": 0.0}, None),
        ({}, (None, True)),
        ({"effect": Effect.READS}, None),
        ({"effect": Effect.DROPS}, None),
        ({"object": None}, None),
        ({"kind": StepKind.COMMAND}, None),
    ],
)
def test_a_step_that_changes_an_object_and_has_no_estimate_writes_an_unknown_amount(
    changes: dict[str, object], taken: tuple[float | None, bool] | None
) -> None:
    step = replace(Step("x", "x", effect=Effect.CHANGES, object=OURS), **changes)  # type: ignore[arg-type]
    found = DIALECT.logged(step, facts(AREA, TO_AREA))
    assert (found and (found.bytes, bool(found.unknown))) == taken
    assert DIALECT.logged(step, assumed()) is None


def test_gathering_statistics_writes_an_unknown_amount_and_says_so(tmp_path: Path) -> None:
    with running_standin() as standin:
        done = forks.run(
            "toolkit", "stats", "gather", "--table", "GTEST", "-t", standin.url, "--dry-run",
            env={"DBATK_STORE": str(tmp_path / "s.db"), "DBATK_CONFIG": str(tmp_path), "DBATK_PASSWORD": "tiger"},
        )  # fmt: skip
    (line,) = [text for text in done.stdout.splitlines() if "of archived redo" in text]
    assert "it is unknown how much of archived redo the job needs" in line


@pytest.mark.full
def test_the_job_of_keep_best_counts_in_the_redo_of_the_run(tmp_path: Path) -> None:
    # four trials of about 1.05 times the table fit, and a fifth does not
    with running_standin(Scenario(recovery_area=int(4.5 * GTEST))) as standin:
        status, said = dbatk(standin, tmp_path, *CTAS, "--keep", "best")
        assert status == 5 and "archived redo" in said["error"]["message"], said  # type: ignore[index]
        status, _ = dbatk(standin, tmp_path, *CTAS)
        assert status == 0


@pytest.mark.full
@pytest.mark.parametrize(("times", "reads"), thinned([(12.5, 4), (26, 3), (40, 2), (1000, 1)], 2))
def test_the_area_is_read_before_each_trial_that_may_have_less_than_ten_times_its_room(
    times: float, reads: int, tmp_path: Path
) -> None:
    with running_standin(Scenario(recovery_area=int(times * GTEST))) as standin:
        status, _ = dbatk(standin, tmp_path, *CTAS)
        order = [text for _, text in standin.engine.sent]
    read = [number for number, text in enumerate(order) if "v$recovery_file_dest" in text.lower()]
    first = next(number for number, text in enumerate(order) if text.startswith("CREATE TABLE"))
    assert status == 0 and len([number for number in read if number < first]) == 1 and len(read) == reads


@pytest.mark.full
def test_an_answer_of_a_minute_ago_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.app.runs.space._FRESH_SECONDS", 0.0)
    with swept("ctas", tmp_path) as (standin, marks, _):
        assert sum("v$recovery_file_dest" in text for text in standin.statements) == 1 + len(marks.begun)


@pytest.mark.full
def test_a_job_that_is_resumed_needs_what_is_left_of_it(tmp_path: Path) -> None:
    rebuild = ("index", "rebuild", "--table", "GTEST", "--degree", "1")
    with running_standin(Scenario(fail={"index_rebuild": 1652}, fail_times=1)) as standin:
        with closing(connect(standin)) as session:
            session.execute("CREATE INDEX GTEST_2 ON GTEST (ID)")
        _, run = dbatk(standin, tmp_path, *rebuild)
        state = standin.engine.state
        one = state.objects["INDEX", ("DBATK", "GTEST_2")].bytes
        object.__setattr__(standin.engine.scenario, "recovery_area", state.archived + int(1.5 * one))
        status, again = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, again["state"]) == (0, "done"), again
        object.__setattr__(standin.engine.scenario, "recovery_area", state.archived + int(1.5 * one))
        status, refused = dbatk(standin, tmp_path, *rebuild)
        assert status == 5 and "archived redo" in refused["error"]["message"]  # type: ignore[index]


@for_each(
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
