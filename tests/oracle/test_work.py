"""What is sent for each operation: the words, their order, and the way back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.oracle.make import INDEX, ON_TABLES, SCHEMA, assumed, steps, texts, work
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Mode, ObjectKind, OperationName, StepKind

CTAS, INSERT = "ctas", "insert"
BUILD, REBUILD, STATS = "index-build", "index-rebuild", "stats-gather"


def timed(item: Work, facts: Facts | None = None) -> str:
    """Return the first timed statement on one line."""
    return texts(DIALECT.work.timed(item, facts or assumed()))[0]


def test_a_parallel_ctas_names_its_parts_in_the_documented_order() -> None:
    item = work(CTAS, 8, pctfree=0, tablespace="users", compression="query_high", logging="nologging")
    assert timed(item) == (
        'CREATE TABLE "DBATK"."DBATK_261121051342AB3F_1" PCTFREE 0 TABLESPACE "USERS" NOLOGGING '
        "COLUMN STORE COMPRESS FOR QUERY HIGH PARALLEL 8 AS "
        'SELECT /*+ NO_GATHER_OPTIMIZER_STATISTICS PARALLEL(s 8) NO_REWRITE */ s.* FROM "DBATK"."GTEST" s'
    )


def test_the_serial_baseline_is_forbidden_to_read_in_parallel() -> None:
    text = timed(work(CTAS))
    assert "LOGGING NOPARALLEL AS" in text
    assert "NO_PARALLEL(s)" in text


@for_each(
    ("level", "before", "since"),
    [
        ("none", "NOCOMPRESS", "NOCOMPRESS"),
        ("basic", "COMPRESS BASIC", "ROW STORE COMPRESS BASIC"),
        ("oltp", "COMPRESS FOR OLTP", "ROW STORE COMPRESS ADVANCED"),
        ("advanced", "COMPRESS FOR OLTP", "ROW STORE COMPRESS ADVANCED"),
        ("archive_low", "COMPRESS FOR ARCHIVE LOW", "COLUMN STORE COMPRESS FOR ARCHIVE LOW"),
    ],
)
def test_compression_is_spelled_as_each_release_wants_it(level: str, before: str, since: str) -> None:
    item = work(CTAS, compression=level)
    assert f"LOGGING {before} NOPARALLEL" in timed(item, assumed("11.2-ee"))
    assert f"LOGGING {since} NOPARALLEL" in timed(item, assumed("12.1-ee"))


def test_statistics_while_loading_are_kept_out_of_measurements_only_where_they_exist() -> None:
    hint = "NO_GATHER_OPTIMIZER_STATISTICS"
    assert hint in timed(work(CTAS))
    assert hint not in timed(work(CTAS), assumed("11.2-ee"))
    assert hint not in timed(work(CTAS, online_statistics="yes"))
    assert hint not in timed(work(CTAS, mode=Mode.JOB))


@pytest.mark.parametrize(("word", "hint"), [("default", "PARALLEL(s DEFAULT)"), ("auto", "PARALLEL(AUTO)")])
def test_a_degree_may_be_left_to_oracle(word: str, hint: str) -> None:
    text = timed(work(CTAS, word))
    assert "PARALLEL AS" in text and hint in text


def test_a_query_of_the_user_is_run_as_it_is() -> None:
    query = "select id, count(*) n from dbatk.gtest group by id"
    assert timed(work(CTAS, 4, query=query)).endswith(f"PARALLEL 4 AS {query}")


@pytest.mark.parametrize(
    ("degree", "switch"), [(1, "DISABLE PARALLEL QUERY"), (4, "FORCE PARALLEL QUERY PARALLEL 4")]
)
def test_the_degree_of_a_users_query_is_set_around_it(degree: int, switch: str) -> None:
    item = work(CTAS, degree, query="select 1 a from dual")
    assert f"ALTER SESSION {switch}" in texts(DIALECT.work.worker_begin(item, assumed()))
    assert "ALTER SESSION ENABLE PARALLEL QUERY" in texts(DIALECT.work.worker_end(item, assumed()))


def test_a_parallel_insert_hints_both_sides_names_its_columns_and_commits_on_the_clock() -> None:
    calls = DIALECT.work.timed(work(INSERT, 4), assumed())
    assert texts(calls) == [
        "INSERT /*+ APPEND PARALLEL(t 4) NO_GATHER_OPTIMIZER_STATISTICS */ "
        'INTO "DBATK"."DBATK_261121051342AB3F_1" t ("ID", "IDNAME", "AMOUNT") '
        'SELECT /*+ PARALLEL(s 4) NO_REWRITE */ s."ID", s."IDNAME", s."AMOUNT" FROM "DBATK"."GTEST" s',
        "COMMIT",
    ]
    assert calls[1].effect is Effect.COMMITS


def test_a_conventional_load_is_asked_for_by_name() -> None:
    assert timed(work(INSERT, load="conventional")).startswith("INSERT /*+ NOAPPEND NO_PARALLEL(t)")


def test_parallel_dml_is_enabled_for_a_parallel_insert_only_and_disabled_after_a_rollback() -> None:
    assert "ALTER SESSION ENABLE PARALLEL DML" in texts(DIALECT.work.worker_begin(work(INSERT, 2), assumed()))
    assert not any("DML" in text for text in texts(DIALECT.work.worker_begin(work(INSERT), assumed())))
    end = texts(DIALECT.work.worker_end(work(INSERT, 2), assumed()))
    assert end[:2] == ["ROLLBACK", "ALTER SESSION DISABLE PARALLEL DML"]


def test_a_downgrade_is_forbidden_in_measurements_and_the_session_is_set_alike_for_every_degree() -> None:
    forbidden = "ALTER SESSION SET PARALLEL_MIN_PERCENT = 100"
    assert forbidden in texts(DIALECT.work.worker_begin(work(CTAS, 2), assumed()))
    assert texts(DIALECT.work.worker_begin(work(CTAS), assumed())) == texts(
        DIALECT.work.worker_begin(work(CTAS, 2), assumed())
    )
    assert forbidden not in texts(DIALECT.work.worker_begin(work(CTAS, "default"), assumed()))
    assert forbidden not in texts(DIALECT.work.worker_begin(work(CTAS, 2, mode=Mode.JOB), assumed()))


def test_a_refused_session_parameter_is_tolerated_but_not_a_refused_policy() -> None:
    by_text = {step.text: step.tolerates for step in steps(DIALECT.work.worker_begin(work(CTAS, 2), assumed()))}
    assert "ORA-65040" in by_text["ALTER SESSION SET PARALLEL_MIN_PERCENT = 100"]
    firm = next(text for text in by_text if text.startswith("ALTER SESSION SET PARALLEL_DEGREE_POLICY = MANUAL"))
    assert "DDL_LOCK_TIMEOUT = " in firm and not by_text[firm]


@for_each("operation", ON_TABLES)
@for_each("degree", [1, 4, "default", "auto"])
def test_every_session_parameter_is_put_back(operation: OperationName, degree: int | str) -> None:
    item = work(operation, degree)
    begun, ended = (
        texts(calls(item, assumed())) for calls in (DIALECT.work.worker_begin, DIALECT.work.worker_end)
    )

    def names(found: list[str]) -> list[str]:
        return [name for text in found if "SESSION SET" in text for name in re.findall(r"(\w+) = ", text)]

    assert sorted(names(ended)) == sorted(names(begun)) != []


def test_a_former_value_that_was_read_is_the_one_put_back() -> None:
    facts = assumed(settings=({"name": "parallel_degree_policy", "value": "AUTO", "unit": None},))
    back = texts(DIALECT.work.worker_end(work(CTAS), facts))
    assert any(text.startswith("ALTER SESSION SET PARALLEL_DEGREE_POLICY = AUTO") for text in back)


def test_hints_are_made_to_count_where_a_release_may_ignore_them() -> None:
    wanted = "ALTER SESSION SET OPTIMIZER_IGNORE_PARALLEL_HINTS = FALSE"
    assert wanted in texts(DIALECT.work.worker_begin(work(CTAS), assumed("18-ee")))
    assert wanted not in texts(DIALECT.work.worker_begin(work(CTAS), assumed("12.2-ee")))


def test_an_index_is_built_with_all_it_was_asked_for() -> None:
    item = work(
        BUILD, 4, unique=True, pctfree=5, tablespace="ix", compression="high", logging="nologging", online=True
    )
    assert timed(item) == (
        'CREATE UNIQUE INDEX "DBATK"."DBATK_261121051342AB3F_2" '
        'ON "DBATK"."DBATK_261121051342AB3F_1" ("IDNAME", "ID") '
        'PCTFREE 5 TABLESPACE "IX" COMPRESS ADVANCED HIGH NOLOGGING ONLINE PARALLEL 4'
    )


def test_an_index_measured_on_the_live_table_stays_out_of_the_optimizers_sight() -> None:
    assert timed(work(BUILD, on_live_objects=True)).endswith("INVISIBLE")
    assert "INVISIBLE" not in timed(work(BUILD, on_live_objects=True, mode=Mode.JOB))


def test_a_built_index_gives_its_degree_and_logging_back() -> None:
    after = texts(DIALECT.work.settle(work(BUILD, 4, logging="nologging"), assumed()))
    assert after == [
        f'ALTER INDEX "DBATK"."DBATK_261121051342AB3F_2" {word}' for word in ("NOPARALLEL", "LOGGING")
    ]


@pytest.mark.parametrize(
    ("degree", "former"), [("1", "NOPARALLEL"), (" 4 ", "PARALLEL 4"), ("DEFAULT", "PARALLEL")]
)
def test_a_rebuilt_index_gets_the_degree_it_had(degree: str, former: str) -> None:
    row = {"schema_name": "DBATK", "index_name": INDEX.name.name, "degree": degree, "logging": "YES"}
    facts = assumed(indexes=(row,))
    live = work(REBUILD, 8, ref=replace(INDEX, scratch=False))
    call = DIALECT.work.timed(live, facts)[0]
    assert texts([call])[0].endswith("REBUILD LOGGING PARALLEL 8")
    back = f'ALTER INDEX "DBATK"."DBATK_261121051342AB3F_2" {former}'
    assert texts(call.undo) == texts(DIALECT.work.settle(live, facts)) == [back]
    assert DIALECT.work.timed(work(REBUILD, 8), facts)[0].undo == ()


def test_what_a_job_makes_in_parallel_is_journalled_with_what_settles_it() -> None:
    table = replace(work(CTAS, 8).object, scratch=False)
    (call,) = DIALECT.work.timed(work(CTAS, 8, mode=Mode.JOB, ref=table), assumed())
    assert texts(call.undo) == ['ALTER TABLE "DBATK"."DBATK_261121051342AB3F_1" NOPARALLEL']
    index = replace(INDEX, scratch=False)
    (call,) = DIALECT.work.timed(work(BUILD, 8, mode=Mode.JOB, ref=index, logging="nologging"), assumed())
    assert [text.split()[-1] for text in texts(call.undo)] == ["NOPARALLEL", "LOGGING"]


def test_a_rebuild_that_makes_a_nologging_index_logged_puts_that_back_too() -> None:
    row = {"schema_name": "DBATK", "index_name": INDEX.name.name, "degree": "1", "logging": "NO"}
    after = texts(DIALECT.work.settle(work(REBUILD), assumed(indexes=(row,))))
    assert after[-1].endswith(" NOLOGGING")


def test_a_table_made_in_parallel_does_not_stay_parallel() -> None:
    assert texts(DIALECT.work.settle(work(CTAS, 4), assumed()))[0].endswith("NOPARALLEL")
    assert texts(DIALECT.work.settle(work(CTAS), assumed())) == []


def test_the_target_of_a_nologging_insert_is_logged_again_afterwards() -> None:
    live = ObjectRef(ObjectKind.TABLE, QualifiedName("GTEST", "DBATK"))
    (call,) = DIALECT.work.prepare(work(INSERT, 2, Mode.JOB, ref=live, logging="nologging"), assumed())
    assert texts([call])[0].endswith(" NOLOGGING")
    assert texts(call.undo)[0].endswith(" LOGGING")


def test_a_copy_that_is_dropped_needs_no_logging_put_back() -> None:
    (call,) = DIALECT.work.prepare(work(INSERT, 2, logging="nologging"), assumed())
    assert texts([call])[0].endswith(" NOLOGGING")
    assert call.undo == ()


def test_statistics_of_a_table_are_one_block_in_named_notation() -> None:
    method = "FOR ALL COLUMNS SIZE 254"
    levels = "global_and_partition"
    item = work(STATS, 4, estimate_percent=12.5, method_opt=method, cascade="yes", granularity=levels)
    call = DIALECT.work.timed(item, assumed())[0]
    assert call.kind is StepKind.BLOCK
    assert texts([call])[0] == (
        "BEGIN DBMS_STATS.GATHER_TABLE_STATS( ownname => 'DBATK' , tabname => 'DBATK_261121051342AB3F_1' "
        ", degree => 4 , estimate_percent => 12.5 , method_opt => 'FOR ALL COLUMNS SIZE 254' "
        ", granularity => 'GLOBAL AND PARTITION' , cascade => TRUE , no_invalidate => TRUE ); END;"
    )


def test_statistics_of_a_schema_use_oracles_constants_for_words() -> None:
    item = work(
        STATS, "auto", ref=SCHEMA, estimate_percent="auto", cascade="auto", no_invalidate="auto", gather="stale"
    )
    text = timed(item)
    for part in (
        "GATHER_SCHEMA_STATS( ownname => 'APP'", "degree => DBMS_STATS.AUTO_DEGREE",
        "estimate_percent => DBMS_STATS.AUTO_SAMPLE_SIZE", "cascade => DBMS_STATS.AUTO_CASCADE",
        "no_invalidate => DBMS_STATS.AUTO_INVALIDATE", "options => 'GATHER STALE'",
    ):  # fmt: skip
        assert part in text


def test_what_nobody_asked_for_is_left_to_the_tables_preferences() -> None:
    text = timed(work(STATS, mode=Mode.JOB))
    for parameter in (
        "estimate_percent",
        "method_opt",
        "cascade",
        "granularity",
        "options",
        "no_invalidate",
        "force",
    ):
        assert parameter not in text


def test_a_name_that_a_package_would_fold_is_quoted_inside_its_literal() -> None:
    ref = ObjectRef(ObjectKind.TABLE, QualifiedName("O'Hara", "app"))
    text = timed(work(STATS, ref=ref))
    assert "ownname => '\"app\"'" in text
    assert "tabname => '\"O''Hara\"'" in text


def test_evidence_of_the_degree_is_asked_first_and_the_mark_set_last() -> None:
    asked = steps(DIALECT.work.evidence(work(CTAS, 2), assumed()))
    assert [step.keep_as for step in asked] == ["degree", "rows", None]
    assert asked[0].parts[0].name == "oracle/pq_sesstat"
    assert asked[0].text.startswith(asked[0].parts[0].text)
    assert texts(DIALECT.work.evidence(work(CTAS, 2), assumed()))[-1].startswith("COMMENT ON TABLE")


def test_bytes_come_from_the_users_own_segments_where_they_are_his() -> None:
    own = assumed(server=({"user_name": "DBATK", "current_schema": "DBATK"},))
    assert "user_segments" in texts(DIALECT.work.evidence(work(CTAS), own))[0]
    assert "dba_segments" in texts(DIALECT.work.evidence(work(CTAS), assumed()))[0]


def test_a_session_forced_to_query_in_parallel_reads_the_dictionary_apart_from_its_evidence() -> None:
    first, second, *_ = texts(DIALECT.work.evidence(work(CTAS, 4, query="SELECT 1 AS a FROM dual"), assumed()))
    assert "v$pq_sesstat" in first and "dba_segments" not in first
    assert "dba_segments" in second


def test_a_copy_with_indexes_gets_them_under_names_of_ours() -> None:
    row = {
        "schema_name": "APP", "index_name": "ORDERS_PK", "table_schema": "APP", "table_name": "ORDERS",
        "is_unique": "yes", "definition": '("ID")',
    }  # fmt: skip
    copy = work(CTAS).object
    source = QualifiedName("ORDERS", "APP")
    made = texts(DIALECT.empty_copy(source, copy, "mark", assumed(table_indexes=(row,)), bare=False))
    assert made[-1] == (
        'CREATE UNIQUE INDEX "DBATK"."DBATK_261121051342AB3F_1_I1" '
        'ON "DBATK"."DBATK_261121051342AB3F_1" ("ID") NOPARALLEL'
    )
    assert made[:2] == texts(DIALECT.empty_copy(source, copy, "mark", assumed(table_indexes=(row,)), bare=True))


def test_only_tables_and_indexes_of_ours_are_dropped_and_past_the_recycle_bin() -> None:
    assert texts(DIALECT.drop(work(CTAS).object)) == ['DROP TABLE "DBATK"."DBATK_261121051342AB3F_1" PURGE']
    assert texts(DIALECT.drop(INDEX)) == ['DROP INDEX "DBATK"."DBATK_261121051342AB3F_2"']
    assert DIALECT.drop(SCHEMA) == ()
