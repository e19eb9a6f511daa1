"""A whole log: lines in, a `Log` out, and where its pieces lie on a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import BinaryIO

from toolkit.readers.rman.blocks import blocks_of_lines, feed_all
from toolkit.readers.rman.decode import blocks_of
from toolkit.readers.rman.machine import Machine
from toolkit.readers.rman.model import BackupPiece, Log, LogOutcome, RmanMessage
from toolkit.readers.rman.stamps import has_time, parser


def read_log(lines: Iterable[str]) -> Log:
    """Read the lines of a log.

    Args:
        lines: of any client from 10g to 26ai, whatever stands around them; read once, none is kept.

    Returns:
        What they say. `recognised` is False when no line was RMAN's.
    """
    return _read(blocks_of_lines(lines))


def read_file(file: BinaryIO) -> Log:
    """Read a log as `read_log` does, from the bytes of its file."""
    return _read(blocks_of(file))


def _read(blocks: Iterable[str]) -> Log:
    machine = Machine()
    feed_all(machine, blocks)
    machine.end()
    return _log(machine)


def _log(machine: Machine) -> Log:
    channels, faults, identity = machine.channels, machine.faults, machine.identity
    db_name, source = identity.database
    stamps = list(machine.operations.stamps)
    pieces = _timed(channels.pieces, stamps)
    return Log(
        db_name=db_name,
        db_name_source=source,
        dbid=identity.dbid,
        version=identity.version,
        outcome=_outcome(machine),
        channels=tuple(channels.by_name),
        operations=machine.operations.all,
        pieces=pieces,
        unfinished=channels.unfinished,
        reads=channels.reads,
        autobackup_handles=machine.operations.autobackups,
        errors=faults.errors,
        causes=faults.causes,
        warnings=faults.warnings,
        corrupt=machine.corrupt,
        missing=tuple(dict.fromkeys(_missing(machine))),
        channel_busy_seconds={name: channel.busy for name, channel in channels.by_name.items()},
        recognised=_recognised(machine),
        lines=machine.number,
    )


def _recognised(machine: Machine) -> bool:
    rman = any(one.code.startswith("RMAN") for one in [*machine.faults.errors, *machine.faults.warnings])
    sessions = machine.sessions
    return bool(
        rman or sessions.banners or sessions.connected or machine.operations.all or machine.channels.by_name
    )


def _missing(machine: Machine) -> list[str]:
    missing = list(machine.sessions.missing)
    if any(one.finish is None for one in machine.operations.all) and not machine.faults.stacks:
        missing.append("an operation began and its end is not in the log")
    if not machine.operations.all and not machine.sessions.banners and not machine.sessions.connected:
        missing.append("no operation is in the log")
    if any(one.start is None for one in machine.operations.all):
        missing.append("an operation ended and its beginning is not in the log")
    return missing


def _outcome(machine: Machine) -> LogOutcome:
    faults = machine.faults
    if faults.stacks:
        return LogOutcome.FAILED
    lost = machine.channels.unfinished
    whole = not _missing(machine)
    if faults.errors and not _made_good(machine):
        return LogOutcome.FAILED
    if not whole or not _recognised(machine) or (lost and not faults.errors):
        return LogOutcome.INCOMPLETE
    if faults.errors or faults.warnings or machine.corrupt:
        return LogOutcome.COMPLETED_WITH_WARNINGS
    return LogOutcome.COMPLETED


def _made_good(machine: Machine) -> bool:
    """Whether everything that a channel lost was backed up by another."""
    channels = machine.channels
    files = {one.file for piece in channels.pieces for one in piece.datafiles}
    logs = {one for piece in channels.pieces for one in piece.archivelogs}
    extra = {one for piece in channels.pieces for one in piece.extra}
    return all(
        channels.pieces
        and {one.file for one in piece.datafiles} <= files
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
