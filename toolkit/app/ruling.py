"""Limits belong to a database: every profile of it rules, by whatever name or address one gets there.

What a database is, it says itself: Oracle by DBID and container, PostgreSQL by system identifier and oid; for
DuckDB it is the file (device and inode). What a profile leads to is kept at each contact; until then its address
is compared.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from toolkit.app.approvals import Approvals, TargetPolicy, exposed
from toolkit.app.runs import licensing
from toolkit.config.identities import keep_identity, known_identities
from toolkit.config.profiles import Profile, ruling_profiles
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, Timeouts, read_facts, refused
from toolkit.model.address import Address
from toolkit.model.engines import engine
from toolkit.model.facts import Query
from toolkit.model.protocols import Connection, DatabaseError, Event, Events
from toolkit.model.words import Role
from toolkit.targets.base import Target

_HERE = "this host"
_NONE = "none"


def ruled(policy: TargetPolicy, target: Target, session: Connection, *, changes: bool = True) -> TargetPolicy:
    """Return the strictest limits of all profiles of the database that a session is in.

    Args:
        policy: of the profile or URL that was given.
        target: where.
        session: of it.
        changes: whether something is to be changed: then a database that may be one for approved work only is
            refused as long as that is not known.

    Raises:
        ToolkitError: TK-0313 naming the profile of which it is not known.
        DatabaseError: of the database.
    """
    profiles = ruling_profiles()
    used = {one.name: one for one in profiles}.get(policy.used or "")
    others = [one for one in profiles if one is not used and one.address.engine == target.engine]
    others = [one for one in others if _is_stricter(one, policy)]
    if not others and (used is None or not _limits(used)):
        return policy
    identity = _identity(target, session)
    if used is not None and identity is not None and not engine(target.engine).embedded:
        keep_identity(used, identity)
    known = {of_host: known_identities(of_host=of_host) for of_host in {one.of_host for one in others}}
    for profile in others:
        kept = _identity_of(profile, known[profile.of_host])
        if (identity is not None and identity == kept) or _leads_to(profile.address, target.address):
            policy = stricter(policy, profile)
        elif changes and profile.approved_only and not policy.approved_only and None in (identity, kept):
            raise _unknown(profile, target, unreadable=identity is None)
    licensing.narrow(target, policy)
    return policy


def ruled_by_address(policy: TargetPolicy, address: Address) -> TargetPolicy:
    """Return the strictest limits of the profiles whose address is that of a URL, without connecting to it."""
    for profile in ruling_profiles():
        if _is_stricter(profile, policy) and _leads_to(profile.address, address):
            policy = stricter(policy, profile)
    return policy


def ruled_now(policy: TargetPolicy, target: Target, timeouts: Timeouts | None = None) -> TargetPolicy:
    """Return the strictest limits as `ruled`, in a session of its own.

    Raises:
        ToolkitError: as `ruled`; TK-0201 when the target cannot be reached.
    """
    if not any(one.address.engine == target.engine and _is_stricter(one, policy) for one in ruling_profiles()):
        return policy
    sessions = Sessions(target, "dbatk limits", read_only=True, timeouts=timeouts)
    try:
        return ruled(policy, target, sessions.get(Role.CONTROL))
    except DatabaseError as error:
        raise refused(dialect_of(target.engine), error) from None
    finally:
        sessions.close()


def refuse_unseen(target: Target, policy: TargetPolicy) -> None:
    """Refuse what is made without a connection where it may be for a database of approved work only.

    Raises:
        ToolkitError: TK-0313.
    """
    for profile in ruling_profiles():
        if profile.approved_only and profile.address.engine == target.engine and not policy.approved_only:
            raise _unknown(profile, target, unreadable=False)


# -- the strictest of several ---------------------------------------------------------------------------------
def stricter(policy: TargetPolicy, profile: Profile) -> TargetPolicy:
    """Return limits with those of another profile that are stricter, and by which profile each is."""
    by = dict(policy.by)
    if profile.approved_only and not policy.approved_only:
        by["approved_only"] = profile.name
    if profile.production and not policy.production:
        by["production"] = profile.name
    degrees = [one for one in (policy.max_degree, profile.max_degree) if one is not None]
    degree = min(degrees, default=None)
    if degree != policy.max_degree:
        by["max_degree"] = profile.name
    declared = profile.declared(datetime.now(UTC).date())
    by |= dict.fromkeys(policy.licences - declared, profile.name)
    return replace(
        policy,
        approved_only=policy.approved_only or profile.approved_only,
        production=True if profile.production else policy.production,
        max_degree=degree,
        licences=policy.licences & declared,
        standbys=True if profile.standbys else policy.standbys,
        by=by,
    )


def _is_stricter(profile: Profile, policy: TargetPolicy) -> bool:
    return stricter(policy, profile) != policy


def _limits(profile: Profile) -> bool:
    """Tell whether a profile limits what others may do in its database."""
    return bool(profile.approved_only or profile.production or profile.max_degree or profile.standbys)


def _unknown(profile: Profile, target: Target, *, unreadable: bool) -> ToolkitError:
    hint = (
        "ask for the grant that identifies a database (Oracle: SELECT on SYS.V_$DATABASE, PostgreSQL: EXECUTE on "
        f"pg_control_system()), or use the target `{profile.name}`"
        if unreadable
        else f"`dbatk target test {profile.name}` records which database that is"
    )
    return ToolkitError(
        f"`{target.display}` may be the database of profile `{profile.name}`, where only approved work may run",
        code="TK-0313",
        hint=hint,
    )


# -- which database -------------------------------------------------------------------------------------------
def _identity(target: Target, session: Connection) -> str | None:
    """Return what tells a database from all others; None where it cannot be read."""
    declared = engine(target.engine)
    parts = [part for part in declared.identity if declared.embedded or part[0] in declared.same_by]
    queries = [Query(file, file, optional=True) for file in dict.fromkeys(file for _, file, _ in parts)]
    facts = read_facts(session, dialect_of(target.engine), queries)
    found = [str(facts.value(file, column) or "") for _, file, column in parts]
    if declared.embedded:
        return _of_file(found[0])
    return None if not found[0] or found[0].endswith("@unknown") else " ".join(found)


def _identity_of(profile: Profile, known: Mapping[str, str]) -> str | None:
    """Return which database a profile leads to; None where nobody was there yet."""
    if engine(profile.address.engine).embedded:
        return _of_file(profile.address.database)
    return known.get(profile.url)


def _of_file(path: str) -> str:
    """Return device and inode of a database file; one in memory, or that is not there, is no other's."""
    try:
        found = Path(path).stat() if path else None
    except OSError:
        found = None
    return _NONE if found is None else f"{found.st_dev}:{found.st_ino}"


def _leads_to(one: Address, other: Address) -> bool:
    """Tell whether two addresses are of one database, whatever their hosts are called."""
    if one.same_database(other):
        return True
    declared = engine(one.engine)
    if one.engine == other.engine and declared.embedded:
        return _reaches(other, one.database)
    if one.engine != other.engine or _database(one) != _database(other):
        return False
    if len({_port(one), _port(other)} - {None}) > 1:
        return False
    return not _hosts(one).isdisjoint(_hosts(other))


def _reaches(address: Address, file: str) -> bool:
    """Tell whether SQL may open a file beside the database of an address; a folder may have a link to any."""
    if ("external", "yes") in address.parameters:
        return True
    files = [value for name, value in address.parameters if name == "files"]
    return any(one.endswith("/") or Path(one).is_dir() or _of_file(one) == _of_file(file) for one in files)


def _database(address: Address) -> str:
    """Return database or service, without what only says how to get there (`service:dedicated/instance`)."""
    return (address.database or address.user or "").split("/")[0].split(":")[0].lower()


def _port(address: Address) -> str | None:
    port = address.port or dict(address.parameters).get("port")
    return None if port is None else str(port)


def _hosts(address: Address) -> frozenset[str]:
    """Return all addresses of the hosts that an address names; those of this host have one name, too."""
    given = address.host or dict(address.parameters).get("host") or dict(address.parameters).get("hostaddr") or ""
    if engine(address.engine).service_names and not given:
        return frozenset()
    found = {one for host in given.split(",") for one in _resolved(host.rpartition(":")[0] or host)}
    own = _resolved(socket.gethostname())
    here = any(one == _HERE or one in own or _is_loopback(one) for one in found)
    return frozenset(found | {_HERE} if here else found)


@cache
def _resolved(host: str) -> frozenset[str]:
    if not host or host.startswith("/"):
        return frozenset({_HERE})
    with suppress(OSError):
        return frozenset(str(one[4][0]) for one in socket.getaddrinfo(host, None)) | {host.lower()}
    return frozenset({host.lower()})


def _is_loopback(text: str) -> bool:
    with suppress(ValueError):
        return ip_address(text).is_loopback
    return False


def warn_of_exposure(
    target: Target, store: str | None, policy: TargetPolicy, approvals: Approvals, events: Events
) -> None:
    """Say what is at stake on the way to a target and to the results store."""
    for sentence in (*exposed(target, policy, approvals), *filter(None, [store])):
        events.emit(Event("warning", sentence))
