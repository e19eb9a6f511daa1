"""Dump schemas or a table: one job of the server on the clock; the files of a trial are removed after it."""

from __future__ import annotations

from toolkit.dialects.work import Work
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.index_rebuild.plan import check_schemas


class DatapumpExport:
    """One work: the job, under a generated name that its files have, too."""

    name = "datapump-export"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        if table is not None:
            return (relation_query("target", table),)
        return tuple(
            query
            for schema in planner.schemas()
            for query in (
                Query(f"schema:{schema}", "schema", {"schema": schema}),
                Query(f"tables:{schema}", "schema_tables", {"schema": schema}),
            )
        )

    def check(self, planner: Planner) -> None:
        if planner.spec.text("table") is not None:
            planner.existing("target", "table")
        elif not planner.facts.assumed:
            check_schemas(planner)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = None if planner.spec.text("table") is None else planner.existing("target", "table")
        directory = planner.dialect.parse_name(str(planner.options(cell)["directory"]), planner.facts.release).name
        ref = ObjectRef(ObjectKind.DUMP, QualifiedName(planner.naming.trial_object(), directory))
        work = Work(
            self.name,
            planner.spec.mode,
            ref,
            planner.options(cell),
            degree=planner.degree(cell),
            source=table,
            mark=mark_of(planner.naming.key),
        )
        return (Piece(work, str(table) if table is not None else ", ".join(planner.schemas())),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        return assemble(planner, cell, self.pieces(planner, cell))


OPERATION = DatapumpExport()
