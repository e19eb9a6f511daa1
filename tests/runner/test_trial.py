"""One trial that something goes wrong in: what counts, what is put back, what is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runner.context import Keep, Mode, context_of, warnings_of
from tests.runner.world import KEY, RUN, Thing, World, change, create, drop, index, refused, table
from tests.store.make import head
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import ItemRecord
from toolkit.model.steps import Stages, Step, Timed, TimedItem
from toolkit.model.values import Cell
from toolkit.model.words import Outcome, Role
from toolkit.runner.context import RunContext
from toolkit.runner.trial import EndedTrial, run_trial
from toolkit.store import Store, open_store

NAME = f"DBATK_{KEY}_1"
LOST = DatabaseError("gone", code="ORA-03113", lost=True)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        opened.create_run(head(RUN))
        yield opened


def worker(text: str) -> Step:
    return Step(text, text, session=Role.WORKER)


MEASURED = Stages(
    Timed((TimedItem("it", (create(table()),)),)),
    worker_begin=(worker("SET degree"),),
    evidence=(worker("degree granted"), worker("bytes")),
    worker_end=(worker("RESET degree"),),
    conclude=(drop(table()),),
)


def go(context: RunContext, stages: Stages = MEASURED) -> EndedTrial:
    planned = PlannedTrial(1, Cell((("degree", 8),)), 1)
    pieces = context.operation.pieces(context.planner(1), planned.cell)
    return run_trial(context, planned, 1, pieces, stages)


def test_the_stages_come_in_their_order(kept: Store) -> None:
    world = World()
    ended = go(context_of(world, kept))
    assert ended.record.outcome is Outcome.OK
    assert world.sent == [
        "SET degree", f"CREATE APP.{NAME}", "degree granted", "bytes", "RESET degree", f"DROP APP.{NAME}",
    ]  # fmt: skip
    assert kept.journal(RUN).open_entries() == ()


def test_evidence_that_is_refused_fails_no_trial(kept: Store) -> None:
    world = World(fail={"degree granted": refused("ORA-00942")})
    context = context_of(world, kept)
    ended = go(context)
    assert ended.record.outcome is Outcome.OK
    assert ended.record.granted_degree is None
    assert ended.record.elapsed_seconds is not None
    assert "bytes" in world.sent
    assert warnings_of(context) == [
        "evidence could not be read (`degree granted`): ORA-00942: insufficient privileges"
    ]


def test_a_trial_that_was_stopped_before_its_clock_is_asked_for_no_evidence(kept: Store) -> None:
    context = context_of(World(fail={"degree granted": refused("ORA-00942")}), kept)
    context.stop.request()
    assert go(context).record.outcome is Outcome.INTERRUPTED
    assert warnings_of(context) == []


def test_a_session_lost_while_evidence_is_read_ends_the_trial_and_puts_nothing_back(kept: Store) -> None:
    world = World(fail={"degree granted": LOST})
    ended = go(context_of(world, kept))
    assert (ended.record.outcome, ended.record.error_code, ended.lost) == (Outcome.FAILED, "ORA-03113", True)
    assert world.sent[-1] == "degree granted"


def test_a_worker_that_cannot_be_put_back_is_given_up_and_conclude_still_runs(kept: Store) -> None:
    world = World(fail={"RESET degree": refused()})
    ended = go(context_of(world, kept))
    assert ended.record.outcome is Outcome.OK
    assert world.forgotten == [(Role.WORKER, 0)]
    assert world.things == {}


def test_an_object_that_cannot_be_dropped_stays_in_the_journal_and_the_time_counts(kept: Store) -> None:
    world = World(fail={"DROP": refused()})
    context = context_of(world, kept)
    ended = go(context)
    assert ended.record.outcome is Outcome.OK
    assert [entry.name for entry in kept.journal(RUN).open_entries()] == [NAME]
    assert warnings_of(context)[0] == "trial 1 could not be completed: ORA-01031: insufficient privileges"


def test_only_the_workers_that_were_set_up_are_put_back(kept: Store) -> None:
    class Refusing(World):
        def run(self, step: Step, number: int = 0):  # type: ignore[no-untyped-def]
            if step.text == "SET degree" and number == 1:
                raise refused()
            return super().run(step, number)

    world = Refusing()
    three = replace(MEASURED, timed=Timed(MEASURED.timed.items, 3))
    ended = go(context_of(world, kept), three)
    assert ended.record.outcome is Outcome.FAILED
    assert [number for number, text in world.in_worker if text == "RESET degree"] == [0, 1]


REBUILDS = Stages(
    Timed(
        (
            TimedItem("a", (change(index("A_IX"), "ALTER A_IX NOPARALLEL"),), 2),
            TimedItem("b", (change(index("B_IX"), "ALTER B_IX NOPARALLEL"),), 1),
        )
    ),
    conclude=(
        Step("settle", "ALTER A_IX NOPARALLEL"),
        Step("settle", "ALTER B_IX NOPARALLEL"),
    ),
)


@pytest.mark.parametrize("mode", [Mode.JOB, Mode.MEASUREMENT])
def test_a_job_of_which_one_index_failed_leaves_no_degree_on_the_other(kept: Store, mode: Mode) -> None:
    world = World({"A_IX": Thing("1"), "B_IX": Thing("2")}, fail={"ALTER APP.B_IX": refused("ORA-01652")})
    ended = go(context_of(world, kept, mode=mode), REBUILDS)
    assert ended.record.outcome is Outcome.FAILED
    assert {"ALTER A_IX NOPARALLEL", "ALTER B_IX NOPARALLEL"} <= set(world.sent)
    assert kept.journal(RUN).open_entries() == ()


def test_a_settling_that_fails_for_one_index_is_still_done_for_the_next(kept: Store) -> None:
    world = World({"A_IX": Thing("1"), "B_IX": Thing("2")}, fail={"ALTER A_IX": refused("ORA-00054")})
    context = context_of(world, kept, mode=Mode.JOB)
    ended = go(context, REBUILDS)
    assert ended.record.outcome is Outcome.OK
    assert "ALTER B_IX NOPARALLEL" in world.sent
    assert [entry.name for entry in kept.journal(RUN).open_entries()] == ["A_IX"]
    assert any("A_IX" in sentence for sentence in warnings_of(context))


def test_the_object_of_a_failed_trial_is_not_kept(kept: Store) -> None:
    world = World(fail={"fill": refused("ORA-01653")})
    filled = Stages(
        Timed((TimedItem("it", (worker("fill"),)),)),
        prepare=(create(table()),),
        conclude=(Step("settle", "settle"),),
    )
    ended = go(context_of(world, kept, keep=Keep.ALL), filled)
    assert ended.record.outcome is Outcome.FAILED
    assert world.things == {}
    assert "settle" not in world.sent


def test_the_object_of_a_good_trial_is_kept_when_all_are(kept: Store) -> None:
    world = World()
    stages = Stages(MEASURED.timed, conclude=(Step("settle", "settle"),))
    go(context_of(world, kept, keep=Keep.ALL), stages)
    assert NAME in world.things
    assert kept.journal(RUN).open_entries() == ()


def test_a_store_that_fails_in_the_middle_of_a_job_fails_it(kept: Store) -> None:
    world = World({"A_IX": Thing("1"), "B_IX": Thing("2")})
    context = context_of(world, kept, mode=Mode.JOB, operation="ctas")

    def full(items: Sequence[ItemRecord]) -> None:
        raise ToolkitError(f"no room for {items[0].label}", code="TK-0401")

    planned = PlannedTrial(1, Cell((("degree", 8),)), 1)
    slow = Stages(Timed(tuple(TimedItem(str(n), (worker(f"work {n}"),), 9 - n) for n in range(9))))
    pieces = context.operation.pieces(context.planner(1), planned.cell)
    ended = run_trial(context, planned, 1, pieces, slow, full)
    assert (ended.record.outcome, ended.record.error_code) == (Outcome.FAILED, "TK-0401")
