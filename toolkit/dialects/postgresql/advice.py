"""What PostgreSQL's SQLSTATEs mean to a DBA in this work, and what to do about each."""

from __future__ import annotations

import re

from toolkit.dialects.answers import Continuation, ErrorAdvice

# What does not depend on the cell: a grant, a name, the query, the data, the way in.
_NOTHING = re.compile(r"22...|23...|25006|28...|2BP01|3D000|3F000|42[56][0-9A-Z]{2}|427..|428..|42P01|42P07|57P04")

# Disk, crash, restart, network: nothing of it is the configuration's doing. Memory and connections may well be.
_OUTSIDE = re.compile(r"08(?!004|P01)...|25P03|53[01]00|57P0[1235]|58...")

# Names, syntax, types and values of the text that was sent; a grant is none of it.
_TEXT = re.compile(r"22...|42(?!501)...")


def _entry(
    code: str, meaning: str, advice: str, *, passing: bool = False, outside: bool | None = None
) -> ErrorAdvice:
    other = Continuation.NOTHING if _NOTHING.fullmatch(code) else Continuation.RUN
    goes_on = Continuation.TRIAL if passing else other
    known = _OUTSIDE.fullmatch(code) is not None
    return ErrorAdvice(
        code, meaning, advice, goes_on, outside=known if outside is None else outside,
        of_text=_TEXT.fullmatch(code) is not None,
    )  # fmt: skip


_P = True
_ENTRIES = (
    # 08: connection
    _entry("08000", "the connection broke", "check the server's log, then `dbatk runs resume`", passing=_P),
    _entry("08001", "the server could not be reached", "check host, port and firewall", passing=_P),
    _entry("08003", "the connection is closed", "`dbatk runs resume`", passing=_P),
    _entry("08004", "the server refused the connection", "see pg_hba.conf and the server's log"),
    _entry("08006", "the connection was lost",
           "check the server's log (crash, OOM killer, network), then `dbatk runs resume`", passing=_P),
    _entry("08P01", "protocol violation between client and server", "check for a pooler or proxy in between"),
    # 0A, 0L, 0P, 1x
    _entry("0A000", "the server does not support this", "see the message; omit the option"),
    _entry("21000", "a subquery returned more than one row", "check the query"),
    # 22: data
    _entry("22001", "a string is longer than its column", "cast or truncate it in the query"),
    _entry("22003", "a number is out of range for its type", "cast it to a wider type in the query"),
    _entry("22007", "a date or time has an invalid format", "check its format in the query"),
    _entry("22008", "a date or time is out of range", "check the date, or the arithmetic that leads to it"),
    _entry("22012", "division by zero", "guard it with NULLIF in the query"),
    _entry("22021", "a string is not valid in the database's encoding", "convert it, or clean the source"),
    _entry("22023", "a setting or argument has an invalid value", "see the message"),
    _entry("22P02", "a string cannot be converted to the required type", "cast or clean it in the query"),
    # 23: constraints
    _entry("23502", "a row has no value for a NOT NULL column", "check the query, or measure with --bare"),
    _entry("23503", "a row violates a foreign key", "load the parent rows first, or measure with --bare"),
    _entry("23505", "two rows have the same key", "remove duplicates first (GROUP BY ... HAVING count(*) > 1)"),
    _entry("23514", "a row violates a check constraint", "check the query, or measure with --bare"),
    # 25: transactions
    _entry("25001", "the statement cannot run inside a transaction", "CONCURRENTLY needs a session of its own"),
    _entry("25006", "the session or server is read-only",
           "where the role or database sets default_transaction_read_only, connect as another role, or add "
           "`?options=-c default_transaction_read_only=off` to the URL; if pg_is_in_recovery() is true, this is a "
           "replica: connect to the primary"),
    _entry("25P02", "an earlier error aborted the transaction", "see the first error"),
    _entry("25P03", "the session was idle in a transaction too long", "see idle_in_transaction_session_timeout",
           passing=_P),
    # 28: authentication
    _entry("28000", "the user may not log in this way", "see pg_hba.conf: user, database, address, encryption"),
    _entry("28P01", "wrong password", "check the profile's password source: env, keyring, command or ~/.pgpass"),
    _entry("2BP01", "other objects depend on this one", "list them with \\d+, and drop them first"),
    _entry("3D000", "the database does not exist", "check the name at the end of the target URL"),
    _entry("3F000", "the schema does not exist", "check the name, or CREATE SCHEMA"),
    # 40: concurrency
    _entry("40001", "a conflict with another transaction (serialization)", "run it again", passing=_P),
    _entry("40P01", "deadlock: two sessions waited for each other",
           "run it again when the other is done; the server's log names both sessions", passing=_P),
    # 42: names, grants, types
    _entry("42501", "a grant is missing",
           "`dbatk doctor -t TARGET` prints the GRANT; building an index, ANALYZE and REINDEX need the owner "
           "(or MAINTAIN from 17 on)"),
    _entry("42601", "the statement has a syntax error", "check the syntax of the query"),
    _entry("42602", "a name is not valid", "put it in double quotes"),
    _entry("42622", "a name is too long", "use at most 63 bytes"),
    _entry("42701", "two columns have the same name", "give each column of the query a unique name"),
    _entry("42702", "a column name is ambiguous", "write table.column in the query"),
    _entry("42703", "a column does not exist", "check its name; upper case needs double quotes"),
    _entry("42704", "an object, type or access method does not exist", "check the name and search_path"),
    _entry("42710", "an object of that name already exists", "choose another name"),
    _entry("42803", "a column is neither grouped nor aggregated", "check the query"),
    _entry("42804", "a value has the wrong type", "cast it in the query"),
    _entry("42809", "the object is of the wrong kind",
           "check it with \\d: not possible for a view or partitioned table"),
    _entry("42830", "a foreign key does not refer to a unique key", "check the constraint"),
    _entry("42883", "a function does not exist for these types", "cast the arguments, or check search_path"),
    _entry("42939", "the name is reserved (pg_ ...)", "choose another name"),
    _entry("428C9", "a generated column or identity was given a value", "omit the column from the insert"),
    _entry("42P01", "a table or view does not exist",
           "check the schema and search_path; upper case needs double quotes"),
    _entry("42P06", "the schema already exists", "choose another name"),
    _entry("42P07", "a table or index of that name already exists", "choose another name; nothing is replaced"),
    _entry("42P16", "the table definition is not valid", "see the message"),
    _entry("42P17", "the object definition is not valid (an index expression must be IMMUTABLE)",
           "see the message"),
    # 53: resources
    _entry("53000", "the server is out of a resource", "see the message and the server's log", passing=_P),
    _entry("53100", "the disk is full",
           "free space in the data directory, the tablespace, pg_wal or temp_tablespaces; idle replication "
           "slots keep WAL (pg_replication_slots)"),
    _entry("53200", "out of memory",
           "lower the degree, work_mem or maintenance_work_mem (allocated per process)",
           passing=_P),
    _entry("53300", "too many connections", "lower --concurrency, or raise max_connections", passing=_P),
    _entry("53400", "a configured limit was exceeded (temp_file_limit ...)",
           "raise the limit named in the message"),
    _entry("54000", "a program limit was exceeded", "see the message"),
    _entry("54001", "the statement is too complex (stack depth)", "simplify the query"),
    _entry("54011", "too many columns", "a table can have at most 1600"),
    # 55, 57, 58
    _entry("55000", "the object is not in the required state", "see the message", passing=_P),
    _entry("55006", "the object is in use", "check pg_stat_activity for who uses it, and try again", passing=_P),
    _entry("55P02", "the setting needs a restart or reload", "set it in postgresql.conf"),
    _entry("55P03", "a lock could not be obtained in time",
           "let the transaction that has it end, or wait longer (--lock-wait, default 60s); after CREATE "
           "INDEX CONCURRENTLY look for an INVALID index", passing=_P),
    _entry("57014", "the statement was cancelled, by somebody or by the statement_timeout of the role or database",
           "add `?options=-c statement_timeout=0` to the URL, or ALTER ROLE ... SET it; see --time-limit"),
    _entry("57P01", "an administrator ended the session",
           "find out who ran pg_terminate_backend or stopped the server, then `dbatk runs resume`", passing=_P),
    _entry("57P02", "another server process crashed, which ended all sessions",
           "check the server's log (OOM killer?), then `dbatk runs resume`", passing=_P),
    _entry("57P03", "the server is starting up or shutting down", "wait and try again", passing=_P),
    _entry("57P04", "the database was dropped", "check the target"),
    _entry("57P05", "the session was idle too long", "see idle_session_timeout", passing=_P),
    _entry("58000", "an error outside the server (operating system)", "see the server's log"),
    _entry("58030", "a file could not be read or written", "check the disk and the server's log immediately"),
    _entry("58P01", "a server file is missing", "see the server's log; check backups before anything else"),
    _entry("72000", "the snapshot is too old", "shorten the query or raise old_snapshot_threshold", passing=_P),
    # F0, XX
    _entry("F0000", "a configuration file is wrong", "see the server's log"),
    _entry("P0001", "a function or trigger raised an error", "see the message"),
    _entry("XX000", "an internal error of the server", "see the server's log; keep the message for a bug report"),
    _entry("XX001", "data is corrupted", "stop writing, check backups, run amcheck and pg_checksums"),
    _entry("XX002", "an index is corrupted", "check it with amcheck and REINDEX it"),
)  # fmt: skip

ERRORS: dict[str, ErrorAdvice] = {entry.code: entry for entry in _ENTRIES}

_CLASSES: dict[str, tuple[str, str]] = {
    "08": ("the connection broke", "check the server's log, then `dbatk runs resume`"),
    "22": ("a value in the data cannot be handled", "check the query and the source"),
    "23": ("a row violates a constraint", "check the query, or measure with --bare"),
    "40": ("the transaction was rolled back", "run it again"),
    "42": ("a name, type or grant is wrong", "see the message"),
    "53": ("the server is out of a resource", "see the message and the server's log"),
    "58": ("an error of the operating system", "see the server's log"),
    "XX": ("an internal error of the server", "see the server's log"),
}
_METHOD = re.compile(r"\b(gin|gist|spgist|brin|hash)\b")
_CLASS_HINT = (
    "name one after the column (`--columns 'name gin_trgm_ops'`; for text, CREATE EXTENSION pg_trgm makes "
    "gin_trgm_ops and gist_trgm_ops), or index an expression: to_tsvector(...)"
)
_OF_PROGRAMS = (
    ("53100", re.compile(r"No space left on device|Disk quota exceeded")),
    ("57P03", re.compile(r"the database system is (?:starting|shutting|in recovery|not (?:yet )?accepting)")),
    ("08006", re.compile(
        r"server closed the connection unexpectedly|terminating connection (?:due to|because of)|"
        r"could not (?:receive|send) data (?:from|to) (?:server|client)|could not (?:read COPY|receive) data|"
        r"no connection to the server|Connection (?:refused|reset by peer|timed out)|timeout expired|"
        r"No route to host|Network is unreachable|SSL connection has been closed unexpectedly")),
)  # fmt: skip
"""What libpq and the server say through a program such as pg_dump, which gives no SQLSTATE: its code."""
_DISABLED_PARALLEL = "could not resize shared memory segment"


def explain(code: str, message: str) -> ErrorAdvice | None:
    """Look a SQLSTATE up, the code itself, else its class; of a program that failed, by what it wrote."""
    if code.startswith("exit "):
        code = next((known for known, said in _OF_PROGRAMS if said.search(message)), code)
    if code == "53100" and _DISABLED_PARALLEL in message:
        return _entry("53100", "the shared memory of parallel workers (/dev/shm) is full",
                      "lower the degree or work_mem; a container needs a larger --shm-size",
                      outside=False)  # fmt: skip
    if code == "42704" and (method := _METHOD.search(message)) is not None:
        return _entry("42704", f"a type has no operator class for {method[0]} that is used unasked", _CLASS_HINT)
    if code in ERRORS:
        return ERRORS[code]
    known = _CLASSES.get(code[:2])
    return None if known is None or len(code) != 5 else _entry(code, *known, passing=code[:2] in ("08", "40"))
