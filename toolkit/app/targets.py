"""Targets: from a profile's name or a URL to a target, and an experiment fitted to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from toolkit.app.approvals import TargetPolicy
from toolkit.config.profiles import Profile, find_profile, load_profiles, profile_of
from toolkit.config.secrets import SecretKind, resolver
from toolkit.config.urls import parse_url
from toolkit.design.build import check_engine
from toolkit.design.user_sql import check_predicate, check_query
from toolkit.model.address import Address
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Query
from toolkit.model.operations import options_of
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import EngineName, Role
from toolkit.targets.base import Access, Target

PASSWORD_VARIABLE = "DBATK_PASSWORD"  # noqa: S105 - the name of a variable
WALLET_PASSWORD_VARIABLE = "DBATK_WALLET_PASSWORD"  # noqa: S105 - the name of a variable
_GROUP = "consumer_group"
Prompt = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """A target, and what its profile says of it; for a URL nothing is known."""

    target: Target
    policy: TargetPolicy
    work_schema: str | None = None
    consumer_group: str | None = None


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
        access = Access(address, _password_of_url(address, prompt), wallet_password=_wallet_password(None))
        return ResolvedTarget(open_target(access), _policy_of_url(address))
    profile = find_profile(text) if profiles is None else profile_of(text, profiles)
    target = open_target(access_of(profile, prompt))
    return ResolvedTarget(target, _policy(profile), profile.work_schema, profile.consumer_group)


def policy_of(text: str) -> TargetPolicy:
    """Return what the profile of a target says, without connecting; nothing for a URL.

    Raises:
        ToolkitError: as `find_target`.
    """
    return _policy_of_url(parse_url(text)) if "://" in text else _policy(find_profile(text))


def _policy_of_url(address: Address) -> TargetPolicy:
    """Return nothing, unless a profile says of the same database that it is production."""
    named = (one for one in load_profiles().values() if one.production and one.address.same_database(address))
    profile = next(named, None)
    return TargetPolicy() if profile is None else TargetPolicy(production=True, profile_name=profile.name)


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
    """Return the engine's target for an access; its driver is imported when it connects."""
    target: Target = import_module(engine(access.address.engine).target).open_target(access)
    return target


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
    if engine(address.engine).embedded or address.user is None:
        return False
    if engine(address.engine).asks_password:
        return True
    if address.host is None or address.host.startswith("/"):
        return False
    file = Path(os.environ.get("PGPASSFILE") or Path.home() / ".pgpass")
    return not os.environ.get("PGPASSWORD") and not file.exists()


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


def fitted(experiment: Experiment, resolved: ResolvedTarget) -> Experiment:
    """Check an experiment against the engine, and fill in what the profile says.

    Raises:
        ToolkitError: TK-0304 for an option the engine does not have, TK-0105 for a query in another's quotes.
    """
    check_for_engine(experiment, resolved.target.engine)
    if experiment.work_schema is None and resolved.work_schema is not None:
        experiment = replace(experiment, work_schema=resolved.work_schema)
    there = any(
        one.name == _GROUP and one.is_of(resolved.target.engine) for one in options_of(experiment.operation)
    )
    if resolved.consumer_group is None or not there or _GROUP in experiment.options:
        return experiment
    return replace(experiment, options={**experiment.options, _GROUP: resolved.consumer_group})


def check_for_engine(experiment: Experiment, engine: EngineName) -> None:
    """Refuse options and quotes the engine does not have.

    Raises:
        ToolkitError: TK-0304, TK-0105.
    """
    check_engine(experiment, engine)
    if "query" in experiment.options:
        check_query(str(experiment.options["query"]), engine)
    if "where" in experiment.options:
        check_predicate(str(experiment.options["where"]), engine)
