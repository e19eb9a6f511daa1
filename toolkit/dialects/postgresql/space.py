"""Where objects and sorts go: tablespaces, whose folders only the host knows the free space of.

A new object goes to the tablespace that its statement names, else to `default_tablespace`, else to that of the
database; what is there already stays in its own. Sorts go to `temp_tablespaces`, else to the database's own
(manual, client connection defaults). LIKE ... INCLUDING INDEXES gives each index the tablespace of its original.
"""

from __future__ import annotations

from toolkit.dialects import sizes
from toolkit.dialects.answers import Room
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Takes, Until
from toolkit.model.values import QualifiedName, Row, Scalar

FILE = "space"


def new(tablespace: str | None, facts: Facts) -> Place:
    """Return where a new object goes, whose statement names this tablespace or none."""
    default = next((row for row in facts.rows(FILE) if row.get("is_default") == "yes"), None)
    return _named(tablespace or (default or _own(facts)).get("place"))


def own(tablespace: Scalar, facts: Facts) -> Place:
    """Return where an object is, by its tablespace in the catalogue: null stands for the database's."""
    return _named(tablespace or _own(facts).get("place"))


def sorting(size: float | None, facts: Facts, unknown: str = "") -> Takes:
    """Say what sorted keys take while they are sorted."""
    here = _own(facts)
    named = str(here.get("temporary_places") or "").split(",")
    places = [word.strip(' "') for word in named if word.strip()] or [str(here.get("place") or "")]
    place = _named(places[0]) if len(places) == 1 else Place(PlaceKind.TEMPORARY)
    return Takes(size, place, Until.STEP, unknown)


def of_copy(table: QualifiedName, facts: Facts) -> tuple[Takes, ...]:
    """Say what a copy with all rows of a table takes."""
    size = sizes.table_bytes(table, facts)
    return (
        Takes(size, new(None, facts), unknown="" if size is not None else f"the size of `{table}` is not known"),
    )


def of_entries(table: QualifiedName, loaded: float | None, facts: Facts, why: str = "") -> tuple[Takes, ...]:
    """Say what the indexes of a table, or of its copy, grow by in a load of this many bytes."""
    whole: Row = {"byte_count": sizes.table_bytes(table, facts)}
    rows = facts.rows("table_indexes")
    return tuple(
        Takes(sizes.entry_bytes(row, whole, loaded), own(row.get("tablespace"), facts), unknown=why)
        for row in rows
    )


def room(place: Place, facts: Facts) -> Room:
    """Return the folder of a tablespace, whose free space the host tells."""
    if place.kind is PlaceKind.FOLDER and place.name:
        return Room(folder=place.name)
    if place.kind is PlaceKind.TEMPORARY:
        return Room(unknown="temp_tablespaces has several, which take turns")
    rows = {str(row.get("place")): row for row in facts.rows(FILE)}
    if not place.name or not rows:
        return Room(unknown="which one it is was not read")
    row = rows.get(place.name)
    if row is None:
        missing = f"tablespace `{place.name}` does not exist"
        return Room(refusal=ToolkitError(missing, code="TK-0204", hint=did_you_mean(place.name, list(rows))))
    if row.get("path") is None:
        return Room(unknown="the data directory is not shown to this user", hint="GRANT pg_read_all_settings")
    return Room(folder=str(row["path"]))


def _own(facts: Facts) -> Row:
    return next((row for row in facts.rows(FILE) if row.get("is_own") == "yes"), {})


def _named(tablespace: Scalar) -> Place:
    name = "" if tablespace is None else str(tablespace)
    return Place(PlaceKind.TABLESPACE, name, "" if name else "the database")
