"""Write the scripts that redefine a table while others change it; nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolkit.app.approvals import TargetPolicy
from toolkit.app.runs.licensing import check_script
from toolkit.app.runs.planning import read_base_facts
from toolkit.dialects.base import Dialect
from toolkit.dialects.redefinitions import GuidedScript, RedefinitionRequest, Redefinitions
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts, refused
from toolkit.executors.scripted.client import comment, written
from toolkit.model.engines import engine
from toolkit.model.facts import Facts, Query
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import QualifiedName
from toolkit.model.words import EngineName, Role
from toolkit.rendering import render_call
from toolkit.targets.base import Target

_LICENCES = ("pack_access", "cloud_service")


@dataclass(frozen=True, slots=True)
class RedefinitionScripts:
    """The scripts by file name, what a person does with them, what they need, and what is to be known before."""

    texts: Mapping[str, str]
    steps: tuple[str, ...]
    licences: tuple[str, ...]
    sentences: tuple[str, ...]


def redefinition_of(name: EngineName) -> Redefinitions:
    """Return how an engine redefines tables.

    Raises:
        ToolkitError: TK-0304 where it does not.
    """
    how = dialect_of(name).redefinition
    if how is None:
        raise ToolkitError(
            f"{engine(name).title} has no online redefinition of tables in dbatk",
            code="TK-0304",
            hint="`dbatk table move` rewrites a table, and says what it locks",
        )
    return how


def prepare_redefinition(target: Target, policy: TargetPolicy, wanted: RedefinitionRequest) -> RedefinitionScripts:
    """Read the table, refuse what cannot be, and spell the scripts.

    Args:
        target: the database.
        policy: what its profile says, its licences above all.
        wanted: what is asked; the table as typed.

    Raises:
        ToolkitError: TK-0304 where the engine has no such scripts, TK-0201 or TK-0203 where it does not answer;
            TK-0102, TK-0104, TK-0105, TK-0107, TK-0204, TK-0305 for a table, name or clause that must not be;
            TK-0303 for what nobody declared.
    """
    dialect, how = dialect_of(target.engine), redefinition_of(target.engine)
    sessions = Sessions(target, "dbatk table redefine", read_only=True)
    try:
        base = read_base_facts(dialect, sessions)
        schema = wanted.table.schema or str(base.value("server", "current_schema", "")) or None
        request = replace(wanted, table=QualifiedName(wanted.table.name, schema))
        licensing = (Query(file, file, optional=True) for file in _LICENCES)
        asked = (*how.reads(request, base.release), *licensing)
        facts = read_facts(sessions.get(Role.CONTROL), dialect, asked, base)
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    return _written(dialect, how, policy, request, facts)


def assumed_redefinition(
    name: EngineName, release: str, policy: TargetPolicy | None, wanted: RedefinitionRequest
) -> RedefinitionScripts:
    """Spell the scripts for a release without a connection: they are to be looked at, and refuse to run.

    Raises:
        ToolkitError: as for `prepare_redefinition`, and TK-0102 for no such release.
    """
    dialect, how = dialect_of(name), redefinition_of(name)
    facts = how.assumed(wanted, dialect.assume(release))
    return _written(dialect, how, policy or TargetPolicy(), wanted, facts)


def _written(
    dialect: Dialect, how: Redefinitions, policy: TargetPolicy, request: RedefinitionRequest, facts: Facts
) -> RedefinitionScripts:
    how.check(request, facts)
    texts = {script.file: _spelled(script, dialect) for script in how.scripts(request, facts)}
    bill = check_script("\n".join(texts.values()), facts, policy)
    # what they put together at run time is of our making: names, defaults and comments of the columns
    needed = replace(bill, unseen=()).sentences() if bill is not None else ()
    return RedefinitionScripts(texts, how.steps(request, facts), tuple(needed), how.remarks(request, facts))


def _spelled(script: GuidedScript, dialect: Dialect) -> str:
    """Spell a script for the engine's client: its head, the client's commands, each statement with its end."""
    statements = (written(render_call(dialect, call), call.kind) for call in script.calls)
    lines = [*map(comment, script.head), *engine(dialect.engine).client.opening]
    return "\n".join([*lines, *(line for each in statements for line in each), "EXIT"]) + "\n"
