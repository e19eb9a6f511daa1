"""From the bytes of a file to its text, with what a mail program did to its lines undone."""

from __future__ import annotations

import codecs
import re
import zlib

LARGEST_UNPACKED = 200_000_000
"""More than any report: beyond lies only a mistake or a bomb."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_SHORTEST = 100
GZIP = b"\x1f\x8b"
_STEP = 1 << 20
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})


class UnreadableError(Exception):
    """Why a file has no text that can be read, and what to do instead."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


UNPACK = "unpack it, and name what is in it"


class Allowance:
    """What may still be unpacked of one file."""

    def __init__(self) -> None:
        self.left = LARGEST_UNPACKED

    def take(self, size: int) -> None:
        """Count what is unpacked.

        Raises:
            UnreadableError: It is more than 200 MB.
        """
        self.left -= max(size, 0)
        if self.left < 0:
            raise UnreadableError("unpacked it is larger than 200 MB", UNPACK)


def text_of(raw: bytes) -> str:
    """Return the text that bytes hold, in any encoding that reports are saved in.

    Raises:
        UnreadableError: They are too few, binary or packed.
    """
    if len(raw) < _SHORTEST:
        raise UnreadableError("it is empty" if not raw.strip() else f"it has only {len(raw)} bytes")
    if raw[:4] in {b"Rar!", b"7z\xbc\xaf"}:
        raise UnreadableError("it is an archive", "unpack it, and give the file in it")
    if raw.startswith(b"%PDF"):
        raise UnreadableError(
            "it is a PDF, in which the cells of tables are lost", "give the file that was printed"
        )
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(encoding, "replace")
    head = raw[:4096]
    if head.count(0) > len(head) // 4:
        return raw.decode("utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be", "replace")
    if len(head.translate(None, _CONTROLS)) < 0.98 * len(head):
        raise UnreadableError("it is a binary file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end >= len(raw) - 3:
            return raw.decode("utf-8", "replace")
    return raw.decode("cp1252", "replace")


def unpacked(raw: bytes) -> bytes:
    """Return what gzip packed, in one member or several; a file cut off gives what can be had of it.

    Raises:
        UnreadableError: It is no such file, or larger than 200 MB unpacked.
    """
    unpacker = zlib.decompressobj(wbits=31)
    parts, size = [], 0
    try:
        for begin in range(0, len(raw), _STEP):
            left = raw[begin : begin + _STEP]
            while left:
                part = unpacker.decompress(left, LARGEST_UNPACKED + 1 - size)
                parts.append(part)
                size += len(part)
                if size > LARGEST_UNPACKED:
                    raise UnreadableError("unpacked it is larger than 200 MB")
                left = unpacker.unused_data
                if unpacker.eof and left[:2] == GZIP:
                    unpacker = zlib.decompressobj(wbits=31)
                else:
                    left = b""
    except zlib.error:
        if not parts:
            raise UnreadableError("it is not a complete gzip file") from None
    return b"".join(parts)


# -- what a mail program did to every line -----------------------------------------------------------------------
_SAMPLE = 40_000
_MANY = 0.2
_DOUBLED = 40
"""Lines from which on a text counts as printed with an empty line after each."""
_ESCAPE = re.compile(r"=(?:[0-9A-Fa-f]{2}|[ \t]*\r?\n)")
_SURE_ESCAPE = re.compile(r"=3[Dd]|=[ \t]*\r?\n")
_ESCAPED_TAG = re.compile(r"<\w[^<>]{0,200}=3[Dd]")
_GOES_ON = re.compile(r"=[ \t]*\r?\n(>?)")
_FEWEST = 3
_BASE64 = re.compile(r"\s*+[A-Za-z0-9+/]{40,}+[A-Za-z0-9+/\s]{160,}+={0,2}+\s*+")
_DOUBLE = re.compile(r"\r?\n[ \t]*\r?\n")
_DEEPEST = 5


def undone(text: str) -> str:
    """Return a text without marks of quotation, escapes of a mail, and empty lines between all its lines."""
    for _ in range(_DEEPEST):
        escaped = _is_escaped(text)
        if _is_quoted(text) and not (escaped and _is_escaped_last(text)):
            text = _unquoted(text)
        elif escaped:
            text = _unescaped(text)
        elif _is_double_spaced(text):
            text = _DOUBLE.sub("\n", text)
        else:
            break
    return text


def _is_quoted(text: str) -> bool:
    """Whether lines are quoted: many begin with a mark that closes no tag.

    A mail program may have wrapped some of them, whose second half then has no mark.
    """
    sample = text[:_SAMPLE]
    marked = sample.count("\n>") + sample.startswith(">")
    if marked < _FEWEST or sample.count(">") - sample.count("<") < marked // 2:
        return False
    return marked >= _MANY * sum(1 for line in sample.split("\n") if line.strip())


def _is_double_spaced(text: str) -> bool:
    """Whether every second line is empty."""
    lines = text[:_SAMPLE].split("\n")
    return len(lines) > _DOUBLED and any(not any(map(str.strip, lines[begin::2])) for begin in (0, 1))


def _unquoted(text: str) -> str:
    """Take one level of quotation off; the blank behind the mark belongs to it where every line has one."""
    lines = text.split("\n")
    quoted = [line for line in lines if line.startswith(">") and line[1:].strip()]
    wide = 2 if all(line[1:2] in {" ", ">"} for line in quoted) else 1
    return "\n".join(_shorn(line, wide) for line in lines)


def _shorn(line: str, wide: int) -> str:
    if not line.startswith(">"):
        return line
    return line[2:] if wide == 2 and line[1:2] == " " else line[1:]


def _is_escaped(text: str) -> bool:
    """Whether a text is quoted-printable (RFC 2045): every sign of equality in it begins an escape."""
    sample = text[:_SAMPLE]
    if not _SURE_ESCAPE.search(sample):
        return False
    if len(_ESCAPED_TAG.findall(sample)) >= _FEWEST:
        return True
    signs = sample.count("=")
    return len(_SURE_ESCAPE.findall(sample)) >= _FEWEST and len(_ESCAPE.findall(sample)) >= signs - 1 - signs // 50


def _is_escaped_last(text: str) -> bool:
    """Whether quoted lines were escaped, and not escaped lines quoted: what goes on in a next line has no mark."""
    ends = _GOES_ON.findall(text[:_SAMPLE])
    return ends.count(">") < 0.9 * len(ends)


def _unescaped(text: str) -> str:
    import quopri

    raw = quopri.decodestring(text.encode())
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def from_base64(text: str) -> bytes | None:
    """Return what a text is the base64 of, None where it is anything else."""
    if not _BASE64.match(text, 0, _SAMPLE) or not _BASE64.fullmatch(whole := text.strip()):
        return None
    import base64
    import binascii

    try:
        return base64.b64decode("".join(whole.split()) + "==", validate=False)
    except (binascii.Error, ValueError):
        return None


def is_marked(text: str) -> bool:
    """Whether the lines of a text are quoted, or all of it is encoded for a mail."""
    return _is_quoted(text) or _is_escaped(text) or _BASE64.match(text) is not None
