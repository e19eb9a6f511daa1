"""Create an empty table with the columns that data files have: a job, since there is nothing to measure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolkit.design.csv_style import style_of
from toolkit.dialects.new_tables import FIELDS, field_of
from toolkit.dialects.transfers import FILES
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.file_columns import ColumnValues
from toolkit.model.steps import ObjectRef, Stages
from toolkit.model.values import Cell, QualifiedName, Row
from toolkit.model.words import ObjectKind
from toolkit.operations.base import Piece, Planner, assemble, relation_query
from toolkit.operations.loads import other_delimiter, reads_of_space, refuse_nested

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class TableCreate:
    """Its columns are named as in the files; a name that needs no quotes is folded as the engine folds it."""

    name = "table-create"
    version = 1

    def reads(self, planner: Planner) -> tuple[Query, ...]:
        return (relation_query("target_name", self._table(planner), "name_in_use"), *reads_of_space(planner))

    def _table(self, planner: Planner) -> QualifiedName:
        table = planner.named("table")
        assert table is not None
        return table

    def check(self, planner: Planner) -> None:
        if planner.measuring:
            raise ToolkitError(
                "an empty table is created once: there is nothing to measure",
                code="TK-0107",
                hint="`dbatk load` is what takes time; omit what makes it a measurement",
            )
        planner.must_be_free("target_name", self._table(planner))
        if self.name in planner.dialect.work:
            _columns(planner)

    def pieces(self, planner: Planner, cell: Cell) -> tuple[Piece, ...]:
        table, columns = ObjectRef(ObjectKind.TABLE, self._table(planner)), _columns(planner)
        names, fields = tuple(columns), tuple(columns.values())
        options = planner.options(cell)
        work = Work(self.name, planner.spec.mode, table, options, columns=names, fields=fields)
        return (Piece(work, table.name.name),)

    def plan(self, planner: Planner, cell: Cell) -> Stages:
        return assemble(planner, cell, self.pieces(planner, cell))


def _columns(planner: Planner) -> dict[str, ColumnValues]:
    return planner.once("columns", lambda: _columns_of(planner))


def _columns_of(planner: Planner) -> dict[str, ColumnValues]:
    """Return the columns in the order of the first file, each with what all files have in it.

    Raises:
        ToolkitError: TK-0112 where the files were not read; TK-0107 where they do not fit each other.
    """
    files: dict[str, list[Row]] = {str(file["path"]): [] for file in planner.facts.rows(FILES)}
    if not files:
        raise ToolkitError(
            "the types of the columns come from the files, which were not read", code="TK-0112",
            hint="omit --assume and --facts: the script is shown by --dry-run, which only reads",
        )  # fmt: skip
    for file in planner.facts.rows(FILES):
        refuse_nested(file)
    for row in planner.facts.rows(FIELDS):
        files[str(row["path"])].append(row)
    found: dict[str, tuple[str, ColumnValues]] = {}
    for path, own in files.items():
        names = _names(planner, path, own)
        keys = [name.lower() for name in names]  # as a load finds them
        if found and set(keys) != set(found):
            differ = ", ".join(sorted(set(found) ^ set(keys)))
            raise ToolkitError(
                f"`{path}` does not have the columns of `{next(iter(files))}`: they differ in {differ}",
                code="TK-0107", hint="create one table from the files that belong together",
            )  # fmt: skip
        for key, name, row in zip(keys, names, own, strict=True):
            first, known = found.get(key, (name, ColumnValues()))
            found[key] = first, known.with_(field_of(row))
    return dict(found.values())


def _names(planner: Planner, path: str, rows: Sequence[Row]) -> tuple[str, ...]:
    if not rows:
        raise ToolkitError(
            f"`{path}` is empty: nothing names its columns", code="TK-0107", hint="leave the file out"
        )
    given = planner.spec.names("columns")
    texts = given or tuple(str(row["column_name"]).strip() for row in rows)
    style = style_of(planner.spec.options)
    other = None if given or "delimiter" in planner.spec.options else other_delimiter(texts, style)
    if other is not None and style.header and not path.endswith(".parquet"):
        raise ToolkitError(f"`{path}`, line 1: the only column is `{texts[0]}`", code="TK-0107", hint=other)
    if len(texts) != len(rows):
        raise ToolkitError(
            f"`{path}` has {len(rows)} columns, and `--columns` names {len(texts)}", code="TK-0107",
            hint="name each in the order of the file, or check --delimiter",
        )  # fmt: skip
    if not given and not style.header and not path.endswith(".parquet"):
        raise ToolkitError(
            f"`{path}` has no line that names its {len(rows)} columns",
            code="TK-0107",
            hint="name them with --columns",
        )
    names = tuple(_name(planner, text, path, number) for number, text in enumerate(texts, 1))
    lower = [name.lower() for name in names]
    twice = next((name for name in names if lower.count(name.lower()) > 1), None)
    if twice is not None:
        raise ToolkitError(
            f"`{path}` has a column `{twice}` twice", code="TK-0107", hint="name all columns with --columns"
        )
    return names


def _name(planner: Planner, text: str, path: str, number: int) -> str:
    if not text:
        raise ToolkitError(
            f"`{path}`: column {number} has no name", code="TK-0107", hint="name all columns with --columns"
        )
    bare = text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else None
    quoted = text if bare is not None else '"{}"'.format(text.replace('"', '""'))
    return planner.dialect.parse_name(text if _PLAIN.fullmatch(text) else quoted, planner.facts.release).name


OPERATION = TableCreate()
