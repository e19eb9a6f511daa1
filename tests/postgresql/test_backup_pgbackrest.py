"""pgBackRest with several processes on a real cluster that archives: a sweep, a job, a restore that proves it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers.fixtures import missing
from tests.servers.pgbackrest import STANZA, Cluster, archiving_cluster
from tests.servers.postgresql import NoServer
from toolkit.cli.main import main
from toolkit.dialects.postgresql.backup import pgbackrest
from toolkit.dialects.work import Work
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind

ROWS = 40_000
PROOF = "SELECT count(*), sum(hashtext(t::text)::bigint) FROM bulk t"
Run = Callable[..., tuple[int, dict[str, object]]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    try:
        with archiving_cluster() as made:
            with made.server.connect() as session:
                session.execute(
                    "CREATE TABLE bulk AS SELECT i AS id, md5(i::text) AS noise, repeat('words ', 20) AS words "
                    f"FROM generate_series(1, {ROWS}) i"
                )
            yield made
    except NoServer as error:
        missing("pgbackrest", str(error))


@pytest.fixture
def backup(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run `dbatk backup run --method pgbackrest` in this process."""
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))

    def run(*arguments: str) -> tuple[int, dict[str, object]]:
        capsys.readouterr()
        common = ("-t", cluster.server.url, "--not-production", "--method", "pgbackrest", "--snapshot", "none")
        status = main(["backup", "run", *common, "--json", *arguments])
        return status, json.loads(capsys.readouterr().out)

    return run


def trials(document: dict[str, object]) -> list[dict[str, object]]:
    found = document["trials"]
    assert isinstance(found, list)
    return found


@pytest.mark.full
def test_a_sweep_of_processes_and_compressions_leaves_the_real_repository_alone(
    backup: Run, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "trials"
    place.mkdir()
    # what a DBA's shell may hold must not lead a trial into the real repository
    monkeypatch.setenv("PGBACKREST_REPO1_PATH", str(cluster.repository))
    monkeypatch.setenv("PGBACKREST_STANZA", STANZA)
    before = sorted(str(each) for each in cluster.repository.rglob("*") if "archive" not in each.parts)
    status, document = backup(
        "--channels", "1,2", "--compression", "none,zstd", "--destination", str(place), "--repeat", "1",
        "--warmup", "0",
    )  # fmt: skip
    found = trials(document)
    assert status == 0, [each["reason"] for each in found]
    assert {each["outcome"] for each in found} == {"ok"}
    for each in found:
        factors, items = each["factors"], each["items"]
        assert isinstance(factors, dict)
        assert isinstance(items, list)
        assert (each["requested_degree"], each["granted_degree"]) == (factors["channels"], factors["channels"])
        workers = {item["worker"] for item in items if item["bytes"]}
        assert workers == set(range(factors["channels"]))
        assert all(item["begin_seconds"] >= 0 and item["elapsed_seconds"] >= 0 for item in items if item["bytes"])
    sizes = {each["factors"]["compression"]: each["bytes"] for each in found}  # type: ignore[index]
    assert sizes["zstd"] < 0.7 * sizes["none"]
    assert list(place.iterdir()) == []
    assert sorted(str(each) for each in cluster.repository.rglob("*") if "archive" not in each.parts) == before


def test_a_job_goes_into_the_stanza_expires_nothing_and_restores(backup: Run, cluster: Cluster) -> None:
    for _ in range(3):
        status, document = backup(
            "--stanza", STANZA, "--backup-config", str(cluster.config), "--channels", "2", "--compression", "zstd",
            "--checkpoint", "fast",
        )  # fmt: skip
        assert status == 0, [each["reason"] for each in trials(document)]
        assert "checkpoint" not in str(document["warnings"])
    # the configuration keeps two full backups, but a job deletes nothing
    assert len(cluster.labels()) == 3
    items = trials(document)[0]["items"]
    assert isinstance(items, list)
    assert f"backup {cluster.labels()[-1]}" in {item["label"] for item in items}
    with cluster.server.connect() as session:
        expected = session.execute(PROOF).fetchone()
    with cluster.restored() as copy, copy.connect() as session:
        assert session.execute(PROOF).fetchone() == expected
        assert expected is not None
        assert expected[0] == ROWS


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ((), 2, "needs a stanza"),
        (("--stanza", "a b"), 2, "is not a valid stanza name"),
        (("--stanza", "-x"), 2, "is not a valid stanza name"),
        (("--stanza", "demo", "--destination", "/tmp"), 2, "configuration sets the destination"),
        (("--stanza", "demo", "--backup-config", "/nowhere.conf"), 2, "does not exist"),
        (("--stanza", "demo", "--compression", "brotli"), 5, "none, gzip, lz4, zstd, bzip2"),
        (("--stanza", "demo", "--compression", "gzip", "--compression-level", "22"), 5, "0 to 9"),
        (("--stanza", "demo", "--file-format", "tar"), 5, "is for pg_basebackup"),
        (("--destination", "/tmp", "--repeat", "1", "--stanza", "demo"), 2, "its own stanza"),
        (("--destination", "/tmp", "--repeat", "1", "--keep", "best"), 2, "--keep best"),
    ],
)
def test_what_a_stanza_cannot_have_is_refused(
    backup: Run, arguments: tuple[str, ...], status: int, sentence: str
) -> None:
    found, document = backup(*arguments)
    error = document["error"]
    assert isinstance(error, dict)
    assert sentence in error["message"]
    assert (found, bool(error["hint"])) == (status, True)


def test_a_stanza_that_is_not_there_fails_with_the_words_of_pgbackrest(backup: Run, cluster: Cluster) -> None:
    status, document = backup("--stanza", "other", "--backup-config", str(cluster.config))
    (found,) = trials(document)
    assert (status, found["outcome"]) == (3, "failed")
    (told,) = (str(each) for each in document["warnings"] if "checkpoint" in str(each))  # type: ignore[attr-defined]
    assert "unless its configuration has `start-fast`" in told and "checkpoint_timeout (5min)" in told
    assert str(found["reason"]).startswith("pgbackrest: ")
    assert str(found["error_code"]).startswith("pgBackRest [")


# -- without a cluster -----------------------------------------------------------------------------------------
LOG = """
2026-11-21 21:58:01.100 P00   INFO: backup command begin 2.45: --process-max=2
2026-11-21 21:58:01.720 P00   INFO: backup start archive = 000000010000000000000005, lsn = 0/5000028
2026-11-21 21:58:02.366 P02 DETAIL: backup file /pg/base/5/1255 (768KB, 1.22%) checksum b7a9
2026-11-21 21:58:02.500 P01 DETAIL: backup file /pg/base/5/2838 (1.5GB, 2.45%) checksum b7a9
2026-11-21 21:58:03.366 P02 DETAIL: backup file /pg/base/5/with (blank) (12B, 2.5%) checksum b7a9
2026-11-21 21:58:03.877 P00   INFO: new backup label = 20261121-215801F
"""


def work(degree: int) -> Work:
    ref = ObjectRef(ObjectKind.BACKUP, QualifiedName("dbatk_x_1", "/b"), scratch=True)
    return Work("backup", Mode.MEASUREMENT, ref, {"channels": degree}, degree=degree)


def kept(text: str) -> dict[str, tuple[dict[str, str], ...]]:
    return {"log": tuple({"line": line} for line in text.splitlines())}


@pytest.mark.full
def test_each_file_has_its_process_its_size_and_begins_when_its_process_was_free() -> None:
    items = pgbackrest.tell(work(2), kept(LOG), 3.0).items
    assert [(item.label, item.worker, item.bytes) for item in items] == [
        ("/pg/base/5/1255", 1, 768 * 1024),
        ("/pg/base/5/2838", 0, int(1.5 * 2**30)),
        ("/pg/base/5/with (blank)", 1, 12),
    ]
    spans = [(round(item.begin_seconds or 0, 3), round(item.elapsed_seconds or 0, 3)) for item in items]
    assert spans == [(0.62, 0.646), (0.62, 0.78), (1.266, 1.0)]


@pytest.mark.full
def test_fewer_processes_than_asked_for_are_a_downgrade_and_no_log_is_no_claim() -> None:
    granted = pgbackrest.granted(work(4), kept(LOG))
    assert (granted.degree, granted.sentence) == (2, "2 of 4 processes copied files")
    assert pgbackrest.granted(work(2), kept(LOG)).degree == 2
    assert pgbackrest.granted(work(2), kept("")).degree is None
