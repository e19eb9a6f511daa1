"""Runs: their head, state, warnings, environment, facts and artifacts come back as they were put in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, Engine, event

from tests.store.make import BEGAN, RUN, head, trial
from toolkit.errors import ToolkitError
from toolkit.model.records import Artifact, RunRecord
from toolkit.model.words import Outcome, RunState
from toolkit.store.store import Store

NOBODY = "20200101-000000-0000"


def test_a_run_comes_back_as_it_was_written(store: Store, reopened: Callable[[], Store]) -> None:
    assert reopened().load_run(RUN) == RunRecord(head())


def test_a_run_of_the_same_id_is_refused_and_the_first_stays(store: Store) -> None:
    with pytest.raises(ToolkitError, match="already stored") as caught:
        store.create_run(head(label="second"))
    assert caught.value.code == "TK-0901"
    assert store.load_head(RUN).label == "nightly"


def test_the_end_of_a_run_is_kept(store: Store) -> None:
    store.end_run(RUN, RunState.FAILED, BEGAN + timedelta(hours=1))
    assert (store.load_head(RUN).state, store.load_head(RUN).ended_at) == (
        RunState.FAILED,
        BEGAN + timedelta(hours=1),
    )


def test_a_resumed_run_runs_again(store: Store) -> None:
    store.end_run(RUN, RunState.INTERRUPTED, BEGAN)
    store.reopen_run(RUN)
    assert store.load_head(RUN) == head()


def test_what_is_known_later_is_filled_in(store: Store) -> None:
    store.set_target_name(RUN, "pg 4711")
    assert store.load_head(RUN) == head(target_name="pg 4711")


def test_an_interrupted_trial_does_not_count_as_ended_and_two_attempts_count_once(store: Store) -> None:
    store.end_trial(RUN, trial(1, 1, outcome=Outcome.INTERRUPTED))
    store.end_trial(RUN, trial(1, 2))
    store.end_trial(RUN, trial(2, 1, outcome=Outcome.FAILED))
    store.end_trial(RUN, trial(2, 2))
    store.end_trial(RUN, trial(3, 1, outcome=Outcome.INTERRUPTED))
    store.begin_trial(RUN, 4, 1, trial().cell, 1, BEGAN)
    assert store.load_head(RUN).trials_ended == 2


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.end_run(NOBODY, RunState.DONE, BEGAN),
        lambda store: store.reopen_run(NOBODY),
        lambda store: store.warn(NOBODY, "noise"),
        lambda store: store.set_environment(NOBODY, {"cpu": 2}),
        lambda store: store.set_environment(NOBODY, {}),
        lambda store: store.save_facts(NOBODY, "{}"),
        lambda store: store.explain(NOBODY, {}, (), "{}"),
        lambda store: store.keep_artifact(NOBODY, Artifact("a", "text/plain", b"")),
        lambda store: store.begin_trial(NOBODY, 1, 1, trial().cell, 1, BEGAN),
        lambda store: store.end_trial(NOBODY, trial()),
        lambda store: store.load_run(NOBODY),
        lambda store: store.export_run(NOBODY),
        lambda store: store.delete_run(NOBODY),
    ],
)
def test_a_run_that_is_not_stored_is_named(store: Store, write: Callable[[Store], None]) -> None:
    with pytest.raises(ToolkitError) as caught:
        write(store)
    assert caught.value.code == "TK-0109"


def test_warnings_keep_their_order_and_are_not_repeated(store: Store) -> None:
    for text in ("noise", "cold cache", "noise"):
        store.warn(RUN, text)
    assert store.load_run(RUN).warnings == ("noise", "cold cache")


def test_a_warning_takes_the_place_of_the_one_that_it_says_anew(store: Store) -> None:
    for text, former in (("noise", None), ("cold cache", None), ("much noise", "noise"), ("much noise", "noise")):
        store.warn(RUN, text, instead_of=former)
    assert store.load_run(RUN).warnings == ("much noise", "cold cache")
    store.warn(RUN, "cold cache", instead_of="much noise")
    assert store.load_run(RUN).warnings == ("much noise", "cold cache")


def test_the_environment_keeps_types_and_order_and_is_replaced_as_a_whole(store: Store) -> None:
    store.set_environment(RUN, {"gone": 1})
    written = {"z": 2, "host": "db1", "load": 0.5, "ours": True, "kernel": None, "a": "4"}
    store.set_environment(RUN, written)
    read = store.load_run(RUN).environment
    assert list(read.items()) == list(written.items())
    assert [type(value) for value in read.values()] == [type(value) for value in written.values()]


def test_facts_are_kept_and_replaced(store: Store) -> None:
    assert store.load_facts(RUN) is None
    store.save_facts(RUN, "{}")
    store.save_facts(RUN, '{"tables": ["größer"]}')
    assert store.load_facts(RUN) == '{"tables": ["größer"]}'


def test_what_explains_a_run_is_kept_in_one_transaction_or_not_at_all(store: Store) -> None:
    script, committed = Artifact("script.sql", "application/sql", b"SELECT 1"), list[str]()

    def commit(_: Connection) -> None:
        committed.append("commit")

    event.listen(Engine, "commit", commit)
    try:
        with pytest.raises(ToolkitError, match="lacks a value"):
            store.explain(RUN, {"cpu": 2}, (script,), None)  # type: ignore[arg-type]
        assert (dict(store.load_run(RUN).environment), store.artifact_names(RUN)) == ({}, ())
        assert committed == []
        store.explain(RUN, {"cpu": 2}, (script, replace(script, name="more")), "{}")
        assert committed == ["commit"]
    finally:
        event.remove(Engine, "commit", commit)
    assert dict(store.load_run(RUN).environment) == {"cpu": 2}
    assert [name for name, *_ in store.artifact_names(RUN)] == ["more", "script.sql"]
    assert store.load_facts(RUN) == "{}"


def test_an_artifact_is_kept_as_received_and_a_second_one_replaces_it(store: Store) -> None:
    binary = Artifact("awr.html", "application/octet-stream", bytes(range(256)), trial=3)
    keep = store.artifacts(RUN).keep
    keep(binary)
    keep(replace(binary, content=b"of the run", trial=None))
    keep(replace(binary, content=b"second"))
    assert store.load_artifact(RUN, "awr.html", 3) == replace(binary, content=b"second")
    assert store.load_artifact(RUN, "awr.html") == replace(binary, content=b"of the run", trial=None)
    assert store.load_artifact(RUN, "awr.html", 4) is None
    assert store.artifact_names(RUN) == (("awr.html", None, 10), ("awr.html", 3, 6))


def test_a_loaded_run_brings_its_small_texts_only(store: Store) -> None:
    small = Artifact("script.sql", "text/sql", b"SELECT 1", trial=1)
    facts = Artifact("facts", "application/json", b"{}")
    for each in (
        small,
        facts,
        Artifact("big.log", "text/plain", b"x" * 256 * 1024),
        Artifact("picture", "image/png", b"x"),
    ):
        store.keep_artifact(RUN, each)
    assert store.load_run(RUN).artifacts == (facts, small)


def test_runs_are_listed_newest_first(store: Store) -> None:
    store.create_run(head("20261121-051343-0001", later=1))
    store.create_run(head("20261120-000000-0002", later=-9999))
    listed = ["20261121-051343-0001", RUN, "20261120-000000-0002"]
    assert [each.run for each in store.list_runs()] == listed
    assert [each.run for each in store.list_runs(limit=2)] == listed[:2]
    assert store.list_runs()[1] == store.load_head(RUN)


def test_the_runs_of_a_plan_are_found_by_their_parent(store: Store) -> None:
    store.create_run(head("20261121-051344-0002", later=2, parent=RUN))
    store.create_run(head("20261121-051343-0001", later=1, parent=RUN))
    assert [each.run for each in store.children_of(RUN)] == ["20261121-051343-0001", "20261121-051344-0002"]
    assert store.load_head("20261121-051343-0001").parent == RUN


def test_text_that_no_database_can_keep_is_marked_instead_of_losing_the_trial(store: Store) -> None:
    store.end_trial(RUN, trial(reason="bad\0byte \udc80 größer"))
    assert store.load_run(RUN).trials[0].reason == "bad\ufffdbyte ? größer"
