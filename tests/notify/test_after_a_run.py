"""A plan from the command line to whoever reads of it: a webhook, metrics, a log."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

from tests.notify.runs import run as a_run
from tests.notify.runs import step as a_step
from tests.notify.sinks import Hook, serving
from toolkit.app import notices
from toolkit.app.dead_plan_runs import end_dead_runs, lease_of_plan_run
from toolkit.cli.main import main
from toolkit.model.plan import PlanRunRecord, StepState
from toolkit.model.words import RunState
from toolkit.runner import Stop, holding_lease
from toolkit.store import leases, open_store, schema

PLAN = """
[plan]
name = "nightly"
targets = ["duckdb:///{folder}/small.duckdb"]
[[step]]
name = "statistics"
operation = "stats-gather"
schema = "main"
[[step]]
name = "copy"
operation = "ctas"
source = "{source}"
table = "copy_{source}"
on_failure = "continue"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    (tmp_path / "config").mkdir()
    (tmp_path / "metrics").mkdir()
    with duckdb.connect(str(tmp_path / "small.duckdb")) as connection:
        connection.execute("create table small as select i from range(10) t(i)")
    return tmp_path


def run(folder: Path, source: str) -> int:
    (folder / "nightly.toml").write_text(PLAN.format(folder=folder, source=source), encoding="utf-8")
    return main(["run", str(folder / "nightly.toml"), "-q", "--log-file", str(folder / "log")])


def begun(**more: str) -> PlanRunRecord:
    """Return a run that began an hour ago: a death is told for a week only."""
    began = datetime.now(UTC) - timedelta(hours=1)
    return replace(a_run(), state=RunState.RUNNING, began_at=began, ended_at=None, **more)  # type: ignore[arg-type]


def test_a_run_that_fails_and_recovers_is_told_measured_and_logged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Hook) as (port, received):
        monkeypatch.setenv("HOOK", f"json://127.0.0.1:{port}")
        text = f'metrics_folder = "{folder}/metrics"\n[[to]]\nname = "dba"\nurl = {{env = "HOOK"}}\n'
        (folder / "config/notify.toml").write_text(text)
        assert run(folder, "missing") == 3
        assert run(folder, "small") == 0
    titles = [body["title"] for body in received]  # type: ignore[index]
    assert [title[:35] for title in titles] == [
        "dbatk: plan nightly failed: copy on",
        "dbatk: plan nightly succeeded again",
    ]
    families = text_string_to_metric_families((folder / "metrics/dbatk_nightly.prom").read_text())
    values = {family.name: family.samples[0].value for family in families}
    assert values["dbatk_plan_last_run_success"] == 1
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    runs = list(dict.fromkeys(line["plan_run"] for line in lines))
    assert len(runs) == 2
    ends = [(line["plan_run"], line["data"]["state"]) for line in lines if line["event"] == "plan-ended"]
    assert ends == [(runs[0], "failed"), (runs[1], "done")]
    trials = [line for line in lines if line["event"] == "trial-ended"]
    assert {(line["step"], line["trial"]) for line in trials} == {("statistics", 1), ("copy", 1)}
    assert all(line["run"] and line["target"].startswith("duckdb:") for line in trials)


def test_a_run_whose_process_died_is_told_once_and_to_somebody(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store() as store:
        store.begin_plan_run(begun())
        with holding_lease(store, "plan run of another", a_run().plan_run, Stop()):
            assert end_dead_runs(store) == [], "a process works for it"
    with serving(Hook) as (port, received):
        monkeypatch.setenv("HOOK", f"json://127.0.0.1:{port}")
        monkeypatch.setenv("NOBODY", "json://127.0.0.1:1")
        text = f'metrics_folder = "{folder}/metrics"\n[[to]]\nname = "dba"\nurl = {{env = "HOOK"}}\n'
        assert main(["runs", "list"]) == 0, "on a laptop, where nobody is configured"
        for broken in (None, "[[to]\n", text.replace("HOOK", "NOBODY")):
            if broken is not None:
                (folder / "config/notify.toml").write_text(broken)
            main(["plan", "notify", "digest"])
            assert run(folder, "missing") == 3
        (folder / "config/notify.toml").write_text(text)
        assert main(["plan", "report", a_run().plan_run]) == 3
        assert received == [], "who only reads tries it once, when it finds the death"
        main(["plan", "notify", "digest"])
        run(folder, "missing")
    titles = [body["title"] for body in received]  # type: ignore[index]
    assert [title[:45] for title in titles if "died" in title] == ["dbatk: plan nightly died: its process was kil"]
    metrics = (folder / "metrics/dbatk_nightly.prom").read_text()
    assert 'dbatk_plan_running{plan="nightly"} 0.0' in metrics and "heartbeat_timestamp_seconds" in metrics


@pytest.mark.thin(4)
@pytest.mark.parametrize("command", [("runs", "list"), ("plan", "report", "last", "--plan", "nightly")])
@pytest.mark.parametrize("here", [True, False])
def test_who_finds_a_death_tells_it_on_the_host_of_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], here: bool
) -> None:
    host = socket.gethostname() if here else "elsewhere"
    with open_store() as store:
        store.begin_plan_run(begun(host=host))
    with serving(Hook) as (port, received):
        monkeypatch.setenv("HOOK", f"json://127.0.0.1:{port}")
        text = f'metrics_folder = "{folder}/metrics"\n[[to]]\nname = "dba"\nurl = {{env = "HOOK"}}\n'
        (folder / "config/notify.toml").write_text(text)
        for _ in range(2):
            main([*command])
        assert len(received) == (1 if here else 0)
        main(["plan", "notify", "digest"])
    assert len(received) == 1
    assert 'dbatk_plan_running{plan="nightly"} 0.0' in (folder / "metrics/dbatk_nightly.prom").read_text()


def test_the_death_of_a_plan_that_is_begun_no_more_is_told_by_the_run_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store() as store:
        store.begin_plan_run(begun(plan="renamed"))
    with serving(Hook) as (port, received):
        monkeypatch.setenv("HOOK", f"json://127.0.0.1:{port}")
        (folder / "config/notify.toml").write_text(
            '[[to]]\nname = "dba"\nurl = {env = "HOOK"}\nwhen = ["failure"]\n'
        )
        run(folder, "small")
        run(folder, "small")
    titles = [body["title"] for body in received]  # type: ignore[index]
    assert [title[:25] for title in titles if "died" in title] == ["dbatk: plan renamed died:"]


EXPERIMENT = """
[experiment]
target = "duckdb:///{folder}/small.duckdb"
operation = "ctas"
query = "{query}"
table = "copied"
repeat = 1
warmup = 0
[factors]
degree = [1, 2]
"""


@pytest.mark.full
def test_an_experiment_that_nobody_watches_tells_when_it_does_not_end_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "degrees.toml"

    def begin(query: str, *more: str) -> int:
        file.write_text(EXPERIMENT.format(folder=folder, query=query), encoding="utf-8")
        return main(["run", str(file), "-q", *more])

    with serving(Hook) as (port, received):
        monkeypatch.setenv("HOOK", f"json://127.0.0.1:{port}")
        text = '[[to]]\nname = "dba"\nurl = {env = "HOOK"}\nplans = ["deg*"]\n'
        (folder / "config/notify.toml").write_text(text)
        assert begin("SELECT i FROM small") == 0
        assert begin("SELECT i FROM small", "--approved-only") == 5
        assert begin("SELECT error('broken') FROM small") == 3
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        assert begin("SELECT error('broken') FROM small") == 3
    titles = [body["title"] for body in received]  # type: ignore[index]
    assert titles[0].startswith("dbatk: experiment degrees ended with an error: ")
    assert "is not approved" in received[0]["message"].replace("\n", " ").replace("  ", "")  # type: ignore[index]
    assert titles[1].startswith("dbatk: experiment degrees did not end well: failed: ") and len(titles) == 2
    assert "broken" in received[1]["message"] and "dbatk runs show 2" in received[1]["message"]  # type: ignore[index]


LISTED = """
import json, sys
from toolkit.cli.main import main
status = main(["runs", "list", "--json"])
print(json.dumps([status, sorted(name for name in sys.modules if name.startswith("toolkit."))]), file=sys.stderr)
"""


@pytest.mark.full
def test_runs_are_listed_without_what_runs_plans_while_none_has_died(folder: Path) -> None:
    assert folder
    with open_store() as store:
        store.begin_plan_run(begun())
        with holding_lease(store, lease_of_plan_run(a_run().plan_run), a_run().plan_run, Stop()):
            done = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=True)
        status, names = json.loads(done.stderr)
        assert status == 0 and "toolkit.app.dead_plan_runs" in names, "it looked"
        heavy = ("toolkit.app.maintenance", "toolkit.app.runs", "toolkit.runner", "toolkit.executors")
        assert [name for name in names if name.startswith(heavy)] == []
        assert store.load_plan_run(a_run().plan_run).state is RunState.RUNNING


def test_a_heartbeat_from_another_host_that_is_late_is_no_death_yet(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leases, "process_alive", lambda _: None)
    with open_store() as store:
        store.begin_plan_run(begun())
        store.acquire_lease(lease_of_plan_run(a_run().plan_run), a_run().plan_run)
        for late, died in ((200, False), (301, True)):
            with store._database.write("a test") as connection:
                at = store.now() - timedelta(seconds=late)
                connection.execute(update(schema.lease).values(heartbeat_at=at))
            assert main(["runs", "list"]) == 0
            said = capsys.readouterr().err
            assert ("no heartbeat since" in said, "died" in said) == (not died, died)
            assert (store.load_plan_run(a_run().plan_run).state is RunState.DIED) is died


def test_how_long_a_killed_step_took_is_not_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leases, "process_alive", lambda _: False)
    with open_store() as store:
        store.acquire_lease(lease_of_plan_run(a_run().plan_run), a_run().plan_run)
        began = store.now() + timedelta(seconds=2)
        step = replace(a_step(), state=StepState.RUNNING, began_at=began, ended_at=None)
        store.begin_plan_run(replace(a_run(step), state=RunState.RUNNING, ended_at=None))
        (died,) = end_dead_runs(store)
    assert died.steps[0].elapsed_seconds is None and died.ended_at == died.steps[0].ended_at == began
    assert main(["plan", "report", a_run().plan_run]) == 3
    assert "took" not in capsys.readouterr().out
    assert f"last heard of at {began:%Y-%m-%d %H:%M:%S}" in str(died.stopped_by)


def test_a_run_that_works_has_a_heartbeat_for_monitoring(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "config/notify.toml").write_text(f'metrics_folder = "{folder}/metrics"\n')
    written, read = threading.Event(), list[str]()
    real = notices.replace_file

    def write(path: Path, text: str, *, mode: int) -> None:
        real(path, text, mode=mode)
        read.append(text)
        written.set()

    monkeypatch.setattr(notices, "replace_file", write)
    monkeypatch.setattr(notices, "_FIRST_SECONDS", 0.01)
    working, looks = replace(a_run(), state=RunState.RUNNING, ended_at=None), list[int]()

    def runs() -> list[PlanRunRecord]:
        looks.append(1)
        return [working] if len(looks) > 1 else []

    with notices.heartbeats(runs):
        assert written.wait(300)
    assert 'dbatk_plan_running{plan="nightly"} 1.0' in read[0]


@pytest.mark.full
def test_a_run_is_none_the_worse_for_a_message_that_does_not_arrive(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOOK", "json://127.0.0.1:1")
    text = (
        '[[to]]\nname = "dba"\nurl = {env = "HOOK"}\nwhen = ["always"]\n[[to]]\nname = "x"\nurl = {env = "GONE"}\n'
    )
    (folder / "config/notify.toml").write_text(text.replace('"GONE"}', '"GONE"}\nwhen = ["always"]'))
    assert run(folder, "small") == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert [line.split()[1] for line in warnings] == ["`x`", "`dba`"]


def test_a_broken_notify_file_is_a_warning_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config/notify.toml").write_text("[[to]\n")
    assert run(folder, "small") == 0
    assert "warning: no message was sent: " in capsys.readouterr().err
