"""Parquet files, read by DuckDB whatever the target is: their layout, and their rows as CSV text."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.dialects.duckdb.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError

_PIPE_BYTES = 256 * 1024
_BYTES_AS_TEXT = "'\\x' || hex({})"
"""As PostgreSQL reads bytes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns with their types, and how many rows each row group has."""

    columns: tuple[tuple[str, str], ...]
    groups: tuple[int, ...]


def layout_of(path: str) -> Layout:
    """Read what the foot of a file says.

    Raises:
        ToolkitError: TK-0106 when it cannot be read.
    """
    import duckdb

    try:
        with duckdb.connect(":memory:") as session:
            described = session.execute("DESCRIBE SELECT * FROM read_parquet($path)", {"path": path}).fetchall()
            groups = session.execute(
                "SELECT max(row_group_num_rows) FROM parquet_metadata($path) GROUP BY row_group_id "
                "ORDER BY row_group_id",
                {"path": path},
            ).fetchall()
    except duckdb.Error as error:
        sentence = str(error).strip().splitlines()[0]
        raise ToolkitError(
            f"`{path}` cannot be read as parquet: {sentence}", code="TK-0106", hint="check that the file is whole"
        ) from None
    return Layout(tuple((str(row[0]), str(row[1])) for row in described), tuple(int(row[0]) for row in groups))


def as_csv(path: str, first: int, end: int | None) -> Iterator[bytes]:
    """Yield rows of a file as CSV text: nothing for NULL, quotes around empty texts.

    Args:
        path: of the file.
        first: number of the first row, from 0.
        end: number of the row to end before; None for all.

    Raises:
        DatabaseError: the file cannot be read.
    """
    import duckdb

    read, write = os.pipe()
    failed: list[str] = []
    listed = ", ".join(_spelled(name, of_type) for name, of_type in layout_of(path).columns)
    where = f"WHERE file_row_number >= {first:d}" + (f" AND file_row_number < {end:d}" if end is not None else "")
    text = (  # names and texts are quoted by the dialect
        f"COPY (SELECT {listed} FROM read_parquet({DIALECT.literal(path)}, file_row_number = true) {where}) "  # noqa: S608
        f"TO '/dev/fd/{write:d}' (FORMAT csv, HEADER false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '')"
    )

    def send() -> None:
        try:
            with duckdb.connect(":memory:") as session:
                session.execute("SET TimeZone = 'UTC'")
                session.execute(text)
        except duckdb.Error as error:
            failed.append(str(error).strip().splitlines()[0])
        finally:
            os.close(write)

    sender = threading.Thread(target=send, daemon=True, name="parquet")
    sender.start()
    try:
        while block := os.read(read, _PIPE_BYTES):
            yield block
    finally:
        os.close(read)
    sender.join()
    if failed:
        raise DatabaseError(f"`{path}` cannot be read: {failed[0]}", code="TK-0106")


def _spelled(column: str, of_type: str) -> str:
    name = DIALECT.quote(column)
    return _BYTES_AS_TEXT.format(name) if of_type == "BLOB" else name
