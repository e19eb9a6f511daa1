"""A report that was quoted or encoded in a mail, or copied from the window of a browser.

What a mail program does to every line can be undone. What a browser copies of a table is its cells between tabs,
and in some programs between blanks: then only rows that have a cell under every heading are believed.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Sequence

from toolkit.readers.awr.rows import DATA, Rows, table_of
from toolkit.readers.awr.sections import section_of
from toolkit.readers.awr.tables import AwrTable, ReportDocument
from toolkit.units import counted

_SAMPLE = 40_000
_MANY = 0.2
_QUOTE = re.compile(r"^>", re.MULTILINE)
_DOUBLED = 40
"""Lines from which on a text counts as printed with an empty line after each."""
_ESCAPE = re.compile(r"=(?:[0-9A-Fa-f]{2}|[ \t]*\r?\n)")
_SURE_ESCAPE = re.compile(r"=3[Dd]|=[ \t]*\r?\n")
_ESCAPED_TAG = re.compile(r"<\w[^<>]{0,200}=3[Dd]")
_GOES_ON = re.compile(r"=[ \t]*\r?\n(>?)")
_FEWEST = 3
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{200,}+={0,2}+\s*+")
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
    marked = len(_QUOTE.findall(sample))
    if marked < _FEWEST or sample.count(">") - sample.count("<") < marked // 2:
        return False
    return marked >= _MANY * sum(1 for line in sample.split("\n") if line.strip())


def _is_double_spaced(text: str) -> bool:
    """Whether every second line is empty."""
    lines = [line.strip() for line in text[:_SAMPLE].split("\n")]
    return len(lines) > _DOUBLED and (not any(lines[1::2]) or not any(lines[::2]))


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
    if len(_ESCAPED_TAG.findall(sample)) >= _FEWEST:
        return True
    signs = sample.count("=")
    return len(_SURE_ESCAPE.findall(sample)) >= _FEWEST and len(_ESCAPE.findall(sample)) >= signs - 1 - signs // 50


def _is_escaped_last(text: str) -> bool:
    """Whether quoted lines were escaped, and not escaped lines quoted: what goes on in a next line has no mark."""
    ends = _GOES_ON.findall(text[:_SAMPLE])
    return ends.count(">") < 0.9 * len(ends)


def _unescaped(text: str) -> str:
    raw = quopri.decodestring(text.encode())
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def from_base64(text: str) -> bytes | None:
    """Return what a text is the base64 of, None where it is anything else."""
    whole = text.strip()
    if " " in whole[:200] or not _BASE64.fullmatch(whole):
        return None
    try:
        return base64.b64decode("".join(whole.split()) + "==", validate=False)
    except (binascii.Error, ValueError):
        return None


# -- copied from the window of a browser ------------------------------------------------------------------------
_RULER = re.compile(r"^[ \t]*-{2,}(?: +-{2,})+[ \t\r]*$", re.MULTILINE)
_TABBED = re.compile(r"^.*\t.*$", re.MULTILINE)
_APART = re.compile(r"[ \t]{2,}|\t")
_SPACED = re.compile(r"^.*\S {2,}\S.*$", re.MULTILINE)
_RUN_TOGETHER = re.compile(r"^[ \t]*(?:Per Second Per Transaction|DB Name DB Id\b)", re.MULTILINE)
_BROKEN_RULER = re.compile(r"^[ \t]*-{2,}(?: +-+)+[ \t\r]*\n-+(?: +-+)*[ \t\r]*$", re.MULTILINE)
_INDENTED, _WIDE = re.compile(r"^[ \t]+\S", re.MULTILINE), re.compile(r"\S(?:[ ]{2,}|\t)\S")
_ROWS_ENOUGH = 5
_LONGEST_HEADING = 160
_TITLE = re.compile(r"WORKLOAD REPOSITORY|STATSPACK|AWR (?:RAC )?Report for", re.IGNORECASE)
_END = re.compile(r"end\s+of\s+report", re.IGNORECASE)


def is_pasted(text: str) -> bool:
    """Whether a text has the cells of tables in its lines, and no rulers under their headings."""
    return _ruled(text) < _FEWEST and max(len(_TABBED.findall(text)), len(_SPACED.findall(text))) >= _ROWS_ENOUGH


def mangled(text: str) -> str | None:
    """Return what was done to the lines of a text report so that its columns are lost, None where nothing was."""
    if _ruled(text) < _FEWEST:
        if _RUN_TOGETHER.search(text) is not None:
            return "it was copied from a browser, and only single blanks stand between its cells"
        return None
    if len(_BROKEN_RULER.findall(text)) >= _FEWEST:
        return "its lines were wrapped by a mail program or an editor, so that its columns are lost"
    if _INDENTED.search(text) is None or _WIDE.search(text) is None:
        return "the blanks in its lines were taken out, so that its columns are lost"
    return None


def _ruled(text: str) -> int:
    return len(_RULER.findall(text))


def read_pasted(text: str) -> ReportDocument:
    """Take a report apart that was copied from the window of a browser.

    A browser leaves out an empty cell at the begin of a row, and some programs all empty cells. A row with more or
    fewer cells than headings is therefore left out; `remarks` count such rows.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tabbed = len(_TABBED.findall(text)) >= _ROWS_ENOUGH
    reader = _Reader(tabbed=tabbed)
    for line in lines:
        reader.take(line)
    reader.end()
    title = " ".join(line.strip() for line in lines[:400] if _TITLE.search(line))[:400]
    notes = [line for line in lines if "(min" in line][:50]
    ended = _END.search(text, max(len(text) - 20_000, 0)) is not None
    return ReportDocument("text", title, reader.tables, ended, notes, remarks=reader.remarks)


class _Reader:
    """Puts the lines of a copied page together to tables."""

    def __init__(self, *, tabbed: bool) -> None:
        self.tables: list[AwrTable] = []
        self.remarks: list[str] = []
        self._tabbed = tabbed
        self._section = ""
        self._rows: list[list[str]] = []

    def take(self, line: str) -> None:
        cells = self._cells(line)
        if len(cells) < 2:
            self.end()
            words = " ".join(line.split())
            if 0 < len(words) <= _LONGEST_HEADING and not words.startswith("Back to"):
                self._section = words
            return
        if self._rows and section_of(AwrTable(self._section, "", tuple(cells), ())) is not None:
            self.end()  # the headings of another table
        self._rows.append(cells)

    def _cells(self, line: str) -> list[str]:
        cells = line.split("\t") if self._tabbed else _APART.split(line.rstrip(" \t"))
        return [" ".join(cell.split()) for cell in cells]

    def end(self) -> None:
        """Make a table of the rows that stand together."""
        rows, self._rows = self._rows, []
        if not rows:
            return
        wide = len(rows[0]) + 1
        if len(rows) > 1 and all(len(row) == wide and row[0].endswith(":") for row in rows[1:]):
            rows[0].insert(0, "")
        table = table_of(self._section, "", Rows(list(rows), [DATA * len(row) for row in rows]))
        if table is None or not table.columns:
            self.tables += [table] if table is not None else []
            return
        whole = [row for row in table.rows if self._is_whole(row, len(table.columns))]
        if lost := len(table.rows) - len(whole):
            many = counted(lost, "row has", "rows have")
            self.remarks.append(f"in `{self._section}` {many} no cell under each heading, and cannot be read")
        self.tables.append(AwrTable(table.section, table.title, table.columns, whole))

    def _is_whole(self, row: Sequence[str], width: int) -> bool:
        return len(row) == width or (self._tabbed and len(row) < width and row[0].endswith(":"))
