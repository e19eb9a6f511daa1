"""Asks this host what a backup must know of it: where a program is and which release, what a folder is like."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolkit.model.facts import Probe
from toolkit.model.values import Row
from toolkit.model.words import ProbeKind

_LIMIT_SECONDS = 15.0


def read_probes(probes: Iterable[Probe], places: Iterable[str] = ()) -> Mapping[str, tuple[Row, ...]]:
    """Return the answers by key.

    Args:
        probes: the questions.
        places: folders of programs that the target's profile names.
    """
    told = tuple(places)
    return {
        probe.key: (_folder(probe) if probe.kind is ProbeKind.FOLDER else _program(probe, told),)
        for probe in probes
    }


def _folder(probe: Probe) -> Row:
    path = Path(probe.names[0])
    is_there, is_folder = os.path.lexists(path), path.is_dir()
    me = pwd.getpwuid(os.geteuid()).pw_name
    row: dict[str, str | int | None] = {
        "asked_by": me,
        "path": str(probe.names[0]),
        "real_path": os.path.realpath(path),
        "is_there": _word(is_there),
        "is_folder": _word(is_folder),
        "is_writable": _word(is_folder and os.access(path, os.W_OK | os.X_OK)),
        "is_empty": "no",
        "free_byte_count": None,
        "owner": None,
    }
    if is_folder:
        try:
            row["owner"] = path.owner()
            row["is_empty"] = _word(not any(path.iterdir()))
            row["free_byte_count"] = shutil.disk_usage(path).free
        except (OSError, KeyError):
            row["is_writable"] = "no" if row["free_byte_count"] is None else row["is_writable"]
    return row


def _word(value: object) -> str:
    return "yes" if value else "no"


def _program(probe: Probe, places: tuple[str, ...]) -> Row:
    path = _find(probe, places)
    if path is None:
        where = f"in `{probe.places[0]}`" if probe.places else "on PATH, nor where it usually is"
        problem = f"`{probe.names[0]}` is not {where}"
        return {"path": None, "version_text": None, "problem": problem}
    try:
        done = subprocess.run(
            [path, *probe.arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"path": path, "version_text": None, "problem": f"`{path}` cannot be run: {type(error).__name__}"}
    said = (done.stdout or done.stderr).strip().splitlines()
    failed = f"`{path}` ended with status {done.returncode}" if done.returncode else None
    return {"path": path, "version_text": said[0][:200] if said else None, "problem": failed}


def _find(probe: Probe, places: tuple[str, ...]) -> str | None:
    for folder in probe.places or (*places, *probe.usual):
        for name in probe.names:
            place = Path(folder) / name
            if place.is_file() and os.access(place, os.X_OK):
                return str(place)
    found = [] if probe.places else [shutil.which(name) for name in probe.names]
    return next((each for each in found if each is not None), None)
