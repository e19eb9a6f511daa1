"""Which database a run worked on, and whether it is the one that its target leads to now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, Timeouts, read_facts
from toolkit.model.engines import engine
from toolkit.model.facts import Facts, Query
from toolkit.model.records import RunHead
from toolkit.model.words import Role
from toolkit.runner.ownership import named
from toolkit.store import Store
from toolkit.targets.base import Target


def read_server(
    target: Target, dialect: Dialect, timeouts: Timeouts | None = None, also: Iterable[str] = ()
) -> Facts:
    """Read what the server says of itself, in a session that no search for a run's sessions finds.

    Args:
        target: the server.
        dialect: of its engine.
        timeouts: of the session.
        also: catalogue files that are read besides, where that is granted.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached.
    """
    queries = [Query("server", "server"), *(Query(file, file, optional=True) for file in also)]
    sessions = Sessions(target, "dbatk repair", timeouts=timeouts)
    try:
        return read_facts(sessions.get(Role.CONTROL), dialect, queries)
    finally:
        sessions.close()


def database_of(facts: Facts, target: Target) -> str:
    """Return what identifies the database itself, however it is reached."""
    return str(facts.value("server", "database_id", "") or target.display)


def refuse_other_database(head: RunHead, target: Target, here: str) -> None:
    """Refuse a run that worked on another database: there, not here, its objects are to be looked for.

    Raises:
        ToolkitError: TK-0107.
    """
    if worked_on(head, target, here):
        return
    words, run = head.experiment.target, head.run
    hint = f"give its own target, which was `{words}`"
    if in_another_role(head, target, words, here):
        hint = (
            f"if a standby has become the primary since: `dbatk clean -t {words} --run {run}` restores what the "
            "run left; then begin a new one, as trials of two servers are no measurement"
        )
    raise ToolkitError(
        f"run {run} worked on `{head.target_name}`, and `{target.display}` is `{here}`", code="TK-0107", hint=hint
    )


def worked_on(head: RunHead, target: Target, here: str) -> bool:
    """Tell whether a run worked on a target that `database_of` tells is this database."""
    if head.engine != target.engine:
        return False
    if engine(head.engine).embedded and here != ":memory:":
        return Path(head.target_name).resolve() == Path(here).resolve()
    return head.target_name in {"", here}


def elsewhere(target: Target, words: str, store: Store, timeouts: Timeouts | None) -> list[str]:
    """Name the runs with open entries that worked on this target while it was a database of another identity."""
    entries = store.open_entries_all()
    heads = list(map(store.load_head, {entry.run for entry in entries}))
    if all(head.experiment.target != words for head in heads):
        return []
    here = database_of(read_server(target, dialect_of(target.engine), timeouts), target)
    return [
        f"{head.run}: it worked on `{head.target_name}`, and `{words}` is `{here}` now, where "
        f"{', '.join(named(entry) for entry in entries if entry.run == head.run)} was not looked for: if a "
        f"standby has become the primary since, run: dbatk clean -t {words} --run {head.run}"
        for head in heads
        if in_another_role(head, target, words, here)
    ]


def in_another_role(head: RunHead, target: Target, words: str, here: str) -> bool:
    """Tell whether a target of the same words may be the run's database in another role, which renames it."""
    mark = engine(target.engine).role_mark
    if not mark or (head.experiment.target, head.engine) != (words, target.engine):
        return False
    return head.target_name != here and head.target_name.partition(mark)[2] == here.partition(mark)[2]
