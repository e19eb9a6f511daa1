"""Targets: from a profile's name or a URL to a target, and an experiment fitted to it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module

from toolkit.app.approvals import TargetPolicy
from toolkit.config.profiles import Profile, find_profile, profile_of
from toolkit.config.secrets import SecretKind, resolver
from toolkit.config.urls import parse_url
from toolkit.design.build import check_engine
from toolkit.design.user_sql import (
    assignments_of,
    check_assignment,
    check_expression,
    check_predicate,
    check_query,
    expressions_of,
)
from toolkit.errors import ToolkitError
from toolkit.model.address import Address
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment, queries_of
from toolkit.model.facts import Query
from toolkit.model.operations import options_of
from toolkit.model.options import OptionKind
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import EngineName, Role
from toolkit.targets.base import Access, Target

PASSWORD_VARIABLE = "DBATK_PASSWORD"  # noqa: S105 - the name of a variable
WALLET_PASSWORD_VARIABLE = "DBATK_WALLET_PASSWORD"  # noqa: S105 - the name of a variable
Prompt = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """A target, and what its profile says of it; for a URL nothing is known."""

    target: Target
    policy: TargetPolicy
    work_schema: str | None = None
    consumer_group: str | None = None
    restore: str | None = None


def find_target(
    text: str, *, prompt: Prompt | None = None, profiles: Mapping[str, Profile] | None = None
) -> ResolvedTarget:
    """Return the target of a profile or URL; nothing is connected yet.

    Args:
        text: the name of a profile, or a URL.
        prompt: asks for a password on a terminal; None where there is none.
        profiles: all of them, where many targets are looked for; read from their file if not given.

    Raises:
        ToolkitError: TK-0111 for an unknown name, TK-0108 for a password in the URL, TK-0206 for a driver that
            is not installed.
    """
    if "://" in text:
        address = parse_url(text)
        asking = _Asking(address, prompt)
        access = Access(address, asking.password, wallet_password=_wallet_password(None), ask_password=asking.ask)
        return ResolvedTarget(open_target(access), TargetPolicy(used=text))
    profile = find_profile(text) if profiles is None else profile_of(text, profiles)
    target = open_target(access_of(profile, prompt))
    return ResolvedTarget(target, _policy(profile), profile.work_schema, profile.consumer_group, profile.restore)


def policy_of(text: str) -> TargetPolicy:
    """Return what profiles say of a target, without connecting: its own, and others with the same address.

    Raises:
        ToolkitError: as `find_target`.
    """
    from toolkit.app.ruling import ruled_by_address

    if "://" in text:
        return ruled_by_address(TargetPolicy(), parse_url(text))
    profile = find_profile(text)
    return ruled_by_address(_policy(profile), profile.address)


def _policy(profile: Profile) -> TargetPolicy:
    declared = profile.declared(datetime.now(UTC).date())
    return TargetPolicy(
        profile.production,
        profile.name,
        profile.max_degree,
        declared,
        profile.licences,
        profile.approved_only,
        standbys=profile.standbys,
        used=profile.name,
        restart=profile.restart,
        sysdba=profile.sysdba,
    )


def engine_of(text: str) -> EngineName:
    """Return the engine of a profile or URL without loading a driver.

    Raises:
        ToolkitError: as `find_target`.
    """
    return (parse_url(text) if "://" in text else find_profile(text).address).engine


def access_of(profile: Profile, prompt: Prompt | None = None) -> Access:
    """Return how to get in by a profile."""
    reference, address = profile.password, profile.address
    asking = _Asking(address, prompt if reference is None else None)
    password = asking.password if reference is None else resolver(reference, address.user)
    options = profile.options
    if reference is not None and reference.kind is SecretKind.WALLET and "wallet_location" not in dict(options):
        options = (*options, ("wallet_location", str(reference.value)))
    declared = profile.declared(datetime.now(UTC).date())
    return Access(address, password, declared, options, _wallet_password(profile), asking.ask)


def _wallet_password(profile: Profile | None) -> Callable[[], str | None]:
    if profile is None or profile.wallet_password is None:
        return lambda: os.environ.get(WALLET_PASSWORD_VARIABLE) or None
    return resolver(profile.wallet_password, profile.address.user)


def open_target(access: Access) -> Target:
    """Return the engine's target for an access; its driver is imported when it connects."""
    target: Target = import_module(engine(access.address.engine).target).open_target(access)
    return target


class _Asking:
    """Where a password comes from when no profile refers to it: the environment, the driver's places, a person.

    Some servers ask for none (trust, peer, certificates), and libpq has places of its own: there a person is asked
    only where the server wants one. Another engine's driver begins with it.
    """

    def __init__(self, address: Address, prompt: Prompt | None) -> None:
        self._address, self._prompt = address, prompt
        self._answers: list[str | None] = []
        self._turn = threading.Lock()

    def password(self) -> str | None:
        """Return the password, as far as it is known without asking, or where it must be known at first."""
        given = os.environ.get(PASSWORD_VARIABLE)
        if given or self._answers or self._address.user is None or not engine(self._address.engine).asks_password:
            return given or next(iter(self._answers), None)
        return self.ask()

    def ask(self) -> str | None:
        """Ask a person, once for all sessions; None where nobody can be asked."""
        if self._prompt is None:
            return None
        with self._turn:
            if not self._answers:
                who = f"`{self._address.user}`" if self._address.user else "the user"
                self._answers.append(self._prompt(f"password of {who} at `{self._address.display}`") or None)
        return self._answers[0]


def ping(target: Target, policy: TargetPolicy | None = None) -> str:
    """Connect, keep which database the profile leads to, and return what the server says of itself.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached.
    """
    from toolkit.app.ruling import ruled
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import Sessions, read_facts, refused

    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk test", read_only=True)
    try:
        facts = read_facts(sessions.get(Role.CONTROL), dialect, (Query("server", "server"),))
        if policy is not None:
            ruled(policy, target, sessions.get(Role.CONTROL), changes=False)
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    user = facts.value("server", "user_name")
    return f"{facts.release} as {user}" if user else str(facts.release)


def fitted(experiment: Experiment, resolved: ResolvedTarget) -> Experiment:
    """Check an experiment against the engine, and fill in what the profile says.

    Raises:
        ToolkitError: TK-0304 for an option the engine does not have, TK-0105 for a query in another's quotes.
    """
    check_for_engine(experiment, resolved.target.engine)
    allow_folders(experiment, resolved.target)
    if experiment.work_schema is None and resolved.work_schema is not None:
        experiment = replace(experiment, work_schema=resolved.work_schema)
    said = {"consumer_group": resolved.consumer_group, "restore": resolved.restore}
    known = {one.name for one in options_of(experiment.operation) if one.is_of(resolved.target.engine)}
    known.difference_update(factor.name for factor in experiment.factors)
    taken = {name: value for name, value in said.items() if value is not None and name in known}
    return replace(experiment, options={**taken, **experiment.options})


def allow_folders(experiment: Experiment, target: Target) -> None:
    """Let a database in this process write where an experiment says that its backups go."""
    for one in options_of(experiment.operation):
        if one.kind is OptionKind.FILES:
            for path in _files(experiment.options.get(one.name)):
                target.allow_file(path)
    given = experiment.options.get("destination")
    for path in given if isinstance(given, tuple) else (given,) if isinstance(given, str) else ():
        target.allow_folder(path)


def _files(given: object) -> tuple[str, ...]:
    from toolkit.executors.data_files import paths_of

    try:
        return paths_of(given) if isinstance(given, tuple) else ()
    except ToolkitError:
        return ()  # said where they are read; a script that is only shown may name files that are elsewhere


def check_for_engine(experiment: Experiment, engine: EngineName) -> None:
    """Refuse options and quotes the engine does not have.

    Raises:
        ToolkitError: TK-0304, TK-0105.
    """
    check_engine(experiment, engine)
    for query in queries_of(experiment.options).values():
        check_query(query, engine)
    if "where" in experiment.options:
        check_predicate(str(experiment.options["where"]), engine)
    for text in assignments_of(experiment.options):
        check_assignment(text, engine)
    for text in expressions_of(experiment.options):
        check_expression(text, engine)
