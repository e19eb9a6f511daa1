"""A run leaves one store and arrives whole in another."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.store.make import RUN, step, trial
from tests.store.test_deleting import fill
from toolkit.errors import ToolkitError
from toolkit.model.words import EntryState
from toolkit.store.store import Store

Document = dict[str, object]


def test_a_run_arrives_as_it_left_even_in_a_store_with_other_trials(store: Store, another: Store) -> None:
    fill(store, RUN)
    assert another.import_run(store.export_run(RUN)) == RUN
    assert another.load_run(RUN) == store.load_run(RUN)
    assert another.unended_trials(RUN) == store.unended_trials(RUN)
    assert another.items_of(RUN, 2) == store.items_of(RUN, 2)
    assert another.load_facts(RUN) == store.load_facts(RUN)
    assert another.load_artifact(RUN, "script.sql") == store.load_artifact(RUN, "script.sql")
    assert another.export_run(RUN) == store.export_run(RUN)


def test_an_export_is_one_json_document(store: Store) -> None:
    fill(store, RUN)
    document = json.loads(store.export_run(RUN))
    assert document["run"] == RUN
    assert [row["trial"] for row in document["tables"]["trial"]] == [1, 2]


def test_a_run_is_not_imported_twice(store: Store) -> None:
    store.end_trial(RUN, trial())
    document = store.export_run(RUN)
    with pytest.raises(ToolkitError, match="already stored"):
        store.import_run(document)
    assert store.export_run(RUN) == document


def test_only_the_store_that_made_a_change_may_undo_it(store: Store, another: Store) -> None:
    store.journal(RUN).intend(step(), trial=1, proof={})
    another.import_run(store.export_run(RUN))
    assert another.open_entries_all() == ()
    assert [each.state for each in another.journal(RUN).entries()] == [EntryState.ABANDONED]
    assert len(store.open_entries_all()) == 1


def _set(table: str, column: str, value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["tables"][table][0][column] = value  # type: ignore[index]

    return change


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda document: document.update(kind="something"), "TK-0106"),
        (lambda document: document.update(format=2), "TK-0403"),
        (lambda document: document.update(schema_version=99), "TK-0403"),
        (lambda document: document.update(format="1"), "TK-0106"),
        (lambda document: document.pop("tables"), "TK-0106"),
        (lambda document: document.update(tables=[]), "TK-0106"),
        (lambda document: document["tables"].pop("run"), "TK-0106"),
        (_set("trial", "run", "20200101-000000-0000"), "TK-0106"),
        (_set("warning", "run", "20200101-000000-0000"), "TK-0106"),
        (_set("trial", "outcome", "wonderful"), "TK-0106"),
        (_set("trial", "elapsed_seconds", "fast"), "TK-0106"),
        (_set("trial", "began_at", "yesterday"), "TK-0106"),
        (_set("trial", "began_at", None), "TK-0901"),
        (_set("metric", "trial_id", 77), "TK-0106"),
        (_set("metric", "value", [1]), "TK-0106"),
        (_set("artifact", "content", "no base64!"), "TK-0106"),
        (_set("run", "experiment", "{}"), "TK-0402"),
        (_set("run", "state", "asleep"), "TK-0106"),
        (_set("trial_factor", "level", "four"), "TK-0106"),
    ],
)
def test_a_damaged_document_is_refused_and_nothing_is_changed(
    store: Store, another: Store, change: Callable[[Document], None], code: str
) -> None:
    fill(store, RUN)
    document = json.loads(store.export_run(RUN))
    change(document)
    with pytest.raises(ToolkitError) as caught:
        another.import_run(json.dumps(document).encode())
    assert caught.value.code == code
    assert another.list_runs() == []


@pytest.mark.parametrize("document", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"3"])
def test_what_is_no_document_is_refused(another: Store, document: bytes) -> None:
    with pytest.raises(ToolkitError) as caught:
        another.import_run(document)
    assert caught.value.code == "TK-0106"


@pytest.mark.parametrize("scratch", [True, False])
def test_a_document_of_an_older_version_arrives_whole(store: Store, another: Store, scratch: bool) -> None:
    fill(store, RUN)
    store.journal(RUN).intend(step(scratch=scratch), trial=1, proof={})
    document = json.loads(store.export_run(RUN))
    for row in document["tables"]["journal"]:
        row["ours"] = row.pop("scratch")
    another.import_run(json.dumps(document | {"schema_version": 8}).encode())
    assert another.load_run(RUN) == store.load_run(RUN)
    assert [each.scratch for each in another.journal(RUN).entries()][-1] is scratch


def test_columns_of_no_table_are_left_out(store: Store, another: Store) -> None:
    fill(store, RUN)
    document = json.loads(store.export_run(RUN))
    document["tables"]["run"][0]["run; DROP TABLE run"] = "x"
    document["tables"]["colour"] = [{"run": RUN}]
    another.import_run(json.dumps(document).encode())
    assert another.load_run(RUN) == store.load_run(RUN)
