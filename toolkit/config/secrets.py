"""References to secrets: where a password or an address with one is, never what it is.

A reference is resolved when a connection needs it, each time anew; nothing keeps the answer.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from toolkit.documents import open_file
from toolkit.errors import ToolkitError

COMMAND_LIMIT_SECONDS = 15.0
_LARGEST_BYTES = 64 * 1024


class SecretKind(StrEnum):
    """Where a password can be."""

    ENV = "env"
    KEYRING = "keyring"
    COMMAND = "command"
    FILE = "file"
    """A file of mode 0600 or less."""
    CREDENTIAL = "credential"
    """What systemd hands over by LoadCredential= (systemd.exec(5))."""
    WALLET = "wallet"


@dataclass(frozen=True, slots=True)
class SecretRef:
    """A reference: the variable, the keyring's service, the command's arguments, the file, the wallet's folder."""

    kind: SecretKind
    value: str | tuple[str, ...]

    @property
    def display(self) -> str:
        """What may be shown: of a command only the program."""
        shown = self.value if isinstance(self.value, str) else f"{self.value[0]} ..."
        return f"{self.kind}: {shown}"


def read_reference(value: object, key: str = "password") -> SecretRef:
    """Check a reference as a file holds it: `{env = "X"}`, `{command = ["pass", "show", "x"]}` ...

    Args:
        value: what the file holds.
        key: what it stands under.

    Raises:
        ToolkitError: TK-0106 for any other shape, TK-0108 for a text.
    """
    known = ", ".join(f"`{kind}`" for kind in SecretKind)
    if isinstance(value, str):
        raise ToolkitError(
            "a password is in clear text" if key == "password" else f"`{key}` is in clear text",
            code="TK-0108",
            hint=f"use a reference: {known}",
        )
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in set(SecretKind):
        raise ToolkitError(
            f"`{key}` must be a reference",
            code="TK-0106",
            hint=f'write `{key} = {{env = "VARIABLE"}}`, or use {known}',
        )
    kind, inner = next(iter(value.items()))
    if kind == SecretKind.COMMAND:
        if (
            not isinstance(inner, list)
            or not inner
            or not all(isinstance(one, str) and one.isprintable() and one for one in inner)
        ):
            raise ToolkitError(
                "`command` must be a list of arguments",
                code="TK-0106",
                hint='write `command = ["pass", "show", "dwh"]`',
            )
        return SecretRef(SecretKind.COMMAND, tuple(inner))
    if not isinstance(inner, str) or not inner.strip() or not inner.isprintable():
        raise ToolkitError(f"`{kind}` must be a string", code="TK-0106", hint=f'write `{kind} = "..."`')
    return SecretRef(SecretKind(kind), inner)


def resolver(reference: SecretRef, user: str | None) -> Callable[[], str | None]:
    """Return what fetches the password when a connection needs it.

    Args:
        reference: where it is.
        user: the database user, under whose name a keyring keeps it.

    The function returned raises ToolkitError: TK-0201 when the password cannot be had, TK-0206 when the keyring
    extra is missing. A wallet gives None: the driver reads it itself.
    """
    value = reference.value
    if isinstance(value, tuple):
        return lambda: _from_command(value)
    if reference.kind is SecretKind.ENV:
        return lambda: _from_environment(value)
    if reference.kind is SecretKind.KEYRING:
        return lambda: _from_keyring(value, user or "")
    if reference.kind is SecretKind.FILE:
        return lambda: _from_file(Path(value).expanduser())
    if reference.kind is SecretKind.CREDENTIAL:
        return lambda: _from_credential(value)
    return lambda: None


def _from_environment(variable: str) -> str:
    password = os.environ.get(variable)
    if not password:
        raise ToolkitError(
            f"the variable `{variable}` for the password is not set",
            code="TK-0201",
            hint=f"set `{variable}`, or change the profile with `dbatk target add`",
        )
    return password


def _from_file(path: Path) -> str:
    """Read the first line of a file that nobody else may read."""
    try:
        # one handle for the look and the reading: the file cannot be another one in between
        with open_file(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode) or mode & 0o077:
                raise ToolkitError(
                    f"`{path}` can be read by others than its owner, or is not a file",
                    code="TK-0201",
                    hint=f"chmod 600 {path}",
                )
            return _first_line(file.read(_LARGEST_BYTES), f"the file `{path}`")
    except OSError as error:
        raise ToolkitError(
            f"the secret file `{path}` cannot be read: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0201",
            hint="check the path and its owner",
        ) from None


def _from_credential(name: str) -> str:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    path = Path(folder or "") / name
    if not folder or path.parent != Path(folder) or not path.is_file():
        raise ToolkitError(
            f"systemd provides no credential `{name}`",
            code="TK-0201",
            hint=f"install the unit with `dbatk plan schedule ... --load-credential {name}=FILE`",
        )
    try:
        with open_file(path) as file:
            return _first_line(file.read(_LARGEST_BYTES), f"the credential `{name}`")
    except OSError as error:
        raise ToolkitError(
            f"the credential `{name}` cannot be read: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0201",
            hint="check `systemctl status` of the unit",
        ) from None


def _first_line(data: bytes, what: str) -> str:
    try:
        first = data.decode("utf-8").partition("\n")[0].rstrip("\r")
    except UnicodeDecodeError:
        first = ""
    if not first:
        raise ToolkitError(
            f"the first line of {what} is empty", code="TK-0201", hint="write the secret there, in UTF-8"
        )
    return first


def _from_keyring(service: str, user: str) -> str:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise ToolkitError(
            "the keyring extra is not installed", code="TK-0206", hint="install `dbatk[keyring]`"
        ) from None
    try:
        password = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise ToolkitError(
            f"the keyring cannot be read: {type(error).__name__}",
            code="TK-0201",
            hint="a host without a desktop has no keyring: use `{env = ...}` or `{command = [...]}`",
        ) from None
    if not password:
        raise ToolkitError(
            f"the keyring has no password for `{user}` under `{service}`",
            code="TK-0201",
            hint=f"store it with `keyring set {service} {user}`",
        )
    return str(password)


def _from_command(arguments: tuple[str, ...]) -> str:
    """Run the command without a shell; what it writes is a secret and appears in no message."""
    program = arguments[0]
    try:
        answer = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise _command_failed(program, f"took longer than {COMMAND_LIMIT_SECONDS:.0f} s") from None
    except OSError as error:
        raise _command_failed(program, f"cannot be run: {(error.strerror or 'unknown reason').lower()}") from None
    if answer.returncode:
        raise _command_failed(program, f"ended with status {answer.returncode}")
    try:
        first = answer.stdout.decode("utf-8").partition("\n")[0].rstrip("\r")
    except UnicodeDecodeError:
        raise _command_failed(program, "wrote text that is not UTF-8") from None
    if not first:
        raise _command_failed(program, "wrote nothing")
    return first


def _command_failed(program: str, sentence: str) -> ToolkitError:
    return ToolkitError(
        f"the password command `{program}` {sentence}",
        code="TK-0201",
        hint="run it by hand: it must print the password on its first line and exit with status 0",
    )


def read_arguments(key: str, value: object, *example: str) -> tuple[str, ...]:
    """Check a program with its arguments, as `restart` of a profile has it; no shell reads it.

    Args:
        key: of the profile.
        value: what stands there.
        example: a right one, for the hint.

    Raises:
        ToolkitError: TK-0106.
    """
    if not isinstance(value, list) or not all(isinstance(one, str) and one and "\0" not in one for one in value):
        raise ToolkitError(
            f"`{key}` must be a list of arguments",
            code="TK-0106",
            hint=f"write `{key} = {json.dumps(example)}`; no shell reads it",
        )
    return tuple(value)


def written_reference(secret: SecretRef | None) -> dict[str, object] | None:
    """Return a reference as a file holds it."""
    if secret is None:
        return None
    return {secret.kind.value: list(secret.value) if isinstance(secret.value, tuple) else secret.value}
