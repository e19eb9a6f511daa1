"""kill -9 in every phase of a restore: then `clean` ends the scratch server and removes what there is."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.restoring.conftest import Place, target_of
from tests.servers import forks
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.cli.main import main

pytestmark = pytest.mark.postgresql
_SECONDS = 120


def _server_of(place: Place) -> bool:
    """Tell whether a scratch server is there: a process that works in the copy."""
    return any("/backup" in each for each in place.left() if " in " in each)


MOMENTS: dict[str, Callable[[Place], bool]] = {
    "the folder is there": lambda place: bool(list(place.scratch.iterdir())),
    "files are copied": lambda place: bool(list(place.scratch.glob("*/backup/*"))),
    "the copy is verified": lambda place: bool(list(place.scratch.glob("*/backup/backup_manifest"))),
    "the configuration is written": lambda place: bool(list(place.scratch.glob("*/socket"))),
    "the server begins": lambda place: bool(list(place.scratch.glob("*/server.log"))),
    "the server is there": _server_of,
    "the server is open": lambda place: bool(list(place.scratch.glob("*/socket/.s.PGSQL.*"))),
}


@pytest.mark.parametrize("moment", thinned(list(MOMENTS), 12))
def test_clean_leaves_no_server_and_no_folder(
    postgresql: Place,
    backups: Path,
    loaded: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    moment: str,
) -> None:
    check = tmp_path / "slow.sql"
    check.write_text("SELECT 'slow', pg_sleep(60) IS NOT NULL")
    process = forks.Forked(
        "toolkit", "restore", "try", *target_of(loaded), "--backup", str(backups / "plain"), "--destination",
        str(postgresql.scratch), "--check", str(check), "--snapshot", "none", env=dict(os.environ),
    )  # fmt: skip
    until = time.monotonic() + _SECONDS
    while not MOMENTS[moment](postgresql):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < until
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=_SECONDS)
    capsys.readouterr()
    status = main(["clean", "-t", loaded.url, "--json"])
    assert status == 0, capsys.readouterr().out
    assert json.loads(capsys.readouterr().out or "{}").get("left", []) == []
    assert postgresql.left() == []
    assert not [each for each in psutil.process_iter() if _of_this(each, postgresql)]


def _of_this(process: psutil.Process, place: Place) -> bool:
    try:
        return any(str(place.scratch) in word for word in process.cmdline())
    except psutil.Error:
        return False
