"""CREATE INDEX: measured on a copy of the table (or, where the engine can, invisible on the live one)."""

from __future__ import annotations

from toolkit.dialects.indexes import IndexKey, names_in, read_key
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.copies import Copies, copies_of, refuse_kinds
from toolkit.operations.loads import VALUED, column_names, computed_columns, reads_of_space


class IndexBuild:
    """Each trial builds the index under a generated name and drops it."""

    name = "index-build"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = planner.named("table")
        assert table is not None
        queries = [relation_query("target", table), relation_query("columns", table, "columns")]
        queries += computed_columns(planner, table)
        if not planner.measuring:
            queries.append(relation_query("target_name", self._index_name(planner, table), "name_in_use"))
        on_copy = planner.measuring and not planner.spec.flag("on_live_objects")
        if not on_copy:
            queries.append(relation_query("table_indexes", table, "table_indexes"))
        divided = on_copy or planner.spec.flag("local")
        queries += planner.dialect.index_reads(table.schema, table.name, planner.facts, copied=divided)
        return (*queries, *reads_of_space(planner))

    def check(self, planner: Planner) -> None:
        table = planner.existing("target", "table")
        refuse_kinds(planner, ("view", "foreign table"), "which has no index", "index the tables it reads")
        self._keys(planner)
        self._include(planner)
        if not planner.measuring:
            planner.must_be_free("target_name", self._index_name(planner, table))

    def _index_name(self, planner: Planner, table: QualifiedName) -> QualifiedName:
        """Return the name given, else one made of table and columns; an index lives in its table's schema."""
        text = planner.spec.text("name")
        if text is not None:
            given = planner.dialect.parse_name(text, planner.facts.release)
            return QualifiedName(given.name, given.schema or table.schema)
        words = [word for text in planner.spec.names("columns") for word in names_in(text)]
        made = "_".join((table.name, *words))[:26]
        name = made.upper() if planner.dialect.upper_names else made
        return QualifiedName(f"{name}_{'IX' if planner.dialect.upper_names else 'ix'}", table.schema)

    def _keys(self, planner: Planner) -> tuple[IndexKey, ...]:
        """Read the key; its columns are looked up, unless the facts are assumed.

        Raises:
            ToolkitError: TK-0104 for what is no key, TK-0204 for a column that is not there, TK-0107 for a key
                given twice.
        """
        known = column_names(planner, VALUED)
        if not known and not planner.facts.assumed:
            raise ToolkitError("the table has no column that can be indexed", code="TK-0204")
        keys = tuple(read_key(text, known, planner.dialect) for text in planner.spec.names("columns"))
        texts = [f"{key.text} {key.operator_class}".strip() for key in keys]
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise ToolkitError(f"{twice} appears twice in the key", code="TK-0107", hint="give each part once")
        return keys

    def _include(self, planner: Planner) -> tuple[str, ...]:
        """Return the columns of `--include`.

        Raises:
            ToolkitError: TK-0104 for what is no column, TK-0204 for one that is not there.
        """
        known = column_names(planner, VALUED)
        found = [read_key(text, known, planner.dialect) for text in planner.spec.names("include")]
        for key in found:
            if key.column is None or key.ending:
                raise ToolkitError(
                    f"`{key.spelled}` cannot be included", code="TK-0104", hint="give plain columns to --include"
                )
        return tuple(key.column for key in found if key.column is not None)

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
            ref = planner.scratch(ObjectKind.INDEX, planner.naming.trial_object(letter), on, table=on)
        else:
            ref = ObjectRef(ObjectKind.INDEX, self._index_name(planner, on), table=on)
        keys = self._keys(planner)
        work = Work(
            self.name,
            planner.spec.mode,
            ref,
            planner.options(cell),
            degree=planner.degree(cell),
            columns=tuple(key.column for key in keys if key.column is not None),
            keys=keys,
            include=self._include(planner),
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


OPERATION = IndexBuild()
