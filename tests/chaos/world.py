"""What the plan works in: a server behind a network that can fail, a file and a store on small disks, a clock."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import psycopg

from tests.chaos.plan import FILE, MORE, ROWS, SERVER, backups, plan_text
from tests.chaos.proxy import Proxy
from tests.servers import forks
from tests.servers.parent import die_with_parent
from tests.servers.postgresql import PASSWORD_USER, Server, as_user, begun_from, unprivileged
from tests.tidy import short_folder

ROOT = Path(__file__).resolve().parents[2]
_DRIVER = "tests.chaos.driver"
DISK_BYTES = 192 * 1024 * 1024
_ANSWER_SECONDS = 60
_KEPT, _PLACE = "kept", "place.txt"
_PROFILES = """[targets.{server}]
url = "postgresql://{user}@127.0.0.1:{port}/postgres"
password = {{env = "CHAOS_PASSWORD"}}
production = false
options = {{bin_dir = "{programs}"}}

[targets.{file}]
url = "duckdb:///{path}"
production = false
"""


class Disk:
    """A folder on a small file system of its own where this user may mount one; else files may not grow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        options = f"size={DISK_BYTES},mode=0700"
        mount = shutil.which("mount")
        command = [mount or "mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        self.is_small = (
            mount is not None
            and os.geteuid() == 0
            and subprocess.run(command, capture_output=True, check=False).returncode == 0
        )

    @contextlib.contextmanager
    def full(self, process: int) -> Iterator[None]:
        """Leave no room: on the disk, or (where it is everybody's) to the files of one process."""
        if not self.is_small:
            with _not_growing(process, self._largest()):
                yield
            return
        ballast = self.folder / "ballast"
        try:
            with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * 65536)
            yield
        finally:
            ballast.unlink()

    def _largest(self) -> int:
        return max((each.stat().st_size for each in self.folder.iterdir() if each.is_file()), default=0)

    def close(self) -> None:
        if self.is_small:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@contextlib.contextmanager
def _not_growing(process: int, size: int) -> Iterator[None]:
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_FSIZE, before)


_LASTING = ThreadPoolExecutor(1)
"""Begins servers: one dies with the thread that began it, which therefore lasts as long as the tests."""


class Restartable:
    """A server that is killed and begun again, on the same port and the same files."""

    def __init__(self, server: Server) -> None:
        assert server.process is not None and server.data is not None
        self._server, self._process = server, server.process
        self._command, self._folder = server.process.args, server.data.parent

    def kill(self, *, at_once: bool) -> None:
        """Kill -9 the server and its processes, or let it end without a checkpoint."""
        if at_once:
            children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
            self._process.kill()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
        else:
            self._process.send_signal(signal.SIGQUIT)
        self._process.wait(30)

    def processes(self) -> list[int]:
        """The server and its processes, as they are now."""
        import psutil

        server = psutil.Process(self._process.pid)
        return [server.pid, *(each.pid for each in server.children(recursive=True))]

    def begin(self) -> None:
        """Begin it again, and wait until it has recovered."""
        until = time.monotonic() + _ANSWER_SECONDS
        while True:
            if self._process.poll() is not None:
                self._process = _LASTING.submit(self._started).result()
            try:
                self._server.connect(connect_timeout=5).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return

    def _started(self) -> subprocess.Popen[bytes]:
        with (self._folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                self._command, stdout=log, stderr=log, cwd=self._folder, start_new_session=True,
                **as_user(unprivileged()),
                preexec_fn=functools.partial(die_with_parent, signal.SIGQUIT),  # noqa: PLW1509 - as in `serving`
            )  # fmt: skip

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)


@dataclass(slots=True)
class World:
    """Everything around the plan; `epochs` count how often its data was made anew."""

    folder: Path
    server: Server
    postgresql: Restartable
    proxy: Proxy
    store_disk: Disk
    file_disk: Disk
    server_disk: Disk
    log_disk: Disk
    epoch: int = 0
    closes_at: float | None = None
    """When the window closes, by a clock that only goes forward; None where no fault moved it there."""
    twins: list[forks.Forked | subprocess.Popen[str]] = field(default_factory=list)
    forking: forks.OwnServer | None = None
    """Begins `dbatk` under the clock."""

    @property
    def store(self) -> Path:
        return self.store_disk.folder / "store.sqlite"

    @property
    def duckdb(self) -> Path:
        return self.file_disk.folder / f"data_{self.epoch}.duckdb"

    @property
    def schema(self) -> str:
        return f"chaos_{self.epoch}"

    @property
    def plan(self) -> str:
        return f"chaos-{self.epoch}"

    @property
    def backups(self) -> Path:
        """Where the backups of this epoch go, each step's into a folder of its own."""
        return self.folder / "backups" / str(self.epoch)

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def logs(self) -> Path:
        """Where the logs of the nights are; `DBATK_CHAOS_LOGS` names a folder in which they stay."""
        return Path(os.environ.get("DBATK_CHAOS_LOGS") or self.folder / "logs")

    @property
    def secret(self) -> str:
        assert self.server.password is not None
        return self.server.password

    def set_clock(self, instant: datetime) -> None:
        """Let the clock of `dbatk` show an instant, now."""
        self._ahead((instant - datetime.now(UTC)).total_seconds())

    def move_clock(self, seconds: float) -> None:
        """Let the clock of `dbatk` jump."""
        self._ahead(float((self.folder / "clock").read_text()) + seconds)

    def window_end(self) -> datetime:
        """Return when the window of the plan closes next, by the clock of `dbatk`."""
        shown = datetime.now(UTC) + timedelta(seconds=float((self.folder / "clock").read_text()))
        closes = shown.replace(hour=6, minute=0, second=0, microsecond=0)
        return closes if closes > shown else closes + timedelta(days=1)

    def keep(self) -> Path:
        """Let logs, plans, the store and the DuckDB file stay when all is over, and the names of the backups.

        Returns:
            Where they are then; the folder itself may lie in memory, and goes.
        """
        kept = self.folder / _KEPT
        lasting = tempfile.mkdtemp(prefix="dbatk-chaos-", dir="/tmp")
        kept.mkdir()
        (kept / _PLACE).write_text(lasting)
        for disk in (self.store_disk, self.file_disk):
            shutil.copytree(disk.folder, kept / disk.folder.name)
        there = sorted(each for each in self.backups.parent.rglob("*") if each.is_file())
        known = [f"{datetime.fromtimestamp(each.stat().st_mtime, UTC)} {each}\n" for each in there]
        (kept / "backups.txt").write_text("".join(known))
        shutil.rmtree(self.backups.parent)
        return Path(lasting)

    def _ahead(self, seconds: float) -> None:
        new = self.folder / "clock.new"
        new.write_text(str(seconds))
        new.replace(self.folder / "clock")

    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("DBATK_", "PG"))}
        return own | {
            "DBATK_CONFIG": str(self.folder / "config"),
            "DBATK_STORE": str(self.store),
            "CHAOS_PASSWORD": self.secret,
            "CHAOS_CLOCK": str(self.folder / "clock"),
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(self.temporary),
        }

    def begin(self, *arguments: str, **streams: int) -> forks.Forked:
        """Begin `dbatk`."""
        return forks.Forked(
            _DRIVER, *arguments, env=self.environment(), cwd=self.folder, server=self.forking, **streams
        )

    def dbatk(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command in peace."""
        return forks.run(_DRIVER, *arguments, env=self.environment(), cwd=self.folder, server=self.forking)

    def begin_twin(self, host: str | None) -> None:
        """Begin the plan once more while it runs, as from a second scheduler; it is waited for by the night."""
        words = ("run", f"{self.plan}.toml", "--quiet", "--json")
        with (self.folder / f"twin{len(self.twins)}").open("w") as out:
            if host is None:
                self.twins.append(self.begin(*words, output=out.fileno()))
                return
            # it is on another host before it imports anything
            self.twins.append(
                subprocess.Popen(
                    [sys.executable, "-m", _DRIVER, *words], env=self.environment() | {"CHAOS_HOST": host},
                    cwd=self.folder, text=True, stdout=out, stderr=out,
                )
            )  # fmt: skip

    def begin_epoch(self) -> None:
        """Make data that no plan has worked on, and a plan of a new name for it."""
        self.duckdb.unlink(missing_ok=True)
        self.epoch += 1
        with self.server.connect() as session:
            session.execute(f"DROP SCHEMA IF EXISTS chaos_{self.epoch - 1} CASCADE")
            session.execute(f"CREATE SCHEMA {self.schema} AUTHORIZATION {PASSWORD_USER}")
            session.execute(f"SET ROLE {PASSWORD_USER}")
            for name, rows in (("source", ROWS), ("more", MORE)):
                session.execute(
                    f"CREATE TABLE {self.schema}.{name} AS SELECT i AS id, 'word ' || i AS word"
                    f" FROM generate_series(1, {rows}) i"
                )
        with duckdb.connect(str(self.duckdb)) as made:
            for name, rows in (("source", ROWS), ("more", MORE)):
                made.execute(
                    f"CREATE TABLE {name} AS SELECT range AS id, 'word ' || range AS word FROM range({rows})"
                )
        for step in backups():
            (self.backups / step).mkdir(parents=True)
        text = plan_text(self.plan, {SERVER: self.schema, FILE: "main"}, str(self.backups))
        (self.folder / f"{self.plan}.toml").write_text(text)
        profiles = self.folder / "config" / "targets.toml"
        profiles.write_text(
            _PROFILES.format(
                server=SERVER, file=FILE, user=PASSWORD_USER, port=self.proxy.port, path=self.duckdb,
                programs=self.server.bin_dir,
            )
        )  # fmt: skip
        profiles.chmod(0o600)


def put_on_small_disks(postgresql: Restartable, server: Server, *, server_disk: Disk, log_disk: Disk) -> None:
    """Let tables and temporary files go to one small disk, and the write-ahead log to another."""
    user, data = unprivileged(), server.data
    assert data is not None
    for disk in (server_disk, log_disk):
        if user is not None:
            os.chown(disk.folder, user.pw_uid, user.pw_gid)
    with server.connect() as session:
        session.execute(f"CREATE TABLESPACE small LOCATION '{server_disk.folder}'".encode())
        session.execute(f"GRANT CREATE ON TABLESPACE small TO {PASSWORD_USER}".encode())
        session.execute(f"ALTER ROLE {PASSWORD_USER} SET default_tablespace = small".encode())
        session.execute(f"ALTER ROLE {PASSWORD_USER} SET temp_tablespaces = small".encode())
    postgresql.kill(at_once=False)
    if log_disk.is_small:
        shutil.copytree(data / "pg_wal", log_disk.folder, dirs_exist_ok=True)
        for each in log_disk.folder.rglob("*"):
            if user is not None:
                os.chown(each, user.pw_uid, user.pw_gid)
        shutil.rmtree(data / "pg_wal")
        (data / "pg_wal").symlink_to(log_disk.folder)
    postgresql.begin()


def take_away(folder: Path) -> None:
    """Remove the folder of a world; where it was to be kept, what lies in it is at the lasting place then."""
    place = folder / _KEPT / _PLACE
    try:
        if place.exists():
            shutil.copytree(folder, place.read_text(), symlinks=True, ignore=_no_files, dirs_exist_ok=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _no_files(folder: str, names: list[str]) -> list[str]:
    """Return what cannot be copied: sockets and pipes of processes that were killed."""
    modes = {name: os.lstat(Path(folder, name)).st_mode for name in names}
    return [name for name, mode in modes.items() if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)]


@contextlib.contextmanager
def made_world(bin_dir: Path) -> Iterator[World]:
    """Make a world and take it away again."""
    folder = short_folder("chaos-")
    folder.chmod(0o711)
    (folder / "config").mkdir(mode=0o700)
    (folder / "tmp").mkdir()
    disks: list[Disk] = []
    with contextlib.ExitStack() as ending:
        ending.callback(take_away, folder)
        for name in ("store", "data", "tables", "log"):
            disks.append(Disk(folder / name))
            ending.callback(disks[-1].close)
        server = ending.enter_context(begun_from(bin_dir, {"max_wal_size": "64MB", "min_wal_size": "32MB"}))
        restartable = Restartable(server)
        ending.callback(restartable.stop)
        proxy = Proxy(server.port)
        ending.callback(proxy.close)
        world = World(folder, server, restartable, proxy, *disks)
        put_on_small_disks(restartable, server, server_disk=world.server_disk, log_disk=world.log_disk)
        with server.connect() as session:
            session.execute(f"ALTER ROLE {PASSWORD_USER} REPLICATION")
            session.execute(f"GRANT pg_read_all_settings TO {PASSWORD_USER}")
        world.logs.mkdir(parents=True, exist_ok=True)
        world.set_clock(datetime.now(UTC))
        world.forking = forks.OwnServer(
            "tests.chaos.imported", CHAOS_CLOCK=str(folder / "clock"), PYTHONPATH=str(ROOT)
        )
        ending.callback(world.forking.close)
        world.begin_epoch()
        yield world
