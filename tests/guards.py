"""Guards around all tests: a test that was not told so reaches no machine but this one."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest

from tests.shared import share
from toolkit.snapshots import host
from toolkit.snapshots.host import busy_threads


def is_local(family: int, address: object) -> bool:
    """Whether a socket's address is on this machine."""
    if family not in (socket.AF_INET, socket.AF_INET6) or not isinstance(address, tuple):
        return True
    host = str(address[0]).partition("%")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a connection to another machine an error, unless the test is about a real Oracle database."""
    if request.node.get_closest_marker("oracle_live"):
        return

    def guarded(name: str) -> None:
        original = getattr(socket.socket, name)

        def connect(self: socket.socket, address: Any) -> Any:
            if not is_local(self.family, address):
                self.close()
                msg = f"a test tried to reach {address!r}: tests stay on this machine"
                raise RuntimeError(msg)
            return original(self, address)

        monkeypatch.setattr(socket.socket, name, connect)

    guarded("connect")
    guarded("connect_ex")


@pytest.fixture(autouse=True)
def quiet_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no trial be judged by the tests beside it; a module about that has a fixture of this name.

    None counts as disturbed, and none of DuckDB as downgraded because a thread came too late to do its share.
    """
    monkeypatch.setattr("toolkit.runner.context.STANDS_OUT_BY", 1.0)
    monkeypatch.setattr(host, "busy_threads", lambda before, after: (None, busy_threads(before, after)[1]))


share()
