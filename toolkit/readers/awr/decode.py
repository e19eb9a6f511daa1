"""From bytes to text, and what Oracle writes besides that users mistake for an AWR report."""

from __future__ import annotations

import codecs
import re
import zlib

from toolkit.errors import ToolkitError

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


def text_of(raw: bytes, name: str) -> str:
    """Return the text that bytes hold, in any encoding that reports are saved in.

    Raises:
        ToolkitError: TK-0113 when they are too few, binary or packed.
    """
    if len(raw) < _SHORTEST:
        raise refused(name, "it is empty" if not raw.strip() else f"it has only {len(raw)} bytes")
    if raw[:4] in {b"Rar!", b"7z\xbc\xaf", b"%PDF"}:
        raise refused(name, "it is an archive or a PDF", hint="unpack it, and give the report in it")
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(encoding, "replace")
    head = raw[:4096]
    if head.count(0) > len(head) // 4:
        return raw.decode("utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be", "replace")
    if len(head.translate(None, _CONTROLS)) < 0.98 * len(head):
        raise refused(name, "it is a binary file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end >= len(raw) - 3:
            return raw.decode("utf-8", "replace")
    return raw.decode("cp1252", "replace")


def unpacked(raw: bytes, name: str) -> bytes:
    """Return what gzip packed, in one member or several; a file cut off gives what can be had of it.

    Raises:
        ToolkitError: TK-0113 when it is no such file, or larger than 200 MB unpacked.
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
                    raise refused(name, "unpacked it is larger than 200 MB")
                left = unpacker.unused_data
                if unpacker.eof and left[:2] == GZIP:
                    unpacker = zlib.decompressobj(wbits=31)
                else:
                    left = b""
    except zlib.error:
        if not parts:
            raise refused(name, "it is not a complete gzip file") from None
    return b"".join(parts)


def refused(name: str, why: str, hint: str = "") -> ToolkitError:
    return ToolkitError(
        f"`{name}` is not an AWR or Statspack report: {why}",
        code="TK-0113",
        hint=hint or "give the file written by awrrpt.sql, awrgrpt.sql or spreport.sql, html or text",
    )


# -- Oracle's other reports -------------------------------------------------------------------------------------
_HEAD = 20_000
_LONGEST = 100
"""Characters of any mark: what begins later than in the known reports does not count, but for what is sure."""
_SURE = re.compile(r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period|WORKLOAD REPOSITORY SQL Report", re.I)
"""What no report of an interval says of itself; the other marks stand within such a report as well."""
_OURS = re.compile(
    r"WORKLOAD REPOSITORY (?:RAC |PDB )?report|AWR (?:RAC |PDB )?Report for|STATSPACK\b.*report", re.I
)
_OTHERS = tuple(
    (re.compile(pattern, re.IGNORECASE), why, hint)
    for pattern, why, hint in (
        (
            r"WORKLOAD REPOSITORY COMPARE PERIOD|AWR Compare Period",
            "it is Oracle's comparison of two periods, not the report of one",
            "create the report of each period with awrrpt.sql, and give both to `dbatk compare`",
        ),
        (
            r"WORKLOAD REPOSITORY SQL Report|AWR SQL Report",
            "it is the AWR report of a single statement (awrsqrpt.sql)",
            "give the report of the whole interval, written by awrrpt.sql",
        ),
        (
            r"\bSTATSPACK SQL report\b",
            "it is the Statspack report of a single statement (sprepsql.sql)",
            "give the report of the whole interval, written by spreport.sql",
        ),
        (
            r"~~BEGIN-[A-Z-]+~~|AWR_MINER_VER",
            "it is an extract of AWR-Miner: rows of DBA_HIST views, an hour each",
            "give the awrrpt.sql reports of the same snapshots, or fetch them: `dbatk awr fetch`",
        ),
        (
            r"SQL Monitoring Report|\[Real-time SQL Monitoring List"
            r"|<title>\s*(?:SQL Monitor|SQL Details?\b|SQL Id )",
            "it is a SQL Monitor report: the executions of single statements, not the counters of an interval",
            "read it as it is; for the whole database give the awrrpt.sql report of the same time",
        ),
        (
            r"\bTKPROF: Release ",
            "it is the output of tkprof: the statements of traced sessions",
            "give the awrrpt.sql report for the same time",
        ),
        (
            r"<title>ASH Report|\bASH Report For\b",
            "it is an ASH report: samples of sessions, without the counters of an interval",
            "give the awrrpt.sql report for the same time",
        ),
        (
            r"\bADDM Report for (?:Task|Analysis)\b|Automatic Database Diagnostic Monitor",
            "it is an ADDM report: findings without the underlying figures",
            "give the awrrpt.sql report for the same snapshots",
        ),
        (
            r"<!--FXTMODEL-->|id=[\"']?fxtmodel|activeReportInit",
            "it is an active report (Performance Hub, SQL Monitor): its figures are packed for a viewer",
            "give the awrrpt.sql report, as html or text",
        ),
    )
)


def other_report(text: str) -> tuple[str, str] | None:
    """Return what a file is that is another report of Oracle's, and what to give instead; None for any other."""
    own = _OURS.search(text, 0, _HEAD)
    counts = _HEAD if own is None or _SURE.search(text, 0, _HEAD) else own.start() + _LONGEST
    for pattern, why, hint in _OTHERS:
        found = pattern.search(text, 0, counts)
        if found is not None and (own is None or found.start() <= own.start() or _SURE.fullmatch(found[0])):
            return why, hint
    return None
