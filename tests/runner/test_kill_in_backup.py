"""A backup whose process is killed at any change of its folders is there once, and known to its run."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.engines.arena import Arena
from tests.engines.test_backups import options
from tests.servers import forks
from toolkit.model.words import Outcome, RunState
from toolkit.store import Store, open_store

CHANGES = 6
"""What a job of a backup into a folder changes there: made, moved out, and three to remove what is left."""


def drive(**told: Any) -> subprocess.CompletedProcess[str]:
    return forks.run("tests.runner.driver", json.dumps(told))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


def told_of(arena: Arena, place: Path, store: Path, **more: str) -> dict[str, Any]:
    more |= {} if arena.engine == "duckdb" else {"checkpoint": "fast"}
    given = {**options(arena, place, **more), "destination": [str(place)]}
    return {"url": arena.url, "store": str(store), "operation": "backup", "options": given, "factors": {},
            "mode": "job", "die_below": str(place)}  # fmt: skip


def give_up_the_lease(store: Store, run: str) -> None:
    """Let the lease of a run end, as it does once its host sent no heartbeat for so long."""
    lease = store.lease_of_run(run)
    assert lease is not None
    store.release(lease)


_WAYS = ("resume", "clean, resume")
_FIRST = ((2, "resume"), (3, "resume"), (3, "clean, resume"))
"""Before it is moved out, and after."""
_OTHERS = tuple((at, after) for at in range(1, CHANGES + 1) for after in _WAYS if (at, after) not in _FIRST)


@pytest.mark.parametrize(
    ("at", "after"), [*_FIRST, *(pytest.param(*each, marks=pytest.mark.full) for each in _OTHERS)]
)
def test_a_backup_killed_at_a_change_of_its_folders_is_made_once(
    arena: Arena, tmp_path: Path, place: Path, at: int, after: str
) -> None:
    store = tmp_path / "store.sqlite"
    killed = drive(**told_of(arena, place, store, tag="full"), die_at=at)
    if killed.returncode == 0 and at > killed.stdout.count("os."):
        pytest.skip("fewer changes on this engine")
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
    there = (place / "full").stat().st_ino if (place / "full").exists() else None
    with open_store(store) as opened:
        (head,) = opened.list_runs()
    again = {"url": arena.url, "store": str(store)}
    if after.startswith("clean"):
        cleaned = drive(**again, clean=head.run)
        assert cleaned.returncode == 0, (cleaned.stdout, cleaned.stderr)
        assert [each.name for each in place.iterdir()] == ["full"] * (there is not None), cleaned.stdout
    resumed = drive(**again, resume=head.run)
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    assert [each.name for each in place.iterdir()] == ["full"]
    if there is not None:
        assert (place / "full").stat().st_ino == there, "it was made twice"
    with open_store(store) as opened:
        record = opened.load_run(head.run)
        assert opened.journal(head.run).open_entries() == ()
    assert record.trials[-1].outcome is Outcome.OK
    if there is not None:
        assert any(f"`{place}/full` was created before" in text for text in record.warnings), record.warnings


def test_every_change_of_a_folder_is_among_those_where_the_kill_falls(
    arena: Arena, tmp_path: Path, place: Path
) -> None:
    done = drive(**told_of(arena, place, tmp_path / "store.sqlite", tag="full"))
    changes = [line for line in done.stdout.splitlines() if line.startswith("os.")]
    assert done.returncode == 0 and len(changes) <= CHANGES, changes
    assert sum(line.startswith("os.rename") for line in changes) == 1
    assert [each.name for each in place.iterdir()] == ["full"]


STORED = 18
"""What a job of a backup into a folder writes to its store at most."""


@pytest.mark.parametrize(
    "at", [*range(9, 14), *(pytest.param(at, marks=pytest.mark.full) for at in (*range(3, 9), *range(14, STORED)))]
)
def test_a_backup_killed_after_a_transaction_of_the_store_is_made_once(
    arena: Arena, tmp_path: Path, place: Path, at: int
) -> None:
    """Also between the end of its entry in the journal and that of its trial."""
    store = tmp_path / "store.sqlite"
    told = {**told_of(arena, place, store), "die_below": None, "die_storing": True}
    killed = drive(**told, die_at=at)
    if killed.returncode == 0 and at > killed.stdout.count("\nstored "):
        pytest.skip("fewer transactions on this engine")
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
    there = [each.name for each in place.iterdir() if each.name.startswith("backup_")]
    with open_store(store) as opened:
        (head,) = opened.list_runs()
    resumed = drive(url=arena.url, store=str(store), resume=head.run)
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    made = [each.name for each in place.iterdir()]
    assert len(made) == 1 and made == (there or made), (killed.stdout, resumed.stdout)
    with open_store(store) as opened:
        record = opened.load_run(head.run)
        assert opened.journal(head.run).open_entries() == ()
    assert record.head.state is RunState.DONE and record.trials[-1].outcome is Outcome.OK, resumed.stdout


def test_a_backup_without_a_tag_that_was_killed_with_its_final_name_is_found_by_that_name(
    arena: Arena, tmp_path: Path, place: Path
) -> None:
    store = tmp_path / "store.sqlite"
    killed = drive(**told_of(arena, place, store), die_at=3)
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
    (made,) = (each for each in place.iterdir() if each.name.startswith("backup_"))
    with open_store(store) as opened:
        (head,) = opened.list_runs()
    resumed = drive(url=arena.url, store=str(store), resume=head.run)
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    assert list(place.iterdir()) == [made], "it was made twice"
    assert made.name == f"backup_{head.run[2:].replace('-', '')}"


def test_a_host_that_cannot_see_the_folder_of_another_goes_on_and_names_it_until_that_one_cleans(
    arena: Arena, tmp_path: Path, place: Path
) -> None:
    store, away = tmp_path / "store.sqlite", tmp_path / "disk of alpha"
    killed = drive(**told_of(arena, place, store), die_at=2, host="alpha")
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
    (staging,) = (each.name for each in place.iterdir())
    place.rename(away)
    place.mkdir()
    with open_store(store) as opened:
        (head,) = opened.list_runs()
        give_up_the_lease(opened, head.run)
    again = {"url": arena.url, "store": str(store)}
    resumed = drive(**again, resume=head.run, host="beta")
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    named = f"backup `{place}/{staging}` is on host `alpha`"
    assert named in resumed.stdout
    cleaned = drive(**again, clean=head.run, host="beta")
    assert named in cleaned.stdout
    (made,) = place.iterdir()
    away_made = away / made.name
    made.rename(away_made)
    place.rmdir()
    away.rename(place)
    cleaned = drive(**again, clean=head.run, host="alpha")
    assert f"dropped backup `{place}/{staging}`" in cleaned.stdout
    assert [each.name for each in place.iterdir()] == [made.name]
    with open_store(store) as opened:
        assert opened.journal(head.run).open_entries() == ()


@pytest.mark.parametrize("woke_up", [False, True])
def test_a_folder_that_two_hosts_share_is_known_by_both(
    arena: Arena, tmp_path: Path, place: Path, woke_up: bool
) -> None:
    """Also where the first of them was only frozen, and went on to remove the folder that it had moved out of."""
    store = tmp_path / "store.sqlite"
    killed = drive(**told_of(arena, place, store), die_at=3, host="alpha")
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
    made, staging = sorted(place.iterdir(), key=lambda each: each.name.startswith("dbatk_"))
    if woke_up:
        shutil.rmtree(staging)
    with open_store(store) as opened:
        (head,) = opened.list_runs()
        give_up_the_lease(opened, head.run)
    resumed = drive(url=arena.url, store=str(store), resume=head.run, host="beta")
    assert resumed.returncode == 0, (resumed.stdout, resumed.stderr)
    assert list(place.iterdir()) == [made]
    with open_store(store) as opened:
        assert opened.journal(head.run).open_entries() == ()
