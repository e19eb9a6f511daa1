"""A log of RMAN as rows of evidence: how it ended, its channels, and its pieces on the trial's clock."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolkit.analysis.rman_sentences import crosschecked, report_sentence
from toolkit.model.protocols import DatabaseError, OutputLine
from toolkit.model.values import Row
from toolkit.readers.rman.log import causes_first, read_log
from toolkit.readers.rman.model import BackupPiece, Log, LogOutcome, RestoreRead

LOG, CHANNELS, PIECES, REPORTS = "rman", "rman_channels", "rman_pieces", "rman_reports"
_MOST_NAMED = 4
_CHANNEL = re.compile(r"channel (\S+): (.*)$")
_BEGINS = ("starting piece", "starting validation", "reading from backup piece", "restoring", "starting ")
_ENDS = ("finished piece", "backup set complete", "validation complete", "restore complete")
_FAILED_CHANNEL = re.compile(r"channel (\S+) disabled, job failed on it")

Span = tuple[float, float]


def rows_of(lines: Sequence[OutputLine]) -> dict[str, tuple[Row, ...]]:
    """Return what a log tells, under `rman`, `rman_channels`, `rman_pieces` and, of reports, `rman_reports`."""
    log = read_log(line.text for line in lines)
    if not log.recognised:
        return {}
    lost = {found[1] for line in lines if (found := _FAILED_CHANNEL.search(line.text))}
    pieces = tuple(_pieces(log, lines))
    return {
        LOG: (_summary(log, lost),),
        CHANNELS: tuple(
            {
                "channel": name,
                "busy_seconds": _busy(name, pieces, log),
                "items": sum(1 for row in pieces if row["channel"] == name),
                "is_lost": "yes" if name in lost else "no",
            }
            for name in log.channels
        ),
        PIECES: pieces,
        **({REPORTS: told} if (told := tuple(_reports(log))) else {}),
    }


_NOT_WHOLE = {LogOutcome.FAILED, LogOutcome.INCOMPLETE, LogOutcome.NOTHING_DONE}


def not_whole(rows: Iterable[Row]) -> DatabaseError | None:
    """Return an error where a log does not say that all went well to its end."""
    row = next(iter(rows), None)
    if row is None or row.get("outcome") not in _NOT_WHOLE:
        return None
    text = str(row.get("cause") or row.get("missing") or "the log is incomplete")
    return DatabaseError(text, code=str(row["outcome"]), headline=f"RMAN's log says `{row['outcome']}`: {text}")


def _summary(log: Log, lost: set[str]) -> Row:
    causes = causes_first(log)
    warned = [f"{each.code}: {each.text}" for each in log.warnings]
    return {
        "outcome": log.outcome.value,
        "db_name": log.db_name,
        "dbid": log.dbid,
        "version": log.version,
        "channel_count": len(log.channels),
        "lost_channels": len(lost),
        "is_serial": "yes" if log.downgraded else "no",
        "cause": f"{causes[0].code}: {causes[0].text}" if causes else None,
        "warnings": "; ".join(dict.fromkeys(warned)) or None,
        "corrupt": ", ".join(map(str, log.corrupt)) or None,
        "missing": "; ".join(log.missing) or None,
        "autobackups": ", ".join(log.autobackup_handles) or None,
    }


def _reports(log: Log) -> Iterator[Row]:
    """Yield each report with its count and its sentence, after what a crosscheck found."""
    for sentence in crosschecked(log):
        yield {"kind": "crosscheck", "count": None, "sentence": sentence}
    for report in log.reports:
        yield {"kind": report.kind.value, "count": report.count, "sentence": report_sentence(report)}


def _busy(channel: str, pieces: Sequence[Row], log: Log) -> float:
    """Return the seconds a channel worked: as the clock saw its pieces, else as the log says it."""
    own = [row.get("elapsed_seconds") for row in pieces if row["channel"] == channel]
    seen = [float(each) for each in own if isinstance(each, int | float)]
    return sum(seen) if seen else float(log.channel_busy_seconds.get(channel, 0))


def _pieces(log: Log, lines: Sequence[OutputLine]) -> Iterator[Row]:
    """Yield each piece, or what was read back, with its place on the clock: the n-th of its channel."""
    spans = _spans(lines)
    turns: dict[str, int] = defaultdict(int)
    parts: list[BackupPiece | RestoreRead] = [*log.pieces, *log.reads]
    if not parts:
        yield from _sets(spans)
    for part in parts:
        mine, turn = spans.get(part.channel, []), turns[part.channel]
        turns[part.channel] += 1
        begin, end = mine[turn] if turn < len(mine) else (None, None)
        elapsed = end - begin if begin is not None and end is not None else part.elapsed_seconds
        yield {
            "channel": part.channel,
            "label": _label(part),
            "handle": getattr(part, "handle", None),
            "datafiles": _numbers(part) or None,
            "begin_seconds": begin,
            "elapsed_seconds": elapsed,
        }


def _sets(spans: Mapping[str, Sequence[Span]]) -> Iterator[Row]:
    """Yield the sets of a validation, which leave no pieces: only their channels' lines tell of them."""
    begun = sorted((begin, end, channel) for channel, each in spans.items() for begin, end in each)
    for number, (begin, end, channel) in enumerate(begun, start=1):
        yield {
            "channel": channel, "label": f"set {number}", "handle": None, "begin_seconds": begin,
            "elapsed_seconds": end - begin,
        }  # fmt: skip


def _spans(lines: Sequence[OutputLine]) -> dict[str, list[Span]]:
    """Return when each channel began and ended its pieces, by the instants at which their lines came."""
    spans: dict[str, list[Span]] = defaultdict(list)
    begun: dict[str, float] = {}
    for line in lines:
        found = _CHANNEL.search(line.text)
        if found is None:
            continue
        channel, text = found[1], found[2]
        if text.startswith("starting piece"):
            begun[channel] = line.at_seconds
        elif text.startswith(_BEGINS):
            begun.setdefault(channel, line.at_seconds)
        elif text.startswith(_ENDS) and channel in begun:
            spans[channel].append((begun.pop(channel), line.at_seconds))
    return spans


def _numbers(part: BackupPiece | RestoreRead) -> str:
    return ", ".join(str(file.file) for file in part.datafiles)


def _label(part: BackupPiece | RestoreRead) -> str:
    """Name a piece by its file and what is in it."""
    count = len(part.datafiles)
    files = f"data files {_numbers(part) if count <= _MOST_NAMED else f'({count})'}" if count else ""
    if isinstance(part, BackupPiece) and part.handle:
        name = part.handle.rpartition("/")[2]
        return f"{name}: {files}" if files else name
    if files:
        return files
    handles = part.handles if isinstance(part, RestoreRead) else part.extra
    return ", ".join(handles) or (part.op if isinstance(part, RestoreRead) else part.set_type)
