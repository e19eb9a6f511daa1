"""How big loads and indexes get: estimated from the catalogue.

An index is estimated by the same statistics that the server's own estimate would be made from (Oracle:
DBMS_SPACE.CREATE_INDEX_COST, which needs a plan table to write to); without them it is taken for a third of its
table.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.indexes import names_in
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row
from toolkit.units import byte_size


def loaded_bytes(work: Work, facts: Facts) -> tuple[float | None, str]:
    """Estimate the bytes of the rows that a load writes, or one part of it; else None, and why they are not known.

    Args:
        work: the load.
        facts: with `source`.
    """
    if work.query is not None:
        return None, "the size of a query's result is not known in advance"
    if work.option("external_files") is not None:
        return None, "the sizes of files of the server are not known"
    size = facts.value("source", "byte_count")
    if not isinstance(size, int | float):
        return None, f"the size of `{work.source}` is not known"
    percent = work.option("sample")
    part = float(size) * (float(percent) / 100 if isinstance(percent, int | float) else 1.0)
    if work.option("where") is not None:
        return None, f"--where decides how much of {byte_size(part)}"
    first, end = work.blocks or (0, None)
    blocks = facts.value("source", "block_count")
    if work.blocks is not None and isinstance(blocks, int | float) and blocks > 0:
        part *= max(0.0, min(float(blocks if end is None else end), blocks) - first) / blocks
    return part, ""


def table_bytes(table: QualifiedName, facts: Facts) -> float | None:
    """Return the bytes of a table, whichever read they came from; None where they are not known."""
    found = (
        row.get("byte_count")
        for rows in facts.answers.values()
        for row in rows
        if row.get("table_name") == table.name and row.get("schema_name") == table.schema
        and row.get("index_name") is None
    )  # fmt: skip
    return next((float(size) for size in found if isinstance(size, int | float)), None)


def entry_bytes(index: Row, table: Row, loaded: float | None) -> float | None:
    """Estimate the bytes that an index grows by in a load, as it and its table grew so far where that is known.

    Args:
        index: its catalogue row.
        table: that of its table.
        loaded: bytes of the rows.
    """
    size, whole = index.get("byte_count"), table.get("byte_count")
    known = isinstance(size, int | float) and isinstance(whole, int | float) and whole >= _WORTH_A_RATIO
    share = float(str(size)) / float(str(whole)) if known else KEY_SHARE
    return None if loaded is None else loaded * share


_WORTH_A_RATIO = 16 * 2**20
"""Bytes of a table below which its first extents decide on the ratio."""
SORTED = 1.2
"""Temporary space for each byte of keys that do not fit in memory (1.2 to 2 is seen; the least is refused)."""
KEY_SHARE = 0.3
"""Of a table's bytes, where nothing is known of its columns."""
_ENTRY_BYTES = 12
"""Of each entry beside its key: the row's address and the entry's head."""
_FILLED = 0.9
"""Of each block, as PCTFREE 10 leaves it."""
_EXPRESSION_BYTES = 20


def built_bytes(texts: Sequence[str], facts: Facts) -> float | None:
    """Estimate the bytes of an index to build; None when the size of its table is not known.

    Args:
        texts: its columns, as the user wrote them.
        facts: with `target` and `columns`.
    """
    rows, size = facts.value("target", "row_estimate"), facts.value("target", "byte_count")
    keys = [_key_bytes(text, facts.rows("columns")) for text in texts]
    known = [key for key in keys if key is not None]
    if isinstance(rows, int | float) and len(known) == len(keys):
        return float(rows) * (_ENTRY_BYTES + sum(known)) / _FILLED
    return float(size) * KEY_SHARE if isinstance(size, int | float) else None


def _key_bytes(text: str, columns: tuple[Row, ...]) -> float | None:
    """Return the average length of a part of the key, its length byte included."""
    lengths = {str(row["column_name"]).lower(): row.get("average_length") for row in columns}
    words = [word.lower() for word in names_in(text) if word.lower() in lengths]
    if not words:
        return _EXPRESSION_BYTES
    found = [lengths[word] for word in words]
    numbers = [float(each) for each in found if isinstance(each, int | float)]
    return sum(numbers) + 1 if len(numbers) == len(found) else None


def rebuilt_bytes(work: Work, row: Row) -> float | None:
    """Return the bytes of the index, or of the part of one, that a work rebuilds; None where they are not known.

    Args:
        work: the rebuild.
        row: what the catalogue shows of it.
    """
    part = work.part or work.index
    if part is not None and part.bytes:
        return part.bytes
    size = row.get("byte_count")
    return float(size) if isinstance(size, int | float) else None
