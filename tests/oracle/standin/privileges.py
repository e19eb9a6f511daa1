"""What a user sees in the ALL_ views and may do to objects of others, by Oracle's own rules.

Sources: the texts of ALL_OBJECTS, ALL_TABLES and ALL_INDEXES in the catalogue scripts of 11.2 and 12.1; the
prerequisites in the SQL Language Reference. CREATE, ALTER and DROP ANY show nothing. A grant on a table shows the
table, and its indexes in ALL_INDEXES, but never an index in ALL_OBJECTS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Command, Name

if TYPE_CHECKING:
    from tests.oracle.standin.state import Session, State

PRIVILEGES = ("CREATE SESSION", "CREATE TABLE")
GRANTS: Mapping[Name, frozenset[str]] = {("APP", "ORDERS"): frozenset({"SELECT", "INSERT", "ALTER", "INDEX"})}
DBA = "SYS"
"""The user who may do everything."""
ANY_TABLE = frozenset(f"{verb} ANY TABLE" for verb in ("LOCK", "SELECT", "INSERT", "UPDATE", "DELETE"))
"""The system privileges that count in ALL_OBJECTS and in the views of tables."""
_COUNTS = frozenset({"DELETE", "INSERT", "LOCK", "SELECT", "UPDATE", "READ"})
"""The grants on a table that count in ALL_OBJECTS; ALTER and INDEX do in the views of tables only."""
OF_TABLES = frozenset(
    {"ALL_TABLES", "ALL_TAB_COLS", "ALL_TAB_COMMENTS", "ALL_TAB_STATISTICS", "ALL_PART_TABLES",
     "ALL_TAB_PARTITIONS", "ALL_TAB_SUBPARTITIONS", "ALL_PART_KEY_COLUMNS", "ALL_INDEXES", "ALL_IND_COLUMNS",
     "ALL_IND_EXPRESSIONS", "ALL_IND_PARTITIONS", "ALL_IND_SUBPARTITIONS", "ALL_IND_STATISTICS",
     "ALL_PART_INDEXES"}
)  # fmt: skip
"""The views that show what belongs to a table to whoever has any grant on it."""

_NEEDED = {
    "ctas": ("CREATE ANY TABLE", None),
    "drop_table": ("DROP ANY TABLE", None),
    "alter_table": ("ALTER ANY TABLE", "ALTER"),
    "add_constraint": ("ALTER ANY TABLE", "ALTER"),
    "truncate": ("DROP ANY TABLE", None),
    "set_defaults": ("ALTER ANY TABLE", "ALTER"),
    "add_columns": ("ALTER ANY TABLE", "ALTER"),
    "comment": ("COMMENT ANY TABLE", None),
    "insert": ("INSERT ANY TABLE", "INSERT"),
    "index_build": ("CREATE ANY INDEX", None),
    "index_rebuild": ("ALTER ANY INDEX", None),
    "index_coalesce": ("ALTER ANY INDEX", None),
    "table_move": ("ALTER ANY TABLE", "ALTER"),
    "table_shrink": ("ALTER ANY TABLE", "ALTER"),
    "row_movement": ("ALTER ANY TABLE", "ALTER"),
    "constraint_state": ("ALTER ANY TABLE", "ALTER"),
    "partition_drop": ("DROP ANY TABLE", None),
    **dict.fromkeys(
        ("partition_exchange", "partition_split", "partition_merge", "partition_coalesce"),
        ("ALTER ANY TABLE", "ALTER"),
    ),
    "alter_index": ("ALTER ANY INDEX", None),
    "drop_index": ("DROP ANY INDEX", None),
}
"""Of a command on an object of another user: the system privilege, or the grant on the object that is enough."""
_ON_INDEXES = frozenset({"index_rebuild", "index_coalesce", "alter_index", "drop_index"})
_MAKES = frozenset({"ctas", "index_build"})


def refuse(state: State, session: Session, command: Command) -> None:
    """Refuse a command for which the user lacks the privilege.

    Raises:
        BackendError: ORA-01031, or ORA-00942 and ORA-01418 where he does not see the object either.
    """
    needed = _NEEDED.get(command.kind)
    if needed is None or session.user in (command.name[0], DBA):
        return
    system, grant = needed
    held = state.scenario.grants.get(command.name, frozenset())
    if system in state.scenario.privileges or grant in held:
        return
    if command.kind in _MAKES or _sees_table(state, session, command.name, _COUNTS):
        raise ora(1031)
    raise ora(1418 if command.kind in _ON_INDEXES else 942, ".".join(command.name))


def may_read(state: State, session: Session, name: Name) -> bool:
    """Tell whether the user may query a table."""
    held = state.scenario.grants.get(name, frozenset())
    known = {"SELECT ANY TABLE", "READ ANY TABLE"} & set(state.scenario.privileges)
    return session.user in (name[0], DBA) or bool(known) or bool(held & {"SELECT", "READ"})


def shows(state: State, session: Session, view: str, row: Mapping[str, object]) -> bool:
    """Tell whether an ALL_ view shows the user a row."""
    if view == "ALL_OBJECTS":
        return _shows_object(state, session, row)
    table = _table_of(state, row) if view in OF_TABLES else None
    return table is None or _sees_table(state, session, table, None)


def _shows_object(state: State, session: Session, row: Mapping[str, object]) -> bool:
    name = (str(row.get("OWNER")), str(row.get("OBJECT_NAME")))
    kind = str(row.get("OBJECT_TYPE"))
    if kind.startswith("INDEX"):
        return name[0] == session.user or bool(ANY_TABLE & set(state.scenario.privileges))
    return not kind.startswith("TABLE") or _sees_table(state, session, name, _COUNTS)


def sees_all(state: State, session: Session, name: Name) -> bool:
    """Tell whether a table that is not shown is not there: it would be the user's own, or he sees all."""
    return name[0] == session.user or bool(ANY_TABLE & set(state.scenario.privileges))


def _sees_table(state: State, session: Session, name: Name, counts: frozenset[str] | None) -> bool:
    held = state.scenario.grants.get(name, frozenset())
    granted = held if counts is None else held & counts
    return name[0] == session.user or bool(granted) or bool(ANY_TABLE & set(state.scenario.privileges))


def _table_of(state: State, row: Mapping[str, object]) -> Name | None:
    if "INDEX_NAME" in row:
        owner = row.get("INDEX_OWNER", row.get("OWNER"))
        index = state.objects.get(("INDEX", (str(owner), str(row["INDEX_NAME"]))))
        return index.table if index is not None else None
    owner = row.get("TABLE_OWNER", row.get("OWNER"))
    return str(owner), str(row.get("TABLE_NAME", row.get("NAME")))
