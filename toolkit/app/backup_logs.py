"""`backup read`: logs in files, each read line by line, its document, its picture and what it comes to."""

from __future__ import annotations

import gc
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.analysis.lanes import Lanes, balance_sentences
from toolkit.analysis.rman_lanes import failures_of, lanes_of_log
from toolkit.analysis.rman_sentences import DUPLICATE, work_sentences
from toolkit.app.backup_pieces import PieceFiles, with_sizes
from toolkit.dialects.oracle.errors import catalogue, is_frame
from toolkit.documents import open_file, unreadable
from toolkit.errors import ExitCode, ToolkitError
from toolkit.readers.parts import Part
from toolkit.readers.rman.grammar import CHANNELS_WORK
from toolkit.readers.rman.log import read_file
from toolkit.readers.rman.model import Log, LogOutcome, RmanMessage
from toolkit.readers.rman.parts import parts_in
from toolkit.readers.rman.stamps import has_time
from toolkit.readers.texts import UnreadableError
from toolkit.units import counted, number, percent

CODE = "TK-0116"
_OTHERS = (
    "a folder of pg_basebackup is checked by `pg_verifybackup DIR`, pgBackRest by its `info`; an AWR report is "
    "read by `dbatk awr show`"
)
_HINT = f"give the log written by RMAN (`rman ... log FILE`, or its output saved to a file); {_OTHERS}"
_EXIT = {
    LogOutcome.COMPLETED: ExitCode.DONE,
    LogOutcome.COMPLETED_WITH_WARNINGS: ExitCode.INCOMPLETE,
    LogOutcome.INCOMPLETE: ExitCode.INCOMPLETE,
    LogOutcome.NOTHING_DONE: ExitCode.INCOMPLETE,
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
    aside: bool = False
    """It is a member of an archive or a mail, and no log, where others are."""

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


def read_logs(
    files: Sequence[Path], *, whole: bool = False, pieces: PieceFiles | None = None
) -> Iterator[ReadLog]:
    """Read logs in the order given; a file that is none gives its sentence and does not stop the others.

    Args:
        whole: a log must show the end of its session, and is incomplete without.
        pieces: the files that the sizes of pieces are taken from.
    """
    for file in files:
        gc.disable()  # neither the records of a log nor what is printed of them hold cycles
        try:
            yield from _read(file, whole=whole, pieces=pieces)
        except ToolkitError as error:
            yield ReadLog(str(file), fault=error.message, hint=error.hint)
        finally:
            gc.enable()


def _read(file: Path, *, whole: bool, pieces: PieceFiles | None) -> Sequence[ReadLog]:
    """Read the log of a file line by line as RMAN wrote it, or each that is in an archive or a mail."""
    if file.is_dir():
        raise ToolkitError(f"`{file}` is a folder", code=CODE, hint=f"name RMAN logs; {_OTHERS}")
    try:
        with open_file(file) as opened:
            if (parts := parts_in(opened)) is None:
                return [_told(str(file), read_file(opened, whole=whole), pieces)]
    except UnreadableError as error:
        raise _no_log(str(file), error) from None
    except OSError as error:
        raise unreadable(file, error, code=CODE) from None
    found = [_part(file, number, part, parts, whole, pieces) for number, part in enumerate(parts, 1)]
    some = any(one.log is not None for one in found)
    return [replace(one, aside=some and one.log is None) for one in found]


def _part(
    file: Path, number: int, part: Part, parts: Sequence[Part], whole: bool, pieces: PieceFiles | None
) -> ReadLog:
    """Read one text of a file that holds several; its name is that of the file, with its number and its own."""
    name = f"{file}#{number} ({part.source})" if len(parts) > 1 else str(file)
    try:
        if part.fault is not None:
            raise _no_log(name, part.fault)
        return _told(name, read_file(io.BytesIO(part.text.encode("utf-8", "replace")), whole=whole), pieces)
    except ToolkitError as error:
        return ReadLog(name, fault=error.message, hint=error.hint)


def _no_log(name: str, error: UnreadableError) -> ToolkitError:
    return ToolkitError(f"`{name}` is not an RMAN log: {error.why}", code=CODE, hint=error.hint or _HINT)


def _told(name: str, log: Log, pieces: PieceFiles | None) -> ReadLog:
    """Return what a log comes to."""
    if not log.recognised:
        raise ToolkitError(f"`{name}` is not an RMAN log", code=CODE, hint=_HINT)
    log, measured = (log, []) if pieces is None or not log.pieces else with_sizes(log, pieces)
    lanes = lanes_of_log(log)
    return ReadLog(name, log, lanes, tuple(_causes(log)), (*_sentences(log, lanes), *measured))


def _causes(log: Log) -> Iterator[FailureCause]:
    """Yield each cause once, with what the error catalogue knows of it, of a code within it, or of its stack."""
    known = catalogue() if log.causes else {}
    seen: set[tuple[str, str]] = set()
    for message in log.causes:
        if (message.code, message.text) in seen:
            continue
        seen.add((message.code, message.text))
        codes = [*reversed(_CODE.findall(message.text)), message.code]
        near = [one.code for one in log.errors if abs(one.line - message.line) <= 6 and not is_frame(one.code)]
        entry = next((known[code] for code in [*codes, *reversed(near)] if code in known), None)
        advice = entry.advice if entry else ""
        if _in_duplicate(log, message.line) and _OPENING.search(advice):
            advice = _DUPLICATE_ADVICE
        yield FailureCause(message, entry.meaning if entry else "", advice)


_OPENING = re.compile(r"\bopen", re.IGNORECASE)
_DUPLICATE_ADVICE = (
    "leave the source as it is; remove what the duplication made of the auxiliary database, start its instance "
    "with NOMOUNT, and duplicate again"
)


def _in_duplicate(log: Log, line: int) -> bool:
    """Whether a duplication was under way at a line, and never ended."""
    return any(one.op in DUPLICATE and one.finish is None and one.line <= line for one in log.operations)


def _unfinished(log: Log) -> Iterator[str]:
    failed = failures_of(log)
    for name in dict.fromkeys(piece.channel for piece in log.unfinished):
        at = f"; it failed on {failed[name]:%Y-%m-%d at %H:%M:%S}" if name in failed else ""
        lost = [piece.set_type for piece in log.unfinished if piece.channel == name]
        if pieces := sum(kind not in CHANNELS_WORK for kind in lost):
            yield f"channel `{name}` left {counted(pieces, 'piece')} unfinished{at}"
        for op in dict.fromkeys(kind for kind in lost if kind in CHANNELS_WORK):
            yield f"channel `{name}` did not end its part of {op}{at}"
    if failed and any(piece.start and not has_time(piece.start) for piece in log.unfinished):
        yield (
            "how long a channel had worked when it failed is not in this log: its dates have no time of day; set "
            "NLS_DATE_FORMAT='YYYY-MM-DD HH24:MI:SS' in the environment of rman"
        )


def _sentences(log: Log, lanes: Lanes) -> Iterator[str]:
    yield from work_sentences(log, lanes)
    if log.downgraded:
        yield "one channel did all the work, whatever was requested: this edition has no parallel backup"
    yield from _unfinished(log)
    if log.corrupt:
        files = ", ".join(str(file) for file in dict.fromkeys(log.corrupt))
        yield f"corrupt blocks found in data file {files}: see V$DATABASE_BLOCK_CORRUPTION"
    if not log.operations and not log.errors and not log.done:
        yield "nothing was backed up, restored or validated in this log"
    for line in log.corrected:
        yield f"the command that failed at line {line:,} was corrected: what it was to do was done after it"
    yield from log.missing
    if log.excerpt:
        yield f"this is an excerpt: {log.excerpt[0]}; commands that it does not show are not judged"
    yield from balance_sentences(lanes)
    if lanes.imbalance is not None and lanes.utilisation is not None:
        yield (
            f"imbalance {number(lanes.imbalance)} (busiest/mean; 1 is balanced), channels busy "
            f"{percent(100 * lanes.utilisation)} of the time"
        )
