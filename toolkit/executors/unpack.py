"""Brings the files of a base backup into a new folder: `python -I -S unpack.py --channels N BACKUP PLACE`.

Run as a program of its own, so that it is timed, stopped and killed like any other. Plain files are copied,
several at a time; each tar file is unpacked by one channel. Tablespaces go beside the place, and the links to
them lead there and nowhere else. What would let two servers meet (a file with a process id) is left. Only the
standard library is used; programs decompress what it cannot.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import pwd
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, cast

TABLESPACES, LINKS = "tablespaces", "pg_tblspc"
_LEFT = frozenset({"postmaster.pid", "postmaster.opts"})
_MANIFEST = "backup_manifest"
_ENDINGS = {".tar": (), ".tar.gz": (), ".tar.lz4": ("lz4", "-dc"), ".tar.zst": ("zstd", "-dcq")}
_MODE = 0o700
_CHUNK = 1 << 20


class BrokenError(Exception):
    """Something in the backup is not as it must be; the message says what."""


def main(arguments: list[str]) -> int:
    """Unpack, and say what was done in one line."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--channels", type=int, default=1)
    reader.add_argument("--owner", default="")
    reader.add_argument("backup", type=Path)
    reader.add_argument("place", type=Path)
    given = reader.parse_args(arguments)
    os.umask(0o077)
    try:
        done, used = unpack(given.backup, given.place, given.channels)
        if given.owner:
            _give(given.place.parent, given.owner)
    except (BrokenError, tarfile.TarError, EOFError, OSError, KeyError, ValueError) as error:
        print(f"unpack: error: {_sentence(error)}", flush=True)  # noqa: T201 (a program of its own)
        return 1
    sums = "with" if _has_sums(given.backup / _MANIFEST) else "without"
    print(f"unpack: {done} files by {used} channels, {sums} checksums", flush=True)  # noqa: T201
    return 0


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror.lower()}: {error.filename}" if error.filename else error.strerror.lower()
    return str(error) or type(error).__name__


def _has_sums(manifest: Path) -> bool:
    """Tell whether the manifest has checksums of files (`--manifest-checksums=NONE` leaves them out)."""
    return manifest.is_file() and b'"Checksum-Algorithm"' in manifest.read_bytes()


def unpack(backup: Path, place: Path, channels: int) -> tuple[int, int]:
    """Return how many files were copied or unpacked, and by how many channels.

    Raises:
        BrokenError, OSError, TarError, EOFError: the backup is not whole, or there is no room.
    """
    place.mkdir(mode=_MODE)
    archives = sorted(each for each in backup.iterdir() if _ending(each.name))
    if archives:
        return _unpack_archives(backup, archives, place, channels)
    return _copy(backup, place, channels)


# -- plain files --------------------------------------------------------------------------------------------------
def _copy(backup: Path, place: Path, channels: int) -> tuple[int, int]:
    pairs = sorted(_pairs(backup, place), key=lambda pair: -pair[0].stat().st_size)
    workers = max(1, min(channels, len(pairs)))
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda pair: shutil.copyfile(*pair, follow_symlinks=False), pairs):
            pass
    return len(pairs), workers


def _pairs(backup: Path, place: Path) -> Iterator[tuple[Path, Path]]:
    """Make the folders, and yield each file with where it goes."""
    for folder, folders, files in os.walk(backup):
        here = place / Path(folder).relative_to(backup)
        here.mkdir(mode=_MODE, exist_ok=True)
        for name in [name for name in folders if (Path(folder) / name).is_symlink()]:
            link = Path(folder) / name
            if Path(folder) != backup / LINKS or not name.isdigit():
                raise BrokenError(f"`{link}` is a link that no backup has")
            yield from _pairs(link.resolve(strict=True), _tablespace(place, name))
        for name in files:
            each = Path(folder) / name
            if not each.is_file() or each.is_symlink():
                raise BrokenError(f"`{each}` is not a plain file")
            if not (name in _LEFT and Path(folder) == backup):
                yield each, here / name


def _tablespace(place: Path, number: str) -> Path:
    """Make the folder of a tablespace beside the place, and the link to it."""
    folder, links = place.parent / TABLESPACES / number, place / LINKS
    folder.mkdir(mode=_MODE, parents=True, exist_ok=True)
    links.mkdir(mode=_MODE, exist_ok=True)
    if not (links / number).is_symlink():
        (links / number).symlink_to(folder)
    return folder


# -- archives -----------------------------------------------------------------------------------------------------
def _ending(name: str) -> str | None:
    stem = name.partition(".")[0]
    known = stem in ("base", "pg_wal") or stem.isdigit()
    return next((end for end in _ENDINGS if known and name == stem + end), None)


def _unpack_archives(backup: Path, archives: list[Path], place: Path, channels: int) -> tuple[int, int]:
    stems = {each.name.partition(".")[0] for each in archives}
    if len(stems) < len(archives):
        raise BrokenError("an archive is there twice, with and without compression")
    for needed in ("base", "pg_wal"):
        if needed not in stems:
            raise BrokenError(f"`{needed}.tar` is missing in the backup")
    manifest = backup / _MANIFEST
    if manifest.exists():
        shutil.copyfile(manifest, place / manifest.name)
    workers = max(1, min(channels, len(archives)))
    archives.sort(key=lambda each: -each.stat().st_size)
    with ThreadPoolExecutor(workers) as pool:
        counts = list(pool.map(lambda each: _extract(each, place), archives))
    return sum(counts), workers


def _extract(archive: Path, place: Path) -> int:
    stem = archive.name.partition(".")[0]
    into = {"base": place, "pg_wal": place / "pg_wal"}.get(stem) or _tablespace(place, stem)
    into.mkdir(mode=_MODE, exist_ok=True)
    count = 0
    try:
        with _stream(archive) as source, tarfile.open(fileobj=source, mode="r|") as content:
            for member in content:
                count += _take(content, member, into, place)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, ValueError) as error:
        raise BrokenError(f"`{archive.name}` is not whole: {error}") from None
    return count


def _take(content: tarfile.TarFile, member: tarfile.TarInfo, into: Path, place: Path) -> int:
    """Write one member: a folder or a plain file below the place; links of tablespaces are made anew."""
    name = Path(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise BrokenError(f"`{member.name}` would be written outside the folder")
    if member.issym():
        if name.parent.name != LINKS or not name.name.isdigit() or into != place:
            raise BrokenError(f"`{member.name}` is a link that no backup has")
        _tablespace(place, name.name)
        return 0
    target = into / name
    if member.isdir():
        if not target.is_symlink():
            target.mkdir(mode=_MODE, parents=True, exist_ok=True)
        return 0
    source = content.extractfile(member) if member.isfile() else None
    if source is None:
        raise BrokenError(f"`{member.name}` is not a plain file")
    if member.name in _LEFT:
        return 0
    target.parent.mkdir(mode=_MODE, parents=True, exist_ok=True)
    if target.resolve().parent != target.parent.resolve():
        raise BrokenError(f"`{member.name}` would be written elsewhere")
    with target.open("xb") as file:
        shutil.copyfileobj(source, file, _CHUNK)
    return 1


@contextlib.contextmanager
def _stream(archive: Path) -> Iterator[IO[bytes]]:
    """Give the bytes of an archive, decompressed; at its end whatever is left is read, for its checksum."""
    program = _ENDINGS[_ending(archive.name) or ".tar"]
    if not program:
        open_it = gzip.open if archive.name.endswith(".gz") else open
        with open_it(archive, "rb") as source:
            yield cast("IO[bytes]", source)
            while source.read(_CHUNK):
                pass
        return
    with (
        archive.open("rb") as packed,
        subprocess.Popen(program, stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        failed = False
        try:
            yield process.stdout
            while process.stdout.read(_CHUNK):
                pass
        except (tarfile.TarError, EOFError, ValueError):
            failed = True
        finally:
            said = process.stderr.read().decode(errors="replace").strip() if not failed else ""
            process.stdout.close()
        if process.wait() != 0 or failed:
            raise BrokenError(f"`{archive.name}` cannot be decompressed{f': {said}' if said else ''}")


def _give(top: Path, owner: str) -> None:
    """Let the user own the files who runs the server; until the last of them only root can reach any."""
    user = pwd.getpwnam(owner)
    for folder, folders, files in os.walk(top, topdown=False):
        for name in (*folders, *files):
            os.lchown(Path(folder) / name, user.pw_uid, user.pw_gid)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
