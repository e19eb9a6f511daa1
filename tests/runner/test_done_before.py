"""What a resumed job need not do again: what earlier attempts did, unless the evidence of one refuted it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.make import cell, run_of, trial
from toolkit.model.records import ItemRecord
from toolkit.model.words import Mode, Outcome
from toolkit.runner.evidence import NOT_DONE
from toolkit.runner.todo import done_before
from toolkit.store import open_store

GOOD, BAD = Outcome.OK, Outcome.FAILED
Attempt = tuple[str | None, dict[str, Outcome]]


@pytest.mark.parametrize(
    ("attempts", "done"),
    [
        ([(None, {"a": GOOD, "b": GOOD})], {"a", "b"}),
        ([("ORA-00054", {"a": GOOD, "b": BAD})], {"a"}),
        ([("ORA-00054", {"a": GOOD, "b": BAD}), (None, {"b": GOOD})], {"a", "b"}),
        ([(NOT_DONE, {"a": GOOD})], set()),
        ([(NOT_DONE, {"a": GOOD}), ("ORA-00054", {"a": BAD})], set()),
        ([(NOT_DONE, {"a": GOOD, "b": GOOD}), ("ORA-00054", {"a": GOOD, "b": BAD})], {"a"}),
        ([("ORA-00054", {"a": GOOD, "b": BAD}), (NOT_DONE, {"b": GOOD})], set()),
        ([(NOT_DONE, {"a": GOOD, "b": BAD})], {"a"}),
    ],
)
def test_what_an_attempt_did_counts_unless_it_was_refuted(
    tmp_path: Path, attempts: list[Attempt], done: set[str]
) -> None:
    run = run_of([], mode=Mode.JOB, repeat=1)
    with open_store(tmp_path / "store.sqlite") as store:
        store.create_run(run.head)
        for number, (code, items) in enumerate(attempts, 1):
            records = tuple(ItemRecord(label, outcome, 1.0) for label, outcome in items.items())
            outcome = GOOD if code is None else BAD
            made = trial(1, cell(degree=4), 1, 1.0, outcome=outcome, error_code=code, items=records)
            made = replace(made, attempt=number)
            store.begin_trial(run.head.run, 1, number, made.cell, 1, made.began_at)
            store.end_trial(run.head.run, made)
        assert set(done_before(store, run.head.run, 1)) == done
