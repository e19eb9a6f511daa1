"""How RMAN is let in without a secret in sight, and how its log decides beside its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import BACKUP, assumed, realdata, steps, work
from toolkit.dialects.backups import backups_of
from toolkit.dialects.oracle.backup import client
from toolkit.dialects.oracle.backup.facts import needed_bytes, same_configuration
from toolkit.dialects.oracle.backup.order import order_of
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.protocols import OutputLine
from toolkit.runner.rman_log import rows_of
from toolkit.targets.base import Access
from toolkit.targets.oracle_programs import access_of

WHOLE = (
    "Starting backup at 2026-11-21 22:00:00",
    "Finished backup at 2026-11-21 22:00:09",
    "",
    "Recovery Manager complete.",
)


def entered(password: str | None = None, **options: str) -> str:
    """Return the line by which RMAN is connected."""
    address = Address("oracle", "DWH", "bkp", "db1", 1522)
    found = access_of(Access(address, lambda: password, options=tuple(options.items())), lambda _: None)
    assert password is None or found.scrub(f"x {password} y") == "x ******** y" or password not in found.opening
    return found.opening


def test_without_a_word_the_operating_system_lets_rman_in() -> None:
    assert entered("secret") == "CONNECT TARGET /\n"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("/ as sysbackup", 'CONNECT TARGET "/ as sysbackup"\n'),
        ("/@bkp as sysbackup", 'CONNECT TARGET "/@bkp as sysbackup"\n'),
    ],
)
def test_the_profile_says_how_else(said: str, line: str) -> None:
    assert entered(rman_connect=said) == line


def test_a_password_goes_to_the_standard_input_and_is_scrubbed_from_the_log() -> None:
    assert entered("s3cret!", mode="sysbackup") == 'CONNECT TARGET "bkp/s3cret!@//db1:1522/DWH as sysbackup"\n'


def test_rman_is_led_to_the_server_by_tls_where_the_profile_says_so() -> None:
    line = entered("s3cret!", mode="sysbackup", protocol="tcps")
    assert line == 'CONNECT TARGET "bkp/s3cret!@tcps://db1:1522/DWH as sysbackup"\n'


@for_each("password", ['a"b', "a@b", "a/b", "a b", "a\nDROP"])
def test_a_password_that_would_end_the_string_is_refused_without_being_shown(password: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        entered(password, mode="sysbackup")
    assert password not in str(caught.value) and "rman_connect" in (caught.value.hint or "")


@for_each("said", ["sys/secret@db", "/; DELETE OBSOLETE", "/ as sysoper", "/@a b"])
def test_a_connect_string_of_another_shape_is_refused(said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        entered(rman_connect=said)
    assert "secret" not in str(caught.value)


def test_neither_arguments_nor_environment_hold_a_secret() -> None:
    [step] = steps(DIALECT.work.timed(work("backup", 1, channels=2), assumed()))
    assert step.argv == ("rman", "nocatalog", "msgno")
    assert set(step.environment) == {"NLS_DATE_FORMAT", "NLS_LANG"}


def test_a_log_that_is_whole_is_no_error() -> None:
    assert client.error("oracle/backup_trial", 0, WHOLE) is None


@pytest.mark.parametrize("missing", [0, 1, 3])
def test_a_log_that_lacks_its_end_is_one_whatever_the_status(missing: int) -> None:
    lines = [line for number, line in enumerate(WHOLE) if number != missing]
    found = client.error("oracle/backup_trial", 0, lines)
    assert (found is None) == (missing == 0)


def test_a_status_alone_is_an_error_too() -> None:
    found = client.error("oracle/backup_trial", 1, WHOLE)
    assert found is not None and found.code == "exit 1"


@for_each(
    ("name", "code"),
    [
        ("venkat_01_2ch_ORA19504_all_channels_fail.log", "ORA-19504"),
        ("venkat_02_RMAN06171_not_connected.log", "RMAN-06171"),
        ("winstarboy_01_syntax_errors.txt", "RMAN-01009"),
        ("venkat_04_switch_restore_fail_RMAN06571_06023.log", "RMAN-06571"),
    ],
)
def test_real_logs_of_failures_are_told_by_their_cause(name: str, code: str) -> None:
    lines = Path(realdata(f"rman/{name}")).read_text(errors="replace").splitlines()
    found = client.error("oracle/backup_trial", 0, lines)
    assert found is not None and found.code == code, found


def test_a_real_log_of_four_channels_gives_rows_for_each() -> None:
    name = "rman/idx_48436451950_4ch_compressed_level0_cdb.log"
    text = Path(realdata(name)).read_text(errors="replace").splitlines()
    rows = rows_of([OutputLine(float(number), line) for number, line in enumerate(text)])
    assert len(rows["rman_channels"]) == 4
    assert all(row["begin_seconds"] is not None for row in rows["rman_pieces"] if row["handle"])


def test_what_is_in_use_is_needed_not_whole_files() -> None:
    files = ({"file_number": 4, "byte_count": 1000.0, "tablespace_name": "USERS"},)
    used = ({"tablespace_name": "USERS", "used_bytes": 400.0},)
    order = order_of(work("backup", 1, write=True, destination=("/b",)))
    assert needed_bytes(order, assumed("19-ee", backup_files=files)) == pytest.approx(1100)
    assert needed_bytes(order, assumed("19-ee", backup_files=files, backup_used=used)) == pytest.approx(440)


def test_a_changed_configuration_is_told_by_what_is_new_and_what_is_gone() -> None:
    before = ({"name": "BACKUP OPTIMIZATION", "value": "ON"},)
    after = ({"name": "BACKUP OPTIMIZATION", "value": "OFF"},)
    assert same_configuration(before, before) == ()
    assert same_configuration(before, after) == (
        "`BACKUP OPTIMIZATION ON` was removed",
        "`BACKUP OPTIMIZATION OFF` was added",
    )


def test_a_trials_folder_goes_only_after_its_backup() -> None:
    asked = work("backup", 1, write=True, destination=("/b/1", "/b/2"))
    ways = backups_of(DIALECT.work, "backup")
    ref = ways.object(asked.options, BACKUP.name.name, measuring=True)
    names = [step.name for step in steps(DIALECT.drop(ref))]
    assert names == ["oracle/backup_delete", "oracle/folder_remove", "oracle/folder_remove"]
