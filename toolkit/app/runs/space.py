"""Whether what a run makes fits where it goes: asked place by place before it, of a disk between trials too."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic

from toolkit.app.snapshots.providers import host_is_ours
from toolkit.dialects.answers import Room
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError
from toolkit.model.records import TrialRecord
from toolkit.model.steps import Place, PlaceKind, Stages, Step, Takes, Until
from toolkit.model.values import Cell, Scalar
from toolkit.model.words import Keep, Mode, Outcome
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target
from toolkit.units import byte_size

SPARE = 1.2
"""What must be free before a trial for each byte of its estimate."""
_AMPLE = 10
"""Times the least room: with so much an estimate that is not known is no warning."""
_FRESH_SECONDS = 60.0
"""For so long what was read for planning is taken for what is free."""


# -- what is taken ------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes of one place; `unknown` says why there may be more, empty where all are known; `what` they are."""

    bytes: float = 0.0
    unknown: str = ""
    what: str = ""

    def __add__(self, other: Taken) -> Taken:
        return Taken(self.bytes + other.bytes, self.unknown or other.unknown, self.what or other.what)

    def __or__(self, other: Taken) -> Taken:
        """Return the greater of two that do not exist at once."""
        return Taken(max(self.bytes, other.bytes), self.unknown or other.unknown, self.what or other.what)


Tally = Mapping[Place, Taken]
NONE_DONE: frozenset[str] = frozenset()


def taken_by_run(
    planning: PlanningContext, trials: Sequence[PlannedTrial], done: frozenset[str] = NONE_DONE
) -> Tally:
    """Estimate what a run takes of each place at its fullest.

    Copies made once stay beside every trial, what a trial makes until it ends (`--keep all`: until the run ends),
    sorted keys and second segments as long as their step; then comes the job of `--keep best`. Logs add up.

    Args:
        planning: the run.
        trials: those to be run.
        done: labels of items that need not be done again.
    """
    stages = _stages(planning, done)
    if not stages:
        return {}
    setup = next(iter(stages.values())).setup
    held = _sum(taken for step in setup for taken in step.takes if taken.until is Until.OBJECT)
    trial = _most(taken_by_trial(each) for each in stages.values())
    if planning.experiment.keep is Keep.ALL:
        stay = [_staying(stages[one.cell]) for one in trials if one.cell in stages]
        trial = _together([*stay, _most(map(_passing, stages.values()))])
    kept = [one.stages for one in planning.kept if one.stages is not None]
    at_once = _most(
        [_together([held, _most([*(_while(step.takes) for step in setup), trial])]), *map(taken_by_trial, kept)]
    )
    logs = {cell: _logged(each, planning) for cell, each in stages.items()}
    added = [_logs_of(setup, planning), *(logs[one.cell] for one in trials if one.cell in logs)]
    best = [_together([_logs_of(each.setup, planning), _logged(each, planning)]) for each in kept]
    return _together([at_once, *added, _most(best)])


_taken = lru_cache(maxsize=4)(taken_by_run)


def items_done(experiment: Experiment, trials: Iterable[TrialRecord]) -> frozenset[str]:
    """Return the labels of a job's items that ended ok: what they took is taken already."""
    items = (item for trial in trials for item in trial.items if experiment.mode is Mode.JOB)
    return frozenset(item.label for item in items if item.outcome is Outcome.OK)


def _stages(planning: PlanningContext, done: frozenset[str] = NONE_DONE) -> Mapping[Cell, Stages]:
    """Return the stages of each cell that can be had, without items that are done."""
    pairs = zip(planning.cells, planning.scripts, strict=True)
    return {cell: _left(one.stages, done) for cell, one in pairs if one.stages is not None}


def _left(stages: Stages, done: frozenset[str]) -> Stages:
    if not done:
        return stages
    items = tuple(item for item in stages.timed.items if item.label not in done)
    return replace(stages, timed=replace(stages.timed, items=items))


def _logged(stages: Stages, planning: PlanningContext) -> Tally:
    """Return what a trial writes into logs that the server keeps."""
    timed = (step for item in stages.timed.items for step in item.steps)
    return _logs_of((*stages.prepare, *timed), planning)


def _logs_of(steps: Iterable[Step], planning: PlanningContext) -> Tally:
    written = (planning.dialect.logged(step, planning.facts) for step in steps)
    return _sum(taken for taken in written if taken is not None)


def taken_by_trial(stages: Stages) -> Tally:
    """Estimate what a trial takes at its fullest, without what was made once for all."""
    return _together([_staying(stages), _passing(stages)])


def _staying(stages: Stages) -> Tally:
    prepared = (taken for step in stages.prepare for taken in step.takes)
    made = (taken for item in stages.timed.items for taken in item.takes)
    return _sum(taken for taken in (*prepared, *made) if taken.until is Until.OBJECT)


def _passing(stages: Stages) -> Tally:
    """Return what passes with its step: of the items those that take most, as many as are worked on at once."""
    each: dict[Place, list[Taken]] = {}
    for place, taken in (pair for item in stages.timed.items for pair in _while(item.takes).items()):
        each.setdefault(place, []).append(taken)
    at_once = {}
    for place, most in each.items():
        most.sort(key=lambda one: -one.bytes)
        unknown = next((one.unknown for one in most if one.unknown), "")
        at_once[place] = Taken(sum(one.bytes for one in most[: stages.timed.workers]), unknown)
    return _most([at_once, *(_while(step.takes) for step in stages.prepare)])


def _while(takes: Iterable[Takes]) -> Tally:
    return _sum(taken for taken in takes if taken.until is Until.STEP)


def _sum(takes: Iterable[Takes]) -> Tally:
    return _added((taken.place, Taken(taken.bytes or 0.0, _unknown(taken), taken.what)) for taken in takes)


def _unknown(taken: Takes) -> str:
    return taken.unknown or ("" if taken.bytes is not None else "its size is not known")


def _together(tallies: Iterable[Tally]) -> Tally:
    return _added(pair for tally in tallies for pair in tally.items())


def _added(pairs: Iterable[tuple[Place, Taken]]) -> Tally:
    found: dict[Place, Taken] = {}
    for place, taken in pairs:
        found[place] = taken if (known := found.get(place)) is None else known + taken
    return found


def _most(tallies: Iterable[Tally]) -> Tally:
    found: dict[Place, Taken] = {}
    for tally in tallies:
        for place, taken in tally.items():
            found[place] = found.get(place, Taken()) | taken
    return found


# -- what is free -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Compared:
    """What is taken of places that share their free space, and how much that is."""

    places: tuple[Place, ...]
    taken: Taken
    room: Room

    @property
    def short(self) -> bool:
        return self.room.free_bytes is not None and self.taken.bytes > self.room.free_bytes

    @property
    def where(self) -> str:
        shared = " (on one disk)" if len(self.places) > 1 else ""
        return " and ".join(map(str, self.places)) + shared

    @property
    def need(self) -> str:
        of = f" of {self.taken.what}" if self.taken.what else ""
        return f"{'at least' if self.taken.unknown else 'about'} {byte_size(self.taken.bytes)}{of}"

    @property
    def doubtful(self) -> bool:
        """Whether it may be too little although nothing is known to be, or a grant would tell more."""
        free, needed = self.room.free_bytes, self.taken.bytes
        if free is None:
            return bool(self.room.hint) or bool(self.taken.what)
        unknown = bool(self.taken.unknown) and free < _AMPLE * self.room.least_bytes
        return unknown or (bool(self.room.doubled_by) and 2 * needed > free)

    def sentence(self, who: str) -> str:
        """Say what is needed there and what is free, each as far as it is known."""
        why = f" ({self.taken.unknown})" if self.taken.unknown else ""
        nothing = bool(self.taken.unknown) and not self.taken.bytes
        what = f" of {self.taken.what}" if self.taken.what else ""
        need = f"{who} {self.need} {'in all' if what else 'at once'} in {self.where}{why}"
        if nothing:
            need = f"it is unknown how much{what} {who} in {self.where}{why}"
        doubled = f"; {self.room.doubled_by}" if self.room.doubled_by else ""
        free, growth = self.room.free_bytes, self.room.growth_bytes
        if free is None:
            hint, again = f"; {self.room.hint}" if self.room.hint else "", "" if nothing else "it is unknown "
            return f"{need}, and {again}what is free there: {self.room.unknown}{doubled}{hint}"
        if nothing and self.room.folder:
            return need
        grows = (
            f", {byte_size(growth)} of it only as files grow, if the disks under them have room" if growth else ""
        )
        return f"{need}, where {byte_size(free)} are free{grows}{doubled}"


def compared(tally: Tally, planning: PlanningContext, target: Target | None) -> Iterator[_Compared]:
    """Compare what is taken with what is free, place by place; folders of one file system together."""
    disks: dict[int, list[tuple[Place, Taken, Room]]] = {}
    for place, taken in tally.items():
        if not taken.bytes and not taken.unknown:
            continue
        room = planning.dialect.room(place, planning.facts)
        if room.folder:
            ours = place.kind is PlaceKind.FOLDER or (target is not None and host_is_ours(target))
            device, room = _on_disk(room, planning.facts, ours=ours)
            if device is not None:
                disks.setdefault(device, []).append((place, taken, room))
                continue
        yield _Compared((place,), taken, room)
    for shared in disks.values():
        taken = sum((each for _, each, _ in shared), Taken())
        yield _Compared(tuple(place for place, _, _ in shared), taken, shared[0][2])


def _on_disk(room: Room, facts: Facts, *, ours: bool) -> tuple[int | None, Room]:
    """Return the file system of a folder and what is free there now; None where it cannot be asked."""
    if not ours:
        title = engine(facts.engine).title
        return None, Room(unknown=f"{title} does not report it, nor can its host be asked here", hint=room.hint)
    folder = Path(room.folder)
    try:
        free = float(shutil.disk_usage(folder).free)
        return folder.stat().st_dev, Room(free, folder=room.folder, hint=room.hint)
    except OSError as error:
        return None, Room(unknown=f"`{folder}` cannot be asked: {(error.strerror or 'unknown').lower()}")


# -- what is said -------------------------------------------------------------------------------------------------
def space_notes(planning: PlanningContext, target: Target | None) -> tuple[tuple[str, bool], ...]:
    """Say before a run what it takes of each place and what is free there; and whether that is a warning."""
    if planning.facts.assumed:
        return ()
    who = _who(planning.experiment)
    return tuple(
        (each.sentence(who), each.doubtful) if each.room.refusal is None else (each.room.refusal.message, False)
        for each in compared(_taken(planning, planning.trials, NONE_DONE), planning, target)
    )


def check_space(
    planning: PlanningContext,
    trials: Sequence[PlannedTrial],
    target: Target,
    done: frozenset[str] = NONE_DONE,
) -> None:
    """Refuse a run that cannot fit, with each place that is too small; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes of each place, or as a place refuses anything (TK-0204, TK-0305).
    """
    short = []
    for each in compared(_taken(planning, tuple(trials), done), planning, target):
        if each.room.refusal is not None:
            raise each.room.refusal
        if each.short:
            short.append(each)
    if not short:
        return
    raise ToolkitError(
        f"{_who(planning.experiment)} at once {'; and '.join(map(_shortage, short))}",
        code="TK-0305",
        hint="; ".join(dict.fromkeys(_hint(one, planning) for one in short)),
    )


def _shortage(one: _Compared) -> str:
    full = f": {one.room.when_full}" if one.room.when_full else ""
    return f"{one.need} in {one.where}, where only {byte_size(one.room.free_bytes or 0.0)} are free{full}"


def _who(experiment: Experiment) -> str:
    return "the trials need" if experiment.mode is Mode.MEASUREMENT else "the job needs"


def _hint(short: _Compared, planning: PlanningContext) -> str:
    if short.room.hint:
        return short.room.hint
    if short.places[0].kind is PlaceKind.TEMPORARY:
        return declaration(planning.experiment.operation).temporary_hint
    if short.places[0].kind in (PlaceKind.FOLDER, PlaceKind.RECOVERY_AREA):
        return "free space there, or choose another folder"
    return "free space, choose another location (--work-schema, --tablespace), or use a smaller source"


# -- between trials -----------------------------------------------------------------------------------------------
def watching_room(
    planning: PlanningContext, target: Target, sessions: Sessions, done: frozenset[str] = NONE_DONE
) -> Callable[[PlannedTrial], str | None]:
    """Return who says before a trial what it would find no room for: in a folder, or where logs are kept."""
    stages, logs = _stages(planning, done), _Logs(planning, sessions)
    folders = any(place.kind is PlaceKind.FOLDER for place in _taken(planning, planning.trials, done))

    def short(trial: PlannedTrial) -> str | None:
        if (mine := stages.get(trial.cell)) is None:
            return None
        full = short_of_disk(mine, planning, target) if folders else None
        return full or logs.short_for(_logged(mine, planning))

    return short


def short_of_disk(stages: Stages, planning: PlanningContext, target: Target) -> str | None:
    """Say that what a trial takes of a folder of this host, and a fifth more, is not free now."""
    tally = {place: taken for place, taken in taken_by_trial(stages).items() if place.kind is PlaceKind.FOLDER}
    for each in compared(tally, planning, target):
        if (free := each.room.free_bytes) is not None and free < SPARE * each.taken.bytes:
            left = f"only {byte_size(free)} are left on the disk of {each.where}"
            return f"{left}; free space"
    return None


class _Logs:
    """What is free where the server keeps its logs: as planning read it, then read again as often as needed.

    An answer is good for a minute, as long as it showed many times what the trials since then may have written.
    """

    def __init__(self, planning: PlanningContext, sessions: Sessions) -> None:
        self._planning, self._sessions, self._facts = planning, sessions, planning.facts
        self._read_at, self._since, self._first = monotonic(), Taken(), True

    def short_for(self, tally: Tally) -> str | None:
        """Say that the logs of a trial would find no room now; what cannot be read says nothing."""
        file = self._planning.dialect.logs_file
        if file is None or not tally:
            return None
        self._since = sum(tally.values(), self._since)
        old = monotonic() - self._read_at >= _FRESH_SECONDS
        if old or not (self._first or self._ample(tally)):
            try:
                rows = self._sessions.run(step_of(self._planning.dialect, Call(file, file=True))).rows
            except (DatabaseError, ToolkitError):
                return None
            self._facts = replace(self._facts, answers={**self._facts.answers, file: rows})
            self._read_at, self._since = monotonic(), sum(tally.values(), Taken())
        self._first = False
        return next(filter(None, (self._shortage(place, taken) for place, taken in tally.items())), None)

    def _ample(self, tally: Tally) -> bool:
        rooms = [self._planning.dialect.room(place, self._facts) for place in tally]
        return all((room.free_bytes or 0.0) >= _AMPLE * _least(self._since, room) for room in rooms)

    def _shortage(self, place: Place, taken: Taken) -> str | None:
        room = self._planning.dialect.room(place, self._facts)
        if room.free_bytes is None or room.free_bytes >= _least(taken, room):
            return None
        need, hint = _Compared((place,), taken, room).need, room.hint.partition(",")[0]
        left = f"only {byte_size(room.free_bytes)} are left in {place}, and the next trial needs {need}"
        return f"{left}; {hint}"


def _least(taken: Taken, room: Room) -> float:
    return max(SPARE * taken.bytes, room.least_bytes if taken.unknown else 0.0)


def whole_bytes(experiment: Experiment, facts: Facts) -> dict[str, Scalar]:
    """Return the size of the whole database where only a part is backed up: what its rate means for all of it."""
    scope = experiment.options.get("scope", "database")
    if not declaration(experiment.operation).backs_up or scope in ("database", "archivelog"):
        return {}
    found = [row.get("byte_count") for row in facts.rows("backup_files")]
    known = sum(size for size in found if isinstance(size, int | float))
    return {"database_bytes": known} if known else {}
