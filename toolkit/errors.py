"""The one exception of the toolkit, and what each of its codes means.

Every error carries a sentence (what happened), a hint (what to do next) and a code. `CATALOGUE` is the single
declaration of the codes: exit status, documentation page and tests derive from it. Codes of a database
(`ORA-01652`, SQLSTATE `53100`) are kept beside ours in `database_code`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of the command line."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    DIFFERENCE = 4
    REFUSED = 5
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """What a code means: the page of the error reference is made from this."""

    code: str
    title: str
    cause: str
    action: str
    exit_code: ExitCode


def _entry(code: str, exit_code: ExitCode, title: str, cause: str, action: str) -> ErrorEntry:
    return ErrorEntry(code, title, cause, action, exit_code)


_F, _U, _R = ExitCode.FAILED, ExitCode.USAGE, ExitCode.REFUSED

CATALOGUE: dict[str, ErrorEntry] = {
    entry.code: entry
    for entry in (
        # 01xx: what the user wrote
        _entry(
            "TK-0101",
            _U,
            "unknown word",
            "an option, key, factor or command is not known",
            "use the name suggested, or see --help",
        ),
        _entry(
            "TK-0102",
            _U,
            "bad value",
            "a value has the wrong type or lies outside its range",
            "give a value as the hint says",
        ),
        _entry(
            "TK-0103",
            _U,
            "bad level list",
            "a list of levels is empty or cannot be read",
            "write 1,2,4 or 1..64x2",
        ),
        _entry(
            "TK-0104",
            _U,
            "bad name",
            "a name is no valid identifier of the engine",
            "shorten or quote the name",
        ),
        _entry(
            "TK-0105",
            _U,
            "bad query",
            "the text given as a query is not one SELECT",
            "give one SELECT without a terminator",
        ),
        _entry("TK-0106", _U, "bad file", "an experiment or profile file cannot be read", "mend the line named"),
        _entry(
            "TK-0107",
            _U,
            "options do not fit",
            "two options exclude each other or one needs another",
            "leave one out, as the hint says",
        ),
        _entry(
            "TK-0108",
            _U,
            "secret in clear text",
            "a password stands in a file, an argument or a URL",
            "refer to it: env, keyring, command or wallet",
        ),
        _entry(
            "TK-0109",
            _U,
            "unknown run",
            "no run, label or cell of that name is stored",
            "see `dbatk runs list`",
        ),
        _entry(
            "TK-0110",
            _U,
            "not comparable",
            "the two runs did not do the same work",
            "compare like with like, or --force",
        ),
        _entry(
            "TK-0111",
            _U,
            "unknown target",
            "no profile of that name and not a URL",
            "see `dbatk target list`",
        ),
        _entry(
            "TK-0112",
            _U,
            "facts are missing",
            "the script cannot be made without reading the catalogue",
            "connect, or give --facts FILE",
        ),
        _entry(
            "TK-0113",
            _U,
            "no AWR or Statspack report",
            "a file is not the report it should be, or only a part of one",
            "give the file as awrrpt.sql, awrgrpt.sql or spreport.sql wrote it",
        ),
        _entry(
            "TK-0114",
            _U,
            "no such snapshot",
            "no snapshot of that label is stored, or the two cannot be compared",
            "see `dbatk snapshot list`",
        ),
        _entry(
            "TK-0115",
            _U,
            "intervals that cannot be compared",
            "the two are the same interval, of different databases, or counted in different ways",
            "give two intervals of one database, of one kind and scope",
        ),
        _entry(
            "TK-0116",
            _U,
            "no RMAN log",
            "a file is not what rman prints, in any language",
            "give the log that rman wrote: `rman ... log FILE`, or its output kept in a file",
        ),
        # 02xx: the database
        _entry(
            "TK-0201",
            _F,
            "cannot connect",
            "the server is not there, refuses, or the credentials are wrong",
            "check host, port, service and password",
        ),
        _entry(
            "TK-0202",
            _F,
            "connection lost",
            "the server or the network ended the session",
            "see the server's log; `dbatk runs resume`",
        ),
        _entry(
            "TK-0203",
            _F,
            "statement failed",
            "the database refused a statement",
            "see the database's own code and advice",
        ),
        _entry(
            "TK-0204",
            _U,
            "object does not exist",
            "the table, index or schema named is not there or not visible",
            "check the name and the grants",
        ),
        _entry(
            "TK-0205",
            _U,
            "object exists",
            "the name of the new object is already in use",
            "choose another name; nothing is replaced",
        ),
        _entry(
            "TK-0206",
            _F,
            "package is not installed",
            "the Python driver of the engine, or a library that this command needs, is missing",
            "install what the hint names",
        ),
        _entry(
            "TK-0207",
            _F,
            "time limit passed",
            "a statement ran longer than its limit and was cancelled",
            "raise --time-limit",
        ),
        _entry(
            "TK-0208",
            _F,
            "nothing was done",
            "no row was made where rows were expected",
            "look at the source and the filter",
        ),
        _entry(
            "TK-0209",
            _R,
            "load of unknown end",
            "the client was killed, or lost its connection, while it loaded a table of the user's",
            "count the rows of the table, then answer: `dbatk runs resume RUN --rows there` or `--rows missing`",
        ),
        _entry(
            "TK-0210",
            _R,
            "workers that do not fit",
            "a worker of the cluster has another dbatk, lacks a target, or does not reach the store of the plan",
            "give every worker the same dbatk, targets.toml and store",
        ),
        # 03xx: guards
        _entry(
            "TK-0301",
            _R,
            "production",
            "the target is production, or nobody said that it is not",
            "--not-production or --yes-production NAME",
        ),
        _entry(
            "TK-0302",
            _R,
            "lease held",
            "another run works on this target or owns this run",
            "wait for it, or stop it",
        ),
        _entry(
            "TK-0303",
            _R,
            "licence not declared",
            "the statement needs a paid option nobody declared",
            "declare it in the target's profile, or go without",
        ),
        _entry(
            "TK-0304",
            _R,
            "not supported here",
            "the engine, release or edition cannot do it",
            "leave the option out, or see `dbatk doctor` for what can be had",
        ),
        _entry(
            "TK-0305",
            _R,
            "does not fit",
            "the work needs more space than is free",
            "free space, or sweep less",
        ),
        _entry("TK-0306", _R, "privilege missing", "the user lacks a grant", "run the GRANT shown"),
        _entry(
            "TK-0307",
            _R,
            "open journal entries",
            "objects or settings of the run are still to be undone",
            "`dbatk clean` first",
        ),
        _entry(
            "TK-0308",
            _R,
            "sessions still there",
            "sessions of an earlier attempt have not ended",
            "end them with the statement shown",
        ),
        _entry("TK-0309", _R, "commands not allowed", "a factor runs commands on this host", "--allow-commands"),
        _entry(
            "TK-0310",
            _R,
            "outside the window",
            "the plan's window is closed, or closed while a step ran",
            "wait for the window; the next night goes on where this one stopped",
        ),
        _entry(
            "TK-0311",
            _R,
            "stopped by a guard",
            "a limit of the plan's guards was passed while a step ran, or others waited too long behind it",
            "see the account for what was passed; the next night goes on where the step stopped",
        ),
        _entry(
            "TK-0313",
            _R,
            "not approved",
            "nobody approved it, or the plan, a script, dbatk or the database is another than was approved",
            "look at what changed, then `dbatk plan FILE --approve`",
        ),
        _entry(
            "TK-0314",
            _R,
            "audit log is not whole",
            "the audit log cannot be written, was altered or is gone, and what is not logged is not approved",
            "`dbatk audit verify` names the line",
        ),
        # 04xx: the results store and files
        _entry(
            "TK-0401",
            _F,
            "store cannot be written",
            "the folder is read-only, full, or on a network file system",
            "give another place with --store",
        ),
        _entry(
            "TK-0402",
            _U,
            "not a dbatk store",
            "the file belongs to another program or is damaged",
            "give another place with --store",
        ),
        _entry("TK-0403", _U, "store of a newer dbatk", "a newer version wrote this store", "upgrade dbatk"),
        _entry("TK-0404", _F, "store is locked", "another process holds the store for too long", "try again"),
        _entry(
            "TK-0405",
            _F,
            "file cannot be written",
            "the output file or folder is not writable",
            "give another path",
        ),
        _entry(
            "TK-0406",
            _U,
            "no bundle that can be taken",
            "the folder is no bundle, was altered, holds spools of another run, or is not empty",
            "give the folder that `dbatk export` wrote, as it is",
        ),
        # 09xx: ourselves
        _entry(
            "TK-0901",
            _F,
            "fault of dbatk",
            "something happened that the program does not expect",
            "run again with --debug and report it",
        ),
        _entry(
            "TK-0130",
            ExitCode.INTERRUPTED,
            "interrupted",
            "a signal ended the run",
            "`dbatk runs resume RUN`",
        ),
    )
}


class ToolkitError(Exception):
    """An error a user can act upon.

    Args:
        message: what happened; lower case, one sentence, values in backticks.
        code: a key of `CATALOGUE`.
        hint: what to do next; the catalogue's action when not given.
        database_code: the database's own code, such as `ORA-01652`.
    """

    def __init__(
        self, message: str, *, code: str, hint: str | None = None, database_code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint or CATALOGUE[code].action
        self.database_code = database_code

    @property
    def sentence(self) -> str:
        """The first line of the message."""
        return (self.message.strip().splitlines() or [self.code])[0]

    @property
    def exit_code(self) -> ExitCode:
        """Exit status for the command line."""
        return CATALOGUE[self.code].exit_code

    def __str__(self) -> str:
        return self.message


_LEFT_OUT = frozenset({"duckdb", "numpy"})
"""Packages that an installation for reading reports may lack."""


def unexpected(error: BaseException) -> ToolkitError:
    """Name the kind of an exception that nobody foresaw; its traceback goes to the debug log alone.

    Its text could hold anything, a secret too, so it is neither shown nor stored.
    """
    import logging

    logging.getLogger("toolkit").debug("unexpected exception", exc_info=error)
    if isinstance(error, ModuleNotFoundError) and error.name in _LEFT_OUT:
        return ToolkitError(
            f"this needs the package `{error.name}`, which is not installed",
            code="TK-0206",
            hint=f"pip install {error.name}",
        )
    return ToolkitError(f"something unexpected happened: {type(error).__name__}", code="TK-0901")
