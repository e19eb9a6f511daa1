"""Whole trials, played by hand over python-oracledb against the stand-in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.for_each import for_each
from tests.oracle.judging import judge
from tests.oracle.make import INDEX, OURS, SCHEMA, connect, steps, texts, work
from tests.oracle.standin import Scenario, running_standin
from toolkit.dialects.answers import Granted
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.work import Work
from toolkit.executors import Refusals
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Step
from toolkit.model.values import Row
from toolkit.model.words import Mode, Role
from toolkit.rendering import sql_file
from toolkit.targets.oracle import OracleConnection

CTAS, INSERT = "ctas", "insert"
BUILD, REBUILD, STATS = "index-build", "index-rebuild", "stats-gather"


def facts_of(connection: OracleConnection) -> Facts:
    """Read what every plan begins with."""
    rows = connection.execute(sql_file("oracle", "server")).rows
    return Facts("oracle", DIALECT.release(rows[0]), {"server": rows})


def play(connection: OracleConnection, run: list[Step]) -> dict[str, tuple[Row, ...]]:
    """Run steps in order; return what was kept."""
    kept: dict[str, tuple[Row, ...]] = {}
    refusals = Refusals()
    for step in run:
        try:
            if step.parts:
                rows = refusals.read(step, lambda part: connection.execute(part.text, part.binds))
            else:
                rows = connection.execute(step.text, step.binds).rows
        except DatabaseError as error:
            if error.code not in step.tolerates:
                raise
            continue
        if step.keep_as:
            kept[step.keep_as] = rows
    return kept


def trial(connection: OracleConnection, item: Work) -> tuple[Granted, dict[str, tuple[Row, ...]]]:
    """Play one trial; return the degree granted and the evidence."""
    facts = facts_of(connection)
    play(connection, steps(DIALECT.work.worker_begin(item, facts)))
    play(connection, steps(DIALECT.work.prepare(item, facts)))
    play(connection, steps(DIALECT.work.timed(item, facts)))
    kept = play(connection, steps(DIALECT.work.evidence(item, facts)))
    play(connection, steps(DIALECT.work.worker_end(item, facts)))
    told = DIALECT.work.tell(item, kept, {}, 1.0)
    return DIALECT.work.granted(item, kept, {}, ()), {**kept, "bytes": ({"byte_count": told.bytes},)}


def clear(connection: OracleConnection) -> None:
    """Make an empty table of ours with an index of ours on it."""
    facts = facts_of(connection)
    source = work(CTAS).source
    assert source is not None
    play(connection, steps(DIALECT.empty_copy(source, OURS, "mark", facts, bare=True)))


@for_each("edition", ["ee", "26"])
@for_each("degree", [1, 4])
def test_a_ctas_trial_from_session_to_drop(edition: str, degree: int) -> None:
    with running_standin(Scenario(edition=edition)) as standin:
        connection = connect(standin, Role.WORKER)
        granted, kept = trial(connection, work(CTAS, degree))
        assert granted.degree == degree
        assert kept["rows"] == ({"row_count": 2000},)
        assert int(kept["bytes"][0]["byte_count"] or 0) > 0
        (identity,) = play(connection, [replace(step, keep_as="it") for step in steps([DIALECT.identity(OURS)])])[
            "it"
        ]
        assert identity["mark"] == "created by dbatk"
        assert connection.execute(sql_file("oracle", "instant")).rows[0]["born"] >= identity["born"]  # type: ignore[operator]
        play(connection, steps(DIALECT.drop(OURS)))
        assert OURS.name.name not in str(standin.tables())
        assert (
            play(connection, [replace(step, keep_as="it") for step in steps([DIALECT.identity(OURS)])])["it"] == ()
        )
        connection.close()


def test_the_statements_of_a_ctas_trial_stand_in_order() -> None:
    recorded = recorded_trial()
    item, facts = work(CTAS, 4), Facts("oracle", DIALECT.assume("19-ee").release)
    shown = [*DIALECT.work.worker_begin(item, facts), *DIALECT.work.timed(item, facts)]
    assert [" ".join(text.split()) for text in recorded[1 : 1 + len(shown)]] == texts(shown)


@pytest.mark.full
def test_the_statements_of_a_ctas_trial_stand_before_two_grammars() -> None:
    assert judge({text: f"statement {number}" for number, text in enumerate(recorded_trial())}) == {}


def recorded_trial() -> list[str]:
    """Run one CTAS trial on the stand-in; return what it was sent."""
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        trial(connection, work(CTAS, 4))
        play(connection, steps(DIALECT.drop(OURS)))
        connection.close()
        return list(standin.statements)


def test_a_parallel_insert_is_seen_as_parallel_and_leaves_no_transaction() -> None:
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        clear(connection)
        granted, _ = trial(connection, work(INSERT, 4))
        filled = connection.execute(f'SELECT COUNT(*) AS n FROM "DBATK"."{OURS.name.name}"').rows
        assert (granted.degree, filled) == (4, ({"n": 2000},))
        assert not standin.sessions()[0].dml
        connection.close()


def test_without_parallel_dml_the_load_is_told_as_serial() -> None:
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        clear(connection)
        item, facts = work(INSERT, 4), facts_of(connection)
        play(connection, steps(DIALECT.work.timed(item, facts)))
        kept = play(connection, steps(DIALECT.work.evidence(item, facts)))
        granted = DIALECT.work.granted(item, kept, {}, ())
        assert (granted.degree, "serial" in granted.sentence) == (1, True)
        connection.close()


def test_too_few_servers_end_a_measurement_and_downgrade_a_job() -> None:
    with running_standin(Scenario(max_servers=4)) as standin:
        connection = connect(standin, Role.WORKER)
        with pytest.raises(DatabaseError) as error:
            trial(connection, work(CTAS, 8))
        advice = DIALECT.explain(error.value.code, error.value.message)
        assert advice is not None and advice.downgrade
        connection.close()
        connection = connect(standin, Role.WORKER)
        granted, _ = trial(connection, work(CTAS, 8, mode=Mode.JOB))
        assert granted.degree == 2
        connection.close()


def test_a_standard_edition_runs_serially_without_a_word_and_the_evidence_tells() -> None:
    with running_standin(Scenario(edition="se2")) as standin:
        connection = connect(standin, Role.WORKER)
        granted, _ = trial(connection, work(CTAS, 8, mode=Mode.JOB))
        assert granted.degree == 1
        assert not DIALECT.work.support(work(CTAS, 8), facts_of(connection)).ok
        connection.close()


def test_without_the_grant_the_trial_goes_on_and_the_degree_stays_unknown() -> None:
    with running_standin(Scenario(denied=frozenset({"V$PQ_SESSTAT"}))) as standin:
        connection = connect(standin, Role.WORKER)
        granted, kept = trial(connection, work(CTAS, 4))
        assert granted.degree is None
        assert "rows" in kept
        connection.close()


def test_an_index_trial_builds_and_rebuilds_with_the_degree_granted() -> None:
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        trial(connection, work(CTAS))
        for operation in (BUILD, REBUILD):
            granted, kept = trial(connection, work(operation, 4, logging="nologging"))
            assert granted.degree == 4
            assert int(kept["bytes"][0]["byte_count"] or 0) > 0
        made = standin.engine.state.objects["INDEX", (str(INDEX.name.schema), INDEX.name.name)]
        assert (made.degree, made.logging) == ("4", "NO")
        play(connection, steps(DIALECT.work.settle(work(REBUILD, 4, logging="nologging"), facts_of(connection))))
        assert (made.degree, made.logging) == ("1", "YES")
        connection.close()


@pytest.mark.parametrize("ref", [None, SCHEMA], ids=["table", "schema"])
def test_statistics_are_gathered_by_one_block(ref: object) -> None:
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        trial(connection, work(CTAS))
        for made in standin.engine.state.tables():
            made.analyzed = False
        trial(connection, work(STATS, 2, ref=ref))  # type: ignore[arg-type]
        gathered = {made.name[0] for made in standin.engine.state.tables() if made.analyzed}
        assert gathered == ({"APP"} if ref else {"DBATK"})
        connection.close()


def test_a_session_is_left_as_it_was_found() -> None:
    with running_standin() as standin:
        connection = connect(standin, Role.WORKER)
        trial(connection, work(CTAS, 4, query="SELECT g.id FROM dbatk.gtest g"))
        (session,) = standin.sessions()
        assert (session.query, session.dml) == ("ENABLED", False)
        assert session.parameters["parallel_min_percent"] == "0"
        assert session.parameters["ddl_lock_timeout"] == "0"
        connection.close()
