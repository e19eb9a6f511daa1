"""Tablespaces, quotas and what is free: a segment that finds no room is refused, as Oracle refuses it.

A segment goes to the tablespace that its statement names, else to the default one of the schema that owns it, and
counts against the owner's quota there, whoever makes it (SQL Language Reference, CREATE TABLE, CREATE USER).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.oracle.standin.errors import ora

if TYPE_CHECKING:
    from tests.oracle.standin.state import Made, Session, State

VIEWS = {
    "DBA_TS_QUOTAS": "TABLESPACE_NAME USERNAME BYTES:n MAX_BYTES:n BLOCKS:n MAX_BLOCKS:n DROPPED",
    "USER_TS_QUOTAS": "TABLESPACE_NAME BYTES:n MAX_BYTES:n BLOCKS:n MAX_BLOCKS:n DROPPED",
    "DBA_SYS_PRIVS": "GRANTEE PRIVILEGE ADMIN_OPTION COMMON INHERITED",
}
_BLOCK = 8192
_ASKED = re.compile(r'\bTABLESPACE\s+"([^"]+)"')
_COLUMNAR = re.compile(r"\bCOMPRESS FOR (?:QUERY|ARCHIVE)\b")
_UNLIMITED = "UNLIMITED TABLESPACE"
Rows = list[dict[str, object]]


def rows_of(state: State, view: str, session: Session) -> Rows:
    """Return the rows of a view about places."""
    return {
        "DBA_TS_QUOTAS": lambda: _quotas(state),
        "USER_TS_QUOTAS": lambda: [
            {name: value for name, value in row.items() if name != "USERNAME"}
            for row in _quotas(state)
            if row["USERNAME"] == session.user
        ],
        "DBA_SYS_PRIVS": lambda: _grants(state),
        "DBA_TABLESPACES": lambda: _tablespaces(state),
        "USER_TABLESPACES": lambda: [
            {name: value for name, value in row.items() if name != "BIGFILE"} for row in _tablespaces(state)
        ],
        "DBA_FREE_SPACE": lambda: [
            {"TABLESPACE_NAME": name, "BYTES": _free(state, name)} for name in state.scenario.tablespaces
        ],
        "DBA_USERS": lambda: [
            {"USERNAME": name, "DEFAULT_TABLESPACE": default(state, name), "TEMPORARY_TABLESPACE": "TEMP"}
            for name in dict.fromkeys(("SYS", "APP", state.scenario.user))
        ],
    }[view]()


def default(state: State, schema: str) -> str:
    """Return the default tablespace of a schema."""
    return state.scenario.defaults.get(schema, "USERS")


def refuse_columnar(state: State, text: str) -> None:
    """Refuse hybrid columnar compression on disks that have none.

    Raises:
        BackendError: ORA-64307.
    """
    if _COLUMNAR.search(text) and state.scenario.disks == "plain":
        raise ora(64307)


def settle(state: State, text: str, before: int, drop: Callable[[Made], object]) -> None:
    """Put the segments that a statement made where they go; refuse what finds no room there.

    Raises:
        BackendError: ORA-00959, ORA-01950, ORA-01536 or ORA-01652; the object is gone then.
    """
    asked = _ASKED.search(text)
    for key, made in list(state.objects.items()):
        if made.object_id < before:
            continue
        made.tablespace = asked[1] if asked else default(state, made.name[0])
        number = _refusal(state, made)
        if number:
            del state.objects[key]
            drop(made)
            raise ora(number, f"{made.tablespace} ({made.name[0]}.{made.name[1]})")


def _refusal(state: State, made: Made) -> int:
    place, owner = made.tablespace, made.name[0]
    if place not in state.scenario.tablespaces:
        return 959
    limits = {(row["USERNAME"], row["TABLESPACE_NAME"]): row["MAX_BYTES"] for row in _quotas(state)}
    if owner not in {str(row["GRANTEE"]) for row in _grants(state) if row["PRIVILEGE"] == _UNLIMITED}:
        limit = limits.get((owner, place))
        if limit is None:
            return 1950
        if float(str(limit)) >= 0 and _used(state, place, owner) > float(str(limit)):
            return 1536
    return 1652 if _free(state, place) < 0 else 0


def _used(state: State, place: str, owner: str | None = None) -> int:
    """Return what was taken of a tablespace since the stand-in began."""
    return sum(
        made.bytes
        for made in list(state.objects.values())
        if made.object_id >= state.first_made and made.tablespace == place and owner in (None, made.name[0])
    )


def _free(state: State, place: str) -> int:
    return state.scenario.tablespaces[place] - _used(state, place)


def _quotas(state: State) -> Rows:
    return [
        {"USERNAME": owner, "TABLESPACE_NAME": place, "BYTES": _used(state, place, owner), "MAX_BYTES": limit}
        for (owner, place), limit in state.scenario.quotas.items()
    ]


def _grants(state: State) -> Rows:
    held = [(state.scenario.user, name) for name in state.scenario.privileges]
    held += [(name, _UNLIMITED) for name in ("SYS", *state.scenario.unlimited)]
    return [{"GRANTEE": grantee, "PRIVILEGE": name, "ADMIN_OPTION": "NO"} for grantee, name in held]


def _tablespaces(state: State) -> Rows:
    places = [*((name, "PERMANENT") for name in state.scenario.tablespaces), ("TEMP", "TEMPORARY")]
    return [
        {
            "TABLESPACE_NAME": name,
            "BLOCK_SIZE": _BLOCK,
            "STATUS": "ONLINE",
            "CONTENTS": contents,
            "SEGMENT_SPACE_MANAGEMENT": "MANUAL" if name in state.scenario.managed_by_lists else "AUTO",
            "PREDICATE_EVALUATION": "STORAGE" if state.scenario.disks == "exadata" else "HOST",
        }
        for name, contents in places
    ]
