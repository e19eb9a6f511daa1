"""`dbatk compare` takes whatever has two sides, and explains what it cannot compare."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.cli.test_awr_intervals import report
from tests.tiers import thinned

READS = """
import json, sys
from toolkit.cli.main import main
for heavy in ("numpy", "duckdb", "sqlalchemy"):
    sys.modules[heavy] = None
status = main(json.loads(sys.argv[1]))
print(json.dumps([status, sorted(name for name in sys.modules if name.startswith("toolkit."))]), file=sys.stderr)
"""


_MADE: list[Path] = []
"""Where the store of all these tests was made first, to be copied."""


@pytest.fixture
def stored(dbatk: Dbatk, url: str, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Dbatk:
    """A store with two runs, two snapshots, and two reports beside it."""
    if not _MADE:
        _fill(dbatk, url, home)
        _MADE.append(tmp_path_factory.mktemp("stored"))
        shutil.copytree(home, _MADE[0], dirs_exist_ok=True)
    else:
        shutil.copytree(_MADE[0], home, dirs_exist_ok=True)
    return dbatk


def _fill(dbatk: Dbatk, url: str, home: Path) -> None:
    for label in ("monday", "tuesday"):
        gather = ("stats", "gather", "-t", url, "--table", "small", "--repeat", "2", "--warmup", "0")
        assert dbatk(*gather, "--label", label).status == 0
    for label in ("before", "after"):
        assert dbatk("snapshot", "take", label, "-t", url).status == 0
    for day, name in enumerate(("good.html", "bad.html")):
        (home / name).write_text(report(day))


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("sides", "key"),
    [
        (("monday", "tuesday"), "pairs"),
        (("monday/degree=1", "tuesday/degree=1"), "pairs"),
        (("before", "after"), "sections"),
        (("#1", "#2"), "sections"),
        (("good.html", "bad.html"), "causes"),
    ],
)
def test_each_kind_has_its_document_and_its_page(
    stored: Dbatk, home: Path, sides: tuple[str, str], key: str
) -> None:
    told = stored("compare", *sides, "--json", "--out", "page.html")
    assert told.status == 0, told.err
    assert key in json.loads(told.out)
    assert (home / "page.html").read_text().lower().startswith("<!doctype html>")


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("typed", "code", "says"),
    [
        (("monday", "before"), "TK-0102", "`monday` is a run and `before` is a snapshot"),
        (("before", "monday"), "TK-0102", "`monday` is a run and `before` is a snapshot"),
        (("monday", "wednesday"), "TK-0109", "no run is named `wednesday`"),
        (("before", "wednesday"), "TK-0114", "there is no snapshot `wednesday`"),
        (("wednesday", "thursday"), "TK-0109", "`dbatk snapshot list` lists the snapshots"),
        (("good.html", "missing.html"), "TK-0113", "cannot be read: no such file"),
        (("good.html", "before"), "TK-0102", "`before` is one snapshot, not an interval"),
        (("good.html", "monday"), "TK-0114", "no AWR report was stored"),
        (("good.html", "bad.html", "--strict"), "TK-0107", "`--strict` does not apply to intervals"),
        (("good.html", "bad.html", "--fail-if", "elapsed_seconds > +5%"), "TK-0107", "does not apply"),
        (("before", "after", "--allow-unlike"), "TK-0107", "must be of the same database"),
        (("before", "after", "--mask"), "TK-0107", "`--mask` does not apply to snapshots"),
        (("monday", "tuesday", "--salt", "x"), "TK-0107", "`--salt` does not apply to runs"),
    ],
)
def test_what_cannot_be_compared_is_explained(stored: Dbatk, typed: tuple[str, ...], code: str, says: str) -> None:
    answer = stored("compare", *typed)
    assert answer.status == 2
    assert code in answer.err
    assert says in answer.err


def test_labels_of_runs_and_snapshots_mean_the_runs_and_a_note_says_so(stored: Dbatk, url: str) -> None:
    for label in ("monday", "tuesday"):
        stored("snapshot", "take", label, "-t", url)
    answer = stored("compare", "monday", "tuesday", "--json")
    assert "pairs" in json.loads(answer.out)
    assert "also labels of snapshots" in answer.err


@pytest.mark.parametrize("group", ["awr", "snapshot"])
def test_the_commands_it_replaces_name_it(dbatk: Dbatk, group: str) -> None:
    answer = dbatk(group, "diff", "a", "b")
    assert answer.status == 2
    assert "use `dbatk compare A B`" in answer.err


@pytest.mark.thin(3)
@pytest.mark.parametrize("command", [["compare"], ["awr", "show"], ["awr", "trend"]], ids=" ".join)
def test_reports_are_read_without_a_store_a_database_or_numpy(tmp_path: Path, command: list[str]) -> None:
    for day, name in enumerate(("good.html", "bad.html")):
        (tmp_path / name).write_text(report(day))
    typed = [*command, "good.html", "bad.html"]
    done = subprocess.run(
        [sys.executable, "-c", READS, json.dumps(typed)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert (status, done.stdout != "") == (0, True), done.stderr
    heavy = {"dialects", "executors", "rendering", "runner", "schedule", "snapshots", "store", "targets"}
    assert {name.split(".")[1] for name in modules} & heavy == set()


_WEEKLY: list[tuple[Path, list[str]]] = []
"""Where the store of these tests was made first, and its runs."""


@pytest.fixture
def weekly(dbatk: Dbatk, url: str, home: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three runs of one label, oldest first, and one of another operation."""
    if not _WEEKLY:
        gather = ("stats", "gather", "-t", url, "--table", "small", "--repeat", "2", "--warmup", "0")
        for _ in range(3):
            assert dbatk(*gather, "--label", "weekly").status == 0
        made = ("ctas", "-t", url, "--source", "small", "--table", "made", "--repeat", "1", "--warmup", "0")
        assert dbatk(*made).status == 0
        listed = json.loads(dbatk("runs", "list", "--json").out)["runs"]
        kept = shutil.copytree(home, tmp_path_factory.mktemp("weekly"), dirs_exist_ok=True)
        _WEEKLY.append((kept, [run["run"] for run in reversed(listed)]))
    else:
        shutil.copytree(_WEEKLY[0][0], home, dirs_exist_ok=True)
    return _WEEKLY[0][1]


def test_the_run_before_is_named_by_its_label_by_last_and_by_an_operation(dbatk: Dbatk, weekly: list[str]) -> None:
    first, second, third, made = weekly
    for name, run in {
        "weekly": third, "weekly~0": third, "weekly~1": second, "weekly~2": first, "last": made, "last~1": third,
        "last:ctas": made, "last:stats-gather": third, "last:stats-gather~2": first,
    }.items():  # fmt: skip
        assert json.loads(dbatk("runs", "show", name, "--json").out)["run"] == run, name
    for name, why in {
        "weekly~3": "only 3 runs are named `weekly`", "last:ctas~1": "only one run is named `last:ctas`",
        "last:backup": "no run of `backup` is stored", "last~1:ctas": "did you mean `last:ctas~1`?",
        "nothing~1": "no run is named `nothing~1`",
    }.items():  # fmt: skip
        answer = dbatk("runs", "show", name)
        assert (answer.status, why in answer.err) == (2, True), answer.err


@pytest.mark.full
def test_which_run_of_a_label_is_meant_is_said(dbatk: Dbatk, weekly: list[str]) -> None:
    first, second, third, _ = weekly
    answer = dbatk("compare", "weekly~1", "weekly/degree=1")
    assert answer.status == 0, answer.err
    said = " ".join(answer.err.split())
    assert f"3 runs are named `weekly`; the newest is used: {third}, of 20" in said
    assert f"the one before is `weekly~1`, {second}" in said and first not in said


@pytest.mark.parametrize(
    "sides",
    thinned(
        map(
            pytest.param,
            [
                ("weekly", "weekly"),
                ("weekly", "weekly~0"),
                ("last~1", "weekly"),
                ("weekly/degree=1", "last~1/degree=1"),
                ("weekly/degree=1", "weekly"),
            ],
        ),
        4,
    ),
)
def test_a_run_is_not_compared_with_itself(dbatk: Dbatk, weekly: list[str], sides: tuple[str, str]) -> None:
    answer = dbatk("compare", *sides, "--fail-if", "elapsed_seconds > +5%")
    assert (answer.status, "are the same" in answer.err) == (2, True), answer.err
    assert weekly[2] in answer.err


@pytest.mark.full
def test_the_document_of_a_comparison_has_the_metrics_of_its_page(dbatk: Dbatk, weekly: list[str]) -> None:
    assert weekly
    (pair,) = json.loads(dbatk("compare", "weekly~1", "weekly", "--json").out)["pairs"]
    assert pair["metrics"]
    for metric in pair["metrics"]:
        assert set(metric) == {"name", "unit", "source", "median_a", "median_b", "ratio"}


def test_a_limit_on_a_metric_that_no_run_has_is_refused_at_once(stored: Dbatk, home: Path) -> None:
    answer = stored("compare", "monday", "tuesday", "--fail-if", "elapsed_secs > +5%", "--out", "page.html")
    assert (answer.status, answer.out) == (2, "")
    assert "TK-0101" in answer.err and "elapsed_seconds" in answer.err
    assert not (home / "page.html").exists()
