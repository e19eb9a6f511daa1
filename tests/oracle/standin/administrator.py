"""Who administers the instance of a stand-in: a client that is SYSDBA, and the command that restarts the instance.

Both are programs, as a profile names them; they hand what they read to the stand-in's process over a socket, since
the instance itself answers nobody while it is down.
"""

from __future__ import annotations

import re
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from seerdb.server.backend import BackendError

from tests.oracle.standin import privileges
from tests.oracle.standin.errors import ora
from tests.oracle.standin.server import Standin
from tests.oracle.standin.state import MODIFIABLE, PARAMETERS, SPFILE

_PROGRAM = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
    "s.sendall((sys.argv[2] + '\\n' + ('' if sys.argv[2] == 'restart' else sys.stdin.read())).encode()); "
    "s.shutdown(1); a = s.makefile().read(); sys.stdout.write(a[1:]); sys.exit(int(a[0]))"
)
_LITERAL = r"'(?P<{0}>(?:[^']|'')*)'"
_SET = re.compile(r"ALTER SYSTEM SET (\w+) = ('[^']*'|[\w.]+) SCOPE=SPFILE SID='\*'")
_RESET = re.compile(
    r"BEGIN EXECUTE IMMEDIATE 'ALTER SYSTEM RESET (\w+) SCOPE=SPFILE SID=''\*'''; EXCEPTION WHEN OTHERS THEN "
    r"IF SQLCODE != -32010 THEN RAISE; END IF; END;"
)
_COPY = re.compile(rf"CREATE PFILE = {_LITERAL.format('copy')} FROM SPFILE")
_MAKE = re.compile(rf"CREATE SPFILE = {_LITERAL.format('spfile')} FROM PFILE = {_LITERAL.format('copy')}")


_CALIBRATE = re.compile(
    rf"DECLARE .* IF PLACE <> {_LITERAL.format('place')} THEN .* DBMS_RESOURCE_MANAGER\.CALIBRATE_IO\( "
    r"NUM_PHYSICAL_DISKS => (?P<disks>\d+), MAX_LATENCY => \d+, .*END;",
    re.IGNORECASE,
)


class Administrator:
    """Restarts the instance, and does what SYSDBA asks of it, also while it is down.

    Attributes:
        most: the most `processes` with which the instance comes up.
        said: what was asked, in order.
        deaf: the client does not log on: it writes why, and ends with 0, as SQL*Plus does at the end of its input.
        host: where the client connects to; another one where it is on another instance.
        unwritable: whether no file can be written on the server.
        lame: the restart ends with 0 although the instance does not come up.
        asynchronous: whether the data files are read by asynchronous I/O.
        half: an instance that does not come up stays half started, with its SPFILE in use.
    """

    def __init__(self, standin: Standin) -> None:
        self.standin, self.most = standin, 1000
        self.said: list[str] = []
        self.deaf = self.unwritable = self.lame = self.half = self.refusing = False
        self.host, self.asynchronous = "standin", True
        self._half_started = False
        self._lock = threading.RLock()
        self.port = 0

    # -- as a profile names them ----------------------------------------------------------------------------------
    @property
    def restart(self) -> list[str]:
        return [sys.executable, "-ISc", _PROGRAM, str(self.port), "restart"]

    @property
    def sysdba(self) -> list[str]:
        return [sys.executable, "-ISc", _PROGRAM, str(self.port), "sysdba"]

    def write_profile(self, config: Path, **more: str) -> None:
        """Write the profile `ora`; further keys as they stand in the file."""
        config.mkdir(mode=0o700, exist_ok=True)
        keys = {"restart": _toml(self.restart), "sysdba": _toml(self.sysdba), "production": "false", **more}
        lines = [f'url = "{self.standin.url}"', *(f"{key} = {value}" for key, value in keys.items() if value)]
        file = config / "targets.toml"
        file.write_text("\n".join(["[targets.ora]", *lines, ""]))
        file.chmod(0o600)

    # -- what they do ---------------------------------------------------------------------------------------------
    def answer(self, text: str) -> str:
        """Return exit status and output of a program."""
        what, _, script = text.partition("\n")
        with self._lock:
            if what == "restart":
                return self._restart()
            if self.deaf:
                return "0ERROR:\nORA-01017: invalid username/password; logon denied\n"
            try:
                return "0" + "".join(self._run(script))
            except BackendError as error:
                return f"1{_told(error)}"

    def _restart(self) -> str:
        state = self.standin.engine.state
        self.said.append("restart")
        for session in self.standin.sessions():
            self.standin.engine.end_session(session)
        state.parameters.clear()
        state.started_with = dict(state.spfile or {})
        state.down = int(state.started_with.get("processes", "300")) > self.most
        self._half_started = state.down and self.half
        if state.down and not self.lame:
            return "1ORA-27154: post/wait create failed\n"
        return "0"

    def _run(self, script: str) -> Iterator[str]:
        ends = True
        for statement in _statements(script):
            if statement.startswith("WHENEVER SQLERROR"):
                ends = "CONTINUE" not in statement
                continue
            if statement.startswith(("SET ", "WHENEVER OSERROR")):
                continue
            self.said.append(statement)
            try:
                yield from self._do(statement)
            except BackendError as error:
                if ends:
                    raise
                yield _told(error)

    def _do(self, statement: str) -> Iterator[str]:
        state = self.standin.engine.state
        if statement == "SHUTDOWN ABORT":
            self._half_started = False
            if state.down:
                raise ora(1034)
            state.down = True
        elif match := _MAKE.fullmatch(statement):
            self._make(match["spfile"], match["copy"])
        elif state.down:
            raise ora(1034)
        elif statement.startswith("SELECT"):
            yield from self._select(statement)
        elif match := _CALIBRATE.fullmatch(statement):
            self._calibrate(match["place"], int(match["disks"]))
        elif match := _COPY.fullmatch(statement):
            if state.spfile is None:
                raise ora(1565, "unable to open SPFILE")
            if self.unwritable:
                raise ora(9925)
            state.pfiles[match["copy"]] = dict(state.spfile)
        elif match := _SET.fullmatch(statement):
            self._set(match[1].lower(), match[2].strip("'"))
        elif match := _RESET.fullmatch(statement):
            if state.spfile is not None:
                state.spfile.pop(match[1].lower(), None)
        else:
            raise ora(900)

    def _set(self, name: str, value: str) -> None:
        state = self.standin.engine.state
        if state.spfile is None:
            raise ora(32001)
        if name not in {**PARAMETERS, **self.standin.engine.scenario.parameters, **MODIFIABLE}:
            raise ora(2065)
        if self.refusing:
            raise ora(1031)
        state.spfile[name] = value

    def _calibrate(self, place: str, disks: int) -> None:
        if place.partition("/")[0] != self.host:
            raise ora(20905, f"this client is on {self.host}")
        if not self.asynchronous:
            raise ora(56708)
        self.standin.engine.state.calibrated = disks

    def _make(self, spfile: str, copy: str) -> None:
        state = self.standin.engine.state
        if not state.down or self._half_started:
            raise ora(32002)
        if spfile != SPFILE or copy not in state.pfiles or self.unwritable:
            raise ora(1078)
        state.spfile = dict(state.pfiles[copy])

    def _select(self, statement: str) -> Iterator[str]:
        engine = self.standin.engine
        session = engine.begin_session("SYS$USERS")
        session.user = privileges.DBA
        try:
            for row in engine.query(session, engine.data, statement, ())[1]:
                yield f"{row[0]}\n".replace("|standin/", f"|{self.host}/")
        finally:
            engine.end_session(session)


def _told(error: BackendError) -> str:
    """Spell an error as the client prints it."""
    more = "ORA-27101: shared memory realm does not exist\nLinux-x86_64 Error: 2: No such file or directory\n"
    return f"ORA-{error.ora_code:05d}: {error}\n{more if error.ora_code == 1034 else ''}"


def _toml(argv: list[str]) -> str:
    return "[" + ", ".join("'''" + part + "'''" for part in argv) + "]"


def _statements(script: str) -> Iterator[str]:
    """Split a script as SQL*Plus does: its own commands are lines, a block ends at a slash."""
    held: list[str] = []
    for line in script.splitlines():
        if not held and line == "EXIT":
            return
        if not held and line.startswith(("SET ", "WHENEVER ", "SHUTDOWN")):
            yield line
            continue
        if line.strip().startswith("--"):
            continue
        block = held[:1] == ["BEGIN"] or held[:1] == ["DECLARE"]
        if line == "/" or (line.endswith(";") and not block and line not in {"BEGIN", "DECLARE"}):
            yield " ".join(" ".join([*held, *([] if line == "/" else [line[:-1]])]).split())
            held = []
        else:
            held.append(line)


@contextmanager
def administered(standin: Standin) -> Iterator[Administrator]:
    """Answer the programs of an administrator until the block ends."""
    administrator = Administrator(standin)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            parts = []
            while part := self.request.recv(65536):
                parts.append(part)
            with suppress(OSError):
                self.request.sendall(administrator.answer(b"".join(parts).decode()).encode())
                self.request.shutdown(socket.SHUT_RDWR)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        administrator.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield administrator
        finally:
            server.shutdown()
            thread.join(60)
