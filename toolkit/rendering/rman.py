"""The filters of RMAN scripts: they let through what is known of a value's kind, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import jinja2

from toolkit.dialects.oracle.backup.texts import BARE, PATTERNS, fits
from toolkit.dialects.work import ContextValue


def filters(rendered: Callable[[str], str]) -> dict[str, Callable[[ContextValue], str]]:
    """Return the filters by name; `rendered` marks a text as one that a filter made."""

    def make(name: str) -> Callable[[ContextValue], str]:
        def spell(value: ContextValue) -> str:
            if not fits(name, value):
                msg = f"`{value}` cannot be used in an RMAN script as {name.removeprefix('rman_')}"
                raise jinja2.TemplateRuntimeError(msg)
            return rendered(str(value) if name in BARE else f"'{value}'")

        return spell

    return {name: make(name) for name in PATTERNS}


def tidy(text: str) -> str:
    """Drop headers (comment lines) and blank lines; no value begins a line, and none holds a line end."""
    lines = (line.rstrip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("#"))
