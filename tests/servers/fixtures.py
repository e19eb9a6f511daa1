"""Fixtures around the servers, for every test folder (plugged in by `tests/conftest.py`)."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from tests.servers.postgresql import NoServer, Server, running_postgresql


def missing(part: str, sentence: str) -> None:
    """Skip, or fail where `DBATK_REQUIRE` says that the part must be there."""
    if part in os.environ.get("DBATK_REQUIRE", "").split(","):
        pytest.fail(f"DBATK_REQUIRE names {part}: {sentence}")
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    """A PostgreSQL server for the whole session."""
    try:
        with running_postgresql() as server:
            yield server
    except NoServer as error:
        missing("postgresql", str(error))


@pytest.fixture
def postgresql_url(postgresql_server: Server) -> str:
    """The target URL of the server, without a password."""
    return postgresql_server.url


@pytest.fixture
def postgresql_schema(postgresql_server: Server) -> Iterator[str]:
    """A schema of the test's own, dropped after it."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with postgresql_server.connect() as session:
        session.execute(f'CREATE SCHEMA "{name}"')
    yield name
    with postgresql_server.connect() as session:
        session.execute(f'DROP SCHEMA "{name}" CASCADE')
