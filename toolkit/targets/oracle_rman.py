"""How RMAN gets into a database: by the operating system, by a wallet, or by a line on its standard input.

Never by an argument, which everybody on the host can read (RMAN Reference, caution at `RMAN`), and never by a
file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.targets.base import Access, ProgramAccess

_OPTION = "rman_connect"
_SAID = re.compile(r"/(?:@[A-Za-z0-9_.-]{1,128})?(?: as (?:sysbackup|sysdba))?", re.IGNORECASE)
_ADMINISTRATIVE = frozenset({"sysbackup", "sysdba"})
# What needs no quotes of its own in a connect string; `@` and `/` end a password, a quote the whole.
_SAFE = re.compile(r"[A-Za-z0-9_$#!.*+,:;=~^-]{1,128}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,127}")
_DEFAULT_PORT = 1521


def folder_of(access: Access) -> str | None:
    """Return where the profile, or ORACLE_HOME, says that rman is."""
    given = dict(access.options).get("bin_dir")
    home = os.environ.get("ORACLE_HOME")
    return given or (str(Path(home) / "bin") if home else None)


def access_of(access: Access, inspect: Callable[[str], None]) -> ProgramAccess:
    """Return variables and opening line for rman.

    Args:
        access: of the target; its option `rman_connect` is `/`, `/ as sysbackup` or `/@alias as sysbackup`.
            With the option `mode` sysbackup or sysdba and a password, that user is connected.
        inspect: looks at a script before it is run.

    Raises:
        ToolkitError: TK-0201 when there is no way in that would not show a password.
    """
    environment: dict[str, str] = {}
    folder = folder_of(access)
    if folder is not None:
        environment = {
            "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "ORACLE_HOME": str(Path(folder).parent),
        }
    wallet = dict(access.options).get("config_dir")
    if wallet is not None:
        environment["TNS_ADMIN"] = wallet
    line, secrets = _line(access)
    return ProgramAccess(environment, opening=f"CONNECT TARGET {line}\n", hidden=secrets, inspect=inspect)


def _line(access: Access) -> tuple[str, tuple[str, ...]]:
    """Return the connect string as RMAN reads it, and what of it is secret."""
    options = dict(access.options)
    given = options.get(_OPTION)
    if given is not None:
        if _SAID.fullmatch(given) is None:
            raise ToolkitError(
                f"`{_OPTION}` is not a way for RMAN to connect",
                code="TK-0201",
                hint="`/`, `/ as sysbackup` or `/@alias as sysbackup` (a wallet); it never contains a password",
            )
        return (given, ()) if given == "/" else (f'"{given}"', ())
    mode = options.get("mode", "").lower()
    if mode not in _ADMINISTRATIVE:
        return "/", ()
    password, user = access.password(), access.address.user
    if password is None or user is None:
        return f'"/ as {mode}"', ()
    if not _SAFE.fullmatch(password) or not _NAME.fullmatch(user):
        raise ToolkitError(
            "RMAN's connect string cannot hold this user or password",
            code="TK-0201",
            hint=f'`{_OPTION} = "/ as {mode}"` (operating system) or `"/@alias as {mode}"` (a wallet) needs none',
        )
    return f'"{user}/{password}@{_address(access)} as {mode}"', (password,)


def _address(access: Access) -> str:
    address = access.address
    if not address.host:
        return address.database
    return f"//{address.host}:{address.port or _DEFAULT_PORT}/{address.database}"
