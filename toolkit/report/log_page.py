"""RMAN logs as one page: verdict, picture of the channels, pieces, messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    file: str
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
    views = [_view(file, log, lanes, sentences) for file, log, lanes, sentences in logs]
    title = f"RMAN log {views[0].file}" if len(views) == 1 else f"{len(views)} RMAN logs"
    return render_page("report/log.html.j2", title=title, logs=views)


def _view(file: str, log: Log, lanes: Lanes, sentences: Sequence[str]) -> LogView:
    return LogView(
        file=clean(file),
        headline=_HEADLINES[log.outcome],
        look=_LOOKS.get(log.outcome, "partly"),
        told=tuple(clean(sentence) for sentence in sentences),
        facts=tuple(_facts(log)),
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
