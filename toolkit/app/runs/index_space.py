"""How big an index gets, and what sorting its keys takes: estimates from what the catalogue tells of the columns.

The same statistics that the server's own estimate would be made from (Oracle: DBMS_SPACE.CREATE_INDEX_COST, which
needs a plan table to write to); without them an index is taken for a third of its table.
"""

from __future__ import annotations

from toolkit.dialects.expressions import names_in
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.operations import SpaceEstimate, declaration
from toolkit.model.values import Row
from toolkit.model.words import Mode

_KEY_SHARE = 0.3
"""Of a table's bytes, where nothing is known of its columns."""
_ENTRY_BYTES = 12
"""Of each entry beside its key: the row's address and the entry's head."""
_FILLED = 0.9
"""Of each block, as PCTFREE 10 leaves it."""
_EXPRESSION_BYTES = 20
_SORTED = 1.2
"""Temporary space for each byte of keys that do not fit in memory (1.2 to 2 is seen; the least is refused)."""


def built_bytes(experiment: Experiment, facts: Facts) -> float | None:
    """Estimate the bytes of an index to build; None when the size of its table is not known."""
    rows, size = facts.value("target", "row_estimate"), facts.value("target", "byte_count")
    texts = experiment.options.get("columns", ())
    keys = [_key_bytes(text, facts.rows("columns")) for text in (texts if isinstance(texts, tuple) else (texts,))]
    known = [key for key in keys if key is not None]
    if isinstance(rows, int | float) and len(known) == len(keys):
        return float(rows) * (_ENTRY_BYTES + sum(known)) / _FILLED
    return float(size) * _KEY_SHARE if isinstance(size, int | float) else None


def _key_bytes(text: object, columns: tuple[Row, ...]) -> float | None:
    """Return the average length of a part of the key, its length byte included."""
    lengths = {str(row["column_name"]).lower(): row.get("average_length") for row in columns}
    words = [word.lower() for word in names_in(str(text)) if word.lower() in lengths]
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


def needed_bytes(experiment: Experiment, facts: Facts, sessions: int) -> float | None:
    """Estimate the bytes of an index operation that exist at once beside what is there before it."""
    on_copy = experiment.mode is Mode.MEASUREMENT and not experiment.options.get("on_live_objects")
    table = facts.value("target", "byte_count") if on_copy else 0
    if not isinstance(table, int | float):
        return None
    if declaration(experiment.operation).space is SpaceEstimate.INDEX_BUILD:
        made = built_bytes(experiment, facts)
        return None if made is None else float(table) + made
    sizes = rebuilt_sizes(facts)
    if not sizes:
        return None
    copies = float(table) + sum(sizes) if on_copy else 0.0
    return copies + sum(sizes[:sessions])


def sorted_bytes(experiment: Experiment, facts: Facts, sessions: int) -> float:
    """Estimate the temporary space of the keys that are sorted at once; 0 when nothing is known."""
    if declaration(experiment.operation).space is SpaceEstimate.INDEX_BUILD:
        return _SORTED * (built_bytes(experiment, facts) or 0.0)
    return _SORTED * sum(rebuilt_sizes(facts)[:sessions])
