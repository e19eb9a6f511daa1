"""Real reports say what was read off them by eye a second time, in every kind of section."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from toolkit.readers.awr.report import read_report

REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))
pytestmark = pytest.mark.skipif(
    not (REALDATA / "awr").is_dir(), reason="set DBATK_REALDATA to the folder of real reports"
)
READINGS = sorted((Path(__file__).parent / "second_reading").glob("*.txt"))
Line = tuple[str, str, str, str]


@lru_cache(maxsize=8)
def report(file: str) -> dict[str, Any]:
    read = read_report((REALDATA / file).read_bytes(), file)
    document = read.printed()
    printed = [table for found in read.details.values() for _, table in found]
    document["tables"] += [{"section": one.section, "columns": one.columns, "rows": one.rows} for one in printed]
    return document


def reading(path: Path) -> tuple[str, list[Line]]:
    first, *lines = path.read_text().splitlines()
    parts = [tuple(part.strip() for part in line.split("|")) for line in lines]
    return first.removeprefix("= "), [(part[0], part[1], part[2], part[3]) for part in parts]


def has(row: Any, names: str) -> bool:
    cells = [str(cell) for cell in (row.values() if isinstance(row, Mapping) else row)]
    return all(name in cells for name in names.split(" + "))


def found(document: dict[str, Any], where: str, row: str, value: str) -> Any:
    """Return what the document says; the first of several rows or tables that have it."""
    if where.startswith("~"):
        return next(_printed(document, where[1:], row, value), "no such cell")
    place: Any = document
    for name in filter(None, where.split(".")):
        place = _inside(place, name)
    if row:
        place = next((one for one in place if has(one, row)), {})
    return place.get(value, "no such value") if isinstance(place, Mapping) else "no such row"


def _inside(place: Any, name: str) -> Any:
    if isinstance(place, list):
        return next((one for one in place if has(one, name)), {})
    return place.get(name, {})


def _printed(document: dict[str, Any], words: str, names: str, heading: str) -> Iterator[str]:
    tables = sorted(document["tables"], key=lambda table: table["section"] != words)
    for table in tables:
        if words not in table["section"]:
            continue
        columns = list(table["columns"])
        for row in table["rows"]:
            if not has(row, names):
                continue
            place = int(heading[1:]) - 1 if heading.startswith("#") else _place(columns, heading)
            if place is not None:
                yield row[place] if place < len(row) else ""


def _place(columns: list[str], heading: str) -> int | None:
    return columns.index(heading) if heading in columns else None


def same(printed: str, said: Any) -> bool:
    if printed == "null":
        return said is None
    if isinstance(said, bool):
        return printed == str(said).lower()
    if isinstance(said, int | float):
        return float(printed) == pytest.approx(said)
    return bool(printed == said)


@pytest.mark.parametrize("path", READINGS, ids=lambda path: path.stem)
def test_every_value_read_by_eye_is_read_by_us(path: Path) -> None:
    file, lines = reading(path)
    if not (REALDATA / file).is_file():
        pytest.skip(f"{file} is not among the reports here")
    document = report(file)
    differ = {
        line: said for line in lines if not same(line[3], said := found(document, line[0], line[1], line[2]))
    }
    assert not differ
    assert len(lines) >= 60
