"""`verify`: the recommended setting and the former one, measured again in turn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.report.make import put, sweep
from toolkit.cli.launch import show_result
from toolkit.cli.parameters import Arguments
from toolkit.store import open_store


@pytest.fixture
def stored(home: Path) -> None:
    runs = (
        sweep({1: [10.0, 10.02, 9.98], 2: [5.0, 5.01, 4.99], 4: [4.9, 4.91, 4.89]}, label="gain"),
        sweep({1: [10.0, 10.02, 9.98], 2: [10.0, 10.01, 9.99]}, label="none", run="20261121-052307-ab13"),
    )
    with open_store(str(home / "store.sqlite")) as store:
        for run in runs:
            put(store, run)


@pytest.mark.usefixtures("stored")
def test_the_experiment_measures_both_in_turn(dbatk: Dbatk, home: Path) -> None:
    assert dbatk("verify", "gain", "--save-as", "again.toml").status == 0
    text = (home / "again.toml").read_text(encoding="utf-8")
    assert "degree = [1, 2]" in text
    assert "repeat = 5" in text
    assert dbatk("verify", "gain", "--repeat", "8", "--save-as", "more.toml").status == 0
    assert "repeat = 8" in (home / "more.toml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("verify", "none"), "shows no gain that could be verified"),
        (("verify", "nothing"), "no run is named"),
        (("verify", "gain", "--repeat", "4"), "fewer could not show whether the gain held"),
        (("verify", "gain", "--present", "degree=2"), "shows no gain that could be verified"),
        (("verify", "gain", "--present", "degree=9"), "no measured configuration has `degree=9`"),
    ],
)
def test_bad_input_is_refused(dbatk: Dbatk, typed: tuple[str, ...], says: str) -> None:
    refused = dbatk(*typed, "--save-as", "no.toml")
    assert (refused.status, refused.out, says in refused.err) == (2, "", True), refused


@pytest.mark.full
def test_the_file_that_is_saved_says_what_it_verifies_and_its_run_says_what_became_of_the_gain(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    run = sweep({1: [10.0, 10.02, 9.98, 10.01, 10.0], 2: [5.0, 5.01, 4.99, 5.0, 5.02]}, label="gain")
    experiment = replace(
        run.head.experiment, target=url, options={"source": "small", "table": "copied"}, quiet_wait_seconds=None
    )
    with open_store(str(home / "store.sqlite")) as store:
        put(store, replace(run, head=replace(run.head, experiment=experiment)))
    assert dbatk("verify", "gain", "--save-as", "again.toml").status == 0
    file = home / "again.toml"
    assert f'verifies = "{run.head.run}"' in file.read_text(encoding="utf-8")
    told = dbatk("run", "again.toml", "-q", "--json")
    document = json.loads(told.out)["verification"]
    assert (document["run"], document["factors"]) == (run.head.run, {"degree": 2})
    assert told.status == (0 if document["verdict"] == "held" else 3)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(run.head.run, "20200101-000000-0000"), encoding="utf-8")
    before = len(json.loads(dbatk("runs", "list", "--json").out)["runs"])
    refused = dbatk("run", "again.toml", "-q")
    assert (refused.status, "no run" in refused.err) == (2, True), refused
    assert len(json.loads(dbatk("runs", "list", "--json").out)["runs"]) == before
    job = [line for line in text.splitlines() if line.split(" =")[0] not in ("repeat", "warmup", "mode")]
    file.write_text("\n".join(job).replace("[1, 2]", "[2]"), encoding="utf-8")
    refused = dbatk("run", "again.toml", "-q")
    assert (refused.status, "`verifies` measures configurations again" in refused.err) == (2, True), refused


def saved(dbatk: Dbatk, home: Path, url: str, *present: str) -> str:
    """Store a run of three degrees, and save the experiment that verifies its gain."""
    run = sweep({1: [10.0, 10.02, 9.98], 2: [7.0, 7.01, 6.99], 4: [4.9, 4.91, 4.89]}, label="gain")
    experiment = replace(
        run.head.experiment, target=url, options={"source": "small", "table": "copied"}, quiet_wait_seconds=None
    )
    with open_store(str(home / "store.sqlite")) as store:
        put(store, replace(run, head=replace(run.head, experiment=experiment)))
    assert dbatk("verify", "gain", *present, "--save-as", "again.toml").status == 0
    return (home / "again.toml").read_text(encoding="utf-8")


@pytest.mark.full
def test_the_file_names_what_was_set_before(dbatk: Dbatk, url: str, home: Path) -> None:
    assert 'present = {degree = "2"}' in saved(dbatk, home, url, "--present", "degree=2")
    told = json.loads(dbatk("run", "again.toml", "-q", "--json").out)["verification"]
    assert (told["former"], told["factors"]) == ({"degree": 2}, {"degree": 4})


def test_several_targets_are_refused_before_anything_runs(dbatk: Dbatk, url: str, home: Path) -> None:
    saved(dbatk, home, url)
    other = url.replace(".duckdb", "2.duckdb")
    refused = dbatk("run", "again.toml", "-t", f"{url},{other}", "-q")
    assert (refused.status, "a gain is verified on one target" in refused.err) == (2, True), refused
    assert len(json.loads(dbatk("runs", "list", "--json").out)["runs"]) == 1


@pytest.mark.full
def test_a_run_that_verifies_one_that_is_gone_says_so_and_keeps_its_result(
    dbatk: Dbatk, url: str, home: Path
) -> None:
    saved(dbatk, home, url)
    ran = json.loads(dbatk("run", "again.toml", "-q", "--json").out)
    with open_store(str(home / "store.sqlite")) as store:
        record = store.load_run(ran["run"])
        store.delete_run(record.head.experiment.verifies)
        arguments = Arguments({"quiet": True})
        assert show_result(store, ran["run"], arguments) == 3


@pytest.mark.full
def test_of_several_queries_the_file_has_those_that_are_measured_again(dbatk: Dbatk, url: str, home: Path) -> None:
    texts = tuple(f"{name}=SELECT {number} AS a" for number, name in enumerate(("qa", "qb", "qc")))
    run = sweep(
        {"qa": [10.0, 10.02, 9.98], "qb": [4.9, 4.91, 4.89], "qc": [7.0, 7.01, 6.99]}, "query", label="gain"
    )
    options = {"query": texts, "table": "copied", "different_rows": True}
    experiment = replace(run.head.experiment, target=url, options=options, quiet_wait_seconds=None)
    with open_store(str(home / "store.sqlite")) as store:
        put(store, replace(run, head=replace(run.head, experiment=experiment)))
    assert dbatk("verify", "gain", "--present", "query=qa", "--save-as", "again.toml").status == 0
    text = (home / "again.toml").read_text(encoding="utf-8")
    assert 'query."qa"' in text and 'query."qb"' in text and "qc" not in text
    told = json.loads(dbatk("run", "again.toml", "-q", "--json").out)["verification"]
    assert (told["former"], told["factors"]) == ({"query": "qa"}, {"query": "qb"})


def test_it_runs_and_says_what_became_of_the_gain(dbatk: Dbatk, url: str, home: Path) -> None:
    """On ten rows nothing is faster: whatever is found, a gain of 2 was not held, and the exit status says so."""
    run = sweep({1: [10.0, 10.02, 9.98, 10.01, 10.0], 2: [5.0, 5.01, 4.99, 5.0, 5.02]}, label="gain")
    experiment = replace(
        run.head.experiment, target=url, options={"source": "small", "table": "copied"}, quiet_wait_seconds=None
    )
    with open_store(str(home / "store.sqlite")) as store:
        put(store, replace(run, head=replace(run.head, experiment=experiment)))
    told = dbatk("verify", "gain", "--label", "again", "-q", "--json")
    document = json.loads(told.out)
    assert document["verdict"] in ("lost", "reversed", "inconclusive", "smaller", "held")
    assert told.status == (0 if document["verdict"] == "held" else 3)
    assert (document["then"]["ratio"], document["factors"]) == (pytest.approx(2.0, rel=0.01), {"degree": 2})
    shown = json.loads(dbatk("runs", "show", "again", "--json").out)
    assert {tuple(one["factors"].values()) for one in shown["trials"]} == {(1,), (2,)}
