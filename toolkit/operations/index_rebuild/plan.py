"""Rebuild one index, those of a table, or those of whole schemas: several sessions at once, biggest first.

An index in parts (partitions, subpartitions) is as many items of the queue. What no rebuild takes (a domain index,
say) is left out with a sentence where several were asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolkit.dialects.indexes import IndexDefinition, IndexPart
from toolkit.dialects.work import Work
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query, scratch_of_run
from toolkit.operations.copies import Copies, copies_of
from toolkit.operations.loads import reads_of_space

LeftOut = tuple[tuple[str, str], ...]


class IndexRebuild:
    """Measured on copies of the tables with their indexes; `--on-live-objects` rebuilds the live ones."""

    name = "index-rebuild"
    version = 2

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return (*self._objects(planner), *reads_of_space(planner))

    def _objects(self, planner: Planner) -> tuple[Query, ...]:
        index, table = planner.named("index"), planner.named("table")
        dialect, facts = planner.dialect, planner.facts
        on_copy = self._on_copy(planner)
        if index is not None:
            parts = dialect.index_reads(index.schema, index.name, facts)
            return (relation_query("indexes", index, "index"), *parts)
        if table is not None:
            parts = dialect.index_reads(table.schema, table.name, facts, copied=on_copy)
            asked = (relation_query("target", table), relation_query("indexes", table, "table_indexes"))
            copied = (relation_query("columns", table, "columns"),) if on_copy else ()
            return (*asked, *parts, *copied)
        return tuple(
            query
            for schema in planner.schemas()
            for query in (
                Query(f"schema:{schema}", "schema", {"schema": schema}),
                Query(f"indexes:{schema}", "schema_indexes", {"schema": schema}),
                *dialect.index_reads(schema, None, facts, f":{schema}"),
                *((Query(f"tables:{schema}", "schema_tables", {"schema": schema}),) if on_copy else ()),
            )
        )

    def _on_copy(self, planner: Planner) -> bool:
        return planner.measuring and not planner.spec.flag("on_live_objects")

    def check(self, planner: Planner) -> None:
        if planner.spec.text("table") is not None:
            planner.existing("target", "table")
        check_schemas(planner)
        self._indexes(planner)

    def _indexes(self, planner: Planner) -> tuple[tuple[IndexDefinition, ...], LeftOut]:
        """Return what is rebuilt, and what is left out with the reason.

        Raises:
            ToolkitError: TK-0204 when there is nothing to rebuild, TK-0304 when nothing that was named can be.
        """
        return planner.once("indexes", lambda: self._judged(planner))

    def _judged(self, planner: Planner) -> tuple[tuple[IndexDefinition, ...], LeftOut]:
        everything = self._all(planner)
        found = tuple(index for index in everything if self._is_meant(planner, index))
        if everything and planner.spec.text("partition") is not None:
            self._check_partition(planner, everything)
        named = planner.named("index")
        if not everything and named is not None:
            raise planner.not_there(named, ObjectKind.INDEX)
        if everything and not found and planner.spec.flag("unusable_only") and not planner.measuring:
            where = planner.spec.text("table") or ", ".join(planner.schemas())
            return (), ((where, "there is no unusable index to rebuild"),)
        if not found:
            what = "no unusable index" if planner.spec.flag("unusable_only") else "no index"
            raise ToolkitError(
                f"there is {what} to rebuild", code="TK-0204", hint="check the name of the index, table or schema"
            )
        judged = [(index, self._never(planner, index)) for index in found]
        kept = tuple(index for index, why in judged if why is None)
        left_out = tuple((str(index.name), why) for index, why in judged if why is not None)
        if kept and planner.spec.text("index") is None:
            left_out += self._without_partition(planner, everything)
        if planner.schemas():
            runs = ((str(index.name), _scratch(index)) for index in self._in_schemas(planner))
            left_out += tuple((name, run) for name, run in runs if run is not None)
        if not kept:
            raise ToolkitError(left_out[0][1], code="TK-0304")
        return kept, left_out

    def _never(self, planner: Planner, index: IndexDefinition) -> str | None:
        """Say why an index is not rebuilt whatever the options and the cell."""
        on_copy = self._on_copy(planner)
        ref = ObjectRef(ObjectKind.INDEX, index.name, scratch=on_copy, table=index.table)
        definition = replace(index, of=index.name) if on_copy else index
        part = self._parts(planner, index)[0]
        work = Work(self.name, planner.spec.mode, ref, {}, index=definition, part=part)
        support = planner.dialect.work.support(work, planner.facts)
        return None if support.ok else support.sentence

    def _is_meant(self, planner: Planner, index: IndexDefinition) -> bool:
        """Tell whether an index has what is to be rebuilt: the partition that was named, something unusable."""
        if planner.spec.text("partition") is None:
            return not (index.valid and planner.spec.flag("unusable_only"))
        named = self._named(planner, index)
        return any(not part.valid for part in named) if planner.spec.flag("unusable_only") else bool(named)

    def _named(self, planner: Planner, index: IndexDefinition) -> tuple[IndexPart, ...]:
        """Return the parts of an index that `--partition` means; a composite partition is its subpartitions."""
        name = planner.qualified(str(planner.spec.text("partition"))).name
        if planner.facts.assumed and not index.parts:
            return (IndexPart(name, "partition"),)
        return tuple(part for part in index.parts if name in (part.name, part.of))

    def _check_partition(self, planner: Planner, indexes: Sequence[IndexDefinition]) -> None:
        """Refuse a partition that none of the indexes has.

        Raises:
            ToolkitError: TK-0204, with the nearest name.
        """
        if any(self._named(planner, index) for index in indexes):
            return
        name = planner.qualified(str(planner.spec.text("partition"))).name
        known = dict.fromkeys(
            each for index in indexes for part in index.parts for each in (part.of, part.name) if each
        )
        raise ToolkitError(
            f"no index has a partition or subpartition `{name}`",
            code="TK-0204",
            hint=did_you_mean(name, known) if known else "omit --partition: the index is rebuilt as a whole",
        )

    def _without_partition(self, planner: Planner, indexes: Sequence[IndexDefinition]) -> LeftOut:
        if planner.spec.text("partition") is None:
            return ()
        return tuple(
            (
                str(index.name),
                "it has no such partition" if index.parts else "it is not partitioned: omit --partition",
            )
            for index in indexes
            if not self._named(planner, index)
        )

    def _parts(self, planner: Planner, index: IndexDefinition) -> Sequence[IndexPart | None]:
        """Return the parts to rebuild, or one None for an index that is rebuilt as a whole."""
        named = planner.spec.text("partition") is not None
        parts = self._named(planner, index) if named else index.parts
        if not parts:
            return (None,)
        if planner.spec.flag("unusable_only"):
            return [part for part in parts if not part.valid] or parts
        return parts

    def _all(self, planner: Planner) -> tuple[IndexDefinition, ...]:
        if planner.spec.text("index") is None and planner.spec.text("table") is None:
            return tuple(index for index in self._in_schemas(planner) if _scratch(index) is None)
        index = planner.named("index")
        if index is not None and planner.facts.assumed and "indexes" not in planner.facts.answers:
            return (IndexDefinition(index, QualifiedName("TABLE_OF_THE_INDEX", index.schema)),)
        return planner.index_rows(planner.facts.require("indexes"))

    def _in_schemas(self, planner: Planner) -> tuple[IndexDefinition, ...]:
        return planner.once("in schemas", lambda: self._all_in_schemas(planner))

    def _all_in_schemas(self, planner: Planner) -> tuple[IndexDefinition, ...]:
        rows = [row for schema in planner.schemas() for row in planner.facts.require(f"indexes:{schema}")]
        return planner.index_rows(rows)

    def _copies(self, planner: Planner, indexes: Sequence[IndexDefinition]) -> Copies | None:
        if not self._on_copy(planner):
            return None
        return copies_of(planner, dict.fromkeys(index.table for index in indexes), indexes)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        indexes, _ = self._indexes(planner)
        return self._pieces(planner, cell, self._copies(planner, indexes))

    def _pieces(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        if copies is not None:
            return self._each(planner, cell, copies)
        return planner.once(("pieces", cell), lambda: self._each(planner, cell, None))

    def _each(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        indexes, _ = self._indexes(planner)
        options = planner.options(cell)
        apart = bool(options.get("online")) and planner.dialect.online_rebuilds_apart
        degree, workers = planner.degree(cell), planner.workers(cell)
        pieces = []
        for index in indexes:
            if copies is not None:
                ref, definition = copies.indexes[index.name]
            else:
                ref, definition = ObjectRef(ObjectKind.INDEX, index.name, table=index.table), index
            for part in self._parts(planner, index):
                work = Work(
                    self.name,
                    planner.spec.mode,
                    ref,
                    options,
                    degree=degree,
                    index=definition,
                    mark=planner.mark if copies is not None else None,
                    concurrency=workers,
                    part=part,
                )
                label = f"{index.name} {part}" if part else str(index.name)
                weight = part.bytes if part else index.bytes
                pieces.append(Piece(work, label, weight, str(index.table) if apart else None))
        return tuple(pieces)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        indexes, left_out = self._indexes(planner)
        copies = self._copies(planner, indexes)
        return assemble(
            planner,
            cell,
            self._pieces(planner, cell, copies),
            setup=copies.setup if copies else (),
            cleanup=copies.cleanup if copies else (),
            left_out=left_out,
        )


def check_schemas(planner: Planner) -> None:
    """Refuse schemas that do not exist, and those that are not the user's to work on.

    Raises:
        ToolkitError: TK-0204, TK-0304.
    """
    for schema in planner.schemas():
        if not planner.facts.require(f"schema:{schema}"):
            raise ToolkitError(
                f"there is no schema `{schema}`", code="TK-0204", hint="names in double quotes keep their case"
            )
        if not planner.dialect.gathers_schemas:
            continue
        # Asked of the schema itself, where the engine has work on one: it may show this user no table at all.
        ref = ObjectRef(ObjectKind.STATISTICS, QualifiedName(schema))
        work = Work("stats-gather", planner.spec.mode, ref, {})
        found = planner.dialect.work.support(work, planner.facts)
        if not found.ok:
            raise ToolkitError(found.sentence, code="TK-0304", hint=found.hint or None)


def _scratch(index: IndexDefinition) -> str | None:
    """Say of which run an index is that bears a generated name, or stands on a table that does."""
    return scratch_of_run(index.name) or scratch_of_run(index.table)


OPERATION = IndexRebuild()
