"""What the user cannot see, what others do meanwhile, what is half done: said and left, never taken for gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Scenario, Standin, indexes, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, DURING, Fault, break_connection, fail_with, somebody

ORDERS_IX = ("APP", "ORDERS_IX")
REBUILD = ("index", "rebuild", "--index", "APP.ORDERS_IX", "--degree", "4", "--restore", "found")
PRESCRIBED = (
    "CREATE SESSION", "CREATE TABLE", "CREATE ANY TABLE", "ALTER ANY TABLE", "DROP ANY TABLE", "CREATE ANY INDEX",
    "ALTER ANY INDEX", "DROP ANY INDEX",
)  # fmt: skip
SEEING = Scenario(privileges=PRESCRIBED)
BLIND = replace(SEEING, denied=frozenset({"DBA_OBJECTS"}))
GRANT = 'GRANT SELECT ON SYS.DBA_OBJECTS TO "DBATK"'


def prepared(standin: Standin) -> dict[str, tuple[object, ...]]:
    """Give the index of another user a degree and NOLOGGING; return what everything looks like."""
    index = standin.engine.state.objects["INDEX", ORDERS_IX]
    index.degree, index.logging = "3", "NO"
    return wreck.look(standin)


def killed(standin: Standin, folder: Path, words: str = "REBUILD", when: str = AFTER) -> None:
    fault = Fault(break_connection, words=words, when=when)
    assert wreck.kill(standin, folder, fault, *REBUILD)


def run(standin: Standin, folder: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    return wreck.run(standin, folder, *arguments, "-t", standin.url, "--not-production")


# -- another schema ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "arguments",
    [REBUILD, ("ctas", "--source", "GTEST", "--table", "APP.MADE", "--degree", "4")],
    ids=["index", "table"],
)
def test_a_run_is_refused_where_its_objects_could_not_be_seen_again(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    with running_standin(BLIND) as standin:
        before = prepared(standin)
        status, said = run(standin, tmp_path, *arguments)
        assert status == 5
        assert said["error"]["code"] == "TK-0306"  # type: ignore[index]
        assert GRANT in str(said)
        assert wreck.look(standin) == before


def test_an_index_that_is_not_seen_is_not_said_to_be_none(tmp_path: Path) -> None:
    with running_standin(Scenario(privileges=("CREATE SESSION", "ALTER ANY INDEX"), grants={})) as standin:
        status, said = run(standin, tmp_path, *REBUILD)
        assert (status, said["error"]["code"]) == (2, "TK-0204")  # type: ignore[index]
        assert "`APP.ORDERS_IX` does not exist or is not visible to DBATK" in str(said)
        assert "GRANT SELECT ON its table TO DBATK" in said["error"]["hint"]  # type: ignore[index]
        _, said = run(standin, tmp_path, "ctas", "--source", "APP.ORDERS", "--table", "X")
        assert "GRANT SELECT ON APP.ORDERS TO DBATK" in said["error"]["hint"]  # type: ignore[index]
        _, said = run(standin, tmp_path, "ctas", "--source", "NONE_OF_MINE", "--table", "X")
        assert "GRANT" not in said["error"]["hint"]  # type: ignore[index]


def test_an_index_of_another_schema_is_put_back_where_only_dba_objects_shows_it(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        before = prepared(standin)
        killed(standin, tmp_path)
        assert wreck.look(standin) != before
        status, done = wreck.clean(standin, tmp_path)
        assert (status, done["left"]) == (0, [])
        assert wreck.look(standin) == before


def test_what_clean_cannot_see_stays_in_the_journal_with_the_statements_to_run(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        before = prepared(standin)
        killed(standin, tmp_path)
        standin.engine.scenario = standin.engine.state.scenario = BLIND
        for _ in range(2):
            status, done = wreck.clean(standin, tmp_path)
            (left,) = done["left"]  # type: ignore[misc]
            assert status == 3
            assert "cannot see `APP.ORDERS_IX`" in left and GRANT in left
            assert 'ALTER INDEX "APP"."ORDERS_IX" PARALLEL 3;' in left
        assert wreck.undo_scripts(tmp_path) != []
        standin.engine.scenario = standin.engine.state.scenario = SEEING
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert wreck.look(standin) == before


def test_scratch_tables_in_another_schema_are_not_taken_for_gone(tmp_path: Path) -> None:
    sweep = ("ctas", "--source", "GTEST", "--table", "MADE", "--work-schema", "APP", "--degree", "1,4")
    with running_standin(SEEING) as standin:
        before = wreck.look(standin)
        fault = Fault(break_connection, words='CREATE TABLE "APP"."DBATK_', when=AFTER)
        assert wreck.kill(standin, tmp_path, fault, *sweep, "--repeat", "1")
        standin.engine.scenario = standin.engine.state.scenario = BLIND
        status, done = wreck.clean(standin, tmp_path)
        assert status == 3 and 'DROP TABLE "APP"."DBATK_' in str(done["left"])
        standin.engine.scenario = standin.engine.state.scenario = SEEING
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert wreck.look(standin) == before


# A table that one makes for others is in ALL_TABLES only of who has a right to the rows of any table.
MADE_ELSEWHERE = ("ctas", "--source", "GTEST", "--table", "APP.MADE", "--degree", "4")


def test_a_table_made_for_another_user_is_serial_again_where_dba_tables_shows_it(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        status, done = run(standin, tmp_path, *MADE_ELSEWHERE)
        assert status == 0, done
        assert standin.engine.state.objects["TABLE", ("APP", "MADE")].degree == "1"
        status, cleaned = wreck.clean(standin, tmp_path)
        assert (status, cleaned["left"]) == (0, [])


def test_a_table_whose_degree_could_not_be_seen_again_is_not_made(tmp_path: Path) -> None:
    with running_standin(replace(SEEING, denied=frozenset({"DBA_TABLES"}))) as standin:
        before = wreck.look(standin)
        status, said = run(standin, tmp_path, *MADE_ELSEWHERE)
        assert (status, said["error"]["code"]) == (5, "TK-0306")  # type: ignore[index]
        assert 'GRANT SELECT ON SYS.DBA_TABLES TO "DBATK"' in str(said)
        assert "nor whether it exists" not in str(said)
        assert wreck.look(standin) == before


def test_a_table_made_for_another_user_by_a_run_that_was_killed_is_settled(tmp_path: Path) -> None:
    blind = replace(SEEING, denied=frozenset({"DBA_TAB_COLS"}))
    with running_standin(blind) as standin:
        fault = Fault(break_connection, words='CREATE TABLE "APP"."MADE"', when=AFTER)
        assert wreck.kill(standin, tmp_path, fault, *MADE_ELSEWHERE, "--nologging")
        for _ in range(2):
            status, done = wreck.clean(standin, tmp_path)
            (left,) = done["left"]  # type: ignore[misc]
            assert status == 3
            assert 'GRANT SELECT ON SYS.DBA_TAB_COLS TO "DBATK"' in left
            assert 'ALTER TABLE "APP"."MADE" NOPARALLEL; ALTER TABLE "APP"."MADE" LOGGING;' in left
        standin.engine.scenario = standin.engine.state.scenario = SEEING
        assert wreck.clean(standin, tmp_path)[0] == 0
        made = standin.engine.state.objects["TABLE", ("APP", "MADE")]
        assert (made.degree, made.logging) == ("1", "YES")


def test_doctor_prescribes_what_shows_a_table_made_for_another_user(tmp_path: Path) -> None:
    blind = replace(SEEING, denied=frozenset({"DBA_OBJECTS", "DBA_TABLES", "DBA_TAB_PARTITIONS", "DBA_TAB_COLS"}))
    with running_standin(blind) as standin:
        asked = ("doctor", "--operation", "ctas", "--source", "GTEST", "--table", "APP.MADE", "--grants")
        _, said = wreck.run(standin, tmp_path, *asked, "-t", standin.url)
    for view in sorted(blind.denied):
        assert f"GRANT SELECT ON SYS.{view} TO DBATK" in str(said)


# -- somebody else -----------------------------------------------------------------------------------------------
THEIRS = (
    ("ctas-job", "TABLE", "MADE", 'CREATE TABLE "DBATK"."MADE" PARALLEL 8 AS SELECT * FROM "DBATK"."GTEST"'),
    (
        "index-build-job",
        "INDEX",
        "NEW_IX",
        'CREATE INDEX "DBATK"."NEW_IX" ON "DBATK"."GTEST" ("AMOUNT") PARALLEL 8',
    ),
)


@pytest.mark.thin(2)
@pytest.mark.parametrize(("job", "kind", "name", "text"), THEIRS)
def test_an_object_that_somebody_else_made_first_is_never_touched(
    job: str, kind: str, name: str, text: str, tmp_path: Path
) -> None:
    with running_standin() as standin:
        words = f'CREATE {kind} "DBATK"."{name}"'
        standin.engine.faults.append(Fault(somebody(text), words=words, when=BEFORE))
        status, _ = run(standin, tmp_path, *wreck.OPERATIONS[job])
        assert status == 3
        assert standin.engine.state.objects[kind, ("DBATK", name)].degree == "8"
        assert not [sent for sent in standin.statements if sent.startswith(f"ALTER {kind}")]
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert standin.engine.state.objects[kind, ("DBATK", name)].degree == "8"


def test_a_run_that_leaves_something_behind_does_not_end_as_done(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"drop_table": 1031})) as standin:
        status, said = run(standin, tmp_path, *wreck.OPERATIONS["insert-sweep"])
        assert status == 3
        assert 'by hand, run: DROP TABLE "DBATK"."DBATK_' in str(said["warnings"])
        assert wreck.clean(standin, tmp_path)[0] == 3
        standin.engine.scenario = Scenario()
        assert wreck.clean(standin, tmp_path)[0] == 0


# -- half-built --------------------------------------------------------------------------------------------------
BUILD = (*wreck.OPERATIONS["index-build-job"], "--online")


def test_a_half_built_online_index_is_not_found_complete(tmp_path: Path) -> None:
    with running_standin() as standin:
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words="CREATE INDEX", when=DURING), *BUILD)
        number = standin.engine.state.objects["INDEX", ("DBATK", "NEW_IX")].object_id
        status, said = wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")
        assert status == 5
        assert "half-built" in str(said) and f"DBMS_REPAIR.ONLINE_INDEX_CLEAN({number}); END; and" in str(said)
        status, done = wreck.clean(standin, tmp_path)
        assert status == 3 and f"ONLINE_INDEX_CLEAN({number})" in str(done["left"])


def test_an_index_made_unusable_meanwhile_is_not_found_complete(tmp_path: Path) -> None:
    with running_standin() as standin:
        build = wreck.OPERATIONS["index-build-job"]
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words="CREATE INDEX", when=AFTER), *build)
        standin.engine.run_as_dba('ALTER INDEX "DBATK"."NEW_IX" UNUSABLE')
        status, said = wreck.run(standin, tmp_path, "runs", "resume", "last", "--not-production")
        assert status == 5 and "UNUSABLE" in str(said)


def test_an_online_build_that_fails_says_what_it_left(tmp_path: Path) -> None:
    with running_standin() as standin:
        standin.engine.faults.append(Fault(fail_with(1013), words="CREATE INDEX", when=DURING))
        status, said = run(standin, tmp_path, *BUILD)
        assert status == 3
        assert "half-built" in str(said["warnings"])


@pytest.mark.full
# -- former values -----------------------------------------------------------------------------------------------
def test_a_second_run_does_not_take_our_own_degree_for_the_former_one(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        before = prepared(standin)
        killed(standin, tmp_path)
        status, said = run(standin, tmp_path, *REBUILD)
        assert status == 5
        assert said["error"]["code"] == "TK-0307" and "dbatk clean" in str(said)  # type: ignore[index]
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert wreck.look(standin) == before
        assert run(standin, tmp_path, *REBUILD)[0] == 0
        assert {name: shown[1:] for name, shown in wreck.look(standin).items()} == {
            name: shown[1:] for name, shown in before.items()
        }


def test_a_value_that_the_dba_set_meanwhile_is_left_and_said(tmp_path: Path) -> None:
    with running_standin(SEEING) as standin:
        prepared(standin)
        killed(standin, tmp_path)
        standin.engine.run_as_dba('ALTER INDEX "APP"."ORDERS_IX" PARALLEL 8')
        status, done = wreck.clean(standin, tmp_path)
        (left,) = done["left"]  # type: ignore[misc]
        index = standin.engine.state.objects["INDEX", ORDERS_IX]
        assert (status, index.degree, index.logging) == (3, "8", "NO")
        for part in ("`8`", "`3`", "`4`", 'ALTER INDEX "APP"."ORDERS_IX" PARALLEL 3;'):
            assert part in left
        assert wreck.clean(standin, tmp_path)[0] == 0


# -- partitions --------------------------------------------------------------------------------------------------
LOAD = ("insert", "--source", "GTEST", "--table", "SALES", "--degree", "4")


def loggings(standin: Standin) -> list[str]:
    table = standin.engine.state.objects["TABLE", ("DBATK", "SALES")]
    return [part.logging for part in indexes.table_parts(table)]


@pytest.mark.full
def test_logging_of_partitions_is_switched_off_and_put_back_one_by_one(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        table = standin.engine.state.objects["TABLE", ("DBATK", "SALES")]
        indexes.table_parts(table)[1].logging = "NO"
        during: list[list[str]] = []
        fault = Fault(lambda _, __: during.append(loggings(standin)), words="INSERT /*+", when=BEFORE)
        standin.engine.faults.append(fault)
        assert run(standin, tmp_path, *LOAD, "--nologging")[0] == 0
        assert (during, loggings(standin)) == ([["NO", "NO", "NO"]], ["YES", "NO", "YES"])


def test_partitions_get_their_own_logging_back_after_a_kill(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        table = standin.engine.state.objects["TABLE", ("DBATK", "SALES")]
        indexes.table_parts(table)[1].logging = "NO"
        fault = Fault(break_connection, words="INSERT /*+", when=BEFORE)
        assert wreck.kill(standin, tmp_path, fault, *LOAD, "--nologging")
        assert loggings(standin) == ["NO", "NO", "NO"]
        assert wreck.clean(standin, tmp_path)[0] == 0
        assert loggings(standin) == ["YES", "NO", "YES"]


def test_a_direct_load_into_a_partition_without_logging_needs_a_backup(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        table = standin.engine.state.objects["TABLE", ("DBATK", "SALES")]
        indexes.table_parts(table)[1].logging = "NO"
        status, said = run(standin, tmp_path, *LOAD)
        assert status == 0
        assert "`DBATK.SALES` needs a backup" in str(said["warnings"])


def test_nologging_is_refused_where_subpartitions_could_not_be_put_back(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        load = ("insert", "--source", "GTEST", "--table", "TRADES", "--degree", "4", "--nologging")
        status, said = run(standin, tmp_path, *load)
        assert status == 5 and "subpartitions" in str(said)
