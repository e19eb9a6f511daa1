"""The journal: intended, made, undone; what is open is found, what is over does not come back."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.store.make import RUN, head, step
from tests.tiers import examples
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Journal
from toolkit.model.records import JournalEntry
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName
from toolkit.model.words import EntryState, ObjectKind
from toolkit.store import open_store
from toolkit.store.store import Store

PROOF = {"free": True, "at": "2026-11-21 05:13:42", "scn": 2**40, "none": None, "load": 0.5}


def test_an_entry_is_durable_before_the_change_is_made(store: Store, reopened: Callable[[], Store]) -> None:
    number = store.journal(RUN).intend(step(), trial=3, proof=PROOF)
    expected = JournalEntry(
        entry=number,
        run=RUN,
        trial=3,
        state=EntryState.INTENDED,
        effect="creates",
        object_kind="table",
        schema="GLENNF",
        name="DBATK_1",
        scratch=True,
        undo=("DROP TABLE x",),
        proof=PROOF,
        table_schema="GLENNF",
        table_name="GTEST",
    )
    assert reopened().journal(RUN).open_entries() == (expected,)


def test_a_made_entry_knows_what_proves_it_ours(store: Store) -> None:
    journal: Journal = store.journal(RUN)
    journal.made(journal.intend(step(), trial=None, proof={}), {"object_id": 4711, "created": "now"})
    (entry,) = journal.open_entries()
    assert (entry.state, entry.identity) == (EntryState.MADE, {"object_id": 4711, "created": "now"})


def test_open_entries_come_newest_first_and_end_when_undone_or_abandoned(store: Store) -> None:
    journal = store.journal(RUN)
    one, two, three, four = (journal.intend(step(f"T{n}"), trial=n, proof={}) for n in range(4))
    journal.made(two, {})
    journal.undone(two)
    journal.abandon(three)
    assert [each.entry for each in journal.open_entries()] == [four, one]
    assert [each.state for each in journal.entries()] == [
        EntryState.INTENDED,
        EntryState.UNDONE,
        EntryState.ABANDONED,
        EntryState.INTENDED,
    ]


@pytest.mark.parametrize("end", ["undone", "abandon"])
def test_what_is_over_does_not_come_back_but_may_be_said_twice(store: Store, end: str) -> None:
    journal = store.journal(RUN)
    number = journal.intend(step(), trial=1, proof={})
    over = getattr(journal, end)
    over(number)
    over(number)
    with pytest.raises(ToolkitError, match="cannot become `made`"):
        journal.made(number, {})
    assert journal.open_entries() == ()


def test_an_entry_that_does_not_exist_is_a_fault(store: Store) -> None:
    with pytest.raises(ToolkitError, match="entry `9`"):
        store.journal(RUN).undone(9)


def test_a_step_that_does_not_say_what_it_changes_is_refused(store: Store) -> None:
    with pytest.raises(ToolkitError, match="does not say what it changes"):
        store.journal(RUN).intend(Step("x", "DROP TABLE y"), trial=1, proof={})


def test_the_newest_open_entry_of_an_object_is_found(store: Store) -> None:
    journal = store.journal(RUN)
    journal.intend(step("A"), trial=1, proof={})
    second = journal.intend(step("A"), trial=2, proof={})
    journal.undone(journal.intend(step("A"), trial=3, proof={}))
    found = journal.find(ObjectRef(ObjectKind.TABLE, QualifiedName("A", "GLENNF")))
    assert found is not None
    assert found.entry == second
    for other in (
        ObjectRef(ObjectKind.INDEX, QualifiedName("A", "GLENNF")),
        ObjectRef(ObjectKind.TABLE, QualifiedName("A")),
        ObjectRef(ObjectKind.TABLE, QualifiedName("a", "GLENNF")),
    ):
        assert journal.find(other) is None


def test_an_object_without_a_schema_is_found(store: Store) -> None:
    ref = ObjectRef(ObjectKind.SETTING, QualifiedName("threads"))
    number = store.journal(RUN).intend(Step("x", "SET threads = 1", object=ref), trial=None, proof={})
    found = store.journal(RUN).find(ref)
    assert found is not None
    assert found.entry == number


def test_open_entries_of_all_runs_are_seen_together(store: Store) -> None:
    store.create_run(head("20261122-000000-0001"))
    for run in (RUN, "20261122-000000-0001"):
        store.journal(run).intend(step(), trial=1, proof={})
        store.journal(run).intend(step(), trial=2, proof={})
    assert [(each.run, each.entry) for each in store.open_entries_all()] == [
        ("20261122-000000-0001", 2),
        ("20261122-000000-0001", 1),
        (RUN, 2),
        (RUN, 1),
    ]


class JournalWalk(RuleBasedStateMachine):
    """Any walk through the journal leaves open exactly what was intended and not ended."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.store = open_store(f"{self.folder.name}/store.sqlite")
        self.store.create_run(head())
        self.journal = self.store.journal(RUN)
        self.open: list[int] = []

    @rule()
    def intend(self) -> None:
        self.open.insert(0, self.journal.intend(step(), trial=1, proof={}))

    @precondition(lambda self: self.open)
    @rule()
    def undo_the_oldest(self) -> None:
        self.journal.undone(self.open.pop())

    @precondition(lambda self: self.open)
    @rule()
    def abandon_the_newest(self) -> None:
        self.journal.abandon(self.open.pop(0))

    @invariant()
    def open_entries_are_those_not_ended(self) -> None:
        assert [each.entry for each in self.journal.open_entries()] == self.open

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


JournalWalk.TestCase.settings = examples(20, stateful_step_count=12)
test_any_walk_leaves_open_what_was_not_ended = JournalWalk.TestCase
