"""Recognises, by grammar, the statements that are not queries: what is timed, and what surrounds it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.oracle.standin import (
    blocks,
    datapump,
    external,
    index_grammar,
    partition_grammar,
    plsql,
    repository,
    scheduler,
    tables,
)
from tests.oracle.standin.errors import ora

Name = tuple[str, str]  # schema, name

_IDENT = r'(?:"[^"]+"|[A-Za-z][A-Za-z0-9_$#]*)'
_NAME = rf"(?:{_IDENT}\.)?{_IDENT}"
_PARALLEL = index_grammar.PARALLEL
_LOGGING = r"NOLOGGING|LOGGING"
_TABLE_COMPRESSION = (
    r"NOCOMPRESS|ROW STORE COMPRESS(?: BASIC| ADVANCED)?"
    r"|COLUMN STORE COMPRESS(?: FOR (?:QUERY|ARCHIVE)(?: LOW| HIGH)?)?"
    r"|COMPRESS(?: BASIC| FOR (?:OLTP|(?:QUERY|ARCHIVE)(?: LOW| HIGH)?))?"
)
_LITERAL = r"'(?:[^']|'')*'"
_RESTORED = (
    rf"value_now\s*:=\s*DBMS_STATS\.GET_PREFS\s*\(\s*'(?P<preference>\w+)'(?:\s*,\s*{_LITERAL})*\s*\)\s*;\s*"
    rf"IF\s+value_now\s+=\s+'(?P<wanted>\w+)'\s+THEN\s+DBMS_STATS\.(?P<procedure>\w+)\s*\((?P<arguments>[^;]*)\)\s*;\s*"
    rf"ELSIF\s+value_now\s+<>\s+(?:(?P<former>{_LITERAL})|DBMS_STATS\.GET_PREFS\s*\(\s*'(?P=preference)'\s*\))\s+THEN\s+"
    rf"RAISE_APPLICATION_ERROR\(-20002,\s*(?P<said>{_LITERAL})\s*\|\|\s*(?P<is>{_LITERAL})\s*\|\|\s*value_now\s*\|\|\s*"
    rf"(?P<foreign>{_LITERAL})\)\s*;\s*END\s+IF\s*;"
)
"""A block that restores a preference where it is still the one that was set, and raises where it is another's."""


@dataclass(frozen=True)
class Command:
    """A recognised statement: its kind and its parts."""

    kind: str
    name: Name = ("", "")
    parts: dict[str, str | None] = field(default_factory=dict)

    def degree(self) -> int:
        """Return the degree of the parallel clause; 0 for PARALLEL without a number."""
        clause = (self.parts.get("parallel") or "NOPARALLEL").upper()
        if clause == "NOPARALLEL":
            return 1
        digits = re.search(r"\d+", clause)
        return int(digits[0]) if digits else 0


# The order of a table's attributes is fixed, that of an index's is free (SQL Language Reference).
_FORMS: tuple[tuple[str, str], ...] = (
    *external.FORMS,
    (
        "ctas",
        rf"CREATE\s+(?:/\*\+.*?\*/\s*)?TABLE\s+(?P<name>{_NAME})(?:\s+PCTFREE\s+(?P<pctfree>\d+))?"
        rf"(?:\s+TABLESPACE\s+(?P<tablespace>{_IDENT}))?"
        rf"(?:\s+(?P<logging>{_LOGGING}))?(?:\s+(?P<compression>{_TABLE_COMPRESSION}))?"
        rf"(?:\s+PARTITION\s+BY\s+(?P<partitioning>.*?))?(?:\s+(?P<parallel>{_PARALLEL}))?\s+AS\s+(?P<query>(?:SELECT|WITH)\b.*)",
    ),
    (
        "insert",
        rf"INSERT\s*(?:/\*\+(?P<hints>.*?)\*/)?\s*INTO\s+(?P<name>{_NAME})"
        rf"(?:\s+(?P<level>PARTITION|SUBPARTITION)\s*\(\s*(?P<part>{_IDENT})\s*\))?(?:\s+(?!SELECT\b|WITH\b)[A-Za-z]\w*)?"
        r"(?:\s*\((?P<columns>[^()]*)\))?\s+(?P<query>(?:SELECT|WITH)\b.*)",
    ),
    *index_grammar.FORMS,
    *tables.FORMS,
    *repository.FORMS,
    *blocks.FORMS,
    *scheduler.FORMS,
    *datapump.FORMS,
    (
        "alter_table",
        rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+(?:MODIFY\s+PARTITION\s+(?P<part>{_IDENT})\s+)?"
        rf"(?P<attribute>{_PARALLEL}|{_LOGGING})",
    ),
    (
        "table_move",
        rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+MOVE(?:\s+(?P<level>PARTITION|SUBPARTITION)\s+(?P<part>{_IDENT}))?"
        rf"(?P<online>\s+ONLINE)?(?:\s+PCTFREE\s+(?P<pctfree>\d+))?(?:\s+TABLESPACE\s+(?P<tablespace>{_IDENT}))?"
        rf"(?:\s+(?P<compression>{_TABLE_COMPRESSION}))?"
        rf"(?:\s+LOB\s+\([^()]*\)\s+STORE\s+AS(?:\s+(?:SECUREFILE|BASICFILE))?\s+\(TABLESPACE\s+{_IDENT}\))*"
        rf"(?P<partly>\s+UPDATE\s+INDEXES)?(?:\s+(?P<parallel>{_PARALLEL}))?"
        r"(?P<update>\s+UPDATE\s+INDEXES)?(?P<partonline>\s+ONLINE)?",
    ),
    (
        "partition_drop",
        rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+DROP\s+PARTITION\s+(?P<part>{_IDENT})(?P<update>\s+UPDATE\s+INDEXES)?"
        rf"(?:\s+(?P<parallel>{_PARALLEL}))?",
    ),
    *partition_grammar.FORMS,
    (
        "table_shrink",
        rf"ALTER\s+TABLE\s+(?P<name>{_NAME})(?:\s+MODIFY\s+(?P<level>PARTITION|SUBPARTITION)\s+(?P<part>{_IDENT}))?"
        r"\s+SHRINK\s+SPACE(?P<compact>\s+COMPACT)?(?P<cascade>\s+CASCADE)?",
    ),
    (
        "constraint_state",
        rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+MODIFY\s+CONSTRAINT\s+(?P<constraint>{_IDENT})\s+"
        r"(?P<state>DISABLE|ENABLE\s+NOVALIDATE|ENABLE\s+VALIDATE)",
    ),
    ("row_movement", rf"ALTER\s+TABLE\s+(?P<name>{_NAME})\s+(?P<verb>ENABLE|DISABLE)\s+ROW\s+MOVEMENT"),
    ("drop_table", rf"DROP\s+TABLE\s+(?P<name>{_NAME})(?P<purge>\s+PURGE)?"),
    ("drop_index", rf"DROP\s+INDEX\s+(?P<name>{_NAME})"),
    ("comment", rf"COMMENT\s+ON\s+TABLE\s+(?P<name>{_NAME})\s+IS\s+'(?P<text>(?:[^']|'')*)'"),
    ("set", r"ALTER\s+SESSION\s+SET(?P<parameters>(?:\s+\w+\s*=\s*(?:'[^']*'|[\w.]+))+)"),
    (
        "switch",
        r"ALTER\s+SESSION\s+(?P<verb>ENABLE|DISABLE|FORCE)\s+PARALLEL\s+(?P<what>DML|DDL|QUERY)(?:\s+PARALLEL\s+(?P<degree>\d+))?",
    ),
    (
        "kill",
        r"BEGIN\s+rdsadmin\.rdsadmin_util\.kill\(sid => (?P<sid>\d+), serial => (?P<serial>\d+), "
        r"method => 'IMMEDIATE'\);\s+END\s*;",
    ),
    (
        "kill",
        r"ALTER\s+SYSTEM\s+KILL\s+SESSION\s+'(?P<sid>\d+),(?P<serial>\d+)(?:,@(?P<instance>\d+))?'\s+IMMEDIATE",
    ),
    (
        "stats",
        r"(?:DECLARE\s+(?P<list>\w+)\s+DBMS_STATS\.OBJECTTAB\s*:=\s*DBMS_STATS\.OBJECTTAB\(\)\s*;\s*BEGIN(?P<filters>(?:\s+(?P=list)\b[^;']*"
        r"(?:'(?:[^']|'')*')?\s*;)+)\s+|BEGIN\s+)DBMS_STATS\.(?P<procedure>GATHER_TABLE_STATS|GATHER_SCHEMA_STATS)\s*\((?P<arguments>.*)\)\s*;\s*END\s*;",
    ),
    (
        "switch_group",
        r"DECLARE\s+(?P<old>\w+)\s+VARCHAR2\(\d+\)\s*;\s*BEGIN\s+DBMS_SESSION\.SWITCH_CURRENT_CONSUMER_GROUP"
        r"\s*\(\s*'(?P<group>(?:[^']|'')*)'\s*,\s*(?P=old)\s*,\s*(?:TRUE|FALSE)\s*\)\s*;\s*END\s*;",
    ),
    (
        "session_trace",
        r"BEGIN\s+DBMS_SESSION\.SESSION_TRACE_(?P<verb>ENABLE|DISABLE)\s*(?:\([^()]*\))?\s*;\s*END\s*;",
    ),
    ("mview_refresh", r"BEGIN\s+DBMS_MVIEW\.REFRESH\s*\((?P<arguments>[^;]*)\)\s*;\s*END\s*;"),
    (
        "extend_stats",
        r"DECLARE\s+made\s+VARCHAR2\(261\)\s*;\s*BEGIN\s+made\s*:=\s*DBMS_STATS\.CREATE_EXTENDED_STATS\s*"
        r"\((?P<arguments>[^;]*?)\)\s*;\s*DBMS_STATS\.(?P<procedure>GATHER_TABLE_STATS)\s*\((?P<gathered>[^;]*?)\)\s*;\s*"
        r"EXCEPTION\s+WHEN\s+OTHERS\s+THEN\s+IF\s+made\s+IS\s+NOT\s+NULL\s+THEN\s+DBMS_STATS\.DROP_EXTENDED_STATS"
        r"\s*\((?P<dropped>[^;]*?)\)\s*;\s*END\s+IF\s*;\s*RAISE\s*;\s*END\s*;",
    ),
    ("dbms_stats", r"BEGIN\s+DBMS_STATS\.(?P<procedure>\w+)\s*\((?P<arguments>[^;]*)\)\s*;\s*END\s*;"),
    (
        "pending_delete",
        r"BEGIN\s+FOR\s+(?P<row>\w+)\s+IN\s*\((?P<query>\s*SELECT\b.*?)\)\s*LOOP\s+DBMS_STATS\.DELETE_PENDING_STATS"
        r"\s*\((?P<arguments>[^;]*)\)\s*;\s*END\s+LOOP\s*;\s*END\s*;",
    ),
    (
        "publish_pending",
        r"DECLARE\s+\w+\s+NUMBER\s*;\s*BEGIN\s+FOR\s+(?P<row>\w+)\s+IN\s*\((?P<query>\s*SELECT\b.*?)\)\s*LOOP\s+"
        r"SELECT\s+MAX\(d\.maxdiffpct\)\s+INTO\s+\w+\s+FROM\s+TABLE\(DBMS_STATS\.DIFF_TABLE_STATS_IN_PENDING\([^;]*?,\s*NULL,\s*"
        r"(?P<most>[\d.]+)\)\)\s+d\s*;\s*IF\s+(?P<unknown>\w+\s+IS\s+NULL\s+OR\s+)?\w+\s+<=\s*(?P=most)\s+THEN\s+"
        r"DBMS_STATS\.PUBLISH_PENDING_STATS\s*"
        r"\((?P<arguments>[^;]*)\)\s*;\s*END\s+IF\s*;\s*END\s+LOOP\s*;\s*END\s*;",
    ),
    (
        "stats_publish",
        r"DECLARE\s+difference\s+NUMBER\s*;\s*still_pending\s+PLS_INTEGER\s*;\s*BEGIN\s+"
        r"(?:SELECT\s+MAX\(d\.maxdiffpct\)\s+INTO\s+difference\s+FROM\s+TABLE\(DBMS_STATS\.DIFF_TABLE_STATS_IN_"
        r"(?:PENDING|HISTORY|STATTAB)\([^;]*?,\s*NULL,\s*(?P<most>[\d.]+)[^;]*?\)\)\s+d\s*;\s*"
        rf"(?:IF\s+difference\s+IS\s+NULL\s+THEN\s+RAISE_APPLICATION_ERROR\(-20901,\s*(?P<unknown>{_LITERAL})\)\s*;\s*ELS)?"
        r"IF\s+difference\s+>\s+(?P=most)\s+THEN\s+"
        rf"RAISE_APPLICATION_ERROR\(-20901,\s*(?P<differs>{_LITERAL})\s*\|\|[^;]*?\|\|\s*(?P<unit>{_LITERAL})\)\s*;\s*"
        r"END\s+IF\s*;\s*)?DBMS_STATS\.(?P<procedure>PUBLISH_PENDING_STATS|DELETE_PENDING_STATS|RESTORE_TABLE_STATS|"
        r"IMPORT_TABLE_STATS|IMPORT_SCHEMA_STATS)\s*"
        r"\((?P<arguments>[^;]*)\)\s*;\s*(?:SELECT\s+COUNT\(\*\)\s+INTO\s+still_pending\s+(?P<query>FROM\b[^;]*);\s*"
        rf"IF\s+still_pending\s+>\s+0\s+THEN\s+RAISE_APPLICATION_ERROR\(-20902,\s*(?P<still>{_LITERAL})\)\s*;\s*"
        r"END\s+IF\s*;\s*)?END\s*;",
    ),
    (
        "stats_if_there",
        rf"DECLARE\s+tables_there\s+PLS_INTEGER\s*;\s*hidden\s+PLS_INTEGER\s*:=\s*0\s*;\s*value_now\s+VARCHAR2\(4000\)\s*;\s*"
        rf"BEGIN\s+(?P<query>SELECT\b[^;]*?\bFROM\s+(?P<view>\w+)[^;]*);\s*(?P<hidden>SELECT\b[^;]*;\s*)?"
        rf"IF\s+tables_there\s+>\s+0\s+THEN\s+{_RESTORED}\s*ELSIF\s+hidden\s+=\s+1\s+THEN\s+"
        rf"RAISE_APPLICATION_ERROR\(-20001,\s*(?P<unseen>{_LITERAL})\)\s*;\s*END\s+IF\s*;\s*END\s*;",
    ),
    ("stats_if_still", rf"DECLARE\s+value_now\s+VARCHAR2\(4000\)\s*;\s*BEGIN\s+{_RESTORED}\s*END\s*;"),
    ("system_set", r"ALTER\s+SYSTEM\s+SET\s+(?P<parameter>\w+)\s*=\s*(?P<value>'[^']*'|[\w.]+)\s+SCOPE=MEMORY"),
    ("flush", r"ALTER\s+SYSTEM\s+FLUSH\s+BUFFER_CACHE"),
    ("serializable", r"SET\s+TRANSACTION\s+ISOLATION\s+LEVEL\s+SERIALIZABLE"),
    ("read_only", r"SET\s+TRANSACTION\s+READ\s+ONLY"),
    ("commit", r"COMMIT"),
    ("rollback", r"ROLLBACK"),
    *plsql.FORMS,
)
_COMPILED = tuple((kind, re.compile(form, re.IGNORECASE | re.DOTALL)) for kind, form in _FORMS)


_COMMENT_LINE = re.compile(r"(?m)^[ \t]*--[^\n]*\n")


def recognise(text: str, schema: str) -> Command:
    """Return the command a statement is.

    Raises:
        BackendError: ORA-00900 for anything that no form fits.
    """
    bare = _COMMENT_LINE.sub("", text.strip())
    for kind, form in _COMPILED:
        match = form.fullmatch(bare)
        if match:
            parts = match.groupdict()
            name = qualified(parts["name"], schema) if parts.get("name") else ("", "")
            return Command(kind, name, _with_attributes(parts))
    raise ora(
        922 if re.match(r"\s*(CREATE|ALTER)\b", text, re.IGNORECASE) else 900, text.split("\n", maxsplit=1)[0][:80]
    )


def qualified(text: str | None, schema: str) -> Name:
    """Read a name as Oracle does: folded unless quoted, the session's schema unless said."""
    parts = [part[1:-1] if part.startswith('"') else part.upper() for part in re.findall(_IDENT, text or "")]
    return (parts[0], parts[1]) if len(parts) == 2 else (schema, parts[0])


def names(text: str | None) -> list[str]:
    """Read a list of column names."""
    found = re.findall(_IDENT, text or "")
    return [part[1:-1] if part.startswith('"') else part.upper() for part in found]


def arguments(text: str) -> dict[str, str]:
    """Read the named arguments of a package call.

    Raises:
        BackendError: ORA-06550 for an argument without a name.
    """
    found: dict[str, str] = {}
    for part in re.findall(r"(?:'(?:[^']|'')*'|\((?:'[^']*'|[^'()])*\)|[^,'])+", text.strip()):
        match = re.fullmatch(r"\s*(\w+)\s*=>\s*(.*?)\s*", part, re.DOTALL)
        if not match:
            raise ora(6550, part.strip())
        found[match[1].lower()] = match[2]
    return found


def _with_attributes(parts: dict[str, str | None]) -> dict[str, str | None]:
    text = parts.get("attributes")
    if text is None:
        return parts
    found = {
        "parallel": re.search(_PARALLEL, text, re.IGNORECASE),
        "logging": re.search(_LOGGING, text, re.IGNORECASE),
        "online": re.search(r"\bONLINE\b", text, re.IGNORECASE),
        "invisible": re.search(r"\bINVISIBLE\b", text, re.IGNORECASE),
        "reverse": re.search(r"\bREVERSE\b", text, re.IGNORECASE),
        "compression": re.search(r"\bCOMPRESS(?: ADVANCED(?: LOW| HIGH)?| \d+)?", text, re.IGNORECASE),
    }
    return {**parts, **{name: match[0] if match else None for name, match in found.items()}}
