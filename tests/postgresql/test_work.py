"""Each operation's statements, run as a trial runs them, on a real server."""

from __future__ import annotations

import itertools

import pytest

from tests.postgresql.helpers import MARK, RUN, Bench, index, table, work_of
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.postgresql.objects import move_sequence
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, Mode, Role
from toolkit.rendering import render_call

CTAS, INSERT = "ctas", "insert"
BUILD, REBUILD, STATS = "index-build", "index-rebuild", "stats-gather"
ODD_NAMES = ('say "hi"', "with space", "Ünïcödé 表", "semi;colon", "it's", "%s $1 :name", "q" * 63, "ä" * 31 + "b")


def small_table(context: Bench, name: str = "src", rows: int = 100) -> QualifiedName:
    made = context.name(name)
    context.control.execute(
        f"CREATE TABLE {spelled(made)} AS "
        f"SELECT i AS id, 'name ' || i AS name FROM generate_series(1, {rows}) AS i"
    )
    return made


def spelled(name: QualifiedName) -> str:
    return f"{DIALECT.quote(str(name.schema))}.{DIALECT.quote(name.name)}"


def value(context: Bench, query: str) -> object:
    return next(iter(context.control.execute(query).rows[0].values()))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_go_through_create_copy_index_identity_and_drop(context: Bench, name: str) -> None:
    source = small_table(context, name)
    context.control.execute(f"CREATE INDEX {DIALECT.quote('ix' + name[:25])} ON {spelled(source)} (name DESC)")
    copy = table(f"c{name}"[:31], context.schema)
    context.run(DIALECT.copy_table(source, copy, MARK, context.facts))
    copied = index(f"i{name}"[:31], copy.name)
    context.run(DIALECT.build_index_copy(context.definition("ix" + name[:25]), copied, copy.name, context.facts))
    assert context.identity(copy)["mark"] == MARK
    assert context.definition(copied.name.name).definition == "USING btree (name DESC)"
    assert value(context, f"SELECT count(*) FROM {spelled(copy.name)}") == 100
    context.run([*DIALECT.drop(copied), *DIALECT.drop(copy)])
    assert context.identity(copied) is None
    assert context.identity(copy) is None
    assert context.identity(table(name, context.schema)) is not None


def test_dropping_what_is_gone_is_no_error_and_a_drop_takes_nothing_of_the_users_along(context: Bench) -> None:
    gone = table("never_made", context.schema)
    context.run([*DIALECT.drop(gone), *DIALECT.drop(index("never", gone.name))])
    made = table(small_table(context).name, context.schema)
    context.control.execute(f"CREATE VIEW {spelled(context.name('v'))} AS SELECT * FROM {spelled(made.name)}")
    with pytest.raises(DatabaseError) as caught:
        context.run(DIALECT.drop(made))
    assert caught.value.code == "2BP01"


def test_an_object_is_born_after_the_instant_before_it_also_when_it_was_altered(context: Bench) -> None:
    old = table(small_table(context, "old").name, context.schema)
    instant = context.run([DIALECT.instant()])[0].rows[0]["born"]
    new = table(small_table(context, "new").name, context.schema)
    context.control.execute(f"ALTER TABLE {spelled(old.name)} SET (fillfactor = 50)")
    context.control.execute(f"ALTER TABLE {spelled(old.name)} ADD COLUMN later int")
    assert context.identity(old)["born"] < instant <= context.identity(new)["born"]


def test_a_table_made_again_under_the_same_name_is_another(context: Bench) -> None:
    ref = table(small_table(context).name, context.schema)
    first = context.identity(ref)
    context.run(DIALECT.drop(ref))
    small_table(context)
    assert context.identity(ref)["identity"] != first["identity"]


def test_ctas_makes_and_marks_the_table_in_one_transaction_and_counts_rows_and_bytes(context: Bench) -> None:
    source = small_table(context)
    ref = table("made", context.schema)
    context.statements.clear()
    _, answers = context.trial(work_of(CTAS, ref, source=source))
    timed = [
        text.split()[0]
        for text in context.statements
        if text.split()[0] in {"BEGIN", "CREATE", "COMMENT", "COMMIT"}
    ]
    assert timed == ["BEGIN", "CREATE", "COMMENT", "COMMIT"]
    assert [answer.rowcount for answer in answers if answer.rowcount is not None] == [100]
    assert context.identity(ref)["mark"] == MARK
    assert context.kept["bytes"][0]["byte_count"] == value(
        context, f"SELECT pg_table_size('{spelled(ref.name)}'::regclass) AS size"
    )


def test_ctas_of_a_job_is_the_statement_alone(context: Bench) -> None:
    work = work_of(
        CTAS, table("made", context.schema, scratch=False), source=small_table(context), mark=None, mode=Mode.JOB
    )
    calls = DIALECT.work.timed(work, context.facts)
    assert [call.effect for call in calls] == [Effect.CREATES]
    context.run(calls)
    assert context.identity(work.object)["mark"] is None


def test_a_failed_ctas_leaves_no_table_and_a_session_that_still_works(context: Bench) -> None:
    ref = table("made", context.schema)
    work = work_of(CTAS, ref, query="SELECT 1 / (10 - i) AS x FROM generate_series(1, 20) AS i")
    context.run(DIALECT.work.worker_begin(work, context.facts))
    with pytest.raises(DatabaseError) as caught:
        context.run(DIALECT.work.timed(work, context.facts))
    assert (caught.value.code, caught.value.lost) == ("22012", False)
    context.run(DIALECT.work.worker_end(work, context.facts))
    assert context.identity(ref) is None


def test_every_sensible_option_of_ctas_runs_and_is_seen_in_the_table(context: Bench) -> None:
    source = small_table(context)
    for number, (pctfree, logging, compression) in enumerate(
        itertools.product((None, 0, 90), (None, "logging", "nologging"), (None, "pglz"))
    ):
        ref = table(f"made_{number}", context.schema)
        options = {"pctfree": pctfree, "logging": logging, "compression": compression, "tablespace": "PG_DEFAULT"}
        given = {name: level for name, level in options.items() if level is not None}
        context.trial(work_of(CTAS, ref, source=source, options=given, degree=2))
        row = context.control.execute(
            f"SELECT relpersistence::text, array_to_string(reloptions, ',') AS options FROM pg_class "
            f"WHERE oid = '{spelled(ref.name)}'::regclass"
        ).rows[0]
        assert row["relpersistence"] == ("u" if logging == "nologging" else "p")
        assert row["options"] == (None if pctfree is None else f"fillfactor={100 - pctfree}")


def test_the_workers_session_is_put_back_after_each_operation(context: Bench) -> None:
    source = small_table(context)
    target = table("t", context.schema)
    works = [
        work_of(CTAS, target, source=source, degree=4, options={"compression": "pglz"}),
        work_of(BUILD, index("i", source), columns=("id",), degree=4),
        work_of(STATS, table("src", context.schema), options={"statistics_target": 7}, mark=None),
    ]
    read = (
        "SELECT name, setting FROM pg_settings "
        "WHERE source <> 'default' OR name = 'client_min_messages' ORDER BY name"
    )
    before = context.worker.execute(read).rows
    for work in works:
        context.run(DIALECT.work.worker_begin(work, context.facts))
        assert context.worker.execute(read).rows != before
        context.run(DIALECT.work.worker_end(work, context.facts))
        assert [dict(row) for row in context.worker.execute(read).rows] == [dict(row) for row in before]


def test_insert_fills_an_empty_copy_with_identities_kept_and_generated_columns_left_to_the_table(
    context: Bench,
) -> None:
    source = context.name('The "source"')
    context.control.execute(
        f'CREATE TABLE {spelled(source)} (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "a b" text CHECK '
        '(length("a b") > 0), twice int NOT NULL GENERATED ALWAYS AS (7) STORED)'
    )
    context.control.execute(
        f'INSERT INTO {spelled(source)} ("a b") SELECT i::text FROM generate_series(5, 9) AS i'
    )
    rows = context.read("columns", schema=context.schema, name=source.name)
    context.facts = type(context.facts)(context.facts.engine, context.facts.release,
                                    {**context.facts.answers, "columns": rows})  # fmt: skip
    columns = tuple(str(row["column_name"]) for row in rows)
    for number, bare in enumerate((False, True)):
        ref = table(f"copy{number}", context.schema)
        context.run(DIALECT.empty_copy(source, ref, MARK, context.facts, bare=bare))
        _, answers = context.trial(
            work_of(
                INSERT, ref, source=source, columns=columns, options={"logging": "nologging", "identity": "keep"}
            )
        )
        assert answers[0].rowcount == 5
        same = f'SELECT count(*) FROM {spelled(source)} JOIN {spelled(ref.name)} USING (id, "a b", twice)'
        assert value(context, same) == 5
        assert context.identity(ref)["mark"] == MARK
        constraints = f"SELECT count(*) FROM pg_constraint WHERE conrelid = '{spelled(ref.name)}'::regclass"
        assert value(context, f"{constraints} AND contype IN ('p', 'c')") == (0 if bare else 2)
        assert context.read("relation", schema=context.schema, name=ref.name.name)[0]["persistence"] == "unlogged"


def test_a_sequence_that_others_move_while_the_column_is_read_is_not_set_back(context: Bench) -> None:
    name, role = context.name("numbered"), f"reader_{context.schema}"
    reach = f"pg_get_serial_sequence('{spelled(name)}', 'id')"
    for statement in (
        f"CREATE TABLE {spelled(name)} (id bigint GENERATED BY DEFAULT AS IDENTITY)",
        f"INSERT INTO {spelled(name)} SELECT generate_series(1, 20)",
        f"SELECT setval({reach}, 18)",
        # each row that is read takes a value, as others do during a long read
        f"CREATE POLICY moves ON {spelled(name)} USING (nextval({reach}) > 0)",
        f"ALTER TABLE {spelled(name)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
        f"CREATE ROLE {role}",
        f"GRANT USAGE, CREATE ON SCHEMA {DIALECT.quote(context.schema)} TO {role}",
        f"ALTER TABLE {spelled(name)} OWNER TO {role}",
        f"SET ROLE {role}",
    ):
        context.control.execute(statement)
    try:
        context.run([move_sequence(table("numbered", context.schema), "id")])
        assert value(context, f"SELECT nextval({reach})") == 39
    finally:
        context.control.execute("RESET ROLE")
        context.control.execute(f"DROP OWNED BY {role}")
        context.control.execute(f"DROP ROLE {role}")


def test_an_insert_says_overriding_only_where_it_was_asked_for_and_the_table_filled_needs_it(
    context: Bench,
) -> None:
    plain, always = {"column_name": "a", "identity": ""}, {"column_name": "i", "identity": "always"}
    ref = table("t", "s")
    keep = {"identity": "keep"}
    for columns, source, named, options, said in (
        ((plain, always), (), ("a", "i"), keep, True),
        ((plain, always), (), ("a", "i"), {}, False),
        ((plain, always), (), ("a",), keep, False),
        ((plain,), (always,), ("a", "i"), keep, False),
        ((), (), ("a", "i"), keep, True),
    ):
        answers = {"columns": columns, "source_columns": source}
        facts = type(context.facts)(context.facts.engine, context.facts.release, answers)
        work = work_of(INSERT, ref, columns=named, query="SELECT 1", options=options)
        text = render_call(DIALECT, DIALECT.work.timed(work, facts)[0])
        assert ("OVERRIDING SYSTEM VALUE" in text) is said, (columns, source, named, options)


def test_every_sensible_option_of_an_index_build_runs(context: Bench) -> None:
    on = small_table(context, "On Table")
    for number, (unique, online, pctfree) in enumerate(
        itertools.product((True, False), (True, False), (None, 0, 70))
    ):
        ref = index(f"ix_{number}", on)
        options = {"unique": unique, "online": online, "tablespace": "pg_default"}
        if pctfree is not None:
            options["pctfree"] = pctfree
        context.trial(work_of(BUILD, ref, columns=("name", "id"), options=options))
        made = context.definition(ref.name.name)
        assert (made.unique, made.valid) == (unique, True)
        assert ("fillfactor" in made.definition) == (pctfree is not None)
        assert context.identity(ref)["mark"] == MARK
        assert context.kept["rows"][0]["row_count"] == 100
        assert context.kept["bytes"][0]["byte_count"] > 0


def test_a_failed_online_build_leaves_nothing_once_it_is_settled(context: Bench) -> None:
    on = small_table(context, 'tw\'ice "$1"')
    context.control.execute(f"INSERT INTO {spelled(on)} SELECT * FROM {spelled(on)}")
    ref = index("odd 'unique' $$ix$$ \\", on)
    work = work_of(BUILD, ref, columns=("id",), options={"unique": True, "online": True})
    with pytest.raises(DatabaseError) as caught:
        context.trial(work)
    assert caught.value.code == "23505"
    assert context.definition(ref.name.name).valid is False
    assert [row["index_name"] for row in context.read("doctor_invalid_indexes")] == [ref.name.name]
    context.run(DIALECT.work.settle(work, context.facts))
    assert context.identity(ref) is None


def test_settling_a_valid_online_index_leaves_it(context: Bench) -> None:
    ref = index("valid", small_table(context))
    work = work_of(BUILD, ref, columns=("id",), options={"online": True})
    context.trial(work)
    context.run(DIALECT.work.settle(work, context.facts))
    assert context.identity(ref) is not None


@pytest.mark.parametrize("online", [False, True])
def test_a_rebuild_keeps_name_definition_and_mark(context: Bench, online: bool) -> None:
    on = small_table(context)
    ref = index('Re "ix"', on)
    context.trial(work_of(BUILD, ref, columns=("name",)))
    before = context.control.execute(
        f"SELECT relfilenode FROM pg_class WHERE relname = {DIALECT.literal(ref.name.name)}"
    )
    options = {"online": online, "tablespace": "pg_default"}
    context.trial(work_of(REBUILD, ref, index=context.definition(ref.name.name), options=options))
    after = context.control.execute(
        f"SELECT relfilenode FROM pg_class WHERE relname = {DIALECT.literal(ref.name.name)}"
    )
    assert before.rows != after.rows
    assert context.identity(ref)["mark"] == MARK


@pytest.mark.parametrize(("level", "buckets"), [(1, 1), (50, 50)])
def test_statistics_are_gathered_with_the_target_of_the_session(context: Bench, level: int, buckets: int) -> None:
    on = small_table(context, "Stats", rows=3000)
    work = work_of(STATS, table(on.name, context.schema), options={"statistics_target": level}, mark=None)
    granted, _ = context.trial(work)
    assert granted.degree == 1
    bounds = value(
        context,
        "SELECT cardinality(histogram_bounds::text::text[]) AS n FROM pg_stats "
        f"WHERE schemaname = '{context.schema}' AND tablename = 'Stats' AND attname = 'id'",
    )
    assert bounds == buckets + 1
    assert context.kept["rows"][0]["row_count"] == 3000


def test_has_rows_is_told_without_counting(context: Bench) -> None:
    full, empty = small_table(context), small_table(context, "none", rows=0)
    assert context.run([DIALECT.has_rows(full)])[0].rows == ({"has_rows": 1},)
    assert context.run([DIALECT.has_rows(empty)])[0].rows == ({"has_rows": 0},)


def test_the_sessions_of_a_run_are_found_and_their_statement_ends_just_them(context: Bench) -> None:
    found = context.run([DIALECT.sessions_of(RUN)])[0].rows
    assert {f"pid {row['session_id']}" for row in found} == {context.worker.identity, context.monitor.identity}
    assert context.run([DIALECT.sessions_of("another run")])[0].rows == ()
    for row in found:
        context.control.execute(str(row["kill_text"]))
    with pytest.raises(DatabaseError) as caught:
        context.worker.execute("SELECT 1")
    assert caught.value.lost


def test_a_query_with_percent_signs_colons_and_a_comment_runs_as_it_is(context: Bench) -> None:
    query = (
        "SELECT i % 3 AS rest, '50%' AS part, '{\"a\": 1}'::json ->> 'a' AS a\n"
        "FROM generate_series(1, 9) AS i -- end: :x"
    )
    _, answers = context.trial(work_of(CTAS, table("made", context.schema), query=query, degree=2))
    assert max(answer.rowcount or 0 for answer in answers) == 9


def test_calls_of_the_clock_all_run_in_the_workers_session(context: Bench) -> None:
    on = QualifiedName("t", "s")
    works = (
        work_of(CTAS, table("t", "s"), query="SELECT 1"),
        work_of(INSERT, table("t", "s"), query="SELECT 1", columns=("a",)),
        work_of(BUILD, index("i", on), columns=("a",), options={"online": True}),
        work_of(REBUILD, index("i", on)),
        work_of(STATS, table("t", "s"), mark=None),
    )
    for work in works:
        assert {call.session for call in DIALECT.work.timed(work, context.facts)} == {Role.WORKER}
