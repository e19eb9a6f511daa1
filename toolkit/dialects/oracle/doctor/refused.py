"""Reads that were refused: each a line with what is not known without it, and the grant that would tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle.grants import grantee_of, not_granted, view_grant, views_of
from toolkit.model.facts import Facts

# The release does not know a USERENV key, a view or a column: nothing a grant could change.
_OLDER = re.compile(r"ORA-(02003|00904)\b")

_CONSEQUENCES = {
    "cloud_service": "this release tells no managed service",
    "doctor_database": "role, archiving and forced logging are not known",
    "doctor_directives": "a degree limit of the resource plan is not known",
    "doctor_instance": "the instance, and whether it is restricted, is not known",
    "doctor_instances": "the other instances of a cluster are not known",
    "doctor_limits": "the room for more processes is not known",
    "doctor_logon_triggers": "logon triggers are not known",
    "doctor_options": "what the installation can do is guessed from its edition",
    "doctor_pdb": "whether the pluggable database is restricted is not known",
    "doctor_pdb_logging": "forced logging of the pluggable database is not known",
    "doctor_servers": "free parallel servers are not known",
    "doctor_session": "the session's consumer group and switches are not known",
    "space_free": "free space is not checked",
    "doctor_standbys": "whether a standby is fed is not known",
    "doctor_temp": "temporary space is not checked",
    "doctor_windows": "open maintenance windows and automatic tasks are not known",
    "settings": "the limits of parallel work are not known, and settings are not recorded with a run",
}


def checks(facts: Facts) -> Iterator[Check]:
    """Say of every refused read of ours what is not known."""
    grantee = grantee_of(facts)
    for key, message in sorted(facts.refused.items()):
        if not key.startswith("doctor_") and key not in _CONSEQUENCES:
            continue
        sentence = message.strip().splitlines()[0] if message.strip() else "refused without a word"
        consequence = _CONSEQUENCES.get(key, "it is not judged")
        name = "not read: " + key.removeprefix("doctor_").replace("_", " ")
        if _OLDER.search(message) or not not_granted(message):
            yield Check(name, "ok" if _OLDER.search(message) else "note", sentence, consequence, read=key)
        else:
            statements = "; ".join(view_grant(view, grantee) for view in views_of(key))
            yield Check(name, "note", sentence, consequence, statements, read=key)
