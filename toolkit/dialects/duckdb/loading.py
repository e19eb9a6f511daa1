"""Loads of data files: DuckDB reads them itself, with all its threads.

A CSV file is read as a whole, since its reader cannot begin in the middle; parquet by row groups. What is
committed is noted in a table of dbatk by the same transaction, which tells after a crash what is there.
"""

from __future__ import annotations

from toolkit.dialects.duckdb.objects import note, transaction
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.file_columns import ColumnKind, ColumnValues
from toolkit.model.steps import ObjectRef
from toolkit.model.transfers import FileFormat, Transfer
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, SupportState

_TYPES = {
    ColumnKind.NOTHING: "VARCHAR",
    ColumnKind.BOOLEAN: "BOOLEAN",
    ColumnKind.INTEGER: "BIGINT",
    ColumnKind.FLOAT: "DOUBLE",
    ColumnKind.DATE: "DATE",
    ColumnKind.TIMESTAMP: "TIMESTAMP",
    ColumnKind.ZONED_TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
    ColumnKind.BYTES: "BLOB",
    ColumnKind.TEXT: "VARCHAR",
}
_DECIMAL_DIGITS = (18, 38)
"""Widths of a DECIMAL: what 8 bytes hold, and what 16 hold, which is the widest (DuckDB, Numeric Types)."""
_ENCODINGS = {"utf-8": "utf-8", "ascii": "utf-8", "iso8859-1": "latin-1"}


def judge(work: Work) -> Support | None:
    """Say what stands in the way of a load."""
    transfer = work.transfer
    if transfer is None:
        return None
    if transfer.style.encoding not in _ENCODINGS:
        return _refused(
            f"DuckDB reads UTF-8 and Latin-1 here, not {transfer.style.encoding}",
            f"convert it first: iconv -f {transfer.style.encoding} -t utf-8",
        )
    by_bytes = work.option("commit_every") not in (None, "file")
    if by_bytes and transfer.chunk.format is FileFormat.CSV:
        return _refused(
            "DuckDB reads a CSV file as a whole, in one transaction", "omit --commit-every, or give `file`"
        )
    if transfer.chunk.format is FileFormat.CSV and not transfer.columns:
        return _refused("the columns of the table are not known without a look at it", "omit --assume")
    return None


def _refused(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Load a chunk, and note it."""
    transfer = work.transfer
    assert transfer is not None
    load = _load(transfer, facts, work.object, None)
    return transaction(load, *note(work))


def checks(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Convert the first rows of CSV files without keeping them."""
    return tuple(
        _load(sample, facts, None, sample.sample_rows)
        for sample in work.samples
        if sample.chunk.format is FileFormat.CSV and sample.columns
    )


def _load(transfer: Transfer, facts: Facts, into: ObjectRef | None, check_rows: int | None) -> Call:
    chunk, style = transfer.chunk, transfer.style
    effect = Effect.READS if into is None else Effect.CHANGES
    session = Role.CONTROL if into is None else Role.WORKER
    values: dict[str, ContextValue] = {"table": transfer.table, "path": chunk.path, "names": transfer.columns}
    if chunk.format is FileFormat.PARQUET:
        values |= {"first_row": None if chunk.whole else chunk.first, "end_row": chunk.end}
        return Call("load_parquet", values, session=session, effect=effect, object=into, transfer=transfer)
    types = {str(row["column_name"]): str(row.get("data_type") or "VARCHAR") for row in facts.rows("columns")}
    values |= {
        "check_rows": check_rows, "header": style.header, "delimiter": style.delimiter, "quote": style.quote,
        "null": style.null, "encoding": _ENCODINGS.get(style.encoding, style.encoding),
        "compression": "gzip" if chunk.gzipped else "none",
        "types": tuple(types.get(name, "VARCHAR") for name in transfer.columns),
        "rejects": _all_rejects(transfer),
    }  # fmt: skip
    return Call("load_csv", values, session=session, effect=effect, object=into, transfer=transfer)


def _all_rejects(transfer: Transfer) -> int:
    """Return how many bad rows DuckDB is to keep: one more than may be left out tells that they are too many."""
    return transfer.max_rejects + 1 if transfer.max_rejects else 0


# -- types of a table for files -----------------------------------------------------------------------------------
def type_of(field: ColumnValues) -> str:
    """Return the type of a column; of decimal numbers with more digits than DECIMAL has, text."""
    if field.kind is not ColumnKind.DECIMAL:
        return _TYPES[field.kind]
    width = next((most for most in _DECIMAL_DIGITS if field.digits + field.scale <= most), None)
    return "VARCHAR" if width is None else f"DECIMAL({width},{field.scale})"


def remarks_of_types(work: Work) -> tuple[str, ...]:
    """Say what DECIMAL does to further digits."""
    decimal = [name for name, one in zip(work.columns, work.fields, strict=True) if one.kind is ColumnKind.DECIMAL]
    if not decimal:
        return ()
    return (f"DuckDB rounds later values with more digits after the point: {', '.join(decimal)}",)
