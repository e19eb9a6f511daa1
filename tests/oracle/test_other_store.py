"""What a run with another store left: seen by `clean`, and not taken for former values unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, Act, Fault, break_connection
from tests.oracle.test_constraint_validate import waiting
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.maintenance import plan_targets_of
from toolkit.app.maintenance.outlook import full_outlook
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ExitCode
from toolkit.store import open_store

CTAS, COPIED = 'CREATE TABLE "DBATK"."DBATK_', 'ALTER INDEX "DBATK"."DBATK_'
IX = ("INDEX", ("DBATK", "GTEST_IX"))
REBUILDS = {
    "a job": (("index", "rebuild", "--index", "GTEST_IX", "--degree", "4", "--nologging"), ("4", "NO")),
    "a sweep on the live index": (
        ("index", "rebuild", "--index", "GTEST_IX", "--degree", "4", "--repeat", "1", "--on-live-objects"),
        ("4", "YES"),
    ),
    "a move with its rebuilds": (("table", "move", "--table", "GTEST", "--degree", "4"), ("4", "YES")),
}  # fmt: skip
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


@pytest.mark.parametrize("restore", thinned(["found", "default"], 1))
@pytest.mark.parametrize("command", thinned(REBUILDS, 2))
def test_what_a_killed_run_of_another_store_left_is_not_restored_unasked(
    command: str, restore: str, tmp_path: Path
) -> None:
    words, left = REBUILDS[command]
    with running_standin() as standin:
        assert wreck.kill(standin, tmp_path / "one", Fault(break_connection, words="REBUILD", when=AFTER), *words)
        index = standin.engine.state.objects[IX]
        assert (index.degree, index.logging) == left
        line, sent = (*words, "-t", standin.url), len(standin.statements)
        for last in ("--dry-run", "--not-production"):
            status, refused = wreck.run(standin, tmp_path / "two", *line, last)
            assert status == ExitCode.USAGE, refused
            assert "`DBATK.GTEST_IX` has degree 4" in str(refused) and "--restore found" in str(refused)
            assert ("logging NO" in str(refused)) == (left[1] == "NO")
        assert not [text for text in standin.statements[sent:] if text.startswith("ALTER INDEX")]
        status, said = wreck.run(standin, tmp_path / "two", *line, "--not-production", "--restore", restore)
        assert status == ExitCode.DONE, said
        assert (index.degree, index.logging) == (left if restore == "found" else ("1", "YES"))
        assert wreck.clean(standin, tmp_path / "one")[0] == ExitCode.DONE
        assert (index.degree, index.logging) == ("1", "YES")


def test_a_plan_foresees_that_a_step_would_be_refused_for_what_is_set_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = '[[step]]\nname = "{}"\noperation = "index-rebuild"\ntable = "{}"\ndegree = 4\n'
    with running_standin() as standin, open_store(tmp_path / "store.sqlite") as store:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        standin.engine.state.objects[IX].degree = "8"
        steps = step.format("ours", "GTEST"), step.format("later", "MADE_LATER")
        text = f'[plan]\nname = "n"\ntarget = "{standin.url}"\n{"".join(steps)}'
        for choice, told in (("", True), ('restore = "found"\n', False)):
            plan = read_plan(
                parse_document(text.replace("degree = 4\n", f"degree = 4\n{choice}"), "n.toml"), tmp_path
            )
            shown, _ = full_outlook(plan, plan_targets_of(plan, store, Approvals(not_production=True)), store)
            refused = [sentence for sentence in shown.sentences if "would be refused" in sentence]
            assert [("`DBATK.GTEST_IX` has degree 8" in each, "ours on" in each) for each in refused] == (
                [(True, True)] if told else []
            ), shown.sentences
        assert not [text for text in standin.statements if text.startswith("ALTER INDEX")]


@pytest.mark.full
def test_an_open_entry_of_this_store_is_named_before_its_values_are_asked_about(tmp_path: Path) -> None:
    words = REBUILDS["a job"][0]
    with running_standin() as standin:
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words="REBUILD", when=AFTER), *words)
        line = (*words, "-t", standin.url, "--not-production")
        status, refused = wreck.run(standin, tmp_path, *line)
        assert (status, "dbatk clean" in str(refused)) == (ExitCode.REFUSED, True)


@pytest.mark.full
@pytest.mark.parametrize("restore", thinned(["found", "default"], 2))
def test_a_sweep_on_a_live_index_ends_with_what_was_chosen(restore: str, tmp_path: Path) -> None:
    live = ("--on-live-objects", "--repeat", "2", "--restore", restore)
    words = ("index", "rebuild", "--index", "GTEST_IX", "--degree", "1,4", *live)
    with running_standin() as standin:
        index = standin.engine.state.objects[IX]
        index.degree, index.logging = "8", "NO"
        status, said = wreck.run(standin, tmp_path, *words, "-t", standin.url, "--not-production")
        assert status == ExitCode.DONE, said
        assert (index.degree, index.logging) == (("8", "NO") if restore == "found" else ("1", "YES"))


@pytest.mark.full
@pytest.mark.parametrize("value", thinned(["DEFAULT", "3 INSTANCES 2", "16"], 3))
def test_every_index_of_a_table_is_named_with_its_value(value: str, tmp_path: Path) -> None:
    several = ("index", "rebuild", "--table", "GTEST", "--degree", "4")
    with running_standin() as standin:
        standin.engine.run_as_dba('CREATE INDEX "DBATK"."SECOND_IX" ON "DBATK"."GTEST" ("AMOUNT")')
        index = standin.engine.state.objects[IX]
        index.degree, _, instances = value.partition(" INSTANCES ")
        index.instances = instances or ("DEFAULT" if value == "DEFAULT" else "1")
        before = wreck.look(standin)["INDEX DBATK.GTEST_IX"], index.instances
        standin.engine.state.objects["INDEX", ("DBATK", "SECOND_IX")].logging = "NO"
        line = (*several, "-t", standin.url, "--not-production")
        status, refused = wreck.run(standin, tmp_path, *line)
        assert status == ExitCode.USAGE
        assert f"`DBATK.GTEST_IX` has degree {value}" in str(refused), refused
        assert "`DBATK.SECOND_IX` has logging NO" in str(refused), refused
        assert wreck.run(standin, tmp_path, *line, "--restore", "found")[0] == ExitCode.DONE
        assert (wreck.look(standin)["INDEX DBATK.GTEST_IX"], index.instances) == before


@pytest.mark.full
def test_a_run_that_is_resumed_cannot_be_told_and_says_so(tmp_path: Path) -> None:
    with running_standin() as standin:
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words="REBUILD"), *REBUILDS["a job"][0])
        standin.engine.run_as_dba('ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 8')
        assert wreck.clean(standin, tmp_path)[0] == ExitCode.INCOMPLETE
        status, refused = wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")
        assert (status, "keeps its options" in str(refused)) == (ExitCode.USAGE, True), refused
        standin.engine.run_as_dba('ALTER INDEX "DBATK"."GTEST_IX" NOPARALLEL')
        assert wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")[0] == ExitCode.DONE


@pytest.mark.full
def test_of_partitions_their_number_is_told(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        index = standin.engine.state.objects["INDEX", ("DBATK", "SALES_IX")]
        index.degree = "1"
        for part in index.shape.parts:
            part.logging = "NO" if part.name != "P1" else "YES"
        words = ("index", "rebuild", "--index", "SALES_IX", "--degree", "2", "-t", standin.url)
        status, refused = wreck.run(standin, tmp_path, *words, "--not-production")
        assert (status, "SALES_IX` has logging NO in 2 partitions:" in str(refused)) == (ExitCode.USAGE, True)
        status, said = wreck.run(standin, tmp_path, *words, "--not-production", "--restore", "default")
        assert status == ExitCode.DONE, said
        assert {part.logging for part in index.shape.parts} == {"YES"}


@pytest.mark.full
@pytest.mark.parametrize("operation", thinned(["table-move", "constraint-validate"], 2))
def test_a_degree_of_a_table_is_asked_about_alike_since_its_comment_is_its_owners(
    operation: str, tmp_path: Path
) -> None:
    group, word = operation.split("-")
    with running_standin() as standin:
        table = waiting(standin)
        table.degree = "2"
        line = (group, word, "--table", "GTEST", "--degree", "4", "-t", standin.url, "--not-production")
        status, refused = wreck.run(standin, tmp_path, *line)
        assert (status, "`DBATK.GTEST` has degree 2" in str(refused)) == (ExitCode.USAGE, True), refused
        status, said = wreck.run(standin, tmp_path, *line, "--restore", "default")
        assert (status, table.degree) == (ExitCode.DONE, "1"), said


@pytest.mark.full
def test_a_load_leaves_a_table_that_is_nologging_as_it_is_and_asks_nothing(tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.state.objects["TABLE", ("APP", "ORDERS")].logging = "NO"
        line = (*wreck.OPERATIONS["insert-job"], "-t", standin.url, "--not-production")
        status, said = wreck.run(standin, tmp_path, *line)
        assert status == ExitCode.DONE, said
        assert standin.engine.state.objects["TABLE", ("APP", "ORDERS")].logging == "NO"
        assert not [text for text in standin.statements if text.startswith("ALTER TABLE")]


@pytest.mark.full
def test_a_profile_or_a_plan_may_say_it(tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.state.objects[IX].degree = "8"
        profiles = tmp_path / "config/targets.toml"
        profiles.parent.mkdir(mode=0o700)
        profiles.touch(0o600)
        profiles.write_text(
            f'[targets.site]\nurl = "{standin.url}"\npassword = {{env = "DBATK_PASSWORD"}}\n'
            'production = false\nrestore = "found"\n'
        )
        words = ("index", "rebuild", "--index", "GTEST_IX", "--degree", "4", "-t", "site")
        assert wreck.run(standin, tmp_path, *words)[0] == ExitCode.DONE
        assert standin.engine.state.objects[IX].degree == "8"
        assert wreck.run(standin, tmp_path, *words, "--restore", "default")[0] == ExitCode.DONE
        assert standin.engine.state.objects[IX].degree == "1"


@pytest.mark.full
def test_an_index_that_is_serial_and_logged_is_not_asked_about(tmp_path: Path) -> None:
    with running_standin() as standin:
        line = (*REBUILDS["a job"][0], "-t", standin.url, "--not-production")
        status, said = wreck.run(standin, tmp_path, *line)
        assert (status, "--restore" in str(said)) == (ExitCode.DONE, False)
