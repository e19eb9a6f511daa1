"""Oracle over python-oracledb: thin by default, thick when the profile says so.

Every statement is checked by the licence guard, shown to the observer and sent by `cursor.execute`; SQLAlchemy's
`text()` would take a `:name` inside DDL for a bind. The path of a URL is a service name, never a SID.

How RMAN, expdp and impdp get in is the matter of `toolkit.targets.oracle_programs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.protocols import Answer
from toolkit.model.transfers import Stream
from toolkit.model.values import Row, Scalar
from toolkit.model.words import EngineName, Role
from toolkit.targets import oracle_driver as driver
from toolkit.targets import oracle_way as way
from toolkit.targets.base import Access, Exposure, ProgramAccess, SessionTag, UserSession, names_in, plain_rows
from toolkit.targets.oracle_guard import LicenceGuard
from toolkit.targets.oracle_programs import access_of, folder_of

# They touch no rows, of which the driver says 0.
_COUNTS_NOTHING = re.compile(r"\s*(?:COMMIT|ROLLBACK|SET\s+TRANSACTION)\b", re.IGNORECASE)
# DDL would commit a read-only transaction and go on, so a session that only reads is kept so here.
_READS = re.compile(r"\s*(?:SELECT|WITH|SET\s+TRANSACTION\s+READ\s+ONLY)\b", re.IGNORECASE)

_ROWS = 1000
# Limits of DBMS_APPLICATION_INFO and DBMS_SESSION in bytes; action has 32 before 12.2.
_MODULE, _ACTION_BYTES, _IDENTIFIER_BYTES = "dbatk", 32, 64


@dataclass(slots=True)
class OracleConnection:
    """One session; `cancel` may come from another thread, nothing else."""

    raw: driver.RawConnection
    guard: LicenceGuard
    observe: Callable[[], Callable[[str], None] | None]
    identity: str = ""
    read_only: bool = False
    secrets: set[str] = field(default_factory=set, repr=False)
    """Passwords that may not appear in what the database says."""
    _busy: bool = field(default=False, repr=False)

    @property
    def transaction_id(self) -> str | None:
        """The logical transaction id, in hexadecimal; None where the service has no Transaction Guard.

        The server sends it with each answer, so nothing is asked (python-oracledb, `Connection.ltxid`).
        """
        try:
            return bytes(self.raw.ltxid or b"").hex() or None
        except driver.failures():
            return None

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        """Run one statement; rows come with lower-case names and plain scalars."""
        self.guard.check(text, self._ask)
        if self.read_only and not _READS.match(text):
            raise ToolkitError("a read-only session was given another statement", code="TK-0901")
        observer = self.observe()
        if observer is not None:
            observer(text)
        present = _present(text, binds or {})
        self._busy = True
        try:
            return self._run(text, present)
        except driver.failures() as error:
            raise driver.translate(error, self.secrets) from error
        finally:
            self._busy = False

    def load(self, text: str, stream: Stream) -> Answer:
        """Send the rows of a data file to an INSERT; where that fails, nothing of its transaction stays."""
        from toolkit.targets.oracle_rows import inserted

        self.guard.check(text, self._ask)
        observer = self.observe()
        if observer is not None:
            observer(text)
        self._busy = True
        try:
            return Answer(rowcount=inserted(self.raw, text, stream))
        except BaseException as error:
            with driver.quietly():
                self.raw.rollback()
            if isinstance(error, driver.failures()):
                raise driver.translate(error, self.secrets) from error
            raise
        finally:
            self._busy = False

    def tag(self, action: str) -> None:
        """Set what V$SESSION.ACTION shows; it travels with the next statement."""
        self.raw.action = _cut(action, _ACTION_BYTES)

    def cancel(self) -> None:
        """Break the running call; it ends with ORA-01013."""
        if self._busy:
            with driver.quietly():
                self.raw.cancel()

    def close(self) -> None:
        """Give the session back; an open transaction is rolled back by the server."""
        with driver.quietly():
            self.raw.close()

    def _ask(self, text: str) -> Row | None:
        """Run a query of the guard's own; one that is refused tells nothing."""
        observer = self.observe()
        if observer is not None:
            observer(text)
        try:
            rows = self._run(text, {}).rows
        except driver.failures():
            return None
        return rows[0] if rows else None

    def _run(self, text: str, binds: dict[str, Scalar]) -> Answer:
        with self.raw.cursor() as cursor:
            # One round trip for all rows of a catalogue read; the driver's defaults take three for 150 of them.
            cursor.arraysize, cursor.prefetchrows = _ROWS, _ROWS + 1
            cursor.execute(text, binds)
            notices = (str(cursor.warning),) if cursor.warning is not None else ()
            if cursor.description is None:
                count = None if _COUNTS_NOTHING.match(text) else cursor.rowcount
                return Answer(rowcount=count, notices=notices)
            rows = plain_rows([str(column[0]) for column in cursor.description], cursor.fetchall())
            return Answer(rows, len(rows), notices)


@dataclass(slots=True)
class OracleTarget:
    """An Oracle database one can reach."""

    access: Access
    observer: Callable[[str], None] | None = None
    engine: EngineName = "oracle"
    _instance: str | None = field(default=None, repr=False)
    """Where the first session landed: the others follow, for V$ views speak of one instance."""
    _database: str | None = field(default=None, repr=False)
    _schema: str | None = field(default=None, repr=False)
    guard: LicenceGuard = field(init=False)
    _secrets: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        self.access = replace(self.access, password=self._remembered(self.access.password))
        given = self.access
        self.guard = LicenceGuard(given.licences, own=given.own, unseen_ok=given.unseen_ok)

    def _remembered(self, fetch: Callable[[], str | None]) -> Callable[[], str | None]:
        """Return what fetches the password and keeps it in mind, to be hidden in what the database says."""

        def password() -> str | None:
            found = fetch()
            self._secrets.update(filter(None, [found]))
            return found

        return password

    @property
    def address(self) -> Address:
        """Where it is."""
        return self.access.address

    @property
    def display(self) -> str:
        """Its address without secrets."""
        return self.access.address.display

    @property
    def local(self) -> bool:
        """Whether the server runs on this host, as far as the address tells; an alias does not."""
        return (self.access.address.host or "").lower() in {"localhost", "127.0.0.1", "::1"}

    @property
    def exposure(self) -> Exposure | None:
        """What TCP leaves open; native encryption, which a `sqlnet.ora` may ask for, is for thick mode only."""
        return None if self.local else way.exposure(self.access)

    @property
    def lease_key(self) -> str:
        """Host, port and service as written, or the alias; the user is no part of it."""
        address = self.access.address
        where = f"{(address.host or '').lower()}:{address.port or way.DEFAULT_PORT}/" if address.host else ""
        return f"oracle:{where}{address.database.lower()}"

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> OracleConnection:
        """Open a session that carries the run id as its client identifier.

        Raises:
            ToolkitError: TK-0201 with the driver's reason and advice; TK-0206 when the driver is missing; TK-0302
                when the address leads to another database by now.
        """
        seconds = driver.MONITOR_SECONDS if role is Role.MONITOR else 0
        raw = driver.open_session(self.access, self._instance, call_seconds=seconds)
        self._instance = self._instance or driver.instance_of(raw)
        self._check_same_database(raw)
        connection = OracleConnection(
            raw,
            self.guard,
            lambda: self.observer,
            f"sid {raw.session_id},{raw.serial_num}",
            read_only,
            self._secrets,
        )
        if self._schema is not None:
            raw.current_schema = self._schema
        raw.module = _MODULE
        raw.client_identifier = _cut(tag.run, _IDENTIFIER_BYTES)
        connection.tag(tag.action or role.value)
        return connection

    @property
    def users_access(self) -> Access:
        """The access, with what the guard was told since."""
        guard = self.guard
        return replace(self.access, licences=guard.declared, own=guard.own, unseen_ok=guard.unseen_ok)

    def connect_user(self, tag: SessionTag) -> UserSession:
        """Open the session of a user of a workload.

        Raises:
            ToolkitError: as `connect`.
        """
        from toolkit.targets.oracle_user import OracleUser

        return OracleUser(self.connect(Role.WORKER, tag))

    def _check_same_database(self, raw: driver.RawConnection) -> None:
        """Refuse a session in another database than the first one: an address can lead elsewhere meanwhile."""
        found = driver.database_of(raw)
        self._database = self._database or found
        if found not in (None, self._database):
            with driver.quietly():
                raw.close()
            raise ToolkitError(
                f"`{self.display}` leads to another database than before: `{found}`, not `{self._database}`",
                code="TK-0302",
                hint="find out what the address leads to, then begin again",
            )

    @property
    def programs_folder(self) -> str | None:
        """Where the profile, or ORACLE_HOME, says that Oracle's programs are."""
        return folder_of(self.access)

    def allow_folder(self, path: str) -> None:
        """Nothing: files are the server's own matter."""

    def allow_file(self, path: str) -> None:
        """Nothing: the files are read here, or by the server under rules of its own."""

    def keep_to(self, schema: str) -> None:
        """Set CURRENT_SCHEMA in each later session, whatever a logon trigger does, without a round trip."""
        self._schema = schema

    def programs_access(self, run: str) -> ProgramAccess:
        """Let rman, expdp and impdp in; what they read is checked as statements are."""
        del run
        return access_of(self.access, lambda text: self.guard.check(text, lambda _: None))

    def close(self) -> None:
        """Nothing is shared between sessions."""


def _present(text: str, binds: Mapping[str, Scalar]) -> dict[str, Scalar]:
    # The driver refuses a bind that the text does not name (DPY-4008).
    return {name: binds[name] for name in names_in(text) if name in binds}


def _cut(text: str, limit: int) -> str:
    return text.encode("utf-8")[:limit].decode("utf-8", "ignore")


def open_target(access: Access) -> OracleTarget:
    """Return the target of an access."""
    return OracleTarget(access)
