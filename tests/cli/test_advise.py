"""`advise`: what to set, and a next experiment that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.report.make import put, sweep
from toolkit.store import open_store


@pytest.fixture
def stored(home: Path) -> None:
    run = sweep(
        {1: [10.0, 10.02, 9.98], 2: [5.0, 5.01, 4.99], 4: [4.9, 4.91, 4.89], 8: [4.95, 4.9, 4.93]}, label="w"
    )
    with open_store(str(home / "store.sqlite")) as store:
        put(store, run)


@pytest.mark.usefixtures("stored")
def test_it_names_the_setting_its_gain_and_what_to_try(dbatk: Dbatk, home: Path) -> None:
    shown = dbatk("advise", "w", "--present", "degree=1", "--next", "next.toml")
    assert shown.status == 0
    for words in (
        "setting",
        "2.00x as fast as the present `degree=1`",
        "cannot be told",
        "try next",
        "end all repeats",
    ):
        assert words in " ".join(shown.out.split()), shown
    assert "wrote next.toml" in shown.err
    assert dbatk("run", "next.toml", "--dry-run").status in (0, 1, 2)
    document = json.loads(dbatk("advise", "last", "--json").out)
    assert (document["verdict"], document["recommended"], document["next"]) == ("conclusive", {"degree": 2}, None)
    assert document["gain"]["ratio"] == pytest.approx(2, rel=0.01)
    assert set(document) >= {"any_of", "limits", "law", "stopped_because", "judged", "run"}


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("typed", "status", "says"),
    [
        (("advise", "none_such"), 2, "no run is named"),
        (("advise", "last", "--present", "degree"), 2, "`--present` cannot be `degree`"),
        (("advise", "last", "--present", "degree=3"), 2, "no measured configuration has `degree=3`"),
        (("advise", "last", "--worth", "lots"), 2, "`lots` is not a gain"),
        (("advise", "last", "--next", "no/such/folder.toml"), 1, "cannot be written"),
    ],
)
def test_bad_input_is_refused(dbatk: Dbatk, typed: tuple[str, ...], status: int, says: str) -> None:
    refused = dbatk(*typed)
    assert (refused.status, refused.out, says in refused.err) == (status, "", True), refused


def test_an_imported_run_says_that_nobody_knows_how_its_work_is_done(dbatk: Dbatk, home: Path) -> None:
    rows = [f"{degree},{10 / degree + repeat / 100}" for degree in (1, 2, 4, 8) for repeat in range(5)]
    (home / "t.csv").write_text("\n".join(["degree,elapsed_seconds", *rows, ""]))
    assert dbatk("import", "t.csv", "--label", "theirs").status == 0
    shown = dbatk("advise", "theirs").out
    assert "use `degree=8`" in shown and "end         imported: 20 trials" in shown
    for typed in (("advise", "theirs", "--next", "n.toml"), ("verify", "theirs", "--save-as", "v.toml")):
        refused = dbatk(*typed)
        assert (refused.status, refused.out) == (2, "")
        assert "was imported, and does not say how its work is done" in refused.err
    assert not (home / "n.toml").exists() and not (home / "v.toml").exists()


@pytest.mark.full
def test_the_next_experiment_runs_and_is_not_written_over(dbatk: Dbatk, url: str, home: Path) -> None:
    line = ("ctas", "-q", "-t", url, "--source", "small", "--table", "copied", "--degree", "1,2", "--repeat", "2")
    assert dbatk(*line).status in (0, 3)
    assert dbatk("advise", "last", "--next", "next.toml").status == 0
    text = (home / "next.toml").read_text(encoding="utf-8")
    assert dbatk("advise", "last", "--next", "next.toml").status != 0
    assert (home / "next.toml").read_text(encoding="utf-8") == text
    (home / "next.toml").write_text(text.replace("repeat = 30", "repeat = 5").replace('quiet_wait = "300s"\n', ""))
    assert dbatk("run", "next.toml", "-q").status in (0, 3)
