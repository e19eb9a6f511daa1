"""Our queries call PostgreSQL's own functions and operators, whatever anybody made in a schema of the search path.

A call whose arguments are not of exactly the types that the function takes may find one of another schema that
fits better (PostgreSQL, "Function Type Resolution", "Operator Type Resolution"; CVE-2018-1058), and so run it with
the rights of dbatk. Such a call names its schema, or casts its arguments. A bare literal is loose where it is not
text, or stands beside an operator of two types: one with two of the same type would come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import psycopg
import pytest

from tests.postgresql.test_sql_files import FILES, IN_A_TRANSACTION, RELEASES, versions
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed
from toolkit.rendering import sql_file
from toolkit.targets.base import names_in, translate

pytestmark = pytest.mark.postgresql
_LEFT_OUT = frozenset({"names_in_texts", *IN_A_TRANSACTION})
"""The first runs with `search_path` set to pg_catalog alone (`names_begin`), the others call nothing."""
_TEXT = "25"
_BARE = re.compile(rb"(?:'(?:[^']|'')*'|\$\d+)(?!\s*::|'|\d)")
"""A literal, or a bind, that is not cast."""
_CALLS = {"FUNCEXPR": "funcid", "AGGREF": "aggfnoid", "WINDOWFUNC": "winfnoid"}
_OPERATORS = ("OPEXPR", "SCALARARRAYOPEXPR", "DISTINCTEXPR", "NULLIFEXPR")
_CASTS = {"RELABELTYPE": "relabelformat", "FUNCEXPR": "funcformat", "COERCEVIAIO": "coerceformat",
          "ARRAYCOERCEEXPR": "coerceformat", "CONVERTROWTYPEEXPR": "convertformat"}  # fmt: skip
_AS_A_CALL, _IMPLICIT = "0", "2"
"""CoercionForm of `primnodes.h`: COERCE_EXPLICIT_CALL and COERCE_IMPLICIT_CAST."""
_POLYMORPHIC = (
    "SELECT p.oid::text FROM pg_catalog.pg_proc p WHERE EXISTS (SELECT FROM unnest(p.proargtypes::oid[]) a(type)"
    " JOIN pg_catalog.pg_type t ON t.oid = a.type WHERE t.typname ~ '^(any|_?record$)')"
)
_OF_TWO_TYPES = "SELECT o.oid::text FROM pg_catalog.pg_operator o WHERE o.oprleft <> o.oprright AND o.oprleft <> 0"
Node = Any
"""A node of a parse tree as the server writes it: fields by name, a list, or a word."""


class Parsed:
    """A session that tells which calls of a query may be resolved to what others made.

    Args:
        server: where it is.
    """

    def __init__(self, server: Server) -> None:
        self.session = server.connect()
        self._told: list[str] = []
        self.session.add_notice_handler(self._heard)
        self.session.execute("SET client_min_messages = log")
        self._polymorphic = {str(row[0]) for row in self.session.execute(_POLYMORPHIC)}
        self._of_two_types = {str(row[0]) for row in self.session.execute(_OF_TWO_TYPES)}

    def _heard(self, notice: psycopg.errors.Diagnostic) -> None:
        if (notice.message_primary or "").startswith("parse tree"):
            self._told.append(notice.message_detail or "")

    def close(self) -> None:
        self.session.close()

    def loose(self, query: str) -> list[str]:
        """Return the text from each such call on; binds are spelled `$1`."""
        places = {name: f"${number}" for number, name in enumerate(names_in(query), 1)}
        text = translate(query, places.__getitem__).encode()
        self._told.clear()
        self.session.execute("SET debug_print_parse = on")
        prepared = self.session.pgconn.prepare(b"", text)
        self.session.execute("SET debug_print_parse = off")
        assert prepared.status == psycopg.pq.ExecStatus.COMMAND_OK, prepared.error_message.decode()
        found = {self._at(node, text) for node in _nodes(_read(self._told[0]))} - {-1}
        return [text[at : at + 40].decode(errors="replace").split("\n")[0] for at in sorted(found)]

    def _at(self, node: dict[str, Node], text: bytes) -> int:
        """Return where a loose call stands, and -1 for anything else."""
        kind = node["kind"]
        args = cast("list[Node]", node.get("args") if isinstance(node.get("args"), list) else [])
        loose = any(_is_implicit(each) for each in args)
        at = int(node.get("location", "-1"))
        if kind in _OPERATORS:
            of_two = node["opno"] in self._of_two_types
            loose = loose or (of_two and any(_is_bare(each, text) for each in args))
            return at if loose or node["opfuncid"] in self._polymorphic else -1
        if kind not in _CALLS or (kind == "FUNCEXPR" and node["funcformat"] != _AS_A_CALL):
            return -1
        loose = loose or any(_is_bare(each, text) and each.get("consttype") != _TEXT for each in args)
        named = text[at:].startswith(b"pg_catalog.")
        return at if args and not named and (loose or node[_CALLS[kind]] in self._polymorphic) else -1


def _is_implicit(node: Node) -> bool:
    if not isinstance(node, dict):
        return False
    if node["kind"] == "TARGETENTRY":
        return _is_implicit(node["expr"])
    form = _CASTS.get(node["kind"])
    return form is not None and node[form] == _IMPLICIT


def _is_bare(node: Node, text: bytes) -> bool:
    """Tell whether it is a literal of no type, or a bind of none."""
    if not isinstance(node, dict) or node["kind"] not in ("CONST", "PARAM"):
        return False
    at = int(node["location"])
    found = _BARE.match(text, at) if at >= 0 else None
    if found is None or text[:at].endswith(b"CAST("):
        return False
    return node["kind"] == "CONST" or found[0] + b"::" not in text  # a bind is everywhere what it is cast to once


def _read(tree: str) -> Node:
    """Read what `nodeToString` of the server writes: {KIND :field value ...}, (a list), or a word."""
    words = iter(re.findall(r"[{}()]|\[[^\]]*\]|(?:\\.|[^\s(){}\[\]\\])+", tree))

    def read(word: str) -> Node:
        if word == "(":
            return [read(each) for each in iter(lambda: next(words), ")")]
        if word != "{":
            return word
        node: dict[str, Node] = {"kind": next(words)}
        field = ""
        for each in iter(lambda: next(words), "}"):
            if each.startswith(":") and len(each) > 1:
                field = each[1:]
            else:
                value = read(each)
                node.setdefault(field, value)  # of a datum, its length counts here, and no more is asked
        return node

    return read(next(words))


def _nodes(tree: Node) -> Iterator[dict[str, Node]]:
    if isinstance(tree, dict):
        yield tree
    for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(each)


@pytest.fixture(scope="module", params=RELEASES)
def parsed(request: pytest.FixtureRequest) -> Iterator[tuple[int, Parsed]]:
    folder = installed().get(request.param)
    if folder is None:
        missing("postgresql", "no server binaries here")
        return
    with begun_from(folder) as server:
        with server.connect() as session:
            release = session.info.server_version // 10_000
        made = Parsed(server)
        yield release, made
        made.close()


def test_no_query_calls_what_fits_better_in_another_schema(parsed: tuple[int, Parsed]) -> None:
    release, session = parsed
    found = dict[str, list[str]]()
    for path in FILES:
        lowest, highest = versions(path)
        if lowest <= release <= highest and path.stem not in _LEFT_OUT:
            found[path.stem] = session.loose(sql_file("postgresql", path.stem))
    assert "doctor_reclaim" in found
    assert "\n".join(f"{name}: {call}" for name, calls in found.items() for call in calls) == ""


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("SELECT pg_relation_size(c.oid) FROM pg_class c", ["pg_relation_size(c.oid) FROM pg_class c"]),
        ("SELECT pg_catalog.pg_relation_size(c.oid) FROM pg_class c", []),
        ("SELECT pg_relation_size(c.oid::regclass) FROM pg_class c", []),
        ("SELECT x FROM pg_partition_tree(:one::oid) x", ["pg_partition_tree($1::oid) x"]),
        ("SELECT count(c.oid) FROM pg_class c", ["count(c.oid) FROM pg_class c"]),
        ("SELECT count(*), sum(c.relpages) FROM pg_class c", []),
        ("SELECT 1 FROM pg_class c WHERE c.oid = :one AND c.relname || '.' = 'a'", ["|| '.' = 'a'"]),
        ("SELECT c.relname::text || '.' FROM pg_class c", []),
        ("SELECT 1 FROM pg_class c WHERE c.reltuples > 0", ["> 0"]),
        ("SELECT 1 FROM pg_index x WHERE 1 = ANY (x.indkey)", ["= ANY (x.indkey)"]),
        (
            "SELECT 1 FROM pg_class c WHERE c.relname ~ 'x' OR c.relname::text ~ 'x'",
            ["~ 'x' OR c.relname::text ~ 'x'"],
        ),
        ("SELECT '{}'::json ->> 'x', '{}'::json ->> 'x'::text", ["->> 'x', '{}'::json ->> 'x'::text"]),
        (
            "SELECT pg_table_size('pg_class'), pg_table_size('pg_class'::regclass)",
            ["pg_table_size('pg_class'), pg_table_size"],
        ),
        ("SELECT lag(c.oid) OVER () FROM pg_class c", ["lag(c.oid) OVER () FROM pg_class c"]),
    ],
)
def test_a_call_that_fits_exactly_or_names_its_schema_is_no_finding(
    parsed: tuple[int, Parsed], text: str, calls: list[str]
) -> None:
    assert parsed[1].loose(text) == calls


def test_what_is_found_would_be_called(parsed: tuple[int, Parsed]) -> None:
    """A function of anybody in `public` is called by such a query, and not by those of ours."""
    session = parsed[1].session
    planted = "CREATE FUNCTION public.{}(oid) RETURNS bigint LANGUAGE sql AS 'SELECT -8192::bigint'"
    asked = [
        translate(sql_file("postgresql", name), {"schema": "'public'", "name": "'looked_at'"}.__getitem__).encode()
        for name in ("doctor_bloat", "object_bytes", "relation")
    ]
    with session.transaction(force_rollback=True):
        session.execute("CREATE TABLE public.looked_at AS SELECT 1 AS id")
        before = [session.execute(query).fetchall() for query in asked]
        for name in ("pg_relation_size", "pg_table_size"):
            session.execute(planted.format(name))  # type: ignore[call-overload]
        caught = session.execute("SELECT pg_relation_size(c.oid) FROM pg_class c WHERE c.relname = 'looked_at'")
        assert caught.fetchall() == [(-8192,)]
        assert [session.execute(query).fetchall() for query in asked] == before
