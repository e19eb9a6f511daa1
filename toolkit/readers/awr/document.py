"""From the text of a report to its tables, whichever form it has; what is no report is refused."""

from __future__ import annotations

import re
from dataclasses import replace

from toolkit.readers.awr.decode import other_report, refused
from toolkit.readers.awr.labels import read_header
from toolkit.readers.awr.parts import REPORT, SEARCHED
from toolkit.readers.awr.tables import Numbers, ReportDocument

_HTML = re.compile(r"<(?:html|table|head|body|pre)\b", re.IGNORECASE)
_END = re.compile(r"end\s+of\s+report|</html>")
_TAIL = 20_000
_CELL_ENDS = ("</td", "</th", "</tr", "</table")
LARGE = 8_000_000
_LARGEST, _HEAD = 100_000_000, 1_000_000
"""The largest report of a cluster that is known has a fortieth of the first; its header stands at its top."""
SILENT = "it contains no AWR or Statspack data"


def _refuse_large(text: str, name: str) -> None:
    """Refuse what is too large for a report, or names no database where each report does, before it is read."""
    if len(text) > _LARGEST:
        raise refused(name, f"it has {len(text) / 1e6:,.0f} million characters, too large for a report")
    document = _document(text[:_HEAD], name)
    facts, _ = read_header(document, Numbers())
    if not (facts["dbid"] or facts["db_name"]):
        raise refused(name, "it has no database name")


def document_of(text: str, name: str) -> ReportDocument:
    """Take the text of one report apart.

    Raises:
        ToolkitError: TK-0113 when it is something else, or larger than any report.
    """
    if len(text) > LARGE:
        _refuse_large(text, name)
    return _document(text, name)


def _without_half_a_value(text: str) -> str:
    """Return a text that is cut off without the cell or the line in which it is: of `57K` there may be a `5`."""
    tail = text[-_TAIL:].lower()
    if _END.search(tail):
        return text
    begin, end = max(map(tail.rfind, ("<td", "<th"))), max(map(tail.rfind, _CELL_ENDS))
    if 0 <= end < begin:
        return text[: begin - len(tail)]
    return text if max(begin, end) >= 0 else _whole_cells(text)


def _whole_cells(text: str) -> str:
    """Return a text without its last line, or of a row of a table between tabs without the last of its cells.

    A part that is copied from a browser ends where the selection does: the row is there, its last cell perhaps not
    whole.
    """
    above, _, last = text.rpartition("\n")
    tabs = last.count("\t")
    if tabs and tabs == above.rpartition("\n")[2].count("\t"):
        return text[: text.rfind("\t") + 1]
    return f"{above}\n" if above else ""


def _document(text: str, name: str) -> ReportDocument:
    if other := other_report(text):
        raise refused(name, *other)
    if not REPORT.search(text, 0, SEARCHED):
        raise refused(name, SILENT)
    text = _without_half_a_value(text)
    if _HTML.search(text, 0, 20_000) and (document := _page(text)):
        return document
    return _lines(text, name)


# each form has modules of its own, which the reports of the other forms do without
def _page(text: str) -> ReportDocument | None:
    """Take a page apart, None where it has neither tables nor a report set as text."""
    from toolkit.readers.awr.html import preformatted, read_html

    document = read_html(text)
    if document.tables:
        return document
    if not (inside := preformatted(text)):
        return None
    from toolkit.readers.awr.text import read_text

    return replace(read_text(inside), format="html")


def _lines(text: str, name: str) -> ReportDocument:
    from toolkit.readers.awr.pasted import is_pasted, mangled, read_pasted, with_tabs

    text = with_tabs(text)
    if why := mangled(text):
        raise refused(name, why, "give the file as the database wrote it, or save the page itself (Ctrl+S)")
    if is_pasted(text):
        return read_pasted(text)
    from toolkit.readers.awr.text import read_text

    return read_text(text)
