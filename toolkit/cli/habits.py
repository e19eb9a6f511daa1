"""What people type out of habit from other tools, and what it is called here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from urllib.parse import quote

from toolkit.errors import ToolkitError

_PARALLEL = "--degree --channels --concurrency --users"
_ADDRESS = "give the address with `-t`: `oracle://user@host:1521/service`, `postgresql://user@host/db`"
_CONSENT = "nothing is waved through: say `--not-production`, or `--allow-production NAME` for a target that is"
_PASSWORD = "a password is never given on the command line: `dbatk target add --help` lists the ways"  # noqa: S105

RENAMED = {
    "--yes-production": "--allow-production",
    "--anytime": "--allow-closed-window",
    "--unseen-ok": "--allow-unchecked",
    "--force": "--allow-unlike",
    "--lock-timeout": "--lock-wait",  # pg_dump, pg_repack: the setting's own name
}
"""Options by their earlier names, which a cron line may have, and by PostgreSQL's: they work, too."""

HABITS: dict[str, str] = {
    # what it is called elsewhere: the options it may be here, the first that a command has; or a sentence
    "--parallel": _PARALLEL,  # expdp, most people
    "--threads": _PARALLEL,  # pgloader, DuckDB
    "--workers": _PARALLEL,
    "--dop": _PARALLEL,
    "--jobs": "--concurrency --channels --degree --users",  # pg_dump, pg_restore, reindexdb, vacuumdb, pgbench
    "-j": "--concurrency --channels --degree --users",
    "-P": "--degree",  # vacuumdb
    "--process-max": "--channels",  # pgBackRest
    "--degree": "--channels",
    "--channels": "--degree",
    "--clients": "--users --concurrency",  # pgbench
    "-c": "--users --concurrency",
    "--client": "--users --concurrency",
    "--sessions": "--users --concurrency --degree",
    "-b": "--builtin",
    "-R": "--rate",
    "--events": "`--measure-for` says how long users work, not how many transactions",  # sysbench
    "--report-interval": "`dbatk report RUN --out page.html` draws the throughput of each second",
    "--table-size": "--scale",
    "--copy": "--copies",
    "--runs": "--repeat",  # hyperfine
    "-r": "--repeat",
    "--repeats": "--repeat",
    "--iterations": "--repeat",
    "-n": "--repeat --limit",
    "--min-runs": "--repeat",
    "-w": "--warmup",
    "-T": "--measure-for --time-limit",  # pgbench
    "--colour": "--color",
    "--no-color": "`--color never` turns colour off",  # git
    "--time": "--measure-for --time-limit",  # pgbench, sysbench
    "--duration": "--measure-for --time-limit",
    "--timeout": "--time-limit",
    "--schemas": "--schema",  # expdp
    "--owner": "--schema",
    "--ownname": "--schema",  # DBMS_STATS
    "--tabname": "--table",
    "--tables": "--table",
    "-F": "--freeze",  # vacuumdb
    "-z": "--analyze",
    "-Z": "--analyze --compression",  # vacuumdb; pg_basebackup
    "--all": "--schema",
    "-a": "--schema",
    "--indname": "--index",
    "--tbs": "--tablespace",
    "--estimate": "--estimate-percent",
    "--concurrently": "--online",  # reindexdb
    "--filesperset": "--files-per-set",  # RMAN
    "--maxpiecesize": "--max-piece-size",
    "--maxsetsize": "--max-piece-size",
    "--directory": "--destination --out",  # expdp, pg_dump
    "--dumpfile": "--backup --destination",  # expdp, impdp
    "--control": "SQL*Loader's control files are not read: name the data files and `--columns`",  # sqlldr
    "--badfile": "--rejects",
    "--errors": "--max-rejects",
    "--rows": "--commit-every",
    "--skip": "`--header yes` leaves the first line of each file out",
    "--csv": "files are CSV unless they are parquet: `--delimiter`, `--quote`, `--null` say how they are written",
    "--limit": "--chunk",  # pt-archiver
    "--txn-size": "--chunk",
    "--batch-size": "--chunk --commit-every",
    "--pgdata": "--destination",  # pg_basebackup
    "-D": "--destination",
    "--compress": "--compression",  # pg_basebackup, pg_dump
    "--compress-type": "--compression",
    "--output": "--out",
    "-o": "--out",
    "--file": "--out --query",
    "-f": "--query --out",
    "--sql": "--query",
    "--select": "--query",
    "--from": "--source",
    "--into": "--table",
    "--to": "--table --out",
    "--name": "--label",
    "--dryrun": "--dry-run",
    "--noexec": "--dry-run",
    "--check": "--dry-run",
    "--force": _CONSENT,
    "--yes": _CONSENT,
    "-y": _CONSENT,
    "--verbose": "--debug",
    "-v": "--debug",
    "--silent": "--quiet",
    "-s": "--scale --quiet",  # pgbench; curl
    "--export-json": "--json",  # hyperfine
    "--database": "--target",
    "--url": "--target",
    "--connect": "--target",
    "-d": "--target",  # psql
    "--dbname": _ADDRESS,
    "--host": _ADDRESS,
    "--port": _ADDRESS,
    "-p": _ADDRESS,
    "--user": _ADDRESS,
    "--username": _ADDRESS,
    "-U": _ADDRESS,
    "--userid": _ADDRESS,  # expdp
    "--service": _ADDRESS,
    "--sid": _ADDRESS,
    "--password": _PASSWORD,
    "-W": _PASSWORD,
}


def suggestion(word: str, flags: Collection[str]) -> str | None:
    """Return what a habit is called here, as the beginning of a hint; None for what is no habit.

    Args:
        word: an option that the command does not have.
        flags: those that it has.
    """
    from toolkit.documents import nearest

    known = HABITS.get(word)
    if known is None and len(word) > len("--ab"):
        near = nearest(word, [*flags, *(one for one in HABITS if one.startswith("--"))])
        known = HABITS.get(near or "") if near not in flags else None
    if known is None:
        return None
    if not known.startswith("--"):
        return known
    found = next((one for one in known.split() if one in flags), None)
    return f"use `{found}`" if found else None


def renamed(words: Sequence[str], flags: Collection[str]) -> tuple[list[str], list[str]]:
    """Return a line with options by their present names, and a note for each that had an earlier one.

    Args:
        words: as typed.
        flags: those that the command has.
    """
    line, notes = [], dict[str, None]()
    own = words.index("--") if "--" in words else len(words)
    for word in words[:own]:
        name, sign, value = word.partition("=")
        new = RENAMED.get(name)
        known = new is not None and new in flags and name not in flags
        line.append(f"{new}{sign}{value}" if known else word)
        if known:
            notes[f"`{name}` is now `{new}`; the earlier name still works"] = None
    return [*line, *words[own:]], list(notes)


_SELECT = re.compile(r"\s*(select|with)\s", re.IGNORECASE)
_COPY = re.compile(r"\s*\\?copy\s", re.IGNORECASE)


def explained(
    error: ToolkitError,
    query: str | None,
    source: str | None,
    target: str | None = None,
    files: Sequence[str] = (),
) -> ToolkitError:
    """Return an error with a better hint where what was given for an option belongs to another one.

    Args:
        error: as it was raised.
        query: what was given as the file of a query.
        source: what was given as the name of a table.
        target: what was given as the database.
        files: what was given as files to load.
    """
    no_such_table = error.code in ("TK-0104", "TK-0204")
    if any(map(_COPY.match, files)):
        hint = "name the file alone: `dbatk load orders.csv --table orders` reads it and sends it, as \\copy does"
    elif files and error.code == "TK-0204":
        hint = (
            "a table is loaded that exists: create it first, or check schema and name; on DuckDB "
            "`dbatk ctas --query FILE` makes one from `SELECT * FROM 'rows.csv'`"
        )
    elif query is not None and error.code == "TK-0106" and _SELECT.match(query):
        hint = "`--query` takes a file: save the SELECT to one, or pipe it to `--query -`"
    elif source is not None and no_such_table and _SELECT.match(source):
        hint = "`--source` takes a table: save the SELECT to a file and name that with `--query`"
    elif source is not None and (no_such_table or error.code == "TK-0201") and Path(source).is_file():
        hint = _reading(source, target or "")
    else:
        return error
    return ToolkitError(error.message, code=error.code, hint=hint, database_code=error.database_code)


def _reading(file: str, target: str) -> str:
    """Return how a file is read where the name of a table was expected: on DuckDB what to type instead."""
    if not target.startswith("duckdb:"):
        return "`--source` takes a table: load the file into one first; only DuckDB reads files by itself"
    url, _, given = target.partition("?")
    words = dict.fromkeys([*filter(None, given.split("&")), "create=yes", f"files={quote(file, safe='/')}"])
    address = shlex.quote(f"{url}?{'&'.join(words)}")
    select = shlex.quote("SELECT * FROM '{}'".format(file.replace("'", "''")))  # noqa: S608 - shown, not sent
    typed = f"echo {select} | dbatk ... -t {address} --query -"
    return f"`--source` takes a table; this reads the file: `{typed}` instead of `--source`"
