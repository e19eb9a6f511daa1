"""How the text of data files is to be read, from what a user says of it."""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from toolkit.errors import ToolkitError
from toolkit.model.transfers import CsvStyle

_WORDS = {"tab": "\t", "space": " ", "none": ""}
_SINGLE_BYTES = ("ascii", "utf_8", "latin", "iso8859", "cp125", "cp85", "cp437", "koi8", "mac_")
"""Encodings in which a quote, a delimiter and a line end are one byte each that is part of no other character."""


def style_of(options: Mapping[str, object]) -> CsvStyle:
    """Return how the text of CSV files is to be read.

    Raises:
        ToolkitError: TK-0102 for what is no single character, or an encoding that cannot be read; TK-0107.
    """
    delimiter, quote = _character(options, "delimiter", ","), _character(options, "quote", '"')
    if not delimiter:
        raise ToolkitError("`--delimiter` is empty", code="TK-0102", hint="give one character, or `tab`")
    null = str(options.get("null") or "")
    for name, character in (("delimiter", delimiter), ("quote", quote)):
        if character and character in null:
            raise ToolkitError(
                f"`--null` contains the {name}", code="TK-0107", hint="give what stands for NULL without it"
            )
    if delimiter == quote:
        raise ToolkitError(
            "`--delimiter` and `--quote` are the same", code="TK-0107", hint="give two different characters"
        )
    encoding = _encoding(str(options.get("encoding") or "utf-8"))
    return CsvStyle(delimiter, quote, null, encoding, str(options.get("header") or "yes") == "yes")


def _character(options: Mapping[str, object], name: str, default: str) -> str:
    text = str(options.get(name) or default)
    found = _WORDS.get(text, text)
    if len(found) > 1 or (found and (not found.isascii() or found in "\r\n\0" or found.isalnum())):
        raise ToolkitError(
            f"`--{name}` cannot be `{text}`",
            code="TK-0102",
            hint="give one character that is neither letter, digit nor line end",
        )
    return found


def _encoding(text: str) -> str:
    try:
        name = codecs.lookup(text).name
    except LookupError:
        raise ToolkitError(
            f"`{text}` is not a known encoding", code="TK-0102", hint="try utf-8, latin-1 or windows-1252"
        ) from None
    if not name.replace("-", "_").startswith(_SINGLE_BYTES):
        raise ToolkitError(
            f"text in `{text}` cannot be loaded: a byte of a character may look like a quote or a delimiter",
            code="TK-0102",
            hint="convert it first: iconv -t utf-8",
        )
    return name
