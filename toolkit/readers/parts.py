"""What a file holds: a text, several one after another, an archive of them, a mail with them in it.

Reports and logs come on the same ways, so this knows neither: a `Wanted` says what is looked for. What was done to
a text on its way (quoted, encoded for a mail) is undone by `texts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.readers.texts import GZIP, Allowance, UnreadableError, from_base64, text_of, undone, unpacked

if TYPE_CHECKING:
    from email.message import MIMEPart

_ZIP = b"PK\x03\x04"
PACKED = (GZIP, _ZIP)
_MAIL_HEADER = re.compile(rb"(?:From |[A-Za-z][A-Za-z0-9-]{1,60}:)")
_MAIL_SIGN = re.compile(rb"^(?:MIME-Version|Content-Transfer-Encoding):", re.IGNORECASE | re.MULTILINE)
_LONGEST_MAIL_HEADER = 100_000
_DEEPEST = 4
_TAR_MARK = 257


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for in a file: whether a text may hold it, and how a text of several is cut."""

    tells: Callable[[str], bool]
    separated: Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Part:
    """A text of a file, or why it is none.

    `source` is the member of an archive or the attachment it comes from; `contained` is False for a plain file.
    """

    text: str = ""
    source: str = ""
    fault: UnreadableError | None = None
    contained: bool = False


def parts_of(raw: bytes, wanted: Wanted) -> list[Part]:
    """Return the texts that a file holds, in their order, each of one report or log or of something else.

    Args:
        raw: The file: plain, packed by gzip, zip or tar, or a mail.
        wanted: What is looked for in it.

    Raises:
        UnreadableError: A plain file has no text, or an archive cannot be unpacked.
    """
    found = list(_parts(raw, wanted, Allowance(), 0))
    if len(found) == 1 and found[0].fault is not None:
        raise found[0].fault
    return found


def is_archive(raw: bytes) -> bool:
    """Whether a file begins as an archive of files does."""
    return raw[:4] == _ZIP or raw[_TAR_MARK : _TAR_MARK + 5] == b"ustar"


def _parts(raw: bytes, wanted: Wanted, allowance: Allowance, depth: int) -> Iterator[Part]:
    if depth > _DEEPEST:
        raise UnreadableError(f"it is packed more than {_DEEPEST} times")
    if raw[:2] == GZIP:
        raw = unpacked(raw)
        allowance.take(len(raw))
        yield from _parts(raw, wanted, allowance, depth + 1)
    elif is_archive(raw):
        from toolkit.readers.archives import tarred, zipped

        members = zipped(raw, allowance) if raw[:4] == _ZIP else tarred(raw, allowance)
        yield from _members(members, wanted, allowance, depth)
    elif is_mail(raw) and (mailed := _mailed(raw, wanted)):
        yield from (
            _members(mailed, wanted, allowance, depth)
            if len(mailed) > 1
            else _parts(mailed[0][1], wanted, allowance, depth + 1)
        )
    else:
        yield from _texts(raw, wanted, allowance, depth)


def _texts(raw: bytes, wanted: Wanted, allowance: Allowance, depth: int) -> Iterator[Part]:
    text = undone(text_of(raw))
    if (inner := from_base64(text)) is not None:
        allowance.take(len(inner))
        yield from _parts(inner, wanted, allowance, depth + 1)
    else:
        yield from (Part(one) for one in wanted.separated(text))


def _members(
    members: Sequence[tuple[str, bytes]], wanted: Wanted, allowance: Allowance, depth: int
) -> Iterator[Part]:
    """Yield the texts of each member; one that has none does not stop the others."""
    for source, raw in members:
        try:
            for part in _parts(raw, wanted, allowance, depth + 1):
                inner = f"{source}: {part.source}" if part.source else source
                yield replace(part, source=inner, contained=True)
        except UnreadableError as error:
            if allowance.left < 0:
                raise
            yield Part(source=source, fault=error, contained=True)


# -- mails ------------------------------------------------------------------------------------------------------
def is_mail(raw: bytes) -> bool:
    """Whether a file begins with the headers of a mail that say how it is encoded."""
    head = raw[:_LONGEST_MAIL_HEADER].lstrip()
    if not _MAIL_HEADER.match(head):
        return False
    ends = [at for mark in (b"\n\n", b"\r\n\r\n") if (at := head.find(mark)) >= 0]
    return _MAIL_SIGN.search(head, 0, min(ends, default=len(head))) is not None


def _mailed(raw: bytes, wanted: Wanted) -> list[tuple[str, bytes]]:
    """Return the parts of a mail that hold what is wanted: all attachments, or else its own words.

    Of one thing in several forms (`multipart/alternative`) the page counts, where it holds that.
    """
    import email.policy

    try:
        message = email.message_from_bytes(raw.lstrip(), policy=email.policy.default)
        leaves = list(_leaves(message, wanted))
    except Exception:  # noqa: BLE001 - the library stumbles in many ways over headers that somebody made up
        return []
    telling = [one for one in leaves if _may_tell(one[1], wanted)]
    return telling or sorted(leaves, key=lambda one: -len(one[1]))[:1]


def _leaves(message: MIMEPart, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    kind = message.get_content_type()
    inside = (
        [part for part in message.iter_parts() if hasattr(part, "iter_parts")] if message.is_multipart() else []
    )
    if kind == "multipart/alternative":
        forms = [list(_leaves(part, wanted)) for part in reversed(inside)]
        told = (one for one in forms if any(_may_tell(raw, wanted) for _, raw in one))
        yield from next(told, forms[0] if forms else [])
    elif inside:
        for part in inside:
            yield from _leaves(part, wanted)
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


def _may_tell(raw: bytes, wanted: Wanted) -> bool:
    """Whether something may hold what is wanted: it is packed, or says so."""
    if raw[:2] == GZIP or raw[:4] == _ZIP or len(raw) < 1:
        return bool(raw)
    try:
        return wanted.tells(undone(text_of(raw)))
    except UnreadableError:
        return False
