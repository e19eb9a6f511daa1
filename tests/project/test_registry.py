"""Nobody outside an operation's or an engine's own folder asks which one it is: it asks what that one declares."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.project.tree import sources
from toolkit.model.engines import engines
from toolkit.model.operations import operations

EXCEPTIONS = {
    "toolkit/cli/schedule.py: oracle": "a kind of scheduler (`--kind oracle`), not the engine",
    **dict.fromkeys(
        (f"toolkit/model/options.py: {name}" for name in ("oracle", "postgresql", "duckdb")),
        "examples for help, which is shown before an engine is loaded",
    ),
    "toolkit/design/mix_factors.py: mix": "the table `[mix]` of its file",
    "toolkit/errors.py: duckdb": "a package of Python that may be missing",
    "toolkit/readers/rman/: backup": "a word of RMAN's log",
    "toolkit/store/migrations.py: postgresql": "the database of the store, not a target",
}
"""Where a name stands all the same, as `file: name` or `folder/: name`, and the reason."""


ORDINARY = frozenset({"host", "command", "load"})
"""Words that name other things, too (a key of many records): only beside an engine or an operation they decide."""


def _own(name: str, path: str) -> bool:
    """Whether a file may know a name: its own folder; engines know operations, and options their engines."""
    folders = [
        f"toolkit/dialects/{name}/",
        f"toolkit/targets/{name}",
        f"toolkit/operations/{name.replace('-', '_')}/",
    ]
    if name in operations():
        folders += [f"toolkit/dialects/{engine}/" for engine in engines()]
    else:
        folders += ["toolkit/operations/"]
    return path.startswith(tuple(folders))


def _compared(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what decides which way code goes: sides of comparisons, cases, keys and members of literals."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.MatchValue):
        yield node.value
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.Set):
        yield from node.elts


def _is_about_them(node: ast.AST) -> bool:
    """Whether a comparison has an engine or an operation on a side."""
    words = (getattr(part, "attr", getattr(part, "id", "")) for part in _compared(node))
    return isinstance(node, ast.Compare) and any("engine" in word or "operation" in word for word in words)


def _names(path: str, tree: ast.AST) -> set[str]:
    every = {*operations(), *engines()}
    found: set[str] = set()
    for node in ast.walk(tree):
        known = every if _is_about_them(node) else every - ORDINARY
        for part in _compared(node):
            members = part.elts if isinstance(part, ast.Tuple | ast.List | ast.Set) else [part]
            for member in members:
                if isinstance(member, ast.Constant) and member.value in known and not _own(member.value, path):
                    found.add(f"{path}: {member.value}")
    return found


def _excepted(found: str) -> bool:
    path, _, name = found.partition(": ")
    return found in EXCEPTIONS or f"{path.rpartition('/')[0]}/: {name}" in EXCEPTIONS


def test_nobody_asks_which_operation_or_engine_it_is() -> None:
    found: set[str] = set()
    for path, tree in sources(rf"""["']({"|".join([*operations(), *engines()])})["']"""):
        found |= _names(path, tree)
    folders = {f"{one.rpartition('/')[0]}/: {one.rpartition(' ')[2]}" for one in found}
    assert sorted(one for one in found if not _excepted(one)) == []
    assert sorted(set(EXCEPTIONS) - found - folders) == [], "an exception that is none any more"
