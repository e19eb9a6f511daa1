"""Figures of the catalogue that conditions and expectations ask for: sizes, and stale statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolkit.app.maintenance.expect import Size
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.dialects.registry import dialect_of
from toolkit.executors import read_facts
from toolkit.model.facts import Facts, Query
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Role
from toolkit.runner import spec_of
from toolkit.targets.base import SessionTag


@dataclass(frozen=True, slots=True)
class _Files:
    """Catalogue files: of a schema, of a table, of one index, of the table that a load reads."""

    schema: str = ""
    table: str = ""
    index: str = ""
    source: str = ""
    database: bool = False


_SIZES = {
    "index-rebuild": _Files("schema_indexes", "table_indexes", "index"),
    "index-build": _Files(table="relation"),
    "stats-gather": _Files("schema_tables", "relation"),
    "ctas": _Files(source="relation"),
    "insert": _Files(source="relation"),
    "backup": _Files(database=True),
}
"""Those with `byte_count`, and some with `row_estimate`."""
_INDEXES = _SIZES["index-rebuild"]
_STATISTICS = _Files("table_statistics", "table_statistics")
_DATABASE = ("backup_files", "backup_size")
"""The sizes of a database, among what is read before a backup, or by itself."""


def work_size(job: TargetStep, place: PlanTarget) -> Size:
    """Return the size of what a step works on: of indexes themselves, of the tables read, of the database.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = tuple(_rows(_read(job, place, _SIZES[job.step.operation])))
    return Size(_sum(rows, "byte_count"), _sum(rows, "row_estimate"))


def _sum(rows: Sequence[Row], column: str) -> float | None:
    """Return the sum of a column; None where nothing is known, for the catalogue then tells no size."""
    known = [float(size) for row in rows if isinstance(size := row.get(column), int | float)]
    return sum(known) if known else None


def stale_tables(job: TargetStep, place: PlanTarget) -> int:
    """Return how many of the step's tables have stale statistics or none.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    return sum(row.get("is_stale") == "yes" for row in _rows(_read(job, place, _STATISTICS)))


def old_statistics(job: TargetStep, place: PlanTarget, seconds: float) -> list[str]:
    """Return the tables of a step whose statistics are older than so many seconds; locked ones are left alone.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = [row for row in _rows(_read(job, place, _STATISTICS)) if row.get("is_locked") != "yes"]
    return [str(row["table_name"]) for row in rows if not _is_younger(row.get("age_seconds"), seconds)]


def _is_younger(age: Scalar, seconds: float) -> bool:
    return isinstance(age, int | float) and age <= seconds


def invalid_indexes(job: TargetStep, place: PlanTarget) -> list[str]:
    """Return the names of those indexes of the step's tables that the engine calls invalid.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = _rows(_read(job, place, _INDEXES))
    return [str(row["index_name"]) for row in rows if str(row.get("is_valid", "yes")) != "yes"]


def _rows(facts: Facts) -> Iterator[Row]:
    for key in facts.answers:
        if key != "server":
            yield from facts.rows(key)


def _read(job: TargetStep, place: PlanTarget, files: _Files) -> Facts:
    """Read the files for all that the step names."""
    target = place.resolved.target
    dialect = dialect_of(target.engine)
    session = target.connect(Role.CONTROL, SessionTag("dbatk plan"), read_only=True)
    try:
        server = read_facts(session, dialect, (Query("server", "server"),))
        return read_facts(session, dialect, tuple(_queries(job, server, files)), server)
    finally:
        session.close()


def _queries(job: TargetStep, server: Facts, files: _Files) -> Iterator[Query]:
    dialect = dialect_of(server.engine)
    spec = spec_of(job.experiment)
    if files.database:
        yield from _of_database(job, server)
    here = str(server.value("server", "current_schema", "") or "") or None
    for text in spec.names("schema") if files.schema else ():
        name = dialect.parse_name(text, server.release).name
        binds = {"schema": name, "name": None} if files.schema == files.table else {"schema": name}
        yield Query(f"of {name}", files.schema, binds)
    for option, file in (("table", files.table), ("index", files.index), ("source", files.source)):
        given = spec.text(option)
        if given is not None and file:
            name_given = dialect.parse_name(given, server.release)
            yield Query(option, file, {"schema": name_given.schema or here, "name": name_given.name})


def _of_database(job: TargetStep, server: Facts) -> Iterator[Query]:
    ways = dialect_of(server.engine).backups
    asked = ways.reads(job.experiment.options, server) if ways is not None else ()
    found = [query for query in asked if query.key in _DATABASE]
    yield from found or (Query("backup_size", "backup_size", optional=True),)
