"""Exported runs come back as they were, between stores, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.store.make import BEGAN, RUN, head, step, trial
from toolkit.errors import ToolkitError
from toolkit.model.records import Artifact
from toolkit.model.words import RunState
from toolkit.store.store import Store

DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "the run is another one": lambda document: document.update(run="20260101-000000-0000"),
    "a trial is missing": lambda document: document["tables"]["trial"].pop(),
    "a trial is there twice": lambda document: document["tables"]["trial"].append(document["tables"]["trial"][0]),
    "a table is missing": lambda document: document["tables"].pop("metric"),
    "a column is missing": lambda document: document["tables"]["trial"][0].pop("outcome"),
    "an outcome is unknown": lambda document: document["tables"]["trial"][0].update(outcome="fine"),
    "a time is a text": lambda document: document["tables"]["trial"][0].update(elapsed_seconds="1"),
    "a count is too large": lambda document: document["tables"]["trial"][0].update(row_count=2**70),
    "an instant is none": lambda document: document["tables"]["run"][0].update(began_at="yesterday"),
    "content is no base64": lambda document: document["tables"]["artifact"][0].update(content="?"),
    "another run beside it": lambda document: document["tables"]["run"].append(
        document["tables"]["run"][0] | {"run": "20260101-000000-0000"}
    ),
}


def exported(store: Store) -> bytes:
    """Return a run with something in every table, that ended and left nothing."""
    store.end_trial(RUN, trial(1))
    store.end_trial(RUN, trial(2, reason="größer \u2603"))
    store.warn(RUN, "a warning")
    store.set_environment(RUN, {"cpu_count": 2, "release": "19.21", "ratio": 0.1, "none": None, "smt": True})
    store.save_facts(RUN, '{"format": 1}')
    for name in ("b.sql", "B.sql", "a_b", "ä.log"):
        store.keep_artifact(RUN, Artifact(name, "text/plain", bytes(range(256)), 1))
    store.end_run(RUN, RunState.DONE, BEGAN + timedelta(seconds=9))
    return store.export_run(RUN)


def test_export_and_import_are_inverse_byte_for_byte_between_stores(store: Store, another: Store) -> None:
    other = "20250101-000000-ffff"
    another.create_run(head(other))
    another.end_trial(other, trial(1))  # so that keys of trials differ
    content = exported(store)
    assert another.import_run(content) == RUN
    assert another.export_run(RUN) == content
    assert another.load_run(RUN).trials == store.load_run(RUN).trials
    store.delete_run(RUN)
    assert store.import_run(another.export_run(RUN)) == RUN
    assert store.export_run(RUN) == content


def test_a_run_that_is_stored_is_not_imported_again(store: Store) -> None:
    content = exported(store)
    with pytest.raises(ToolkitError, match="is already stored") as caught:
        store.import_run(content)
    assert (caught.value.code, caught.value.exit_code, store.export_run(RUN)) == ("TK-0117", 2, content)


@pytest.mark.thin(3)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("signed", [True, False], ids=["with a fitting checksum", "as it is"])
@pytest.mark.full_on("postgresql")
def test_a_damaged_document_is_refused_whole(
    store: Store, another: Store, damage: Callable[[dict[str, Any]], object], *, signed: bool
) -> None:
    document = json.loads(exported(store))
    damage(document)
    if signed:
        document["sha256"] = hashlib.sha256(json.dumps(document["tables"]).encode()).hexdigest()
    with pytest.raises(ToolkitError) as caught:
        another.import_run(json.dumps(document).encode())
    assert (caught.value.code, another.list_runs()) == ("TK-0117", [])


def test_a_number_that_was_altered_or_an_end_cut_off_is_noticed(store: Store, another: Store) -> None:
    content = exported(store)
    for damaged in (
        content.replace(b"1.4142135623730951", b"1.4142135623730953", 1),
        content[:-9],
        b"{}",
        b"[" * 9999,
    ):
        with pytest.raises(ToolkitError) as caught:
            another.import_run(damaged)
        assert caught.value.code == "TK-0117"
    assert another.list_runs() == []


@pytest.mark.parametrize(
    ("key", "by", "says"),
    [("format", 1, "a newer dbatk"), ("schema_version", 1, "a newer dbatk"), ("format", -1, "an older dbatk")],
)
def test_a_document_of_another_version_is_refused(
    store: Store, another: Store, key: str, by: int, says: str
) -> None:
    document = json.loads(exported(store))
    document[key] += by
    with pytest.raises(ToolkitError, match=says):
        another.import_run(json.dumps(document).encode())
    assert another.list_runs() == []


def test_what_is_not_over_stays_where_it_is(store: Store, another: Store) -> None:
    with pytest.raises(ToolkitError, match="had not ended"):
        another.import_run(store.export_run(RUN))
    store.journal(RUN).intend(step(), trial=1, proof={})
    store.end_run(RUN, RunState.INTERRUPTED, BEGAN)
    with pytest.raises(ToolkitError, match="not yet undone"):
        another.import_run(store.export_run(RUN))
    assert another.list_runs() == []
