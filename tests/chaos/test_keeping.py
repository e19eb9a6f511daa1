"""What a world that failed leaves lasts, though its folder goes."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tests.chaos.world import take_away


def test_what_is_kept_of_a_world_lies_in_another_place_without_sockets_and_pipes(tmp_path: Path) -> None:
    world, lasting = tmp_path / "world", tmp_path / "lasting"
    for folder in (world / "kept", world / "tmp", lasting):
        folder.mkdir(parents=True)
    (world / "kept" / "place.txt").write_text(str(lasting))
    (world / "tmp" / "plan.log").write_text("how it went")
    os.mkfifo(world / "tmp" / "pipe")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(world / "s"))
        take_away(world)
    assert not world.exists()
    assert (lasting / "tmp" / "plan.log").read_text() == "how it went"
    assert sorted(each.name for each in lasting.rglob("*")) == ["kept", "place.txt", "plan.log", "tmp"]


def test_nothing_stays_of_a_world_that_nobody_wants_to_keep(tmp_path: Path) -> None:
    (tmp_path / "world" / "tmp").mkdir(parents=True)
    take_away(tmp_path / "world")
    assert list(tmp_path.iterdir()) == []
