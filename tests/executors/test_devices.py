"""Programs that make file systems are kept off devices that are in use."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.executors.test_programs import RUN, judge
from toolkit.errors import ToolkitError
from toolkit.executors.devices import why_not_run
from toolkit.executors.host import run_command
from toolkit.executors.programs import Programs
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Program, Step
from toolkit.model.words import StepKind
from toolkit.targets.base import ProgramAccess

IN_USE = "is in use: mounted, swap, or part of a volume"


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A block device that something else holds, as Linux tells it; no test may touch a real one."""
    path, opened, looked = tmp_path / "sdx1", os.open, Path.stat
    path.touch()

    def stat_of(each: Path, **more: bool) -> object:
        held = each.name == "sdx1"
        return SimpleNamespace(st_mode=stat.S_IFBLK, st_rdev=os.makedev(250, 7)) if held else looked(each, **more)

    def open_of(each: Path, flags: int, *more: int) -> int:
        if Path(each).name == "sdx1" and flags & os.O_EXCL:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return opened(each, flags, *more)

    monkeypatch.setattr(Path, "stat", stat_of)
    monkeypatch.setattr(os, "open", open_of)
    return path


@pytest.mark.parametrize(
    "words",
    ["mkfs.ext4 -q -F -F {}", "/sbin/mkfs -t ext4 {}", "mkswap {}", "wipefs -a {}", "dd if=/dev/zero of={}",
     "zpool create -f tank mirror {}", "pvcreate {}"],
)  # fmt: skip
def test_a_device_in_use_is_not_overwritten(device: Path, words: str) -> None:
    why = why_not_run(words.format(device).split())
    assert why is not None and f"`{device}` {IN_USE}" in why
    assert why_not_run(words.format(device.name).split(), str(device.parent)) is not None


@pytest.mark.parametrize("words", ["cat {}", "dd if={} of=/dev/null", "zpool list {}", "blockdev --getra {}"])
def test_what_only_reads_may_use_any_device(device: Path, words: str) -> None:
    assert why_not_run(words.format(device).split()) is None


def test_a_program_that_makes_file_systems_names_one_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "disk.img").touch()
    assert why_not_run(["mkfs.ext4", "-F", "disk.img"], str(tmp_path)) is None
    for argv in (["mkfs.ext4"], ["mkfs.ext4", "-b", "4096", "/dev/nowhere"]):
        assert why_not_run(argv) == "`mkfs.ext4` was not run: it names no device and no file that is there"


def test_a_mounted_device_is_known_also_to_those_who_may_not_open_it(
    device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "29 1 250:7 / /data rw - ext4 /dev/sdx1 rw\n")
    assert IN_USE in str(why_not_run(["mkfs.ext4", str(device)]))
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "29 1 250:8 / /data rw - ext4 /dev/sdx1 rw\n")
    assert why_not_run(["mkfs.ext4", str(device)]) is None, "the program itself is refused then"


def test_a_trial_and_the_command_of_a_factor_end_before_they_overwrite_one(device: Path) -> None:
    step = Step("host/command", "", kind=StepKind.COMMAND, argv=("mkfs.ext4", str(device)), program=Program())
    with pytest.raises(DatabaseError, match=IN_USE) as failed:
        Programs(RUN).run(step, ProgramAccess(), judge)
    assert failed.value.code == "not-run"
    with pytest.raises(ToolkitError, match=IN_USE):
        run_command(["mkfs.ext4", str(device)])
