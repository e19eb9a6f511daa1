"""The whole run: setup, every trial in its order, cleanup; and what is left to do after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from toolkit.design.order import budget_used_up
from toolkit.errors import ToolkitError
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.records import Artifact, ItemRecord, TrialRecord
from toolkit.model.steps import Stages
from toolkit.model.values import Cell
from toolkit.model.words import Outcome, Role, RunState
from toolkit.operations.base import Piece
from toolkit.operations.loads import check_same_rows
from toolkit.runner.around import bracketed, expect, wait_for_calm
from toolkit.runner.condition import CHANGED_MEANWHILE
from toolkit.runner.context import RunContext
from toolkit.runner.gathering import prove_at_end
from toolkit.runner.hopeless import Prospects
from toolkit.runner.judging import unsupported
from toolkit.runner.leftovers import STILL_ACTIVE, end_orphaned_sessions, note_completed
from toolkit.runner.monitor import learn_refusals
from toolkit.runner.parts import from_items, named_later, nothing_named, partly_loaded, with_earlier, without_work
from toolkit.runner.todo import SweepProgress, done_before, failed_in_vain, missing
from toolkit.runner.trial import EndedTrial, run_trial
from toolkit.runner.undoing import Undone
from toolkit.runner.until_known import until_known
from toolkit.units import counted

_RECONNECT_SECONDS = (0.2, 1.0, 3.0, 10.0, 20.0)


class Sweep:
    """Runs what is planned and not yet done."""

    def __init__(
        self,
        context: RunContext,
        planned: Sequence[PlannedTrial],
        done: Sequence[TrialRecord],
        again: Callable[[TrialRecord], bool] = lambda _: False,
    ) -> None:
        self._context = context
        self._planned = planned
        self._todo = missing(planned, done, context.experiment.mode, again)
        self._refused = {record.cell for record in done if record.outcome is Outcome.UNSUPPORTED}
        self._progress = SweepProgress(len(planned), len(planned) - len(self._todo))
        self._prospects = Prospects(context, planned)
        self._outside: list[PlannedTrial] = []
        self._given_up: set[Cell] = set()

    def run(self) -> RunState:
        """Run to the end, or to where a signal, the budget or a lost server stops it; cleanup runs in any case.

        Raises:
            ToolkitError: TK-0202 when the server does not come back, TK-0308 when a session of the run that was
                lost may still be at work there; the run can be resumed.
        """
        context = self._context
        todo = self._todo
        state = RunState.INTERRUPTED
        still_active: ToolkitError | None = None
        try:
            if todo:
                self._setup(todo)
            state = self._trials(todo) if todo else RunState.DONE
            if state is RunState.DONE:
                context.when_done()
        finally:
            with context.sessions.timeouts.finishing():
                self._put_workers_back()
                context.stop.look()
                if not context.stop.disowned:
                    prove_at_end(context, self._planned)
                    still_active = self._cleanup()
            context.sessions.close()
            if todo and context.others.sentence is not None:
                context.warn(context.others.sentence, in_result=True, instead_of=context.others.told)
            if not context.stop.disowned:
                context.store.end_run(context.run, state, datetime.now(UTC))
            if still_active is not None and not context.stop.requested:
                raise still_active
        return state

    def _setup(self, todo: Sequence[PlannedTrial]) -> None:
        stages = self._first_stages(todo)
        if stages is None:
            return
        self._make(stages)
        self._context.workers.set_up(self._context.sessions, stages)
        if not self._context.job:
            learn_refusals(self._context, stages)

    def _make(self, stages: Stages) -> None:
        if not stages.setup:
            return
        if any(step.effect == "creates" for step in stages.setup):
            self._context.events.emit(Event("setup", "creating what the trials need"))
        kept = self._context.changes.run(stages.setup)
        has_rows = kept.get("has_rows", ())
        self._context.source_has_rows = bool(has_rows and has_rows[0].get("has_rows"))
        if not_compared := check_same_rows(kept):
            self._context.warn(not_compared, in_result=True)

    def _first_stages(self, todo: Sequence[PlannedTrial]) -> Stages | None:
        """Return the stages of the first cell that can be had: setup and cleanup are the same for all."""
        for each in todo:
            if self._context.planning.support_for(each.cell).ok:
                return self._context.stages(each.cell, self._sequence(each))
        return None

    def _trials(self, todo: Sequence[PlannedTrial]) -> RunState:
        with bracketed(self._context):
            state = until_known(self._context, todo, self._progress, self._given_up, self._each_trial)
            if state is RunState.DONE and self._outside and not self._context.job:
                state = self._again(tuple(self._outside))
        return state

    def _again(self, failed: Sequence[PlannedTrial]) -> RunState:
        """Repeat once what failed for a cause outside of it, until one shows that the cause is still there."""
        context = self._context
        many = counted(len(failed), "trial")
        context.warn(f"{many} failed for a cause outside of what was tried; repeated once now")
        context.attempt += 1
        self._progress.total += len(failed)
        for position, planned in enumerate(failed):
            self._outside = []
            state = self._each_trial((planned,))
            if state is not RunState.DONE:
                return state
            if self._outside:
                left = counted(len(failed) - position, "trial")
                context.warn(
                    f"the cause is still there; `{context.store.resume_command(context.run)}` repeats {left}"
                )
                return RunState.FAILED
        return RunState.DONE

    def _each_trial(self, todo: Sequence[PlannedTrial]) -> RunState:
        for position, planned in enumerate(todo):
            if not self._ready(planned):
                return RunState.INTERRUPTED
            if planned.cell in self._refused:
                self._progress.total -= 1
                continue
            ended = self._trial(planned)
            self._note(ended.record, todo[position + 1 :])
            if failed_in_vain(self._context.dialect, ended.record):
                self._outside.append(planned)
            if ended.record.outcome is Outcome.INTERRUPTED:
                return RunState.INTERRUPTED
            if ended.lost and not self._reconnect(planned.number):
                return RunState.INTERRUPTED
            changed = ended.record.error_code == CHANGED_MEANWHILE
            if changed or (position + 1 < len(todo) and self._prospects.are_none(ended.record)):
                return RunState.FAILED
        return RunState.DONE

    def _ready(self, planned: PlannedTrial) -> bool:
        """Tell whether the next trial may begin: not stopped, within the budget, with room, on a calm host."""
        self._context.stop.look()
        if self._context.store.is_gone:
            self._context.warn("the results store was deleted or replaced; the run is saved when it ends")
        if self._context.stop.requested or not self._affordable(planned) or not self._fits(planned):
            return False
        wait_for_calm(self._context)
        self._context.gates.before_trial()
        return not self._context.stop.requested

    def _affordable(self, planned: PlannedTrial) -> bool:
        budget = self._context.experiment.budget_seconds
        if budget is None:
            return True
        next_one = self._progress.expect([planned.cell]) or 0.0
        if self._progress.spent + next_one <= budget:
            return True
        resume = self._context.store.resume_command(self._context.run)
        self._context.warn(f"{budget_used_up(budget)}; `{resume}` continues")
        return False

    def _fits(self, planned: PlannedTrial) -> bool:
        """Stop between trials before one that fills a disk or the place of archived logs, or does other harm."""
        why = self._context.barred(planned)
        if why is not None:
            self._context.warn(f"{why}; then `{self._context.store.resume_command(self._context.run)}`")
        return why is None

    # -- one trial ----------------------------------------------------------------------------------------------
    def _trial(self, planned: PlannedTrial) -> EndedTrial:
        context = self._context
        sequence = self._sequence(planned)
        pieces = context.operation.pieces(context.planner(sequence), planned.cell)
        support = context.planning.support_for(planned.cell)
        context.store.begin_trial(
            context.run, planned.number, context.attempt, planned.cell, planned.repeat, datetime.now(UTC)
        )
        self._announce(planned)
        if support.ok or self._made_before(planned, pieces):
            ended = self._execute(planned, pieces, context.stages(planned.cell, sequence))
            if ended.record.outcome is Outcome.DOWNGRADED and ended.record.elapsed_seconds is None:
                ended = self._once_more(planned)
        else:
            requested = context.planner().degree(planned.cell) or None
            ended = EndedTrial(unsupported(planned, context.attempt, support.sentence, requested))
            self._refused.add(planned.cell)
        context.stop.look()
        context.stop.refuse_if_disowned()
        context.store.end_trial(context.run, ended.record)
        if ended.errors:
            name = f"errors-{planned.number}-{context.attempt}.txt"
            context.store.keep_artifact(
                context.run, Artifact(name, "text/plain", ended.errors.encode(), planned.number)
            )
        return ended

    def _once_more(self, planned: PlannedTrial) -> EndedTrial:
        """Try a degree that could not be had at once a second time."""
        context = self._context
        sequence = self._sequence(planned, again=True)
        pieces = context.operation.pieces(context.planner(sequence), planned.cell)
        return self._execute(planned, pieces, context.stages(planned.cell, sequence))

    def _sequence(self, planned: PlannedTrial, *, again: bool = False) -> int:
        """Number the objects of an execution so that no name is ever used twice in a run, and names stay short.

        The first attempt has the trials' own numbers; each further one, and a second try, goes on from there.
        """
        earlier = 2 * (self._context.attempt - 1) + again
        return planned.number + earlier * max(len(self._planned), len(self._context.planning.trials))

    def _execute(self, planned: PlannedTrial, pieces: tuple[Piece, ...], stages: Stages) -> EndedTrial:
        context = self._context
        expect(context, self._progress.expect([planned.cell]))
        stages, earlier = self._without_done(planned, stages)
        if not stages.timed.items:
            idle = without_work(planned, context.attempt, stages.timed.left_out)
            return EndedTrial(from_items(planned, context.attempt, earlier) if earlier else idle)

        late = named_later(stages)

        def durable(items: Sequence[ItemRecord]) -> None:
            if context.job and items:
                if not late:
                    context.store.add_items(context.run, planned.number, context.attempt, items)
                for item in items:
                    context.events.emit(Event("progress", item.label, {"outcome": item.outcome.value}))

        ended = run_trial(context, planned, context.attempt, pieces, stages, durable)
        record = nothing_named(ended.record) if late else ended.record
        return replace(ended, record=with_earlier(record, earlier))

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
        if not self._context.job or self._context.attempt == 1:
            return {}
        return done_before(self._context.store, self._context.run, planned.number)

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
            "run": self._context.run,
            "trial": planned.number,
        }
        self._context.events.emit(Event("trial-begun", text, data))

    def _note(self, record: TrialRecord, todo: Sequence[PlannedTrial]) -> None:
        progress = self._progress
        took = (record.ended_at - record.began_at).total_seconds()
        progress.note(record.cell, took)
        eta = progress.expect(each.cell for each in todo if each.cell not in self._refused)
        data = {
            "ended": progress.ended, "total": progress.total, "eta_seconds": eta, "cell": str(record.cell),
            "repeat": record.repeat, "outcome": record.outcome.value, "elapsed_seconds": record.elapsed_seconds,
            "reason": record.reason, "run": self._context.run, "trial": record.trial,
        }  # fmt: skip
        name = f"{record.cell}: " if record.cell else ""
        text = f"{name}{record.outcome.value}" + (f" ({record.reason})" if record.reason else "")
        self._context.events.emit(Event("trial-ended", text, data))

    # -- when things break --------------------------------------------------------------------------------------
    def _reconnect(self, trial: int) -> bool:
        """After a lost session: end what the server still runs for us, undo it, and tell whether to go on.

        Not if the run was stopped while the server was away: who resumes it asks what was made there.

        Raises:
            ToolkitError: TK-0202 when the server does not come back.
        """
        context = self._context
        context.sessions.close()
        # Whoever took this run over ended our sessions; theirs are not orphaned sessions.
        context.stop.look()
        context.stop.refuse_if_disowned()
        last = ""
        for pause in _RECONNECT_SECONDS:
            if context.stop.wait(pause):
                return False
            try:
                self._end_orphans()
                context.sessions.get(Role.CONTROL)
                note_completed(context.run, context.experiment, context.changes, context.store, context.warn)
                self._undo_trials()
                context.warn(f"the connection was lost in trial {trial} and restored")
                return True
            except (ToolkitError, DatabaseError) as error:
                context.sessions.close()
                last = f": {error.sentence}"
        raise ToolkitError(
            f"the server did not come back after trial {trial}{last}",
            code="TK-0202",
            hint=f"`{context.store.resume_command(context.run)}` when it is back",
        )

    def _end_orphans(self) -> None:
        """End what the database still runs for us; TK-0308 when a session may still be at work."""
        context = self._context
        context.sessions.close()
        journal = context.store.journal(context.run)
        end_orphaned_sessions(context.target, context.dialect, context.run, journal, context.sessions.timeouts)
        context.sessions.orphaned = context.sessions.cut_off = False

    def _undo_trials(self) -> None:
        self._context.warn(*self._context.changes.undo_trials().left)

    def _put_workers_back(self) -> None:
        context = self._context
        lost = "a worker session could not be restored and was closed"
        context.workers.put_back(context.sessions, lambda _, error: context.warn(f"{lost}: {error.sentence}"))

    def _cleanup(self) -> ToolkitError | None:
        """Drop what setup made; what cannot be dropped now stays in the journal for `dbatk clean`.

        Returns:
            TK-0308 when a session of the run may still be at work: then nothing is given up.
        """
        context = self._context
        try:
            undone = self._undo_all()
            undone = self._undo_all() if context.sessions.orphaned else undone  # lost while it was undone
        except (DatabaseError, ToolkitError) as error:
            context.warn(f"cleanup could not run ({error.sentence}); run `dbatk clean`")
            return error if isinstance(error, ToolkitError) and error.code == STILL_ACTIVE else None
        context.warn(*undone.left)
        if context.sessions.cut_off:  # the lock that they hold would keep the next run out until TCP ends them
            with suppress(DatabaseError, ToolkitError):
                self._end_orphans()
        return None

    def _undo_all(self) -> Undone:
        context = self._context
        if context.sessions.orphaned:
            self._end_orphans()
        context.warn(
            *partly_loaded(context.run, context.experiment, context.sessions, context.dialect, context.store)
        )
        note_completed(context.run, context.experiment, context.changes, context.store, context.warn)
        return context.changes.undo_all(keep_open=True)
