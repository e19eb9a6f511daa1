"""What a target can do: the server's checks, the degree that can be had, missing grants, the work asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from toolkit.app.runs import licensing
from toolkit.app.runs.planning import degrees_above, read_base_facts, with_licences
from toolkit.design.lexis import Token, TokenKind, tokens
from toolkit.dialects.answers import Check, DegreeLimit, Grant
from toolkit.dialects.base import Dialect
from toolkit.dialects.implementations import NotImplementedHere
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions, read_facts, refused
from toolkit.model.experiment import Experiment, Spec, queries_of
from toolkit.model.facts import Facts, Query
from toolkit.model.operations import declaration, operations
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import Mode, ObjectKind, OperationName, Role, SupportState
from toolkit.operations.base import Planner
from toolkit.operations.place import reads_of
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target


@dataclass(frozen=True, slots=True)
class Doctor:
    """What a target can do: checks of the server and of the work asked for, limits, missing grants."""

    target: str
    facts: Facts
    checks: tuple[Check, ...]
    support: tuple[Check, ...]
    degree_limit: DegreeLimit
    grants: tuple[Grant, ...]


def doctor(
    target: Target,
    experiment: Experiment | None = None,
    declared: frozenset[str] = frozenset(),
    wanted: OperationName | None = None,
    production: bool | None = None,
    consumer_group: str | None = None,
) -> Doctor:
    """Read a target and judge it; changes nothing.

    Args:
        target: where to look.
        experiment: work to be judged cell by cell; without it each operation is judged at degree 2.
        declared: licences that the target's profile declares.
        wanted: list the grants of this operation only.
        production: what the profile says; unknown is not "no".
        consumer_group: what sessions that work would switch to.

    Raises:
        ToolkitError: TK-0201 when it cannot be reached, TK-0203 when the catalogue refuses, TK-0204 when the
            experiment names something that is not there.
    """
    dialect = dialect_of(target.engine)
    sessions = Sessions(target, "dbatk doctor", read_only=True)
    try:
        facts = with_licences(_read(dialect, sessions, experiment), declared)
        if experiment is not None and experiment.options.get("query") is not None:
            facts = licensing.with_context(experiment, facts, sessions, declared)
    except DatabaseError as error:
        raise refused(dialect, error) from None
    finally:
        sessions.close()
    if consumer_group is not None:
        name = dialect.parse_name(consumer_group, facts.release).name
        facts = replace(facts, answers={**facts.answers, "doctor_group": ({"group_name": name},)})
    checks = dialect.checks(facts)
    support = (
        (*_licence(experiment, facts, declared), *_judged_cells(dialect, facts, experiment))
        if experiment
        else _judged_operations(dialect, facts)
    )
    return Doctor(
        target.display,
        facts,
        (*_on_the_way(target, production), *checks, *_refused_reads(facts, {check.read for check in checks})),
        tuple(support),
        dialect.degree_limit(facts),
        dialect.grants(facts, experiment.operation if experiment else wanted),
    )


def _on_the_way(target: Target, production: bool | None) -> Iterator[Check]:
    found = target.exposure
    if found is not None:
        state = "note" if production is False else "warning"
        yield Check("connection", state, found.evidence, found.consequence, found.remedy)


def _read(dialect: Dialect, sessions: Sessions, experiment: Experiment | None) -> Facts:
    control = sessions.get(Role.CONTROL)
    files = tuple(Query(file, file, optional=True) for file in dialect.doctor_files)
    facts = read_facts(control, dialect, files, read_base_facts(dialect, sessions))
    if experiment is None:
        return facts
    planner = PlanningContext(experiment, dialect, facts).planner()
    binds = _names(planner)
    named = dialect.object_files(experiment.operation, calls=bool(binds["words"]))
    objects = tuple(Query(file, file, binds, optional=True) for file in named)
    facts = read_facts(control, dialect, objects, facts)
    asked: Row = {
        "operation": experiment.operation, "schema": binds["schema"], "table": binds["name"],
        "source_schema": binds["source_schema"], "source": binds["source_name"],
        "makes_in": _makes_in(planner),
        "remote": "yes" if _names_link(experiment) else "no",
    }  # fmt: skip
    facts = replace(facts, answers={**facts.answers, "doctor_work": (asked,)})
    # What a plan would read besides is how the work is spelled; that `dbatk plan` and `--dry-run` tell.
    planning = PlanningContext(experiment, dialect, facts)
    needed = reads_of(planning.operation, planning.planner())
    facts = read_facts(control, dialect, (query for query in needed if not query.optional), facts)
    return _unsurveyed(replace(planning, facts=facts))


def _unsurveyed(planning: PlanningContext) -> Facts:
    """Return the facts with nothing where a run would look at the rows: judged is whether the work can be done."""
    facts, planner = planning.facts, planning.planner()
    how = planning.dialect.work.of(planning.experiment.operation)
    asked = (call.keep_as for cell in planning.cells for call in how.survey(planner.options(cell), facts))
    return replace(facts, answers={**facts.answers, **{str(key): () for key in asked}})


def _names(planner: Planner) -> dict[str, Scalar]:
    """Return the names asked about; a table that CTAS would make is not there to be asked about."""
    table = None if declaration(planner.spec.operation).makes_table else planner.named("table")
    source = planner.named("source")
    return {
        "schema": table.schema if table else None,
        "name": table.name if table else None,
        "source_schema": source.schema if source else None,
        "source_name": source.name if source else None,
        "words": "".join(f"|{word}" for word in _called(planner.spec)) + "|" if _called(planner.spec) else None,
    }


def _makes_in(planner: Planner) -> str | None:
    """Return the schema in which a work makes the table that it is asked for."""
    makes = declaration(planner.spec.operation).makes_table
    table = planner.named("table") if makes else None
    return table.schema if table else None


def _written(spec: Spec | Experiment) -> list[Token]:
    """Return what a user wrote of a work, without literals and comments."""
    columns = spec.options.get("columns")
    texts = (
        *queries_of(spec.options).values(),
        spec.options.get("where"),
        *(columns if isinstance(columns, tuple) else ()),
    )
    found = (token for text in texts if text for token in tokens(str(text)))
    return [token for token in found if token.kind not in (TokenKind.COMMENT, TokenKind.STRING)]


def _called(spec: Spec) -> tuple[str, ...]:
    """Return the words before a parenthesis: functions, and keywords that no function is called by."""
    pairs = pairwise(_written(spec))
    return tuple(dict.fromkeys(token.word for token, after in pairs if token.word and after.sign == "("))


def _names_link(spec: Spec | Experiment) -> bool:
    """Tell whether a name stands behind `@`: that of a database link."""
    names = (TokenKind.WORD, TokenKind.NAME)
    return any(sign.sign == "@" and after.kind in names for sign, after in pairwise(_written(spec)))


def _refused_reads(facts: Facts, known: set[str]) -> Iterator[Check]:
    for key, message in facts.refused.items():
        if key not in known:
            sentence = (message.strip().splitlines() or [""])[0]
            yield Check(
                key, "note", f"could not be read: {sentence}", "it is not checked", "grant access to the view"
            )


def _judged_cells(dialect: Dialect, facts: Facts, experiment: Experiment) -> Iterable[Check]:
    implementation = dialect.work.of(experiment.operation)
    if isinstance(implementation, NotImplementedHere):
        yield Check(experiment.operation, "warning", implementation.sentence)
        return
    planning = PlanningContext(experiment, dialect, facts)
    planning.operation.check(planning.planner())
    above = degrees_above(planning)
    for cell, support in planning.support:
        pieces, name = planning.pieces(cell), f"{experiment.operation} {cell}"
        too_high = next((above[piece.work.degree] for piece in pieces if piece.work.degree in above), None)
        if support.ok and too_high is not None:
            yield Check(name, "warning", too_high)
        elif support.ok and (unread := _unread(facts)) and any(piece.work.degree != 1 for piece in pieces):
            yield Check(name, "note", unread)
        else:
            yield _support_check(name, support.state, support.sentence or _on_what(experiment))


def _licence(experiment: Experiment, facts: Facts, declared: frozenset[str]) -> Iterator[Check]:
    """Say what a run would be refused for: what the user's own texts name, and what those names lead to."""
    try:
        licensing.check_user_texts(experiment, facts, declared)
    except ToolkitError as error:
        yield Check("licence", "warning", error.message, "runs are refused", error.hint)


def _on_what(experiment: Experiment) -> str:
    """Say that a measurement leaves the named object alone, and with it what stands on that object."""
    copied = experiment.mode is Mode.MEASUREMENT and not declaration(experiment.operation).makes_table
    return "available, measured on a copy" if copied else ""


def _judged_operations(dialect: Dialect, facts: Facts) -> Iterable[Check]:
    """Judge each operation at degree 2 on a table nobody named: what would silently run serially, and why."""
    table = QualifiedName("T", str(facts.value("server", "current_schema", "") or "") or None)
    known = {
        name: declared
        for name, declared in operations().items()
        if declared.object in (ObjectKind.TABLE, ObjectKind.INDEX) and not declared.once
    }
    if absent := [name for name in known if name not in dialect.work]:
        yield Check("operations", "note", dialect.work.absence(*absent))
    for name, declared in known.items():
        if name in absent:
            continue
        index = declared.object is ObjectKind.INDEX
        kind = ObjectKind.INDEX if index else ObjectKind.TABLE
        degree = 1 if dialect.work.of(name).degree_by_sessions else 2
        ref = ObjectRef(kind, table, scratch=True, table=table if index else None)
        work = Work(name, Mode.MEASUREMENT, ref, {"degree": degree}, degree, source=table, columns=("A",))
        support = dialect.work.support(work, facts)
        by_sessions = support.ok and degree == 1 and not support.sentence
        if support.ok and degree != 1 and (unread := _unread(facts)):
            yield Check(f"{name} in parallel", "note", unread)
            continue
        found = _support_check(f"{name} in parallel", support.state, support.sentence)
        yield replace(found, evidence=_BY_SESSIONS[0], consequence=_BY_SESSIONS[1]) if by_sessions else found


_BY_SESSIONS = ("available, by sessions", "a degree is the number of sessions working through the objects")


_LIMITING = {"settings": "parameters", "doctor_options": "installed options"}
"""Reads without which nobody can say that a degree can be had."""


def _unread(facts: Facts) -> str:
    """Say what keeps a degree from being promised."""
    missing = [words for key, words in _LIMITING.items() if key in facts.refused]
    return f"uncertain: {' and '.join(missing)} could not be read" if missing else ""


def _support_check(name: str, state: SupportState, sentence: str) -> Check:
    ok = state is SupportState.SUPPORTED
    return Check(name, "ok" if ok else "warning", sentence or ("available" if ok else state.value))
