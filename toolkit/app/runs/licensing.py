"""The licence bill of materials of an experiment, and the refusal of what its target does not allow.

What is printed, exported or sent is checked alike: every statement of every stage, the undo statements and the
factors' own. Only Oracle has a bill.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.app.approvals import TargetPolicy
from toolkit.config.licences import Licence
from toolkit.design.user_texts import factor_texts, user_texts
from toolkit.dialects.oracle import licences
from toolkit.dialects.oracle.licences import LicenceFindings, Use, context, resolution
from toolkit.executors import Script, Sessions
from toolkit.model.bill import ARTIFACT, Bill, Position, bill_from_text, bill_to_text
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts, Query
from toolkit.model.operations import declaration
from toolkit.model.protocols import Connection, DatabaseError
from toolkit.model.records import Artifact
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Mode, Role, StepKind
from toolkit.rendering import sql_file
from toolkit.runner.judging import may_load_twice
from toolkit.store import Store
from toolkit.targets.base import Target

if TYPE_CHECKING:
    from toolkit.targets.oracle_guard import LicenceGuard

NAMES = "licence_names"
"""The answer under which facts keep what names lead to."""
_OPTIONS_OF_THE_DATABASE = frozenset(
    ["compression", "partition_by", "partitions", "local", "global_hash", "global_range"]
)
_GROUND = (
    Query("pack_access", "pack_access", optional=True),
    Query("cloud_service", "cloud_service", optional=True),
)


def texts_of(scripts: Iterable[Script], experiment: Experiment) -> Iterator[str]:
    """Yield every statement that the cells of an experiment may send, and those of its factors."""
    for script in scripts:
        if script.stages is None:
            continue
        stages = script.stages
        around = (stages.setup, stages.prepare, stages.worker_begin, stages.evidence, stages.worker_end)
        for steps in (*around, stages.conclude, stages.cleanup, *(item.steps for item in stages.timed.items)):
            for step in steps:
                if not step.argv or step.kind is StepKind.RMAN:
                    yield step.text
                if not step.argv or step.kind in (StepKind.RMAN, StepKind.PARAMETERS):
                    yield from step.undo
    yield from factor_texts(experiment)


def find(scripts: Iterable[Script], experiment: Experiment, facts: Facts) -> LicenceFindings:
    """Look at all statements, and at what the names of the user's own lead to."""
    scripts = tuple(scripts)
    sent = tuple(texts_of(scripts, experiment))
    found = _looked((*sent, *user_texts(experiment, facts.engine)), resolution.own_names(facts.rows(NAMES)))
    found += _parallel_loads(sent) + _parallel_dumps(scripts)
    return found + resolution.findings(facts.rows(NAMES)) + _unreadable(experiment, facts)


def _looked(texts: Iterable[str], own: frozenset[tuple[str, ...]] = frozenset()) -> LicenceFindings:
    found = LicenceFindings()
    for text in dict.fromkeys(texts):
        found += licences.look(text, own)
    return found


_PARALLEL_LOAD = re.compile(r"\s*INSERT\s*/\*\+(?:(?!\*/).)*(?<![\w])PARALLEL\(", re.DOTALL)


def _parallel_loads(texts: Iterable[str]) -> LicenceFindings:
    """Name what the statements' own words do not: an INSERT is parallel by its hint, which is a comment."""
    asked = any(_PARALLEL_LOAD.match(text) for text in texts)
    return LicenceFindings((Use("enterprise_edition", "parallel INSERT"),)) if asked else LicenceFindings()


_WORKERS = re.compile(r"^PARALLEL=(?!1$)", re.MULTILINE)


def _parallel_dumps(scripts: Iterable[Script]) -> LicenceFindings:
    """Name the workers that a parameter file of expdp or impdp asks for, which is no SQL."""
    items = (item for script in scripts if script.stages for item in script.stages.timed.items)
    files = [step.text for item in items for step in item.steps if step.kind is StepKind.PARAMETERS]
    if not any(_WORKERS.search(text) for text in files):
        return LicenceFindings()
    return LicenceFindings((Use("enterprise_edition", "workers of Data Pump"),))


def _unreadable(experiment: Experiment, facts: Facts) -> LicenceFindings:
    """Say so where the catalogue refused to tell what names are."""
    return _unread(facts.refused.get(NAMES) if any(user_texts(experiment, facts.engine)) else None)


def _unread(why: str | None) -> LicenceFindings:
    if why is None:
        return LicenceFindings()
    first = (why.strip().splitlines() or [""])[0]
    return LicenceFindings(unseen=(f"synonyms and views behind the names could not be read: {first}",))


def _not_asked(experiment: Experiment, facts: Facts) -> tuple[str, ...]:
    """Say in the bill what could not be asked; nothing is sent then, so nothing is refused for it."""
    if NAMES in facts.answers or NAMES in facts.refused or not any(user_texts(experiment, facts.engine)):
        return ()
    return ("synonyms and views behind the names were not read: there was no connection",)


# -- what is read of the database -------------------------------------------------------------------------------
def with_context(experiment: Experiment, facts: Facts, sessions: Sessions, declared: frozenset[str]) -> Facts:
    """Read what declarations are held against, and what the user's names lead to; Oracle only."""
    if not engine(facts.engine).licences:
        return facts
    from toolkit.dialects.registry import dialect_of
    from toolkit.executors import read_facts

    control = sessions.get(Role.CONTROL)
    facts = _with_names(experiment, facts, control)
    named = resolution.findings(facts.rows(NAMES))
    own = _looked(user_texts(experiment, facts.engine), resolution.own_names(facts.rows(NAMES))) + named
    if not declared and not own.uses and not own.unseen and not _option_wished(experiment):
        return facts
    return read_facts(control, dialect_of(facts.engine), _GROUND, facts)


def _option_wished(experiment: Experiment) -> bool:
    """Tell whether the experiment may ask for an option of the database; then its service matters."""
    wished = {*experiment.options, *(factor.name for factor in experiment.factors)}
    return not wished.isdisjoint(_OPTIONS_OF_THE_DATABASE)


def _with_names(experiment: Experiment, facts: Facts, control: Connection) -> Facts:
    from toolkit.dialects.registry import dialect_of

    found = _looked(user_texts(experiment, facts.engine))
    table = experiment.options.get("table")
    if isinstance(table, str) and may_load_twice(experiment):
        found = replace(found, written=(*found.written, *licences.look(table).names))
    stored = dialect_of(facts.engine).work.of(experiment.operation).stored_queries(facts)
    paths = tuple((name.schema, name.name) if name.schema else (name.name,) for name in stored)
    found = replace(found, names=(*found.names, *paths))
    rows, refused = _led_to(found, control, fires_ddl=_sends_ddl(experiment))
    if refused is not None:
        return replace(facts, refused={**facts.refused, NAMES: refused})
    return replace(facts, answers={**facts.answers, NAMES: rows})


def _sends_ddl(experiment: Experiment) -> bool:
    """Tell whether a run changes definitions; a job that fills a table or gathers statistics does not."""
    what = declaration(experiment.operation)
    wished = {*experiment.options, *(factor.name for factor in experiment.factors)}
    only_fills = what.publishes_statistics or (what.counts_twice and "logging" not in wished)
    return not what.backs_up and not (experiment.mode is Mode.JOB and only_fills)


def _led_to(
    found: LicenceFindings, control: Connection, *, fires_ddl: bool = False
) -> tuple[tuple[Row, ...], str | None]:
    """Return what names lead to, or why the catalogue does not tell."""
    try:
        names = _Names(control)
        rows = resolution.follow(found.names, names, found.written, deletes=found.deletes, fires_ddl=fires_ddl)
        return rows, None
    except DatabaseError as error:
        if error.lost:
            raise
        return (), error.message


def check_query(query: str, target: Target, control: Connection) -> None:
    """Look at one query of the user's that no run sends, and at what its names lead to; Oracle only.

    Raises:
        ToolkitError: TK-0303 for what the target does not allow.
        DatabaseError: the session was lost.
    """
    guard = _guard(target)
    if guard is None:
        return
    rows, refused = _led_to(licences.look(query), control)
    guard.own |= resolution.own_names(rows)
    found = licences.look(query, guard.own) + resolution.findings(rows) + _unread(refused)

    def ask(text: str) -> Row | None:
        try:
            return next(iter(control.execute(text).rows), None)
        except DatabaseError:
            return None

    guard.hold(found, ask)


@dataclass(frozen=True, slots=True)
class _Names:
    """The catalogue of a connection, asked for what names lead to."""

    control: Connection

    def leads_to(self, names: tuple[str, ...], schemas: tuple[str, ...]) -> tuple[Row, ...]:
        binds: dict[str, Scalar] = dict.fromkeys(f"n{at}" for at in range(1, resolution.MOST_NAMES + 1))
        binds |= dict.fromkeys(f"s{at}" for at in range(1, resolution.MOST_SCHEMAS + 1))
        binds |= {f"n{at}": name for at, name in enumerate(names, 1)}
        binds |= {f"s{at}": schema for at, schema in enumerate(schemas, 1)}
        return self.control.execute(sql_file("oracle", "name_leads_to"), binds).rows

    def text_of(self, owner: str, name: str, *, view: bool) -> tuple[Row, ...]:
        file = "name_view_text" if view else "name_source"
        return self.control.execute(sql_file("oracle", file), {"owner": owner, "name": name}).rows

    def triggers_of(self, owner: str, name: str) -> tuple[Row, ...]:
        return self.control.execute(sql_file("oracle", "name_triggers"), {"owner": owner, "name": name}).rows


# -- the bill ---------------------------------------------------------------------------------------------------
def _context(facts: Facts, policy: TargetPolicy) -> context.LicenceContext:
    lapsed = frozenset(policy.declarations) - policy.licences
    known = context.context_of(facts, policy.licences)
    return replace(known, lapsed=lapsed, unseen_ok=policy.unseen_ok, ruled_by=policy.by)


def bill_of(found: LicenceFindings, on: context.LicenceContext, declarations: Mapping[str, Licence]) -> Bill:
    """Write the bill: each licence with what is used of it, and who declared it."""
    things: dict[str, list[str]] = {}
    for use in found.uses:
        for key in (use.licence, *licences.licences()[use.licence].needs):
            shown = use.thing if key == use.licence else f"needed by {licences.licences()[use.licence].title}"
            things.setdefault(key, []).append(f"{shown}, {use.by}" if use.by else shown)
    positions = tuple(_position(key, names, on, declarations.get(key)) for key, names in things.items())
    return Bill(positions, found.notes, found.unseen, licences.as_of().isoformat())


def _position(key: str, things: list[str], on: context.LicenceContext, licence: Licence | None) -> Position:
    verdict = context.judge(key, on)
    words = (
        (licence.by, licence.on.isoformat(), licence.until.isoformat() if licence.until else None)
        if licence is not None and key in on.declared
        else (None, None, None)
    )
    title = licences.licences()[key].title
    return Position(key, title, tuple(dict.fromkeys(things)), verdict.status, verdict.reason, *words)


def check(
    scripts: Iterable[Script], experiment: Experiment, facts: Facts, policy: TargetPolicy, *, shown: bool = False
) -> Bill | None:
    """Return the bill of what would be printed or sent; None for engines without licences.

    Args:
        scripts: all statements.
        experiment: what the user wrote.
        facts: what was read.
        policy: what is declared, and whether the unseen may be sent.
        shown: it is only shown, so that what is unseen stands in the bill and refuses nothing.

    Raises:
        ToolkitError: TK-0303 for what the target does not allow.
    """
    if not engine(facts.engine).licences:
        return None
    found = find(scripts, experiment, facts)
    on = _context(facts, policy)
    context.refuse(found, replace(on, unseen_ok=on.unseen_ok or shown))
    bill = bill_of(found, on, policy.declarations)
    return replace(bill, unseen=(*bill.unseen, *_not_asked(experiment, facts)))


def check_script(text: str, facts: Facts, policy: TargetPolicy) -> Bill | None:
    """Look at a whole script for SQL*Plus as at statements that are sent, and return its bill.

    Raises:
        ToolkitError: TK-0303 for what the target does not allow.
    """
    if not engine(facts.engine).licences:
        return None
    found, on = licences.look_script(text), _context(facts, policy)
    # Its statements were judged one by one; what a script adds (its own includes and `&`) is of our making.
    context.refuse(found, replace(on, unseen_ok=True))
    return bill_of(found, on, {})


def check_user_texts(experiment: Experiment, facts: Facts, declared: frozenset[str]) -> None:
    """Look at what the user wrote, without the scripts it goes into: `doctor` judges before there are any.

    Raises:
        ToolkitError: TK-0303 for what the target does not allow.
    """
    if engine(facts.engine).licences:
        found = find((), experiment, facts)
        context.refuse(found, context.context_of(facts, declared))


def check_own(experiment: Experiment, facts: Facts, policy: TargetPolicy) -> None:
    """Look at what the user wrote before any of it is sent to find out what there is to do.

    Raises:
        ToolkitError: TK-0303 for what the target does not allow.
    """
    if engine(facts.engine).licences:
        context.refuse(find((), experiment, facts), _context(facts, policy))


def allow(target: Target, *, unseen: bool) -> None:
    """Tell the guard of a target whether what nobody can see through may be sent."""
    guard = _guard(target)
    if guard is not None:
        guard.unseen_ok = unseen


def narrow(target: Target, policy: TargetPolicy) -> None:
    """Tell the guard of a target what is declared, where another profile of the database declares less."""
    guard = _guard(target)
    if guard is not None and guard.declared != policy.licences:
        guard.declared, guard.ruled_by, guard.context = policy.licences, policy.by, None


def teach(target: Target, facts: Facts, policy: TargetPolicy) -> None:
    """Give the guard of a target what was read, so that it need not ask within a trial."""
    guard = _guard(target)
    if guard is None:
        return
    guard.own |= resolution.own_names(facts.rows(NAMES))
    if "cloud_service" in {*facts.answers, *facts.refused}:
        guard.context = _context(facts, policy)


def sent(target: Target) -> LicenceFindings:
    """Return the uses of licences that were actually sent to a target."""
    guard = _guard(target)
    return LicenceFindings(tuple(guard.used)) if guard is not None else LicenceFindings()


def _guard(target: Target) -> LicenceGuard | None:
    from toolkit.targets.oracle import OracleTarget

    return target.guard if isinstance(target, OracleTarget) else None


def keep(store: Store, run: str, bill: Bill | None) -> None:
    """Keep the bill with its run."""
    if bill is not None:
        store.keep_artifact(run, Artifact(ARTIFACT, "application/json", bill_to_text(bill).encode()))


@contextmanager
def sent_kept(store: Store, run: str, target: Target, facts: Facts, policy: TargetPolicy) -> Iterator[None]:
    """Add to the bill, however the run ends, what was sent beyond what was planned."""
    try:
        yield
    finally:
        _keep_sent(store, run, target, facts, policy)


def _keep_sent(store: Store, run: str, target: Target, facts: Facts, policy: TargetPolicy) -> None:
    """Add to a run's bill what was sent beyond what was planned (snapshots, repairs)."""
    kept = store.load_artifact(run, ARTIFACT)
    bill = None if kept is None else bill_from_text(kept.content.decode("utf-8", "replace"))
    if bill is None:
        return
    known = {(one.licence, thing) for one in bill.positions for thing in one.things}
    more = tuple(use for use in sent(target).uses if (use.licence, use.thing) not in known)
    if more:
        added = bill_of(LicenceFindings(more), _context(facts, policy), policy.declarations)
        keep(store, run, replace(bill, positions=(*bill.positions, *added.positions)))
