"""Archives taken apart: what is in a zip or tar file, and how much of it there may be."""

from __future__ import annotations

import io
import lzma
import struct
import tarfile
import zipfile
import zlib

from toolkit.readers.texts import UNPACK, Allowance, UnreadableError

_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OSError,
    ValueError, RuntimeError, RecursionError, struct.error,
)  # fmt: skip
"""What the libraries of archives raise for files that somebody damaged or made up."""
_MOST_MEMBERS = 10_000
_TYPES = "[Content_Types].xml"
_OFFICE = {
    ("xl/workbook.xml", _TYPES): "an Excel workbook", ("word/document.xml", _TYPES): "a Word document",
    ("ppt/presentation.xml", _TYPES): "a PowerPoint presentation",
    ("content.xml", "mimetype"): "an OpenDocument file",
}  # fmt: skip
"""Zip archives that are a document, by the two members that each has: one alone may be there by chance."""


def zipped(raw: bytes, allowance: Allowance) -> list[tuple[str, bytes]]:
    """Return names and contents of the files in a zip archive."""
    found: list[tuple[str, bytes]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if kind := next((kind for both, kind in _OFFICE.items() if {*both} <= archive.NameToInfo.keys()), ""):
                raise UnreadableError(f"it is {kind}", "give the file that was copied into it, or save it as text")
            members = [one for one in archive.infolist() if _is_wanted(one.filename) and not one.is_dir()]
            if len(members) > _MOST_MEMBERS:
                raise _too_many()
            allowance.take(sum(one.file_size for one in members))
            if any(one.flag_bits & 1 for one in members):
                raise UnreadableError("it is an encrypted archive", UNPACK)
            for one in members:
                with archive.open(one) as opened:  # no more than is declared, whatever it unpacks to
                    found.append((one.filename, opened.read(one.file_size)))
    except _BROKEN:
        raise UnreadableError("it is an archive that cannot be unpacked", UNPACK) from None
    return _some(found)


def tarred(raw: bytes, allowance: Allowance) -> list[tuple[str, bytes]]:
    """Return names and contents of the files in a tar archive."""
    found: list[tuple[str, bytes]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
            for number, one in enumerate(archive):
                if one.size < 0:  # it leads back into what was read
                    raise tarfile.ReadError
                if number >= _MOST_MEMBERS:
                    raise _too_many()
                if one.isreg() and _is_wanted(one.name):
                    allowance.take(one.size)
                    opened = archive.extractfile(one)
                    found.append((one.name, opened.read() if opened is not None else b""))
    except _BROKEN:
        raise UnreadableError("it is an archive that cannot be unpacked", UNPACK) from None
    return _some(found)


def _too_many() -> UnreadableError:
    return UnreadableError(
        f"it holds more than {_MOST_MEMBERS:,} files", "unpack it, and name those that are wanted"
    )


def _some(found: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    if not found:
        raise UnreadableError("it is an archive without files")
    return found


def _is_wanted(name: str) -> bool:
    """Whether a member is no note of the program that packed it."""
    parts = name.replace("\\", "/").split("/")
    return "__MACOSX" not in parts and not parts[-1].startswith(".")
