"""The pages of comparisons and series in a real browser, with reports whose every text is hostile."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from tests.analysis.awr.made import interval, origin, segments
from tests.for_each import for_each
from tests.report.test_page_in_browser import SHOWN, browser, letters, opened
from tests.tiers import thinned
from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.trend import Series, trends
from toolkit.model.interval import InputOutput, Interval, Listing, Segment, Statement, Wait
from toolkit.report.interval.trend import trend_charts, trend_page, trend_sheet, trend_text
from toolkit.report.interval.view import diff_page, diff_text, interval_view, shares_note
from toolkit.terminal import use_width, usual_width

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]
EVIL = (
    '</title></style></script><script>window.done=1;alert(1)</script><img src=x onerror="alert(2)">'
    "<svg onload=alert(3)>` ' \" {{ 7*7 }} {% raw %} &lt; \x1b[2J\x1b]0;t\x07 \u202e\u2066 javascript:alert(4)"
)


def evil(day: int, cpu: float = 1000.0) -> Interval:
    one = Statement(f"id{EVIL}", 1e4, cpu, None, 1e6 * (1 + day), module=EVIL, text=EVIL * 3, plan=EVIL + str(day))
    segment = Segment(EVIL, EVIL, EVIL, EVIL, 5.0 + day)
    who = origin(
        f"{EVIL}{day}", day=day, database=EVIL, host=f"{EVIL}{day}", instance=EVIL, version=f"{EVIL}{day}"
    )
    lists = Listing({EVIL: InputOutput(EVIL, 1.0, 2.0 + day)}, whole=True)
    return interval(
        day=day, cpu=cpu, waits={EVIL: (500.0 + 300 * day, 10)}, statements=(one,), who=who,
        segments={EVIL: Listing({segment.key: segment})}, functions=lists, file_types=lists,
        parameters={EVIL: f"{EVIL}{day}"}, changed_parameters={EVIL: (EVIL, EVIL)},
        counters={EVIL: 1000.0 + 900 * day},
        memory={EVIL: (1.0, 2.0 + day)}, ratios={EVIL: 90.0 - day}, host_cpu={"busy_pct": 10.0 + day},
        classes=Listing({EVIL: Wait(EVIL, 5.0, 5)}, whole=True), warnings=(f"cut off {EVIL}",),
    )  # fmt: skip


def evil_diff() -> IntervalDiff:
    return compare_intervals(evil(0), evil(1, 9000.0))


def evil_series() -> list[Series]:
    return trends([evil(day, 1000.0 if day < 12 else 5000.0) for day in range(24)], sql=[f"id{EVIL}"])


def plain_diff() -> IntervalDiff:
    statements = tuple(
        Statement(f"sql{number:02}", 1e4, 500.0 + number, 10, 1e6, text="select 1 from dual " * 20)
        for number in range(60)
    )
    before = interval(waits={f"event {number}": (100.0, 10) for number in range(60)}, statements=statements)
    after = interval(day=1, cpu=4000, statements=statements[5:], segments=segments(ORDERS=5, CARTS=7))
    return compare_intervals(before, after)


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("intervals")
    steady = trends([interval(cpu=1000 + day, who=origin(f"r{day}", day=day)) for day in range(200)])
    several = [*trends([interval(who=origin(database=f"DB{n}", dbid=n)) for n in range(3)]), *steady]
    pages = {
        "evil": diff_page(evil_diff()), "plain": diff_page(plain_diff()),
        "evil trend": trend_page(evil_series(), [EVIL]), "trends": trend_page(several),
    }  # fmt: skip
    for name, text in pages.items():
        Path(folder / f"{name}.html").write_text(text, encoding="utf-8")
    yield {name: (folder / f"{name}.html").as_uri() for name in pages}


PAGES = ["evil", "plain", "evil trend", "trends"]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "width", "scheme"), thinned(itertools.product(PAGES, [390, 1280], ["light", "dark"]), 6)
)
def test_no_script_runs_nothing_is_asked_for_and_nothing_scrolls_sideways(
    browser: Browser, addresses: dict[str, str], name: str, width: int, scheme: str
) -> None:
    page = opened(browser, addresses[name], width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.done") is None
    assert page.evaluate("document.querySelectorAll('script,img,iframe,object,embed,link,form').length") == 0
    on = "[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => a.name.startsWith('on')))"
    assert page.evaluate(on) is False
    assert page.evaluate("document.querySelectorAll('main').length") == 1
    page.context.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_what_is_wider_than_its_place_shows_that_it_goes_on(
    browser: Browser, addresses: dict[str, str], name: str
) -> None:
    page = opened(browser, addresses[name], 390)
    silent = page.evaluate(
        "[...document.querySelectorAll('div')].filter(e => e.scrollWidth > e.clientWidth + 1"
        " && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)"
        " && !e.matches('.scroll[tabindex]'))"
        ".map(e => e.className)"
    )
    assert silent == []
    if "trend" in name:
        assert page.evaluate("document.querySelectorAll('.picture.scroll').length") > 0
    page.context.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_ids_are_unique_and_links_lead_somewhere(browser: Browser, addresses: dict[str, str], name: str) -> None:
    page = opened(browser, addresses[name], 1280)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    links = page.evaluate("[...document.querySelectorAll('a')].map(e => e.getAttribute('href'))")
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    page.context.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(
    browser: Browser, addresses: dict[str, str], name: str, scheme: str
) -> None:
    page = opened(browser, addresses[name], 1280, scheme)
    worst = page.evaluate(
        """() => {
        const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number)
        const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
            .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
        const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor)
            if (c.length === 3 || c[3] > 0) return c } return [255, 255, 255] }
        const shown = document.querySelectorAll('main p, main li, main td, main th, h1, h2, h3, main code')
        return Math.min(...[...shown].map(e => {
            const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x)
            return (a + .05) / (b + .05) })) }"""
    )
    assert worst >= 4.5
    page.context.close()


def test_no_escape_reaches_the_terminal() -> None:
    for text in (diff_text(evil_diff()), trend_text(evil_series())):
        assert not [char for char in text if (ord(char) < 32 and char != "\n") or ord(char) in {0x202E, 0x2066}]
        assert max(map(len, text.splitlines())) <= 80


@for_each("head", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "|calc", "%x"])
def test_a_spreadsheet_takes_no_name_for_a_formula(head: str) -> None:
    series = trends([interval(who=origin(head, database=head), waits={head: (5.0, 2)})], sql=[head])
    for row in csv.reader(io.StringIO(trend_sheet(series))):
        for cell in row:
            number = cell.lstrip("-").replace(".", "", 1).replace("e-", "").isdigit()
            assert number or not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "|", "%"))


def test_a_page_of_a_series_says_what_it_shows_and_when_and_draws_cpu_up_to_all_of_it() -> None:
    (series,) = trends([interval(day=day, host_cpu={"busy_pct": 20.0 + day}) for day in range(3)])
    title = "Load and waits of ACME / acme1, 2025-03-03 10:00 to 2025-03-05 11:00"
    assert f"<title>{title} - dbatk report</title>" in trend_page([series])
    (cpu,) = (chart for chart in trend_charts(series) if chart.title == "Host CPU")
    assert cpu.y.high == 100.0


def test_a_side_that_is_not_listed_is_not_shown_as_zero() -> None:
    page = diff_page(plain_diff())
    assert "not listed, below" in page
    assert "at least" in page


def test_names_of_files_too_long_to_stand_side_by_side_stand_below_and_whole() -> None:
    names = [f"awrrpt_of_the_second_instance_1_2470{n}_2470{n + 1}.html" for n in range(2)]
    text = diff_text(
        compare_intervals(interval(who=origin(names[0])), interval(day=1, who=origin(names[1], day=1, dbid=8)))
    )
    assert f"source\n  before  {names[0]}\n  after   {names[1]}\n" in text
    assert "\ndatabase id  7 " in text
    assert text.startswith("acme1 (8) against acme1 (7)\n")


@pytest.mark.parametrize("columns", [60, 80])
def test_long_names_of_events_and_values_of_parameters_stand_whole_on_any_terminal(columns: int) -> None:
    event = "log file switch (checkpoint incomplete)"
    files = [", ".join(f"+{disks}/ACME/CONTROLFILE/current.26{day}.1061760315" for disks in ("DATA", "FRA"))
             for day in (0, 1)]  # fmt: skip
    sides = [
        interval(day=day, waits={event: (3.0 + 500 * day, 7)},
                 parameters={"control_files": files[day], "processes": str(300 + day)})
        for day in (0, 1)
    ]  # fmt: skip
    with usual_width():
        use_width(columns)
        text = diff_text(compare_intervals(*sides))
    assert max(map(len, text.splitlines())) <= columns
    head, _, parameters = text.partition("PARAMETERS THAT DIFFER\n")
    assert f"\n{event} " in head or "\n  (checkpoint incomplete)\n" in head or "\n  incomplete)\n" in head
    assert parameters.startswith(
        "parameter  before  after\nprocesses  300     301\ncontrol_files\n  before  +DATA/"
    )
    for value in files:
        for file in value.split():
            assert file in parameters.split()


@pytest.mark.parametrize(
    ("differ", "title"),
    [
        ({"instance": "acme2"}, "PDB1 (acme2) against PDB1 (acme1)"),
        ({"host": "box2", "dbid": None}, "PDB1 (box2) against PDB1 (box)"),
        ({"container": "PDB2", "instance": "acme2"}, "PDB2 against PDB1"),
    ],
)
def test_two_of_one_name_at_one_time_are_told_apart_in_the_title(differ: dict[str, object], title: str) -> None:
    first = interval(who=origin("a", container="PDB1"))
    other = interval(who=origin("b", **{"container": "PDB1", **differ}))
    assert diff_text(compare_intervals(first, other, force=True)).startswith(f"{title}\n")


def test_shares_that_come_to_more_than_all_are_explained_where_they_stand() -> None:
    assert shares_note([2.0, 1.5, -0.5], 2.3).startswith("Together more than 100 %")
    assert shares_note([-2.0, -1.5], -2.3) != ""
    assert shares_note([1.0, 0.5, -0.5], 2.0) == ""
    assert shares_note([1.0], 0.0) == shares_note([1.0], None) == shares_note([], 2.0) == ""


def test_without_db_time_the_page_names_no_cause_and_takes_no_side() -> None:
    bare = replace(interval(), time_model={}, load={}, waits=Listing())
    diff = compare_intervals(bare, replace(bare, origin=origin(day=1)))
    text, page = diff_text(diff), diff_page(diff)
    assert "neither of the two has a DB time" in text
    assert "without DB time" in text
    assert "ithout DB time" in page
    assert '<div class="verdict same' in page


def test_a_ratio_of_next_to_nothing_has_no_digits() -> None:
    diff = compare_intervals(interval(load={"physical_reads": 4e6}), interval(day=1, load={"physical_reads": 3.0}))
    (line,) = [line.split() for line in diff_text(diff).splitlines() if line.startswith("physical reads")]
    assert line == ["physical", "reads", "4,000,000", "3.00", "<0.001x"]


def test_measures_of_the_load_have_names_for_people_and_the_time_model_its_unit() -> None:
    asked = {"im_scan_rows": 2.0, "session_logical_read_im": 3.0, "sql_work_area_mb": 4.0, "read_io_requests": 5.0}
    shown = diff_page(compare_intervals(interval(load=asked), interval(day=1, load=asked)))
    for title in ("In-Memory scan rows", "In-Memory logical reads", "SQL work areas, MB", "read I/O requests"):
        assert f">{title}</td>" in shown
    assert "Seconds per second." in shown.partition("Time model</h2>")[2].partition("<table")[0]


def test_only_time_is_judged_by_its_color_and_work_is_not() -> None:
    """A tenth of the transactions is no improvement; a tenth of the waits is."""
    before = interval(load={"transactions": 100.0}, waits={"event": (900.0, 10)})
    after = interval(day=1, load={"transactions": 10.0}, waits={"event": (90.0, 10)})
    page = diff_page(compare_intervals(before, after))
    (load,) = re.findall(r"<td[^>]*>transactions</td><td>(.*?)</td>", page)
    waited = re.findall(r"<td[^>]*>event</td><td>(.*?)</td>", page)
    assert 'class="change"' in load and any('class="less"' in each for each in waited), (load, waited)


def test_no_number_of_a_page_is_written_with_an_exponent() -> None:
    tiny = {"a": (3e-4, 1), "b": (500.0, 10)}
    before = interval(waits=tiny, floor=3e-4)
    page = diff_page(compare_intervals(before, interval(day=1, waits={**tiny, "c": (9.0, 1), "a": (1e-3, 1)})))
    assert "&lt;0.000001" in page and "not listed, below 0.000001" in page and "about 0" in page
    assert not re.search(r">[^<]*\de-\d\d", page)


@pytest.mark.browser
def test_a_comparison_is_whole_on_paper_and_short_before_its_appendix(
    browser: Browser, addresses: dict[str, str]
) -> None:
    page = opened(browser, addresses["plain"], 1280)
    shown = page.evaluate(SHOWN)
    sheets = [sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages]
    printed = letters("".join(sheets))
    assert len(shown) > 500
    assert [text for text in shown if letters(text) not in printed] == []
    assert {"plan", "module"} <= set("".join(sheets).split()), "heads of narrow columns are whole"
    (appendix,) = (place for place, sheet in enumerate(sheets) if "Appendix" in sheet.split("\n"))
    assert 2 <= appendix <= 6
    page.context.close()


def test_many_parameters_that_differ_stand_in_the_appendix_and_the_first_before_it() -> None:
    sides = (interval(parameters={f"p{number}": str(day) for number in range(40)}, day=day) for day in (0, 1))
    sections = {one.key: one for one in interval_view(compare_intervals(*sides)).sections}
    first, every = sections["parameters"], sections["all_parameters"]
    assert (first.title, first.appendix) == ("Parameters that differ, the first 12 of 40", False)
    assert (len(first.tables[0].table.rows), len(every.tables[0].table.rows), every.appendix) == (12, 40, True)


@pytest.mark.browser
def test_a_hostile_title_stays_in_the_head_of_paper(browser: Browser, addresses: dict[str, str]) -> None:
    page = opened(browser, addresses["evil"], 1280)
    first = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages[0].extract_text()
    assert letters(page.evaluate("document.querySelector('h1').innerText"))[:40] in letters(first)
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    page.context.close()
