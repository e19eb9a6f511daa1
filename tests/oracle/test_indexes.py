"""Index builds and rebuilds in all their forms: what is spelled, what is refused, what is put back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.oracle.index_rows import copied, facts_with, index_row, key_rows, live, part_rows
from tests.oracle.judging import judge
from tests.oracle.make import EVERY_RELEASE, assumed, steps, texts, work
from toolkit.dialects.duckdb.dialect import DIALECT as DUCKDB
from toolkit.dialects.indexes import IndexKey, IndexPart
from toolkit.dialects.oracle import catalog
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.index_facts import row_of
from toolkit.dialects.oracle.work.index_build import bounds
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode

BUILD, REBUILD = "index-build", "index-rebuild"
KEYS = (IndexKey('UPPER("NAME")'), IndexKey('"CREATED"', "CREATED", descending=True))
COLUMN = (IndexKey('"ID"', "ID"),)
P1 = IndexPart("P1", "partition", 1000)
SP1 = IndexPart("SP1", "subpartition", 1000)
FORMS: tuple[dict[str, OptionValue], ...] = (
    {"bitmap": True}, {"bitmap": True, "local": True, "online": True}, {"reverse": True, "unique": True},
    {"prefix": 2}, {"prefix": 1, "compression": "basic", "pctfree": 0}, {"compression": "low", "local": True},
    {"global_hash": 8, "tablespace": "ix", "logging": "nologging"}, {"global_range": "10,20"},
    # Not with COMPRESS ADVANCED: one grammar knows no range of an index, the other not that compression, though
    # SQLRF (CREATE INDEX, index_properties, index_attributes) takes both.
    {"global_range": "DATE '2026-01-31', TIMESTAMP '2026-02-01 00:00:00', 'it''s'", "pctfree": 3},
    {"invisible": True, "online": True}, {"sort_area_mb": 512}, {"local": True, "reverse": True},
    {"on_live_objects": True, "unique": True},
)  # fmt: skip


def build(keys: tuple[IndexKey, ...] = KEYS, degree: int | str = 4, **options: OptionValue) -> Work:
    """Make a build of an index."""
    return replace(work(BUILD, degree, **options), keys=keys, columns=tuple(key.column or "" for key in keys))


def rebuild(name: str, part: IndexPart | None = None, mode: Mode = Mode.JOB, **options: OptionValue) -> Work:
    """Make a rebuild of a user's index."""
    return replace(work(REBUILD, 8, mode, ref=live(name), **options), part=part)


def sentence(item: Work, facts: Facts | None = None) -> str:
    """Return why a work is refused."""
    support = DIALECT.work.support(item, facts or assumed())
    assert not support.ok
    return support.sentence


def rendered(item: Work, facts: Facts) -> Iterator[str]:
    """Return every statement of a work, those that put back included."""
    for part in (
        DIALECT.work.worker_begin,
        DIALECT.work.prepare,
        DIALECT.work.timed,
        DIALECT.work.settle,
        DIALECT.work.worker_end,
    ):
        for step in steps(part(item, facts)):
            yield step.text
            yield from step.undo


def catalogue() -> Facts:
    """Return facts with an index of every kind that can be copied or rebuilt."""
    return facts_with(
        index_row("FBI", index_type="FUNCTION-BASED NORMAL", compression="ENABLED", prefix_length=1),
        index_row("BIT", index_type="BITMAP"),
        index_row("REV", index_type="NORMAL/REV", is_unique="yes", compression="ADVANCED LOW"),
        index_row("HASHED", partitioned="YES", locality="GLOBAL", partitioning_type="HASH",
                  subpartitioning_type="NONE", partitioning_key_count=1),
        index_row("RANGED", partitioned="YES", locality="GLOBAL", partitioning_type="RANGE",
                  subpartitioning_type="NONE", partitioning_key_count=1),
        index_keys=(
            *key_rows("FBI", ("SYS_NC00004$", 'UPPER("NAME")', "ASC"), ("SYS_NC00005$", '"CREATED"', "DESC")),
            *key_rows("BIT", ("STATE", None, "ASC")), *key_rows("REV", ("ID", None, "ASC")),
            *key_rows("HASHED", ("ID", None, "ASC")), *key_rows("RANGED", ("ID", None, "ASC"), ("A", None, "ASC")),
        ),
        index_partitions=(*part_rows("HASHED", "SYS_P1", "SYS_P2"), *part_rows("RANGED", "P1", "p 2")),
    )  # fmt: skip


def index_copies() -> Iterator[str]:
    """Build the copy of each of them."""
    facts = catalogue()
    for row in facts.rows("indexes"):
        ref, definition = copied(str(row["index_name"]))
        definition = replace(definition, unique=row["is_unique"] == "yes")
        assert ref.table is not None
        yield from texts(DIALECT.build_index_copy(definition, ref, ref.table, facts))


def statements() -> dict[str, str]:
    """Return every form of every release, with where it comes from."""
    found: dict[str, str] = {}
    for release in EVERY_RELEASE:
        for form in FORMS:
            for mode in Mode:
                keys = COLUMN if "global_hash" in form or "global_range" in form else KEYS
                item = replace(build(keys, **form), mode=mode)
                found.update(dict.fromkeys(rendered(item, assumed(release)), f"{release} {form}"))
        for part in (None, P1, SP1):
            for online in (False, True):
                for level in (None, "low"):
                    options: dict[str, OptionValue] = {"online": online, "tablespace": "ix"}
                    if level and part is not SP1:
                        options |= {"compression": level, "pctfree": 3, "logging": "nologging"}
                    item = rebuild("FBI", part, **options)
                    found.update(dict.fromkeys(rendered(item, assumed(release)), f"{release} {part} {options}"))
                    ref, definition = copied("FBI", part, valid=False)
                    broken = replace(part, valid=False) if part else None
                    again = replace(item, object=ref, index=definition, part=broken)
                    found.update(dict.fromkeys(rendered(again, assumed(release)), f"{release} copy {part}"))
    found.update(dict.fromkeys(index_copies(), "copy"))
    return found


@pytest.mark.full
def test_every_form_of_every_release_stands_before_two_grammars() -> None:
    found = statements()
    assert len(found) > 55, "a session's parameters are set by one statement"
    broken = {"CREATE BITMAP UNIQUE INDEX i ON t (a)": "two kinds", "ALTER INDEX i REBUILD PARTITION": "no part"}
    assert list(judge({**found, **broken})) == list(broken.values())


# -- building ---------------------------------------------------------------------------------------------------
def test_a_key_may_be_an_expression_and_fall() -> None:
    text = texts(DIALECT.work.timed(build(reverse=True), assumed()))[0]
    assert '(UPPER("NAME"), "CREATED" DESC) REVERSE LOGGING PARALLEL 4' in text


@pytest.mark.parametrize(
    ("key", "word"),
    [
        (IndexKey('"ID"', "ID", nulls="LAST"), "NULLS LAST"),
        (IndexKey('"ID"', "ID", operator_class='"OPS"'), 'operator class "OPS"'),
        (IndexKey('"ID"', "ID", collation='"C"'), "COLLATE"),
    ],
)
def test_what_only_postgresql_says_of_a_key_is_refused_elsewhere(key: IndexKey, word: str) -> None:
    assert word in sentence(build((key,)))
    work = build((key,), degree=1)
    found = DUCKDB.work.support(work, Facts("duckdb", assumed().release, {}))
    assert not found.ok and "plain columns" in found.sentence


def test_a_global_index_is_partitioned_by_its_first_column() -> None:
    text = texts(DIALECT.work.timed(build(COLUMN, global_range="10, 20"), assumed()))[0]
    assert (
        'GLOBAL PARTITION BY RANGE ("ID") ( PARTITION "P1" VALUES LESS THAN (10), '
        'PARTITION "P2" VALUES LESS THAN (20), PARTITION "PMAX" VALUES LESS THAN (MAXVALUE))'
    ) in text
    text = texts(DIALECT.work.timed(build(COLUMN, global_hash=16), assumed()))[0]
    assert 'GLOBAL PARTITION BY HASH ("ID") PARTITIONS 16' in text


def test_a_prefix_of_a_key_is_compressed() -> None:
    assert "COMPRESS 2 LOGGING" in texts(DIALECT.work.timed(build(prefix=2), assumed()))[0]


@for_each(
    ("options", "word"),
    [
        ({"bitmap": True, "unique": True}, "unique"),
        ({"bitmap": True, "reverse": True}, "reverse key"),
        ({"bitmap": True, "prefix": 1}, "is always compressed"),
        ({"bitmap": True, "compression": "low"}, "is always compressed"),
        ({"bitmap": True, "global_hash": 4}, "ORA-25113"),
        ({"prefix": 3}, "at most 2 columns"),
        ({"prefix": 2, "unique": True}, "at most 1 columns"),
        ({"prefix": 1, "compression": "high"}, "--compression basic"),
        ({"local": True, "global_hash": 4}, "are mutually exclusive"),
        ({"global_hash": 4}, "an expression"),
        ({"sort_area_mb": 64, "degree": "default"}, "--sort-area-mb"),
    ],
)
def test_what_no_index_can_be_is_refused_with_its_sentence(options: dict[str, OptionValue], word: str) -> None:
    degree = options.pop("degree", 4)
    assert word in sentence(build(degree=degree, **options))  # type: ignore[arg-type]


@for_each("form", [{"bitmap": True}, {"local": True}, {"global_hash": 4}, {"online": True}])
def test_what_comes_with_enterprise_edition_is_refused_elsewhere(form: dict[str, OptionValue]) -> None:
    assert "Enterprise Edition" in sentence(build(COLUMN, 1, **form), assumed("19-se2"))
    assert DIALECT.work.support(build(COLUMN, 1, **form), assumed("19-ee")).ok


def test_a_bitmap_index_is_built_online_only_where_the_release_can() -> None:
    item = build(bitmap=True, online=True)
    assert "ORA-08108" in sentence(item, assumed("11.2-ee"))
    assert DIALECT.work.support(item, assumed("19-ee")).ok


@for_each("text", ["10,", ",10", "10 20", "x", "'a", "10);DROP TABLE T", "(SELECT 1 FROM DUAL)", "--"])
def test_a_bound_is_a_literal_and_nothing_else(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        bounds(text)
    assert caught.value.code == "TK-0102"


def test_bounds_keep_commas_inside_texts() -> None:
    assert bounds("'a,b', 'c''d'") == ("'a,b'", "'c''d'")
    assert bounds("DATE '2026-01-31'") == ("TO_DATE('2026-01-31', 'YYYY-MM-DD')",)


def twin_facts(release: str = "19-ee", **columns: object) -> Facts:
    """Return facts with an index on (UPPER(NAME), CREATED DESC) of the table that is built on."""
    row = index_row("TWIN", table_schema="DBATK", table_name="DBATK_261121051342AB3F_1", **columns)
    keys = key_rows("TWIN", ("SYS_NC1$", 'UPPER("NAME")', "ASC"), ("SYS_NC2$", '"CREATED"', "DESC"))
    return assumed(release, table_indexes=(row,), index_keys=keys)


def test_columns_that_are_indexed_already_are_refused_before_the_database_does() -> None:
    job = replace(build(), mode=Mode.JOB, object=replace(build().object, scratch=False))
    assert "ORA-01408" in sentence(job, twin_facts())
    other = replace(job, keys=KEYS[:1])
    assert DIALECT.work.support(other, twin_facts()).ok
    assert DIALECT.work.support(build(), twin_facts()).ok, "measure on a copy without other indexes"


def test_an_invisible_twin_of_another_kind_is_let_through_from_12_1() -> None:
    item = build(on_live_objects=True)
    assert "ORA-01408" in sentence(item, twin_facts(is_unique="no"))
    assert DIALECT.work.support(item, twin_facts(is_unique="yes")).ok
    assert "ORA-01408" in sentence(item, twin_facts("11.2-ee", is_unique="yes"))


def test_sort_memory_is_the_sessions_and_goes_back_to_automatic() -> None:
    item = build(sort_area_mb=2047)
    begun, ended = (
        texts(DIALECT.work.worker_begin(item, assumed())),
        texts(DIALECT.work.worker_end(item, assumed())),
    )
    assert any("WORKAREA_SIZE_POLICY = MANUAL SORT_AREA_SIZE = 2146435072" in text for text in begun)
    assert any("WORKAREA_SIZE_POLICY = AUTO SORT_AREA_SIZE = 65536" in text for text in ended)
    assert not any(
        "WORKAREA" in text for text in texts(DIALECT.work.worker_begin(build(sort_area_mb="auto"), assumed()))
    )


# -- rebuilding -------------------------------------------------------------------------------------------------
def test_a_partition_is_rebuilt_and_put_back_by_its_own_name() -> None:
    facts = facts_with(
        index_row("PIX", partitioned="YES", locality="LOCAL", degree="DEFAULT"),
        index_partitions=part_rows("PIX", "P1", "P2", logging="NO"),
    )
    item = rebuild("PIX", P1)
    (call,) = DIALECT.work.timed(item, facts)
    assert texts([call]) == ['ALTER INDEX "APP"."PIX" REBUILD PARTITION "P1" LOGGING PARALLEL 8']
    back = ['ALTER INDEX "APP"."PIX" PARALLEL', 'ALTER INDEX "APP"."PIX" MODIFY PARTITION "P1" NOLOGGING']
    assert texts(call.undo) == texts(DIALECT.work.settle(item, facts)) == back


def test_a_subpartition_is_rebuilt_with_its_place_and_degree_only() -> None:
    facts = facts_with(index_row("PIX", partitioned="YES", locality="LOCAL", subpartitioning_type="HASH"))
    item = rebuild("PIX", SP1, tablespace="ix", online=True)
    assert texts(DIALECT.work.timed(item, facts)) == [
        'ALTER INDEX "APP"."PIX" REBUILD SUBPARTITION "SP1" TABLESPACE "IX" ONLINE PARALLEL 8'
    ]
    assert DIALECT.work.support(item, facts).ok
    for refused in ({"pctfree": 5}, {"compression": "low"}, {"logging": "nologging"}):
        assert "ORA-14189" in sentence(rebuild("PIX", SP1, **refused), facts)  # type: ignore[arg-type]


def test_a_partition_is_compressed_only_where_its_index_is() -> None:
    partitioned = {"partitioned": "YES", "locality": "LOCAL"}
    plain = facts_with(index_row("PIX", **partitioned))
    assert "ORA-28659" in sentence(rebuild("PIX", P1, compression="basic"), plain)
    enabled = facts_with(index_row("PIX", **partitioned, compression="ENABLED", prefix_length=1))
    assert DIALECT.work.support(rebuild("PIX", P1, compression="basic"), enabled).ok


@for_each(
    ("columns", "word"),
    [
        ({"index_type": "DOMAIN"}, "domain index"),
        ({"index_type": "FUNCTION-BASED DOMAIN"}, "domain index"),
        ({"index_type": "IOT - TOP"}, "index-organized"),
        ({"index_type": "LOB"}, "LOB"),
        ({"index_type": "CLUSTER"}, "cluster"),
        ({"temporary": "Y"}, "temporary table"),
        ({"partitioned": "YES"}, "ORA-14086"),
    ],
)
def test_an_index_that_no_rebuild_takes_is_told_by_its_kind(columns: dict[str, object], word: str) -> None:
    assert word in sentence(rebuild("IX"), facts_with(index_row("IX", **columns)))


def test_a_bitmap_join_index_is_rebuilt_live_but_never_copied() -> None:
    facts = facts_with(index_row("BJI", index_type="BITMAP", join_index="YES"))
    assert DIALECT.work.support(rebuild("BJI"), facts).ok
    ref, definition = copied("BJI")
    item = replace(rebuild("BJI", mode=Mode.MEASUREMENT), object=ref, index=definition)
    assert "bitmap join index" in sentence(item, facts)


def test_an_unusable_copy_is_made_unusable_before_each_trial_and_a_usable_one_is_left() -> None:
    facts = facts_with(index_row("PIX", is_valid="no"))
    ref, definition = copied("PIX", valid=False)
    whole = replace(rebuild("PIX", mode=Mode.MEASUREMENT), object=ref, index=definition)
    assert texts(DIALECT.work.prepare(whole, facts)) == ['ALTER INDEX "DBATK"."DBATK_RUN_S2" UNUSABLE']
    part = replace(whole, part=replace(P1, valid=False))
    assert texts(DIALECT.work.prepare(part, facts)) == [
        'ALTER INDEX "DBATK"."DBATK_RUN_S2" MODIFY PARTITION "P1" UNUSABLE'
    ]
    assert DIALECT.work.prepare(replace(whole, index=copied("PIX")[1]), facts) == ()
    assert DIALECT.work.prepare(rebuild("PIX", replace(P1, valid=False)), facts) == (), (
        "the user's is never broken"
    )


def test_an_unusable_live_index_is_no_subject_of_a_measurement() -> None:
    facts = facts_with(index_row("PIX", partitioned="YES", locality="GLOBAL"))
    broken = replace(P1, valid=False)
    assert "different work" in sentence(rebuild("PIX", broken, Mode.MEASUREMENT, on_live_objects=True), facts)
    assert DIALECT.work.support(rebuild("PIX", broken), facts).ok


# -- copies -----------------------------------------------------------------------------------------------------
def test_the_copy_of_an_index_keeps_its_kind() -> None:
    by_kind = list(index_copies())
    tail = [text.partition('ON "DBATK"."DBATK_RUN_S1" ')[2] for text in by_kind]
    assert tail == [
        '(UPPER("NAME"), "CREATED" DESC) COMPRESS 1 NOPARALLEL',
        '("STATE") NOPARALLEL',
        '("ID") COMPRESS ADVANCED LOW REVERSE NOPARALLEL',
        '("ID") GLOBAL PARTITION BY HASH ("ID") (PARTITION "SYS_P1", PARTITION "SYS_P2") NOPARALLEL',
        '("ID", "A") GLOBAL PARTITION BY RANGE ("ID") (PARTITION "P1" VALUES LESS THAN (10), '
        'PARTITION "p 2" VALUES LESS THAN (20)) NOPARALLEL',
    ]
    heads = [text.split(" ON ")[0].split(" INDEX ")[0] for text in by_kind]
    assert heads == ["CREATE", "CREATE BITMAP", "CREATE UNIQUE", "CREATE", "CREATE"]


def test_sizes_of_another_schema_come_from_dba_segments_where_they_may_be_read() -> None:
    server = ({"user_name": "DBATK", "current_schema": "DBATK"},)
    own = [query.file for query in DIALECT.index_reads("DBATK", "IX", assumed(server=server))]
    other = {query.file: query.optional for query in DIALECT.index_reads("APP", "IX", assumed(server=server))}
    assert own == ["index_keys", "index_partitions", "index_subpartitions"]
    assert other["index_segments"] and not other["index_keys"]


def test_an_index_of_a_big_schema_is_found_without_looking_at_all_others_again() -> None:
    rows = tuple(index_row(f"IX{number}") for number in range(3000))
    facts = facts_with(*rows)
    for number in range(0, 3000, 100):
        assert DIALECT.work.support(rebuild(f"IX{number}"), facts).ok
        assert row_of(facts, QualifiedName(f"IX{number}", "APP")) is rows[number]
    looked = catalog._by_name.cache_info()
    assert looked.hits > 30
