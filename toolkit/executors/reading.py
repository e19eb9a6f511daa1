"""Reads the catalogue through the sessions of a run, and tells what a database refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors.sessions import Sessions
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.rendering import sql_file


def look(sessions: Sessions, step: Step, number: int = 0) -> tuple[Row, ...]:
    """Ask the catalogue for an object; what it may hide is asked of the one that shows more.

    Args:
        sessions: of the run.
        step: what is asked.
        number: of the worker, where it is a worker's session that asks.

    Returns:
        The rows: none means that the object is not there, never that it is not shown.

    Raises:
        DatabaseError: of the database.
        ToolkitError: TK-0306 when nothing that the session may read would show the object; the hint is the
            statement that changes it.
    """
    rows = sessions.run(step, number).rows
    hidden = next((row["unseen"] for row in rows if row.get("unseen")), None)
    if hidden is None:
        return rows
    if step.otherwise is not None:
        try:
            return sessions.run(replace(step.otherwise, session=step.session, tolerates=frozenset()), number).rows
        except DatabaseError as error:
            if error.code not in step.otherwise.tolerates:
                raise
    schema, name = step.binds.get("schema"), step.binds.get("name")
    what = f"{schema}.{name}" if schema else name
    raise ToolkitError(
        f"this user cannot see `{what}`, nor whether it exists",
        code="TK-0306",
        hint=f"ask for: {hidden}",
    )


def read_facts(
    connection: Connection, dialect: Dialect, queries: Iterable[Query], known: Facts | None = None
) -> Facts:
    """Run catalogue queries and freeze their answers beside those already known.

    Raises:
        ToolkitError: TK-0203 when a query that is not optional is refused.
    """
    answers: dict[str, tuple[Row, ...]] = dict(known.answers) if known else {}
    not_granted: dict[str, str] = dict(known.refused) if known else {}
    for query in queries:
        if query.has_no_rows(answers):
            answers[query.key] = ()
            continue
        try:
            answers[query.key] = connection.execute(sql_file(dialect.engine, query.file), query.binds or None).rows
        except DatabaseError as error:
            if not query.optional or error.lost:
                raise refused(dialect, error, f"the catalogue cannot be read (`{query.file}`)") from None
            not_granted[query.key] = error.message
    server = answers.get("server", ())
    release = known.release if known else dialect.release(server[0] if server else {})
    return Facts(dialect.engine, release, answers, refused=not_granted)


def refused(dialect: Dialect, error: DatabaseError, what: str = "") -> ToolkitError:
    """Return an error of the database as one a user can act upon: with the engine's advice and its own code.

    Args:
        dialect: knows the engine's errors.
        error: of the database.
        what: what was tried; opens the sentence.
    """
    advice = dialect.explain(error.code, error.message)
    of_program = error.code.startswith("exit-")
    return ToolkitError(
        f"{what}: {error.sentence}" if what else error.sentence,
        code="TK-0202" if error.lost else "TK-0203",
        hint=advice.advice if advice else "run it by hand first" if of_program else None,
        database_code=None if of_program else error.code,
    )
