"""The site of all runs: what is written, what is left alone, what is hostile, and how it works in a browser."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from tests.report.make import BEGAN, cell, put, run_of, sweep, trial
from tests.report.test_page_in_browser import browser as browser  # noqa: PLC0414 - a fixture
from tests.report.test_page_in_browser import letters
from tests.report.test_render import EVIL, Page, evil_run
from tests.tiers import thinned
from toolkit.app.site import SiteWritten, write_site
from toolkit.errors import ToolkitError
from toolkit.model.records import RunRecord
from toolkit.model.words import Mode, Outcome
from toolkit.report.site import MOST_RUNS_OF_A_JOB, SiteEntry, histories_of, index_page, site_page
from toolkit.store import Store, open_store

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage


def run_number(number: int, **fields: object) -> RunRecord:
    """Return one of many runs of the same job, a day apart."""
    began = BEGAN + timedelta(days=number)
    run = sweep({1: [8.0, 8.1, 8.2], 2: [4.0, 4.1 + number, 4.2]}, run=f"{began:%Y%m%d-%H%M%S}-{number:04x}")
    return replace(run, head=replace(run.head, began_at=began, **fields))  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.sqlite")) as opened:
        for number in range(3):
            put(opened, run_number(number))
        yield opened


def written(store: Store, folder: Path) -> SiteWritten:
    return write_site(store, folder, lambda _: None)


def test_a_page_whose_run_did_not_change_is_not_written_again(store: Store, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert written(store, site).written == 3
    pages = sorted((site / "runs").iterdir())
    for page in pages:
        page.write_text("left alone", encoding="utf-8")
    put(store, run_number(3))
    pages[0].unlink()
    done = written(store, site)
    assert (done.runs, done.written, done.unchanged, done.removed) == (4, 2, 2, 0)
    assert [page.read_text(encoding="utf-8") == "left alone" for page in pages] == [False, True, True]
    assert (site / "index.html").read_text(encoding="utf-8").count('<a href="runs/') == 4


def test_the_result_of_a_job_does_not_repeat_its_state() -> None:
    one = trial(1, cell(degree=1), 1, 0.007)
    assert site_page(run_of([one], mode=Mode.JOB))[1].headline == "7.00 ms, 1,000,000 rows, 64.0 MiB, degree 1"
    gone = trial(1, cell(degree=1), 1, None, outcome=Outcome.FAILED, reason="out of memory", rows=None, bytes=None)
    assert site_page(run_of([gone], mode=Mode.JOB))[1].headline == "failed (degree 1): out of memory"


def test_the_page_of_a_run_that_is_stored_no_more_is_removed(store: Store, tmp_path: Path) -> None:
    site = tmp_path / "site"
    written(store, site)
    gone = run_number(0).head.run
    store.delete_run(gone)
    assert written(store, site).removed == 1
    assert not (site / "runs" / f"{gone}.html").exists()
    assert gone not in (site / "index.html").read_text(encoding="utf-8")


def test_a_list_that_was_tampered_with_removes_nothing_outside(store: Store, tmp_path: Path) -> None:
    site, other = tmp_path / "site", tmp_path / "precious.html"
    written(store, site)
    other.write_text("precious", encoding="utf-8")
    listed = json.loads((site / "site.json").read_text(encoding="utf-8"))
    listed["runs"]["../../precious"] = next(iter(listed["runs"].values()))
    (site / "site.json").write_text(json.dumps(listed), encoding="utf-8")
    written(store, site)
    assert other.exists()


@pytest.mark.parametrize("holds", ["index.html", "site.json"])
def test_a_folder_of_something_else_is_refused(store: Store, tmp_path: Path, holds: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / holds).write_text("[]", encoding="utf-8")
    with pytest.raises(ToolkitError, match="was not written by"):
        written(store, tmp_path / "other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == [holds]


def test_the_site_of_another_store_is_refused(store: Store, tmp_path: Path) -> None:
    written(store, tmp_path / "site")
    listed = tmp_path / "site" / "site.json"
    document = json.loads(listed.read_text(encoding="utf-8"))
    listed.write_text(json.dumps({**document, "store": "another"}), encoding="utf-8")
    with pytest.raises(ToolkitError, match="another store"):
        written(store, tmp_path / "site")


def test_pages_are_as_readable_as_the_folder(store: Store, tmp_path: Path) -> None:
    site = tmp_path / "site"
    written(store, site)
    assert {stat.S_IMODE(path.stat().st_mode) for path in site.rglob("*.html")} == {0o600}
    for folder in (site, site / "runs"):
        folder.chmod(0o755)
    put(store, run_number(3))
    written(store, site)
    assert stat.S_IMODE((site / "runs" / f"{run_number(3).head.run}.html").stat().st_mode) == 0o644


def test_what_is_hostile_in_a_run_is_only_text_in_the_site(tmp_path: Path) -> None:
    run = evil_run()
    page, entry = site_page(run)
    again = replace(entry, run="20261122-052307-cd34", began=entry.began + 60)
    for text in (page, index_page([again, entry], histories=True)):
        assert "<script>alert" not in text
        assert EVIL not in text
        assert "\u202e" not in text
        assert not Page(text).open
    assert index_page([entry], histories=False).count("<script>") == 1


def test_each_choice_of_a_filter_stands_in_its_column() -> None:
    good, bad = site_page(run_number(1))[1], site_page(evil_run())[1]
    page = index_page([good, bad, replace(good, ended="warning"), replace(good, ended="died")], histories=False)
    columns = {"operation": 1, "target": 3, "state": 5}
    cells = [
        re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)
    ]
    for name, column in columns.items():
        (choices,) = re.findall(rf'<select name="{name}">(.*?)</select>', page, re.DOTALL)
        offered = re.findall(r'<option value="([^"]+)"', choices)
        assert offered == sorted({row[column] for row in cells if row})
    assert offered == sorted({good.ended, bad.ended, "warning", "died"})


def test_a_history_shows_the_newest_runs_of_one_job(store: Store) -> None:
    entries: list[SiteEntry] = [site_page(run_number(number))[1] for number in range(3)][::-1]
    other = replace(entries[0], work="another job")
    many = [replace(entries[0], began=entries[0].began + 60 * at) for at in range(MOST_RUNS_OF_A_JOB + 5)][::-1]
    (history,) = histories_of([other, *entries])
    assert [row.values[0] for row in history.rows] == ["8.10 s"] * 3
    assert history.names == ("degree=1", "degree=2")
    assert [len(line.points) for line in history.chart.lines] == [3, 3]
    (long,) = histories_of(many)
    assert len(long.rows) == MOST_RUNS_OF_A_JOB
    assert "105 runs" in long.about


# -- in a browser -----------------------------------------------------------------------------------------------
@pytest.fixture
def site(store: Store, tmp_path: Path) -> Path:
    put(store, run_number(40))
    store.create_run(
        replace(run_number(41).head, experiment=replace(run_number(41).head.experiment, label="boss"))
    )
    written(store, tmp_path / "site")
    return tmp_path / "site"


def opened(browser: Browser, address: str, width: int = 1280, scheme: str = "light") -> BrowserPage:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(20_000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    assert said == []
    return page


@pytest.mark.browser
def test_the_filter_works_by_keyboard_without_a_network_and_stays_in_the_address(
    browser: Browser, site: Path
) -> None:
    page = opened(browser, (site / "index.html").as_uri())
    assert page.inner_text("#count") == "5 of 5 runs"
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.name") != "words":
        page.keyboard.press("Tab")
    page.keyboard.type("boss")
    assert page.inner_text("#count") == "1 of 5 runs"
    assert page.locator("#runs tbody tr:visible").count() == 1
    page.fill("[name=words]", "")
    page.fill("[name=since]", f"{BEGAN + timedelta(days=20):%Y-%m-%d}")
    assert page.inner_text("#count") == "2 of 5 runs"
    kept = page.url
    again = opened(browser, kept)
    assert again.inner_text("#count") == "2 of 5 runs"
    again.click("text=Clear")
    again.wait_for_function("document.getElementById('count').textContent === '5 of 5 runs'")
    for one in (page, again):
        one.context.close()


@pytest.mark.browser
def test_every_link_of_the_site_leads_to_a_page(browser: Browser, site: Path) -> None:
    links = "[...document.querySelectorAll('a[href]')].map(a => a.href.split('#')[0])"
    page = opened(browser, (site / "index.html").as_uri())
    found = set(page.evaluate(links))
    page.click("text=run after run")
    found |= set(page.evaluate(links))
    page.click("summary >> nth=0")
    page.click("section table a >> nth=0")
    assert page.inner_text("h1").startswith("ctas")
    page.click("text=all runs")
    assert page.inner_text("h1") == "All runs"
    assert len(found) == 7
    assert all(Path(link.removeprefix("file://")).is_file() for link in found)
    page.context.close()


@pytest.mark.thin(2)
@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), thinned([(390, "dark"), (1280, "light")], 2))
@pytest.mark.parametrize("name", ["index", "history"])
def test_no_page_of_the_site_scrolls_sideways(
    browser: Browser, site: Path, name: str, width: int, scheme: str
) -> None:
    page = opened(browser, (site / f"{name}.html").as_uri(), width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(
        "[...document.querySelectorAll('#runs')].every(e => e.scrollWidth <= e.parentElement.clientWidth)"
    )
    page.context.close()


@pytest.mark.full
@pytest.mark.browser
def test_the_paper_has_every_run_of_the_index_and_no_filter(browser: Browser, site: Path) -> None:
    page = opened(browser, (site / "index.html").as_uri())
    cells = page.evaluate("[...document.querySelectorAll('#runs td,#runs th')].map(e => e.innerText)")
    sheets = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True))).pages
    printed = letters("".join(sheet.extract_text() for sheet in sheets))
    assert len(cells) == 42
    assert [text for text in cells if letters(text) not in printed] == []
    assert "Clear" not in printed
    page.context.close()
