"""Every SQL file runs, on every release found here that it is for, and gives the columns promised."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalogue import CATALOGUE
from tests.for_each import for_each
from tests.postgresql.helpers import Bench, open_context, target_of
from tests.servers.fixtures import missing
from tests.servers.postgresql import begun_from, installed, running_postgresql
from toolkit import resources
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row
from toolkit.rendering import sql_file
from toolkit.targets.base import names_in

FILES = sorted((resources.sql_root() / "postgresql").glob("*.sql"))
TEMPLATES = sorted((resources.template_root() / "postgresql").glob("*.sql.j2"))
HEADER = ("Title", "Needs", "License", "Effect", "Params", "Versions")
RELEASES = list(installed()) or ["found"]
ODD = 'Ünder "quoted" table'
LISTS = {
    "ours": "|run-of-files|",
    "words": "|pg_class|",
    "schemas": '|Odd "S"|',
    "tablespaces": "|pg_default|",
    "since": "2020-01-01 00:00:00+00",
    "transaction_id": "3",
    "oid": "1259",
    "timeline": "00000001",
    "objects": json.dumps([['Odd "S"', ODD], [None, "nowhere"]]),
    "before": "{}",
    "parts": '["p"]',
    "search_path": "public",
    "default_tablespace": "pg_default",
    "temp_tablespaces": "pg_default",
    "default_table_access_method": "heap",
    "options": "-c shop.most=1",
}
"""What files take beside the names of a table: several names, or settings."""
IN_A_TRANSACTION = ("rows_savepoint", "rows_rollback", "rows_release")
"""Files that work within a transaction alone, in this order."""
ALONE = [path for path in FILES if path.stem not in IN_A_TRANSACTION]


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A bench on each release found here, with a table of an odd name and one index in schema `Odd "S"`."""
    folder = installed().get(request.param)
    if folder is None:
        missing("postgresql", "no server binaries here")
        return
    with begun_from(folder) as server:
        context = open_context(target_of(server), 'Odd "S"', "run-of-files")
        context.server = server
        schema, table = DIALECT.quote(context.schema), DIALECT.quote(ODD)
        for text in (
            f"CREATE SCHEMA {schema}",
            f"CREATE TABLE {schema}.{table} (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, "
            "twice int GENERATED ALWAYS AS (1 + 1) STORED)",
            f'CREATE INDEX "on ON ""x""" ON {schema}.{table} (name DESC, lower(name)) WHERE name <> \' ON \'',
            f"CREATE VIEW {schema}.v AS SELECT 1 AS one",
        ):
            context.control.execute(text)
        yield context
        context.close()


def versions(path: Path) -> tuple[int, int]:
    match = re.search(r"^-- Versions: PostgreSQL (\d+)(?: and later| (?:to|and) (\d+))$", path.read_text(), re.M)
    assert match is not None, path.name
    return int(match[1]), int(match[2] or 99)


@for_each("path", [*FILES, *TEMPLATES], ids=lambda path: path.name)
def test_every_script_opens_with_its_header(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert [re.match(r"-- (\w+): \S", line)[1] for line in lines[:6]] == list(HEADER)
    assert versions(path)
    assert "\t" not in path.read_text()


@for_each("path", FILES, ids=lambda path: path.stem)
def test_every_sql_file_is_one_statement_with_its_binds_declared(path: Path) -> None:
    text = path.read_text()
    assert text.rstrip().endswith(";")
    assert ";" not in re.sub(r"--[^\n]*|'[^']*'", "", sql_file("postgresql", path.stem))
    params = re.search(r"^-- Params: (.*)$", text, re.M)[1]
    assert set(re.findall(r":(\w+)", params)) == set(names_in(sql_file("postgresql", path.stem)))


def test_every_read_of_the_catalogue_has_its_file() -> None:
    assert set(CATALOGUE) <= {path.stem for path in FILES}


def test_every_file_of_the_release_runs_and_gives_its_columns(release: Bench) -> None:
    number = release.facts.release.number[0]
    wrong: dict[str, str] = {}
    for path in ALONE:
        low, high = versions(path)
        if low <= number <= high and (why := _wrong(release, path.stem)):
            wrong[path.stem] = why
    assert wrong == {}


def test_the_files_run_in_psql_as_they_are(release: Bench) -> None:
    number, server = release.facts.release.number[0], release.server
    files = [path for path in ALONE if versions(path)[0] <= number <= versions(path)[1]]
    names = {**LISTS, "schema": release.schema, "name": ODD, "run": "some run", "read_only": "off"}
    given = [part for name, text in names.items() for part in ("-v", f"{name}={DIALECT.literal(text)}")]
    done = subprocess.run(
        [server.bin_dir / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *given, "-h", server.host, "-p",
         str(server.port), "-U", server.user, server.database, *(f"--file={path}" for path in files)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(" row") >= len(files)


def test_the_files_of_a_transaction_work_within_one(release: Bench) -> None:
    for text in ("BEGIN", *(sql_file("postgresql", file) for file in IN_A_TRANSACTION), "COMMIT"):
        release.control.execute(text)


def _wrong(release: Bench, file: str) -> str:
    name = 'on ON "x"' if file == "index" else ODD
    binds = {**LISTS, "schema": release.schema, "name": name, "run": "run-of-files", "read_only": "off"}
    try:
        rows = release.control.execute(sql_file("postgresql", file), binds).rows
    except DatabaseError as error:
        return error.message
    columns = set(rows[0]) if rows else set()
    if file in CATALOGUE and not set(CATALOGUE[file]) <= columns:
        return f"columns {columns}"
    if file.startswith("snapshot_"):
        return _wrong_counters(rows)
    return ""


def _wrong_counters(rows: tuple[Row, ...]) -> str:
    if not rows or set(rows[0]) != {"metric_name", "metric_value", "metric_unit", "metric_kind"}:
        return "columns"
    if not all(isinstance(row["metric_value"], float) for row in rows):
        return "values"
    return "" if len({row["metric_name"] for row in rows}) == len(rows) else "a name comes twice"


def test_the_snapshot_files_of_a_release_are_for_it_and_no_counter_comes_twice(release: Bench) -> None:
    number = release.facts.release.number[0]
    names: list[object] = []
    for file in DIALECT.watching(release.facts).snapshots:
        low, high = versions(resources.sql_root() / "postgresql" / f"{file}.sql")
        assert low <= number <= high
        names += [row["metric_name"] for row in release.read(file)]
    assert len(set(names)) == len(names)
    assert {"wal_bytes", "temp_bytes", "checkpoints_timed"} <= set(names)
    assert ("io_read_bytes" in names) == (number >= 16)


def test_what_was_analyzed_is_looked_up_and_not_searched_in_the_whole_catalogue(release: Bench) -> None:
    binds = {"objects": LISTS["objects"], "since": LISTS["since"]}
    rows = release.control.execute("EXPLAIN " + sql_file("postgresql", "analyzed"), binds).rows
    plan = [str(line) for row in rows for line in row.values()]
    assert any("pg_class_oid_index" in line for line in plan)
    assert not any("Seq Scan on pg_class" in line for line in plan)


def test_an_insert_may_not_name_generated_columns_and_knows_identities(release: Bench) -> None:
    rows = release.read("columns", schema=release.schema, name=ODD)
    assert [(row["column_name"], row["identity"], row["position"]) for row in rows] == [
        ("id", "always", 1), ("name", "", 2),
    ]  # fmt: skip


def test_an_index_definition_is_cut_at_the_tables_name_whatever_the_names_hold(release: Bench) -> None:
    row = release.read("index", schema=release.schema, name='on ON "x"')[0]
    assert row["definition"] == "USING btree (name DESC, lower(name)) WHERE (name <> ' ON '::text)"
    assert row["column_list"] == "name, lower(name)"
    assert (row["is_unique"], row["is_valid"]) == ("no", "yes")
    assert len(release.read("schema_indexes", schema=release.schema)) == 2


def test_tables_are_listed_by_their_pages_and_what_grew_since_they_were_counted_is_bigger(release: Bench) -> None:
    newer = release.facts.release.number[0] >= 15  # before, what was counted arrives late
    flush = "SELECT pg_stat_force_next_flush()" if newer else "SELECT 1"
    texts = (
        "CREATE SCHEMA pages",
        "CREATE TABLE pages.counted AS SELECT g AS id FROM generate_series(1, 15000) g",
        "CREATE TABLE pages.grown AS SELECT g AS id FROM generate_series(1, 10000) g",
        flush,
        "SELECT 1",
        "ANALYZE pages.counted, pages.grown",
        "CREATE TABLE pages.new AS SELECT g AS id FROM generate_series(1, 30000) g",
        "CREATE TABLE pages.parted (id int) PARTITION BY RANGE (id)",
        "CREATE TABLE pages.low PARTITION OF pages.parted FOR VALUES FROM (1) TO (60000)",
        "INSERT INTO pages.low SELECT generate_series(1, 59999)",
        "CREATE TABLE pages.bare (id int) PARTITION BY RANGE (id)",
        "INSERT INTO pages.grown SELECT generate_series(1, 90000)",
        flush,
        "SELECT 1",
    )
    with release.server.connect() as maker:
        for text in texts:
            maker.execute(text)
    measured = {row["table_name"]: row for row in release.read("schema_tables", schema="pages")}
    listed = release.read("schema_pages", schema="pages")
    names = [str(row["table_name"]) for row in listed]
    assert names == (["grown"] if newer else []) + ["parted", "new", "counted"] + ([] if newer else ["grown"]) + [
        "bare"
    ]
    for row in listed:
        assert row["row_estimate"] == measured[row["table_name"]]["row_estimate"]
        if newer and row["table_name"] != "bare":
            assert 0.7 < row["byte_count"] / measured[row["table_name"]]["byte_count"] < 1.4, row
    with release.server.connect() as holder:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE pages.new, pages.low IN ACCESS EXCLUSIVE MODE")
        held = {row["table_name"]: row["byte_count"] for row in release.read("schema_pages", schema="pages")}
        holder.execute("ROLLBACK")
    assert (held["new"], held["parted"]) == (0, 0) and held["counted"]


def test_a_view_has_its_kind_and_no_size(release: Bench) -> None:
    row = release.read("relation", schema=release.schema, name="v")[0]
    assert (row["kind"], row["row_estimate"], row["byte_count"]) == ("view", None, None)


def test_a_type_of_the_name_is_in_the_way_of_a_table(release: Bench) -> None:
    release.control.execute(f"CREATE TYPE {DIALECT.quote(release.schema)}.mood AS ENUM ('glad')")
    assert [row["object_kind"] for row in release.read("name_in_use", schema=release.schema, name="mood")] == [
        "type"
    ]
    assert release.read("name_in_use", schema=release.schema, name="free") == ()


def test_the_identity_is_had_without_the_system_identifier_when_that_is_not_granted(release: Bench) -> None:
    control = release.control
    control.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    control.execute("DROP ROLE IF EXISTS poor")
    control.execute("CREATE ROLE poor")
    control.execute(f"GRANT USAGE ON SCHEMA {DIALECT.quote(release.schema)} TO poor")
    try:
        control.execute("SET ROLE poor")
        poor = release.read("identity", schema=release.schema, name=ODD)[0]
        server = release.read("server")[0]
    finally:
        control.execute("RESET ROLE")
        control.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")
    rich = release.read("identity", schema=release.schema, name=ODD)[0]
    assert str(poor["identity"]).endswith("@unknown")
    assert str(server["database_id"]).endswith("@unknown")
    assert re.fullmatch(r"\d+@\d+@\d{10,}", str(rich["identity"]))


def test_doctor_has_something_to_say_on_every_release(release: Bench) -> None:
    answers = {file: release.read(file) for file in DIALECT.doctor_files}
    facts = type(release.facts)(release.facts.engine, release.facts.release,
                                {**release.facts.answers, **answers})  # fmt: skip
    checks = DIALECT.checks(facts)
    assert {check.state for check in checks} <= {"ok", "note", "warning", "problem"}
    assert {"release", "parallel workers", "index builds", "CREATE", "free space"} <= {
        each.name for each in checks
    }
    assert all(check.action for check in checks if check.state in {"warning", "problem"})


@pytest.mark.full
def test_a_server_begun_here_is_gone_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBATK_TEST_POSTGRESQL_URL", raising=False)
    if not installed():
        missing("postgresql", "no server binaries here")
    held = None
    with pytest.raises(KeyboardInterrupt), running_postgresql() as server:
        held = server
        raise KeyboardInterrupt
    assert held is not None
    assert held.process.poll() is not None
    assert not held.data.exists()


@for_each("path", [*FILES, *(resources.template_root() / "postgresql").glob("*.j2")], ids=lambda path: path.name)
def test_no_row_is_cast_or_converted_by_a_function_of_users(path: Path) -> None:
    """Of any schema in the search path a function that fits better than one of pg_catalog would be taken."""
    found = re.findall(r"(?<!pg_catalog\.)\b(?:to_jsonb?|row_to_json|hashtext\w*|record_out)\(", path.read_text())
    assert found == []
