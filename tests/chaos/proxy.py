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
        self._frozen: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Condition()
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
                self._hold_if_frozen(pair, sink)
                sink.sendall(data)
        except OSError:
            pass
        self._hold_if_frozen(pair, sink)
        self._end(pair, reset=False)

    def _hold_if_frozen(self, pair: tuple[socket.socket, socket.socket], sink: socket.socket) -> None:
        """Keep what is for an end that hears nothing any more, also that the other one has closed."""
        with self._lock:
            while pair in self._frozen and (sink is pair[0] or pair[::-1] in self._frozen):
                self._lock.wait()

    def freeze(self, *, replies_only: bool) -> int:
        """Hand nothing over any more in the connections that there are; new ones are none of them.

        Nobody learns of it, not even when the other end closes. With `replies_only` the server still hears.
        """
        with self._lock:
            self._frozen |= self._pairs
            if not replies_only:
                self._frozen |= {pair[::-1] for pair in self._pairs}
            return len(self._pairs)

    def _end(self, pair: tuple[socket.socket, socket.socket], *, reset: bool) -> None:
        with self._lock:
            self._pairs.discard(pair)
            self._frozen -= {pair, pair[::-1]}
            self._lock.notify_all()
        for each in pair:
            _close(each, reset=reset)

    def cut(self, *, reset: bool) -> int:
        """End every connection, by FIN or by RST; return how many there were."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._end(pair, reset=reset)
        return len(pairs)

    def give_up(self) -> None:
        """Tell clients of frozen connections that these are gone, as TCP does in time, but not the server."""
        with self._lock:
            clients = [client for client, server in self._pairs if (client, server) in self._frozen]
        for client in clients:
            _close(client, reset=True)

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
