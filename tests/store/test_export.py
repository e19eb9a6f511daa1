"""A run as one JSON document."""

from __future__ import annotations

import json

import pytest

from tests.store.make import RUN
from tests.store.test_deleting import fill
from toolkit.errors import ToolkitError
from toolkit.store.store import Store


def test_an_export_is_one_json_document_with_the_rows_of_all_tables(store: Store) -> None:
    fill(store, RUN)
    document = json.loads(store.export_run(RUN))
    assert document["run"] == RUN
    tables = document["tables"]
    assert [row["trial"] for row in tables["trial"]] == [1, 2]
    assert {row["run"] for name in ("run", "trial", "journal", "artifact", "warning") for row in tables[name]} == {
        RUN
    }
    keys = {row["trial_id"] for row in tables["trial"]}
    assert all(row["trial_id"] in keys for name in ("item", "metric", "sample") for row in tables[name])
    assert all(tables[name] for name in tables), [name for name in tables if not tables[name]]


def test_a_run_that_is_not_stored_cannot_be_exported(store: Store) -> None:
    with pytest.raises(ToolkitError) as caught:
        store.export_run("20260101-000000-none")
    assert caught.value.code == "TK-0109"
