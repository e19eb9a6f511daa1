"""Where settings live: the folder of the platform, or that of `DBATK_CONFIG`; and how such a file is replaced."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from toolkit.errors import ToolkitError

TARGETS = "targets.toml"
SYSTEM_FOLDER = Path("/etc/dbatk")
"""Settings of the host, which only its administrator can change: they win over those of a user."""


def config_folder() -> Path:
    """Return the folder of the settings; it need not exist.

    Raises:
        ToolkitError: TK-0107 where nothing tells it, or `DBATK_CONFIG` names a file: no profile would rule.
    """
    chosen = os.environ.get("DBATK_CONFIG")
    if chosen:
        folder = Path(chosen).expanduser().absolute()
        if folder.exists() and not folder.is_dir():
            raise ToolkitError(
                f"`DBATK_CONFIG` is `{folder}`, which is not a folder",
                code="TK-0107",
                hint=f"it names the folder of `{TARGETS}`, not the file",
            )
        return folder
    import platformdirs

    return home_based(lambda: platformdirs.user_config_dir("dbatk", appauthor=False))


def home_based(find: Callable[[], str]) -> Path:
    """Return a folder that lies below the user's home.

    Raises:
        ToolkitError: TK-0107 where there is no home: a scheduler sets no HOME, a container's user has no account.
    """
    try:
        found = Path(find())
    except RuntimeError:
        found = Path()
    if not found.is_absolute():
        raise ToolkitError(
            f"there is no home directory: HOME is not set, and user {os.getuid()} has no account on this host",
            code="TK-0107",
            hint="set the variables `DBATK_CONFIG` and `DBATK_STORE`, as `dbatk plan schedule` does",
        )
    return found


def targets_file() -> Path:
    """Return the file of the target profiles; it need not exist."""
    return config_folder() / TARGETS


def of_host(name: str) -> Path | None:
    """Return a file of the host's settings; None where there is none.

    Raises:
        ToolkitError: TK-0106 where it cannot be known: what the host rules would be passed over.
    """
    path = SYSTEM_FOLDER / name
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ToolkitError(
            f"`{path}` cannot be read: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0106",
            hint="it rules for all users of this host: let them read it (it holds references to secrets only)",
        ) from None
    return path


# -- writing --------------------------------------------------------------------------------------------------
def replace_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Write a text file, replacing a former one.

    Args:
        path: where; its folder is made when it is missing.
        text: what.
        mode: permissions, whatever the umask is.

    Raises:
        ToolkitError: TK-0405.
    """
    name = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755 if mode & 0o044 else 0o700)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(path)
        name = None
    except OSError as error:
        raise ToolkitError(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            code="TK-0405",
            hint="check the permissions of its folder, and that there is free space",
        ) from None
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)
