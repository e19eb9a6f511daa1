"""What names without a schema in the SQL of a plan mean: approved, as search paths and synonyms change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from toolkit.design.lexis import Token, TokenKind, syntax_of, tokens
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.model.audit import Value
from toolkit.model.facts import Facts, Query

_SQL = frozenset({"query", "where", "columns", "include", "sql", "source"})
"""The last part of the keys whose values hold SQL, or a name that may be that of a view."""
_MADE = frozenset({"table", "index_name"})
"""Keys of what a plan makes itself: it is looked for in the first schema, where nothing can stand before it."""
_LONGEST = 3000
"""Characters of a value that is bound: Oracle takes 4,000 bytes."""


def queries_of(file: str, values: Mapping[str, Value], dialect: Dialect) -> list[Query]:
    """Return the reads that resolve the names without a schema in the SQL of a plan or an experiment.

    Args:
        file: the engine's query, with `:words`; empty where names cannot lead elsewhere.
        values: of the plan or experiment.
        dialect: whose quotes and letter case count.
    """
    own = {_name(dialect, text) for text in _texts(values, _MADE)}
    words = {word for text in _texts(values, _SQL) for word in _words(text, dialect)} - own
    found, line = [], ""
    for word in sorted(words) if file else ():
        if len(line) + len(word) > _LONGEST:
            found.append(line)
            line = ""
        line += f"{word}|"
    lines = [each for each in (*found, line) if each]
    return [Query(f"names_{at}", file, {"words": f"|{each}"}, optional=True) for at, each in enumerate(lines)]


def meanings(facts: Facts, queries: Iterable[Query]) -> dict[str, str]:
    """Return what each name leads to, as parts of a database's identity."""
    found: dict[str, set[str]] = {}
    for query in queries:
        for row in facts.rows(query.key):
            found.setdefault(str(row["name"]), set()).add(str(row["leads_to"]))
    return {f"name `{name}`": "; ".join(sorted(places)) for name, places in found.items()}


def _texts(values: Mapping[str, Value], keys: frozenset[str]) -> Iterator[str]:
    for key, value in values.items():
        if key.rpartition(".")[2] in keys:
            yield from (str(one) for one in (value if isinstance(value, tuple) else (value,)))


def _words(text: str, dialect: Dialect) -> Iterator[str]:
    """Yield the names that stand alone or begin a dotted one, those of columns too: nothing is parsed here."""
    found = [each for each in tokens(text, syntax_of(dialect.engine)) if each.kind is not TokenKind.COMMENT]
    start = Token(TokenKind.SIGN, "")
    for before, token in pairwise((start, *found)):
        if before.sign == ".":
            continue
        if token.kind is TokenKind.NAME:
            yield token.text
        elif token.kind is TokenKind.WORD and (name := _name(dialect, token.text)):
            yield name


def _name(dialect: Dialect, text: str) -> str:
    try:
        found = dialect.parse_name(text)
    except ToolkitError:
        return ""
    return found.name if found.schema is None else ""
