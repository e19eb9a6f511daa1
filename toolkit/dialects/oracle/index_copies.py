"""Full copies of partitioned tables, so that a local index has what it is local to."""

from __future__ import annotations

from toolkit.dialects.oracle import copies, index_facts, partitions
from toolkit.dialects.oracle.objects import comment
from toolkit.dialects.oracle.work.loads import LONG_TYPES
from toolkit.dialects.work import Call, ContextValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect


def copy_table(source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
    """Copy all rows into a scratch table: partitioned as the source is, where its partitions were read.

    A LONG is left out: no index has one, and no INSERT ... SELECT takes it (ORA-00997).
    """
    made = partitions.of_table(facts)[0] if index_facts.table_is_copied_alike(facts, source) else None
    if made is None:
        return copies.copy_table(source, copy, mark, facts)
    rows = facts.rows("columns")
    columns = tuple(str(row["column_name"]) for row in rows if row.get("data_type") not in LONG_TYPES)
    values: dict[str, ContextValue] = {
        "copy": copy.name,
        "source": source,
        "columns": columns or None,
        "long_columns": (),
        "tablespace": None,
        "pctfree": None,
        "compression": None,
        **made.values(),
    }
    empty = Call("empty_copy", values, effect=Effect.CREATES, object=copy)
    return (empty, comment(copy, mark), *copies.fill_copy(source, copy, columns))
