"""Whatever moment a purge is killed at, a resume leaves every row worked on once (`tests.series.purge`)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.series.purge import WAYS, Played, duckdb_place, places, play, postgresql_place
from tests.servers.postgresql import Server

pytestmark = pytest.mark.full
SEED = 1


def test_a_killed_purge_on_duckdb_is_resumed_with_each_row_once(tmp_path: Path) -> None:
    place, chance, played = duckdb_place(tmp_path), random.Random(SEED), Played()
    for way in WAYS:
        folder = tmp_path / way.name.replace(" ", "-")
        folder.mkdir()
        play(place, way, chance, folder, played)
    assert played.wrong == [] and played.killed


@pytest.mark.postgresql
def test_a_killed_purge_on_postgresql_is_resumed_with_each_row_once(
    postgresql_server: Server, tmp_path: Path
) -> None:
    place, chance, played = postgresql_place(postgresql_server), random.Random(SEED), Played()
    for way in WAYS:
        folder = tmp_path / way.name.replace(" ", "-")
        folder.mkdir()
        play(place, way, chance, folder, played)
    place.ask("DROP SCHEMA kills CASCADE")
    assert played.wrong == [] and played.killed


def test_a_killed_purge_on_oracle_is_resumed_with_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBATK_PASSWORD", "")  # put back afterwards
    chance, played = random.Random(SEED), Played()
    with places("oracle", tmp_path) as place:
        for way in WAYS:
            folder = tmp_path / way.name.replace(" ", "-")
            folder.mkdir()
            play(place, way, chance, folder, played)
    assert played.wrong == [] and played.killed
