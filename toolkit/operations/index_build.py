"""CREATE INDEX: measured on a copy of the table (or, where the engine can, invisible on the live one)."""

from __future__ import annotations

from toolkit.dialects.base import Call, Work
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind, OperationName
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import Copies, copies_of


class IndexBuild:
    """Each trial builds the index under a generated name and drops it."""

    name = OperationName.INDEX_BUILD
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        assert table is not None
        queries = [relation_query("target", table), relation_query("columns", table, "columns")]
        if not planner.measuring:
            queries.append(relation_query("target_name", self._index_name(planner, table), "name_in_use"))
        queries.append(Query("space", "space", {"schema": planner.work_schema(table)}, optional=True))
        return tuple(queries)

    def check(self, planner: Planner) -> None:
        table = planner.existing("target", "table")
        self._columns(planner)
        if not planner.measuring:
            planner.must_be_free("target_name", self._index_name(planner, table))

    def _index_name(self, planner: Planner, table: QualifiedName) -> QualifiedName:
        """Return the name given, else one made of table and columns; an index lives in its table's schema."""
        text = planner.spec.text("name")
        if text is not None:
            given = planner.dialect.parse_name(text, planner.facts.release)
            return QualifiedName(given.name, given.schema or table.schema)
        columns = [planner.dialect.parse_name(each).name for each in planner.spec.names("columns")]
        name = "_".join((table.name, *columns))[:26]
        return QualifiedName(f"{name}_{'IX' if planner.dialect.upper_names else 'ix'}", table.schema)

    def _columns(self, planner: Planner) -> tuple[str, ...]:
        known = [str(row["column_name"]) for row in planner.facts.rows("columns")]
        exact = {name.lower(): name for name in known}
        found: list[str] = []
        for text in planner.spec.names("columns"):
            name = planner.dialect.parse_name(text, planner.facts.release).name
            if planner.facts.assumed and not known:
                found.append(name)
            elif name in known or name.lower() in exact:
                found.append(name if name in known else exact[name.lower()])
            else:
                raise ToolkitError(
                    f"the table has no column `{name}`", code="TK-0204", hint=did_you_mean(name, known)
                )
        return tuple(found)

    def _copies(self, planner: Planner, table: QualifiedName) -> Copies | None:
        if not planner.measuring or planner.spec.flag("on_live_objects"):
            return None
        return copies_of(planner, [table])

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.existing("target", "table")
        copies = self._copies(planner, table)
        on = copies.tables[table].name if copies else table
        letters = planner.letters(planner.workers(cell) if planner.measuring else 1)
        return tuple(self._piece(planner, cell, on, letter) for letter in letters)

    def _piece(self, planner: Planner, cell: Cell, on: QualifiedName, letter: str) -> Piece:
        if planner.measuring:
            ref = planner.ours(ObjectKind.INDEX, planner.naming.trial_object(letter), on, table=on)
        else:
            ref = ObjectRef(ObjectKind.INDEX, self._index_name(planner, on), table=on)
        work = Work(
            self.name,
            planner.spec.mode,
            ref,
            planner.options(cell),
            degree=planner.degree(cell),
            columns=self._columns(planner),
            mark=planner.mark,
            concurrency=planner.workers(cell),
        )
        return Piece(work, str(ref.name))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        table = planner.existing("target", "table")
        copies = self._copies(planner, table)
        pieces = self.pieces(planner, cell)
        setup: tuple[Call, ...] = copies.setup if copies else ()
        return assemble(
            planner,
            cell,
            pieces,
            setup=setup,
            cleanup=copies.cleanup if copies else (),
            drops=[piece.work.object for piece in pieces] if planner.measuring else (),
        )
