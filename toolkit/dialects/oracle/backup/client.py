"""The client `rman`: where it is, its input besides the script, and how it reports failures.

It is called by name from ORACLE_HOME/bin, which the target puts first on its PATH: programs of the same name exist
elsewhere. Its script comes by standard input, after the line by which the target connects it; so no password is
ever an argument, and there is no file to forget.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from toolkit.dialects.oracle.errors import cause_code
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import ProbeKind

PROBE = "rman"
INSTANCE = "doctor_instance"
"""The read that names the host of the database."""
CONNECTS = "CONNECT TARGET"
"""What stands for the line that only the target knows."""

_PROGRAM = "rman"
_ARGUMENTS = ("nocatalog", "msgno")
_PLAIN = frozenset({"backup_report"})
"""Scripts whose answers are lists: the numbers that `msgno` gives to their rows are documented nowhere."""
_CHECK_ARGUMENTS = ("checksyntax", "msgno")
_BANNER = "Recovery Manager"
# RMAN writes dates and messages as these say, and our reader then needs no guess (Backup and Recovery Reference,
# RMAN command, environment).
_ENVIRONMENT = {
    "NLS_DATE_FORMAT": "YYYY-MM-DD HH24:MI:SS",
    "NLS_LANG": "AMERICAN_AMERICA.AL32UTF8",
}
_STACK = re.compile(r"^RMAN-00569: =+ ERROR MESSAGE STACK FOLLOWS =+")
_CODED = re.compile(r"^((?:RMAN|ORA)-\d{5}): (.*)$")
_FRAMES = frozenset({"RMAN-00571", "RMAN-00569", "RMAN-03002", "RMAN-03009", "RMAN-10031", "RMAN-06900"})
_COMPLETE = "Recovery Manager complete."
_SYNTAX_GOOD = re.compile(r"^(?:RMAN-\d{5}: )?The (?:command|cmdfile) has no syntax errors")
_CHECKS = "checksyntax"
_ENDS = {
    "backup_job": "backup",
    "backup_trial": "backup",
    "backup_validate": "backup",
    "validate": "validate",
    "restore_validate": "restore",
}
"""The command that must say `Finished` in the log of each script."""


def probes() -> tuple[Probe, ...]:
    """Ask whether there is an rman on this host, and what it calls itself; it connects to nothing for that."""
    return (Probe(PROBE, ProbeKind.PROGRAM, (_PROGRAM,), usual=(), arguments=("checksyntax",)),)


def called(call: Call) -> Call:
    """Give a script to the client, which the target connects.

    A script that connects to a recovery catalog must not begin with `nocatalog` (RMAN Reference, CONNECT).
    """
    needless = {"nocatalog": call.values.get("catalog") is not None, "msgno": call.template in _PLAIN}
    argv = (_PROGRAM, *(word for word in _ARGUMENTS if not needless[word]))
    return replace(call, argv=argv, environment=_ENVIRONMENT, access=(CONNECTS,))


def arguments() -> tuple[str, ...]:
    """Return how the client is called; neither a catalog nor a password is among it."""
    return (_PROGRAM, *_ARGUMENTS)


def check_arguments(facts: Facts) -> tuple[str, ...]:
    """Return how the client is called to look at a script's syntax only: it connects to nothing."""
    return (str(facts.value(PROBE, "path") or _PROGRAM), *_CHECK_ARGUMENTS)


def environment() -> dict[str, str]:
    """Return the variables that make its output readable."""
    return dict(_ENVIRONMENT)


def refuse_missing(facts: Facts) -> None:
    """Refuse to run where there is no client; a script can be made all the same.

    Raises:
        ToolkitError: TK-0206.
    """
    if PROBE not in facts.answers:
        return
    found = facts.first(PROBE)
    if found.get("path") is None:
        raise ToolkitError(
            "`rman` was not found on this host, neither in ORACLE_HOME/bin nor on the PATH",
            code="TK-0206",
            hint="run dbatk on the database server with ORACLE_HOME and ORACLE_SID set, or give `bin_dir` in "
            "the profile; or move the scripts there: save the experiment (--save-as F.toml), then `dbatk "
            "export F.toml --out DIR`, and `dbatk ingest DIR` afterwards",
        )
    if _BANNER not in str(found.get("version_text") or ""):
        raise ToolkitError(
            f"`{found['path']}` does not respond like Oracle's Recovery Manager",
            code="TK-0206",
            hint="another program may have this name; set ORACLE_HOME, or `bin_dir` in the profile",
        )


# -- how it ended ------------------------------------------------------------------------------------------------
def error(name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
    """Tell from exit status and log how a script failed; None when it did not.

    A warning leaves the status at 0, and a client that reads standard input continues after an error; so the
    log has to say that nothing failed, that the command came to its end, and that the client did.

    Args:
        name: of the step, its last part that of the template.
        status: of the client.
        lines: its log.
    """
    template = name.rpartition("/")[2]
    if template == _CHECKS:
        return _syntax(status, lines)
    stack = _stack(lines)
    if stack:
        return _failed(stack)
    if status != 0:
        last = next((line for line in reversed(lines) if line.strip()), "no output")
        return DatabaseError("\n".join(lines), code=f"exit {status}", headline=f"rman ended with {status}: {last}")
    command = _ENDS.get(template)
    if command is not None and not any(f"Finished {command} at" in line for line in lines):
        return DatabaseError(
            "\n".join(lines),
            code="incomplete",
            headline=f"the log does not show that the {command} completed",
        )
    if not any(line.strip().endswith(_COMPLETE) for line in lines):
        return DatabaseError("\n".join(lines), code="incomplete", headline="rman ended before its session did")
    return None


def _syntax(status: int, lines: Sequence[str]) -> DatabaseError | None:
    stack = _stack(lines)
    if stack:
        return _failed(stack)
    if status != 0 or not any(_SYNTAX_GOOD.match(line.strip()) for line in lines):
        return DatabaseError(
            "\n".join(lines), code="syntax", headline="rman reported a syntax error in the script"
        )
    return None


def _stack(lines: Sequence[str]) -> list[str]:
    """Return the coded lines after the first mark of an error stack; empty without one."""
    for number, line in enumerate(lines):
        if _STACK.match(_prompted(line)):
            return [_prompted(each) for each in lines[number:] if _CODED.match(_prompted(each))]
    return []


def _prompted(line: str) -> str:
    """Drop the prompt before what was printed on its line."""
    return re.sub(r"^(?:(?:RMAN|\d+)> )+", "", line)


def _failed(stack: Sequence[str]) -> DatabaseError:
    """Return the error of a stack: the deepest cause first, for the frames above it name no reason."""
    coded = [found for line in stack if (found := _CODED.match(line))]
    causes = [found for found in coded if found[1] not in _FRAMES] or coded
    cause = next((found for found in causes if found[1].startswith("ORA-")), causes[0])
    if all(found[1].startswith("RMAN-") for found in causes):
        cause = next((found for found in causes if found[1] not in {"RMAN-00558"}), causes[0])
    code = cause_code(cause[1], "\n".join(stack))
    return DatabaseError("\n".join(stack), code=code, headline=f"{cause[1]}: {cause[2]}")
