"""What a run works with, put together once and handed on.

`PlanningContext` is what is known before anything is changed, and never changes; `RunContext` adds what a run acts
through: its sessions, its store, its journal, its events.

Where every step that sets a session up says how it is undone, the session stays as it is from trial to trial and
only what differs is sent: every statement is a round trip. After a failure it is put back as a whole, and at the
end of the run in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from toolkit.design.order import cells_of_experiment, plan_trials
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Refusals, Script, Sessions, may_still_end, silent_seconds
from toolkit.model.experiment import Experiment, Naming, PlannedTrial, Spec
from toolkit.model.facts import Facts
from toolkit.model.operations import declaration
from toolkit.model.protocols import DatabaseError, Event, Events, Stopping
from toolkit.model.records import RunRecord, run_key
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Cell, Support
from toolkit.model.words import Keep, Mode, Role
from toolkit.operations.base import Operation, Piece, Planner, support_of
from toolkit.operations.registry import operation
from toolkit.runner.changes import Changes
from toolkit.runner.external import with_external_factors
from toolkit.runner.settings import ChangeOfServer, ServerSettings, as_shown, with_settings
from toolkit.runner.stop import Stop
from toolkit.snapshots import Provider
from toolkit.snapshots.host import DISTURBED_ABOVE, STANDS_OUT_BY
from toolkit.store import Store
from toolkit.targets.base import Target


@dataclass(frozen=True, slots=True)
class _Set:
    """A session as it was set up: which one it is, by which steps, and how it is put back."""

    identity: str
    begun: tuple[Step, ...]
    end: tuple[Step, ...]


def stays(stages: Stages) -> bool:
    """Tell whether a session set up for these stages may stay so after the trial."""
    return bool(stages.worker_begin) and all(step.undo for step in stages.worker_begin)


@dataclass(slots=True)
class Workers:
    """The sessions that are set up now, by number."""

    _now: dict[int, _Set] = field(default_factory=dict)

    def due(self, number: int, identity: str, stages: Stages) -> Iterator[Step]:
        """Yield the steps that make a session what a trial wants, from what it is; all of them for a new one."""
        now = self._now.pop(number, None)
        begun = now.begun if now is not None and now.identity == identity else ()
        wanted = {step.text for step in stages.worker_begin}
        for step in reversed(begun):
            if step.text not in wanted:
                yield from (replace(step, text=text, undo=(), name=f"{step.name} undo") for text in step.undo)
        there = {step.text for step in begun}
        yield from (step for step in stages.worker_begin if step.text not in there)
        if stays(stages):
            self._now[number] = _Set(identity, stages.worker_begin, stages.worker_end)

    def forget(self, number: int) -> None:
        """Take a session out: it was put back, or is lost."""
        self._now.pop(number, None)

    def set_up(self, sessions: Sessions, stages: Stages) -> None:
        """Set sessions up before the first trial; what fails here fails again, and is reported, in the trial."""
        sessions.deal_out(stages.timed)
        for number in range(stages.timed.workers if stays(stages) else 0):
            with suppress(DatabaseError, ToolkitError):
                identity = sessions.get(Role.WORKER, number).identity
                for step in self.due(number, identity, stages):
                    sessions.run(step, number)

    def put_back(self, sessions: Sessions, failed: Callable[[int, DatabaseError | ToolkitError], None]) -> None:
        """Put every session back at the end of the run."""
        for number, now in list(self._now.items()):
            self.forget(number)
            try:
                if sessions.get(Role.WORKER, number).identity != now.identity:
                    continue
                for step in now.end:
                    sessions.run(step, number)
            except (DatabaseError, ToolkitError) as error:
                failed(number, error)


@dataclass(frozen=True, slots=True)
class Gates:
    """Waits until the guards of a run let a trial, or an item, begin; asks the run to stop where they do not."""

    before_trial: Callable[[], None] = lambda: None
    before_item: Callable[[], None] = lambda: None


PLACEHOLDER = "RUN"
"""Stands for the run's id in scripts that are shown and not run."""


def spec_of(experiment: Experiment) -> Spec:
    """Return what an operation needs to know of an experiment."""
    return Spec(
        experiment.operation,
        experiment.mode,
        experiment.options,
        experiment.work_schema,
        experiment.keep,
        experiment.factors,
    )


@dataclass(frozen=True, eq=False)
class PlanningContext:
    """An experiment, the dialect it is spelled in, and what was read from the catalogue.

    Each is worked out once, so one equals none but itself.
    """

    experiment: Experiment
    dialect: Dialect
    facts: Facts

    @cached_property
    def operation(self) -> Operation:
        return operation(self.experiment.operation)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in the order of the factors' levels."""
        return cells_of_experiment(self.experiment)

    @cached_property
    def trials(self) -> tuple[PlannedTrial, ...]:
        """The trials in the order of the experiment's seed."""
        return trials_of(self.experiment)

    def planner(self, key: str = PLACEHOLDER, number: int = 1) -> Planner:
        """Return a planner whose names carry this key and number."""
        naming = Naming(key, number, self.dialect.upper_names)
        return Planner(self.dialect, spec_of(self.experiment), self.facts, naming, self._known)

    @cached_property
    def _known(self) -> dict[Hashable, object]:
        return {}

    def pieces(self, cell: Cell) -> tuple[Piece, ...]:
        """Return what is worked on in a trial of this cell, under placeholder names; made once for each cell."""
        if cell not in self._pieces:
            self._pieces[cell] = self.operation.pieces(self.planner(), cell)
        return self._pieces[cell]

    @cached_property
    def _pieces(self) -> dict[Cell, tuple[Piece, ...]]:
        return {}

    def all_pieces(self) -> Iterator[Piece]:
        """Yield what is worked on in all cells, cell by cell."""
        for cell in self.cells:
            yield from self.pieces(cell)

    @cached_property
    def support(self) -> tuple[tuple[Cell, Support], ...]:
        """Whether each cell can be had."""
        return tuple((cell, self.support_for(cell)) for cell in self.cells)

    def support_for(self, cell: Cell) -> Support:
        """Say whether a cell can be had, whatever its objects are named; judged once for each cell."""
        if cell not in self._supports:
            self._supports[cell] = support_of(self.planner(), self.pieces(cell))
        return self._supports[cell]

    @cached_property
    def _supports(self) -> dict[Cell, Support]:
        return {}

    @cached_property
    def scripts(self) -> tuple[Script, ...]:
        """The steps of every cell under placeholder names; a cell that cannot be had has none, and says why."""
        return tuple(self._script(number, cell, support) for number, (cell, support) in enumerate(self.support, 1))

    def with_settings(self, stages: Stages, cell: Cell, of_server: ChangeOfServer | None = None) -> Stages:
        """Return stages with the settings of a cell; `of_server` as in `runner.settings`."""
        return with_settings(stages, self.experiment, self.dialect, self.facts, cell, of_server)

    @cached_property
    def kept(self) -> tuple[Script, ...]:
        """With `--keep best`: the job that each cell would be; without stages where too little was read."""
        if self.experiment.keep is not Keep.BEST:
            return ()
        return tuple(self._kept(cell) for cell, support in self.support if support.ok)

    def _kept(self, cell: Cell) -> Script:
        job = replace(self, experiment=job_of(self.experiment, cell))
        try:
            return job.scripts[0]
        except ToolkitError as error:
            return Script(str(cell), None, error.message)

    def _script(self, number: int, cell: Cell, support: Support) -> Script:
        title = f"{self.experiment.operation} {cell}" if cell else str(self.experiment.operation)
        if not support.ok:
            return Script(title, None, support.sentence)
        stages = self.operation.plan(self.planner(number=number), cell)
        stages = with_external_factors(stages, self.experiment.factors, cell)
        return Script(title, self.with_settings(stages, cell, as_shown))


def job_of(experiment: Experiment, cell: Cell) -> Experiment:
    """Return the job that one cell of a measurement is."""
    factors = tuple(replace(factor, levels=(cell[factor.name],)) for factor in experiment.factors)
    return replace(experiment, mode=Mode.JOB, factors=factors, repeat=1, warmup=0, keep=Keep.NONE)


def trials_of(experiment: Experiment) -> tuple[PlannedTrial, ...]:
    """Return the trials of an experiment in the order of its seed."""
    return plan_trials(
        experiment.factors,
        repeat=experiment.repeat,
        warmup=experiment.warmup,
        seed=experiment.seed,
        only=experiment.only,
    )


_OTHERS_USED = ("others used ", " % of this host's CPU during the trials (median): times are uncertain")


@dataclass(slots=True)
class BackgroundLoad:
    """The load of others so far: a trial is disturbed when it stands out, not when the host is always busy.

    Attributes:
        seen: the part of the host that others took, in each trial.
        told: the sentence that the attempts before a resume left, which one about all trials takes the place of.
    """

    seen: list[float] = field(default_factory=list)
    told: str | None = None

    @classmethod
    def before(cls, record: RunRecord) -> BackgroundLoad:
        """Return what the attempts before this one met."""
        loads = (metric for trial in record.trials for metric in trial.metrics if metric.name == "host_others_pct")
        first, last = _OTHERS_USED
        told = (one for one in record.warnings if one.startswith(first) and one.endswith(last))
        return cls([load.value / 100 for load in loads], next(told, None))

    def disturbs(self, part: float | None) -> bool:
        """Note the part of the host that others took in a trial, and tell whether it disturbed it."""
        if part is None:
            return False
        usual = sorted(self.seen)[len(self.seen) // 2] if self.seen else part
        self.seen.append(part)
        return part > max(DISTURBED_ABOVE, usual + STANDS_OUT_BY)

    @property
    def sentence(self) -> str | None:
        """Say it when the host was busy with other work all along."""
        if not self.seen:
            return None
        usual = sorted(self.seen)[len(self.seen) // 2]
        if usual <= DISTURBED_ABOVE / 2:
            return None
        return f"{100 * usual:.0f}".join(_OTHERS_USED)


@dataclass(slots=True)
class RunContext:
    """The run, its database and its store; `attempt` counts the times it was begun or resumed."""

    run: str
    planning: PlanningContext
    target: Target
    sessions: Sessions
    store: Store
    changes: Changes
    providers: Sequence[Provider]
    stop: Stop
    events: Events
    attempt: int = 1
    source_has_rows: bool = False
    warned: set[str] = field(default_factory=set)
    others: BackgroundLoad = field(default_factory=BackgroundLoad)
    refusals: Refusals = field(default_factory=Refusals)
    record: Facts | None = None
    """The facts of the run's very beginning, where it was resumed."""
    plans_kept: set[Cell] = field(default_factory=set)
    workers: Workers = field(default_factory=Workers)
    server: ServerSettings = field(default_factory=ServerSettings)
    barred: Callable[[PlannedTrial], str | None] = lambda _: None
    """Says, before a trial, what it would find no room for or what it would harm; asked anew each time."""
    gates: Gates = field(default_factory=Gates)
    stopping: Stopping | None = None
    """Decides after each sweep whether there is another one; without it all that is planned is run."""
    when_done: Callable[[], None] = lambda: None
    """Does what a run has still to do once its trials have ended."""
    _stages: tuple[tuple[Cell, int], Stages] | None = field(default=None, init=False)

    @property
    def experiment(self) -> Experiment:
        return self.planning.experiment

    @property
    def operation(self) -> Operation:
        return self.planning.operation

    @property
    def dialect(self) -> Dialect:
        return self.planning.dialect

    @property
    def facts(self) -> Facts:
        return self.planning.facts

    def planner(self, sequence: int = 0) -> Planner:
        """Return the planner for objects of one attempt of one trial."""
        return self.planning.planner(run_key(self.run), sequence)

    def stages(self, cell: Cell, sequence: int) -> Stages:
        """Return the stages of one attempt of one trial; those asked for last are kept."""
        if self._stages is None or self._stages[0] != (cell, sequence):
            stages = self.operation.plan(self.planner(sequence), cell)
            self._stages = (cell, sequence), self.planning.with_settings(stages, cell)
        return self._stages[1]

    @property
    def job(self) -> bool:
        return self.experiment.mode is Mode.JOB

    @property
    def before_item(self) -> Callable[[], None]:
        """What the next item waits for: the guards, where a job works on rows of the user's in chunks."""
        throttled = self.job and declaration(self.experiment.operation).changes_rows
        return self.gates.before_item if throttled else lambda: None

    @property
    def silent_seconds(self) -> float:
        """How long a cancelled statement is waited for before that is asked."""
        return silent_seconds(self.planning.dialect.engine)

    def may_still_end(self) -> bool:
        """Tell whether a statement that was cancelled may still end, and say once that it is waited for."""
        if self.sessions.programs.at_work:
            return True
        found = may_still_end(self.target)
        if found and not self.sessions.timeouts.told:
            self.warn(
                "what was cancelled has not ended yet, and the database is at work: it may be rolling back, or "
                "wait for what only others can mend (an archive destination that is full); dbatk waits for it. "
                "Ctrl-C once more ends dbatk at once, and `dbatk clean` does the rest"
            )
        return found

    def tell_of_wait(self, what: str) -> None:
        """Say what is waited for after somebody asked to end, and what a second signal does."""
        self.warn(
            f"waiting for {what}, which has not ended yet: it may be rolling back, or wait for what only others "
            "can mend (a lock, an archive destination that is full); Ctrl-C once more ends dbatk at once (exit "
            f"code 130), and `dbatk clean -t {self.experiment.target}` does the rest"
        )

    def warn(self, *sentences: str, in_result: bool = False, instead_of: str | None = None) -> None:
        """Show warnings and keep them with the run, each once; also where the store cannot be written any more.

        Args:
            sentences: the warnings.
            in_result: the result follows at once and has them, so that a screen that shows both needs them once.
            instead_of: a warning of an earlier attempt that they put in other words.
        """
        for sentence in sentences:
            if sentence in self.warned:
                continue
            self.warned.add(sentence)
            self.events.emit(Event("warning", sentence, {"in_result": True} if in_result else {}))
            # Shown while things are put back, which goes on; the next result that cannot be kept raises.
            with suppress(ToolkitError):
                self.store.warn(self.run, sentence, instead_of=instead_of)
