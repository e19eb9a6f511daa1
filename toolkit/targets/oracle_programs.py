"""How programs of Oracle get into the database: RMAN, expdp, impdp.

RMAN gets in by the operating system, by a wallet, or by a line on its standard input: never by an argument, which
everybody on the host can read (RMAN Reference, caution at `RMAN`), and never by a file. expdp and impdp get in by
the operating system, by a wallet, or as a user whose password they ask for (Utilities, Invoking Data Pump Export:
`expdp hr DIRECTORY=...` prompts for it), which is typed into their standard input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.targets import oracle_way as way
from toolkit.targets.base import Access, Logon, ProgramAccess

_OPTION, _DATA_PUMP = "rman_connect", "datapump_connect"
_SAID = re.compile(r"/(?:@[A-Za-z0-9_.-]{1,128})?(?: as (?:sysbackup|sysdba))?", re.IGNORECASE)
_WALLET = re.compile(r"/(?:@[A-Za-z0-9_.-]{1,128})?")
_ADMINISTRATIVE = frozenset({"sysbackup", "sysdba"})
# What needs no quotes of its own in a connect string; `@` and `/` end a password, a quote the whole.
_SAFE = re.compile(r"[A-Za-z0-9_$#!.*+,:;=~^-]{1,128}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,127}")


def folder_of(access: Access) -> str | None:
    """Return where the profile, or ORACLE_HOME, says that rman is."""
    given = dict(access.options).get("bin_dir")
    home = os.environ.get("ORACLE_HOME")
    return given or (str(Path(home) / "bin") if home else None)


def access_of(access: Access, inspect: Callable[[str], None]) -> ProgramAccess:
    """Return variables for programs of Oracle, the opening line for rman, and how clients of Data Pump log on.

    Args:
        access: of the target; its option `rman_connect` is `/`, `/ as sysbackup` or `/@alias as sysbackup`.
            With the option `mode` sysbackup or sysdba and a password, that user is connected. Its option
            `datapump_connect` is `/` or `/@alias`; without it the user of the target is connected.
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
    return ProgramAccess(
        environment, opening=f"CONNECT TARGET {line}\n", hidden=secrets, inspect=inspect,
        logon=lambda: logon_of(access),
    )  # fmt: skip


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
    address = way.connect_string(access.address, dict(access.options))
    return address if not access.address.host or "://" in address else f"//{address}"


def logon_of(access: Access) -> Logon:
    """Return how expdp and impdp connect.

    Raises:
        ToolkitError: TK-0201 when there is no way in that would not show a password, or only that of SYSDBA.
    """
    options = dict(access.options)
    given, mode = options.get(_DATA_PUMP), options.get("mode", "").lower()
    if given is not None:
        if _WALLET.fullmatch(given) is None:
            raise _no_logon(f"`{_DATA_PUMP}` is not a way for Data Pump to connect")
        return Logon(given)
    # Utilities, Invoking Data Pump Export: not as SYSDBA, except at the request of Oracle's support
    if mode:
        raise _no_logon(f"expdp and impdp are not to be run as {mode.upper()}, which is the mode of this target")
    if options.get("proxy_user"):
        raise _no_logon("expdp and impdp are not connected through another user")
    password, user = access.password(), access.address.user
    if password is None or user is None:
        if access.address.host:
            raise _no_logon("expdp and impdp have no password to give, and which database `/` is cannot be known")
        return Logon(f"/@{_address(access)}")
    if not _SAFE.fullmatch(password) or not _NAME.fullmatch(user):
        raise _no_logon("expdp and impdp might misread this user or password")
    return Logon(f"{user}@{_address(access)}", password)


def _no_logon(sentence: str) -> ToolkitError:
    return ToolkitError(
        sentence,
        code="TK-0201",
        hint=f'set `{_DATA_PUMP} = "/@alias"` (a wallet) or `"/"` (the operating system) in the profile, or omit '
        "`--method program`: the package needs no further connection",
    )
