"""Jobs that a bundle did by expdp or impdp: what these wrote, as a run of dbatk itself keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from toolkit.model.values import Row
from toolkit.readers.attempts import AttemptRead

_LOG = re.compile(r"t(\d{4,6})-a(\d{1,4})-i(\d{1,6})-(?:expdp|impdp)\.log", re.ASCII)


def written_by_attempt(
    folder: Path, text_of: Callable[[Path], str]
) -> Mapping[tuple[int, int], Mapping[int, str]]:
    """Return what the programs wrote by trial and attempt, then by item; `folder`: of the spools."""
    found: dict[tuple[int, int], dict[int, str]] = {}
    for name in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = _LOG.fullmatch(name.name)
        if match is not None and name.is_file():
            found.setdefault((int(match[1]), int(match[2])), {})[int(match[3])] = text_of(name)
    return found


def kept(read: AttemptRead, programs: Mapping[int, str]) -> dict[str, tuple[Row, ...]]:
    """Return their lines under `log` and how they ended under `program`; nothing where there were none."""
    lines = tuple({"line": line} for _, text in sorted(programs.items()) for line in text.splitlines())
    ended = tuple(
        {"exit_status": item.exit_status} for item in read.items.values() if item.exit_status is not None
    )
    return ({"log": lines} if lines else {}) | ({"program": ended} if ended else {})
