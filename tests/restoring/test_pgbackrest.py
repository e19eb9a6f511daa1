"""Backups of pgBackRest, restored with the log of its archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.restoring.conftest import Place, metrics, reason
from tests.servers.fixtures import missing
from tests.servers.pgbackrest import STANZA, Cluster, archiving_cluster
from tests.servers.postgresql import NoServer

pytestmark = pytest.mark.postgresql


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    try:
        with archiving_cluster() as found:
            with found.server.connect() as session:
                session.execute("CREATE TABLE orders AS SELECT i AS id FROM generate_series(1, 5000) AS i")
            found.pgbackrest("--type=full", "--start-fast", "backup")
            with found.server.connect() as session:
                session.execute("INSERT INTO orders SELECT i FROM generate_series(5001, 6000) AS i")
                session.execute("SELECT pg_switch_wal()")
            found.pgbackrest("check")
            yield found
    except NoServer as error:
        missing("pgbackrest", str(error))


def _restore(
    cluster: Cluster, place_of: Callable[..., Place], *arguments: str
) -> tuple[Place, int, dict[str, object]]:
    place = place_of(
        "-t", cluster.server.url, "--not-production", "--method", "pgbackrest", "--stanza", STANZA,
        "--backup-config", str(cluster.config),
    )  # fmt: skip
    status, document = place.run("restore", "try", "--destination", str(place.scratch), *arguments)
    return place, status, document


def test_the_newest_backup_is_restored_with_what_was_archived_since(
    cluster: Cluster, place_of: Callable[..., Place]
) -> None:
    place, status, document = _restore(cluster, place_of, "--tables", "orders", "--channels", "2")
    assert status == 0, reason(document)
    assert metrics(document)["proved"] == 1
    assert place.left() == []


@pytest.mark.full
def test_a_broken_repository_is_caught(cluster: Cluster, place_of: Callable[..., Place]) -> None:
    label = cluster.labels()[-1]
    files: list[Path] = sorted((cluster.repository / "backup" / STANZA / label).rglob("*.gz"))
    largest = max(files, key=lambda each: each.stat().st_size)
    content = largest.read_bytes()
    try:
        largest.write_bytes(content[:-100] + bytes(100))
        place, status, document = _restore(cluster, place_of, "--backup-set", label)
    finally:
        largest.write_bytes(content)
    assert status == 3, reason(document)
    assert place.left() == []
