"""How wide text is laid out: the terminal's own width on a screen, 80 columns everywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

USUAL = 80
LEAST, MOST = 60, 200
_WIDTH: ContextVar[int] = ContextVar("width", default=USUAL)


def width() -> int:
    """Return the columns that a text may take."""
    return _WIDTH.get()


def use_width(columns: int) -> None:
    """Lay text out for so many columns from now on, within what a reader's eye and a table bear."""
    _WIDTH.set(min(max(columns, LEAST), MOST))


@contextmanager
def usual_width() -> Iterator[None]:
    """Lay text out as everywhere but on a screen, for files and mail."""
    token = _WIDTH.set(USUAL)
    try:
        yield
    finally:
        _WIDTH.reset(token)
