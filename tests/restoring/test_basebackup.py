"""Base backups of a real server: restored, compared, and nothing left; refused before anything is written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.restoring.conftest import Place, metrics, reason, trial
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.executors import programs

pytestmark = pytest.mark.postgresql


@pytest.fixture
def check(tmp_path: Path) -> Callable[[str], tuple[str, str]]:
    def written(query: str) -> tuple[str, str]:
        file = tmp_path / "check.sql"
        file.write_text(query)
        return ("--check", str(file))

    return written


@pytest.mark.parametrize("form", thinned(["plain", "tar", "gzip"], 3))
def test_a_backup_is_restored_compared_checked_and_removed(
    postgresql: Place, backups: Path, check: Callable[[str], tuple[str, str]], form: str
) -> None:
    sane = check("SELECT 'orders', count(*) = 3000 FROM restoring.orders UNION ALL SELECT 'public', true")
    status, document = postgresql.restore(backups / form, "--tables", "restoring.orders", *sane, "--rpo", "1h")
    assert status == 0, reason(document)
    found, told = trial(document), metrics(document)
    assert [item["label"] for item in found["items"][1:]] == [  # type: ignore[index]
        "table restoring.orders: the same as on the target", "check orders: true", "check public: true",
    ]  # fmt: skip
    assert told["proved"] == 1
    assert told["recovery_seconds"] == pytest.approx(told["copy_seconds"] + told["start_seconds"])
    assert 0 <= told["recovery_point_age_seconds"] < 3600
    assert told["log_behind_bytes"] >= 0
    assert postgresql.left() == []


@pytest.mark.full
def test_channels_are_swept_and_the_recovery_time_is_what_is_compared(postgresql: Place, backups: Path) -> None:
    status, document = postgresql.restore(backups / "plain", "--channels", "1,2", "--repeat", "1", "--warmup", "0")
    assert status == 0, reason(document)
    trials = document["trials"]
    assert isinstance(trials, list)
    assert {(each["requested_degree"], each["granted_degree"]) for each in trials} == {(1, 1), (2, 2)}
    assert postgresql.left() == []


def test_the_scratch_server_reaches_nobody(
    postgresql: Place, backups: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings, connections and processes while it is open, whatever the backup's configuration says."""
    hostile = postgresql.folder / "hostile"
    shutil.copytree(backups / "plain", hostile, copy_function=shutil.copy2)
    (hostile / "postgresql.auto.conf").write_text(
        "archive_mode = on\narchive_command = 'touch /tmp/dbatk-reached-out'\nlisten_addresses = '*'\n"
        "shared_preload_libraries = 'no_such_library'\nprimary_conninfo = 'host=127.0.0.1'\n"
    )
    names: list[str] = []
    inet: list[object] = []
    run = programs.Programs.run

    def watched(self, step, access, judge):  # type: ignore[no-untyped-def]
        if step.name.endswith("restore_check"):
            for process in psutil.process_iter(["name"]):
                try:
                    inside = process.cwd().startswith(str(postgresql.scratch))
                    if inside:
                        names.append(" ".join(process.cmdline()))
                        inet.extend(process.net_connections("inet"))
                except psutil.Error:
                    continue
        return run(self, step, access, judge)

    monkeypatch.setattr(programs.Programs, "run", watched)
    query = tmp_path / "settings.sql"
    wanted = {
        "listen_addresses": "", "archive_mode": "off", "primary_conninfo": "", "shared_preload_libraries": "",
        "max_wal_senders": "0", "max_logical_replication_workers": "0", "default_transaction_read_only": "on",
    }  # fmt: skip
    query.write_text(" UNION ALL ".join(
        f"SELECT '{name}', current_setting('{name}') = '{value}'" for name, value in wanted.items()
    ))  # fmt: skip
    status, document = postgresql.restore(hostile, "--check", str(query))
    assert status == 0, reason(document)
    assert names
    assert inet == []
    assert not [name for name in names if any(word in name for word in ("archiver", "walsender", "walreceiver"))]
    assert not [name for name in names if "logical replication" in name]
    assert not Path("/tmp/dbatk-reached-out").exists()
    assert postgresql.left() == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("query", "sentence"),
    thinned(
        [
            ("SELECT 'orders', count(*) > 1000000 FROM restoring.orders", "the check `orders` is f"),
            ("SELECT NULL::boolean", "the query of --check` is NULL"),
            ("SELECT count(*) > 0 FROM restoring.later", 'relation "restoring.later" does not exist'),
            ("SELECT true WHERE false", "returned no row"),
            ("SELECT 1/0 = 1", "division by zero"),
        ],
        4,
    ),
)
def test_a_check_that_is_not_true_fails_the_restore(
    postgresql: Place, backups: Path, check: Callable[[str], tuple[str, str]], query: str, sentence: str
) -> None:
    status, document = postgresql.restore(backups / "plain", *check(query))
    assert (status, sentence in reason(document)) == (3, True), reason(document)
    assert postgresql.left() == []


@pytest.mark.full
def test_a_table_that_was_written_since_is_not_the_same(postgresql: Place, backups: Path, loaded: Server) -> None:
    with loaded.connect() as session:
        session.execute("UPDATE restoring.orders SET name = 'x' WHERE id = 7")
        try:
            status, document = postgresql.restore(backups / "plain", "--tables", "restoring.orders")
        finally:
            session.execute("UPDATE restoring.orders SET name = md5('7') WHERE id = 7")
    assert status == 3
    assert "table `restoring.orders` has other values on the copy" in reason(document)


@pytest.mark.full
def test_a_stale_backup_and_a_slow_restore_fail_by_their_objectives(postgresql: Place, backups: Path) -> None:
    status, document = postgresql.restore(backups / "plain", "--rpo", "0.01s", "--rto", "0.01s")
    assert status == 3
    assert "older than --rpo 0.01s allows" in reason(document)
    status, document = postgresql.restore(backups / "plain", "--rto", "0.01s")
    assert status == 3
    assert "longer than --rto 0.01s allows" in reason(document)
    assert postgresql.left() == []


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (("--backup", "/nowhere"), 2, "there is no folder `/nowhere`"),
        (("--backup", "relative"), 2, "there is no folder"),
        (("--backup", "{backup}", "--backup-set", "20260101-000000F"), 2, "is for pgBackRest"),
        (("--method", "pgbackrest"), 2, "needs a stanza"),
        (("--method", "pgbackrest", "--stanza", "a b"), 2, "not a valid stanza name"),
        (("--method", "pgbackrest", "--stanza", "a", "--backup-set", "x"), 2, "is not the label"),
        (("--method", "pgbackrest", "--stanza", "a", "--backup", "/b"), 2, "is a folder"),
        (("--backup", "{odd}"), 2, "holds no base backup"),
        (("--backup", "{dump}"), 2, "holds a dump, no base backup"),
        (("--backup", "{backup}", "--destination", "{backup}"), 5, "is inside the backup"),
        (("--backup", "{backup}", "--destination", "/nowhere"), 2, "no folder `/nowhere`"),
        (("--backup", "{backup}", "--tables", "nobody"), 2, "does not exist"),
        (("--backup", "{backup}", "--stanza", "demo"), 2, "is for pgBackRest"),
        (("--backup", "{tar}", "--channels", "9"), 5, "a tar file is unpacked by one channel"),
        (("--backup", "{backup}", "--run-as", "nobody_at_all"), 2, "nobody_at_all"),
        (("--backup", "{backup}", "--destination", "{odd}"), 2, "use a shell"),
        (("--backup", "{backup}", "--destination", "{long}"), 2, "longer than the 107 bytes"),
    ],
)
def test_what_cannot_be_right_is_refused_before_anything_is_written(
    postgresql: Place, backups: Path, arguments: tuple[str, ...], status: int, sentence: str
) -> None:
    odd, long = postgresql.folder / "o'dd", postgresql.folder / ("x" * 100)
    odd.mkdir()
    long.mkdir()
    dump = postgresql.folder / "dump"
    dump.mkdir()
    (dump / "toc.dat").touch()
    names = {"backup": backups / "plain", "tar": backups / "tar", "odd": odd, "long": long, "dump": dump}
    filled = [each.format(**names) for each in arguments]
    where = () if "--destination" in filled else ("--destination", str(postgresql.scratch))
    found, document = postgresql.run("restore", "try", *filled, *where)
    assert found == status, document
    assert sentence in reason(document)
    assert postgresql.left() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")
def test_root_is_told_which_folder_the_servers_user_may_not_enter(postgresql: Place, backups: Path) -> None:
    closed = postgresql.folder / "closed"
    closed.mkdir(0o700)
    found, document = postgresql.run(
        "restore", "try", "--backup", str(backups / "plain"), "--destination", str(closed)
    )
    assert found == 5
    assert "may not enter" in reason(document)


def test_no_space_is_said_before(postgresql: Place, backups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1 << 20})())
    found, document = postgresql.restore(backups / "plain")
    assert found == 5
    assert "the job needs at once about" in reason(document)
    assert "where only 1.00 MiB are free" in reason(document)
    assert postgresql.left() == []
