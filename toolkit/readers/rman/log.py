"""A whole log: blocks of text in, a `Log` with its outcome out.

Two messages make up most of a log and are read as a whole: a set begins; a piece and its set end. The result is
what `machine` would make of their lines one by one (a test holds them equal), at a third of the cost. Whatever is
not exactly of this form is read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import BinaryIO

from toolkit.readers.rman.decode import blocks_of
from toolkit.readers.rman.grammar import READING_OPS
from toolkit.readers.rman.listing import sized_pieces, sized_reads
from toolkit.readers.rman.machine import Machine
from toolkit.readers.rman.model import ArchivedLog, BackupPiece, Datafile, Log, LogOutcome, RmanMessage
from toolkit.readers.rman.stamps import has_time, parser
from toolkit.readers.rman.state import Inputs, LogState

_BATCH = 4000
_TAIL = 16_384
"""Characters that are left for the next block, for a message may go on in it."""
_LONGEST_LINE = 4000
_MOST_SHARED = 5000
"""Inputs of sets that are kept to be shared: the same files are backed up again and again."""
_MESSAGE = re.compile(
    r"channel ([A-Za-z_][\w$#]*): (?:"
    r"finished piece (\d{1,6}) at ([^\n]{5,40})\n"
    r"piece handle=([^\n\t]{1,400}?) tag=(\S{1,40}) comment=([^\n]{0,200})\n"
    r"channel \1: backup set complete, elapsed time: (\d{1,5}):(\d\d):(\d\d)\n"
    r"|starting ([a-z0-9 ]+?) backup ?set\n"
    r"channel \1: specifying [^\n=]{1,60}\n"
    r"((?=in)(?:input datafile (?:file number|fno)=\d{1,9} name=[^\n]{1,300}\n){0,200}"
    r"(?:including [a-zA-Z ]{1,40} in backup ?set\n){0,3}"
    r"|(?:input archived? log thread=\d{1,5} sequence=\d{1,12} (?:RECID|recid)=[^\n]{1,60}\n){1,400})"
    r"channel \1: starting piece (\d{1,6}) at ([^\n]{5,60})\n)",
    re.ASCII,
)
_INPUT = re.compile(r"=0*(\d{1,9}) name=([^\n]*)\n", re.ASCII)
_INCLUDED = re.compile(r"^including (.*?) in backup", re.MULTILINE)
_LOG = re.compile(r" thread=(\d+) sequence=(\d+) ", re.ASCII)


def feed_all(machine: Machine, blocks: Iterable[str]) -> None:
    """Give all blocks of a log to a machine; each ends with a line feed."""
    rest = ""
    for block in blocks:
        text = rest + block if rest else block
        done = _feed(machine, text, max(0, len(text) - _TAIL))
        rest = text[done:]
    _feed(machine, rest, len(rest))


def blocks_of_lines(lines: Iterable[str]) -> Iterator[str]:
    """Put lines together, with or without their ends."""
    source = iter(lines)
    while batch := list(islice(source, _BATCH)):
        text = "\n".join([line.rstrip("\r\n") for line in batch]) + "\n"
        yield text.replace("\r\n", "\n") if "\r" in text else text


def _feed(machine: Machine, text: str, until: int) -> int:
    """Read whole messages and lines that begin before `until`; return where the next one begins."""
    at, end = 0, len(text)
    feed, find, message, faults = machine.feed, text.find, _MESSAGE.match, machine.faults
    while at < until:
        letter = text[at]
        if letter == "\n":
            machine.blank()
            at += 1
            continue
        if letter == "c" and not (machine.partial or machine.in_sql or faults.in_stack):
            found = message(text, at)
            if found is not None and (_begun if found[2] is None else _ended)(machine, found):
                at = found.end()
                continue
        stop = find("\n", at)
        stop = end if stop < 0 else stop
        feed(text[at : stop if stop - at < _LONGEST_LINE else at + _LONGEST_LINE])
        at = stop + 1
    return min(at, end)


def _begun(machine: Machine, found: re.Match[str]) -> bool:
    name, kind, inputs, number, stamp = found.group(1, 10, 11, 12, 13)
    channels = machine.channels
    channel = channels.by_name.get(name) or channels.get(name)
    sealed = machine.inputs.get(inputs) or _sealed(machine, inputs)
    files, logs, extra = sealed
    if channel.set_type is not None:
        channels.lose(channel)
    elif extra and (channel.open or channel.done or channel.files or channel.logs or channel.extra):
        return False
    channel.set_type = machine.shared[kind]
    channel.sealed = sealed
    if logs:
        channel.logs = list(logs)
    else:
        channel.files, channel.extra = list(files), list(extra)
    channel.number = int(number)
    channel.begin = machine.operations.stamp(machine.shared[stamp.rstrip()])
    channel.open = True
    channels.filled(channel)
    machine.number += 3 + inputs.count("\n")
    return True


def _sealed(machine: Machine, inputs: str) -> Inputs:
    """Return what goes into a set, and keep it for the sets that have the same."""
    if inputs.startswith("input arc"):
        numbers = dict.fromkeys(_LOG.findall(inputs))
        sealed: Inputs = (), tuple(ArchivedLog(int(thread), int(sequence)) for thread, sequence in numbers), ()
    else:
        files = dict.fromkeys(_INPUT.findall(inputs))
        found = tuple(Datafile(int(file), path.rstrip()) for file, path in files)
        sealed = found, (), tuple(_INCLUDED.findall(inputs))
    if len(machine.inputs) < _MOST_SHARED:
        machine.inputs[inputs] = sealed
    return sealed


def _ended(machine: Machine, found: re.Match[str]) -> bool:
    channels = machine.channels
    name, digits, stamp, handle, tag, comment, hours, minutes, seconds = found.group(1, 2, 3, 4, 5, 6, 7, 8, 9)
    channel = channels.by_name.get(name)
    number = int(digits)
    if channel is None or channels.awaiting or channel.done or not channel.open or channel.number != number:
        return False
    stamp = stamp.rstrip()
    took = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    files, logs, extra = channel.sealed or (tuple(channel.files), tuple(channel.logs), tuple(channel.extra))
    if (
        len(files) != len(channel.files)
        or len(logs) != len(channel.logs)
        or len(extra) != len(channel.extra)
        or " with " in stamp
    ):
        return False
    channel.busy += took
    machine.identity.file(handle)
    shared = machine.shared
    channels.pieces.append(
        BackupPiece(
            channel.name, channel.set_type or "", files, logs, extra, channel.section, number,
            channel.begin, machine.operations.stamp(shared[stamp]), took, handle, shared[tag],
            shared[comment.rstrip()], (), None, channels.operation,
        )
    )  # fmt: skip
    channels.settled(channel)
    machine.number += 3
    return True


# -- the log ----------------------------------------------------------------------------------------------------
def read_log(lines: Iterable[str]) -> Log:
    """Read the lines of a log that must be that of a whole session.

    Args:
        lines: of any client from 10g to 26ai, whatever stands around them; read once, none is kept.

    Returns:
        What they say. `recognised` is False when no line was RMAN's.
    """
    return _read(blocks_of_lines(lines))


def read_file(file: BinaryIO, *, whole: bool = False) -> Log:
    """Read a log from the bytes of its file, as `read_log` does.

    Args:
        file: The file, opened for reading bytes.
        whole: It must show the end of its session, which the notes of one command and its answer do not. Else it
            may be an excerpt: what it shows is judged.
    """
    return _read(blocks_of(file), may_be_excerpt=not whole, must_end=whole)


def _read(blocks: Iterable[str], *, may_be_excerpt: bool = False, must_end: bool = False) -> Log:
    machine = Machine()
    feed_all(machine, blocks)
    machine.end()
    missing = list(dict.fromkeys(_missing(machine)))
    excerpt = list(dict.fromkeys(machine.sessions.excerpt))
    ended = _commanded(machine) or machine.sessions.ended_lists
    if not (may_be_excerpt and ended and not missing):
        missing, excerpt = [*missing, *excerpt], []
    if not missing:
        notes = list(dict.fromkeys(machine.sessions.notes))
        missing, excerpt = (notes, excerpt) if must_end else ([], [*excerpt, *notes])
    return _log(machine, tuple(missing), tuple(excerpt))


def _log(state: LogState, missing: tuple[str, ...], excerpt: tuple[str, ...]) -> Log:
    channels, faults, identity = state.channels, state.faults, state.identity
    db_name, source = identity.database
    stamps = list(state.operations.stamps)
    pieces = sized_pieces(_timed(channels.pieces, stamps), state.listing.pieces)
    return Log(
        db_name=db_name,
        db_name_source=source,
        dbid=identity.dbid,
        version=identity.version,
        outcome=_outcome(state, whole=not missing),
        channels=tuple(channels.by_name),
        operations=state.operations.all,
        pieces=pieces,
        unfinished=channels.unfinished,
        reads=sized_reads(channels.reads, state.listing.files),
        autobackup_handles=state.operations.autobackups,
        errors=faults.errors,
        causes=faults.causes,
        warnings=faults.warnings,
        corrupt=state.corrupt,
        missing=missing,
        excerpt=excerpt,
        corrected=_corrected(state),
        channel_busy_seconds={name: channel.busy for name, channel in channels.by_name.items()},
        recognised=_recognised(state),
        lines=state.number,
        done={name: count for name, count in state.done.items() if name and count},
        reports=state.reports.all,
    )


def _recognised(state: LogState) -> bool:
    rman = any(one.code.startswith("RMAN") for one in [*state.faults.errors, *state.faults.warnings])
    sessions = state.sessions
    return bool(
        rman
        or sessions.has_banner
        or sessions.connected
        or sessions.typed
        or state.operations.all
        or state.channels.by_name
    )


def _missing(state: LogState) -> list[str]:
    missing = list(state.sessions.missing)
    if any(one.finish is None for one in state.operations.all) and not state.faults.stacks:
        missing.append("an operation started, but its end is not in the log")
    if any(one.start is None for one in state.operations.all):
        missing.append("an operation ended, but its start is not in the log")
    return missing


def _outcome(state: LogState, *, whole: bool) -> LogOutcome:
    faults = state.faults
    if faults.stacks and not _corrected(state):
        return LogOutcome.FAILED
    if not (faults.stacks or faults.errors) and _recognised(state) and not _worked(state):
        return LogOutcome.NOTHING_DONE
    lost = state.channels.unfinished
    if faults.errors and not faults.stacks and not _made_good(state):
        return LogOutcome.FAILED
    if not whole or not _recognised(state) or (lost and not faults.errors):
        return LogOutcome.INCOMPLETE
    if faults.errors or faults.warnings or state.corrupt:
        return LogOutcome.COMPLETED_WITH_WARNINGS
    return LogOutcome.COMPLETED


def _commanded(state: LogState) -> bool:
    """Whether an operation was begun that is a command: an implicit crosscheck is a part of another."""
    return any(not one.op.startswith("implicit ") for one in state.operations.all)


def _worked(state: LogState) -> bool:
    """Whether anything was begun or done: an operation, a piece, or what RMAN changed without either."""
    return bool(_commanded(state) or state.channels.pieces or state.channels.reads or state.changed)


def _corrected(state: LogState) -> tuple[int, ...]:
    """Return the lines of failed commands that somebody at a prompt corrected: the same was done after each.

    Empty where any failed command was not: a syntax error is corrected by any command that ends well after it.
    """
    operations, failures = state.operations.all, state.faults.stacked
    if not (state.sessions.typed and failures):
        return ()
    for line in failures:
        broken = {one.op for one in operations if one.finish is None and one.line < line}
        done = {one.op for one in operations if one.finish is not None and one.line > line}
        if not done or not broken <= done:
            return ()
    return tuple(failures)


def _made_good(state: LogState) -> bool:
    """Whether everything that a channel lost was done by another."""
    channels = state.channels
    files = {one.file for piece in channels.pieces for one in piece.datafiles}
    logs = {one for piece in channels.pieces for one in piece.archivelogs}
    extra = {one for piece in channels.pieces for one in piece.extra}
    read = {one.file for read in channels.reads for one in read.datafiles}
    return all(
        {one.file for one in piece.datafiles} <= (read if piece.set_type in READING_OPS else files)
        and (channels.pieces or channels.reads)
        and set(piece.archivelogs) <= logs
        and set(piece.extra) <= extra
        for piece in channels.unfinished
    )


def _timed(pieces: Sequence[BackupPiece], stamps: Sequence[str]) -> Sequence[BackupPiece]:
    """Give the pieces of sets of several their own time, where the stamps tell it."""
    if all(piece.elapsed_seconds is not None for piece in pieces):
        return pieces
    read = parser(stamps)
    return [piece if piece.elapsed_seconds is not None else _between(piece, read) for piece in pieces]


def _between(piece: BackupPiece, read: object) -> BackupPiece:
    assert callable(read)
    if piece.start is None or piece.finish is None or not has_time(piece.start):
        return piece
    begin, end = read(piece.start), read(piece.finish)
    if not isinstance(begin, datetime) or not isinstance(end, datetime) or end < begin:
        return piece
    return piece._replace(elapsed_seconds=round((end - begin).total_seconds()))


def causes_first(log: Log) -> list[RmanMessage]:
    """Return the errors of a log with those in front that say why."""
    causes = set(log.causes)
    return [*dict.fromkeys(log.causes), *(one for one in log.errors if one not in causes)]
