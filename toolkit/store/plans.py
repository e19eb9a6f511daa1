"""Keeps what became of plans: their runs, and each step on each target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanNote, PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.store import schema
from toolkit.store.database import StorePart
from toolkit.store.rows import AnyRow, newest_first, newest_order

_plan_run, _step, _note = schema.plan_run, schema.plan_step, schema.plan_note
_LISTS = ("steps", "notes")
_PART = 500
_STEP_COLUMNS = tuple(_step.c[each.name] for each in fields(StepRecord))
_STATE = 3
_OPEN = (StepState.WAITING.value, StepState.RUNNING.value)
DEATH_TOLD = "the recipients in notify.toml were notified that it died"
"""The note of a plan run whose death needs to be told no more."""
_UNENDED = (RunState.RUNNING.value, RunState.DIED.value)


class Plans(StorePart):
    """Writes and reads plan runs."""

    def begin_plan_run(self, record: PlanRunRecord) -> None:
        """Store a plan run and all its steps, which wait."""
        with self._database.write(f"plan `{record.plan}`") as connection:
            values = {name: value for name, value in asdict(record).items() if name not in _LISTS}
            connection.execute(_plan_run.insert().values(values | {"state": record.state.value}))
            if record.steps:
                connection.execute(_step.insert(), [_row(record.plan_run, step) for step in record.steps])

    def note_step(self, plan_run: str, step: StepRecord) -> None:
        """Store how far a step is; durable on return."""
        with self._database.write(f"step `{step.step}`") as connection:
            done = connection.execute(
                update(_step)
                .where(_step.c.plan_run == plan_run, _step.c.position == step.position)
                .values(_row(plan_run, step))
            )
            if done.rowcount != 1:
                raise _unknown(plan_run)

    def note_plan_run(self, plan_run: str, note: PlanNote) -> None:
        """Store what happened in a plan run beside its steps; durable on return."""
        with self._database.write(f"plan run `{plan_run}`") as connection:
            self._database.serialize(connection)
            known = select(func.count()).select_from(_note).where(_note.c.plan_run == plan_run)
            position = connection.execute(known).scalar_one()
            connection.execute(_note.insert().values(asdict(note) | {"plan_run": plan_run, "position": position}))

    def end_plan_run(self, plan_run: str, state: RunState, at: datetime, stopped_by: str | None = None) -> None:
        """Store how a plan run ended, when, and what stopped it.

        Raises:
            ToolkitError: TK-0109 when no such plan run is stored.
        """
        with self._database.write(f"plan run `{plan_run}`") as connection:
            values = {"state": state.value, "ended_at": at, "stopped_by": stopped_by}
            done = connection.execute(update(_plan_run).where(_plan_run.c.plan_run == plan_run).values(values))
            if done.rowcount != 1:
                raise _unknown(plan_run)

    def running_plan_runs(self, plan: str | None = None) -> list[str]:
        """Return the ids of the plan runs, of one plan or of all, whose end nobody has stored, oldest first."""
        query = select(_plan_run.c.plan_run).where(_plan_run.c.state == RunState.RUNNING.value)
        if plan is not None:
            query = query.where(_plan_run.c.plan == plan)
        with self._database.read() as connection:
            return list(connection.execute(query.order_by(_plan_run.c.began_at)).scalars())

    def end_dead_plan_run(self, plan_run: str, at: datetime, reason: str) -> bool:
        """Store that the process of a plan run died; False when somebody else stored its end before."""
        with self._database.write(f"plan run `{plan_run}`") as connection:
            values = {"state": RunState.DIED.value, "ended_at": at, "stopped_by": reason}
            running = (_plan_run.c.plan_run == plan_run, _plan_run.c.state == RunState.RUNNING.value)
            return connection.execute(update(_plan_run).where(*running).values(values)).rowcount == 1

    def deaths_to_tell(self, plan: str | None, since: datetime) -> list[tuple[str, str]]:
        """Return plan and id of the plan runs that died since an instant and that nobody was notified of."""
        told = select(_note.c.plan_run).where(_note.c.text == DEATH_TOLD)
        query = select(_plan_run).where(
            _plan_run.c.state == RunState.DIED.value, _plan_run.c.plan_run.not_in(told)
        )
        if plan is not None:
            query = query.where(_plan_run.c.plan == plan)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(_plan_run.c.began_at)).all()
        return [(row.plan, row.plan_run) for row in rows if row.ended_at is not None and row.ended_at >= since]

    def plan_runs(
        self, plan: str | None = None, limit: int = 100, *, with_steps: bool = True
    ) -> list[PlanRunRecord]:
        """Return the newest plan runs, of one plan or of all, newest first, with or without their steps."""
        which = () if plan is None else (_plan_run.c.plan == plan,)
        with self._database.read() as connection:
            runs = connection.execute(newest_first(select(_plan_run), _plan_run, limit, *which)).all()
            steps = _steps(connection, [run.plan_run for run in runs]) if with_steps else {}
        return [_record(run, steps.get(run.plan_run, ())) for run in runs]

    def plan_runs_to_tell(self, plan: str, limit: int = 100) -> list[PlanRunRecord]:
        """Return the newest runs of a plan as monitoring needs them: the last two whole, of the others little.

        Of an older plan run only those steps are there that ended well, or ended otherwise, for the last time.
        """
        runs = self.plan_runs(plan, limit, with_steps=False)
        whole = [run.plan_run for run in runs[:2]]
        number = func.row_number().over(
            partition_by=(_step.c.target, _step.c.step, _step.c.state == StepState.DONE.value),
            order_by=newest_order(_plan_run),
        )
        ended = (
            select(_step, number.label("number"))
            .join(_plan_run, _plan_run.c.plan_run == _step.c.plan_run)
            .where(_plan_run.c.plan == plan, _step.c.began_at.is_not(None), _step.c.ended_at.is_not(None))
            .subquery()
        )
        columns = [column for column in ended.c if column.name != "number"]
        query = select(*columns).where(ended.c.number == 1).order_by(ended.c.position)
        found: dict[str, list[StepRecord]] = {}
        with self._database.read() as connection:
            for row in connection.execute(query):
                found.setdefault(row.plan_run, []).append(_step_record(row))
            steps = found | _steps(connection, whole)
        return [replace(run, steps=tuple(steps.get(run.plan_run, ()))) for run in runs]

    def targets_of(self, step: str, plan: str | None = None) -> list[tuple[str, str]]:
        """Return the plans and targets that plan runs know a step on, sorted."""
        query = (
            select(_plan_run.c.plan, _step.c.target)
            .distinct()
            .join(_plan_run, _plan_run.c.plan_run == _step.c.plan_run)
        )
        query = query.where(_step.c.step == step).order_by(_plan_run.c.plan, _step.c.target)
        if plan is not None:
            query = query.where(_plan_run.c.plan == plan)
        with self._database.read() as connection:
            return [(row.plan, row.target) for row in connection.execute(query)]

    def step_names(self, plan: str | None = None) -> list[str]:
        """Return the names of all steps that plan runs know, sorted."""
        query = select(_step.c.step).distinct().join(_plan_run, _plan_run.c.plan_run == _step.c.plan_run)
        if plan is not None:
            query = query.where(_plan_run.c.plan == plan)
        with self._database.read() as connection:
            return sorted(connection.execute(query).scalars())

    def load_plan_run(self, plan_run: str) -> PlanRunRecord:
        """Return one plan run with its steps and notes.

        Raises:
            ToolkitError: TK-0109 when no such plan run is stored.
        """
        with self._database.read() as connection:
            run = connection.execute(select(_plan_run).where(_plan_run.c.plan_run == plan_run)).first()
            if run is None:
                raise _unknown(plan_run)
            steps = _steps(connection, [plan_run]).get(plan_run, ())
            return replace(_record(run, steps), notes=_notes(connection, plan_run))

    def steps_on(self, plan_run: str, target: str) -> list[StepRecord]:
        """Return the steps of a plan run on one target, in their order."""
        query = select(_step).where(_step.c.plan_run == plan_run, _step.c.target == target)
        with self._database.read() as connection:
            return [_step_record(row) for row in connection.execute(query.order_by(_step.c.position))]

    def is_of_plan_run(self, run: str, plan_run: str) -> bool:
        """Tell whether a run is a step's of a plan run: begun by it, or by an earlier one and gone on with."""
        begun = select(schema.run.c.run).where(schema.run.c.run == run, schema.run.c.parent_run == plan_run)
        gone_on_with = select(_step.c.run).where(_step.c.run == run, _step.c.plan_run == plan_run)
        with self._database.read() as connection:
            return connection.execute(begun.union_all(gone_on_with).limit(1)).first() is not None

    def open_steps(self, plan: str, target: str) -> list[tuple[str, StepRecord]]:
        """Return the steps on a target that plan runs of a plan have not ended, each with its plan run."""
        query = (
            select(_step)
            .join(_plan_run, _plan_run.c.plan_run == _step.c.plan_run)
            .where(_plan_run.c.plan == plan, _plan_run.c.state.in_(_UNENDED))
            .where(_step.c.target == target, _step.c.state.in_(_OPEN))
        )
        with self._database.read() as connection:
            return [(row.plan_run, _step_record(row)) for row in connection.execute(query)]

    def unknown_children(self, plan: str, target: str, but: str) -> list[str]:
        """Return the runs without an end that other runs of a plan began on a target, if no step names them."""
        query = (
            select(schema.run.c.run)
            .join(_plan_run, _plan_run.c.plan_run == schema.run.c.parent_run)
            .where(_plan_run.c.plan == plan, _plan_run.c.plan_run != but)
            .where(schema.run.c.target == target, schema.run.c.ended_at.is_(None))
            .where(~select(_step.c.run).where(_step.c.run == schema.run.c.run).exists())
        )
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def is_open(self, plan_run: str, target: str | None = None) -> bool:
        """Tell whether a plan run has a step, on one target or any, that has not ended."""
        query = select(_step.c.position).where(_step.c.plan_run == plan_run, _step.c.state.in_(_OPEN))
        if target is not None:
            query = query.where(_step.c.target == target)
        with self._database.read() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def step_history(self, plan: str, step: str, target: str, limit: int = 100) -> list[StepRecord]:
        """Return what became of a step on a target, newest first, without the plan runs it was not begun in.

        The plan runs are in the order of their begin: the clock may have been set while a step was at work.
        """
        query = (
            select(_step)
            .join(_plan_run, _plan_run.c.plan_run == _step.c.plan_run)
            .where(_plan_run.c.plan == plan, _step.c.step == step, _step.c.target == target)
            .where(_step.c.began_at.is_not(None))
            .order_by(*newest_order(_plan_run))
            .limit(limit)
        )
        with self._database.read() as connection:
            return [_step_record(row) for row in connection.execute(query)]

    def plan_run_end(self, plan: str, step: StepRecord) -> datetime | None:
        """Return when the plan run ended in which a step began; None where it did not."""
        query = (
            select(_plan_run.c.ended_at)
            .join(_step, _plan_run.c.plan_run == _step.c.plan_run)
            .where(_plan_run.c.plan == plan, _step.c.step == step.step, _step.c.target == step.target)
            .where(_step.c.began_at == step.began_at)
        )
        with self._database.read() as connection:
            return connection.execute(query).scalars().first()

    def step_histories(
        self, plan: str, steps: Sequence[str], targets: Sequence[str], limit: int = 40
    ) -> dict[tuple[str, str], list[StepRecord]]:
        """Return what became of steps on many targets, by target and step, as `step_history` does of one."""
        number = func.row_number().over(
            partition_by=(_step.c.target, _step.c.step), order_by=newest_order(_plan_run)
        )
        found: dict[tuple[str, str], list[StepRecord]] = {}
        with self._database.read() as connection:
            for at in range(0, len(targets), _PART):
                newest = (
                    select(*_STEP_COLUMNS, number.label("number"))
                    .join(_plan_run, _plan_run.c.plan_run == _step.c.plan_run)
                    .where(_plan_run.c.plan == plan, _step.c.step.in_(steps), _step.c.began_at.is_not(None))
                    .where(_step.c.target.in_(targets[at : at + _PART]))
                    .subquery()
                )
                query = select(newest).where(newest.c.number <= limit).order_by(newest.c.number)
                for row in connection.execute(query):
                    values = list(row)[:-1]
                    values[_STATE] = StepState(values[_STATE])
                    step = StepRecord(*values)
                    found.setdefault((step.target, step.step), []).append(step)
        return found


def _steps(connection: Connection, runs: Sequence[str]) -> dict[str, tuple[StepRecord, ...]]:
    query = select(_step).where(_step.c.plan_run.in_(runs)).order_by(_step.c.plan_run, _step.c.position)
    found: dict[str, list[StepRecord]] = {}
    for row in connection.execute(query):
        found.setdefault(row.plan_run, []).append(_step_record(row))
    return {run: tuple(steps) for run, steps in found.items()}


def _notes(connection: Connection, plan_run: str) -> tuple[PlanNote, ...]:
    query = select(_note).where(_note.c.plan_run == plan_run).order_by(_note.c.position)
    return tuple(PlanNote(row.target, row.text, row.noted_at) for row in connection.execute(query))


def _row(plan_run: str, step: StepRecord) -> dict[str, object]:
    return asdict(step) | {"plan_run": plan_run, "state": step.state.value}


def _step_record(row: AnyRow) -> StepRecord:
    values = {name: value for name, value in row._mapping.items() if name != "plan_run"}
    return StepRecord(**values | {"state": StepState(row.state)})


def _record(row: AnyRow, steps: Iterable[StepRecord]) -> PlanRunRecord:
    values = dict(row._mapping)
    return PlanRunRecord(**values | {"state": RunState(row.state), "steps": tuple(steps)})


def _unknown(plan_run: str) -> ToolkitError:
    return ToolkitError(f"plan run `{plan_run}` is not in this store", code="TK-0109")
