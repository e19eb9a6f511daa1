"""The pictures of a sweep of backups in a report: throughput with its ceiling, channels and their pieces."""

from __future__ import annotations

import re

from tests.analysis.test_backups import FLAT, MIB, backup_run, piece, published
from tests.for_each import for_each
from toolkit.report.render import render
from toolkit.report.view import run_view

ITEMS = {4: [piece("<i>big</i>.bkp", 1, 0, 26, 700 * MIB), piece("a.bkp", 2, 0, 6, 100 * MIB)]}


def test_a_report_of_backups_draws_throughput_and_lanes() -> None:
    run = backup_run(FLAT, written=256 * MIB, items=ITEMS)
    charts = {chart.key: chart for chart in run_view(run).charts}
    assert {"time", "speedup", "throughput", "lanes"} <= set(charts)
    rates = charts["throughput"]
    assert [entry.label for entry in rates.legend] == ["read", "written", "highest measured"]
    assert rates.table is not None
    assert [column.title for column in rates.table.columns][:6] == [
        "configuration", "time", "read", "read rate", "written", "write rate",
    ]  # fmt: skip
    assert rates.table.rows[2][3] == "39.4 MiB/s"
    lanes = charts["lanes"]
    assert len(lanes.spans) == 2 and lanes.table is not None
    assert [row[0] for row in lanes.table.rows] == ["channel 1", "channel 2", "channel 3", "channel 4"]
    assert lanes.table.rows[0][-1] == "26.9 MiB/s"


def test_the_page_holds_every_piece_as_harmless_text() -> None:
    text = render(backup_run(FLAT, items=ITEMS), "html")
    assert text.count('<rect class="span') == 2
    assert "&lt;i&gt;big&lt;/i&gt;.bkp" in text and "<i>big" not in text


@for_each("format", ["html", "text", "markdown", "json", "csv"])
def test_every_format_of_the_published_sweep_can_be_written(format: str) -> None:
    text = render(published(), format)
    assert "channels=20" in text or '"channels": 20' in text or ",20," in text
    if format == "text":
        assert max(map(len, text.splitlines())) <= 80
        assert re.search(r"76\.3 MiB/s written", text.replace("\n", " ")) is not None


def test_one_backup_alone_shows_its_channels_too() -> None:
    run = backup_run({4: [26.0]}, items=ITEMS, window="4h")
    view = run_view(run)
    assert [chart.key for chart in view.charts] == ["lanes"]
    assert any("it fits the window" in sentence for sentence in view.advice.sentences)
