"""Target profiles: references only, written at once and for the owner alone, mistakes with file and line."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.config import profiles as module
from toolkit.config.profiles import (
    Licence,
    Profile,
    add_profile,
    check_profile_name,
    find_profile,
    load_profiles,
    remove_profile,
)
from toolkit.config.secrets import SecretKind, SecretRef
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError

URL = "oracle://dba@db1:1521/DWH"
CANARY = "s3cr3tXcanary"
FULL = Profile(
    "dwh",
    URL,
    parse_url(URL),
    SecretRef(SecretKind.COMMAND, ("pass", "show", "dwh")),
    production=True,
    max_degree=16,
    work_schema="DBATK",
    licences={"diagnostics_pack": Licence("J. Doe", date(2026, 1, 31), date(2027, 1, 31))},
    options=(("mode", "sysdba"),),
)
PLAIN = Profile("tiny", "duckdb:///x.duckdb", parse_url("duckdb:///x.duckdb"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


def write(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "targets.toml").write_text(text)


def test_no_file_means_no_profiles() -> None:
    assert load_profiles() == {}


def test_a_file_is_no_folder_of_profiles(folder: Path) -> None:
    """Its profiles would limit nothing: none of them would be read."""
    folder.write_text('[targets.prod]\nurl = "duckdb:///x.duckdb"\napproved_only = true\n')
    with pytest.raises(ToolkitError, match="which is not a folder") as caught:
        load_profiles()
    assert caught.value.code == "TK-0107"


@pytest.mark.parametrize("url", ["postgresql://u@h/d", "duckdb:///x.duckdb"])
def test_a_consumer_group_is_refused_where_there_are_none(url: str, folder: Path) -> None:
    write(folder, f'[targets.a]\nurl = "{url}"\nconsumer_group = "BATCH"\n')
    with pytest.raises(ToolkitError, match="has no resource consumer groups") as caught:
        load_profiles()
    assert caught.value.code == "TK-0106"
    write(folder, f'[targets.a]\nurl = "{URL}"\nconsumer_group = "BATCH"\n')
    assert load_profiles()["a"].consumer_group == "BATCH"


def test_what_is_added_is_found_again(folder: Path) -> None:
    add_profile(FULL)
    add_profile(PLAIN)
    assert load_profiles() == {"dwh": FULL, "tiny": PLAIN}
    assert stat.S_IMODE((folder / "targets.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    remove_profile("tiny")
    assert load_profiles() == {"dwh": FULL}


def test_a_taken_name_is_replaced_only_when_asked() -> None:
    add_profile(FULL)
    with pytest.raises(ToolkitError) as caught:
        add_profile(replace(PLAIN, name="dwh"))
    assert caught.value.code == "TK-0205"
    assert find_profile("dwh") == FULL
    add_profile(replace(PLAIN, name="dwh"), replaces=True)
    assert find_profile("dwh").url == PLAIN.url


def test_profiles_added_at_once_are_all_there() -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: add_profile(replace(PLAIN, name=f"t{number}")), range(24)))
    assert len(load_profiles()) == 24


def test_a_crash_while_writing_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_profile(PLAIN)

    def broken(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", broken)
    with pytest.raises(ToolkitError, match="no space left") as caught:
        add_profile(FULL)
    assert caught.value.code == "TK-0405"
    assert set(load_profiles()) == {"tiny"}
    assert sorted(path.name for path in folder.iterdir()) == ["targets.toml", "targets.toml.lock"]


def test_a_damaged_file_is_not_overwritten(folder: Path) -> None:
    write(folder, "[targets.x\n")
    with pytest.raises(ToolkitError, match=r"targets\.toml:1: "):
        add_profile(PLAIN)
    assert (folder / "targets.toml").read_text() == "[targets.x\n"


def test_a_licence_holds_between_its_dates() -> None:
    assert FULL.declared(date(2026, 6, 1)) == {"diagnostics_pack"}
    assert FULL.declared(date(2026, 1, 30)) == frozenset()
    assert FULL.declared(date(2027, 2, 1)) == frozenset()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("dwhh", "did you mean `dwh`"), ("x.duckdb", "duckdb:///x.duckdb"), ("zzz", "dbatk target list")],
)
def test_an_unknown_target_says_what_to_do(name: str, hint: str) -> None:
    add_profile(FULL)
    with pytest.raises(ToolkitError) as caught:
        find_profile(name)
    assert caught.value.code == "TK-0111"
    assert hint in caught.value.hint


def test_a_mistyped_url_is_not_shown_as_a_name() -> None:
    with pytest.raises(ToolkitError) as caught:
        find_profile(f"scott/{CANARY}@db")
    assert CANARY not in caught.value.message + caught.value.hint


@for_each("name", ["", "1a", "a b", "a/b", "a:b", "a@b", "é", "a" * 61, "-x"])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(ToolkitError):
        check_profile_name(name)


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        ("urll = 'duckdb:///x'", "TK-0101", 2),
        ("production = 'no'", "TK-0106", 3),
        ("max_degree = 0", "TK-0106", 3),
        ("max_degree = true", "TK-0106", 3),
        (f"password = '{CANARY}'", "TK-0108", 3),
        (f"password = {{env = 'A', keyring = '{CANARY}'}}", "TK-0106", 3),
        ("password = {paper = 'A'}", "TK-0106", 3),
        ("licenses = {diagnostic_pack = {by = 'x', on = 2026-01-01}}", "TK-0101", 3),
        ("licenses = {diagnostics_pack = true}", "TK-0106", 3),
        ("licenses.diagnostics_pack = {by = 'x', on = '2026-01-01'}", "TK-0106", 3),
        ("options = {thik = true}", "TK-0101", 3),
        ("work_schema = ''", "TK-0106", 3),
        ("licence = 3", "TK-0101", 3),
    ],
)
def test_mistakes_name_file_and_line(folder: Path, lines: str, code: str, line: int) -> None:
    url = "" if lines.startswith("urll") else "url = 'duckdb:///x'\n"
    write(folder, f"[targets.x]\n{url}{lines}\n")
    with pytest.raises(ToolkitError) as caught:
        load_profiles()
    assert caught.value.code == code
    assert f"targets.toml:{line}: " in caught.value.message
    assert CANARY not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "text", ["[target.x]\nurl='duckdb:///x'", "targets = 3", "[targets]\nx = 3", "[targets.'a b']"]
)
def test_other_shapes_are_refused(folder: Path, text: str) -> None:
    write(folder, text)
    with pytest.raises(ToolkitError) as caught:
        load_profiles()
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "arguments", [f"'sys/{CANARY}', 'as', 'sysdba'", f"'-S', 'sys/{CANARY}@//h:1/DWH as sysdba'"]
)
def test_a_password_of_sysdba_is_refused_and_not_shown(folder: Path, arguments: str) -> None:
    write(folder, f"[targets.x]\nurl = 'oracle://scott@DWH'\nsysdba = ['sqlplus', {arguments}]\n")
    with pytest.raises(ToolkitError) as caught:
        load_profiles()
    assert caught.value.code == "TK-0108"
    assert CANARY not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "client", ["'sqlplus', '-L', '/', 'as', 'sysdba'", "'ssh', 'h', '/u01/bin/sqlplus', '/@dwh as sysdba'"]
)
def test_a_client_of_sysdba_without_a_password_is_taken(folder: Path, client: str) -> None:
    write(folder, f"[targets.x]\nurl = 'oracle://scott@DWH'\nsysdba = [{client}]\n")
    assert load_profiles()["x"].sysdba[-1].endswith("sysdba")


def test_a_password_in_the_url_is_refused_and_not_shown(folder: Path) -> None:
    write(folder, f"[targets.x]\nurl = 'oracle://scott/{CANARY}@DWH'\n")
    with pytest.raises(ToolkitError) as caught:
        load_profiles()
    assert caught.value.code == "TK-0108"
    assert CANARY not in caught.value.message + caught.value.hint
