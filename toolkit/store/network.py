"""Refuse network file systems: SQLite's locks and its shared memory do not work there, and results get lost.

Source: https://www.sqlite.org/wal.html ("all processes using a database must be on the same host computer").
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import psutil

from toolkit.errors import ToolkitError

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
            f"the store `{path}` would lie on a network file system (`{kind}`), where locks cannot be trusted",
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
