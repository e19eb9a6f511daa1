"""What `export`, `run.sh` and `ingest` refuse, each with a sentence."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.project.tree import ROOT
from toolkit.app.bundles.ingest import new_of
from toolkit.cli.main import main
from toolkit.errors import ToolkitError
from toolkit.executors.scripted.client import columns_of, refuse_unspellable
from toolkit.model.records import TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import Outcome
from toolkit.resources import sql_root, template_root

URL = "oracle://scott@db1:1521/dwh"
RUN_SH = template_root() / "bundle" / "run.sh"
Exporter = Callable[..., Path]


@pytest.fixture(scope="module")
def exported() -> dict[str, Path]:
    """Bundles by the experiment they were made of: the same one is made once and copied."""
    return {}


@pytest.fixture
def export(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    exported: dict[str, Path],
) -> Exporter:  # fmt: skip
    """Export without a connection; returns the folder."""
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))

    def make(
        options: str = 'source = "G"\ntable = "C"', factors: str = "degree = [1, 2]", more: str = "", *,
        target: str = URL, name: str = "b", status: int = 0, assume: str = "19-ee",
    ) -> Path:  # fmt: skip
        file = tmp_path / "e.toml"
        head = f'[experiment]\ntarget = "{target}"\noperation = "ctas"\n{options}\n'
        text, out = f"{head}[factors]\n{factors}\n{more}", tmp_path / name
        file.write_text(text, "utf-8")
        key = f"{assume} {text}"
        if status == 0 and key in exported and not out.exists():
            return Path(shutil.copytree(exported[key], out))
        assert main(["export", str(file), "--out", str(out), "--assume", assume]) == status
        if status == 0:
            exported[key] = Path(shutil.copytree(out, tmp_path_factory.mktemp("exported") / name))
        return out

    return make


# -- export -----------------------------------------------------------------------------------------------------
@pytest.mark.full
def test_a_folder_that_is_not_empty_is_left_alone(export: Exporter, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine").write_text("kept")
    export(status=2)
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["mine"]


@pytest.mark.full
def test_a_degree_above_the_limit_of_the_profile_is_not_exported(
    export: Exporter, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["target", "add", "dwh", URL, "--max-degree", "2"]) == 0
    assert not export(target="dwh", factors="degree = [1, 4]", status=5).exists()
    assert "degree 4 is above the max_degree 2 of profile `dwh`" in capsys.readouterr().err
    assert export(target="dwh").exists()


def test_a_factor_that_runs_commands_is_not_exported(export: Exporter, capsys: pytest.CaptureFixture[str]) -> None:
    how = (
        '[[factor]]\nname = "io"\nlevels = [1]\nread = ["a"]\napply = ["a", "{level}"]\nundo = ["a", "{before}"]\n'
    )
    assert not export(more=how, status=5).exists()
    assert "a script cannot do" in capsys.readouterr().err


@pytest.mark.full
def test_what_is_printed_is_the_command_that_runs_it_on_the_server(
    export: Exporter, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (export() / "README.txt").read_text(encoding="utf-8")
    typed = re.search(r"run `(sh run\.sh .+)` there", capsys.readouterr().err)
    assert typed is not None and f"{typed[1]}\n" in readme


@pytest.mark.full
def test_an_empty_folder_is_filled_for_its_owner_only(export: Exporter, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir(mode=0o755)
    folder = export()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "run.sh").stat().st_mode & 0o777 == 0o700
    assert (folder / "undo.sql").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_nothing_half_written(
    export: Exporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    export(status=1)
    assert "no space left" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} <= {"e.toml", "config", "store.db"}


@pytest.mark.full
def test_the_order_of_trials_is_that_of_the_seed(export: Exporter) -> None:
    options = 'source = "G"\ntable = "C"\nseed = 7\nrepeat = 3'
    plans = [(export(options, name=name) / "PLAN").read_text("utf-8").splitlines()[2:] for name in ("a", "b")]
    assert plans[0] == plans[1] and len(plans[0]) == 8
    manifest = json.loads((export(options, name="c") / "MANIFEST.json").read_text("utf-8"))
    assert manifest["seed"] == 7 and set(manifest["files"]) >= {"run.sh", "PLAN", "sql/t0001.sql", "undo.sql"}


@pytest.mark.full
def test_undo_drops_whatever_a_trial_makes(export: Exporter) -> None:
    folder = export()
    undo = (folder / "undo.sql").read_text("utf-8")
    made = [path.read_text("utf-8") for path in sorted((folder / "sql").glob("t000?.sql"))]
    names = [text.split('CREATE TABLE "')[1].split('"')[0] for text in made]
    assert len(names) == len(set(names)) == 8
    assert all(f'DROP TABLE "{name}" PURGE' in undo for name in names)


@pytest.mark.full
def test_a_cache_is_emptied_by_a_bundle_only_of_what_is_said_not_to_be_production(
    export: Exporter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cold = 'source = "G"\ntable = "C"\ncache = "cold"'
    export(cold, status=5)
    assert "--cache cold" in capsys.readouterr().err
    again = ["export", str(tmp_path / "e.toml"), "--out", str(tmp_path / "b"), "--assume", "19-ee"]
    assert main([*again, "--not-production"]) == 0


def test_what_needs_a_licence_nobody_declared_is_not_written(
    export: Exporter, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = export('query = "SELECT * FROM dba_hist_sysstat"\ntable = "C"', status=5)
    assert "TK-0303" in capsys.readouterr().err and not folder.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"target": "duckdb:///x.duckdb", "assume": "2.0"}, "bundles are only for Oracle"),
        ({"options": 'source = "G"\ntable = "C"\nkeep = "best"'}, "known after the trials"),
        (
            {"more": '[[factor]]\nname = "x"\nlevels = [1]\nread_sql = "SELECT 1 FROM dual"\n'
             'apply_sql = "ALTER SESSION SET x = {level}"\nundo_sql = "ALTER SESSION SET x = {before}"'},
            "the factor `x`",
        ),
    ],
)  # fmt: skip
def test_what_a_script_cannot_do_is_refused(
    export: Exporter, capsys: pytest.CaptureFixture[str], arguments: dict[str, str], sentence: str
) -> None:
    folder = export(**arguments, status=5)  # type: ignore[arg-type]
    assert sentence in capsys.readouterr().err and not folder.exists()


@for_each("line", ["/", ".", "SELECT a -", "'one;", "@file", "#x", "x" * 2500], ids=lambda line: line[:10])
def test_a_line_that_the_client_would_take_for_something_else_is_refused(line: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        refuse_unspellable(f"SELECT 1\n{line}\nFROM dual")
    assert caught.value.code == "TK-0105" and "line 2" in caught.value.message


@for_each("file", sorted((sql_root() / "oracle").glob("*.sql")), ids=lambda path: path.stem)
def test_every_read_of_ours_names_its_columns(file: Path) -> None:
    from toolkit.rendering import sql_file

    text = sql_file("oracle", file.stem)
    if text.lstrip().upper().startswith(("SELECT", "WITH")):
        assert columns_of(text)
        refuse_unspellable(text)


# -- the driver -------------------------------------------------------------------------------------------------
def drive(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", str(folder / "run.sh"), *arguments], env={"PATH": "/usr/bin:/bin", **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "ksh", "mksh"])
def test_the_driver_is_a_script_of_every_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    assert subprocess.run([shell, "-n", str(RUN_SH)], check=False).returncode == 0


def test_the_driver_pleases_shellcheck() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not on this machine")
    assert subprocess.run(["shellcheck", "-s", "sh", str(RUN_SH)], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "usage"),
        (("-x", "scott@dwh"), "usage"),
        (("scott/tiger@dwh",), "no password may stand in an argument"),
        (("scott@dwh\nX",), "a character that is not taken"),
        (("scott@dwh",), "neither sqlplus nor sql is here"),
    ],
)
def test_the_driver_refuses_with_a_sentence(export: Exporter, arguments: tuple[str, ...], sentence: str) -> None:
    status, said = drive(export(), *arguments)
    assert status == 2 and sentence in said


def test_the_driver_wants_a_client_of_oracle(export: Exporter) -> None:
    folder = export()
    status, said = drive(folder, "scott@dwh", SQLPLUS="/bin/echo")
    assert status == 2 and "neither SQL*Plus nor SQLcl" in said
    status, said = drive(folder, "scott@dwh", SQLPLUS="no-such-client")
    assert status == 2 and "no such command" in said


def test_the_driver_runs_no_altered_script(export: Exporter, tmp_path: Path) -> None:
    folder = export()
    client = tmp_path / "sqlplus"
    client.write_text("#!/bin/sh\necho 'SQL*Plus: Release 19'\n")
    client.chmod(0o700)
    with (folder / "sql/t0001.sql").open("a") as file:
        file.write("-- mine\n")
    status, said = drive(folder, "-y", "scott@dwh", SQLPLUS=str(client))
    assert status == 2 and "was altered" in said and not (folder / "spool").exists()


def test_the_driver_asks_for_no_password_where_nobody_answers(export: Exporter, tmp_path: Path) -> None:
    client = tmp_path / "sqlplus"
    client.write_text("#!/bin/sh\necho 'SQL*Plus: Release 19'\n")
    client.chmod(0o700)
    status, said = drive(export(), "-y", "scott@dwh", SQLPLUS=str(client))
    assert status == 2 and "give it on a file descriptor" in said


# -- ingest -----------------------------------------------------------------------------------------------------
def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["ingest", str(folder)]) == 2
    return capsys.readouterr().err


def spool(folder: Path, text: str = "", *, run: str | None = None, name: str = "t0001-a1") -> None:
    (folder / "spool").mkdir(exist_ok=True)
    own = json.loads((folder / "MANIFEST.json").read_text("utf-8"))["run"]
    (folder / "spool" / f"{name}.lst").write_text(text.replace("RUN", run or own), "utf-8")


def test_a_bundle_that_was_not_run_is_refused(export: Exporter, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no trial of this bundle has been run" in refused(export(), capsys)


def test_a_folder_without_a_bundle_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not a bundle" in refused(tmp_path, capsys)


@pytest.mark.parametrize("text", ["", "{}", "[" * 2000, '{"kind": "dbatk bundle", "format": 1}'])
def test_a_damaged_manifest_is_refused(export: Exporter, capsys: pytest.CaptureFixture[str], text: str) -> None:
    folder = export()
    (folder / "MANIFEST.json").write_text(text)
    assert "TK-0406" in refused(folder, capsys)


@pytest.mark.parametrize("run", ["../../elsewhere/precious", "20261123-062518-98ä0", "", "20261123-062518-980a/x"])
def test_a_run_that_would_name_files_elsewhere_is_refused(
    export: Exporter, capsys: pytest.CaptureFixture[str], run: str
) -> None:
    folder = export()
    read = json.loads((folder / "MANIFEST.json").read_text("utf-8"))
    (folder / "MANIFEST.json").write_text(json.dumps({**read, "run": run}))
    assert "is damaged" in refused(folder, capsys)


def test_a_newer_format_is_refused(export: Exporter, capsys: pytest.CaptureFixture[str]) -> None:
    folder = export()
    read = json.loads((folder / "MANIFEST.json").read_text("utf-8"))
    (folder / "MANIFEST.json").write_text(json.dumps({**read, "format": 99}))
    assert "upgrade dbatk" in refused(folder, capsys)


@pytest.mark.parametrize("name", ["sql/t0001.sql", "run.sh", "PLAN", "undo.sql"])
def test_an_altered_file_is_refused(export: Exporter, capsys: pytest.CaptureFixture[str], name: str) -> None:
    folder = export()
    spool(folder)
    with (folder / name).open("a") as file:
        file.write("\n")
    assert f"`{name}` was altered" in refused(folder, capsys)


def test_a_missing_script_is_refused(export: Exporter, capsys: pytest.CaptureFixture[str]) -> None:
    folder = export()
    (folder / "sql/t0002.sql").unlink()
    assert "is missing" in refused(folder, capsys)


@pytest.mark.parametrize(
    ("text", "run", "name"),
    [
        ("DBATK|RUN|1|1|stage|timed", "20200101-000000-0000", "t0001-a1"),
        ("DBATK|RUN|2|1|stage|timed", None, "t0001-a1"),
        ("", None, "t0099-a1"),
    ],
)
def test_a_spool_of_another_run_is_refused(
    export: Exporter, capsys: pytest.CaptureFixture[str], text: str, run: str | None, name: str
) -> None:
    folder = export()
    spool(folder, text, run=run, name=name)
    assert "belongs to another run" in refused(folder, capsys)


@pytest.mark.thin(4)
@pytest.mark.parametrize("text", ["", "ORA-12541: no listener\n", "DBATK|RUN|1|1|stage|timed\nORA-", "\0\ufffd"])
def test_a_spool_that_breaks_off_is_an_interrupted_trial(
    export: Exporter, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    folder = export()
    spool(folder, text)
    for _ in range(2):
        capsys.readouterr()
        assert main(["ingest", str(folder), "--json"]) == 3
        run = json.loads(capsys.readouterr().out)
        assert run["state"] == "interrupted" and [each["outcome"] for each in run["trials"]] == ["interrupted"]


def test_the_driver_is_the_one_in_the_templates(export: Exporter) -> None:
    assert (export() / "run.sh").read_text("utf-8") == RUN_SH.read_text("utf-8")
    assert RUN_SH.is_relative_to(ROOT)


# -- what is new ------------------------------------------------------------------------------------------------
def test_an_attempt_stored_while_it_ran_is_stored_again_when_it_has_an_end() -> None:
    now = datetime(2026, 11, 21, tzinfo=UTC)

    def record(attempt: int, outcome: Outcome) -> TrialRecord:
        return TrialRecord(1, attempt, Cell(()), 1, outcome, now, now)

    broken, whole = record(1, Outcome.INTERRUPTED), record(1, Outcome.OK)
    assert new_of([broken], []) == [broken]
    assert new_of([broken], [broken]) == []
    assert new_of([whole], [broken]) == [replace(whole, attempt=2)]
    assert new_of([whole], [broken, replace(whole, attempt=2)]) == []
    assert new_of([broken, record(2, Outcome.OK)], []) == [broken, record(2, Outcome.OK)]
    failed, later = record(1, Outcome.FAILED), replace(record(2, Outcome.OK), began_at=now + timedelta(seconds=9))
    assert new_of([failed, later], [failed]) == new_of([failed, later], [])[1:] == [later]
    assert new_of([failed, later], [broken, replace(failed, attempt=2)]) == [replace(later, attempt=3)]
    assert new_of([failed, later], [failed, later]) == []


def test_export_that_cannot_connect_names_the_way_without_a_connection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> None:
        raise ToolkitError("cannot connect to `x`", code="TK-0201", hint="check host and port")

    monkeypatch.setattr("toolkit.app.bundles.export.read_known", unreachable)
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    line = ["ctas", "-t", URL, "--source", "A", "--table", "B", "--save-as", str(tmp_path / "e.toml")]
    assert main(line) == 0
    assert main(["export", str(tmp_path / "e.toml"), "--out", str(tmp_path / "b")]) != 0
    shown = capsys.readouterr().err
    assert "hint: check host and port; `--assume 19-ee`" in shown and "`--facts FILE`" in shown
