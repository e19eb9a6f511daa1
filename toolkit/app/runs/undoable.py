"""What must hold of the objects of a run before it changes any: that they can be put back afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from toolkit.app.runs.databases import database_of
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Script, Sessions
from toolkit.model.steps import Step
from toolkit.model.words import Effect, ObjectKind
from toolkit.runner import PlanningContext, RunContext
from toolkit.runner.ownership import creates, find, name_of, named, ref_of, refuse_blind
from toolkit.store import Store
from toolkit.units import counted

_NAMED = 20
_LOOKED_UP = frozenset({ObjectKind.TABLE, ObjectKind.INDEX})
_WARNED_OF = frozenset({ObjectKind.SETTING, ObjectKind.PROGRAM})


def refuse_unseen(planning: PlanningContext, dialect: Dialect, sessions: Sessions) -> None:
    """Refuse a run whose objects its user could not see again: what was left of them would be taken for gone.

    One object is asked of each kind and schema of others, and every table of others that is changed: a grant may
    show it alone. Of a table that is made there and stays, what it is set to must be seen, too.

    Raises:
        ToolkitError: TK-0306; the hint is the grant.
    """
    user, kept = planning.facts.value("server", "user_name"), planning.experiment.keep != "none"
    asked = set()
    for step in _changing(planning.scripts):
        ref = step.object
        if ref is None or ref.kind not in _LOOKED_UP or ref.name.schema in (None, user):
            continue
        single = ref.kind is ObjectKind.TABLE and step.effect is not Effect.CREATES
        key = (ref.kind, ref.name.schema, ref.name.name if single else None)
        if key not in asked:
            asked.add(key)
            find(sessions, dialect, ref)
            if step.effect is Effect.CREATES and ref.kind is ObjectKind.TABLE and (kept or not ref.scratch):
                refuse_blind(sessions, dialect, ref)


def refuse_open(scripts: Iterable[Script], database: str, store: Store) -> None:
    """Refuse to work on an object that an earlier run changed and has not restored.

    Its present value would be taken for the former one: put back as such, or left where it is as needed.

    Raises:
        ToolkitError: TK-0307; the hint is the command that restores it.
    """
    open_ones = {
        replace(ref_of(entry), table=None): entry
        for entry in store.open_entries_all()
        if entry.undo
        and not entry.scratch
        and not creates(entry)
        and entry.object_kind in {*_LOOKED_UP, ObjectKind.SETTING}
    }
    for step in _steps(scripts) if open_ones else ():
        entry = None if step.object is None else open_ones.get(replace(step.object, table=None))
        if entry is None:
            continue
        head = store.load_head(entry.run)
        if head.target_name == database:
            raise ToolkitError(
                f"run {entry.run} changed {named(entry)} and has not restored it",
                code="TK-0307",
                hint=f"first run: dbatk clean -t {head.experiment.target} --run {entry.run}",
            )


def refuse_unasked(planning: PlanningContext, *, resumed: bool = False) -> None:
    """Refuse to take an unusual value of the user's objects for the former one, unless an option says what it is.

    A killed run of another store may have left it: nothing on the object tells.

    Args:
        planning: with the scripts of all cells.
        resumed: whether the run has its options since an earlier attempt.

    Raises:
        ToolkitError: TK-0118 that names the objects and the values.
    """
    usual, found = dict(planning.dialect.usual_values), defaultdict[str, dict[str, set[str]]](dict)
    if planning.experiment.options.get("restore") is not None:
        return
    for step in _steps(planning.scripts):
        if step.object is None or step.object.scratch:
            continue
        for each in (*step.overwrites, *(one for one in step.restores if one is not None)):
            if each.back != usual.get(each.name, each.back):
                parts = found[name_of(step.object)].setdefault(f"{each.name} {each.back}", set())
                parts.update((each.part,) if each.part else ())
    if not found:
        return
    named = [
        f"{name} has "
        + " and ".join(
            f"{value} in {counted(len(parts), 'partition')}" if parts else value for value, parts in values.items()
        )
        for name, values in found.items()
    ]
    defaults = " and ".join(f"{name} {value}" for name, value in usual.items())
    more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    raise ToolkitError(
        f"{'; '.join(named[:_NAMED])}{more}: that may be what a killed run with another store left, and is not "
        "restored unasked",
        code="TK-0118",
        hint="if there is such a run, first clean it with its store; else "
        + (
            "a run that is resumed keeps its options: set it back yourself, or begin a new run with "
            if resumed
            else "add "
        )
        + f"`--restore found` to restore what is there now, or `--restore default` for {defaults}",
    )


def warn_of_unrestored(context: RunContext) -> None:
    """Warn of what an earlier run set for the whole server or its host and has not restored."""
    found = [each for each in context.store.open_entries_all() if each.object_kind in _WARNED_OF and each.proof]
    own = {context.run, context.store.load_head(context.run).parent} if found else set()
    for entry in found:
        if entry.run in own:
            continue
        head = context.store.load_head(entry.run)
        if head.target_name != database_of(context.facts, context.target):
            continue
        before = entry.proof.get("before")
        was = f" (before: `{before}`)" if before else ""
        left = (
            f"has not cleaned up ({named(entry)})"
            if entry.object_kind == ObjectKind.PROGRAM
            else f"changed {named(entry)}{was} and has not restored it"
        )
        context.warn(
            f"run {entry.run} {left}; this run works with what it left: "
            f"dbatk clean -t {head.experiment.target} --run {entry.run}"
            + (" --allow-commands" if "command" in entry.proof else "")
        )


def _changing(scripts: Iterable[Script]) -> Iterator[Step]:
    yield from (step for step in _steps(scripts) if step.effect is Effect.CREATES or step.undo)


def _steps(scripts: Iterable[Script]) -> Iterator[Step]:
    """Yield the steps that do something to a database, in the order of a trial."""
    for script in scripts:
        if script.stages is None:
            continue
        timed = (step for item in script.stages.timed.items for step in item.steps)
        every = (*script.stages.setup, *script.stages.prepare, *timed)
        yield from (step for step in every if step.effect is not Effect.READS)
