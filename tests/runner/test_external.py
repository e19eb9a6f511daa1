"""Factors outside the operation: applied, proved, and put back whatever happens in between."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.context import context_of, warnings_of
from tests.runner.world import RUN, World, refused
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Cell, CommandFactor, Factor, Level
from toolkit.model.words import EntryState
from toolkit.runner.external import external_factors, fill
from toolkit.store import Store, open_store

SYSTEM = CommandFactor(
    read_sql="SHOW io", apply_sql="ALTER SYSTEM SET io = {level}", undo_sql="ALTER SYSTEM SET io = {before}"
)
SESSION = CommandFactor(read_sql="SHOW mem", apply_sql="SET mem = {level}", undo_sql="RESET mem")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


def use(world: World, kept: Store, how: CommandFactor, level: Level = 8, workers: int = 1) -> list[str]:
    """Run an empty trial at a level; return the warnings."""
    context = context_of(world, kept, factors=(Factor("io", (level,), command=how),))
    with external_factors(context, PlannedTrial(1, Cell((("io", level),)), 1), workers):
        world.sent.append("the trial")
        world.answers["SHOW io"] = ({"io": "changed meanwhile"},)
    return warnings_of(context)


def reads(world: World, *values: str) -> None:
    """Let SHOW give these values, one after the other."""
    left = list(values)
    run = world.run

    def answering(step, number=0):  # type: ignore[no-untyped-def]
        if step.text.startswith("SHOW"):
            world.answers[step.text] = ({"value": left.pop(0)},)
        return run(step, number)

    world.run = answering  # type: ignore[method-assign]


def test_a_system_setting_is_read_applied_proved_and_put_back_on_the_control_session(kept: Store) -> None:
    world = World()
    reads(world, "4", "8")
    use(world, kept, SYSTEM, workers=3)
    assert world.sent == [
        "SHOW io", "ALTER SYSTEM SET io = 8", "SHOW io", "the trial", "ALTER SYSTEM SET io = 4",
    ]  # fmt: skip
    assert world.in_worker == []
    (entry,) = kept.journal(RUN).entries()
    assert (entry.state, entry.name, entry.undo) == (EntryState.UNDONE, "io", ("ALTER SYSTEM SET io = 4",))


def test_a_session_setting_is_made_in_every_worker_and_needs_no_journal(kept: Store) -> None:
    world = World()
    reads(world, "4", "8")
    use(world, kept, SESSION, workers=3)
    assert [each for each in world.in_worker if each[1] == "SET mem = 8"] == [(n, "SET mem = 8") for n in range(3)]
    assert [each for each in world.in_worker if each[1] == "RESET mem"] == [(n, "RESET mem") for n in range(3)]
    assert kept.journal(RUN).entries() == ()


@pytest.mark.parametrize(
    "sql", ["ALTER TABLE t PARALLEL {level}", "ALTER ROLE r SET x = {level}", "SET GLOBAL x = {level}"]
)
def test_whatever_outlives_the_session_is_journalled(kept: Store, sql: str) -> None:
    world = World()
    reads(world, "1", "8")
    how = CommandFactor(read_sql="SHOW x", apply_sql=sql, undo_sql=sql.replace("{level}", "{before}"))
    use(world, kept, how)
    assert [entry.undo for entry in kept.journal(RUN).entries()] == [(sql.replace("{level}", "1"),)]
    assert world.in_worker == []


@pytest.mark.parametrize(("says", "level"), [("8", 8), ("8.0", 8), (" ON ", "on"), ("1e3", 1000)])
def test_a_level_may_be_read_back_in_another_spelling(kept: Store, says: str, level: Level) -> None:
    world = World()
    reads(world, "4", says)
    assert use(world, kept, SYSTEM, level) == []


def test_a_level_that_was_not_taken_fails_and_is_put_back(kept: Store) -> None:
    world = World()
    reads(world, "4", "6")
    with pytest.raises(ToolkitError, match="was set to `8` but is now `6`"):
        use(world, kept, SYSTEM)
    assert world.sent[-1] == "ALTER SYSTEM SET io = 4"
    assert "the trial" not in world.sent
    assert kept.journal(RUN).open_entries() == ()


def test_a_level_that_is_refused_is_put_back_all_the_same(kept: Store) -> None:
    world = World(fail={"io = 8": refused()})
    reads(world, "4")
    with pytest.raises(DatabaseError, match="insufficient"):
        use(world, kept, SYSTEM)
    assert world.sent[-1] == "ALTER SYSTEM SET io = 4"


def test_a_factor_that_cannot_be_put_back_is_said_and_stays_in_the_journal(kept: Store) -> None:
    world = World(fail={"io = 4": refused()})
    reads(world, "4", "8")
    (warning,) = use(world, kept, SYSTEM)
    assert warning == "factor `io` could not be restored, it was `4`: ORA-01031: insufficient privileges"
    assert [entry.undo for entry in kept.journal(RUN).open_entries()] == [("ALTER SYSTEM SET io = 4",)]


@pytest.mark.parametrize("level", ["8; DROP TABLE t", "8'", "a b", "8--", "$(x)"])
def test_nothing_but_words_and_numbers_gets_into_sql(kept: Store, level: str) -> None:
    world = World()
    reads(world, "4")
    with pytest.raises(ToolkitError, match="cannot be used in SQL"):
        use(world, kept, SYSTEM, level)
    assert world.sent == ["SHOW io", "ALTER SYSTEM SET io = 4"], "the level of before, and no other"


def test_a_former_value_that_is_not_used_may_be_anything(kept: Store) -> None:
    world = World()
    reads(world, '"$user", public', "8")
    assert use(world, kept, SESSION) == []


def test_placeholders_are_filled_once_and_nothing_else_is_read_as_one() -> None:
    assert fill("{level} {before} {other} {{level}}", "{before}", "4") == "{before} 4 {other} {{before}}"


def command_factor(file: Path) -> CommandFactor:
    write = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"
    return CommandFactor(
        read=(
            sys.executable,
            "-c",
            "import sys, pathlib; print(pathlib.Path(sys.argv[1]).read_text())",
            str(file),
        ),
        apply=(sys.executable, "-c", write, str(file), "{level}"),
        undo=(sys.executable, "-c", write, str(file), "{before}"),
    )


def test_a_command_sets_the_level_and_puts_the_former_value_back(kept: Store, tmp_path: Path) -> None:
    file = tmp_path / "read_ahead"
    file.write_text("256; rm -rf $HOME")
    context = context_of(World(), kept, factors=(Factor("io", (8,), command=command_factor(file)),))
    with external_factors(context, PlannedTrial(1, Cell((("io", 8),)), 1), 1):
        assert file.read_text() == "8"
        (entry,) = kept.journal(RUN).open_entries()
        assert str(file) in str(entry.proof["command"])
    assert file.read_text() == "256; rm -rf $HOME"
    assert kept.journal(RUN).open_entries() == ()


def test_what_a_killed_command_factor_left_is_put_back_from_the_journal(kept: Store, tmp_path: Path) -> None:
    file = tmp_path / "read_ahead"
    file.write_text("256")
    context = context_of(World(), kept, factors=(Factor("io", (8,), command=command_factor(file)),))
    killed = external_factors(context, PlannedTrial(1, Cell((("io", 8),)), 1), 1)
    killed.__enter__()
    assert file.read_text() == "8"
    assert context.changes.undo_all().done == ("restored setting `io` to `256`",)
    assert file.read_text() == "256"


def test_several_factors_are_put_back_in_the_reverse_order_even_when_the_trial_breaks(kept: Store) -> None:
    world = World()
    first = CommandFactor(apply_sql="ALTER SYSTEM SET a = {level}", undo_sql="ALTER SYSTEM RESET a")
    second = CommandFactor(apply_sql="ALTER SYSTEM SET b = {level}", undo_sql="ALTER SYSTEM RESET b")
    factors = (Factor("a", (1,), command=first), Factor("b", (2,), command=second))
    context = context_of(world, kept, factors=factors)
    with (
        pytest.raises(DatabaseError),
        external_factors(context, PlannedTrial(1, Cell((("a", 1), ("b", 2))), 1), 1),
    ):
        raise refused()
    assert world.sent == [
        "ALTER SYSTEM SET a = 1", "ALTER SYSTEM SET b = 2", "ALTER SYSTEM RESET b", "ALTER SYSTEM RESET a",
    ]  # fmt: skip
