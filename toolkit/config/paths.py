"""Where settings live: the folder of the platform (XDG on Linux), or the one `DBATK_CONFIG` names."""

from __future__ import annotations

import os
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of the settings; it need not exist."""
    chosen = os.environ.get("DBATK_CONFIG")
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_config_dir("dbatk", appauthor=False))


def targets_file() -> Path:
    """Return the file of the target profiles; it need not exist."""
    return config_folder() / "targets.toml"
