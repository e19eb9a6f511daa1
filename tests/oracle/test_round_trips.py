"""How often a trial asks the database, and that nothing of ours is on the clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import connect, target
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.blocks import spread
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.executors import read_facts
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.facts import Query
from toolkit.model.protocols import Event
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor, QualifiedName
from toolkit.model.words import Mode, OperationName
from toolkit.operations.base import relation_query
from toolkit.rendering import sql_file
from toolkit.store import open_store

OPTIONS: dict[OperationName, dict[str, OptionValue]] = {
    "ctas": {"source": "GTEST", "table": "GTEST_COPY"},
    "insert": {"source": "GTEST", "table": "GTEST"},
    "index-build": {"table": "GTEST", "columns": ("ID", "AMOUNT")},
    "index-rebuild": {"table": "GTEST"},
    "stats-gather": {"table": "GTEST"},
}
AT_MOST = {"ctas": 81, "insert": 93, "index-build": 75, "index-rebuild": 75, "stats-gather": 82}
"""Of a sweep of four trials, besides sampling; one of them is for the lock wait of the control session."""
OF_PARTITIONS = ("all_part_tables", "all_part_key_columns", "all_tab_partitions", "all_ind_partitions")
TIMED = re.compile(r"\s*(CREATE TABLE|INSERT|CREATE INDEX|ALTER INDEX \S+ REBUILD|BEGIN\s+DBMS_STATS|COMMIT$)")
SAMPLES = ("'parallel_workers' AS metric_name", "v$session_longops")
REFUSED = frozenset(
    {"V$PQ_SESSTAT", "V$PQ_TQSTAT", "V$SYSSTAT", "V$SYSTEM_EVENT", "V$SYS_TIME_MODEL", "V$IOSTAT_FUNCTION"}
)
SNAPSHOT = "SELECT 'begin of the instance'"


@dataclass
class Marks:
    """Notes how much had been sent when a trial began and ended."""

    standin: Standin
    begun: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        marks = {"trial-begun": self.begun, "trial-ended": self.ended}.get(event.kind)
        if marks is not None:
            marks.append(len(self.standin.engine.sent))


def sampled(text: str) -> bool:
    return any(mark in text for mark in SAMPLES)


@contextmanager
def swept(
    name: OperationName, folder: Path, scenario: Scenario | None = None, **options: OptionValue
) -> Iterator[tuple[Standin, Marks, RunRecord]]:
    """Sweep two degrees twice; the table has three indexes."""
    with running_standin(scenario) as standin, open_store(folder / "store.sqlite") as store:
        with closing(connect(standin)) as session:
            for number, key in enumerate(("ID", "AMOUNT, ID")):
                session.execute(f"CREATE INDEX GTEST_{number} ON GTEST ({key})")
        standin.engine.sent.clear()
        degrees = (Factor("degree", (1, 4)),)
        said = {**OPTIONS[name], **options}
        experiment = Experiment(standin.url, name, said, degrees, Mode.MEASUREMENT, 2, 0, seed=7)
        marks = Marks(standin)
        run = start(
            experiment, target(standin), store=store, approvals=Approvals(not_production=True), events=marks
        )
        yield standin, marks, store.load_run(run)


def asked_in(standin: Standin, marks: Marks) -> list[list[str]]:
    """Return what each trial asked besides sampling."""
    return [
        [text for _, text in standin.engine.sent[begin:end] if not sampled(text)]
        for begin, end in zip(marks.begun, marks.ended, strict=True)
    ]


@pytest.mark.parametrize("name", thinned(OPTIONS, 4))
def test_a_whole_sweep_asks_no_more_than_it_needs(name: OperationName, tmp_path: Path) -> None:
    with swept(name, tmp_path) as (standin, _, run):
        asked = [text for _, text in standin.engine.sent if not sampled(text)]
    assert [trial.outcome for trial in run.trials] == ["ok"] * 4
    assert len(asked) <= AT_MOST[name], "\n".join(asked)
    assert not [text for text in asked if any(view in text for view in OF_PARTITIONS)]


def test_a_job_asks_no_more_than_it_needs(tmp_path: Path) -> None:
    with running_standin() as standin, open_store(tmp_path / "store.sqlite") as store:
        job = Experiment(standin.url, "ctas", OPTIONS["ctas"], (), Mode.JOB)
        marks = Marks(standin)
        start(job, target(standin), store=store, approvals=Approvals(not_production=True), events=marks)
        asked = [text for _, text in standin.engine.sent if not sampled(text)]
    assert len(asked) <= 43, "\n".join(asked)


def test_partitions_are_asked_for_where_the_table_has_some() -> None:
    table = QualifiedName("SALES", "DBATK")
    with running_standin(Scenario(partitioned=True)) as standin, closing(connect(standin)) as session:
        listed = Query("indexes", "table_indexes", {"schema": "DBATK", "name": "SALES"})
        queries = (Query("server", "server"), relation_query("target", table), listed)
        known = read_facts(session, DIALECT, queries)
        further = (*DIALECT.index_reads("DBATK", "SALES", known, copied=True), *DIALECT.filled_reads(table, known))
        found = read_facts(session, DIALECT, further, known)
        asked = standin.statements
    assert all(any(view in text for text in asked) for view in OF_PARTITIONS)
    assert found.rows("partitions") and found.rows("index_partitions")
    assert found.rows("index_subpartitions") == () and not any("all_ind_subpartitions" in text for text in asked)


@for_each(
    ("more", "asked"),
    [
        ({}, set()),
        ({"HIDDEN_COLUMN": "NO", "VIRTUAL_COLUMN": "YES"}, {"virtual_columns", "invisible_columns"}),
        ({"HIDDEN_COLUMN": "YES", "VIRTUAL_COLUMN": "NO"}, {"virtual_columns", "invisible_columns"}),
        ({"HIDDEN_COLUMN": "YES", "VIRTUAL_COLUMN": "YES"}, set()),
        (
            {"HIDDEN_COLUMN": "NO", "VIRTUAL_COLUMN": "NO", "DEFAULT_LENGTH": 1, "DATA_DEFAULT": "0"},
            {"column_defaults"},
        ),
    ],
    ids=["plain", "virtual", "invisible", "of a function-based index", "default"],
)
def test_what_the_columns_show_not_to_be_there_is_not_asked_for(more: dict[str, object], asked: set[str]) -> None:
    table = QualifiedName("GTEST", "DBATK")
    row = {
        "OWNER": "DBATK",
        "TABLE_NAME": "GTEST",
        "COLUMN_NAME": "X",
        "DATA_TYPE": "NUMBER",
        "USER_GENERATED": "YES",
    }
    scenario = Scenario(beside={"ALL_TAB_COLS": [{**row, **more}] if more else []})
    with running_standin(scenario) as standin, closing(connect(standin)) as session:
        columns = (Query("server", "server"), relation_query("columns", table, "columns"))
        known = read_facts(session, DIALECT, columns)
        read = DIALECT.filled_reads(table, known)
        standin.engine.sent.clear()
        found = read_facts(session, DIALECT, read, known)
        texts = [text for _, text in standin.engine.sent]
    sent = {query.file for query in read if sql_file("oracle", query.file) in texts}
    named = {"virtual_columns", "invisible_columns", "column_defaults"}
    assert {query.file for query in read} >= named and sent & named == asked
    if asked:
        assert [row["column_name"] for name in sorted(asked) for row in found.rows(name)] == ["X"]


@pytest.mark.full
@pytest.mark.parametrize("name", thinned(OPTIONS, 8))
def test_a_trial_asks_at_most_twelve_times_besides_sampling(name: OperationName, tmp_path: Path) -> None:
    with swept(name, tmp_path) as (standin, marks, run):
        asked = asked_in(standin, marks)
    assert [trial.outcome for trial in run.trials] == ["ok"] * 4
    assert all(len([text for text in texts if text.startswith(SNAPSHOT)]) == 2 for texts in asked)
    assert max(map(len, asked)) <= 12, "\n".join(max(asked, key=len))


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    thinned(
        [{"into": "filled"}, {"logging": "nologging"}, {"bare": True}, {"into": "filled", "logging": "nologging"}],
        4,
    ),
)
def test_indexes_rows_and_logging_of_the_copy_cost_an_insert_no_round_trip_of_their_own(
    options: dict[str, OptionValue], tmp_path: Path
) -> None:
    with swept("insert", tmp_path, **options) as (standin, marks, run):
        asked = asked_in(standin, marks)
    assert [trial.outcome for trial in run.trials] == ["ok"] * 4
    assert max(map(len, asked)) <= 12, "\n".join(max(asked, key=len))
    made = [text for text in spread(asked[0]) if text.startswith("CREATE INDEX")]
    assert len(made) == (0 if options.get("bare") else 3)


@pytest.mark.full
@pytest.mark.parametrize("name", thinned(OPTIONS, 9))
def test_refused_views_cost_the_first_trial_no_more_than_the_others(name: OperationName, tmp_path: Path) -> None:
    with swept(name, tmp_path, Scenario(denied=REFUSED)) as (standin, marks, run):
        asked = asked_in(standin, marks)
    assert [trial.outcome for trial in run.trials] == ["ok"] * 4
    assert any("V$SYSTEM_EVENT" in sentence for sentence in run.warnings)
    assert max(map(len, asked)) <= 12, "\n".join(max(asked, key=len))


@pytest.mark.parametrize("name", thinned(OPTIONS, 9))
def test_on_the_clock_only_the_timed_statement_is_sent_in_the_workers_session(
    name: OperationName, tmp_path: Path
) -> None:
    with swept(name, tmp_path, Scenario(delay_seconds=0.2)) as (standin, marks, _):
        sent = standin.engine.sent[marks.begun[0] :]
    snapshots = [place for place, (_, text) in enumerate(sent) if text.startswith(SNAPSHOT)]
    monitor = sent[snapshots[0]][0]
    for before, after in zip(snapshots[::2], snapshots[1::2], strict=True):
        clock = sent[before + 1 : after]
        work = [text for session, text in clock if session != monitor]
        assert work and all(TIMED.match(text) for text in work), work
        assert len({session for session, _ in clock if session != monitor}) == 1
        assert all(sampled(text) for session, text in clock if session == monitor)
