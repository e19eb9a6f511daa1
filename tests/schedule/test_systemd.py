"""Units: what systemd says of them, what a name of a file can do to them, and whose they are."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.oracle.make import missing
from tests.schedule.make import NIGHT, job
from tests.tiers import thinned
from toolkit.app.scheduling import Units
from toolkit.errors import ToolkitError
from toolkit.model.window import instant_of
from toolkit.schedule import Opening, read_at
from toolkit.schedule.systemd import calendar, plan_of, skipped, units

ODD = 'a "quoted" 100% $HOME \\n ; # name'


def analyzer() -> str:
    program = shutil.which("systemd-analyze")
    if program is None:
        missing("systemd", "no systemd-analyze on this host (package systemd)")
        raise AssertionError
    return program


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    # a short path, for the sockets of other units lie in it
    with tempfile.TemporaryDirectory() as runtime:
        return subprocess.run(
            [analyzer(), *words], env={**os.environ, "XDG_RUNTIME_DIR": runtime}, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip


def write(folder: Path, texts: dict[str, str]) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in texts]


def program(folder: Path) -> str:
    path = folder / "dbatk"
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_units_of_an_experiment_speak_of_no_plan() -> None:
    texts = units(job(name="weekly", shows="last:ctas", windowed=False), system=True)
    for text in texts.values():
        assert not re.search(r"\bplan\b", text.replace("`dbatk plan schedule", ""), re.IGNORECASE), text
        assert plan_of(text) == "/srv/jobs/nightly.toml"
    assert "Description=dbatk experiment weekly\n" in texts["dbatk-weekly.service"]
    plan = units(job(), system=True)["dbatk-nightly.service"]
    assert "# Plan: /srv/jobs/nightly.toml\n" in plan and "Description=dbatk plan nightly\n" in plan
    assert plan_of(plan) == "/srv/jobs/nightly.toml"


@pytest.mark.thin(2)
@pytest.mark.parametrize("system", [True, False], ids=["system", "user"])
@pytest.mark.parametrize("name", ["nightly.toml", ODD])
def test_systemd_finds_nothing_to_say_about_the_units(name: str, system: bool, tmp_path: Path) -> None:
    made = job(
        plan=f"/srv/{name}",
        command=(program(tmp_path), "run", f"/srv/{name}"),
        openings=(NIGHT, Opening(75, "UTC")),
        environment=(("DBATK_CONFIG", f"/etc/{name}"),),
        writes=(f"/srv/{name}", "/backup"),
        environment_file="/etc/dbatk/env",
        credentials=(("dwh", "/etc/dbatk/dwh password"),),
        user="daemon" if system else None,
    )
    files = write(tmp_path, units(made, system=system))
    answer = analyze("verify", "--man=no", *(() if system else ("--user",)), *files)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_systemd_says_so_when_a_unit_is_wrong(tmp_path: Path) -> None:
    texts = {
        name: text.replace("KillMode=mixed", "KillMode=mixd") for name, text in units(job(), system=True).items()
    }
    assert "kill mode" in analyze("verify", "--man=no", *write(tmp_path, texts)).stderr


def exposure(folder: Path, system: bool) -> float:
    file = next(one for one in write(folder, units(job(), system=system)) if one.endswith(".service"))
    answer = analyze("security", "--offline=yes", "--no-pager", file)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", answer.stdout)
    assert found, answer.stderr
    return float(found[1])


def test_a_system_unit_is_locked_away(tmp_path: Path) -> None:
    # 9.6 is a unit without a line of it, 4 what distributions call well protected; as root it keeps capabilities
    assert exposure(tmp_path, system=True) < 5
    assert exposure(tmp_path, system=True) < exposure(tmp_path, system=False) < 9


@pytest.mark.parametrize(
    "said", ["22:00", "sun 22:00 Europe/Berlin", "mon..fri 01:15 America/New_York", "sat,sun 00:00 UTC"]
)
def test_systemd_reads_the_times_as_they_are_meant(said: str, tmp_path: Path) -> None:
    opening = read_at(said, "Asia/Tokyo")
    answer = analyze("calendar", calendar(opening))
    assert answer.returncode == 0, answer.stderr
    assert f"{opening.hour:02}:{opening.minute:02}:00 {opening.zone}" in answer.stdout
    assert opening.zone in said or opening.zone == "Asia/Tokyo"


@pytest.mark.parametrize("zone", thinned(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"], 3))
def test_a_night_of_a_clock_change_is_not_skipped(zone: str) -> None:
    opening, now = read_at(f"02:15 {zone}", zone), datetime.now(UTC)
    wanted = {instant_of(now.date() + timedelta(days=ahead), 135, ZoneInfo(zone)) for ahead in range(2, 732)}
    fired: set[datetime] = set()
    for text in (calendar(opening), *skipped(opening, now)):
        base = f"--base-time={now - timedelta(days=1):%Y-%m-%d %H:%M:%S} UTC"
        answer = analyze("calendar", base, "--iterations=740", text)
        assert answer.returncode == 0, answer.stderr
        found = re.findall(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", answer.stdout)
        fired |= {datetime.fromisoformat(each).replace(tzinfo=UTC) for each in found}
    last = max(wanted)
    assert sorted(each for each in fired if min(wanted) <= each <= last) == sorted(wanted)


def test_a_failed_or_killed_plan_is_reported_by_a_unit_of_its_own() -> None:
    made = job(command=("/opt/dbatk", "run", "/srv/nightly.toml"), windowed=True)
    texts = units(made, system=True)
    service, report = texts["dbatk-nightly.service"], texts["dbatk-nightly@report.service"]
    assert "OnFailure=dbatk-nightly@report.service\n" in service and "Restart=on-abnormal\n" in service
    assert 'ExecStart="/opt/dbatk" "plan" "report" "last" "--plan" "nightly"\n' in report
    assert "OnFailure" not in report and "Restart" not in report.replace("RestrictRealtime", "")
    assert "Restart=" not in units(job(windowed=False), system=True)["dbatk-nightly.service"]


def test_what_begins_is_the_command_and_nothing_a_name_could_add() -> None:
    made = job(command=("/opt/dbatk", "run", ODD))
    service = units(made, system=True)["dbatk-nightly.service"]
    line = next(line for line in service.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(line.removeprefix("ExecStart="), posix=True)
    # inside double quotes systemd and a shell agree but for `$$` and `%%`
    assert [word.replace("$$", "$").replace("%%", "%") for word in words] == ["/opt/dbatk", "run", ODD]


def test_a_line_end_in_a_path_is_refused() -> None:
    with pytest.raises(ToolkitError) as caught:
        job(plan="/srv/a\nExecStartPre=/bin/rm")
    assert caught.value.code == "TK-0102"


def test_no_secret_is_in_a_unit_but_where_it_is() -> None:
    made = job(environment_file="/etc/dbatk/env", credentials=(("dwh", "/etc/dbatk/dwh"),))
    service = units(made, system=True)["dbatk-nightly.service"]
    assert "EnvironmentFile=/etc/dbatk/env\n" in service
    assert "LoadCredential=dwh:/etc/dbatk/dwh\n" in service


def test_a_missed_night_is_caught_up_only_where_a_window_guards_it() -> None:
    assert "Persistent=true" in units(job(windowed=True), system=True)["dbatk-nightly.timer"]
    assert "Persistent=false" in units(job(windowed=False), system=True)["dbatk-nightly.timer"]


def test_a_unit_with_a_local_oracle_server_has_no_sandbox() -> None:
    service = units(job(sandboxed=False), system=True)["dbatk-nightly.service"]
    assert "NoNewPrivileges" not in service and "ProtectSystem" not in service
    assert "KillSignal=SIGINT" in service


# -- installing -------------------------------------------------------------------------------------------------
@pytest.fixture
def manager(tmp_path: Path) -> Units:
    return Units(system=False, folder=tmp_path / "units")


def test_what_is_installed_is_what_is_shown(manager: Units) -> None:
    made = job()
    todo = manager.install(made)
    assert {path.name for path in manager.folder.iterdir()} == {
        "dbatk-nightly.service",
        "dbatk-nightly.timer",
        "dbatk-nightly@report.service",
    }
    assert all(path.read_text() in manager.show(made) for path in manager.folder.iterdir())
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in manager.folder.iterdir())
    assert "systemctl --user enable --now dbatk-nightly.timer" in todo


def test_installing_again_renews_it(manager: Units) -> None:
    manager.install(job())
    manager.install(job(openings=(Opening(60, "UTC"),)))
    assert [one.when for one in manager.list()] == [("*-*-* 01:00:00 UTC",)]


def test_a_unit_that_is_not_ours_stays(manager: Units) -> None:
    manager.folder.mkdir()
    theirs = manager.folder / "dbatk-nightly.service"
    theirs.write_text("[Service]\nExecStart=/bin/true\n")
    for change in (lambda: manager.install(job()), lambda: manager.remove("nightly")):
        with pytest.raises(ToolkitError) as caught:
            change()
        assert caught.value.code == "TK-0205"
    assert theirs.read_text().startswith("[Service]")
    assert [path.name for path in manager.folder.iterdir()] == ["dbatk-nightly.service"]


def test_a_link_is_not_written_through(manager: Units, tmp_path: Path) -> None:
    manager.folder.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    (manager.folder / "dbatk-nightly.timer").symlink_to(elsewhere)
    with pytest.raises(ToolkitError):
        manager.install(job())
    assert elsewhere.read_text() == "precious"


def test_two_plans_of_one_name_are_told_apart(manager: Units) -> None:
    manager.install(job())
    with pytest.raises(ToolkitError) as caught:
        manager.install(job(plan="/srv/other/nightly.toml"))
    assert caught.value.code == "TK-0205" and "/srv/jobs/nightly.toml" in caught.value.message


def test_removing_takes_the_units_and_their_link_and_nothing_else(manager: Units) -> None:
    manager.install(job())
    manager.install(job(name="nightly2", plan="/srv/2.toml"))
    wants = manager.folder / "timers.target.wants"
    wants.mkdir()
    (wants / "dbatk-nightly.timer").symlink_to(manager.folder / "dbatk-nightly.timer")
    assert len(manager.remove("nightly")) == 4
    assert [one.name for one in manager.list()] == ["nightly2"]
    assert not list(wants.iterdir())
    assert manager.remove("nightly") == ()
