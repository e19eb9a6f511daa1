"""Folders of ours: made with a mark, looked at, published when complete, removed; no other is ever touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.dialects import backups
from toolkit.dialects.duckdb.dialect import DIALECT
from toolkit.executors.host import read_probes, run_folder
from toolkit.model.facts import Probe
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import ObjectKind, ProbeKind
from toolkit.rendering import step_of

MARK = "made by dbatk run 2611212000000abcd, may be dropped"


def ours(folder: Path) -> ObjectRef:
    return ObjectRef(ObjectKind.BACKUP, QualifiedName("dbatk_2611212000000abcd_1", str(folder)), scratch=True)


def do(call: object) -> Answer:
    return run_folder(step_of(DIALECT, call))  # type: ignore[arg-type]


def made(folder: Path) -> ObjectRef:
    ref = ours(folder)
    do(backups.make(ref, MARK))
    return ref


def test_a_folder_is_made_with_its_mark_for_its_owner_only(tmp_path: Path) -> None:
    ref = made(tmp_path)
    folder = tmp_path / ref.name.name
    assert (folder / ".dbatk").read_text().strip() == MARK
    assert folder.stat().st_mode & 0o777 == 0o700
    (row,) = do(backups.look(ref)).rows
    assert row["mark"] == MARK


def test_what_is_not_there_has_no_identity(tmp_path: Path) -> None:
    assert do(backups.look(ours(tmp_path))).rows == ()


def test_an_empty_folder_with_the_generated_name_is_ours_and_any_other_without_mark_is_not(tmp_path: Path) -> None:
    ref = ours(tmp_path)
    folder = tmp_path / ref.name.name
    folder.mkdir()
    assert do(backups.look(ref)).rows[0]["mark"] == ref.name.name
    (folder / ".dbatk").touch()  # a kill before its mark was written
    assert do(backups.look(ref)).rows[0]["mark"] == ref.name.name
    (folder / "precious").touch()
    assert do(backups.look(ref)).rows[0]["mark"] is None
    with pytest.raises(DatabaseError, match="was not created by dbatk"):
        do(backups.remove(ref)[0])
    assert (folder / "precious").exists()


def test_a_link_is_followed_by_nothing(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".dbatk").write_text(MARK)
    (tmp_path / ours(tmp_path).name.name).symlink_to(elsewhere)
    with pytest.raises(DatabaseError):
        do(backups.remove(ours(tmp_path))[0])
    assert elsewhere.is_dir()


def test_removing_takes_all_that_is_in_it(tmp_path: Path) -> None:
    ref = made(tmp_path)
    (tmp_path / ref.name.name / "backup").mkdir()
    (tmp_path / ref.name.name / "backup" / "part").write_bytes(b"x" * 10)
    assert do(backups.measure(ref)).rows == ({"byte_count": 10, "file_count": 1},)
    do(backups.remove(ref)[0])
    assert list(tmp_path.iterdir()) == []


def test_making_one_that_is_there_is_refused(tmp_path: Path) -> None:
    made(tmp_path)
    with pytest.raises(DatabaseError) as caught:
        made(tmp_path)
    assert caught.value.code == "EEXIST"


@pytest.mark.parametrize("there", [False, True])
def test_a_complete_backup_moves_to_its_name_unless_that_is_taken(tmp_path: Path, there: bool) -> None:
    ref = made(tmp_path)
    (tmp_path / ref.name.name / "backup").mkdir()
    final = tmp_path / "full"
    if there:
        final.mkdir()
    step = step_of(DIALECT, backups.make(ref, MARK))
    publish = type(step)(**{**_fields(step), "argv": ("publish", str(tmp_path / ref.name.name), str(final))})
    if there:
        with pytest.raises(DatabaseError, match="it already exists"):
            run_folder(publish)
        assert (tmp_path / ref.name.name / "backup").is_dir()
    else:
        run_folder(publish)
        assert [each.name for each in tmp_path.iterdir()] == ["full"]


def _fields(step: object) -> dict[str, object]:
    return {name: getattr(step, name) for name in step.__dataclass_fields__}  # type: ignore[attr-defined]


# -- what is asked before planning -------------------------------------------------------------------------------
def test_a_folder_tells_what_a_backup_must_know(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    probes = [Probe(name, ProbeKind.FOLDER, (str(tmp_path / name),)) for name in (".", "file", "none")]
    rows = {key: rows[0] for key, rows in read_probes(probes).items()}
    assert (rows["."]["is_folder"], rows["."]["is_writable"], rows["."]["is_empty"]) == ("yes", "yes", "no")
    assert int(rows["."]["free_byte_count"] or 0) > 0
    assert (rows["file"]["is_there"], rows["file"]["is_folder"]) == ("yes", "no")
    assert rows["none"]["is_there"] == "no"


def test_a_program_is_looked_for_where_the_user_says_and_nowhere_else(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\necho tool 15.3\n")
    program.chmod(0o755)
    here = Probe("tool", ProbeKind.PROGRAM, ("tool",), (str(tmp_path),))
    elsewhere = Probe("sh", ProbeKind.PROGRAM, ("sh",), (str(tmp_path),))
    rows = read_probes((here, elsewhere))
    assert rows["tool"][0] == {"path": str(program), "version_text": "tool 15.3", "problem": None}
    assert "is not in" in str(rows["sh"][0]["problem"])


def test_a_program_is_found_in_the_folder_of_the_profile_and_on_path(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    tool, sh = (Probe(name, ProbeKind.PROGRAM, (name,), arguments=("-c", "echo 1")) for name in ("tool", "sh"))
    rows = read_probes((tool, sh), (str(tmp_path),))
    assert rows["tool"][0]["problem"] == f"`{program}` ended with status 3"
    assert rows["sh"][0]["version_text"] == "1"
