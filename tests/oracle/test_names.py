"""Names and literals of Oracle: folding, quoting, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.facts import Release
from toolkit.model.values import QualifiedName

_UNQUOTABLE = st.characters(blacklist_characters='"\0@', blacklist_categories=["Cs"])
_NAMES = st.text(_UNQUOTABLE, min_size=1, max_size=30).filter(lambda name: len(name.encode()) <= 128)


def test_unquoted_parts_are_folded_and_quoted_parts_are_kept() -> None:
    assert DIALECT.parse_name('glennf."My Table"') == QualifiedName("My Table", "GLENNF")


@given(_NAMES, _NAMES)
def test_a_quoted_name_means_exactly_what_stands_inside(schema: str, name: str) -> None:
    assert DIALECT.parse_name(f'"{schema}"."{name}"') == QualifiedName(name, schema)


@given(_NAMES)
def test_quoting_and_reading_again_gives_the_same_name(name: str) -> None:
    assert DIALECT.parse_name(DIALECT.quote(name)).name == name


@for_each(
    "text",
    [
        "",
        ".",
        "a.",
        ".a",
        "a.b.c",
        "1a",
        "a b",
        "a;drop",
        'a"b',
        '"a',
        '""',
        '"a\0b"',
        "gtest@prod",
        '"a@b"',
        "größe",
        "a-b",
    ],
)
def test_what_is_no_name_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        DIALECT.parse_name(text)
    assert refused.value.code == "TK-0104"
    assert ":" in refused.value.message
    assert "\0" not in refused.value.message


@given(st.text())
def test_any_text_is_either_a_name_or_refused(text: str) -> None:
    try:
        name = DIALECT.parse_name(text)
    except ToolkitError as refused:
        assert refused.code == "TK-0104"
    else:
        assert '"' not in name.name and "\0" not in name.name


@for_each(("release", "limit"), [((11, 2), 30), ((12, 1, 0, 2), 30), ((12, 2), 128), ((19,), 128)])
def test_the_limit_counts_bytes_and_depends_on_the_release(release: tuple[int, ...], limit: int) -> None:
    fits = "é" * (limit // 2)
    assert DIALECT.parse_name(f'"{fits}"', Release(release)).name == fits
    with pytest.raises(ToolkitError, match=f"{limit} are allowed"):
        DIALECT.parse_name(f'"{fits}x"', Release(release))


@for_each("name", ["", 'a"b', "a\0b", "x" * 129])
def test_names_without_a_spelling_are_not_quoted(name: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        DIALECT.quote(name)
    assert refused.value.code == "TK-0104"


@given(st.text(st.characters(blacklist_characters="\0")))
def test_a_text_literal_ends_where_it_should(text: str) -> None:
    spelled = DIALECT.literal(text)
    inside = spelled[1:-1]
    assert spelled[0] == spelled[-1] == "'"
    assert "'" not in inside.replace("''", "")
    assert inside.replace("''", "'") == text


def test_numbers_and_null_are_spelled_plainly() -> None:
    assert [DIALECT.literal(value) for value in (None, 7, 2.5, True)] == ["NULL", "7", "2.5", "1"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "a\0b"])
def test_values_without_a_spelling_are_refused(value: float | str) -> None:
    with pytest.raises(ToolkitError) as refused:
        DIALECT.literal(value)
    assert refused.value.code == "TK-0102"
