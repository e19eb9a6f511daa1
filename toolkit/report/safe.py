"""Text from a database or a user is untrusted wherever it is shown: here it becomes harmless."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

# C0 and C1 controls, DEL, line and paragraph separators, bidirectional marks and overrides, zero-width and
# interlinear signs, BOM, and lone surrogates (which no file can hold).
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_BLANKS = re.compile(r"[ \t\n]+")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|~!&$])")
# only punctuation can be escaped: `1\.` is no list, while `\1.` would show its backslash
_MARKDOWN_AT_BEGIN = re.compile(r"^(\s*(?:\d+(?=[.)](?:\s|$)))?)([-+=.)])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def clean(text: str) -> str:
    """Return the text in one line, control and direction characters spelled out."""
    return _BLANKS.sub(" ", clean_lines(text)).strip()


def clean_lines(text: str) -> str:
    """Return the text with its lines and tabs, other control and direction characters spelled out."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _HARMFUL.sub(lambda match: f"\\u{ord(match[0]):04x}", unified)


def markdown(text: str) -> str:
    """Return a cleaned text that Markdown shows as it is."""
    escaped = _MARKDOWN.sub(r"\\\1", clean(text))
    return _MARKDOWN_AT_BEGIN.sub(lambda match: f"{match[1]}\\{match[2]}", escaped)


def csv_text(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula.

    Source: OWASP, CSV Injection: a leading `=`, `+`, `-`, `@`, tab or return begins a formula.
    """
    shown = clean_lines(text)
    return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) or text[:1] in _FORMULA else shown


def json_text(document: Mapping[str, object]) -> str:
    """Write a document as one JSON text; escaped to ASCII, so that no terminal acts on it."""
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
