"""The closed sets of words that code, tables, help and reports share."""

from __future__ import annotations

from enum import StrEnum

EngineName = str
"""What kind of database a target is: the name of a package of `toolkit.dialects`."""
OperationName = str
"""What is done or measured: the name that an operation declares, see `toolkit.model.operations`."""


class Mode(StrEnum):
    """Do the work once for the user, or measure and leave nothing."""

    JOB = "job"
    MEASUREMENT = "measurement"


class Outcome(StrEnum):
    """How a trial or an item ended."""

    OK = "ok"
    FAILED = "failed"
    DOWNGRADED = "downgraded"
    UNSUPPORTED = "unsupported"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"


class CountedRows(StrEnum):
    """What a person found who counted the rows of a load that was cut off."""

    THERE = "there"
    MISSING = "missing"


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    REFUSED = "refused"
    """By a guard (a lease, a licence), before anything was changed."""
    DIED = "died"
    """Of a plan run: its process was killed or its host went down, which others found out."""


_SHOWN = {"done": "ok", "problem": "failed", "passed": "failed", "unreadable": "warning"}


def status(state: str, *, well: bool = True) -> str:
    """Return the word that people read for a state, the same on every screen; JSON and the store keep the state.

    Args:
        state: of a run, a step, a check or a guard (`passed`: its limit is).
        well: whether nothing within it went otherwise than it should; if not, `ok` becomes `warning`.
    """
    word = _SHOWN.get(state, state)
    return "warning" if word == "ok" and not well else word


class Effect(StrEnum):
    """What a step does to the database."""

    READS = "reads"
    CREATES = "creates"
    CHANGES = "changes"
    DROPS = "drops"
    COMMITS = "commits"


class StepKind(StrEnum):
    """How a step is done: a statement, a block, a program, a script of RMAN, a folder, users at work.

    A script is what a program of the host reads from its standard input: SQL, a configuration; a parameter file
    is one that a client of the database opens, which may ask for a password there. A statement of
    SYSDBA is read by the client that the target's profile names, whether its server is up or down.
    """

    SQL = "sql"
    BLOCK = "block"
    COMMAND = "command"
    RMAN = "rman"
    SCRIPT = "script"
    PARAMETERS = "parameters"
    SYSDBA = "sysdba"
    FOLDER = "folder"
    USERS = "users"


ON_HOST = frozenset(StepKind) - {StepKind.SQL, StepKind.BLOCK}
"""Kinds of steps that no session of the run itself runs."""
READS_TEXT = frozenset({StepKind.RMAN, StepKind.SCRIPT, StepKind.PARAMETERS, StepKind.SYSDBA})
"""Kinds of steps whose text a program reads."""


class ProbeKind(StrEnum):
    """What is asked of this host before planning."""

    PROGRAM = "program"
    FOLDER = "folder"
    CONTENT = "content"
    """What is in a folder: the names at its top, how much there is below, and since when."""
    USER = "user"
    """Whether a user of this host is there and may enter a folder."""
    LOOKUP = "lookup"
    """Where a program is, without running it."""
    DATA_FILES = "data_files"
    """What data files hold: one row for each."""
    CHUNKS = "chunks"
    """Where data files may be divided: one row for each part."""
    FIELDS = "fields"
    """What the columns of data files hold, from all their rows: one row for each column of each file."""


class Role(StrEnum):
    """Which session runs a step."""

    WORKER = "worker"
    CONTROL = "control"
    MONITOR = "monitor"
    HOLDER = "holder"
    """Holds open, for as long as a trial lasts, what the workers share (an exported snapshot)."""


class ObjectKind(StrEnum):
    """Kinds of things a step creates, changes or drops."""

    TABLE = "table"
    INDEX = "index"
    STATISTICS = "statistics"
    SESSION = "session"
    SETTING = "setting"
    PROGRAM = "program"
    """A program that is to be run at the end: its name is its line."""
    PREFERENCE = "preference"
    """A stored choice that outlives its session: a statistics preference, a pending-statistics switch."""
    BACKUP = "backup"
    """A backup: its name is a label, a tag or a folder's name; its schema the folder it is in, if any."""
    DUMP = "dump"
    """A dump that the server writes: its name is that of its job and files, its schema the server's directory."""


class SupportState(StrEnum):
    """Whether a target can do a thing; never a bare boolean."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    NEEDS_OPTION = "needs-option"
    NEEDS_LICENCE = "needs-licence"
    NEEDS_PRIVILEGE = "needs-privilege"


class Keep(StrEnum):
    """Which objects of a measurement stay."""

    NONE = "none"
    BEST = "best"
    ALL = "all"


class Restored(StrEnum):
    """What is restored of an object whose value may be its own, or what a killed run of another store left."""

    FOUND = "found"
    DEFAULT = "default"


class Verdict(StrEnum):
    """What a comparison tells of B: by a time `faster` or `slower`, by anything else `better` or `worse`."""

    FASTER = "faster"
    SLOWER = "slower"
    BETTER = "better"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


class EntryState(StrEnum):
    """State of a journal entry."""

    INTENDED = "intended"
    MADE = "made"
    UNDONE = "undone"
    ABANDONED = "abandoned"


LICENCES = (
    "diagnostics_pack",
    "tuning_pack",
    "advanced_compression",
    "partitioning",
    "in_memory",
    "advanced_security",
    "real_application_testing",
)
"""What can be declared: the packs and options that a statement may need."""


class CopyForm(StrEnum):
    """What a copy of a whole database is: another one beside it, or the database itself on another host."""

    DUPLICATE = "duplicate"
    RESTORE = "restore"
