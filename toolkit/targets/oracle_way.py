"""The way to an Oracle server: how its address is written for the driver, and whether it is verified.

Over TCP nothing is encrypted; over TLS the driver verifies the name in the certificate unless told not to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.engines import engine
from toolkit.targets.base import Access, Exposure

DEFAULT_PORT = 1521
_SERVICE = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_.$#-]*(?::(?:dedicated|shared))?(?:/[A-Za-z0-9_.$#-]+)?", re.IGNORECASE
)
_ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_HOST = re.compile(r"\[?[A-Za-z0-9_.:,-]+\]?")

# Parameters of Easy Connect Plus we let through; the driver would drop a misspelt one without a word.
_EASY_CONNECT = frozenset(
    {
        "expire_time",
        "https_proxy",
        "https_proxy_port",
        "retry_count",
        "retry_delay",
        "sdu",
        "ssl_server_cert_dn",
        "ssl_server_dn_match",
        "transport_connect_timeout",
        "wallet_location",
    }
)
_PROTOCOL, _TLS = "protocol", "tcps://"
FALSE = frozenset({"false", "off", "no", "0"})


def connect_string(address: Address, options: dict[str, str]) -> str:
    """Return the Easy Connect Plus string or the alias of an address.

    Raises:
        ToolkitError: TK-0102 for what the driver would misread: a SID, a bare host, a misspelt parameter.
    """
    if not address.host:
        if not _ALIAS.fullmatch(address.database):
            raise _bad_address(f"`{address.database}` is not an alias in tnsnames.ora")
        return address.database
    if not _HOST.fullmatch(address.host):
        raise _bad_address(f"`{address.host}` is not a valid host")
    service = _service(address)
    parameters = "&".join(f"{name}={value}" for name, value in _easy_connect(address))
    protocol = _TLS if _uses_tls(address, options) else ""
    own_ports = "," in address.host and ":" in address.host
    port = "" if own_ports else f":{address.port or DEFAULT_PORT}"
    return f"{protocol}{address.host}{port}/{service}{'?' if parameters else ''}{parameters}"


def exposure(access: Access) -> Exposure | None:
    """Return what is at stake on the way to a server; None where TLS verifies it, or nobody can tell.

    Of an alias and in thick mode `tnsnames.ora` and `sqlnet.ora` decide. The password is never sent as it is
    (O5LOGON); thin mode verifies the name in the certificate unless told not to (python-oracledb,
    "ssl_server_dn_match").

    Raises:
        ToolkitError: TK-0102, as `connect_string`.
    """
    options = dict(access.options)
    given = {**dict(access.address.parameters), **options}
    if not access.address.host or is_thick(options):
        return None
    where = access.address.host
    if not connect_string(access.address, options).startswith(_TLS):
        return Exposure(
            f"nothing verifies that `{where}` is the server, and nothing is encrypted (TCP)",
            "whoever is on the way can read and change all that is sent",
            'use TLS: `protocol = "tcps"` in the options of the profile and its port, mostly 2484',
        )
    if given.get("ssl_server_dn_match", "true").lower() in FALSE:
        return Exposure(
            f"nothing verifies that the certificate of `{where}` is the server's (ssl_server_dn_match is off)",
            "whoever has any certificate of the same authority can answer in its place",
            "remove `ssl_server_dn_match`, or give the server's name as `ssl_server_cert_dn`",
        )
    return None


def _uses_tls(address: Address, options: Mapping[str, str]) -> bool:
    given = options.get(_PROTOCOL) or dict(address.parameters).get(_PROTOCOL, "tcp")
    known = engine(address.engine).verifying[_PROTOCOL]
    if given not in known:  # it would be TCP otherwise, without a word
        hint = f"use one of {', '.join(known)}"
        raise ToolkitError(f"`{_PROTOCOL}` cannot be `{given}`", code="TK-0102", hint=hint)
    return given == "tcps"


def _service(address: Address) -> str:
    named = dict(address.parameters)
    if "sid" in named:
        raise _bad_address("a SID is not accepted; use a service name")
    service = address.database or named.get("service_name", "")
    if service.lower().startswith("sid=") or not service:
        raise _bad_address("the URL has no service")
    if not _SERVICE.fullmatch(service):
        raise _bad_address(f"`{service}` is not a valid service name")
    return service


def _easy_connect(address: Address) -> list[tuple[str, str]]:
    chosen = [pair for pair in address.parameters if pair[0] not in ("service_name", _PROTOCOL)]
    for name, value in chosen:
        if name not in _EASY_CONNECT:
            known = ", ".join(sorted({*_EASY_CONNECT, _PROTOCOL}))
            raise _bad_address(f"`{name}` is not a connection parameter; known: {known}")
        if re.search(r"[\s&?()'\"]", value):
            raise _bad_address(f"the value of `{name}` has illegal characters")
    return chosen


def _bad_address(message: str) -> ToolkitError:
    return ToolkitError(message, code="TK-0102", hint="`oracle://user@host:1521/service` or `oracle://user@alias`")


def is_thick(options: dict[str, str]) -> bool:
    return options.get("thick", "no").lower() in ("yes", "true", "1")
