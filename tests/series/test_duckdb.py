"""Whatever moment dbatk is killed at on DuckDB, or a disk is full at, nothing is lost, doubled or left.

This is a slice; `python -m tests.series.duckdb` plays any number.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.series import case
from tests.series.duckdb import WORKS, made_place, play

pytestmark = pytest.mark.full
SEED = 1


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["compaction", "purge into an archive", "export", "restore"])
def test_what_a_kill_or_a_full_disk_interrupts_is_resumed_and_cleaned_in_any_order(name: str) -> None:
    told: list[str] = []
    works = [work for work in WORKS if work.name == name]
    with made_place() as place:
        assert play(place, works, {"kill": 2, "full": 1}, SEED, told.append) == [], "\n".join(told)


def test_what_a_command_said_that_does_not_end_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case, "LONGEST_SECONDS", 0.1)
    says = "import signal; print('half done', flush=True); signal.pause()"
    process = subprocess.Popen(
        (sys.executable, "-c", says), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    said = case._Said(process)  # type: ignore[arg-type]
    while "half" not in said.so_far:
        assert process.poll() is None
    with pytest.raises(AssertionError, match=r"(?s)not over after 0\.1 s.*said:\nhalf done"):
        said.ended()
    assert process.wait() < 0
    for each in said._threads:
        each.join()
