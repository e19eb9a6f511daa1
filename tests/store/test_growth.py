"""What is read of a large store is found by an index, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, event

from tests.store.make import RUN, head, trial
from toolkit.store import open_store
from toolkit.store.store import Store

Statements = list[tuple[str, object]]


@pytest.fixture
def large(sqlite_path: str) -> Iterator[Store]:
    with open_store(sqlite_path) as store:
        for run in (RUN, "20261121-051343-0001"):
            store.create_run(head(run))
            for number in range(1, 4):
                store.end_trial(run, trial(number))
        yield store


@contextmanager
def recorded(store: Store) -> Iterator[Statements]:
    """Collect the statements sent to the store meanwhile."""
    sent: Statements = []

    def keep(_c: Connection, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            sent.append((statement, parameters))

    event.listen(store._database._engine, "before_cursor_execute", keep)
    yield sent
    event.remove(store._database._engine, "before_cursor_execute", keep)


def plan(store: Store, statement: str, parameters: object) -> list[str]:
    with store._database.read() as connection:
        found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)  # type: ignore[arg-type]
        return [row[3] for row in found]


WORKS: dict[str, Callable[[Store], object]] = {
    "list": lambda store: store.list_runs(20),
    "head": lambda store: store.load_head(RUN),
    "load": lambda store: store.load_run(RUN),
    "children": lambda store: store.children_of(RUN),
    "last": lambda store: store.resolve("last"),
    "label": lambda store: store.resolve("nightly"),
    "prefix": lambda store: store.resolve("20261121-051342"),
    "marks": lambda store: store.unended_trials(RUN),
    "items": lambda store: store.items_of(RUN, 1),
    "open entries": lambda store: store.open_entries_all(),
    "lease": lambda store: store.lease_of_run(RUN),
    "export": lambda store: store.export_run(RUN),
    "end": lambda store: store.end_trial(RUN, trial(9)),
    "delete": lambda store: store.delete_run(RUN),
}


@pytest.mark.parametrize("work", WORKS)
def test_nothing_reads_a_whole_table(large: Store, work: str) -> None:
    with recorded(large) as sent:
        WORKS[work](large)
    steps = [step for statement, parameters in sent for step in plan(large, statement, parameters)]
    read_in_order = "SCAN run USING INDEX run_newest", "SCAN run USING COVERING INDEX run_newest"
    scans = [step for step in steps if step.startswith("SCAN") and step not in (*read_in_order, "SCAN family")]
    assert scans == []
    assert any("USING" in step for step in steps)


def test_a_list_is_one_query_and_a_run_a_fixed_number(large: Store) -> None:
    with recorded(large) as listed:
        large.list_runs()
    with recorded(large) as few:
        large.load_run(RUN)
    for number in range(4, 30):
        large.end_trial(RUN, trial(number))
    with recorded(large) as many:
        large.load_run(RUN)
    assert len(listed) == 1
    assert len(many) == len(few) <= 10
