"""One RMAN log on one screen: how it ended and why, what was backed up, which channel was late."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from toolkit.analysis.lanes import Lanes
from toolkit.analysis.rman_lanes import piece_label
from toolkit.analysis.rman_sentences import rate_of
from toolkit.app.backup_logs import FailureCause, ReadLog
from toolkit.readers.rman.model import Log, LogOutcome
from toolkit.report.safe import clean
from toolkit.terminal import line_width, width
from toolkit.units import byte_size, percent, quantity, seconds

_VERDICTS = {
    LogOutcome.COMPLETED: "COMPLETED",
    LogOutcome.COMPLETED_WITH_WARNINGS: "COMPLETED WITH WARNINGS",
    LogOutcome.FAILED: "FAILED",
    LogOutcome.INCOMPLETE: "INCOMPLETE: the log does not show a successful end",
    LogOutcome.NOTHING_DONE: "NOTHING DONE: no operation is in this log",
}
_MOST_CHANNELS, _MOST_PIECES, _MOST_MESSAGES, _MOST_OPERATIONS = 64, 8, 8, 12
_NAME = 14
_OPERATION, _STAMP = 34, 20
_LINES = "-=#"


def screen(read: ReadLog) -> str:
    """Return a log as text of at most 80 columns."""
    log, lanes = read.log, read.lanes
    assert log is not None and lanes is not None
    parts = (
        _head(read, log), _errors(read.causes), _told(read.sentences), _operations(log), _work(log),
        _channels(log, lanes), _gantt(lanes), _slowest(log), _warnings(log),
    )  # fmt: skip
    blocks = ("\n".join(line.rstrip() for line in part) for part in parts)
    return "\n\n".join(block for block in blocks if block)


def _head(read: ReadLog, log: Log) -> Iterator[str]:
    yield from _folded("", f"RMAN log {clean(read.file)}")
    yield from _folded("  verdict    ", _VERDICTS[log.outcome])
    source = " (name taken from its files)" if log.db_name_source == "file names" else ""
    names = [
        f"{clean(log.db_name)}{source}" if log.db_name else "",
        f"DBID {log.dbid}" if log.dbid else "",
        f"release {log.version}" if log.version else "",
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
    side_by_side = line_width() >= len("  ") + _OPERATION + 1 + _STAMP + 1 + _STAMP
    if log.operations:
        yield f"{'operations':<37}{'began':<21} ended" if side_by_side else "operations"
    for one in log.operations[:_MOST_OPERATIONS]:
        op, began, ended = clean(one.op), clean(one.start or "?"), clean(one.finish or "never, in this log")
        if side_by_side and len(op) <= _OPERATION and len(began) <= _STAMP and len(ended) <= _STAMP:
            yield f"  {op:<{_OPERATION + 1}}{began:<{_STAMP + 1}} {ended}"
        else:
            yield from _folded("  ", op)
            yield from _folded("      began ", began)
            yield from _folded("      ended ", ended)
    if len(log.operations) > _MOST_OPERATIONS:
        yield f"  and {len(log.operations) - _MOST_OPERATIONS:,} more: see --json"


def _work(log: Log) -> Iterator[str]:
    kinds = Counter(piece.set_type for piece in log.pieces)
    if kinds:
        kinds_text = ", ".join(f"{count:,} {clean(kind)}" for kind, count in kinds.most_common(6))
        yield from _folded("  pieces     ", kinds_text)
        tags = list(dict.fromkeys(piece.tag for piece in log.pieces if piece.tag))
        if tags:
            yield from _folded("  tags       ", ", ".join(clean(tag) for tag in tags[:6]))
    if log.autobackup_handles:
        yield from _folded("  autobackup ", clean(log.autobackup_handles[-1]))


def _channels(log: Log, lanes: Lanes) -> Iterator[str]:
    if not lanes.lanes:
        return
    unknown = "unknown" if log.errors else "cut off"
    known = any(lane.bytes for lane in lanes.lanes)
    wide = max(10, *(len(clean(lane.name)) for lane in lanes.lanes[:_MOST_CHANNELS])) + 2
    amounts = f"{'bytes':>11}{'rate':>13}" if known else ""
    yield f"{'channels':<{wide}}{'pieces':>7}{'busy':>12}{'idle':>12}{'busy share':>11}{amounts}"
    for lane in lanes.lanes[:_MOST_CHANNELS]:
        share = percent(100 * lane.busy_seconds / lanes.work_seconds) if lanes.work_seconds else "-"
        busy, idle = seconds(lane.busy_seconds), seconds(lanes.idle_seconds(lane))
        if lane.bars and not lane.busy_seconds:  # it began, and nothing says when it ended
            busy, idle, share = unknown, unknown, "-"
        rate = rate_of(lane.bytes, lane.busy_seconds)
        amounts = f"{byte_size(lane.bytes):>11}{quantity(rate, 'bytes_per_second'):>13}" if known else ""
        row = f"{lane.pieces:>7}{busy:>12}{idle:>12}{share:>11}{amounts}"
        name = f"  {clean(lane.name)}"
        if wide + len(row) > line_width():  # RMAN's names of channels have at most 30 characters
            yield name
            name = ""
        yield f"{name:<{wide}}{row}" if name else f"{row:>{width()}}"
    if len(lanes.lanes) > _MOST_CHANNELS:
        yield f"  and {len(lanes.lanes) - _MOST_CHANNELS} more: see --json"
    if not log.errors and any(lane.bars and not lane.busy_seconds for lane in lanes.lanes):
        yield from _folded("  ", "cut off: the log ends, or is an excerpt that ends, while these channels work")
    if lanes.paused_seconds > 0:
        yield from _folded("  ", f"idle does not count {seconds(lanes.paused_seconds)} between operations")


def _gantt(lanes: Lanes) -> Iterator[str]:
    """Draw each channel's pieces as a line, with alternating characters to distinguish neighbours."""
    if len(lanes.bars) < 2 or lanes.span_seconds <= 0:
        return
    shown = lanes.lanes[:_MOST_CHANNELS]
    name = max(_NAME, *(len(clean(lane.name)) for lane in shown))
    wide = width() - name - 5
    yield f"{'timeline':<{name + 3}}0{seconds(lanes.span_seconds):>{wide - 1}}"
    for lane in shown:
        cells = [" "] * wide
        mine = [bar for bar in lanes.bars if bar.lane == lane.name]
        for index, bar in enumerate(mine):
            first = min(wide - 1, int(bar.begin / lanes.span_seconds * wide))
            last = min(wide, max(first + 1, round(bar.end / lanes.span_seconds * wide)))
            cells[first:last] = (_LINES[1 + index % 2] if bar.good else "!") * (last - first)
        yield f"  {clean(lane.name):<{name}} {''.join(cells)}"
    lost = ", `!` one that was not finished" if any(not bar.good for bar in lanes.bars) else ""
    legend = f"a row of `=` or `#` is one piece, the two in turn{lost}; the time is from the first to the last"
    yield from _folded("  ", legend)
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
        label, handle = clean(piece_label(piece)), clean(piece.handle or "")
        size = f" ({byte_size(piece.bytes)})" if piece.bytes is not None else ""
        first = f"  {clean(piece.channel):<16}{seconds(float(piece.elapsed_seconds or 0)):>14}  {label}{size}"
        if len(first) + 1 + len(handle) <= line_width():
            yield f"{first} {handle}".rstrip()
        else:
            yield from [first] if len(first) <= line_width() else _folded("  ", first)
            yield from _folded("      ", handle) if handle else ()


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
    """Return a line, folded at the width of the screen under its own beginning; paths are folded at folders."""
    indent = " " * min(len(first), 13)
    line, fresh = first, True
    for word in (part for one in text.split() for part in _parts(one, line_width() - len(indent))):
        plain = word.removeprefix(_GLUE)
        between = "" if fresh or plain != word else " "
        if not fresh and len(line) + len(between) + len(plain) > line_width():
            yield line
            line, between = indent, ""
        line += between + plain
        fresh = False
    yield line


_GLUE = "\0"
"""Before a part of a word that follows the one before it without a blank."""


def _parts(word: str, width: int) -> list[str]:
    """Return a word in parts that fit: cut behind a slash or `_` where it is wider than the screen."""
    if len(word) <= width:
        return [word]
    parts = [part for part in re.split(r"(?<=[/\\_,])", word) if part]
    parts = [one[at : at + width] for one in parts for at in range(0, len(one), width)]
    return [parts[0], *(_GLUE + one for one in parts[1:])]
