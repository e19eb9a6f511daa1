"""Indexes as PostgreSQL has them, from the command line to the server's own definition (a real server)."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Dbatk
from tests.servers.postgresql import Server
from tests.tiers import thinned

pytestmark = pytest.mark.postgresql
SHAPES = {
    "hash": (("--columns", "x", "--method", "hash"), "USING hash (x)"),
    "brin": (
        ("--columns", "i,x", "--method", "brin", "--storage-parameters", "pages_per_range=32,autosummarize=on"),
        "USING brin (i, x) WITH (pages_per_range='32', autosummarize='on')",
    ),
    "gin": (
        ("--columns", "d jsonb_path_ops", "--method", "GIN", "--storage-parameters", "fastupdate=off"),
        "USING gin (d jsonb_path_ops) WITH (fastupdate=off)",
    ),
    "gin of an expression": (
        ("--columns", "(d -> 'tags')", "--method", "gin"), "USING gin (((d -> 'tags'::text)))",
    ),
    "gist": (("--columns", "r", "--method", "gist", "--include", "i,x"), "USING gist (r) INCLUDE (i, x)"),
    "spgist": (
        ("--columns", "x", "--method", "spgist", "--pctfree", "20"), "USING spgist (x) WITH (fillfactor='80')",
    ),
    "covering": (("--columns", "i", "--include", "x", "--unique"), "USING btree (i) INCLUDE (x)"),
    "partial": (
        ("--columns", "i", "--where", "x like 'a%' or i > 5"),
        "USING btree (i) WHERE ((x ~~ 'a%'::text) OR (i > 5))",
    ),
    "order": (
        ("--columns", "i desc,x nulls first,lower(x) desc nulls last"),
        "USING btree (i DESC, x NULLS FIRST, lower(x) DESC NULLS LAST)",
    ),
    "operator class": (
        ("--columns", 'lower(x) text_pattern_ops desc,x collate "C",x varchar_pattern_ops'),
        'USING btree (lower(x) text_pattern_ops DESC, x COLLATE "C", x varchar_pattern_ops)',
    ),
    "parameters": (
        ("--columns", "x", "--pctfree", "30", "--storage-parameters", "deduplicate_items=off"),
        "USING btree (x) WITH (fillfactor='70', deduplicate_items=off)",
    ),
}  # fmt: skip


@pytest.fixture
def table(postgresql_server: Server, postgresql_schema: str) -> str:
    with postgresql_server.connect() as session:
        session.execute(
            f'CREATE TABLE "{postgresql_schema}".t AS SELECT g AS i, md5(g::text) AS x,'
            " jsonb_build_object('tags', ARRAY[g]) AS d, int4range(g, g + 1) AS r FROM generate_series(1, 500) g"
        )
    return f"{postgresql_schema}.t"


def definitions(server: Server, schema: str) -> dict[str, str]:
    with server.connect() as session:
        rows = session.execute(
            "SELECT i.relname, regexp_replace(pg_get_indexdef(i.oid), '^.* USING', 'USING') FROM pg_index x"
            " JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = %s::regclass AND x.indisvalid",
            [f'"{schema}".t'],
        )
        return {str(name): str(text) for name, text in rows}


def plain(definition: str) -> str:
    return definition.replace("'on'", "on").replace("'off'", "off")


@pytest.mark.thin(2)
@pytest.mark.parametrize("shape", thinned(SHAPES, 3))
def test_an_index_is_measured_built_and_rebuilt_with_its_full_definition(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str, table: str, shape: str
) -> None:
    options, expected = SHAPES[shape]
    at = ("-t", postgresql_url, "--table", table, "--not-production")
    measured = dbatk("index", "build", *at, *options, "--repeat", "1", "--warmup", "0")
    assert measured.status == 0, measured.out + measured.err
    built = dbatk("index", "build", *at, *options, "--name", "t_ix")
    assert built.status == 0, built.out + built.err
    assert {name: plain(text) for name, text in definitions(postgresql_server, postgresql_schema).items()} == {
        "t_ix": plain(expected)
    }
    rebuilt = ("index", "rebuild", *at, "--repeat", "1", "--warmup", "0")
    script = dbatk(*rebuilt, "--dry-run")
    assert plain(expected) in plain(" ".join(script.out.split())), script.out
    assert dbatk(*rebuilt).status == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--columns", "x", "--method", "hash", "--unique"), "a hash index cannot be unique"),
        (("--columns", "x,i", "--method", "hash"), "a hash index has one column"),
        (("--columns", "d nulls first", "--method", "gin"), "a gin index has no order"),
        (("--columns", "d", "--method", "gin", "--include", "i"), "a gin index includes no further columns"),
        (("--columns", "x", "--method", "rtree"), "no index method `rtree`; it has brin, btree, gin"),
    ],
)
def test_what_a_method_lacks_is_said_before_anything_is_built(
    dbatk: Dbatk, postgresql_url: str, table: str, options: tuple[str, ...], said: str
) -> None:
    answer = dbatk("index", "build", "-t", postgresql_url, "--table", table, "--not-production", *options)
    assert (answer.status, said in answer.err) == (5, True), answer.err


@pytest.mark.parametrize(
    "options",
    [
        ("--columns", "i", "--where", "i > 5; drop table t"),
        ("--columns", "i", "--where", "i > 5) tablespace x ("),
        ("--columns", "i", "--where", "i in (select 1)"),
        ("--columns", "i", "--where", "i > 5 -- x"),
        ("--columns", "i text_ops)--"),
        ("--columns", "i a b c"),
        ("--columns", "i", "--include", "lower(x)"),
        ("--columns", "i", "--include", "x desc"),
        ("--columns", "i", "--method", "gin (x)"),
        ("--columns", "i", "--storage-parameters", "fillfactor=70) tablespace x"),
        ("--columns", "i", "--storage-parameters", "fillfactor"),
        ("--columns", "i", "--storage-parameters", "fillfactor=70", "--pctfree", "10"),
    ],
)
def test_what_is_typed_stays_one_part_of_one_statement(
    dbatk: Dbatk, postgresql_url: str, table: str, options: tuple[str, ...]
) -> None:
    answer = dbatk("index", "build", "-t", postgresql_url, "--table", table, "--not-production", *options)
    assert (answer.status, "[TK-01" in answer.err or "[TK-0204]" in answer.err) == (2, True), answer.err


def test_methods_are_levels_of_a_sweep(dbatk: Dbatk, postgresql_url: str, table: str) -> None:
    line = ("index", "build", "-t", postgresql_url, "--table", table, "--columns", "i", "--not-production")
    answer = dbatk(*line, "--method", "btree,brin", "--repeat", "1", "--warmup", "0", "--json")
    assert answer.status == 0, answer.out
    found = json.loads(answer.out)
    assert [trial["outcome"] for trial in found["trials"]] == ["ok", "ok"]
    assert "brin" in json.dumps(found["trials"])
