"""Copies of tables and indexes: stored as their originals, made in parallel and without redo, differences said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import INDEX, OURS, SOURCE, assumed, texts
from tests.oracle.standin import Scenario, running_standin, scenarios
from tests.oracle.test_command_line import dbatk
from tests.tiers import thinned
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.storage import differences
from toolkit.model.values import QualifiedName, Row

BUILD = ("index", "build", "--table", "GTEST", "--columns", "ID", "--degree", "1,4", "--repeat", "1")
TABLE: Row = {
    "schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "partitioned": "NO", "pct_free": 3,
    "tablespace_name": "DATA", "compression": "ENABLED", "compress_for": "ADVANCED",
}  # fmt: skip
PARTED: Row = {**TABLE, "partitioned": "YES", "pct_free": None, "tablespace_name": None, "compression": None}
RANGE: Row = {"partitioning_type": "RANGE", "subpartitioning_type": "NONE"}


def part(bound: str, **attributes: object) -> Row:
    plain: Row = {"pct_free": 10, "tablespace_name": "DATA", "compression": "DISABLED", "compress_for": None}
    return {"part_name": f"P{bound}", "high_value": bound, **plain, **attributes}  # type: ignore[dict-item]


def copied(table: Row, *parts: Row, copy: QualifiedName = OURS.name, columns: tuple[Row, ...] = ()) -> str:
    partitioned = {"partitioning": (RANGE,), "partition_keys": ({"column_name": "ID"},), "partitions": parts}
    facts = assumed("19-ee", target=(table,), columns=columns, **(partitioned if parts else {}))
    ref = OURS if copy == OURS.name else type(OURS)(OURS.kind, copy, scratch=True)
    return texts(DIALECT.copy_table(SOURCE, ref, "mark", facts))[0]


def test_a_copy_keeps_pctfree_tablespace_and_compression() -> None:
    text = copied(TABLE)
    assert 'PCTFREE 3 TABLESPACE "DATA" ROW STORE COMPRESS ADVANCED NOPARALLEL AS' in text
    elsewhere = copied(TABLE, copy=QualifiedName("X", "WORK"))
    assert "TABLESPACE" not in elsewhere and "PCTFREE 3" in elsewhere


def test_partitions_have_each_their_own_storage_and_null_of_the_table_is_no_default() -> None:
    packed = {"pct_free": 0, "compression": "ENABLED", "compress_for": "BASIC", "tablespace_name": "OLD"}
    text = copied(PARTED, part("10", **packed), part("MAXVALUE"))
    assert '(10) PCTFREE 0 TABLESPACE "OLD" ROW STORE COMPRESS BASIC,' in text
    assert '(MAXVALUE) PCTFREE 10 TABLESPACE "DATA")' in text
    alike = copied(PARTED, part("10", **packed), part("MAXVALUE", **packed))
    assert 'PCTFREE 0 TABLESPACE "OLD" ROW STORE COMPRESS BASIC PARTITION BY' in alike
    assert "WHERE" not in alike, "it has the rows"


@for_each(
    ("answers", "words"),
    [
        ({"target": ({**TABLE, "partitioned": "YES"},)}, "not partitioned"),
        ({"target": ({**TABLE, "iot_type": "IOT"},)}, "index-organized"),
        ({"target": (TABLE,), "columns": ({"column_name": "PAN", "encrypted_by": "AES 192"},)}, "encrypted (PAN)"),
        ({"target": (TABLE,), "columns": ({"column_name": "DOC", "data_type": "CLOB"},)}, "1 LOB column"),
        ({}, "was not read"),
    ],
)
def test_what_a_copy_lacks_is_said(answers: dict[str, tuple[Row, ...]], words: str) -> None:
    assert words in str(differences(SOURCE, OURS.name, assumed(**answers)))
    assert differences(SOURCE, OURS.name, assumed(target=(TABLE,))) is None


@pytest.mark.full
def test_a_measurement_makes_its_copy_at_its_highest_degree_without_redo_and_keeps_its_storage(
    tmp_path: Path,
) -> None:
    hidden = {
        "OWNER": "DBATK",
        "TABLE_NAME": "GTEST",
        "COLUMN_NAME": "IDNAME",
        "ENCRYPTION_ALG": "AES 192 bits key",
    }
    with running_standin(Scenario(views={"ALL_ENCRYPTED_COLUMNS": [hidden]})) as standin:
        standin.engine.state.objects["TABLE", ("DBATK", "GTEST")].pct_free = 3
        status, run = dbatk(standin, tmp_path, *BUILD, "--nologging")
        assert status == 0
        (made,) = [" ".join(text.split()) for text in standin.statements if text.startswith("CREATE TABLE")]
        back = [text for text in standin.statements if text.startswith("ALTER TABLE") and "NOPARALLEL" in text]
    assert 'PCTFREE 3 TABLESPACE "USERS" NOLOGGING PARALLEL 4 AS' in made
    assert len(back) == 1, "the degree stays on no copy: the trials say their own"
    said = " ".join(run["warnings"])  # type: ignore[arg-type]
    assert "not encrypted (IDNAME)" in said and "REPORT UNRECOVERABLE" in said


@pytest.mark.full
@pytest.mark.parametrize(
    ("scenario", "asked", "words"),
    thinned(
        [
            (Scenario(), (), "PARALLEL 4"),
            (Scenario(denied=frozenset({"V$ARCHIVE_DEST"})), (), "PARALLEL 4"),
            (Scenario(views={"V$DATABASE": [scenarios.database(logging="YES")]}), ("--nologging",), "PARALLEL 4"),
            (
                Scenario(views={"V$DATABASE": [scenarios.database(log_mode="NOARCHIVELOG")]}),
                (),
                "NOLOGGING PARALLEL 4",
            ),
            (scenarios.standard_2(), ("--nologging",), "NOLOGGING NOPARALLEL"),
        ],
        3,
    ),
)
def test_a_copy_is_logged_unless_that_was_asked_for_or_no_redo_is_kept_and_serial_where_it_must_be(
    scenario: Scenario, asked: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    with running_standin(scenario) as standin:
        _, run = dbatk(standin, tmp_path, *BUILD, *asked)
        said = any("made with redo" in text for text in run["warnings"])  # type: ignore[attr-defined]
        assert said is (not asked and "NOLOGGING" not in words)
        (made,) = [" ".join(text.split()) for text in standin.statements if text.startswith("CREATE TABLE")]
    assert f'TABLESPACE "USERS" {words} AS' in made


def test_the_copy_of_an_index_is_stored_as_its_original_and_left_serial() -> None:
    row: Row = {
        "schema_name": "DBATK", "index_name": "IX", "table_schema": "DBATK", "table_name": "GTEST",
        "definition": '("ID")', "pct_free": 0, "tablespace_name": "IDX",
    }  # fmt: skip
    facts = assumed(indexes=(row,))
    definition = IndexDefinition(QualifiedName("IX", "DBATK"), SOURCE, definition='("ID")')
    made = texts(DIALECT.build_index_copy(definition, INDEX, OURS.name, facts, 8))
    assert 'PCTFREE 0 TABLESPACE "IDX" PARALLEL 8' in made[0]
    assert made[1].endswith("NOPARALLEL")
