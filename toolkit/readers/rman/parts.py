"""The logs in a file that is an archive or a mail, or was quoted or encoded for one."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from io import BufferedReader

from toolkit.readers.parts import Part, Wanted, is_archive, is_mail, parts_of
from toolkit.readers.texts import GZIP, LARGEST_UNPACKED, UNPACK, UnreadableError, is_marked

_SNIFFED = 1 << 16
_RMAN = re.compile(r"\bRMAN\b|Recovery Manager|\bchannel [\w$#]+:|piece handle=", re.IGNORECASE)


def _tells(text: str) -> bool:
    return _RMAN.search(text) is not None


def _whole(text: str) -> Sequence[str]:
    return [text]


LOGS = Wanted(_tells, _whole)


def parts_in(file: BufferedReader) -> list[Part] | None:
    """Return the texts in a file; None where it is one log as RMAN wrote it, gzip or not.

    Such a log may have gigabytes: nothing of it is taken from the file, and no more than its begin is looked at.

    Raises:
        UnreadableError: An archive or mail cannot be taken apart, or is larger than 200 MB.
    """
    if not _is_wrapped(file.peek(_SNIFFED)):
        return None
    raw = file.read(LARGEST_UNPACKED + 1)
    if len(raw) > LARGEST_UNPACKED:
        raise UnreadableError("it is an archive or a mail larger than 200 MB", UNPACK)
    return parts_of(raw, LOGS)


def _is_wrapped(head: bytes) -> bool:
    if head[:2] == GZIP:
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _SNIFFED)
        except zlib.error:
            return False
    return is_archive(head) or is_mail(head) or is_marked(head.decode("utf-8", "replace"))
