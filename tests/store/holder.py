"""A process on a host of another name that takes a lease, says what came of it, and keeps it until a line comes.

python -m tests.store.holder HOST STORE RUN
"""

from __future__ import annotations

import socket
import sys

from toolkit.errors import ToolkitError
from toolkit.store import open_store


def main(host: str, location: str, run: str) -> None:
    socket.gethostname = lambda: host
    with open_store(location) as store:
        try:
            print(store.acquire_lease("db", run).host, flush=True)
            sys.stdin.readline()
        except ToolkitError as error:
            print(error.code, error.message, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
