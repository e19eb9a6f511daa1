"""The programs that back PostgreSQL up or rewrite tables: where they usually are, which release, what they say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolkit.dialects.implementations import Options
from toolkit.dialects.postgresql.release import major
from toolkit.model.facts import Facts, Probe
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import ProbeKind

BASEBACKUP, VERIFY, PGBACKREST = "pg_basebackup", "pg_verifybackup", "pgbackrest"
DUMP, RESTORE = "pg_dump", "pg_restore"
REPACK = "pg_repack"
_USUAL = ("/usr/lib/postgresql/{major}/bin", "/usr/pgsql-{major}/bin")
"""Where Debian's and the PostgreSQL project's packages put the programs of a release; PATH may have another's."""
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_ERROR = re.compile(r"(?:ERROR: \[\d+\]|(?:error|fatal|ERROR|FATAL)): ?\s*(.*)")
_CODE = re.compile(r"ERROR: \[(\d+)\]")
_OF_REPACK = re.compile(r"ERROR: (?:pg_repack failed with error: |query failed: )?(?:ERROR: +)?(.*)")
_LEFT_BY_REPACK = re.compile(
    r"WARNING: (relation .* must have a primary key.*|the table .* already has a trigger called .*)"
)
_OF_RESTORE = re.compile(r"could not execute query: ERROR: +(.*)")
_ITEM = re.compile(r"from TOC entry \d+; \d+ \d+ (.*?) (?:\(no owner\)|\S*)$")
"""How pg_restore names what it was at: kind, name and owner, which may be empty."""
_NO_RIGHT = re.compile(
    r"superuser|permission denied|must be owner|may (?:set|specify)|only roles with|has no handler$"
    r"|transition data type cannot be internal$"
)
"""What the server says where a role lacks a right (`aclcheck_error`, messages with `superuser`), or a handler."""
_CALLED = {"restore_login": "making the dump's schemas and extensions"}
"""How people call a script whose failure is about the dump."""
_OF_COPY = frozenset({"restore_check", "restored_tables"})
_CONNECTION_LOST = re.compile(
    r"server closed the connection|terminating connection|could not connect|connection to server|no connection to"
)
"""What libpq and an ending server say of a connection that is gone (libpq, fe-misc.c, fe-connect.c, fe-exec.c)."""
_TIMED_OUT = "WARNING: timed out, do not cancel conflicting backends"

KNOWS_UP_TO = (((2, 45), 15),)
"""Newest PostgreSQL that pgBackRest up to a release knows, as far as it was tried (2.45 is Debian 12's); a release
beyond these says itself what it does not know."""


def probes_of(names: Sequence[str], options: Options, facts: Facts) -> tuple[Probe, ...]:
    """Look for programs: where the user says, where a package of the server's release puts them, on PATH."""
    given = options.get("bin_dir")
    places = () if given is None else (str(given),)
    usual = tuple(place.format(major=major(facts.release)) for place in _USUAL)
    return tuple(Probe(name, ProbeKind.PROGRAM, (name,), places, usual, _ask(name)) for name in names)


def _ask(name: str) -> tuple[str, ...]:
    return ("version",) if name == PGBACKREST else ("--version",)


def path_to(name: str, facts: Facts) -> str:
    """Return the path of a program; in a script for assumed facts its name."""
    return str(facts.value(name, "path") or name)


def release_of(name: str, facts: Facts) -> tuple[int, ...]:
    """Return the release of a program; empty when it is not known."""
    found = _NUMBER.search(str(facts.value(name, "version_text") or ""))
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def missing(name: str, facts: Facts) -> str | None:
    """Say why a program cannot be used; None where it can, or where nobody looked."""
    if name not in facts.answers:
        return None
    problem = facts.value(name, "problem")
    return None if problem is None else f"{problem}; install it, or give its location with --bin-dir"


def too_old(name: str, facts: Facts) -> str | None:
    """Say that a program is older than the server, which it then cannot back up."""
    own, server = release_of(name, facts), major(facts.release)
    if not own or not facts.release.number:
        return None
    if name == PGBACKREST:
        for release, newest in KNOWS_UP_TO:
            if own <= release and server > newest:
                shown = ".".join(map(str, own))
                return f"pgBackRest {shown} supports PostgreSQL up to {newest}, and the server is {server}"
        return None
    if own[0] < server:
        return (
            f"{name} {'.'.join(map(str, own))} (`{path_to(name, facts)}`) is older than the server, PostgreSQL "
            f"{server}; give the folder of a newer one with --bin-dir"
        )
    return None


def error_of(name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
    """Tell the cause of a failure: the first line that speaks of an error, not the last of its consequences."""
    output = [line.strip() for line in lines if line.strip()]
    if name.rpartition("/")[2] == REPACK and (error := _error_of_repack(status, output)) is not None:
        return error
    if status == 0:
        return None
    found = [match[1].strip() for line in output if (match := _ERROR.search(line)) and match[1].strip()]
    program = name.rpartition("/")[2]
    if status < 0:
        headline = f"{program} was ended by signal {-status}"
        return DatabaseError("\n".join(output) or headline, code=f"signal {-status}", headline=headline)
    cause = found[0] if found else (output[-1] if output else "no output")
    if program == RESTORE or program in _OF_COPY:
        cause = _of_role(cause, lines)
    code = next((match[1] for line in output if (match := _CODE.search(line))), None)
    own = f"pgBackRest [{code}]" if code else f"exit {status}"
    return DatabaseError(
        "\n".join(output) or cause, code=own, headline=f"{_CALLED.get(program, program)}: {cause}"
    )


def _of_role(cause: str, lines: Sequence[str]) -> str:
    """Name the item that pg_restore could not make, and what helps where a role of the copy lacks a right."""
    found = _OF_RESTORE.fullmatch(cause)
    before = lines[: next((number for number, line in enumerate(lines) if line.rstrip().endswith(cause)), 0)]
    item = next((match[1] for line in reversed(before) if (match := _ITEM.search(line))), None)
    said = cause if found is None else found[1] if item is None else f"`{item}`: {found[1]}"
    if _NO_RIGHT.search(said) is None:
        return said
    return f"{said} (run without superuser rights: --as-superuser gives them, to the backup's functions too)"


def _error_of_repack(status: int, output: Sequence[str]) -> DatabaseError | None:
    """Tell why pg_repack did not rewrite a table: it ends with 0 where it passed over one.

    Where its connection was lost, or it was killed, its sessions may still be at work: that is a lost session.
    """
    text = "\n".join(output)
    if _TIMED_OUT in output:
        return DatabaseError(
            text,
            code="55P03",  # as the server says of a statement that waited too long for a lock
            headline="pg_repack did not obtain a lock in time, and left the table as it was (--lock-wait)",
        )
    if status < 0:
        headline = f"{REPACK} was ended by signal {-status}"
        return DatabaseError(text or headline, code=f"signal {-status}", headline=headline, lost=True)
    pattern = _LEFT_BY_REPACK if status == 0 else _OF_REPACK
    found = next((match[1].strip() for line in output if (match := pattern.search(line))), None)
    if found is None:
        return None
    lost = status != 0 and _CONNECTION_LOST.search(text) is not None
    return DatabaseError(text, code=f"exit {status}", headline=f"{REPACK}: {found}", lost=lost)
