"""What the PostgreSQL tests share: a target, its sessions, and a way to run calls as the runner does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgresql.helpers import RUN, Bench, open_context, target_of
from tests.servers.postgresql import Server
from toolkit.targets.postgresql import PostgresqlTarget


@pytest.fixture
def target(postgresql_server: Server) -> PostgresqlTarget:
    return target_of(postgresql_server)


@pytest.fixture
def context(target: PostgresqlTarget, postgresql_schema: str) -> Iterator[Bench]:
    """Sessions for control, work and monitoring, and a schema of the test's own."""
    context = open_context(target, postgresql_schema, RUN)
    yield context
    context.close()
