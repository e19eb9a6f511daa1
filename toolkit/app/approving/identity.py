"""What identifies a database: what stays the same however it is reached, and what a copy of it has otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts, refused
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import EngineName, Role
from toolkit.targets.base import Target

_PARTS: Mapping[EngineName, tuple[tuple[str, str, str], ...]] = {
    "oracle": (
        ("name", "server", "database_name"),
        ("DBID", "doctor_database", "dbid"),
        ("container", "doctor_container", "container_name"),
        ("DBID of the container", "awr_container", "con_dbid"),
        ("user", "server", "user_name"),
    ),
    "postgresql": (
        ("name", "server", "database_name"),
        ("oid and system identifier", "server", "database_id"),
        ("user", "server", "user_name"),
    ),
    "duckdb": (("file", "server", "database_id"),),
}
"""Name, query and column of each part. The DBID is that of V$DATABASE; a clone made by NID has another one."""
_HEADER_BYTES = 4096
"""The first block of a DuckDB file is written once, when it is made, and holds an id of its own since 1.4."""


def identity_of(target: Target) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the parts of a database's identity, and what of it could not be read.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, TK-0203 when it says nothing of itself.
    """
    parts = _PARTS[target.engine]
    dialect = dialect_of(target.engine)
    files = dict.fromkeys(file for _, file, _ in parts)
    sessions = Sessions(target, "dbatk approve", read_only=True)
    try:
        queries = [Query(file, file, optional=file != "server") for file in files]
        facts = read_facts(sessions.get(Role.CONTROL), dialect, queries)
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
        # the header is read past DuckDB: closing that file would give up the lock it holds for this process
        target.close()
    found = {name: str(facts.value(file, column)) for name, file, column in parts if _has(facts, file, column)}
    if target.engine == "duckdb":
        found |= _header(found.get("file", ""))
    return found, tuple(_unread(facts, parts))


def _has(facts: Facts, file: str, column: str) -> bool:
    return facts.value(file, column) not in (None, "")


def _unread(facts: Facts, parts: Iterable[tuple[str, str, str]]) -> Iterable[str]:
    for name, file, _ in parts:
        if file in facts.refused and (file, name) != ("awr_container", "DBID of the container"):
            yield f"the {name} could not be read ({facts.refused[file].splitlines()[0]})"


def _header(path: str) -> Mapping[str, str]:
    """Return the mark of a DuckDB file; none for a database in memory."""
    try:
        with Path(path).open("rb") as file:
            return {"id": sha256(file.read(_HEADER_BYTES)).hexdigest()[:32]}
    except OSError as error:
        if path == ":memory:":
            return {}
        raise ToolkitError(
            f"`{path}` cannot be read: {(error.strerror or 'unknown reason').lower()}", code="TK-0201"
        ) from None
