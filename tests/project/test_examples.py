"""Every example file loads, says how it is run, and prints its script without a database."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.tree import ROOT
from toolkit.app.runs.preview import script
from toolkit.design.file import load_experiment
from toolkit.model.words import Mode

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
ENGINES = {
    "gtest-ctas": ("duckdb", "2.0"),
    "pg-index": ("postgresql", "17"),
    "oracle-ctas-degree-compression": ("oracle", "19-ee"),
    "oracle-stats": ("oracle", "19-ee"),
}


def test_every_example_is_known_here() -> None:
    assert {path.stem for path in EXAMPLES} == set(ENGINES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_loads_as_a_measurement_of_its_name(path: Path) -> None:
    experiment = load_experiment(path)
    assert experiment.name == path.stem
    assert experiment.mode is Mode.MEASUREMENT
    assert len(experiment.factors) >= 1


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_it_is_run(path: Path) -> None:
    opening = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line.startswith("#"))
    assert f"dbatk run examples/{path.name}" in opening


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_its_script_without_a_database(path: Path) -> None:
    engine, release = ENGINES[path.stem]
    experiment = load_experiment(path)
    printed, _ = script(experiment, None, engine=engine, assume=release)
    cells = 1
    for factor in experiment.factors:
        cells *= len(factor.levels)
    assert len(re.findall(r"^-- ==== ", printed, re.MULTILINE)) == cells
    assert "-- timed" in printed


def test_a_script_shows_how_a_factor_is_set_and_put_back() -> None:
    experiment = load_experiment(ROOT / "examples/pg-index.toml")
    printed, _ = script(experiment, None, engine="postgresql", assume="17")
    name = "degree=2,maintenance_work_mem=128M,maintenance_io_concurrency=100"
    cell = printed.split(f"-- ==== index-build {name}")[1].split("-- ====")[0]
    begin, put_back = cell.split("-- timed")
    assert "SET \"maintenance_work_mem\" = '131072kB';" in begin
    assert 'RESET "maintenance_work_mem";' in put_back
    assert "SET maintenance_io_concurrency = '100';" in begin
    assert "-- restore the former value: SET maintenance_io_concurrency = '{before}';" in put_back
