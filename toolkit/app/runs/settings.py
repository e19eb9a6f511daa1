"""What must hold of settings that are varied before anything is changed: they exist, and take their levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from toolkit.dialects.base import Dialect
from toolkit.dialects.settings import (
    CATALOGUE,
    Normal,
    SystemChange,
    check_level,
    comparable,
    find_setting,
    setting_names,
)
from toolkit.documents import did_you_mean
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.executors.restart import writable
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.protocols import DatabaseError
from toolkit.model.settings import Setting, SettingScope
from toolkit.model.steps import Stages, Step
from toolkit.model.values import Factor, Row
from toolkit.model.words import Role
from toolkit.rendering import step_of
from toolkit.runner import PlanningContext
from toolkit.runner.context import PLACEHOLDER
from toolkit.runner.settings import (
    VariedSetting,
    as_scripted,
    level_text,
    not_taken,
    sets_itself,
    settings_of,
    varied_settings,
)


def settings_reads(experiment: Experiment, dialect: Dialect, release: Release) -> tuple[Query, ...]:
    """Name the catalogue files that settings need; none where none is varied.

    Raises:
        ToolkitError: TK-0107 where the engine has no settings.
    """
    return settings_of(dialect).reads(release) if any(_factors(experiment)) else ()


def of_those_varied(experiment: Experiment, facts: Facts) -> Facts:
    """Keep of the catalogue what is asked for; all of it where a name is unknown, for the hint."""
    wanted = {setting.name for factor in _factors(experiment) if (setting := find_setting(factor.name, facts))}
    if not wanted or len(wanted) < len(list(_factors(experiment))):
        return facts
    rows: tuple[Row, ...] = tuple(row for row in facts.rows(CATALOGUE) if row["name"] in wanted)
    return replace(facts, answers={**facts.answers, CATALOGUE: rows})


def read_by_sysdba(experiment: Experiment, dialect: Dialect, facts: Facts, sessions: Sessions) -> Facts:
    """Add what only the client knows that the profile names for restarts; nothing where it names none.

    Raises:
        ToolkitError: TK-0107 where it does not answer, or a setting could not be put back.
    """
    if not sessions.sysdba:
        return facts
    answers: dict[str, tuple[Row, ...]] = {}
    for factor in _factors(experiment):
        ways, setting = settings_of(dialect), find_setting(factor.name, facts)
        if setting is None or setting.scopes != {SettingScope.RESTART} or ways.client is None:
            continue
        try:
            lines = sessions.run(step_of(dialect, ways.client.look(setting))).lines
        except DatabaseError as error:
            raise ToolkitError(
                f"the client that `sysdba` of the profile names failed: {error.sentence}",
                code="TK-0107",
                hint="it must connect as SYSDBA: `sysdba` in the profile of the target",
            ) from None
        key, row = ways.client.seen(setting, [line.text for line in lines])
        answers[key] = (*answers.get(key, ()), row)
    return replace(facts, answers={**facts.answers, **answers})


def check_levels(experiment: Experiment, dialect: Dialect, facts: Facts) -> None:
    """Refuse settings that are unknown or cannot be changed, and levels that cannot be had or are the same.

    Raises:
        ToolkitError: TK-0101, TK-0102, TK-0103, TK-0107.
    """
    for factor in _factors(experiment):
        ways, setting = settings_of(dialect), find_setting(factor.name, facts)
        if setting is None:
            raise ToolkitError(
                f"`{factor.name}` is not a setting of this database",
                code="TK-0101",
                hint=did_you_mean(factor.name, setting_names(facts)),
            )
        if not setting.scopes:
            raise ToolkitError(
                f"`{setting.name}` cannot be changed",
                code="TK-0102",
                hint=setting.fixed or "the catalogue lists it as read-only",
            )
        seen: dict[Normal, str] = {}
        for level in map(level_text, factor.levels):
            value = comparable(check_level(setting, level, ways.sizes), ways.sizes)
            if value in seen:
                raise ToolkitError(
                    f"`{level}` and `{seen[value]}` are the same value of `{setting.name}`",
                    code="TK-0103",
                    hint="give each once",
                )
            seen[value] = level


def check_scopes(planning: PlanningContext) -> None:
    """Refuse settings that the operation sets itself, that need a restart, or that cannot be put back.

    Raises:
        ToolkitError: TK-0107, TK-0306.
    """
    for stages in _stages(planning):
        for varied in varied_settings(planning.experiment, planning.dialect, planning.facts, stages):
            if sets_itself(stages, varied.setting):
                raise ToolkitError(
                    f"`{varied.setting.name}` is set by `{planning.experiment.operation}` itself",
                    code="TK-0107",
                    hint="use the option for it, such as `--degree`: see --help",
                )
            _check_scope(varied, planning)


def refuse_of_server(planning: PlanningContext) -> None:
    """Refuse settings of the whole server in plans and mixes.

    Raises:
        ToolkitError: TK-0304.
    """
    for varied in of_server(planning):
        raise ToolkitError(
            f"`{varied.setting.name}` is set for the whole server, where others of the plan or mix work, too",
            code="TK-0304",
            hint="set it before, or measure it by itself",
        )


def refuse_unscripted(planning: PlanningContext) -> None:
    """Refuse settings that a script cannot set and restore, as those that need a restart.

    Raises:
        ToolkitError: TK-0304.
    """
    for varied in of_server(planning):
        if as_scripted(varied, level_text(varied.factor.levels[0]), planning.facts) is None:
            raise ToolkitError(
                f"`{varied.setting.name}` needs a restart, which a script cannot restore once it died",
                code="TK-0304",
                hint="export one bundle per level, and set the level by hand",
            )


def of_server(planning: PlanningContext) -> tuple[VariedSetting, ...]:
    """Return the settings that are set for the whole server."""
    return tuple(
        varied
        for stages in _stages(planning)
        for varied in varied_settings(planning.experiment, planning.dialect, planning.facts, stages)
        if varied.scope is not SettingScope.SESSION
    )


def servers_changed(planning: PlanningContext) -> frozenset[str]:
    """Return the servers whose settings a run changes for others, too; none where they reach its target alone."""
    return frozenset(
        server
        for stages in _stages(planning)
        for varied in varied_settings(planning.experiment, planning.dialect, planning.facts, stages)
        if (server := varied.ways.changed_server(varied.scope, planning.facts))
    )


def _check_scope(varied: VariedSetting, planning: PlanningContext) -> None:
    if varied.scope is SettingScope.RESTART:
        _check_restart_allowed(varied.setting, planning.facts)
    if varied.scope is not SettingScope.SESSION:
        change = varied.ways.in_system(
            varied.setting, level_text(varied.factor.levels[0]), planning.facts, PLACEHOLDER
        )
        if varied.scope is SettingScope.RESTART:
            _check_put_back(varied.setting, change)


def _check_restart_allowed(setting: Setting, facts: Facts) -> None:
    if not facts.rows("declared_restart"):
        raise ToolkitError(
            f"`{setting.name}` needs a restart of the server, which nobody allowed",
            code="TK-0107",
            hint="allow it by `restart = [...]` in the profile of the target, the command that restarts it",
        )


def _check_put_back(setting: Setting, change: SystemChange) -> None:
    """Refuse a restart after which the former value could not be restored in any case."""
    if change.offline is None and (not change.file or not writable(change.file)):
        where = f"`{change.file}`" if change.file else "its file of settings"
        raise ToolkitError(
            f"{where} cannot be written from here, so a server that does not start with a level of "
            f"`{setting.name}` could not be put back",
            code="TK-0107",
            hint="run dbatk on the server's host, as the user of the server",
        )


def _stages(planning: PlanningContext) -> Iterator[Stages]:
    """Yield the stages of the first cell that can be had, without settings; none where no setting is varied."""
    for cell, support in planning.support if any(_factors(planning.experiment)) else ():
        if support.ok:
            yield planning.operation.plan(planning.planner(), cell)
            return


def try_in_session(planning: PlanningContext, sessions: Sessions, *, alone: bool = True) -> None:
    """Set every level of settings of a session once in a session of our own, and put it back.

    Args:
        planning: the run.
        sessions: of it.
        alone: whether it is part of no plan or mix, whose other work a setting of the whole server would change.

    Raises:
        ToolkitError: TK-0102 for a level that the database refuses or does not take, TK-0304 for a setting of the
            whole server where it is not alone.
    """
    if not any(_factors(planning.experiment)):
        return
    if not alone:
        refuse_of_server(planning)
    for stages in _stages(planning):
        for varied in varied_settings(planning.experiment, planning.dialect, planning.facts, stages):
            for level in map(level_text, varied.factor.levels if varied.scope is SettingScope.SESSION else ()):
                _try(varied.setting, varied, level, planning.dialect, sessions)


def _try(setting: Setting, varied: VariedSetting, level: str, dialect: Dialect, sessions: Sessions) -> None:
    step = step_of(dialect, varied.ways.in_session(setting, level))
    read = replace(step_of(dialect, varied.ways.read(setting)), session=Role.CONTROL)
    try:
        sessions.run(replace(step, session=Role.CONTROL))
        try:
            now = str(sessions.run(read).rows[0]["value"])
        finally:
            _run(sessions, (replace(step, text=text, undo=(), session=Role.CONTROL) for text in step.undo))
    except DatabaseError as error:
        if error.lost:
            raise
        raise ToolkitError(
            f"`{setting.name}` cannot be `{level}`: {error.sentence}",
            code="TK-0102",
            hint="nothing was changed",
            database_code=error.code,
        ) from None
    if not varied.ways.same(setting, level, now):
        refusal = not_taken(setting, level, now)
        raise ToolkitError(refusal.message, code="TK-0102", hint="give a level that it takes as it is")


def _run(sessions: Sessions, steps: Iterable[Step]) -> None:
    for step in steps:
        sessions.run(step)


def _factors(experiment: Experiment) -> Iterator[Factor]:
    return (factor for factor in experiment.factors if factor.setting)
