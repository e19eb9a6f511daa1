"""What must hold of the objects of a run before it changes any: that they can be put back afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from toolkit.app.runs.databases import database_of
from toolkit.dialects.base import Dialect
from toolkit.errors import ToolkitError
from toolkit.executors import Script, Sessions
from toolkit.model.steps import Step
from toolkit.model.words import Effect, ObjectKind
from toolkit.runner import PlanningContext, RunContext
from toolkit.runner.ownership import creates, find, named, ref_of, refuse_blind
from toolkit.store import Store

_LOOKED_UP = frozenset({ObjectKind.TABLE, ObjectKind.INDEX})


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
    for step in _steps(scripts):
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


def warn_of_settings_left(context: RunContext) -> None:
    """Warn of what an earlier run set for the whole server or its host and has not restored."""
    own = {context.run, context.store.load_head(context.run).parent}
    for entry in context.store.open_entries_all():
        if entry.object_kind != ObjectKind.SETTING or not entry.proof or entry.run in own:
            continue
        head = context.store.load_head(entry.run)
        if head.target_name != database_of(context.facts, context.target):
            continue
        before = entry.proof.get("before")
        was = f" (before: `{before}`)" if before else ""
        context.warn(
            f"run {entry.run} changed {named(entry)}{was} and has not restored it; this run works with what it "
            f"left: dbatk clean -t {head.experiment.target} --run {entry.run}"
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
