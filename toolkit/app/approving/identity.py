"""What identifies a database, with what the names of a plan lead to there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from toolkit.app.approving.behind import look_behind
from toolkit.app.approving.naming import made_by, meanings, not_shown, queries_of, roots_of, words_of
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts, refused
from toolkit.model.audit import Value
from toolkit.model.engines import engine as engine_declared
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Role
from toolkit.targets.base import Target

_HEADER_BYTES = 4096
"""The first block of a DuckDB file is written once, when it is made, and holds an id of its own since 1.4."""
SCHEMA = "current_schema"
_PLACE = "server_place"


def identity_of(
    target: Target, values: Mapping[str, Value] | None = None
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the parts of a database's identity, and what of it could not be read.

    Args:
        target: the database.
        values: of a plan or experiment: what the names in its SQL lead to there is a part, too.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, TK-0203 when it says nothing of itself.
    """
    declared = engine_declared(target.engine)
    parts = (*declared.identity, *declared.session)
    dialect = dialect_of(target.engine)
    files = dict.fromkeys(file for _, file, _ in parts)
    sessions = Sessions(target, "dbatk approve", read_only=True)
    try:
        queries = [Query(file, file, optional=file != "server") for file in files]
        asking = queries_of(declared.names_in_texts, values or {}, dialect)
        if asking and declared.before_names:
            queries.append(Query(declared.before_names, declared.before_names, optional=True))
        control = sessions.get(Role.CONTROL)
        facts = read_facts(control, dialect, [*queries, *asking])
        roots = roots_of(facts, asking)
        read = partial(read_facts, control, dialect)
        closure = look_behind(declared.behind_names, roots, read, partial(words_of, dialect=dialect))
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
        # the header is read past DuckDB: closing that file would give up the lock it holds for this process
        target.close()
    found = {name: str(facts.value(file, column)) for name, file, column in parts if _has(facts, file, column)}
    own = made_by(values or {}, dialect, found.get(SCHEMA, ""))
    found |= meanings(facts, asking, own, closure.marks(roots))
    if declared.embedded and any(name == "file" for name, _, _ in declared.identity):
        file = found.get("file", "")
        found |= _header(file)
        if "id" in found:
            found["file"] = str(Path(file).resolve())  # a copy of the folder is another place
    target.keep_to(found.get(SCHEMA, ""))
    unread = ["what the names in its SQL lead to could not be read"]
    unread = unread if any(each.key in facts.refused for each in asking) else []
    unread += _hidden(facts, declared.identity)
    return found, (*_unread(facts, parts), *unread, *not_shown(facts, asking), *sorted(closure.unread))


def _has(facts: Facts, file: str, column: str) -> bool:
    return facts.value(file, column) not in (None, "")


def _unread(facts: Facts, parts: Iterable[tuple[str, str, str]]) -> Iterable[str]:
    for name, file, _ in parts:
        if file in facts.refused and (file, name) != ("awr_container", "DBID of the container"):
            yield f"the {name} could not be read ({facts.refused[file].splitlines()[0]})"


def _hidden(facts: Facts, parts: Iterable[tuple[str, str, str]]) -> Iterable[str]:
    """Say what of where it is is not shown: a clone that differs in nothing else would be taken for it."""
    for name, file, column in parts:
        if file == _PLACE and file not in facts.refused and not _has(facts, file, column):
            yield f"the {name} is not shown to this user (see `{file}.sql` for the grant)"


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
