"""Gather optimizer statistics of a table or of whole schemas: several sessions at once, biggest first.

Measured on copies; published statistics are touched by a job, or with `--on-live-objects`. Where the engine can
keep new statistics apart from those that plans are made from, a measurement on live objects does so in setup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolkit.dialects.implementations import Implementation
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.statistics import LiveStatistics, live_statistics_of
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages, Step
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query, scratch_of_run
from toolkit.operations.copies import Copies, copies_of, refuse_kinds
from toolkit.operations.index_rebuild.plan import LeftOut, check_schemas
from toolkit.operations.loads import reads_of_logs, reads_of_space
from toolkit.operations.tables import own_reads


class StatsGather:
    """One call per table; one per schema where the engine gathers schemas and works on the live objects."""

    name = "stats-gather"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        copied = reads_of_logs(planner) if self._live(planner) else reads_of_space(planner)
        return (*self._objects(planner), *self._statistics(planner), *copied)

    def _statistics(self, planner: Planner) -> tuple[Query, ...]:
        """Ask what the engine wants to know of the statistics that are there."""
        ways = _ways(planner)
        if ways is None:
            return ()
        partition = planner.spec.text("partition")
        return ways.reads(
            planner.schemas(),
            planner.named("table"),
            planner.facts.release,
            partition=None if partition is None else planner.qualified(partition).name,
            on_live=(planner.measuring and self._live(planner)) or self._apart(planner),
            by_part=planner.spec.text("incremental") is not None,
        )

    def _apart(self, planner: Planner) -> bool:
        """Tell whether new statistics are kept apart first, which asks for the same as a measurement does."""
        return planner.spec.text("publish") == "later" or planner.spec.options.get("max_difference") is not None

    def _objects(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        if planner.spec.text("server") is not None:
            return ()
        if table is not None:
            return (relation_query("target", table), *self._index_reads(planner, table.schema, table.name, ""))
        return tuple(
            query
            for schema in planner.schemas()
            for query in (
                Query(f"schema:{schema}", "schema", {"schema": schema}),
                Query(f"tables:{schema}", self._schema_file(planner), {"schema": schema}),
                *self._index_reads(planner, schema, None, f":{schema}"),
                *own_reads(planner, schema, None, f":{schema}"),
            )
        )

    def _schema_file(self, planner: Planner) -> str:
        return planner.dialect.work.of(self.name).schema_file if self._live(planner) else "schema_tables"

    def _index_reads(
        self, planner: Planner, schema: str | None, table: str | None, suffix: str
    ) -> tuple[Query, ...]:
        """Ask for the indexes that copies need: where statistics of indexes are gathered with their table's."""
        if not self._copies_indexes(planner):
            return ()
        file = "table_indexes" if table is not None else "schema_indexes"
        binds = {"schema": schema} if table is None else {"schema": schema, "name": table}
        asked = Query(f"indexes{suffix}", file, binds)
        copied = table is not None
        return (asked, *planner.dialect.index_reads(schema, table, planner.facts, suffix, copied=copied))

    def _copies_indexes(self, planner: Planner) -> bool:
        return not self._live(planner) and _ways(planner) is not None

    def check(self, planner: Planner) -> None:
        if planner.spec.text("server") is not None:
            if planner.measuring:
                raise ToolkitError(
                    "statistics of the server itself are gathered once: there is no copy to measure on",
                    code="TK-0107",
                    hint="one configuration without `--repeat` is a job",
                )
            return
        if planner.spec.text("table") is not None:
            planner.existing("target", "table")
            if not self._live(planner):
                refuse_kinds(
                    planner,
                    ("foreign table",),
                    "whose copy would be an ordinary table",
                    "gather it once, as a job",
                )
            return
        if planner.facts.assumed and self._by_schema(planner):
            return
        check_schemas(planner)
        if not self._tables(planner):
            raise ToolkitError("there is no table to gather", code="TK-0204", hint="check the name of the schema")

    def _by_schema(self, planner: Planner) -> bool:
        """Tell whether one call gathers a whole schema, whose tables need not be known then."""
        return planner.dialect.gathers_schemas and planner.spec.text("table") is None and self._live(planner)

    def _live(self, planner: Planner) -> bool:
        return not planner.measuring or planner.spec.flag("on_live_objects")

    def _tables(self, planner: Planner) -> dict[QualifiedName, float]:
        """Return the tables and their weights in bytes; of a schema those that no run has for scratch."""
        if planner.spec.text("table") is not None:
            name = planner.existing("target", "table")
            return {name: float(planner.facts.value("target", "byte_count", 0) or 0)}
        return planner.once("tables", lambda: self._without_scratch(planner))

    def _without_scratch(self, planner: Planner) -> dict[QualifiedName, float]:
        every = planner.once("in schemas", lambda: self._in_schemas(planner))
        return {name: size for name, size in every.items() if scratch_of_run(name) is None}

    def _in_schemas(self, planner: Planner) -> dict[QualifiedName, float]:
        rows = [row for schema in planner.schemas() for row in planner.facts.require(f"tables:{schema}")]
        return {
            QualifiedName(str(row["table_name"]), str(row["schema_name"])): float(row.get("byte_count") or 0)
            for row in rows
        }

    def _scratch(self, planner: Planner) -> LeftOut:
        """Return the scratch tables of runs, which are left out of a schema, with the reason."""
        if planner.spec.text("table") is not None or planner.spec.text("server") is not None:
            return ()
        if self._by_schema(planner):
            return ()
        return planner.once("scratch", lambda: self._of_runs(planner))

    def _of_runs(self, planner: Planner) -> LeftOut:
        every = planner.once("in schemas", lambda: self._in_schemas(planner))
        runs = ((str(name), scratch_of_run(name)) for name in every)
        return tuple((name, run) for name, run in runs if run is not None)

    def _copies(self, planner: Planner) -> Copies | None:
        if self._live(planner):
            return None
        tables = self._tables(planner)
        indexes, _ = self._indexes(planner)
        return copies_of(planner, tables, (index for index in indexes if index.table in tables))

    def _indexes(self, planner: Planner) -> tuple[tuple[IndexDefinition, ...], LeftOut]:
        """Return the indexes that copies get, and those that no copy can have with the reason."""
        rows = [row for key, found in planner.facts.answers.items() if _of_indexes(key) for row in found]
        if not rows or not self._copies_indexes(planner):
            return (), ()
        judged = [(index, self._no_copy(planner, index)) for index in planner.index_rows(rows)]
        left_out = tuple((str(index.name), why) for index, why in judged if why is not None)
        return tuple(index for index, why in judged if why is None), left_out

    def _no_copy(self, planner: Planner, index: IndexDefinition) -> str | None:
        copied = replace(index, of=index.name)
        ref = planner.scratch(ObjectKind.INDEX, planner.naming.run_object(1), index.table, table=index.table)
        try:
            planner.dialect.build_index_copy(copied, ref, index.table, planner.facts)
        except ToolkitError as error:
            return error.message
        return None

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        return self._pieces(planner, cell, self._copies(planner))

    def _pieces(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        if copies is not None:
            return self._each(planner, cell, copies)
        return planner.once(("pieces", cell), lambda: self._each(planner, cell, None))

    def _each(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        server = planner.spec.text("server")
        if server is not None:
            refs = [(ObjectRef(ObjectKind.STATISTICS, QualifiedName(server)), server.replace("_", " "), 0.0)]
        elif self._by_schema(planner):
            refs = [
                (ObjectRef(ObjectKind.STATISTICS, QualifiedName(schema)), schema, self._weight(planner, schema))
                for schema in planner.schemas()
            ]
        else:
            refs = [
                (copies.tables[name] if copies else ObjectRef(ObjectKind.TABLE, name), str(name), weight)
                for name, weight in self._tables(planner).items()
            ]
        mode, options = planner.spec.mode, planner.options(cell)
        degree, workers = planner.degree(cell), planner.workers(cell)
        settings = frozenset(factor.name for factor in planner.spec.factors if factor.setting)
        pieces = tuple(
            Piece(
                Work(self.name, mode, ref, options, degree, concurrency=workers, set_by_run=settings),
                label,
                weight,
            )
            for ref, label, weight in refs
        )
        idle = dict(self._idle(planner, pieces))
        kept = tuple(piece for piece in pieces if piece.label not in idle)
        if pieces and not kept and planner.measuring:
            raise ToolkitError(
                f"no table needs it: {next(iter(idle.values()))}", code="TK-0304",
                hint="`--gather gather` measures all of them",
            )  # fmt: skip
        return kept

    def _idle(self, planner: Planner, pieces: Sequence[Piece]) -> LeftOut:
        """Return the tables of schemas of which the engine would gather nothing, with the reason."""
        if planner.spec.text("table") is not None:
            return ()
        how = planner.dialect.work.of(self.name)
        judged = ((piece.label, how.idle(piece.work, planner.facts)) for piece in pieces)
        return tuple((label, why) for label, why in judged if why is not None)

    def _weight(self, planner: Planner, schema: str) -> float:
        return sum(float(row.get("byte_count") or 0) for row in planner.facts.rows(f"tables:{schema}"))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        copies = self._copies(planner)
        pieces = self._pieces(planner, cell, copies)
        omitted = (*self._scratch(planner), *self._indexes(planner)[1])
        left_out = omitted if pieces else ((", ".join(planner.schemas()), "no table needs it"),)
        stages = assemble(
            planner,
            cell,
            pieces,
            setup=copies.setup if copies else self._isolate(planner, pieces),
            cleanup=copies.cleanup if copies else self._end_isolation(planner, pieces),
            left_out=left_out,
        )
        return stages if len(pieces) <= 1 else replace(stages, evidence=self._counts(planner, pieces))

    def _isolate(self, planner: Planner, pieces: Sequence[Piece]) -> tuple[Call, ...]:
        ways = _ways(planner)
        if ways is None or not planner.measuring:
            return ()
        works = [piece.work for piece in pieces]
        return ways.isolate(works, holder_of(planner), mark_of(planner.naming.key), planner.facts)

    def _end_isolation(self, planner: Planner, pieces: Sequence[Piece]) -> tuple[Call, ...]:
        ways = _ways(planner)
        if ways is None or not planner.measuring:
            how, facts = self._how(planner), planner.facts
            changes = [call for piece in pieces for call in how.setup(piece.work, facts)]
            return tuple(undo for call in reversed(changes) for undo in call.undo)
        back = ways.end_isolation([piece.work for piece in pieces], planner.facts)
        return (*back, *planner.dialect.drop(holder_of(planner)))

    def _how(self, planner: Planner) -> Implementation:
        return planner.dialect.work.of(planner.spec.operation)

    def _counts(self, planner: Planner, pieces: Sequence[Piece]) -> tuple[Step, ...]:
        """Count what each piece gathered: the degree of one session would not tell of several."""
        ways = _ways(planner)
        if ways is None or any(piece.work.object.scratch for piece in pieces):
            return ()
        return planner.steps(call for piece in pieces for call in ways.counts(piece.work, planner.facts))


def _ways(planner: Planner) -> LiveStatistics | None:
    return live_statistics_of(planner.dialect.work, planner.spec.operation)


def _of_indexes(key: str) -> bool:
    return key == "indexes" or key.startswith("indexes:")


def holder_of(planner: Planner) -> ObjectRef:
    """Return the table that takes a copy of the statistics before a measurement on live objects."""
    return planner.scratch(ObjectKind.TABLE, planner.naming.run_object(1), None)


OPERATION = StatsGather()
