"""Target profiles: `targets.toml`, mode 0600, with references to secrets only.

```toml
[targets.dwh]
url = "oracle://dba@db1:1521/DWH"
password = {env = "DWH_PASSWORD"}
production = true
max_degree = 16
licenses.diagnostics_pack = {by = "J. Doe", on = 2026-01-31, until = 2027-01-31}
```
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from toolkit.config import paths
from toolkit.config.licences import Licence, read_licences, written_licence
from toolkit.config.paths import replace_file, targets_file
from toolkit.config.secrets import SecretRef, read_arguments, read_reference, written_reference
from toolkit.config.urls import parse_url
from toolkit.documents import TomlDocument, check_no_secret, did_you_mean, lock_file, nearest, read_document
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.engines import engine, engines
from toolkit.model.words import Restored

DRIVER_OPTIONS = ("thick", "config_dir", "wallet_location", "mode", "proxy_user", "lib_dir", "create",
                  "bin_dir", "rman_connect", "datapump_connect")  # fmt: skip
_KEYS = (
    "url", "password", "wallet_password", "production", "max_degree", "work_schema", "licenses", "options",
    "approved_only", "standbys", "consumer_group", "restart", "sysdba", "restore",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}", re.ASCII)
_MOST_DEGREE = 4096
_LOGON = re.compile(r"(?:^|\s)[^/@\s]+/[^/@\s]+(?:@\S+)?\s+as\s+sys", re.IGNORECASE)
"""A user with its password among the arguments of a client: `sys/PASSWORD@orcl as sysdba`."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A target with a name. `production` None means unknown."""

    name: str
    url: str
    address: Address
    password: SecretRef | None = None
    production: bool | None = None
    max_degree: int | None = None
    work_schema: str | None = None
    licences: Mapping[str, Licence] = field(default_factory=dict)
    options: tuple[tuple[str, str], ...] = ()
    wallet_password: SecretRef | None = None
    approved_only: bool = False
    """Only plans and experiments that were approved run on it."""
    standbys: bool | None = None
    """Whether standby databases follow it; None means that nobody said."""
    consumer_group: str | None = None
    """Resource consumer group that working sessions switch to."""
    restart: tuple[str, ...] = ()
    """The command that starts the server again, where a setting may need that."""
    sysdba: tuple[str, ...] = ()
    """The client that connects as SYSDBA and reads statements, also while the server is down."""
    restore: str | None = None
    """What is restored of an unusual degree or LOGGING; None asks."""
    of_host: bool = False
    """It is in the settings of the host, and rules for all its users."""

    def declared(self, today: date) -> frozenset[str]:
        """Return the licences that hold today."""
        return frozenset(name for name, licence in self.licences.items() if licence.holds(today))


def load_profiles(path: Path | None = None) -> dict[str, Profile]:
    """Read all profiles by name, of the host and then of the user; none when there is no file.

    Args:
        path: the only file to read.

    Raises:
        ToolkitError: TK-0101, TK-0106, TK-0108 or TK-0111 with file and line.
    """
    return _read(path) if path is not None else {one.name: one for one in ruling_profiles()}


def ruling_profiles() -> tuple[Profile, ...]:
    """Read the profiles that rule: those of the host, whatever `DBATK_CONFIG` says, and those of the user.

    One of the user's that has the name of one of the host's is used instead of it, and ruled by it.

    Raises:
        ToolkitError: as `load_profiles`.
    """
    of_host, own = paths.of_host(paths.TARGETS), targets_file()
    if of_host is None:
        return tuple(_read(own).values())
    found = tuple(replace(one, of_host=True) for one in _read(of_host).values())
    return found if own.exists() and own.samefile(of_host) else (*found, *_read(own).values())


def _read(file: Path) -> dict[str, Profile]:
    if not file.exists():
        return {}
    document = read_document(file)
    check_no_secret(document, skip=frozenset())
    document.refuse_other_tables(("targets",), "write `[targets.NAME]`")
    targets = document.data.get("targets", {})
    if not isinstance(targets, Mapping):
        raise document.error("`targets` must be a table", table="", key="targets", hint="write `[targets.NAME]`")
    return {name: _profile(document, name, data) for name, data in targets.items()}


def find_profile(name: str, path: Path | None = None) -> Profile:
    """Return the profile of a name.

    Raises:
        ToolkitError: TK-0111 with the nearest name.
    """
    return profile_of(name, load_profiles(path))


def profile_of(name: str, profiles: Mapping[str, Profile]) -> Profile:
    """Return the profile of a name among all; see `find_profile`."""
    if name in profiles:
        return profiles[name]
    if near := nearest(name, profiles):
        hint = f"did you mean `{near}`?"
    elif name.endswith((".duckdb", ".db", ".ddb")):
        hint = f"for a file write `duckdb:///{name}`"
    elif _NAME.fullmatch(name) is None:
        hint = "write a URL without password: `oracle://user@host:1521/service`, `postgresql://user@host:5432/db`"
    else:
        hint = f"`dbatk target add {_shown(name)} URL` saves one, `dbatk target list` shows them; or write a URL"
    raise ToolkitError(f"unknown target `{_shown(name)}`", code="TK-0111", hint=hint)


def add_profile(profile: Profile, *, replaces: bool = False, path: Path | None = None) -> None:
    """Write a profile.

    Raises:
        ToolkitError: TK-0205 when the name is taken and `replaces` is not given, TK-0405.
    """
    with _changing(path or targets_file()) as profiles:
        if profile.name in profiles and not replaces:
            raise ToolkitError(
                f"target `{profile.name}` already exists",
                code="TK-0205",
                hint="choose another name, or use `--replace`",
            )
        profiles[profile.name] = profile


def remove_profile(name: str, path: Path | None = None) -> None:
    """Remove a profile.

    Raises:
        ToolkitError: TK-0111 when there is none, TK-0405 when the file cannot be written.
    """
    if find_profile(name, path).of_host and path is None and name not in _read(targets_file()):
        raise ToolkitError(
            f"target `{name}` is one of this host",
            code="TK-0405",
            hint=f"whoever may write `{paths.SYSTEM_FOLDER / paths.TARGETS}` removes it there",
        )
    with _changing(path or targets_file()) as profiles:
        profiles.pop(name, None)


def check_profile_name(name: str) -> str:
    """Return the name of a profile.

    Raises:
        ToolkitError: TK-0104 when it could be taken for a URL or could not be typed.
    """
    if _NAME.fullmatch(name) is None:
        raise ToolkitError(
            f"`{_shown(name)}` is not a valid name for a target",
            code="TK-0104",
            hint="start with a letter, then letters, digits, `_`, `.` and `-`, at most 60",
        )
    return name


def parse_options(pairs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read driver options typed as `key=value`.

    Raises:
        ToolkitError: TK-0101 for an unknown one, TK-0102 for another shape.
    """
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not value:
            raise ToolkitError(
                "a driver option must be written as `key=value`",
                code="TK-0102",
                hint="such as `mode=sysdba` or `thick=true`",
            )
        found[name] = value
    return _options(found)


def check_options(options: tuple[tuple[str, str], ...], address: Address) -> tuple[tuple[str, str], ...]:
    """Return options of a profile; what would verify the server must be the engine's own, or it would do nothing.

    Raises:
        ToolkitError: TK-0101 for an option of another engine, TK-0102 for a value that the option does not take,
            in the options or in the URL.
    """
    own = engine(address.engine).verifying
    others = {one for each in engines().values() for one in each.verifying}.difference(own)
    for name, value in (*address.parameters, *options):
        if (known := own.get(name)) and value not in known:
            raise ToolkitError(
                f"`{name}` cannot be `{_shown(value)}`", code="TK-0102", hint=f"use one of {', '.join(known)}"
            )
    for name, _ in options:
        if name in others:
            hint = f"use one of {', '.join(own)}" if own else f"remove `{name}`"
            raise ToolkitError(
                f"`{name}` is not an option of {engine(address.engine).title}", code="TK-0101", hint=hint
            )
    return options


def _shown(name: str) -> str:
    """A name that may be shown: something with `@`, `:` or `=` could be a mistyped address with a password."""
    return "..." if any(char in name for char in "@:/=") or not name.isprintable() else name[:60]


# -- reading ------------------------------------------------------------------------------------------------------
def _profile(document: TomlDocument, name: str, data: object) -> Profile:
    table = f"targets.{name}"
    if not isinstance(data, Mapping):
        raise document.error(f"`{name}` must be a table", table="targets", key=name, hint=f"write `[{table}]`")
    for key in data:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS)
            raise document.error(f"a target has no `{key}`", table=table, key=key, code="TK-0101", hint=hint)
    key = "url"
    try:
        check_profile_name(name)
        url = _text(data, "url") or ""
        address = parse_url(url)
        key = "password"
        password = read_reference(data[key]) if key in data else None
        key = "wallet_password"
        wallet_password = read_reference(data[key]) if key in data else None
        key = "licenses"
        licences = read_licences(data.get(key, {}))
        key = "options"
        options = check_options(_options(data.get(key, {})), address)
        key = "production"
        production = _flag(data, key)
        key = "max_degree"
        degree = _degree(data.get(key))
        key = "approved_only"
        approved_only = bool(_flag(data, key))
        key = "standbys"
        standbys = _flag(data, key)
        key = "consumer_group"
        group = _group(_text(data, key), address)
        key = "restart"
        restart = read_arguments(key, data.get(key, []), "/usr/bin/systemctl", "restart", "postgresql")
        key = "sysdba"
        sysdba = _sysdba(data.get(key, []), address)
        key = "restore"
        restore = _restore(data.get(key), address)
        key = "work_schema"
        return Profile(
            name, url, address, password, production, degree, _text(data, key), licences, options, wallet_password,
            approved_only, standbys, group, restart, sysdba, restore,
        )  # fmt: skip
    except ToolkitError as error:
        raise document.error(
            error.message, table=table, key=key if key in data else None, code=error.code, hint=error.hint
        ) from None


def _bad(sentence: str, hint: str) -> ToolkitError:
    return ToolkitError(sentence, code="TK-0106", hint=hint)


def _text(data: Mapping[str, object], key: str) -> str | None:
    value = data.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip() or not value.isprintable()):
        raise _bad(f"`{key}` must be a string", f'write `{key} = "..."`')
    return value


def _group(name: str | None, address: Address) -> str | None:
    if name is not None and not engine(address.engine).consumer_groups:
        raise _bad(f"{engine(address.engine).title} has no resource consumer groups", "remove `consumer_group`")
    return name


def _restore(value: object, address: Address) -> str | None:
    if value is not None and not engine(address.engine).stored_degrees:
        raise _bad(f"an object of {engine(address.engine).title} has no degree of its own", "remove `restore`")
    if value is not None and value not in tuple(Restored):
        raise _bad("`restore` cannot have this value", f"use one of {', '.join(Restored)}")
    return None if value is None else str(value)


def _sysdba(value: object, address: Address) -> tuple[str, ...]:
    argv = read_arguments("sysdba", value, "sqlplus", "-L", "-S", "/", "as", "sysdba")
    if argv and not engine(address.engine).sysdba:
        raise _bad(f"{engine(address.engine).title} has no SYSDBA", "remove `sysdba`")
    if _LOGON.search(" ".join(argv[1:])):
        raise ToolkitError(
            "`sysdba` shows a password to all who list the processes",
            code="TK-0108",
            hint="let the operating system (`/`) or a wallet (`/@alias`) tell who connects",
        )
    return argv


def _flag(data: Mapping[str, object], key: str) -> bool | None:
    value = data.get(key)
    if value is not None and not isinstance(value, bool):
        raise _bad(f"`{key}` must be true or false", f"write `{key} = true` or `{key} = false`")
    return value


def _degree(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_DEGREE:
        raise _bad("`max_degree` is out of range", f"write a whole number from 1 to {_MOST_DEGREE}")
    return value


def _options(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise _bad("`options` must be a table", 'write `options = {mode = "sysdba"}`')
    for name, one in value.items():
        known = (*DRIVER_OPTIONS, *(one for each in engines().values() for one in each.verifying))
        if name not in known:
            raise ToolkitError(
                f"the driver has no option `{name}`", code="TK-0101", hint=did_you_mean(name, known)
            )
        if not isinstance(one, str | bool | int):
            raise _bad(f"`{name}` must be a string", f'write `{name} = "..."`')
    return tuple((name, str(one).lower() if isinstance(one, bool) else str(one)) for name, one in value.items())


# -- writing ------------------------------------------------------------------------------------------------------
@contextmanager
def _changing(path: Path) -> Iterator[dict[str, Profile]]:
    """Give the profiles to change, alone; write them when no error comes back."""
    with ExitStack() as ends:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            ends.callback(os.close, lock)
            lock_file(lock)
        except OSError as error:
            raise ToolkitError(
                f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
                code="TK-0405",
                hint="check the permissions, or set `DBATK_CONFIG` to another folder",
            ) from None
        profiles = load_profiles(path)
        yield profiles
        replace_file(path, _document(profiles))


def _document(profiles: Mapping[str, Profile]) -> str:
    import tomli_w

    return tomli_w.dumps({"targets": {name: _data(profile) for name, profile in profiles.items()}})


def _data(profile: Profile) -> dict[str, object]:
    data: dict[str, object] = {
        "url": profile.url,
        "password": written_reference(profile.password),
        "wallet_password": written_reference(profile.wallet_password),
        "production": profile.production,
        "max_degree": profile.max_degree,
        "work_schema": profile.work_schema,
        "approved_only": profile.approved_only or None,
        "standbys": profile.standbys,
        "consumer_group": profile.consumer_group,
        "restore": profile.restore,
        "restart": list(profile.restart) or None,
        "sysdba": list(profile.sysdba) or None,
        "options": dict(profile.options) or None,
        "licenses": {name: written_licence(one) for name, one in profile.licences.items()} or None,
    }
    return {key: value for key, value in data.items() if value is not None}
