"""Index methods and storage parameters: what an index to build asks for, and what its method has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.support import refused
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.values import Support

_METHOD = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PARAMETER = re.compile(r"(?P<name>[a-z_][a-z0-9_]{0,62})\s*=\s*(?P<value>[A-Za-z0-9_.+-]{1,40})", re.IGNORECASE)
_PARALLEL_SINCE = {"brin": 17, "gin": 18}
"""The release that first builds an index of a method in parallel (release notes of 17 and 18); btree: 11."""
_SERIAL = frozenset({"hash", "gist", "spgist"})


def method(work: Work) -> str | None:
    """Return the method asked for, as the catalogue spells it.

    Raises:
        ToolkitError: TK-0104 for what cannot be the name of one.
    """
    text = work.option("method")
    if text is None:
        return None
    name = str(text).strip().lower()
    if _METHOD.fullmatch(name) is None:
        raise ToolkitError(f"`{text}` is not an index method", code="TK-0104", hint="give btree, gin or brin, say")
    return name


def parameters(work: Work) -> dict[str, str]:
    """Return the storage parameters of an index, `--pctfree` as its fillfactor.

    Raises:
        ToolkitError: TK-0104 for what is not `name=value`, TK-0107 for a parameter given twice.
    """
    given = work.option("storage_parameters") or ()
    free = work.option("pctfree")
    found = {} if free is None else {"fillfactor": str(100 - int(str(free)))}
    for text in given if isinstance(given, tuple) else (str(given),):
        match = _PARAMETER.fullmatch(text.strip())
        if match is None:
            raise ToolkitError(
                f"`{text}` is not a storage parameter", code="TK-0104", hint="give name=value: `fillfactor=70`"
            )
        name = match["name"].lower()
        if name in found:
            raise ToolkitError(
                f"the storage parameter `{name}` is given twice",
                code="TK-0107",
                hint="`--pctfree` sets fillfactor too" if free is not None else "give it once",
            )
        found[name] = match["value"]
    return found


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge an index to build by what its method has, as the server says it of each.

    Raises:
        ToolkitError: TK-0104 and TK-0107 as `method` and `parameters`.
    """
    parameters(work)
    virtual = {row["column_name"] for row in facts.rows("virtual_columns") if row.get("generation") == "virtual"}
    if not virtual.isdisjoint((*work.columns, *work.include)):
        return refused("PostgreSQL has no index on a virtual generated column; a stored one can have one")
    name = method(work) or "btree"
    known = _known(facts)
    if not known:
        return None
    if name not in known:
        return refused(f"this server has no index method `{name}`; it has {', '.join(known)}")
    return next((refused(f"a {name} index {lack}") for lack in _lacks(work, known[name])), None)


def _known(facts: Facts) -> dict[str, frozenset[str]]:
    """Return the properties of each method that the server has."""
    said = str(facts.value("server", "index_methods", "") or "")
    split = (part.split() for part in said.split(",") if part)
    return {words[0]: frozenset(words[1:]) for words in split}


def _lacks(work: Work, properties: frozenset[str]) -> Iterator[str]:
    if work.option("unique") and "unique" not in properties:
        yield "cannot be unique"
    if any(key.descending or key.nulls for key in work.keys) and "order" not in properties:
        yield "has no order: leave out DESC and NULLS"
    if work.include and "include" not in properties:
        yield "includes no further columns"
    if max(len(work.keys), len(work.columns)) > 1 and "columns" not in properties:
        yield "has one column"


def serial_build(work: Work, facts: Facts) -> str | None:
    """Say that an index of this method is built by one process whatever the degree; None where it is not."""
    name = method(work) or "btree"
    since = _PARALLEL_SINCE.get(name)
    serial = name in _SERIAL or (since is not None and major(facts.release) < since)
    if work.degree < 2 or not serial:
        return None
    later = f" before PostgreSQL {since}" if since else ""
    return f"a {name} index is built by one process{later}: a degree does not help"
