"""The error catalogue: what a code of Oracle, its driver or RMAN means to a DBA here, and what to do about it.

The entries are data (`errors.toml`, beside this file); a page of each stands in `docs/errors`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from toolkit.dialects.answers import Continuation, ErrorAdvice

_CODE = re.compile(r"\b(?:ORA|DPY|DPI|RMAN|PLS|TNS|KUP)-\d{3,5}\b")
_HELP = re.compile(r"\s*^Help: https?://\S+\s*$", re.MULTILINE)

# Codes of frames: the cause is the next code of the stack that is none of these.
_FRAMES = frozenset(
    {"ORA-12801", "RMAN-00571", "RMAN-00569", "RMAN-03002", "RMAN-03009", "ORA-06512", "ORA-00604",
     "ORA-02091", "ORA-12008", "ORA-12012", "ORA-29913", "ORA-29400"}
)  # fmt: skip


@cache
def catalogue() -> dict[str, ErrorAdvice]:
    """Return the advice of every code that is known."""
    text = files("toolkit.dialects.oracle").joinpath("errors.toml").read_text(encoding="utf-8")
    return {
        code: ErrorAdvice(
            code,
            entry["meaning"],
            entry["advice"],
            Continuation(entry["goes_on"]),
            downgrade=entry.get("downgrade", False),
            outside=entry.get("outside", False),
            of_text=entry.get("of_text", False),
        )
        for entry in tomllib.loads(text)["error"]
        for code in entry["codes"]
    }


def tidy_message(message: str) -> str:
    """Drop the line `Help: https://...` that the thin driver appends."""
    return _HELP.sub("", message).strip()


_HIDDEN = "********"
_SHORTEST_SECRET = 3
_WORD = r"""(?:"[^"]*"|'[^']*'|[^\s,;)]+)"""
_PASSWORD = re.compile(
    rf"""(?ix)
    (\bidentified\s+by\s+) (?:values\s+)? {_WORD} (?:\s+replace\s+{_WORD})?
    | (password\s*(?:=>?|:=)\s*) {_WORD}
    | ((?<![\w/.])[\w$\#"]+/) (?:"[^"]*"|[^\s/@"]+) (?=@)
    """
)
"""Where a statement (CREATE USER, ALTER USER, CREATE DATABASE LINK), a call or a login has a password."""


def without_secrets(message: str, secrets: Iterable[str] = ()) -> str:
    """Return a message without passwords: those known, and what stands where a statement or login has one.

    Args:
        message: as the database or the driver gave it; a server may quote what it was sent.
        secrets: passwords of the session.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            message = re.sub(re.escape(secret), _HIDDEN, message, flags=re.IGNORECASE)
    return _PASSWORD.sub(lambda found: f"{next(filter(None, found.groups()))}{_HIDDEN}", message)


def is_frame(code: str) -> bool:
    """Whether a code is a frame around its cause."""
    return code in _FRAMES


def cause_code(code: str, message: str) -> str:
    """Return the code that is the cause: a frame such as ORA-12801 points at the next code of the stack."""
    if code not in _FRAMES:
        return code
    return next((found for found in _CODE.findall(message) if found not in _FRAMES), code)


def headline(code: str, message: str) -> str:
    """Return the line of a stack that names the cause, followed by its frame.

    Args:
        code: the first code of the stack.
        message: the whole stack, as the driver gave it.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [code]
    cause = cause_code(code, message)
    if cause == code:
        return lines[0]
    line_of_cause = next((line for line in lines if line.startswith(f"{cause}:")), cause)
    return f"{line_of_cause} (in {lines[0]})"


def explain(code: str, message: str) -> ErrorAdvice | None:
    """Look a code up; a frame of a stack is looked up by the cause inside it."""
    return catalogue().get(cause_code(code, message)) or catalogue().get(code)
