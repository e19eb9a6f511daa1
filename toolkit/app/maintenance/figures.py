"""Figures of the catalogue that conditions and expectations ask for: sizes, and stale statistics."""

from __future__ import annotations

from collections.abc import Iterator

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
_STATISTICS = ("table_statistics", "table_statistics", "")


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


def stale_tables(job: Job, place: Place) -> int:
    """Return how many of the step's tables have stale statistics or none.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    return sum(row.get("is_stale") == "yes" for row in _rows(_read(job, place, _STATISTICS)))


def old_statistics(job: Job, place: Place, seconds: float) -> list[str]:
    """Return the tables of a step whose statistics are older than so many seconds; locked ones are left alone.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = [row for row in _rows(_read(job, place, _STATISTICS)) if row.get("is_locked") != "yes"]
    return [str(row["table_name"]) for row in rows if not _is_younger(row.get("age_seconds"), seconds)]


def _is_younger(age: Scalar, seconds: float) -> bool:
    return isinstance(age, int | float) and age <= seconds


def invalid_indexes(job: Job, place: Place) -> list[str]:
    """Return the names of those indexes of the step's tables that the engine calls invalid.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = _rows(_read(job, place, _SIZES[OperationName.INDEX_REBUILD]))
    return [str(row["index_name"]) for row in rows if str(row.get("is_valid", "yes")) != "yes"]


def _rows(facts: Facts) -> Iterator[Row]:
    for key in facts.answers:
        if key != "server":
            yield from facts.rows(key)


def _read(job: Job, place: Place, files: tuple[str, str, str]) -> Facts:
    """Read the files of a schema, a table or an index, for all that the step names."""
    target = place.reached.target
    dialect = dialect_of(target.engine)
    session = target.connect(Role.CONTROL, SessionTag("dbatk plan"), read_only=True)
    try:
        server = read_facts(session, dialect, (Query("server", "server"),))
        return read_facts(session, dialect, tuple(_queries(job, server, files)), server)
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
