"""What a file holds: one report, several one after another, an archive of them, a mail with them in it.

Everything is taken apart down to texts of one report each. What was done to a text on its way (quoted, encoded for
a mail) is undone by `pasted`.
"""

from __future__ import annotations

import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.readers.awr.decode import GZIP, LARGEST_UNPACKED, other_report, refused, text_of, unpacked
from toolkit.readers.awr.pasted import from_base64, undone

if TYPE_CHECKING:
    from email.message import MIMEPart

REPORT = re.compile(
    r"WORKLOAD REPOSITORY|STATSPACK\s+(?:STATISTICS\s+)?report|AWR (?:RAC )?Report|DB/Inst:|Begin Snap\b|DB Id\b",
    re.IGNORECASE,
)
SEARCHED = 4_000_000
_ZIP = b"PK\x03\x04"
PACKED = (GZIP, _ZIP)
_MAIL_HEADER = re.compile(rb"(?:From |[A-Za-z][A-Za-z0-9-]{1,60}:)")
_MAIL_SIGN = re.compile(rb"^(?:MIME-Version|Content-Transfer-Encoding):", re.IGNORECASE | re.MULTILINE)
_LONGEST_MAIL_HEADER = 100_000
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OSError,
    ValueError, RuntimeError, RecursionError, struct.error,
)  # fmt: skip
"""What the libraries of archives raise for files that somebody damaged or made up."""
_DEEPEST = 4
_MOST_MEMBERS = 10_000
_TAR_MARK = 257
_TITLE = re.compile(
    r"^[ \t]{0,80}+(?:WORKLOAD REPOSITORY (?:PDB |RAC )?report\b|STATSPACK (?:statistics )?report\b)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER = re.compile(r"\bSnap Id\b|\bBegin Snap\b|\bDB Id\b", re.IGNORECASE)
_PAGE_BEGINS, _PAGE_ENDS = ("<html", "<HTML", "<Html"), ("</html", "</HTML", "</Html")


@dataclass(frozen=True, slots=True)
class Part:
    """A text of a file, or why it is none.

    `source` is the member of an archive or the attachment it comes from; `contained` is False for a plain file.
    """

    text: str = ""
    source: str = ""
    fault: ToolkitError | None = None
    contained: bool = False


def parts_of(raw: bytes, name: str) -> list[Part]:
    """Return the texts that a file holds, in their order, each of one report or of something else.

    Args:
        raw: The file: plain, packed by gzip, zip or tar, or a mail.
        name: What to call it in messages.

    Raises:
        ToolkitError: TK-0113 when a plain file has no text, or an archive cannot be unpacked.
    """
    room = _Room(name)
    found = list(_parts(raw, name, room, 0))
    if len(found) == 1 and found[0].fault is not None:
        raise found[0].fault
    return found


class _Room:
    """What may still be unpacked of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.left = LARGEST_UNPACKED

    def take(self, size: int) -> None:
        self.left -= max(size, 0)
        if self.left < 0:
            raise refused(self.name, "unpacked it is larger than 200 MB", hint="unpack it, and name the folder")


def _parts(raw: bytes, name: str, room: _Room, depth: int) -> Iterator[Part]:
    if depth > _DEEPEST:
        raise refused(name, f"it is packed more than {_DEEPEST} times")
    if raw[:2] == GZIP:
        raw = unpacked(raw, name)
        room.take(len(raw))
        yield from _parts(raw, name, room, depth + 1)
    elif raw[:4] == _ZIP:
        yield from _members(_zipped(raw, room), room, depth)
    elif raw[_TAR_MARK : _TAR_MARK + 5] == b"ustar":
        yield from _members(_tarred(raw, room), room, depth)
    elif is_mail(raw) and (mailed := _mailed(raw)):
        yield from (
            _members(mailed, room, depth) if len(mailed) > 1 else _parts(mailed[0][1], name, room, depth + 1)
        )
    else:
        yield from _texts(raw, name, room, depth)


def _texts(raw: bytes, name: str, room: _Room, depth: int) -> Iterator[Part]:
    text = undone(text_of(raw, name))
    if (inner := from_base64(text)) is not None:
        room.take(len(inner))
        yield from _parts(inner, name, room, depth + 1)
    else:
        yield from (Part(one) for one in separated(text))


def _members(members: Sequence[tuple[str, bytes]], room: _Room, depth: int) -> Iterator[Part]:
    """Yield the texts of each member; one that has none does not stop the others."""
    for source, raw in members:
        try:
            for part in _parts(raw, source, room, depth + 1):
                inner = f"{source}: {part.source}" if part.source else source
                yield replace(part, source=inner, contained=True)
        except ToolkitError as error:
            if room.left < 0:
                raise
            yield Part(source=source, fault=error, contained=True)


# -- archives ---------------------------------------------------------------------------------------------------
def _zipped(raw: bytes, room: _Room) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = [one for one in archive.infolist() if _is_wanted(one.filename) and not one.is_dir()]
            if len(members) > _MOST_MEMBERS:
                raise _too_many(room)
            room.take(sum(one.file_size for one in members))
            if any(one.flag_bits & 1 for one in members):
                raise refused(room.name, "it is an encrypted archive", hint="unpack it, and name the folder")
            for one in members:
                with archive.open(one) as opened:  # no more than is declared, whatever it unpacks to
                    found.append((one.filename, opened.read(one.file_size)))
    except _BROKEN:
        raise refused(
            room.name, "it is an archive that cannot be unpacked", hint="unpack it, and name the folder"
        ) from None
    return _some(found, room)


def _tarred(raw: bytes, room: _Room) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
            for number, one in enumerate(archive):
                if one.size < 0:  # it leads back into what was read
                    raise tarfile.ReadError
                if number >= _MOST_MEMBERS:
                    raise _too_many(room)
                if one.isreg() and _is_wanted(one.name):
                    room.take(one.size)
                    opened = archive.extractfile(one)
                    found.append((one.name, opened.read() if opened is not None else b""))
    except _BROKEN:
        raise refused(
            room.name, "it is an archive that cannot be unpacked", hint="unpack it, and name the folder"
        ) from None
    return _some(found, room)


def _too_many(room: _Room) -> ToolkitError:
    return refused(
        room.name, f"it holds more than {_MOST_MEMBERS:,} files", hint="unpack it, and name those that are wanted"
    )


def _some(found: list[tuple[str, bytes]], room: _Room) -> list[tuple[str, bytes]]:
    if not found:
        raise refused(room.name, "it is an archive without files")
    return found


def _is_wanted(name: str) -> bool:
    """Whether a member is no note of the program that packed it."""
    parts = name.replace("\\", "/").split("/")
    return "__MACOSX" not in parts and not parts[-1].startswith(".")


# -- mails ------------------------------------------------------------------------------------------------------
def is_mail(raw: bytes) -> bool:
    """Whether a file begins with the headers of a mail that say how it is encoded."""
    head = raw[:_LONGEST_MAIL_HEADER].lstrip()
    if not _MAIL_HEADER.match(head):
        return False
    ends = [at for mark in (b"\n\n", b"\r\n\r\n") if (at := head.find(mark)) >= 0]
    return _MAIL_SIGN.search(head, 0, min(ends, default=len(head))) is not None


def _mailed(raw: bytes) -> list[tuple[str, bytes]]:
    """Return the parts of a mail in which reports are: all attachments, or else its own words.

    Of one thing in several forms (`multipart/alternative`) the page counts, where it holds a report.
    """
    import email.policy

    try:
        message = email.message_from_bytes(raw.lstrip(), policy=email.policy.default)
        leaves = list(_leaves(message))
    except Exception:  # noqa: BLE001 - the library stumbles in many ways over headers that somebody made up
        return []
    telling = [one for one in leaves if _may_tell(one[1])]
    return telling or sorted(leaves, key=lambda one: -len(one[1]))[:1]


def _leaves(message: MIMEPart) -> Iterator[tuple[str, bytes]]:
    kind = message.get_content_type()
    inside = (
        [part for part in message.iter_parts() if hasattr(part, "iter_parts")] if message.is_multipart() else []
    )
    if kind == "multipart/alternative":
        forms = [list(_leaves(part)) for part in reversed(inside)]
        yield from next((one for one in forms if any(_may_tell(raw) for _, raw in one)), forms[0] if forms else [])
    elif inside:
        for part in inside:
            yield from _leaves(part)
    elif kind in {"text/html", "text/plain"} or message.get_content_maintype() == "application":
        payload = message.get_payload(decode=True)
        if isinstance(payload, bytes):
            yield message.get_filename() or "the mail itself", _in_utf8(payload, message.get_content_charset())


def _in_utf8(payload: bytes, charset: str | None) -> bytes:
    if charset is None:
        return payload
    try:
        return payload.decode(charset).encode()
    except (LookupError, ValueError):
        return payload


def _may_tell(raw: bytes) -> bool:
    """Whether something may hold a report: it is packed, or says so."""
    if raw[:2] == GZIP or raw[:4] == _ZIP or len(raw) < 1:
        return bool(raw)
    try:
        text = undone(text_of(raw, ""))
    except ToolkitError:
        return False
    return REPORT.search(text, 0, SEARCHED) is not None or other_report(text) is not None


# -- several reports in one text --------------------------------------------------------------------------------
def separated(text: str) -> list[str]:
    """Return the reports of a text, each from its beginning on; a text of one report or none is left whole."""
    begins = _page_begins(text)
    if begins:
        end = max(text.rfind(mark, begins[-1]) for mark in _PAGE_ENDS)
        begins += _title_begins(text, end) if end >= 0 else []
    else:
        begins = _title_begins(text, 0)
    if len(begins) < 2:
        return [text]
    begins[0] = 0
    found: list[str] = []
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        if found and not _HEADER.search(text, begin, end):
            found[-1] += text[begin:end]  # only a title, or a page that an editor opened anew
        else:
            found.append(text[begin:end])
    if len(found) > 1 and not _HEADER.search(found[0]):
        found[:2] = [found[0] + found[1]]
    return found


def _page_begins(text: str) -> list[int]:
    begins = []
    for mark in _PAGE_BEGINS:
        at = text.find(mark)
        while at >= 0:
            begins.append(at)
            at = text.find(mark, at + 1)
    return sorted(begins)


def _title_begins(text: str, begin: int) -> list[int]:
    return [match.start() for match in _TITLE.finditer(text, begin)]
