"""The edge to python-oracledb: opening sessions, translating errors, and plain values out of fetched ones.

The driver is imported on the first connect: it costs 0.2 s. Thick mode is chosen once in a process and for good.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from toolkit.dialects.oracle import errors
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.protocols import DatabaseError
from toolkit.targets.base import Access, UnheardError
from toolkit.targets.oracle_way import FALSE, connect_string, is_thick

if TYPE_CHECKING:
    from types import ModuleType, TracebackType

CONNECT_SECONDS = 15
# Minutes: long silent statements go through firewalls that forget connections, and a dead peer is noticed.
KEEP_ALIVE_MINUTES = 2
# A read of the monitor is short; without a limit a hung network would hold it for ever.
MONITOR_SECONDS = 60

_LOST = frozenset(
    {"DPY-4011", "DPI-1080", "DPI-1010", "DPY-1001", "ORA-03113", "ORA-03114", "ORA-03135", "ORA-00028",
     "ORA-00041", "ORA-02390", "ORA-02392", "ORA-02394", "ORA-02399", "ORA-56723", "ORA-56734"}
)  # fmt: skip
"""The connection is gone, or the server has ended the session: limits of a profile or of the resource manager."""

_TIMED_OUT = frozenset({"ORA-12170", "ORA-12535"})
_UNHEARD = _TIMED_OUT | {"ORA-12541", "ORA-12543", "ORA-12545", "DPY-6005"}
"""Connecting failed before a listener or an instance said anything; DPY-6005 tells in its message of what."""

_UNSENT = frozenset({"ORA-02396", "ORA-02399", "ORA-01012", "DPY-1001"})
"""IDLE_TIME or CONNECT_TIME of the profile was over, not logged on, not connected: the session ended before the
statement came (SQL Language Reference, CREATE PROFILE)."""


class BatchError(Protocol):
    """What the driver tells of a row that was not inserted: where it is in the batch, and why."""

    offset: int
    full_code: str
    message: str


class RawVariable(Protocol):
    """What we use of a bind that the server sets."""

    def getvalue(self) -> object: ...


class RawCursor(Protocol):
    """What we use of the driver's cursor."""

    description: Sequence[Sequence[object]] | None
    rowcount: int
    warning: object
    arraysize: int
    prefetchrows: int

    def execute(self, statement: str, parameters: Mapping[str, object]) -> object: ...
    def var(self, kind: type, size: int = 0) -> RawVariable: ...
    def arrayvar(self, kind: type, values: Sequence[object]) -> object: ...
    def executemany(
        self, statement: str, parameters: Sequence[Sequence[object]], *, batcherrors: bool
    ) -> object: ...
    def setinputsizes(self, *kinds: object) -> object: ...
    def getbatcherrors(self) -> list[BatchError]: ...
    def parse(self, statement: str) -> object: ...
    def fetchall(self) -> list[tuple[object, ...]]: ...
    def __enter__(self) -> RawCursor: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class RawConnection(Protocol):
    """What we use of the driver's connection."""

    session_id: int
    serial_num: int
    instance_name: str
    db_name: str
    db_domain: str
    warning: object
    module: str
    action: str
    current_schema: str | None
    client_identifier: str
    call_timeout: int
    ltxid: bytes | None

    def cursor(self) -> RawCursor: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...


def open_session(access: Access, instance: str | None = None, *, call_seconds: int = 0) -> RawConnection:
    """Connect within 15 seconds and return the driver's connection.

    Args:
        access: how to get in.
        instance: the instance of a cluster the session must be on: its V$ views speak of that one only.
        call_seconds: longest time of a call, 0 for none: a parallel statement is one call and may take hours.

    Raises:
        ToolkitError: TK-0201, TK-0206; TK-0102 and TK-0107 for an address or option that cannot be meant.
    """
    oracledb = _driver()
    options = dict(access.options)
    dsn = connect_string(access.address, options)
    _choose_mode(oracledb, options)
    arguments = {**_credentials(access), **_arguments(oracledb, access, options)}
    try:
        raw: RawConnection = oracledb.connect(**arguments, dsn=dsn)
        if instance is not None and _instance(raw) not in ("", instance):
            raw.close()
            raw = oracledb.connect(**arguments, dsn=_pinned(oracledb, dsn, options, instance))
    except (oracledb.Error, OSError, ValueError) as error:
        raise _cannot_connect(error, access.address) from error
    if instance is not None and _instance(raw) not in ("", instance):
        found = _instance(raw)
        raw.close()
        raise ToolkitError(
            f"the session connected to instance `{found}`, but the run works on `{instance}`",
            code="TK-0201",
            hint="connect to a service of one instance, or write `/service:dedicated/instance` in the URL",
        )
    raw.call_timeout = call_seconds * 1000
    return raw


def instance_of(raw: RawConnection) -> str | None:
    """Return the instance a session is on, as the server reports it at logon; None when it does not."""
    return _instance(raw) or None


def database_of(raw: RawConnection) -> str | None:
    """Return name and domain of a session's database, as the server reports them at logon; None when it does not.

    A clone that kept its name cannot be told from its original by this (python-oracledb, `Connection.db_name`).
    """
    found = (getattr(raw, name, None) for name in ("db_name", "db_domain"))
    return ".".join(str(each) for each in found if each).upper() or None


def _instance(raw: RawConnection) -> str:
    return str(getattr(raw, "instance_name", None) or "")


def _pinned(oracledb: ModuleType, dsn: str, options: dict[str, str], instance: str) -> str:
    """Return the address again with the instance in it, whatever form it had (alias, Easy Connect)."""
    parameters = oracledb.ConnectParams(config_dir=options.get("config_dir"))
    parameters.parse_connect_string(dsn)
    parameters.set(instance_name=instance)
    return str(parameters.get_connect_string())


def _driver() -> ModuleType:
    try:
        import oracledb
    except ImportError as error:
        raise ToolkitError(
            "the driver python-oracledb is not installed", code="TK-0206", hint="pip install oracledb"
        ) from error
    # LOBs as text or bytes in the same round trip; those read here are small catalogue texts and reports.
    oracledb.defaults.fetch_lobs = False
    module: ModuleType = oracledb
    return module


def _choose_mode(oracledb: ModuleType, options: dict[str, str]) -> None:
    if not is_thick(options):
        return
    places = {name: options[name] for name in ("lib_dir", "config_dir") if name in options}
    try:
        oracledb.init_oracle_client(**places)
    except oracledb.Error as error:
        known = translate(error)
        raise ToolkitError(
            f"thick mode is not possible: {known.message}",
            code="TK-0206",
            hint=_advice(known),
            database_code=known.code,
        ) from error


def _credentials(access: Access) -> dict[str, object]:
    user, password = access.address.user, access.password()
    options = dict(access.options)
    if password is None and is_thick(options):
        # A wallet or the operating system says who the user is; thin mode knows neither (DPY-3001).
        return {"externalauth": True}
    if password is None and "wallet_location" in options:
        raise ToolkitError(
            "the wallet has no password that thin mode can read",
            code="TK-0201",
            hint="add a password reference (env, keyring, command) besides the wallet, or set `thick = true` "
            "for a wallet with logins",
        )
    if user is None and not is_thick(options):
        raise ToolkitError(
            "the URL has no user",
            code="TK-0111",
            hint="write `oracle://user@host:1521/service`, or set `thick = true` if the operating system or a "
            "wallet provides the user",
        )
    return {"user": user, "password": password}


def _arguments(oracledb: ModuleType, access: Access, options: dict[str, str]) -> dict[str, object]:
    chosen: dict[str, object] = {"tcp_connect_timeout": CONNECT_SECONDS, "expire_time": KEEP_ALIVE_MINUTES}
    if "wallet_location" in options and (secret := access.wallet_password()) is not None:
        chosen["wallet_password"] = secret
    for name in ("config_dir", "wallet_location", "proxy_user"):
        if name in options and not (name == "config_dir" and is_thick(options)):
            chosen[name] = options[name]
    if "ssl_server_cert_dn" in options:
        chosen["ssl_server_cert_dn"] = options["ssl_server_cert_dn"]
    if "ssl_server_dn_match" in options:
        chosen["ssl_server_dn_match"] = options["ssl_server_dn_match"].lower() not in FALSE
    if "mode" in options:
        chosen["mode"] = _auth_mode(oracledb, options["mode"])
    return chosen


def _auth_mode(oracledb: ModuleType, name: str) -> object:
    # SYSBACKUP is spelled SYSBKP by the driver.
    spelled = {"SYSBACKUP": "SYSBKP", "SYSDG": "SYSDGD", "SYSKM": "SYSKMT"}.get(name.upper(), name.upper())
    mode: object = getattr(oracledb.AuthMode, spelled, None)
    if mode is None:
        known = ", ".join(mode.name.lower() for mode in oracledb.AuthMode)
        raise ToolkitError(f"`{name}` is not a connection mode", code="TK-0102", hint=f"one of {known}")
    return mode


def failures() -> tuple[type[BaseException], ...]:
    """Return the exceptions a call of the driver may raise."""
    oracledb = _driver()
    error: type[BaseException] = oracledb.Error
    return (error, OSError)


def translate(error: BaseException, secrets: Iterable[str] = ()) -> DatabaseError:
    """Turn what the driver raised into our own error, with the database's code and without these secrets."""
    cause = error.args[0] if error.args else None
    message = errors.without_secrets(errors.tidy_message(str(getattr(cause, "message", None) or error)), secrets)
    number, full = getattr(cause, "code", 0), str(getattr(cause, "full_code", "") or "")
    dead = bool(getattr(cause, "is_session_dead", False))
    code = full or _code_in(message) or type(error).__name__
    if full == "DPY-4011" and isinstance(number, int) and number:
        # The driver rewrites codes that mean a lost session; the server's own says more.
        code = f"ORA-{number:05d}"
    lost = dead or full in _LOST or code in _LOST or (isinstance(error, OSError) and not full)
    # What a parallel server or a trigger met stands below the frame, and is what counts.
    cause, headline = errors.cause_code(code, message), errors.headline(code, message)
    cancelled = bool({code, cause} & {"ORA-01013", "DPY-4024"})
    unsent = lost and bool({code, full} & _UNSENT)
    return DatabaseError(message, code=cause, lost=lost, unsent=unsent, cancelled=cancelled, headline=headline)


def failed_with(code: int, message: str, secrets: Iterable[str]) -> DatabaseError:
    """Return what a block caught as our own error: its SQLCODE and SQLERRM."""
    # NO_DATA_FOUND has the code of the standard, an exception of somebody's own has 1 (PL/SQL, SQLCODE)
    known = f"ORA-{ {100: 1403, 1: 6510}.get(code, -code):05d}"
    text = errors.without_secrets(errors.tidy_message(message), secrets)
    cause = errors.cause_code(known, text)
    return DatabaseError(text, code=cause, lost=cause in _LOST, headline=errors.headline(known, text))


def _code_in(message: str) -> str:
    found = re.search(r"\b(?:ORA|DPY|DPI)-\d{4,5}\b", message)
    return found[0] if found else ""


def _cannot_connect(error: BaseException, address: Address) -> ToolkitError:
    if isinstance(error, socket.gaierror):
        return ToolkitError(
            f"cannot connect to `{address.display}`: the host `{address.host}` is unknown",
            code="TK-0201",
            hint="check the host name, and whether the name server can be reached",
        )
    known = translate(error)
    unheard = known.code in _UNHEARD or isinstance(error, TimeoutError)
    refused = (UnheardError if unheard else ToolkitError)(
        f"cannot connect to `{address.display}`: {known.sentence}",
        code="TK-0201",
        hint=_advice(known),
        database_code=known.code,
    )
    if isinstance(refused, UnheardError):
        refused.timed_out = known.code in _TIMED_OUT or "timed out" in known.message.lower()
    return refused


def _advice(known: DatabaseError) -> str | None:
    advice = errors.explain(known.code, known.message)
    return f"{advice.meaning}: {advice.advice}" if advice else None


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Let a cancel or a close fail in silence: the session is gone either way.

    python-oracledb (thin) raises AttributeError where its transport was taken away by a call that was cut.
    """
    with contextlib.suppress(*failures(), AttributeError):
        yield
