"""What the databases of profiles are, as they said at the last contact: `identities.toml` beside the profiles.

A profile is known by where its URL leads: with another URL its database is unknown again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from toolkit.config import paths
from toolkit.config.paths import replace_file
from toolkit.config.profiles import Profile
from toolkit.documents import lock_file, read_document
from toolkit.errors import ToolkitError

_TABLE = "identities"
_PRIVATE, _READ_BY_ALL = 0o600, 0o644
_HEAD = "# Which database each URL of `targets.toml` led to; dbatk writes this file.\n"


def _file(*, of_host: bool) -> Path:
    return (paths.SYSTEM_FOLDER if of_host else paths.config_folder()) / "identities.toml"


def known_identities(*, of_host: bool = False) -> dict[str, str]:
    """Return the identity of each database that is known, by URL; none where the file cannot be read.

    Args:
        of_host: those of the host's profiles, which only its administrator writes.
    """
    try:
        document = read_document(_file(of_host=of_host))
    except ToolkitError:
        return {}
    table = document.data.get(_TABLE)
    return {str(url): str(one) for url, one in table.items()} if isinstance(table, dict) else {}


def keep_identity(profile: Profile, identity: str) -> None:
    """Keep which database a profile leads to; where nothing can be written it stays unknown."""
    import tomli_w

    known, file = known_identities(of_host=profile.of_host), _file(of_host=profile.of_host)
    if known.get(profile.url) == identity:
        return
    with suppress(OSError, ToolkitError):
        lock = os.open(file.with_name("identities.toml.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            lock_file(lock)
            known = {**known_identities(of_host=profile.of_host), profile.url: identity}
            mode = _READ_BY_ALL if profile.of_host else _PRIVATE
            replace_file(file, _HEAD + tomli_w.dumps({_TABLE: known}), mode=mode)
        finally:
            os.close(lock)
