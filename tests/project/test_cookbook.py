"""The cookbook's sessions run as they are shown: on a small table, every command ends as its page says."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

from tests.project.tree import ROOT
from tests.servers.programs import program
from tests.tiers import thinned

ROWS = 20_000
PAGES = sorted((ROOT / "docs/cookbook").glob("*.md"))
REFUSED = "error: "
_BY_CHANCE = ("3", "4")
"""What a comparison can tell depends on the machine."""

_TIMEOUT = """#!{python}
import subprocess, sys
command = subprocess.Popen(sys.argv[4:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in command.stdout:
    print(line, end="")
    if line.startswith("[1/"):
        command.kill()
sys.exit(128 - command.wait())
"""
"""Stands for `timeout -s KILL SECONDS`: it kills after the first trial, however busy the machine is."""

_NEED_ORACLE = {"connect-to-oracle", "what-changed-between-two-awr-reports", "when-did-it-begin"}
"""Pages without a session: nothing on them runs without a database of Oracle, or reports of one."""


@pytest.fixture(scope="module")
def cookbook() -> ModuleType:
    """`docs/cookbook.py` as a module."""
    spec = importlib.util.spec_from_file_location("cookbook", ROOT / "docs/cookbook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the demo's table, only smaller."""
    (tmp_path / "dbatk-demo").mkdir()
    text = (ROOT / "sql/duckdb/demo_gtest.sql").read_text(encoding="utf-8").replace(":rows;", f"{ROWS};")
    with duckdb.connect(str(tmp_path / "dbatk-demo/demo.duckdb")) as made:
        made.execute(re.sub(r":rows\b", str(ROWS), text))
    return tmp_path


def _shown(page: Path) -> list[tuple[str, str]]:
    """Commands of a page with what it shows of their output."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = re.sub(r"\\\n\s*", "", part).partition("\n")
            found.append((command, output))
    return found


def _programs(folder: Path) -> Path:
    """Make a folder with our own `timeout`, and `dbatk` without the start of an interpreter."""
    place = folder / "programs"
    program(place / "dbatk", "toolkit")
    (place / "timeout").write_text(_TIMEOUT.format(python=sys.executable), encoding="utf-8")
    (place / "timeout").chmod(0o755)
    return place


@pytest.mark.thin(2)
@pytest.mark.parametrize("page", thinned(PAGES, 12), ids=lambda page: page.stem)
def test_the_commands_of_a_page_end_as_it_shows(page: Path, folder: Path, cookbook: ModuleType) -> None:
    terminal = cookbook.Terminal(folder)
    terminal.environment["PATH"] = f"{_programs(folder)}:{terminal.environment['PATH']}"
    for name, text in cookbook.files(page.read_text(encoding="utf-8")).items():
        (folder / name).write_text(text, encoding="utf-8")
    before = ""
    for command, shown in _shown(page):
        printed = terminal.type(command)
        assert "TK-0901" not in printed, f"{command}\n{printed}"
        assert (REFUSED in printed) == (REFUSED in shown), f"{command}\n{printed}"
        if command == "echo $?" and shown.strip() not in _BY_CHANCE:
            assert printed.strip() == shown.strip(), before
        before = command


def test_every_page_shows_something_that_runs_and_can_be_found() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(cookbook/([\w-]+)\.md\)", index)) == {page.stem for page in PAGES}
    assert all(_shown(page) for page in PAGES if page.stem not in _NEED_ORACLE)


def test_a_page_is_made_anew_with_what_its_commands_print(folder: Path, cookbook: ModuleType) -> None:
    page = "Before\n```console\n$ dbatk --version\nold\n$ echo $?\n9\n$ dbatk --version > kept\n```\nafter\n"
    made = cookbook.run_page(page, cookbook.Terminal(folder))
    assert re.fullmatch(
        r"Before\n```console\n\$ dbatk --version\ndbatk [\d.]+\n\$ echo \$\?\n0\n"
        r"\$ dbatk --version > kept\n```\nafter\n",
        made,
    )
