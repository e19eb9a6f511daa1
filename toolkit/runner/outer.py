"""Factors outside the operation: read, apply, prove, and put back, by SQL or by command.

`{level}` and `{before}` are the only placeholders. What was applied must be read back as the level, else the trial
fails. SQL that alters the system or the database runs once on the control session; other SQL (a setting of the
session) runs in every worker session, where it matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from toolkit.errors import ToolkitError
from toolkit.executors import run_command
from toolkit.model.experiment import PlannedTrial
from toolkit.model.protocols import Event
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import CommandFactor, Factor, QualifiedName, Scalar, spell_level
from toolkit.model.words import Effect, ObjectKind, Role
from toolkit.runner.bench import Bench

_SYSTEM_WIDE = re.compile(r"\s*(alter\s+(system|database)|set\s+global)\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(level|before)\}")
_SAFE_LEVEL = re.compile(r"[\w.+-]*")


def fill(text: str, level: str, before: str) -> str:
    """Put the level and the former value into a text; nothing else is replaced."""
    return _PLACEHOLDER.sub(lambda match: level if match[1] == "level" else before, text)


@contextmanager
def outer_factors(bench: Bench, planned: PlannedTrial) -> Iterator[None]:
    """Apply the outer factors of a cell around a block, and put each back afterwards.

    Raises:
        ToolkitError: TK-0203 when a level was not taken.
    """
    with ExitStack() as stack:
        for factor in bench.experiment.factors:
            if factor.command is not None and factor.name in planned.cell:
                level = spell_level(planned.cell[factor.name])
                stack.enter_context(_applied(bench, factor, factor.command, level, planned.number))
        yield


@contextmanager
def _applied(bench: Bench, factor: Factor, how: CommandFactor, level: str, trial: int) -> Iterator[None]:
    before = _read(bench, factor, how)
    undo = _undo_step(how, level, before)
    journal = bench.store.journal(bench.run)
    entry = journal.intend(undo, trial=trial, proof={"before": before}) if undo.undo else None
    try:
        _do(bench, how.apply, how.apply_sql, level, before)
        now = _read(bench, factor, how)
        if how.read or how.read_sql:
            _prove(factor, level, now)
        yield
    finally:
        _do(bench, how.undo, how.undo_sql, level, before)
        if entry is not None:
            journal.undone(entry)


def _undo_step(how: CommandFactor, level: str, before: str) -> Step:
    """Describe the change for the journal; only SQL that outlives the session needs undoing after a crash."""
    lasting = bool(how.undo_sql) and _SYSTEM_WIDE.match(how.undo_sql) is not None
    texts = (fill(how.undo_sql, level, before),) if lasting else ()
    ref = ObjectRef(ObjectKind.SETTING, QualifiedName("setting"))
    return Step("factor", "", effect=Effect.CHANGES, object=ref, undo=texts)


def _prove(factor: Factor, level: str, now: str) -> None:
    if now.strip().lower() == level.lower() or _as_number(now) == _as_number(level) is not None:
        return
    raise ToolkitError(
        f"factor `{factor.name}` was set to `{level}` but reads `{now}`",
        code="TK-0203",
        hint="check apply and read; a setting may need another unit",
    )


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read(bench: Bench, factor: Factor, how: CommandFactor) -> str:
    if how.read:
        return run_command(how.read)
    if not how.read_sql:
        return ""
    role = Role.CONTROL if _SYSTEM_WIDE.match(how.apply_sql) else Role.WORKER
    rows = bench.sessions.run(Step("factor", how.read_sql, session=role)).rows
    value: Scalar = next(iter(rows[0].values())) if rows else None
    if value is None:
        bench.events.emit(Event("warning", f"factor `{factor.name}` reads nothing"))
    return "" if value is None else str(value)


def _do(bench: Bench, argv: tuple[str, ...], sql: str, level: str, before: str) -> None:
    if argv:
        run_command([fill(part, level, before) for part in argv])
    if sql:
        for text in (level, before):
            if not _SAFE_LEVEL.fullmatch(text):
                raise ToolkitError(
                    f"`{text}` cannot be put into SQL", code="TK-0102", hint="levels are words or numbers"
                )
        step = Step("factor", fill(sql, level, before), effect=Effect.CHANGES)
        if _SYSTEM_WIDE.match(sql):
            bench.sessions.run(step)
        else:
            _in_all_workers(bench, step)


def _in_all_workers(bench: Bench, step: Step) -> None:
    from dataclasses import replace

    workers = max(
        (int(level) for f in bench.experiment.factors if f.name == "concurrency"
         for level in f.levels if isinstance(level, int)), default=1,
    )  # fmt: skip
    for number in range(workers):
        bench.sessions.run(replace(step, session=Role.WORKER), number)
