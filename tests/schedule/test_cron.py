"""Lines of a crontab: what `/bin/sh` makes of them, and that all other lines stay."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.schedule.make import NIGHT, job
from toolkit.app.scheduling import Crontab
from toolkit.errors import ToolkitError
from toolkit.schedule import Opening, read_at
from toolkit.schedule.cron import block, command, entries, line, with_job, without

FAKE = """#!/bin/sh
# as crontab(1): -l shows, - reads; -V is cronie's alone
file={file}
case "$1" in
-l) [ -f "$file" ] || {{ echo "no crontab for somebody" >&2; exit 1; }}; cat "$file" ;;
-) [ -f "{file}.denied" ] && {{ echo "You (somebody) are not allowed to use this program" >&2; exit 1; }}
   cat > "$file" ;;
-V) [ -f "{file}.cronie" ] || {{ echo "crontab: invalid option" >&2; exit 1; }}; echo "cronie 1.7.2" >&2 ;;
esac
"""


@pytest.fixture
def crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `crontab` command with a file behind it."""
    folder, file = tmp_path / "bin", tmp_path / "spool"
    folder.mkdir()
    program = folder / "crontab"
    program.write_text(FAKE.format(file=file))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return file


def as_cron_runs(text: str) -> list[str]:
    """Return the words a command of a crontab gives its program: `%` as cron reads it, the rest by a shell."""
    _, found, after = text.replace("\\%", "\0").partition("%")
    assert (found, after) == ("", ""), "a bare % would end the command"
    shown = text.replace("\\%", "%")
    done = subprocess.run(
        ["/bin/sh", "-c", shown], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\0")[:-1]


@for_each("odd", ["plain", "a b", "100%", "%", "it's", '"x"', "$HOME `id` $(id)", "a\\b", "; id #"])
def test_cron_and_the_shell_pass_every_name_on_as_it_is(odd: str) -> None:
    made = job(command=("/usr/bin/printf", "%s\\0", "run", odd), environment=(("DBATK_STORE", odd),))
    assert as_cron_runs(command(made)) == ["run", odd]
    shown = replace(made, command=("/bin/sh", "-c", 'printf "%s\\0" "$DBATK_STORE"'))
    assert as_cron_runs(command(shown)) == [odd]


def test_variables_come_from_the_file_named(tmp_path: Path) -> None:
    secrets = tmp_path / "my env"
    secrets.write_text("DWH_PASSWORD='a b'\n")
    made = job(
        command=("/bin/sh", "-c", 'printf "%s\\0" "$DWH_PASSWORD"'), environment_file=str(secrets), environment=()
    )
    assert as_cron_runs(command(made)) == ["a b"]
    assert "a b'" not in command(made)


def test_days_are_counted_from_sunday() -> None:
    assert line(job(), NIGHT).startswith("0 22 * * 0,3 ")
    assert line(job(), read_at("mon..fri 01:15", "UTC")).startswith("15 1 * * 1,2,3,4,5 ")
    assert line(job(), read_at("00:05", "UTC")).startswith("5 0 * * * ")


def test_the_zone_is_put_back_for_the_lines_below() -> None:
    lines = block(job(openings=(NIGHT, Opening(60, "Europe/Berlin"))), host_zone="UTC").splitlines()
    assert [text for text in lines if text.startswith("CRON_TZ")] == ["CRON_TZ=Europe/Berlin", "CRON_TZ=UTC"]
    assert lines.index("CRON_TZ=UTC") == len(lines) - 2
    assert "CRON_TZ" not in block(job(), host_zone="Europe/Berlin")
    theirs = "CRON_TZ = Asia/Tokyo\n0 1 * * * backup\n"
    assert with_job(theirs, job(), host_zone="UTC").splitlines()[-2] == "CRON_TZ=Asia/Tokyo"


_LINES = st.lists(st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"]), max_size=30))


@given(_LINES, st.booleans())
def test_every_other_line_stays_byte_for_byte(lines: list[str], ended: bool) -> None:
    theirs = "\n".join(lines) + ("\n" if ended and lines else "")
    assert not any("dbatk schedule" in text for text in lines)
    theirs_ended = theirs if theirs.endswith("\n") or not theirs else theirs + "\n"
    once = with_job(theirs, job(), host_zone="UTC")
    assert once.startswith(theirs_ended)
    assert with_job(once, job(), host_zone="UTC") == once
    assert without(once, "nightly") == theirs_ended
    assert [one.name for one in entries(once)] == ["nightly"]


def test_a_mark_without_its_end_takes_nobody_elses_line_away() -> None:
    torn = "# >>> dbatk schedule nightly\n0 1 * * * precious\n"
    assert without(torn, "nightly") == torn


def test_it_is_installed_listed_and_removed_and_nothing_else_changes(crontab: Path) -> None:
    theirs = "MAILTO=dba\n# mine\n15 3 * * * /usr/local/bin/mine > /dev/null\n"
    crontab.write_text(theirs)
    cron = Crontab(zone="Europe/Berlin")
    cron.install(job())
    cron.install(job(openings=(Opening(90, "Europe/Berlin"),)))
    assert crontab.read_text().startswith(theirs)
    assert [(one.name, one.when, one.plan) for one in cron.list()] == [
        ("nightly", ("30 1 * * *",), "/srv/jobs/nightly.toml")
    ]
    with pytest.raises(ToolkitError, match="another plan called"):
        cron.install(job(plan="/srv/other.toml"))
    assert cron.remove("nightly") and not cron.remove("nightly")
    assert crontab.read_text() == theirs


def test_an_empty_crontab_is_made(crontab: Path) -> None:
    Crontab(zone="Europe/Berlin").install(job())
    assert crontab.read_text().splitlines()[0] == "# >>> dbatk schedule nightly"


def test_a_crontab_that_cannot_be_read_is_never_written(crontab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crontab.mkdir()  # cat refuses, as a broken spool would
    with pytest.raises(ToolkitError) as caught:
        Crontab(zone="Europe/Berlin").install(job())
    assert caught.value.code == "TK-0405"


def test_a_user_whom_cron_refuses_hears_it(crontab: Path) -> None:
    crontab.with_name("spool.denied").touch()
    with pytest.raises(ToolkitError, match="not allowed") as caught:
        Crontab(zone="Europe/Berlin").install(job())
    assert "cron.allow" in caught.value.hint


def test_another_zone_needs_a_cron_that_knows_it(crontab: Path) -> None:
    cron = Crontab(zone="UTC")
    with pytest.raises(ToolkitError) as caught:
        cron.install(job())
    assert caught.value.code == "TK-0304" and 'the zone of this cron: `--at "' in caught.value.hint
    assert not crontab.exists()
    assert "cronie" in (cron.note(job()) or "")
    crontab.with_name("spool.cronie").touch()
    cron.install(job())
    assert cron.note(job()) is None
    assert "CRON_TZ=Europe/Berlin" in crontab.read_text()


def test_without_the_command_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolkitError, match="no `crontab`"):
        Crontab(zone="UTC").install(job(openings=(Opening(60, "UTC"),)))
    assert list(Crontab(zone="UTC").list()) == []


@for_each(
    ("opening", "zone", "shown"),
    [
        (Opening(22 * 60, "Europe/Berlin"), "UTC", "21:00 UTC"),
        (Opening(30, "Europe/Berlin", frozenset({6})), "UTC", "sat 23:30 UTC"),
        (Opening(22 * 60, "America/New_York", frozenset({4})), "UTC", "sat 03:00 UTC"),
        (Opening(9 * 60, "Asia/Tokyo"), "UTC", "00:00 UTC"),
        (Opening(22 * 60, "UTC"), "Europe/Berlin", "00:00 Europe/Berlin"),
    ],
)
def test_an_opening_in_the_zone_of_the_host_is_the_later_one_where_clocks_change(
    opening: Opening, zone: str, shown: str
) -> None:
    assert opening.in_zone(zone, 2026).spelled == shown
