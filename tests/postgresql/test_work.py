"""Each operation's statements, run as a trial runs them, on a real server."""

from __future__ import annotations

import itertools

import pytest

from tests.postgresql.helpers import MARK, RUN, Bench, index, table, work_of
from toolkit.dialects.postgresql import DIALECT
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Mode, OperationName, Role
from toolkit.rendering import render_call

CTAS, INSERT = OperationName.CTAS, OperationName.INSERT
BUILD, REBUILD, STATS = OperationName.INDEX_BUILD, OperationName.INDEX_REBUILD, OperationName.STATS_GATHER
ODD_NAMES = ('say "hi"', "with space", "Ünïcödé 表", "semi;colon", "it's", "%s $1 :name", "q" * 63, "ä" * 31 + "b")


def small_table(bench: Bench, name: str = "src", rows: int = 100) -> QualifiedName:
    made = bench.name(name)
    bench.control.execute(
        f"CREATE TABLE {spelled(made)} AS "
        f"SELECT i AS id, 'name ' || i AS name FROM generate_series(1, {rows}) AS i"
    )
    return made


def spelled(name: QualifiedName) -> str:
    return f"{DIALECT.quote(str(name.schema))}.{DIALECT.quote(name.name)}"


def value(bench: Bench, query: str) -> object:
    return next(iter(bench.control.execute(query).rows[0].values()))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_go_through_create_copy_index_identity_and_drop(bench: Bench, name: str) -> None:
    source = small_table(bench, name)
    bench.control.execute(f"CREATE INDEX {DIALECT.quote('ix' + name[:25])} ON {spelled(source)} (name DESC)")
    copy = table(f"c{name}"[:31], bench.schema)
    bench.run(DIALECT.copy_table(source, copy, MARK, bench.facts))
    copied = index(f"i{name}"[:31], copy.name)
    bench.run(DIALECT.build_index_copy(bench.definition("ix" + name[:25]), copied, copy.name, bench.facts))
    assert bench.identity(copy)["mark"] == MARK
    assert bench.definition(copied.name.name).definition == "USING btree (name DESC)"
    assert value(bench, f"SELECT count(*) FROM {spelled(copy.name)}") == 100
    bench.run([*DIALECT.drop(copied), *DIALECT.drop(copy)])
    assert bench.identity(copied) is None
    assert bench.identity(copy) is None
    assert bench.identity(table(name, bench.schema)) is not None


def test_dropping_what_is_gone_is_no_error_and_a_drop_takes_nothing_of_the_users_along(bench: Bench) -> None:
    gone = table("never_made", bench.schema)
    bench.run([*DIALECT.drop(gone), *DIALECT.drop(index("never", gone.name))])
    made = table(small_table(bench).name, bench.schema)
    bench.control.execute(f"CREATE VIEW {spelled(bench.name('v'))} AS SELECT * FROM {spelled(made.name)}")
    with pytest.raises(DatabaseError) as caught:
        bench.run(DIALECT.drop(made))
    assert caught.value.code == "2BP01"


def test_an_object_is_born_after_the_instant_before_it_also_when_it_was_altered(bench: Bench) -> None:
    old = table(small_table(bench, "old").name, bench.schema)
    instant = bench.run([DIALECT.instant()])[0].rows[0]["born"]
    new = table(small_table(bench, "new").name, bench.schema)
    bench.control.execute(f"ALTER TABLE {spelled(old.name)} SET (fillfactor = 50)")
    bench.control.execute(f"ALTER TABLE {spelled(old.name)} ADD COLUMN later int")
    assert bench.identity(old)["born"] < instant <= bench.identity(new)["born"]


def test_a_table_made_again_under_the_same_name_is_another(bench: Bench) -> None:
    ref = table(small_table(bench).name, bench.schema)
    first = bench.identity(ref)
    bench.run(DIALECT.drop(ref))
    small_table(bench)
    assert bench.identity(ref)["identity"] != first["identity"]


def test_ctas_makes_and_marks_the_table_in_one_transaction_and_counts_rows_and_bytes(bench: Bench) -> None:
    source = small_table(bench)
    ref = table("made", bench.schema)
    bench.statements.clear()
    _, answers = bench.trial(work_of(CTAS, ref, source=source))
    timed = [
        text.split()[0] for text in bench.statements if text.split()[0] in {"BEGIN", "CREATE", "COMMENT", "COMMIT"}
    ]
    assert timed == ["BEGIN", "CREATE", "COMMENT", "COMMIT"]
    assert [answer.rowcount for answer in answers if answer.rowcount is not None] == [100]
    assert bench.identity(ref)["mark"] == MARK
    assert bench.kept["bytes"][0]["byte_count"] == value(
        bench, f"SELECT pg_table_size('{spelled(ref.name)}'::regclass) AS size"
    )


def test_ctas_of_a_job_is_the_statement_alone(bench: Bench) -> None:
    work = work_of(
        CTAS, table("made", bench.schema, ours=False), source=small_table(bench), mark=None, mode=Mode.JOB
    )
    calls = DIALECT.timed(work, bench.facts)
    assert [call.effect for call in calls] == [Effect.CREATES]
    bench.run(calls)
    assert bench.identity(work.object)["mark"] is None


def test_a_failed_ctas_leaves_no_table_and_a_session_that_still_works(bench: Bench) -> None:
    ref = table("made", bench.schema)
    work = work_of(CTAS, ref, query="SELECT 1 / (10 - i) AS x FROM generate_series(1, 20) AS i")
    bench.run(DIALECT.worker_begin(work, bench.facts))
    with pytest.raises(DatabaseError) as caught:
        bench.run(DIALECT.timed(work, bench.facts))
    assert (caught.value.code, caught.value.lost) == ("22012", False)
    bench.run(DIALECT.worker_end(work, bench.facts))
    assert bench.identity(ref) is None


def test_every_sensible_option_of_ctas_runs_and_is_seen_in_the_table(bench: Bench) -> None:
    source = small_table(bench)
    for number, (pctfree, logging, compression) in enumerate(
        itertools.product((None, 0, 90), (None, "logging", "nologging"), (None, "pglz"))
    ):
        ref = table(f"made_{number}", bench.schema)
        options = {"pctfree": pctfree, "logging": logging, "compression": compression, "tablespace": "PG_DEFAULT"}
        given = {name: level for name, level in options.items() if level is not None}
        bench.trial(work_of(CTAS, ref, source=source, options=given, degree=2))
        row = bench.control.execute(
            f"SELECT relpersistence::text, array_to_string(reloptions, ',') AS options FROM pg_class "
            f"WHERE oid = '{spelled(ref.name)}'::regclass"
        ).rows[0]
        assert row["relpersistence"] == ("u" if logging == "nologging" else "p")
        assert row["options"] == (None if pctfree is None else f"fillfactor={100 - pctfree}")


def test_the_workers_session_is_put_back_after_each_operation(bench: Bench) -> None:
    source = small_table(bench)
    target = table("t", bench.schema)
    works = [
        work_of(CTAS, target, source=source, degree=4, options={"compression": "pglz"}),
        work_of(BUILD, index("i", source), columns=("id",), degree=4),
        work_of(STATS, table("src", bench.schema), options={"statistics_target": 7}, mark=None),
    ]
    read = (
        "SELECT name, setting FROM pg_settings "
        "WHERE source <> 'default' OR name = 'client_min_messages' ORDER BY name"
    )
    before = bench.worker.execute(read).rows
    for work in works:
        bench.run(DIALECT.worker_begin(work, bench.facts))
        assert bench.worker.execute(read).rows != before
        bench.run(DIALECT.worker_end(work, bench.facts))
        assert [dict(row) for row in bench.worker.execute(read).rows] == [dict(row) for row in before]


def test_insert_fills_an_empty_copy_with_identities_kept_and_generated_columns_left_to_the_table(
    bench: Bench,
) -> None:
    source = bench.name('The "source"')
    bench.control.execute(
        f'CREATE TABLE {spelled(source)} (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "a b" text CHECK '
        '(length("a b") > 0), twice int NOT NULL GENERATED ALWAYS AS (7) STORED)'
    )
    bench.control.execute(f'INSERT INTO {spelled(source)} ("a b") SELECT i::text FROM generate_series(5, 9) AS i')
    rows = bench.read("columns", schema=bench.schema, name=source.name)
    bench.facts = type(bench.facts)(bench.facts.engine, bench.facts.release,
                                    {**bench.facts.answers, "columns": rows})  # fmt: skip
    columns = tuple(str(row["column_name"]) for row in rows)
    for number, bare in enumerate((False, True)):
        ref = table(f"copy{number}", bench.schema)
        bench.run(DIALECT.empty_copy(source, ref, MARK, bench.facts, bare=bare))
        _, answers = bench.trial(
            work_of(INSERT, ref, source=source, columns=columns, options={"logging": "nologging"})
        )
        assert answers[0].rowcount == 5
        same = f'SELECT count(*) FROM {spelled(source)} JOIN {spelled(ref.name)} USING (id, "a b", twice)'
        assert value(bench, same) == 5
        assert bench.identity(ref)["mark"] == MARK
        constraints = f"SELECT count(*) FROM pg_constraint WHERE conrelid = '{spelled(ref.name)}'::regclass"
        assert value(bench, f"{constraints} AND contype IN ('p', 'c')") == (0 if bare else 2)
        assert bench.read("relation", schema=bench.schema, name=ref.name.name)[0]["persistence"] == "unlogged"


def test_an_insert_says_overriding_only_where_an_identity_is_named(bench: Bench) -> None:
    plain = ({"column_name": "a", "identity": ""}, {"column_name": "i", "identity": "always"})
    facts = type(bench.facts)(bench.facts.engine, bench.facts.release, {"columns": plain})
    ref = table("t", "s")
    with_identity = work_of(INSERT, ref, columns=("a", "i"), query="SELECT 1, 2")
    without = work_of(INSERT, ref, columns=("a",), query="SELECT 1")
    assert "OVERRIDING SYSTEM VALUE" in render_call(DIALECT, DIALECT.timed(with_identity, facts)[0])
    assert "OVERRIDING" not in render_call(DIALECT, DIALECT.timed(without, facts)[0])


def test_every_sensible_option_of_an_index_build_runs(bench: Bench) -> None:
    on = small_table(bench, "On Table")
    for number, (unique, online, pctfree) in enumerate(
        itertools.product((True, False), (True, False), (None, 0, 70))
    ):
        ref = index(f"ix_{number}", on)
        options = {"unique": unique, "online": online, "tablespace": "pg_default"}
        if pctfree is not None:
            options["pctfree"] = pctfree
        bench.trial(work_of(BUILD, ref, columns=("name", "id"), options=options))
        made = bench.definition(ref.name.name)
        assert (made.unique, made.valid) == (unique, True)
        assert ("fillfactor" in made.definition) == (pctfree is not None)
        assert bench.identity(ref)["mark"] == MARK
        assert bench.kept["rows"][0]["row_count"] == 100
        assert bench.kept["bytes"][0]["byte_count"] > 0


def test_a_failed_online_build_leaves_nothing_once_it_is_settled(bench: Bench) -> None:
    on = small_table(bench, 'tw\'ice "$1"')
    bench.control.execute(f"INSERT INTO {spelled(on)} SELECT * FROM {spelled(on)}")
    ref = index("odd 'unique' $$ix$$ \\", on)
    work = work_of(BUILD, ref, columns=("id",), options={"unique": True, "online": True})
    with pytest.raises(DatabaseError) as caught:
        bench.trial(work)
    assert caught.value.code == "23505"
    assert bench.definition(ref.name.name).valid is False
    assert [row["index_name"] for row in bench.read("doctor_invalid_indexes")] == [ref.name.name]
    bench.run(DIALECT.settle(work, bench.facts))
    assert bench.identity(ref) is None


def test_settling_a_valid_online_index_leaves_it(bench: Bench) -> None:
    ref = index("valid", small_table(bench))
    work = work_of(BUILD, ref, columns=("id",), options={"online": True})
    bench.trial(work)
    bench.run(DIALECT.settle(work, bench.facts))
    assert bench.identity(ref) is not None


@pytest.mark.parametrize("online", [False, True])
def test_a_rebuild_keeps_name_definition_and_mark(bench: Bench, online: bool) -> None:
    on = small_table(bench)
    ref = index('Re "ix"', on)
    bench.trial(work_of(BUILD, ref, columns=("name",)))
    before = bench.control.execute(
        f"SELECT relfilenode FROM pg_class WHERE relname = {DIALECT.literal(ref.name.name)}"
    )
    options = {"online": online, "tablespace": "pg_default"}
    bench.trial(work_of(REBUILD, ref, index=bench.definition(ref.name.name), options=options))
    after = bench.control.execute(
        f"SELECT relfilenode FROM pg_class WHERE relname = {DIALECT.literal(ref.name.name)}"
    )
    assert before.rows != after.rows
    assert bench.identity(ref)["mark"] == MARK


@pytest.mark.parametrize(("level", "buckets"), [(1, 1), (50, 50)])
def test_statistics_are_gathered_with_the_target_of_the_session(bench: Bench, level: int, buckets: int) -> None:
    on = small_table(bench, "Stats", rows=3000)
    work = work_of(STATS, table(on.name, bench.schema), options={"statistics_target": level}, mark=None)
    granted, _ = bench.trial(work)
    assert granted.degree == 1
    bounds = value(
        bench,
        "SELECT cardinality(histogram_bounds::text::text[]) AS n FROM pg_stats "
        f"WHERE schemaname = '{bench.schema}' AND tablename = 'Stats' AND attname = 'id'",
    )
    assert bounds == buckets + 1
    assert bench.kept["rows"][0]["row_count"] == 3000


def test_has_rows_is_told_without_counting(bench: Bench) -> None:
    full, empty = small_table(bench), small_table(bench, "none", rows=0)
    assert bench.run([DIALECT.has_rows(full)])[0].rows == ({"has_rows": 1},)
    assert bench.run([DIALECT.has_rows(empty)])[0].rows == ({"has_rows": 0},)


def test_the_sessions_of_a_run_are_found_and_their_statement_ends_just_them(bench: Bench) -> None:
    found = bench.run([DIALECT.sessions_of(RUN)])[0].rows
    assert {f"pid {row['session_id']}" for row in found} == {bench.worker.identity, bench.monitor.identity}
    assert bench.run([DIALECT.sessions_of("another run")])[0].rows == ()
    for row in found:
        bench.control.execute(str(row["kill_text"]))
    with pytest.raises(DatabaseError) as caught:
        bench.worker.execute("SELECT 1")
    assert caught.value.lost


def test_a_query_with_percent_signs_colons_and_a_comment_runs_as_it_is(bench: Bench) -> None:
    query = (
        "SELECT i % 3 AS rest, '50%' AS part, '{\"a\": 1}'::json ->> 'a' AS a\n"
        "FROM generate_series(1, 9) AS i -- end: :x"
    )
    _, answers = bench.trial(work_of(CTAS, table("made", bench.schema), query=query, degree=2))
    assert max(answer.rowcount or 0 for answer in answers) == 9


def test_calls_of_the_clock_all_run_in_the_workers_session(bench: Bench) -> None:
    on = QualifiedName("t", "s")
    works = (
        work_of(CTAS, table("t", "s"), query="SELECT 1"),
        work_of(INSERT, table("t", "s"), query="SELECT 1", columns=("a",)),
        work_of(BUILD, index("i", on), columns=("a",), options={"online": True}),
        work_of(REBUILD, index("i", on)),
        work_of(STATS, table("t", "s"), mark=None),
    )
    for work in works:
        assert {call.session for call in DIALECT.timed(work, bench.facts)} == {Role.WORKER}
