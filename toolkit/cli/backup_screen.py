"""One RMAN log on one screen: how it ended and why, what was backed up, which channel was late."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from toolkit.analysis.lanes import Lanes
from toolkit.analysis.rman_lanes import piece_label
from toolkit.app.backup_logs import FailureCause, ReadLog
from toolkit.cli.output import WIDTH
from toolkit.readers.rman.model import BackupPiece, Log, LogOutcome
from toolkit.report.safe import clean
from toolkit.units import number, percent, seconds

_VERDICTS = {
    LogOutcome.COMPLETED: "COMPLETED",
    LogOutcome.COMPLETED_WITH_WARNINGS: "COMPLETED WITH WARNINGS",
    LogOutcome.FAILED: "FAILED",
    LogOutcome.INCOMPLETE: "INCOMPLETE: the log does not show a successful end",
}
_MOST_CHANNELS, _MOST_PIECES, _MOST_MESSAGES, _MOST_OPERATIONS = 64, 8, 8, 12
_NAME = 14
_LINES = "-=#"


def screen(read: ReadLog) -> str:
    """Return a log as text of at most 80 columns."""
    log, lanes = read.log, read.lanes
    assert log is not None and lanes is not None
    parts = (
        _head(read, log), _errors(read.causes), _told(read.sentences), _operations(log), _work(log),
        _channels(log, lanes), _gantt(lanes), _slowest(log), _warnings(log),
    )  # fmt: skip
    blocks = ("\n".join(line[:WIDTH].rstrip() for line in part) for part in parts)
    return "\n\n".join(block for block in blocks if block)


def _head(read: ReadLog, log: Log) -> Iterator[str]:
    yield from _folded("", f"RMAN log {clean(read.file)}")
    yield from _folded("  verdict    ", _VERDICTS[log.outcome])
    names = [
        clean(log.db_name) if log.db_name else "",
        f"DBID {log.dbid}" if log.dbid else "",
        f"release {log.version}" if log.version else "",
        "(name taken from its files)" if log.db_name_source == "file names" else "",
    ]
    if any(names):
        yield from _folded("  database   ", ", ".join(filter(None, names)))


def _errors(causes: Sequence[FailureCause]) -> Iterator[str]:
    if causes:
        yield "errors and their causes"
    for cause in causes[:_MOST_MESSAGES]:
        message = cause.message
        yield from _folded("  ", f"{message.code}: {clean(message.text)} (line {message.line:,})")
        if cause.meaning:
            yield from _folded("      ", cause.meaning)
        if cause.advice:
            yield from _folded("      do: ", cause.advice)
    if len(causes) > _MOST_MESSAGES:
        yield f"  and {len(causes) - _MOST_MESSAGES} more: see --json"


def _told(sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield "notes"
    for sentence in sentences[:_MOST_MESSAGES]:
        yield from _folded("  - ", clean(sentence))


def _operations(log: Log) -> Iterator[str]:
    if log.operations:
        yield f"{'operations':<36}{'began':<21} ended"
    for one in log.operations[:_MOST_OPERATIONS]:
        ended = clean(one.finish) if one.finish else "never, in this log"
        yield f"  {clean(one.op)[:33]:<34}{clean(one.start or '?')[:20]:<21} {ended}"
    if len(log.operations) > _MOST_OPERATIONS:
        yield f"  and {len(log.operations) - _MOST_OPERATIONS:,} more: see --json"


def _work(log: Log) -> Iterator[str]:
    kinds = Counter(piece.set_type for piece in log.pieces)
    if kinds:
        kinds_text = ", ".join(f"{count:,} {clean(kind)}" for kind, count in kinds.most_common(6))
        yield from _folded("  pieces     ", kinds_text)
        files = {file.file for piece in log.pieces for file in piece.datafiles}
        logs = {entry for piece in log.pieces for entry in piece.archivelogs}
        extra = dict.fromkeys(what for piece in log.pieces for what in piece.extra)
        held = [
            f"{len(files):,} data files" if files else "",
            f"{len(logs):,} archived logs" if logs else "",
            *extra,
        ]
        yield from _folded("  holding    ", ", ".join(clean(part) for part in held if part))
        tags = list(dict.fromkeys(piece.tag for piece in log.pieces if piece.tag))
        if tags:
            yield from _folded("  tags       ", ", ".join(clean(tag) for tag in tags[:6]))
    if log.autobackup_handles:
        yield from _folded("  autobackup ", clean(log.autobackup_handles[-1]))
    if log.reads:
        read = Counter(one.op for one in log.reads)
        yield from _folded("  read back  ", ", ".join(f"{count:,} sets ({op})" for op, count in read.items()))


def _channels(log: Log, lanes: Lanes) -> Iterator[str]:
    if not lanes.lanes:
        return
    yield f"{'channels':<20}{'pieces':>8}{'busy':>14}{'idle':>14}{'busy, % of all':>16}"
    for lane in lanes.lanes[:_MOST_CHANNELS]:
        busy = float(log.channel_busy_seconds.get(lane.name, 0))
        idle = max(0.0, lanes.span_seconds - lane.busy_seconds)
        share = percent(100 * lane.busy_seconds / lanes.span_seconds) if lanes.span_seconds else "-"
        yield f"  {clean(lane.name)[:18]:<18}{lane.bars:>8}{seconds(busy):>14}{seconds(idle):>14}{share:>16}"
    if len(lanes.lanes) > _MOST_CHANNELS:
        yield f"  and {len(lanes.lanes) - _MOST_CHANNELS} more: see --json"
    if lanes.imbalance is not None and lanes.utilisation is not None:
        yield from _folded(
            "  ",
            f"imbalance {number(lanes.imbalance)} (busiest/mean; 1 is balanced), channels busy "
            f"{percent(100 * lanes.utilisation)} of the time",
        )


def _gantt(lanes: Lanes) -> Iterator[str]:
    """Draw each channel's pieces as a line, with alternating characters to distinguish neighbours."""
    if len(lanes.bars) < 2 or lanes.span_seconds <= 0:
        return
    wide = WIDTH - _NAME - 5
    yield f"{'timeline':<{_NAME + 3}}0{seconds(lanes.span_seconds):>{wide - 1}}"
    for lane in lanes.lanes[:_MOST_CHANNELS]:
        cells = [" "] * wide
        mine = [bar for bar in lanes.bars if bar.lane == lane.name]
        for index, bar in enumerate(mine):
            first = min(wide - 1, int(bar.begin / lanes.span_seconds * wide))
            last = min(wide, max(first + 1, round(bar.end / lanes.span_seconds * wide)))
            cells[first:last] = (_LINES[1 + index % 2] if bar.good else "!") * (last - first)
        yield f"  {clean(lane.name)[:_NAME]:<{_NAME}} {''.join(cells)}"
    if not lanes.exact:
        yield from _folded(
            "  ", "the log does not give every time of day: each channel's work is drawn end to end"
        )


def _slowest(log: Log) -> Iterator[str]:
    timed = [piece for piece in log.pieces if piece.elapsed_seconds is not None]
    slowest = sorted(timed, key=lambda piece: -(piece.elapsed_seconds or 0))[:_MOST_PIECES]
    if slowest:
        yield f"{'slowest pieces':<18}{'time':>14}  what and where"
    for piece in slowest:
        yield f"  {clean(piece.channel)[:15]:<16}{seconds(float(piece.elapsed_seconds or 0)):>14}  {_where(piece)}"


def _where(piece: BackupPiece) -> str:
    room = WIDTH - 34
    label = clean(piece_label(piece))[:24]
    handle = clean(piece.handle or "")
    left = room - len(label) - 1
    return f"{label} {handle if len(handle) <= left else '...' + handle[-(left - 3) :]}"


def _warnings(log: Log) -> Iterator[str]:
    if log.warnings:
        yield "warnings"
    seen = Counter((one.code, one.text) for one in log.warnings)
    codes = Counter(one.code for one in log.warnings)
    shown = 0
    for code, text in seen:
        if shown >= _MOST_MESSAGES:
            yield f"  and {len(seen) - shown:,} more: see --json"
            return
        times = f" ({codes[code]:,} of this code)" if codes[code] > 1 else ""
        if codes[code]:
            yield from _folded("  ", f"{code}: {clean(text)}{times}")
            shown += 1
        codes[code] = 0


def _folded(first: str, text: str) -> Iterator[str]:
    """Return a line, folded at the width of the screen under its own beginning."""
    indent = " " * min(len(first), 13)
    yield from textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent) or [first]
