"""Every example file loads, says how it is run, and prints its script without a database."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engines.arena import Heard
from tests.for_each import for_each
from tests.project.tree import ROOT
from tests.tiers import thinned
from toolkit.app.approvals import Approvals, TargetPolicy, check_experiment
from toolkit.app.runs.execute import start
from toolkit.app.runs.preview import script
from toolkit.app.targets import find_target
from toolkit.design.file import dump_experiment, load_experiment, parse_experiment
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.words import Mode
from toolkit.store import open_store

EXAMPLES = sorted(set((ROOT / "examples").glob("*.toml")) - set((ROOT / "examples").glob("nightly-*")))
"""Experiments; the plans have tests of their own."""
ENGINES = {
    "five-builds": ("host", "6.1"),
    "gtest-ctas": ("duckdb", "2.0"),
    "pbzip2-threads": ("host", "6.1"),
    "users-80-100-120": ("postgresql", "17"),
    "pg-index": ("postgresql", "17"),
    "oracle-ctas-degree-compression": ("oracle", "19-ee"),
    "mix-20-test": ("host", "6.1"),
    "mix-30-test": ("host", "6.1"),
    "oracle-stats": ("oracle", "19-ee"),
    "oracle-insert": ("oracle", "19-ee"),
    "oracle-rman-channels": ("oracle", "19-ee"),
    "oracle-stats-schemas": ("oracle", "19-ee"),
    "oracle-sga": ("oracle", "19-ee"),
    "release-against-release": ("postgresql", "17"),
    "read-ahead": ("host", "6.1"),
    "file-system-blocks": ("host", "6.1"),
    "duckdb-memory-limit": ("duckdb", "2.0"),
    "pg-work-mem-degree": ("postgresql", "17"),
    "pg-shared-buffers": ("postgresql", "17"),
    "pg-eight-files": ("postgresql", "17"),
}


OF_CATALOGUE = {
    "duckdb-memory-limit": "setting_catalogue", "pg-shared-buffers": "setting_catalogue",
    "pg-work-mem-degree": "setting_catalogue", "oracle-sga": "setting_catalogue",
    "oracle-stats-schemas": "schema:GLENNF",
}  # fmt: skip
"""Examples whose script needs the catalogue of a database: what a setting is and takes, what is in a schema."""


def test_every_example_is_known_here() -> None:
    assert {path.stem for path in EXAMPLES} == set(ENGINES)


@for_each("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_loads_as_a_measurement_of_its_name(path: Path) -> None:
    experiment = load_experiment(path)
    assert experiment.name == path.stem
    assert experiment.mode is Mode.MEASUREMENT
    assert len(experiment.factors) >= 1


@for_each("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_it_is_run(path: Path) -> None:
    opening = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line.startswith("#"))
    assert f"dbatk run examples/{path.name}" in opening
    try:
        check_experiment(load_experiment(path), TargetPolicy(), Approvals())
        refused = False
    except ToolkitError as error:
        refused = error.code == "TK-0309"
    assert refused is ("--allow-commands" in opening)


@for_each("name", OF_CATALOGUE)
def test_an_example_that_needs_the_catalogue_says_so(name: str) -> None:
    engine, release = ENGINES[name]
    with pytest.raises(ToolkitError, match=OF_CATALOGUE[name]) as refused:
        script(load_experiment(ROOT / f"examples/{name}.toml"), None, engine=engine, assume=release)
    assert refused.value.code == "TK-0112"


def test_the_example_of_a_setting_of_duckdb_runs_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    path = ROOT / "examples/duckdb-memory-limit.toml"
    (made,) = re.findall(r'^#   duckdb sort.duckdb "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    with duckdb.connect("sort.duckdb") as connection:
        connection.execute(made.replace("3000000", "3000"))
    experiment = replace(load_experiment(path), repeat=1, warmup=0)
    with open_store(tmp_path / "store.sqlite") as store:
        run = start(
            experiment, find_target(experiment.target).target, store=store, approvals=Approvals(), events=Heard()
        )
        trials = store.load_run(run).trials
    assert {trial.cell["memory_limit"] for trial in trials if trial.elapsed_seconds} == {"128MB", "256MB", "4GB"}


@for_each("path", [one for one in EXAMPLES if one.stem not in OF_CATALOGUE], ids=lambda path: path.stem)
def test_an_example_prints_its_script_without_a_database(path: Path) -> None:
    engine, release = ENGINES[path.stem]
    experiment = load_experiment(path)
    printed, _ = script(experiment, None, engine=engine, assume=release)
    cells = 1
    for factor in experiment.factors:
        cells *= len(factor.levels)
    sign = re.escape(engines()[engine].client.comment)
    assert len(re.findall(rf"^{sign} ==== ", printed, re.MULTILINE)) == cells
    assert re.search(rf"^{sign} (timed|session 1 of \d+, start together)", printed, re.MULTILINE)


PROGRAMS = {"five-builds": ("make", "cc"), "pbzip2-threads": ("pbzip2",)}
"""Examples that run programs of this host alone, and what they need there."""


@pytest.mark.parametrize("name", thinned(sorted(PROGRAMS, reverse=True), 2))
def test_an_example_of_programs_runs_here(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = [program for program in PROGRAMS[name] if shutil.which(program) is None]
    if lacking:
        pytest.skip(f"{', '.join(lacking)} is not installed on this host")
    monkeypatch.chdir(ROOT)
    whole = load_experiment(ROOT / f"examples/{name}.toml")
    text = dump_experiment(whole).replace("/tmp/dbatk-", f"{tmp_path}/").replace("seq 1 2000000", "seq 1 200000")
    experiment = replace(parse_experiment(text), repeat=1, warmup=0)
    fewer = tuple(replace(one, levels=(*one.levels[:1], *one.levels[-1:])) for one in experiment.factors)
    with open_store(tmp_path / "store.sqlite") as store:
        run = start(
            replace(experiment, factors=fewer), find_target("host://").target, store=store,
            approvals=Approvals(allow_commands=True), events=Heard(),
        )  # fmt: skip
        record = store.load_run(run)
        assert record.all_ok, [trial.reason for trial in record.trials]
        assert all(item.elapsed_seconds for trial in record.trials for item in trial.items)
        assert store.journal(run).open_entries() == ()
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(("store", "undo"))] == []


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
