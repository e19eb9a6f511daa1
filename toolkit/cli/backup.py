"""`backup read`: what RMAN wrote, in words, as a picture, as a document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.output import out, out_raw, say
from toolkit.cli.parameters import OUTPUT, Arguments, add_command, argument, option
from toolkit.errors import ToolkitError

if TYPE_CHECKING:
    from toolkit.app.backup_logs import ReadLog
    from toolkit.readers.rman.model import Log

_PORTION = 1000
_ENCODER = json.JSONEncoder(allow_nan=False, check_circular=False)


def add_backup(backup: typer.Typer) -> None:
    """Add the commands of the group that are no operation."""
    what = "RMAN logs, of any release and language (plain, zip, gz, mail)"
    files = argument("files", what, kind=list[str], metavar="LOG...")
    page = option("out", "write a page with a chart of the channels to this file", metavar="FILE.html")
    whole = option("whole", "treat a log without the end of its session as incomplete", kind=bool)
    sizes = option("pieces_from", "take the sizes of backup pieces from the files in this folder", metavar="DIR")
    json_and_debug = [one for one in OUTPUT if one.name != "store"]
    add_command(
        backup, "read", _read, [files, page, whole, sizes, *json_and_debug],
        "Show what RMAN logs say: complete or not, why, and which channel was slowest.",
    )  # fmt: skip


def _read(arguments: Arguments) -> int:
    from toolkit.app.backup_logs import CODE, read_logs
    from toolkit.app.backup_pieces import files_in

    files = [Path(name) for name in arguments.texts("files")]
    page, as_json = arguments.text("out"), arguments.flag("json")
    if page is not None and Path(page).resolve() in {file.resolve() for file in files}:
        raise ToolkitError(f"`{page}` is one of the logs", code="TK-0102", hint="give another file for the page")
    folder = arguments.text("pieces_from")
    pieces = None if folder is None else files_in(Path(folder))
    logs = read_logs(files, whole=arguments.flag("whole"), pieces=pieces)
    first = list(islice(logs, 2)) if len(files) == 1 else []
    if len(first) == 1 and first[0].log is None:
        raise ToolkitError(first[0].fault, code=CODE, hint=first[0].hint)
    logs = chain(first, logs)
    shown = list(_documents(logs, several=len(first) != 1) if as_json else _screens(logs))
    if page is not None:
        _page(Path(page), shown)
    return _status(shown)


def _documents(logs: Iterable[ReadLog], *, several: bool) -> Iterator[ReadLog]:
    """Print each document as soon as its log is read."""
    before = '{"logs": [' if several else ""
    for one in logs:
        if one.log is not None:
            out_raw(before)
            _document(one.log, one)
            before = ","
        yield one
    if several:
        out_raw("]}" if before == "," else f"{before}]}}")


def _document(log: Log, read: ReadLog) -> None:
    """Print a document; the pieces in portions, so that a log of years needs no text as large as itself."""
    from toolkit.analysis.rman_sentences import work_document
    from toolkit.readers.rman.model import log_document, piece_document

    document = {**log_document(log, read.file, whole=False), **work_document(read.lanes, read.sentences)}
    head, found, tail = _ENCODER.encode(document).partition('"pieces": [')
    out_raw(head + found)
    for begin in range(0, len(log.pieces), _PORTION):
        portion = [piece_document(piece) for piece in log.pieces[begin : begin + _PORTION]]
        out_raw(("," if begin else "") + _ENCODER.encode(portion)[1:-1])
    out_raw(tail)


def _screens(logs: Iterable[ReadLog]) -> Iterator[ReadLog]:
    from toolkit.cli.backup_screen import screen

    printed = False
    for one in logs:
        if one.log is not None:
            if printed:
                out("")
            printed = True
            out(screen(one))
        yield one


def _page(path: Path, logs: Sequence[ReadLog]) -> None:
    """Write the page; nothing of it is written where no log was read."""
    from toolkit.app.files import write_file
    from toolkit.report.log_page import log_page

    pages = [
        (one.file, one.log, one.lanes, one.told) for one in logs if one.log is not None and one.lanes is not None
    ]
    if pages:
        write_file(path, log_page(pages))
        say(f"wrote {path}")


def _status(logs: Iterable[ReadLog]) -> int:
    """Say on standard error which files were no logs, and return the exit code of the worst."""
    from toolkit.app.backup_logs import CODE, worst

    codes = []
    for one in logs:
        if one.aside:
            say(f"skipped: {one.fault}")
            continue
        codes.append(one.exit_code)
        if one.fault:
            say(f"error: {one.fault} [{CODE}]\n\nhint: {one.hint}")
    return worst(codes)
