"""How wide text is laid out: the terminal's own width on a screen, whole lines in a pipe, 80 columns in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

USUAL = 80
LEAST, MOST = 60, 200
UNLIMITED = 10_000


@dataclass(frozen=True, slots=True)
class _Layout:
    drawn: int = USUAL
    line: int = USUAL


_LAYOUT: ContextVar[_Layout] = ContextVar("layout", default=_Layout())  # noqa: B039 - it is frozen


def width() -> int:
    """Return the columns that a drawing may take: a time line, a rule below a title."""
    return _LAYOUT.get().drawn


def line_width() -> int:
    """Return the columns that a sentence or a record may take; in a pipe each has a line of its own."""
    return _LAYOUT.get().line


def use_width(columns: int) -> None:
    """Lay text out for so many columns from now on, within what a reader's eye and a table bear."""
    fitting = min(max(columns, LEAST), MOST)
    _LAYOUT.set(_Layout(fitting, fitting))


def use_whole_lines() -> None:
    """Break no line from now on, so that `grep` and `awk` find a record in one."""
    _LAYOUT.set(_Layout(USUAL, UNLIMITED))


@contextmanager
def usual_width() -> Iterator[None]:
    """Lay text out for a reader whose screen is not known: in files."""
    token = _LAYOUT.set(_Layout())
    try:
        yield
    finally:
        _LAYOUT.reset(token)
