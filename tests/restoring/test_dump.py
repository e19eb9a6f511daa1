"""Dumps of pg_dump, made and restored by the command line: compared, corrupted, killed, and nothing left."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from tests.restoring.conftest import Place, metrics, reason, trial
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.model.steps import SUMS

pytestmark = pytest.mark.postgresql

TABLE = "restoring.orders"


@pytest.fixture
def made(postgresql: Place) -> Path:
    """A dump of the schema, as a job of dbatk leaves it."""
    status, document = postgresql.run(
        "backup", "run", "--method", "pg_dump", "--scope", "schema", "--of", "restoring", "--compression", "gzip",
        "--destination", str(postgresql.folder), "--tag", "dump",
    )  # fmt: skip
    assert status == 0, reason(document)
    return postgresql.folder / "dump"


def test_a_dump_is_restored_compared_and_removed(postgresql: Place, made: Path) -> None:
    status, document = postgresql.restore(made, "--method", "pg_dump", "--tables", TABLE, "--rpo", "1h")
    assert status == 0, reason(document)
    found, told = trial(document), metrics(document)
    assert f"table {TABLE}: the same as on the target" in {item["label"] for item in found["items"]}  # type: ignore[attr-defined]
    assert told["proved"] == 1
    assert told["recovery_seconds"] == told["copy_seconds"]
    assert told["make_seconds"] > 0
    assert 0 <= told["recovery_point_age_seconds"] < 3600
    assert postgresql.left() == []


@pytest.mark.full
@pytest.mark.parametrize("sealed", [True, False])
def test_the_recovery_point_is_right_in_any_zone(
    postgresql: Place, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, sealed: bool
) -> None:
    """A dump holds the time of a clock without its zone: UTC in ours, that of the host in any other."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        if sealed:
            made = request.getfixturevalue("made")
        else:
            made = postgresql.folder / "by hand"
            server: Server = request.getfixturevalue("loaded")
            subprocess.run(
                [f"{server.bin_dir}/pg_dump", "-Fd", "-f", str(made), "-n", "restoring", "-h", server.host, "-p",
                 str(server.port), "-U", server.user, server.database],
                check=True,
            )  # fmt: skip
        status, document = postgresql.restore(made, "--method", "pg_dump", "--rpo", "1h")
        assert status == 0, reason(document)
        assert metrics(document)["recovery_point_age_seconds"] < 3600
        assert metrics(document)["proved"] == sealed
        point = next(each for each in trial(document)["metrics"] if each["name"] == "recovery_point_age_seconds")  # type: ignore[attr-defined]
        told = datetime.strptime(point["source"], "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
        assert abs(datetime.now(UTC) - told) < timedelta(hours=1)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.full
def test_sessions_are_swept_and_those_without_a_table_are_not_granted(postgresql: Place, made: Path) -> None:
    """One table has rows: two sessions never work at once."""
    status, document = postgresql.restore(
        made, "--method", "pg_dump", "--channels", "1,2", "--repeat", "1", "--warmup", "0"
    )
    assert status == 3, reason(document)
    trials = document["trials"]
    assert isinstance(trials, list)
    assert {(each["requested_degree"], each["granted_degree"], each["outcome"]) for each in trials} == {
        (1, 1, "ok"), (2, 1, "downgraded"),
    }  # fmt: skip
    assert postgresql.left() == []


@pytest.mark.full
def test_a_database_whose_name_reads_like_settings(place_of: Callable[..., Place], loaded: Server) -> None:
    name = "a='b c"
    with loaded.connect() as session:
        session.execute(f'CREATE DATABASE "{name}"')
    try:
        with psycopg.connect(host=loaded.host, port=loaded.port, user=loaded.user, dbname=name) as session:
            session.execute("CREATE TABLE t AS SELECT generate_series(1, 100) AS i")
        url = f"{loaded.url.rpartition('/')[0]}/{quote(name, safe='')}"
        place = place_of("-t", url, "--not-production", "--bin-dir", str(loaded.bin_dir))
        where = ("--destination", str(place.folder), "--tag", "odd")
        status, document = place.run("backup", "run", "--method", "pg_dump", *where)
        assert status == 0, reason(document)
        status, document = place.restore(place.folder / "odd", "--method", "pg_dump", "--tables", "t")
        assert status == 0, reason(document)
        assert place.left() == []
    finally:
        with loaded.connect() as session:
            session.execute(f'DROP DATABASE "{name}"')


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.thin(2)
@pytest.mark.parametrize("harm", thinned(["flip", "cut", "lost", "toc", "unsealed cut"], 4))
def test_a_broken_dump_is_caught(postgresql: Place, made: Path, harm: str) -> None:
    data = max((each for each in made.iterdir() if each.name not in ("toc.dat", SUMS)), key=os.path.getsize)
    if harm == "flip":
        flip(data)
    elif harm == "toc":
        flip(made / "toc.dat")
    elif harm == "lost":
        data.unlink()
    else:
        os.truncate(data, data.stat().st_size // 2)
    if harm == "unsealed cut":
        (made / SUMS).unlink()
    status, document = postgresql.restore(made, "--method", "pg_dump", "--tables", TABLE)
    assert (status, trial(document)["outcome"]) == (3, "failed"), document
    assert postgresql.left() == []


@pytest.mark.full
def test_a_table_that_was_written_since_is_named(postgresql: Place, made: Path, loaded: Server) -> None:
    with loaded.connect() as session:
        session.execute(f"UPDATE {TABLE} SET name = 'other' WHERE id = 7")
    status, document = postgresql.restore(made, "--method", "pg_dump", "--tables", TABLE)
    assert status == 3
    assert f"table `{TABLE}` has other values on the copy than on the target" in reason(document)
    assert postgresql.left() == []


def test_what_is_no_dump_is_refused(postgresql: Place, made: Path) -> None:
    shutil.copytree(made, postgresql.folder / "no-toc", ignore=shutil.ignore_patterns("toc.dat"))
    for folder, more in ((postgresql.folder / "no-toc", ()), (made, ("--stanza", "x"))):
        status, document = postgresql.restore(folder, "--method", "pg_dump", *more)
        assert status == 2, document
    assert postgresql.left() == []
