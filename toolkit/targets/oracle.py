"""Oracle over python-oracledb: thin by default, thick when the profile says so.

Every statement is looked at by the licence guard, told to the observer and sent by `cursor.execute`; SQLAlchemy's
`text()` would take a `:name` inside DDL for a bind. The path of a URL is a service name, never a SID.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolkit.dialects.oracle import licences
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer
from toolkit.model.values import Scalar
from toolkit.model.words import EngineName, Role
from toolkit.targets import oracle_driver as driver
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.binds import names_in
from toolkit.targets.scalars import plain_rows

# DDL would commit a read-only transaction and go on, so a session that only reads is kept so here.
_READS = re.compile(r"\s*(?:SELECT|WITH)\b", re.IGNORECASE)

# Limits of DBMS_APPLICATION_INFO and DBMS_SESSION in bytes; action has 32 before 12.2.
_MODULE, _ACTION_BYTES, _IDENTIFIER_BYTES = "dbatk", 32, 64


def refuse_unlicensed(text: str, declared: frozenset[str]) -> None:
    """Refuse a statement that needs a pack nobody declared.

    Raises:
        ToolkitError: TK-0303 naming the pack.
    """
    missing = sorted(licences.packs_needed(text) - declared)
    if missing:
        packs = " and ".join(licences.PACK_NAMES[pack] for pack in missing)
        raise ToolkitError(
            f"the statement names objects of the Oracle {packs}, which is not declared for this target",
            code="TK-0303",
            hint=f"declare it in the profile (`licenses.{missing[0]} = {{by, on, until}}`), or go without",
        )


@dataclass(slots=True)
class OracleConnection:
    """One session; `cancel` may come from another thread, nothing else."""

    raw: driver.RawConnection
    declared: frozenset[str]
    observe: Callable[[], Callable[[str], None] | None]
    identity: str = ""
    read_only: bool = False
    _busy: bool = field(default=False, repr=False)

    def execute(self, text: str, binds: Mapping[str, Scalar] | None = None) -> Answer:
        """Run one statement; rows come with lower-case names and plain scalars."""
        refuse_unlicensed(text, self.declared)
        if self.read_only and not _READS.match(text):
            raise ToolkitError("a session that only reads was given another statement", code="TK-0901")
        observer = self.observe()
        if observer is not None:
            observer(text)
        present = _present(text, binds or {})
        self._busy = True
        try:
            return self._run(text, present)
        except driver.failures() as error:
            raise driver.translate(error) from error
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

    def _run(self, text: str, binds: dict[str, Scalar]) -> Answer:
        with self.raw.cursor() as cursor:
            cursor.execute(text, binds)
            notices = (str(cursor.warning),) if cursor.warning is not None else ()
            if cursor.description is None:
                return Answer(rowcount=cursor.rowcount, notices=notices)
            rows = plain_rows([str(column[0]) for column in cursor.description], cursor.fetchall())
            return Answer(rows, len(rows), notices)


@dataclass(slots=True)
class OracleTarget:
    """An Oracle database one can reach."""

    access: Access
    observer: Callable[[str], None] | None = None
    engine: EngineName = EngineName.ORACLE

    @property
    def display(self) -> str:
        """Its address without secrets."""
        return self.access.address.display

    @property
    def local(self) -> bool:
        """Whether the server runs on this host, as far as the address tells; an alias does not."""
        return (self.access.address.host or "").lower() in {"localhost", "127.0.0.1", "::1"}

    @property
    def lease_key(self) -> str:
        """Host, port and service as written, or the alias; the user is no part of it."""
        address = self.access.address
        where = f"{(address.host or '').lower()}:{address.port or driver.DEFAULT_PORT}/" if address.host else ""
        return f"oracle:{where}{address.database.lower()}"

    def connect(self, role: Role, tag: SessionTag, *, read_only: bool = False) -> OracleConnection:
        """Open a session that carries the run id as its client identifier.

        Raises:
            ToolkitError: TK-0201 with the driver's reason and advice; TK-0206 when the driver is missing.
        """
        raw = driver.open_session(self.access)
        connection = OracleConnection(
            raw,
            self.access.licences,
            lambda: self.observer,
            f"sid {raw.session_id},{raw.serial_num}",
            read_only,
        )
        raw.module = _MODULE
        raw.client_identifier = _cut(tag.run, _IDENTIFIER_BYTES)
        connection.tag(tag.action or role.value)
        return connection

    def close(self) -> None:
        """Nothing is shared between sessions."""


def _present(text: str, binds: Mapping[str, Scalar]) -> dict[str, Scalar]:
    # The driver refuses a bind that the text does not name (DPY-4008).
    return {name: binds[name] for name in names_in(text) if name in binds}


def _cut(text: str, limit: int) -> str:
    return text.encode("utf-8")[:limit].decode("utf-8", "ignore")
