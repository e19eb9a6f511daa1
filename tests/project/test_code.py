"""How the code reads is a promise, too: layers, sizes, and what must not be written at all."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys

import pytest

from tests.project.tree import ROOT, imported, project_files, sources, statements, texts

LONGEST_FILE, LONGEST_FUNCTION = 400, 60
TOP_LEVEL = {
    ".ci", ".github", ".gitignore", "CHANGELOG.md", "Makefile", "README.md", "benchmarks", "docs", "examples",
    "pyproject.toml", "requirements", "sql", "templates", "tests", "toolkit",
}  # fmt: skip


def test_nothing_else_stands_at_the_top() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in project_files()} <= TOP_LEVEL


def test_the_layers_point_downwards() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "0 broken" in shown.stdout


def test_no_file_is_too_long() -> None:
    long = {name: lines for name, text in texts() if (lines := text.count("\n")) > LONGEST_FILE}
    assert long == {}


def test_no_function_is_too_long() -> None:
    long = {
        f"{name}:{node.name}": lines
        for name, tree in sources(rf"\A(?:.*\n){{{LONGEST_FUNCTION}}}")
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    }
    assert long == {}


def test_no_command_goes_through_a_shell() -> None:
    shells = [
        f"{name}:{node.value.lineno}"
        for folder in ("toolkit", "tests", "benchmarks", "docs")
        for name, tree in sources(r"\bshell\b", folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "shell"
    ]
    assert shells == []


_LOUD = {"print", "sys.exit", "exit", "quit", "os._exit", "sys.stdout.write", "sys.stderr.write"}


_PROGRAMS = (
    "toolkit/executors/dump_list.py", "toolkit/executors/scratch_server.py", "toolkit/executors/unpack.py",
    "toolkit/targets/duckdb_scratch.py",
)  # fmt: skip
"""Programs of their own, begun by their path: what they write is read by the process that began them."""


def _calls(tree: ast.AST) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def test_only_the_command_line_prints_and_exits() -> None:
    loud = {
        name: found
        for name, tree in sources(r"\b(print|exit|quit|_exit|stdout|stderr)\b")
        if not name.startswith(("toolkit/cli/", "toolkit/__main__.py", *_PROGRAMS))
        and (found := _calls(tree) & _LOUD)
    }
    # a second signal ends the process at once, from inside the handler: nothing above could do it
    # a process of users ends with its run from a thread beside those that wait for the server
    ends = ("toolkit/runner/stop.py", "toolkit/executors/users/process.py")
    assert loud == {name: {"os._exit"} for name in ends}


def test_programs_of_their_own_are_imported_by_nobody() -> None:
    modules = {program.removesuffix(".py").replace("/", ".") for program in _PROGRAMS}
    importing = {
        name: found
        for name, tree in sources(r"\b(dump_list|scratch_server|unpack|duckdb_scratch)\b")
        if (found := {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)} & modules)
    }
    assert importing == {}


def test_terminal_libraries_are_used_by_the_command_line_only() -> None:
    users = {
        name
        for name, tree in sources(r"\b(typer|rich|click)\b")
        if not name.startswith("toolkit/cli/") and set(imported(tree)) & {"typer", "rich", "click"}
    }
    assert users == set()


def test_what_scripts_import_of_the_toolkit_is_there() -> None:
    """No test runs all benchmarks."""
    missing = [
        f"{name}: {node.module}.{alias.name}"
        for folder in ("benchmarks", "docs", "examples")
        for name, tree in sources(r"^\s*from (?:toolkit|tests)\b", folder)
        for node in statements(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("toolkit", "tests"))
        for alias in node.names
        if not hasattr(importlib.import_module(str(node.module)), alias.name)
        and importlib.util.find_spec(f"{node.module}.{alias.name}") is None
    ]
    assert missing == []


@pytest.mark.parametrize("module", ["toolkit", "toolkit.cli.main"])
def test_importing_loads_no_driver_and_no_heavy_library(module: str) -> None:
    heavy = ("duckdb", "oracledb", "psycopg", "sqlalchemy", "numpy", "jinja2", "cryptography")
    script = f"import sys, {module}; print(*(m for m in {heavy!r} if m in sys.modules))"
    shown = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == ""
