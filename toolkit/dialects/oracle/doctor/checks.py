"""The files doctor reads, and its checks in the order a DBA asks: where am I, how parallel, what is in the way."""

from __future__ import annotations

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.doctor import calm, home, named, packs, parallel, refused, room
from toolkit.model.facts import Facts
from toolkit.model.words import OperationName

PLACE_FILES = (
    "cloud_service",
    "doctor_container",
    "doctor_database",
    "doctor_directives",
    "doctor_instance",
    "doctor_instances",
    "doctor_limits",
    "doctor_maintained",
    "doctor_marks",
    "doctor_options",
    "doctor_pdb",
    "doctor_servers",
    "doctor_session",
)
FILES = (
    "doctor_logon_triggers",
    "doctor_pdb_logging",
    "doctor_privileges",
    "space_free",
    "doctor_standbys",
    "doctor_statistics",
    "doctor_temp",
    "doctor_user",
    "doctor_visible",
    "doctor_windows",
)
_OF_OBJECTS = ("doctor_object_alias", "doctor_object_guards", "doctor_object_table")
_OF_OPERATIONS: dict[OperationName, tuple[str, ...]] = {
    "ctas": ("doctor_object_columns",),
    "insert": ("doctor_object_columns", "doctor_object_indexes", "doctor_object_archive"),
    "index-build": ("doctor_object_columns", "doctor_object_indexes"),
    "index-rebuild": ("doctor_object_indexes",),
    "stats-gather": ("doctor_object_statistics",),
    "backup": (),
}

_PARTS = (home.checks, parallel.checks, named.checks, packs.checks, room.checks, calm.checks, refused.checks)


def object_files(operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
    """Return what is read of the objects of a work: what can stand in the way of its operation."""
    functions = ("doctor_object_functions",) if calls else ()
    return (*_OF_OBJECTS, *_OF_OPERATIONS.get(operation, ()), *functions)


def checks(facts: Facts) -> tuple[Check, ...]:
    """Judge everything that was read; what was refused becomes a line of its own."""
    return tuple(check for part in _PARTS for check in part(facts))
