"""Figures of the catalogue that conditions and expectations ask for: sizes, and stale statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from toolkit.app.maintenance.places import Job, Place
from toolkit.dialects.registry import dialect_of
from toolkit.executors import read_facts
from toolkit.model.facts import Facts, Query
from toolkit.model.values import Row, Scalar
from toolkit.model.words import OperationName, Role
from toolkit.runner import spec_of
from toolkit.targets.base import SessionTag

_SIZES = {
    OperationName.INDEX_REBUILD: ("schema_indexes", "table_indexes", "index"),
    OperationName.STATS_GATHER: ("schema_tables", "relation", ""),
}
"""Catalogue files with `byte_count`: of a schema, of a table, of one index."""


def work_bytes(job: Job, place: Place) -> float | None:
    """Return the size of what a step works on; None where the catalogue does not tell, or not without planning.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    files = _SIZES.get(job.step.operation)
    if files is None:
        return None
    facts = _read(job, place, files)
    sizes = [row.get("byte_count") for row in _rows(facts)]
    known = [float(size) for size in sizes if isinstance(size, int | float)]
    return sum(known) if known else None


def stale_tables(job: Job, place: Place) -> float:
    """Return how many of the step's tables have stale statistics or none.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    facts = _read(job, place, ("stale_tables", "stale_tables", ""))
    counts = [row.get("table_count") for row in _rows(facts)]
    return sum(float(count) for count in counts if isinstance(count, int | float))


def invalid_indexes(job: Job, place: Place) -> list[str]:
    """Return the names of those indexes of the step's tables that the engine calls invalid.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = _rows(_read(job, place, _SIZES[OperationName.INDEX_REBUILD]))
    return [str(row["index_name"]) for row in rows if str(row.get("is_valid", "yes")) != "yes"]


def old_statistics(job: Job, place: Place, seconds: float) -> list[str]:
    """Return the tables of a step whose statistics are older than so many seconds.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    files = ("statistics_older", "statistics_older", "")
    return [str(row["table_name"]) for row in _rows(_read(job, place, files, seconds=ceil(seconds)))]


def _rows(facts: Facts) -> Iterator[Row]:
    for key in facts.answers:
        if key != "server":
            yield from facts.rows(key)


def _read(job: Job, place: Place, files: tuple[str, str, str], **more: Scalar) -> Facts:
    """Read the files of a schema, a table or an index, for all that the step names."""
    target = place.reached.target
    dialect = dialect_of(target.engine)
    session = target.connect(Role.CONTROL, SessionTag("dbatk plan"), read_only=True)
    try:
        server = read_facts(session, dialect, (Query("server", "server"),))
        queries = (
            replace(query, binds={**query.binds, **more}) if more else query
            for query in _queries(job, server, files)
        )
        return read_facts(session, dialect, tuple(queries), server)
    finally:
        session.close()


def _queries(job: Job, server: Facts, files: tuple[str, str, str]) -> Iterator[Query]:
    dialect = dialect_of(server.engine)
    spec = spec_of(job.experiment)
    of_schema, of_table, of_index = files
    here = str(server.value("server", "current_schema", "") or "") or None
    for text in spec.names("schema"):
        name = dialect.parse_name(text, server.release).name
        binds = {"schema": name, "name": None} if of_schema == of_table else {"schema": name}
        yield Query(f"of {name}", of_schema, binds)
    for option, file in (("table", of_table), ("index", of_index)):
        given = spec.text(option)
        if given is not None and file:
            name_given = dialect.parse_name(given, server.release)
            yield Query(option, file, {"schema": name_given.schema or here, "name": name_given.name})
