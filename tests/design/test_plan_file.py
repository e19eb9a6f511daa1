"""Plan files: what is read, and that every mistake is a sentence with file, line and hint."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.design.file import load_experiment
from toolkit.design.plan_file import circle_of, is_plan, load_plan
from toolkit.design.plan_step import experiment_of
from toolkit.documents import parse_document
from toolkit.errors import ToolkitError
from toolkit.model.plan import AtDeadline, Condition, ConditionKind, MaintenancePlan, OnFailure
from toolkit.model.words import Mode

NIGHTLY = """
[plan]
name = "nightly"
targets = ["dwh", "erp*"]
window = "22:00-06:00 Europe/Berlin"
max_degree = 16
concurrency = 2
at_deadline = "leave"

[[step]]
name = "statistics"
operation = "stats-gather"
schema = "SALES,HR"
degree = {best_of = "stats-sweep"}
retries = 2
on_failure = "continue"

[[step]]
operation = "index-rebuild"
schema = ["SALES"]
degree = 4
needs = ["statistics"]
only_if = [{older_than = "7d"}, {sql = "SELECT count(*) FROM bloat", at_least = 1}]
priority = 5
time_limit = "2h"
"""


def plan(tmp_path: Path, text: str, **options: str) -> MaintenancePlan:
    path = tmp_path / "nightly.toml"
    path.write_text(text, encoding="utf-8")
    return load_plan(path, **options)


def test_a_plan_is_read_as_it_is_written(tmp_path: Path) -> None:
    read = plan(tmp_path, NIGHTLY)
    assert (read.name, read.targets, read.max_degree, read.concurrency) == ("nightly", ("dwh", "erp*"), 16, 2)
    assert read.at_deadline is AtDeadline.LEAVE and read.windows.each[0].zone == "Europe/Berlin"
    statistics, rebuild = read.steps
    assert statistics.operation == "stats-gather"
    assert statistics.options["schema"] == ("SALES", "HR")
    assert statistics.best_of == {"degree": "stats-sweep"}
    assert (statistics.retries, statistics.on_failure) == (2, OnFailure.CONTINUE)
    assert rebuild.name == "index-rebuild" and rebuild.needs == ("statistics",)
    assert rebuild.levels == {"degree": 4}
    assert rebuild.time_limit_seconds == 7200
    assert rebuild.only_if == (
        Condition(ConditionKind.AGE, at_least=7 * 86400),
        Condition(ConditionKind.SQL, "SELECT count(*) FROM bloat", at_least=1),
    )


def test_a_step_is_a_job_on_its_target_with_the_best_level(tmp_path: Path) -> None:
    step = plan(tmp_path, NIGHTLY).steps[0]
    experiment = experiment_of(step, "dwh", {"degree": 8})
    assert experiment.mode is Mode.JOB and experiment.target == "dwh" and experiment.name == "statistics"
    assert {factor.name: factor.levels for factor in experiment.factors} == {"degree": (8,)}


def test_the_target_of_the_command_line_stands_for_those_of_the_file(tmp_path: Path) -> None:
    assert plan(tmp_path, NIGHTLY, target="test").targets == ("test",)


def test_a_file_tells_whether_it_is_a_plan() -> None:
    assert is_plan(parse_document(NIGHTLY, "x"))
    assert is_plan(parse_document("[[step]]\noperation = 'ctas'", "x"))
    assert not is_plan(parse_document("[experiment]\noperation = 'ctas'", "x"))


STEP = '[[step]]\noperation = "stats-gather"\nschema = "S"\n'
HEAD = '[plan]\nname = "n"\ntarget = "t"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (STEP, 0, r"\[plan\]` is missing"),
        (HEAD, 1, "no step"),
        ('[plan]\ntarget = "t"\n' + STEP, 1, "no name"),
        ('[plan]\nname = "../x"\ntarget = "t"\n' + STEP, 2, "not a valid name for a plan"),
        ('[plan]\nname = "n"\n' + STEP, 1, "no target"),
        ('[plan]\nname = "n"\ntargets = ["a", "a"]\n' + STEP, 3, "listed twice"),
        ('[plan]\nname = "n"\ntarget = "a"\ntargets = ["b"]\n' + STEP, 3, "are mutually exclusive"),
        (HEAD + 'windw = "22:00-06:00 UTC"\n' + STEP, 4, "has no `windw`"),
        (HEAD + 'window = "22:00 UTC"\n' + STEP, 4, "is not a window"),
        (HEAD + "max_degree = 0\n" + STEP, 4, "cannot be 0"),
        (HEAD + "concurrency = true\n" + STEP, 4, "must be a whole number"),
        (HEAD + "[stepp]\n" + STEP, 4, "unknown table `stepp`"),
        (HEAD + 'step = "x"\n', 1, "no step"),
        ('name = "n"\n[[step]]\n' + STEP, 1, "`name` stands before the first table"),
        (HEAD + STEP.replace("[[step]]", "[step]"), 4, "a single table"),
        (HEAD + STEP * 1001, 1, "at most 1,000 steps, and this has 1,001"),
        (HEAD.replace('"n"', '""') + STEP, 2, "`name` is empty"),
        (HEAD.replace('"n"', r'"a\u001bb"') + STEP, 2, "cannot be printed"),
        (HEAD + 'window = "22:00-06:00 Europe/Berln"\n' + STEP, 4, "unknown time zone"),
        (HEAD + STEP + 'degree = {best = "x"}\n', 7, "a table without `best_of`"),
        (HEAD + STEP + 'query_file = "nope.sql"\n', 7, "does not accept `query_file`|no such file"),
        (HEAD + STEP + STEP, 7, "two steps are named"),
        (HEAD + STEP + 'needs = "x"\n', 7, "no step `x`"),
        (HEAD + STEP + 'needs = "stats-gather"\n', 7, "depend on each other"),
        (HEAD + STEP + "repeat = 3\n", 7, "is a job and does not accept `repeat`"),
        (HEAD + STEP + "degree = [1, 2]\n", 7, "accepts one level"),
        (HEAD + STEP + 'schema = {best_of = "x"}\n', 7, "Cannot overwrite|cannot overwrite"),
        (HEAD + STEP + 'table = {best_of = "x"}\n', 7, "is not a factor"),
        (HEAD + STEP + 'degree = {best_of = "x", worst_of = "y"}\n', 7, "only `best_of`"),
        (HEAD + STEP + "retries = 1000\n", 7, "cannot be 1000"),
        (HEAD + STEP + 'on_failure = "ignore"\n', 7, "cannot be `ignore`"),
        (HEAD + STEP + "only_if = 7\n", 7, "must be a condition"),
        (HEAD + STEP + "only_if = {}\n", 7, "must have exactly one kind"),
        (HEAD + STEP + 'only_if = {sql = "SELECT 1"}\n', 7, "needs `at_least`"),
        (HEAD + STEP + 'only_if = {sql = "DROP TABLE t", at_least = 1}\n', 7, "SELECT"),
        (HEAD + STEP + 'only_if = {older_than = "7"}\n', 7, "has no unit of time"),
        (HEAD + STEP + 'only_if = {older_than = "7d", at_least = 1}\n', 7, "is a bound itself"),
        (HEAD + STEP + "only_if = {index_growth = -1}\n", 7, "fraction of the size"),
        (HEAD + STEP + 'only_if = {index_bytes = "10 apples"}\n', 7, "is not a size"),
        (HEAD + STEP + 'only_if = {index_bytes = "1G"}\n', 7, "is for `index-rebuild`"),
        (HEAD + STEP + "only_if = {sqll = 1}\n", 7, "has no `sqll`"),
        (HEAD + '[[step]]\noperation = "defragment"\n', 5, "is not an operation"),
        (HEAD + '[[step]]\noperation = "ctas"\n', 5, "needs"),
        (HEAD + STEP + 'password = "x"\n', 7, "secret"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_a_hint(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(ToolkitError, match=words) as caught:
        plan(tmp_path, text)
    assert caught.value.hint
    if line:
        assert f"nightly.toml:{line}:" in caught.value.message


def test_a_value_that_fills_pages_is_cut_in_its_sentence(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="not a valid name for a plan") as caught:
        plan(tmp_path, HEAD.replace('"n"', f'"{"n" * 100_000}"') + STEP)
    assert len(caught.value.message) < 600


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"\[experiment\]` is missing"),
        (HEAD + STEP + "priority = " + "9" * 5000, "a number in it has too many digits"),
        (HEAD + STEP + "x = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_plan_is_told_in_words_of_its_own(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolkitError, match=words):
        load_experiment(path)


def test_a_chain_of_many_steps_is_no_circle_until_it_closes() -> None:
    chain = {str(at): [str(at - 1)] for at in range(1, 10_000)} | {"0": []}
    assert circle_of(chain) == ()
    assert len(circle_of(chain | {"0": ["99"]})) == 100


def test_a_device_that_never_ends_is_no_plan() -> None:
    with pytest.raises(ToolkitError, match="not a file"):
        load_plan(Path("/dev/zero"))


names = st.sampled_from("abcdefgh")


@given(st.dictionaries(names, st.lists(names, max_size=4), max_size=8))
def test_a_circle_is_one_and_is_found_whenever_there_is_one(given: dict[str, list[str]]) -> None:
    needs = {name: [need for need in of if need in given] for name, of in given.items()}
    circle = circle_of(needs)
    for name, following in zip(circle, (*circle[1:], *circle[:1]), strict=True):
        assert following in needs[name]
    ordered: list[str] = []
    while free := [name for name in needs if name not in ordered and set(needs[name]) <= set(ordered)]:
        ordered += free
    assert (len(ordered) < len(needs)) == bool(circle)
