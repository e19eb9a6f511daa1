"""The whole run: setup, every trial in its order, cleanup; and what is left to do after an interruption."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from toolkit.dialects.answers import GoesOn
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.records import Artifact, ItemRecord, TrialRecord
from toolkit.model.steps import Stages
from toolkit.model.values import Cell
from toolkit.model.words import Mode, Outcome, Role, RunState
from toolkit.operations.base import Piece, support_of
from toolkit.runner.around import bracketed, expect
from toolkit.runner.bench import Bench
from toolkit.runner.completed import note_completed
from toolkit.runner.gathering import prove_at_end
from toolkit.runner.ghosts import end_ghosts
from toolkit.runner.monitor import learn_refusals
from toolkit.runner.trial import Ended, run_trial, unsupported
from toolkit.runner.waiting import wait_for_calm
from toolkit.targets.base import Target
from toolkit.units import byte_size

_RECONNECT_SECONDS = (0.2, 1.0, 3.0, 10.0, 20.0)


@dataclass(slots=True)
class Progress:
    """How far the sweep is; an estimate comes from the cells' own times."""

    total: int
    ended: int = 0
    begun: float = field(default_factory=time.monotonic)
    seconds: dict[Cell, list[float]] = field(default_factory=dict)

    def note(self, cell: Cell, seconds: float) -> None:
        self.ended += 1
        self.seconds.setdefault(cell, []).append(seconds)

    @property
    def spent(self) -> float:
        return time.monotonic() - self.begun

    def expect(self, cells: Iterable[Cell]) -> float | None:
        """Return the seconds these trials will take, or None while a cell has not been seen."""
        total = 0.0
        for cell in cells:
            seen = self.seconds.get(cell)
            if not seen:
                return None
            total += sorted(seen)[len(seen) // 2]
        return total


def missing(planned: Sequence[PlannedTrial], done: Sequence[TrialRecord], mode: Mode) -> tuple[PlannedTrial, ...]:
    """Return the trials still to be run: those without an end, and those that were interrupted.

    In a measurement a failed trial is a result. In a job it is work that is still to be done: of its items those
    that did not end ok.
    """
    undone = {Outcome.INTERRUPTED, Outcome.FAILED} if mode is Mode.JOB else {Outcome.INTERRUPTED}
    final = {record.trial for record in done if record.outcome not in undone}
    return tuple(each for each in planned if each.number not in final)


class Sweep:
    """Runs what is planned and not yet done."""

    def __init__(
        self, bench: Bench, target: Target, planned: Sequence[PlannedTrial], done: Sequence[TrialRecord]
    ) -> None:
        self._bench = bench
        self._target = target
        self._planned = planned
        self._todo = missing(planned, done, bench.experiment.mode)
        self._refused = {record.cell for record in done if record.outcome is Outcome.UNSUPPORTED}
        self._progress = Progress(len(planned), len(planned) - len(self._todo))
        self._alike: dict[str, set[Cell]] = {}

    def run(self) -> RunState:
        """Run to the end, or to where a signal, the budget or a lost server stops it; cleanup runs in any case.

        Raises:
            ToolkitError: TK-0202 when the server does not come back; the run can be resumed.
        """
        bench = self._bench
        todo = self._todo
        state = RunState.INTERRUPTED
        try:
            if todo:
                self._setup(todo)
                state = self._trials(todo)
            else:
                state = RunState.DONE
        finally:
            self._put_workers_back()
            bench.stop.look()
            if not bench.stop.disowned:
                prove_at_end(bench, self._planned)
                self._cleanup()
            bench.sessions.close()
            if bench.others.sentence is not None:
                bench.warn(bench.others.sentence)
            if not bench.stop.disowned:
                bench.store.end_run(bench.run, state, datetime.now(UTC))
        return state

    def _setup(self, todo: Sequence[PlannedTrial]) -> None:
        stages = self._first_stages(todo)
        if stages is None:
            return
        self._make(stages)
        self._bench.workers.set_up(self._bench.sessions, stages)
        if not self._bench.job:
            learn_refusals(self._bench, stages)

    def _make(self, stages: Stages) -> None:
        if not stages.setup:
            return
        if any(step.effect == "creates" for step in stages.setup):
            self._bench.events.emit(Event("setup", "making what the trials need"))
        kept = self._bench.changes.run(stages.setup)
        has_rows = kept.get("has_rows", ())
        self._bench.source_has_rows = bool(has_rows and has_rows[0].get("has_rows"))

    def _first_stages(self, todo: Sequence[PlannedTrial]) -> Stages | None:
        """Return the stages of the first cell that can be had: setup and cleanup are the same for all."""
        for each in todo:
            pieces = self._bench.operation.pieces(self._bench.planner(), each.cell)
            if support_of(self._bench.planner(), pieces).ok:
                return self._bench.operation.plan(self._bench.planner(), each.cell)
        return None

    def _trials(self, todo: Sequence[PlannedTrial]) -> RunState:
        with bracketed(self._bench):
            return self._each_trial(todo)

    def _each_trial(self, todo: Sequence[PlannedTrial]) -> RunState:
        for position, planned in enumerate(todo):
            if not self._ready(planned):
                return RunState.INTERRUPTED
            if planned.cell in self._refused:
                self._progress.total -= 1
                continue
            ended = self._trial(planned)
            self._note(ended.record, todo[position + 1 :])
            if ended.record.outcome is Outcome.INTERRUPTED:
                return RunState.INTERRUPTED
            if ended.lost:
                self._reconnect(planned.number)
            if position + 1 < len(todo) and self._hopeless(ended.record):
                return RunState.FAILED
        return RunState.DONE

    def _hopeless(self, record: TrialRecord) -> bool:
        """Tell whether every trial would fail alike: two cells, or the only one, met what no cell can help."""
        if record.outcome is not Outcome.FAILED or record.error_code is None:
            return False
        advice = self._bench.dialect.explain(record.error_code, record.reason or "")
        if advice is None or advice.goes_on is not GoesOn.NOTHING:
            return False
        alike = self._alike.setdefault(record.error_code, set())
        alike.add(record.cell)
        if len(alike) < 2 <= len({each.cell for each in self._planned}):
            return False
        self._bench.warn(f"every trial would fail alike ({record.error_code}: {advice.advice}); the run ends here")
        return True

    def _ready(self, planned: PlannedTrial) -> bool:
        """Tell whether the next trial may begin: not stopped, within the budget, with room, on a calm host."""
        self._bench.stop.look()
        if self._bench.stop.requested or not self._affordable(planned) or not self._fits():
            return False
        wait_for_calm(self._bench)
        return not self._bench.stop.requested

    def _affordable(self, planned: PlannedTrial) -> bool:
        budget = self._bench.experiment.budget_seconds
        if budget is None:
            return True
        next_one = self._progress.expect([planned.cell]) or 0.0
        if self._progress.spent + next_one <= budget:
            return True
        self._bench.warn(f"the budget of {budget:g} s is spent; `dbatk runs resume` goes on")
        return False

    def _fits(self) -> bool:
        """Stop between trials before the disk is full: what a trial needs, and a fifth more, must be free."""
        bench = self._bench
        free = bench.free_bytes()
        if free is None or bench.needed_bytes is None or free >= 1.2 * bench.needed_bytes:
            return True
        bench.warn(f"only {byte_size(free)} are left where objects go; free space, then `dbatk runs resume`")
        return False

    # -- one trial ----------------------------------------------------------------------------------------------
    def _trial(self, planned: PlannedTrial) -> Ended:
        bench = self._bench
        planner = bench.planner(self._sequence(planned))
        pieces = bench.operation.pieces(planner, planned.cell)
        support = support_of(planner, pieces)
        bench.store.begin_trial(
            bench.run, planned.number, bench.attempt, planned.cell, planned.repeat, datetime.now(UTC)
        )
        self._announce(planned)
        if support.ok or self._made_before(planned, pieces):
            ended = self._execute(planned, pieces, bench.operation.plan(planner, planned.cell))
            if ended.record.outcome is Outcome.DOWNGRADED and ended.record.elapsed_seconds is None:
                ended = self._once_more(planned)
        else:
            requested = planner.degree(planned.cell) or None
            ended = Ended(unsupported(planned, bench.attempt, support.sentence, requested))
            self._refused.add(planned.cell)
        bench.stop.look()
        bench.stop.refuse_if_disowned()
        bench.store.end_trial(bench.run, ended.record)
        if ended.errors:
            name = f"errors-{planned.number}-{bench.attempt}.txt"
            bench.store.keep_artifact(
                bench.run, Artifact(name, "text/plain", ended.errors.encode(), planned.number)
            )
        return ended

    def _once_more(self, planned: PlannedTrial) -> Ended:
        """Try a degree that could not be had at once a second time."""
        bench = self._bench
        planner = bench.planner(self._sequence(planned, again=True))
        pieces = bench.operation.pieces(planner, planned.cell)
        return self._execute(planned, pieces, bench.operation.plan(planner, planned.cell))

    def _sequence(self, planned: PlannedTrial, *, again: bool = False) -> int:
        """Number the objects of an execution so that no name is ever used twice in a run, and names stay short.

        The first attempt has the trials' own numbers; each further one, and a second try, goes on from there.
        """
        earlier = 2 * (self._bench.attempt - 1) + again
        return planned.number + earlier * len(self._planned)

    def _execute(self, planned: PlannedTrial, pieces: tuple[Piece, ...], stages: Stages) -> Ended:
        bench = self._bench
        expect(bench, self._progress.expect([planned.cell]))
        stages, earlier = self._without_done(planned, stages)
        if not stages.timed.items:
            return Ended(_from_items(planned, bench.attempt, earlier))

        def durable(item: ItemRecord) -> None:
            if bench.job:
                bench.store.add_item(bench.run, planned.number, bench.attempt, item)
                bench.events.emit(Event("progress", item.label, {"outcome": item.outcome.value}))

        return run_trial(bench, planned, bench.attempt, pieces, stages, durable)

    def _without_done(self, planned: PlannedTrial, stages: Stages) -> tuple[Stages, tuple[ItemRecord, ...]]:
        """Leave out the items of a job that an earlier attempt has done."""
        done = self._done_before(planned)
        if not done:
            return stages, ()
        items = tuple(item for item in stages.timed.items if item.label not in done)
        workers = min(stages.timed.workers, max(1, len(items)))
        return replace(stages, timed=replace(stages.timed, items=items, workers=workers)), tuple(done.values())

    def _done_before(self, planned: PlannedTrial) -> dict[str, ItemRecord]:
        """Return the items of a job that an earlier attempt has done."""
        if not self._bench.job or self._bench.attempt == 1:
            return {}
        items = self._bench.store.items_of(self._bench.run, planned.number)
        return {item.label: item for item in items if item.outcome is Outcome.OK}

    def _made_before(self, planned: PlannedTrial, pieces: Sequence[Piece]) -> bool:
        """Tell whether nothing is left to be done: what was made itself stands in the way of making it."""
        return {piece.label for piece in pieces} <= self._done_before(planned).keys()

    # -- telling ------------------------------------------------------------------------------------------------
    def _announce(self, planned: PlannedTrial) -> None:
        what = "warm-up" if planned.warmup else f"repeat {planned.repeat}"
        progress = self._progress
        text = f"{planned.cell} {what}"
        data = {
            "ended": progress.ended,
            "total": progress.total,
            "cell": str(planned.cell),
            "repeat": planned.repeat,
            "run": self._bench.run,
            "trial": planned.number,
        }
        self._bench.events.emit(Event("trial-begun", text, data))

    def _note(self, record: TrialRecord, todo: Sequence[PlannedTrial]) -> None:
        progress = self._progress
        took = (record.ended_at - record.began_at).total_seconds()
        progress.note(record.cell, took)
        eta = progress.expect(each.cell for each in todo if each.cell not in self._refused)
        data = {
            "ended": progress.ended, "total": progress.total, "eta_seconds": eta, "cell": str(record.cell),
            "repeat": record.repeat, "outcome": record.outcome.value, "elapsed_seconds": record.elapsed_seconds,
            "reason": record.reason, "run": self._bench.run, "trial": record.trial,
        }  # fmt: skip
        text = f"{record.cell}: {record.outcome.value}" + (f" ({record.reason})" if record.reason else "")
        self._bench.events.emit(Event("trial-ended", text, data))

    # -- when things break --------------------------------------------------------------------------------------
    def _reconnect(self, trial: int) -> None:
        """After a lost session: end what the server still runs for us, undo it, and go on.

        Raises:
            ToolkitError: TK-0202 when the server does not come back.
        """
        bench = self._bench
        bench.sessions.close()
        # Whoever took this run over ended our sessions; theirs are not ghosts.
        bench.stop.look()
        bench.stop.refuse_if_disowned()
        last = ""
        for seconds in _RECONNECT_SECONDS:
            if bench.stop.wait(seconds):
                return
            try:
                end_ghosts(self._target, bench.dialect, bench.run)
                bench.sessions.get(Role.CONTROL)
                note_completed(bench.run, bench.experiment, bench.changes, bench.store, bench.warn)
                self._undo_trials()
                bench.warn(f"the connection was lost in trial {trial} and is back")
                return
            except (ToolkitError, DatabaseError) as error:
                bench.sessions.close()
                last = f": {error.sentence}"
        raise ToolkitError(
            f"the server did not come back after trial {trial}{last}",
            code="TK-0202",
            hint=f"`dbatk runs resume {bench.run}` when it is back",
        )

    def _undo_trials(self) -> None:
        undone = self._bench.changes.undo_trials()
        for sentence in undone.left:
            self._bench.warn(sentence)

    def _put_workers_back(self) -> None:
        bench = self._bench
        bench.workers.put_back(
            bench.sessions,
            lambda _, error: bench.warn(
                f"a worker session could not be put back and was closed: {error.sentence}"
            ),
        )

    def _cleanup(self) -> None:
        """Drop what setup made; what cannot be dropped now stays in the journal for `dbatk clean`."""
        bench = self._bench
        try:
            note_completed(bench.run, bench.experiment, bench.changes, bench.store, bench.warn)
            undone = bench.changes.undo_all()
        except (DatabaseError, ToolkitError) as error:
            bench.warn(f"cleanup could not run ({error.sentence}); run `dbatk clean`")
            return
        for sentence in undone.left:
            bench.warn(sentence)


def _from_items(planned: PlannedTrial, attempt: int, items: Sequence[ItemRecord]) -> TrialRecord:
    """Return the record of a job whose items were all done by an earlier attempt."""
    now = datetime.now(UTC)
    rows = [item.rows for item in items if item.rows is not None]
    return TrialRecord(
        planned.number, attempt, planned.cell, planned.repeat, Outcome.OK, now, now,
        reason=f"{'it' if len(items) == 1 else f'all {len(items)} items'} had been done before the interruption",
        elapsed_seconds=items[0].elapsed_seconds if len(items) == 1 else None,
        rows=sum(rows) if rows else None,
    )  # fmt: skip
