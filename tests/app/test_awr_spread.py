"""Files are read on several cores, the large ones first, and told in the order they were named."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.app.intervals import show as awr


def content(file: Path) -> str:
    if file.name == "broken":
        raise RuntimeError("broken")
    return file.read_text()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(awr, "_WORTH_A_PROCESS", 0)
    monkeypatch.setattr(awr, "_cores", lambda: 2)
    named = [tmp_path / f"{place}" for place in range(7)]
    for place, file in enumerate(named):
        file.write_text(f"{place}" * (place * 5 % 7 + 1))
    return named


def test_results_come_in_the_order_of_the_files_whatever_their_size(files: list[Path]) -> None:
    twice = [*files, *files]
    assert list(awr.spread(content, twice)) == [file.read_text() for file in twice]


def test_the_largest_are_begun_first_among_those_that_stand_near(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awr, "_NEAR", 4)
    sizes = [awr._size(files[place]) for place in awr._large_first(files)]
    assert (sizes[:4], sizes[4:]) == (sorted(sizes[:4], reverse=True), sorted(sizes[4:], reverse=True))
    assert sorted(awr._large_first(files)) == list(range(7))


def test_an_error_of_one_file_ends_the_reading(files: list[Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    reading = awr.spread(content, [files[0], broken, *files])
    assert next(reading) == files[0].read_text()
    with pytest.raises(RuntimeError, match="broken"):
        next(reading)
