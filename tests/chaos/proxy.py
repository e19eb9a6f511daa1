"""A network between client and server that drops, resets and hangs when it is told to."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

_LINGER_NONE = struct.pack("ii", 1, 0)
"""Close by RST: what was not sent is thrown away."""


class Proxy:
    """Hands bytes over, both ways, to a server on this machine."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()
        self._refuses = False
        self._hangs_at_next = False
        self.held = threading.Event()
        """Set when a connection waits for a network that hangs."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True, name="proxy").start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        if self._hangs_at_next:
            self._hangs_at_next = False
            self.hang()
        if not self._flows.is_set():
            self.held.set()
        self._flows.wait()
        try:
            if self._refuses:
                raise ConnectionRefusedError
            server = socket.create_connection(("127.0.0.1", self._upstream), timeout=60)
        except OSError:
            _close(client, reset=True)
            return
        server.settimeout(None)
        pair = (client, server)
        with self._lock:
            self._pairs.add(pair)
        for source, sink in (pair, pair[::-1]):
            threading.Thread(target=self._pump, args=(pair, source, sink), daemon=True).start()

    def _pump(self, pair: tuple[socket.socket, socket.socket], source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self._flows.wait()
                sink.sendall(data)
        except OSError:
            pass
        self._end(pair, reset=False)

    def _end(self, pair: tuple[socket.socket, socket.socket], *, reset: bool) -> None:
        with self._lock:
            self._pairs.discard(pair)
        for each in pair:
            _close(each, reset=reset)

    def cut(self, *, reset: bool) -> int:
        """End every connection, by FIN or by RST; return how many there were."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._end(pair, reset=reset)
        return len(pairs)

    def hang(self) -> None:
        """Hand nothing over until `flow`; connections stay open, new ones get no answer."""
        self._flows.clear()

    def hang_at_next(self) -> None:
        """Hang when the next connection is made."""
        self._hangs_at_next = True

    def flow(self) -> None:
        self._flows.set()

    def refuse(self, refuses: bool) -> None:
        """Refuse new connections, or take them again."""
        self._refuses = refuses

    def close(self) -> None:
        self._flows.set()
        self._listener.close()
        self.cut(reset=True)


def _close(each: socket.socket, *, reset: bool) -> None:
    with contextlib.suppress(OSError):
        if reset:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
        # who waits for bytes of it must wake up first: until then the system keeps it open
        each.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        each.close()
