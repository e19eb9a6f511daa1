"""A PostgreSQL that archives into a pgBackRest repository, and the proof that one of its backups restores.

Debian 12's pgBackRest (2.45) knows PostgreSQL up to 15, so the server is Debian's, not the pip wheel's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.servers.postgresql import NoServer, Server, as_user, begun_from, serving, unprivileged
from tests.tidy import short_folder

STANZA = "demo"
NEWEST_KNOWN = 15


@dataclass(frozen=True, slots=True)
class Cluster:
    """A server, the configuration of its stanza, and the repository."""

    server: Server
    config: Path
    repository: Path

    def pgbackrest(self, *arguments: str) -> str:
        """Run pgBackRest with the stanza's configuration, as the owner of the server's files."""
        return _run(self.config, arguments)

    def labels(self) -> list[str]:
        """Return the labels of the backups in the repository."""
        folder = self.repository / "backup" / STANZA
        return sorted(each.name for each in folder.iterdir() if each.is_dir() and each.name[:1].isdigit())

    @contextlib.contextmanager
    def restored(self) -> Iterator[Server]:
        """Restore the newest backup into a new place, recovered from the archive, and begin a server there."""
        assert self.server.bin_dir is not None
        with _folder("restored-") as folder:
            data = folder / "data"
            data.mkdir(0o700)
            shutil.chown(data, folder.owner())
            command = [
                "pgbackrest",
                f"--config={self.config}",
                f"--stanza={STANZA}",
                f"--pg1-path={data}",
                "restore",
            ]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            with serving(self.server.bin_dir, data, folder, {"archive_mode": "off"}) as server:
                yield server


def _run(config: Path, arguments: tuple[str, ...]) -> str:
    command = ["pgbackrest", f"--config={config}", f"--stanza={STANZA}", *arguments]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd="/", timeout=600, **as_user(unprivileged())
    )
    return done.stdout


@contextlib.contextmanager
def _folder(prefix: str) -> Iterator[Path]:
    """Make a folder of the server's user, removed at the end."""
    folder, user = short_folder(prefix), unprivileged()
    try:
        folder.chmod(0o711)
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def archiving_cluster() -> Iterator[Cluster]:
    """Give a server that archives into a stanza of its own.

    Raises:
        NoServer: pgBackRest, or a server that it knows, is not installed.
    """
    bin_dir = Path(f"/usr/lib/postgresql/{NEWEST_KNOWN}/bin")
    if shutil.which("pgbackrest") is None or not (bin_dir / "initdb").exists():
        raise NoServer("no pgBackRest with a PostgreSQL 15 here: apt-get install pgbackrest postgresql-15")
    with _folder("pgbackrest-") as folder:
        config, repository = folder / "pgbackrest.conf", folder / "repository"
        settings = {
            "archive_mode": "on",
            "archive_command": f"pgbackrest --config={config} --stanza={STANZA} archive-push %p",
            "archive_timeout": "0",
        }
        config.touch(0o644)
        with begun_from(bin_dir, settings) as server:
            config.write_text(_configuration(server, folder, repository))
            _run(config, ("stanza-create",))
            yield Cluster(server, config, repository)


def _configuration(server: Server, folder: Path, repository: Path) -> str:
    return (
        f"[global]\nrepo1-path={repository}\nrepo1-retention-full=2\nlock-path={folder}/lock\nlog-level-file=off\n"
        f"[{STANZA}]\npg1-path={server.data}\npg1-port={server.port}\npg1-socket-path={server.data.parent}\n"
        f"pg1-user={server.user}\n"
        if server.data is not None
        else ""
    )
