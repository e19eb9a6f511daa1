"""The clients expdp and impdp: where they are, what they are given, and how they report failures.

They are called by name from ORACLE_HOME/bin, which the target puts first on their PATH, with the argument by which
the target lets them in and a parameter file, which has no secret. The job is the server's: it goes on without its
client, and is ended as a job of the package is.
Sources: Utilities, Data Pump Export and Import: PARFILE; TABLES (there a name in other letters than capitals, or
with `#`, stands in double quotes within single ones); Data Pump Exit Codes (0 completed, 5 completed with errors,
1 failed).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolkit.dialects.implementations import Kept, Options
from toolkit.dialects.oracle.errors import cause_code
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Probe
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, ProbeKind, Role, StepKind, SupportState

TEMPLATE = "datapump.par"
LOGON = "USERID"
"""What stands for the argument that only the target knows."""
METHOD, PROGRAM = "method", "program"
WITH_ERRORS = 5
"""Exit status of a job that completed, and some of whose objects failed."""

_PROGRAMS = {"EXPORT": "expdp", "IMPORT": "impdp"}
_BANNERS = {"expdp": "Export: Release", "impdp": "Import: Release"}
# Its log is read, whose words and numbers must not depend on who calls it.
_ENVIRONMENT = {"NLS_LANG": "AMERICAN_AMERICA.AL32UTF8"}
_PLAIN_NAME = re.compile(r"[A-Z][A-Z0-9_$]*")
_PLAIN_FILE = re.compile(r"[A-Za-z0-9_%.$#+-]{1,255}")
_MISREAD = frozenset("'\"\\%\n\r")
"""What would end a quoted name there, or stand for other characters."""
_CODED = re.compile(r"((?:ORA|UDE|UDI|LRM|TNS)-\d{5}): (.*)")


def is_asked(work: Work) -> bool:
    """Tell whether a program is to do it."""
    return work.option(METHOD) == PROGRAM


def probes(options: Options, operation: str) -> tuple[Probe, ...]:
    """Ask whether the program is on this host, and what it calls itself; it connects to nothing for that."""
    if options.get(METHOD) != PROGRAM:
        return ()
    name = _PROGRAMS[operation]
    return (Probe(name, ProbeKind.PROGRAM, (name,), usual=(), arguments=("HELP=YES",)),)


def refuse_missing(program: str, facts: Facts) -> None:
    """Refuse to run where there is no client; a script can be made all the same.

    Raises:
        ToolkitError: TK-0206.
    """
    found = facts.first(program)
    if program not in facts.answers or _BANNERS[program] in str(found.get("version_text") or ""):
        return
    sentence = f"`{program}` was not found on this host, neither in ORACLE_HOME/bin nor on the PATH"
    if found.get("path") is not None:
        sentence = f"`{found['path']}` does not respond like Oracle's {program}"
    raise ToolkitError(
        sentence,
        code="TK-0206",
        hint="set ORACLE_HOME, or give `bin_dir` in the profile; `--method package` needs no program; or take it "
        "where the program is: save the experiment (--save-as F.toml), then `dbatk export F.toml --out DIR`",
    )


def judge(
    directory: str, files: Sequence[str], names: Sequence[str], renames: Sequence[object], *, several: bool
) -> Support | None:
    """Say which name a parameter file cannot hold; None where it holds all.

    Args:
        directory: its name.
        files: names of files.
        names: of schemas, or of a schema and a table, as the dump has them.
        renames: both sides of what is renamed; None for what is not.
        several: whether it is a list of schemas.
    """
    bad = [file for file in files if not _PLAIN_FILE.fullmatch(file)]
    bad += [name for name in names if _MISREAD & set(name)]
    if bad:
        return _no(f"a parameter file of expdp or impdp cannot name `{bad[0]}` for sure")
    bare = (directory, *(names if several else ()), *(str(name) for name in renames if name is not None))
    odd = [name for name in bare if not _PLAIN_NAME.fullmatch(name)]
    if odd:
        return _no(
            f"how a parameter file names `{odd[0]}` in a list, in DIRECTORY or in REMAP is documented nowhere"
        )
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, "omit `--method program`: DBMS_DATAPUMP takes every name")


def called(work: Work, values: Mapping[str, ContextValue], schemas: Sequence[str], undo: Call) -> Call:
    """Let the program begin a job and wait for it.

    Args:
        work: what is dumped or imported.
        values: of `datapump_job`, the block that does the same by the package.
        schemas: as the catalogue spells them.
        undo: ends a job that is left, and removes what it made.
    """
    table = work.source
    own: dict[str, ContextValue] = {
        "scope": ",".join(map(spelled, schemas)) if table is None else spelled(table),
        "is_table": table is not None,
        "excluded_kinds": tuple(re.findall(r"'(\w+)'", str(values["excluded"] or ""))),
        "content": None if values["content"] is None else str(values["content"]).upper(),
        "old_table": None if values["new_table"] is None else spelled(QualifiedName(
            str(values["old_table"]), str(table.schema) if table is not None else None,
        )),
    }  # fmt: skip
    return Call(
        TEMPLATE, {**values, **own}, kind=StepKind.PARAMETERS, session=Role.WORKER, effect=Effect.CHANGES,
        object=work.object, undo=(undo,), argv=(_PROGRAMS[str(values["operation"])],), environment=_ENVIRONMENT,
        access=(LOGON,),
    )  # fmt: skip


def spelled(name: str | QualifiedName) -> str:
    """Spell a name as a parameter file takes it: bare where it is all capitals, else quoted twice."""
    parts = [name] if isinstance(name, str) else [part for part in (name.schema, name.name) if part]
    if all(_PLAIN_NAME.fullmatch(part) for part in parts):
        return ".".join(parts)
    return "'" + ".".join(f'"{part}"' for part in parts) + "'"


def lines_of(kept: Kept) -> str | None:
    """Return what the program wrote, which is what the log of its job has; None where there was no program."""
    rows = kept.get("log", ())
    return "\n".join(str(row["line"]) for row in rows) if rows else None


def ended_with_errors(kept: Kept) -> bool:
    """Tell whether the program says so by its exit status."""
    return any(row.get("exit_status") == WITH_ERRORS for row in kept.get("program", ()))


def error(status: int, lines: Sequence[str]) -> DatabaseError | None:
    """Tell from exit status and output how the program failed; None for a job that completed, with errors too."""
    if status in (0, WITH_ERRORS):
        return None
    coded = [found for line in lines if (found := _CODED.search(line))]
    if not coded:
        last = next((line for line in reversed(lines) if line.strip()), "no output")
        return DatabaseError("\n".join(lines), code=f"exit {status}", headline=f"it ended with {status}: {last}")
    # UDE and UDI frame what the server says: `operation generated ORACLE error 31626`
    first = next((found for found in coded if found[1].startswith("ORA-")), coded[0])
    stack = "\n".join(found[0] for found in coded)
    code = cause_code(first[1], stack)
    return DatabaseError(stack, code=code, headline=f"{first[1]}: {first[2]}")
