"""How text is laid out: as wide as the terminal on a screen, in whole lines in a pipe, 80 columns in a file.

Commands in it are spelled so that the shell that shows them can run them: by the path that dbatk was called by
where it is on nobody's PATH, and with the store that was named.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

USUAL = 80
LEAST, MOST = 60, 200
UNLIMITED = 10_000


@dataclass(frozen=True, slots=True)
class _Layout:
    drawn: int = USUAL
    line: int = USUAL
    program: str = "dbatk"
    store: str = ""


_LAYOUT: ContextVar[_Layout] = ContextVar("layout", default=_Layout())  # noqa: B039 - it is frozen


def _layout() -> _Layout:
    return _LAYOUT.get()


def width() -> int:
    """Return the columns that a drawing may take: a time line, a rule below a title."""
    return _layout().drawn


def line_width() -> int:
    """Return the columns that a sentence or a record may take; in a pipe each has a line of its own."""
    return _layout().line


def use_width(columns: int) -> None:
    """Lay text out for so many columns from now on, within what a reader's eye and a table bear."""
    fitting = min(max(columns, LEAST), MOST)
    _LAYOUT.set(replace(_layout(), drawn=fitting, line=fitting))


def use_whole_lines() -> None:
    """Break no line from now on, so that `grep` and `awk` find a record in one."""
    _LAYOUT.set(replace(_layout(), drawn=USUAL, line=UNLIMITED))


@contextmanager
def usual_width() -> Iterator[None]:
    """Lay text out for a reader whose screen is not known: in files."""
    token = _LAYOUT.set(_Layout())
    try:
        yield
    finally:
        _LAYOUT.reset(token)


# -- commands in text ---------------------------------------------------------------------------------------------
_COMMAND = re.compile(r"`dbatk ([^`]*)`")
_OF_STORE = re.compile(
    r"(runs|clean|report|compare|advise|verify|noise|audit|snapshot|plan (report|history))\b(?!.*--store\b)"
)
"""Commands that read a store, where they do not name one."""


def use_program(program: str) -> None:
    """Spell commands with this program from now on."""
    _LAYOUT.set(replace(_layout(), program=program))


def use_store(store: str) -> None:
    """Name this store in the commands that read one from now on; none for an empty text."""
    _LAYOUT.set(replace(_layout(), store=store))


def runnable(text: str) -> str:
    """Return text with the commands in back-ticks as they can be run from here."""
    layout = _layout()
    if "`dbatk " not in text or not (layout.store or layout.program != "dbatk"):
        return text

    def spelled(found: re.Match[str]) -> str:
        line = found[1]
        named = f" --store {shlex.quote(layout.store)}" if layout.store and _OF_STORE.match(line) else ""
        return f"`{layout.program} {line}{named}`"

    return _COMMAND.sub(spelled, text)
