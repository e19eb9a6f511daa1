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
    for other in (b"'UTF8'", b"'SQL_ASCII'", b"'MULE_INTERNAL'"):
        with pytest.raises(UnexpectedTextError, match="cannot be read in the dump's encoding"):
            list(statements(text.replace(b"'UTF8'", other)))


def test_a_name_does_not_end_where_its_encoding_has_no_end() -> None:
    """A lead byte before a quote hides it from who reads two bytes as one character."""
    text = script('CREATE SCHEMA "a%";', 'CREATE SCHEMA "b \\! touch x";').replace(b"%", b"\x81")
    with pytest.raises(UnexpectedTextError):
        list(statements(text.replace(b"'UTF8'", b"'SJIS'")))
