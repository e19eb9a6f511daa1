"""The key that approvals are signed with: `approvals.toml` in the settings' folder, by reference only.

Where there is `/etc/dbatk/approvals.toml` it is that file, whatever `DBATK_CONFIG` says.

```toml
key = {file = "/etc/dbatk/approval.key"}
```
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from toolkit.config import paths
from toolkit.config.secrets import SecretKind, SecretRef, read_reference, resolver
from toolkit.documents import check_no_secret, read_document
from toolkit.errors import ToolkitError

_FILE = "approvals.toml"
_KIND = "hmac-sha256"
_SHORTEST_KEY = 16


def approvals_file() -> Path:
    """Return the file, that of the host where there is one; it need not exist."""
    return paths.of_host(_FILE) or paths.config_folder() / _FILE


def approval_key(path: Path | None = None) -> SecretRef | None:
    """Return where the key is; None where approvals are not signed.

    Raises:
        ToolkitError: TK-0101, TK-0106 or TK-0108 with file and line.
    """
    file = path or approvals_file()
    if not file.exists():
        return None
    document = read_document(file)
    check_no_secret(document, skip=frozenset())
    for key in document.data:
        if key != "key":
            raise document.error(f"unknown key `{key}`", table="", key=key, code="TK-0101", hint="only `key`")
    try:
        reference = read_reference(document.data.get("key"), "key")
        if reference.kind is SecretKind.WALLET:
            raise ToolkitError("a wallet cannot hold a key", code="TK-0106", hint="use `file`, `env` or `command`")
    except ToolkitError as error:
        at = "key" if "key" in document.data else None
        raise document.error(error.message, table="", key=at, code=error.code, hint=error.hint) from None
    return reference


def sign(text: str, key: SecretRef) -> str:
    """Return the signature of a text.

    Raises:
        ToolkitError: as `signer`.
    """
    return signer(key)(text)


def signer(key: SecretRef) -> Callable[[str], str]:
    """Return what signs texts; the key is fetched once.

    Raises:
        ToolkitError: TK-0201 when the key cannot be had, TK-0102 when it is too short to be one.
    """
    secret = resolver(key, None)() or ""
    if len(secret) < _SHORTEST_KEY:
        raise ToolkitError(
            f"the approval key has fewer than {_SHORTEST_KEY} characters",
            code="TK-0102",
            hint="create one with `openssl rand -hex 32`",
        )
    return lambda text: f"{_KIND}:{hmac.new(secret.encode(), text.encode(), sha256).hexdigest()}"


def is_signed(text: str, signature: str, key: SecretRef) -> bool:
    """Tell whether a signature was made over a text with this key."""
    return hmac.compare_digest(sign(text, key), signature)
