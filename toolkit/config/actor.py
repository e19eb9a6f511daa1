"""Who is at work: the user of the host, who logged in as such, and the command line without secrets."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.model.audit import Actor

_NOBODY = 2**32 - 1
"""What the kernel says where nobody logged in: a service, or a job of a scheduler."""
_LONGEST = 300
_USERINFO = re.compile(r"://[^/@]*:[^/]*@")
_DOTS = "..."
_said: tuple[str, ...] = ()


def set_command(arguments: Sequence[str]) -> None:
    """Remember the command line of this process; possible secrets in it are never shown."""
    global _said  # noqa: PLW0603 - a process has one command line
    _said = tuple(arguments)


def actor() -> Actor:
    """Return who is at work in this process."""
    from toolkit.model.audit import Actor

    user, login = _name(os.geteuid()), _login()
    return Actor(user, _host(), os.getpid(), login if login != user else None, tuple(_redacted(_said)))


def display_of(word: str) -> str:
    """Return a word of a command line as it may be shown."""
    return next(iter(_redacted([word])))


def _redacted(arguments: Iterable[str]) -> Iterable[str]:
    """Yield the words of a command line; a word that holds a secret, or follows one that asks for it, is dots."""
    from toolkit.documents import holds_secret

    hide = False
    for word in arguments:
        shown = _USERINFO.sub(f"://{_DOTS}@", word)
        secret = hide or holds_secret(shown)
        hide = bool(re.fullmatch(r"-{1,2}[\w-]*(?:password|passwd|pwd|secret|token)", word, re.IGNORECASE))
        yield _DOTS if secret else "".join(char if char.isprintable() else " " for char in shown)[:_LONGEST]


@cache
def _name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@cache
def _host() -> str:
    return os.uname().nodename


@cache
def _login() -> str | None:
    """Return the user who logged in, whoever he became since (`/proc/self/loginuid`, Linux with audit)."""
    try:
        number = int(Path("/proc/self/loginuid").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if number == _NOBODY else _name(number)
