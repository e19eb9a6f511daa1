"""Where settings live: the folder of the platform (XDG on Linux), or the one `DBATK_CONFIG` names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from toolkit.errors import ToolkitError


def config_folder() -> Path:
    """Return the folder of the settings; it need not exist.

    Raises:
        ToolkitError: TK-0107 where nothing tells it.
    """
    chosen = os.environ.get("DBATK_CONFIG")
    if chosen:
        return Path(chosen).expanduser().absolute()
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
            f"there is no home folder: HOME is not set, and user {os.getuid()} has no account on this host",
            code="TK-0107",
            hint="name the places in the variables `DBATK_CONFIG` and `DBATK_STORE`, as `dbatk schedule` does",
        )
    return found


def targets_file() -> Path:
    """Return the file of the target profiles; it need not exist."""
    return config_folder() / "targets.toml"
