"""Plan files by the command line: shown, run, refused; and gone on with after kill -9."""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import TWO_STEPS, Dbatk
from tests.for_each import for_each
from tests.servers.forks import Forked
from toolkit.app import maintenance
from toolkit.model.plan import StepState
from toolkit.model.protocols import DatabaseError
from toolkit.runner import undoing
from toolkit.store import open_store

PLAN = (
    TWO_STEPS
    + """
[[step]]
name = "rare"
operation = "stats-gather"
table = "small"
only_if = {sql = "SELECT count(*) FROM small", at_least = 1000}
"""
)


@pytest.fixture
def plan(home: Path, url: str) -> str:
    assert url
    (home / "nightly.toml").write_text(PLAN)
    return "nightly.toml"


def test_a_plan_is_shown_before_it_runs_and_changes_nothing(dbatk: Dbatk, plan: str, home: Path) -> None:
    shown = dbatk("plan", plan)
    assert shown.status == 0 and "3 steps on 1 target" in shown.out
    assert "no window" in shown.out and "if its query returns at least 1,000" in " ".join(shown.out.split())
    steps = json.loads(dbatk("plan", plan, "--json").out)["steps"]
    assert [step["step"] for step in steps] == ["copy", "index", "rare"]
    with open_store(home / "store.sqlite") as store:
        assert store.plan_runs() == []


def test_the_commands_about_plans_stand_in_one_group_and_the_short_forms_mean_the_same(
    dbatk: Dbatk, plan: str, home: Path
) -> None:
    assert dbatk("plan", "show", plan).out == dbatk("plan", plan).out
    assert dbatk("plan", plan, "--approve", "--approved-by", "J. Doe").status == 0
    assert "J. Doe" in (home / "nightly.approval.toml").read_text()
    scheduling = (plan.replace("nightly", str(home / "nightly")), "--kind", "cron", "--at", "22:00 UTC")
    assert "has a relative path" in dbatk("plan", "schedule", *scheduling).err
    assert dbatk("schedule", *scheduling).err == dbatk("plan", "schedule", "add", *scheduling).err
    assert dbatk("notify", "test").err == dbatk("plan", "notify", "test").err


@pytest.mark.parametrize("group", ["plan", "schedule", "audit"])
def test_a_misspelt_command_of_a_group_is_named_unless_it_is_a_file(dbatk: Dbatk, group: str, home: Path) -> None:
    word = {"plan": "shwo", "schedule": "lisst", "audit": "lisst"}[group]
    refused = dbatk(group, word)
    assert refused.status == 2
    assert f"there is no command `{word}`" in refused.err and "did you mean" in refused.err
    (home / word).write_text("not TOML")
    assert "there is no command" not in dbatk(group, word).err


@for_each(
    ("words", "hint"),
    [
        (("plan", "run", "nightly.toml"), "use `dbatk run FILE`"),
        (("plan", "check", "nightly.toml"), "use `dbatk plan show FILE`"),
        (("plan", "zzz", "nightly.toml"), "see `dbatk plan --help`"),
        (("audit", "show", "x"), "see `dbatk audit --help`"),
    ],
)
def test_a_command_that_is_not_there_is_no_file(words: tuple[str, ...], hint: str, dbatk: Dbatk) -> None:
    refused = dbatk(*words)
    assert refused.status == 2
    assert f"there is no command `{words[1]}`" in refused.err and hint in refused.err


def test_a_target_that_nobody_can_reach_is_named_when_the_plan_is_looked_at(
    dbatk: Dbatk, plan: str, home: Path
) -> None:
    (home / "text.duckdb").write_text("no database")
    text = PLAN.replace(
        'target = "duckdb:///small.duckdb"',
        'targets = ["duckdb:///gone.duckdb", "duckdb:///small.duckdb", "duckdb:///text.duckdb"]',
    )
    (home / plan).write_text(text)
    shown = dbatk("plan", plan)
    said = " ".join(shown.out.split())
    assert shown.status == 0, shown.err
    assert "duckdb:///gone.duckdb does not answer now: DuckDB file `gone.duckdb` does not exist" in said
    assert "duckdb:///text.duckdb does not answer now" in said
    assert "duckdb:///small.duckdb does not" not in said


def test_a_plan_runs_and_its_result_names_every_step(dbatk: Dbatk, plan: str) -> None:
    ended = dbatk("run", plan)
    assert ended.status == 0, ended.err
    assert "plan nightly" in ended.out and "skipped" in ended.out
    again = dbatk("run", plan, "--json")
    assert again.status == 3
    document = json.loads(again.out)
    assert [step["state"] for step in document["steps"]] == ["failed", "stopped", "skipped"]
    assert "already exists" in document["steps"][0]["reason"]
    assert document["stopped_by"] == "step `copy` failed"


def test_a_plan_that_is_ok_writes_nothing_for_cron_to_mail(dbatk: Dbatk, plan: str, home: Path) -> None:
    ok = dbatk("run", plan, "--quiet-when-ok")
    assert (ok.status, ok.out, ok.err) == (0, "", "")
    wrong = dbatk("run", plan, "--quiet-when-ok")
    assert wrong.status == 3 and "copy" in wrong.out and "exists" in wrong.err


def test_a_dry_run_shows_the_script_of_every_step(dbatk: Dbatk, plan: str) -> None:
    shown = dbatk("run", plan, "--dry-run")
    assert shown.status == 2 and "`main.copied` does not exist" in shown.err, "the index is on what the copy makes"
    assert "-- step copy on duckdb:///small.duckdb" in shown.out
    assert 'CREATE TABLE "main"."copied"' in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--label", "x"), "does not accept `--label`"), (("--assume", "2.0"), "is for experiments")],
)
def test_what_belongs_to_experiments_is_refused_for_plans(
    dbatk: Dbatk, plan: str, arguments: tuple[str, ...], words: str
) -> None:
    refused = dbatk("run", plan, *arguments)
    assert refused.status == 2 and words in refused.err


def test_outside_its_window_a_plan_exits_6_if_something_is_due_and_0_if_nothing_is(
    dbatk: Dbatk, plan: str, home: Path
) -> None:
    hour = (time.gmtime().tm_hour + 3) % 24
    window = f'window = "{hour:02}:00-{hour:02}:30 UTC"\n'
    (home / plan).write_text(PLAN.replace('name = "nightly"\n', f'name = "nightly"\n{window}'))
    refused = dbatk("run", plan)
    assert refused.status == 6 and "is closed and opens at" in refused.err
    assert "due: `copy`, `index`, `rare`" in " ".join(refused.err.split())
    (home / "config").mkdir()
    (home / "config" / "notify.toml").write_text(f'metrics_folder = "{home}"\n')
    assert dbatk("run", plan).status == 6
    assert 'dbatk_plan_last_run_success{plan="nightly"} 0.0' in (home / "dbatk_nightly.prom").read_text()
    assert dbatk("run", plan, "--allow-closed-window").status == 0
    young = PLAN.replace("[[step]]", 'only_if = {older_than = "7d"}\n\n[[step]]').replace(
        'only_if = {sql = "SELECT count(*) FROM small", at_least = 1000}', 'only_if = {older_than = "7d"}'
    )
    young = young.replace('only_if = {older_than = "7d"}\n\n[[step]]', "[[step]]", 1)
    (home / plan).write_text(young.replace('name = "nightly"\n', f'name = "nightly"\n{window}'))
    dbatk("run", plan, "--allow-closed-window")
    nothing = dbatk("run", plan)
    assert nothing.status == 0 and "nothing was due" in " ".join(nothing.out.split())
    assert 'dbatk_plan_last_run_success{plan="nightly"} 1.0' in (home / "dbatk_nightly.prom").read_text()


def test_after_kill_9_the_next_night_finds_what_was_begun_and_ends_it(dbatk: Dbatk, home: Path, url: str) -> None:
    assert url
    slow = PLAN.replace(
        'source = "small"', 'query = "SELECT sum(a.range) AS i FROM range(40000) a, range(40000) b"'
    )
    (home / "nightly.toml").write_text(slow)
    working = Forked("toolkit", "run", "nightly.toml", "--quiet", cwd=home)
    begun = _run_of_the_first_step(home, working)
    working.send_signal(signal.SIGKILL)
    working.communicate()
    told, again = dbatk("plan", "report"), dbatk("plan", "report")
    assert told.status == again.status == 3 and "died: its process was killed" in " ".join(told.out.split())
    assert "running" not in told.out and "waiting" not in told.out
    assert "warning: run" in told.err and "died" in told.err and not again.err, "it is told once"
    ended = dbatk("run", "nightly.toml", "--json")
    document = json.loads(ended.out)
    assert ended.status == 0, ended.err
    assert document["steps"][0]["run"] == begun
    assert [step["state"] for step in document["steps"]] == ["done", "done", "skipped"]
    with open_store(home / "store.sqlite") as store:
        assert not store.open_entries_all()
        killed = store.plan_runs()[1]
        assert killed.steps[0].state is StepState.STOPPED and "killed" in str(killed.stopped_by)


def _run_of_the_first_step(home: Path, working: Forked) -> str:
    """Wait until the first step's statement runs, and return its run."""
    until = time.monotonic() + 300
    while time.monotonic() < until and working.poll() is None:
        if (home / "store.sqlite").exists():
            with open_store(home / "store.sqlite") as store:
                for night in store.plan_runs():
                    for head in store.children_of(night.plan_run):
                        if store.unended_trials(head.run):
                            return head.run
        time.sleep(0.05)
    raise AssertionError("the step did not begin")


def test_a_plan_run_is_reported_and_the_history_of_a_step_is_shown(dbatk: Dbatk, plan: str, home: Path) -> None:
    assert dbatk("plan", "report").status == 2, "there is none yet"
    renamed = dbatk("account", "last")
    assert renamed.status == 2 and "use `dbatk plan report`" in renamed.err
    dbatk("run", plan)
    told = dbatk("plan", "report")
    assert told.status == 0 and "plan `nightly`: 2 ok, 1 skipped" in told.out
    assert "next" in told.out and "`copy` on `duckdb:///small.duckdb`: yes" in told.out
    assert dbatk("plan", "report", "last", "--out", "report.html").status == 0
    assert "creates table <code>main.copied</code>" in (home / "report.html").read_text()
    document = json.loads(dbatk("plan", "report", "last", "--json").out)
    assert [step["state"] for step in document["steps"]] == ["done", "done", "skipped"]
    assert dbatk("plan", "report", document["plan_run"][:-2]).status == 0
    assert json.loads(dbatk("plan", "report", document["plan"], "--json").out) == document, "the newest of a plan"
    history = dbatk("plan", "history", "copy")
    assert history.status == 0 and "  ok  " in history.out and "fewer than 10" in history.out
    refused = dbatk("plan", "history", "nothing")
    assert refused.status == 2 and "copy, index, rare" in refused.err
    assert (
        dbatk("plan", "report", "x").status == 2 and dbatk("plan", "report", "last", "--format", "pdf").status == 2
    )


LOAD = """
[plan]
name = "loads"
target = "duckdb:///small.duckdb"

[[step]]
name = "load"
operation = "insert"
table = "small"
query = "SELECT sum(a.range) AS i, 1 AS k FROM range(30000) a, range(30000) b"
"""


def test_a_load_that_was_cut_off_is_settled_by_its_note_and_done_once(dbatk: Dbatk, home: Path, url: str) -> None:
    assert url
    (home / "nightly.toml").write_text(LOAD)
    before = _rows_of(home, "small")
    working = Forked("toolkit", "run", "nightly.toml", "--quiet", cwd=home)
    run = _run_of_the_first_step(home, working)
    working.send_signal(signal.SIGKILL)
    working.communicate()
    loaded = json.loads(dbatk("run", "nightly.toml", "--json").out)["steps"][0]
    assert (loaded["state"], loaded["run"]) == ("done", run), loaded["reason"]
    assert _rows_of(home, "small") == before + 1


def _rows_of(home: Path, table: str) -> int:
    with duckdb.connect(str(home / "small.duckdb"), read_only=True) as database:
        (count,) = database.sql(f"SELECT count(*) FROM {table}").fetchall()[0]
    return int(count)


@pytest.mark.full
def test_before_a_night_begins_it_is_told_when_the_plan_is_another_or_was_edited(
    dbatk: Dbatk, plan: str, home: Path
) -> None:
    assert dbatk("run", plan).status == 0
    assert "warning" not in dbatk("plan", plan).err and "edited" not in dbatk("plan", plan).out
    (home / plan).write_text(PLAN.replace('name = "rare"', 'name = "seldom"'))
    said = "plan `nightly` was edited since its last run (new: `seldom`; gone: `rare`)"
    assert said in " ".join(dbatk("plan", plan).out.split())
    assert said in dbatk("run", plan, "--log-format", "json").err
    (home / "other.toml").write_text(OTHER)
    assert "two plans of one name share a lock and a history" in dbatk("run", "other.toml").err


@pytest.mark.full
def test_a_plan_edited_while_it_runs_is_done_as_it_was_and_that_is_said(
    dbatk: Dbatk, plan: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = maintenance.run_plan

    def edited(*arguments: object, **said: object) -> object:
        (home / plan).write_text("[plan")
        return real(*arguments, **said)  # type: ignore[arg-type]

    monkeypatch.setattr(maintenance, "run_plan", edited)
    answer = dbatk("run", plan, "--log-format", "json")
    assert answer.status == 0 and "was edited while the plan ran" in answer.err
    assert "plan nightly" in answer.out


def test_a_plan_that_is_as_it_was_is_not_called_edited_however_it_is_written(
    dbatk: Dbatk, plan: str, home: Path
) -> None:
    (home / plan).write_bytes(b"\xef\xbb\xbf" + PLAN.replace("\n", "\r\n").encode())
    answer = dbatk("run", plan, "--log-format", "json")
    assert answer.status == 0 and "edited" not in answer.err


@pytest.mark.full
def test_a_plan_from_a_pipe_of_the_shell_is_read_once(dbatk: Dbatk, plan: str) -> None:
    assert plan
    reading, writing = os.pipe()
    os.write(writing, PLAN.encode())
    os.close(writing)
    answer = dbatk("run", f"/dev/fd/{reading}", "--log-format", "json")
    os.close(reading)
    assert answer.status == 0 and "edited" not in answer.err


OTHER = """
[plan]
name = "nightly"
target = "duckdb:///small.duckdb"

[[step]]
name = "statistics"
operation = "stats-gather"
table = "small"
"""


def test_a_clock_that_was_set_back_is_told_before_anything_begins(dbatk: Dbatk, home: Path, url: str) -> None:
    assert url
    (home / "other.toml").write_text(OTHER)
    assert dbatk("run", "other.toml").status == 0
    with open_store(home / "store.sqlite") as store:
        (night,) = store.plan_runs()
        store.end_plan_run(night.plan_run, night.state, night.began_at + timedelta(days=3))
    again = dbatk("run", "other.toml")
    assert again.status == 0 and "the clock was set back" in again.err


def test_a_file_that_cannot_be_read_in_a_list_of_targets_is_named_and_the_others_are_done(
    dbatk: Dbatk, home: Path, url: str
) -> None:
    assert url
    two = OTHER.replace('target = "duckdb:///small.duckdb"', 'targets = ["duckdb:///gone.duckdb", "{}"]')
    (home / "two.toml").write_text(two.format("duckdb:///small.duckdb"))
    ended = dbatk("run", "two.toml", "--json")
    states = {step["target"]: (step["state"], step["reason"]) for step in json.loads(ended.out)["steps"]}
    assert ended.status == 3 and states["duckdb:///small.duckdb"][0] == "done"
    assert states["duckdb:///gone.duckdb"] == ("stopped", "DuckDB file `gone.duckdb` does not exist")
    (home / "two.toml").write_text(two.format("no-such-profile"))
    refused = dbatk("run", "two.toml")
    assert refused.status == 2 and "unknown target `no-such-profile`" in refused.err


# -- settings of a step ---------------------------------------------------------------------------------------
STEP_WITH_SETTING = """
[plan]
name = "nightly"
target = "duckdb:///small.duckdb"

[[step]]
name = "copy"
operation = "ctas"
query = "SELECT current_setting('memory_limit') AS allowed"
table = "copied"
setting = {memory_limit = "1GB"}

[[step]]
name = "other"
operation = "ctas"
query = "SELECT current_setting('memory_limit') AS allowed"
table = "other"
needs = ["copy"]
"""


def test_a_step_has_its_settings_and_the_next_one_has_not(dbatk: Dbatk, home: Path, url: str) -> None:
    import duckdb

    assert url
    (home / "p.toml").write_text(STEP_WITH_SETTING)
    script = dbatk("run", "p.toml", "--dry-run").out
    assert script.count("SET \"memory_limit\" = '1GB'") == 1
    assert dbatk("run", "p.toml", "-q").status == 0
    with duckdb.connect(str(home / "small.duckdb")) as connection:
        allowed = connection.execute("SELECT c.allowed, o.allowed FROM copied c, other o").fetchall()
    assert allowed[0][0] == "953.6 MiB"
    assert allowed[0][1] != allowed[0][0]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('{memory_limit = ["1GB", "2GB"]}', "a step has one level of `memory_limit`"),
        ('{memory_limt = "1GB"}', "`memory_limt` is not a setting"),
        ('"1GB"', "`setting` must be a table"),
    ],
)
def test_settings_that_a_step_cannot_have_are_refused(
    dbatk: Dbatk, home: Path, url: str, given: str, says: str
) -> None:
    assert url
    (home / "p.toml").write_text(STEP_WITH_SETTING.replace('{memory_limit = "1GB"}', given))
    refused = dbatk("run", "p.toml", "-q")
    assert refused.status != 0
    assert says in refused.err + refused.out


def test_what_a_step_left_is_named_by_each_night_until_it_is_undone(
    dbatk: Dbatk, home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = 'name = "load"\noperation = "insert"\nsource = "small"\ntable = "big"\nonly_if = {older_than = "1d"}\n'
    with duckdb.connect(str(home / "small.duckdb")) as made:
        made.execute("CREATE TABLE big AS FROM small")
    (home / "load.toml").write_text(f'[plan]\nname = "load"\ntarget = "{url}"\n[[step]]\n{step}')

    def full(*_: object) -> None:
        raise DatabaseError("IO Error: No space left on device", code="IO Error")

    with monkeypatch.context() as broken:
        broken.setattr(undoing, "drop", full)
        nights = [dbatk("run", "load.toml") for _ in range(2)]
    assert [each.status for each in nights] == [3, 3]
    assert all("left something that is not undone" in each.err for each in nights)
    undone = dbatk("run", "load.toml")
    assert undone.status == 0 and "dropped table `main.dbatk_" in undone.err and "not undone" not in undone.err
