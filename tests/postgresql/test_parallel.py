"""The degree granted, told from real parallel and serial work on a table of two million rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgresql.helpers import RUN, Bench, index, open_context, table, target_of, work_of
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit.dialects.answers import Granted
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.postgresql.granted import ROWS_HANDED_OVER, SERIAL_PLAN
from toolkit.model.facts import Facts
from toolkit.rendering import sql_file

CTAS, BUILD, REBUILD = "ctas", "index-build", "index-rebuild"
HEAVY = "SELECT count(*) AS n, sum(length(md5(name || id))) AS work FROM big"


@pytest.fixture(scope="module")
def big(postgresql_server: Server) -> Iterator[Bench]:
    """A bench whose schema holds `big` (2 million rows) and `small`, first in the search path."""
    with postgresql_server.connect() as session:
        session.execute("DROP SCHEMA IF EXISTS big_tables CASCADE")
        session.execute("CREATE SCHEMA big_tables")
        session.execute(
            "CREATE TABLE big_tables.big AS "
            "SELECT i AS id, md5(i::text) AS name FROM generate_series(1, 2000000) AS i"
        )
        session.execute("CREATE TABLE big_tables.small AS SELECT * FROM big_tables.big LIMIT 1000")
        session.execute("ANALYZE big_tables.big, big_tables.small")
    context = open_context(target_of(postgresql_server), "big_tables", RUN)
    for session in (context.control, context.worker):
        session.execute("SET search_path TO big_tables")
    yield context
    context.close()
    with postgresql_server.connect() as session:
        session.execute("DROP SCHEMA big_tables CASCADE")


@pytest.fixture
def memory(big: Bench) -> Iterator[None]:
    """Enough maintenance memory for three processes."""
    big.worker.execute("SET maintenance_work_mem = '128MB'")
    yield
    big.worker.execute("RESET maintenance_work_mem")


def ctas(big: Bench, query: str, degree: int) -> Granted:
    ref = table("made", big.schema)
    try:
        return big.trial(work_of(CTAS, ref, query=query, degree=degree))[0]
    finally:
        big.run(DIALECT.drop(ref))


def build(big: Bench, on: str, degree: int, **options: bool) -> Granted:
    ref = index("built", big.name(on))
    try:
        return big.trial(work_of(BUILD, ref, columns=("id",), degree=degree, options=options))[0]
    finally:
        big.run(DIALECT.drop(ref))


def test_a_computing_ctas_gets_its_workers_and_the_leader_counts(big: Bench) -> None:
    granted = ctas(big, HEAVY, 3)
    assert granted.degree == 3
    assert granted.source != "plan"


def test_a_ctas_that_hands_all_rows_on_is_serial_by_cost(big: Bench) -> None:
    assert ctas(big, "SELECT * FROM big", 3) == Granted(1, "plan", SERIAL_PLAN + ROWS_HANDED_OVER)


def test_forced_by_costs_the_same_ctas_is_parallel(big: Bench) -> None:
    big.worker.execute("SET parallel_tuple_cost = 0")
    try:
        granted = ctas(big, "SELECT * FROM big", 2)
    finally:
        big.worker.execute("RESET parallel_tuple_cost")
    assert granted.degree == 2


def test_degree_one_has_no_worker_at_all(big: Bench) -> None:
    assert ctas(big, HEAVY, 1) == Granted(1, "max_parallel_workers_per_gather = 0")
    assert "plan" not in big.kept


def test_a_small_table_is_read_serially(big: Bench) -> None:
    assert ctas(big, HEAVY.replace("big", "small"), 4).sentence == SERIAL_PLAN


def test_workers_that_are_planned_but_not_to_be_had_are_not_granted(big: Bench) -> None:
    # the plan is made with the session's own limit, the workers are taken from the server's pool
    big.worker.execute("SET max_parallel_workers = 1")
    try:
        granted = ctas(big, HEAVY, 3)
    finally:
        big.worker.execute("RESET max_parallel_workers")
    assert granted.degree == 2
    assert "of 2" in granted.sentence


def test_the_database_counts_workers_of_queries_from_release_18_on(big: Bench) -> None:
    granted = ctas(big, HEAVY, 2)
    counted = big.facts.release.number[0] >= 18
    assert granted.source.startswith("pg_stat_database" if counted else "workers seen")


@pytest.mark.parametrize("options", thinned([{}, {"online": True}, {"unique": True}], 3))
def test_an_index_build_gets_its_workers(big: Bench, memory: None, options: dict[str, bool]) -> None:
    granted = build(big, "big", 3, **options)
    assert granted.degree == 3
    assert granted.source == "workers seen in pg_stat_activity"


def test_an_index_build_of_a_small_table_is_serial_and_says_why(big: Bench, memory: None) -> None:
    granted = build(big, "small", 3)
    assert granted.degree == 1
    assert "built serially: a table of" in granted.sentence


def test_too_little_memory_for_each_process_is_named_as_the_reason(big: Bench) -> None:
    granted = build(big, "big", 3)
    assert granted.degree == 2
    assert "maintenance_work_mem of 64" in granted.sentence
    assert "2 need 96" in granted.sentence


def test_a_rebuild_gets_its_workers_too(big: Bench, memory: None) -> None:
    ref = index("rebuilt", big.name("big"))
    big.trial(work_of(BUILD, ref, columns=("id",)))
    work = work_of(REBUILD, ref, index=big.definition("rebuilt"), degree=2)
    assert big.trial(work)[0].degree == 2
    big.run(DIALECT.drop(ref))


def test_counters_read_around_a_ctas_hold_its_log_and_rows(big: Bench) -> None:
    def counters() -> dict[str, float]:
        return {
            str(row["metric_name"]): float(str(row["metric_value"]))
            for file in DIALECT.watching(big.facts).snapshots
            for row in big.monitor.execute(sql_file("postgresql", file)).rows
        }

    before = counters()
    ctas(big, "SELECT * FROM big", 1)
    after = counters()
    assert after["wal_bytes"] - before["wal_bytes"] > 100_000_000
    assert after["blocks_read"] + after["blocks_hit"] > before["blocks_read"] + before["blocks_hit"]


def test_a_sample_counts_our_own_sessions_and_not_the_monitor(big: Bench) -> None:
    facts: Facts = big.facts
    (file,) = DIALECT.watching(facts).samples
    rows = {row["metric_name"]: row["metric_value"] for row in big.monitor.execute(
        sql_file("postgresql", file), {"run": RUN}).rows}  # fmt: skip
    assert (rows["active_sessions"], rows["parallel_workers"]) == (0, 0)
