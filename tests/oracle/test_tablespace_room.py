"""Room is asked tablespace by tablespace: where copies and indexes go, whose quota counts, what is not known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import OURS, SOURCE, assumed, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.test_command_line import dbatk
from tests.servers import forks
from toolkit.dialects.indexes import IndexDefinition, IndexPart
from toolkit.dialects.oracle import taking
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Place, PlaceKind, Takes, Until
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind

SMALL, BIG = 100_000, 10 * 2**30
BUILD = ("index", "build", "--table", "GTEST", "--columns", "AMOUNT", "--degree", "1", "--repeat", "1",
         "--warmup", "0")  # fmt: skip
QUOTAS = {("DBATK", "USERS"): -1, ("DBATK", "OLD"): -1}
FIXED = {"DBA_DATA_FILES": []}


def world(users: int, old: int, **changes: object) -> Scenario:
    """Return a database whose table GTEST is in OLD, and the default tablespace is USERS."""
    plain = {"tablespaces": {"USERS": users, "OLD": old}, "quotas": QUOTAS, "views": FIXED}
    return Scenario(**(plain | changes))  # type: ignore[arg-type]


def moved(standin: Standin) -> None:
    standin.engine.state.objects["TABLE", ("DBATK", "GTEST")].tablespace = "OLD"


def error(answer: object) -> str:
    return f"{answer['error']['message']}; {answer['error']['hint']}"  # type: ignore[index]


@pytest.mark.full
def test_a_copy_fits_into_its_tables_tablespace_whatever_the_default_one_has(tmp_path: Path) -> None:
    with running_standin(world(users=220_000, old=BIG)) as standin:
        moved(standin)
        status, run = dbatk(standin, tmp_path, *BUILD)
        assert status == 0, run


def test_a_copy_that_does_not_fit_into_its_tables_tablespace_is_refused_before_it_is_made(tmp_path: Path) -> None:
    with running_standin(world(users=BIG, old=SMALL)) as standin:
        moved(standin)
        status, answer = dbatk(standin, tmp_path, *BUILD)
        assert (status, "tablespace `OLD`" in error(answer)) == (5, True), answer
        assert "USERS" not in error(answer)
        assert not any(text.startswith("CREATE") for text in standin.statements)


def test_every_place_that_is_too_small_is_named(tmp_path: Path) -> None:
    with running_standin(world(users=4096, old=SMALL)) as standin:
        moved(standin)
        status, answer = dbatk(standin, tmp_path, *BUILD)
        assert status == 5
        assert "tablespace `OLD`" in error(answer) and "tablespace `USERS`" in error(answer)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"quotas": {**QUOTAS, ("APP", "USERS"): SMALL}}, "the quota of APP in tablespace `USERS`"),
        ({"quotas": QUOTAS}, "APP has no quota in tablespace `USERS`"),
    ],
)
def test_the_quota_that_counts_is_that_of_the_schema_that_owns_the_copies(
    changes: dict[str, object], part: str, tmp_path: Path
) -> None:
    with running_standin(world(BIG, BIG, unlimited=(), **changes)) as standin:
        status, answer = dbatk(standin, tmp_path, "ctas", "--source", "GTEST", "--table", "APP.C")
        assert (status, part in error(answer)) == (5, True), answer
        assert 'QUOTA UNLIMITED ON "USERS"' in error(answer)
        assert not any(text.startswith("CREATE") for text in standin.statements)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("denied", "words"),
    [
        ("DBA_FREE_SPACE", "unknown what is free there: DBA_TABLESPACES, DBA_FREE_SPACE and DBA_DATA_FILES"),
        ("DBA_TEMP_FREE_SPACE", "unknown what is free there: DBA_TEMP_FREE_SPACE"),
    ],
)
def test_what_cannot_be_read_is_unknown_and_said_with_the_grant(denied: str, words: str, tmp_path: Path) -> None:
    with running_standin(Scenario(denied=frozenset({denied}))) as standin:
        status, run = dbatk(standin, tmp_path, *BUILD)
    assert status == 0
    (line,) = [text for text in run["warnings"] if "unknown what is free" in text]  # type: ignore[attr-defined]
    assert words in line and "GRANT SELECT" in line


def test_a_dry_run_shows_what_is_taken_of_each_place_and_how_much_of_it_must_grow(tmp_path: Path) -> None:
    with running_standin() as standin:
        done = forks.run(
            "toolkit", *BUILD, "-t", standin.url, "--dry-run",
            env={"DBATK_STORE": str(tmp_path / "s.db"), "DBATK_CONFIG": str(tmp_path), "DBATK_PASSWORD": "tiger"},
        )  # fmt: skip
    lines = [text for text in done.stdout.splitlines() if "at once in" in text]
    assert [text.split(" at once in ")[1].split(",")[0] for text in lines] == [
        "tablespace `USERS`", "the quota of DBATK in tablespace `USERS`", "temporary space"
    ]  # fmt: skip
    assert "71.0 GiB are free, 31.0 GiB of it only as files grow, if the disks under them have room" in lines[0]


# -- what works take ---------------------------------------------------------------------------------------------
TABLE: Row = {"schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "row_estimate": 100,
              "byte_count": 1000.0, "partitioned": "NO", "tablespace_name": "OLD"}  # fmt: skip
PARTED: Row = {**TABLE, "partitioned": "YES", "tablespace_name": None}
PARTS: tuple[Row, ...] = (
    {"part_name": "P1", "high_value": "10", "tablespace_name": "COLD", "byte_count": 900.0, "composite": "NO"},
    {
        "part_name": "P2",
        "high_value": "MAXVALUE",
        "tablespace_name": "HOT",
        "byte_count": 100.0,
        "composite": "NO",
    },
)
RANGE: Row = {"partitioning_type": "RANGE", "subpartitioning_type": "NONE"}
INDEX: Row = {"schema_name": "DBATK", "index_name": "IX", "table_schema": "DBATK", "table_name": "GTEST",
              "byte_count": 300.0, "tablespace_name": "IDX", "partitioned": "NO"}  # fmt: skip
LOCAL: Row = {**INDEX, "tablespace_name": None, "partitioned": "YES", "locality": "LOCAL"}
OWNER: Row = {"user_name": "DBATK", "default_tablespace": "USERS", "unlimited": 1}
BY_RANGE = {"partitioning": (RANGE,), "partition_keys": ({"column_name": "ID"},), "partitions": PARTS}


def known(**answers: tuple[Row, ...]) -> Facts:
    server: Row = {"user_name": "DBATK", "current_schema": "DBATK"}
    read = {"server": (server,), "space_quota": (OWNER,), **answers}
    return replace(assumed(**read), assumed=False)


def by_place(takes: tuple[Takes, ...]) -> dict[str, float | None]:
    """Return what is taken by tablespace; temporary space by its kind."""
    return {one.place.name or one.place.owner or str(one.place.kind): one.bytes for one in takes}


def test_a_copy_takes_of_each_partitions_tablespace_what_the_partition_has() -> None:
    ref = ObjectRef(ObjectKind.TABLE, QualifiedName("C", "DBATK"), scratch=True)
    made, *_ = DIALECT.copy_table(SOURCE, ref, "m", known(target=(PARTED,), **BY_RANGE))
    assert by_place(made.takes) == {"COLD": 900.0, "HOT": 100.0}
    elsewhere = replace(ref, name=QualifiedName("C", "WORK"))
    made, *_ = DIALECT.copy_table(SOURCE, elsewhere, "m", known(target=(PARTED,), **BY_RANGE))
    assert by_place(made.takes) == {"schema WORK": 1000.0}
    assert by_place(DIALECT.copy_table(SOURCE, ref, "m", known())[0].takes) == {"USERS": None}


def test_a_load_takes_of_rows_and_indexes_where_each_goes() -> None:
    facts = known(source=(TABLE,), target=(TABLE,), table_indexes=(INDEX,))
    assert by_place(DIALECT.work.of("ctas").takes(work("ctas"), facts)) == {"USERS": 1000.0}
    assert by_place(DIALECT.work.of("ctas").takes(work("ctas", tablespace="big"), facts)) == {"BIG": 1000.0}
    measured = DIALECT.work.of("insert").takes(work("insert"), facts)
    assert by_place(measured) == {"OLD": 1000.0, "IDX": 300.0, "temporary space": 300.0}
    conventional = DIALECT.work.of("insert").takes(work("insert", load="conventional", bare=True), facts)
    assert by_place(conventional) == {"USERS": 1000.0}


def test_a_load_into_partitions_is_not_divided_by_guess() -> None:
    facts = known(source=({**TABLE, "table_name": "OTHER"},), target=(PARTED,), **BY_RANGE)
    other = replace(work("insert"), source=QualifiedName("OTHER", "DBATK"))
    assert by_place(DIALECT.work.of("insert").takes(other, facts)) == {"COLD": None, "HOT": None}
    job = replace(work("insert", mode=Mode.JOB), object=ObjectRef(ObjectKind.TABLE, SOURCE))
    one = replace(job, options={"partition": "P1"})
    assert by_place(DIALECT.work.of("insert").takes(one, facts)) == {"COLD": 1000.0}


@pytest.mark.parametrize("option", [{"where": "id = 1"}, {"query": "SELECT 1 AS a FROM dual"}])
def test_the_size_of_what_a_condition_or_a_query_decides_is_unknown(option: dict[str, str]) -> None:
    (taken,) = DIALECT.work.of("ctas").takes(work("ctas", **option), known(source=(TABLE,)))  # type: ignore[arg-type]
    assert taken.bytes is None and taken.unknown


def test_lobs_make_an_estimate_the_least() -> None:
    columns: tuple[Row, ...] = ({"column_name": "DOC", "data_type": "CLOB"},)
    (taken,) = DIALECT.work.of("ctas").takes(work("ctas"), known(source=(TABLE,), source_columns=columns))
    assert (taken.bytes, taken.unknown) == (1000.0, "its LOBs are not counted")


@for_each(
    ("kind", "why"),
    [("NUMBER", ""), *((kind, "its LOBs are not counted") for kind in ("BLOB", "JSON", "VECTOR", "XMLTYPE"))],
)
def test_a_copy_says_that_its_lobs_are_not_counted_or_that_it_may_have_some(kind: str, why: str) -> None:
    columns: tuple[Row, ...] = ({"column_name": "DOC", "data_type": kind},)
    source = QualifiedName(str(TABLE["table_name"]), str(TABLE["schema_name"]))
    (first, *_) = taking.of_copy(source, OURS.name, known(target=(TABLE,), columns=columns), None)
    assert first.unknown == why
    (unread, *_) = taking.of_copy(source, OURS.name, known(target=(TABLE,)), None)
    assert unread.unknown == "its LOBs, if it has any, are not counted"


def test_a_local_index_is_built_where_the_partitions_of_its_table_are() -> None:
    columns: tuple[Row, ...] = ({"column_name": "ID", "average_length": 5},)
    facts = known(target=(PARTED,), columns=columns, **BY_RANGE)
    on = ObjectRef(ObjectKind.INDEX, QualifiedName("I", "DBATK"), table=SOURCE)
    built = replace(work("index-build", mode=Mode.JOB), object=on, columns=("ID",), options={"local": True})
    found = by_place(DIALECT.work.of("index-build").takes(built, facts))
    assert found["COLD"] == pytest.approx(1800) and found["HOT"] == pytest.approx(200)
    assert found["temporary space"] == pytest.approx(2400)
    plain = by_place(DIALECT.work.of("index-build").takes(replace(built, options={}), facts))
    assert plain["USERS"] == pytest.approx(2000)
    unread = replace(facts, answers={key: rows for key, rows in facts.answers.items() if key != "partitions"})
    assert None in by_place(DIALECT.work.of("index-build").takes(built, unread)).values()


def test_a_rebuild_takes_a_second_segment_where_the_index_or_its_partition_is_and_gives_it_back() -> None:
    name = QualifiedName("IX", "DBATK")
    live = ObjectRef(ObjectKind.INDEX, name, table=SOURCE)
    whole = replace(
        work("index-rebuild", mode=Mode.JOB), object=live, index=IndexDefinition(name, SOURCE, bytes=300.0)
    )
    second, sort = DIALECT.work.of("index-rebuild").takes(whole, known(indexes=(INDEX,)))
    assert (second.place, second.bytes, second.until) == (Place(PlaceKind.TABLESPACE, "IDX"), 300.0, Until.STEP)
    assert (sort.place.kind, sort.until) == (PlaceKind.TEMPORARY, Until.STEP)
    part: Row = {"of_schema": "DBATK", "of_index": "IX", "part_name": "P2", "tablespace_name": "HOT",
                 "byte_count": 40.0}  # fmt: skip
    parted = replace(whole, part=IndexPart("P2", "partition", 40.0))
    facts = known(indexes=(LOCAL,), index_partitions=(part,))
    assert by_place(DIALECT.work.of("index-rebuild").takes(parted, facts))["HOT"] == 40.0
    asked = replace(whole, options={"tablespace": "NEW"})
    stays, _ = DIALECT.work.of("index-rebuild").takes(asked, known(indexes=(INDEX,)))
    assert (stays.place.name, stays.until) == ("NEW", Until.OBJECT)


# -- what is free ------------------------------------------------------------------------------------------------
QUOTA: Row = {"user_name": "DBATK", "default_tablespace": "USERS", "tablespace_name": "USERS",
              "used_byte_count": 10, "quota_byte_count": 100, "unlimited": 0}  # fmt: skip
OTHERS: tuple[Row, ...] = (
    {
        "user_name": "APP",
        "tablespace_name": "USERS",
        "used_byte_count": 60,
        "quota_byte_count": 100,
        "unlimited": 0,
    },
    {"user_name": "RICH", "unlimited": 1},
)


def quota(owner: str, **answers: tuple[Row, ...]) -> tuple[float | None, str]:
    """Return what is left of a quota, and why that is not known or nothing."""
    room = DIALECT.room(Place(PlaceKind.QUOTA, "USERS", owner), known(**{"space_quota": (QUOTA,), **answers}))
    return room.free_bytes, room.unknown or (room.refusal.message if room.refusal else "")


def test_a_quota_is_the_owners_own_and_unknown_where_it_cannot_be_read() -> None:
    assert quota("DBATK") == (90, "")
    assert quota("APP", space_quotas=OTHERS) == (40, "")
    free, why = quota("APP")
    assert free is None and "DBA_TS_QUOTAS" in why
    assert quota("POOR", space_quotas=OTHERS) == (None, "POOR has no quota in tablespace `USERS`")


@pytest.mark.parametrize(
    ("schema", "places"), [("APP", ["tablespace", "the quota"]), ("RICH", ["tablespace"]), ("X", ["tablespace"])]
)
def test_a_quota_is_taken_where_it_is_limited_or_not_known(schema: str, places: list[str]) -> None:
    schemas: tuple[Row, ...] = tuple(
        {"user_name": name, "default_tablespace": "USERS", "unlimited": 0} for name in ("APP", "RICH")
    )
    facts = known(source=(TABLE,), space_quota=(QUOTA,), space_quotas=(*OTHERS, *schemas))
    into = replace(work("ctas"), object=ObjectRef(ObjectKind.TABLE, QualifiedName("C", schema), scratch=True))
    taken = DIALECT.work.of("ctas").takes(into, facts)
    assert [str(one.place.kind) for one in taken] == places
    assert taken[0].place.name == ("" if schema == "X" else "USERS")
