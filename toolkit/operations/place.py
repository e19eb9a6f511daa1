"""The schema that new objects go to: asked for and judged before anything is made."""

from __future__ import annotations

from toolkit.dialects.implementations import ABSENT, NotImplementedHere
from toolkit.errors import ToolkitError
from toolkit.model.facts import Query
from toolkit.model.operations import declaration
from toolkit.operations.base import Operation, Planner

_KEY = "place"


def reads_of(work: Operation, planner: Planner) -> tuple[Query, ...]:
    """Return what an operation reads, and whether the schema for its objects exists."""
    if planner.spec.operation not in planner.dialect.work:
        return ()
    schema = _schema(planner)
    place = (Query(_KEY, "schema", {"schema": schema}, optional=True),) if schema else ()
    spec = planner.spec
    asked = {name: (value,) for name, value in spec.options.items()} | {f.name: f.levels for f in spec.factors}
    files = planner.dialect.work.of(spec.operation).option_files(asked)
    return (*work.reads(planner), *place, *(Query(file, file, optional=True) for file in files))


def check_work(work: Operation, planner: Planner) -> None:
    """Refuse what cannot be right, once, before anything is changed.

    Raises:
        ToolkitError: as the operation's own `check`; TK-0204 when the schema for new objects does not exist,
            TK-0306 when the user may not create any there, TK-0304 when the engine does not do the operation.
    """
    implementation = planner.dialect.work.of(planner.spec.operation)
    if isinstance(implementation, NotImplementedHere):
        raise ToolkitError(implementation.sentence, code="TK-0304", hint=ABSENT)
    work.check(planner)
    schema, facts = _schema(planner), planner.facts
    if schema is None or _KEY not in facts.answers or _KEY in facts.refused:
        return
    row = facts.first(_KEY)
    if not row:
        raise ToolkitError(
            f"there is no schema `{schema}` to create objects in",
            code="TK-0204",
            hint="create it first, or give another (names in double quotes keep their case)",
        )
    if row.get("may_create") == "no":
        user = facts.value("server", "user_name", "") or "this user"
        grant = f"GRANT CREATE ON SCHEMA {planner.dialect.quote(schema)} TO {user}"
        raise ToolkitError(
            f"{user} has no privilege to create objects in schema `{schema}`", code="TK-0306", hint=grant
        )


def _schema(planner: Planner) -> str | None:
    """Return the schema of new objects; None when they go beside a table that is there."""
    if planner.measuring and planner.spec.work_schema:
        return planner.work_schema(None)
    if not declaration(planner.spec.operation).makes_table:
        return None
    table = planner.named("table")
    return table.schema if table is not None else None
