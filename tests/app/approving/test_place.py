"""All sessions of a run are where the first one was: addresses, pools and names can lead elsewhere meanwhile."""

from __future__ import annotations

import pytest

from tests.servers.postgresql import Server
from toolkit.app.approving.identity import identity_of
from toolkit.app.targets import find_target
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.words import Role
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.postgresql import PostgresqlTarget


@pytest.mark.postgresql
def test_an_address_that_leads_to_another_server_after_the_look_is_refused(
    postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgresql_server.connect() as session:
        folder = session.execute("SELECT current_setting('unix_socket_directories')").fetchone()
    assert folder is not None
    monkeypatch.setenv("PGPORT", str(postgresql_server.port))
    monkeypatch.setenv("PGHOST", postgresql_server.host)
    address = f"postgresql://{postgresql_server.user}@/{postgresql_server.database}"
    free, held = (find_target(address).target for _ in range(2))
    for target in (free, held):
        target.connect(Role.CONTROL, SessionTag("r")).close()
    identity_of(held)
    held.connect(Role.CONTROL, SessionTag("r")).close()
    monkeypatch.setenv("PGHOST", str(folder[0]))
    free.connect(Role.CONTROL, SessionTag("r")).close()
    with pytest.raises(
        ToolkitError, match="another server than the one that was looked at: local socket"
    ) as refused:
        held.connect(Role.CONTROL, SessionTag("r"))
    assert refused.value.code == "TK-0313"


@pytest.mark.postgresql
def test_another_database_of_the_same_name_is_refused_in_the_middle_of_a_run(postgresql_server: Server) -> None:
    with postgresql_server.connect() as session:
        session.execute("CREATE DATABASE g_there")
        try:
            target = find_target(f"{postgresql_server.url.rpartition('/')[0]}/g_there").target
            target.connect(Role.CONTROL, SessionTag("r")).close()
            session.execute("DROP DATABASE g_there WITH (FORCE)")
            session.execute("CREATE DATABASE g_there")
            with pytest.raises(ToolkitError, match="leads to another database than before"):
                target.connect(Role.CONTROL, SessionTag("r"))
        finally:
            session.execute("DROP DATABASE IF EXISTS g_there WITH (FORCE)")


def test_nothing_is_compiled_to_read_what_names_lead_to(postgresql_url: str) -> None:
    # where the server can compile, that took seconds of each approval and of each run that asks for one
    target = PostgresqlTarget(Access(parse_url(postgresql_url)))
    sent: list[str] = []
    target.observer = sent.append
    identity_of(target, {"query": "SELECT * FROM orders"})
    assert next(at for at, text in enumerate(sent) if "'jit', 'off'" in text) < next(
        at for at, text in enumerate(sent) if "pg_trigger" in text
    )
