"""Rows of a file on their way into PostgreSQL: COPY FROM STDIN, and what becomes of bad rows.

The server ends a COPY at the first bad row and tells its line. Where bad rows may be left out the rows are then
sent again in small batches, each behind a savepoint: the row of the line is kept aside, and what was around it is
sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from toolkit import resources
from toolkit.model.protocols import At, DatabaseError
from toolkit.model.transfers import RejectedRow, Stream, line_of

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow

_BATCH_ROWS = 1000
_PLACE = re.compile(r"^COPY .+?, [^\W\d]+ (\d+)(?:, [^\W\d]+ ([^:]+))?(?::|$)", re.MULTILINE)
"""In the context of an error, whatever the server's language: `COPY lines, line 3, column price: "x"`."""
_KEY = re.compile(r"\(([^()]+)\)=\(")
"""The columns of a key that is there already, whatever the server's language: `Key (id)=(7) already exists.`"""
_Record = tuple[int, bytes]


def place_of(error: psycopg.Error) -> At | None:
    """Return the line of a COPY that an error was met in; None where it tells none."""
    found = _PLACE.search(error.diag.context or "")
    if found is None:
        return None
    key = _KEY.search(error.diag.message_detail or "")
    column = error.diag.column_name or found[2] or (key[1] if key else "")
    return At(int(found[1]), column, by_copy=True)


def copied(session: psycopg.Connection[TupleRow], text: str, stream: Stream) -> int:
    """Send a chunk.

    Returns:
        How many rows were loaded.

    Raises:
        psycopg.Error: of the server.
        DatabaseError: too many rows were bad.
    """
    transfer = stream.transfer
    if not transfer.max_rejects:
        return _sent(session, text, stream)
    rows = _behind_savepoint(session, text, stream.blocks())
    return rows if isinstance(rows, int) else _in_batches(session, text, stream)


def _sent(session: psycopg.Connection[TupleRow], text: str, stream: Stream) -> int:
    """Send a chunk; of a quote that is not closed the server tells the end of the file, and we its beginning."""
    import psycopg

    try:
        return _send(session, text, stream.blocks())
    except psycopg.errors.BadCopyFileFormat as error:
        line = _open_quote(stream)
        if line is None:
            raise
        why = error.diag.message_primary or str(error)
        raise DatabaseError(why, code=error.sqlstate or "", at=At(line)) from None


def _open_quote(stream: Stream) -> int | None:
    """Return the line of the record whose quote is not closed; None where all are."""
    quote, last = stream.transfer.style.quote.encode(), None
    for last in stream.records():  # noqa: B007 (the last one is looked at)
        pass
    return line_of(last) if last and quote and last[1].count(quote) & 1 else None


def _send(session: psycopg.Connection[TupleRow], text: str, blocks: Iterable[bytes]) -> int:
    with session.cursor() as cursor:
        with cursor.copy(text.encode()) as copy:
            for block in blocks:
                copy.write(block)
        return cursor.rowcount


def _behind_savepoint(
    session: psycopg.Connection[TupleRow], text: str, blocks: Iterable[bytes]
) -> int | psycopg.Error:
    """Send rows; return the error where the server tells the line of it, so that the transaction goes on."""
    import psycopg

    session.execute(_statement("rows_savepoint"))
    try:
        rows = _send(session, text, blocks)
    except psycopg.Error as error:
        if session.closed or place_of(error) is None:
            raise
        session.execute(_statement("rows_rollback"))
        return error
    session.execute(_statement("rows_release"))
    return rows


def _in_batches(session: psycopg.Connection[TupleRow], text: str, stream: Stream) -> int:
    rows, records = 0, stream.records()
    while batch := list(islice(records, _BATCH_ROWS)):
        waiting: list[Sequence[_Record]] = [batch]
        while waiting:
            some = waiting.pop()
            found = _behind_savepoint(session, text, [b"".join(record for _, record in some)]) if some else 0
            if isinstance(found, int):
                rows += found
                continue
            at = place_of(found)
            assert at is not None
            bad = _index_of(some, at.line)
            if bad is None:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
                continue
            stream.reject(_rejected(some[bad], at, found))
            waiting += [some[bad + 1 :], some[:bad]]
    return rows


def _index_of(records: Sequence[_Record], line: int) -> int | None:
    """Return which record has a line that was counted from the first of them; None where that is not sure.

    How many lines a record has that holds line ends itself, the server and we may count differently.
    """
    if len(records) == 1:
        return 0
    plain = all(text.find(b"\n") == len(text) - 1 and b"\r" not in text[:-2] for _, text in records[:-1])
    return line - 1 if plain and line <= len(records) else None


def _rejected(record: _Record, at: At, error: psycopg.Error) -> RejectedRow:
    reason = error.diag.message_primary or str(error)
    detail = f" ({error.diag.message_detail})" if error.diag.message_detail else ""
    text = record[1].decode(errors="backslashreplace").rstrip("\r\n")
    return RejectedRow(line_of(record), at.column, reason + detail, text)


def _statement(name: str) -> bytes:
    return resources.sql_text(f"postgresql/{name}.sql").encode()
