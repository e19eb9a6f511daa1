"""Reading a report takes time in proportion to its size, and little memory besides its text; a series of reports
in proportion to their number.

A made-up report is made 10 and 1000 times as large, by rows and by whole sections, and a series of 10 reports
one of 200; a page as the database writes it takes little more than its bare parse. Only ratios are judged, so
that a slow machine changes nothing. Run: `python benchmarks/awr_growth.py`.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from selectolax.lexbor import LexborHTMLParser

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.readers.awr_samples import TEXT, html
from toolkit.app.intervals.comparing import read_trends
from toolkit.readers.awr.report import read_report
from toolkit.report.interval.trend import trend_page

_ROW = "<tr><td>event {}</td><td>57K</td><td>1,234.5</td><td>26.32ms</td><td>2.4</td><td>Commit</td></tr>"
_HEAD = "<h3>Section {}</h3><table><tr><th>Name</th><th>A</th><th>B</th><th>C</th><th>D</th><th>E</th></tr>"
_SIZES = (1, 10, 1000)
_MOST_TIMES_WORSE = 2.0
_MOST_TIMES_PARSED = 2.5
_TAGGED = "<tr>" + "<td align=\"right\" class='awrnc'>{}</td>" * 6 + "</tr>\n"


def rows(times: int) -> bytes:
    body = "".join(_ROW.format(number) for number in range(200 * times))
    return html(extra=f"{_HEAD.format(0)}{body}</table>").encode()


def sections(times: int) -> bytes:
    body = "".join(_ROW.format(number) for number in range(20))
    return html(extra="".join(f"{_HEAD.format(number)}{body}</table>" for number in range(10 * times))).encode()


def lines(times: int) -> bytes:
    block = "Widget {} DB/Inst: ACME/acme1  Snaps: 7-8\n\nWidget                                     Turns\n"
    block += "------------------------------ -----------------\n"
    block += "left                                          12\n" * 40 + "\n"
    body = "".join(block.replace("{}", str(number), 1) for number in range(5 * times))
    return TEXT.replace("End of Report", f"{body}End of Report").encode()


def seconds(raw: bytes) -> float:
    begin = time.process_time()
    read_report(raw, "benchmark")
    return time.process_time() - begin


def peak(raw: bytes) -> int:
    tracemalloc.start()
    read_report(raw, "benchmark")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def against_the_parser() -> bool:
    """Reading a page, numbers and all, against the bare parse of it by a C library that makes a tree."""
    body = "".join(
        _TAGGED.format(f"event {number}", "57K", "1,234.5", "26.32ms", number, "&#160;") for number in range(300)
    )
    raw = html(extra="".join(f"{_HEAD.format(number)}{body}</table>" for number in range(20))).encode()
    read, parsed = [], []
    for _ in range(9):
        read.append(seconds(raw))
        begin = time.process_time()
        LexborHTMLParser(raw)
        parsed.append(time.process_time() - begin)
    times = min(read) / min(parsed)
    cost = min(read) / len(raw) * 1e9
    print(f"parser     {len(raw) / 1e6:.1f} MB: {cost:.0f} ms of CPU per MB, {times:.1f} bare parses")
    return times < _MOST_TIMES_PARSED


def grow(name: str, make: Callable[[int], bytes]) -> bool:
    made = [make(times) for times in _SIZES]
    seconds(made[0])
    took = [min(seconds(raw) for _ in range(3 if len(raw) < 5_000_000 else 1)) for raw in made]
    per_byte = [one / len(raw) for one, raw in zip(took, made, strict=True)]
    worse = per_byte[-1] / per_byte[1]
    megabytes = len(made[-1]) / 1e6
    memory = peak(made[1]) / len(made[1])
    print(
        f"{name:<10} {len(made[1]) // len(made[0])}x and {len(made[-1]) // len(made[0])}x the size "
        f"({megabytes:.0f} MB): {worse:.2f} times the time per byte; peak memory {memory:.1f} bytes per byte"
    )
    return worse < _MOST_TIMES_WORSE


def folder_of(count: int, folder: Path) -> Path:
    folder.mkdir()
    begin = datetime(2025, 3, 2, 10)
    for number in range(count):
        page = rows(20).decode()
        for hour, old in ((number, "02-Mar-25 10:00:00"), (number + 1, "02-Mar-25 11:00:00")):
            page = page.replace(old, f"{begin + timedelta(hours=hour):@%d-%b-%y %H:%M:%S}")
        page = page.replace("@", "").replace(">8<", f">{number + 8}<").replace(">7<", f">{number + 7}<")
        folder.joinpath(f"r{number:04}.html").write_text(page)
    return folder


def no_target(name: str) -> NoReturn:
    """Open none: all reports are files."""
    raise AssertionError(name)


def series() -> bool:
    """Twenty times the reports take twenty times as long."""
    with TemporaryDirectory() as scratch:
        took = []
        for count in (10, 200):
            folder = folder_of(count, Path(scratch, str(count)))
            read_trends([str(folder)], [], reach=no_target)
            begin = time.perf_counter()
            found = read_trends([str(folder)], [], reach=no_target)
            took.append((time.perf_counter() - begin) / count)
            assert [len(one.points) for one in found.series] == [count], found.faults[:3]
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        begin = time.perf_counter()
        trend_page(found.series)
        drawn = time.perf_counter() - begin
    print(
        f"series     200 reports ({size:.0f} MB): {took[1] / took[0]:.2f} times the time per report of 10; "
        f"{took[1] * 200:.1f} s here, {drawn:.2f} s to draw"
    )
    return took[1] / took[0] < _MOST_TIMES_WORSE


if __name__ == "__main__":
    kept = [against_the_parser(), grow("rows", rows), grow("sections", sections), grow("lines", lines), series()]
    sys.exit(not all(kept))
