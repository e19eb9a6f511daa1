"""How big an index gets, what a rebuild needs beside what is there, and what sorting takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.app.test_space import experiment
from toolkit.app.runs.space import needed_for_indexes, sorted_bytes
from toolkit.dialects.sizes import built_bytes, rebuilt_sizes
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Factor, Row
from toolkit.model.words import Mode

BUILD, REBUILD = "index-build", "index-rebuild"
TABLE: Row = {"row_estimate": 1000, "byte_count": 90_000}


def facts(**answers: tuple[Row, ...]) -> Facts:
    read = {key.replace("__", ":"): rows for key, rows in answers.items()}
    return Facts("oracle", Release((19,)), read)


def column(name: str, length: float | None) -> Row:
    return {"column_name": name, "average_length": length}


def index(name: str, size: float) -> Row:
    return {"schema_name": "APP", "index_name": name, "byte_count": size}


def part(name: str, size: float) -> Row:
    return {"of_schema": "APP", "of_index": name, "part_name": "P", "byte_count": size}


@pytest.mark.parametrize(
    ("keys", "entry"),
    [(("ID",), 12 + 6), (("id", "NAME DESC"), 12 + 6 + 31), (("UPPER(NAME)",), 12 + 31), (("0",), 12 + 20)],
)
def test_an_index_is_as_big_as_its_rows_and_keys(keys: tuple[str, ...], entry: int) -> None:
    read = facts(target=(TABLE,), columns=(column("ID", 5), column("NAME", 30)))
    assert built_bytes(keys, read) == pytest.approx(1000 * entry / 0.9)


@pytest.mark.parametrize(
    ("table", "length", "size"),
    [
        (TABLE, None, 27_000),
        ({"row_estimate": None, "byte_count": 90_000}, 5, 27_000),
        ({"row_estimate": None, "byte_count": None}, 5, None),
    ],
)
def test_without_statistics_it_is_a_third_of_its_table_or_unknown(
    table: Row, length: float | None, size: float | None
) -> None:
    assert built_bytes(("ID",), facts(target=(table,), columns=(column("ID", length),))) == size


def test_a_measurement_needs_the_copy_too_and_a_job_only_the_index() -> None:
    options: dict[str, OptionValue] = {"columns": ("ID",)}
    read = facts(target=(TABLE,), columns=(column("ID", 5),))
    measured = experiment(operation=BUILD, options=options)
    assert needed_for_indexes(measured, read, 1) == pytest.approx(90_000 + 20_000)
    for live in (
        experiment(operation=BUILD, options={**options, "on_live_objects": True}),
        experiment(operation=BUILD, options=options, mode=Mode.JOB),
    ):
        assert needed_for_indexes(live, read, 1) == pytest.approx(20_000)
    assert sorted_bytes(measured, read, 1) == pytest.approx(24_000)


def test_a_rebuild_needs_what_its_sessions_make_at_once_part_by_part() -> None:
    read = facts(
        indexes=(index("WHOLE", 500), index("PARTED", 900)),
        index_partitions=(part("PARTED", 400), part("PARTED", 300)),
    )
    assert rebuilt_sizes(read) == (500, 400, 300)
    job = experiment(operation=REBUILD, mode=Mode.JOB)
    assert needed_for_indexes(job, read, 2) == 900
    assert sorted_bytes(job, read, 2) == pytest.approx(1080)
    assert needed_for_indexes(job, facts(), 2) is None


def test_the_indexes_of_whole_schemas_add_up_under_their_own_keys() -> None:
    read = facts(indexes__A=(index("ONE", 500),), indexes__B=(index("TWO", 300),))
    assert rebuilt_sizes(read) == (500, 300)


@pytest.mark.parametrize(
    ("options", "methods", "least"),
    [
        ({}, (), 27_000),
        ({}, ("btree", "brin"), 27_000),
        ({}, ("brin",), 0),
        ({"where": "state = 3"}, (), 0),
    ],
)
def test_an_index_of_some_rows_or_of_blocks_is_not_refused_for_the_size_of_a_whole_one(
    options: dict[str, OptionValue], methods: tuple[str, ...], least: float
) -> None:
    read = facts(target=(TABLE,), columns=(column("ID", None),))
    work = experiment(operation=BUILD, options={"columns": ("ID",), **options}, mode=Mode.JOB)
    work = replace(work, factors=(*work.factors, *([Factor("method", methods)] if methods else [])))
    assert needed_for_indexes(work, read, 1) == least
    assert sorted_bytes(work, read, 1) == pytest.approx(1.2 * least)
