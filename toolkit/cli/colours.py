"""Colour on a terminal: the words that tell how something ended, and the first word of a message."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TextIO

AUTO, ALWAYS, NEVER = "auto", "always", "never"
CHOICES = (AUTO, ALWAYS, NEVER)

_GREEN, _YELLOW, _RED, _CYAN = "32", "33", "31", "36"
_BOLD = "1;"
_WORDS = {
    **dict.fromkeys(("ok", "faster", "better"), _GREEN),
    **dict.fromkeys(
        ("warning", "downgraded", "unsupported", "skipped", "stopped", "inconclusive", "interrupted", "refused"),
        _YELLOW,
    ),
    **dict.fromkeys(("failed", "died", "slower", "worse"), _RED),
}
_HEADS = {
    "error": _BOLD + _RED,
    "failed": _BOLD + _RED,
    "warning": _BOLD + _YELLOW,
    "note": _CYAN,
    "hint": _BOLD + _CYAN,
}
_HEAD = re.compile(rf"^({'|'.join(_HEADS)})(?=: )", re.MULTILINE)
_DOUBT = re.compile(r"^!(?= )", re.MULTILINE)
_WORD = re.compile(rf"(?:(?<=^)|(?<=  )|(?<=: ))({'|'.join(_WORDS)})(?=  | \(|[,:;]|$)", re.MULTILINE)
"""A word in a column of its own, or behind the name of what it is about: not one within a sentence."""
_HOW: ContextVar[str] = ContextVar("color", default=AUTO)


def choose_color(arguments: Sequence[str]) -> None:
    """Take `--color` from a command line as it was typed, since an error in that line is shown in colour too."""
    how = AUTO
    for at, word in enumerate(arguments):
        if word == "--":
            break
        if word == "--color" and at + 1 < len(arguments):
            how = arguments[at + 1]
        elif word.startswith("--color="):
            how = word.partition("=")[2]
    _HOW.set(how if how in CHOICES else AUTO)


def on_terminal(stream: TextIO) -> bool:
    """Whether a person sees this stream as it is written."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_color(stream: TextIO) -> bool:
    """Whether this stream is coloured: what `--color` says, else only a terminal, and not under NO_COLOR."""
    how = _HOW.get()
    return how == ALWAYS or (how == AUTO and not os.environ.get("NO_COLOR") and on_terminal(stream))


def painted(text: str, stream: TextIO) -> str:
    """Return a text for people with its verdicts, outcomes and warnings in colour, where the stream takes it."""
    if not has_color(stream):
        return text
    text = _HEAD.sub(lambda found: _colored(found[0], _HEADS[found[0]]), text)
    text = _DOUBT.sub(_colored("!", _YELLOW), text)
    return _WORD.sub(lambda found: _colored(found[0], _WORDS[found[0]]), text)


def _colored(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
