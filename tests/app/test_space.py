"""Whether the objects of a run fit is looked at before the first trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.store.make import experiment
from toolkit.app.runs.space import check_space, free_disk_bytes, needed_bytes, short_of_disk
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Factor, Row
from toolkit.model.words import OperationName
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget

MEGABYTE = 1024 * 1024
TARGET = DuckdbTarget(Access(parse_url("duckdb:///nowhere.duckdb")))


def facts(**answers: Row) -> Facts:
    read: Mapping[str, tuple[Row, ...]] = {key.replace("__", ":"): (row,) for key, row in answers.items()}
    return Facts("duckdb", Release((1,)), read)


@pytest.mark.parametrize(
    ("operation", "times"),
    [("ctas", 4.0), ("insert", 5.2)],
)
def test_the_need_grows_with_the_source_and_with_objects_made_at_once(
    operation: OperationName, times: float
) -> None:
    written = experiment(operation=operation, options={}, factors=(Factor("concurrency", (1, 4)),))
    assert needed_bytes(written, facts(source={"byte_count": 100})) == pytest.approx(100 * times)


def test_the_tables_of_whole_schemas_add_up() -> None:
    read = facts(tables__A={"byte_count": 100}, tables__B={"byte_count": 50}, space={"byte_count": 9999})
    written = experiment(operation="stats-gather")
    assert needed_bytes(written, read) == pytest.approx(165)


def test_what_does_not_fit_is_refused_with_both_sizes() -> None:
    read = facts(source={"byte_count": 3 * MEGABYTE}, space={"free_byte_count": 2 * MEGABYTE})
    with pytest.raises(ToolkitError, match=r"need about 3.*2.* are free") as caught:
        check_space(experiment(options={}, factors=()), read, TARGET)
    assert caught.value.code == "TK-0305"


@pytest.mark.parametrize(
    "read",
    [
        facts(source={"byte_count": MEGABYTE}, space={"free_byte_count": MEGABYTE}),
        facts(source={"byte_count": None}, space={"free_byte_count": 1}),
        facts(source={"byte_count": MEGABYTE}, space={"free_byte_count": None}),
        facts(),
    ],
)
def test_what_just_fits_or_is_not_known_is_not_refused(read: Facts) -> None:
    check_space(experiment(options={}, factors=()), read, TARGET)


@pytest.mark.parametrize(
    ("free", "needed", "fits"),
    [(None, 100.0, True), (50.0, None, True), (120.0, 100.0, True), (119.0, 100.0, False)],
)
def test_a_trial_needs_a_fifth_more_than_its_estimate(
    free: float | None, needed: float | None, fits: bool
) -> None:
    said = short_of_disk(needed, free)
    assert said is None if fits else said is not None and said.startswith("only 119 ") and "disk" in said


def test_the_disk_under_an_embedded_file_is_asked_now(tmp_path: Path) -> None:
    read = facts(space={"place": str(tmp_path / "x.duckdb")})
    assert (free_disk_bytes(read, TARGET) or 0) > 0
    assert free_disk_bytes(facts(space={"place": ":memory:"}), TARGET) is None
    assert free_disk_bytes(facts(space={"place": str(tmp_path / "gone" / "x.duckdb")}), TARGET) is None
