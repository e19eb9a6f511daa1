"""The judgement of evidence, without a server."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.postgresql.helpers import index, table, work_of
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.postgresql.granted import SERIAL_PLAN, why_fewer, workers_by_memory, workers_by_size
from toolkit.dialects.work import Work
from toolkit.model.values import QualifiedName, Row

ON = QualifiedName("t", "s")


def ctas(degree: int) -> Work:
    return work_of("ctas", table("t", "s"), query="SELECT 1", degree=degree)


def build(degree: int) -> Work:
    return work_of("index-build", index("i", ON), columns=("a",), degree=degree)


def plan(*workers: int) -> tuple[Row, ...]:
    gathers = [{"Node Type": "Gather", "Workers Planned": each, "Plans": [{"Node Type": "Seq Scan"}]}
               for each in workers]  # fmt: skip
    return ({"query plan": json.dumps([{"Plan": {"Node Type": "Append", "Plans": gathers}}])},)


def counted(asked: int, launched: int) -> dict[str, tuple[Row, ...]]:
    return {"degree_before": ({"asked": 5, "launched": 5},),
            "degree": ({"asked": 5 + asked, "launched": 5 + launched},)}  # fmt: skip


@pytest.mark.parametrize(
    ("work", "kept", "notices"),
    [
        (ctas(4), {"plan": plan(3)}, ()),
        (build(4), {}, ('building index "i" on table "t" with request for 3 parallel workers',)),
    ],
)
def test_seconds_in_which_no_worker_was_seen_are_evidence(
    work: Work, kept: dict[str, tuple[Row, ...]], notices: tuple[str, ...]
) -> None:
    none_seen = {"parallel_workers": 0.0, "watched_seconds": 2.5}
    granted = DIALECT.work.granted(work, kept, none_seen, notices)
    assert (granted.degree, granted.source) == (1, "workers seen in pg_stat_activity")
    assert "none of 3 requested workers was seen" in granted.sentence
    assert "max_parallel_workers" in granted.sentence
    short = DIALECT.work.granted(work, kept, none_seen | {"watched_seconds": 0.4}, notices)
    assert short.degree is None


REQUEST = 'building index "i" on table "t" with request for {} parallel worker{}'
SERIALLY = 'building index "i" on table "t" serially'


def test_a_plan_without_a_gather_is_serial_whatever_was_sampled() -> None:
    granted = DIALECT.work.granted(ctas(4), {"plan": plan()}, {"parallel_workers": 3}, ())
    assert (granted.degree, granted.sentence) == (1, SERIAL_PLAN)


def scan(cost: float, rows: int, **more: str) -> tuple[Row, ...]:
    node = {"Node Type": "Seq Scan", "Total Cost": cost, "Plan Rows": rows, **more}
    return ({"query plan": json.dumps([{"Plan": node}])},)


@pytest.mark.parametrize(
    ("planned", "told"),
    [
        (scan(28_000.0, 900_000), True),
        (scan(28_000.0, 900_000, Filter="(i > 5)"), False),
        (scan(600.0, 10_000), False),  # too small a table for a worker, whatever rows cost
    ],
)
def test_a_copy_of_all_rows_that_is_serial_by_cost_is_told_which_setting_decides(
    planned: tuple[Row, ...], told: bool
) -> None:
    granted = DIALECT.work.granted(ctas(4), {"plan": planned}, {}, ())
    assert granted.degree == 1 and granted.sentence.startswith(SERIAL_PLAN)
    assert ("`--setting parallel_tuple_cost=0`" in granted.sentence) is told


def test_fewer_workers_than_wanted_are_told_what_sets_their_number() -> None:
    granted = DIALECT.work.granted(ctas(6), {"plan": plan(3)}, {"parallel_workers": 3}, ())
    assert granted.degree == 4
    assert granted.sentence == (
        "the planner requested 3 workers; the size of a table sets how many, unless its parallel_workers does"
    )
    all_of_them = DIALECT.work.granted(ctas(4), {"plan": plan(3)}, {"parallel_workers": 3}, ())
    assert all_of_them.sentence == "the planner requested 3 workers"


@for_each(
    ("planned", "counters", "peak", "degree", "source"),
    [
        ((3,), counted(3, 3), 0, 4, "pg_stat_database.parallel_workers_launched"),
        ((3,), counted(3, 1), 0, 2, "pg_stat_database.parallel_workers_launched"),
        ((3, 3), counted(6, 6), 6, 4, "pg_stat_database.parallel_workers_launched"),
        ((3,), counted(9, 9), 3, 4, "workers seen in pg_stat_activity"),  # somebody else's query counted too
        ((3, 3), counted(6, 4), 2, 3, "workers seen in pg_stat_activity"),  # which Gather lost is not known
        ((3,), {}, 3, 4, "workers seen in pg_stat_activity"),
        ((1,), {}, 1, 2, "workers seen in pg_stat_activity"),
        ((3,), {}, 1, 2, "workers seen in pg_stat_activity"),
        ((3,), {}, 9, 4, "workers seen in pg_stat_activity"),
        ((3,), {}, 0, None, "plan"),
    ],
)
def test_the_degree_of_a_query_follows_the_best_evidence(
    planned: tuple[int, ...], counters: dict, peak: int, degree: int | None, source: str
) -> None:
    kept = {"plan": plan(*planned), **counters}
    granted = DIALECT.work.granted(ctas(4), kept, {"parallel_workers": peak}, ())
    assert (granted.degree, granted.source) == (degree, source)
    assert granted.sentence
    assert "1 workers" not in granted.sentence


def test_no_evidence_at_all_gives_no_degree() -> None:
    assert DIALECT.work.granted(ctas(4), {}, {}, ()).degree is None
    assert DIALECT.work.granted(build(4), {}, {}, ()).degree is None


def test_a_plan_that_cannot_be_read_proves_nothing() -> None:
    assert DIALECT.work.granted(ctas(4), {"plan": ({"query plan": "{"},)}, {}, ()).degree is None


@for_each(
    ("notices", "peak", "degree"),
    [
        ((SERIALLY,), 3, 1),
        ((REQUEST.format(3, "s"),), 3, 4),
        ((REQUEST.format(1, ""),), 3, 2),
        ((REQUEST.format(3, "s"),), 2, 3),
        ((REQUEST.format(3, "s"),), 0, None),
        ((SERIALLY, REQUEST.format(3, "s"), SERIALLY), 3, 4),  # small indexes of a schema are serial by rule
        (("index \"i\" will be validated",), 2, 3),
    ],
)  # fmt: skip
def test_the_degree_of_a_build_follows_notice_and_samples(notices: tuple, peak: int, degree: int | None) -> None:
    granted = DIALECT.work.granted(build(4), {}, {"parallel_workers": peak}, notices)
    assert granted.degree == degree


def test_a_name_that_spells_a_notice_does_not_lie() -> None:
    notice = 'building index "x" with request for 7 parallel workers" on table "t" serially'
    assert DIALECT.work.granted(build(4), {}, {}, (notice,)).degree == 1


def test_degree_one_and_insert_are_one_process() -> None:
    assert DIALECT.work.granted(ctas(1), {}, {"parallel_workers": 2}, ()).degree == 1
    insert = work_of("insert", table("t", "s"), query="SELECT 1", degree=1)
    assert DIALECT.work.granted(insert, {}, {"parallel_workers": 2}, ()).degree == 1


# compute_parallel_worker: 1 worker from 8 MB on, 2 from 24, 3 from 72, 4 from 216
@for_each(("megabytes", "workers"), [(7, 0), (8, 1), (23, 1), (24, 2), (72, 3), (216, 4)])
def test_workers_by_size_follow_powers_of_three(megabytes: int, workers: int) -> None:
    assert workers_by_size(megabytes * 128, 1024) == workers


@given(st.integers(0, 10**9), st.integers(0, 10**6))
def test_more_blocks_never_mean_fewer_workers(blocks: int, threshold: int) -> None:
    assert workers_by_size(blocks, threshold) <= workers_by_size(blocks + 1, threshold)


@given(st.integers(1, 10**8), st.integers(0, 1024))
def test_each_process_of_a_build_has_its_32_megabytes(kilobytes: int, wanted: int) -> None:
    kept = workers_by_memory(kilobytes, wanted)
    assert 0 <= kept <= wanted
    assert kept == 0 or kilobytes // (kept + 1) >= 32768
    assert kept == wanted or kilobytes // (kept + 2) < 32768


@for_each(
    ("megabytes", "memory", "fixed", "requested", "word"),
    [
        (32, 64, None, 1, "maintenance_work_mem of 64 MB is enough for 1 worker; 2 need 96 MB"),
        (32, 1024, None, 2, "a table of 32.0 MiB gets at most 2 workers"),
        (9, 1024, None, 1, "gets at most 1 worker,"),
        (32, 1024, None, 0, "the access method"),
        (900, 1024, None, 0, "the access method"),
        (900, 64, None, 1, "maintenance_work_mem of 64 MB is enough for 1 worker; 3 need 128 MB"),
        (900, 64, 2, 2, "the table's parallel_workers is 2"),
        (4, 64, None, 0, "a table of 4.00 MiB gets at most 0 workers"),
    ],
)
def test_the_limit_that_held_is_named_and_no_other(
    megabytes: int, memory: int, fixed: int | None, requested: int, word: str
) -> None:
    row = {"table_blocks": megabytes * 128, "min_scan_blocks": 1024, "memory_kilobytes": memory * 1024,
           "table_workers": fixed}  # fmt: skip
    assert word in why_fewer(row, 3, requested)
