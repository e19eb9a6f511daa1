"""A database of each engine with the same small tables, for suites that every engine must pass."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import duckdb

from tests.operations import cases
from tests.oracle.make import target
from tests.oracle.standin import Scenario, running_standin
from tests.servers.postgresql import Server
from toolkit.config.urls import parse_url
from toolkit.model.experiment import OptionValue
from toolkit.model.protocols import Event
from toolkit.model.words import EngineName, OperationName
from toolkit.targets.base import Access, Target
from toolkit.targets.duckdb import DuckdbTarget
from toolkit.targets.host import HostTarget
from toolkit.targets.postgresql import PostgresqlTarget

ROWS = 30_000


@dataclass
class Heard:
    """Events as they came."""

    events: list[Event] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def texts(self, kind: str) -> list[str]:
        return [event.text for event in self.events if event.kind == kind]


@dataclass
class Arena:
    """A target, the schema of its tables, and a way to ask the database beside the toolkit."""

    engine: EngineName
    url: str
    schema: str
    make: Callable[[], Target]
    ask: Callable[[str], list[tuple[object, ...]]]
    statements: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ("idname", "k")
    """Those of GTEST that an index is built on."""
    cases: Mapping[OperationName, Mapping[str, OptionValue]] = field(default_factory=dict)
    """Options of operations that only this engine has."""

    def target(self) -> Target:
        """Return a target that records what is sent."""
        made = self.make()
        made.observer = self.statements.append
        return made

    def leftovers(self) -> list[str]:
        """Return names of objects that a run left behind."""
        listing = _LEFT.get(self.engine)
        return [str(row[0]) for row in (self.ask(listing) if listing else ()) if "dbatk" in str(row[0]).lower()]


_LEFT = {
    "duckdb": "SELECT table_name FROM duckdb_tables() UNION ALL SELECT index_name FROM duckdb_indexes()",
    "postgresql": "SELECT relname FROM pg_class",
    "oracle": "SELECT table_name FROM duckdb_tables() UNION ALL SELECT index_name FROM duckdb_indexes()",
}


@cache
def _duckdb_file() -> bytes:
    """Make the file of the tests once a process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arena.duckdb")
        with duckdb.connect(str(path)) as made:
            made.execute(
                "CREATE TABLE gtest AS SELECT range AS id, md5(range::VARCHAR) AS idname, range % 100 AS k "
                f"FROM range({ROWS})"
            )
            made.execute("CREATE INDEX gtest_idname ON gtest (idname)")
            made.execute("CREATE INDEX gtest_k ON gtest (k)")
            made.execute('CREATE TABLE "Odd ""t;é" ("a b" INTEGER PRIMARY KEY, c VARCHAR NOT NULL)')
            made.execute("""INSERT INTO "Odd ""t;é" SELECT range, 'x' FROM range(10)""")
            made.execute("CREATE TABLE nothing (id INTEGER)")
        return path.read_bytes()


@contextmanager
def duckdb_arena(folder: Path) -> Iterator[Arena]:
    """A DuckDB file with GTEST (two indexes) and a table of odd names."""
    path = folder / "arena.duckdb"
    path.write_bytes(_duckdb_file())

    def ask(text: str) -> list[tuple[object, ...]]:
        with duckdb.connect(str(path)) as beside:
            return beside.execute(text).fetchall()

    url = f"duckdb:///{path}"
    yield Arena("duckdb", url, "main", lambda: DuckdbTarget(Access(parse_url(url))), ask)


@contextmanager
def postgresql_arena(server: Server, schema: str) -> Iterator[Arena]:
    """A schema of a real PostgreSQL server with the same tables."""
    with server.connect() as made:
        made.execute(f"SET search_path = {schema}")
        made.execute(
            "CREATE TABLE gtest AS SELECT i AS id, md5(i::text) AS idname, i % 100 AS k "
            f"FROM generate_series(1, {ROWS}) i"
        )
        made.execute("CREATE INDEX gtest_idname ON gtest (idname)")
        made.execute("CREATE INDEX gtest_k ON gtest (k)")
        made.execute('CREATE TABLE "Odd ""t;é" ("a b" integer PRIMARY KEY, c varchar NOT NULL)')
        made.execute("""INSERT INTO "Odd ""t;é" SELECT i, 'x' FROM generate_series(1, 10) i""")
        made.execute("CREATE TABLE nothing (id integer)")
        made.execute("ANALYZE gtest")

    def ask(text: str) -> list[tuple[object, ...]]:
        with server.connect() as beside:
            done = beside.execute(text.encode())
            return done.fetchall() if done.description else []

    def make() -> Target:
        return PostgresqlTarget(Access(parse_url(server.url), password=lambda: server.password))

    yield Arena("postgresql", server.url, schema, make, ask)


_LOADED = str(Path(cases.__file__).parent / "gtest_amount.csv")


@contextmanager
def oracle_arena() -> Iterator[Arena]:
    """The Oracle stand-in over the wire, with GTEST and an index; what is asked beside goes to its DuckDB."""
    with running_standin(Scenario(rows=ROWS)) as standin:

        def ask(text: str) -> list[tuple[object, ...]]:
            beside = standin.engine.data.cursor()
            (place,) = beside.execute(
                "SELECT database_name FROM duckdb_tables() WHERE table_name = 'GTEST'"
            ).fetchall()
            beside.execute(f"USE {place[0]}")
            return beside.execute(text).fetchall()

        yield Arena(
            "oracle", standin.url, standin.engine.scenario.user, lambda: target(standin), ask,
            columns=("idname", "amount"), cases={"load": {"table": "GTEST", "files": (_LOADED,)}},
        )  # fmt: skip


@contextmanager
def host_arena() -> Iterator[Arena]:
    """This host, which has programs and no tables."""
    programs = {"command": {"command": ("true",)}}
    access = Access(parse_url("host://"))
    yield Arena("host", "host://", "", lambda: HostTarget(access), lambda _: [], cases=programs)
