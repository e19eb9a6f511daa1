"""The one exception of the toolkit, and what each of its codes means.

Every error carries a sentence (what happened), a hint (what to do next) and a code. `CATALOGUE` is the single
declaration of the codes: exit status, documentation page and tests derive from it. Codes of a database
(`ORA-01652`, SQLSTATE `53100`) are kept in `database_code`, next to dbatk's own code.
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
    CLOSED = 6
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


_F, _U, _I, _R = ExitCode.FAILED, ExitCode.USAGE, ExitCode.INCOMPLETE, ExitCode.REFUSED

CATALOGUE: dict[str, ErrorEntry] = {
    entry.code: entry
    for entry in (
        # 01xx: what the user wrote
        _entry("TK-0101", _U, "unknown word",
               "an option, key, factor or command is unknown",
               "use the suggested name, or see --help"),
        _entry("TK-0102", _U, "bad value",
               "a value has the wrong type or is out of range",
               "give a value that is allowed there"),
        _entry("TK-0103", _U, "bad level list",
               "a list of levels is empty or cannot be read",
               "write 1,2,4 or 1..64x2"),
        _entry("TK-0104", _U, "bad name",
               "a name is not a valid identifier for the engine",
               "shorten or quote the name"),
        _entry("TK-0105", _U, "bad query",
               "the text given as a query is not one SELECT",
               "give one SELECT without a terminator"),
        _entry("TK-0106", _U, "bad file",
               "a file that was named cannot be read, or an experiment, plan or profile in it is wrong",
               "check the path, or fix the line named in the message"),
        _entry("TK-0107", _U, "options do not fit",
               "two options are mutually exclusive or one needs another",
               "omit one of them"),
        _entry("TK-0108", _U, "secret in clear text",
               "a password appears in a file, an argument or a URL",
               "use a reference instead: env, keyring, command or wallet"),
        _entry("TK-0109", _U, "unknown run",
               "no run, label or configuration of that name is stored",
               "see `dbatk runs list`"),
        _entry("TK-0110", _U, "not comparable",
               "the two runs did not do the same work, or the queries to compare do not give the same rows",
               "compare runs of the same work, or use --allow-unlike; for queries --different-rows"),
        _entry("TK-0111", _U, "unknown target",
               "it is neither the name of a profile nor a URL",
               "see `dbatk target list`"),
        _entry("TK-0112", _U, "facts are missing",
               "the script cannot be generated without reading the catalogue",
               "connect, or give --facts FILE"),
        _entry("TK-0113", _U, "not an AWR or Statspack report",
               "a file is not the expected report, or only part of one",
               "give the file exactly as written by awrrpt.sql, awrgrpt.sql or spreport.sql"),
        _entry("TK-0114", _U, "no such snapshot",
               "no snapshot with that label is stored, or the two cannot be compared",
               "see `dbatk snapshot list`"),
        _entry("TK-0115", _U, "intervals that cannot be compared",
               "the two are identical, belong to different databases, or were counted in different ways",
               "give two intervals of the same database, kind and scope"),
        _entry("TK-0116", _U, "not an RMAN log",
               "a file is not RMAN output in any supported language",
               "give the log written by `rman ... log FILE`, or RMAN's output saved to a file"),
        _entry("TK-0117", _U, "cannot be imported",
               "the file is of no kind that import reads, is damaged or newer, or was imported before",
               "give a file of one of the kinds that `dbatk import --help` names, unchanged and whole"),
        _entry("TK-0118", _U, "unusual value that may not be the object's own",
               "an index or table has a degree above 1, no LOGGING, or parallel_workers of its own, which this "
               "run would restore afterwards; a killed run with another store may have left it, and nothing tells",
               "clean such a run with its store, or add --restore found or --restore default"),
        # 02xx: the database
        _entry("TK-0201", _F, "cannot connect",
               "the server is down or refuses the connection, or the credentials are wrong",
               "check host, port, service and password"),
        _entry("TK-0202", _F, "connection lost",
               "the server or the network ended the session",
               "check the server's log, then `dbatk runs resume`"),
        _entry("TK-0203", _F, "statement failed",
               "the database refused a statement",
               "see the database's error code and the advice for it"),
        _entry("TK-0204", _U, "object does not exist",
               "the table, index or schema does not exist or is not visible",
               "check the name and the grants"),
        _entry("TK-0205", _U, "object exists",
               "the name of the new object is already in use",
               "choose another name; nothing is replaced"),
        _entry("TK-0206", _F, "package is not installed",
               "the Python driver of the engine, or a library that this command needs, is missing",
               "install what the hint names"),
        _entry("TK-0207", _F, "time limit exceeded",
               "a statement exceeded its time limit and was cancelled",
               "raise --time-limit"),
        _entry("TK-0208", _F, "nothing was done",
               "no rows were produced where rows were expected",
               "check the source and the filter"),
        _entry("TK-0209", _R, "load with unknown outcome",
               "the client was killed or lost its connection during the COMMIT of a load into one of your tables, "
               "and the database cannot tell whether it was executed",
               "count the rows of the table, then answer: "
               "`dbatk runs resume RUN --rows there` or `--rows missing`"),
        _entry("TK-0210", _R, "workers do not match",
               "a worker of the cluster has a different dbatk, lacks a target, or cannot reach the plan's store",
               "give every worker the same dbatk, targets.toml and store"),
        _entry("TK-0211", _I, "changed by somebody else",
               "degree or logging of an object is no longer what it was when the run began",
               "find out who set it; a new run begins with the present value"),
        _entry("TK-0212", _I, "waited too long for a transaction",
               "an ONLINE index build waited for a transaction of another session, which Oracle never ends",
               "let that transaction end, then `dbatk runs resume`, or wait longer with --lock-wait"),
        _entry("TK-0213", _F, "too many bad rows",
               "a data file has more rows that cannot be loaded than may be left out",
               "correct the file, or allow more with --max-rejects: those left out are kept in a file"),
        _entry("TK-0214", _F, "a row of a data file is bad",
               "a row has other fields than the table has columns, or text that its column cannot take",
               "correct the file, or allow bad rows with --max-rejects: those left out are kept in a file"),
        # 03xx: guards
        _entry("TK-0301", _R, "production",
               "the target is production, or was never declared not to be",
               "use --not-production or --allow-production NAME"),
        _entry("TK-0302", _R, "lease held",
               "another process is working on this target or this run",
               "wait for it to end, or stop it"),
        _entry("TK-0303", _R, "licence not declared",
               "the statement needs a licensed option that was not declared",
               "declare it in the target's profile, or do without it"),
        _entry("TK-0304", _R, "not supported here",
               "the engine, release, edition or object does not support it",
               "change what the sentence names; `dbatk doctor` shows what this target can do"),
        _entry("TK-0305", _R, "does not fit",
               "the work needs more space than is available",
               "free space, or sweep less"),
        _entry("TK-0306", _R, "privilege missing", "the user lacks a privilege", "run the GRANT shown"),
        _entry("TK-0307", _R, "open journal entries",
               "objects or settings of the run have not been cleaned up yet",
               "run `dbatk clean` first"),
        _entry("TK-0308", _R, "sessions still active",
               "sessions of an earlier attempt have not ended",
               "end them with the statement shown"),
        _entry("TK-0309", _R, "commands not allowed",
               "a factor runs commands on this host",
               "use --allow-commands"),
        _entry("TK-0310", ExitCode.CLOSED, "outside the window",
               "the plan's window is closed, or closed while a step ran",
               "wait for the window; the next plan run continues from there"),
        _entry("TK-0311", _R, "stopped by a guard",
               "a guard limit of the plan was exceeded during a step, or other sessions waited too long for it",
               "see the run report for the limit; the next plan run continues from there"),
        _entry("TK-0313", _R, "not approved",
               "there is no approval, or the plan, a script, dbatk or the database has changed since",
               "review the changes, then `dbatk plan approve FILE`"),
        _entry("TK-0314", _R, "audit log is incomplete",
               "the audit log is missing, altered or not writable; without a log entry there is no approval",
               "`dbatk audit verify` shows the line"),
        _entry("TK-0315", _R, "every row would be deleted",
               "the condition of a purge matches every row of the table",
               "check the condition; if all rows are to go, add --all-rows"),
        # 04xx: the results store and files
        _entry("TK-0401", _F, "store cannot be written",
               "the folder is read-only, full, or on a network file system",
               "choose another location with --store"),
        _entry("TK-0402", _U, "not a dbatk store",
               "the file belongs to another program or is damaged",
               "choose another location with --store"),
        _entry("TK-0403", _U, "store of a newer dbatk",
               "this store was written by a newer version",
               "upgrade dbatk"),
        _entry("TK-0404", _F, "store is locked", "another process held the store for too long", "try again"),
        _entry("TK-0405", _F, "file cannot be written",
               "the output file or folder is not writable",
               "choose another path"),
        _entry("TK-0406", _U, "bundle cannot be used",
               "the folder is not a bundle, was altered, holds spool files of another run, or is not empty",
               "give the folder written by `dbatk export`, unchanged"),
        # 09xx: ourselves
        _entry("TK-0901", _F, "internal error of dbatk",
               "an unexpected error occurred in dbatk",
               "run it again with --debug and report the output"),
        _entry(
            "TK-0130",
            ExitCode.INTERRUPTED,
            "interrupted",
            "the run was ended by a signal",
            "`dbatk runs resume RUN`",
        ),
    )
}  # fmt: skip


UNREACHED = frozenset({"TK-0201", "TK-0202"})
"""Codes of a database that could not be connected to, or that a session was lost to: both may pass."""


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


_NO_THREAD = "can't start new thread"
_MORE_THREADS = "free memory, or raise the limit of processes (`ulimit -u`, TasksMax of a unit)"


def no_more_threads() -> ToolkitError:
    """Return the error of a host that starts no more threads."""
    return ToolkitError("this host starts no more threads", code="TK-0203", hint=_MORE_THREADS)


def unexpected(error: BaseException) -> ToolkitError:
    """Name the kind of an exception that nobody foresaw; its traceback goes to the debug log alone.

    Its text could hold anything, a secret too, so it is neither shown nor stored. A ToolkitError stays as it is.
    """
    import logging

    if isinstance(error, ToolkitError):
        return error
    logging.getLogger("toolkit").debug("unexpected exception", exc_info=error)
    if isinstance(error, ModuleNotFoundError) and error.name in _LEFT_OUT:
        return ToolkitError(
            f"this needs the package `{error.name}`, which is not installed",
            code="TK-0206",
            hint=f"pip install {error.name}",
        )
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return no_more_threads()
    return ToolkitError(f"something unexpected happened: {type(error).__name__}", code="TK-0901")
