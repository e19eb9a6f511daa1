"""What every engine must do for every operation: the work, the evidence, and nothing left behind.

An engine from elsewhere imports these tests into a module of its own and gives them its `arena` and `any_arena`
(`tests/adding/test_contract.py`). What it has no implementation of must be unsupported: then a test ends there.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.engines.arena import ROWS, Arena, Heard
from tests.operations.cases import COLUMNS, MORE, TABLES
from tests.tiers import thinned
from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.app.runs.preview import describe, script
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import degree_factor
from toolkit.model.records import RunRecord, run_key
from toolkit.model.values import Factor, Level
from toolkit.model.words import Effect, Keep, Mode, OperationName, Outcome, RunState
from toolkit.store import open_store
from toolkit.store.store import Store


def names(arena: Arena, **names: str) -> dict[str, OptionValue]:
    return {option: f"{arena.schema}.{name}" for option, name in names.items()}


def experiment(
    arena: Arena,
    operation: OperationName,
    options: dict[str, OptionValue],
    *,
    mode: Mode = Mode.MEASUREMENT,
    repeat: int = 1,
    warmup: int = 0,
    keep: Keep = Keep.NONE,
    **levels: tuple[Level, ...],
) -> Experiment:
    degree = degree_factor(operation)
    known: dict[str, tuple[Level, ...]] = {degree: (1,)} if degree else {}
    factors = tuple(Factor(name, values) for name, values in (known | levels).items())
    made = Experiment(arena.url, operation, options, factors, mode, repeat, warmup, seed=7, keep=keep)
    if operation not in dialect_of(arena.engine).work:
        pytest.skip(refused_as_unsupported(arena, made))
    return made


def refused_as_unsupported(arena: Arena, work: Experiment) -> str:
    """See that what an engine has no implementation of is neither run nor printed; return the sentence."""
    sentence = f"dbatk does not support `{work.operation}` on {engine(arena.engine).title}"
    target = arena.target()
    with TemporaryDirectory() as folder, open_store(Path(folder) / "store.sqlite") as store:
        for asked in (
            lambda: start(work, target, store=store, approvals=Approvals(not_production=True), events=Heard()),
            lambda: script(work, target),
            lambda: describe(work, target),
        ):
            with pytest.raises(ToolkitError, match=re.escape(sentence)) as caught:
                asked()
            assert caught.value.code == "TK-0304"
        assert store.list_runs() == []
    target.close()
    return sentence


def run(arena: Arena, store: Store, work: Experiment) -> RunRecord:
    target = arena.target()
    try:
        made = start(work, target, store=store, approvals=Approvals(not_production=True), events=Heard())
    finally:
        target.close()
    assert store.journal(made).open_entries() == ()
    assert store.lease_of_run(made) is None
    return store.load_run(made)


_HERE = {"orders": "gtest", "filled": "gtest"}
CASES = {
    operation: {option: _HERE.get(name, name) for option, name in tables.items()}
    for operation, tables in TABLES.items()
}


def case(arena: Arena, operation: OperationName) -> dict[str, OptionValue]:
    if operation in arena.cases:
        return dict(arena.cases[operation])
    options = names(arena, **CASES[operation])
    if operation in COLUMNS:
        options["columns"] = arena.columns
    return options | MORE.get(operation, {})


@pytest.mark.parametrize("operation", list(CASES))
def test_a_measurement_runs_every_trial_and_leaves_nothing(
    any_arena: Arena, store: Store, operation: OperationName
) -> None:
    record = run(
        any_arena, store, experiment(any_arena, operation, case(any_arena, operation), repeat=2, warmup=1)
    )
    assert [trial.outcome for trial in record.trials] == [Outcome.OK] * 3, [t.reason for t in record.trials]
    assert [trial.repeat for trial in record.trials] == [0, 1, 2]
    assert all(trial.elapsed_seconds for trial in record.trials)
    assert record.head.state is RunState.DONE
    assert any_arena.leftovers() == []
    if operation in {"ctas", "insert"}:
        assert {trial.rows for trial in record.trials} == {ROWS}
    if operation in CASES:
        assert any_arena.ask(f"SELECT count(*) FROM {any_arena.schema}.gtest") == [(ROWS,)]


@pytest.mark.parametrize("operation", thinned(list(CASES), 5))
def test_what_a_script_shows_is_what_runs(arena: Arena, store: Store, operation: OperationName) -> None:
    work = experiment(arena, operation, case(arena, operation))
    target = arena.make()
    shown, _ = script(work, target)
    target.close()
    record = run(arena, store, work)
    key = run_key(record.head.run)
    sent = [re.sub(rf"{key}_\d+", "RUN_1", text, flags=re.IGNORECASE) for text in arena.statements]
    sent = [re.sub(key, "RUN", text, flags=re.IGNORECASE).replace("dbatk_RUN", "dbatk_run") for text in sent]
    sent = [text.replace("dbatk_run_S", "dbatk_run_s") for text in sent]
    for statement in statements_of(shown):
        assert statement in sent, f"shown but never sent:\n{statement}"


def statements_of(shown: str) -> list[str]:
    """Split a script as its client would: comments and client commands left out."""
    lines = [line for line in shown.splitlines() if not line.startswith(("--", ".", "\\"))]
    return [part.strip() for part in re.split(r";\n", "\n".join(lines) + "\n") if part.strip()]


def test_a_job_makes_the_named_table_and_it_stays(any_arena: Arena, store: Store) -> None:
    record = run(any_arena, store, experiment(any_arena, "ctas", case(any_arena, "ctas"), mode=Mode.JOB))
    (trial,) = record.trials
    assert (trial.outcome, trial.rows, trial.warmup) == (Outcome.OK, ROWS, False)
    assert any_arena.ask(f"SELECT count(*) FROM {any_arena.schema}.made") == [(ROWS,)]
    assert [item.label.lower() for item in trial.items] == [f"{any_arena.schema}.made".lower()]


def test_a_job_inserts_into_the_table_itself(any_arena: Arena, store: Store) -> None:
    done = run(any_arena, store, experiment(any_arena, "insert", case(any_arena, "insert"), mode=Mode.JOB))
    assert any_arena.ask(f"SELECT count(*) FROM {any_arena.schema}.gtest") == [(2 * ROWS,)]
    entries = store.journal(done.head.run).entries()
    promised = dialect_of(any_arena.engine).work.of("insert").ends_by_commit
    assert promised is any(entry.effect == Effect.COMMITS and entry.identity for entry in entries)


def test_a_job_builds_the_named_index(any_arena: Arena, store: Store) -> None:
    options = case(any_arena, "index-build") | {"name": "made_ix", "unique": True}
    run(any_arena, store, experiment(any_arena, "index-build", options, mode=Mode.JOB))
    assert [row for row in any_arena.ask(ALL_INDEXES[any_arena.engine]) if row[0] == "made_ix"] == [("made_ix",)]


ALL_INDEXES = {
    "duckdb": "SELECT index_name FROM duckdb_indexes()",
    "postgresql": "SELECT indexname::text FROM pg_indexes",
    "oracle": "SELECT lower(index_name) FROM duckdb_indexes()",
}


def test_a_name_in_use_is_never_replaced(arena: Arena, store: Store) -> None:
    options = names(arena, source="gtest", table="nothing")
    with pytest.raises(ToolkitError, match="already exists") as caught:
        run(arena, store, experiment(arena, "ctas", options, mode=Mode.JOB))
    assert caught.value.code == "TK-0205"
    assert store.list_runs() == []


@pytest.mark.thin(3)
@pytest.mark.parametrize("operation", thinned(list(CASES), 3))
def test_a_table_that_is_not_there_is_said_before_anything_is_stored(
    any_arena: Arena, store: Store, operation: OperationName
) -> None:
    options: dict[str, OptionValue] = dict.fromkeys(CASES[operation], f"{any_arena.schema}.missing")
    if operation in COLUMNS:
        options["columns"] = ("id",)
    with pytest.raises(ToolkitError) as caught:
        run(any_arena, store, experiment(any_arena, operation, options))
    assert caught.value.code == "TK-0204"
    assert store.list_runs() == []


def test_an_index_column_that_is_not_there_is_told_with_the_nearest(any_arena: Arena, store: Store) -> None:
    options = names(any_arena, table="gtest") | {"columns": ("idnam",)}
    with pytest.raises(ToolkitError, match=r"(?i)no column `idnam`") as caught:
        run(any_arena, store, experiment(any_arena, "index-build", options))
    assert "idname" in str(caught.value.hint).lower()


@pytest.mark.thin(3)
def test_no_rows_where_rows_were_expected_is_a_failure(any_arena: Arena, store: Store) -> None:
    options: dict[str, OptionValue] = {
        "query": f"SELECT * FROM {any_arena.schema}.gtest WHERE {any_arena.columns[1]} < 0",
        "table": f"{any_arena.schema}.made",
    }
    record = run(any_arena, store, experiment(any_arena, "ctas", options))
    (trial,) = record.trials
    assert (trial.outcome, trial.error_code) == (Outcome.FAILED, "TK-0208")
    assert trial.elapsed_seconds is None


def test_a_copy_of_an_empty_table_is_no_failure(arena: Arena, store: Store) -> None:
    options = names(arena, source="nothing", table="made")
    (trial,) = run(arena, store, experiment(arena, "ctas", options)).trials
    assert (trial.outcome, trial.rows) == (Outcome.OK, 0)


@pytest.mark.parametrize("operation", thinned(["ctas", "insert", "stats-gather", "index-rebuild"], 4))
def test_odd_names_go_all_the_way(arena: Arena, store: Store, operation: OperationName) -> None:
    odd = f'{arena.schema}."Odd ""t;é"'
    options: dict[str, OptionValue] = {"table": odd}
    if operation in {"ctas", "insert"}:
        options["source"] = odd
    if operation == "ctas":
        options["table"] = f'{arena.schema}."New ""t;é"'
    if operation == "index-rebuild" and arena.engine == "duckdb":
        pytest.skip("the index of a key is no index of its own on DuckDB")
    mode = Mode.JOB if operation == "ctas" else Mode.MEASUREMENT
    record = run(arena, store, experiment(arena, operation, options, mode=mode))
    assert [trial.outcome for trial in record.trials] == [Outcome.OK], record.trials[0].reason


@pytest.mark.thin(2)
def test_whole_schemas_are_taken_biggest_first(arena: Arena, store: Store) -> None:
    options: dict[str, OptionValue] = {"schema": (arena.schema,)}
    for operation in ("stats-gather", "index-rebuild"):
        (trial,) = run(arena, store, experiment(arena, operation, options)).trials
        assert trial.outcome is Outcome.OK, trial.reason
        assert "gtest" in trial.items[0].label
        assert len(trial.items) >= 2
    assert arena.leftovers() == []


@pytest.mark.full
def test_keep_all_leaves_the_objects_of_the_trials(any_arena: Arena, store: Store) -> None:
    record = run(any_arena, store, experiment(any_arena, "ctas", case(any_arena, "ctas"), repeat=2, keep=Keep.ALL))
    key = run_key(record.head.run).lower()
    assert sorted(name.lower() for name in any_arena.leftovers()) == [f"dbatk_{key}_1", f"dbatk_{key}_2"]


def test_keep_best_makes_the_named_table_at_the_end(arena: Arena, store: Store) -> None:
    record = run(arena, store, experiment(arena, "ctas", case(arena, "ctas"), repeat=2, keep=Keep.BEST))
    assert arena.ask(f"SELECT count(*) FROM {arena.schema}.made") == [(ROWS,)]
    assert [trial.repeat for trial in record.trials] == [1, 2, 0]
    assert arena.leftovers() == []


def test_an_unsupported_cell_is_a_result_and_the_others_run(arena: Arena, store: Store) -> None:
    work = experiment(arena, "ctas", case(arena, "ctas"), repeat=2, compression=("archive_high", "auto"))
    if arena.engine == "postgresql":
        sampled = {**case(arena, "insert"), "sample": 99.0}
        work = experiment(arena, "insert", sampled, repeat=2, degree=(1, 2))
    record = run(arena, store, work)
    outcomes = [trial.outcome for trial in record.trials]
    assert outcomes.count(Outcome.UNSUPPORTED) == 1
    assert outcomes.count(Outcome.OK) == 2
    refused = next(trial for trial in record.trials if trial.outcome is Outcome.UNSUPPORTED)
    assert refused.reason
    assert refused.elapsed_seconds is None


def test_a_job_that_cannot_be_had_is_refused_with_the_reason(arena: Arena, store: Store) -> None:
    work = experiment(arena, "ctas", case(arena, "ctas"), mode=Mode.JOB, compression=("archive_high",))
    with pytest.raises(ToolkitError) as caught:
        run(arena, store, work)
    assert caught.value.code == "TK-0304"
    assert store.list_runs() == []


def test_a_failing_statement_fails_its_trial_with_the_databases_code(arena: Arena, store: Store) -> None:
    options: dict[str, OptionValue] = {
        "query": f"SELECT CAST(idname AS integer) AS x FROM {arena.schema}.gtest",
        "table": f"{arena.schema}.made",
    }
    (trial,) = run(arena, store, experiment(arena, "ctas", options)).trials
    assert trial.outcome is Outcome.FAILED
    assert trial.error_code in {"ConversionException", "22P02"}
    assert trial.elapsed_seconds is None
    assert arena.leftovers() == []


def test_the_environment_names_the_server_and_this_host(arena: Arena, store: Store) -> None:
    record = run(arena, store, experiment(arena, "ctas", case(arena, "ctas")))
    assert record.environment["server_version"]
    assert record.environment["host_cpu_count"]
    assert dialect_of(arena.engine).engine == record.head.engine
    assert [artifact.name for artifact in record.artifacts if artifact.name == "script.sql"]
