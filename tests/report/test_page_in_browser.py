"""The page in a real browser: phone and desk width, light and dark, keyboard, no network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest
from pypdf import PdfReader

from tests.readers.rman_samples import whole_log
from tests.report.make import host_samples, sweep
from tests.report.test_cell_charts import two_factors
from tests.report.test_golden import measured
from tests.report.test_render import evil_run
from tests.servers.fixtures import missing
from tests.tiers import thinned
from toolkit.analysis.compare import compare
from toolkit.cli.main import main
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.report.render import Format, render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The first has no window that it does not show, and takes a third of the time of a processor."""
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        missing("chromium", "install Debian's chromium-headless-shell or chromium to test pages in a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


def wide_run() -> RunRecord:
    """Return a run with factors of so many and so long levels that its tables do not fit upright paper."""
    run = measured()
    trials = tuple(
        replace(
            trial, cell=Cell((*trial.cell.levels, *((f"factor_of_some_length_{at}", "x" * 18) for at in range(6))))
        )
        for trial in run.trials
    )
    return replace(run, trials=trials)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    later = sweep({1: [8.0, 8.1, 8.2], 2: [3.0, 3.1, 3.05]}, run="20261122-052307-cd34")
    texts = {
        "one": render(measured(), Format.HTML),
        "two": render([measured(), later], Format.HTML, comparisons=[compare(measured(), later)]),
        "evil": render(evil_run(), Format.HTML),
        "wide": render(wide_run(), Format.HTML),
        "grid": render(two_factors(second="maintenance_work_mem"), Format.HTML),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    log = folder / "rman.log"
    log.write_text("\n".join(whole_log()).replace("c3", "ORA_AUX_DISK_1"))
    assert main(["backup", "read", str(log), "--out", str(folder / "log.html")]) == 0
    long = folder / f"{'nightly_level0_' * 4}rman.log"
    long.write_text(log.read_text())
    assert main(["backup", "read", str(log), str(long), "--out", str(folder / "logs.html")]) == 0
    return {name: folder / f"{name}.html" for name in (*texts, "log", "logs")}


@pytest.fixture(params=["one", "two", "evil"])
def address(request: pytest.FixtureRequest, pages: dict[str, Path]) -> str:
    return pages[request.param].as_uri()


def opened(browser: Browser, address: str, width: int, scheme: str = "light") -> Page:
    """Open the page; whatever it asks for besides itself, says or throws fails the test on `checked`."""
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(f"error: {error}"))
    page.on("dialog", lambda dialog: asked.append(f"dialog: {dialog.message}"))
    page.on("console", lambda message: asked.append(f"console: {message.text}"))
    page.goto(address)
    assert asked == [address]
    return page


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways_and_asks_for_nothing(browser: Browser, address: str, width: int) -> None:
    page = opened(browser, address, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "with all that is folded unfolded"
    page.context.close()


def test_the_verdict_of_each_of_several_logs_is_seen_on_a_phone(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["logs"].as_uri(), 390)
    cells = page.evaluate(
        "[...document.querySelectorAll('.stacked td')].map(e => [e.textContent, e.getBoundingClientRect().right])"
    )
    assert [text for text, _ in cells].count("completed") == 2, cells
    assert all(right <= 390 for _, right in cells), cells
    page.context.close()


def test_headings_come_in_order(browser: Browser, address: str) -> None:
    page = opened(browser, address, 1280)
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    page.context.close()


def test_every_chart_has_an_accessible_name_and_ids_are_unique(browser: Browser, address: str) -> None:
    page = opened(browser, address, 1280)
    names = page.evaluate(
        """[...document.querySelectorAll('svg:not([aria-hidden])')].map(s =>
            [s.getAttribute('role'), ...s.getAttribute('aria-labelledby').split(' ')
                .map(id => document.getElementById(id).textContent.trim())])"""
    )
    assert names
    assert all(role == "img" and title and description for role, title, description in names)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.context.close()


def test_the_keyboard_sees_where_it_is(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["two"].as_uri(), 1280)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    for _ in range(4):
        outline = page.evaluate(
            """(() => { const s = getComputedStyle(document.activeElement);
                return [s.outlineStyle, s.outlineWidth] })()"""
        )
        assert outline == ["solid", "3px"]
        page.keyboard.press("Tab")
    page.context.close()


CONTRAST = """() => {
  const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 };
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const behind = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255] };
  const piece = e => { const b = e.getBBox(), x = b.x + b.width / 2, y = b.y + b.height / 2;
    const r = [...e.closest('svg').querySelectorAll('rect.span')].map(r => [r, r.getBBox()])
      .find(([, c]) => c.x <= x && x <= c.x + c.width && c.y <= y && y <= c.y + c.height);
    return parse(getComputedStyle(r[0]).fill) };
  const bad = [];
  for (const e of document.querySelectorAll('h1,h2,h3,p,li,dt,dd,td,th,code,a,summary,figcaption,svg text')) {
    const style = getComputedStyle(e), inSvg = e.namespaceURI.endsWith('svg');
    const ink = light(parse(inSvg ? style.fill : style.color));
    const paper = light(e.matches('.on') ? piece(e) : behind(inSvg ? e.closest('figure') : e));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) bad.push([e.tagName, e.textContent.slice(0, 30), ratio]);
  }
  for (const e of document.querySelectorAll('path.m:not(.raw):not(.hollow):not(.disturbed), path.bar, polyline')) {
    const ink = light(parse(getComputedStyle(e).stroke)), paper = light(behind(e.closest('figure')));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 3) bad.push([e.getAttribute('class'), '', ratio]);
  }
  return bad;
}"""


@pytest.mark.parametrize("scheme", thinned(["light", "dark"], 2))
def test_text_and_marks_stand_out_from_the_page(browser: Browser, pages: dict[str, Path], scheme: str) -> None:
    page = opened(browser, pages["two"].as_uri(), 1280, scheme)
    assert page.evaluate(CONTRAST) == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(17, 21, 26)")
    page.context.close()


def test_printing_unfolds_what_is_folded(browser: Browser, tmp_path: Path) -> None:
    run = sweep({level: [8 / level + 0.01 * index for index in range(40)] for level in (1, 2)})
    path = tmp_path / "long.html"
    path.write_text(render(run, Format.HTML), encoding="utf-8")
    page = opened(browser, path.as_uri(), 1280)
    shown = "document.querySelector('details:not(.numbers):not(.shut) .scroll').checkVisibility()"
    assert page.evaluate(shown) is False
    page.emulate_media(media="print")
    assert page.evaluate(shown) is True
    page.context.close()


def test_words_in_a_chart_stay_readable_on_a_phone(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["one"].as_uri(), 390)
    heights = page.evaluate(
        "[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 9
    page.context.close()


@pytest.mark.parametrize("name", ["two", "grid", "log"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_word_of_a_chart_is_cut_off(browser: Browser, pages: dict[str, Path], width: int, name: str) -> None:
    page = opened(browser, pages[name].as_uri(), width)
    cut = page.evaluate(
        """() => [...document.querySelectorAll('svg[role=img]')].flatMap(svg => {
            const box = svg.getBoundingClientRect()
            if (!svg.checkVisibility()) return []
            return [...svg.querySelectorAll('text')].filter(text => {
                const own = text.getBoundingClientRect()
                return own.left < box.left - 1 || own.right > box.right + 1
                    || own.top < box.top - 1 || own.bottom > box.bottom + 1
            }).map(text => text.textContent)
        })"""
    )
    assert cut == []
    page.context.close()


def test_the_samples_of_the_test_page_are_drawn(browser: Browser, pages: dict[str, Path]) -> None:
    assert host_samples(3, 70)
    page = opened(browser, pages["one"].as_uri(), 1280)
    assert page.evaluate("document.querySelectorAll('figure polyline.series').length") >= 6
    page.context.close()


PAPER = 698
"""The width of A4 less its margins, in CSS pixels."""

SHOWN = """() => [...document.querySelectorAll('h1,h2,h3,p,li,dt,dd,th,td,summary,figcaption,svg text')]
    .filter(e => e.checkVisibility() && !e.querySelector('p,li,.unseen'))
    .filter(e => !e.closest('.unseen,.skip,.contents,.numbers'))
    .map(e => (e.innerText ?? e.textContent))"""


def letters(text: str) -> str:
    return "".join(sign for sign in normalize("NFKC", text) if sign.isalnum())


@pytest.mark.parametrize("name", ["one", "two", "wide"])
def test_all_that_the_screen_shows_is_on_the_paper(browser: Browser, pages: dict[str, Path], name: str) -> None:
    page = opened(browser, pages[name].as_uri(), 1280)
    shown = page.evaluate(SHOWN)
    reader = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True)))
    sheets = [sheet.extract_text() for sheet in reader.pages]
    printed = letters("".join(sheets))
    assert len(shown) > 50
    assert [text for text in shown if letters(text) not in printed] == []
    assert all(letters(page.title().removesuffix(" - dbatk report")) in letters(sheet) for sheet in sheets)
    page.context.close()


def test_four_sweeps_fit_four_screens_and_four_sheets(browser: Browser, tmp_path: Path) -> None:
    """As the report of the demo does: what each came to on a screen of its own, the rest folded."""
    runs = [
        sweep({1: [8.0, 8.2, 8.4], 2: [4.4, 4.3, 4.5], 4: [4.4, 4.3, 4.4]}, run=f"20261122-05230{number}-ab12")
        for number in range(4)
    ]
    path = tmp_path / "four.html"
    path.write_text(render(runs, Format.HTML), encoding="utf-8")
    page = opened(browser, path.as_uri(), 1280)
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * 800
    assert len(PdfReader(BytesIO(page.pdf(prefer_css_page_size=True))).pages) <= 4
    page.context.close()


@pytest.mark.parametrize("name", ["one", "two"])
def test_nothing_is_cut_off_at_the_edge_of_the_paper(browser: Browser, pages: dict[str, Path], name: str) -> None:
    page = opened(browser, pages[name].as_uri(), PAPER)
    page.emulate_media(media="print")
    wide = page.evaluate(
        """width => [...document.querySelectorAll('td,th,svg,pre,p')].filter(
            e => e.checkVisibility() && e.getBoundingClientRect().right > width + 1).map(e => e.textContent)""",
        PAPER,
    )
    assert wide == []
    page.context.close()


def test_a_table_too_wide_for_upright_paper_turns_it(browser: Browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["wide"].as_uri(), 1280)
    sheets = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True))).pages
    assert {sheet.mediabox.width > sheet.mediabox.height for sheet in sheets} == {True, False}
    page.context.close()
