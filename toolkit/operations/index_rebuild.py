"""Rebuild one index, those of a table, or those of whole schemas: several sessions at once, biggest first."""

from __future__ import annotations

from toolkit.dialects.base import IndexDefinition, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind, OperationName
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import Copies, copies_of


class IndexRebuild:
    """Measured on copies of the tables with their indexes; `--on-live-objects` rebuilds the live ones."""

    name = OperationName.INDEX_REBUILD
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        index, table = planner.named("index"), planner.named("table")
        if index is not None:
            return (relation_query("indexes", index, "index"),)
        if table is not None:
            return (relation_query("target", table), relation_query("indexes", table, "table_indexes"))
        schemas = planner.schemas()
        return tuple(
            query
            for schema in schemas
            for query in (
                Query(f"schema:{schema}", "schema", {"schema": schema}),
                Query(f"indexes:{schema}", "schema_indexes", {"schema": schema}),
            )
        )

    def check(self, planner: Planner) -> None:
        if planner.spec.text("table") is not None:
            planner.existing("target", "table")
        check_schemas(planner)
        self._indexes(planner)

    def _indexes(self, planner: Planner) -> tuple[IndexDefinition, ...]:
        found = self._all(planner)
        if planner.spec.flag("unusable_only"):
            found = tuple(index for index in found if not index.valid)
        if not found:
            what = "no unusable index" if planner.spec.flag("unusable_only") else "no index"
            raise ToolkitError(
                f"there is {what} to rebuild", code="TK-0204", hint="check the index, table or schema named"
            )
        return found

    def _all(self, planner: Planner) -> tuple[IndexDefinition, ...]:
        if planner.spec.text("index") is None and planner.spec.text("table") is None:
            rows = [row for schema in planner.schemas() for row in planner.facts.require(f"indexes:{schema}")]
            return planner.index_rows(rows)
        index = planner.named("index")
        if index is not None and planner.facts.assumed and "indexes" not in planner.facts.answers:
            return (IndexDefinition(index, QualifiedName("TABLE_OF_THE_INDEX", index.schema)),)
        return planner.index_rows(planner.facts.require("indexes"))

    def _copies(self, planner: Planner) -> Copies | None:
        if not planner.measuring or planner.spec.flag("on_live_objects"):
            return None
        indexes = self._indexes(planner)
        return copies_of(planner, dict.fromkeys(index.table for index in indexes), indexes)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        return self._pieces(planner, cell, self._copies(planner))

    def _pieces(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        pieces = []
        apart = planner.spec.flag("online") and planner.dialect.online_rebuilds_apart
        for index in self._indexes(planner):
            if copies is not None:
                ref, definition = copies.indexes[index.name]
            else:
                ref, definition = ObjectRef(ObjectKind.INDEX, index.name, table=index.table), index
            work = Work(
                self.name,
                planner.spec.mode,
                ref,
                planner.options(cell),
                degree=planner.degree(cell),
                index=definition,
                mark=planner.mark if copies is not None else None,
                concurrency=planner.workers(cell),
            )
            pieces.append(Piece(work, str(index.name), index.bytes, str(index.table) if apart else None))
        return tuple(pieces)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        copies = self._copies(planner)
        return assemble(
            planner,
            cell,
            self._pieces(planner, cell, copies),
            setup=copies.setup if copies else (),
            cleanup=copies.cleanup if copies else (),
        )


def check_schemas(planner: Planner) -> None:
    """Refuse schemas that do not exist.

    Raises:
        ToolkitError: TK-0204.
    """
    for schema in planner.schemas():
        if not planner.facts.require(f"schema:{schema}"):
            raise ToolkitError(
                f"there is no schema `{schema}`", code="TK-0204", hint="names in double quotes keep their case"
            )
