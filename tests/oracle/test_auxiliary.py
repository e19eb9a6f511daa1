"""Scripts for a copy of a whole database: names, folders and room are looked at before; nothing is run."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.judging import judge
from tests.oracle.make import target
from tests.oracle.standin import Scenario, running_standin
from tests.oracle.standin.scenario import ViewRow
from toolkit.app.auxiliaries import prepare_copy
from toolkit.cli.main import main
from toolkit.dialects.auxiliaries import AuxiliaryRequest
from toolkit.errors import ToolkitError
from toolkit.model.words import CopyForm

GIB = 2**30
VIEWS: dict[str, Sequence[ViewRow]] = {
    "V$DATAFILE": [
        {"FILE#": 1, "NAME": "/u01/oradata/FREE/system01.dbf", "BYTES": GIB},
        {"FILE#": 7, "NAME": "+DATA/FREE/users.259.1", "BYTES": GIB},
    ],
    "V$TEMPFILE": [{"FILE#": 1, "NAME": "/u01/oradata/FREE/temp01.dbf", "BYTES": GIB // 2}],
    "V$LOG": [{"GROUP#": 1, "BYTES": 200 * 2**20}, {"GROUP#": 2, "BYTES": 200 * 2**20}],
    "V$LOGFILE": [
        {"GROUP#": 1, "MEMBER": "/u01/redo/redo01a.log"},
        {"GROUP#": 1, "MEMBER": "/u02/redo/redo01b.log"},
        {"GROUP#": 2, "MEMBER": "/u01/redo/redo02a.log"},
    ],
}
SCENARIO = Scenario(views=VIEWS, context={"CON_NAME": "CDB$ROOT"})
WANTED = AuxiliaryRequest(CopyForm.DUPLICATE, "AUX", "/scratch/aux", channels=2)


def scripts(wanted: AuxiliaryRequest = WANTED, tables: tuple[str, ...] = ()) -> dict[str, str]:
    with running_standin(SCENARIO) as standin:
        found = prepare_copy(target(standin), wanted, tables)
        assert all(text.lstrip().upper().startswith("SELECT") for text in standin.statements), "it only reads"
        assert found.needs_bytes == int(2.5 * GIB) + 400 * 2**20, "a group counts once"
        assert "whether 2.89 GiB are free is not known" in found.sentences[0]
    return dict(found.texts)


def test_a_duplicate_has_a_name_for_every_file_and_none_of_the_database() -> None:
    found = scripts()
    text = found["duplicate.rman"]
    assert text.count("ALLOCATE AUXILIARY CHANNEL") == 2
    assert "SET NEWNAME FOR DATABASE TO '/scratch/aux/%f_%b';" in text
    assert "DUPLICATE TARGET DATABASE TO 'AUX'" in text and "NOFILENAMECHECK" not in text
    assert "GROUP 1 ('/scratch/aux/redo1.log') SIZE 200M," in text
    assert "GROUP 2 ('/scratch/aux/redo2.log') SIZE 200M;" in text
    assert not re.search(r"/u0[12]|\+DATA", "".join(found.values()))
    parameters = found["initAUX.ora"].splitlines()
    for line in ("db_name = AUX", "enable_pluggable_database = TRUE", "job_queue_processes = 0", "open_links = 0"):
        assert line in parameters


def test_a_restore_on_another_host_keeps_the_name_renames_every_log_and_opens_nothing() -> None:
    found = scripts(replace(WANTED, form=CopyForm.RESTORE, until="2026-11-27 22:00:00"))
    text = found["restore.rman"]
    assert "SET DBID 1405;" in text and "db_name = FREE" in found["initAUX.ora"]
    assert """SET UNTIL TIME "TO_DATE('2026-11-27 22:00:00', 'YYYY-MM-DD HH24:MI:SS')";""" in text
    renamed = re.findall(r"RENAME FILE ''([^']+)'' TO ''([^']+)''", text)
    assert renamed == [
        (str(row["MEMBER"]), f"/scratch/aux/redo{number}.log") for number, row in enumerate(VIEWS["V$LOGFILE"], 1)
    ]
    bare = re.sub("#.*", "", text)
    assert bare.index("SWITCH DATAFILE ALL") < bare.index("RECOVER DATABASE") and "OPEN" not in bare
    assert text.index("RENAME FILE") < text.index("RECOVER DATABASE"), "which may end with RMAN-06054"
    assert "SWITCH TEMPFILE ALL" in bare, "or OPEN makes them under the names of the original's"


def test_the_check_counts_rows_of_the_copy_alone_and_stands_before_two_grammars() -> None:
    text = scripts(tables=("GTEST", 'app."Odd name"'))["check.sql"]
    assert """FROM "APP"."Odd name") AS "ROWS_2\"""" in text and "UPPER(i.instance_name) = 'AUX'" in text
    assert text.endswith(";\n") and judge({text.rstrip(";\n"): "check.sql"}) == {}


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("wanted", "code", "words"),
    [
        ({"name": "FREE"}, "TK-0305", "would take its place"),
        ({"name": "toolongname"}, "TK-0102", "cannot be the name"),
        ({"folder": "/u01/oradata/FREE"}, "TK-0305", "has its own files"),
        ({"folder": "/u01/oradata/FREE/aux"}, "TK-0305", "has its own files"),
        ({"folder": "/u02"}, "TK-0305", "has its own files"),
        ({"folder": "relative/aux"}, "TK-0102", "cannot be the folder"),
        ({"folder": "/scratch/it's"}, "TK-0102", "cannot be the folder"),
        ({"folder": "/scratch/../u01/oradata/FREE"}, "TK-0102", "cannot be the folder"),
    ],
)
def test_names_and_folders_of_the_database_are_refused(wanted: dict[str, str], code: str, words: str) -> None:
    with running_standin(SCENARIO) as standin, pytest.raises(ToolkitError, match=words) as caught:
        prepare_copy(target(standin), replace(WANTED, **wanted))  # type: ignore[arg-type]
    assert caught.value.code == code


def test_a_folder_of_this_host_is_empty_and_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = replace(WANTED, folder=str(tmp_path / "aux"))
    (tmp_path / "aux").mkdir()
    with running_standin(SCENARIO) as standin:
        assert prepare_copy(target(standin), wanted).sentences == ()
        huge = [{"FILE#": 1, "NAME": "/u01/x.dbf", "BYTES": 2**60}]
        standin.engine.scenario = replace(SCENARIO, views={**VIEWS, "V$DATAFILE": huge})
        with pytest.raises(ToolkitError, match="the copy takes"):
            prepare_copy(target(standin), wanted)
        (tmp_path / "aux/file").touch()
        with pytest.raises(ToolkitError, match="is not empty"):
            prepare_copy(target(standin), wanted)


def test_a_pluggable_database_is_not_copied_by_itself() -> None:
    inside = replace(SCENARIO, context={"CON_NAME": "PDB1"})
    with running_standin(inside) as standin, pytest.raises(ToolkitError, match="pluggable database PDB1"):
        prepare_copy(target(standin), WANTED)


@pytest.mark.parametrize("form", list(CopyForm))
def test_the_command_writes_files_for_their_owner_alone(
    form: CopyForm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with running_standin(SCENARIO) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
        line = ["restore", "script", "-t", standin.url, "--name", "AUX", "--destination", "/scratch/aux/"]
        assert main([*line, "--form", form, "--out", str(tmp_path / "scripts")]) == 0
    names = {path.name for path in (tmp_path / "scripts").iterdir()}
    assert names == {"initAUX.ora", f"{form}.rman", "check.sql"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "scripts").iterdir()} == {0o600}
    said = capfd.readouterr().out
    assert "STARTUP NOMOUNT PFILE='initAUX.ora'" in said and "remove /scratch/aux" in said


def test_another_engine_says_what_it_has_instead(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    url = f"duckdb:///{tmp_path / 'a.duckdb'}"
    status = main(["restore", "script", "-t", url, "--name", "AUX", "--destination", "/scratch/aux"])
    assert status == 5 and "dbatk restore try" in capfd.readouterr().err
