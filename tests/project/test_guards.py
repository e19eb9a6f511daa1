"""The guard around the tests holds."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from tests.guards import is_local

ELSEWHERE = ("192.0.2.1", 1521)


@pytest.mark.parametrize("way", ["connect", "connect_ex"])
def test_a_test_cannot_reach_another_machine(way: str) -> None:
    with closing(socket.socket()) as client, pytest.raises(RuntimeError, match=r"192\.0\.2\.1"):
        getattr(client, way)(ELSEWHERE)


def test_a_library_cannot_reach_another_machine_either() -> None:
    with pytest.raises(RuntimeError, match="stay on this machine"):
        socket.create_connection(ELSEWHERE, timeout=1)


def test_a_test_can_reach_this_machine() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as server,
        closing(socket.create_connection(server.getsockname(), timeout=60)) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_a_socket_file_is_local() -> None:
    assert is_local(socket.AF_UNIX, "/var/run/postgresql/.s.PGSQL.5432")
    assert not is_local(socket.AF_INET6, ("2001:db8::1", 80, 0, 0))
