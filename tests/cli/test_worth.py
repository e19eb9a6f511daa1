"""`--worth`: how much a larger degree must gain to be recommended, the same in every form of a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from tests.report.make import put, sweep
from toolkit.store import open_store


@pytest.fixture(autouse=True)
def stored(home: Path) -> None:
    """A run whose degree 4 gains 8 %, and whose degree 2 gains 3 %."""
    run = sweep({1: [10.0, 10.02, 9.98], 2: [9.7, 9.71, 9.69], 4: [9.3, 9.31, 9.29]})
    with open_store(str(home / "store.sqlite")) as store:
        put(store, run)


@pytest.mark.thin(3)
@pytest.mark.parametrize(("worth", "level"), [((), 2), (("--worth", "12%"), 1), (("--worth", "0.5"), 4)])
@pytest.mark.parametrize("command", [("runs", "show"), ("report",)])
def test_a_gain_must_be_worth_it_on_the_screen_and_in_the_document(
    dbatk: Dbatk, command: tuple[str, ...], worth: tuple[str, ...], level: int
) -> None:
    shown = dbatk(*command, "last", *worth)
    assert (shown.status, f"use `degree={level}`: " in shown.out) == (0, True), shown
    told = json.loads(dbatk(*command, "last", *worth, "--json").out)["advice"]
    assert told["recommended"] == [{"degree": level}]


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_a_page_recommends_the_same(dbatk: Dbatk, home: Path, name: str) -> None:
    assert dbatk("report", "last", "--worth", "12%", "--out", name).status == 0
    text = (home / name).read_text(encoding="utf-8")
    assert "no higher degree is more than 12" in text.replace("\u00a0", " ")


@for_each(
    ("typed", "says"),
    [
        (("runs", "show", "last", "--worth", "much"), "`much` is not a gain"),
        (("report", "last", "--worth=-1%"), "`-1%` is not a gain"),
        (("report", "last", "--worth", "3%", "--format", "csv"), "`--worth` has no effect on CSV"),
        (
            ("report", "--all", "--worth", "3%", "--out", "site"),
            "`--all` takes no runs, no format and no `--worth`",
        ),
    ],
)
def test_a_worth_that_means_nothing_is_refused(dbatk: Dbatk, typed: tuple[str, ...], says: str) -> None:
    refused = dbatk(*typed)
    assert (refused.status, refused.out, says in refused.err) == (2, "", True), refused
