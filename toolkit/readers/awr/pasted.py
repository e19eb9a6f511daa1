"""A report that was copied from the window of a browser.

What a browser copies of a table is its cells between tabs, and in some programs between blanks: then only rows
that have a cell under every heading are believed, and those that begin with a label (`Redo size (bytes):`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from toolkit.readers.awr.blanks import Placing, tabs_again
from toolkit.readers.awr.rows import DATA, Rows, table_of
from toolkit.readers.awr.sections import section_of
from toolkit.readers.awr.tables import AwrTable, ReportDocument
from toolkit.units import counted

_FEWEST = 3
_RULER = re.compile(r"^[ \t]*[-~]{2,}(?: +[-~]{2,})+[ \t\r]*$", re.MULTILINE)
_TABBED = re.compile(r"^.*\t.*$", re.MULTILINE)
_APART = re.compile(r"[ \t]{2,}|\t")
_SPACED = re.compile(r"^.*\S {2,}\S.*$", re.MULTILINE)
_RUN_TOGETHER = re.compile(r"^[ \t]*(?:Per Second Per Transaction|DB Name DB Id\b)", re.MULTILINE)
_HEADER = re.compile(r"^[ ]*(DB Name {2,}DB Id\b[^\t\r\n]*)[ \r]*\n+[ ]*([^\t\r\n]+)", re.MULTILINE)
"""The headings of the database and the row below, of a page whose columns are only set apart by blanks."""
_BROKEN_RULER = re.compile(r"^[ \t]*-{2,}(?: +-+)+[ \t\r]*\n-+(?: +-+)*[ \t\r]*$", re.MULTILINE)
_INDENTED, _WIDE = re.compile(r"^[ \t]+\S", re.MULTILINE), re.compile(r"\S(?:[ ]{2,}|\t)\S")
_BARS = re.compile(r"^[ \t]*+\|?+(?>(?: *+:?+-{3,}+:?+ *+\|)+)(?>(?: *+:?+-{3,}+:?+ *+)?)[ \t\r]*+$", re.MULTILINE)
"""What stands below the headings of a table in Markdown."""
_SEPARATED = re.compile(r"^\"?DB Name\"?([;,])\"?DB Id\"?\1", re.MULTILINE)
_HEAD = 100_000
_ROWS_ENOUGH = 5
_LONGEST_HEADING, _MOST_NOTES = 160, 20
_TITLE = re.compile(r"WORKLOAD REPOSITORY|STATSPACK|AWR (?:RAC )?Report for", re.IGNORECASE)
_END = re.compile(r"end\s+of\s+report", re.IGNORECASE)


def with_tabs(text: str) -> str:
    """Return a text with tabs between the cells of its tables.

    Where it has bars (Markdown), is a CSV file, or has blanks whose number tells of tabs.
    """
    if len(_BARS.findall(text, 0, _HEAD)) >= _FEWEST:
        return "\n".join(map(_of_markdown, filter(lambda line: not _BARS.fullmatch(line), text.split("\n"))))
    if (found := _SEPARATED.search(text, 0, _HEAD)) is None:
        return text if _ruled(text) >= _FEWEST or _is_tabbed(text) else tabs_again(text)
    try:
        rows = [*csv.reader(text.splitlines(keepends=True), delimiter=found[1])]
    except csv.Error:  # a quotation mark that is never closed
        return text
    lines, wide = [], 0
    for row in rows:  # a spreadsheet gives all rows of a sheet as many cells
        cells = "\t".join(" ".join(cell.split()) for cell in row).rstrip()
        wide = (wide or cells.count("\t")) if cells else 0
        lines.append(cells + "\t" * (wide - cells.count("\t")))
    return "\n".join(lines)


def _of_markdown(line: str) -> str:
    line = line.strip(" \t\r")
    if "|" not in line:
        return re.sub(r"^(?:#+|\*) +", "", line)
    whole = line.startswith("|") and line.endswith("|")
    return "\t".join(cell.strip() for cell in (line[1:-1] if whole else line).split("|"))


def is_pasted(text: str) -> bool:
    """Whether a text has the cells of tables in its lines, and no rulers under their headings."""
    return _ruled(text) < _FEWEST and max(len(_TABBED.findall(text)), len(_SPACED.findall(text))) >= _ROWS_ENOUGH


def mangled(text: str) -> str | None:
    """Return what was done to the lines of a text report so that its columns are lost, None where nothing was."""
    if _ruled(text) < _FEWEST:
        if _RUN_TOGETHER.search(text) is not None:
            return "only single blanks stand between its cells, as where a page was copied or printed as text"
        if (found := _HEADER.search(text)) and len(_APART.split(found[2])) < len(_APART.split(found[1])):
            return "it is a page that was printed as text (w3m, html2text), so that its columns are lost"
        return None
    if len(_BROKEN_RULER.findall(text)) >= _FEWEST:
        return "its lines were wrapped by a mail program or an editor, so that its columns are lost"
    if _INDENTED.search(text) is None or _WIDE.search(text) is None:
        return "the blanks in its lines were taken out, so that its columns are lost"
    return None


def _is_tabbed(text: str) -> bool:
    return len(_TABBED.findall(text)) >= _ROWS_ENOUGH


def _ruled(text: str) -> int:
    return len(_RULER.findall(text))


def read_pasted(text: str) -> ReportDocument:
    """Take a report apart that was copied from the window of a browser.

    A browser leaves out an empty cell at the begin of a row, and some programs all empty cells. A row with more or
    fewer cells than headings is therefore left out, unless the first heading is the empty cell; `remarks` count
    such rows.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tabbed = _is_tabbed(text)
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
        self._above: list[str] = []
        """The heading of the next list, and what the report says of it."""
        self._rows: list[list[str]] = []
        self._read = False
        """Whether what `_above` stands above is over: the next line is a heading."""
        self._lone = ""
        """One word below a row: a row whose other cells are empty, without a mark, or words above a list."""

    def take(self, line: str) -> None:
        cells, lone = self._cells(line), self._lone
        self._lone = ""
        if len(cells) < 2 and self._rows and cells[0] and " " not in cells[0]:
            self._lone = cells[0]
            return
        if lone and len(cells) > 1 and section_of(self._table(cells)) is None:
            self._rows.append([lone])
        elif lone:
            self._words(lone)
        if len(cells) < 2:
            self._words(line)
            return
        if self._rows and section_of(self._table(cells)) is not None:
            self.end()  # the headings of another table
        self._rows.append(cells)

    def _words(self, line: str) -> None:
        """Take a line that is no row: it ends a table, or stands above one."""
        self.end()
        words = " ".join(line.split())
        if words.startswith("Back to"):
            self._read = True
        elif 0 < len(words) <= _LONGEST_HEADING:
            self._above = [words] if self._read else [*self._above[:_MOST_NOTES], words]
            self._read = False

    def _cells(self, line: str) -> list[str]:
        cells = line.split("\t") if self._tabbed else _APART.split(line.rstrip(" \t"))
        return [" ".join(cell.split()) for cell in cells]

    def end(self) -> None:
        """Make a table of the rows that stand together."""
        self._lone = ""
        rows, self._rows = self._rows, []
        if not rows:
            return
        self._read = True
        if (under := self._under_others(rows)) is not None:
            rows[:2] = [under]
        if self._lacks_first(rows):
            rows[0].insert(0, "")
        own = self._table(())
        table = table_of(own.section, own.title, Rows(list(rows), [DATA * len(row) for row in rows]))
        if table is None or not table.columns:
            self.tables += [table] if table is not None else []
            return
        whole, placed = self._whole(table)
        named = ": ".join(filter(None, (own.section, own.title)))
        where = f"`{named}`" if named else "a list without a name"
        if placed:
            many = counted(placed, "row has", "rows have")
            self.remarks.append(f"in {where} {many} unmarked empty cells: read by the form of the others")
        if lost := len(table.rows) - len(whole):
            many = counted(lost, "row has", "rows have")
            self.remarks.append(f"in {where} {many} no cell under each heading, and cannot be read")
        self.tables.append(AwrTable(table.section, table.title, table.columns, whole))

    def _whole(self, table: AwrTable) -> tuple[list[tuple[str, ...]], int]:
        """Return the rows that have a cell under each heading or can be given one, and how many were."""
        section, width = section_of(table), len(table.columns)
        placing = None if section is None or section.labels else Placing(section, table, marked=self._tabbed)
        whole, placed = [], 0
        for row in table.rows:
            if _is_whole(row, width):
                whole.append(row)
            elif placing is not None and (found := placing.row(row)) is not None:
                whole.append(found)
                placed += 1
        return whole, placed

    def _lacks_first(self, rows: Sequence[Sequence[str]]) -> bool:
        """Whether the first heading is blank and was left out: above labels, or where tabs show all others."""
        widths = {len(row) for row in rows[1:]}
        if not rows[0][0] or max(widths, default=0) != len(rows[0]) + 1:
            return False
        return all(row[0].endswith(":") for row in rows[1:]) or (self._tabbed and len(widths) == 1)

    def _under_others(self, rows: Sequence[Sequence[str]]) -> list[str] | None:
        """Return the headings with what stands above several (`% of Total Waits`), of a list that is known.

        What was copied does not tell how far each of these reaches: equally far, or nothing is returned.
        """
        if len(rows) < 2 or rows[0][0] or len(rows[0]) >= len(rows[1]):
            return None
        groups = [one for one in rows[0] if one]
        blank = len(rows[0]) - len(groups)
        if not groups or any(rows[0][:blank]) or (len(rows[1]) - blank) % len(groups):
            return None
        each = (len(rows[1]) - blank) // len(groups)
        above = [""] * blank + [one for one in groups for _ in range(each)]
        joined = [f"{one} {own}".strip() for one, own in zip(above, rows[1], strict=True)]
        return joined if section_of(self._table(joined)) is not None else None

    def _table(self, columns: Sequence[str]) -> AwrTable:
        """Return what is known of a list: its heading, the last that is said of it, its columns."""
        return AwrTable(self._above[0] if self._above else "", " ".join(self._above[1:][-1:]), tuple(columns), ())


def _is_whole(row: Sequence[str], width: int) -> bool:
    """Whether a row has a cell under each heading; one that begins with a label may end before the last."""
    return len(row) == width or (len(row) < width and row[0].endswith(":"))
