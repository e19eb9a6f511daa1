"""What a host can do at most: measured in a file of one's own that goes, refused where it could do harm."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from tests.for_each import for_each
from toolkit.errors import ToolkitError
from toolkit.snapshots import ceilings
from toolkit.snapshots.ceilings import CeilingRequest, check_room, measure_ceilings

SMALL = 16 * 2**20


@pytest.fixture
def disk() -> Path:
    """A folder on a disk: that of the tests may be in memory."""
    folder = Path(__file__).parent / f".ceiling-{os.getpid()}"
    folder.mkdir()
    yield folder  # type: ignore[misc]
    shutil.rmtree(folder)


@pytest.mark.parametrize("fio", [False, pytest.param(True, marks=pytest.mark.full)])
def test_each_ceiling_is_a_rate_and_nothing_is_left(disk: Path, fio: bool) -> None:
    if fio and shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    found = measure_ceilings(CeilingRequest(disk, SMALL, 0.1, fio))
    assert [one.name for one in found] == ["write", "read", "cpu", "memory"]
    assert all(one.value > 0 and one.unit == "bytes_per_second" for one in found)
    assert ("fio" in found[0].how) is fio
    assert list(disk.iterdir()) == []


def test_without_a_folder_no_io_is_done() -> None:
    assert [one.name for one in measure_ceilings(CeilingRequest(None, SMALL, 0.1))] == ["cpu", "memory"]


def test_the_file_has_no_name_while_it_is_measured_so_that_no_kill_leaves_it(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[list[Path], int]] = []

    def fails(file: ceilings._OwnFile, *_: object) -> float:
        seen.append((list(disk.iterdir()), Path(file.path).stat().st_size))
        raise KeyboardInterrupt

    monkeypatch.setattr(ceilings, "_by_threads", fails)
    with pytest.raises(KeyboardInterrupt):
        measure_ceilings(CeilingRequest(disk, SMALL, 0.1, fio=False))
    assert seen == [([], SMALL)]
    assert list(disk.iterdir()) == []


def test_a_disk_that_becomes_full_is_called_full_and_the_file_goes(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ceilings.os, "pwritev", full)
    with pytest.raises(ToolkitError, match="became full") as refused:
        measure_ceilings(CeilingRequest(disk, SMALL, 0.1, fio=False))
    assert (refused.value.code, list(disk.iterdir())) == ("TK-0305", [])


@for_each(
    ("folder", "size", "code"),
    [("/dev/null", SMALL, "TK-0102"), ("/no/such", SMALL, "TK-0102"), (__file__, SMALL, "TK-0102"),
     (".", 1, "TK-0102"), (".", 2**50, "TK-0102")],
)  # fmt: skip
def test_what_is_no_folder_or_no_size_is_refused(folder: str, size: int, code: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        check_room(Path(folder), size)
    assert refused.value.code == code


def test_a_tenth_of_the_disk_stays_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        total, free = 100 * SMALL, 10 * SMALL

    monkeypatch.setattr(ceilings.psutil, "disk_usage", lambda _: Usage)
    with pytest.raises(ToolkitError, match="would not stay free") as refused:
        check_room(tmp_path, SMALL)
    assert refused.value.code == "TK-0305"


def test_a_folder_in_memory_is_refused() -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("there is no /dev/shm")
    with pytest.raises(ToolkitError, match="no direct I/O") as refused:
        measure_ceilings(CeilingRequest(Path("/dev/shm"), SMALL, 0.1))
    assert refused.value.code in ("TK-0304", "TK-0305")
