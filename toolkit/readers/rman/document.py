"""A log as the JSON document of `dbatk backup read --json`."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.readers.rman.model import BackupPiece, Log, RestoreRead, RmanMessage, RmanOperation

JsonValue = object


def log_document(log: Log, file: str, *, whole: bool = True) -> dict[str, JsonValue]:
    """Return the document of a log; what it does not say is null.

    Args:
        whole: False leaves the list of pieces empty, for those who write it bit by bit.
    """
    return {
        "file": file,
        "db_name": log.db_name,
        "db_name_source": log.db_name_source,
        "dbid": log.dbid,
        "version": log.version,
        "outcome": log.outcome.value,
        "downgraded": log.downgraded,
        "channels": list(log.channels),
        "operations": [_operation(one) for one in log.operations],
        "pieces": [piece_document(piece) for piece in log.pieces] if whole else [],
        "unfinished": [piece_document(piece) for piece in log.unfinished],
        "reads": [_reading(one) for one in log.reads],
        "autobackup_handles": list(log.autobackup_handles),
        "errors": _messages(log.errors),
        "causes": _messages(log.causes),
        "warnings": _messages(log.warnings),
        "corrupt_datafiles": list(log.corrupt),
        "missing": list(log.missing),
        "channel_busy_seconds": dict(log.channel_busy_seconds),
    }


def piece_document(piece: BackupPiece) -> dict[str, JsonValue]:
    """Return one piece."""
    section = piece.section
    return {
        "channel": piece.channel,
        "set_type": piece.set_type,
        "datafiles": [{"file": one.file, "name": one.name} for one in piece.datafiles],
        "archivelogs": [{"thread": one.thread, "sequence": one.sequence} for one in piece.archivelogs],
        "extra": list(piece.extra),
        "section": section and {"first_block": section.first_block, "last_block": section.last_block},
        "piece_no": piece.piece_no,
        "start": piece.start,
        "finish": piece.finish,
        "elapsed_seconds": piece.elapsed_seconds,
        "handle": piece.handle,
        "tag": piece.tag,
        "comment": piece.comment,
        "copies": list(piece.copies),
    }


def _operation(one: RmanOperation) -> dict[str, JsonValue]:
    return {"op": one.op, "start": one.start, "finish": one.finish, "line": one.line}


def _reading(one: RestoreRead) -> dict[str, JsonValue]:
    return {
        "channel": one.channel,
        "op": one.op,
        "handles": list(one.handles),
        "datafiles": [{"file": file.file, "name": file.name} for file in one.datafiles],
        "elapsed_seconds": one.elapsed_seconds,
    }


def _messages(messages: Sequence[RmanMessage]) -> list[JsonValue]:
    return [{"code": one.code, "text": one.text, "line": one.line} for one in messages]
