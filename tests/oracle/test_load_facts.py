"""What is said before a load, and whether it fits: from the catalogue's answers alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.make import assumed, texts, work
from tests.oracle.test_load_statements import COLUMNS, PARTITIONED, TARGET
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode

CTAS, INSERT = "ctas", "insert"
FREE: tuple[Row, ...] = (
    {"tablespace_name": "USERS", "status": "ONLINE", "contents": "PERMANENT", "free_byte_count": 50,
     "growth_byte_count": 20},
    {"tablespace_name": "OLD", "status": "READ ONLY", "contents": "PERMANENT", "free_byte_count": 9,
     "growth_byte_count": 0},
)  # fmt: skip


def test_the_room_of_a_tablespace_is_what_is_free_and_what_its_files_may_grow_by() -> None:
    room = DIALECT.room(Place(PlaceKind.TABLESPACE, "USERS"), assumed(space_free=FREE))
    assert (room.free_bytes, room.growth_bytes) == (70, 20)
    unread = DIALECT.room(Place(PlaceKind.TABLESPACE, "USERS"), assumed())
    assert unread.free_bytes is None and "DBA_FREE_SPACE" in unread.unknown


@pytest.mark.parametrize(
    ("tablespace", "code", "hint"),
    [("USRES", "TK-0204", "USERS"), ("OLD", "TK-0305", "--tablespace"), ("users", "TK-0204", "USERS")],
)
def test_a_place_that_takes_nothing_is_refused(tablespace: str, code: str, hint: str) -> None:
    refusal = DIALECT.room(Place(PlaceKind.TABLESPACE, tablespace), assumed(space_free=FREE)).refusal
    assert refusal is not None and refusal.code == code and hint in str(refusal.hint)


def said(item: object, facts: Facts) -> str:
    """Return all remarks as one text."""
    return "; ".join(DIALECT.work.remarks(item, facts))  # type: ignore[arg-type]


def test_what_a_copy_does_not_carry_is_said() -> None:
    facts = replace(
        assumed(
            source_columns=COLUMNS, source_invisible_columns=({"column_name": "HID"},),
            source_virtual_columns=({"column_name": "V"},), source_redactions=({"redacted_column": "CODE"},),
            source_row_archival=({"archive_column": "ORA_ARCHIVE_STATE"},),
        ),
        assumed=False,
    )  # fmt: skip
    text = said(work(CTAS, 4), facts)
    for part in ("invisible columns that are not copied: HID", "virtual columns become ordinary columns",
                 "ORA-28081",
                 "archives rows", "`NOTE` is a LONG"):  # fmt: skip
        assert part in text
    chosen = replace(work(CTAS, 4), columns=("ID", "HID"))
    assert "invisible" not in said(chosen, facts)
    assert 'TO_LOB(s."NOTE") AS "NOTE" FROM' in texts(DIALECT.work.timed(work(CTAS), facts))[0]


def test_a_degree_that_partitions_cannot_use_is_said_before() -> None:
    facts = assumed(source_columns=COLUMNS[:4])
    assert "has at most degree 6; 8 was requested" in said(work(CTAS, 8, partition_by="hash(ID) 6"), facts)
    assert "use a power of two" in said(work(CTAS, 1, partition_by="hash(ID) 6"), facts)
    assert said(work(CTAS, 8, partition_by="hash(ID) 8"), facts) == ""
    assert "share the first partition" in said(work(CTAS, 1, partition_by="range(ID) interval 5"), facts)


def test_the_target_that_was_measured_is_named() -> None:
    facts = replace(assumed(**TARGET, **PARTITIONED[2]), assumed=False)
    text = said(work(INSERT, 4), facts)
    assert "copy with range partitions, 1 index, 2 keys and 2 checks" in text
    assert "not the HASH subpartitions" in text
    assert "1 foreign key, trigger T1" in text
    assert "without partitions, indexes" in said(work(INSERT, 4, bare=True), facts)
    assert "serial and conventional because of trigger T1, a foreign key" in said(work(INSERT, 4, Mode.JOB), facts)


def test_a_copy_gets_the_constraints_columns_and_defaults_of_the_real_table() -> None:
    made = texts(
        DIALECT.empty_copy(QualifiedName("GTEST", "DBATK"), work(CTAS).object, "m", assumed(**TARGET), bare=False)
    )
    assert made[0] == (
        'CREATE TABLE "DBATK"."DBATK_261121051342AB3F_1" PCTFREE 5 COLUMN STORE COMPRESS FOR QUERY LOW NOPARALLEL '
        'AS SELECT s."DT", s."TS", s."CODE" FROM "DBATK"."GTEST" s WHERE 1 = 0'
    )
    words = [text.removeprefix('ALTER TABLE "DBATK"."DBATK_261121051342AB3F_1" ') for text in made[2:]]
    assert words == [
        'ADD ( "V" GENERATED ALWAYS AS ("ID"*2) VIRTUAL, "ID" NUMBER GENERATED ALWAYS AS IDENTITY )',
        'CREATE UNIQUE INDEX "DBATK"."DBATK_261121051342AB3F_1_I1" '
        'ON "DBATK"."DBATK_261121051342AB3F_1" ("ID") NOPARALLEL',
        "ADD CHECK (code in ('a', 'b')) DEFERRABLE INITIALLY DEFERRED",
        'ADD PRIMARY KEY ("ID") USING INDEX "DBATK"."DBATK_261121051342AB3F_1_I1"',
        'ADD UNIQUE ("CODE", "DT")',
        "MODIFY ( \"CODE\" DEFAULT 'x' )",
    ]


def test_a_copy_has_the_invisible_columns_too_since_a_load_may_name_them() -> None:
    facts = assumed(columns=COLUMNS[:1], invisible_columns=({"column_name": "HID", "data_type": "NUMBER"},))
    (made, _) = texts(
        DIALECT.empty_copy(QualifiedName("GTEST", "DBATK"), work(CTAS).object, "m", facts, bare=True)
    )
    assert 'SELECT s."ID", s."HID" FROM' in made


def test_an_old_release_is_not_asked_for_what_it_does_not_have() -> None:
    newer = {"invisible_columns", "identity_columns", "row_archival", "automatic_list"}
    table = QualifiedName("GTEST", "DBATK")
    filled = {
        release: {query.file for query in DIALECT.filled_reads(table, assumed(release))}
        for release in ("11.2-ee", "12.1-ee", "19-ee")
    }
    read = {query.file for query in DIALECT.table_reads(table, assumed("11.2-ee"))}
    assert newer.isdisjoint(read | filled["11.2-ee"])
    assert "automatic_list" not in filled["12.1-ee"] and "automatic_list" in filled["19-ee"]


def test_parallel_dml_by_hint_leaves_the_session_alone() -> None:
    item = work(INSERT, 4, parallel_dml="hint")
    assert "ENABLE_PARALLEL_DML" in texts(DIALECT.work.timed(item, assumed()))[0]
    assert not any("PARALLEL DML" in text for text in texts(DIALECT.work.worker_begin(item, assumed())))
    assert "needs release 12.1" in DIALECT.work.support(item, assumed("11.2-ee")).sentence
    assert (
        "ENABLE_PARALLEL_DML" not in texts(DIALECT.work.timed(work(INSERT, 1, parallel_dml="hint"), assumed()))[0]
    )


def test_a_measured_query_of_the_users_is_answered_by_its_tables() -> None:
    wanted = "ALTER SESSION SET QUERY_REWRITE_ENABLED = FALSE"
    assert wanted in texts(DIALECT.work.worker_begin(work(CTAS, 2, query="select 1 a from dual"), assumed()))
    assert wanted not in texts(DIALECT.work.worker_begin(work(CTAS, 2), assumed()))
    job = work(CTAS, 2, Mode.JOB, query="select 1 a from dual")
    assert wanted not in texts(DIALECT.work.worker_begin(job, assumed()))
