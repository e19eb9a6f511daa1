"""Whether what a run makes fits is asked place by place before the first trial, and of disks between trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.for_each import for_each
from tests.store.make import experiment
from toolkit.app.runs import space
from toolkit.app.runs.space import Taken, check_space, short_of_disk, space_notes, taken_by_run
from toolkit.config.urls import parse_url
from toolkit.dialects.answers import Room
from toolkit.errors import ToolkitError
from toolkit.executors import Script
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts, Release
from toolkit.model.steps import Place, PlaceKind, Stages, Step, Takes, Timed, TimedItem, Until
from toolkit.model.values import Cell, Factor
from toolkit.model.words import Keep, Mode
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget

MEGABYTE = 1024 * 1024
TARGET = DuckdbTarget(Access(parse_url("duckdb:///nowhere.duckdb")))
A, B = Place(PlaceKind.TABLESPACE, "A"), Place(PlaceKind.TABLESPACE, "B")
TEMP, LOGS = Place(PlaceKind.TEMPORARY), Place(PlaceKind.LOGS, "/arch")
ONE, TWO = Cell((("degree", 1),)), Cell((("degree", 2),))


@dataclass
class Rooms:
    """A dialect that knows what is free."""

    known: Mapping[Place, Room]
    logs_file = None

    def logged(self, step: Step, facts: Facts) -> Takes | None:
        """A step named `logged` writes as many bytes as its text says."""
        del facts
        return Takes(float(step.text), LOGS, Until.RUN, what="archived redo") if step.name == "logged" else None

    def room(self, place: Place, facts: Facts) -> Room:
        del facts
        return self.known.get(place, Room(unknown="nobody looked"))


@dataclass(eq=False)
class Planned:
    """What was planned: for each cell its stages."""

    stages: Mapping[Cell, Stages | None]
    rooms: Mapping[Place, Room] = field(default_factory=dict)
    experiment: Experiment = field(default_factory=lambda: experiment(options={}, factors=()))
    kept: tuple[Script, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(self.stages)

    @property
    def scripts(self) -> tuple[Script, ...]:
        return tuple(Script("x", one) for one in self.stages.values())

    @property
    def trials(self) -> tuple[PlannedTrial, ...]:
        return tuple(PlannedTrial(number, cell, 1) for number, cell in enumerate(self.stages, 1))

    @property
    def dialect(self) -> Rooms:
        return Rooms(self.rooms)

    @property
    def facts(self) -> Facts:
        return Facts("oracle", Release((19,)))


def step(*takes: Takes) -> Step:
    return Step("x", "x", takes=takes)


def stages(
    *takes: Takes, setup: tuple[Step, ...] = (), prepare: tuple[Step, ...] = (), workers: int = 1
) -> Stages:
    """Make stages whose timed items take one thing each."""
    items = tuple(TimedItem(str(number), (), takes=(taken,)) for number, taken in enumerate(takes))
    return Stages(Timed(items, workers), setup, prepare)


def run(planned: Any) -> dict[Place, float]:
    return {place: taken.bytes for place, taken in taken_by_run(planned, planned.trials).items()}


def test_what_is_made_once_stays_beside_the_greatest_trial() -> None:
    copy = (step(Takes(100, A), Takes(50, TEMP, Until.STEP)),)
    small, big = stages(Takes(10, A), setup=copy), stages(Takes(30, A), Takes(7, B), setup=copy)
    assert run(Planned({ONE: small, TWO: big})) == {A: 130, B: 7, TEMP: 50}


def test_of_what_passes_as_many_are_taken_as_are_worked_on_at_once() -> None:
    each = [Takes(size, A, Until.STEP) for size in (5, 40, 30)]
    assert run(Planned({ONE: stages(*each, workers=2)})) == {A: 70}
    prepared = (step(Takes(90, A, Until.STEP)), step(Takes(1, A)))
    assert run(Planned({ONE: stages(*each, prepare=prepared, workers=2)})) == {A: 91}


def test_objects_that_are_kept_add_up_over_the_trials_and_the_best_one_comes_after_them() -> None:
    both = {ONE: stages(Takes(10, A)), TWO: stages(Takes(30, A))}
    kept = replace(experiment(options={}, factors=()), keep=Keep.ALL)
    assert run(Planned(both, experiment=kept)) == {A: 40}
    job = Script("job", stages(Takes(200, B)))
    assert run(Planned(both, kept=(job, Script("unknown", None, "not read")))) == {A: 30, B: 200}


def test_logs_add_up_over_all_that_is_done_and_are_left_out_for_items_that_are() -> None:
    def logging(number: int) -> Stages:
        items = tuple(TimedItem(f"i{n}", (Step("logged", str(number)),)) for n in (1, 2))
        return Stages(Timed(items), (Step("logged", "1000"),), (Step("logged", "100"),))

    planned: Any = Planned({ONE: logging(1), TWO: logging(10)}, kept=(Script("job", logging(5)),))
    twice = (*planned.trials, *planned.trials)
    each = 2 * (100 + 2 + 100 + 20)
    assert taken_by_run(planned, twice)[LOGS].bytes == 1000 + each + 1000 + 100 + 10
    alone: Any = Planned({ONE: logging(1)})
    assert taken_by_run(alone, alone.trials, frozenset({"i1"}))[LOGS].bytes == 1000 + 100 + 1


def test_a_size_that_is_not_known_makes_the_sum_the_least() -> None:
    planned: Any = Planned({ONE: stages(Takes(10, A), Takes(None, A, unknown="a query"))})
    assert taken_by_run(planned, planned.trials) == {A: Taken(10, "a query")}
    assert taken_by_run(Planned({ONE: None}), ()) == {}  # type: ignore[arg-type]


def test_each_place_that_is_too_small_is_named_with_both_sizes() -> None:
    rooms = {A: Room(2 * MEGABYTE), B: Room(MEGABYTE, hint="ALTER it"), TEMP: Room(9 * MEGABYTE)}
    planned: Any = Planned({ONE: stages(*(Takes(3 * MEGABYTE, place) for place in (A, B, TEMP)))}, rooms)
    said = r"need at once about 3.* in tablespace `A`, where only 2.* are free; and about 3.*`B`, where only 1"
    with pytest.raises(ToolkitError, match=said) as caught:
        check_space(planned, planned.trials, TARGET)
    assert caught.value.code == "TK-0305" and "temporary" not in caught.value.message
    assert "--tablespace" in str(caught.value.hint) and "ALTER it" in str(caught.value.hint)


@pytest.mark.parametrize(("needed", "free"), [(MEGABYTE, MEGABYTE), (None, 1.0), (MEGABYTE, None)])
def test_what_just_fits_or_is_not_known_is_not_refused(needed: float | None, free: float | None) -> None:
    planned: Any = Planned({ONE: stages(Takes(needed, A))}, {A: Room(free)})
    check_space(planned, planned.trials, TARGET)


def test_a_place_that_takes_nothing_refuses_for_its_own_reason() -> None:
    refusal = ToolkitError("tablespace `A` does not exist", code="TK-0204", hint="`B`")
    planned: Any = Planned({ONE: stages(Takes(None, A))}, {A: Room(refusal=refusal)})
    with pytest.raises(ToolkitError, match="does not exist"):
        check_space(planned, planned.trials, TARGET)
    assert space_notes(planned, TARGET) == (("tablespace `A` does not exist", False),)


@for_each(
    ("taken", "room", "said"),
    [
        (Takes(MEGABYTE, A), Room(2 * MEGABYTE),
         "the trials need about 1.00 MiB at once in tablespace `A`, where 2.00 MiB are free"),
        (
            Takes(MEGABYTE, A), Room(2 * MEGABYTE, MEGABYTE),
            "2.00 MiB are free, 1.00 MiB of it only as files grow, if the disks under them have room",
        ),
        (Takes(MEGABYTE, A, unknown="LOBs"), Room(MEGABYTE), "at least 1.00 MiB at once in tablespace `A` (LOBs)"),
        (Takes(None, A, unknown="a query"), Room(MEGABYTE),
         "it is unknown how much the trials need in tablespace `A` (a query), where 1.00 MiB are free"),
        (Takes(MEGABYTE, A), Room(unknown="no grant", hint="GRANT x"),
         "and it is unknown what is free there: no grant; GRANT x"),
        (Takes(None, A), Room(unknown="no grant"), "(its size is not known), and what is free there: no grant"),
    ],
)  # fmt: skip
def test_what_is_known_and_what_is_not_is_said_before_a_run(taken: Takes, room: Room, said: str) -> None:
    planned: Any = Planned({ONE: stages(taken)}, {A: room})
    ((sentence, doubtful),) = space_notes(planned, TARGET)
    assert said in sentence and doubtful == bool(room.hint)


@for_each(
    ("taken", "room", "doubtful"),
    [
        (Takes(1.0, LOGS), Room(100.0), False),
        (Takes(60.0, LOGS), Room(100.0, doubled_by="flashback"), True),
        (Takes(60.0, LOGS), Room(100.0), False),
        (Takes(None, LOGS), Room(100.0, least_bytes=3.0), False),
        (Takes(None, LOGS), Room(20.0, least_bytes=3.0), True),
        (Takes(1.0, LOGS, what="archived redo"), Room(), True),
    ],
)
def test_what_may_be_too_little_is_a_warning(taken: Takes, room: Room, doubtful: bool) -> None:
    planned: Any = Planned({ONE: stages(taken)}, {LOGS: room})
    assert [warns for _, warns in space_notes(planned, TARGET)] == [doubtful]


def test_folders_of_one_file_system_share_what_is_free_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 5 * MEGABYTE

    monkeypatch.setattr(space.shutil, "disk_usage", lambda _: Usage)  # type: ignore[attr-defined]
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    rooms = {A: Room(folder=str(one)), B: Room(folder=str(two))}
    planned: Any = Planned({ONE: stages(Takes(3 * MEGABYTE, A), Takes(3 * MEGABYTE, B))}, rooms)
    with pytest.raises(ToolkitError, match=r"6.00 MiB in tablespace `A` and tablespace `B` \(on one disk\)"):
        check_space(planned, planned.trials, TARGET)
    ((sentence, _),) = space_notes(planned, None)[:1]
    assert "nor can its host be asked here" in sentence


@pytest.mark.parametrize(("free", "fits"), [(120, True), (119, False)])
def test_a_trial_needs_a_fifth_more_than_its_estimate(
    free: int, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        pass

    Usage.free = free  # type: ignore[attr-defined]
    monkeypatch.setattr(space.shutil, "disk_usage", lambda _: Usage)  # type: ignore[attr-defined]
    disk = Place(PlaceKind.FOLDER, str(tmp_path))
    planned: Any = Planned(
        {ONE: stages(Takes(100, disk), setup=(step(Takes(999, disk)),))}, {disk: Room(folder=str(tmp_path))}
    )
    said = short_of_disk(planned.stages[ONE], planned, TARGET)
    assert said is None if fits else said is not None and said.startswith("only 119 ") and "disk" in said


def test_a_job_says_that_it_is_one() -> None:
    job = replace(experiment(options={}, factors=(Factor("degree", (1,)),)), mode=Mode.JOB)
    planned: Any = Planned({ONE: stages(Takes(2, A))}, {A: Room(1)}, job)
    with pytest.raises(ToolkitError, match="the job needs at once"):
        check_space(planned, planned.trials, TARGET)
