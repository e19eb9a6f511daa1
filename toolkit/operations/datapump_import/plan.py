"""Import a table or schemas: one job of the server on the clock; the table of a trial is dropped after it."""

from __future__ import annotations

from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import mark_of
from toolkit.model.facts import Query
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query


class DatapumpImport:
    """One work: the job, under a generated name that its log has, too."""

    name = "datapump-import"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        table = self._target(planner)
        if table is not None:
            schema = Query(f"schema:{table.schema}", "schema", {"schema": table.schema})
            return (relation_query("target_name", table, "name_in_use"), schema)
        return tuple(Query(f"schema:{schema}", "schema", {"schema": schema}) for schema in self._schemas(planner))

    def _target(self, planner: Planner) -> QualifiedName | None:
        """Return the table that takes the rows; None where schemas are imported."""
        table = planner.named("table")
        if table is None:
            return None
        text = planner.spec.text("into_table")
        into = table if text is None else planner.dialect.parse_name(text, planner.facts.release)
        return QualifiedName(into.name, self._into_schema(planner) or into.schema or table.schema)

    def _into_schema(self, planner: Planner) -> str | None:
        text = planner.spec.text("into_schema")
        return None if text is None else planner.dialect.parse_name(text, planner.facts.release).name

    def _schemas(self, planner: Planner) -> tuple[str, ...]:
        into = self._into_schema(planner)
        return tuple(planner.schemas()) if into is None else (into,)

    def check(self, planner: Planner) -> None:
        """Refuse schemas that are not there, a table that is, and to measure what cannot be taken back.

        Raises:
            ToolkitError: TK-0102, TK-0107, TK-0204, TK-0205, TK-0304.
        """
        table = self._target(planner)
        self._one_schema(planner)
        if planner.measuring and table is None:
            raise ToolkitError(
                "the import of schemas is not measured: what a trial imports could not be told from the rest",
                code="TK-0304",
                hint="measure with one of its tables (--table), or import once: one degree, no --repeat",
            )
        if planner.facts.assumed:
            return
        for schema in [table.schema] if table is not None else self._schemas(planner):
            if not planner.facts.first(f"schema:{schema}"):
                raise ToolkitError(
                    f"there is no schema `{schema}` to import into",
                    code="TK-0204",
                    hint="create the user first, or give another with --into-schema",
                )
        if table is not None and not planner.measuring and planner.spec.text("if_exists") is None:
            self._must_be_free(planner, table)

    def _one_schema(self, planner: Planner) -> None:
        """Refuse a schema with a dot, and a table that is named with another schema."""
        text = planner.spec.text("into_schema")
        if text is None:
            return
        if planner.dialect.parse_name(text, planner.facts.release).schema is not None:
            raise ToolkitError(
                f"`--into-schema` takes the name of a schema, and `{text}` has two parts", code="TK-0102",
                hint="name the table with --into-table",
            )  # fmt: skip
        table = planner.spec.text("into_table")
        named = None if table is None else planner.dialect.parse_name(table, planner.facts.release).schema
        if named is not None and named != self._into_schema(planner):
            raise ToolkitError(
                f"`--into-table {table}` names another schema than `--into-schema {text}`", code="TK-0107",
                hint="omit one of the two schemas",
            )  # fmt: skip

    def _must_be_free(self, planner: Planner, table: QualifiedName) -> None:
        row = planner.facts.first("target_name")
        if row:
            raise ToolkitError(
                f"`{table}` already exists as {row.get('object_kind') or 'an object'}",
                code="TK-0205",
                hint="give another name with --into-table, or say what is done with it: --if-exists append, "
                "truncate or replace",
            )

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table = planner.named("table")
        directory = planner.dialect.parse_name(str(planner.options(cell)["directory"]), planner.facts.release).name
        work = Work(
            self.name,
            planner.spec.mode,
            ObjectRef(ObjectKind.DUMP, QualifiedName(planner.naming.trial_object(), directory)),
            planner.options(cell),
            degree=planner.degree(cell),
            source=table,
            tables=self._into(planner),
            mark=mark_of(planner.naming.key),
        )
        return (Piece(work, ", ".join(planner.schemas()) if table is None else str(self._target(planner))),)

    def _into(self, planner: Planner) -> tuple[QualifiedName, ...]:
        """Return the table that rows go to: of a trial one of its own; none where schemas are imported."""
        target = self._target(planner)
        if target is None or not planner.measuring:
            return () if target is None else (target,)
        # the control table of the job has the generated name itself
        return (QualifiedName(planner.naming.trial_object("T"), planner.work_schema(target)),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        return assemble(planner, cell, self.pieces(planner, cell))


OPERATION = DatapumpImport()
