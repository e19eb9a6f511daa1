"""What an engine makes of quotes, escapes and blanks, as one token each."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.design.lexis import ORACLE, POSTGRESQL, STANDARD, Syntax, TokenKind, tokens

WORD, NAME, STRING = TokenKind.WORD, TokenKind.NAME, TokenKind.STRING


@for_each("syntax", [POSTGRESQL, STANDARD])
@for_each(
    ("text", "kind", "meaning"),
    [
        (r"E'\303\244 \x61 \\ \' '' \n\q'", STRING, "\N{LATIN SMALL LETTER A WITH DIAERESIS} a \\ ' ' \nq"),
        (r"'\x61'", STRING, r"\x61"),
        ("'da'\n'ta'", STRING, "data"),
        ("'da' -- c\n\n --d\r 'ta'", STRING, "data"),
        ("''''\n''''", STRING, "''"),
        ("E'a'\n'\\x62'", STRING, "ab"),
    ],
)  # fmt: skip
def test_one_token(syntax: Syntax, text: str, kind: TokenKind, meaning: str) -> None:
    assert [(one.kind, one.text) for one in tokens(text, syntax)] == [(kind, meaning)]


@for_each(
    ("text", "kind", "meaning"),
    [
        (r'U&"d\0061t\+000061 \\ """', NAME, 'data \\ "'),
        (r"E'\u0061 \U00000062 \uD83D\uDE00'", STRING, "a b \N{GRINNING FACE}"),
        ("E'a'\n'b\\'c'", STRING, "ab'c"),
        (r"u&'\D83D\DE00'", STRING, "\N{GRINNING FACE}"),
        ("da\N{NO-BREAK SPACE}ta", WORD, "DA\N{NO-BREAK SPACE}TA"),
    ],
)
def test_only_postgresql_reads_it_as_one_token(text: str, kind: TokenKind, meaning: str) -> None:
    assert [(one.kind, one.text) for one in tokens(text, POSTGRESQL)] == [(kind, meaning)]
    assert [(one.kind, one.text) for one in tokens(text, STANDARD)] != [(kind, meaning)]


@pytest.mark.parametrize("syntax", [POSTGRESQL, STANDARD])
def test_what_ends_a_word_or_a_comment(syntax: Syntax) -> None:
    assert [one.text for one in tokens("a#b --c\rd 'e' 'f'", syntax)] == ["A", "#", "B", "--c", "D", "e", "f"]
    assert [one.text for one in tokens("a#b", ORACLE)] == ["A#B"]
