"""Write the scripts that make a copy of a whole database from its backups; nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolkit.app.files import write_file
from toolkit.app.runs.planning import read_base_facts
from toolkit.dialects.auxiliaries import AuxiliaryRequest
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.work import Call
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts, read_probes, refused
from toolkit.model.engines import engine
from toolkit.model.facts import Facts, Probe
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import QualifiedName
from toolkit.model.words import ProbeKind, Role, StepKind
from toolkit.rendering import render_call
from toolkit.targets.base import Target
from toolkit.units import byte_size

_PLACE = "auxiliary_folder"


@dataclass(frozen=True, slots=True)
class AuxiliaryScripts:
    """The scripts by file name, what a person does with them, and what could not be checked."""

    texts: Mapping[str, str]
    steps: tuple[str, ...]
    needs_bytes: int
    sentences: tuple[str, ...] = ()


def prepare_copy(target: Target, wanted: AuxiliaryRequest, tables: tuple[str, ...] = ()) -> AuxiliaryScripts:
    """Read what the copy needs, check its names and room, and spell its scripts.

    Args:
        target: the database.
        wanted: the copy, without its tables.
        tables: whose rows are counted on it, as typed.

    Raises:
        ToolkitError: TK-0304 where the engine has no such scripts, TK-0201 or TK-0203 where it does not answer;
            TK-0102, TK-0107, TK-0305 for a name or folder that must not be; TK-0207 where there is no room.
    """
    dialect = dialect_of(target.engine)
    how = dialect.auxiliary
    if how is None:
        raise ToolkitError(
            f"{engine(target.engine).title} needs no scripts for a copy of its backups",
            code="TK-0304",
            hint="`dbatk restore try` restores one, checks it and removes it again",
        )
    sessions = Sessions(target, "dbatk restore script", read_only=True)
    try:
        base = read_base_facts(dialect, sessions)
        facts = read_facts(sessions.get(Role.CONTROL), dialect, how.reads(base.release), base)
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    request = replace(wanted, tables=tuple(_qualified(text, dialect, facts) for text in tables))
    how.check(request, facts)
    needs = how.needs_bytes(facts)
    texts = {name: _spelled(call, dialect) for name, call in how.scripts(request, facts).items()}
    return AuxiliaryScripts(texts, how.steps(request, facts), needs, _room(request.folder, needs))


def _spelled(call: Call, dialect: Dialect) -> str:
    end = dialect.terminator if call.kind is StepKind.SQL else ""
    return f"{render_call(dialect, call)}{end}\n"


def _qualified(text: str, dialect: Dialect, facts: Facts) -> QualifiedName:
    name = dialect.parse_name(text, facts.release)
    return QualifiedName(name.name, name.schema or str(facts.value("server", "current_schema", "")) or None)


def _room(folder: str, needs: int) -> tuple[str, ...]:
    """Look at the folder, where this host has it.

    Raises:
        ToolkitError: TK-0305 for one with content or that cannot be written, TK-0207 for one too small.
    """
    (found,) = read_probes((Probe(_PLACE, ProbeKind.FOLDER, (folder,)),))[_PLACE]
    if found["is_there"] != "yes":
        return (f"`{folder}` is not there on this host: whether {byte_size(needs)} are free is not known",)
    if found["is_folder"] != "yes" or found["is_empty"] != "yes":
        raise ToolkitError(
            f"`{folder}` is {'not empty' if found['is_folder'] == 'yes' else 'no folder'}",
            code="TK-0305",
            hint="give an empty folder: the copy has it for itself, and it is removed afterwards",
        )
    free = int(str(found["free_byte_count"] or 0))
    if free < needs:
        raise ToolkitError(
            f"the copy takes {byte_size(needs)}, and `{folder}` has {byte_size(free)} free",
            code="TK-0207",
            hint="give a `--destination` with more room",
        )
    if found["is_writable"] != "yes":
        return (f"`{folder}` cannot be written by this user: the owner of Oracle's software must be able to",)
    return ()


def write_scripts(texts: Mapping[str, str], folder: Path) -> None:
    """Write the scripts into a folder, each readable for its owner alone.

    Raises:
        ToolkitError: TK-0405.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ToolkitError(
            f"`{folder}` cannot be made: {error.strerror}", code="TK-0405", hint="give another `--out`"
        ) from None
    for name, text in texts.items():
        write_file(folder / name, text)
