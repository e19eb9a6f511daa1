"""How big an index gets, and what an index work takes: for itself, for its sort, and beside what is there."""

from __future__ import annotations

import pytest

from tests.for_each import for_each
from toolkit.dialects.indexes import IndexDefinition, IndexKey, IndexPart
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.sizes import built_bytes, entry_bytes, rebuilt_bytes
from toolkit.dialects.work import Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Release
from toolkit.model.steps import ObjectRef, Takes, Until
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind, OperationName

TABLE: Row = {"schema_name": "app", "table_name": "t", "row_estimate": 1000, "byte_count": 90_000}
ON = QualifiedName("t", "app")
NAME = QualifiedName("ix", "app")
PLACES: tuple[Row, ...] = (
    {"place": "pg_default", "path": "/data", "is_own": "yes", "is_default": "no", "temporary_places": ""},
    {"place": "fast", "path": "/fast", "is_own": "no", "is_default": "yes", "temporary_places": ""},
)


def facts(**answers: tuple[Row, ...]) -> Facts:
    return Facts("postgresql", Release((18,)), answers)


def column(name: str, length: float | None) -> Row:
    return {"column_name": name, "average_length": length}


@for_each(
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


@for_each(
    ("index", "table", "grown"),
    [(10 * 2**20, 20 * 2**20, 500), (10 * 2**20, 2**20, 300), (None, 20 * 2**20, 300), (5, None, 300)],
)
def test_an_index_grows_with_a_load_as_it_did_beside_its_table(
    index: float | None, table: float | None, grown: float
) -> None:
    assert entry_bytes({"byte_count": index}, {"byte_count": table}, 1000) == pytest.approx(grown)
    assert entry_bytes({"byte_count": index}, {"byte_count": table}, None) is None


def taken(operation: OperationName, read: Facts, **options: OptionValue) -> tuple[Takes, ...]:
    parted = options.pop("part", None)
    work = Work(
        operation,
        Mode.JOB,
        ObjectRef(ObjectKind.INDEX, NAME, table=ON),
        options,
        keys=(IndexKey("ID", "ID"),),
        index=IndexDefinition(NAME, ON, bytes=500.0),
        part=IndexPart("p", "partition", 300.0) if parted else None,
    )
    return DIALECT.work.of(operation).takes(work, read)


def test_a_build_takes_the_index_and_for_as_long_as_it_lasts_its_sorted_keys() -> None:
    read = facts(target=(TABLE,), columns=(column("ID", 5),), space=PLACES)
    made, sort = taken("index-build", read)
    assert (made.bytes, made.place.name, made.until) == (pytest.approx(20_000), "fast", Until.OBJECT)
    assert (sort.bytes, sort.place.name, sort.until) == (pytest.approx(24_000), "pg_default", Until.STEP)
    assert taken("index-build", read, tablespace="pg_default")[0].place.name == "pg_default"


def test_a_rebuild_takes_the_index_again_where_it_is_and_gives_that_back() -> None:
    row: Row = {"schema_name": "app", "index_name": "ix", "table_name": "t", "byte_count": 500, "tablespace": None}
    again, sort = taken("index-rebuild", facts(indexes=(row,), space=PLACES))
    assert (again.bytes, again.place.name, again.until) == (500, "pg_default", Until.STEP)
    assert (sort.bytes, sort.until) == (pytest.approx(600), Until.STEP)
    moved, _ = taken("index-rebuild", facts(indexes=(row,), space=PLACES), tablespace="fast")
    assert (moved.place.name, moved.until) == ("fast", Until.OBJECT)
    assert taken("index-rebuild", facts(indexes=(row,), space=PLACES), part=True)[0].bytes == 300


def test_nothing_of_an_index_is_no_size_and_an_empty_one_is() -> None:
    work = Work("index-rebuild", Mode.JOB, ObjectRef(ObjectKind.INDEX, NAME), {}, index=IndexDefinition(NAME, ON))
    assert rebuilt_bytes(work, {}) is None
    assert rebuilt_bytes(work, {"byte_count": 0}) == 0


@pytest.mark.parametrize("options", [{"method": "brin"}, {"method": "gin"}, {"where": "state = 3"}])
def test_an_index_of_some_rows_or_of_blocks_is_not_refused_for_the_size_of_a_whole_one(
    options: dict[str, OptionValue],
) -> None:
    made, sort = taken("index-build", facts(target=(TABLE,), columns=(column("ID", 5),), space=PLACES), **options)
    assert made.bytes is None and made.unknown and sort.bytes is None
