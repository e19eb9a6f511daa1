"""Corruptions planted in base backups, each as a disk, a copy or a person makes them: every one is caught.

Four are tried in the fast tier, all twenty on plain files and on tar files in the others.
"""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.restoring.conftest import Place, reason, target_of
from tests.servers.postgresql import Server, running_postgresql
from tests.tiers import thinned

pytestmark = pytest.mark.postgresql

Plant = Callable[["Backup"], object]


class Backup:
    """The files of a base backup, plain or in tar files, to read and to change."""

    def __init__(self, folder: Path, relation: str) -> None:
        self.folder, self.relation = folder, relation
        self.tar = (folder / "base.tar").exists()

    def _archive(self, name: str) -> Path:
        return self.folder / ("pg_wal.tar" if name.startswith("pg_wal/") else "base.tar")

    def wal(self) -> str:
        """Return the name of the log file with the backup's end."""
        if self.tar:
            with tarfile.open(self.folder / "pg_wal.tar") as content:
                return "pg_wal/" + sorted(name for name in content.getnames() if len(name) == 24)[-1]
        names = (each.name for each in (self.folder / "pg_wal").iterdir())
        return "pg_wal/" + sorted(name for name in names if len(name) == 24)[-1]

    def change(self, name: str, by: Callable[[bytes], bytes | None]) -> None:
        """Change one file; None removes it."""
        if not self.tar or name == "backup_manifest":
            path = self.folder / name
            content = by(path.read_bytes())
            path.unlink() if content is None else path.write_bytes(content)
            return
        archive, inside = self._archive(name), name.removeprefix("pg_wal/")
        made = archive.with_suffix(".new")
        with tarfile.open(archive) as old, tarfile.open(made, "w") as new:
            for member in old:
                source = old.extractfile(member) if member.isfile() else None
                content = None if source is None else source.read()
                if member.name == inside:
                    assert content is not None
                    content = by(content)
                    if content is None:
                        continue
                    member.size = len(content)
                new.addfile(member, None if content is None else io.BytesIO(content))
        made.replace(archive)


def flipped(at: float) -> Callable[[bytes], bytes]:
    def flip(content: bytes) -> bytes:
        found = bytearray(content)
        found[min(int(len(found) * at), len(found) - 1)] ^= 0x10
        return bytes(found)

    return flip


def _gone(content: bytes) -> None:
    return None


def _early_flip(content: bytes) -> bytes:
    """Flip a byte of a log record of the backup's time, not of the empty rest of its file."""
    found = bytearray(content)
    last = max(place for place in range(0, len(found), 512) if any(found[place : place + 512]))
    found[min(0x60, last)] ^= 0xFF
    return bytes(found)


PLANTED: dict[str, Plant] = {
    "a flipped byte in a data page's header": lambda b: b.change(b.relation, flipped(0.0)),
    "a flipped byte in a row": lambda b: b.change(b.relation, flipped(0.4)),
    "a flipped byte at the end of a table": lambda b: b.change(b.relation, flipped(1.0)),
    "a table cut off by a page": lambda b: b.change(b.relation, lambda content: content[:-8192]),
    "a table with zeros": lambda b: b.change(b.relation, lambda content: bytes(len(content))),
    "a table missing": lambda b: b.change(b.relation, _gone),
    "a flipped byte in pg_control": lambda b: b.change("global/pg_control", flipped(0.01)),
    "pg_control missing": lambda b: b.change("global/pg_control", _gone),
    "backup_label missing": lambda b: b.change("backup_label", _gone),
    "a changed backup_label": lambda b: b.change("backup_label", lambda text: text.replace(b"0/", b"9/", 1)),
    "the log missing": lambda b: b.change(b.wal(), _gone),
    "a flipped byte in the log": lambda b: b.change(b.wal(), _early_flip),
    "the log cut off": lambda b: b.change(b.wal(), lambda content: content[:0x90]),
    "the manifest missing": lambda b: b.change("backup_manifest", _gone),
    "the manifest cut off": lambda b: b.change("backup_manifest", lambda text: text[: len(text) // 2]),
    "the manifest empty": lambda b: b.change("backup_manifest", lambda _: b""),
    "a wrong checksum in the manifest": lambda b: b.change("backup_manifest", _wrong_checksum),
    "a file that the manifest does not list": lambda b: b.change("backup_manifest", _without_a_file),
    "transaction states missing": lambda b: b.change("pg_xact/0000", _gone),
    "a flipped byte in transaction states": lambda b: b.change("pg_xact/0000", flipped(0.001)),
}


def _wrong_checksum(text: bytes) -> bytes:
    at = text.rindex(b'"Checksum": "') + len(b'"Checksum": "')
    return text[:at] + (b"0" if text[at : at + 1] != b"0" else b"1") + text[at + 1 :]


def _without_a_file(text: bytes) -> bytes:
    lines = text.split(b"\n")
    place = next(number for number, line in enumerate(lines) if b'"PG_VERSION"' in line)
    return b"\n".join([*lines[:place], *lines[place + 1 :]])


@pytest.fixture(scope="module")
def relation(loaded: Server) -> str:
    with loaded.connect() as session:
        row = session.execute("SELECT pg_relation_filepath('restoring.orders')").fetchone()
    assert row is not None
    return str(row[0])


CASES = [(form, name) for form in ("plain", "tar") for name in PLANTED]


@pytest.mark.thin(2)
@pytest.mark.parametrize(("form", "name"), thinned(CASES, 13))
def test_a_planted_corruption_is_caught(
    postgresql: Place, backups: Path, relation: str, form: str, name: str
) -> None:
    broken = postgresql.folder / "broken"
    shutil.copytree(backups / form, broken)
    PLANTED[name](Backup(broken, relation))
    status, document = postgresql.restore(broken)
    assert status != 0, f"{name} was not caught"
    assert reason(document)
    assert postgresql.left() == []


def test_there_are_twenty(relation: str) -> None:
    assert len(PLANTED) == 20


@pytest.mark.full
@pytest.mark.parametrize("at", thinned([0.1, 0.9], 2))
def test_a_flipped_byte_in_a_compressed_archive_is_caught(postgresql: Place, backups: Path, at: float) -> None:
    broken = postgresql.folder / "broken"
    shutil.copytree(backups / "gzip", broken)
    (broken / "base.tar.gz").write_bytes(flipped(at)((broken / "base.tar.gz").read_bytes()))
    status, document = postgresql.restore(broken)
    assert status == 3, reason(document)
    assert postgresql.left() == []


@pytest.mark.full
def test_a_backup_of_another_cluster_is_not_taken_for_the_targets(
    place_of: Callable[..., Place], backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.servers.postgresql.run_folder", lambda: None)  # no copy of the same cluster
    with running_postgresql() as other:
        place = place_of(*target_of(other))
        status, document = place.restore(backups / "plain")
    assert status == 3
    assert "is of another cluster" in reason(document)
    assert place.left() == []


@pytest.mark.full
def test_archives_that_would_write_elsewhere_write_nothing(postgresql: Place, backups: Path) -> None:
    broken = postgresql.folder / "broken"
    shutil.copytree(backups / "tar", broken)
    with tarfile.open(broken / "base.tar", "a") as content:
        member = tarfile.TarInfo("../../escaped")
        member.size = 1
        content.addfile(member, io.BytesIO(b"x"))
    status, document = postgresql.restore(broken)
    assert status == 3
    assert "outside the folder" in reason(document)
    assert not (postgresql.folder / "escaped").exists()
    assert not (postgresql.scratch / "escaped").exists()
    assert postgresql.left() == []
