"""The environment of a target, of a run or of a file: read, kept with a run, and held against others.

What reads a target is loaded only for that: comparisons and lists ask the store alone.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.documents import holds_secret, open_file
from toolkit.errors import ToolkitError
from toolkit.model.environment import (
    Environment,
    EnvironmentValue,
    differences,
    environment_document,
    environment_of_document,
)
from toolkit.model.records import Artifact
from toolkit.model.words import Role
from toolkit.store import Store

if TYPE_CHECKING:
    from toolkit.analysis.compare import Comparison, Difference
    from toolkit.app.targets import ResolvedTarget
    from toolkit.dialects.base import Dialect
    from toolkit.model.facts import Facts
    from toolkit.model.protocols import Connection
    from toolkit.runner import RunContext
    from toolkit.targets.base import Target

ARTIFACT = "environment.json.z"
"""The environment of a run, as compressed JSON: a few kilobytes."""
HIDDEN = "(hidden: it holds a password)"
_MOST_NAMED = 6
_LARGEST_FILE = 8 << 20


Host = tuple[EnvironmentValue, ...] | None
"""How this host is set; None where the database runs on another one."""


def host_of(target: Target) -> Host:
    """Read how this host is set, where the database runs on it."""
    from toolkit.app.snapshots.providers import host_is_ours
    from toolkit.executors.host_environment import read_host_environment

    return read_host_environment() if host_is_ours(target) else None


def read_environment(
    connection: Connection, dialect: Dialect, files: Iterable[str], known: Facts, host: Host
) -> Environment:
    """Read settings, release and size of a database, and add those of this host where the database runs on it.

    Args:
        connection: a session that reads.
        dialect: of the engine.
        files: which of the engine's `environment_files` are read.
        known: facts read before, of which nothing is kept.
        host: how this host is set.
    """
    from toolkit.executors import read_facts
    from toolkit.model.facts import Query

    asked = tuple(Query(file, file, optional=True) for file in files)
    facts = read_facts(connection, dialect, asked, replace(known, answers={}, refused={}))
    rows = (row for file in files for row in facts.rows(file))
    values = [
        EnvironmentValue(
            str(row["name"]),
            row["value"],
            str(row["unit"] or ""),
            row["default_value"],
            None if row["origin"] is None else str(row["origin"]),
        )
        for row in rows
    ]
    warnings = [f"`{file}` could not be read: {why}" for file, why in facts.refused.items()]
    if host is not None:
        values += host
    else:
        warnings.append("the database runs on another host: the host's settings were not read")
    shown = (replace(each, value=HIDDEN) if holds_secret(str(each.value)) else each for each in values)
    return Environment(tuple(sorted(shown, key=lambda value: value.name)), tuple(warnings))


def environment_at(resolved: ResolvedTarget) -> Environment:
    """Read the environment of a target in a session that only reads.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, TK-0203 when the catalogue refuses.
    """
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import Sessions, read_facts, refused
    from toolkit.model.facts import Query
    from toolkit.model.protocols import DatabaseError

    target = resolved.target
    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk environment", read_only=True)
    try:
        control = sessions.get(Role.CONTROL)
        known = read_facts(control, dialect, (Query("server", "server"),))
        files = dialect.environment_files(known.release)
        return read_environment(control, dialect, files, known, host_of(target))
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()


# -- with a run ---------------------------------------------------------------------------------------------------
def environment_to_keep(context: RunContext, host: Host) -> tuple[Environment, Artifact]:
    """Read the environment of a run, and return it also as what is kept with the run.

    Of a database only its settings are read, in one round trip; patches and sizes are for `dbatk environment`.
    """
    dialect, facts = context.planning.dialect, context.facts
    files = dialect.environment_files(facts.release)[:1]
    now = read_environment(context.sessions.get(Role.CONTROL), dialect, files, facts, host)
    content = zlib.compress(json.dumps(environment_document(now)).encode())
    return now, Artifact(ARTIFACT, "application/zlib", content)


def environment_of_run(store: Store, run: str) -> Environment | None:
    """Return the environment kept with a run; None for one of an earlier version of dbatk.

    Raises:
        ToolkitError: TK-0106 where it is damaged.
    """
    kept = store.load_artifact(run, ARTIFACT)
    return None if kept is None else _of_artifact(kept, run)


def with_environments_kept(store: Store, found: Comparison) -> Comparison:
    """Name all that differs between the environments kept with two runs that are compared, if both have one.

    Raises:
        ToolkitError: TK-0106 where one is damaged.
    """
    runs = (found.a.head.run, found.b.head.run)
    return replace(found, differences=differences_kept(store, runs, found.differences))


def differences_kept(store: Store, runs: tuple[str, str], found: tuple[Difference, ...]) -> tuple[Difference, ...]:
    """Return what differs between two runs with all that differs between the environments kept with them.

    Raises:
        ToolkitError: TK-0106 where one is damaged.
    """
    from toolkit.analysis.compare import with_environments

    then, now = (environment_of_run(store, run) for run in runs)
    return found if then is None or now is None else with_environments(found, then, now)


def _of_artifact(kept: Artifact, run: str) -> Environment:
    try:
        document = json.loads(zlib.decompress(kept.content))
    except (ValueError, zlib.error):
        document = None
    return environment_of_document(document, f"the environment of run {run}")


def changes_since(store: Store, run: str, now: Environment, kept: Artifact) -> str | None:
    """Say what has changed on a target since the last run there; None where nothing has, or no run is known.

    Args:
        store: where runs are.
        run: the run.
        now: its environment.
        kept: the same as it is kept: where the last run kept the same bytes, there is nothing to compare.
    """
    before = store.previous_run(run)
    last = None if before is None else store.load_artifact(before, ARTIFACT)
    if before is None or last is None or last.content == kept.content:
        return None
    # a database grows by the work itself
    found = [one for one in differences((_of_artifact(last, before), now)) if not one.name.startswith("size.")]
    if not found:
        return None
    from toolkit.report.labels import surrounding

    named = [
        f"{surrounding(one.name)} {_shown(one.sides[0])} -> {_shown(one.sides[1])}" for one in found[:_MOST_NAMED]
    ]
    more = f" and {len(found) - len(named)} more" if len(found) > len(named) else ""
    return (
        f"changed since the last run on this target: {', '.join(named)}{more} "
        f"(`dbatk environment diff {before} {run}`)"
    )


def _shown(value: EnvironmentValue | None) -> str:
    return "none" if value is None else f"{value.value}{value.unit and ' ' + value.unit}"


# -- sides --------------------------------------------------------------------------------------------------------
def environment_named(text: str, store: Store, reach: Callable[[str], ResolvedTarget]) -> Environment:
    """Return the environment of a target (URL or profile), of a file, or of a run.

    Raises:
        ToolkitError: TK-0109 where it is none of them, TK-0106 for a file that is something else.
    """
    from toolkit.config.profiles import load_profiles

    if "://" in text or text in load_profiles():
        resolved = reach(text)
        try:
            return environment_at(resolved)
        finally:
            resolved.target.close()
    if Path(text).is_file():
        return _of_file(Path(text))
    try:
        run = store.resolve(text)
    except ToolkitError as error:
        raise ToolkitError(
            f"`{text}` is neither a target nor a file, and {error.message}",
            code=error.code,
            hint=f"{error.hint}; `dbatk target list` lists targets",
        ) from None
    found = environment_of_run(store, run)
    if found is None:
        raise ToolkitError(
            f"no environment was kept with run `{run}`",
            code="TK-0109",
            hint="it was made by an earlier version; `dbatk runs show RUN` shows what it recorded",
        )
    return found


def _of_file(path: Path) -> Environment:
    with open_file(path) as file:
        content = file.read(_LARGEST_FILE)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    return environment_of_document(document, str(path))


def masked(environment: Environment, pseudonym: Callable[[str, str], str]) -> Environment:
    """Return an environment without the names of machines, databases and folders.

    Args:
        environment: what is to be shared.
        pseudonym: gives a name and its kind a pseudonym; the same name always the same.
    """
    return replace(environment, values=tuple(_masked(environment, pseudonym)))


_NAMING = (
    "listen", "host", "addr", "_dir", "_file", "_name", "_path", "_dest", "conninfo", "location", "domain",
    "server", "client", "directory", "files", "cluster", "preload", "interconnects", "dispatchers",
    "archive_config", "command",
)  # fmt: skip
"""What the name of a setting contains whose text is a name, an address or a place."""


def _masked(environment: Environment, pseudonym: Callable[[str, str], str]) -> Iterator[EnvironmentValue]:
    for value in environment.values:
        group, _, name = value.name.partition(".")
        text = str(value.value or "")
        named = (
            group == "setting" and any(word in name for word in _NAMING) and not text.isdigit() and len(text) > 3
        )
        if group == "mount":
            yield replace(value, name=f"mount.{pseudonym(name, 'place')}", value=_without_device(text, pseudonym))
        elif group == "file_system":
            place, _, what = name.rpartition(".")
            yield replace(value, name=f"file_system.{pseudonym(place, 'place')}.{what}")
        elif name == "kernel_command_line" or named or "/" in text:
            yield replace(value, value=pseudonym(text, "text"), default=None)
        else:
            yield value


def _without_device(text: str, pseudonym: Callable[[str, str], str]) -> str:
    kind, _, rest = text.partition(" on ")
    device, _, options = rest.partition(" (")
    return f"{kind} on {pseudonym(device, 'device')} ({options}"
