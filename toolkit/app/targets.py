"""Targets: from a profile's name or a URL to a target, and what it can do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.app.approvals import Standing
from toolkit.config.profiles import Profile, find_profile
from toolkit.config.secrets import SecretKind, resolver
from toolkit.config.urls import parse_url
from toolkit.dialects.base import Check, Dialect, Work
from toolkit.model.address import Address
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import EngineName, Mode, ObjectKind, OperationName, Role, SupportState
from toolkit.targets.base import Access, Target

if TYPE_CHECKING:
    from toolkit.executors import Sessions

PASSWORD_VARIABLE = "DBATK_PASSWORD"  # noqa: S105 - the name of a variable
WALLET_PASSWORD_VARIABLE = "DBATK_WALLET_PASSWORD"  # noqa: S105 - the name of a variable
Prompt = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Reached:
    """A target, and what its profile says of it; for a URL nothing is known."""

    target: Target
    standing: Standing
    work_schema: str | None = None


@dataclass(frozen=True, slots=True)
class Doctor:
    """What a target can do: checks of the server, and whether the work asked for can be had."""

    target: str
    facts: Facts
    checks: tuple[Check, ...]
    support: tuple[Check, ...]


def find_target(text: str, *, prompt: Prompt | None = None) -> Reached:
    """Return the target of a profile or URL; nothing is connected yet.

    Args:
        text: the name of a profile, or a URL.
        prompt: asks for a password on a terminal; None where there is none.

    Raises:
        ToolkitError: TK-0111 for an unknown name, TK-0108 for a password in the URL, TK-0206 for a driver that
            is not installed.
    """
    if "://" in text:
        address = parse_url(text)
        access = Access(address, _password_of_url(address, prompt), wallet_password=_wallet_password(None))
        return Reached(open_target(access), Standing())
    profile = find_profile(text)
    return Reached(open_target(access_of(profile, prompt)), _standing(profile), profile.work_schema)


def standing_of(text: str) -> Standing:
    """Return what the profile of a target says, without connecting; nothing for a URL.

    Raises:
        ToolkitError: as `find_target`.
    """
    return Standing() if "://" in text else _standing(find_profile(text))


def _standing(profile: Profile) -> Standing:
    declared = profile.declared(datetime.now(UTC).date())
    return Standing(profile.production, profile.name, profile.max_degree, declared, profile.licences)


def engine_of(text: str) -> EngineName:
    """Return the engine of a profile or URL without loading a driver.

    Raises:
        ToolkitError: as `find_target`.
    """
    return (parse_url(text) if "://" in text else find_profile(text).address).engine


def access_of(profile: Profile, prompt: Prompt | None = None) -> Access:
    """Return how to get in by a profile."""
    reference, address = profile.password, profile.address
    password = _password_of_url(address, prompt) if reference is None else resolver(reference, address.user)
    options = profile.options
    if reference is not None and reference.kind is SecretKind.WALLET and "wallet_location" not in dict(options):
        options = (*options, ("wallet_location", str(reference.value)))
    declared = profile.declared(datetime.now(UTC).date())
    return Access(address, password, declared, options, _wallet_password(profile))


def _wallet_password(profile: Profile | None) -> Callable[[], str | None]:
    if profile is None or profile.wallet_password is None:
        return lambda: os.environ.get(WALLET_PASSWORD_VARIABLE) or None
    return resolver(profile.wallet_password, profile.address.user)


def open_target(access: Access) -> Target:
    """Return the engine's target for an access."""
    match access.address.engine:
        case EngineName.DUCKDB:
            from toolkit.targets.duckdb import DuckdbTarget

            return DuckdbTarget(access)
        case EngineName.POSTGRESQL:
            from toolkit.targets.postgresql import PostgresqlTarget

            return PostgresqlTarget(access)
        case EngineName.ORACLE:
            from toolkit.targets.oracle import OracleTarget

            return OracleTarget(access)


def _password_of_url(address: Address, prompt: Prompt | None) -> Callable[[], str | None]:
    """Where a password comes from when no profile refers to it: the environment, libpq's own places, a prompt."""
    answers: list[str | None] = []

    def fetch() -> str | None:
        given = os.environ.get(PASSWORD_VARIABLE)
        if given or prompt is None or not _needs_prompt(address):
            return given or None
        if not answers:
            answers.append(prompt(f"password of `{address.user}` at `{address.display}`") or None)
        return answers[0]

    return fetch


def _needs_prompt(address: Address) -> bool:
    if address.engine is EngineName.DUCKDB or address.user is None:
        return False
    if address.engine is EngineName.ORACLE:
        return True
    if address.host is None or address.host.startswith("/"):
        return False
    file = Path(os.environ.get("PGPASSFILE") or Path.home() / ".pgpass")
    return not os.environ.get("PGPASSWORD") and not file.exists()


# -- doctor -----------------------------------------------------------------------------------------------------
def doctor(target: Target, experiment: Experiment | None = None) -> Doctor:
    """Read a target and judge it; changes nothing.

    Args:
        target: where to look.
        experiment: work to be judged cell by cell; without it each operation is judged at degree 2.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, TK-0203 when the catalogue refuses, TK-0204 when the
            experiment names something that is not there.
    """
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import Sessions, refused

    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk doctor", read_only=True)
    try:
        facts = _read(dialect, sessions, experiment)
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    support = _judged_cells(dialect, facts, experiment) if experiment else _judged_operations(dialect, facts)
    return Doctor(target.display, facts, (*dialect.checks(facts), *_refused_reads(facts)), tuple(support))


def ping(target: Target) -> str:
    """Connect, and return what the server says of itself.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached.
    """
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import Sessions, read_facts, refused

    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk test", read_only=True)
    try:
        facts = read_facts(sessions.get(Role.CONTROL), dialect, (Query("server", "server"),))
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    user = facts.value("server", "user_name")
    return f"{facts.release} as {user}" if user else str(facts.release)


def _read(dialect: Dialect, sessions: Sessions, experiment: Experiment | None) -> Facts:
    from toolkit.app.planning import collect_facts
    from toolkit.executors import read_facts

    server = (Query("server", "server"), Query("settings", "settings", optional=True))
    files = tuple(Query(file, file, optional=True) for file in dialect.doctor_files)
    facts = read_facts(sessions.get(Role.CONTROL), dialect, (*server, *files))
    if experiment is None:
        return facts
    more = collect_facts(experiment, dialect, sessions)
    return replace(more, answers={**facts.answers, **more.answers}, refused={**facts.refused, **more.refused})


def _refused_reads(facts: Facts) -> Iterable[Check]:
    for key, message in facts.refused.items():
        sentence = (message.strip().splitlines() or [""])[0]
        yield Check(key, "note", f"could not be read: {sentence}", "it is not judged", "grant the view named")


def _judged_cells(dialect: Dialect, facts: Facts, experiment: Experiment) -> Iterable[Check]:
    from toolkit.app.planning import cells_in_order, planner_of
    from toolkit.operations import operation
    from toolkit.operations.base import support_of

    planner, work = planner_of(experiment, dialect, facts), operation(experiment.operation)
    work.check(planner)
    for cell in cells_in_order(experiment):
        support = support_of(planner, work.pieces(planner, cell))
        yield _support_check(f"{experiment.operation} {cell}", support.state, support.sentence)


def _judged_operations(dialect: Dialect, facts: Facts) -> Iterable[Check]:
    """Judge each operation at degree 2 on a table nobody named: what would silently run serially, and why."""
    table = QualifiedName("T", str(facts.value("server", "current_schema", "") or "") or None)
    for name in OperationName:
        index = name in {OperationName.INDEX_BUILD, OperationName.INDEX_REBUILD}
        kind = ObjectKind.INDEX if index else ObjectKind.TABLE
        degree = 1 if name in dialect.degree_by_sessions else 2
        ref = ObjectRef(kind, table, ours=True, table=table if index else None)
        work = Work(name, Mode.MEASUREMENT, ref, {"degree": degree}, degree, source=table, columns=("A",))
        support = dialect.support(work, facts)
        sentence = support.sentence
        if not sentence and degree == 1:
            sentence = "a degree is that many sessions working through the objects"
        yield _support_check(f"{name} in parallel", support.state, sentence)


def _support_check(name: str, state: SupportState, sentence: str) -> Check:
    ok = state is SupportState.SUPPORTED
    return Check(name, "ok" if ok else "warning", sentence or ("can be had" if ok else state.value))
