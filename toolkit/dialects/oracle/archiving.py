"""The redo that work writes, and the room where it is archived.

A logged direct load writes the image of every block that it makes, a conventional insert its rows and a little
undo; entries of an index are logged one by one, also where the table is loaded without redo (SQL Language
Reference, INSERT, direct-path). The multiples below are rules of thumb, rounded up: no document gives them.
Flashback logs take about as much as redo (Backup and Recovery User's Guide, estimating disk space for flashback
logs), but the server deletes the oldest of them when it needs room, unless a guaranteed restore point holds them.
"""

from __future__ import annotations

from toolkit.dialects import sizes
from toolkit.dialects.answers import Room
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.names import quote
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Step, Takes, Until
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Effect, StepKind

FILE = "space_archive"
_IMAGES = 1.05
"""Of each block that a direct load makes."""
_ROWS = 1.3
"""Of each byte of rows that are inserted one by one, undo included."""
_ENTRIES = 2.0
"""Of each byte of an index that is kept up during a load."""
_AREA = "USE_DB_RECOVERY_FILE_DEST"
DICTIONARY = 64 * 1024.0
"""Of a statement that changes rows of the dictionary alone: a comment, an attribute, an empty table."""
_LEAST_FREE = 0.03
"""Of the recovery area, where it is not known what the next trial writes: the server's own critical alert comes
then (Backup and Recovery User's Guide, managing space in the fast recovery area)."""
_GRANT = "GRANT SELECT on the views V_$DATABASE, V_$ARCHIVE_DEST and V_$RECOVERY_FILE_DEST of SYS"
_MORE = "back up and delete archived logs, use --nologging if no standby follows, or read or repeat less"


def redo_bytes(work: Work, facts: Facts, *, logged: bool) -> float | None:
    """Estimate the redo of a work in bytes; None where its size is not known.

    Args:
        work: what is done.
        facts: with the sizes.
        logged: whether the blocks that it makes are in the redo log.
    """
    if work.operation == "index-build":
        texts = tuple(key.text for key in work.keys) or tuple(quote(column) for column in work.columns)
        return _images(sizes.built_bytes(texts, facts), logged=logged)
    if work.operation == "index-rebuild":
        known = work.part.bytes if work.part is not None else work.index.bytes if work.index is not None else 0.0
        return _images(known or None, logged=logged)
    if work.operation == "table-move":
        size = fact_about(facts, work.source or work.object.name, "byte_count")
        return _images(work.part.bytes if work.part is not None else _number(size), logged=logged)
    return _of_load(work, facts, logged=logged) if work.operation in ("ctas", "insert") else None


def redo_of_copy(source: QualifiedName, facts: Facts, *, logged: bool = True) -> float | None:
    """Estimate the redo of copying all rows of a table by a direct load."""
    return _images(_number(fact_about(facts, source, "byte_count")), logged=logged)


def redo_of_index(size: float | None, *, logged: bool) -> float | None:
    """Estimate the redo of building an index of this many bytes on a copy."""
    return _images(size, logged=logged)


def redo_of_rows(size: float | None, work: Work, facts: Facts) -> float | None:
    """Estimate the redo of removing rows of so many bytes one by one, or of adding them to an archive.

    None of a change: how much of a row it writes is not known.
    """
    if size is None or work.assignments:
        return None
    return _ROWS * size + _of_entries(work, facts, size)


def logged(step: Step, facts: Facts) -> Takes | None:
    """Say what a step writes of the redo that is archived; unknown where it changes an object without estimate.

    What is kept about an object itself (its row in the dictionary, its comment) was estimated where it is changed.
    """
    where = place(facts)
    changes = step.effect in (Effect.CREATES, Effect.CHANGES) and step.object is not None
    if where is None or not changes or step.kind not in (StepKind.SQL, StepKind.BLOCK) or step.redo_bytes == 0:
        return None
    why = "" if step.redo_bytes is not None else "not everything that it writes can be estimated"
    return Takes(step.redo_bytes, where, Until.RUN, why, "archived redo")


def place(facts: Facts) -> Place | None:
    """Return where redo is archived; None where none is, or nothing was asked."""
    mode = facts.value("doctor_database", "log_mode")
    asked = FILE in facts.answers or FILE in facts.refused
    if facts.assumed or not asked or mode == "NOARCHIVELOG":
        return None
    area = _area(facts)
    if mode is not None and area is not None:
        return Place(PlaceKind.RECOVERY_AREA, str(area.get("place")))
    return Place(PlaceKind.LOGS, next(iter(_destinations(facts)), ""))


def room(facts: Facts) -> Room:
    """Return what is free where redo is archived."""
    flashback = str(facts.value("doctor_database", "flashback_on") or "NO")
    doubled = "" if flashback == "NO" else f"FLASHBACK_ON is {flashback}: flashback logs take up to as much again"
    if facts.value("doctor_database", "log_mode") is None:
        return Room(unknown="V$DATABASE cannot be read, so it is unknown whether redo is archived", hint=_GRANT)
    if FILE in facts.refused:
        unread = "V$ARCHIVE_DEST and V$RECOVERY_FILE_DEST cannot be read"
        return Room(unknown=unread, hint=_GRANT, doubled_by=doubled)
    area = _area(facts)
    if area is None:
        return Room(unknown="the server does not report it", doubled_by=doubled)
    free, limit = _number(area.get("free_bytes")), _number(area.get("limit_bytes"))
    return Room(
        None if free is None else max(free, 0.0),
        hint=_MORE,
        least_bytes=_LEAST_FREE * (limit or 0.0),
        doubled_by=doubled,
        when_full="when it is full, every session that changes data stops (ORA-00257)",
    )


def _area(facts: Facts) -> Row | None:
    """Return the row of the recovery area where redo is archived there."""
    area = next((row for row in facts.rows(FILE) if row.get("place_kind") == "area"), None)
    places = _destinations(facts)
    return area if _AREA in places or not places else None


def _destinations(facts: Facts) -> list[str]:
    return [str(row.get("place")) for row in facts.rows(FILE) if row.get("place_kind") == "destination"]


def _of_load(work: Work, facts: Facts, *, logged: bool) -> float | None:
    size, _ = sizes.loaded_bytes(work, facts)
    direct = work.operation == "ctas" or work.option("load") != "conventional"
    if size is None:
        return 0.0 if direct and not logged and _of_entries(work, facts, 1.0) == 0 else None
    made = _IMAGES * size if direct else _ROWS * size
    return (made if logged else 0.0) + _of_entries(work, facts, size)


def _of_entries(work: Work, facts: Facts, size: float) -> float:
    """Return the redo of the indexes of a table that is filled; a direct load sorts their entries first."""
    target = facts.first("target")
    if work.operation == "ctas" or not target or work.option("bare"):
        return 0.0
    table = QualifiedName(str(target.get("table_name")), str(target.get("schema_name")))
    return _ENTRIES * sizes.KEY_SHARE * size * len(indexes_of(facts, table))


def _images(size: float | None, *, logged: bool) -> float | None:
    return 0.0 if not logged else None if size is None else _IMAGES * size


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
