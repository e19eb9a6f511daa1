"""What every engine takes of a source: chosen columns, rows under a condition, a sample that stays the same."""

from __future__ import annotations

import pytest

from tests.engines.arena import ROWS, Arena
from tests.engines.test_operations import experiment, names, run
from tests.tiers import thinned
from toolkit.errors import ToolkitError
from toolkit.model.words import Mode, OperationName, Outcome
from toolkit.store.store import Store

CTAS, INSERT = "ctas", "insert"


def test_a_job_copies_the_columns_and_rows_it_was_asked_for(arena: Arena, store: Store) -> None:
    options = names(arena, source="gtest", table="made")
    options |= {"columns": ("K", "id"), "where": "id < 500 and (k = 3 or\nk = 4)"}
    (trial,) = run(arena, store, experiment(arena, CTAS, options, mode=Mode.JOB)).trials
    assert (trial.outcome, trial.reason) == (Outcome.OK, None)
    assert arena.ask(f"SELECT count(*), min(k), max(k), max(id) FROM {arena.schema}.made") == [(10, 3, 4, 404)]
    listed = arena.ask(
        f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{arena.schema}' "
        "AND table_name = 'made' ORDER BY ordinal_position"
    )
    assert [str(row[0]) for row in listed] == ["k", "id"]


@pytest.mark.thin(2)
@pytest.mark.parametrize("by", ["rows", "blocks"])
@pytest.mark.parametrize("operation", thinned([CTAS, INSERT], 3))
def test_a_sample_is_the_same_in_every_trial(
    arena: Arena, store: Store, operation: OperationName, by: str
) -> None:
    options = names(arena, source="gtest", table="made" if operation is CTAS else "gtest")
    options |= {"sample": 20, "sample_by": by}
    record = run(arena, store, experiment(arena, operation, options, repeat=3))
    (rows,) = {trial.rows for trial in record.trials}
    assert rows is not None and 0 < rows < ROWS
    assert arena.leftovers() == []


@pytest.mark.thin(2)
def test_a_load_into_a_filled_copy_adds_to_what_the_table_holds(arena: Arena, store: Store) -> None:
    options = names(arena, source="gtest", table="gtest") | {"where": "id between 1 and 9"}
    work = experiment(arena, INSERT, options, into=("empty", "filled"))
    record = run(arena, store, work)
    assert [(trial.outcome, trial.rows) for trial in record.trials] == [(Outcome.OK, 9)] * 2
    assert sum(text.startswith("INSERT INTO") for text in arena.statements) == 3
    assert arena.leftovers() == []
    assert arena.ask(f"SELECT count(*) FROM {arena.schema}.gtest") == [(ROWS,)]


@pytest.mark.parametrize("operation", [CTAS, INSERT])
def test_an_unknown_column_is_refused_with_the_nearest(
    arena: Arena, store: Store, operation: OperationName
) -> None:
    options = names(arena, source="gtest", table="made" if operation is CTAS else "gtest")
    options["columns"] = ("idnam",)
    with pytest.raises(ToolkitError, match="no column `idnam`") as caught:
        run(arena, store, experiment(arena, operation, options))
    assert caught.value.hint is not None and "idname" in caught.value.hint
