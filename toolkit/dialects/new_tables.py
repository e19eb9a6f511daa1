"""What engines share that make an empty table for data files: what is asked of these, and what is to be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from toolkit.design.csv_style import style_of
from toolkit.dialects.implementations import Options
from toolkit.dialects.transfers import FILES
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.file_columns import ColumnKind, ColumnValues
from toolkit.model.values import Row
from toolkit.model.words import Effect, ProbeKind, Role
from toolkit.units import counted

FIELDS = "fields"
"""Key of what the columns of the files hold."""


def probes_of(options: Options) -> tuple[Probe, ...]:
    """Ask what the files are, and what their columns hold."""
    given = options.get("files")
    names = tuple(map(str, given)) if isinstance(given, tuple) else ()
    style = style_of(options)
    return (
        Probe(FILES, ProbeKind.DATA_FILES, names, style=style),
        Probe(FIELDS, ProbeKind.FIELDS, names, style=style),
    )


def field_of(row: Row) -> ColumnValues:
    """Return what a column of a file holds."""
    return ColumnValues(ColumnKind(str(row["kind"])), int(str(row["digits"])), int(str(row["scale"])))


def create(work: Work, types: tuple[str, ...], tablespace: str | None = None) -> Call:
    """Spell the statement; `types` are those of the columns, in the words of the engine."""
    values: Mapping[str, ContextValue] = {
        "table": work.object.name,
        "names": work.columns,
        "types": types,
        "tablespace": tablespace,
    }
    columns = tuple(("column", column) for column in work.columns)
    return Call(
        "table_create", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object, definition=columns
    )


def remarks_of(facts: Facts) -> tuple[str, ...]:
    """Say what in the files decided on types that are not what they seem."""
    return tuple(_doubts(facts))


def _doubts(facts: Facts) -> Iterator[str]:
    odd: Mapping[str, Row] = {str(row["path"]): row for row in facts.rows(FIELDS) if row["odd_rows"]}
    for path, row in odd.items():
        rows = counted(int(str(row["odd_rows"])), "row")
        yield (
            f"`{PurePath(path).name}` has {rows} with another number of fields, the first on line "
            f"{row['odd_since']}: no type was taken from them, and a load rejects them"
        )
    for row in facts.rows(FIELDS):
        name, file = row["column_name"], PurePath(str(row["path"])).name
        if row["text_since"] is not None:
            line = f"line {row['text_since']} of `{file}`"
            yield f"`{name}` is text because of {line}; if it stands for NULL there, name it with --null"
        elif row["kind"] == ColumnKind.NOTHING:
            yield f"`{name}` has no value in `{file}`"
