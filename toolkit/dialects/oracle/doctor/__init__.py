"""What `doctor` says about an Oracle target: the files it reads, and the checks judged from their answers.

A new check is one function in the module it belongs to, named in that module's `CHECKS`; a file that it reads is
one more line here. The checks come in the order a DBA asks: where am I, how parallel, what is in the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.doctor import database, home, objects, parallel
from toolkit.dialects.oracle.grants import grantee_of, not_granted, view_grant, views_of
from toolkit.dialects.oracle.work import WORK
from toolkit.model.facts import Facts
from toolkit.model.words import OperationName

# Files, and what is not known when one of them may not be read.
_NOT_JUDGED = "it is not checked"
_READ_FOR_EVERY_RUN = {
    "cloud_service": "this release does not name a managed service",
    "doctor_container": _NOT_JUDGED,
    "doctor_database": "role, archiving and forced logging are unknown",
    "doctor_directives": "the degree limit of the resource plan is unknown",
    "doctor_instance": "the instance, and whether it is restricted, is unknown",
    "doctor_instances": "other cluster instances are unknown",
    "doctor_limits": "the number of free processes is unknown",
    "doctor_maintained": _NOT_JUDGED,
    "doctor_marks": _NOT_JUDGED,
    "doctor_options": "installed options are assumed from the edition",
    "doctor_pdb": "it is unknown whether the pluggable database is restricted",
    "doctor_servers": "free parallel servers are unknown",
    "doctor_session": "the session's consumer group and switches are unknown",
}
_READ_BY_DOCTOR = {
    "doctor_groups": _NOT_JUDGED,
    "doctor_logon_triggers": "logon triggers are unknown",
    "doctor_pdb_logging": "forced logging of the pluggable database is unknown",
    "doctor_privileges": _NOT_JUDGED,
    "space_free": "free space is not checked",
    "doctor_standbys": "it is unknown whether there is a standby",
    "doctor_statistics": _NOT_JUDGED,
    "doctor_temp": "temporary space is not checked",
    "doctor_user": _NOT_JUDGED,
    "doctor_visible": _NOT_JUDGED,
    "doctor_waiting": "unusable indexes, unvalidated constraints and chained rows are unknown",
    "doctor_windows": "open maintenance windows and automatic tasks are unknown",
}
_UNKNOWN = {
    **_READ_FOR_EVERY_RUN,
    **_READ_BY_DOCTOR,
    "settings": "parallel limits are unknown, and settings are not recorded with a run",
}
PLACE_FILES = tuple(_READ_FOR_EVERY_RUN)
FILES = tuple(_READ_BY_DOCTOR)
_OF_OBJECTS = ("doctor_object_alias", "doctor_object_guards", "doctor_object_table")
# The release does not know a USERENV key, a view or a column: nothing a grant could change.
_OLDER = re.compile(r"ORA-(02003|00904)\b")


def object_files(operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
    """Return what is read about the objects of a work: what can stand in the way of its operation."""
    functions = ("doctor_object_functions",) if calls else ()
    return (*_OF_OBJECTS, *WORK.of(operation).object_files, *functions)


def checks(facts: Facts) -> tuple[Check, ...]:
    """Judge everything that was read; what was refused becomes a line of its own."""
    return tuple(check for judge in _CHECKS for check in judge(facts))


def _objects_of_work(facts: Facts) -> Iterator[Check]:
    """Judge the objects of the work that was asked about; nothing without one."""
    work = facts.first("doctor_work")
    for judge in objects.CHECKS if work else ():
        yield from judge(facts, str(work["operation"]))


def _refused(facts: Facts) -> Iterator[Check]:
    """Say of every refused read what is not known without it, and the grant that would allow it."""
    grantee = grantee_of(facts)
    for key, message in sorted(facts.refused.items()):
        if not key.startswith("doctor_") and key not in _UNKNOWN:
            continue
        sentence = message.strip().splitlines()[0] if message.strip() else "refused without a message"
        consequence = _UNKNOWN.get(key, _NOT_JUDGED)
        name = "not read: " + key.removeprefix("doctor_").replace("_", " ")
        if _OLDER.search(message) or not not_granted(message):
            yield Check(name, "ok" if _OLDER.search(message) else "note", sentence, consequence, read=key)
        else:
            statements = "; ".join(view_grant(view, grantee) for view in views_of(key))
            yield Check(name, "note", sentence, consequence, statements, read=key)


_CHECKS = (*home.CHECKS, *parallel.CHECKS, _objects_of_work, *database.CHECKS, _refused)
