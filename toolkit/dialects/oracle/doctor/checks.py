"""The files doctor reads, and its checks in the order a DBA asks: where am I, how parallel, what is in the way."""

from __future__ import annotations

from toolkit.dialects.base import Check
from toolkit.dialects.oracle.doctor import calm, home, named, packs, parallel, refused, room
from toolkit.model.facts import Facts

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
    "doctor_autotask",
    "doctor_logon_triggers",
    "doctor_parameters",
    "doctor_pdb_logging",
    "doctor_privileges",
    "doctor_server_statistics",
    "doctor_space",
    "doctor_standbys",
    "doctor_statistics",
    "doctor_temp",
    "doctor_user",
    "doctor_visible",
    "doctor_windows",
)
OBJECT_FILES = (
    "doctor_object_alias",
    "doctor_object_archive",
    "doctor_object_columns",
    "doctor_object_guards",
    "doctor_object_indexes",
    "doctor_object_statistics",
    "doctor_object_table",
)

_PARTS = (home.checks, parallel.checks, named.checks, packs.checks, room.checks, calm.checks, refused.checks)


def checks(facts: Facts) -> tuple[Check, ...]:
    """Judge everything that was read; what was refused becomes a line of its own."""
    return tuple(check for part in _PARTS for check in part(facts))
