"""The address of a store may hold a password; nobody sees it."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.servers.postgresql import Server
from toolkit.errors import ToolkitError
from toolkit.store import open_store
from toolkit.store.location import find_place

CANARY = "c4nary"
ADDRESSES = [
    f"postgresql://user:{CANARY}@127.0.0.1:1/db",
    f"postgresql://user:{CANARY}%40x@127.0.0.1:1/db",
    f"postgresql://user:{CANARY}@{CANARY}@127.0.0.1:1/db",
    f"postgresql://user:x?{CANARY}@127.0.0.1:1/db",
    f"postgresql://user:x/{CANARY}@127.0.0.1:1/db",
    f"postgresql://user:x#{CANARY}@127.0.0.1:1/db",
    f"postgresql://user@127.0.0.1:1/db?password={CANARY}",
    f"postgresql://user@127.0.0.1:1/db?password=a@{CANARY}",
    f"postgresql://user:{CANARY}@127.0.0.1:port/db",
    f"postgresql://127.0.0.1:1/db?nonsense={CANARY}",
    f"postgresql://127.0.0.1:1/db?sslmode={CANARY}",
    f"postgresql://127.0.0.1:1/db?application_name=x&sslmode=%63{CANARY[1:]}",
    f"mysql://user:{CANARY}@127.0.0.1:1/db",
    f"user:{CANARY}@127.0.0.1://db",
]


@for_each("address", ADDRESSES)
def test_a_password_is_in_no_message_and_no_traceback(address: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        open_store(address)
    error = caught.value
    shown = "".join(traceback.format_exception(error, chain=True)) + repr(error) + error.hint
    # the line of this test that calls it shows a name, not the address
    assert CANARY not in shown


@for_each("address", [each for each in ADDRESSES[:9] if each.count("@") == 1])
def test_a_password_is_in_no_repr(address: str) -> None:
    place = find_place(address)
    assert CANARY not in repr(place) + str(place)


def test_host_port_and_database_are_shown() -> None:
    assert str(find_place("postgresql://user:x@db1:5432/results")) == "postgresql://db1:5432/results"


@pytest.mark.postgresql
def test_a_wrong_password_is_told_without_it(postgresql_server: Server) -> None:
    server = postgresql_server
    if server.password_user is None:
        pytest.skip("this server lets nobody in by password")
    address = f"{server.password_user}:{CANARY}@127.0.0.1:{server.port}/{server.database}"
    with pytest.raises(ToolkitError, match="password authentication failed") as caught:
        open_store(f"postgresql://{address}")
    shown = "".join(traceback.format_exception(caught.value))
    assert CANARY not in shown
    assert caught.value.code == "TK-0401"


@pytest.mark.postgresql
def test_an_open_store_does_not_show_its_password(postgresql_server: Server, empty_postgresql: str) -> None:
    with open_store(empty_postgresql.replace("@", f":{CANARY}@")) as store:
        assert CANARY not in repr(store) + repr(store._database) + repr(store._database._engine) + store.place
        assert postgresql_server.database in store.place


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ToolkitError, match="needs the driver `psycopg`") as caught:
        open_store("postgresql://db1/results")
    assert caught.value.code == "TK-0206"
    assert "dbatk[postgresql]" in caught.value.hint


def test_a_file_shows_its_path(tmp_path: Path) -> None:
    with open_store(tmp_path / "s") as store:
        assert repr(store) == f"Store({str(tmp_path / 's')!r})"
