"""The files of the project, for tests about them."""

from __future__ import annotations

import ast
import functools
import gc
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def project_files() -> tuple[Path, ...]:
    """Every file that is or would be committed; without git every file of the source folders."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode == 0 and listed.stdout:
        return tuple(path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file())
    folders = ("toolkit", "sql", "templates", "tests", "docs", "examples", "benchmarks", "requirements")
    return tuple(
        path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    )  # fmt: skip


@functools.cache
def texts(folder: str = "toolkit") -> tuple[tuple[str, str], ...]:
    """Return name and text of every Python file of a folder."""
    named = ((path.relative_to(ROOT).as_posix(), path) for path in project_files() if path.suffix == ".py")
    return tuple((name, path.read_text(encoding="utf-8")) for name, path in named if name.startswith(folder + "/"))


def sources(containing: str, folder: str = "toolkit") -> Iterator[tuple[str, ast.Module]]:
    """Yield name and tree of each Python file of a folder whose text a pattern is found in.

    Parsing all files takes seconds, and their trees slow down every later collection of garbage: a test names what
    it looks for.
    """
    pattern = re.compile(containing, re.MULTILINE)
    for name, text in texts(folder):
        if pattern.search(text):
            gc.disable()  # a tree has no garbage while it grows
            try:
                tree = ast.parse(text)
            finally:
                gc.enable()
            yield name, tree


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a module at every depth, without walking through their expressions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from statements(node)


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the top-level names of what a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]
