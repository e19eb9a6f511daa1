"""The granted degree, told from evidence of every release."""

from __future__ import annotations

from tests.for_each import for_each
from tests.oracle.make import work
from toolkit.dialects.answers import Granted
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.values import Row
from toolkit.model.words import OperationName

CTAS, INSERT, BUILD, STATS = (
    "ctas", "insert", "index-build", "stats-gather",
)  # fmt: skip


def rows(total: int = 0, **last: int) -> tuple[Row, ...]:
    """Make rows of V$PQ_SESSTAT; names are padded as some releases do."""
    return tuple(
        {"kind": "pq", "name": name.replace("_", " ").ljust(30), "detail": None, "value": value,
         "total": value + total}
        for name, value in last.items()
    )  # fmt: skip


def granted(operation: OperationName, degree: int, kept: tuple[Row, ...] | None, **peaks: float) -> Granted:
    """Ask the dialect."""
    return DIALECT.work.granted(work(operation, degree), {} if kept is None else {"degree": kept}, peaks, ())


@for_each(
    "kept",
    [
        rows(DDL_Parallelized=1, Server_Threads=8, Allocation_Height=8, Allocation_Width=1),
        rows(DDL_Parallelized=1, Server_Threads=16, Allocation_Height=8, Allocation_Width=1),
        rows(DDL_Parallelized=1, Server_Threads=16, DOP=8, Slave_Sets=2),
        rows(DDL_Parallelized=1, Server_Threads=16, DOP=0, Slave_Sets=2),
        rows(DDL_Parallelized=1, Servers=16, Server_Sets=2, Servers_Released_Early=8),
    ],
    ids=["11.2 one set", "11.2 two sets", "21c", "12c without DOP", "26ai"],
)
def test_each_releases_words_give_the_same_degree(kept: tuple[Row, ...]) -> None:
    assert granted(BUILD, 8, kept).degree == 8


def test_a_downgrade_of_11_2_is_not_guessed() -> None:
    kept = rows(DDL_Parallelized=1, Server_Threads=6, Allocation_Height=8, Allocation_Width=1)
    assert granted(BUILD, 8, kept).degree is None
    assert granted(BUILD, 8, kept, parallel_degree=3).degree == 3


def test_a_serial_load_under_a_parallel_query_is_told_as_serial() -> None:
    told = granted(INSERT, 8, rows(DML_Parallelized=0, Queries_Parallelized=1, Server_Threads=8, DOP=8))
    assert told.degree == 1
    assert "load itself was serial" in told.sentence


def test_no_servers_at_all_means_serial() -> None:
    told = granted(CTAS, 8, rows(DDL_Parallelized=0, Server_Threads=0, DOP=0))
    assert told.degree == 1
    assert told.sentence


def test_samples_speak_when_the_last_statement_no_longer_does() -> None:
    assert (
        granted(
            INSERT, 4, rows(DML_Parallelized=0, Server_Threads=0), parallel_workers=4, parallel_degree=4
        ).degree
        == 4
    )


def test_a_session_that_worked_in_parallel_before_is_not_called_serial() -> None:
    assert granted(INSERT, 4, rows(total=1, DML_Parallelized=0, Server_Threads=0)).degree is None


def test_without_the_grant_the_sentence_names_it() -> None:
    told = granted(CTAS, 4, None)
    assert told.degree is None
    assert "SYS.V_$PQ_SESSTAT" in told.sentence
    assert granted(CTAS, 1, None).degree == 1


def test_statistics_are_told_by_samples_only() -> None:
    misleading = rows(Queries_Parallelized=1, Server_Threads=8, DOP=8)
    assert granted(STATS, 4, misleading).degree is None
    assert granted(STATS, 4, misleading, parallel_degree=4).degree == 4
    assert granted(STATS, 1, misleading).degree == 1


def counted(**peaks: float) -> Granted:
    """Ask of a parallel build of degree 8 that V$PQ_SESSTAT calls good."""
    good = rows(DDL_Parallelized=1, Server_Threads=16, DOP=8, Slave_Sets=2)
    return DIALECT.work.granted(work(BUILD, 8), {"degree": good}, peaks, ())


def test_sources_that_agree_are_believed() -> None:
    told = counted(parallel_degree=8, parallel_workers=16, parallel_degree_missing=0)
    assert (told.degree, told.sentence, told.downgraded) == (8, "", False)


def test_samples_that_saw_less_are_said_and_count() -> None:
    told = counted(parallel_degree=6)
    assert told.degree == 6
    assert "the sources disagree" in told.sentence


def test_servers_asked_for_and_not_had_are_a_downgrade() -> None:
    told = counted(parallel_degree=6, parallel_degree_missing=2)
    assert (told.degree, told.downgraded) == (6, True)


def test_a_downgrade_counted_in_our_own_session_is_one_whatever_the_degree_looks_like() -> None:
    told = counted(**{"Parallel operations downgraded 25 to 50 pct (session)": 1})
    assert told.downgraded
    assert "downgraded 25 to 50 pct" in told.sentence
    assert not counted(**{"Parallel operations downgraded 25 to 50 pct": 5}).downgraded, "of another session"


def test_a_statement_begun_again_without_a_word_is_no_good_trial() -> None:
    told = counted(**{"execution abc": 2})
    assert told.downgraded
    assert "ORA-12842" in told.sentence
    assert not counted(**{"execution abc": 1}).downgraded


def test_without_the_view_v_sql_tells_a_serial_statement() -> None:
    row: Row = {"kind": "sql", "name": "parallel server executions", "detail": "1", "value": 0, "total": 1}
    told = DIALECT.work.granted(work(CTAS, 8), {"degree": (row,)}, {}, ())
    assert (told.degree, told.source) == (1, "V$SQL")


def test_the_sessions_own_switch_explains_a_serial_load() -> None:
    switches: Row = {"kind": "switches", "name": "PDML DISABLED, PDDL ENABLED, PQ ENABLED", "value": None}
    kept = (*rows(DML_Parallelized=0, Server_Threads=8, DOP=8), switches)
    told = DIALECT.work.granted(work(INSERT, 8), {"degree": kept}, {}, ())
    assert told.sentence.endswith("(PDML_STATUS of the session is DISABLED)")
