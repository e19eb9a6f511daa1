"""Target URLs: every documented form is read, a password is refused in every spelling and never shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.words import EngineName

DUCKDB, POSTGRESQL, ORACLE = "duckdb", "postgresql", "oracle"
CANARY = "s3cr3tXcanary"


@for_each(
    ("url", "address"),
    [
        ("duckdb:///rel.duckdb", Address(DUCKDB, "rel.duckdb")),
        ("duckdb:////abs/a%20b.duckdb", Address(DUCKDB, "/abs/a b.duckdb")),
        ("duckdb://", Address(DUCKDB, "")),
        ("duckdb:///new.duckdb?create=yes", Address(DUCKDB, "new.duckdb", parameters=(("create", "yes"),))),
        ("duckdb:///:memory:", Address(DUCKDB, "")),
        ("postgresql://u@h:5432/db", Address(POSTGRESQL, "db", "u", "h", 5432)),
        ("postgres://h/db", Address(POSTGRESQL, "db", None, "h")),
        ("postgresql:///db", Address(POSTGRESQL, "db")),
        ("postgresql://u@[::1]:5433/db", Address(POSTGRESQL, "db", "u", "::1", 5433)),
        ("postgresql://u%40x@h/d%2Fb", Address(POSTGRESQL, "d/b", "u@x", "h")),
        ("postgresql://%2Frun%2Fpg/db", Address(POSTGRESQL, "db", None, "/run/pg")),
        (
            "postgresql://u@h/db?sslmode=require",
            Address(POSTGRESQL, "db", "u", "h", None, (("sslmode", "require"),)),
        ),
        ("ORACLE://scott@db1:1521/DWH.world", Address(ORACLE, "DWH.world", "scott", "db1", 1521)),
        ("oracle://scott@db1/DWH", Address(ORACLE, "DWH", "scott", "db1")),
        ("oracle://scott@DWH_HIGH", Address(ORACLE, "DWH_HIGH", "scott")),
        ("oracle://DWH", Address(ORACLE, "DWH")),
    ],
)
def test_documented_forms_are_read(url: str, address: Address) -> None:
    assert parse_url(url) == address


@for_each(
    "url",
    [
        "postgresql://u:{}@h/db", "postgresql://u:{}@x@h/db", "postgresql://u:a/{}@h/db", "postgresql://u:{}?x@h/db",
        "postgresql://u:@h/{}", "postgresql://h/db?user=u&password={}", "postgresql://h/db?sslpassword={}",
        "postgresql://u:h:{}@h:1/db", "oracle://scott/{}@db1:1521/DWH", "oracle://scott/{}@DWH",
        "oracle://scott:{}@DWH", "oracle://scott:#{}@DWH", "postgresql://:{}@h/db",
    ],
)  # fmt: skip
def test_a_password_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        parse_url(url.format(CANARY))
    assert caught.value.code == "TK-0108"
    assert CANARY not in caught.value.message + caught.value.hint
    assert "--password-env" in caught.value.hint


@for_each(
    "url",
    ["oracle://s@h:1521:ORCL", "oracle://s@h:1521/ORCL:x", "oracle://s@h:1521/?sid=ORCL", "oracle://h:ORCL:1521"],
)
def test_a_sid_is_refused_with_the_right_form(url: str) -> None:
    with pytest.raises(ToolkitError, match="SID") as caught:
        parse_url(url)
    assert "oracle://user@host:1521/service" in caught.value.hint


@for_each(
    "url",
    [
        "", "dwh", "mysql://h/db", "duckbd:///x", "://", "duckdb://rel.duckdb", "duckdb:///folder/",
        "duckdb:///x?create=no",
        "postgresql://u@h:port/db", "postgresql://u@h:0/db", "postgresql://u@h:99999/db", "postgresql://:5432/db",
        "postgresql://@h/db", "postgresql://u@h/a/b", "postgresql://u@h/db%00", "postgresql://u@h/d b",
        "postgresql://u@h/db?x", "postgresql://u@h/%ff", "oracle://", "oracle://s@", "oracle://s@h:1521",
        "oracle://s@h:1521/", "oracle://s@h/(DESCRIPTION=x)", "oracle://s@1bad", "postgresql://u@h\n/db",
        "x" * 3000,
        "postgresql://u@h:٤/db", "postgresql://u?x@h/db", "postgresql:///db?host=/run&user=u", "postgresql://u@h?dbname=d",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_a_form_to_follow(url: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        parse_url(url)
    assert caught.value.code == "TK-0111"
    assert "`" in caught.value.hint


def test_a_misspelt_kind_names_the_nearest() -> None:
    with pytest.raises(ToolkitError) as caught:
        parse_url("orcale://u@h/x")
    assert "`oracle`" in caught.value.hint


PARTS = st.sampled_from(
    ["oracle", "postgresql", "duckdb", "://", "/", "@", ":", "?", "=", "%", "%41", "a", "1", "[", "]"]
)


@given(st.lists(PARTS, max_size=14).map("".join) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        address = parse_url(text)
    except ToolkitError as error:
        assert error.code in {"TK-0108", "TK-0111"}
        return
    assert address.display.isprintable()


WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)


@given(st.sampled_from([POSTGRESQL, ORACLE]), WORDS, st.none() | WORDS, WORDS, st.none() | st.integers(1, 65535))
def test_an_address_shown_is_read_back(
    engine: EngineName, database: str, user: str | None, host: str, port: int | None
) -> None:
    address = Address(engine, database, user, host, port)
    assert parse_url(address.display) == address


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20), st.booleans())
def test_no_password_slips_through_whatever_it_is_made_of(password: str, slash: bool) -> None:
    for url in (f"postgresql://u:{password}@h/db", f"oracle://u{'/' if slash else ':'}{password}@h:1521/svc"):
        with pytest.raises(ToolkitError) as caught:
            parse_url(url)
        assert caught.value.code == "TK-0108"
