"""Settings as factors: set in the workers' sessions or for the whole server, verified, and put back.

What is set in a session goes with it. What is set for the server stays from trial to trial, until another level is
due; it is in the journal before the first change, and put back with whatever else the run changed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from toolkit.dialects.base import Dialect
from toolkit.dialects.settings import Settings, SystemChange, find_setting
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.facts import Facts
from toolkit.model.records import run_key
from toolkit.model.settings import Setting, SettingScope
from toolkit.model.steps import ObjectRef, Stages, Step
from toolkit.model.values import Cell, Factor, Level, QualifiedName, Scalar, spell_level
from toolkit.model.words import ON_HOST, ObjectKind, Role
from toolkit.rendering import step_of
from toolkit.runner.restarting import back_without_connection, proof_of, restart

if TYPE_CHECKING:
    from toolkit.runner.context import RunContext

_TAKES_EFFECT_SECONDS, _LOOK_SECONDS = 5.0, 0.02
"""How long a server is given to hand a new value to all sessions."""


@dataclass(frozen=True, slots=True)
class VariedSetting:
    """A factor, what the catalogue says of its setting, and for whom it is set."""

    factor: Factor
    setting: Setting
    ways: Settings
    scope: SettingScope

    def level(self, cell: Cell) -> str:
        return level_text(cell[self.factor.name])


def level_text(level: Level) -> str:
    """Spell a level without an exponent."""
    return f"{Decimal(repr(level)):f}" if isinstance(level, float) else spell_level(level)


def settings_of(dialect: Dialect) -> Settings:
    """Return how an engine's settings are varied.

    Raises:
        ToolkitError: TK-0107 where it has none.
    """
    if dialect.settings is None:
        raise ToolkitError(
            f"{dialect.engine} has no settings of its own", code="TK-0107", hint="name a database with `-t`"
        )
    return dialect.settings


def varied_settings(
    experiment: Experiment, dialect: Dialect, facts: Facts, stages: Stages
) -> tuple[VariedSetting, ...]:
    """Return the settings that an experiment varies, each with its scope.

    Raises:
        ToolkitError: TK-0101 for one that is unknown, TK-0107 where none of its scopes reaches the timed work.
    """
    factors = [factor for factor in experiment.factors if factor.setting]
    if not factors:
        return ()
    ways = settings_of(dialect)
    found = []
    for factor in factors:
        setting = find_setting(factor.name, facts)
        if setting is None:
            raise ToolkitError(f"`{factor.name}` is not a setting of this database", code="TK-0101")
        found.append(VariedSetting(factor, setting, ways, scope_of(setting, by_programs=_by_programs(stages))))
    return tuple(found)


def scope_of(setting: Setting, *, by_programs: bool) -> SettingScope:
    """Return for whom a setting is set: sessions of dbatk first, unless programs do the timed work.

    Raises:
        ToolkitError: TK-0107.
    """
    for scope in SettingScope:
        if scope in setting.scopes and not (by_programs and scope is SettingScope.SESSION):
            return scope
    raise ToolkitError(
        f"`{setting.name}` can only be set in sessions of dbatk, and programs do the timed work here",
        code="TK-0107",
        hint="let the program set it: by an argument, or a variable (`--env`)",
    )


def _by_programs(stages: Stages) -> bool:
    kinds = [step.kind in ON_HOST for item in stages.timed.items for step in item.steps]
    return bool(kinds) and all(kinds)


ChangeOfServer = Callable[[VariedSetting, str, Facts], SystemChange | None]
"""How a level of a setting is set for the whole server; None where it cannot be."""


# -- as steps -----------------------------------------------------------------------------------------------------
def with_settings(
    stages: Stages, experiment: Experiment, dialect: Dialect, facts: Facts, cell: Cell,
    of_server: ChangeOfServer | None = None,
) -> Stages:  # fmt: skip
    """Return the stages of a trial with the settings of its cell in their places.

    Args:
        stages: of the operation.
        experiment: says which factors are settings.
        dialect: of the engine.
        facts: with the catalogue's answer.
        cell: the levels.
        of_server: how the server's settings are changed in a script; None leaves them out, for a run makes these
            changes itself.
    """
    for varied in varied_settings(experiment, dialect, facts, stages):
        if varied.scope is SettingScope.SESSION:
            step = step_of(dialect, varied.ways.in_session(varied.setting, varied.level(cell)))
            ends = _undoing(step)
            stages = replace(
                stages, worker_begin=(step, *stages.worker_begin), worker_end=(*stages.worker_end, *ends)
            )
        elif of_server is not None and (change := of_server(varied, varied.level(cell), facts)) is not None:
            steps = (*_copying(change, dialect), *changing(varied, change, dialect))
            stages = replace(
                stages,
                prepare=(*steps, *stages.prepare),
                conclude=(*stages.conclude, *(back for step in steps for back in _undoing(step))),
            )
    return stages


def as_shown(varied: VariedSetting, level: str, facts: Facts) -> SystemChange:
    """Return how a run sets a level for the whole server, under the name of no run."""
    from toolkit.runner.context import PLACEHOLDER

    return varied.ways.in_system(varied.setting, level, facts, PLACEHOLDER)


def as_scripted(varied: VariedSetting, level: str, facts: Facts) -> SystemChange | None:
    """Return how a script that asks nobody sets a level for the whole server; None where none can restore it."""
    levels = [level_text(each) for each in varied.factor.levels]
    return varied.ways.in_script(varied.setting, level, levels, facts)


def _copying(change: SystemChange, dialect: Dialect) -> tuple[Step, ...]:
    return () if change.copy is None else (step_of(dialect, change.copy),)


def _undoing(step: Step) -> tuple[Step, ...]:
    return tuple(replace(step, text=text, undo=(), name=f"{step.name} undo") for text in step.undo)


def changing(varied: VariedSetting, change: SystemChange, dialect: Dialect) -> tuple[Step, ...]:
    """Return the steps that set a level for the whole server; the first one has the undo of all."""
    first, *more = (step_of(dialect, call) for call in change.calls)
    undo = tuple(step_of(dialect, call).text for call in change.undo)
    ref = ObjectRef(ObjectKind.SETTING, QualifiedName(varied.setting.name))
    return (replace(first, object=ref, undo=undo, before=change.before), *more)


def sets_itself(stages: Stages, setting: Setting) -> bool:
    """Tell whether the operation sets a setting in its own steps."""
    pattern = re.compile(rf'\bSET\s+(?:LOCAL\s+)?"?{re.escape(setting.name)}"?\s*(?:=|TO\b)', re.IGNORECASE)
    timed = (step for item in stages.timed.items for step in item.steps)
    return any(pattern.search(step.text) for step in (*stages.prepare, *stages.worker_begin, *timed))


# -- in a run -----------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class ServerSettings:
    """What the run has set for the whole server, by the name of the setting."""

    _now: dict[str, str] = field(default_factory=dict)
    _entries: dict[str, int] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)
    """Of each, what the copy of the server's file bears that was made before its first change."""
    _copies: int = 0

    def apply(self, context: RunContext, planned: PlannedTrial, stages: Stages) -> None:
        """Set what the cell wants where it is not set already; it is journalled before the first change.

        Raises:
            ToolkitError: TK-0306 where the former value cannot be seen.
            DatabaseError: the server refused it.
        """
        for varied in _varied(context, stages):
            level = varied.level(planned.cell)
            if varied.scope is SettingScope.SESSION or self._now.get(varied.setting.name) == level:
                continue  # what needs a restart is never there already: each trial begins with empty caches
            self._set(context, varied, level)

    def _set(self, context: RunContext, varied: VariedSetting, level: str) -> None:
        name = varied.setting.name
        if name not in self._now:  # no copy takes the name of an earlier one: that may be the user's last
            self._copies += 1
            self._keys[name] = f"{run_key(context.run)}_{context.attempt}_{self._copies}"
        change = varied.ways.in_system(varied.setting, level, context.facts, self._keys[name])
        first, *more = changing(varied, change, context.dialect)
        proof: dict[str, Scalar] = {"before": first.before}
        needs_restart = varied.scope is SettingScope.RESTART
        if needs_restart:
            proof |= proof_of(change, name, context.dialect)
        if name not in self._now:
            for step in _copying(change, context.dialect):
                context.sessions.run(step)
            if change.kept:
                context.warn(change.kept)
            self._entries[name] = context.changes.note(first, None, proof)
        self._now[name] = ""
        for step in (first, *more):
            context.sessions.run(step)
        if needs_restart:
            self._restart(context, varied, level, proof)
        else:
            self._now[name] = level

    def _restart(
        self, context: RunContext, varied: VariedSetting, level: str, proof: Mapping[str, Scalar]
    ) -> None:
        """Start the server again; one that does not come up is put back, and started with the former value."""
        name = varied.setting.name
        try:
            restart(context.sessions)
        except ToolkitError as error:
            back_without_connection(context.sessions, (proof,))
            context.changes.settled(self._entries.pop(name))
            del self._now[name]
            raise ToolkitError(
                f"the server did not start with `{name}` = `{level}`: {error.sentence}; it was put back to "
                f"`{proof['before']}` and started again",
                code="TK-0203",
                hint="look at the server's log",
            ) from None


def prove_settings(context: RunContext, planned: PlannedTrial, stages: Stages) -> None:
    """Read every setting back where it counts: in the workers' sessions, or of a program's server in our own.

    Raises:
        ToolkitError: TK-0203 where a level was not taken.
    """
    workers = 1 if _by_programs(stages) else stages.timed.workers
    for varied in _varied(context, stages):
        read = step_of(context.dialect, varied.ways.read(varied.setting))
        step = replace(read, session=Role.CONTROL) if _by_programs(stages) else read
        for number in range(workers):
            _prove(context, varied, varied.level(planned.cell), step, number)


def _prove(context: RunContext, varied: VariedSetting, level: str, step: Step, number: int) -> None:
    until = time.monotonic() + (0.0 if varied.scope is SettingScope.SESSION else _TAKES_EFFECT_SECONDS)
    while True:
        rows = context.sessions.run(step, number).rows
        now = "" if not rows or rows[0]["value"] is None else str(rows[0]["value"])
        if varied.ways.same(varied.setting, level, now):
            return
        if time.monotonic() >= until or context.stop.wait(_LOOK_SECONDS):
            raise not_taken(varied.setting, level, now)


def not_taken(setting: Setting, level: str, now: str) -> ToolkitError:
    """Return the error of a level that is not what is read back."""
    unit = f" (in {setting.unit})" if setting.unit else ""
    return ToolkitError(
        f"`{setting.name}` was set to `{level}` but is now `{now}`{unit}",
        code="TK-0203",
        hint="the server rounds or limits it, or something closer to the session sets it: a role, a database",
    )


def _varied(context: RunContext, stages: Stages) -> Iterator[VariedSetting]:
    yield from varied_settings(context.experiment, context.dialect, context.facts, stages)
