"""Work on tables as they are stored: one table or those of whole schemas, several sessions at once, biggest first.

A job works on the tables themselves. A measurement works on copies with the same indexes. Where the work changes
what the next trial would find (`anew`), every trial gets copies of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.work import Work
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Query
from toolkit.model.operations import declaration
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName, Row
from toolkit.model.words import ObjectKind, OperationName
from toolkit.operations.base import Piece, Planner, assemble, relation_query, scratch_of_run
from toolkit.operations.copies import Copies, copies_of, refuse_kinds
from toolkit.operations.index_rebuild.plan import LeftOut, check_schemas
from toolkit.operations.loads import reads_of_space

_NO_COPY = ("view", "foreign table")


class OverTables:
    """Plans one work for each table; of several, those that cannot be worked on are left out with a sentence."""

    def __init__(self, name: OperationName, version: int = 1, *, anew: bool = False) -> None:
        self.name = name
        self.version = version
        self._anew = anew

    # -- what is read ---------------------------------------------------------------------------------------------
    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return (*self._objects(planner), *reads_of_space(planner))

    def _objects(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        if table is not None:
            copied = self._on_copy(planner)
            return (
                relation_query("target", table),
                relation_query("indexes", table, "table_indexes"),
                *own_reads(planner, table.schema, table.name, ""),
                *planner.dialect.index_reads(table.schema, table.name, planner.facts, copied=copied),
            )
        return tuple(query for schema in planner.schemas() for query in self._of_schema(planner, schema))

    def _of_schema(self, planner: Planner, schema: str) -> Iterable[Query]:
        yield Query(f"schema:{schema}", "schema", {"schema": schema})
        yield Query(f"tables:{schema}", "schema_tables", {"schema": schema})
        yield from own_reads(planner, schema, None, f":{schema}")
        yield Query(f"indexes:{schema}", "schema_indexes", {"schema": schema})
        if self._on_copy(planner):
            yield from planner.dialect.index_reads(schema, None, planner.facts, f":{schema}")

    def _on_copy(self, planner: Planner) -> bool:
        return planner.measuring and not planner.spec.flag("on_live_objects")

    # -- what is worked on ----------------------------------------------------------------------------------------
    def check(self, planner: Planner) -> None:
        if planner.spec.text("table") is not None:
            planner.existing("target", "table")
            if self._on_copy(planner):
                refuse_kinds(planner, _NO_COPY, "whose copy would be an ordinary table", "give the table itself")
        check_schemas(planner)
        tables, _ = self._tables(planner)
        if tables:
            self._order(planner, next(iter(tables)), None)

    def _tables(self, planner: Planner) -> tuple[dict[QualifiedName, float], LeftOut]:
        """Return what is worked on with its weight in bytes, and what is left out with the reason.

        Raises:
            ToolkitError: TK-0204 when there is no table, TK-0304 when none that was named can be worked on.
        """
        return planner.once("tables", lambda: self._judged(planner))

    def _judged(self, planner: Planner) -> tuple[dict[QualifiedName, float], LeftOut]:
        found = _all(planner)
        if not found:
            none = f"there are no {declaration(self.name).several} to work on"
            raise ToolkitError(none, code="TK-0204", hint="check the name of the schema")
        idle = {name: why for name in found if (why := self._idle(planner, name)) is not None}
        busy = [name for name in found if name not in idle]
        never = {name: why for name in busy if (why := self._never(planner, name)) is not None}
        kept = {name: found[name] for name in busy if name not in never}
        left_out = tuple((str(name), why) for name, why in {**idle, **never}.items())
        if not kept and never:
            why = next(iter(never.values()))
            raise ToolkitError(why, code="TK-0304", hint="give one with --table: its answer says what helps")
        if not kept and planner.measuring:
            why = next(iter(idle.values()))
            raise ToolkitError(why, code="TK-0304", hint="omit --repeat: a job with nothing to do ends well")
        if not kept:
            return {}, left_out
        at_once = planner.dialect.work.of(self.name).whole_database
        self._check_partition(planner, next(iter(kept)))
        return dict(list(kept.items())[:1]) if at_once else kept, left_out

    def _check_partition(self, planner: Planner, table: QualifiedName) -> None:
        """Refuse a partition that the table has not.

        Raises:
            ToolkitError: TK-0204, with the nearest name.
        """
        asked = planner.spec.text("partition")
        if asked is None or planner.facts.assumed:
            return
        how, whole = (
            planner.dialect.work.of(self.name),
            {key: value for key, value in planner.spec.options.items() if key != "partition"},
        )
        work = Work(self.name, planner.spec.mode, ObjectRef(ObjectKind.TABLE, table), planner.spec.options)
        every = how.parts_of(replace(work, options=whole), planner.facts)
        if every and not how.parts_of(work, planner.facts):
            names = dict.fromkeys(each for part in every for each in (part.of, part.name) if each)
            raise ToolkitError(
                f"`{table}` has no partition or subpartition `{asked}`",
                code="TK-0204",
                hint=did_you_mean(planner.qualified(asked).name, names),
            )

    def _idle(self, planner: Planner, table: QualifiedName) -> str | None:
        """Say why nothing of a table is to be done."""
        if planner.spec.text("table") is None and (scratch := scratch_of_run(table)) is not None:
            return scratch
        work = Work(self.name, planner.spec.mode, ObjectRef(ObjectKind.TABLE, table), planner.spec.options)
        return planner.dialect.work.of(self.name).idle(work, planner.facts)

    def _never(self, planner: Planner, table: QualifiedName) -> str | None:
        """Say why a table of a schema is left out whatever the cell."""
        if planner.spec.text("table") is not None:
            return None
        how, ref = planner.dialect.work.of(self.name), ObjectRef(ObjectKind.TABLE, table)
        works = (Work(self.name, planner.spec.mode, ref, options) for options in _ways(planner))
        return next(filter(None, (how.left_out(work, planner.facts) for work in works)), None)

    def _indexes(self, planner: Planner, tables: Iterable[QualifiedName]) -> tuple[IndexDefinition, ...]:
        """Return the indexes of tables; for copies those that a copy can have."""
        rows = [
            row
            for key, found in planner.facts.answers.items()
            if key.partition(":")[0] == "indexes"
            for row in found
        ]
        known = set(tables)
        found = planner.index_rows(rows) if rows else ()
        on_copy = self._on_copy(planner)
        return tuple(
            index for index in found
            if index.table in known and (not on_copy or self._can_be_copied(planner, index))
        )  # fmt: skip

    def _can_be_copied(self, planner: Planner, index: IndexDefinition) -> bool:
        ref = planner.scratch(ObjectKind.INDEX, planner.naming.run_object(1), index.table, table=index.table)
        try:
            planner.dialect.build_index_copy(replace(index, of=index.name), ref, index.table, planner.facts)
        except ToolkitError:
            return False
        return True

    # -- the plan -------------------------------------------------------------------------------------------------
    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        return self._pieces(planner, cell, self._copies(planner))

    def _copies(self, planner: Planner) -> Copies | None:
        if not self._on_copy(planner):
            return None
        tables, _ = self._tables(planner)
        count = len(tables) + len(self._indexes(planner, tables))
        letters = planner.letters(count)
        named = (lambda number: planner.naming.trial_object(letters[number - 1])) if self._anew else None
        return copies_of(planner, tables, self._indexes(planner, tables), named)

    def _pieces(self, planner: Planner, cell: Cell, copies: Copies | None) -> tuple[Piece, ...]:
        tables, _ = self._tables(planner)
        how = planner.dialect.work.of(self.name)
        pieces = []
        for table, size in tables.items():
            ref = ObjectRef(ObjectKind.TABLE, table) if copies is None else copies.tables[table]
            work = Work(
                self.name,
                planner.spec.mode,
                ref,
                planner.options(cell),
                degree=planner.degree(cell),
                source=table,
                mark=planner.mark,
                concurrency=planner.workers(cell),
                index=self._order(planner, table, copies),
                indexes=self._on(planner, table, copies),
            )
            parts = how.parts_of(work, planner.facts)
            # two changes of the definition of one table wait for each other
            pieces += [Piece(replace(work, part=p), f"{table} {p}", p.bytes, str(table)) for p in parts]
            pieces += [] if parts else [Piece(work, str(table), size)]
        return tuple(pieces)

    def _on(self, planner: Planner, table: QualifiedName, copies: Copies | None) -> tuple[IndexDefinition, ...]:
        """Return the indexes of a table, of its copy those of the copy."""
        if copies is None:
            return planner.once(("indexes of", table), lambda: self._indexes(planner, [table]))
        return tuple(index for _, index in copies.indexes.values() if index.table == copies.tables[table].name)

    def _order(self, planner: Planner, table: QualifiedName, copies: Copies | None) -> IndexDefinition | None:
        """Return the index in whose order rows are put; of a copy its own.

        Raises:
            ToolkitError: TK-0204 when the table has no such index, with the nearest.
        """
        text = planner.spec.text("order_by_index")
        if text is None or (planner.facts.assumed and "indexes" not in planner.facts.answers):
            return None if text is None else IndexDefinition(planner.qualified(text), table)
        found = {index.name: index for index in planner.index_rows(planner.facts.rows("indexes"))}
        name = (
            planner.qualified(text) if "." in text else QualifiedName(planner.qualified(text).name, table.schema)
        )
        if name not in found:
            raise ToolkitError(
                f"`{table}` has no index `{text}`",
                code="TK-0204",
                hint=did_you_mean(name.name, [each.name for each in found]),
            )
        return found[name] if copies is None else copies.indexes[name][1]

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        copies = self._copies(planner)
        pieces = self._pieces(planner, cell, copies)
        made = copies.setup if copies else ()
        return assemble(
            planner,
            cell,
            pieces,
            setup=() if self._anew else made,
            before=made if self._anew else (),
            cleanup=copies.cleanup if copies and not self._anew else (),
            drops=tuple(copies.tables.values()) if copies and self._anew else (),
            left_out=self._tables(planner)[1],
        )


def _ways(planner: Planner) -> Iterator[Mapping[str, OptionValue]]:
    """Return the options of all cells as far as words decide: all work on the same tables, and a degree on any."""
    words = [
        [(factor.name, level) for level in factor.levels]
        for factor in planner.spec.factors
        if factor.own and all(isinstance(level, str) for level in factor.levels)
    ]
    return ({**planner.spec.options, **dict(chosen)} for chosen in product(*words))


def own_reads(planner: Planner, schema: str | None, name: str | None, suffix: str) -> Sequence[Query]:
    """Return what the engine's implementation wants to know of the tables."""
    how = planner.dialect.work.of(planner.spec.operation)
    files = [
        file for file in how.table_files
        if file not in how.table_files_for or planner.asks_for(*how.table_files_for[file])
    ]  # fmt: skip
    return [Query(f"{file}{suffix}", file, {"schema": schema, "name": name}, optional=True) for file in files]


def _all(planner: Planner) -> dict[QualifiedName, float]:
    """Return the tables and their weights in bytes, biggest first as the catalogue lists them."""
    if planner.spec.text("table") is not None:
        name = planner.existing("target", "table")
        return {name: _size(planner.facts.first("target"))}
    rows = [row for schema in planner.schemas() for row in planner.facts.require(f"tables:{schema}")]
    return {QualifiedName(str(row["table_name"]), str(row["schema_name"])): _size(row) for row in rows}


def _size(row: Row) -> float:
    return float(row.get("byte_count") or 0)
