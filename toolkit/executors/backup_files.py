"""What must be known of a backup's folder, and of who is to work on its copy, before it is restored."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

from toolkit.model.facts import Probe
from toolkit.model.values import Row


def content(probe: Probe) -> Row:
    """Tell what is in a folder; links of tablespaces are followed, for a copy has what they lead to."""
    path, size, count, oldest = Path(probe.names[0]), 0, 0, None
    try:
        names = sorted(each.name for each in path.iterdir())
        known = any(name.startswith(probe.usual) for name in names)  # whatever else is there may be large
        for folder, _, files in os.walk(path, followlinks=True) if known else ():
            for name in files:
                state = (Path(folder) / name).lstat()
                size, count = size + state.st_size, count + 1
                oldest = state.st_mtime if oldest is None else min(oldest, state.st_mtime)
    except OSError as error:
        return {"problem": f"`{error.filename}` cannot be read: {(error.strerror or 'unknown').lower()}"}
    return {
        "names": "/".join(names),
        "byte_count": size,
        "file_count": count,
        "oldest_at": oldest,
        "problem": None,
    }


def may_enter(probe: Probe) -> Row:
    """Tell whether a user is there, and which folder above a path keeps that user out."""
    name, path = probe.names
    try:
        name = Path(name).owner() if name.startswith("/") else name
        user = pwd.getpwnam(name)
    except (KeyError, OSError):
        return {"is_there": "no", "closed_at": None}
    groups = set(os.getgrouplist(name, user.pw_gid))
    for folder in reversed((Path(os.path.realpath(path)), *Path(os.path.realpath(path)).parents)):
        if not folder.exists():
            break
        state = folder.stat()
        bit = (
            stat.S_IXUSR
            if state.st_uid == user.pw_uid
            else stat.S_IXGRP
            if state.st_gid in groups
            else stat.S_IXOTH
        )
        if user.pw_uid and not state.st_mode & bit:
            return {"is_there": "yes", "closed_at": str(folder)}
    return {"is_there": "yes", "closed_at": None}
