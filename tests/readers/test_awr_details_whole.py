"""Every value of the detailed sections of real reports, against a reading of the page by the standard library.

The names of the columns are written down here by hand, by the headings as printed; nothing of the reader is used.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from toolkit.readers.awr.report import read_report

REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
pytestmark = pytest.mark.skipif(
    not (REALDATA / "awr").is_dir(), reason="set DBATK_REALDATA to the folder of real reports"
)
NAMES: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "detail_headings.json").read_text())
"""By section: what its headings say, joined by `|`, and the names of the values in their order."""
SAMPLES = (
    "pcambell__11g_rac__awrrpt_1_24703_24704.html", "pcambell__12c_rac__awrrpt_1_56288_56289.html",
    "eyko139__AIMS_AWR.html", "pcambell__19c_rac__awr_xydb_1_20230217_15_16.html", "lizhenhuan__awr2.html",
    "Azure__AWR_DBT.html", "Azure__AWR_DBW.html", "jdmoreno__PRD_231001_1300.html",
)  # fmt: skip


class Page(HTMLParser):
    """The rows of the tables of a page, and the last heading above each."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[tuple[str, list[list[tuple[str, str, int, int]]]]] = []
        self.words, self.heading, self.cell = "", "", None
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "table":
            self.end_cell()
            self.tables.append((self.heading, []))
        elif tag == "tr" and self.tables:
            self.end_cell()
            self.tables[-1][1].append([])
        elif tag in {"td", "th"} and self.tables and self.tables[-1][1]:
            self.end_cell()
            self.cell = (tag, int(found.get("colspan") or 1), int(found.get("rowspan") or 1))
            self.words = ""
        elif re.fullmatch("h[1-6]", tag):
            self.inside, self.heading = tag, ""

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th", "table", "tr"}:
            self.end_cell()
        if tag == self.inside:
            self.inside = ""

    def end_cell(self) -> None:
        if self.cell is not None:
            tag, wide, high = self.cell
            self.tables[-1][1][-1].append((tag, " ".join(self.words.split()), wide, high))
            self.cell = None

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.inside:
            self.heading = " ".join(f"{self.heading}{data}".split(" "))


def flat(rows: list[list[tuple[str, str, int, int]]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table, headings that span columns repeated for each of them."""
    heads = [
        row
        for row in rows
        if any(tag == "th" for tag, *_ in row) and all(tag == "th" or not words for tag, words, *_ in row)
    ]
    data = [[words for _, words, _, _ in row] for row in rows if row and row not in heads]
    if not heads:
        return [], data
    grid: list[dict[int, str]] = [{} for _ in heads]
    for place, row in enumerate(heads):
        at = 0
        for _, words, wide, high in row:
            while at in grid[place]:
                at += 1
            for below in range(place, min(place + high, len(heads))):
                for beside in range(at, at + wide):
                    grid[below][beside] = words
            at += wide
    width = max(max(one, default=-1) + 1 for one in grid)
    return [" ".join(dict.fromkeys(one.get(at, "") for one in grid)).strip() for at in range(width)], data


@lru_cache(maxsize=1)
def page(file: str) -> list[tuple[str, list[str], list[list[str]]]]:
    parser = Page()
    parser.feed((REALDATA / "awr" / file).read_text(errors="replace"))
    return [(heading, *flat(rows)) for heading, rows in parser.tables]


def wanted(heading: str, columns: list[str]) -> Iterator[tuple[str, list[str]]]:
    for section, forms in NAMES.items():
        for words, names in forms.items():
            above, _, printed = words.rpartition(" @ ")
            if printed == "|".join(columns) and above.lower() in heading.lower():
                yield section, names.split("|")
                return


def value(cell: str, name: str, heading: str) -> Any:
    """Return what a cell says, read by hand: a number in the unit of its name, else the words."""
    text = cell.replace(",", "")
    if text in {"", "\xa0", "N/A"}:
        return None
    if name in TEXTS:
        return cell.rstrip(":").removesuffix(" %") if name == "name" else cell
    if re.fullmatch(r"[\d.]+\(\d+\)", text):
        text = text.partition("(")[0]
    match = re.fullmatch(r"(-?(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d+)?)([KMGTP]|ns|us|ms|s)?", text)
    if match is None:
        return cell
    number, unit = float(match[1]), match[2] or ""
    if re.search("^(read|write)_bytes", name):
        return number * 1024 ** "BKMGTP".index(unit or "M")
    if name.endswith("_ms"):
        unit = unit or ("us" if "(us)" in heading else "s" if "(s)" in heading else "ms")
        return number * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[unit]
    if "thousands" in heading or heading.endswith("(K)"):
        number *= 1000
    return number * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[unit]


TEXTS = frozenset(
    re.findall(
        r"\w+",
        """
        name finding task sql_id plan_hash event row_source text pdb session user program samples_active values
        parameter_1 parameter_2 parameter_3 wait_class session_type object_id object tablespace entry_subprogram
        current_subprogram slot function file_type function_and_file_type filename pool enqueue latch
        where mutex location undo_tablespace least_and_most_retention_min end_time
        snapshot_too_old_and_out_of_space
        extents_stolen_released_reused block_class client device
        """,
    )
)


def same(printed: Any, read: Any) -> bool:
    if isinstance(printed, float) and isinstance(read, int | float):
        return read == pytest.approx(printed, rel=1e-9)
    if isinstance(read, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d", read):
        return bool(str(printed).endswith(read[-5:]) and str(printed).startswith(read[8:10]))
    return bool(printed == read)


def compared(file: str) -> tuple[int, list[str], set[str]]:
    document = read_report((REALDATA / "awr" / file).read_bytes(), file).printed()
    rows: dict[str, Iterator[dict[str, Any]]] = {name: iter(document.get(name, [])) for name in NAMES}
    count, differ, sections = 0, [], set()
    for heading, columns, data in page(file):
        for section, names in wanted(heading, columns):
            sections.add(section)
            for row in data:
                read = next(rows[section], {})
                for place, name in enumerate(names):
                    printed = value(row[place] if place < len(row) else "", name, (columns or ["", ""])[place])
                    count += 1
                    if not same(printed, read.get(name)):
                        differ.append(f"{section}.{name}: printed {printed!r}, read {read.get(name)!r}")
    left = [name for name in sections if next(rows[name], None) is not None]
    return count, differ + [f"{name}: more rows than the page has" for name in left], sections


@pytest.mark.parametrize("file", SAMPLES)
def test_every_value_of_the_details_is_what_the_page_prints(file: str) -> None:
    if not (REALDATA / "awr" / file).is_file():
        pytest.skip(f"{file} is not among the reports here")
    count, differ, sections = compared(file)
    assert not differ, f"{len(differ)} of {count}: {differ[:10]}"
    assert count > 1000
    assert len(sections) >= 8
