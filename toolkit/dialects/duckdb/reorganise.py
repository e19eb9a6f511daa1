"""CHECKPOINT, and tables rewritten: all of a table's rows leave it and come back in one transaction.

A kill within it leaves the rows where they were. Blocks that become free are used again; the file is cut where
they are at its end.
"""

from __future__ import annotations

from toolkit.dialects.duckdb import space
from toolkit.dialects.duckdb.objects import transaction
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes, Until
from toolkit.model.values import QualifiedName, Row, Support
from toolkit.model.words import Effect, Role, SupportState

REFERENCED, COLUMNS = "referenced", "stored_columns"
FILES = (REFERENCED, COLUMNS)
DEAD_PERCENT = 20.0
_ASIDE = QualifiedName("dbatk_aside", "temp")
LOCKS = (
    "locks: none that waits; if others change the table meanwhile the transaction fails, and nothing is changed",
    "blocks that it frees are used again; the file shrinks only where they are at its end",
)


def rows_about(file: str, work: Work, facts: Facts) -> tuple[Row, ...]:
    """Return what a catalogue file tells of the user's table."""
    name = work.source or work.object.name
    found = (row for key, rows in facts.answers.items() if key.partition(":")[0] == file for row in rows)
    return tuple(row for row in found if (row["schema_name"], row["table_name"]) == (name.schema, name.name))


def delete_sample(work: Work) -> Call:
    """Leave dead rows in a copy."""
    asked = work.option("dead_rows")
    percent = float(asked) if isinstance(asked, int | float) else DEAD_PERCENT
    values: dict[str, ContextValue] = {"table": work.object.name, "percent": percent}
    return Call("delete_sample", values, effect=Effect.CHANGES, object=work.object)


def judge_move(work: Work, facts: Facts) -> Support | None:
    """Refuse a table that rows of others refer to: they would have nothing to refer to in between."""
    if facts.value("target", "kind") == "view":
        return Support(SupportState.UNSUPPORTED, "a view has no rows of its own; name the table it reads")
    why = None if work.object.scratch else referred_to(work, facts)
    return None if why is None else Support(SupportState.UNSUPPORTED, why)


def referred_to(work: Work, facts: Facts) -> str | None:
    """Say which table refers to this one; None where none does."""
    rows = rows_about(REFERENCED, work, facts)
    if not rows:
        return None
    return (
        f"`{work.object.name}` is not rewritten: a foreign key of `{rows[0]['referring_table']}` refers to it, "
        "and DuckDB lets no row leave meanwhile"
    )


def move(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the transaction, and the checkpoint that frees the blocks."""
    columns = tuple(str(row["column_name"]) for row in rows_about(COLUMNS, work, facts))
    values: dict[str, ContextValue] = {"table": work.object.name, "aside": _ASIDE, "columns": columns}

    def call(template: str, effect: Effect = Effect.CHANGES) -> Call:
        return Call(template, values, session=Role.WORKER, effect=effect, object=work.object)

    steps = [call(name) for name in ("set_aside", "empty_table", "put_back", "drop_aside")]
    return (*transaction(*steps), call("checkpoint"))


def takes_of_move(facts: Facts) -> tuple[Takes, ...]:
    """Say that the rows are there twice for a while."""
    return space.takes(None, facts, until=Until.STEP)
