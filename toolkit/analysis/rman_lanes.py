"""The channels of an RMAN log on a clock."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from toolkit.analysis.lanes import LaneBar, Lanes, lanes_of
from toolkit.readers.rman.grammar import CHANNELS_WORK
from toolkit.readers.rman.model import BackupPiece, Log
from toolkit.readers.rman.stamps import has_time, of_stamp, parser

_FAILED = re.compile(r"failure of .{1,40}?(?: on (\S+) channel)? at (\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)")
_LONGEST_SPAN = 90 * 86_400
"""Stamps that lie further apart are no one backup's: the format of the dates was not understood."""


def lanes_of_log(log: Log) -> Lanes:
    """Lay the pieces of a log, and what was read back, on a clock.

    Stamps are used when they tell the time of day; otherwise the work of each channel is laid end to end, which
    shows how long each was busy, though not when (`exact` is False then).
    """
    names = [name for name, busy in log.channel_busy_seconds.items() if busy or _wrote(log, name)]
    exact = list(_by_clock(log))
    all_known = len(exact) == len(log.pieces) + len(log.unfinished)
    if all_known and exact and not log.reads and _plausible([bar for _, bar in exact]):
        return _as_printed(_laid(exact, names, exact=True), log)
    return _as_printed(_laid(list(_end_to_end(log)), names, exact=False), log)


Placed = tuple[int | None, LaneBar]
"""A bar with the number of its operation."""


def _laid(placed: Sequence[Placed], names: Sequence[str], *, exact: bool) -> Lanes:
    found = lanes_of((bar for _, bar in placed), names, exact=exact)
    return replace(found, paused_seconds=max(0.0, found.span_seconds - _worked(placed)))


def _worked(placed: Sequence[Placed]) -> float:
    """Return the seconds in which an operation was under way, from its first bar to its last."""
    ends: dict[int | None, tuple[float, float]] = {}
    for operation, (_, _, begin, end, *_) in placed:
        known = ends.get(operation)
        if known is None:
            ends[operation] = begin, end
        elif begin < known[0] or end > known[1]:
            ends[operation] = min(begin, known[0]), max(end, known[1])
    total, until = 0.0, float("-inf")
    for begin, end in sorted(ends.values()):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def _as_printed(found: Lanes, log: Log) -> Lanes:
    """Let a channel be busy for as long as RMAN says: stamps have whole seconds, and differ by one or two.

    A channel that failed has no such time for its last piece; there the clock counts.
    """
    lost = {piece.channel for piece in log.unfinished}
    parts = Counter(piece.channel for piece in log.unfinished if _is_part(piece))
    return replace(
        found,
        lanes=tuple(
            replace(lane, busy_seconds=float(busy)) if (busy := log.channel_busy_seconds.get(lane.name)) and
            lane.name not in lost else replace(lane, parts=min(parts[lane.name], lane.bars))
            for lane in found.lanes
        ),
    )  # fmt: skip


def _is_part(piece: BackupPiece) -> bool:
    """Whether a channel only failed in an operation: the log does not show that it began a piece."""
    return piece.set_type in CHANNELS_WORK and not (piece.start or piece.datafiles or piece.archivelogs)


def _wrote(log: Log, name: str) -> bool:
    """Whether a channel that was never busy belongs into the picture: one of a backup, none of maintenance."""
    return bool(log.pieces or log.unfinished) and "_MAINT_" not in name and "_AUX_" not in name


def _plausible(bars: list[LaneBar]) -> bool:
    return max(bar.end for bar in bars) - min(bar.begin for bar in bars) <= _LONGEST_SPAN


def _by_clock(log: Log) -> Iterator[Placed]:
    stamps = [stamp for piece in log.pieces[:500] for stamp in (piece.start, piece.finish) if stamp]
    read = parser(stamps, [at for piece in log.pieces[:500] if piece.stamp and (at := of_stamp(piece.stamp))])
    known = _Instants(read)
    first = min((begin for piece in log.pieces if (begin := known[piece.start]) is not None), default=0.0)
    labels = _Labels()
    for piece in log.pieces:
        begin, end = known[piece.start], known[piece.finish]
        if begin is not None and end is not None and end >= begin:
            label, took = labels.of(piece), piece.elapsed_seconds
            yield (
                piece.operation,
                LaneBar(piece.channel, label, begin - first, end - first, piece.bytes, True, took),
            )
        elif (late := _stamped(piece, first)) is not None:
            yield piece.operation, late
    if not log.unfinished:
        return
    failed = _Failures(log)
    last = max((end for piece in log.pieces if (end := known[piece.finish]) is not None), default=None)
    for piece in log.unfinished:
        begin = known[piece.start]
        if begin is not None:
            end = max(failed.end(piece.channel, begin) or last or begin, begin)
            yield (
                piece.operation,
                LaneBar(piece.channel, piece_label(piece), begin - first, end - first, good=False),
            )


class _Labels:
    """The labels of pieces, made once for the same files: logs back them up night after night, and share them."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, piece: BackupPiece) -> str:
        """Return the label of a piece; its inputs live as long as its log does, so their identity names them."""
        if piece.section or not piece.datafiles:
            return piece_label(piece)
        key = id(piece.datafiles)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = piece_label(piece)
        return found


class _Instants(dict[str | None, float | None]):
    """The seconds that stamps stand for; None for one without a time of day."""

    def __init__(self, read: Callable[[str], datetime | None]) -> None:
        super().__init__({None: None})
        self._read = read

    def __missing__(self, stamp: str | None) -> float | None:
        at = self._read(stamp) if stamp and has_time(stamp) else None
        value = self[stamp] = None if at is None else at.timestamp()
        return value


class _Failures:
    """When channels and commands failed: stated in one form, whatever the format of dates."""

    def __init__(self, log: Log) -> None:
        self._stated = [(name, at.timestamp()) for name, at in _stated(log)]

    def end(self, channel: str, begin: float) -> float | None:
        """Return when a channel failed that was at work since an instant, or the command that it worked for."""
        own = [at for name, at in self._stated if name == channel and at >= begin]
        whole = [at for name, at in self._stated if name is None and at >= begin]
        return min(own or whole, default=None)


def _stated(log: Log) -> Iterator[tuple[str | None, datetime]]:
    for message in log.errors:
        match = _FAILED.search(message.text)
        if match is not None:
            try:
                yield match[1], datetime.strptime(match[2], "%m/%d/%Y %H:%M:%S")
            except ValueError:
                continue


def failures_of(log: Log) -> Mapping[str, datetime]:
    """Return when each channel failed first, as RMAN-03009 states it: it has the time of day in any log."""
    found: dict[str, datetime] = {}
    for name, at in _stated(log):
        if name is not None:
            found.setdefault(name, at)
    return found


def _stamped(piece: BackupPiece, first: float) -> LaneBar | None:
    """Return the bar of a copy, whose end is in its STAMP; its seconds are counted from `first`."""
    written = of_stamp(piece.stamp) if piece.stamp else None
    if written is None or piece.elapsed_seconds is None:
        return None
    seconds = written.timestamp() - first
    return LaneBar(piece.channel, piece_label(piece), seconds - piece.elapsed_seconds, seconds, piece.bytes)


def _end_to_end(log: Log) -> Iterator[Placed]:
    """Lay the work of each channel end to end, that of each operation behind that of the one before it."""
    work: list[tuple[int | None, str, str, float, int | None, bool]] = [
        *((one.operation, one.channel, piece_label(one), one.elapsed_seconds or 0, one.bytes, True)
          for one in log.pieces),
        *((one.operation, one.channel, one.op, one.elapsed_seconds, one.bytes, True) for one in log.reads),
        *((one.operation, one.channel, piece_label(one), until, None, False)
          for one, until in zip(log.unfinished, _until_failure(log), strict=True)),
    ]  # fmt: skip
    work.sort(key=lambda one: -1 if one[0] is None else one[0])  # stable: in the order of the log within each
    at: dict[str, float] = {}
    before: int | None = None
    from_here = 0.0
    for operation, channel, label, seconds, size, good in work:
        if operation != before:
            before, from_here = operation, max(at.values(), default=0.0)
            at = {}
        begin = at.get(channel, from_here)
        end = at[channel] = begin + seconds if good else max(begin, from_here + seconds)
        yield operation, LaneBar(channel, label, begin, end, size, good)


def _until_failure(log: Log) -> list[float]:
    """Return the seconds from the begin of its operation until each unfinished piece failed; 0 where unknown."""
    if not log.unfinished:
        return []
    failed = _Failures(log)
    starts = [one.start for one in log.operations if one.start]
    known = _Instants(parser([*starts, *(piece.start for piece in log.pieces[:500] if piece.start)]))
    found = []
    for piece in log.unfinished:
        begin = None if piece.operation is None else known[log.operations[piece.operation].start]
        end = None if begin is None else failed.end(piece.channel, begin)
        apart = 0.0 if begin is None or end is None else end - begin
        found.append(apart if apart <= _LONGEST_SPAN else 0.0)
    return found


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
