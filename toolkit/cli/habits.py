"""What people type out of habit from other tools, and what it is called here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from toolkit.errors import ToolkitError
from toolkit.model.operations import declaration

if TYPE_CHECKING:
    from toolkit.cli.parameters import Arguments
    from toolkit.model.words import OperationName

_PARALLEL = "--degree --channels --concurrency --users"
_ADDRESS = "give the address with `-t`: `oracle://user@host:1521/service`, `postgresql://user@host/db`"
_CONSENT = "nothing is waved through: say `--not-production`, or `--allow-production NAME` for a target that is"
_BUILT_IN = "`--builtin` makes its tables before the first trial and drops them at the end"
_LATENCIES = "percentiles of the latency are in the run: `dbatk report RUN` shows them"
_FACTORS = "each option takes several levels; what programs or SQL set is a `[[factor]]` of a file (`--save-as`)"
_WHOLE = "a restore is tried in a place of its own, whole, and never changes the database that was backed up"
_ROWS_ONLY = "rows are added to a table that exists: create it as it should be, or empty it, before that"
_SHELL = "a program is begun without a shell; name one where its syntax is needed: `-- sh -c 'a | b'`"
_OUTPUT = "what the program printed is kept with the run: `dbatk report RUN --out page.html`"
_EXPORTED = "`dbatk report RUN --format csv` or `markdown` writes them"
_FILES = "data files are arguments: `dbatk load orders.csv --table orders`"
_HINTS = "dbatk writes hints for parallel work by itself; a SELECT with hints of yours is given by `--query FILE`"
_MORE = "`--limit N` shows more runs, newest first"
_RECOGNISED = "a file is recognised by its content"
_WRITTEN = "`--json` prints a document, `--out FILE.html` writes a page"
_PAGES = "a page is made of two reports (`dbatk compare A B --out FILE`), or of many (`dbatk awr trend`)"
_PAPER = "`--out FILE.html` writes a page that is made for paper, too: print it from a browser"
_ARGUMENTS = "name and URL are arguments: `dbatk target add NAME oracle://user@host:1521/service`"
_REMOVED = "`dbatk plan schedule remove NAME` removes a job, `dbatk plan schedule list` lists them"
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
    "-c": "--users --query --concurrency",  # psql: a statement
    "--sessions": "--users --concurrency --degree",
    "-b": "--builtin",
    "-R": "--rate",
    "--events": "`--measure-for` says how long users work, not how many transactions",  # sysbench
    "--report-interval": "`dbatk report RUN --out page.html` draws the throughput of each second",
    "--table-size": "--scale",
    "--with": "--storage-parameters",  # CREATE INDEX ... WITH (...)
    "--runs": "--repeat",  # hyperfine
    "-r": "--repeat",
    "--iterations": "--repeat",
    "-n": "--repeat --limit",
    "--min-runs": "--repeat",
    "-w": "--warmup",
    "-T": "--measure-for --time-limit",  # pgbench
    "--no-color": "`--color never` turns colour off",  # git
    "--time": "--measure-for --time-limit --at",  # pgbench, sysbench
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
    "--set": "--setting",  # psql, pgbench
    "--cron": "--at",
    "--every": "--at",
    "--when": "--at",
    "--on-calendar": "--at",  # systemd-run
    "--repeat-interval": "--at",  # DBMS_SCHEDULER
    "--estimate": "--estimate-percent",
    "--concurrently": "--online",  # reindexdb
    "--filesperset": "--files-per-set",  # RMAN
    "--maxpiecesize": "--max-piece-size",
    "--maxsetsize": "--max-piece-size",
    "--directory": "--destination --out",  # expdp, pg_dump
    "--dumpfile": "--backup --destination",  # expdp, impdp
    "--control": "control files are written, not read: name the data files, `--columns` and `--method`",  # sqlldr
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
    "--as-compressed-backupset": "--compression",  # RMAN
    "--separator": "--delimiter",
    "--sep": "--delimiter",
    "--fields-terminated-by": "--delimiter",  # sqlldr
    "--older-than": "--where",
    "--html": "--format --out",
    "--compress-type": "--compression",
    "--output": "--out",
    "-o": "--out",
    "--file": "--query --transactions --out",
    "-f": "--query --transactions --out",
    "--sql": "--query",
    "--select": "--query",
    "--from": "--source",
    "--into": "--table",
    "--to": "--table --out",
    "--name": "--label",
    "--dryrun": "--dry-run",
    "--copy": "--copies",
    "--check": "--dry-run",
    "--force": _CONSENT,
    "--yes": _CONSENT,
    "-y": _CONSENT,
    "--verbose": "--debug",
    "-v": "--debug",
    "--silent": "--quiet",
    "-s": "--scale --source",  # pgbench
    "--on": "--table",  # CREATE INDEX ... ON
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
    "--script": "--transactions --query",
    "--pdf": _PAPER,
    "-V": "`dbatk --version` shows the version",
}

HABITS_WITH: dict[str, dict[str, str]] = {
    # habits of the commands that do one thing, by an option that only they have
    "--builtin": {  # pgbench, sysbench
        "-S": "--transactions",
        "--select-only": "--transactions",
        "-N": "--transactions",
        "--skip-some-updates": "--transactions",
        "--file": "--transactions",
        "-f": "--transactions",
        "-i": _BUILT_IN,
        "--initialize": _BUILT_IN,
        "-l": _LATENCIES,
        "--log": _LATENCIES,
        "--latency-limit": _LATENCIES,
        "--histogram": _LATENCIES,
        "--percentile": _LATENCIES,
        "--max-tries": "--tries",
        "--factor": _FACTORS,
        "--warmup-time": "--ramp-up",
        **dict.fromkeys(("--db-driver", "--pgsql-host", "--pgsql-port", "--pgsql-user", "--pgsql-db"), _ADDRESS),
        "--pgsql-password": _PASSWORD,
    },
    "--conclude": {  # hyperfine
        "-p": "--prepare",
        "-s": "--setup",
        "-c": "--cleanup",
        "-n": "--label",
        "--command-name": "--label",
        **dict.fromkeys(("-m", "-M", "--max-runs"), "--repeat"),
        **dict.fromkeys(("-P", "-L", "--parameter-scan", "--parameter-list"), "--factor"),
        "-i": "--allow-exit",
        "--ignore-failure": "--allow-exit",
        "-N": _SHELL,
        "-S": _SHELL,
        "--shell": _SHELL,
        "--show-output": _OUTPUT,
        "--export-csv": _EXPORTED,
        "--export-markdown": _EXPORTED,
    },
    "--backup": {  # pg_restore, impdp, pgBackRest
        "--remap-schema": _WHOLE,
        "--remap-tablespace": _WHOLE,
        "--network-link": _WHOLE,
        "--table-exists-action": _WHOLE,
        "--content": _WHOLE,
        "-c": _WHOLE,
        "--clean": _WHOLE,
        "-C": _WHOLE,
        "--create": _WHOLE,
        "--section": _WHOLE,
        "--schema-only": _WHOLE,
        "--data-only": _WHOLE,
        "--set": "--backup-set",
        "--pg1-path": "--destination",
    },
    "--max-rejects": {  # impdp, sqlldr
        "--table-exists-action": _ROWS_ONLY,
        "--content": _ROWS_ONLY,
        "--truncate": _ROWS_ONLY,
    },
    "--batch-rows": {  # sqlldr
        "--direct": "`--method direct` is SQL*Loader's direct path",
    },
    "--pq-distribute": {"--hint": _HINTS, "--hints": _HINTS},
    "--archive-to": {  # pt-archiver
        "--dest": "--archive-to",
        "--max-lag": "--guard",
        "--check-slave-lag": "--guard",
        "--sleep": "--guard",
    },
    "--order-by-index": {  # pg_repack
        "--order-by": "--order-by-index",
        "-o": "--order-by-index",
        "--only-indexes": "`dbatk index rebuild` rebuilds the indexes of a table",
        "-x": "`dbatk index rebuild` rebuilds the indexes of a table",
        "--wait-timeout": "--lock-wait",
        "-T": "--lock-wait",
        "--no-kill-backend": "dbatk never ends sessions of others: `--lock-wait` says how long it waits for them",
        "-D": "dbatk never ends sessions of others: `--lock-wait` says how long it waits for them",
    },
}
"""What differs from HABITS where the user comes from a tool that does the same."""

_OF_READERS = {"--tool": _RECOGNISED, "--type": _RECOGNISED}
HABITS_OF: dict[str, dict[str, str]] = {
    # habits of single commands, by how they are called: those that read files of many programs
    "load": dict.fromkeys(("--file", "-f", "--data", "--infile"), _FILES),
    "runs list": {"--all": _MORE, "-a": _MORE},
    "runs show": dict.fromkeys(("--format", "--out", "-o"), "`dbatk report RUN --out FILE.html` writes a page"),
    "import": {**_OF_READERS, "--format": _RECOGNISED},
    "awr show": {**_OF_READERS, "--out": _PAGES, "--format": f"{_RECOGNISED}; `--json` chooses what is printed"},
    "awr trend": {**_OF_READERS, "--format": f"{_RECOGNISED}; {_WRITTEN}"},
    "backup read": {**_OF_READERS, "--format": f"{_RECOGNISED}; {_WRITTEN}"},
    "compare": {**_OF_READERS, "--format": _WRITTEN},
    "target add": dict.fromkeys(("--url", "--target", "-t", "--name", "--database"), _ARGUMENTS),
    "plan schedule add": dict.fromkeys(("--remove", "--uninstall", "--delete", "--list"), _REMOVED),
}
"""What helps only in the commands that are named."""


def suggestion(word: str, flags: Collection[str], path: str) -> str | None:
    """Return what a habit is called here, as the beginning of a hint; None for what is no habit.

    Args:
        word: an option that the command does not have.
        flags: those that it has.
        path: how the command is called: `dbatk awr show`.
    """
    from toolkit.documents import nearest

    of_command = HABITS_OF.get(path.partition(" ")[2], {})
    known = of_command.get(word) or next(
        (own[word] for flag, own in HABITS_WITH.items() if flag in flags and word in own), HABITS.get(word)
    )
    if known is None and len(word) > len("--ab"):
        likely = [one for one, meant in HABITS.items() if one.startswith("--") and meant.startswith("--")]
        bare = {one.lstrip("-"): one for one in (*likely, *flags)}
        near = bare.get(nearest(word.lstrip("-"), bare) or "")
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
_DATA = re.compile(r"\.(csv|tsv|parquet|json)(\.gz)?$", re.IGNORECASE)
_COPY = re.compile(r"\s*\\?copy\s", re.IGNORECASE)


def explained(error: ToolkitError, operation: OperationName, arguments: Arguments) -> ToolkitError:
    """Return an error with a better hint where what was given for an option belongs to another one.

    Args:
        error: as it was raised.
        operation: that was asked for.
        arguments: with which.
    """
    query, source, target = (arguments.text(name) for name in ("query", "source", "target"))
    creation = declaration(operation).created_by
    files = arguments.texts("files") if creation else ()
    no_such_table = error.code in ("TK-0104", "TK-0204")
    if any(map(_COPY.match, files)):
        hint = "name the file alone: `dbatk load orders.csv --table orders` reads it and sends it, as \\copy does"
    elif files and error.code == "TK-0204":
        made = _created(creation, files, arguments)
        hint = f"`load` fills a table that exists: create it first, or check schema and name{made}"
    elif files and "create=yes" in (error.hint or "") and (made := _created(creation, files, arguments, new=True)):
        hint = f"check the path{made}"
    elif query is not None and error.code == "TK-0106" and _SELECT.match(query):
        hint = "`--query` takes a file: save the SELECT to one, or pipe it to `--query -`"
    elif source is not None and no_such_table and _SELECT.match(source):
        hint = "`--source` takes a table: save the SELECT to a file and name that with `--query`"
    elif source is not None and (no_such_table or error.code == "TK-0201") and Path(source).is_file():
        hint = _reading(source, "--source", target or "")
    elif query is not None and error.code == "TK-0105" and _DATA.search(query):
        hint = _reading(query, "--query", target or "")
    else:
        return error
    return ToolkitError(error.message, code=error.code, hint=hint, database_code=error.database_code)


_OF_FILES = ("columns", "header", "delimiter", "quote", "null", "encoding")
"""Options of a load that say how files are read, so that a table for them is created with the same."""


def _created(creation: OperationName, files: Sequence[str], arguments: Arguments, *, new: bool = False) -> str:
    """Return how a table is made for files, where the engine can: what a new user means by loading them.

    Args:
        creation: the operation that makes it.
        files: that are loaded.
        arguments: of the load.
        new: whether the database file is to be made, too.
    """
    from toolkit.cli.completing import engine_of
    from toolkit.dialects.registry import dialect_of

    target = arguments.text("target") or ""
    engine = engine_of(target)
    if engine is None or creation not in dialect_of(engine).work:
        return ""
    if new and target.startswith("duckdb:"):
        url, _, given = target.partition("?")
        target = f"{url}?{'&'.join(dict.fromkeys([*filter(None, given.split('&')), 'create=yes']))}"
    words = ["dbatk", *declaration(creation).command, "-t", target, *files]
    words += ["--table", arguments.text("table") or "NAME"]
    for name in _OF_FILES:
        if (text := arguments.text(name)) is not None:
            words += [f"--{name}", text]
    return f"; `{shlex.join(words)}` makes it for the files"


def _reading(file: str, option: str, target: str) -> str:
    """Return how a file is read that was given to an option of another kind: on DuckDB what to type instead."""
    takes = {"--source": "a table", "--query": "a file with a SELECT"}[option]
    if not target.startswith("duckdb:"):
        return f"`{option}` takes {takes}: load the file into a table first; only DuckDB reads files by itself"
    select, address = _selecting(file, target)
    typed = f"echo {select} | dbatk ... -t {address} --query -"
    return f"`{option}` takes {takes}; this reads the file: `{typed}` instead of `{option}`"


def _selecting(file: str, target: str) -> tuple[str, str]:
    """Return the SELECT that reads a file, and the address that lets it, as a shell takes them."""
    url, _, given = target.partition("?")
    words = dict.fromkeys([*filter(None, given.split("&")), "create=yes", f"files={quote(file, safe='/')}"])
    select = "SELECT * FROM '{}'".format(file.replace("'", "''"))  # noqa: S608 - shown, not sent
    plain = set(select).isdisjoint('"$`\\!')
    return f'"{select}"' if plain else shlex.quote(select), shlex.quote(f"{url}?{'&'.join(words)}")
