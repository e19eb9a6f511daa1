"""What an approval is over: a plan's meaning, not its spelling; and what is said of a difference."""

from __future__ import annotations

import random
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as some

from tests.for_each import for_each
from tests.tiers import examples
from toolkit.design.approval import (
    approval_path,
    differences,
    dump_approval,
    experiment_values,
    load_approval,
    plan_values,
)
from toolkit.design.plan_file import read_plan
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.audit import Approval, Approved, Value
from toolkit.model.experiment import Experiment
from toolkit.model.words import Mode

PLAN: Mapping[str, object] = {
    "plan": {
        "name": "nightly", "targets": ["dwh", "erp*"], "max_degree": 16, "concurrency": 2, "at_once": 2,
        "window": [{"time": "22:00-06:00", "zone": "Europe/Berlin", "days": ["mon..fri"],
                    "blackout": ["2026-12-24..2027-01-01"]}],
        "at_deadline": "leave",
    },
    "step": [
        {"name": "stats", "operation": "stats-gather", "schema": "SALES", "degree": 8, "retries": 2,
         "on_failure": "continue", "priority": 3},
        {"name": "a.options", "operation": "index-rebuild", "schema": ["SALES", "HR"], "degree": 4,
         "needs": ["stats"], "only_if": [{"older_than": "7d"}, {"sql": "SELECT 1", "at_least": 1}],
         "time_limit": "3h"},
        {"name": "a", "operation": "ctas", "source": "S", "table": "T", "degree": {"best_of": "RUN"}},
    ],
}  # fmt: skip
"""Of almost every key one."""
OTHER: Mapping[str, object] = {
    "targets": ["dwh"], "max_degree": 17, "concurrency": 3, "at_once": 3, "at_deadline": "stop", "name": "other",
    "schema": "OTHER", "degree": 2, "retries": 3, "on_failure": "undo", "priority": 4, "needs": [],
    "time_limit": "4h", "source": "S2", "table": "T2", "time": "22:00-06:01", "zone": "UTC", "days": ["mon..sat"],
    "blackout": ["2026-12-24..2027-01-02"], "older_than": "8d", "sql": "SELECT 2", "at_least": 2,
    "best_of": "RUN2",
}  # fmt: skip
"""For each key another value."""
HEAD = Approved("nightly", "plan", {}, {}, "1", "p", {}, {})


def meaning(text: str) -> str:
    values = plan_values(read_plan(parse_document(text, "p.toml"), Path()))
    return replace(HEAD, values=values).hash


def spelled(plan: object, chance: random.Random) -> str:
    """Write a plan with its keys in any order, comments and blanks."""
    text = tomli_w.dumps(_shuffled(plan, chance), indent=chance.choice((0, 2, 8)))
    lines = []
    for line in text.splitlines():
        lines += ["", "# anything at all"] * (chance.random() < 0.3) + [line + " " * chance.randrange(3)]
    return "\n".join(lines) + "\n"


def _shuffled(value: object, chance: random.Random) -> dict[str, object]:
    assert isinstance(value, Mapping)
    keys = sorted(value)
    chance.shuffle(keys)
    return {key: _inside(value[key], chance) for key in keys}


def _inside(value: object, chance: random.Random) -> object:
    if isinstance(value, Mapping):
        return _shuffled(value, chance)
    if isinstance(value, list):
        return [_inside(each, chance) for each in value]
    return value


def places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the path of each value that another one is known for."""
    found = []
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        here = (*path, key)
        if isinstance(key, str) and key in OTHER and not isinstance(inner, Mapping):
            found.append(here)
        found += places(inner, here)
    return found


@examples(60)
@given(some.integers())
def test_order_of_keys_comments_and_blanks_do_not_change_the_hash(seed: int) -> None:
    assert meaning(spelled(PLAN, random.Random(seed))) == meaning(tomli_w.dumps(PLAN))


@examples(80)
@given(some.sampled_from(places(PLAN)), some.booleans(), some.integers())
def test_any_change_of_meaning_changes_the_hash(path: tuple[object, ...], leave_out: bool, seed: int) -> None:
    changed = deepcopy(dict(PLAN))
    holder: object = changed
    for key in path[:-1]:
        holder = holder[key]  # type: ignore[index]
    assert isinstance(holder, dict)
    before = holder[str(path[-1])]
    holder[str(path[-1])] = OTHER[str(path[-1])]
    if leave_out and path[-1] in ("retries", "priority", "max_degree", "time_limit", "on_failure", "blackout"):
        del holder[str(path[-1])]
    assert holder.get(str(path[-1])) != before
    text = spelled(changed, random.Random(seed))
    if path == ("step", 0, "name"):
        text = text.replace('"stats"', '"other"')
    assert meaning(text) != meaning(tomli_w.dumps(PLAN)), path


def test_a_default_that_is_written_out_is_the_same_plan() -> None:
    plain = '[plan]\nname = "n"\ntarget = "d"\n[[step]]\noperation = "stats-gather"\ntable = "t"\n'
    full = plain.replace('"d"\n', '"d"\nconcurrency = 1\nat_deadline = "stop"\n') + "retries = 0\nneeds = []\n"
    assert meaning(full) == meaning(plain)


def test_an_experiment_without_a_search_is_approved_as_before_there_were_any() -> None:
    sweep = Experiment("dwh", "ctas", {}, (), Mode.MEASUREMENT)
    assert "experiment search" not in experiment_values(sweep)
    assert experiment_values(replace(sweep, search=True))["experiment search"] is True


def test_the_order_of_steps_and_names_with_dots_are_part_of_it() -> None:
    turned = {**PLAN, "step": list(reversed(PLAN["step"]))}  # type: ignore[call-overload]
    assert meaning(tomli_w.dumps(turned)) != meaning(tomli_w.dumps(PLAN))
    values = plan_values(read_plan(parse_document(tomli_w.dumps(PLAN), "p.toml"), Path()))
    assert "step a options.table" in values and "step a.options options.schema" in values


THEN = replace(
    HEAD,
    values={"plan steps": ("a", "b"), "step a retries": 0, "step b retries": 0, "plan max_degree": 4},
    databases={"dwh": {"DBID": "1405", "container": "SALES"}},
    files={"templates/oracle/ctas.sql.j2": "sha256:" + "a" * 64},
)
FOLDER = "/srv" + "/folder" * 12
QUERY = "SELECT i FROM orders WHERE placed_on > :since AND state IN (:a, :b) AND amount > 1 ORDER BY placed_on, i"


@for_each(
    ("then", "now", "sentence"),
    [
        (FOLDER, f"{FOLDER}/b", f"was `{FOLDER}` and is `{FOLDER}/b`"),
        (QUERY, QUERY.replace("> 1", "> 2"),
         "was `... IN (:a, :b) AND amount > 1 ORDER BY placed_on, i`"
         " and is `... IN (:a, :b) AND amount > 2 ORDER BY placed_on, i`"),
        (("sh", "-c", QUERY), ("sh", "-c", f"{QUERY}, j"),
         "was [`sh`, `-c`, `... > 1 ORDER BY placed_on, i`]"
         " and is [`sh`, `-c`, `... > 1 ORDER BY placed_on, i, j`]"),
        (QUERY, 1, f"was `{QUERY[:80]}...` and is 1"),
    ],
    ids=["path", "query", "list", "kind"],
)  # fmt: skip
def test_a_long_value_is_shown_where_it_differs_and_a_path_as_a_whole(
    then: Value, now: Value, sentence: str
) -> None:
    one, other = (replace(THEN, values={"plan where": value}) for value in (then, now))
    assert list(differences(one, other)) == [f"`where` {sentence}"]


@for_each(
    ("now", "sentence"),
    [
        (replace(THEN, values={**THEN.values, "step a retries": 3}), "`retries` of step `a` was 0 and is 3"),
        (replace(THEN, values={**THEN.values, "plan max_degree": 8}), "`max_degree` was 4 and is 8"),
        (replace(THEN, values={k: v for k, v in THEN.values.items() if k != "plan max_degree"}),
         "`max_degree` was 4 and is not set"),
        (replace(THEN, values={**THEN.values, "plan steps": ("b", "a")}),
         "the order of the steps was [`a`, `b`] and is [`b`, `a`]"),
        (replace(THEN, values={"plan steps": ("a",), "step a retries": 0, "plan max_degree": 4}),
         "step `b` is gone"),
        (replace(THEN, values={**THEN.values, "on dwh a degree": 4}),
         "`degree` of step `a` on `dwh` was not set and is 4"),
        (replace(THEN, version="2"), "dbatk was 1 and is 2"),
        (replace(THEN, program="q"), "the program files of dbatk 1 differ from those approved"),
        (replace(THEN, databases={"dwh": {"DBID": "1406", "container": "SALES"}}),
         "DBID of `dwh` was `1405` and is `1406`"),
        (replace(THEN, databases={**THEN.databases, "erp": {}}), "target `erp` was not approved"),
        (replace(THEN, databases={}), "target `dwh` is gone"),
        (replace(THEN, files={}), "templates/oracle/ctas.sql.j2 is gone"),
        (replace(THEN, files={}, other_files={"templates/oracle/ctas.sql.j2": "sha256:" + "b" * 64}),
         "templates/oracle/ctas.sql.j2 has changed (aaaaaaaaaaaa was approved, bbbbbbbbbbbb found)"),
        (replace(THEN, name="daily"), "the approval is for plan `nightly`, and this is plan `daily`"),
    ],
)  # fmt: skip
def test_each_difference_is_one_sentence(now: Approved, sentence: str) -> None:
    assert list(differences(THEN, now)) == [sentence]
    assert list(differences(THEN, THEN)) == []


def test_an_approval_is_read_as_it_was_written_and_refused_when_a_character_of_it_changed(tmp_path: Path) -> None:
    path = approval_path(tmp_path / "nightly.toml")
    assert path.name == "nightly.approval.toml" and load_approval(path) is None
    values = plan_values(read_plan(parse_document(tomli_w.dumps(PLAN), "p.toml"), Path()))
    approved = replace(THEN, values=values)
    approval = Approval(approved, "J. Doe", "jd", "h", "2026-11-22T01:00:00+00:00", "CHG-1", (), approved.hash)
    path.write_text(dump_approval(approval))
    assert load_approval(path) == approval
    for old, new in (("1405", "1406"), ('max_degree" = 16', 'max_degree" = 61'), ("aaaa", "aaab")):
        path.write_text(dump_approval(approval).replace(old, new, 1))
        with pytest.raises(ToolkitError, match="it was altered") as caught:
            load_approval(path)
        assert caught.value.code == "TK-0313"
    for text in ("", "x = ", "[approval]\nformat = 9\n"):
        path.write_text(text)
        with pytest.raises(ToolkitError, match="is not a valid approval"):
            load_approval(path)
