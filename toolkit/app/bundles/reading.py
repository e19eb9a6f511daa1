"""A bundle's folder as `ingest` finds it: whole and unaltered, with the spools of one run only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.model.bundle import MANIFEST, SPOOLS, Manifest
from toolkit.readers.manifest import not_a_bundle, read_manifest
from toolkit.readers.spool import Line, SpoolMark, read_spool

_SPOOL = re.compile(r"t(\d{4,6})-a(\d{1,4})(?:-(before|after|s\d{1,4}))?\.lst", re.ASCII)
_CLIENT = re.compile(r"SQL(?:\*Plus|cl)\b[\w .:,*-]*")

PROVENANCE = "provenance"
"""In the environment of a run: who ran it, when it was not dbatk itself."""


@dataclass(frozen=True, slots=True)
class SpooledAttempt:
    """The spools of one attempt of a trial, in the order before, sessions, after."""

    trial: int
    attempt: int
    spools: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class Folder:
    """A bundle with what it printed; attempts by trial, the first one first."""

    path: Path
    manifest: Manifest
    manifest_bytes: bytes
    client: str
    attempts: Mapping[int, Sequence[SpooledAttempt]] = field(default_factory=dict)

    def around(self, name: str) -> tuple[tuple[Line, ...], ...]:
        """Return the spool of `check` or `setup`, or none."""
        path = self.path / SPOOLS / f"{name}.lst"
        return (_spool(path),) if path.is_file() else ()

    def received(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that a run keeps: scripts and spools, by path."""
        for name in sorted(self.manifest.files):
            yield name, _bytes(self.path / name)
        spools = (self.path / SPOOLS).glob("*")
        for path in sorted(each for each in spools if each.suffix in {".lst", ".log"}):
            yield f"{SPOOLS}/{path.name}", _bytes(path)


def open_folder(path: Path) -> Folder:
    """Read a bundle's folder.

    Raises:
        ToolkitError: TK-0406 when it is no bundle, when a file is missing or was altered, when a spool is of
            another run.
    """
    if not (path / MANIFEST).is_file():
        raise not_a_bundle(f"`{path}` holds no bundle: {MANIFEST} is missing")
    raw = _bytes(path / MANIFEST)
    manifest = read_manifest(raw.decode("utf-8", "replace"))
    _refuse_altered(path, manifest)
    attempts: dict[int, list[SpooledAttempt]] = {}
    for trial, number, names in _found(path):
        spools = tuple(_spool(name) for name in names)
        _refuse_foreign(manifest, trial, names, spools)
        attempts.setdefault(trial, []).append(SpooledAttempt(trial, number, spools))
    return Folder(path, manifest, raw, _client(path), attempts)


def _found(path: Path) -> Iterable[tuple[int, int, list[Path]]]:
    """Yield trial, attempt and spools, in their order."""
    groups: dict[tuple[int, int], list[tuple[int, int, Path]]] = {}
    folder = path / SPOOLS
    for name in folder.iterdir() if folder.is_dir() else ():
        match = _SPOOL.fullmatch(name.name)
        if match is not None and name.is_file():
            part = match[3] or ""
            place = {"": 0, "before": 0, "after": 2}.get(part, 1)
            session = int(part[1:]) if place == 1 else 0
            groups.setdefault((int(match[1]), int(match[2])), []).append((place, session, name))
    for (trial, attempt), members in sorted(groups.items()):
        yield trial, attempt, [name for _, _, name in sorted(members)]


def _refuse_altered(path: Path, manifest: Manifest) -> None:
    for name, digest in manifest.files.items():
        file = path / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise not_a_bundle(f"{MANIFEST} names a file outside the bundle")
        if not file.is_file():
            raise not_a_bundle(f"`{name}` of the bundle is missing")
        if hashlib.sha256(_bytes(file)).hexdigest() != digest:
            raise ToolkitError(
                f"`{name}` was altered after the export, so what was measured is not what the run says",
                code="TK-0406",
                hint="export the experiment anew, and run that bundle as it is",
            )


def _refuse_foreign(
    manifest: Manifest, trial: int, names: Sequence[Path], spools: Sequence[Sequence[Line]]
) -> None:
    known = {each.number for each in manifest.trials}
    for name, lines in zip(names, spools, strict=True):
        marks = [line for line in lines if isinstance(line, SpoolMark)]
        if trial not in known or any(mark.run != manifest.run or mark.trial != trial for mark in marks):
            raise ToolkitError(
                f"`{SPOOLS}/{name.name}` is the spool of another run or trial",
                code="TK-0406",
                hint=f"keep only spools of run {manifest.run} in this folder",
            )


def _client(path: Path) -> str:
    file = path / SPOOLS / "client.txt"
    text = _bytes(file).decode("utf-8", "replace") if file.is_file() else ""
    match = _CLIENT.search(text)
    return match[0].strip() if match is not None else "SQL*Plus"


def _spool(path: Path) -> tuple[Line, ...]:
    return read_spool(_bytes(path).decode("utf-8", "replace"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise not_a_bundle(f"`{path}` cannot be read: {(error.strerror or 'unknown reason').lower()}") from None
