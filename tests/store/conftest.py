"""Stores to test: the same tests run on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.postgresql import Server
from tests.store.make import head
from toolkit.store import open_store
from toolkit.store.schema import metadata
from toolkit.store.store import Store


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def empty_postgresql(postgresql_server: Server) -> str:
    """The URL of a database without a store in it."""
    with postgresql_server.connect() as session:
        session.execute("DROP SCHEMA IF EXISTS dbatk CASCADE")
    return postgresql_server.url


@pytest.fixture
def emptied_postgresql(postgresql_server: Server) -> str:
    """The URL of a database with a store in it that holds nothing, as a new one would.

    To empty the tables of an earlier test costs a twentieth of what it costs to make them again.
    """
    with postgresql_server.connect() as session:
        if not _emptied(session, postgresql_server.url):
            session.execute("DROP SCHEMA IF EXISTS dbatk CASCADE")
            open_store(postgresql_server.url).close()
            _UNTOUCHED[postgresql_server.url] = _as_made(session)
    return postgresql_server.url


_UNTOUCHED: dict[str, object] = {}
"""What the catalogue showed of the store of a server when it was made."""
_LARGE_BYTES = 8 * 2**20
_EMPTY = "; ".join(
    ("SET session_replication_role = replica",  # or lines of the audit log could not be deleted
     *(f"DELETE FROM dbatk.{table}" for table in metadata.tables if table != "schema_version"),
     "RESET session_replication_role", "SELECT setval('dbatk.snapshot_snapshot_id_seq', 1, false)")
)  # fmt: skip
_SHOWN = """
SELECT (SELECT xmin::text FROM pg_namespace WHERE nspname = 'dbatk'),
       (SELECT array_agg(s::text ORDER BY version) FROM dbatk.schema_version s),
       (SELECT array_agg(proname || xmin ORDER BY oid) FROM pg_proc WHERE pronamespace = 'dbatk'::regnamespace),
       array_agg(c.oid || ' ' || c.xmin ORDER BY c.oid),
       (SELECT array_agg(attrelid || attname || a.xmin ORDER BY attrelid, attnum)
          FROM pg_attribute a WHERE attrelid = ANY (array_agg(c.oid))),
       (SELECT array_agg(oid || ' ' || t.xmin ORDER BY oid)
          FROM pg_trigger t WHERE tgrelid = ANY (array_agg(c.oid))),
       sum(pg_relation_size(c.oid)) < %s
  FROM pg_class c
 WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'dbatk')
"""
"""Any change of the schema, a table, a right or a trigger writes one of these rows anew."""


def _as_made(session: psycopg.Connection[tuple[object, ...]]) -> object:
    return session.execute(_SHOWN, [_LARGE_BYTES]).fetchone()


def _emptied(session: psycopg.Connection[tuple[object, ...]], url: str) -> bool:
    """Empty the store that stands there; False where none stands as it was made, or it has grown large."""
    with contextlib.suppress(psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        if _as_made(session) == _UNTOUCHED.get(url, ""):
            session.execute(_EMPTY)
            return True
    return False


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def location(request: pytest.FixtureRequest) -> str:
    """Where a store can be made."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_path"))
    made = "store" in request.fixturenames
    return str(request.getfixturevalue("emptied_postgresql" if made else "empty_postgresql"))


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    """A store with one run in it."""
    with open_store(location) as opened:
        opened.create_run(head())
        yield opened


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Store]:
    """A second store, empty."""
    with open_store(tmp_path / "another.sqlite") as opened:
        yield opened


@pytest.fixture
def reopened(location: str) -> Iterator[Callable[[], Store]]:
    """Opens the same store once more, as another process would."""
    opened: list[Store] = []

    def again() -> Store:
        opened.append(open_store(location))
        return opened[-1]

    yield again
    for each in opened:
        each.close()
