"""What DuckDB's errors mean: its messages are of several lines, and the cause is often a later one."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.model.protocols import At, DatabaseError
from toolkit.model.transfers import Transfer

if TYPE_CHECKING:
    import duckdb

_NAMED = "the target's URL names the files that SQL may reach: `duckdb:///x.duckdb?files=PATH`"
_HOLDER = re.compile(r"\(PID (\d+)\)")
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
BY_SIGNAL = "Query interrupted"
"""What DuckDB raises, as a RuntimeError, in place of what a handler of Python's raised for a signal (Ctrl-C)."""


def cannot_open(path: str, message: str) -> ToolkitError:
    """Return why a file cannot be opened, and what to do."""
    holder = _HOLDER.search(message)
    if "Corrupt database file" in message:  # checksums of blocks: Corrupt ... in block at location
        hint = (
            "restore a copy: DuckDB may leave its file like this where it is killed, or its disk is full, at a "
            "checkpoint; keep the damaged file unchanged, its rows may all be there"
        )
        return ToolkitError(f"cannot open `{path}`: {_first_line(message)}", code="TK-0201", hint=hint)
    if "lock" in message.lower():
        who = f"process {holder[1]}" if holder else "another process"
        hint = f"a DuckDB file can be open in only one process: end {who}, or use a copy of the file"
        return ToolkitError(f"cannot open `{path}`: {_first_line(message)}", code="TK-0302", hint=hint)
    if "not a valid DuckDB database" in message:
        hint = "it is not a DuckDB file"
    else:
        hint = "check the path, its folder and its permissions"
    return ToolkitError(f"cannot open `{path}`: {_first_line(message)}", code="TK-0201", hint=hint)


def refuse_read_only_folder(path: str) -> None:
    """Refuse a file in a folder that cannot be written, which DuckDB would only find out at the first commit.

    Raises:
        ToolkitError: TK-0201.
    """
    folder = Path(path).resolve().parent
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise ToolkitError(
            f"`{path}` cannot be changed: its folder is not writable, and DuckDB writes its log beside the file",
            code="TK-0201",
            hint=f"make `{folder}` writable for this user, or use a copy of the file in another folder",
        )


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else "no reason given"


def translated(error: duckdb.Error) -> DatabaseError:
    """Return an error of the driver as ours."""
    code = type(error).__name__
    lost = code in {"FatalException", "ConnectionException", "InternalException"}
    message = str(error).strip()
    if code == "PermissionException" and "disabled" in message:
        message = f"{_first_line(message)} ({_NAMED})"
    return DatabaseError(
        message, code=code, lost=lost, cancelled=code == "InterruptException", headline=_of_csv(message)
    )


def _of_csv(message: str) -> str | None:
    """Return why a query cannot read a CSV file; None for any other error.

    The first line of such a message has a number or the name of the file, a later one the cause.
    """
    line, file = _LINE.search(message), _CSV_FILE.search(message)
    name = f"`{file[1] or file[2]}`" if file else "CSV"
    if line is not None:
        why = CSV_REASON.search(message)
        other = f"; {_NAME_ENCODING}" if why and why[0].startswith("Invalid unicode") else ""
        return f"{name}, line {line[1]}: {why[0].rstrip('.') if why else _first_line(message)}{other}"
    if "Error when sniffing file" in message:
        return f"{name}: its delimiter and quotes were not recognized; if it is not UTF-8 text, {_NAME_ENCODING}"
    return None


_NAME_ENCODING = "name its encoding in the query: read_csv('FILE', encoding = 'utf-16' or 'latin-1')"
_CSV_FILE = re.compile(r'sniffing file "([^"\n]*)"|^  file = (.*)$', re.MULTILINE)
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_COLUMN = re.compile(r'column "([^"]*)"')
CSV_REASON = re.compile(
    r"Could not convert [^\n]*|Expected Number of Columns: [^\n]*|Value with unterminated quote found"
    r"|Invalid unicode [^\n]*"
)
"""What is wrong with a line; the first line of DuckDB's message has only its number."""


def place_of(message: str, transfer: Transfer) -> At | None:
    """Read where in a file an error was met: DuckDB counts records, the line with the names among them."""
    line = _LINE.search(message)
    if line is None:
        return None
    column = _COLUMN.search(message)
    return At(int(line[1]) - transfer.style.header, column[1] if column else "", by_record=True)


@contextlib.contextmanager
def interrupted_by_signals(cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let Ctrl-C end a query of the main thread in DuckDB's own threads, too.

    Where a handler raises, DuckDB 2.0 gives the query up, and then waits for its threads without a word to them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    raising = [each for each in _SIGNALS if signal.getsignal(each) is signal.default_int_handler]

    def interrupt(number: int, frame: FrameType | None) -> None:
        cursor.interrupt()
        signal.default_int_handler(number, frame)

    for each in raising:
        signal.signal(each, interrupt)
    try:
        yield
    finally:
        for each in raising:
            signal.signal(each, signal.default_int_handler)
