"""The channels of an RMAN log on a clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from toolkit.analysis.lanes import LaneBar, Lanes, lanes_of
from toolkit.readers.rman.model import BackupPiece, Log
from toolkit.readers.rman.stamps import has_time, of_stamp, parser

_LONGEST_SPAN = 90 * 86_400
"""Stamps that lie further apart are no one backup's: the format of the dates was not understood."""


def lanes_of_log(log: Log) -> Lanes:
    """Lay the pieces of a log, and what was read back, on a clock.

    Stamps are used when they tell the time of day; otherwise the work of each channel is laid end to end, which
    shows how long each was busy, though not when (`exact` is False then).
    """
    names = [name for name, busy in log.channel_busy_seconds.items() if busy or _wrote(log, name)]
    exact = list(_by_clock(log))
    if len(exact) == len(log.pieces) and exact and not log.reads and _plausible(exact):
        return lanes_of(exact, names)
    return lanes_of(_end_to_end(log), names, exact=False)


def _wrote(log: Log, name: str) -> bool:
    """Whether a channel that was never busy belongs into the picture: one of a backup, none of maintenance."""
    return bool(log.pieces or log.unfinished) and "_MAINT_" not in name and "_AUX_" not in name


def _plausible(bars: list[LaneBar]) -> bool:
    return max(bar.end for bar in bars) - min(bar.begin for bar in bars) <= _LONGEST_SPAN


def _by_clock(log: Log) -> Iterator[LaneBar]:
    stamps = [stamp for piece in log.pieces[:500] for stamp in (piece.start, piece.finish) if stamp]
    read = parser(stamps, [at for piece in log.pieces[:500] if piece.stamp and (at := of_stamp(piece.stamp))])
    for piece in log.pieces:
        bar = _timed(piece, read(piece.start or ""), read(piece.finish or ""))
        if bar is not None:
            yield bar


def _timed(piece: BackupPiece, begin: datetime | None, end: datetime | None) -> LaneBar | None:
    timed = piece.start and piece.finish and has_time(piece.start) and has_time(piece.finish)
    if timed and begin is not None and end is not None and end >= begin:
        return LaneBar(
            piece.channel, piece_label(piece), begin.timestamp(), max(end.timestamp(), begin.timestamp())
        )
    written = of_stamp(piece.stamp) if piece.stamp else None
    if written is None or piece.elapsed_seconds is None:
        return None
    seconds = written.timestamp()
    return LaneBar(piece.channel, piece_label(piece), seconds - piece.elapsed_seconds, seconds)


def _end_to_end(log: Log) -> Iterator[LaneBar]:
    at: dict[str, float] = {}
    work: Iterable[tuple[str, str, int]] = [
        *((piece.channel, piece_label(piece), piece.elapsed_seconds or 0) for piece in log.pieces),
        *((one.channel, one.op, one.elapsed_seconds) for one in log.reads),
    ]
    for channel, label, seconds in work:
        begin = at.get(channel, 0.0)
        at[channel] = begin + seconds
        yield LaneBar(channel, label, begin, begin + seconds)


def piece_label(piece: BackupPiece) -> str:
    """Say what a piece holds in a few words: `file 3`, `files 1, 4 and 2 more`, `log 1/77`, `control file`."""
    if piece.datafiles:
        numbers = [str(one.file) for one in piece.datafiles]
        more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
        part = f" part {piece.piece_no}" if piece.section else ""
        return f"file{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:3])}{more}{part}"
    if piece.archivelogs:
        first = piece.archivelogs[0]
        more = f" and {len(piece.archivelogs) - 1} more" if len(piece.archivelogs) > 1 else ""
        return f"log {first.thread}/{first.sequence}{more}"
    return ", ".join(piece.extra) or piece.set_type or "piece"
