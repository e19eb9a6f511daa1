"""Every number that is read off a real report is printed in it: looked up in its text, not by the readers.

All numbers of a record with a name must stand in one row of the text that has the name; a fact of the header, and
what is put together of several tables, anywhere.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.tiers import thinned
from toolkit.readers.awr.report import read_report

REAL = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
FILES = [
    "awr/pcambell__19c__awrrpt_1_17676_17677.html", "awr/Azure__AWR_DBW.html",
    "awr/bimap__orcl-pdb2_5434_5435.html", "awr/pcambell__11g_rac__awrrpt_1_24703_24704.html",
    "statspack/nabeelkhan__multiuser_6_250000.lst",
    "statspack/nabeelkhan__sp_result.lst",
]  # fmt: skip
"""An instance, a cluster, a pluggable database, an instance of a cluster, Statspack of 10g and of 9.2."""
pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="set DBATK_REALDATA to the folder of real reports")
NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s?(?:ns|us|ms|[KMGTP]|s|h|min|m))?(?!\w)"
)
PRINTED = re.compile(r"([-+]?[\d,]*\.?\d*(?:[eE][+-]?\d+)?)\s?([A-Za-z]*)")
TIMES = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "min": 6e4, "h": 3.6e6}
SIZES = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
HEADINGS = (1.0, 1e3, 1e-3, 10.0, 1024.0, 2.0**20, 2.0**30, 60.0)
"""What the unit of a heading makes of a number: milliseconds of seconds, bytes of KiB, MiB or GiB."""


def rounded(value: float) -> float:
    return float(f"{value:.9g}")


def meant(token: str) -> Iterator[float]:
    """Yield what a printed number can mean under any heading."""
    match = PRINTED.fullmatch(token.strip())
    if match is None or not re.search(r"\d", match[1]):
        return
    value, unit = float(match[1].replace(",", "")), match[2]
    if unit in TIMES and unit != "m":
        yield from map(rounded, (value, value * TIMES[unit], value * TIMES[unit] / 1e3))
        return
    for base in (1000.0, 1024.0):
        expanded = value * base ** SIZES.get(unit, 0)
        yield from (rounded(expanded * scale) for scale in HEADINGS)


def rows_of(text: str) -> list[str]:
    """Return the rows of tables, or lines and each with the one below it, since names have lines of their own."""
    if is_page(text):
        rows = [re.split(r"(?i)</table>", row)[0] for row in re.split(r"(?i)<tr\b[^>]*>", text)[1:]]
        return [" ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).replace("\xa0", " ").split()) for row in rows]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [*lines, *(f"{one} {other}" for one, other in pairwise(lines))]


def records(place: str, value: Any) -> Iterator[tuple[str, list[str], list[float]]]:
    """Yield place, names and numbers of each record of a document."""
    if isinstance(value, dict):
        names = [one for one in value.values() if isinstance(one, str) and len(one) > 2]
        yield place, names, [one for one in value.values() if type(one) in {int, float}]
        for name, one in value.items():
            yield from records(f"{place}/{name}" if re.fullmatch(r"\w+", name) else name, one)
    elif isinstance(value, list):
        for one in value:
            yield from records(place, one)


@pytest.mark.parametrize("file", thinned(FILES, 3))
def test_every_number_stands_in_the_report_with_its_name(file: str) -> None:
    raw = (REAL / file).read_bytes()
    document = json.loads(json.dumps(read_report(raw, file).printed()))
    rows = rows_of(raw.decode("utf-8", "replace"))
    held: dict[float, set[int]] = defaultdict(set)
    for number, row in enumerate(rows):
        for token in NUMBER.findall(row):
            for value in meant(token):
                held[abs(value)].add(number)
    anywhere = {abs(value) for token in NUMBER.findall(words_of(raw)) for value in meant(token)}
    count, missing, apart = 0, [], []
    if any("printed as a fraction" in one for one in document["warnings"]):
        for row in document["background_events"]:
            row["pct_bg_time"] = row["pct_bg_time"] and row["pct_bg_time"] / 100
    kept = {name: value for name, value in document.items() if name not in {"tables", "warnings"}}
    for place, names, numbers in records("", kept):
        wanted = {rounded(abs(one)) for one in numbers if one}
        count += len(numbers)
        missing += [(place, one) for one in wanted - anywhere]
        if not names or not wanted or place.startswith("/instances"):
            continue
        together = set.intersection(*sorted((held[one] for one in wanted), key=len))
        heads = [" ".join(name.split())[:40] for name in names]
        if not any(head in rows[number] for number in together for head in heads):
            apart.append((place, heads[:1], sorted(wanted)[:3]))
    assert count > 1000
    assert missing == []
    assert len(apart) <= count // 200, apart[:10]


def words_of(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("\xa0", " ") if is_page(text) else text


def is_page(text: str) -> bool:
    return "<html" in text[:4000].lower()
