"""ALTER TABLE SHRINK SPACE as a DBA types it, against the stand-in: what it gives back, and what it puts back."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import SOURCE, assumed, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.indexes import Key, Shape
from tests.oracle.standin.state import Made
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import Mode, ObjectKind

_LINE = ("table", "shrink", "--snapshot", "none")
_WASTED = 64 * 2**20


def altered(standin: Standin) -> list[str]:
    return [" ".join(text.split()) for text in standin.statements if re.match(r"\s*ALTER (TABLE|INDEX)", text)]


def wasteful(standin: Standin) -> tuple[Made, Made]:
    """Let GTEST and its index hold blocks without rows."""
    objects = standin.engine.state.objects
    table, index = objects["TABLE", ("DBATK", "GTEST")], objects["INDEX", ("DBATK", "GTEST_IX")]
    table.wasted = index.wasted = _WASTED
    return table, index


def test_what_is_wasted_is_given_back_and_row_movement_is_as_it_was(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table, index = wasteful(standin)
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST", "--cascade")
        assert status == 0, run
        assert altered(standin) == [
            'ALTER TABLE "DBATK"."GTEST" ENABLE ROW MOVEMENT',
            'ALTER TABLE "DBATK"."GTEST" SHRINK SPACE CASCADE',
            'ALTER TABLE "DBATK"."GTEST" DISABLE ROW MOVEMENT',
        ]
        assert (table.wasted, index.wasted, table.row_movement) == (0, 0, "DISABLED")
        metrics = {each["name"]: each["value"] for each in run["trials"][0]["metrics"]}  # type: ignore[index]
        for what in ("table_bytes", "index_bytes"):
            assert metrics[f"{what}_before"] - metrics[f"{what}_after"] == _WASTED


def test_row_movement_that_was_enabled_stays_so_and_compact_gives_nothing_back(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table, _ = wasteful(standin)
        table.row_movement = "ENABLED"
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST", "--compact")
        assert (status, altered(standin)) == (0, ['ALTER TABLE "DBATK"."GTEST" SHRINK SPACE COMPACT']), run
        assert (table.wasted, table.row_movement) == (_WASTED, "ENABLED")


@pytest.mark.parametrize("scenario", [Scenario(fail={"table_shrink": 1555}), Scenario(lose="table_shrink")])
def test_after_a_shrink_that_fails_row_movement_is_as_it_was(tmp_path: Path, scenario: Scenario) -> None:
    with running_standin(scenario) as standin:
        table, _ = wasteful(standin)
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST")
        assert (status, table.wasted, table.row_movement) == (3, _WASTED, "DISABLED"), run
        assert altered(standin)[0] == 'ALTER TABLE "DBATK"."GTEST" ENABLE ROW MOVEMENT'


def test_partitions_are_shrunk_one_by_one_and_the_named_one_alone(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        standin.engine.state.objects["TABLE", ("DBATK", "TRADES")].row_movement = "ENABLED"
        status, run = dbatk(standin, tmp_path, *_LINE, "--table", "TRADES", "--partition", "P2")
        assert status == 0, run
        assert altered(standin) == [
            f'ALTER TABLE "DBATK"."TRADES" MODIFY SUBPARTITION "P2_S{number}" SHRINK SPACE' for number in (1, 2)
        ]
        status, answer = dbatk(standin, tmp_path, *_LINE, "--table", "TRADES", "--partition", "P22")
        assert (status, answer["error"]["code"]) == (2, "TK-0204")  # type: ignore[index]


def test_of_a_schema_what_cannot_be_shrunk_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        table, index = wasteful(standin)
        index.shape = Shape("FUNCTION-BASED NORMAL", [Key("SYS_NC00002$", "UPPER(IDNAME)")])
        status, answer = dbatk(standin, tmp_path, *_LINE, "--schema", "DBATK")
        assert (status, altered(standin)) == (5, []), answer
        assert "`GTEST_IX` is function-based" in answer["error"]["message"]  # type: ignore[index]
        index.shape = Shape(keys=[Key("IDNAME")])
        status, _ = dbatk(standin, tmp_path, *_LINE, "--schema", "DBATK", "--concurrency", "2")
        assert (status, table.wasted, table.row_movement) == (0, 0, "DISABLED")


def test_a_tablespace_that_is_managed_by_lists_is_told_before_anything_is_changed(tmp_path: Path) -> None:
    with running_standin(Scenario(managed_by_lists=frozenset({"USERS"}))) as standin:
        status, answer = dbatk(standin, tmp_path, *_LINE, "--table", "GTEST")
        assert (status, altered(standin)) == (5, []), answer
        assert "SEGMENT SPACE MANAGEMENT AUTO" in answer["error"]["message"]  # type: ignore[index]


# -- what stands in the way -
def about(release: str = "19-ee", part: Row | None = None, **row: object) -> Facts:
    table: Row = {"schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "partitioned": "NO", **row}  # type: ignore[dict-item]
    parts = (
        () if part is None else ({"part_name": "P1", "part_level": "partition", "partition_name": "P1", **part},)
    )
    found = assumed(release, target=(table,), shrinkable=(table,), shrinkable_parts=parts)
    return replace(found, assumed=False)


def judged(found: Facts, mode: Mode = Mode.JOB, part: IndexPart | None = None) -> str:
    made = work("table-shrink", 1, mode, ref=ObjectRef(ObjectKind.TABLE, SOURCE))
    return DIALECT.work.support(replace(made, part=part), found).sentence


@for_each(
    ("row", "words"),
    [
        ({"iot_type": "IOT"}, "index-organized"),
        ({"long_count": 1}, "LONG column"),
        ({"nested": "YES"}, "nested table"),
        ({"cluster_name": "C"}, "cluster"),
        ({"temporary": "Y"}, "temporary"),
        ({"external_count": 1}, "external"),
        ({"hindering_index": "GTEST_FX"}, "ORA-10631"),
        ({"commit_view": "X.MV"}, "`X.MV` is refreshed from it at each commit"),
        ({"compression": "ENABLED", "compress_for": "BASIC"}, "compressed (BASIC; ORA-10635)"),
        ({"compression": "ENABLED"}, "compressed (BASIC; ORA-10635)"),
        ({"compression": "ENABLED", "compress_for": "ADVANCED"}, ""),
        ({"segment_management": "MANUAL", "tablespace_name": "OLD"}, "tablespace `OLD`"),
        ({"kind": "view"}, "it is a view"),
        ({"partitioned": "YES"}, "partitions are not known"),
        ({}, ""),
    ],
)  # fmt: skip
def test_what_oracle_does_not_shrink_is_refused_with_a_sentence(row: dict[str, object], words: str) -> None:
    sentence = judged(about(**row))
    assert words in sentence
    assert bool(words) == bool(sentence)


def test_a_partition_is_judged_by_its_own_storage_a_release_by_its_documents_and_nothing_is_measured() -> None:
    part = IndexPart("P1", "partition")
    found = about(part={"compression": "ENABLED", "compress_for": "QUERY HIGH"}, partitioned="YES")
    assert "partition P1 of `DBATK.GTEST` is not shrunk: it is compressed (QUERY HIGH" in judged(found, part=part)
    assert judged(about(part={}, partitioned="YES"), part=part) == ""
    assert "11.2 shrinks no compressed table" in judged(
        about("11.2-ee", compression="ENABLED", compress_for="OLTP")
    )
    assert "shrunk once" in judged(about(), Mode.MEASUREMENT)
