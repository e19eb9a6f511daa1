"""Mixes: what is read, which jobs come of it, when they are begun, and what is told of them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.arena import Heard
from toolkit.analysis.mixes import groups_of, mix_trial
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.preview import script
from toolkit.app.targets import find_target
from toolkit.cli.main import main
from toolkit.cli.operations import experiment_of
from toolkit.cli.parameters import Arguments
from toolkit.design.file import dump_experiment, load_experiment, parse_experiment
from toolkit.design.mix import parse_mix
from toolkit.design.plan_file import load_plan
from toolkit.errors import ToolkitError
from toolkit.executors import keeping
from toolkit.model.experiment import Experiment
from toolkit.model.mix import Mix, MixJob, RanJob, StartedJob, busiest, jobs_of, longest_chain, waited_for_a_turn
from toolkit.model.protocols import OutputLine
from toolkit.model.records import Artifact, RunRecord
from toolkit.model.steps import Program, Step, TimedItem
from toolkit.model.words import Outcome, StepKind
from toolkit.report.render import text_report
from toolkit.report.view import run_view
from toolkit.runner.evidence import keep_programs
from toolkit.runner.item_result import ItemResult, TimedResult
from toolkit.store import open_store
from toolkit.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store" / "store.sqlite") as opened:
        yield opened


def mix_file(folder: Path, text: str) -> str:
    path = folder / "mix.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def asked(folder: Path, text: str, **given: object) -> Experiment:
    return experiment_of("mix", Arguments({"jobs": mix_file(folder, text), **given}))


def ran(store: Store, experiment: Experiment) -> RunRecord:
    target = find_target(experiment.target).target
    allowed = Approvals(allow_commands=True)
    run = start(experiment, target, store=store, approvals=allowed, events=Heard())
    assert store.journal(run).open_entries() == ()
    return store.load_run(run)


def job(name: str, command: str = "true", more: str = "") -> str:
    return f'[[job]]\nname = "{name}"\ncommand = {json.dumps(command)}\n{more}\n'


def program(text: str) -> str:
    return f"{sys.executable} -c '{text}'"


# -- which jobs -------------------------------------------------------------------------------------------------
def test_copies_arrive_as_the_file_says() -> None:
    mix = parse_mix(
        job("each", more='copies = 3\nevery = "2s"\nbegin = "1s"')
        + job("listed", more='at = ["5s", "0s"]')
        + job("chance", more='copies = 50\npoisson = "2s"')
    )
    due = {name: [one.due_seconds for one in jobs_of(mix) if one.job.name == name] for name in ("each", "listed")}
    assert due == {"each": [1.0, 3.0, 5.0], "listed": [0.0, 5.0]}
    chance = [one.due_seconds for one in jobs_of(mix) if one.job.name == "chance"]
    assert chance == [one.due_seconds for one in jobs_of(mix) if one.job.name == "chance"]
    assert 1.0 < chance[-1] / 50 < 4.0  # two seconds apart on average
    other = [one.due_seconds for one in jobs_of(Mix(mix.jobs, seed=2)) if one.job.name == "chance"]
    assert chance != other


def test_copies_follow_their_own_one_and_nodes_do_not_wait_for_each_other() -> None:
    mix = parse_mix(
        job("a", more="copies = 2") + job("b", more='copies = 2\nafter = ["a"]') + job("c", more='after = ["b"]')
    )
    needs = {one.label: one.needs for one in jobs_of(mix)}
    assert needs == {"a 1": (), "a 2": (), "b 1": ("a 1",), "b 2": ("a 2",), "c": ("b 1", "b 2")}
    both = jobs_of(mix, nodes=2)
    assert len(both) == 10
    assert all(f"on node {one.node}" in need for one in both for need in one.needs)
    assert len(jobs_of(mix, copies=3)) == 15


BAD = {
    "": "a mix has no job",
    job("a", more="copies = 0"): "`copies` cannot be 0",
    job("a") + job("a"): "two jobs are called `a`",
    job("a", more='after = ["b"]') + job("b", more='after = ["a"]'): "wait for each other",
    job("a", more='after = ["c"]'): "there is no job `c`",
    job("a", more='every = "1s"\nafter = ["a"]'): "begins in one way only",
    job("a", more='every = "0s"'): "`every` must be above 0",
    job("a", more='at = []'): "`at` must be a list of durations",
    job("a", more='at = ["1s"]\ncopies = 2'): "`at` says how many copies",
    job("a", more="weight = 0"): "unknown key `weight` of a job",
    job("a", more='operation = "ctas"'): "needs one of",
    '[[job]]\nname = "a"\ncomand = "true"': "unknown key `comand` of a job",
    job("a", "tool --password=x"): "contains a secret",
    '[[job]]\nname = "a"\noperation = "ctaz"': "there is no operation `ctaz`",
    '[[job]]\nname = "a"\noperation = "command"\ntarget = "host://"': "cannot be a job of a mix",
    '[[job]]\nname = "a"\noperation = "ctas"\nsource = "t"\ntable = "u"': "has no target",
    '[[job]]\nname = "a"\noperation = "ctas"\ntarget = "d"\nsource = "t"': "needs `--table`",
    '[[job]]\nname = "a"\noperation = "ctas"\ntarget = "d"\nquery = "SELECT 1"\ntable = "u"': "cannot stand in a mix",  # noqa: E501
    job("a", more="copies = 401"): "`copies` cannot be 401",
    "[mixx]\n" + job("a"): "unknown table `mixx`",
    "[mix]\ncolour = 1\n" + job("a"): "unknown key `colour`",
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), BAD.items(), ids=list(BAD.values()))
def test_what_cannot_be_right_is_told_with_file_and_line(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match=re.escape(sentence)) as caught:
        asked(tmp_path, text)
    assert caught.value.message.startswith(f"{tmp_path}/mix.toml")
    assert caught.value.hint


def test_too_many_jobs_in_one_configuration_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="has 500 jobs at once"):
        asked(tmp_path, job("a", more="copies = 50"), copies="10")


def test_the_file_of_an_experiment_holds_its_jobs_and_is_run_as_one(tmp_path: Path) -> None:
    text = '[experiment]\noperation = "mix"\n\n[factors]\ncopies = [1, 2]\n\n' + job("a")
    found = load_experiment(Path(mix_file(tmp_path, text)))
    assert parse_mix(str(found.options["jobs"])).jobs[0].argv == ("true",)
    assert parse_experiment(dump_experiment(found)) == found
    with pytest.raises(ToolkitError, match="file of an experiment") as caught:
        asked(tmp_path, text)
    assert "dbatk run" in str(caught.value.hint)


def test_a_dry_run_says_when_each_job_begins(tmp_path: Path) -> None:
    text = job("a", more='begin = "2s"') + job("b", more='after = ["a"]')
    printed, _ = script(asked(tmp_path, text), None, engine="host", assume="6.1")
    assert "# begins 2.000 s after the start\ntrue" in printed
    assert "# begins when these have ended: a\ntrue" in printed


# -- what was told of them --------------------------------------------------------------------------------------
@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0.001, 50), st.floats(0, 1e9)), min_size=1, max_size=20))
def test_the_busiest_instant_lies_between_the_mean_and_all_rates_together(jobs: list[tuple[float, ...]]) -> None:
    ran_jobs = [RanJob(begin, took, 0.0, moved) for begin, took, moved in jobs]
    rates = [moved / took for _, took, moved in jobs]
    end = max(each.end_seconds for each in ran_jobs)
    assert sum(moved for *_, moved in jobs) / end <= busiest(ran_jobs) * (1 + 1e-9) + 1e-6
    assert max(rates) * (1 - 1e-6) <= busiest(ran_jobs) + 1e-6
    assert busiest(ran_jobs) <= sum(rates) * (1 + 1e-6) + 1e-6


def test_the_longest_chain_is_one_of_jobs_that_waited_for_each_other() -> None:
    one = MixJob("x", ("true",))
    jobs = [StartedJob(*each) for each in (
        ("a", one, 1, 0.0), ("b", one, 1, 0.0), ("c", one, 1, 0.0, ("a", "b")), ("d", one, 1, 0.0))]  # fmt: skip
    times = {"a": RanJob(0, 3), "b": RanJob(0, 1), "c": RanJob(4, 2), "d": RanJob(0, 4.5)}
    assert longest_chain(jobs, times) == ("a", "c")
    assert waited_for_a_turn(jobs, times) == {"a": 0.0, "b": 0.0, "c": 1.0, "d": 0.0}


# -- as run -----------------------------------------------------------------------------------------------------
def test_jobs_begin_when_they_are_due_and_when_others_have_ended(store: Store, tmp_path: Path) -> None:
    text = (
        job("first", "sleep 0.2", 'group = "I/O"') + job("due", "sleep 0.1", 'begin = "0.5s"')
        + job("then", program("sum(range(10**6))"), 'after = ["first", "due"]')
    )  # fmt: skip
    run = ran(store, asked(tmp_path, text))
    (trial,) = run.trials
    begun = {item.label: item.begin_seconds for item in trial.items}
    ended = {item.label: (item.begin_seconds or 0) + (item.elapsed_seconds or 0) for item in trial.items}
    assert trial.outcome is Outcome.OK
    assert begun["due"] >= 0.5
    assert begun["then"] >= max(ended["first"], ended["due"])
    found = mix_trial(run)
    assert found is not None
    assert [each.started.label for each in found.chain][-1] == "then"
    assert {each.started.label: each.waited_for for each in found.jobs}["then"] == "due"
    assert all(each.cpu_seconds is not None for each in found.jobs)
    assert [group.name for group in groups_of(found.jobs)] == ["I/O", "due", "then"]
    metrics = {metric.name: metric.value for metric in trial.metrics}
    assert metrics["jobs_elapsed_seconds"] == pytest.approx(
        sum(item.elapsed_seconds or 0 for item in trial.items), rel=0.05
    )
    text = text_report([run_view(run)], [])
    assert "WHO RAN WHEN, AND WAITED FOR WHOM" in text
    assert "the longest chain took" in text


def test_what_needs_a_job_that_failed_is_not_begun_and_the_rest_is(store: Store, tmp_path: Path) -> None:
    text = (
        job("bad", "false") + job("next", more='after = ["bad"]') + job("last", more='after = ["next"]')
        + job("other", more='begin = "0.3s"')
    )  # fmt: skip
    (trial,) = ran(store, asked(tmp_path, text)).trials
    assert trial.outcome is Outcome.FAILED
    outcomes = {item.label: item.outcome for item in trial.items}
    assert outcomes == {
        "bad": Outcome.FAILED, "next": Outcome.SKIPPED, "last": Outcome.SKIPPED, "other": Outcome.OK,
    }  # fmt: skip
    reasons = {item.label: item.reason for item in trial.items}
    assert reasons["next"] == "not started: it begins after `bad`"


def test_at_most_so_many_jobs_run_at_once(store: Store, tmp_path: Path) -> None:
    text = job("a", "sleep 0.2", "copies = 4")
    (trial,) = ran(store, asked(tmp_path, text, concurrency="2")).trials
    items = [
        (item.begin_seconds or 0.0, (item.begin_seconds or 0.0) + (item.elapsed_seconds or 0.0))
        for item in trial.items
    ]
    assert max(sum(begin <= other < end for begin, end in items) for other, _ in items) == 2
    metrics = {metric.name: metric.value for metric in trial.metrics}
    assert metrics["waited_for_a_turn_seconds"] >= 0.3


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system binds no programs to CPUs")
def test_a_node_is_a_group_of_cpus_whatever_their_number(store: Store, tmp_path: Path) -> None:
    cpus = len(os.sched_getaffinity(0))
    if cpus < 2:
        pytest.skip("this host has one CPU")
    out = tmp_path / "cpus"
    shown = program(f'import os; print(*os.sched_getaffinity(0), file=open("{out}", "a"))')
    ran(store, asked(tmp_path, job("a", shown), nodes="1,2", repeat=1, warmup=0))
    seen = [frozenset(line.split()) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(seen) == 3
    assert {len(each) for each in seen} == {cpus // 2}
    assert len(set(seen)) == 2
    with pytest.raises(ToolkitError, match=f"cannot be divided into {cpus + 1} nodes"):
        ran(store, asked(tmp_path, job("a"), nodes=str(cpus + 1)))


def test_a_program_that_is_not_there_is_told_with_its_job(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match="b 1: the program `no-such-tool` was not found"):
        ran(store, asked(tmp_path, job("a") + job("b", "no-such-tool", "copies = 2")))


@pytest.mark.full
def test_operations_are_runs_of_their_own_below_the_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    with duckdb.connect(str(tmp_path / "d.duckdb")) as made:
        made.execute("CREATE TABLE t AS SELECT range AS i FROM range(1000)")
    url = f"duckdb:///{tmp_path}/d.duckdb"
    one = f'operation = "ctas"\ntarget = "{url}"\nsource = "t"\n'
    path = mix_file(
        tmp_path, f'[[job]]\nname = "a"\n{one}table = "made_a"\n[[job]]\nname = "b"\n{one}table = "made_b"\n'
    )
    assert main(["mix", path]) == 0
    with open_store(tmp_path / "store.sqlite") as store:
        heads = store.list_runs()
        mix = store.load_run(store.resolve("last"))
        own = [head for head in heads if head.parent == mix.head.run]
        assert {head.label for head in own} == {"a", "b"}
        assert mix.head.experiment.operation == "mix"
        found = mix_trial(mix)
    assert found is not None
    assert {each.run for each in found.jobs} == {head.run for head in own}
    # one process at a time opens such a file
    first, second = (each.item for each in found.jobs)
    assert (second.begin_seconds or 0) >= (first.begin_seconds or 0) + (first.elapsed_seconds or 0)
    with duckdb.connect(str(tmp_path / "d.duckdb")) as made:
        assert made.execute("SELECT count(*) FROM made_a, made_b").fetchall() == [(1_000_000,)]
    capsys.readouterr()


def test_what_is_kept_of_a_mix_names_files_by_their_paths_and_reads_none_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "one.toml"
    other.write_text('[experiment]\noperation = "ctas"\ntarget = "duckdb:///d"\nsource = "t"\ntable = "m"\n')
    load = 'operation = "load"\ntarget = "duckdb:///d"\nfiles = ["rows.csv"]\ntable = "t"\n'
    monkeypatch.chdir(tmp_path)
    text = f'[[job]]\nname = "a"\nfile = "one.toml"\n[[job]]\nname = "b"\n{load}'
    kept = str(asked(tmp_path, text).options["jobs"])
    other.unlink()
    monkeypatch.chdir("/")
    first, second = parse_mix(kept).jobs
    assert (first.target, first.argv[-1]) == ("duckdb:///d", str(other))
    assert str(tmp_path / "rows.csv") in second.argv


def test_a_target_that_one_process_at_a_time_opens_is_named_by_one_url(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path))
    (tmp_path / "targets.toml").write_text(f'[targets.dwh]\nurl = "duckdb:///{tmp_path}/d.duckdb"\n')
    (tmp_path / "targets.toml").chmod(0o600)
    made = '[[job]]\nname = "a"\noperation = "ctas"\ntarget = "dwh"\nsource = "t"\ntable = "m"\ncopies = 2\n'
    with pytest.raises(ToolkitError, match="which only one process at a time can open"):
        ran(store, asked(tmp_path, made))


def test_a_mix_in_a_plan_runs_programs_only(tmp_path: Path) -> None:
    made = '[[job]]\nname = "a"\noperation = "ctas"\ntarget = "dwh"\nsource = "t"\ntable = "m"\n'
    plan = tmp_path / "night.toml"
    plan.write_text('[plan]\nname = "n"\ntarget = "host://"\n[[step]]\noperation = "mix"\njobs = "mix.toml"\n')
    mix_file(tmp_path, made)
    with pytest.raises(ToolkitError, match="a mix in a plan runs programs only"):
        load_plan(plan)
    mix_file(tmp_path, job("a"))
    assert load_plan(plan).steps[0].operation == "mix"


def test_the_run_of_a_job_is_one_below_the_mix_whatever_others_its_output_names(tmp_path: Path) -> None:
    """A job that is refused names who holds its target, and its own run, if any, only afterwards."""
    stranger, own = "20261121-051342-aaaa", "20261121-051343-bbbb"
    lines = (OutputLine(0.0, f"run {stranger} holds the target"), OutputLine(0.1, f"run {own}, a job"))
    step = Step("program", "", kind=StepKind.COMMAND, argv=("dbatk",), program=Program(own=True))
    items = tuple(
        ItemResult(TimedItem(name, (step,)), 0, 0.0, 1.0, lines=said, programs=({"exit_status": 0},))
        for name, said in (("a", lines), ("b", lines[:1]))
    )
    kept: list[Artifact] = []
    below = SimpleNamespace(
        children_of=lambda _: [SimpleNamespace(run=own)], keep_artifact=lambda _, one: kept.append(one)
    )
    keep_programs(SimpleNamespace(store=below, run="mix"), 1, TimedResult(1.0, items))  # type: ignore[arg-type]
    assert [row["run"] for row in json.loads(kept[0].content)["programs"]] == [own, None]


def test_an_operation_that_failed_is_told_by_its_error_and_not_by_the_hint_below_it() -> None:
    step = Step("program", "", kind=StepKind.COMMAND, argv=("dbatk",))
    lines = tuple(OutputLine(0.0, text) for text in ("error: no such table [TK-0204]", "", "hint: check the name"))
    told = {}
    for own in (True, False):
        error = keeping._error(step, Program(own=own), {"exit_status": 1}, lines, asked=False)
        told[own] = str(error)
    assert told[True].endswith("ended with exit status 1: error: no such table [TK-0204]")
    assert told[False].endswith("ended with exit status 1: hint: check the name")
