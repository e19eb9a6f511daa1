"""ALTER TABLE MOVE as a DBA types it, against the stand-in: what it gets, and how table and indexes are left."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import SOURCE, assumed, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.state import Made
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle import storage
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import Mode, ObjectKind

_LINE = ("table", "move", "--table", "GTEST", "--snapshot", "none", "--restore", "found")
_TABLE = ObjectRef(ObjectKind.TABLE, SOURCE)


def changed(standin: Standin) -> list[str]:
    """Return what was altered, in order, in one line each."""
    return [" ".join(text.split()) for text in standin.statements if re.match(r"\s*ALTER (TABLE|INDEX)", text)]


def made(standin: Standin, kind: str, name: str) -> Made:
    return standin.engine.state.objects[kind, ("DBATK", name)]


def test_a_table_is_moved_its_index_rebuilt_and_every_degree_is_as_it_was(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        made(standin, "INDEX", "GTEST_IX").degree = "4"
        status, run = dbatk(standin, tmp_path, *_LINE, "--degree", "8")
        assert status == 0, run
        assert changed(standin) == [
            'ALTER TABLE "DBATK"."GTEST" MOVE PARALLEL 8',
            'ALTER INDEX "DBATK"."GTEST_IX" REBUILD LOGGING PARALLEL 8',
            'ALTER TABLE "DBATK"."GTEST" NOPARALLEL',
            'ALTER INDEX "DBATK"."GTEST_IX" PARALLEL 4',
        ]
        assert (made(standin, "TABLE", "GTEST").degree, made(standin, "INDEX", "GTEST_IX").degree) == ("1", "4")
        assert made(standin, "INDEX", "GTEST_IX").status == "VALID"
        metrics = {each["name"]: each["value"] for each in run["trials"][0]["metrics"]}  # type: ignore[index]
        assert metrics["unusable_parts_after"] == 0 < metrics["table_bytes_before"]


@pytest.mark.thin(2)
@pytest.mark.parametrize("option", ["--online", "--update-indexes"])
def test_indexes_that_the_move_keeps_are_not_rebuilt(tmp_path: Path, option: str) -> None:
    with running_standin(Scenario()) as standin:
        status, run = dbatk(standin, tmp_path, *_LINE, option, "--compression", "basic", "--tablespace", "users")
        assert status == 0, run
        first, *others = changed(standin)
        words = {"--online": ("ONLINE ", ""), "--update-indexes": ("", " UPDATE INDEXES")}[option]
        assert first == (
            f'ALTER TABLE "DBATK"."GTEST" MOVE {words[0]}TABLESPACE "USERS" ROW STORE COMPRESS BASIC '
            f"NOPARALLEL{words[1]}"
        )
        assert not any("REBUILD" in text for text in others)


_LOB = {"OWNER": "DBATK", "TABLE_NAME": "GTEST", "COLUMN_NAME": "Text", "SEGMENT_NAME": "SYS_LOB1",
        "TABLESPACE_NAME": "USERS", "PARTITIONED": "NO", "SECUREFILE": "YES"}  # fmt: skip


def test_lob_columns_are_moved_where_that_is_asked_and_are_said_to_stay_where_it_is_not(tmp_path: Path) -> None:
    with running_standin(Scenario(views={"ALL_LOBS": [_LOB]})) as standin:
        made(standin, "TABLE", "GTEST").columns.append(("Text", "CLOB", "Y"))
        status, run = dbatk(standin, tmp_path, *_LINE, "--lob-tablespace", "users")
        assert status == 0, run
        assert changed(standin)[0] == (
            'ALTER TABLE "DBATK"."GTEST" MOVE LOB ("Text") STORE AS SECUREFILE (TABLESPACE "USERS") NOPARALLEL'
        )
        assert "segments stay where they are" not in str(run)
        status, run = dbatk(standin, tmp_path, *_LINE)
        assert (status, "--lob-tablespace moves them" in str(run)) == (0, True), run


def test_a_table_without_lobs_has_none_to_move(tmp_path: Path) -> None:
    with running_standin(Scenario()) as standin:
        status, run = dbatk(standin, tmp_path, *_LINE, "--lob-tablespace", "users")
        assert (status, changed(standin), "omit `--lob-tablespace`" in str(run)) == (5, [], True), run


@pytest.mark.full
def test_partitions_are_moved_one_by_one_with_their_indexes_the_named_one_alone(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        line = ("table", "move", "--table", "TRADES", "--snapshot", "none")
        status, run = dbatk(standin, tmp_path, *line, "--partition", "P2_S1", "--online", "--degree", "2")
        assert status == 0, run
        moved = 'ALTER TABLE "DBATK"."TRADES" MOVE SUBPARTITION "P2_S1" UPDATE INDEXES PARALLEL 2 ONLINE'
        assert changed(standin)[0] == moved
        status, answer = dbatk(standin, tmp_path, *line, "--partition", "P22")
        assert (status, answer["error"]["code"]) == (2, "TK-0204")  # type: ignore[index]
        status, answer = dbatk(standin, tmp_path, "table", "move", "--table", "SALES", "--snapshot", "none")
        assert "domain index" in answer["error"]["message"]  # type: ignore[index]


@pytest.mark.full
def test_a_rebuild_that_fails_leaves_the_index_unusable_and_says_so_and_a_resume_mends_it(tmp_path: Path) -> None:
    with running_standin(Scenario(fail={"index_rebuild": 1652}, fail_times=1)) as standin:
        status, run = dbatk(standin, tmp_path, *_LINE, "--degree", "2")
        assert status == 3, run
        assert made(standin, "INDEX", "GTEST_IX").status == "UNUSABLE"
        assert made(standin, "TABLE", "GTEST").degree == made(standin, "INDEX", "GTEST_IX").degree == "1"
        status, _ = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, made(standin, "INDEX", "GTEST_IX").status) == (0, "VALID")


# -- what stands in the way -
def about(release: str = "19-ee", **row: object) -> Facts:
    """Facts of GTEST with something special about it."""
    table: Row = {
        "schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "partitioned": "NO", "byte_count": 65536,
        "tablespace_name": "USERS", "degree": "1", **row,  # type: ignore[dict-item]
    }  # fmt: skip
    return replace(assumed(release, target=(table,), movable=(table,)), assumed=False)


def judged(found: Facts, degree: int = 1, part: IndexPart | None = None, **options: OptionValue) -> str:
    made_work = work("table-move", degree, Mode.JOB, ref=_TABLE, **options)
    return DIALECT.work.support(replace(made_work, part=part), found).sentence


@for_each(
    ("row", "words"),
    [
        ({"iot_type": "IOT"}, "index-organized"),
        ({"long_count": 1}, "LONG column"),
        ({"nested": "YES"}, "nested table"),
        ({"cluster_name": "C"}, "cluster"),
        ({"temporary": "Y"}, "temporary"),
        ({"external_count": 1}, "external"),
        ({"domain_index_count": 1}, "domain index"),
        ({"partitioned": "YES", "partitioning_type": "SYSTEM"}, "partitioned by system"),
        ({"kind": "view"}, "it is a view"),
    ],
)
def test_what_no_move_takes_is_refused_with_a_sentence(row: dict[str, object], words: str) -> None:
    assert words in judged(about(**row))


def test_what_a_release_an_edition_or_a_licence_does_not_give_is_refused() -> None:
    assert "from 12.2" in judged(about("12.1-ee"), online=True)
    assert "from 12.2" in judged(about("11.2-ee"), update_indexes=True)
    part = IndexPart("P1", "partition")
    assert "from 12.1" in judged(about("11.2-ee", partitioned="YES"), part=part, online=True)
    assert judged(about("12.1-ee", partitioned="YES"), part=part, online=True) == ""
    assert "Enterprise Edition" in judged(about("19-se2"), online=True)
    assert "serially" in judged(about("19-se2"), 4)
    assert "Advanced Compression" in judged(about(), compression="advanced")
    assert "Enterprise Edition" in judged(about("19-se2"), compression="basic")
    assert "LOB columns" in judged(about(lob_count=1), 4)
    assert judged(about("21-ee", lob_count=1), 4) == ""
    assert "bitmap join index" in judged(about(join_index_count=1), online=True)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("disks", "status", "words"),
    [
        ("plain", 3, "no tablespace is on Exadata here"),
        ("zfs", 0, "no tablespace is on Exadata here"),
        ("exadata", 0, None),
    ],
)
def test_hybrid_columnar_compression_on_other_disks_is_warned_of_before(
    tmp_path: Path, disks: str, status: int, words: str | None
) -> None:
    with running_standin(Scenario(disks=disks)) as standin:
        shown = str(dbatk(standin, tmp_path, *_LINE, "--compression", "query_low", "--dry-run"))
        done, run = dbatk(standin, tmp_path, *_LINE, "--compression", "query_low")
        assert done == status, run
        assert ("ORA-64307" in str(run["warnings"])) == (words is not None)
        assert words is None or (words in str(run["warnings"]) and words in shown)
        assert ("ORA-64307" in str(run["trials"])) == (status == 3)


def test_the_tablespace_that_was_named_is_looked_at_alone() -> None:
    mixed: tuple[Row, ...] = (
        {"tablespace_name": "FAST", "predicate_evaluation": "STORAGE"},
        {"tablespace_name": "SLOW", "predicate_evaluation": "HOST"},
    )
    facts = replace(assumed(), assumed=False, answers={**assumed().answers, storage.TABLESPACES: mixed})

    def told(facts: Facts = facts, **options: OptionValue) -> list[str]:
        asked = work("table-move", _TABLE, compression="archive_low", **options)
        return [each for each in DIALECT.work.remarks(asked, facts) if "ORA-64307" in each]

    assert told(tablespace="fast") == []
    assert "tablespace `SLOW` is not on Exadata" in told(tablespace="slow")[0]
    assert "only FAST is on Exadata" in told()[0]
    unread = replace(facts, answers=assumed().answers)
    assert "cannot be read" in told(unread)[0]
