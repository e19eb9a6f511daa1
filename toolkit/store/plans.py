"""Keeps what became of plans: nights, and each step on each target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from toolkit.errors import ToolkitError
from toolkit.model.plan_records import PlanNote, PlanRunRecord, StepRecord, StepState
from toolkit.model.words import RunState
from toolkit.store import schema
from toolkit.store.database import StorePart
from toolkit.store.rows import AnyRow

_night, _step, _note = schema.plan_run, schema.plan_step, schema.plan_note
_LISTS = ("steps", "notes")
_PART = 500
_STEP_COLUMNS = tuple(_step.c[each.name] for each in fields(StepRecord))
_STATE = 3
_OPEN = (StepState.WAITING.value, StepState.RUNNING.value)


class Plans(StorePart):
    """Writes and reads the nights of plans."""

    def begin_plan_run(self, record: PlanRunRecord) -> None:
        """Store a night and all its steps, which wait."""
        with self._database.write(f"plan `{record.plan}`") as connection:
            values = {name: value for name, value in asdict(record).items() if name not in _LISTS}
            connection.execute(_night.insert().values(values | {"state": record.state.value}))
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
        """Store what happened in a night beside its steps; durable on return."""
        with self._database.write(f"plan run `{plan_run}`") as connection:
            self._database.serialize(connection)
            known = select(func.count()).select_from(_note).where(_note.c.plan_run == plan_run)
            position = connection.execute(known).scalar_one()
            connection.execute(_note.insert().values(asdict(note) | {"plan_run": plan_run, "position": position}))

    def end_plan_run(self, plan_run: str, state: RunState, at: datetime, stopped_by: str | None = None) -> None:
        """Store how a night ended, when, and what stopped it.

        Raises:
            ToolkitError: TK-0109 when no such night is stored.
        """
        with self._database.write(f"plan run `{plan_run}`") as connection:
            values = {"state": state.value, "ended_at": at, "stopped_by": stopped_by}
            done = connection.execute(update(_night).where(_night.c.plan_run == plan_run).values(values))
            if done.rowcount != 1:
                raise _unknown(plan_run)

    def plan_runs(
        self, plan: str | None = None, limit: int = 100, *, with_steps: bool = True
    ) -> list[PlanRunRecord]:
        """Return the newest nights, of one plan or of all, newest first, with or without their steps."""
        query = select(_night).order_by(_night.c.began_at.desc(), _night.c.plan_run.desc()).limit(limit)
        if plan is not None:
            query = query.where(_night.c.plan == plan)
        with self._database.read() as connection:
            nights = connection.execute(query).all()
            steps = _steps(connection, [night.plan_run for night in nights]) if with_steps else {}
        return [_record(night, steps.get(night.plan_run, ())) for night in nights]

    def plan_runs_to_tell(self, plan: str, limit: int = 100) -> list[PlanRunRecord]:
        """Return the newest nights of a plan as monitoring needs them: the last two whole, of the others little.

        Of an older night only those steps are there that ended well, or ended otherwise, for the last time.
        """
        nights = self.plan_runs(plan, limit, with_steps=False)
        whole = [night.plan_run for night in nights[:2]]
        number = func.row_number().over(
            partition_by=(_step.c.target, _step.c.step, _step.c.state == StepState.DONE.value),
            order_by=_step.c.began_at.desc(),
        )
        ended = (
            select(_step, number.label("number"))
            .join(_night, _night.c.plan_run == _step.c.plan_run)
            .where(_night.c.plan == plan, _step.c.began_at.is_not(None), _step.c.ended_at.is_not(None))
            .subquery()
        )
        columns = [column for column in ended.c if column.name != "number"]
        query = select(*columns).where(ended.c.number == 1).order_by(ended.c.position)
        found: dict[str, list[StepRecord]] = {}
        with self._database.read() as connection:
            for row in connection.execute(query):
                found.setdefault(row.plan_run, []).append(_step_record(row))
            steps = found | _steps(connection, whole)
        return [replace(night, steps=tuple(steps.get(night.plan_run, ()))) for night in nights]

    def targets_of(self, step: str, plan: str | None = None) -> list[tuple[str, str]]:
        """Return the plans and targets that nights know a step on, sorted."""
        query = (
            select(_night.c.plan, _step.c.target).distinct().join(_night, _night.c.plan_run == _step.c.plan_run)
        )
        query = query.where(_step.c.step == step).order_by(_night.c.plan, _step.c.target)
        if plan is not None:
            query = query.where(_night.c.plan == plan)
        with self._database.read() as connection:
            return [(row.plan, row.target) for row in connection.execute(query)]

    def step_names(self, plan: str | None = None) -> list[str]:
        """Return the names of all steps that nights know, sorted."""
        query = select(_step.c.step).distinct().join(_night, _night.c.plan_run == _step.c.plan_run)
        if plan is not None:
            query = query.where(_night.c.plan == plan)
        with self._database.read() as connection:
            return sorted(connection.execute(query).scalars())

    def load_plan_run(self, plan_run: str) -> PlanRunRecord:
        """Return one night with its steps and notes.

        Raises:
            ToolkitError: TK-0109 when no such night is stored.
        """
        with self._database.read() as connection:
            night = connection.execute(select(_night).where(_night.c.plan_run == plan_run)).first()
            if night is None:
                raise _unknown(plan_run)
            steps = _steps(connection, [plan_run]).get(plan_run, ())
            return replace(_record(night, steps), notes=_notes(connection, plan_run))

    def steps_on(self, plan_run: str, target: str) -> list[StepRecord]:
        """Return the steps of a night on one target, in their order."""
        query = select(_step).where(_step.c.plan_run == plan_run, _step.c.target == target)
        with self._database.read() as connection:
            return [_step_record(row) for row in connection.execute(query.order_by(_step.c.position))]

    def open_steps(self, plan: str, target: str) -> list[tuple[str, StepRecord]]:
        """Return the steps on a target that nights of a plan have not ended, each with its night."""
        query = (
            select(_step)
            .join(_night, _night.c.plan_run == _step.c.plan_run)
            .where(_night.c.plan == plan, _night.c.state == RunState.RUNNING.value)
            .where(_step.c.target == target, _step.c.state.in_(_OPEN))
        )
        with self._database.read() as connection:
            return [(row.plan_run, _step_record(row)) for row in connection.execute(query)]

    def is_open(self, plan_run: str, target: str | None = None) -> bool:
        """Tell whether a night has a step, on one target or any, that has not ended."""
        query = select(_step.c.position).where(_step.c.plan_run == plan_run, _step.c.state.in_(_OPEN))
        if target is not None:
            query = query.where(_step.c.target == target)
        with self._database.read() as connection:
            return connection.execute(query.limit(1)).first() is not None

    def step_history(self, plan: str, step: str, target: str, limit: int = 100) -> list[StepRecord]:
        """Return what became of a step on a target, newest first, without the nights it was not begun in."""
        query = (
            select(_step)
            .join(_night, _night.c.plan_run == _step.c.plan_run)
            .where(_night.c.plan == plan, _step.c.step == step, _step.c.target == target)
            .where(_step.c.began_at.is_not(None))
            .order_by(_step.c.began_at.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [_step_record(row) for row in connection.execute(query)]

    def step_histories(
        self, plan: str, steps: Sequence[str], targets: Sequence[str], limit: int = 40
    ) -> dict[tuple[str, str], list[StepRecord]]:
        """Return what became of steps on many targets, by target and step, as `step_history` does of one."""
        number = func.row_number().over(
            partition_by=(_step.c.target, _step.c.step), order_by=_step.c.began_at.desc()
        )
        found: dict[tuple[str, str], list[StepRecord]] = {}
        with self._database.read() as connection:
            for at in range(0, len(targets), _PART):
                newest = (
                    select(*_STEP_COLUMNS, number.label("number"))
                    .join(_night, _night.c.plan_run == _step.c.plan_run)
                    .where(_night.c.plan == plan, _step.c.step.in_(steps), _step.c.began_at.is_not(None))
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


def _steps(connection: Connection, nights: Sequence[str]) -> dict[str, tuple[StepRecord, ...]]:
    query = select(_step).where(_step.c.plan_run.in_(nights)).order_by(_step.c.plan_run, _step.c.position)
    found: dict[str, list[StepRecord]] = {}
    for row in connection.execute(query):
        found.setdefault(row.plan_run, []).append(_step_record(row))
    return {night: tuple(steps) for night, steps in found.items()}


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
