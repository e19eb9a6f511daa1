"""What objects take of the folder that the database's file is in; a database in memory takes no disk."""

from __future__ import annotations

from pathlib import PurePath

from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Takes, Until

FILE = "space"
_UNSIZED = "DuckDB does not report the size of a table"


def takes(size: float | None, facts: Facts, why: str = _UNSIZED, until: Until = Until.OBJECT) -> tuple[Takes, ...]:
    """Say what an object of this many bytes takes; `why` is for a size that is not known."""
    file = facts.value(FILE, "place")
    if file in (None, ":memory:"):
        return ()
    place = Place(PlaceKind.FOLDER, str(PurePath(str(file)).parent))
    return (Takes(size, place, until, "" if size is not None else why),)
