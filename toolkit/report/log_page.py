"""RMAN logs as one page: verdict, picture of the channels, pieces, messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from toolkit.analysis.lanes import Lanes
from toolkit.analysis.rman_lanes import piece_label
from toolkit.readers.rman.model import BackupPiece, Log, LogOutcome, RmanMessage
from toolkit.report.backup_charts import lanes_chart, lanes_table
from toolkit.report.chart import Chart
from toolkit.report.html import render_page
from toolkit.report.safe import clean
from toolkit.report.tables import Table, left, right, table
from toolkit.units import seconds

_MOST_PIECES, _MOST_MESSAGES = 5000, 500
_HEADLINES = {
    LogOutcome.COMPLETED: "completed",
    LogOutcome.COMPLETED_WITH_WARNINGS: "completed with warnings",
    LogOutcome.FAILED: "failed",
    LogOutcome.INCOMPLETE: "incomplete: the log does not show a successful end",
    LogOutcome.NOTHING_DONE: "nothing done: no operation is in this log",
}

_LOOKS = {LogOutcome.COMPLETED: "", LogOutcome.FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class LogView:
    """A log as a reader sees it, every text clean."""

    name: str
    title: str
    """What it is a log of: the database and the day, and how it ended."""
    database: str
    headline: str
    look: str
    """`failed`, `partly` where something is missing, or nothing."""
    told: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    chart: Chart | None
    channels: Table
    operations: Table
    pieces: Table
    messages: Table


def log_page(logs: Sequence[tuple[str, Log, Lanes, Sequence[str]]]) -> str:
    """Return the page of logs.

    Args:
        logs: file, log, its lanes, and the sentences to read first.
    """
    names = Counter(PurePath(file).name for file, *_ in logs)
    views = [_view(file, log, lanes, sentences, names) for file, log, lanes, sentences in logs]
    title = f"RMAN log {views[0].title}" if len(views) == 1 else f"{len(views)} RMAN logs"
    return render_page("report/log.html.j2", title=title, logs=views)


def _title(file: str, log: Log) -> str:
    """Name a log so that a reader knows it a year later; by its file where it names no database."""
    began = next((one.start for one in log.operations if one.start), None)
    of = f"of {log.db_name}" if log.db_name else PurePath(file).name
    return clean(f"{of}{f', {began}' if began else ''}: {_HEADLINES[log.outcome].partition(':')[0]}")


def _view(file: str, log: Log, lanes: Lanes, sentences: Sequence[str], names: Mapping[str, int]) -> LogView:
    name = PurePath(file).name
    return LogView(
        name=clean(name if names[name] == 1 else file),
        title=_title(file, log),
        database=clean(log.db_name or (f"DBID {log.dbid}" if log.dbid else "unknown")),
        headline=_HEADLINES[log.outcome],
        look=_LOOKS.get(log.outcome, "partly"),
        told=tuple(clean(sentence) for sentence in sentences),
        facts=(*_facts(log), ("file", clean(file))),
        chart=lanes_chart(lanes, "Channels and their pieces"),
        channels=lanes_table(lanes),
        operations=_operations(log),
        pieces=_pieces([*log.unfinished, *log.pieces], len(log.unfinished)),
        messages=_messages([*log.errors, *log.warnings], len(log.errors)),
    )


def _facts(log: Log) -> list[tuple[str, str]]:
    found = [
        ("database", log.db_name), ("DBID", str(log.dbid) if log.dbid else None), ("release", log.version),
        ("pieces", f"{len(log.pieces):,}" if log.pieces else None),
        ("autobackup", ", ".join(log.autobackup_handles[-3:]) or None),
    ]  # fmt: skip
    return [(label, clean(text)) for label, text in found if text]


def _operations(log: Log) -> Table:
    rows = ([one.op, one.start or "not in this log", one.finish or "never, in this log"] for one in log.operations)
    marks = ("" if one.finish else "partly" for one in log.operations)
    return table("Operations", left("operation", "began", "ended"), rows, marks)


def _pieces(pieces: Sequence[BackupPiece], lost: int) -> Table:
    shown = pieces[:_MOST_PIECES]
    caption = "Pieces, unfinished first" if lost else "Pieces"
    if len(shown) < len(pieces):
        caption += f"; the first {len(shown):,} of {len(pieces):,}"
    rows = (
        [
            piece.channel, piece_label(piece), piece.set_type, piece.start or "", piece.finish or "",
            seconds(float(piece.elapsed_seconds)) if piece.elapsed_seconds is not None else "unknown",
            piece.tag or "", piece.handle or "no handle",
        ]
        for piece in shown
    )  # fmt: skip
    columns = [*left("channel", "holds", "set", "began", "ended"), *right("time"), *left("tag", "handle")]
    return table(caption, columns, rows, ("partly" if number < lost else "" for number in range(len(shown))))


def _messages(messages: Sequence[RmanMessage], errors: int) -> Table:
    shown = messages[:_MOST_MESSAGES]
    rows = ([one.code, one.text, f"{one.line:,}"] for one in shown)
    marks = ("failed" if number < errors else "" for number in range(len(shown)))
    return table("Errors and warnings", [*left("code", "text"), *right("line")], rows, marks)
