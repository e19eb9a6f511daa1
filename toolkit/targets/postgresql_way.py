"""The way to a PostgreSQL server: whether it is verified, and why there was none.

Libpq takes any server that answers for the right one unless it is told to verify it, and gives it the password in
clear text if it asks (libpq, "SSL Support", "Parameter Key Words").
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.targets.base import Access, Exposure, UnheardError

if TYPE_CHECKING:
    import psycopg

    from toolkit.model.address import Address

_LOCAL = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
_GSS = "gss"
_BY_AUTHORITY = "verify-ca"
_VERIFIED = frozenset({"verify-full", _GSS})
_KNOWS_REQUIRE_AUTH = 16_00_00
"""Release of libpq that first knew `require_auth`."""

_RESOLVED = frozenset({"service", "servicefile"})
"""What only names other settings, which outrank those of the environment."""

_CONNECT_HINTS = (
    (
        "authentication method requirement",
        "the server asks for the password in a form that is refused: in clear text it"
        " is only sent to a verified server (sslmode=verify-full and sslrootcert), or with require_auth=password",
    ),
    (
        "does not match host name",
        "the certificate is for another name: write the name that it has in the URL (and the"
        " address as `?hostaddr=`), or somebody else answers there",
    ),
    (
        "certificate verify failed",
        "the certificate is not from the authority in sslrootcert: give the file of the right"
        " one, or somebody else answers there",
    ),
    (
        "root certificate file",
        "give the file of the authority's certificate: `sslrootcert`, or `system` for those of this host",
    ),
    ("server does not support ssl", "the server has no TLS (ssl = off), or somebody else answers there"),
    ("connection refused", "no server listens there: check host and port, and listen_addresses on the server"),
    ("no such file or directory", "no server listens at that socket: check the folder, or give a host"),
    ("name or service not known", "unknown host: check its name"),
    ("could not translate host name", "unknown host: check its name"),
    ("failed to resolve host", "unknown host: check its name"),
    ("timeout", "the host does not respond: check firewall and network"),
    ("network is unreachable", "the host cannot be reached from here: check the network"),
    ("no route to host", "the host cannot be reached from here: check the network"),
    ("no password supplied", "give the profile a password source (env, keyring, command), or use ~/.pgpass"),
    (
        "password authentication failed",
        "user or password is wrong: try again, or check the profile's password source",
    ),
    ("no pg_hba.conf entry", "pg_hba.conf does not allow this user from here: ask for an entry, or use TLS"),
    ("too many clients", "all connections are in use: raise max_connections, or wait"),
    ("remaining connection slots", "all connections are in use: raise max_connections, or wait"),
    ("hot standby mode is disabled", "this standby takes no queries (hot_standby = off): connect to the primary"),
    ("system is shutting down", "the server is shutting down: wait until it is back"),
    ("the database system is", "the server is starting up or recovering: wait and try again"),
    ("not currently accepting", "the database accepts no connections (ALLOW_CONNECTIONS false)"),
    ("is not permitted to log in", "the user has no LOGIN: ask for another, or for ALTER ROLE ... LOGIN"),
    ("ssl", "client and server do not agree on TLS: see sslmode and the certificates"),
)


_SAID_BY_SERVER = re.compile(r"(?m)(?:^|: )\w+:  \S")
"""libpq gives no SQLSTATE for a failed login. It writes what the server said as severity, colon and two spaces
(fe-protocol3.c, pqBuildErrorMessage3); the severity is in the server's language."""
_TIMED_OUT = re.compile(r"timeout expired|timed out")
_NOT_THERE = re.compile(r'\b(database|role) ".*" does not exist')
_MISSING = {
    "database": "the database does not exist: check the end of the target URL",
    "role": "the user does not exist: check the name before @ in the target URL",
}


def settings_of(access: Access) -> dict[str, str]:
    """Return what the URL says, and what the profile says of verifying the server, which counts more."""
    from toolkit.model.engines import engine

    own = {name: value for name, value in access.options if name in engine(access.address.engine).verifying}
    return {**dict(access.address.parameters), **own}


def is_local(host: str) -> bool:
    """Tell whether a host, as libpq chooses it, is this one: a name, an address, the folder of a socket."""
    return host in _LOCAL or host.startswith("/")


def exposure(given: Mapping[str, str], host: str) -> Exposure | None:
    """Return what is at stake on the way to a server; None where it is verified, or is this host.

    Args:
        given: settings of libpq that a URL or profile has.
        host: as libpq chooses it.
    """
    mode = _verifying(given)
    if is_local(host):
        return None
    if mode in _VERIFIED:
        return None
    only = " of this name" if mode == _BY_AUTHORITY else ""
    return Exposure(
        f"nothing verifies that `{host}` is the server{only} (sslmode is {mode})",
        "whoever answers in its place can read and change all that is sent",
        'set `sslmode = "verify-full"` and `sslrootcert` in the options of the profile, or in the URL',
    )


def required_of(given: Mapping[str, str], host: str) -> dict[str, str]:
    """Return what keeps the password from being sent in clear text to another host that nobody verified.

    Nothing where the profile, the URL or the environment says what is required.
    """
    from psycopg import pq

    verified = _verifying(given) in (*_VERIFIED, _BY_AUTHORITY)
    if is_local(host) or verified or _setting(given, "require_auth"):
        return {}
    return {"require_auth": "!password"} if pq.version() >= _KNOWS_REQUIRE_AUTH else {}


def _verifying(given: Mapping[str, str]) -> str:
    """Return how TLS is used, or `gss` where Kerberos encrypts: that verifies the server, too."""
    if _setting(given, "gssencmode") == "require":
        return _GSS
    # with the authorities of the host, libpq begins with verify-full
    default = "verify-full" if _setting(given, "sslrootcert") == "system" else "prefer"
    return _setting(given, "sslmode") or default


def _setting(given: Mapping[str, str], name: str) -> str:
    """Return a setting of libpq, from the environment if it is not given."""
    return given.get(name) or os.environ.get(f"PG{name.upper().replace('_', '')}") or ""


def led_to(info: psycopg.ConnectionInfo) -> dict[str, str]:
    """Return what a session connected with: one of several hosts, environment and service file included."""
    found = {**info.get_parameters(), "host": info.host, "port": str(info.port), "password": info.password}
    if "hostaddr" in found:
        found["hostaddr"] = info.hostaddr
    return {name: value for name, value in found.items() if value and name not in _RESOLVED}


def cannot_connect(address: Address, error: psycopg.Error) -> ToolkitError:
    import psycopg

    text = str(error).strip()
    lowered = text.lower()
    if "invalid connection option" in lowered or "invalid uri query" in lowered:
        return ToolkitError(
            f"the target URL has a parameter that libpq does not know: {_last_line(text)}",
            code="TK-0102",
            hint="use libpq's names, such as sslmode=require",
        )
    named = _NOT_THERE.search(lowered)
    hint = _MISSING[named[1]] if named else hint_of(text)
    sentence = f"cannot connect to `{address.display}`: {_last_line(text)}"
    if error.sqlstate is not None or _SAID_BY_SERVER.search(text):
        return ToolkitError(sentence, code="TK-0201", hint=hint, database_code=error.sqlstate)
    unheard = UnheardError(sentence, code="TK-0201", hint=hint)
    unheard.timed_out = isinstance(error, psycopg.errors.ConnectionTimeout) or bool(_TIMED_OUT.search(lowered))
    return unheard


def hint_of(text: str) -> str | None:
    """Return what helps against an error of libpq's while it connects; None where nothing is known."""
    lowered = text.lower()
    return next((hint for words, hint in _CONNECT_HINTS if words in lowered), None)


def _last_line(text: str) -> str:
    """Return the reason: libpq tells every address it tried, the last line the last, and may add a question.

    What the server adds (`DETAIL`, `HINT`) is not the reason, but stands behind it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().endswith("?")]
    reasons = [line for line in lines if not line.startswith(("DETAIL:", "HINT:"))]
    detail = lines[-1].partition(":")[2].strip() if lines and lines[-1].startswith("DETAIL:") else ""
    said = reasons[-1] if reasons else "no reason given"
    return f"{said} ({detail.rstrip('.')})" if detail else said


def check_same(found: Mapping[str, str], first: Mapping[str, str], display: str, *, looked_at: bool) -> None:
    """Refuse a session that is not where and as the first one was: an address can lead elsewhere meanwhile.

    Args:
        found: user, database and place of the session.
        first: of the first session.
        display: the address.
        looked_at: whether the run may work on the server only that was looked at.

    Raises:
        ToolkitError: TK-0201 for another user, TK-0302 for another database, TK-0313 for another server.
    """
    if found["user_name"] != first["user_name"]:
        raise ToolkitError(
            f"the session at `{display}` works as `{found['user_name']}`, the first one did as "
            f"`{first['user_name']}`",
            code="TK-0201",
            hint="somebody changed the role that this user takes on (ALTER ROLE ... SET role): begin again",
        )
    if found["database_id"] != first["database_id"]:
        raise ToolkitError(
            f"`{display}` leads to another database than before: oid and system identifier are "
            f"{found['database_id']} and were {first['database_id']}",
            code="TK-0302",
            hint="find out what the address leads to, then begin again",
        )
    if looked_at and found["place"] != first["place"]:
        raise ToolkitError(
            f"`{display}` leads to another server than the one that was looked at: {found['place']} "
            f"instead of {first['place']}",
            code="TK-0313",
            hint="an approval is for one server: approve it again where it is now",
        )
