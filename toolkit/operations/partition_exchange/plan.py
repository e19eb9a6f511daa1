"""Exchange a partition with a table, of which the same is read as of the partitioned one."""

from collections.abc import Iterable

from toolkit.model.facts import Query
from toolkit.operations.base import Planner, relation_query
from toolkit.operations.tables import OverTables, own_reads

OTHER = "other"


class OverTwoTables(OverTables):
    """One statement on two tables."""

    def __init__(self) -> None:
        super().__init__("partition-exchange", 1, anew=False)

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return (*super().reads(planner), *self._of_other(planner))

    def _of_other(self, planner: Planner) -> Iterable[Query]:
        other = planner.named("with_table")
        if other is not None:
            yield relation_query(OTHER, other)
            yield relation_query(f"indexes:{OTHER}", other, "table_indexes")
            yield from own_reads(planner, other.schema, other.name, f":{OTHER}")

    def check(self, planner: Planner) -> None:
        super().check(planner)
        planner.existing(OTHER, "with_table")


OPERATION = OverTwoTables()
