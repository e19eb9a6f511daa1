"""Where the live suite finds a database, and how it types commands on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import oracledb
import pytest

from toolkit.config.urls import parse_url
from toolkit.targets.oracle_way import connect_string

URL, PASSWORD, ROWS = "DBATK_TEST_ORACLE_URL", "DBATK_PASSWORD", "DBATK_TEST_ORACLE_ROWS"
IMAGE = "gvenzl/oracle-free:slim-faststart"
SOURCE = "DBATK_LIVE_SOURCE"
_MAKE = """SELECT LEVEL AS id, MOD(LEVEL, 1000) AS grp, RPAD(TO_CHAR(LEVEL), 32, 'x') AS idname
FROM dual CONNECT BY LEVEL <= {rows}
"""


_MINE = "o.owner = SYS_CONTEXT('USERENV', 'SESSION_USER')"


@dataclass(frozen=True)
class Live:
    """A database that may be worked on, and the folder of the suite's own store."""

    url: str
    password: str
    folder: Path

    def environment(self) -> dict[str, str]:
        """Return the environment of a command: a store of its own, the password beside the arguments."""
        own = {"DBATK_STORE": str(self.folder / "store.db"), "DBATK_CONFIG": str(self.folder / "config")}
        return {**os.environ, **own, PASSWORD: self.password}

    def command(self, *arguments: str) -> list[str]:
        """Return the argument list of a command on this database."""
        return [sys.executable, "-m", "toolkit", *arguments, "-t", self.url]

    def dbatk(self, *arguments: str) -> tuple[int, dict[str, object]]:
        """Run a command to its end; return its exit status and its JSON document."""
        extra = () if arguments[0] in ("doctor", "clean") else ("--not-production",)
        done = subprocess.run(
            self.command(*arguments, *extra, "--json"),
            env=self.environment(), capture_output=True, text=True, timeout=1800, check=False,
        )  # fmt: skip
        assert self.password not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, json.loads(done.stdout)

    @contextmanager
    def session(self) -> Iterator[oracledb.Connection]:
        """Open a session beside the toolkit, to look at what it left."""
        address = parse_url(self.url)
        dsn = connect_string(address, {})
        with oracledb.connect(user=address.user, password=self.password, dsn=dsn) as connection:
            yield connection

    def ask(self, query: str, **values: object) -> list[tuple[object, ...]]:
        """Return the rows of a query."""
        with self.session() as connection, connection.cursor() as cursor:
            return list(cursor.execute(query, values))

    def leftovers(self) -> list[str]:
        """Return the names of generated objects in the user's schema."""
        rows = self.ask(f"SELECT o.object_name FROM all_objects o WHERE {_MINE} AND o.object_name LIKE 'DBATK%'")
        return sorted(str(name) for (name,) in rows if not str(name).startswith("DBATK_LIVE_"))

    def sessions(self, run: str) -> list[tuple[object, ...]]:
        """Return the sessions that carry a run's id."""
        return self.ask("SELECT s.sid FROM v$session s WHERE s.client_identifier = :run", run=run)


@contextmanager
def any_database(folder: Path) -> Iterator[Live]:
    """Give the database named by the environment, or one in a container; else the test is skipped."""
    if URL in os.environ:
        yield Live(os.environ[URL], os.environ.get(PASSWORD, ""), folder)
        return
    docker = pytest.importorskip("docker", reason="no Oracle database: set DBATK_TEST_ORACLE_URL, or run Docker")
    try:
        docker.from_env().ping()
    except docker.errors.DockerException:
        pytest.skip("no Oracle database: set DBATK_TEST_ORACLE_URL and DBATK_PASSWORD, or run Docker")
    from testcontainers.oracle import OracleDbContainer

    with OracleDbContainer(IMAGE, username="dbatk", password="dbatk_live") as container:
        _grant(container)
        host, port = container.get_container_host_ip(), container.get_exposed_port(1521)
        yield Live(f"oracle://dbatk@{host}:{port}/FREEPDB1", "dbatk_live", folder)


def _grant(container: object) -> None:
    """Let the container's user read the catalogue; a user of somebody else's database has what its DBA gave."""
    statement = "ALTER SESSION SET CONTAINER=FREEPDB1;\nGRANT SELECT_CATALOG_ROLE TO dbatk;\nEXIT\n"
    container.exec(["bash", "-c", f"printf '{statement}' | sqlplus -s / as sysdba"])  # type: ignore[attr-defined]


def make_source(live: Live) -> None:
    """Make the suite's table of rows, by the toolkit itself."""
    file = live.folder / "source.sql"
    file.write_text(_MAKE.format(rows=int(os.environ.get(ROWS, "200000"))), encoding="ascii")
    status, run = live.dbatk("ctas", "--query", str(file), "--table", SOURCE)
    assert status == 0, run


def drop(live: Live, names: Sequence[str]) -> None:
    """Drop tables of the suite, whose names are its own."""
    with live.session() as connection, connection.cursor() as cursor:
        for name in names:
            assert name.startswith("DBATK_LIVE_")
            try:
                cursor.execute(f'DROP TABLE "{name}" PURGE')
            except oracledb.DatabaseError as error:
                if error.args[0].code != 942:
                    raise
