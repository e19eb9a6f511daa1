"""Loads of data files: array INSERT, by n sessions, each chunk in a transaction of its own; or SQL*Loader.

The client converts the text of the files. Direct path is left out: `direct_path_load` of python-oracledb (thin
mode, since 3.4) commits by itself, so that after a crash nobody could tell which chunks are there.
"""

from __future__ import annotations

from dataclasses import replace

from toolkit.dialects import transfers
from toolkit.dialects.oracle import taking
from toolkit.dialects.oracle.work import sqlldr
from toolkit.dialects.oracle.work.base import asks_nologging, segment_bytes
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.transfers import Conversion, Transfer
from toolkit.model.values import Support
from toolkit.model.words import Effect, Role, SupportState

COMMIT_BYTES = 64 * 2**20
_CONVERSIONS = {
    "NUMBER": Conversion.NUMBER, "FLOAT": Conversion.NUMBER, "BINARY_FLOAT": Conversion.FLOAT,
    "BINARY_DOUBLE": Conversion.FLOAT, "DATE": Conversion.DATE, "VARCHAR2": Conversion.TEXT,
    "CHAR": Conversion.TEXT, "NVARCHAR2": Conversion.NATIONAL_TEXT, "NCHAR": Conversion.NATIONAL_TEXT,
    "CLOB": Conversion.LONG_TEXT, "NCLOB": Conversion.LONG_NATIONAL_TEXT, "RAW": Conversion.BYTES,
    "BLOB": Conversion.LONG_BYTES,
}  # fmt: skip
"""By DATA_TYPE of ALL_TAB_COLS."""


def _conversion(data_type: str) -> Conversion | None:
    if data_type.startswith("TIMESTAMP(") and data_type.endswith(")"):
        return Conversion.TIMESTAMP
    return _CONVERSIONS.get(data_type)


def make_notes(notes: ObjectRef, mark: str) -> tuple[Call, ...]:
    """Make the table of a run in which its transactions are noted, and mark it."""
    made = Call("notes_create", {"table": notes.name}, effect=Effect.CREATES, object=notes)
    marked: dict[str, ContextValue] = {"table": notes.name, "mark": mark}
    return (made, Call("comment", marked, effect=Effect.CHANGES, object=notes))


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Convert the first rows of each file without sending them."""
    if sqlldr.is_asked(work):
        return ()
    return tuple(
        replace(_insert(each, facts), session=Role.CONTROL, effect=Effect.READS, object=None)
        for each in work.samples
    )


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Insert a chunk, note it within the same transaction, and commit."""
    if sqlldr.is_asked(work):
        return sqlldr.timed(work, facts)
    assert work.transfer is not None
    rows = work.option("batch_rows")
    transfer = replace(work.transfer, batch_rows=rows if isinstance(rows, int) else 0)
    calls = [replace(_insert(transfer, facts), object=work.object)]
    if work.notes is not None:
        values: dict[str, ContextValue] = {"table": work.notes.name, "item": work.label}
        calls.append(
            Call("note_transaction", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.notes)
        )
    return (*calls, Call("commit", session=Role.WORKER, effect=Effect.COMMITS, object=work.object))


def _insert(transfer: Transfer, facts: Facts) -> Call:
    values: dict[str, ContextValue] = {"table": transfer.table, "columns": transfer.columns}
    kinds = _types(facts)
    known = tuple(_conversion(kinds.get(name, "")) or Conversion.TEXT for name in transfer.columns)
    return Call(
        "load", values, session=Role.WORKER, effect=Effect.CHANGES, transfer=replace(transfer, types=known)
    )


def _types(facts: Facts) -> dict[str, str]:
    return {str(row["column_name"]): str(row.get("data_type") or "") for row in facts.rows("columns")}


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Measure the table; the INSERTs themselves tell how many rows they added."""
    return (segment_bytes(work.object, facts),)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Leave the table as it is."""
    del work, facts
    return ()


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Say what rows and entries of indexes take."""
    size, why = transfers.file_bytes(work)
    return taking.of_rows(work, size, why, facts, direct=work.option("method") == "direct")


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge logging, and columns whose values are not made of text here."""
    if sqlldr.is_asked(work):
        return sqlldr.judge(work, facts)
    if asks_nologging(work):
        return _no(
            "rows that are sent by INSERT always write redo: NOLOGGING saves nothing",
            "omit --logging, or use --method direct",
        )
    transfer = work.transfer
    if transfer is None:
        return None
    if not transfer.columns:
        return _no("the columns of the table are not known without a look at it", "omit --assume")
    kinds = _types(facts)
    for name in transfer.columns:
        if name in kinds and _conversion(kinds[name]) is None:
            return _no(
                f"dbatk does not make {kinds[name]} of text: column `{name}`",
                "leave this column out (--columns, and not in the files), or load with SQL*Loader",
            )
    return None


def _no(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)
