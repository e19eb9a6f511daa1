"""`--search`: of many levels only those that are needed, as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Dbatk
from tests.for_each import for_each

NOISE = "1.0 1.01 0.99 1.005 0.995 1.01 0.99 1.0"
PROGRAM = (
    "awk", "-v", "n={n}", "-v", f"noise={NOISE}",
    'BEGIN { getline turn < "turn"; close("turn"); turn++; print turn > "turn"; split(noise, at, " "); '
    'printf "value=%.6f\\n", at[turn % 8 + 1] * (40 / n + n) }',
)  # fmt: skip
JUDGED = ("--metric", "value=value=([0-9.]+)", "--judge", "value:lower", "--not-production", "--snapshot", "none")


def test_a_search_finds_the_best_of_many_levels_and_says_what_it_did_not_run(dbatk: Dbatk, home: Path) -> None:
    answer = dbatk("command", "--search", "--factor", "n=1..40", "--seed", "1", *JUDGED, "--", *PROGRAM)
    assert answer.status == 0, answer
    assert "a search: it begins with `n=1`, `n=6`, `n=40`" in answer.err
    assert "never run, so nothing is claimed of them" in " ".join(answer.out.split())
    shown = json.loads(dbatk("runs", "show", "last", "--json").out)
    ran = {cell["factors"]["n"] for cell in shown["cells"]}
    assert 4 <= len(ran) <= 14 and {1, 6, 40} <= ran
    chosen = {cell["n"] for cell in shown["advice"]["recommended"]}
    assert chosen <= {5, 6, 7, 8} & ran
    left = {factors["n"] for group in shown["not_run"] for factors in group["factors"]}
    assert left == set(range(1, 41)) - ran
    assert "the search ended after" in shown["ended_because"]
    assert f"{len(shown['trials'])}/" not in dbatk("runs", "list").out
    assert dbatk("report", "last", "--out", str(home / "page.html")).status == 0
    assert "a search among 40 configurations" in (home / "page.html").read_text("utf-8").replace("\u00a0", " ")


def test_a_file_and_its_twin_say_search(dbatk: Dbatk, home: Path) -> None:
    saved = ("--save-as", str(home / "search.toml"))
    assert dbatk("command", "--search", "--factor", "n=1..9", *JUDGED, *saved, "--", *PROGRAM).status == 0
    assert "search = true" in (home / "search.toml").read_text("utf-8")
    planned = dbatk("plan", "search.toml")
    assert planned.status == 0, planned
    assert "it begins with `n=1`, `n=3`, `n=9`" in " ".join(planned.out.split())
    asked = json.loads(dbatk("plan", "search.toml", "--json").out)
    assert {trial["factors"]["n"] for trial in asked["trials"]} == {1, 3, 9} and len(asked["cells"]) == 9


@for_each(
    ("given", "says"),
    [
        (("--factor", "n=1..8", "--repeat", "3"), "mutually exclusive"),
        (("--factor", "n=1,2,3"), "there are only 3"),
        (("--factor", "n=7"), "there is only one"),
        (("--factor", "n=a,b,c,d"), "needs levels in an order, but `n` has `a`"),
        (("--factor", "n=1,2,3,4,x"), "needs levels in an order"),
    ],
)
def test_where_there_is_nothing_to_search_it_is_refused(dbatk: Dbatk, given: tuple[str, ...], says: str) -> None:
    refused = dbatk("command", "--search", *given, *JUDGED, "--", *PROGRAM)
    assert (refused.status, refused.out) == (2, ""), refused
    assert says in " ".join(refused.err.split())


def test_a_search_cannot_be_interleaved_or_repeated_as_identical_work(dbatk: Dbatk, home: Path) -> None:
    for name in ("a.toml", "b.toml"):
        made = dbatk(
            "command", "--search", "--factor", "n=1..9", *JUDGED, "--save-as", str(home / name), "--", *PROGRAM
        )
        assert made.status == 0
    for command in (("compare", "--interleave", "a.toml", "b.toml"), ("noise", "--measure", "a.toml")):
        refused = dbatk(*command)
        assert refused.status == 2 and "chooses after each sweep what to run next" in refused.err, refused
