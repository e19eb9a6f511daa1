import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.values import QualifiedName

CATALOGUE_NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: len(name.encode()) <= 63
)


@given(CATALOGUE_NAMES, CATALOGUE_NAMES)
def test_a_quoted_name_is_read_back_as_it_was(schema: str, name: str) -> None:
    typed = f"{DIALECT.quote(schema)}.{DIALECT.quote(name)}"
    assert DIALECT.parse_name(typed) == QualifiedName(name, schema)


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_$]{0,62}", fullmatch=True))
def test_an_unquoted_name_folds_to_lower_case(name: str) -> None:
    assert DIALECT.parse_name(name) == QualifiedName(name.lower())


@given(st.text(min_size=1))
def test_any_text_is_a_name_or_a_bad_name(text: str) -> None:
    try:
        name = DIALECT.parse_name(text)
    except ToolkitError as error:
        assert error.code == "TK-0104"
    else:
        assert 1 <= len(name.name.encode()) <= 63


@given(CATALOGUE_NAMES)
def test_a_quoted_name_cannot_end_its_quotes(name: str) -> None:
    inside = DIALECT.quote(name)[1:-1]
    assert '"' not in inside.replace('""', "")


def test_letters_beyond_ascii_are_not_folded_as_the_server_does_not() -> None:
    assert DIALECT.parse_name("ÄPFEL.Öl") == QualifiedName("Öl", "Äpfel")


@for_each("name", ["a" * 64, "ä" * 32, "", "a\0b"])
def test_names_the_server_would_cut_or_refuse_are_bad_names(name: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        DIALECT.quote(name)
    assert caught.value.code == "TK-0104"
    assert "\0" not in caught.value.message


def test_63_bytes_are_enough_and_64_are_not() -> None:
    assert DIALECT.parse_name("a" * 63).name == "a" * 63
    with pytest.raises(ToolkitError, match="64 bytes, at most 63 are allowed"):
        DIALECT.parse_name("a" * 64)


@for_each("text", ["a.b.c", "a b", "a;b", "1a", "a..b", '"a', 'a"b"', "", "  ", "a-b", "a."])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        DIALECT.parse_name(text)
    assert caught.value.code == "TK-0104"


@for_each(
    ("value", "spelled"),
    [(None, "NULL"), (True, "TRUE"), (7, "7"), (0.5, "0.5"), ("it's", "'it''s'"), ("a\\b", "E'a\\\\b'"),
     (float("nan"), "'nan'::float8")],
)  # fmt: skip
def test_literals_are_spelled_as_postgresql_reads_them(value: object, spelled: str) -> None:
    assert DIALECT.literal(value) == spelled


def test_a_text_with_nul_is_refused() -> None:
    with pytest.raises(ToolkitError, match="NUL"):
        DIALECT.literal("a\0b")


@pytest.mark.parametrize(
    ("typed", "written"),
    [("Order Lines", "'\"Order Lines\"'"), ("shop.Order Lines", "'shop.\"Order Lines\"'")],
)
def test_a_name_of_which_a_shell_took_the_quotes_is_shown_as_it_is_written(typed: str, written: str) -> None:
    with pytest.raises(ToolkitError, match="needs double quotes") as caught:
        DIALECT.parse_name(typed)
    assert f"write {written} (on a command line" in (caught.value.hint or "")
