"""INSERT AS SELECT: measured into an empty copy of the named table, as a job into the table itself."""

from __future__ import annotations

from toolkit.dialects.work import Call
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.operations.base import Piece, Planner, relation_query
from toolkit.operations.copies import refuse_kinds
from toolkit.operations.loads import (
    chosen_columns,
    column_names,
    existing_source,
    pieces_into,
    readable_columns,
    reads_of_filled,
    reads_of_source,
    reads_of_space,
    stages_of,
)


def _refuse_own_values(chosen: tuple[str, ...], own: tuple[str, ...], identity: str | None) -> None:
    for name in chosen:
        if name in own and identity == "generate":
            raise ToolkitError(
                f"`{name}` is an identity column, whose values `--identity generate` leaves to the table",
                code="TK-0107",
                hint="remove it from --columns, or use `--identity keep`",
            )
        if name in own:
            raise ToolkitError(
                f"`{name}` is GENERATED ALWAYS AS IDENTITY and cannot be given a value",
                code="TK-0107",
                hint="remove it from --columns",
            )


class Insert:
    """Every trial fills a new, empty copy, so that all begin in the same state."""

    name = "insert"
    version = 2

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        queries = reads_of_filled(planner)
        if planner.spec.text("partition") is not None:
            table = planner.named("table")
            assert table is not None
            queries.append(relation_query("subpartitions", table, "subpartitions"))
        if planner.spec.names("external_files"):
            table = planner.named("table")
            assert table is not None
            queries.append(relation_query("column_sizes", table, "column_sizes"))
        return (*queries, *reads_of_source(planner), *reads_of_space(planner))

    def check(self, planner: Planner) -> None:
        planner.existing("target", "table")
        refuse_kinds(
            planner, ("materialized view",), "which takes no rows", "refresh it, or load a table it reads"
        )
        if planner.measuring:
            refuse_kinds(
                planner,
                ("view", "foreign table"),
                "whose copy would be an ordinary table",
                "give the table itself",
            )
        self._check_partition(planner)
        existing_source(planner)
        if not planner.facts.assumed and not self._columns(planner):
            raise ToolkitError(
                "source and table have no column name in common",
                code="TK-0107",
                hint="give the columns with --columns, and their values with --query",
            )
        self._check_identity(planner)

    def _check_partition(self, planner: Planner) -> None:
        """Refuse a partition that the table does not have.

        Raises:
            ToolkitError: TK-0204, with the nearest name.
        """
        text = planner.spec.text("partition")
        if text is None or planner.facts.assumed:
            return
        name = planner.qualified(text).name
        known = [
            str(row["part_name"]) for key in ("partitions", "subpartitions") for row in planner.facts.rows(key)
        ]
        if name not in known:
            raise ToolkitError(
                f"`{planner.spec.text('table')}` has no partition or subpartition `{name}`",
                code="TK-0204",
                hint=did_you_mean(name, known) if known else "omit --partition: the table is not partitioned",
            )

    def _columns(self, planner: Planner) -> tuple[str, ...]:
        """Return the columns filled: those chosen, else those of the table that the source has too, in its order.

        A column that makes its own values takes none.

        Raises:
            ToolkitError: TK-0204 for a chosen column that table or source has not.
        """
        own = self._own(planner)
        target = [name for name in column_names(planner, ["columns"]) if name not in own]
        readable = readable_columns(planner)
        if planner.spec.names("columns"):
            known = (*target, *own, *column_names(planner, ["invisible_columns"]))
            chosen = chosen_columns(planner, known, f"`{planner.spec.text('table')}`")
            _refuse_own_values(chosen, own, planner.spec.text("identity"))
            if readable:
                chosen_columns(planner, readable, f"`{planner.spec.text('source')}`")
            return chosen
        if planner.spec.text("source") is None:
            return tuple(target)
        return tuple(name for name in target if name in readable)

    def _own(self, planner: Planner) -> tuple[str, ...]:
        """Return the columns that make their own values: those that take no other, and those told to."""
        always = column_names(planner, ["identity_columns"])
        if planner.spec.text("identity") != "generate":
            return always
        return (
            *always,
            *(str(row["column_name"]) for row in planner.facts.rows("columns") if row.get("identity")),
        )

    def _check_identity(self, planner: Planner) -> None:
        """Refuse to give a value to a column GENERATED ALWAYS AS IDENTITY unasked.

        Raises:
            ToolkitError: TK-0107.
        """
        always = {row["column_name"] for row in planner.facts.rows("columns") if row.get("identity") == "always"}
        given = [name for name in self._columns(planner) if name in always]
        if given and planner.spec.text("identity") is None:
            raise ToolkitError(
                f"`{given[0]}` of `{planner.spec.text('table')}` is GENERATED ALWAYS AS IDENTITY: say where its "
                "values come from",
                code="TK-0107",
                hint="`--identity keep` writes the values of the source (OVERRIDING SYSTEM VALUE) and moves the "
                "sequence past them; `--identity generate` lets the table make new ones",
            )

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        return pieces_into(planner, cell, planner.existing("target", "table"), self._columns(planner))

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        pieces = self.pieces(planner, cell)
        table = planner.existing("target", "table")
        copies = dict.fromkeys(piece.work.object for piece in pieces if piece.work.object.scratch)
        before = [call for copy in copies for call in self._copy(planner, cell, table, copy)]
        return stages_of(planner, cell, pieces, before)

    def _copy(self, planner: Planner, cell: Cell, table: QualifiedName, copy: ObjectRef) -> tuple[Call, ...]:
        """Make the table that a trial fills: empty, or with the rows that the real one holds."""
        dialect, facts, options = planner.dialect, planner.facts, planner.options(cell)
        calls = dialect.empty_copy(table, copy, mark_of(planner.naming.key), facts, bare=bool(options.get("bare")))
        if options.get("into") != "filled":
            return calls
        own = column_names(planner, ["identity_columns"])
        columns = tuple(name for name in column_names(planner, ["columns"]) if name not in own)
        return (*calls, *dialect.fill_copy(table, copy, columns, facts))


OPERATION = Insert()
