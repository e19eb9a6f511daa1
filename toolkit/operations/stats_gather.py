"""Gather optimizer statistics of a table or of whole schemas: several sessions at once, biggest first.

Measured on copies; published statistics are touched by a job, or with `--on-live-objects`. Where the engine can
keep new statistics apart from those that plans are made from, a measurement on live objects does so in setup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolkit.dialects.base import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages, Step
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind, OperationName
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import Copies, copies_of
from toolkit.operations.index_rebuild import check_schemas


class StatsGather:
    """One call per table; one per schema where the engine gathers schemas and works on the live objects."""

    name = OperationName.STATS_GATHER
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return (*self._objects(planner), *self._statistics(planner))

    def _statistics(self, planner: Planner) -> tuple[Query, ...]:
        """Ask what the engine wants to know of the statistics that are there."""
        ways = planner.dialect.statistics
        if ways is None:
            return ()
        partition = planner.spec.text("partition")
        return ways.reads(
            planner.schemas(),
            planner.named("table"),
            planner.facts.release,
            partition=None if partition is None else planner.qualified(partition).name,
            on_live=planner.measuring and self._live(planner),
        )

    def _objects(self, planner: Planner) -> tuple[Query, ...]:
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
            return
        check_schemas(planner)
        if not self._tables(planner):
            raise ToolkitError("there is no table to gather", code="TK-0204", hint="check the schema named")

    def _live(self, planner: Planner) -> bool:
        return not planner.measuring or planner.spec.flag("on_live_objects")

    def _tables(self, planner: Planner) -> dict[QualifiedName, float]:
        """Return the tables and their weights in bytes."""
        if planner.spec.text("table") is not None:
            name = planner.existing("target", "table")
            return {name: float(planner.facts.value("target", "byte_count", 0) or 0)}
        rows = [row for schema in planner.schemas() for row in planner.facts.require(f"tables:{schema}")]
        return {
            QualifiedName(str(row["table_name"]), str(row["schema_name"])): float(row.get("byte_count") or 0)
            for row in rows
        }

    def _copies(self, planner: Planner) -> Copies | None:
        return None if self._live(planner) else copies_of(planner, self._tables(planner))

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        return self._pieces(planner, cell, self._copies(planner))

    def _pieces(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        by_schema = planner.dialect.gathers_schemas and planner.spec.text("table") is None
        if copies is None and by_schema:
            refs = [
                (ObjectRef(ObjectKind.STATISTICS, QualifiedName(schema)), schema, self._weight(planner, schema))
                for schema in planner.schemas()
            ]
        else:
            refs = [
                (copies.tables[name] if copies else ObjectRef(ObjectKind.TABLE, name), str(name), weight)
                for name, weight in self._tables(planner).items()
            ]
        return tuple(Piece(self._work(planner, cell, ref), label, weight) for ref, label, weight in refs)

    def _weight(self, planner: Planner, schema: str) -> float:
        return sum(float(row.get("byte_count") or 0) for row in planner.facts.rows(f"tables:{schema}"))

    def _work(self, planner: Planner, cell: Cell, ref: ObjectRef) -> Work:
        return Work(
            self.name,
            planner.spec.mode,
            ref,
            planner.options(cell),
            degree=planner.degree(cell),
            mark=None,
            concurrency=planner.workers(cell),
        )

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        copies = self._copies(planner)
        pieces = self._pieces(planner, cell, copies)
        stages = assemble(
            planner,
            cell,
            pieces,
            setup=copies.setup if copies else self._shield(planner, pieces),
            cleanup=copies.cleanup if copies else self._unshield(planner, pieces),
        )
        return stages if len(pieces) == 1 else replace(stages, evidence=self._counts(planner, pieces))

    def _shield(self, planner: Planner, pieces: Sequence[Piece]) -> tuple[Call, ...]:
        ways = planner.dialect.statistics
        if ways is None or not planner.measuring:
            return ()
        works = [piece.work for piece in pieces]
        return ways.shield(works, holder_of(planner), mark_of(planner.naming.key), planner.facts)

    def _unshield(self, planner: Planner, pieces: Sequence[Piece]) -> tuple[Call, ...]:
        ways = planner.dialect.statistics
        if ways is None or not planner.measuring:
            return ()
        back = ways.unshield([piece.work for piece in pieces], planner.facts)
        return (*back, *planner.dialect.drop(holder_of(planner)))

    def _counts(self, planner: Planner, pieces: Sequence[Piece]) -> tuple[Step, ...]:
        """Count what each piece gathered: the degree of one session would not tell of several."""
        ways = planner.dialect.statistics
        if ways is None or any(piece.work.object.ours for piece in pieces):
            return ()
        return planner.steps(call for piece in pieces for call in ways.counts(piece.work, planner.facts))


def holder_of(planner: Planner) -> ObjectRef:
    """Return the table of ours that takes a copy of the statistics before a measurement on live objects."""
    return planner.ours(ObjectKind.TABLE, planner.naming.run_object(1), None)
