"""Factors outside the operation: read, apply, prove, and put back, by SQL or by command.

`{level}` and `{before}` are the only placeholders. What was applied must be read back as the level, else the trial
fails. A setting of the session (`SET`, `ALTER SESSION`) is made in every worker session, where it matters, and
goes with it; all other SQL outlives its session and runs once on the control session. That, and what a command
changed, is journalled.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.errors import ToolkitError
from toolkit.executors import run_command
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import ObjectRef, Stages, Step
from toolkit.model.values import CommandFactor, Factor, Level, QualifiedName, Scalar, spell_level
from toolkit.model.words import Effect, ObjectKind, Role, StepKind

if TYPE_CHECKING:
    from toolkit.runner.context import RunContext

_OF_THE_SESSION = re.compile(r"\s*(set(?!\s+(global|persist))|reset|pragma|alter\s+session)\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(level|before)\}")
_SAFE_LEVEL = re.compile(r"(?!.*--)[\w.+-]*")


def fill(text: str, level: str, before: str) -> str:
    """Put the level and the former value into a text; nothing else is replaced."""
    return _PLACEHOLDER.sub(lambda match: level if match[1] == "level" else before, text)


@contextmanager
def external_factors(context: RunContext, planned: PlannedTrial, workers: int) -> Iterator[None]:
    """Apply the external factors of a cell around a block, and put each back afterwards.

    Args:
        context: the run.
        planned: the trial; its cell says the levels.
        workers: how many worker sessions the trial has.

    Raises:
        ToolkitError: TK-0203 when a level was not taken, TK-0102 when a value cannot be put into SQL.
        DatabaseError: the database refused the level.
    """
    with ExitStack() as stack:
        for factor in context.experiment.factors:
            if factor.command is not None and factor.name in planned.cell:
                level = spell_level(planned.cell[factor.name])
                stack.enter_context(
                    _ExternalFactor(context, factor, factor.command, level, workers).applied(planned.number)
                )
        yield


@dataclass(frozen=True, slots=True)
class _ExternalFactor:
    """One factor at one level."""

    context: RunContext
    factor: Factor
    how: CommandFactor
    level: str
    workers: int

    @contextmanager
    def applied(self, trial: int) -> Iterator[None]:
        before = self._read()
        undo_sql = self._sql(self.how.undo_sql, before)
        lasting = (undo_sql,) if undo_sql and not _OF_THE_SESSION.match(undo_sql) else ()
        entry = None
        if lasting or self.how.undo:
            entry = self.context.changes.note(self._step(lasting), trial, self._proof(before))
        try:
            self._do(self.how.apply, self._sql(self.how.apply_sql, before), before)
            self._prove()
            yield
        finally:
            if self._put_back(undo_sql, before) and entry is not None:
                self.context.changes.settled(entry)

    def _step(self, undo: tuple[str, ...]) -> Step:
        ref = ObjectRef(ObjectKind.SETTING, QualifiedName(self.factor.name))
        return Step("factor", "", effect=Effect.CHANGES, object=ref, undo=undo)

    def _proof(self, before: str) -> dict[str, Scalar]:
        """Note the former value, and the command that puts it back."""
        proof: dict[str, Scalar] = {"before": before}
        if self.how.undo:
            proof["command"] = json.dumps([fill(part, self.level, before) for part in self.how.undo])
        return proof

    def _put_back(self, undo_sql: str, before: str) -> bool:
        """Put the former value back; when that fails there is a warning, and the trial's own result stands."""
        try:
            self._do(self.how.undo, undo_sql, before)
        except (DatabaseError, ToolkitError) as error:
            was = f", it was `{before}`" if before else ""
            self.context.warn(f"factor `{self.factor.name}` could not be restored{was}: {error.sentence}")
            return False
        return True

    def _prove(self) -> None:
        if not (self.how.read or self.how.read_sql):
            return
        now = self._read()
        if now.strip().lower() == self.level.lower() or _as_number(now) == _as_number(self.level) is not None:
            return
        raise ToolkitError(
            f"factor `{self.factor.name}` was set to `{self.level}` but is now `{now}`",
            code="TK-0203",
            hint="check apply and read; a setting may need another unit",
        )

    def _read(self) -> str:
        if self.how.read:
            return run_command(self.how.read)
        if not self.how.read_sql:
            return ""
        role = Role.WORKER if _OF_THE_SESSION.match(self.how.apply_sql) else Role.CONTROL
        rows = self.context.sessions.run(Step("factor", self.how.read_sql, session=role)).rows
        value: Scalar = next(iter(rows[0].values())) if rows else None
        if value is None:
            self.context.warn(f"factor `{self.factor.name}` returned no value")
        return "" if value is None else str(value)

    def _sql(self, text: str, before: str) -> str:
        """Fill a statement; only words and numbers may be put into SQL.

        Raises:
            ToolkitError: TK-0102 for anything else.
        """
        for match in _PLACEHOLDER.finditer(text):
            value = self.level if match[1] == "level" else before
            if not _SAFE_LEVEL.fullmatch(value):
                raise ToolkitError(
                    f"`{value}` cannot be used in SQL", code="TK-0102", hint="levels must be words or numbers"
                )
        return fill(text, self.level, before)

    def _do(self, argv: tuple[str, ...], sql: str, before: str) -> None:
        if argv:
            run_command([fill(part, self.level, before) for part in argv])
        if not sql:
            return
        if not _OF_THE_SESSION.match(sql):
            self.context.sessions.run(Step("factor", sql, effect=Effect.CHANGES))
            return
        for number in range(self.workers):
            self.context.sessions.run(Step("factor", sql, session=Role.WORKER, effect=Effect.CHANGES), number)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# -- in a script ------------------------------------------------------------------------------------------------
def with_external_factors(stages: Stages, factors: Sequence[Factor], cell: Mapping[str, Level]) -> Stages:
    """Return the stages of a trial with its external factors in their places, as a script shows them.

    The former value is known in a run only, so what needs it stands there as a comment with `{before}`.
    """
    for factor in factors:
        if factor.command is None or factor.name not in cell:
            continue
        level, how = spell_level(cell[factor.name]), factor.command
        apply = _shown(how.apply, how.apply_sql, level)
        undo = _shown(how.undo, how.undo_sql, level)
        if _OF_THE_SESSION.match(how.apply_sql):
            stages = replace(
                stages, worker_begin=(apply, *stages.worker_begin), worker_end=(*stages.worker_end, undo)
            )
        else:
            stages = replace(stages, prepare=(apply, *stages.prepare), conclude=(*stages.conclude, undo))
    return stages


def _shown(argv: tuple[str, ...], sql: str, level: str) -> Step:
    if argv:
        return Step("factor", fill(shlex.join(argv), level, "{before}"), kind=StepKind.COMMAND, argv=argv)
    text = fill(sql, level, "{before}")
    comment = "-- restore the former value: " if "{before}" in text else ""
    return Step("factor", comment + text, effect=Effect.CHANGES)
