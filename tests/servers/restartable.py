"""A PostgreSQL cluster that `pg_ctl` restarts, as the profile of a DBA says: for settings that need a restart."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.servers import postgresql

_CONFIGURED = "port={port}\nlisten_addresses='127.0.0.1'\nunix_socket_directories='{folder}'\nautovacuum=off\n"
FORMER = "24MB"
"""What ALTER SYSTEM has set `shared_buffers` to."""


class Restartable:
    """A cluster that `pg_ctl` starts, stops and restarts, as the profile of a DBA would."""

    def __init__(self, folder: Path) -> None:
        self.bin = next(iter(postgresql.installed().values()))
        self.user = postgresql.unprivileged()
        self.folder, self.data, self.port = folder, folder / "data", postgresql.free_port()
        folder.chmod(0o711)
        if self.user is not None:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        self._run("initdb", "-D", str(self.data), *postgresql.CLUSTER)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(_CONFIGURED.format(port=self.port, folder=folder))
        self._run("pg_ctl", *self._options, "start")
        with self.connect() as session:
            session.execute(f"ALTER SYSTEM SET shared_buffers = '{FORMER}'")
            session.execute("CREATE TABLE small AS SELECT g AS i FROM generate_series(1, 2000) g")
        self._run("pg_ctl", *self._options, "restart")

    @property
    def _options(self) -> tuple[str, ...]:
        return ("-D", str(self.data), "-l", str(self.folder / "log"), "-w", "-t", "60", "-m", "fast")

    def _run(self, name: str, *arguments: str) -> None:
        run_as = postgresql.as_user(self.user)
        subprocess.run([self.bin / name, *arguments], check=True, capture_output=True, cwd=self.folder, **run_as)

    @property
    def restart(self) -> list[str]:
        """The command for the profile."""
        as_user = (
            [] if self.user is None else [shutil.which("runuser") or "runuser", "-u", self.user.pw_name, "--"]
        )
        return [*as_user, str(self.bin / "pg_ctl"), *self._options, "restart"]

    @property
    def url(self) -> str:
        return f"postgresql://dbatk@127.0.0.1:{self.port}/postgres"

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="dbatk", dbname="postgres", autocommit=True, connect_timeout=5
        )

    def state(self) -> tuple[object, ...]:
        """What must be as before: the value, what ALTER SYSTEM wrote, and the tables."""
        with self.connect() as session:
            value = session.execute("SHOW shared_buffers").fetchone()
            tables = session.execute("SELECT relname FROM pg_class WHERE relname LIKE 'dbatk%'").fetchall()
        lines = (self.data / "postgresql.auto.conf").read_text().splitlines()
        return value, tuple(line for line in lines if not line.startswith("#")), tables

    def stop(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop")

    def write_profile(self, config: Path) -> None:
        """Write the profile `pg`, with the command that restarts the server."""
        config.mkdir(mode=0o700, exist_ok=True)
        argv = ", ".join(f'"{part}"' for part in self.restart)
        profile = config / "targets.toml"
        profile.write_text(f'[targets.pg]\nurl = "{self.url}"\nproduction = false\nrestart = [{argv}]\n')
        profile.chmod(0o600)


AS_BEFORE = (FORMER,), (f"shared_buffers = '{FORMER}'",), []
"""What `Restartable.state` says where everything was restored."""


@contextmanager
def restartable(place: Path) -> Iterator[Restartable]:
    """Run such a server in a folder; it is stopped at the end."""
    folder = place / "server"
    folder.mkdir()
    for above in (place, *place.parents):
        with suppress(PermissionError):
            if above.stat().st_uid == os.geteuid() and above != Path("/"):
                above.chmod(above.stat().st_mode | 0o011)
    server = Restartable(folder)
    try:
        yield server
    finally:
        server.stop()
