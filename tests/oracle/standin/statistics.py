"""What DBMS_STATS keeps and does: published and pending statistics, preferences, locks, exports and operations.

Tests change it as another session would: `standin.engine.state.statistics.lock("APP", "ORDERS")`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Name

if TYPE_CHECKING:
    from tests.oracle.standin.state import Made, State

VIEWS = {
    "DBA_TABLES": "OWNER TABLE_NAME TABLESPACE_NAME TEMPORARY DROPPED IOT_TYPE IOT_NAME NESTED SECONDARY "
    "PARTITIONED",
    "DBA_TAB_STATISTICS": "OWNER TABLE_NAME PARTITION_NAME SUBPARTITION_NAME OBJECT_TYPE NUM_ROWS:n BLOCKS:n "
    "LAST_ANALYZED:d STATTYPE_LOCKED STALE_STATS",
    "DBA_IND_STATISTICS": "OWNER INDEX_NAME TABLE_OWNER TABLE_NAME PARTITION_NAME OBJECT_TYPE NUM_ROWS:n "
    "LAST_ANALYZED:d",
    "DBA_TAB_STAT_PREFS": "OWNER TABLE_NAME PREFERENCE_NAME PREFERENCE_VALUE",
    "DBA_TAB_PENDING_STATS": "OWNER TABLE_NAME PARTITION_NAME SUBPARTITION_NAME NUM_ROWS:n BLOCKS:n "
    "LAST_ANALYZED:d",
    "DBA_TAB_STATS_HISTORY": "OWNER TABLE_NAME PARTITION_NAME SUBPARTITION_NAME STATS_UPDATE_TIME:d",
    "DBA_OPTSTAT_OPERATIONS": "ID:n OPERATION TARGET START_TIME:d END_TIME:d STATUS JOB_NAME SESSION_ID:n NOTES",
    "DBA_OPTSTAT_OPERATION_TASKS": "OPID:n TARGET TARGET_TYPE TARGET_SIZE:n START_TIME:d END_TIME:d STATUS",
}
_DEFAULTS = {
    "ESTIMATE_PERCENT": "DBMS_STATS.AUTO_SAMPLE_SIZE", "METHOD_OPT": "FOR ALL COLUMNS SIZE AUTO", "DEGREE": "NULL",
    "GRANULARITY": "AUTO", "CASCADE": "DBMS_STATS.AUTO_CASCADE", "NO_INVALIDATE": "DBMS_STATS.AUTO_INVALIDATE",
    "PUBLISH": "TRUE", "INCREMENTAL": "FALSE", "STALE_PERCENT": "10", "CONCURRENT": "OFF",
    "PREFERENCE_OVERRIDES_PARAMETER": "FALSE",
}  # fmt: skip
_ARGUMENTS = {
    "SET_TABLE_PREFS": {"ownname", "tabname", "pname", "pvalue"},
    "SET_GLOBAL_PREFS": {"pname", "pvalue"},
    "GATHER_DICTIONARY_STATS": {"no_invalidate", "degree", "estimate_percent", "options"},
    "GATHER_FIXED_OBJECTS_STATS": {"no_invalidate"},
    "GATHER_SYSTEM_STATS": {"gathering_mode"},
    "DELETE_TABLE_PREFS": {"ownname", "tabname", "pname"},
    "CREATE_STAT_TABLE": {"ownname", "stattab", "tblspace"},
    "LOCK_TABLE_STATS": {"ownname", "tabname"},
    "EXPORT_SCHEMA_STATS": {"ownname", "stattab", "statid", "statown"},
    "EXPORT_TABLE_STATS": {"ownname", "tabname", "partname", "stattab", "statid", "cascade", "statown"},
    "IMPORT_TABLE_STATS": {
        "ownname",
        "tabname",
        "partname",
        "stattab",
        "statid",
        "cascade",
        "statown",
        "no_invalidate",
        "force",
    },
    "IMPORT_SCHEMA_STATS": {"ownname", "stattab", "statid", "statown", "no_invalidate", "force"},
    "PUBLISH_PENDING_STATS": {"ownname", "tabname", "no_invalidate", "force"},
    "DELETE_PENDING_STATS": {"ownname", "tabname"},
    "CREATE_EXTENDED_STATS": {"ownname", "tabname", "extension"},
    "DROP_EXTENDED_STATS": {"ownname", "tabname", "extension"},
    "RESTORE_TABLE_STATS": {"ownname", "tabname", "as_of_timestamp", "force", "no_invalidate"},
}
STATEFUL = "dbms_stats_"
"""How the functions of DuckDB begin that answer from more than the rows of views."""
Row = dict[str, object]
Granted = Callable[[Mapping[str, str]], int]


@dataclass
class Operation:
    """A gathering: what of, when, and each object with its seconds."""

    number: int
    operation: str
    target: str | None
    began: datetime.datetime
    ended: datetime.datetime | None = None
    tasks: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Statistics:
    """The statistics of one database; an object without an instant here was analyzed when the stand-in began."""

    defaults: dict[str, str] = field(default_factory=lambda: dict(_DEFAULTS))
    preferences: dict[Name, dict[str, str]] = field(default_factory=dict)
    published: dict[tuple[str, Name], datetime.datetime] = field(default_factory=dict)
    pending: dict[Name, datetime.datetime] = field(default_factory=dict)
    locked: dict[Name, str] = field(default_factory=dict)
    stale: set[Name] = field(default_factory=set)
    temporary: set[Name] = field(default_factory=set)
    """Tables whose statistics are published at once, whatever PUBLISH says."""
    differences: dict[Name, float | None] = field(default_factory=dict)
    """MAXDIFFPCT of pending statistics and the present ones; None for null."""
    exported: list[tuple[str, str]] = field(default_factory=list)
    history: dict[Name, list[datetime.datetime]] = field(default_factory=dict)
    """When statistics were replaced, in UTC."""
    restored: dict[Name, str] = field(default_factory=dict)
    """As of which time those of a table were restored, as it was sent."""
    operations: list[Operation] = field(default_factory=list)
    extensions: dict[Name, list[str]] = field(default_factory=dict)
    """Groups of columns and expressions that have statistics, as the dictionary has them."""

    # -- what others do -----------------------------------------------------------------------------------------
    def lock(self, owner: str, table: str) -> None:
        """Lock the statistics of a table."""
        self.locked[owner, table] = "ALL"

    def move(self, owner: str, table: str) -> None:
        """Gather and publish a table's statistics, some time from now."""
        self.published["TABLE", (owner, table)] = _now() + datetime.timedelta(hours=1)

    def run_forever(self, operation: str, target: str | None) -> None:
        """Begin a gathering that does not end."""
        self.operations.append(Operation(len(self.operations) + 1, operation, target, _now()))

    # -- the package --------------------------------------------------------------------------------------------
    def preference(self, name: str, table: Name | None = None) -> str:
        """Return a preference, of a table or of the database."""
        if name not in self.defaults:
            raise ora(20001, f"Invalid input values for pname {name}")
        return self.preferences.get(table or ("", ""), {}).get(name, self.defaults[name])

    def gather(self, state: State, owner: str, table: str | None, given: Mapping[str, str]) -> list[Made]:
        """Choose what a gathering works on; `note` says afterwards that it did."""
        found = [made for made in state.tables() if made.name[0] == owner and table in (None, made.name[1])]
        if not found:
            raise ora(20000, f"{owner}.{table or '*'}")
        if table is not None and (owner, table) in self.locked and given.get("force", "FALSE") != "TRUE":
            raise ora(20005, "object statistics are locked (stattype = ALL)")
        options = given.get("options", "'GATHER'").strip("'")
        forced = given.get("force", "FALSE") == "TRUE"
        return [made for made in found if (forced or made.name not in self.locked) and self._chosen(made, options)]

    def _chosen(self, made: Made, options: str) -> bool:
        if options == "GATHER STALE":
            return made.name in self.stale
        if options == "GATHER EMPTY":
            return not made.analyzed
        return options in ("GATHER", "GATHER AUTO")

    def note(
        self, state: State, target: str, tables: list[Made], given: Mapping[str, str], *, whole: bool
    ) -> None:
        """Write what was gathered: pending where PUBLISH is FALSE, else published, indexes too."""
        now = _now()
        kind = "gather_schema_stats" if whole else "gather_table_stats"
        done = Operation(len(self.operations) + 1, kind, target, now, now)
        for made in tables:
            done.tasks.append((".".join(f'"{part}"' for part in made.name), "TABLE"))
            if self.preference("PUBLISH", made.name) == "FALSE" and made.name not in self.temporary:
                self.pending[made.name] = now
                continue
            made.analyzed = True
            self.published["TABLE", made.name] = now
            if given.get("cascade") != "FALSE":
                for index in (each for each in state.indexes() if each.table == made.name):
                    self.published["INDEX", index.name] = now
        self.operations.append(done)

    def call(self, procedure: str, given: Mapping[str, str], user: str) -> Name | None:
        """Run another procedure; return the table it makes, if it makes one."""
        strange = set(given) - _ARGUMENTS.get(procedure, set())
        if procedure not in _ARGUMENTS or strange:
            raise ora(6550, f"{procedure} {', '.join(sorted(strange))}")
        if procedure.startswith("GATHER_"):
            now = _now()
            self.operations.append(Operation(len(self.operations) + 1, procedure.lower(), None, now, now))
            return None
        if procedure == "SET_GLOBAL_PREFS":
            self.defaults[given["pname"].strip("'").upper()] = given["pvalue"].strip("'").upper()
            return None
        owner = package_text(given["ownname"], user)
        if procedure == "CREATE_STAT_TABLE":
            return owner, package_text(given["stattab"], user)
        if procedure.startswith("EXPORT"):
            self.exported.append((owner, package_text(given["stattab"], user)))
        elif procedure == "CREATE_EXTENDED_STATS":
            raise ora(6550, "a function, not a procedure")
        elif procedure == "DROP_EXTENDED_STATS":
            self.shorten((owner, package_text(given["tabname"], user)), given["extension"])
        elif procedure.startswith("IMPORT"):
            holder = package_text(given["statown"], user), package_text(given["stattab"], user)
            if holder not in {(package_text(given["statown"], user), name) for _, name in self.exported}:
                raise ora(20000, "unable to import: no such table of statistics")
            table = package_text(given["tabname"], user) if "tabname" in given else "*"
            self.published["TABLE", (owner, table)] = _now()
        elif procedure == "LOCK_TABLE_STATS":
            self.lock(owner, package_text(given["tabname"], user))
        elif procedure == "RESTORE_TABLE_STATS":
            self._restore((owner, package_text(given["tabname"], user)), given)
        elif procedure == "PUBLISH_PENDING_STATS":
            name = (owner, package_text(given["tabname"], user))
            if name in self.pending and (name not in self.locked or given.get("force") == "TRUE"):
                self._publish(name)
        elif procedure == "DELETE_PENDING_STATS":
            self.pending.pop((owner, package_text(given["tabname"], user)), None)
        else:
            self._prefer((owner, package_text(given["tabname"], user)), procedure, given)
        return None

    def extend(self, table: Name, extension: str, columns: set[str]) -> None:
        """Create a group of columns of a table, or an expression of them."""
        group = _group(extension)
        for column in re.findall(r'"([^"]+)"(?!\()', group):
            if column not in columns:
                raise ora(20001, f'Error when processing extension -  "{column}": invalid identifier')
        if group in self.extensions.get(table, []):
            raise ora(20007, f"extension {group} already exists in the table")
        self.extensions.setdefault(table, []).append(group)

    def shorten(self, table: Name, extension: str) -> None:
        """Drop a group of columns of a table, or an expression."""
        group = _group(extension)
        if group not in self.extensions.get(table, []):
            raise ora(20000, f"extension {group} does not exist")
        self.extensions[table].remove(group)

    def _restore(self, table: Name, given: Mapping[str, str]) -> None:
        if table in self.locked and given.get("force", "FALSE") != "TRUE":
            raise ora(20005, "object statistics are locked (stattype = ALL)")
        self.restored[table] = given["as_of_timestamp"].split("'")[1]
        self.published.pop(("TABLE", table), None)

    def _prefer(self, table: Name, procedure: str, given: Mapping[str, str]) -> None:
        name = given["pname"].strip("'").upper()
        if procedure == "SET_TABLE_PREFS":
            self.preferences.setdefault(table, {})[name] = given["pvalue"].strip("'").upper()
        else:
            self.preferences.get(table, {}).pop(name, None)

    def delete_pending(self, owner: str, table: str | None, since: datetime.datetime) -> None:
        """Delete pending statistics that are not older."""
        for name, when in list(self.pending.items()):
            if name[0] == owner and table in (None, name[1]) and when >= since:
                del self.pending[name]

    def publish(
        self, owner: str, table: str | None, since: datetime.datetime, most: float, *, unknown: bool
    ) -> None:
        """Publish pending statistics that are not older, of tables that do not differ by more (or by null)."""
        for name, when in list(self.pending.items()):
            of = name[0] == owner and table in (None, name[1]) and when >= since
            difference = self.differences.get(name, 0)
            if of and (unknown if difference is None else difference <= most):
                self._publish(name)

    def _publish(self, table: Name) -> None:
        """Publish what waits of a table; what it replaces goes into the history."""
        self.published["TABLE", table] = self.pending.pop(table)
        self.history.setdefault(table, []).append(_now())

    # -- the catalogue ------------------------------------------------------------------------------------------
    def rows_of(self, view: str, state: State, began: datetime.datetime) -> list[Row] | None:
        """Return the rows of a view of statistics; None for another view."""
        makers: dict[str, Callable[[], Iterator[Row]]] = {
            "TAB_STATISTICS": lambda: self._tab_statistics(state, began),
            "IND_STATISTICS": lambda: self._ind_statistics(state, began),
            "TAB_STAT_PREFS": self._preferences,
            "TAB_PENDING_STATS": self._pending,
            "TAB_STATS_HISTORY": self._history,
            "STAT_EXTENSIONS": self._extensions,
            "OPTSTAT_OPERATIONS": self._operations,
            "OPTSTAT_OPERATION_TASKS": self._tasks,
        }
        prefix, _, rest = view.partition("_")
        if prefix not in ("ALL", "DBA") or rest not in makers or view == "ALL_IND_STATISTICS":
            return None
        return list(makers[rest]())

    def _tab_statistics(self, state: State, began: datetime.datetime) -> Iterator[Row]:
        for made in state.tables():
            when = self.published.get(("TABLE", made.name), began)
            yield {
                "OWNER": made.name[0], "TABLE_NAME": made.name[1], "OBJECT_TYPE": "TABLE",
                "NUM_ROWS": made.rows if made.analyzed else None,
                "BLOCKS": made.bytes // 8192 if made.analyzed else None,
                "LAST_ANALYZED": when if made.analyzed else None,
                "STATTYPE_LOCKED": self.locked.get(made.name),
                "STALE_STATS": "YES" if made.name in self.stale else "NO",
            }  # fmt: skip

    def _ind_statistics(self, state: State, began: datetime.datetime) -> Iterator[Row]:
        for made in state.indexes():
            yield {
                "OWNER": made.name[0], "INDEX_NAME": made.name[1], "TABLE_OWNER": made.table[0],
                "TABLE_NAME": made.table[1], "OBJECT_TYPE": "INDEX", "NUM_ROWS": made.rows,
                "LAST_ANALYZED": self.published.get(("INDEX", made.name), began),
            }  # fmt: skip

    def _preferences(self) -> Iterator[Row]:
        for (owner, table), stored in self.preferences.items():
            for name, value in stored.items():
                yield {
                    "OWNER": owner, "TABLE_NAME": table, "PREFERENCE_NAME": name, "PREFERENCE_VALUE": value
                }  # fmt: skip

    def _pending(self) -> Iterator[Row]:
        for (owner, table), when in self.pending.items():
            yield {"OWNER": owner, "TABLE_NAME": table, "NUM_ROWS": 1, "LAST_ANALYZED": when}

    def _extensions(self) -> Iterator[Row]:
        for (owner, table), groups in self.extensions.items():
            for number, group in enumerate(groups, 1):
                yield {
                    "OWNER": owner, "TABLE_NAME": table, "EXTENSION_NAME": f"SYS_STU{number}", "EXTENSION": group,
                    "CREATOR": "USER", "DROPPABLE": "YES",
                }  # fmt: skip

    def _history(self) -> Iterator[Row]:
        for (owner, table), instants in self.history.items():
            for when in instants:
                yield {"OWNER": owner, "TABLE_NAME": table, "STATS_UPDATE_TIME": when}

    def _operations(self) -> Iterator[Row]:
        for each in self.operations:
            yield {
                "ID": each.number, "OPERATION": each.operation, "TARGET": each.target, "START_TIME": each.began,
                "END_TIME": each.ended, "STATUS": "COMPLETED" if each.ended else "IN PROGRESS",
            }  # fmt: skip

    def _tasks(self) -> Iterator[Row]:
        for each in self.operations:
            for place, (target, kind) in enumerate(each.tasks, 1):
                yield {
                    "OPID": each.number, "TARGET": target, "TARGET_TYPE": kind, "START_TIME": each.began,
                    "END_TIME": each.began + datetime.timedelta(seconds=place), "STATUS": "COMPLETED",
                }  # fmt: skip


def _group(text: str) -> str:
    """Read an extension as the dictionary has it: its columns in double quotes, and no blanks."""
    inner = text[1:-1].replace("''", "'").strip()[1:-1].strip()
    parts = re.findall(r"""'[^']*'|"[^"]+"|[^\W\d][\w$#]*(?:\s*\()?|\S""", inner)
    kept = (part if part[0] in "\"'" or not (part[0].isalpha()) else _folded(part) for part in parts)
    return f"({''.join(kept)})"


def _folded(word: str) -> str:
    return word.upper().replace(" ", "") if word.endswith("(") else f'"{word.upper()}"'


def package_text(text: str, user: str) -> str:
    """Read a name as DBMS_STATS does: folded unless in double quotes."""
    if text.upper() == "USER":
        return user
    inner = text.strip("'").replace("''", "'")
    return inner[1:-1] if inner.startswith('"') else inner.upper()


def package_function(node: exp.Dot) -> exp.Expression:
    """Turn a function of the package into one of DuckDB; only the arguments that choose objects count."""
    call = node.expression
    if call.name.upper() == "GET_PREFS":
        return exp.Anonymous(this=f"{STATEFUL}preference", expressions=call.expressions[:1])
    given = {each.this.name.lower(): each.expression for each in call.expressions}
    place = [given.get(name, exp.Literal.string("")) for name in ("ownname", "tabname")]
    return exp.Anonymous(this=f"{STATEFUL}report", expressions=place)


def define_package(data: duckdb.DuckDBPyConnection, current: Callable[[], State]) -> None:
    """Give the dictionary the functions of DBMS_STATS that a query may call."""

    def preference(name: str) -> str:
        return current().statistics.preference(name)

    def report(owner: str, table: str) -> str:
        state = current()
        named = package_text(table, "") if table else None
        found = state.statistics.gather(state, package_text(owner, ""), named, {})
        return "\n".join(["Statistics Gathering Report", *(".".join(made.name) for made in found)])

    def file_text(directory: str, file: str) -> str | None:
        return current().datapump.files.get((directory, file))

    def file_length(directory: str, file: str) -> int | None:
        return current().datapump.length(directory, file)

    def file_exists(directory: str, file: str) -> int:
        return int(current().datapump.length(directory, file) is not None)

    places = ["VARCHAR", "VARCHAR"]
    data.create_function(f"{STATEFUL}file_text", file_text, places, "VARCHAR", null_handling="special")
    data.create_function(f"{STATEFUL}file_length", file_length, places, "BIGINT", null_handling="special")
    data.create_function(f"{STATEFUL}file_exists", file_exists, places, "BIGINT", null_handling="special")
    data.create_function(f"{STATEFUL}preference", preference, ["VARCHAR"], "VARCHAR")
    data.create_function(f"{STATEFUL}report", report, ["VARCHAR", "VARCHAR"], "VARCHAR")


def chosen(filters: str, owner: str) -> list[re.Pattern[str]]:
    """Return the patterns of an object filter list; each must be of the schema that is gathered."""
    for each in re.findall(r"\.ownname\s*:=\s*('(?:[^']|'')*')", filters, re.IGNORECASE):
        assert package_text(each, "") == owner, filters
    names = re.findall(r"\.objname\s*:=\s*('(?:[^']|'')*')", filters, re.IGNORECASE)
    spelled = [re.escape(package_text(each, "")) for each in names]
    return [re.compile(each.replace("%", ".*").replace("_", ".")) for each in spelled]


def text_of(literal: str | None) -> str:
    """Read a literal."""
    return (literal or "''")[1:-1].replace("''", "'")


def literals(block: str) -> dict[str, str]:
    """Return what a block compares columns with: `t.owner = 'APP'`, `TO_DATE('...')`."""
    found = {name.lower(): value.replace("''", "'") for name, value in _COMPARED.findall(block)}
    since = re.search(r"TO_DATE\(\s*'([^']*)'", block, re.IGNORECASE)
    return {**found, **({"since": since[1]} if since else {})}


_COMPARED = re.compile(r"\b\w+\.(\w+)\s*=\s*'((?:[^']|'')*)'")


def _now() -> datetime.datetime:
    return datetime.datetime.now().replace(microsecond=0)
