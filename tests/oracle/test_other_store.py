"""What a run with another store left: seen by `clean`, said before its values are taken for former ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, Act, Fault, break_connection
from tests.tiers import thinned
from toolkit.errors import ExitCode

CTAS, COPIED = 'CREATE TABLE "DBATK"."DBATK_', 'ALTER INDEX "DBATK"."DBATK_'
IX = ("INDEX", ("DBATK", "GTEST_IX"))
LIVE_BUILD = (
    "index", "build", "--table", "GTEST", "--columns", "ID,AMOUNT", "--degree", "4", "--repeat", "1",
    "--on-live-objects",
)  # fmt: skip


def scratch(standin: Standin) -> list[str]:
    return sorted(name[1] for _, name in standin.engine.state.objects if name[1].startswith("DBATK_"))


@pytest.mark.parametrize(
    "denied", thinned([frozenset(), frozenset({"DBA_OBJECTS"})], 2), ids=["DBA_OBJECTS", "ALL_OBJECTS"]
)
def test_clean_of_another_store_names_scratch_objects_and_drops_none(
    denied: frozenset[str], tmp_path: Path
) -> None:
    with running_standin(Scenario(denied=denied)) as standin:
        one, other = tmp_path / "one", tmp_path / "other"
        fault = Fault(break_connection, words=COPIED, when=AFTER)
        assert wreck.kill(standin, one, fault, *wreck.OPERATIONS["index-rebuild-sweep"])
        before = scratch(standin)
        table = next(name for name in before if ("TABLE", ("DBATK", name)) in standin.engine.state.objects)
        status, said = wreck.clean(standin, other)
        assert status == ExitCode.INCOMPLETE
        (sentence,) = said["others"]  # type: ignore[misc]
        assert f'DROP TABLE "DBATK"."{table}" PURGE;' in sentence and "not in this store" in sentence
        assert scratch(standin) == before
        assert wreck.clean(standin, one)[0] == ExitCode.DONE
        assert wreck.clean(standin, other) == (
            ExitCode.DONE,
            {"done": [], "left": [], "needs_backup": [], "others": []},
        )


@pytest.mark.full
def test_an_index_that_another_store_left_on_a_live_table_is_named(tmp_path: Path) -> None:
    with running_standin() as standin:
        fault = Fault(break_connection, words='CREATE INDEX "DBATK"."DBATK_', when=AFTER)
        assert wreck.kill(standin, tmp_path / "one", fault, *LIVE_BUILD)
        (left,) = scratch(standin)
        status, said = wreck.clean(standin, tmp_path / "other")
        assert (status, f'DROP INDEX "DBATK"."{left}";' in str(said["others"])) == (ExitCode.INCOMPLETE, True)
        assert scratch(standin) == [left]


@pytest.mark.full
def test_objects_of_a_run_that_is_at_work_are_not_called_left(tmp_path: Path) -> None:
    heard: list[tuple[int, dict[str, object]]] = []

    def looked_at(standin: Standin) -> Act:
        return lambda *_: heard.append(wreck.clean(standin, tmp_path / "other"))

    with running_standin() as standin:
        standin.engine.faults.append(Fault(looked_at(standin), words="COMMENT ON"))
        wreck.run(
            standin, tmp_path / "one", *wreck.OPERATIONS["ctas-sweep"], "-t", standin.url, "--not-production"
        )
    ((status, said),) = heard
    assert status == ExitCode.DONE
    assert "at work" in str(said["others"]) and "DROP" not in str(said["others"])


def test_a_table_of_somebody_with_a_like_name_is_nobodys_leftover(tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.run_as_dba('CREATE TABLE "DBATK"."DBATK_ORDERS_1" AS SELECT s.* FROM "DBATK"."GTEST" s')
        assert wreck.clean(standin, tmp_path)[1]["others"] == []


@pytest.mark.full
@pytest.mark.parametrize("command", thinned(["index-rebuild-job", "insert-job"], 2))
def test_a_degree_or_nologging_that_is_taken_for_the_former_value_is_said_before(
    command: str, tmp_path: Path
) -> None:
    with running_standin() as standin:
        objects = standin.engine.state.objects
        objects[IX].degree, objects[IX].logging = "4", "NO"
        objects["TABLE", ("APP", "ORDERS")].logging = "NO"
        line = (*wreck.OPERATIONS[command], "-t", standin.url)
        _, shown = wreck.run(standin, tmp_path, *line, "--dry-run")
        _, run = wreck.run(standin, tmp_path, *line, "--not-production")
        had = "degree 4 and NOLOGGING" if command == "index-rebuild-job" else "NOLOGGING"
        for said in (shown, run):
            assert f"has {had}" in " ".join(str(said).replace("\\n-- ", " ").split()), said
        assert "taken for the former" in str(run["warnings"])


def test_an_index_that_is_serial_and_logged_needs_no_such_remark(tmp_path: Path) -> None:
    with running_standin() as standin:
        line = (*wreck.OPERATIONS["index-rebuild-job"], "-t", standin.url, "--not-production")
        assert "taken for the former" not in str(wreck.run(standin, tmp_path, *line)[1])
