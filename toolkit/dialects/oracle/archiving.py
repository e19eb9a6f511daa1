"""The redo that work writes, and the room where it is archived.

A logged direct load writes the image of every block that it makes, a conventional insert its rows and a little
undo; entries of an index are logged one by one, also where the table is loaded without redo (SQL Language
Reference, INSERT, direct-path). The multiples below are rules of thumb, rounded up: no document gives them.
Flashback logs take about as much as redo (Backup and Recovery User's Guide, estimating disk space for flashback
logs), but the server deletes the oldest of them when it needs room, unless a guaranteed restore point holds them.
"""

from __future__ import annotations

from toolkit.dialects import sizes
from toolkit.dialects.answers import ArchiveRoom
from toolkit.dialects.oracle.catalog import fact_about, indexes_of
from toolkit.dialects.oracle.names import quote
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName

FILE = "space_archive"
_IMAGES = 1.05
"""Of each block that a direct load makes."""
_ROWS = 1.3
"""Of each byte of rows that are inserted one by one, undo included."""
_ENTRIES = 2.0
"""Of each byte of an index that is kept up during a load."""
_AREA = "USE_DB_RECOVERY_FILE_DEST"


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
    if work.operation in ("ctas", "insert"):
        return _of_load(work, facts, logged=logged)
    return 0.0


def redo_of_copy(source: QualifiedName, facts: Facts, *, logged: bool = True) -> float | None:
    """Estimate the redo of copying all rows of a table by a direct load."""
    return _images(_number(fact_about(facts, source, "byte_count")), logged=logged)


def redo_of_index(size: float | None, *, logged: bool) -> float | None:
    """Estimate the redo of building an index of this many bytes on a copy."""
    return _images(size, logged=logged)


def room(facts: Facts) -> ArchiveRoom | None:
    """Return what is free where redo is archived; None where none is, or nothing was asked."""
    mode = facts.value("doctor_database", "log_mode")
    asked = FILE in facts.answers or FILE in facts.refused
    if facts.assumed or not asked or mode == "NOARCHIVELOG":
        return None
    if mode is None:
        return ArchiveRoom(unknown="V$DATABASE cannot be read, so it is unknown whether redo is archived")
    flashback = str(facts.value("doctor_database", "flashback_on") or "NO")
    also = "" if flashback == "NO" else f"FLASHBACK_ON is {flashback}"
    if FILE in facts.refused:
        return ArchiveRoom(unknown="V$ARCHIVE_DEST and V$RECOVERY_FILE_DEST cannot be read", flashback=also)
    area = next((row for row in facts.rows(FILE) if row.get("place_kind") == "area"), None)
    places = [str(row.get("place")) for row in facts.rows(FILE) if row.get("place_kind") == "destination"]
    if area is not None and (_AREA in places or not places):
        free, limit = _number(area.get("free_bytes")), _number(area.get("limit_bytes"))
        return ArchiveRoom(str(area.get("place")), None if free is None else max(free, 0.0), limit, flashback=also)
    where = places[0] if places else ""
    return ArchiveRoom(where, unknown="the server does not tell what is free there", flashback=also)


def _of_load(work: Work, facts: Facts, *, logged: bool) -> float | None:
    size = None if work.source is None else _number(fact_about(facts, work.source, "byte_count"))
    if size is None:
        return None
    percent = _number(work.option("sample"))
    size *= 1.0 if percent is None else percent / 100
    direct = work.operation == "ctas" or work.option("load") != "conventional"
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
