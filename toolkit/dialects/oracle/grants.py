"""Least privilege: what each script reads, which grants are missing, and the statements that give them.

The list is that of the scripts themselves: the line `Needs:` in the head of every file of `sql/oracle`. Grants are
made on the real names (`V_$SESSION`); a synonym cannot be granted on (ORA-02030).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from toolkit import resources
from toolkit.dialects.answers import Grant
from toolkit.dialects.oracle.names import literal, quote
from toolkit.dialects.oracle.objects import TABLES_OF_OTHERS
from toolkit.dialects.oracle.work import WORK
from toolkit.model.facts import Facts
from toolkit.model.operations import operations
from toolkit.model.values import QualifiedName
from toolkit.model.words import ObjectKind, OperationName

_VIEW = re.compile(r"\b(?:SYS\.)?(V_\$[A-Z0-9_$#]+|DBA_[A-Z0-9_$#]+|REDACTION_COLUMNS)")
_HEAD = re.compile(r"^-- (Title|Needs|Versions): (.*)$", re.MULTILINE)
_NOT_GRANTED = re.compile(r"ORA-(?:00942|01031|41900)\b")
_PLAIN = re.compile(r"[A-Z][A-Z0-9_$#]*")
_OF_STATISTICS = re.compile(r"DBA_(?:OPTSTAT|TAB_STAT|IND_STAT|TAB_PENDING|TABLES$)")

_SHOWN_BY = frozenset(f"{verb} ANY TABLE" for verb in ("SELECT", "INSERT", "UPDATE", "DELETE", "LOCK"))
"""The privileges by which ALL_OBJECTS shows tables and indexes of others (text of the view); those that make,
alter and drop show none, and a grant on a table does not show its indexes."""
_OF_OTHERS = "elsewhere_"
"""How the scripts begin that look for objects in schemas of others; nobody else needs their views."""
_OF_GUARDS = "guard_"
"""What these read only a plan with guards needs; `dbatk plan` shows whether it can be read."""
_OF_BACKUPS = "backup_"
"""How the scripts begin whose views nothing but a backup reads."""


@dataclass(frozen=True, slots=True)
class Need:
    """A view of SYS that a script reads, since which release it is there, and the script's title."""

    view: str
    purpose: str
    since: tuple[int, ...]
    for_backups: bool = False


@cache
def needs() -> tuple[Need, ...]:
    """Return what the scripts of `sql/oracle` need, each view once, by the first script that names it."""
    found: dict[str, Need] = {}
    for path in sorted((resources.sql_root() / "oracle").iterdir(), key=lambda one: one.name):
        if path.name.startswith((_OF_GUARDS, _OF_OTHERS)):
            continue
        head = dict(_HEAD.findall(resources.sql_text(f"oracle/{path.name}")))
        since = tuple(int(part) for part in re.findall(r"\d+", head.get("Versions", "11.2").split(" ")[0]))
        for view in _VIEW.findall(head.get("Needs", "")):
            known = found.get(view)
            backups = path.name.startswith(_OF_BACKUPS)
            if known is None or since < known.since or (known.for_backups and not backups):
                purpose = head["Title"] if known is None or known.for_backups else known.purpose
                alone = backups and (known is None or known.for_backups)
                found[view] = Need(view, purpose, min(since, known.since) if known else since, alone)
    return tuple(found[view] for view in sorted(found))


def views_of(file: str) -> tuple[str, ...]:
    """Return the views of SYS that one script needs."""
    path = resources.sql_root() / "oracle" / f"{file}.sql"
    head = dict(_HEAD.findall(path.read_text(encoding="utf-8"))) if path.is_file() else {}
    return tuple(_VIEW.findall(head.get("Needs", "")))


def grants(facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:
    """Return the grants that are missing; of a user who sees the whole dictionary, none on views.

    Args:
        facts: what doctor read: the objects of SYS that are visible, and the session's privileges.
        operation: only what this operation needs.
    """
    grantee = grantee_of(facts)
    return (
        *_system(facts, operation, grantee),
        *_of_sessions(facts, grantee),
        *_views(facts, operation, grantee),
        *_statspack(facts, grantee),
    )


def grantee_of(facts: Facts) -> str:
    """Return the user's name as GRANT takes it."""
    user = str(facts.value("server", "user_name") or "the_user")
    return user if _PLAIN.fullmatch(user) or user == "the_user" else quote(user)


def shown_by(name: QualifiedName, kind: ObjectKind, facts: Facts) -> str | None:
    """Return the GRANT that shows a table of others, or an index with its table, in the ALL_ views."""
    if name.schema in (None, facts.value("server", "user_name")):
        return None
    table = f"{_spelled(str(name.schema))}.{_spelled(name.name)}"
    return f"GRANT SELECT ON {'its table' if kind is ObjectKind.INDEX else table} TO {grantee_of(facts)}"


def _spelled(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name)


def view_grant(view: str, grantee: str) -> str:
    """Return the statement that lets a user read a view of SYS."""
    return f"GRANT SELECT ON SYS.{view} TO {grantee}"


def _views(facts: Facts, operation: OperationName | None, grantee: str) -> Iterator[Grant]:
    if _has(facts, "SELECT ANY DICTIONARY"):
        return
    missing = _missing(facts)
    for need in needs():
        if need.view not in missing or (facts.release.number and facts.release.number < need.since):
            continue
        if need.for_backups and operation != "backup":
            continue
        if operation not in (None, "stats-gather") and _OF_STATISTICS.match(need.view):
            continue
        yield Grant(view_grant(need.view, grantee), need.purpose)


def _missing(facts: Facts) -> set[str]:
    """Return the views that are not visible; where that is not known, those of the reads that were refused."""
    if "doctor_visible" not in facts.answers:
        return {view for file, message in facts.refused.items() if not_granted(message) for view in views_of(file)}
    seen = {str(row.get("object_name")) for row in facts.rows("doctor_visible")}
    seen |= {view for file in facts.answers if file.startswith("doctor_") for view in views_of(file)}
    return {need.view for need in needs()} - seen


def not_granted(message: str) -> bool:
    """Tell whether a read was refused for want of a grant: what is not granted is not there (ORA-00942)."""
    return _NOT_GRANTED.search(message) is not None


def _system(facts: Facts, operation: OperationName | None, grantee: str) -> Iterator[Grant]:
    if "doctor_privileges" not in facts.answers:
        return
    wanted = {
        privilege: f"{one}: its own objects" for one in _asked(operation) for privilege in WORK.of(one).privileges
    }
    asked = facts.first("doctor_work")
    schema, user = asked.get("makes_in") or asked.get("schema"), facts.value("server", "user_name")
    if operation is not None and schema not in (None, user):
        wanted |= dict.fromkeys(
            WORK.of(operation).privileges_elsewhere, f"{operation} in schema {schema} of another user"
        )
        yield from _rows_elsewhere(facts, operation, grantee)
        yield from _sight_elsewhere(facts, grantee)
    for privilege, purpose in wanted.items():
        if not _has(facts, privilege) and not _has(facts, privilege.replace("CREATE ", "CREATE ANY ")):
            yield Grant(f"GRANT {privilege} TO {grantee}", purpose)


def _of_sessions(facts: Facts, grantee: str) -> Iterator[Grant]:
    """Prescribe what a trace and a switch of the consumer group need.

    Only SQL trace and events need ALTER SESSION (SQL Language Reference); DBMS_SESSION runs with the rights of its
    caller. A switch needs the privilege on the group (DBMS_RESOURCE_MANAGER_PRIVS); a grant to a role or PUBLIC
    is not shown.
    """
    if "doctor_privileges" in facts.answers and not _has(facts, "ALTER SESSION"):
        yield Grant(f"GRANT ALTER SESSION TO {grantee}", "only for `--sql-trace`")
    group = facts.value("doctor_group", "group_name")
    granted = {row.get("group_name") for row in facts.rows("doctor_groups")}
    if group is None or group in granted:
        return
    user = str(facts.value("server", "user_name") or "the_user")
    call = "DBMS_RESOURCE_MANAGER_PRIVS.GRANT_SWITCH_CONSUMER_GROUP"
    yield Grant(
        f"BEGIN {call}({literal(user)}, {literal(str(group))}, FALSE); END;",
        f"to switch to consumer group {group}, unless a role or PUBLIC may already",
    )


def _rows_elsewhere(facts: Facts, operation: OperationName, grantee: str) -> Iterator[Grant]:
    work = facts.first("doctor_work")
    if operation in ("insert", "load") and not _has(facts, "INSERT ANY TABLE") and work.get("table"):
        table = f"{quote(str(work['schema']))}.{quote(str(work['table']))}"
        yield Grant(
            f"GRANT INSERT ON {table} TO {grantee}",
            f"{operation}: a table of another user, unless already granted",
        )


def _sight_elsewhere(facts: Facts, grantee: str) -> Iterator[Grant]:
    """Prescribe what shows the objects made and changed there, without which none is."""
    if any(_has(facts, privilege) for privilege in (*_SHOWN_BY, "SELECT ANY DICTIONARY")):
        return
    seen = {row.get("object_name") for row in facts.rows("doctor_visible")}
    purpose = "to check objects that are created or changed in other schemas; a run is refused without it"
    made = facts.first("doctor_work").get("makes_in") is not None
    views = [view for file in TABLES_OF_OTHERS for view in views_of(file)] if made else ["DBA_OBJECTS"]
    for view in dict.fromkeys(views):
        if view not in seen:
            yield Grant(view_grant(view, grantee), purpose)


def _statspack(facts: Facts, grantee: str) -> Iterator[Grant]:
    if not any(row.get("schema_mark") == "PERFSTAT" for row in facts.rows("doctor_marks")):
        return
    seen = {row.get("object_name") for row in facts.rows("doctor_visible") if row.get("owner_name") == "PERFSTAT"}
    if "STATSPACK" not in seen:
        yield Grant(f"GRANT EXECUTE ON PERFSTAT.STATSPACK TO {grantee}", "Statspack snapshots instead of AWR")
    if "STATS$SNAPSHOT" not in seen:
        yield Grant(f"GRANT SELECT ON PERFSTAT.STATS$SNAPSHOT TO {grantee}", "Statspack snapshots instead of AWR")


def _asked(operation: OperationName | None) -> tuple[OperationName, ...]:
    return tuple(operations()) if operation is None else (operation,)


def _has(facts: Facts, privilege: str) -> bool:
    return any(row.get("privilege") == privilege for row in facts.rows("doctor_privileges"))
