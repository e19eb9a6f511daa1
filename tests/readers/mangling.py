"""What happens to a report on its way: quoted, encoded for a mail, packed, copied from the window of a browser."""

from __future__ import annotations

import base64
import csv
import functools
import gzip
import io
import itertools
import quopri
import re
import tarfile
import textwrap
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from html.parser import HTMLParser


def quoted(text: str, mark: str = "> ") -> str:
    return "\n".join((mark + line).rstrip(" ") if not line else mark + line for line in text.split("\n"))


def escaped(text: str) -> str:
    return quopri.encodestring(text.encode()).decode()


def folded(text: str, width: int) -> str:
    def parts(line: str) -> list[str]:
        if len(line) <= width and line.isprintable():
            return [line.rstrip(" ")]
        return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]

    return "\n".join(part for line in text.split("\n") for part in parts(line))


def mailed(text: str, how: str) -> bytes:
    message = EmailMessage()
    message["Subject"] = "the report"
    message["Received"] = "from somewhere " * 300
    if how == "attached":
        message.set_content("See the attached report.")
        message.add_attachment(text.encode(), maintype="application", subtype="octet-stream", filename="r.html")
    elif "<html" in text.lower():
        message.set_content("This mail is a page.")
        message.add_alternative(text, subtype="html", cte=how)
    else:
        message.set_content(text, cte=how)
    return message.as_bytes()


def zipped(*texts: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, text in enumerate(texts, 1):
            archive.writestr(f"reports/{number}.html", text)
        archive.writestr("__MACOSX/reports/._1.html", "junk")
    return file.getvalue()


def tarred(*texts: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for number, text in enumerate(texts, 1):
            member = tarfile.TarInfo(f"{number}.html")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return file.getvalue()


class _Cells(HTMLParser):
    """Reads the paragraphs and rows of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str | list[str]] = []
        self._row: list[str] | None = None
        self._cell: str | None = None
        self._words = ""
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in {"style", "script", "title"}
        if tag in {"table", "p", "h1", "h2", "h3", "br", "li"}:
            self._paragraph()
        if tag == "tr":
            self._end_row()
            self._row = []
        elif tag in {"td", "th"}:
            self._end_cell()
            self._cell = ""

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"style", "script", "title"}
        if tag in {"td", "th"}:
            self._end_cell()
        elif tag in {"tr", "table"}:
            self._end_row()
        if tag in {"table", "p", "h1", "h2", "h3", "li"}:
            self._paragraph()
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._cell is not None:
            self._cell += data
        elif self._row is None:
            self._words += data

    def close(self) -> None:
        super().close()
        self._paragraph()

    def _end_cell(self) -> None:
        if self._cell is not None and self._row is not None:
            self._row.append(re.sub(r"[ \t\r\n]+", " ", self._cell).strip(" "))
        self._cell = None

    def _end_row(self) -> None:
        self._end_cell()
        row, self._row = self._row, None
        if row:
            self.lines.append(row)

    def _paragraph(self) -> None:
        if self._cell is None:
            if self._words.strip():
                self.lines.append(" ".join(self._words.split()))
            self._words = ""


def copied(page: str, between: str = "\t", *, empty: bool = True) -> str:
    """Return what is copied of a page as Chromium does: no empty cell at the begin of a row.

    Args:
        between: What stands between two cells.
        empty: Empty cells leave their mark.
    """
    lines: list[str] = []
    for line in _lines(page):
        if isinstance(line, str):
            lines.append(line)
        elif row := list(itertools.dropwhile(lambda cell: not cell, line)):
            lines.append(between.join(cell for cell in row if empty or cell.replace("\xa0", "").strip()))
    return "\n".join(lines)


@functools.lru_cache(maxsize=2)  # most ways of a page begin with it, and it takes longer than to read the report
def _lines(page: str) -> tuple[str | list[str], ...]:
    window = _Cells()
    window.feed(page)
    window.close()
    return tuple(window.lines)


def as_markdown(page: str) -> str:
    """Return a page as programs of notes write it: bars between cells, a ruler below the first row of a table."""
    lines: list[str] = []
    above: str | list[str] = ""
    for line in _lines(page):
        lines.append(line if isinstance(line, str) else "| ".join(line) + "  ")
        if isinstance(line, list) and isinstance(above, str):
            lines.append("|".join(["---"] * len(line)) + "  ")
        above = line
    return "\n".join(lines)


def as_csv(page: str, between: str) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=between).writerows(
        [line] if isinstance(line, str) else line for line in _lines(page)
    )
    return file.getvalue()


SAME: dict[str, Callable[[str], bytes]] = {
    "quoted": lambda text: quoted(text).encode(),
    "quoted twice": lambda text: quoted(quoted(text)).encode(),
    "quoted by a bare mark": lambda text: quoted(text, ">").encode(),
    "quoted on Windows": lambda text: quoted(text).replace("\n", "\r\n").encode(),
    "quoted-printable": lambda text: escaped(text).encode(),
    "quoted-printable of a quotation": lambda text: escaped(quoted(text)).encode(),
    "a quotation of quoted-printable": lambda text: quoted(escaped(text)).encode(),
    "base64": lambda text: base64.encodebytes(text.encode()),
    "a mail in quoted-printable": lambda text: mailed(text, "quoted-printable"),
    "a mail in base64": lambda text: mailed(text, "base64"),
    "an attachment": lambda text: mailed(text, "attached"),
    "zip": zipped,
    "zip in gzip": lambda text: gzip.compress(zipped(text)),
    "tar in gzip": tarred,
    "gzip in two parts": lambda text: gzip.compress(text[:5000].encode()) + gzip.compress(text[5000:].encode()),
    "an empty line after each": lambda text: text.replace("\n", "\n\n").encode(),
}
"""Forms in which a report says the same as it does itself."""
LESS: dict[str, Callable[[str], bytes]] = {
    "copied with tabs": lambda text: copied(text).encode(),
    "copied with tabs, quoted": lambda text: quoted(copied(text)).encode(),
    "copied with tabs that an editor took off the ends": lambda text: "\n".join(
        line.strip() for line in copied(text).split("\n")
    ).encode(),
    "copied with blanks": lambda text: copied(text, "   ").encode(),
    "copied with blanks, nothing for empty cells": lambda text: copied(text, "   ", empty=False).encode(),
    "copied with blanks, one for empty cells": lambda text: copied(text, "   ").replace("\xa0", " ").encode(),
    "copied with one blank": lambda text: copied(text, " ", empty=False).encode(),
    "in a note in Markdown": lambda text: as_markdown(text).encode(),
    "out of a spreadsheet, with commas": lambda text: as_csv(text, ",").encode(),
    "out of a spreadsheet, with semicolons": lambda text: as_csv(text, ";").encode(),
    "wrapped at 76": lambda text: folded(text, 76).encode(),
    "wrapped at 60": lambda text: folded(text, 60).encode(),
    "wrapped as a quotation": lambda text: folded(quoted(text), 78).encode(),
    "without blanks before its lines": lambda text: "\n".join(line.lstrip() for line in text.split("\n")).encode(),
    "with single blanks": lambda text: "\n".join(" ".join(line.split()) for line in text.split("\n")).encode(),
}
"""Forms in which some of it is lost: what is still read must be right, and what is not must be said."""
