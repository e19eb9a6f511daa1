"""Reads target URLs. A password is refused and never shown, in whatever spelling it comes.

`duckdb:///rel.duckdb`, `duckdb:////abs.duckdb`, `postgresql://user@host:port/db`,
`oracle://user@host:1521/service` (the path is a service name) and `oracle://user@tnsalias`. Hosts of
an Oracle cluster are `host1,host2:1521` or `host1:1521,host2:1522`; one of its instances is
`service:dedicated/instance`.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from toolkit.documents import HOW_TO_REFER, did_you_mean
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.engines import EngineDeclaration, engines
from toolkit.model.words import EngineName

_PLACES = {"user": "before the `@`", "dbname": "after the `/` that follows the host"}
"""What libpq takes as parameters, too: a profile's limits and leases hold for what the URL names in one place."""
_LONGEST = 2000
_HOST = re.compile(r"\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[\w.-]+")
_ALIAS = re.compile(r"[A-Za-z][\w.$#-]*", re.ASCII)
_SERVICE = re.compile(r"[\w.$#-]+(?::(?:dedicated|shared))?(?:/[\w.$#-]+)?", re.ASCII | re.IGNORECASE)
_POOLED = re.compile(r"[\w.$#-]+:pooled", re.ASCII | re.IGNORECASE)
_PLACE = re.compile(r"[\w.-]+(?::\d{1,5})?", re.ASCII)
_SECRET_PARAMETER = re.compile(r".*(?:pass(?:word|wd|phrase)?|pwd|secret|token)", re.IGNORECASE)


def parse_url(text: str) -> Address:
    """Read a target URL.

    Args:
        text: as typed; user and database may be percent-encoded.

    Raises:
        ToolkitError: TK-0108 when it holds a password, TK-0111 when it is no URL of a target; messages name only
            parts that cannot be a secret.
    """
    scheme, separator, rest = text.partition("://")
    if not separator or len(text) > _LONGEST:
        raise ToolkitError(
            "this is not a target URL",
            code="TK-0111",
            hint="write " + "; ".join(one.url_form for one in _by_scheme()),
        )
    engine = _engine(scheme)
    if any(not char.isprintable() or char.isspace() for char in rest):
        raise _bad(engine, "has a space or a control character")
    declared = engines()[engine]
    if declared.embedded:
        return _embedded(engine, rest)
    user, rest = _split_user(engine, rest)
    location, _, query = rest.partition("?")
    authority, slash, path = location.partition("/")
    host, port = _host_and_port(engine, authority)
    parameters = _parameters(engine, query)
    if declared.service_names:
        return _service(engine, user, host, port, path if slash else None, parameters)
    database = _decode(engine, path)
    if "/" in path:
        raise _bad(engine, "has more than one `/` after the host")
    for name, place in _PLACES.items():
        if any(given == name for given, _ in parameters):
            raise _bad(engine, f"has `{name}` as a parameter; it belongs {place}")
    return Address(engine, database, user, host, port, parameters)


def _by_scheme() -> list[EngineDeclaration]:
    """Return the engines, the one first that needs no server."""
    return sorted(engines().values(), key=lambda one: not one.embedded)


def _engine(scheme: str) -> EngineName:
    known = {each: one.name for one in engines().values() for each in one.schemes}
    engine = known.get(scheme.lower())
    if engine is None:
        shown = scheme if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]{0,20}", scheme) else "this"
        raise ToolkitError(
            f"`{shown}` is not a kind of target",
            code="TK-0111",
            hint=did_you_mean(shown, [one.name for one in _by_scheme()]),
        )
    return engine


def _embedded(engine: EngineName, rest: str) -> Address:
    if rest and not rest.startswith("/"):
        raise _bad(engine, "has too few slashes")
    location, _, query = rest.partition("?")
    path = _decode(engine, location.removeprefix("/"))
    if path.endswith("/"):
        raise _bad(engine, "names a folder")
    parameters = _parameters(engine, query)
    if any(one not in {("create", "yes"), ("external", "yes")} and one[0] != "files" for one in parameters):
        raise _bad(engine, "has a parameter other than `create=yes`, `files=PATH` and `external=yes`")
    if ("files", "") in parameters:
        raise _bad(engine, "has no path after `files=`")
    return Address(engine, "" if path == ":memory:" else path, parameters=parameters)


def _split_user(engine: EngineName, rest: str) -> tuple[str | None, str]:
    """Split at the last `@` anywhere: a password may hold any character, and must not end up in a host."""
    before, at, after = rest.rpartition("@")
    if not at:
        return None, rest
    if ":" in before or "/" in before:
        raise ToolkitError(
            "the URL contains a password (write `@` in a name as `%40`)", code="TK-0108", hint=HOW_TO_REFER
        )
    if any(char in before for char in "@?#"):
        raise _bad(engine, "has a user name that cannot be read")
    user = _decode(engine, before)
    if not user:
        raise _bad(engine, "has no user before the `@`")
    return user, after


def _host_and_port(engine: EngineName, authority: str) -> tuple[str | None, int | None]:
    if engines()[engine].socket_folders and authority.lower().startswith("%2f"):
        return _decode(engine, authority), None
    by_service = engines()[engine].service_names
    if by_service and "," in authority:
        return _hosts(engine, authority)
    host, colon, port = authority, "", ""
    if not authority.endswith("]"):
        host, colon, port = authority.rpartition(":") if ":" in authority else (authority, "", "")
    if by_service and ":" in host and not host.startswith("["):
        raise _sid()
    if host and _HOST.fullmatch(host) is None:
        raise _bad(engine, "has a host that cannot be read")
    if not colon:
        return (host.strip("[]") or None), None
    if not host:
        raise _bad(engine, "has a port but no host")
    if not port.isascii() or not port.isdigit() or not 1 <= int(port[:6]) <= 65535 or len(port) > 5:
        raise _bad(engine, "has a port that is not a number from 1 to 65535")
    return host.strip("[]"), int(port)


def _hosts(engine: EngineName, authority: str) -> tuple[str, int | None]:
    """Read several hosts as Easy Connect does: one port at the end for all, or one after each."""
    places = authority.split(",")
    if not all(_PLACE.fullmatch(place) for place in places):
        raise _bad(engine, "has a host that cannot be read")
    ports = [place.partition(":")[2] for place in places]
    if any(port and not 1 <= int(port) <= 65535 for port in ports):
        raise _bad(engine, "has a port that is not a number from 1 to 65535")
    if ports[-1] and not any(ports[:-1]):
        return authority.rpartition(":")[0], int(ports[-1])
    if any(ports) and not all(ports):
        raise _bad(engine, "gives a port for only some of its hosts")
    return authority, None


def _service(
    engine: EngineName,
    user: str | None,
    host: str | None,
    port: int | None,
    path: str | None,
    parameters: tuple[tuple[str, str], ...],
) -> Address:
    if host is None:
        raise _bad(engine, "has no host")
    if any(name.lower() == "sid" for name, _ in parameters):
        raise _sid()
    if path is None and port is None:
        if _ALIAS.fullmatch(host) is None:
            raise _bad(engine, "names neither a service nor an alias of tnsnames.ora")
        return Address(engine, host, user, None, None, parameters)
    service = _decode(engine, path or "")
    if not service:
        raise _bad(engine, "has no service")
    if _POOLED.fullmatch(service):
        raise ToolkitError(
            "a pooled server (DRCP) is not suitable for measurements: its sessions are shared",
            code="TK-0111",
            hint="write the service without `:pooled`, or with `:dedicated`",
        )
    if _SERVICE.fullmatch(service) is None:
        raise _sid() if ":" in service else _bad(engine, "has a service name that cannot be read")
    return Address(engine, service, user, host, port, parameters)


def _parameters(engine: EngineName, query: str) -> tuple[tuple[str, str], ...]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), errors="strict")
    except ValueError:
        raise _bad(engine, "has parameters that cannot be read") from None
    for name, value in pairs:
        if _SECRET_PARAMETER.fullmatch(name):
            raise ToolkitError("the URL contains a password", code="TK-0108", hint=HOW_TO_REFER)
        if not (name + value).isprintable():
            raise _bad(engine, "has parameters that cannot be read")
    return tuple(pairs)


def _decode(engine: EngineName, text: str) -> str:
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        decoded = "\x00"
    if not decoded.isprintable():
        raise _bad(engine, "has a percent-encoded character that is not allowed")
    return decoded


def _sid() -> ToolkitError:
    return ToolkitError(
        "the URL seems to contain a SID, but the path must be a service name",
        code="TK-0111",
        hint="write `oracle://user@host:1521/service`; `lsnrctl services` on the server shows the service names",
    )


def _bad(engine: EngineName, sentence: str) -> ToolkitError:
    return ToolkitError(
        f"the {engine} URL {sentence}", code="TK-0111", hint=f"write it as {engines()[engine].url_form}"
    )
