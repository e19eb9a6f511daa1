"""However a name is spelled in a plan, it is the one of the catalogue that is approved."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.app.approving.test_complete import made
from tests.for_each import for_each
from tests.servers.postgresql import Server
from toolkit.app.approving import approve, check, subject_of_plan
from toolkit.app.approving.naming import queries_of
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.store import Store

BOTH = [
    ("SELECT id --c\r FROM {}data", "data"),
    ("SELECT id FROM (SELECT 'it''s ' --c\n 'x' AS a, id FROM {}data) s", "data"),
    ("SELECT id FROM {}d\N{RIGHTWARDS ARROW}", "d\N{RIGHTWARDS ARROW}"),
    ("SELECT id FROM {}stra\N{LATIN SMALL LETTER SHARP S}e", "stra\N{LATIN SMALL LETTER SHARP S}e"),
    ("SELECT id FROM {}\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ("SELECT id FROM (SELECT E'\\'' AS a, id FROM {}data) s", "data"),
]
ON_POSTGRESQL = [
    *BOTH,
    ("SELECT id FROM (SELECT E'a'\n'\\'' AS a, id FROM {}data) s", "data"),
    ('SELECT id FROM {}U&"d\\0061t\\+000061"', "data"),
    ("SELECT id FROM {}da\N{NO-BREAK SPACE}ta", "da\N{NO-BREAK SPACE}ta"),
    (f"SELECT id FROM {{}}{'d' * 80}", "d" * 63),
    (f'SELECT id FROM {{}}"{"d" * 62}\N{LATIN SMALL LETTER E WITH ACUTE}"', "d" * 62),
    ("SELECT id#0 AS id FROM {}data", "data"),
]
ON_DUCKDB = [
    *BOTH,
    ("SELECT id FROM query_table(E'd\\x61t\\u0061')", "datu0061"),
    ("SELECT id FROM query_table('da'\n'ta')", "data"),
    ("SELECT id FROM query('SELECT id FROM da'\n'ta')", "data"),
    ("SELECT id FROM query(E'SELECT id FROM d\\141ta')", "data"),
    ("SELECT id FROM\N{NO-BREAK SPACE}data", "data"),
]


def _names(text: str, engine: str) -> list[str]:
    queries = queries_of("names_in_texts", {"step q options.query": text}, dialect_of(engine))
    return [name for query in queries for name in str(query.binds["words"]).split("|")]


@pytest.mark.postgresql
@pytest.mark.parametrize(("query", "name"), ON_POSTGRESQL)
def test_what_postgresql_reads_is_named(
    postgresql_server: Server, postgresql_schema: str, query: str, name: str
) -> None:
    text = query.format(f"{postgresql_schema}.")
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}"."{name}" AS SELECT 7 AS id'.encode())
        assert session.execute(text.encode()).fetchall() == [(7,)]
    assert f"{postgresql_schema}.{name}" in _names(text, "postgresql")


@for_each(("query", "name"), ON_DUCKDB)
def test_what_duckdb_reads_is_named(query: str, name: str) -> None:
    text = query.format("")
    with duckdb.connect() as session:
        session.execute(f'CREATE TABLE "{name}" AS SELECT 7 AS id')
        assert session.execute(text).fetchall() == [(7,)]
    assert name in _names(text, "duckdb")


def test_names_in_literals_of_postgresql_are_read_with_their_escapes() -> None:
    assert "s.data" in _names("SELECT nextval(U&'s.d\\0061ta')", "postgresql")
    assert "s.data" in _names("SELECT nextval(E's.d\\x61t\\141')", "postgresql")
    assert "s.f" in _names("SELECT query_to_xml('SELECT s.'\n'f()', true, true, '')", "postgresql")
    assert {"s", "data"} <= set(_names("SELECT $a$it's of data, s$a$", "postgresql"))


def test_a_name_that_uescape_hides_is_not_approved() -> None:
    with pytest.raises(ToolkitError) as caught:
        _names("SELECT id FROM U&\"d!0061ta\" UESCAPE '!'", "postgresql")
    assert caught.value.code == "TK-0313"


EXCHANGE = """
[[step]]
name = "exchange"
operation = "partition-exchange"
table = "{schema}.whole"
partition = "part"
with_table = "{schema}.other"
[[step]]
name = "make"
operation = "ctas"
source = "{schema}.other"
table = "{schema}.made"
"""
TRIGGER = (
    "CREATE FUNCTION {schema}.tr() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
    "CREATE TRIGGER t BEFORE INSERT ON {schema}.other FOR EACH ROW EXECUTE FUNCTION {schema}.tr()"
)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (TRIGGER, "`{schema}.other`"),
        ("CREATE PUBLICATION a_pub FOR TABLE {schema}.whole", "`{schema}.whole`"),
        ("CREATE PUBLICATION a_pub FOR TABLE {schema}.part", "`{schema}.whole`"),
        ("CREATE PUBLICATION a_pub FOR ALL TABLES", "`publications of what is made`"),
        ("CREATE PUBLICATION a_pub FOR TABLES IN SCHEMA {schema}", "`publications of what is made`"),
        (
            "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO PUBLIC",
            "`default privileges`",
        ),
    ],
    ids=["table to exchange", "table", "partition", "all tables", "schema", "default privileges"],
)
def test_what_sends_or_shows_rows_elsewhere_is_refused(
    store: Store, tmp_path: Path, postgresql_server: Server, postgresql_schema: str, change: str, said: str
) -> None:
    schema = postgresql_schema
    with postgresql_server.connect() as session:
        if "SCHEMA" in change and "PUBLICATION" in change and session.info.server_version < 150000:
            pytest.skip("PostgreSQL 15 and later publish schemas")
        for text in (
            f"CREATE TABLE {schema}.whole (id int) PARTITION BY RANGE (id)",
            f"CREATE TABLE {schema}.part PARTITION OF {schema}.whole DEFAULT",
            f"CREATE TABLE {schema}.other (id int)",
        ):
            session.execute(text.encode())
        steps = EXCHANGE.format(schema=schema)
        approve(subject_of_plan(tmp_path / "n.toml", *made(postgresql_server.url, steps, store, tmp_path)), store)
        try:
            session.execute(change.format(schema=schema).encode())
            with pytest.raises(ToolkitError) as caught:
                check(
                    subject_of_plan(tmp_path / "n.toml", *made(postgresql_server.url, steps, store, tmp_path)),
                    store,
                )
            assert said.format(schema=schema) in caught.value.message
        finally:
            session.execute("DROP PUBLICATION IF EXISTS a_pub")
