"""`backup read`: logs in files, each read line by line, its document, its picture and what it comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.analysis.lanes import Lanes, balance_sentences
from toolkit.analysis.rman_lanes import lanes_of_log
from toolkit.dialects.oracle.errors import catalogue, is_frame
from toolkit.documents import open_file
from toolkit.errors import ExitCode, ToolkitError
from toolkit.readers.rman.log import read_file
from toolkit.readers.rman.model import Log, LogOutcome, RmanMessage

CODE = "TK-0116"
_HINT = "give the log written by RMAN (`rman ... log FILE`, or its output saved to a file)"
_EXIT = {
    LogOutcome.COMPLETED: ExitCode.DONE,
    LogOutcome.COMPLETED_WITH_WARNINGS: ExitCode.INCOMPLETE,
    LogOutcome.INCOMPLETE: ExitCode.INCOMPLETE,
    LogOutcome.FAILED: ExitCode.FAILED,
}
_CODE = re.compile(r"\b(?:ORA|RMAN)-\d{5}\b")
_WORST = (ExitCode.DONE, ExitCode.INCOMPLETE, ExitCode.FAILED, ExitCode.USAGE)


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Why something failed: the message, what its code means here, and what to do."""

    message: RmanMessage
    meaning: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ReadLog:
    """What became of one file: its log with the picture, or the sentence why it is none."""

    file: str
    log: Log | None = None
    lanes: Lanes | None = None
    causes: Sequence[FailureCause] = field(default=())
    sentences: Sequence[str] = field(default=())
    fault: str = ""
    hint: str = ""

    @property
    def told(self) -> tuple[str, ...]:
        """The causes with their advice, then the sentences: for a page."""
        causes = []
        for cause in self.causes:
            meant = f" - {cause.meaning}" if cause.meaning else ""
            advice = f"; {cause.advice}" if cause.advice else ""
            causes.append(
                f"line {cause.message.line:,}: {cause.message.code}: {cause.message.text}{meant}{advice}"
            )
        return (*causes, *self.sentences)

    @property
    def exit_code(self) -> ExitCode:
        """0 completed, 3 with warnings or incomplete, 1 the log says failed, 2 no RMAN log."""
        return ExitCode.USAGE if self.log is None else _EXIT[self.log.outcome]


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """Return the exit code of several logs: that of the worst of them."""
    return max(codes, key=_WORST.index, default=ExitCode.USAGE)


def read_logs(files: Sequence[Path], *, picture: bool = True) -> Iterator[ReadLog]:
    """Read logs in the order given; a file that is none gives its sentence and does not stop the others.

    Args:
        picture: lay the pieces on a clock too, which takes longer than reading them.
    """
    for file in files:
        try:
            yield _read(file, picture=picture)
        except ToolkitError as error:
            yield ReadLog(str(file), fault=error.message, hint=error.hint)


def _read(file: Path, *, picture: bool) -> ReadLog:
    if file.is_dir():
        raise ToolkitError(f"`{file}` is a folder", code=CODE, hint="name the log files in it")
    if not file.exists():
        raise ToolkitError(f"there is no file `{file}`", code=CODE, hint="check the path")
    try:
        with open_file(file) as opened:
            log = read_file(opened)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ToolkitError(f"`{file}` cannot be read: {reason}", code=CODE, hint="check its permissions") from None
    if not log.recognised:
        raise ToolkitError(f"`{file}` is not an RMAN log", code=CODE, hint=_HINT)
    lanes = lanes_of_log(log) if picture else None
    return ReadLog(str(file), log, lanes, tuple(_causes(log)), tuple(_sentences(log, lanes)))


def _causes(log: Log) -> Iterator[FailureCause]:
    """Yield each cause once, with what the error catalogue knows of it, of a code within it, or of its stack."""
    known = catalogue()
    seen: set[tuple[str, str]] = set()
    for message in log.causes:
        if (message.code, message.text) in seen:
            continue
        seen.add((message.code, message.text))
        codes = [*reversed(_CODE.findall(message.text)), message.code]
        near = [one.code for one in log.errors if abs(one.line - message.line) <= 6 and not is_frame(one.code)]
        entry = next((known[code] for code in [*codes, *reversed(near)] if code in known), None)
        yield FailureCause(message, entry.meaning if entry else "", entry.advice if entry else "")


def _sentences(log: Log, lanes: Lanes | None) -> Iterator[str]:
    if log.downgraded:
        yield "one channel did all the work, whatever was requested: this edition has no parallel backup"
    for name in dict.fromkeys(piece.channel for piece in log.unfinished):
        lost = sum(1 for piece in log.unfinished if piece.channel == name)
        yield f"channel `{name}` left {lost} piece{'s' if lost > 1 else ''} unfinished"
    if log.corrupt:
        files = ", ".join(str(file) for file in dict.fromkeys(log.corrupt))
        yield f"corrupt blocks found in data file {files}: see V$DATABASE_BLOCK_CORRUPTION"
    if not log.operations and not log.errors:
        yield "nothing was backed up, restored or validated in this log"
    yield from log.missing
    yield from () if lanes is None else balance_sentences(lanes)
