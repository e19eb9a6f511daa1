"""Deleting: whole runs, and never what is still owed or at work."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from tests.store.make import BEGAN, CELL, RUN, head, item, step, trial
from toolkit.errors import ToolkitError
from toolkit.model.records import Artifact
from toolkit.store import schema
from toolkit.store.store import Store

OTHER = "20261122-000000-0001"


def fill(store: Store, run: str) -> None:
    """Put a row into every table of a run."""
    store.end_trial(run, trial())
    store.begin_trial(run, 2, 1, CELL, 1, BEGAN)
    store.add_items(run, 2, 1, [item("IX")])
    store.warn(run, "noise")
    store.set_environment(run, {"cpu": 2})
    store.save_facts(run, "{}")
    store.keep_artifact(run, Artifact("script.sql", "text/sql", b"SELECT 1"))
    journal = store.journal(run)
    journal.undone(journal.intend(step(), trial=1, proof={}))


def rows(store: Store) -> dict[str, int]:
    with store._database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in schema.metadata.sorted_tables
            if table is not schema.schema_version
        }


def test_nothing_of_a_deleted_run_stays_and_nothing_of_another_goes(store: Store) -> None:
    fill(store, RUN)
    before = rows(store)
    store.create_run(head(OTHER))
    fill(store, OTHER)
    assert rows(store) == {name: 2 * number for name, number in before.items()}
    store.delete_run(OTHER)
    assert rows(store) == before
    store.delete_run(RUN)
    assert set(rows(store).values()) == {0}


def test_the_runs_of_a_plan_go_with_it(store: Store) -> None:
    child, grandchild = "20261122-000000-0002", "20261122-000000-0003"
    store.create_run(head(OTHER))
    store.create_run(head(child, parent=RUN))
    store.create_run(head(grandchild, parent=child))
    store.delete_run(RUN)
    assert [each.run for each in store.list_runs()] == [OTHER]


@pytest.mark.parametrize("owner", [RUN, "20261122-000000-0002"])
def test_a_run_with_open_entries_is_not_deleted_nor_is_its_plan(store: Store, owner: str) -> None:
    store.create_run(head("20261122-000000-0002", parent=RUN))
    store.journal(owner).intend(step(), trial=1, proof={})
    with pytest.raises(ToolkitError, match=owner) as caught:
        store.delete_run(RUN)
    assert caught.value.code == "TK-0307"
    assert len(store.list_runs()) == 2


def test_a_run_at_work_is_not_deleted(store: Store) -> None:
    lease = store.acquire_lease("db", RUN)
    with pytest.raises(ToolkitError) as caught:
        store.delete_run(RUN)
    assert caught.value.code == "TK-0302"
    store.release(lease)
    store.delete_run(RUN)
    assert store.list_runs() == []
