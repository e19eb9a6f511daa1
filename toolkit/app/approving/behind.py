"""What stands behind the names of a plan where one read of the catalogue does not tell: from name to name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Query
from toolkit.model.values import Row

_LONGEST = 3000
"""Characters of a value that is bound: Oracle takes 4,000 bytes."""
_MOST = 5000
"""Objects behind the names of one plan; who has more approves what they name."""

Read = Callable[[Sequence[Query]], Facts]
Words = Callable[[str], Iterable[str]]


@dataclass(slots=True)
class Closure:
    """What was found behind objects: their texts, and what each leads to.

    Attributes:
        parts: for each object its texts, each with what it is.
        ways: for each object those that it leads to.
        unread: what is not shown to this user.
    """

    parts: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    ways: dict[str, set[str]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    def marks(self, roots: Mapping[str, str]) -> dict[str, str]:
        """Return for each root a mark of all texts behind it; none where there is nothing.

        What is behind another root is marked there.

        Args:
            roots: objects that are named, each with what the name leads to.
        """
        found: dict[str, str] = {}
        for root in roots:
            texts = sorted(
                f"{each} {part} {text}"
                for each in self._reached(root, roots)
                for part, text in self.parts.get(each, ())
                if text != roots[root]
            )
            if texts:
                found[root] = sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()[:12]
        return found

    def _reached(self, root: str, roots: Mapping[str, str]) -> set[str]:
        seen, waiting = {root}, [root]
        while waiting:
            more = self.ways.get(waiting.pop(), set()) - seen - set(roots)
            seen |= more
            waiting += more
        return seen


def look_behind(files: Sequence[str], roots: Iterable[str], read: Read, words: Words) -> Closure:
    """Ask the catalogue from object to object, each once, so that a circle ends.

    Args:
        files: of the catalogue, each with `:words`. Their rows have `name`, the object that was asked for; `part`
            and `text` of what is approved; `leads_to`, what to ask for next; `calls_in`, the schema in which the
            functions of a text are looked up; `unread`, what is not shown.
        roots: objects, with their schemas.
        read: runs queries.
        words: the names in a text.

    Raises:
        ToolkitError: TK-0313 where there is more behind the names than can be approved.
    """
    found = Closure()
    waiting = set(roots) if files else set()
    asked: set[str] = set()
    while waiting:
        asked |= waiting
        if len(asked) > _MOST:
            raise ToolkitError(
                f"no approval holds what stands behind the names: it is more than {_MOST:,} objects",
                code="TK-0313",
                hint="name tables instead of views and programs that lead to so many",
            )
        queries = [
            Query(f"{file}_{at}", file, {"words": line}, optional=True)
            for at, line in enumerate(_lines(waiting))
            for file in files
        ]
        facts = read(queries)
        found.unread |= {f"what stands behind names could not be read ({each})" for each in facts.refused.values()}
        for query in queries:
            for row in facts.rows(query.key):
                _take(row, found, words)
        waiting = {way for name in waiting for way in found.ways.get(name, ())} - asked
    return found


def _lines(names: Iterable[str]) -> Iterator[str]:
    line = "|"
    for name in sorted(names):
        if len(line) + len(name) > _LONGEST:
            yield line
            line = "|"
        line += f"{name}|"
    yield line


def _take(row: Row, found: Closure, words: Words) -> None:
    name, text = str(row["name"]), str(row.get("text") or "")
    if row.get("part"):
        found.parts.setdefault(name, set()).add((str(row["part"]), text))
    if row.get("unread"):
        found.unread.add(f"the source of {row['unread']} is not shown to this user")
    ways = found.ways.setdefault(name, set())
    if row.get("leads_to"):
        ways.add(str(row["leads_to"]))
    if schema := row.get("calls_in"):
        ways.update(word if "." in word else f"{schema}.{word}" for word in words(text) if word[:1] != ".")
