"""What reaches the terminal: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from toolkit.cli.colours import has_color, on_terminal, painted
from toolkit.errors import ToolkitError
from toolkit.terminal import UNLIMITED, runnable, use_program, use_whole_lines, use_width, usual_width, width

if TYPE_CHECKING:
    from toolkit.model.protocols import Event

_TICKED = re.compile(r"`[^`]*`")
_GLUE = "\0"
BETWEEN = 2
"""Blanks between the columns of a table."""
_USUAL_CELL = 40
"""Characters of a cell that a column of a table in a pipe is made wide enough for."""
_KEPT = frozenset("\n\t")
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def plain(text: str) -> str:
    """Return text from outside without characters a terminal acts upon (escapes, direction marks)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text if char in _KEPT or unicodedata.category(char) not in _UNSAFE)


@dataclass(slots=True)
class HeldBack:
    """What is written while a command works; `needless` when it is not to be shown after all."""

    needless: bool = False


@contextmanager
def held_back(*, errors: bool) -> Iterator[HeldBack]:
    """Write nothing while the block runs; at its end all of it, unless it was found needless.

    Args:
        errors: whether standard error is held back too.
    """
    held, text, error = HeldBack(), io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(text), redirect_stderr(error if errors else sys.stderr):
            yield held
    finally:
        if not held.needless:
            sys.stdout.write(text.getvalue())
            sys.stderr.write(error.getvalue())


def out(text: str) -> None:
    """Write a result to standard output; a sentence that a terminal is too narrow for is broken between words."""
    shown = _fitting(plain(text), columns_of(sys.stdout))
    _write(sys.stdout, painted(shown, sys.stdout).rstrip("\n") + "\n")


def out_raw(text: str) -> None:
    """Write a document or script to standard output as it is."""
    _write(sys.stdout, text if text.endswith("\n") else text + "\n")


def say(text: str) -> None:
    """Write a message to standard error."""
    _write(sys.stderr, painted(fitted(runnable(plain(text)), sys.stderr), sys.stderr) + "\n")


def fitted(text: str, stream: TextIO) -> str:
    """Break the lines of a message between words where a terminal is too narrow, never within a command."""
    if not on_terminal(stream):
        return text
    return _fitting(text, terminal_columns())


def _fitting(text: str, columns: int) -> str:
    return "\n".join(line for each in text.splitlines() for line in _broken(each, columns))


def _broken(line: str, columns: int) -> list[str]:
    """Break a line; what stands in back-ticks stays whole, to be copied, as does an indented line."""
    if len(line) <= columns or line.startswith(" "):
        return [line]
    glued = _TICKED.sub(lambda found: found[0].replace(" ", _GLUE), line)
    below = "  " if line.startswith("- ") else ""
    lines = textwrap.wrap(glued, columns, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)
    return [one.replace(_GLUE, " ") for one in lines]


def terminal_columns() -> int:
    """Return how wide the terminal is."""
    return shutil.get_terminal_size().columns


class Warnings:
    """Hears events, and says what goes wrong: for commands that show no progress."""

    def emit(self, event: Event) -> None:
        """Say a warning."""
        if event.kind == "warning":
            say(f"warning: {event.text}")


def out_json(document: object) -> None:
    """Write one JSON document, escaped to ASCII so that no terminal acts on it."""
    out_raw(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))


def out_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, whole: frozenset[str] = frozenset()
) -> None:
    """Write a table as wide as the terminal; long cells fold, but not in the `whole` columns (ids to be copied).

    In a pipe every record stands in a line of its own, for `grep`, and few long cells do not push all others away.
    """
    cells, room = [[plain(cell) for cell in row] for row in rows], columns_of(sys.stdout)
    text = _ragged(columns, cells) if room == UNLIMITED else _aligned(columns, cells, room)
    if text is None:
        text = _folded(columns, cells, room, whole)
    _write(sys.stdout, painted("".join(line.rstrip() + "\n" for line in text.splitlines()), sys.stdout))


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> str | None:
    """Return a table of which no cell need be folded; None where one must, or where characters may be wide.

    It says what `_folded` says, without rich, which is a tenth of a short list and nine tenths of a long one.
    """
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    length = sum(widths) + BETWEEN * (len(widths) - 1)
    if length > room or not all(cell.isascii() and cell.isprintable() for row in rows for cell in row):
        return None
    return _laid_out(columns, rows, widths)


def _ragged(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of whole lines, each column as wide as its widest cell of usual length."""
    cells = [[cell.replace("\n", " ") for cell in row] for row in rows]
    every = zip(columns, *cells, strict=True)
    widths = [max((len(cell) for cell in column if len(cell) <= _USUAL_CELL), default=0) for column in every]
    return _laid_out(columns, cells, widths)


def _laid_out(columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    head, *lines = (
        (" " * BETWEEN).join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (columns, *rows)
    )
    bold = f"\x1b[1m{head}\x1b[0m" if has_color(sys.stdout) else head
    return "\n".join((bold, "\u2500" * (sum(widths) + BETWEEN * (len(widths) - 1)), *lines))


def _widths(
    columns: Sequence[str], rows: Sequence[Sequence[str]], room: int, whole: frozenset[str]
) -> list[int] | None:
    """Return columns of which words are broken only where there is no room for them, and then the longest ones.

    None where the columns that stay whole leave no room.
    """
    from rich.cells import cell_len as cell_width

    every = list(zip(columns, *rows, strict=True))
    widths = [max(map(cell_width, column)) for column in every]
    words = [max((cell_width(word) for cell in column for word in cell.split()), default=1) for column in every]
    left = room - BETWEEN * (len(columns) - 1)
    for longest in range(max(words), 2, -1):
        least = [
            width_ if name in whole else min(width_, word, longest)
            for name, width_, word in zip(columns, widths, words, strict=True)
        ]
        if sum(least) <= left:
            break
    else:
        return None
    while sum(widths) > left:
        widest = max((at for at in range(len(widths)) if widths[at] > least[at]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def _folded(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int, whole: frozenset[str]) -> str:
    """Return a table of which long cells fold."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        *columns, box=box.SIMPLE_HEAD, padding=(0, BETWEEN - 1, 0, 0), pad_edge=False, show_edge=False,
        header_style="bold",
    )  # fmt: skip
    widths = _widths(columns, rows, room, whole)
    for at, column in enumerate(table.columns):
        column.overflow, column.width = "fold", widths[at] if widths else None
        column.no_wrap = column.header in whole
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(
        file=sys.stdout, width=room, color_system="standard" if has_color(sys.stdout) else None,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def columns_of(stream: TextIO) -> int:
    """Return how wide a table may be: without limit where no person sees it as it is written."""
    return width() if on_terminal(stream) else UNLIMITED


def program_typed() -> str:
    """Return how this program was called: `.venv/bin/dbatk` where a shell would find none, or another one."""
    called = sys.argv[0]
    by_path = called.endswith("/dbatk") and Path(called).is_file() and shutil.which("dbatk") != called
    return shlex.quote(called) if by_path else "dbatk"


@contextmanager
def fitted_to_terminal() -> Iterator[None]:
    """Lay text out for the terminal that standard output is; in whole lines where it is none."""
    with usual_width():
        use_program(program_typed())
        if on_terminal(sys.stdout):
            use_width(terminal_columns())
        else:
            use_whole_lines()
        yield


def show_error(error: ToolkitError, *, as_json: bool) -> None:
    """Show an error in words on standard error, or as a document on standard output."""
    message = plain(error.message)
    if error.database_code and error.database_code not in message:
        message = f"{error.database_code}: {message}"
    if as_json:
        try:
            out_json({"error": {"code": error.code, "message": message, "hint": plain(error.hint)}})
        except ToolkitError as unwritable:
            if unwritable.message != error.message:
                show_error(unwritable, as_json=False)
        else:
            return
    say(f"error: {message} [{error.code}]\n\nhint: {error.hint}")


def _write(stream: TextIO, text: str) -> None:
    """Write text, or say why a result cannot be written; a message that cannot be is let go, for work goes on.

    Raises:
        BrokenPipeError: its reader went away.
        ToolkitError: TK-0405.
    """
    try:
        stream.write(text.encode(stream.encoding or "utf-8", "replace").decode(stream.encoding or "utf-8"))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if stream is sys.stderr:
            return
        why = (error.strerror or "unknown reason").lower()
        raise ToolkitError(
            f"standard output cannot be written: {why}", code="TK-0405", hint="see the disk that it goes to"
        ) from None
