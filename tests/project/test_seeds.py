"""What `make seeds` runs: the rows of the table of examples that say so, by command lines that exist."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path
from types import ModuleType

import pytest
import typer

from tests.project.tree import ROOT
from toolkit.cli.main import build_app
from toolkit.design.file import load_experiment


@pytest.fixture(name="seeds", scope="module")
def _seeds() -> ModuleType:
    spec = importlib.util.spec_from_file_location("seeds", ROOT / "examples/seeds.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_runs_each_row_that_says_so_and_no_other(seeds: ModuleType) -> None:
    lines = (ROOT / "examples/README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    said = {(row[0], row[1]) for row in rows if row[4].startswith("yes")}
    assert said == {(study, row) for study, row, _ in seeds.EXPERIMENTS}


def test_its_commands_exist_with_their_options(seeds: ModuleType) -> None:
    root = typer.main.get_command(build_app())
    for _, _, line in seeds.EXPERIMENTS:
        words = shlex.split(line if line.startswith("run ") else f"{line} {seeds.TWICE}")
        words = [word.format(db="duckdb:///x.duckdb", budget=10) for word in words]
        context = root.make_context("dbatk", words)
        while words:
            name, inner, words = context.command.resolve_command(context, words)  # type: ignore[attr-defined]
            context = inner.make_context(name, list(words), parent=context)
            if not hasattr(inner, "commands"):
                break


def test_what_needs_a_program_that_is_not_here_is_not_run(
    seeds: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {word for _, _, line in seeds.EXPERIMENTS for word in line.split() if word.endswith(".toml")}
    assert set(seeds.PROGRAMS) <= files
    monkeypatch.setattr(seeds.shutil, "which", lambda name: None if name == "pbzip2" else f"/usr/bin/{name}")
    assert [seeds.missing(line) for _, _, line in seeds.EXPERIMENTS if seeds.missing(line)] == [["pbzip2"]]


def test_the_smaller_copies_of_examples_have_a_budget(seeds: ModuleType, tmp_path: Path) -> None:
    seeds.reduce_examples(tmp_path, 20)
    for line in (line for _, _, line in seeds.EXPERIMENTS if line.startswith("run ")):
        experiment = load_experiment(tmp_path / line.split()[1])
        assert (experiment.repeat, experiment.budget_seconds) == (2, 20.0)
