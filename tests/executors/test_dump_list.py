"""What a superuser runs of a dump: schemas and extensions as pg_dump writes them, and nothing that looks so."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.executors.dump_list import UnexpectedTextError, divide, statements

HEAD = """--
-- PostgreSQL database dump
--

\\restrict BcP7Ob5wB1FYbtoIH9aVCdphJobVNBJVHdvntBWgcsj9lDjMepgR9DPob5i91Ku

-- Dumped from database version 17.10

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;

--
-- Name: %s; Type: EXTENSION; Schema: -; Owner: -
--

"""
EXTENSION = "CREATE EXTENSION IF NOT EXISTS {} WITH SCHEMA {};"
LIST = b"""; Archive created at 2026-11-30 14:05:04 UTC
;
12; 2615 16388 SCHEMA - odd;" schema dba
2766; 0 0 COMMENT - SCHEMA ext dba
5; 3079 16561 EXTENSION - dblink \n2768; 0 0 COMMENT - EXTENSION dblink \n226; 1259 16612 TABLE - TABLE x dba
227; 1259 16613 TABLE EXTENSION SCHEMA - dba
2751; 6104 16617 PUBLICATION - pa dba
2773; 0 0 COMMENT - PUBLICATION pa dba
2754; 6106 16619 PUBLICATION TABLE public pt t dba
2755; 6237 16621 PUBLICATION TABLES IN SCHEMA ext ps ext dba
2605; 3466 16616 EVENT TRIGGER - my ev dba
2774; 0 0 COMMENT - EVENT TRIGGER "my ev" dba
""".splitlines(keepends=True)


def script(*texts: str, encoding: str = "utf-8") -> bytes:
    return (HEAD % "x" + "\n\n\n".join(texts) + "\n\n\\unrestrict abc\n").encode(encoding)


def test_a_list_is_divided() -> None:
    own, before = divide(LIST)
    assert [line.partition(b";")[0] for line in before] == [b"12", b"5", b"2768"]
    assert [line.partition(b";")[0] for line in own] == [b"", b"", b"2766", b"226", b"227"]


@for_each("name", ["hstore", '"uuid-ossp"', '"a ""b"" ; c"', '"line\nend"', '"é日"', '"\\! touch x"'])
def test_what_pg_dump_writes_is_taken(name: str) -> None:
    comment = f"COMMENT ON EXTENSION {name} IS 'it''s; \\! a -- comment\nCREATE EXTENSION x;';"
    found = list(statements(script(f"CREATE SCHEMA {name};", EXTENSION.format(name, name), comment)))
    assert found == [
        f"CREATE SCHEMA IF NOT EXISTS {name};\n", f"{EXTENSION.format(name, name)}\n", f"{comment}\n"
    ]  # fmt: skip


@for_each("text", [
    "COPY (SELECT 1) TO PROGRAM 'x';",
    "CREATE EXTENSION IF NOT EXISTS a WITH SCHEMA b CASCADE;",
    "CREATE EXTENSION IF NOT EXISTS a WITH SCHEMA b VERSION '1';",
    "CREATE EXTENSION IF NOT EXISTS a WITH SCHEMA b; DROP SCHEMA b;",
    "CREATE EXTENSION IF NOT EXISTS a'b WITH SCHEMA c;",
    'CREATE EXTENSION IF NOT EXISTS "a" "b" WITH SCHEMA c;',
    "CREATE SCHEMA a CREATE VIEW v AS SELECT f();",
    "CREATE SCHEMA a AUTHORIZATION b;",
    "COMMENT ON EXTENSION a IS 'b' || f();",
    "COMMENT ON EXTENSION a IS E'\\'; COPY t TO PROGRAM ''x'';';",
    "COMMENT ON EXTENSION a IS 'b",
    "SELECT pg_catalog.set_config('search_path', f(), false);",
    "SET search_path = '';DROP SCHEMA a;",
    "\\! touch x",
    "ALTER SCHEMA a OWNER TO b;",
    "/* a */ CREATE SCHEMA a;",
])  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UnexpectedTextError, match=r"what pg_dump does not write: \S"):
        list(statements(script(text)))


def test_names_are_read_in_the_encoding_of_the_dump() -> None:
    text = script('CREATE SCHEMA "é";', encoding="latin-1")
    assert list(statements(text.replace(b"'UTF8'", b"'LATIN1'"))) == ['CREATE SCHEMA IF NOT EXISTS "é";\n']
    assert list(statements(text.replace(b"'UTF8'", b"'WIN1252'"))) == ['CREATE SCHEMA IF NOT EXISTS "é";\n']
    for other in (b"'UTF8'", b"'SQL_ASCII'", b"'MULE_INTERNAL'", b"'latin_1'", b"'utf_7'", b"'rot13'"):
        with pytest.raises(UnexpectedTextError, match="cannot be read in the dump's encoding"):
            list(statements(text.replace(b"'UTF8'", other)))


def test_a_name_does_not_end_where_its_encoding_has_no_end() -> None:
    """A lead byte before a quote hides it from who reads two bytes as one character."""
    text = script('CREATE SCHEMA "a%";', 'CREATE SCHEMA "b \\! touch x";').replace(b"%", b"\x81")
    with pytest.raises(UnexpectedTextError):
        list(statements(text.replace(b"'UTF8'", b"'SJIS'")))


@for_each("encoding", ["SQL_ASCII", "MULE_INTERNAL", "EUC_TW", "KOI8R", "SJIS", "LATIN1"])
def test_names_in_ascii_are_read_whatever_the_encoding(encoding: str) -> None:
    text = script("CREATE SCHEMA a;").replace(b"'UTF8'", f"'{encoding}'".encode())
    assert list(statements(text)) == ["CREATE SCHEMA IF NOT EXISTS a;\n"]


ESCAPED = script(
    "COMMENT ON EXTENSION hstore IS 'x+AAA-';",
    "COMMENT ON EXTENSION hstore IS '; COPY (SELECT 1) TO PROGRAM $$touch x$$; --';",
)
"""In UTF-7 `+AAA-` is a zero byte: psql would pass over the rest of that line and read on behind its quote."""


def test_no_letter_stands_for_another_one() -> None:
    other = ESCAPED.replace(b"'UTF8'", b"'utf_7'")
    assert list(statements(other)) == list(statements(ESCAPED))
    assert "IS 'x+AAA-';" in "".join(statements(other))


@for_each("more", [b"17.10\nSET client_encoding = 'utf_7';", b"17.10\nSET client_encoding = 'SQL_ASCII';"])
def test_a_dump_names_one_encoding(more: bytes) -> None:
    with pytest.raises(UnexpectedTextError, match="cannot be read in the dump's encoding"):
        list(statements(ESCAPED.replace(b"17.10", more)))


@for_each("character", ["\0", "\b", "\r", "\x1a", "\x1b", "\x7f", "\x85"])
def test_control_characters_are_refused(character: str) -> None:
    with pytest.raises(UnexpectedTextError, match=f"control character U\\+{ord(character):04X}"):
        list(statements(script(f"COMMENT ON EXTENSION a IS 'b{character}c';")))
