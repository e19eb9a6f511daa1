"""Where the results store is: a SQLite file or a PostgreSQL database.

The address of a PostgreSQL store may carry a password. It stays inside `Place.url`, which no `repr` and no message
shows; `Place.shown` is what people see.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs
import psutil

from toolkit.config.paths import home_based
from toolkit.errors import ToolkitError

_SQLITE, _POSTGRESQL = ("sqlite",), ("postgresql", "postgres", "postgresql+psycopg")
HIDDEN = "..."
_SENT = frozenset({
    "host", "port", "user", "dbname", "target_session_attrs", "sslmode", "sslrootcert", "require_auth",
    "channel_binding", "gssencmode", "ssl_min_protocol_version",
})  # fmt: skip
_PLAIN = re.compile(r"[\w.:\[\]/-]*")


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """An address of a store: either `path` (SQLite) or `url` (PostgreSQL) is set."""

    shown: str
    path: Path | None = None
    url: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.shown


def find_place(location: str | Path | None) -> StoreLocation:
    """Return the address that the user means.

    Args:
        location: a path, a `sqlite:///` or `postgresql://` URL; None or empty takes the environment's
            `DBATK_STORE`, else `store.sqlite` in the user's data folder.

    Raises:
        ToolkitError: TK-0102 for another kind of URL, TK-0107 where there is no home folder either.
    """
    text = str(location or os.environ.get("DBATK_STORE") or default_path())
    scheme, separator, rest = text.partition("://")
    if not separator:
        return _file(text)
    if scheme in _SQLITE:
        return _file(_sqlite_path(rest))
    if scheme in _POSTGRESQL and rest.count("@") <= 1:
        return StoreLocation(f"postgresql://{_shown_address(rest)}", url=f"postgresql+psycopg://{rest}")
    if scheme in _POSTGRESQL:
        raise _refused("the address of the store has more than one `@`", "write an `@` within a password as %40")
    raise _refused(f"a results store cannot be in `{scheme if _PLAIN.fullmatch(scheme) else 'this URL'}`")


def default_path() -> Path:
    """Return the file used when nobody names one."""
    return home_based(lambda: platformdirs.user_data_dir("dbatk", appauthor=False)) / "store.sqlite"


def name_to_type(place: StoreLocation) -> str:
    """Return how a store is named on a command line; empty where nobody needs to, and never with a password."""
    return "" if place == find_place(None) else address_to_send(place) or place.shown


def audit_path(place: StoreLocation) -> Path | None:
    """Return where the audit log of a store lies: beside the file itself, whatever link led to it.

    None for a database, which holds its log itself.
    """
    path = None if place.path is None else place.path.resolve()
    return None if path is None else path.with_name(f"{path.name}.audit.jsonl")


def address_to_send(place: StoreLocation) -> str | None:
    """Return the address of a database without any secret, for another host to open it with its own.

    None for a file. Parameters are kept that say how to find the server and how safely to talk to it.
    """
    if place.url is None:
        return None
    rest = place.url.partition("://")[2]
    before, _, parameters = rest.partition("?")
    who, at, where = before.rpartition("@")
    kept = [each for each in parameters.split("&") if each.partition("=")[0] in _SENT]
    tail = f"?{'&'.join(kept)}" if kept else ""
    return f"postgresql://{who.partition(':')[0]}{at}{where}{tail}"


def _file(text: str) -> StoreLocation:
    if text == ":memory:":
        raise _refused("a results store in memory would be lost with its process")
    path = Path(text).expanduser().absolute()
    return StoreLocation(str(path), path=path)


def _sqlite_path(rest: str) -> str:
    path = rest.removeprefix("/")
    if not rest.startswith("/") or not path or "?" in path:
        raise _refused("a `sqlite` store needs a plain path")
    return path


def _shown_address(rest: str) -> str:
    """Return host, port and database. Anything that might be part of a password makes it dots."""
    address = rest.partition("?")[0]
    if rest.count("@") != address.count("@"):
        return HIDDEN
    address = address.rpartition("@")[2]
    return address if _PLAIN.fullmatch(address) else HIDDEN


def _refused(
    message: str,
    hint: str = "give a path, `sqlite:////absolute/path` or `postgresql://user@host:port/database`",
) -> ToolkitError:
    return ToolkitError(message, code="TK-0102", hint=hint)


# -- network file systems -----------------------------------------------------------------------------------------
NETWORK_FILE_SYSTEMS = frozenset(
    [
        "9p",
        "afpfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "smb2",
        "smb3",
        "smbfs",
        "webdav",
        "fuse.ceph",
        "fuse.davfs",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
    ]
)


def refuse_network(path: Path, mounts: Iterable[tuple[str, str]] | None = None) -> None:
    """Refuse a path on a network file system.

    Args:
        path: the file; it need not exist yet.
        mounts: (mount point, kind of file system), of this host if not given.

    Raises:
        ToolkitError: TK-0401.
    """
    kind = file_system_of(path, _mounts() if mounts is None else mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise ToolkitError(
            f"the store `{path}` would be on a network file system (`{kind}`), where locks are unreliable",
            code="TK-0401",
            hint="give a local path with --store, or a postgresql:// URL to share a store between hosts",
        )


def file_system_of(path: Path, mounts: Iterable[tuple[str, str]]) -> str:
    """Return the kind of file system that a path lies on; of several at one mount point the last."""
    real = path.resolve()
    found, kind = Path("/"), ""
    for point, each in mounts:
        mounted = Path(point)
        if real.is_relative_to(mounted) and len(mounted.parts) >= len(found.parts):
            found, kind = mounted, each.lower()
    return kind


def _mounts() -> list[tuple[str, str]]:
    return [(each.mountpoint, each.fstype) for each in psutil.disk_partitions(all=True)]
