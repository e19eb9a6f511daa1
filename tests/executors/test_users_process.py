"""A process of users ends when the run that began it is gone, whatever it is waiting for."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator

import pytest

from toolkit.executors.keeper import send
from toolkit.executors.keeping import begin_linked
from toolkit.executors.users.process import LEFT


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """Stand for a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def begun() -> tuple[subprocess.Popen[bytes], socket.socket]:
    return begin_linked(("-P", "-m", "toolkit.executors.users.process"), dict(os.environ))


def test_it_ends_while_a_server_does_not_answer(deaf: socket.socket) -> None:
    process, link = begun()
    address = {
        "engine": "postgresql", "user": "nobody", "host": "127.0.0.1", "port": deaf.getsockname()[1],
        "database": "nothing", "parameters": [],
    }  # fmt: skip
    access = {
        "address": address, "password": None, "wallet_password": None, "licences": [], "options": [],
        "unseen_ok": False, "own": [],
    }  # fmt: skip
    work = {"transactions": [], "settings": [], "loop": [], "users": 1}
    send(link, {"access": access, "run": "x", "work": work, "numbers": [0]})
    deaf.settimeout(120)
    connection, _ = deaf.accept()  # it waits for an answer of the server now
    with connection:
        assert process.poll() is None
        link.close()
        assert process.wait(120) == LEFT  # a connect that came to its time limit would end it in order
