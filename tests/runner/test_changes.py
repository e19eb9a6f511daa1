"""The rules of the journal: what is ours is undone, what may be another's is never touched."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.world import (
    DIALECT,
    KEY,
    RUN,
    Thing,
    World,
    change,
    create,
    drop,
    folder,
    index,
    refused,
    table,
)
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.model.protocols import Answer, DatabaseError
from toolkit.model.records import JournalEntry
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Scalar
from toolkit.model.words import Effect, EntryState, ObjectKind
from toolkit.runner.changes import Changes
from toolkit.runner.ownership import is_the_one
from toolkit.store import Store, open_store, this_host

NAME = f"DBATK_{KEY}_1"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


def changes(world: World, kept: Store, *, allow_commands: bool = False) -> Changes:
    return Changes(world, DIALECT, kept.journal(RUN), allow_commands=allow_commands)  # type: ignore[arg-type]


def states(kept: Store) -> list[str]:
    return [entry.state.value for entry in kept.journal(RUN).entries()]


def test_what_is_made_and_dropped_is_intended_made_undone(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    entries = own.intend([create(table())], 1)
    assert states(kept) == ["intended"]
    world.run(create(table()))
    own.made(entries)
    assert states(kept) == ["made"]
    own.run([drop(table())], 1)
    assert states(kept) == ["undone"]
    assert world.things == {}


def test_a_change_that_cannot_be_undone_and_makes_nothing_has_no_entry(kept: Store) -> None:
    changes(World(), kept).run([change(table())], 1)
    assert states(kept) == []


def test_a_generated_name_in_use_is_refused_before_anything_is_sent(kept: Store) -> None:
    world = World({NAME: Thing("theirs")})
    with pytest.raises(ToolkitError, match="not created by this run") as caught:
        changes(world, kept).run([create(table())], 1)
    assert caught.value.code == "TK-0205"
    assert (world.sent, states(kept)) == ([], [])


def test_the_object_of_a_name_that_was_in_use_is_never_taken_for_the_jobs(kept: Store) -> None:
    world = World({"MADE": Thing("theirs", born=70)})
    own = changes(world, kept)
    job = create(table("MADE", scratch=False), "ALTER MADE NOPARALLEL")
    own.made(own.intend([job], 1))
    assert states(kept) == ["abandoned"]
    assert own.undo_all().left == ()
    assert world.sent == []


def test_a_creation_that_failed_is_abandoned(kept: Store) -> None:
    own = changes(World(), kept)
    own.made(own.intend([create(table())], 1))
    assert states(kept) == ["abandoned"]


def test_an_object_whose_change_failed_was_made_all_the_same(kept: Store) -> None:
    full = DatabaseError("could not extend file: No space left on device", code="53100")
    world = World(fail={"ALTER": full})
    own = changes(world, kept)
    with pytest.raises(DatabaseError):
        own.run([create(table()), change(table())])
    assert (states(kept), list(world.things)) == (["made"], [NAME])
    assert own.undo_all().left == ()
    assert (states(kept), world.things) == (["undone"], {})


def test_a_drop_without_an_entry_is_not_sent(kept: Store) -> None:
    world = World({NAME: Thing("theirs")})
    changes(world, kept).run([drop(table())], 1)
    assert world.sent == []


def made_one(world: World, kept: Store) -> Changes:
    own = changes(world, kept)
    own.run([create(table())], 1)
    world.sent.clear()
    return own


def test_an_object_of_another_identity_is_neither_dropped_nor_forgotten(kept: Store) -> None:
    world = World()
    own = made_one(world, kept)
    world.things[NAME] = Thing("somebody's own")
    own.run([drop(table())], 1)
    undone = own.undo_all()
    assert world.sent == []
    assert states(kept) == ["made"]
    assert undone.left == (
        f'table `APP.{NAME}` may not belong to dbatk; if it does, run: DROP TABLE "APP"."{NAME}" PURGE;',
    )


def test_an_object_that_a_lost_session_may_still_make_is_not_given_up(kept: Store) -> None:
    world = World()
    own = made_one(world, kept)
    world.things.clear()
    world.orphaned = True
    undone = own.undo_all()
    assert "may still create it" in undone.left[0]
    assert len(kept.open_entries_all()) == 1
    world.orphaned = False
    assert own.undo_all().left == ()
    assert kept.open_entries_all() == ()


def test_an_object_that_is_gone_already_is_abandoned_without_a_word(kept: Store) -> None:
    world = World()
    own = made_one(world, kept)
    world.things.clear()
    undone = own.undo_all()
    assert (undone.done, undone.left, world.sent, states(kept)) == ((), (), [], ["abandoned"])


@pytest.mark.parametrize(
    ("thing", "dropped"),
    [
        (Thing("x", born=60), True),
        (Thing("x", born=50), True),
        (Thing("x", born=49), False),
        (Thing("x", born=None), False),
        (Thing("x", born=None, mark=f"made by dbatk run {KEY}, may be dropped"), True),
        (Thing("x", born=49, mark="made by dbatk run 9999, may be dropped"), False),
    ],
)
def test_what_was_only_intended_is_dropped_by_its_mark_or_its_birth(
    kept: Store, thing: Thing, dropped: bool
) -> None:
    world = World()
    own = changes(world, kept)
    own.intend([create(table())], 1)
    world.things[NAME] = thing
    undone = own.undo_all()
    assert (NAME not in world.things, bool(undone.done), bool(undone.left)) == (dropped, dropped, not dropped)


def test_the_object_of_a_job_stays_and_its_degree_is_put_back_after_a_kill(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.intend([create(table("MADE", scratch=False), "ALTER MADE NOPARALLEL")], 1)
    world.things["MADE"] = Thing("new", born=60)
    assert [(entry.trial, label) for entry, label in own.completed_job_objects()] == [(1, "APP.MADE")]
    assert own.undo_all().done == ("settled table `APP.MADE` by ALTER MADE NOPARALLEL",)
    assert world.sent == ["ALTER MADE NOPARALLEL"]
    assert "MADE" in world.things
    assert states(kept) == ["abandoned"]


def test_the_object_of_a_job_that_somebody_renamed_is_not_called_restored_where_nothing_was(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.run([create(table("MADE", scratch=False))], 1)
    own.run([create(table("SET", scratch=False), 'ALTER TABLE "APP"."SET" NOPARALLEL')], 1)
    world.things.clear()
    world.sent.clear()
    world.answers["oracle/renamed"] = ({"new_name": "RENAMED", "unseen": None},)
    undone = own.undo_all()
    assert undone.done == ("restored table `APP.SET`, which somebody renamed to `APP.RENAMED`",)
    assert undone.left == () and world.sent == ['ALTER TABLE "APP"."RENAMED" NOPARALLEL']
    assert states(kept) == ["abandoned", "abandoned"]


def test_an_older_object_of_the_jobs_name_is_left_as_it_is(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.intend([create(table("MADE", scratch=False), "ALTER MADE NOPARALLEL")], 1)
    world.things["MADE"] = Thing("old", born=10)
    assert own.completed_job_objects() == ()
    own.undo_all()
    assert world.sent == []


def test_a_changed_index_gets_its_degree_back(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    own.made(own.intend([change(index(), "ALTER INDEX NOPARALLEL")], 1))
    assert own.undo_trial(1).done == ("restored index `APP.ORDERS_IX` by ALTER INDEX NOPARALLEL",)
    assert world.sent == ["ALTER INDEX NOPARALLEL"]
    assert states(kept) == ["undone"]


def test_an_undo_that_says_what_it_does_is_told_so(kept: Store) -> None:
    own = changes(World({"ORDERS_IX": Thing("7", born=1)}), kept)
    own.made(own.intend([change(index(), "-- dropping what was left invalid\nDO '...'")], 1))
    assert own.undo_trial(1).done == ("restored index `APP.ORDERS_IX` by dropping what was left invalid",)


def test_an_index_made_anew_by_somebody_else_is_not_put_back(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    own.made(own.intend([change(index(), "ALTER INDEX NOPARALLEL")], 1))
    world.things["ORDERS_IX"] = Thing("8", born=90)
    own.undo_all()
    assert (world.sent, states(kept)) == ([], ["abandoned"])


def test_what_another_trial_did_is_left_to_it(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.run([create(table())], 1)
    own.run([create(table(f"DBATK_{KEY}_2"))], 2)
    own.undo_trial(2)
    assert set(world.things) == {NAME}


def test_what_setup_made_stays_when_trials_are_undone(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.run([create(table(f"DBATK_{KEY}_S1"))])
    own.run([create(table())], 1)
    own.undo_trials()
    assert set(world.things) == {f"DBATK_{KEY}_S1"}


def test_a_table_takes_the_entries_of_its_indexes_with_it(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.run([create(table()), create(index(f"{NAME}_I1", scratch=True, on=NAME))], 1)
    world.sent.clear()
    own.run([drop(table())], 1)
    assert states(kept) == ["undone", "undone"]
    assert world.sent == [f"DROP APP.{NAME}"]


def test_objects_kept_for_the_user_are_not_dropped_even_when_they_were_changed_too(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.run([create(table()), change(table(), "ALTER LOGGING")], 1)
    own.release([table()])
    own.undo_all()
    assert NAME in world.things
    assert states(kept) == ["abandoned", "abandoned"]


def test_one_that_cannot_be_undone_is_told_and_the_others_are_undone(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    for number in (1, 2, 3):
        own.run([create(table(f"DBATK_{KEY}_{number}"))], number)
    world.fail[f'DROP TABLE "APP"."DBATK_{KEY}_2"'] = refused()
    undone = own.undo_all()
    drop = f'DROP TABLE "APP"."DBATK_{KEY}_2" PURGE;'
    said = f"table `APP.DBATK_{KEY}_2`: ORA-01031: insufficient privileges; to undo it by hand, run: {drop}"
    assert undone.left == (said,)
    assert set(world.things) == {f"DBATK_{KEY}_2"}
    assert states(kept) == ["undone", "made", "undone"]


OUTER, INNER, OTHER = (f"dbatk_{KEY.lower()}_{name}" for name in ("outer", "inner", "other"))


def three_backups(world: World, kept: Store) -> Changes:
    """Two backups of one trial, the second made within the first, and one of another trial."""
    own = changes(world, kept)
    own.run([create(folder(OUTER))], 1)
    own.run([create(folder(INNER, f"/backup/{OUTER}"))], 1)
    own.run([create(folder(OTHER))], 2)
    world.sent.clear()
    return own


def test_backups_are_undone_in_the_reverse_order_of_their_making(kept: Store) -> None:
    world = World()
    own = three_backups(world, kept)
    assert own.undo_all().left == ()
    assert [text.rsplit("/", 1)[-1].strip("'\"") for text in world.sent] == [OTHER, INNER, OUTER]
    assert world.things == {}


def test_a_folder_stays_while_the_backup_in_it_cannot_be_deleted(kept: Store) -> None:
    world = World()
    own = three_backups(world, kept)
    world.fail[INNER] = refused()
    undone = own.undo_all()
    assert set(world.things) == {OUTER, INNER}
    assert undone.done == (f"dropped backup `/backup/{OTHER}`",)
    assert undone.left == (
        f"backup `/backup/{OUTER}/{INNER}`: ORA-01031: insufficient privileges",
        f"backup `/backup/{OUTER}` remains, along with what could not be deleted before it",
    )
    assert states(kept) == ["made", "made", "undone"]


def test_a_backup_that_cannot_be_deleted_holds_up_no_other_trial(kept: Store) -> None:
    world = World()
    own = three_backups(world, kept)
    world.fail[OTHER] = refused()
    assert len(own.undo_all().left) == 1
    assert set(world.things) == {OTHER}


# -- what an entry proves later -----------------------------------------------------------------------------------
def proofs(kept: Store) -> list[dict[str, Scalar]]:
    return [dict(entry.proof) for entry in kept.journal(RUN).entries()]


def test_an_entry_of_a_creation_notes_that_the_name_was_free_and_the_instant(kept: Store) -> None:
    world = World(now=77)
    own = changes(world, kept)
    own.intend([create(table()), create(folder(OUTER))], 1)
    assert proofs(kept) == [{"free": True, "born": 77}, {"free": True, "born": 77, "host": this_host()}]
    world.things["MADE"] = Thing("theirs")
    own.intend([create(table("MADE", scratch=False))], 1)
    assert proofs(kept)[-1] == {"free": False, "born": 77}


def test_an_entry_of_a_change_notes_which_object_it_was_and_its_former_value(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    own.intend([replace(change(index(), "NOPARALLEL"), before="1")], 1)
    assert proofs(kept) == [{"identity": "7", "before": "1"}]


def test_an_entry_of_a_change_to_an_object_of_the_run_notes_its_identity_and_birth(kept: Store) -> None:
    world = World(now=77)
    own = changes(world, kept)
    own.run([create(table())], 1)
    world.now = 90
    world.things.clear()
    own.intend([change(table(), "NOPARALLEL")], 1)
    assert proofs(kept)[-1] == {"identity": "made 1", "born": 77}


def test_the_name_of_a_users_object_is_never_taken_for_one_of_the_run(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    own.intend([create(table("MADE", scratch=False), "x")], 1)
    own.intend([change(table("MADE", scratch=False), "NOPARALLEL")], 1)
    assert proofs(kept)[-1] == {"identity": None}


@pytest.mark.parametrize(
    ("step", "born"), [(create(table()), 77), (change(index(), "NOPARALLEL"), 90), (change(index()), 90)]
)
def test_what_redo_lacks_is_noted_with_an_instant_before_it(kept: Store, step: Step, born: int) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)}, now=born)
    own = changes(world, kept)
    own.intend([replace(step, unlogged=True)], 1)
    (proof,) = proofs(kept)
    assert (proof["unlogged"], proof["born"]) == (True, born)


def test_an_object_replaced_while_it_was_changed_is_told_by_its_former_identity(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    entries = own.intend([change(index(), "NOPARALLEL")], 1)
    world.things["ORDERS_IX"] = Thing("8", born=90)
    own.made(entries)
    (entry,) = kept.journal(RUN).entries()
    assert entry.identity == {"identity": "7"}


def test_an_entry_outside_the_catalogue_does_not_end_the_round(kept: Store) -> None:
    world = World()
    own = changes(world, kept)
    preference = ObjectRef(ObjectKind.SETTING, QualifiedName("threads"))
    entries = own.intend([change(preference, "RESET"), create(table())], 1)
    world.run(create(table()))
    own.made(entries)
    assert states(kept) == ["made", "made"]


def test_equal_changes_have_one_entry_and_equal_creations_each_their_own(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    again = change(index(), "NOPARALLEL")
    own.intend([again, again, replace(again, undo=("OTHER",)), replace(again, unlogged=True)], 1)
    assert len(states(kept)) == 3
    own.intend([create(table()), create(table())], 1)
    assert len(states(kept)) == 5


def test_of_a_settled_trial_changes_are_closed_and_objects_of_the_user_left_to_him(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    own.run([change(index(), "NOPARALLEL"), create(table("MADE", scratch=False)), create(table())], 1)
    own.run([create(table(f"DBATK_{KEY}_2"))], 2)
    own.close_trial(1)
    assert states(kept) == ["undone", "abandoned", "made", "made"]


def test_the_statement_of_the_first_line_names_what_put_a_change_back(kept: Store) -> None:
    world = World({"ORDERS_IX": Thing("7", born=1)})
    own = changes(world, kept)
    own.made(own.intend([change(index(), "BEGIN\n  x;\nEND;", " ", "ALTER INDEX NOPARALLEL")], 1))
    assert own.undo_all().done == ("restored index `APP.ORDERS_IX` by BEGIN; ALTER INDEX NOPARALLEL",)


def test_a_lost_session_is_opened_anew_once_for_an_undo(kept: Store) -> None:
    lost = DatabaseError("ORA-03113: end-of-file", code="ORA-03113", lost=True)

    class Broken(World):
        times = 0

        def run(self, step: Step, number: int = 0) -> Answer:
            if step.effect is Effect.DROPS and self.times > 0:
                self.times -= 1
                raise lost
            return super().run(step, number)

    world = Broken()
    own = made_one(world, kept)
    world.times = 2
    with pytest.raises(DatabaseError, match="end-of-file"):
        own.undo_all()
    world.times = 1
    assert own.undo_all().done == (f"dropped table `APP.{NAME}`",)


def test_a_fault_that_is_no_refusal_ends_the_undo(kept: Store) -> None:
    world = World()
    own = made_one(world, kept)
    world.fail["DROP"] = ToolkitError("no room for the store", code="TK-0404")
    with pytest.raises(ToolkitError, match="no room"):
        own.undo_all()


def setting(kept: Store, *command: str) -> None:
    ref = ObjectRef(ObjectKind.SETTING, QualifiedName("read_ahead"))
    step = Step("factor", "", effect=Effect.CHANGES, object=ref)
    kept.journal(RUN).intend(step, trial=1, proof={"before": "256", "command": json.dumps(command)})


def test_a_setting_changed_by_a_command_is_listed_until_commands_are_allowed(kept: Store, tmp_path: Path) -> None:
    setting(kept, sys.executable, "-c", f"open({str(tmp_path / 'put back')!r}, 'w').close()")
    undone = changes(World(), kept).undo_all()
    assert "setting `read_ahead`: restore it with --allow-commands, or run: " in undone.left[0]
    assert states(kept) == ["intended"]
    assert changes(World(), kept, allow_commands=True).undo_all().done == (
        "restored setting `read_ahead` to `256`",
    )
    assert (tmp_path / "put back").exists()
    assert states(kept) == ["undone"]


def test_a_program_of_the_end_that_cannot_end_well_stays_for_a_resumed_run_and_is_closed_by_clean(
    kept: Store,
) -> None:
    ref = ObjectRef(ObjectKind.PROGRAM, QualifiedName("false"))
    step = Step("at_the_end", "", effect=Effect.CHANGES, object=ref)
    kept.journal(RUN).intend(step, trial=None, proof={"command": json.dumps(["false"])})
    assert changes(World(), kept).undo_all().left == (
        "program `false`: run it with --allow-commands, or run: false",
    )
    allowed = changes(World(), kept, allow_commands=True)
    assert allowed.undo_all(keep_open=True).left == ("program `false`: `false` ended with 1: no output",)
    assert states(kept) == ["intended"]
    assert allowed.undo_all().left == ("program `false`: `false` ended with 1: no output; it is not run again",)
    assert states(kept) == ["abandoned"]


def test_a_command_that_fails_leaves_its_entry_open(kept: Store) -> None:
    setting(kept, sys.executable, "-c", "raise SystemExit(3)")
    assert "ended with 3" in changes(World(), kept, allow_commands=True).undo_all().left[0]
    assert states(kept) == ["intended"]


_INSTANTS = st.none() | st.integers(0, 5)


@given(
    name=st.sampled_from([NAME, NAME.lower(), "ORDERS", "DBATK_9_1"]), free=st.booleans(), before=_INSTANTS,
    born=_INSTANTS, mark=st.sampled_from([None, "", f"run {KEY}", "run 9"]), scratch=st.booleans(),
    made=st.booleans(), same=st.booleans(),
)  # fmt: skip
def test_nothing_is_ours_without_a_proof(
    name: str, free: bool, before: int | None, born: int | None, mark: str | None, scratch: bool, made: bool,
    same: bool,
) -> None:  # fmt: skip
    state = EntryState.MADE if made else EntryState.INTENDED
    identity: dict[str, Scalar] = {"identity": "1"} if made else {}
    proof: dict[str, Scalar] = {"free": free, "born": before}
    entry = JournalEntry(
        1, RUN, 1, state, "creates", "table", "APP", name, scratch, proof=proof, identity=identity
    )
    if not is_the_one(entry, {"identity": "1" if same else "2", "mark": mark, "born": born}):
        return
    if made:
        assert same
        return
    assert free
    younger = before is not None and born is not None and born >= before
    if scratch:
        assert KEY in name.upper()
        assert younger or (mark or "").endswith(KEY)
    else:
        assert younger or (before is None and born is None)
