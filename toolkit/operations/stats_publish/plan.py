"""Publish statistics that are stored, table by table: a job, since it can be done only once."""

from __future__ import annotations

from toolkit.dialects.statistics import StoredStatistics, stored_statistics_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble
from toolkit.operations.index_rebuild.plan import check_schemas


class StatsPublish:
    """One work for each table that has such statistics; of several, those that are locked are left out."""

    name = "stats-publish"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        ways = self._ways(planner)
        if ways is None:
            return ()
        table = planner.named("table")
        asked: list[tuple[str | None, str | None]] = [(schema, None) for schema in planner.schemas()]
        if table is not None:
            asked = [(table.schema, table.name)]
        schemas = (Query(f"schema:{schema}", "schema", {"schema": schema}) for schema in planner.schemas())
        return (
            *schemas,
            *(query for one in asked for query in ways.stored_reads(one[0], one[1], planner.spec.options)),
        )

    def _ways(self, planner: Planner) -> StoredStatistics | None:
        return stored_statistics_of(planner.dialect.work, self.name)

    def check(self, planner: Planner) -> None:
        if planner.measuring:
            raise ToolkitError(
                "statistics are published once: there is nothing to measure",
                code="TK-0107",
                hint="one configuration without `--repeat` is a job",
            )
        ways = self._ways(planner)
        if ways is None:
            return
        check_schemas(planner)
        table, found = planner.named("table"), self._found(planner, ways)
        if ways.whole(planner.spec.options) or (table is not None and planner.facts.assumed):
            return
        if not found:
            where = str(table) if table else ", ".join(planner.schemas())
            raise ToolkitError(f"{where} has {ways.none_stored(planner.spec.options)}", code="TK-0204")
        left_out = [f"{name}: {why}" for name, why in found.items() if why is not None]
        if len(left_out) == len(found):
            raise ToolkitError(left_out[0], code="TK-0304")

    def _found(self, planner: Planner, ways: StoredStatistics) -> dict[QualifiedName, str | None]:
        """Return the tables that have such statistics, each with the reason why it is left out, or None."""
        table, options, facts = planner.named("table"), planner.spec.options, planner.facts
        schemas = planner.schemas() if table is None else (table.schema,)
        if table is not None and facts.assumed:
            return {}
        if ways.whole(options):
            return {}
        every = ((schema, ways.stored(schema, options, facts)) for schema in schemas)
        return {QualifiedName(name, schema): why for schema, names in every for name, why in names.items()}

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        ways, table = self._ways(planner), planner.named("table")
        found = {} if ways is None else self._found(planner, ways)
        names = [name for name, why in found.items() if why is None]
        refs = [ObjectRef(ObjectKind.TABLE, name) for name in names or ([] if table is None else [table])]
        if not refs:
            refs = [ObjectRef(ObjectKind.STATISTICS, QualifiedName(schema)) for schema in planner.schemas()]
        options = planner.options(cell)
        return tuple(Piece(Work(self.name, planner.spec.mode, ref, options), str(ref.name)) for ref in refs)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        ways = self._ways(planner)
        found = {} if ways is None else self._found(planner, ways)
        left_out = tuple((str(name), why) for name, why in found.items() if why is not None)
        return assemble(planner, cell, self.pieces(planner, cell), left_out=left_out)


OPERATION = StatsPublish()
