"""Full copies of partitioned tables, so that a local index has what it is local to."""

from __future__ import annotations

from toolkit.dialects.base import Call
from toolkit.dialects.oracle import copies, index_facts
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName


def copy_table(source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
    """Copy all rows into a table of ours: partitioned as the source is, where its partitions were read."""
    if not index_facts.table_is_copied_alike(facts, source):
        return copies.copy_table(source, copy, mark, facts)
    columns = tuple(str(row["column_name"]) for row in facts.rows("columns"))
    empty = copies.empty_copy(source, copy, mark, facts, bare=True)
    return (*empty, *copies.fill_copy(source, copy, columns))
