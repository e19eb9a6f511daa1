"""One named partition: rebuilt, or loaded, alone; what is around it stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.indexes import table_parts
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_index_runs import index, items, rebuilds
from tests.tiers import thinned

REBUILD = ("index", "rebuild", "--snapshot", "none", "--restore", "found")
LOAD = ("insert", "--source", "GTEST", "--columns", "ID,IDNAME,AMOUNT", "--snapshot", "none")
SECOND = ("--where", "ID >= 1000 AND ID < 2000")


def error(answer: dict[str, object]) -> dict[str, str]:
    """Return the error of a JSON document."""
    return answer["error"]  # type: ignore[return-value]


def loads(standin: Standin) -> list[str]:
    """Return where rows were inserted."""
    found = [text.partition("INTO ")[2].partition(" t\n")[0] for text in standin.statements if "INSERT" in text]
    return [each for each in found if each]


@pytest.mark.parametrize(
    ("name", "part", "done"),
    thinned(
        [
            ("SALES_IX", "p2", {"SALES_IX.P2"}),
            ("TRADES_IX", "P2", {"TRADES_IX.P2_S1", "TRADES_IX.P2_S2"}),
            ("TRADES_IX", "P2_S1", {"TRADES_IX.P2_S1"}),
        ],
        3,
    ),
)
def test_one_partition_of_an_index_is_rebuilt(name: str, part: str, done: set[str], tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        status, _ = dbatk(standin, tmp_path, *REBUILD, "--index", name, "--partition", part)
        assert (status, set(rebuilds(standin))) == (0, done)
        assert index(standin, name).degree == "4", "the degree is the index's, and put back"


def test_logging_of_one_partition_is_put_back_and_that_of_others_not_touched(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        first, second, _ = index(standin, "SALES_IX").shape.parts
        first.logging = "NO"
        line = (*REBUILD, "--index", "SALES_IX", "--partition", "P2", "--logging", "nologging")
        assert dbatk(standin, tmp_path, *line)[0] == 0
        assert (first.logging, second.logging) == ("NO", "YES")
        assert not any('PARTITION "P1"' in text for text in standin.statements)


def test_of_a_table_the_indexes_without_the_partition_are_named_with_the_reason(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        standin.engine.run_as_dba("CREATE INDEX DBATK.SALES_ALL ON DBATK.SALES (AMOUNT)")
        status, run = dbatk(standin, tmp_path, *REBUILD, "--table", "SALES", "--partition", "P2")
        assert (status, rebuilds(standin)) == (0, ["SALES_IX.P2"])
        told = items(run)["DBATK.SALES_ALL"]
        assert (told["outcome"], told["reason"]) == ("skipped", "it is not partitioned: omit --partition")


def test_a_partition_that_is_whole_is_not_rebuilt_with_unusable_only(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        index(standin, "SALES_IX").shape.parts[0].status = "UNUSABLE"
        line = (*REBUILD, "--table", "SALES", "--unusable-only", "--partition")
        status, answer = dbatk(standin, tmp_path, *line, "P2")
        assert (status, rebuilds(standin)) == (0, []) and "no unusable index to rebuild" in str(answer)
        assert dbatk(standin, tmp_path, *line, "P1")[0] == 0
        assert rebuilds(standin) == ["SALES_IX.P1"]


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("line", "code", "words"),
    thinned(
        [
            ((*REBUILD, "--index", "SALES_IX", "--partition", "P22"), "TK-0204", "did you mean `P2`?"),
            ((*REBUILD, "--index", "GTEST_IX", "--partition", "P2"), "TK-0204", "rebuilt as a whole"),
            ((*REBUILD, "--schema", "DBATK", "--partition", "P2"), "TK-0107", "a schema has no partitions"),
            ((*LOAD, "--table", "SALES", "--partition", "P22"), "TK-0204", "did you mean `P2`?"),
            ((*LOAD, "--table", "GTEST", "--partition", "P2"), "TK-0204", "the table is not partitioned"),
            (
                (*LOAD, "--table", "SALES", "--partition", "P2", "--degree", "1,2"),
                "TK-0304",
                "measure the whole table",
            ),
            ((*LOAD, "--table", "TRADES", "--partition", "P2", "--nologging"), "TK-0304", "has subpartitions"),
        ],
        2,
    ),
)
def test_what_cannot_be_meant_is_refused_before_anything_changes(
    line: tuple[str, ...], code: str, words: str, tmp_path: Path
) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        status, answer = dbatk(standin, tmp_path, *line)
        assert status in (2, 5) and error(answer)["code"] == code
        assert words in f"{error(answer)['message']} {error(answer)['hint']}"
        assert not rebuilds(standin) and not loads(standin)


@pytest.mark.parametrize(
    ("table", "part", "into"),
    thinned(
        [
            ("SALES", "p2", '"DBATK"."SALES" PARTITION ("P2")'),
            ("TRADES", "P2", '"DBATK"."TRADES" PARTITION ("P2")'),
            ("TRADES", "P2_S2", '"DBATK"."TRADES" SUBPARTITION ("P2_S2")'),
        ],
        3,
    ),
)
def test_rows_are_loaded_into_the_named_partition(table: str, part: str, into: str, tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        status, run = dbatk(
            standin, tmp_path, *LOAD, *SECOND, "--table", table, "--partition", part, "--degree", "4"
        )
        assert (status, loads(standin)) == (0, [into])
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (trial["rows"], trial["granted_degree"]) == (1000, 4)


def test_nologging_is_set_for_the_named_partition_alone_and_put_back(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        parts = table_parts(standin.engine.state.objects["TABLE", ("DBATK", "SALES")])
        line = (*LOAD, *SECOND, "--table", "SALES", "--partition", "P2", "--nologging")
        assert dbatk(standin, tmp_path, *line)[0] == 0
        touched = [text for text in standin.statements if text.startswith('ALTER TABLE "DBATK"."SALES"')]
        assert touched == [
            f'ALTER TABLE "DBATK"."SALES" MODIFY PARTITION "P2" {word}' for word in ("NOLOGGING", "LOGGING")
        ]
        assert [part.logging for part in parts] == ["YES", "YES", "YES"]


def test_a_row_of_another_partition_ends_the_load_with_what_to_do(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        before = standin.engine.state.objects["TABLE", ("DBATK", "SALES")].rows
        status, run = dbatk(standin, tmp_path, *LOAD, "--table", "SALES", "--partition", "P2")
        (trial,) = run["trials"]  # type: ignore[misc]
        assert (status, trial["outcome"], trial["error_code"]) == (3, "failed", "ORA-14401")
        assert standin.engine.state.objects["TABLE", ("DBATK", "SALES")].rows == before


def test_what_others_notice_of_a_load_into_one_partition_is_said_before(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        standin.engine.run_as_dba("CREATE INDEX DBATK.SALES_ALL ON DBATK.SALES (AMOUNT)")
        status, answer = dbatk(standin, tmp_path, *LOAD, "--table", "SALES", "--partition", "P2", "--dry-run")
        said = str(answer["script"])
        assert status == 0 and "locks partition P2 of `DBATK.SALES`" in said
        assert "global indexes span all partitions" in said and "SALES_ALL" in said
