"""How big an index gets, and what is rebuilt of indexes: estimated from the catalogue.

An index is estimated by the same statistics that the server's own estimate would be made from (Oracle:
DBMS_SPACE.CREATE_INDEX_COST, which needs a plan table to write to); without them it is taken for a third of its
table.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.dialects.indexes import names_in
from toolkit.model.facts import Facts
from toolkit.model.values import Row

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


def rebuilt_sizes(facts: Facts) -> tuple[float, ...]:
    """Return the bytes of what a rebuild takes one by one, the biggest first."""
    whole: dict[tuple[object, object], float] = {}
    parts: dict[tuple[object, object], list[float]] = {}
    for key, rows in facts.answers.items():
        name = key.partition(":")[0]
        for row in rows:
            size = row.get("byte_count")
            if name == "indexes" and isinstance(size, int | float):
                whole[row.get("schema_name"), row.get("index_name")] = float(size)
            elif name in ("index_partitions", "index_subpartitions") and isinstance(size, int | float):
                parts.setdefault((row.get("of_schema"), row.get("of_index")), []).append(float(size))
    sizes = [size for owner, total in whole.items() for size in parts.get(owner, [total])]
    return tuple(sorted(sizes, reverse=True))
