"""From a plan to a job: what a night would lack is said by day."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import duckdb
import pytest

from tests.schedule.make import write_plan
from toolkit.app.scheduling import CreatedJob, JobRequest, hidden_paths, make_job
from toolkit.app.scheduling.making import host_zone
from toolkit.cli.main import main
from toolkit.errors import ToolkitError
from toolkit.schedule.cron import command
from toolkit.schedule.oracle import jobs
from toolkit.schedule.systemd import units

PLAN = """
[plan]
name = "nightly"
targets = [{targets}]
[[step]]
name = "one"
operation = "{operation}"
{options}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(
    folder: Path,
    targets: str,
    *,
    operation: str = "stats-gather",
    options: str = 'schema = "main"',
    **wish: object,
) -> CreatedJob:
    path = folder / "nightly.toml"
    path.write_text(PLAN.format(targets=targets, operation=operation, options=options), encoding="utf-8")
    return make_job(replace(JobRequest(path, at="22:00 UTC"), **wish))  # type: ignore[arg-type]


def add(*arguments: str) -> None:
    assert main(["target", "add", *arguments]) == 0


def test_everything_is_said_with_its_whole_path(home: Path) -> None:
    plan = write_plan(home)
    job = make_job(JobRequest(Path(plan.name), log_file="log", environment_file="env", writes=("backup",))).job
    assert job.plan == str(plan) and str(plan) in job.command
    assert Path(job.command[0]).is_absolute()
    assert dict(job.environment) == {"DBATK_CONFIG": f"{home}/config", "DBATK_STORE": f"{home}/store.sqlite"}
    assert job.environment_file == f"{home}/env"
    assert set(job.writes) == {str(home), f"{home}/backup"}
    assert job.command[-2:] == ("--log-file", f"{home}/log")
    assert [one.spelled for one in job.openings] == ["wed,sun 22:00 Europe/Berlin"] and job.windowed


EXPERIMENT = """
[experiment]
target = "duckdb:////srv/a.duckdb"
operation = "ctas"
source = "orders"
table = "copied"
repeat = 5
[factors]
degree = [1, 4]
"""


def test_an_experiment_is_scheduled_by_the_name_of_its_file(home: Path) -> None:
    path = home / "weekly.toml"
    path.write_text(EXPERIMENT.replace("[experiment]", '[experiment]\nname = "ctas: 1 to 4"'), encoding="utf-8")
    with pytest.raises(ToolkitError, match="`weekly` has no window, and no time to begin is given") as caught:
        make_job(JobRequest(path))
    assert caught.value.code == "TK-0107"
    job = make_job(JobRequest(path, at="sun 22:00 UTC")).job
    words = ("run", str(path), "--quiet", "--label", "weekly")
    assert (job.name, job.command[1:], job.windowed) == ("weekly", words, False)
    assert job.writes == (str(home), "/srv")
    assert job.reporting[1:] == ("runs", "show", "weekly", "--recent", "15m"), "no other run of that operation"
    texts = units(job, system=True)
    assert "Description=dbatk experiment weekly" in texts["dbatk-weekly.service"]
    assert "window" not in texts["dbatk-weekly.service"]
    path.write_text(EXPERIMENT.replace("/srv/a", "a").replace("////", "///"), encoding="utf-8")
    with pytest.raises(ToolkitError, match="relative path"):
        make_job(JobRequest(path, at="sun 22:00 UTC"))


@pytest.mark.parametrize("target", ["nosuch", "prod*"])
def test_an_experiment_on_a_target_that_is_none_is_refused(home: Path, target: str) -> None:
    add("prod1", "postgresql://dba@db1/dwh", "--not-production")
    path = home / "weekly.toml"
    path.write_text(EXPERIMENT.replace("duckdb:////srv/a.duckdb", target), encoding="utf-8")
    with pytest.raises(ToolkitError, match="unknown target") as caught:
        make_job(JobRequest(path, at="sun 22:00 UTC"))
    assert caught.value.code == "TK-0111"


def test_a_target_of_a_plan_that_matches_no_profile_is_said(home: Path) -> None:
    assert made(home, '"nosuch"').notes == (
        "no profile here matches the target `nosuch`, so nothing was checked for it",
    )


def test_a_factor_that_sets_the_host_runs_without_a_sandbox(home: Path) -> None:
    path = home / "weekly.toml"
    factor = """
[[factor]]
name = "read_ahead"
levels = [128, 512]
read = ["blockdev", "--getra", "/dev/sdx"]
apply = ["blockdev", "--setra", "{level}", "/dev/sdx"]
undo = ["blockdev", "--setra", "{before}", "/dev/sdx"]
"""
    for text, sandboxed in ((EXPERIMENT, True), (EXPERIMENT + factor, False)):
        path.write_text(text, encoding="utf-8")
        wish = JobRequest(path, at="sun 22:00 UTC", arguments=("--allow-commands",))
        assert make_job(wish).job.sandboxed is sandboxed


def test_programs_begin_at_night_where_they_begin_now(home: Path) -> None:
    allowed = ("--allow-commands",)
    job = made(home, '"host://"', operation="command", options='command = ["./go.sh"]', arguments=allowed).job
    assert job.folder == str(home)
    assert f"cd {home} && " in command(job)
    assert f"WorkingDirectory={home}" in units(job, system=True)["dbatk-nightly.service"]
    held = replace(job, command=(*job.command, "--approved-only"))
    with pytest.raises(ToolkitError, match="Oracle's scheduler sets none") as caught:
        jobs(held, "HOST", datetime.now(UTC))
    assert caught.value.code == "TK-0304"
    fixed = made(
        home,
        '"host://"',
        operation="command",
        options='command = ["./go.sh"]\ncwd = "/srv/jobs"',
        arguments=allowed,
    ).job
    assert fixed.folder == "" and "cd " not in command(fixed)
    assert "WorkingDirectory" not in "".join(units(fixed, system=True).values())


def test_an_experiment_is_held_against_the_profile_of_its_target(home: Path) -> None:
    add("dwh", "postgresql://dba@db1/dwh", "--not-production", "--max-degree", "2")
    path = home / "weekly.toml"
    path.write_text(EXPERIMENT.replace("duckdb:////srv/a.duckdb", "dwh"), encoding="utf-8")
    with pytest.raises(ToolkitError, match=r"^`dwh`: .*degree") as caught:
        make_job(JobRequest(path, at="sun 22:00 UTC"))
    assert caught.value.code == "TK-0304"


def test_a_store_with_a_password_stays_out_of_every_unit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = write_plan(home)
    monkeypatch.setenv("DBATK_STORE", "postgresql://dbatk:geheim@db1/results")
    with pytest.raises(ToolkitError) as caught:
        make_job(JobRequest(plan))
    assert caught.value.code == "TK-0108" and "geheim" not in caught.value.message + caught.value.hint
    job = make_job(JobRequest(plan, environment_file="/etc/dbatk/env")).job
    assert "geheim" not in repr(job) and "DBATK_STORE" not in dict(job.environment)
    monkeypatch.setenv("DBATK_STORE", "postgresql://dbatk@db1/results")
    assert dict(make_job(JobRequest(plan)).job.environment)["DBATK_STORE"] == "postgresql://dbatk@db1/results"


def test_a_variable_that_no_scheduler_sets_is_said(home: Path) -> None:
    add("dwh", "postgresql://dba@db1/dwh", "--password-env", "DWH_PASSWORD", "--not-production")
    (note,) = made(home, '"dwh"').notes
    assert "DWH_PASSWORD" in note and "--env-file" in note
    assert made(home, '"dwh"', environment_file="/etc/dbatk/env").notes == ()


@pytest.mark.parametrize("reference", [("--password-file", "/etc/p"), ("--password-credential", "dwh")])
def test_a_file_and_a_credential_need_nothing_more(home: Path, reference: tuple[str, str]) -> None:
    add("dwh", "postgresql://dba@db1/dwh", *reference, "--not-production")
    assert made(home, '"dwh"').notes == ()


def test_a_keyring_is_locked_at_night(home: Path) -> None:
    add("dwh", "postgresql://dba@db1/dwh", "--password-keyring", "dbatk", "--not-production")
    assert "keyring" in made(home, '"dwh"').notes[0]


def test_a_question_that_nobody_would_answer_is_said(home: Path) -> None:
    add("dwh", "postgresql://dba@db1/dwh", "--production")
    (error,) = made(home, '"dwh"').refused
    assert error.code == "TK-0301" and "--allow-production dwh" in str(error.hint)
    with pytest.raises(ToolkitError, match="would be refused when it runs: `dwh` is a production database"):
        made(home, '"dwh"').check()
    assert made(home, '"dwh"', arguments=("--allow-production", "dwh")).refused == ()


def test_each_of_several_production_targets_needs_its_own_name(home: Path) -> None:
    for name in ("shop", "crm", "test"):
        add(name, f"postgresql://dba@db1/{name}", *(["--production"] if name != "test" else ["--not-production"]))
    every = '"shop", "crm", "test"'
    assert len(made(home, every).refused) == 2
    (error,) = made(home, every, arguments=("--allow-production", "shop", "--not-production")).refused
    assert "`crm` is a production database" in error.message
    both = ("--allow-production", "shop", "--allow-production", "crm")
    assert made(home, every, arguments=both).refused == ()
    assert made(home, every, arguments=both).job.command[-4:] == both


def test_a_plan_of_approved_work_needs_its_approval_before_it_is_installed(home: Path) -> None:
    add("x", f"duckdb:///{home}/x.duckdb")
    (error,) = made(home, '"x"', arguments=("--approved-only",)).refused
    assert error.code == "TK-0313" and "`nightly.toml` is not approved" in error.message


def test_an_experiment_keeps_the_label_that_it_has(home: Path) -> None:
    path = home / "weekly.toml"
    path.write_text(EXPERIMENT.replace("repeat = 5", 'repeat = 5\nlabel = "degrees"'), encoding="utf-8")
    job = make_job(JobRequest(path, at="sun 22:00 UTC")).job
    assert "--label" not in job.command and job.reporting[1:] == ("runs", "show", "degrees", "--recent", "15m")


def test_an_experiment_that_could_not_be_found_again_is_not_scheduled(home: Path) -> None:
    path = home / "last.toml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    with pytest.raises(ToolkitError, match=r"the label .*last.* cannot identify a run"):
        make_job(JobRequest(path, at="sun 22:00 UTC"))


def scheduled(home: Path, **wish: object) -> CreatedJob:
    path = home / "weekly.toml"
    if not path.exists():
        text = EXPERIMENT.replace("duckdb:////srv/a.duckdb", "x").replace("repeat = 5", "repeat = 1")
        path.write_text(text, encoding="utf-8")
    return make_job(replace(JobRequest(path, at="22:00 UTC"), **wish))  # type: ignore[arg-type]


def test_an_experiment_is_not_scheduled_without_the_consent_that_it_will_need(home: Path) -> None:
    add("x", "postgresql://dba@db1/dwh", "--production")
    (error,) = scheduled(home).refused
    assert error.code == "TK-0301" and "production" in error.message
    assert scheduled(home, arguments=("--allow-production", "x")).refused == ()
    assert "--allow-production" in scheduled(home, arguments=("--allow-production", "x")).job.command


class Later(datetime):
    """The clock after an approval of today has expired."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Later:
        return super().now(tz) + timedelta(91)


def test_an_experiment_is_scheduled_only_while_its_approval_holds(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect(str(home / "x.duckdb")) as database:
        database.execute("CREATE TABLE orders AS SELECT range AS id FROM range(10)")
    add("x", f"duckdb:///{home}/x.duckdb")
    wanted = ("--approved-only",)
    (error,) = scheduled(home, arguments=wanted).refused
    assert error.code == "TK-0313" and "`weekly.toml` is not approved" in error.message
    assert main(["plan", "approve", "weekly.toml"]) == 0
    job = scheduled(home, arguments=wanted)
    assert job.refused == ()
    assert main([*job.job.command[1:]]) == 0, "what the scheduler begins is what was approved"
    monkeypatch.setattr("toolkit.app.unattended.datetime", Later)
    monkeypatch.setattr("toolkit.app.approving.checking.datetime", Later)
    (error,) = scheduled(home, arguments=wanted).refused
    assert error.code == "TK-0313" and "expired" in error.message
    assert main([*job.job.command[1:]]) == 5


def test_patterns_are_looked_at_as_all_they_match(home: Path) -> None:
    for name in ("erp1", "erp2", "dwh"):
        add(name, f"duckdb:///{home}/{name}/x.duckdb")
    assert set(made(home, '"erp*"').job.writes) == {str(home), f"{home}/erp1", f"{home}/erp2"}


def test_where_a_server_is_a_child_of_the_job_there_is_no_sandbox(home: Path) -> None:
    add("far", "oracle://dba@db1:1521/DWH", "--not-production")
    assert made(home, '"far"').job.sandboxed
    backup = made(home, '"far"', operation="backup", options="")
    assert not backup.job.sandboxed
    assert any("--writes" in note for note in backup.notes)


def test_a_target_beside_the_user_is_refused(home: Path) -> None:
    with pytest.raises(ToolkitError, match="begins in another folder") as caught:
        made(home, '"duckdb:///small.duckdb"')
    assert f"duckdb:///{home}/small.duckdb" in caught.value.hint


def test_a_plan_without_a_window_needs_a_time(home: Path) -> None:
    with pytest.raises(ToolkitError, match="no time to begin is given"):
        made(home, f'"duckdb:///{home}/x.duckdb"', at=None)
    assert not made(home, f'"duckdb:///{home}/x.duckdb"').job.windowed


@pytest.mark.parametrize("at", ["25:00", "22", "sunday at noon", "xyz 22:00", "22:00 Mars/Base", "24:00", ""])
def test_a_time_that_is_none_is_a_sentence(at: str, home: Path) -> None:
    with pytest.raises(ToolkitError) as caught:
        made(home, f'"duckdb:///{home}/x.duckdb"', at=at or " ")
    assert caught.value.code == "TK-0102"


@pytest.mark.parametrize("wrong", ["noequals", "=file", "a/b=file", "name="])
def test_a_credential_is_a_name_and_a_file(wrong: str, home: Path) -> None:
    with pytest.raises(ToolkitError, match="NAME=FILE"):
        made(home, f'"duckdb:///{home}/x.duckdb"', credentials=(wrong,))


def test_a_program_without_a_path_is_refused(home: Path) -> None:
    with pytest.raises(ToolkitError, match="absolute"):
        made(home, f'"duckdb:///{home}/x.duckdb"', program="dbatk")


def test_what_a_tmp_of_its_own_would_hide_is_named(home: Path) -> None:
    job = made(home, '"duckdb:////srv/x.duckdb"').job
    moved = replace(job, plan="/srv/n.toml", writes=("/srv",), environment=(("DBATK_CONFIG", "/tmp/c"),))
    named = hidden_paths(moved)
    # the program itself may lie in a /tmp too, as a checkout does
    assert [path for path in named if not path.startswith(sys.prefix)] == ["/tmp/c"]


def test_the_zone_of_the_host_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert host_zone() == "Europe/Berlin"
    monkeypatch.delenv("TZ")
    assert host_zone()


@pytest.mark.parametrize(
    ("arguments", "owner"),
    [
        (("--kind", "cron", "--writes", "/x"), "systemd"),
        (("--kind", "cron", "--run-as", "oracle"), "systemd"),
        (("--kind", "systemd", "--credential", "x"), "oracle"),
        (("--kind", "systemd", "-t", "dwh"), "oracle"),
    ],
)
def test_an_option_of_another_scheduler_is_refused(
    arguments: tuple[str, ...], owner: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", str(write_plan(home)), *arguments]) == 2
    assert f"--kind {owner}" in capsys.readouterr().err


def test_a_degree_above_the_limit_of_its_profile_is_not_scheduled(home: Path) -> None:
    add("small", "oracle://me@db1/svc", "--max-degree", "4", "--not-production")
    add("large", "oracle://me@db2/svc", "--not-production")
    step = {"operation": "stats-gather", "options": 'schema = "APP"\ndegree = 8'}
    with pytest.raises(ToolkitError, match="step `one` on `small`: degree 8 is above the max_degree 4 of profile"):
        made(home, '"small", "large"', **step)
    assert made(home, '"large"', **step).job
    assert made(home, '"large", "small"', **{**step, "options": step["options"] + '\ntarget = "la*"'}).job
