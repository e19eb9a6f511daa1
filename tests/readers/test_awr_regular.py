"""A table read by its tags says what the tree of its page says, whatever was done to the page."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.readers.awr_samples import html as sample
from toolkit.readers.awr import html
from toolkit.readers.awr.rows import Cut, cut_tables
from toolkit.readers.awr.tables import ReportDocument

AWR = Path(os.environ.get("DBATK_REALDATA", "/nowhere")) / "awr"
ROW = "<tr><td class=x>{}</td><td align='right'>12</td></tr>"
PIECES = (
    "<td>", "</td>", "<tr>", "</tr>", "<table>", "</table>", "<TABLE border=1>", "</TABLE>", "</table >",
    "<table/>", "<td/>", "<td colspan=3>", "<td rowspan='2'>", "<th id=q colspan=' 2'>", "<th>", "</th>",
    "<tbody>", "</thead>", "<!--", "-->", "<script>", "</script>", "<select>", "<textarea>", "<title>",
    "</title>", "<svg>", "<template>", "<li>", "<a name=n>", "<a href='#n'>", "</a>", "<b>", "</b>", "<p>",
    "<h3>", "</h3>", "<caption>of</caption>", "<br>", "<br", "<div>", "</div>", "<span title='a>b'>", "</span>",
    "<pre>", "<plaintext>", "<frameset>", "<xmp>", "&", "&lt", "&lt;", "&#160;", "&#38;lt;", "&amp;lt;", "&#0;",
    "&#128;", "&#x41;", "&nope;", "\x00", "\r", "\x0b", "\x1c", "\u2003", "\xe9", "<", ">", "<<", "'", '"', "=",
    " dbatk-cut=3", "<table dbatk-cut=0>", "<form>", "<td a=1 a=2>", "<td id=n>", "<td\n>", "<TD>", "</tD>",
    "<ul>", "<i>", "<font size=1>", "</font>", "<wbr>",
)  # fmt: skip


def tabular(seed: int) -> str:
    """Make a page of some tables, some of them in disorder."""
    dice = random.Random(seed)
    page = sample(extra="".join(
        f"<h3>Part {part}</h3><a name=n{part}></a><table summary='of {part}'>"
        + "<tr><th>A</th><th>B &amp; C</th></tr>\n"
        + "".join(ROW.format(dice.choice(("1,2", "&#160;", "a  b", "<a href='#x'>y</a>", "&lt;z", "")))
                  for _ in range(4)) + "</table>"
        for part in range(3)
    ))  # fmt: skip
    for _ in range(dice.choice((1, 1, 2, 4))):
        places = [match.start() for match in re.finditer(r"<|>", page)]
        at = dice.choice(places)
        page = page[:at] + dice.choice(PIECES) + page[at + dice.choice((0, 0, 1, 5, 40)) :]
    return page


def by_the_tree(page: str, monkeypatch: pytest.MonkeyPatch) -> ReportDocument:
    with monkeypatch.context() as patched:
        patched.setattr(html, "cut_tables", Cut)
        return html.read_html(page)


@pytest.mark.full
def test_a_page_in_disorder_says_the_same_by_tags_and_by_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = 0
    for seed in range(1500):
        page = tabular(seed)
        assert html.read_html(page) == by_the_tree(page, monkeypatch), seed
        cut += bool(cut_tables(page).tables)
    assert cut > 1000


REGULAR = {
    "attributes in any manner": "<tr><td class='a' id=b rowspan=1 x>1</td><td/>2</tr>",
    "no ends": "<tr><td>1<td>2<tr><td>3<td>4",
    "parts": "<thead><tr><th>A</th></tr></thead><tbody><tr><td>1</td></tr></tbody>",
    "spans": "<tr><th colspan=2>A</th></tr><tr><td rowspan=2>1</td><td>2</td></tr><tr><td>3</td></tr>",
    "marks within cells": "<tr><td><a href='#x'>one</a> <b>two</b></td><td>3 <font size=1>4</font></td></tr>",
    "characters by name": "<tr><td>&lt;1 &amp;lt; &quot;&#160;&nbsp;x&#8364;</td><td>&#160;</td></tr>",
    "blanks of all kinds": "<tr>\n<td>\t a \u2003 b\r\nc</td>\f<td>\u00a0</td></tr>",
    "rows of different length": "<tr><td>1</td></tr><tr></tr><tr><td>2</td><td>3</td></tr>",
}


@pytest.mark.parametrize("rows", REGULAR.values(), ids=REGULAR)
@pytest.mark.parametrize("case", [str, lambda text: re.sub("<[^>]*>", lambda tag: tag[0].upper(), text)])
def test_what_the_database_writes_needs_no_tree(
    case: Callable[[str], str], rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = case(f"<html><body><table border=1>{rows}</table><p>after</p></body></html>")
    assert len(cut_tables(page).tables) == 1
    assert html.read_html(page).tables
    assert html.read_html(page) == by_the_tree(page, monkeypatch)


ELSEWHERE = {
    "a comment": "<!-- {} -->", "a script": "<script>{}</script>", "a form control": "<textarea>{}</textarea>",
    "a heading": "<h3>Of {}</h3>", "an entry of the contents": "<ul><li><a href='#x'>y</a> {}</ul>",
    "an attribute": '<p title="{}">', "a caption": "<table><caption>{}</caption></table>",
    "a cell": "<table><tr><td>{}</td><td>beside</td></tr></table>", "nothing that ends": "<table><tr><td>{}",
}  # fmt: skip


@pytest.mark.parametrize("around", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_table_in_another_place_is_what_it_is_there(around: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = f"<table><tr><th>A</th><th>B</th></tr>{ROW.format('<a name=x>7</a>')}</table>"
    page = f"<html><body>{around.format(table)}<h3>Last</h3>{table}</body></html>"
    assert html.read_html(page) == by_the_tree(page, monkeypatch)


def test_cells_around_a_table_are_not_its_own() -> None:
    inner = f"<table>{ROW.format('inner')}</table>"
    [table] = html.read_html(f"<table><tr><td>{inner}</td><td>beside</td></tr></table>").tables
    assert [*table.rows] == [("inner", "12")]


@pytest.mark.skipif(not AWR.is_dir(), reason="set DBATK_REALDATA to the folder of real reports")
def test_nearly_all_tables_of_real_reports_need_no_tree() -> None:
    left = whole = 0
    for file in sorted(AWR.iterdir()):
        page = file.read_bytes().decode("utf-8", "replace")
        whole += len(page)
        left += len(cut_tables(page).page)
    assert left < 0.15 * whole
