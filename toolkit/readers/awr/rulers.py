"""Rows of a text report: cut under the rulers of a table, the lines that tell of one SQL statement, and labels."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

Spans = Sequence[tuple[int, int]]
SPAN = re.compile(r"-+")
_GROUP = re.compile(r"-{2,} ?([^\s-](?:.*?[^\s-])?) ?-{2,}")
"""A heading over several columns, drawn between dashes."""
_WORDS = re.compile(r"\S+")
_LETTERS = re.compile(r"[A-Za-z]{2}")
_FIGURES = re.compile(r"[\d%#KMGTA.] +[-+\d.,#N]")
"""What two figures with a blank between them surely have."""
_LEAST_FIGURES = 2
"""What makes a line one of figures, and not a name with a number in it."""
_CONTAINER = re.compile(r"\s*PDB:\s*(.*)")
_DIGIT = re.compile(r"[\d.,+-]")
_BEGINS = frozenset("0123456789.,#-+")
_FIGURE = re.compile(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?[KMGT%]?|N/A|#+")
_LABELLED = re.compile(
    r"(?P<label>[%A-Za-z][^:]*?(?::\s[A-Za-z][^:]*?)?):(?P<values>(?:\s+[-+]?[\d.,]+(?:[eE][+-]?\d+)?[KMGT%]?(?=\s|$))*)"
)
_VALUE = re.compile(r"[-+]?[\d.,]+(?:[eE][+-]?\d+)?[KMGT%]?")


def columns_below(heads: Sequence[str], spans: Spans) -> list[tuple[str, int, int]]:
    """Return the heading over each span of a ruler: each word counts for the span it stands over."""
    words: list[list[str]] = [[] for _ in spans]
    for head in heads:
        for group in _GROUP.finditer(head):
            for found, (begin, end) in zip(words, spans, strict=True):
                if group.start() <= (begin + end) // 2 < group.end():
                    found.append(group[1])
        plain = _GROUP.sub(lambda group: " " * len(group[0]), head) if "--" in head else head
        for match in _WORDS.finditer(plain):
            first, last = match.span()
            best, most = -1, 0
            for place, (begin, end) in enumerate(spans):
                shared = (last if last < end + 1 else end + 1) - (first if first > begin - 1 else begin - 1)
                if shared > most:
                    best, most = place, shared
            if best >= 0:
                words[best].append(match[0])
    return [(" ".join(found), *span) for found, span in zip(words, spans, strict=True)]


def is_grouping(spans: Spans, below: str) -> bool:
    """Whether a ruler only groups the columns of the one below, as reports of a cluster have it."""
    inner = [match.span() for match in SPAN.finditer(below)]
    covers = all(any(begin <= left and right <= end for left, right in inner) for begin, end in spans)
    return spans[0][0] > len(below) - len(below.lstrip()) or (len(spans) > 2 and covers)


def cut(line: str, spans: Spans) -> tuple[str, ...]:
    """Return what stands left of the first column, and each column.

    A number wider than its column reaches into the one on its left, and is left whole; crosses, which stand for
    such a number, do so by themselves.
    """
    cells: list[str] = []
    begin, width = 0, len(line)
    for left, _ in spans:
        reaches = 0 < left < width and line[left - 1] != " " and line[left] != " " and bool(cells)
        edge = _edge(line, begin, left) if reaches else left
        cells.append(line[begin:edge].strip())
        begin = edge
    cells.append(line[begin:].strip())
    return tuple(cells)


def _edge(line: str, begin: int, left: int) -> int:
    """Return where the value begins that stands in the column which begins at `left`."""
    crosses = line[left : left + 1] == "#"
    edge = left
    while edge > begin and line[edge - 1 : edge].strip() and line[edge : edge + 1].strip():
        if (line[edge - 1] == "#") != crosses:
            return edge if crosses else left
        if not crosses and not _DIGIT.fullmatch(line[edge - 1]):
            return left
        edge -= 1
    return edge


def is_squeezed(line: str, cells: Sequence[str], spans: Spans) -> bool:
    """Whether a row lost blanks, so that its values no longer stand below their headings.

    Then a word reaches over the edge of a column, which no name does, or two figures stand below one heading, or
    all of a row of two columns below the first.

    Args:
        line: The row.
        cells: What stands below each heading, as `cut` has it.
        spans: The columns.
    """
    if len(spans) == 2:
        *names, last = line.split()
        return bool(names) and len(line) <= spans[0][1] and is_figure(last)
    for cell in cells:
        if (
            " " in cell
            and _FIGURES.search(cell)
            and any(all(map(is_figure, two)) for two in pairwise(cell.split()))
        ):
            return True
    width = len(line)
    return any(
        begin < width and line[begin] != " " and line[begin - 1] != " " and _splits_word(line, begin)
        for begin, _ in spans[1:]
    )


def _splits_word(line: str, edge: int) -> bool:
    """Whether the edge of a column stands within a word of letters, in a line of figures."""
    word = next((one[0] for one in _WORDS.finditer(line) if one.start() < edge < one.end()), "")
    return _LETTERS.search(word) is not None and sum(map(is_figure, line.split())) >= _LEAST_FIGURES


def stacked_rows(
    lines: Sequence[str],
    spans: Spans,
    names: Spans | None,
    lost: list[str],
    containers: dict[int, str],
    *,
    wraps: bool = True,
) -> list[tuple[str, ...]]:
    """Return a row per line of figures.

    Args:
        lines: The body of a table.
        spans: The columns of its figures.
        names: The columns of the lines of names, where a ruler of their own announces them.
        lost: Takes the lines of figures that do not stand below the headings.
        containers: Takes the container of a row, by its place, where a line below it names one.
        wraps: Whether a long value goes on in the next line.

    Returns:
        Rows with the cells of the line of names first; without `names` one cell, empty where no name stands. A
        name whose figures a page break cut off is a row of its own.
    """
    squeezed = dict.fromkeys(line for line in lines if _all_figures(line) and not figures(line, spans))
    lost += squeezed
    lines = [line for line in lines if line not in squeezed] if squeezed else lines
    rows: list[tuple[str, ...]] = []
    named: tuple[str, ...] = ("",) * (len(names) if names else 1)
    first = ""
    stacked = names is None and _names_and_figures(lines, spans)
    told = names is not None and not any(figures(line, spans) for line in lines)
    for line in lines:
        if rows and (container := _CONTAINER.fullmatch(line)) is not None:
            containers[len(rows) - 1] = container[1]
        elif names is not None and (not any(named) if told else not figures(line, spans)):
            named = cut(line, names)[1:]
            named = (first, *named[1:]) if not named[0] else named
            first = named[0]
        elif names is None and (_runs_across(line, spans) or (stacked and not figures(line, spans))):
            named = (line.strip(),)
        else:
            cells = cut(line, spans)
            if is_squeezed(line, cells, spans):
                lost.append(line)
                named = ("",) * len(named)
                continue
            if wraps and names is None and rows and (whole := _wrapped(rows[-1], line, cells, spans)):
                rows[-1] = whole
                continue
            rows.append((*named, *cells[1:]) if any(named) or names else cells)
            named = ("",) * len(named)
    if names is not None and any(named):
        rows.append((*named, *("" for _ in spans)))
    return rows


def _wrapped(above: Sequence[str], line: str, cells: Sequence[str], spans: Spans) -> tuple[str, ...] | None:
    """Return the row above with the value that this line goes on with, None where the line is no such part.

    SQL*Plus breaks a value where its column ends, between words or within one. A blank at the break is not
    printed: a line that ends one before its column with a comma had one there.
    """
    filled = [place for place, cell in enumerate(cells) if cell]
    if len(filled) != 1 or filled[0] < 2:
        return None
    (place,) = filled
    begin, end = spans[place - 1]
    left = -len(above[place]) % (end - begin)
    if not above[place] or left > 1 or (left == 1 and not above[place].endswith(",")):
        return None
    blank = " " * (left or line[begin : begin + 1] == " ")
    return (*above[:place], above[place] + blank + cells[place], *above[place + 1 :])


def figures(line: str, spans: Spans) -> bool:
    """Whether a line is one of figures: each column holds a number or nothing."""
    cells = cut(line, spans)
    return not cells[0] and all(_is_value(cell) for cell in cells[1:])


def _is_value(cell: str) -> bool:
    return not cell or (cell[0] in _BEGINS and " " not in cell) or cell == "N/A"


def _all_figures(line: str) -> bool:
    words = line.split()
    return len(words) >= _LEAST_FIGURES and all(map(is_figure, words))


def is_figure(word: str) -> bool:
    """Whether a word is a number as reports print it, or the crosses that stand for one."""
    return _FIGURE.fullmatch(word) is not None


def _names_and_figures(lines: Sequence[str], spans: Spans) -> bool:
    """Whether every second line is one of figures, and those above them names, some of which run across columns.

    The words of a name may stand under the columns, as if they were values: the lines around it tell.
    """
    pairs = list(zip(lines[::2], lines[1::2], strict=False))
    return any(_runs_across(name, spans) for name in lines[::2]) and all(
        figures(values, spans) and not figures(name, spans) for name, values in pairs
    )


def _runs_across(line: str, spans: Spans) -> bool:
    """Whether words run over the edge of a column, as only a name in a line of its own does."""
    return any(
        line[begin - 1 : begin].strip() and line[begin : begin + 1].strip() for begin, _ in spans if begin
    ) and not any(is_figure(word) for word in re.split(r"\s+|(?<=\d)(?=#)", line))


# -- statements -------------------------------------------------------------------------------------------------
_IDENTITY = re.compile(r"[0-9a-z]{13}|\d{4,10}")
_MODULE = re.compile(r"\s*Module:\s*(.*)")
_WORD = re.compile(r"[\w$#]+")
_LAST = re.compile(r"[\w$#]+$")
_FIRST = re.compile(r"[\w$#]+")
_NARROW = 64
"""Statspack breaks SQL at 64 characters, AWR near 80."""


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A line of the list, whole and cut into columns."""

    line: str
    cells: tuple[str, ...]


@dataclass(slots=True)
class _Row:
    cells: tuple[str, ...]
    module: str = ""
    container: str = ""
    text: list[str] = field(default_factory=list)

    def finished(self, width: int, known: Container[str]) -> tuple[str, ...]:
        return (*self.cells, self.module, self.container, joined(self.text, width, known))


def joined(lines: Sequence[str], width: int, known: Container[str]) -> str:
    """Return the text of a statement, whose lines were broken at a width; `known` are words that are whole."""
    return "".join(
        f"{line} " if _parts(line, following, width, known) else line
        for line, following in zip_longest(lines, lines[1:], fillvalue="")
    ).strip()


def _parts(line: str, following: str, width: int, known: Container[str]) -> bool:
    """Whether a space stood where a line is broken.

    Space at the end of a line is lost, and AWR squeezes it within a line as well: then only words that are whole
    elsewhere tell where one of them was broken.
    """
    if len(line) >= width:
        return False
    last, first = _LAST.search(line), _FIRST.match(following)
    if last is None or first is None:
        return len(line) < width - 1
    joined = last[0] + first[0]
    if joined in known or last[0].endswith("_"):
        return False
    return len(line) < width - 1 or (last[0] in known and first[0] in known)


def _known(rows: Iterable[_Row]) -> set[str]:
    """Return the words that stand whole within a line."""
    lines = (line for row in rows for line in row.text)
    return {word for line in lines for word in _WORD.findall(line)[1:-1]}


def is_metrics(cells: Sequence[str]) -> bool:
    """Whether cells are the figures of a statement: numbers, and an id or hash value last."""
    last = next((cell for cell in reversed(cells) if cell), "")
    return (
        _IDENTITY.fullmatch(last) is not None
        and any(cell for cell in cells[:-1])
        and all(_is_value(cell) for cell in cells[:-1])
    )


def statement_rows(lines: Iterable[StatementLine], width: int, lost: list[str]) -> list[tuple[str, ...]]:
    """Return a row per statement: its figures, module, container and text; a text before all figures is a row.

    A statement whose figures do not stand below the headings is given to `lost`, without its text.
    """
    rows = [_Row(("",) * width)]
    left_out: list[_Row] = []
    for one in lines:
        if not one.line.strip():
            continue
        if is_metrics(one.cells):
            rows.append(_Row(one.cells))
        elif _is_squeezed_statement(one.line):
            lost.append(one.line)
            left_out.append(_Row(("",) * width))
            rows.append(left_out[-1])
        elif match := _MODULE.fullmatch(one.line):
            rows[-1].module = match[1]
        elif match := _CONTAINER.fullmatch(one.line):
            rows[-1].container = match[1]
        else:
            rows[-1].text.append(one.line)
    longest = max((len(line) for row in rows for line in row.text), default=0)
    wrapped = longest if longest > _NARROW else _NARROW
    if not rows[0].text:
        rows = rows[1:]
    known = _known(rows)
    return [row.finished(wrapped, known) for row in rows if not any(row is one for one in left_out)]


def _is_squeezed_statement(line: str) -> bool:
    """Whether a line is the figures of a statement without the blanks between them."""
    *numbers, identity = line.split()
    return (
        len(numbers) >= _LEAST_FIGURES
        and _IDENTITY.fullmatch(identity) is not None
        and any(map(str.isdigit, identity))
        and all(map(is_figure, numbers))
    )


def is_labelled(line: str) -> bool:
    """Whether a line begins with a label and its values."""
    if ":" not in line or line.startswith(("->", "Module:")):
        return False
    match = _LABELLED.match(line.lstrip())
    return match is not None and (bool(match["values"].strip()) or line.rstrip().endswith(":")) and len(line) < 160


def labels_in(line: str, columns: Sequence[tuple[str, int, int]]) -> tuple[str, ...]:
    """Return the labels of a line and the values behind each, those of the first one under their headings."""
    cells: list[str] = []
    for match in _LABELLED.finditer(line):
        values = [(one[0], match.start("values") + one.start(), match.start("values") + one.end())
                  for one in _VALUE.finditer(match["values"])]  # fmt: skip
        cells.append(match["label"].strip() + ":")
        if columns and len(cells) == 1:
            cells.extend(_placed(values, columns))
        else:
            cells.extend(value for value, _, _ in values)
    return tuple(cells)


def _placed(values: Sequence[tuple[str, int, int]], columns: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    """Return the values under their headings, an empty text where nothing is printed."""
    left = list(values)
    for _, begin, end in columns:
        inside = next((one for one in left if one[1] < end + 2 and one[2] > begin), None)
        if inside is not None:
            left.remove(inside)
        yield inside[0] if inside else ""
