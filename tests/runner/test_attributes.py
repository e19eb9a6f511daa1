"""The values of an object: put back where they are still the run's, left and said where somebody else set them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.runner.world import DIALECT, KEY, RUN, Thing, World, create, drop, folder, index, refused, table
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.records import JournalEntry
from toolkit.model.steps import Attribute, FolderAct, Step, TimedItem
from toolkit.model.values import QualifiedName
from toolkit.model.words import Effect, EntryState, StepKind
from toolkit.runner.changes import Changes
from toolkit.runner.ownership import difference, hidden_on, is_another
from toolkit.store import Store, open_store

NAME = f"DBATK_{KEY}_1"
DEGREE, LOGGING = Attribute("degree", "8", "2"), Attribute("logging", "NO", "YES")
_MENDED = 'to restore it, run: ALTER INDEX "APP"."ORDERS_IX" PARALLEL 2;'


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


def changes(world: World, kept: Store) -> Changes:
    return Changes(world, DIALECT, kept.journal(RUN))  # type: ignore[arg-type]


def entries(kept: Store) -> list[JournalEntry]:
    return list(kept.journal(RUN).entries())


def states(kept: Store) -> list[str]:
    return [entry.state.value for entry in entries(kept)]


def shown(**values: str) -> dict[tuple[str, str | None], str]:
    return {(name, None): value for name, value in values.items()}


class Altered(World):
    """A world whose statements of this file set what they say."""

    def run(self, step: Step, number: int = 0) -> Answer:
        answer = super().run(step, number)
        words = step.text.replace('"', "").split()
        if step.text.startswith("ALTER") and len(words) == 5 and words[3] in {"PARALLEL", "LOGGING"}:
            kind = "degree" if words[3] == "PARALLEL" else "logging"
            self.things[words[2].split(".")[1]].values[kind, None] = words[4]
        return answer


def indexed(**values: str) -> Altered:
    return Altered({"ORDERS_IX": Thing("7", born=1, values=shown(**values or {"degree": "2", "logging": "YES"}))})


def altering(to: str = "8") -> Step:
    return Step(
        "alter", f'ALTER INDEX "APP"."ORDERS_IX" PARALLEL {to}', effect=Effect.CHANGES, object=index(),
        undo=('ALTER INDEX "APP"."ORDERS_IX" PARALLEL 2',), restores=(DEGREE,), overwrites=(DEGREE,), before="2",
    )  # fmt: skip


def restoring(change: Attribute = DEGREE) -> Step:
    return Step(
        "restore",
        'ALTER INDEX "APP"."ORDERS_IX" PARALLEL 2',
        effect=Effect.CHANGES,
        object=index(),
        puts_back=change,
    )


# -- before a value is set ----------------------------------------------------------------------------------------
def test_what_somebody_else_set_meanwhile_is_not_overwritten(kept: Store) -> None:
    world = indexed(degree="3")
    with pytest.raises(ToolkitError, match=r"index `APP\.ORDERS_IX`: degree is `3`.*it was `2`") as caught:
        changes(world, kept).run([altering()], 1)
    assert (caught.value.code, world.sent, states(kept)) == ("TK-0211", [], [])


def test_an_item_whose_turn_comes_is_looked_at_by_its_worker(kept: Store) -> None:
    world = indexed(degree="8")
    item = TimedItem("APP.ORDERS_IX", (altering(), drop(table()), replace(altering(), object=None)))
    own = changes(world, kept)
    own.look_again(item, 3)  # what the run has set itself counts as unchanged: partitions share a degree
    assert world.in_worker == [(3, "oracle/attributes")]
    world.things["ORDERS_IX"].values["degree", None] = "5"
    with pytest.raises(ToolkitError, match="degree is `5`"):
        own.look_again(item, 3)


def test_the_entry_of_a_change_notes_what_was_usable_and_what_each_statement_restores(kept: Store) -> None:
    own = changes(indexed(), kept)
    step = altering()
    own.intend([replace(step, undo=(*step.undo, "x"), restores=(DEGREE, None))], 1)
    (entry,) = entries(kept)
    assert entry.proof == {
        "identity": "7", "usable": True, "before": "2",
        "attributes": json.dumps([["degree", "8", "2", None], None]),
    }  # fmt: skip


def test_one_that_was_unusable_before_is_not_noted_as_usable(kept: Store) -> None:
    changes(indexed(degree="2", status="UNUSABLE"), kept).intend([altering()], 1)
    assert "usable" not in entries(kept)[0].proof


def test_a_failed_creation_is_not_looked_up_by_what_bears_its_name(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    world.fail["CREATE"] = refused("ORA-00955")
    first, second = create(index("A_IX", scratch=False)), create(index("B_IX", scratch=False))

    def run(step: Step) -> None:
        with pytest.raises(DatabaseError):
            own.run([step], 1)

    run(first)
    world.things["B_IX"] = Thing("theirs")  # made by somebody else between our look and our statement
    run(second)
    assert states(kept) == ["abandoned", "abandoned"]


# -- after a trial ------------------------------------------------------------------------------------------------
def changed(world: World, kept: Store) -> Changes:
    own = changes(world, kept)
    own.run([altering()], 1)
    world.sent.clear()
    return own


def test_a_value_of_the_run_is_put_back_when_a_trial_is_concluded(kept: Store) -> None:
    world = indexed()
    assert changed(world, kept).conclude([restoring()], 1) == ({}, ())
    assert world.sent == ['ALTER INDEX "APP"."ORDERS_IX" PARALLEL 2']
    assert states(kept) == ["undone"]


def test_a_value_that_is_as_it_was_is_not_set_again(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.things["ORDERS_IX"].values["degree", None] = "2"
    assert own.conclude([restoring()], 1) == ({}, ())
    assert world.sent == []


def test_a_value_of_somebody_else_is_left_and_its_entry_stays_open(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.things["ORDERS_IX"].values["degree", None] = "5"
    _, left = own.conclude([restoring(), restoring()], 1)
    said = (
        "index `APP.ORDERS_IX`: degree is `5`, which somebody else set meanwhile (it was `2`, the run set `8`); "
        f"it is left as it is; {_MENDED}"
    )
    assert (left, world.sent, states(kept)) == ((said,), [], ["made"])


def test_another_object_of_the_name_is_left_when_a_trial_is_concluded(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.things["ORDERS_IX"] = Thing("8", values=shown(degree="8"))
    _, left = own.conclude([restoring()], 1)
    assert left == ("index `APP.ORDERS_IX` is not the object that this run made or changed; it is left as it is",)
    assert (world.sent, states(kept)) == ([], ["made"])


def test_one_that_became_unusable_is_said_with_what_rebuilds_it(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.things["ORDERS_IX"].values["status", None] = "UNUSABLE"
    world.answers["oracle/unfinished"] = ({"state": "is unusable", "rebuild": "ALTER INDEX x REBUILD"},)
    _, left = own.conclude([restoring()], 1)
    assert left == (
        "index `APP.ORDERS_IX` is unusable, and was not before; run: ALTER INDEX x REBUILD; or resume the run",
    )
    assert world.sent == ['ALTER INDEX "APP"."ORDERS_IX" PARALLEL 2']


def test_steps_without_a_value_are_run_as_they_are_and_what_they_keep_is_returned(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.answers["SELECT 1"] = ({"a": 1},)
    found, left = own.conclude([Step("look", "SELECT 1", keep_as="seen"), restoring()], 1)
    assert (found, left) == ({"seen": ({"a": 1},)}, ())


DEFINED = (("column", "1 ID NUMBER"), ("column", "2 NAME VARCHAR2(10)"))


@pytest.mark.parametrize(
    ("definition", "left"),
    [
        (DEFINED, ()),
        (DEFINED[::-1], ()),
        (
            DEFINED[:1],
            "is not what this run would have made: its column is `1 ID NUMBER`, not `1 ID NUMBER, 2 NAME",
        ),
    ],
)
def test_a_table_of_an_unfinished_creation_is_compared_with_what_would_have_been_made(
    kept: Store, definition: tuple[tuple[str, str], ...], left: str | tuple[()]
) -> None:
    world = Altered()
    own = changes(world, kept)
    made = replace(create(table("MADE", scratch=False)), definition=DEFINED)
    own.intend([made], 1)
    world.things["MADE"] = Thing("1", values=shown(degree="8"), definition=definition)
    settle = Step(
        "settle", "ALTER x", effect=Effect.CHANGES, object=table("MADE", scratch=False), puts_back=DEGREE
    )
    _, found = own.conclude([settle], 1)
    if not left:
        assert found == ()
        return
    assert found[0].startswith("table `APP.MADE` ") and str(left) in found[0]
    assert found[0].endswith("; it is left as it is")
    assert states(kept) == ["intended"]


def test_a_table_that_cannot_be_seen_is_not_taken_for_that_of_an_unfinished_creation(kept: Store) -> None:
    world = Altered()
    own = changes(world, kept)
    made = replace(create(table("MADE", scratch=False)), definition=DEFINED)
    own.intend([made], 1)
    world.things["MADE"] = Thing("1", values=shown(degree="8"), definition=())
    settle = Step(
        "settle", "ALTER x", effect=Effect.CHANGES, object=table("MADE", scratch=False), puts_back=DEGREE
    )
    with pytest.raises(ToolkitError, match=r"cannot see table `APP\.MADE` well enough") as caught:
        own.conclude([settle], 1)
    assert caught.value.code == "TK-0306"
    assert states(kept) == ["intended"]
    assert own.completed_job_objects() == ()


def test_a_table_made_like_another_is_compared_with_the_columns_of_that_one() -> None:
    world = World({
        "MADE": Thing("1", definition=(*DEFINED, ("partitioned", "NO"))),
        "SOURCE": Thing("2", definition=(*DEFINED[:1], ("partitioned", "YES"))),
    })  # fmt: skip
    proof = {"like": json.dumps(("APP", "SOURCE"))}

    def said(*, thoroughly: bool = True) -> str | None:
        return difference(world, DIALECT, table("MADE"), proof, thoroughly=thoroughly)  # type: ignore[arg-type]

    assert "its column is `1 ID NUMBER, 2 NAME VARCHAR2(10)`, not `1 ID NUMBER`" in str(said())
    assert said(thoroughly=False) is None  # the other table is looked up where there is time for it
    world.things["SOURCE"].definition = DEFINED
    assert said() is None
    world.things["MADE"].definition = ()
    with pytest.raises(ToolkitError, match="well enough to know it again"):
        said()


def test_a_table_made_since_by_somebody_else_is_not_recorded_and_the_next_is(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    made = replace(create(table("MADE", scratch=False)), definition=DEFINED)
    noted = own.intend([made, create(table())], 1)
    world.things |= {"MADE": Thing("9", definition=DEFINED[:1]), NAME: Thing("10")}
    own.made(noted)
    assert states(kept) == ["intended", "made"]


# -- undone later -------------------------------------------------------------------------------------------------
def test_an_undo_puts_back_what_is_still_the_runs(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    assert own.undo_all().done == ("restored index `APP.ORDERS_IX` to `2`",)
    assert world.things["ORDERS_IX"].values["degree", None] == "2"
    assert states(kept) == ["undone"]


@pytest.mark.parametrize(("keep_open", "state"), [(True, "made"), (False, "abandoned")])
def test_an_undo_leaves_what_somebody_else_set(kept: Store, keep_open: bool, state: str) -> None:
    world = indexed()
    own = changed(world, kept)
    world.things["ORDERS_IX"].values["degree", None] = "5"
    undone = own.undo_all(keep_open=keep_open)
    assert len(undone.left) == 1 and undone.left[0].endswith(_MENDED)
    assert (undone.done, world.sent, states(kept)) == ((), [], [state])


def test_an_undo_that_is_refused_says_what_the_value_is_and_was(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.fail["PARALLEL 2"] = refused()
    assert own.undo_all().left == (
        "index `APP.ORDERS_IX` (degree is `8`, was `2`): ORA-01031: insufficient privileges; to undo it by hand, "
        'run: ALTER INDEX "APP"."ORDERS_IX" PARALLEL 2;',
    )


def test_an_index_that_became_unusable_keeps_an_entry_of_its_own_once_its_values_are_back(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.answers["oracle/unfinished"] = ({"state": "is unusable", "rebuild": "ALTER INDEX x REBUILD"},)
    undone = own.undo_all()
    assert undone.left == (
        "index `APP.ORDERS_IX` is unusable, and was not before; run: ALTER INDEX x REBUILD; or resume the run",
    )
    assert undone.beside == frozenset(undone.left)  # it keeps nobody from going on
    first, rest = entries(kept)
    assert (first.state, rest.state, rest.trial) == (EntryState.UNDONE, EntryState.MADE, 1)
    assert (rest.proof, rest.identity) == ({"usable": True}, {"identity": "7"})


def test_a_code_that_means_something_of_preferences_closes_no_other_entry(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.fail["PARALLEL 2"] = refused("ORA-20002")
    (left,) = own.undo_all().left
    assert "to undo it by hand, run: " in left and states(kept) == ["made"]


def test_a_half_built_index_is_said_with_what_ends_it(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    world.answers["oracle/unfinished"] = ({"half_built": "yes", "state": "is half-built", "remedy": "END x"},)
    assert own.undo_all().left == ("index `APP.ORDERS_IX` is half-built; run: END x; and `dbatk clean`",)
    assert (world.sent, states(kept)) == ([], ["made"])


def test_a_scratch_table_under_another_name_is_left_to_whoever_renamed_it(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.run([create(table())], 1)
    world.things.clear()
    world.answers["oracle/renamed"] = ({"new_schema": "HIS", "new_name": "KEPT", "unseen": None},)
    said = f"table `APP.{NAME}` was renamed to `HIS.KEPT` by somebody else, and is left as it is"
    assert (own.undo_all(keep_open=True).left, states(kept)) == ((said,), ["made"])
    assert (own.undo_all().left, states(kept)) == ((said,), ["abandoned"])


@pytest.mark.parametrize(("code", "there", "goes"), [("ORA-00942", False, True), ("ORA-00942", True, False),
                                                     ("ORA-00054", False, False)])  # fmt: skip
def test_a_drop_that_finds_nothing_counts_only_if_the_catalogue_shows_nothing(
    kept: Store, code: str, there: bool, goes: bool
) -> None:
    class Racing(World):
        """The table goes, or is hidden from the statement, between the look and the drop."""

        def run(self, step: Step, number: int = 0) -> Answer:
            if step.effect is Effect.DROPS and not there:
                self.things.clear()
            return super().run(step, number)

    world = Racing()
    own = changes(world, kept)
    own.run([create(table())], 1)
    world.fail["DROP"] = refused(code)
    dropping = replace(drop(table()), tolerates=frozenset({"ORA-00942"}))
    if goes:
        own.run([dropping], 1)
        assert states(kept) == ["undone"]
        return
    with pytest.raises(DatabaseError, match=code):
        own.run([dropping], 1)
    assert states(kept) == ["made"]


# -- folders that hosts share -------------------------------------------------------------------------------------
PUBLISHED = Step(
    "publish", "publish", StepKind.FOLDER, effect=Effect.CREATES, object=replace(folder("nightly"), scratch=False),
    argv=(FolderAct.PUBLISH.value, f"/backup/dbatk_{KEY.lower()}_1"),
)  # fmt: skip


def test_a_folder_that_gets_its_final_name_is_noted_with_its_number_and_listing(kept: Store) -> None:
    world = World({"backup": Thing("1:33")}, answers={"oracle/folder_list": ({"listing": "abc", "files": 3},)})
    changes(world, kept).intend([PUBLISHED], 1)
    proof = entries(kept)[0].proof
    assert (proof["moved"], proof["listing"]) == ("1:33", "abc")
    own = entries(kept)[0]
    assert not is_another(own, {"identity": "whatever"})  # nothing was there that could be another


def elsewhere(kept: Store, name: str, **proof: str) -> JournalEntry:
    step = Step("make", "", effect=Effect.CREATES, object=replace(folder(name), scratch=False))
    journal = kept.journal(RUN)
    number = journal.intend(step, trial=1, proof={"free": True, "host": "other 1", **proof})
    return next(each for each in journal.entries() if each.entry == number)


def test_a_folder_that_is_not_found_may_be_on_the_host_that_made_it(kept: Store) -> None:
    world = World()
    journal = kept.journal(RUN)
    first = elsewhere(kept, "staged")

    def hidden() -> str | None:
        return hidden_on(world, DIALECT, first, journal)  # type: ignore[arg-type]

    assert hidden() == "other 1"
    elsewhere(kept, "nightly", moved="1:33")
    assert hidden() == "other 1"
    world.things["nightly"] = Thing("5:34")  # another folder of that name
    assert hidden() == "other 1"
    world.things["nightly"] = Thing("5:33")  # the same number, seen on another device: this host sees the place
    assert hidden() is None


@for_each(
    ("identity", "before", "found", "another"),
    [("7", None, "7", False), ("7", None, "8", True), (None, "7", "7", False), (None, "7", "8", True),
     (None, None, "8", False)],
)  # fmt: skip
def test_a_name_of_the_users_is_anothers_by_identity(
    identity: str | None, before: str | None, found: str, another: bool
) -> None:
    state = EntryState.INTENDED if identity is None else EntryState.MADE
    entry = JournalEntry(
        1, RUN, 1, state, "changes", "index", "APP", "ORDERS_IX", False,
        proof={"identity": before}, identity={} if identity is None else {"identity": identity},
    )  # fmt: skip
    assert is_another(entry, {"identity": found}) is another
    assert not is_another(replace(entry, scratch=True), {"identity": found})


def old_backup() -> Step:
    return Step("remove", "", effect=Effect.DROPS, object=replace(folder("old"), scratch=False))


@pytest.mark.parametrize(("keep_open", "state"), [(True, "intended"), (False, "undone")])
def test_an_old_backup_that_was_not_removed_is_said_and_keeps_nobody(
    kept: Store, keep_open: bool, state: str
) -> None:
    world = World({"old": Thing("1:5")})
    kept.journal(RUN).intend(old_backup(), trial=1, proof={})
    undone = changes(world, kept).undo_all(keep_open=keep_open)
    assert undone.left == ("backup `/backup/old` is past its time and was not removed",)
    assert undone.beside == frozenset(undone.left)
    assert states(kept) == [state]


def test_an_old_backup_that_is_gone_has_nothing_to_say(kept: Store) -> None:
    kept.journal(RUN).intend(old_backup(), trial=1, proof={})
    undone = changes(World(), kept).undo_all()
    assert (undone.done, undone.left, states(kept)) == ((), (), ["abandoned"])


def test_a_name_with_its_schema_is_what_an_index_is_found_by(kept: Store) -> None:
    world = indexed()
    own = changed(world, kept)
    theirs = replace(restoring(), object=replace(index(), name=QualifiedName("ORDERS_IX", "HIS")))
    own.conclude([theirs], 1)
    assert states(kept) == ["undone"]
