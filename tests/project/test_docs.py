"""The documentation is held to the program: pages are fresh, commands shown exist, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.for_each import for_each
from tests.project.tree import ROOT, project_files
from toolkit.config.profiles import DRIVER_OPTIONS
from toolkit.design.file import load_experiment
from toolkit.dialects.registry import dialect_of
from toolkit.model.engines import engines
from toolkit.model.operations import operations, options_of
from toolkit.model.words import LICENCES

PAGES = [path for path in project_files() if path.suffix == ".md" and path.name != "CHANGELOG.md"]
_TYPED = re.compile(r"^(\$ )?(timeout( -s [A-Z]+)? \S+ )?")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """`docs/generate.py` as a module."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def known_commands(generator: ModuleType) -> dict[tuple[str, ...], Any]:
    """The commands by their words, without `dbatk`."""
    return {tuple(name.split()[1:]): command for name, command in generator.commands()}


def test_the_generated_pages_are_those_committed(generator: ModuleType) -> None:
    for name, text in generator.pages().items():
        committed = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert committed == text.rstrip("\n") + "\n", f"docs/{name} is old: run `make docs`"
    assert generator.stale(generator.pages()) == []


def test_every_command_has_its_section(generator: ModuleType) -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert sections == [name for name, _ in generator.commands()]
    assert {"dbatk ctas", "dbatk index rebuild", "dbatk runs resume", "dbatk doctor"} <= set(sections)


def test_every_command_and_option_has_help(generator: ModuleType) -> None:
    for name, command in generator.commands():
        assert command.help, name
        for parameter in generator.parameters(command):
            assert parameter.help, f"{name} {parameter.name}"


def test_every_option_of_an_operation_is_documented_where_it_works() -> None:
    page = (ROOT / "docs/reference/options.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## ([a-z-]+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for operation in operations():
        flags = set(re.findall(r"^\| `(--[a-z-]+)`", sections[operation], re.MULTILINE))
        assert flags == {one.flag for one in options_of(operation)}


_SHORT = {("plan", "schedule"): "add", ("plan",): "show", ("audit",): "list", ("environment",): "show"}
"""Groups that take what is no command of theirs for the argument of one."""


def _shown(language: str) -> Iterator[tuple[str, str]]:
    for path in PAGES:
        for found, text in _BLOCK.findall(path.read_text(encoding="utf-8")):
            if found == language:
                yield path.relative_to(ROOT).as_posix(), text


def _commands() -> list[tuple[str, str]]:
    """Commands that pages show: lines `$ dbatk ...` or `dbatk ...`, continued by a backslash."""
    lines = [
        (page, _TYPED.sub("", line.strip()))
        for language in ("sh", "console", "text")
        for page, text in _shown(language)
        for line in re.sub(r"\\\n\s*", "", text).splitlines()
        if language != "text" or line.startswith("$ ")
    ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines += [
        ("README.md", line) for line in re.findall(r"^    (dbatk .*)$", re.sub(r"\\\n\s*", "", readme), re.M)
    ]
    lines += [
        (path.relative_to(ROOT).as_posix(), line.removeprefix("#").strip())
        for path in sorted((ROOT / "examples").glob("*.toml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("#   dbatk ")
    ]
    return [(page, line) for page, line in lines if line.startswith("dbatk ")]


@for_each(("page", "line"), _commands(), ids=lambda value: value.replace("docs/", "")[:60])
def test_a_command_shown_exists_with_its_options(
    page: str, line: str, generator: ModuleType, known_commands: dict[tuple[str, ...], Any]
) -> None:
    words = shlex.split(line, comments=True)
    redirect = next((at for at, word in enumerate(words) if word in ("|", ">", ">>", "&&", "2>&1")), len(words))
    words = words[:redirect]
    words = words[: words.index("--")] if "--" in words else words  # behind it stands another program
    known = {name[0] for name in known_commands if name}
    if words[1].startswith("-"):
        assert words[1] in ("--help", "--version")
        return
    assert words[1] in known, f"{page}: no command `{words[1]}`"
    given = [tuple(words[1:end]) for end in (4, 3, 2)]
    short = [(*name, _SHORT[name]) for name in given if name in _SHORT]
    name = next((one for one in (*given, *short) if one in known_commands), None)
    assert name is not None, f"{page}: no command `{' '.join(words[1:3])}`"
    flags = {flag for one in generator.parameters(known_commands[name]) for flag in one.opts} | {"--help"}
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= flags, f"{page}: `{line}`"


@for_each("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    missing = [one for one in targets if one and "://" not in one and not (path.parent / one).exists()]
    assert missing == []


def test_every_page_is_reached_from_the_index() -> None:
    indexes = (ROOT / "docs/README.md", ROOT / "docs/errors/README.md")
    linked = {
        (index.parent / target).resolve()
        for index in indexes
        for target in re.findall(r"\]\(([^)#\s]+)", index.read_text(encoding="utf-8"))
    }
    written = {path for path in PAGES if path.is_relative_to(ROOT / "docs") and path != ROOT / "docs/README.md"}
    assert written - linked == set()


@for_each(("page", "text"), [one for one in _shown("toml") if "[experiment]" in one[1]])
def test_an_experiment_shown_loads(page: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "shown.toml"
    path.write_text(text, encoding="utf-8")
    assert load_experiment(path, target="duckdb:///x.duckdb").factors is not None


def test_the_page_of_files_names_every_key() -> None:
    from toolkit.config import profiles
    from toolkit.design import file, head, plan_file, plan_step
    from toolkit.model.plan import ConditionKind

    page = (ROOT / "docs/files.md").read_text(encoding="utf-8")
    keys = {*head._GENERAL, "operation", "query_file", *file._KEYS, *profiles._KEYS, *DRIVER_OPTIONS, *LICENCES}
    keys |= {*plan_file._PLAN_KEYS, *plan_step._STEP_KEYS}
    assert {key for key in keys if f"`{key}`" not in page} == set()
    assert {kind for kind in ConditionKind if f"{{{kind} = " not in page} == set()


def test_the_page_of_proof_has_a_row_for_every_operation_and_engine() -> None:
    page = (ROOT / "docs/verified.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", page, re.MULTILINE))
    there = {(one, engine) for one in operations() for engine in engines() if one in dialect_of(engine).work}
    assert len(there) > 18
    assert there <= rows


def test_the_page_of_the_architecture_names_every_folder_and_no_other() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Which folder")[2]
    named = set(re.findall(r"`toolkit/(\w+)`", table))
    there = {path.name for path in (ROOT / "toolkit").iterdir() if (path / "__init__.py").is_file()}
    assert named == there
