"""Servers that take what is sent: a mailbox that speaks SMTP, and a web server for webhooks."""

from __future__ import annotations

import email
import email.policy
import http.server
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP (RFC 5321) as one message needs; with a status other than 200 no recipient is known."""

    def handle(self) -> None:
        self._say("220 sink")
        for raw in self.rfile:
            word = raw.split(b" ")[0].strip().upper()
            if word == b"QUIT":
                self._say("221 bye")
                return
            if word == b"RCPT" and self.server.status != 200:  # type: ignore[attr-defined]
                self._say(f"{self.server.status} {self.server.refusal}")  # type: ignore[attr-defined]
                continue
            if word == b"DATA":
                self._say("354 go on")
                self._take()
            self._say("250 ok")

    def _take(self) -> None:
        lines = []
        for raw in self.rfile:
            if raw == b".\r\n":
                break
            lines.append(raw.removeprefix(b".") if raw.startswith(b"..") else raw)
        message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
        self.server.received.append(message)  # type: ignore[attr-defined]

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


class Hook(http.server.BaseHTTPRequestHandler):
    """Takes JSON by POST."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Silence(socketserver.BaseRequestHandler):
    """Takes a connection and never says a word, until the test ends."""

    def handle(self) -> None:
        self.server.ended.wait()  # type: ignore[attr-defined]


@contextmanager
def serving(
    handler: type[socketserver.BaseRequestHandler], status: int = 200, refusal: str = ""
) -> Iterator[tuple[int, list[object]]]:
    """Serve on a free port; give the port and what is received."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.received, server.status, server.ended = [], status, threading.Event()  # type: ignore[attr-defined]
        server.refusal = refusal  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server.server_address[1], server.received  # type: ignore[attr-defined]
        finally:
            server.ended.set()  # type: ignore[attr-defined]
            server.shutdown()
            thread.join()
