"""Whether a step's own conditions let it begin, and the catalogue's figures that they are judged by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from math import isfinite

from toolkit.app.maintenance.asking import ASKING, limited
from toolkit.app.maintenance.choice import Size
from toolkit.app.maintenance.plan_targets import PlanTarget, TargetStep
from toolkit.app.runs.licensing import check_query
from toolkit.dialects.backups import Backups
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.executors import open_session, read_facts, refused
from toolkit.model.facts import Facts, Query
from toolkit.model.operations import SizeReads, declaration
from toolkit.model.plan import Condition, ConditionKind, PlanStep, StepRecord, StepState
from toolkit.model.protocols import DatabaseError
from toolkit.model.values import Row, Scalar
from toolkit.model.words import Role
from toolkit.runner import Stop, spec_of
from toolkit.units import byte_size, counted, number, percent, seconds

SIZE_SECONDS = 5.0
"""How long the catalogue may take to tell a size: the size of a locked table is not worth waiting for."""
CONDITION_SECONDS = 60.0
"""How long a condition may take, which nothing else waits for."""


def unmet(
    job: TargetStep,
    plan_target: PlanTarget,
    history: Sequence[StepRecord],
    now: datetime,
    *,
    asking: bool = True,
) -> str | None:
    """Return the sentence of the first condition that does not hold, or None.

    Args:
        job: the step here.
        plan_target: its target.
        history: of the step, newest first.
        now: the present instant.
        asking: whether the database is asked; if not, only those conditions count that need no answer of it.

    Raises:
        ToolkitError: TK-0203 when a query is refused or returns no number, TK-0201 when nobody answers.
    """
    known = [condition for condition in job.step.only_if if condition.kind is ConditionKind.AGE]
    others = [condition for condition in job.step.only_if if condition.kind is not ConditionKind.AGE]
    for condition in (*known, *(others if asking else ())):
        sentence = _unmet(condition, job, plan_target, history, now)
        if sentence is not None:
            return sentence
    return None


def _unmet(
    condition: Condition, job: TargetStep, plan_target: PlanTarget, history: Sequence[StepRecord], now: datetime
) -> str | None:
    if condition.kind is ConditionKind.AGE:
        return _too_young(condition, history, now)
    if condition.kind is ConditionKind.SQL:
        value = number_of(plan_target, condition.sql or "")
        return None if condition.holds(value) else f"its query returned {number(value)}, {_bounds(condition)}"
    if condition.kind is ConditionKind.STALE:
        stale = stale_tables(job, plan_target)
        return (
            None
            if condition.holds(stale)
            else f"{counted(stale, 'table')} {'has' if stale == 1 else 'have'} stale statistics"
        )
    if condition.kind is ConditionKind.TRANSACTION_AGE:
        age = transaction_age(job, plan_target)
        return None if condition.holds(age) else f"its oldest table is {number(age)} transactions old"
    size = work_size(job, plan_target).bytes
    if size is None:
        raise ToolkitError("the size of its indexes is unknown", code="TK-0203", hint="use SQL instead")
    if condition.kind is ConditionKind.INDEX_BYTES:
        return None if condition.holds(size) else f"its indexes have {byte_size(size)}"
    return _too_little_grown(condition, size, history)


def _too_little_grown(condition: Condition, size: float, history: Sequence[StepRecord]) -> str | None:
    before = next((step.size_bytes for step in history if step.state is StepState.DONE and step.size_bytes), None)
    if before is None or condition.holds(size / before - 1):
        return None
    return f"its indexes had {byte_size(before)} at the last run, and have {byte_size(size)} now"


def _too_young(condition: Condition, history: Sequence[StepRecord], now: datetime) -> str | None:
    ended = [step.ended_at for step in history if step.state is StepState.DONE and step.ended_at is not None]
    if not ended:
        return None
    age = (now - max(ended)).total_seconds()
    if condition.holds(age):
        return None
    return f"it was done {seconds(max(0.0, age))} ago"


def _bounds(condition: Condition) -> str:
    if condition.at_least is not None and condition.at_most is not None:
        return f"not between {number(condition.at_least)} and {number(condition.at_most)}"
    if condition.at_least is not None:
        return f"less than {number(condition.at_least)}"
    return f"more than {number(condition.at_most)}"


def what_must_hold(step: PlanStep) -> str:
    """Say which conditions the database is asked when a step would begin: `its query returns at least 5`."""
    asked = [condition for condition in step.only_if if condition.kind is not ConditionKind.AGE]
    return " and ".join(f"{_MEASURED[condition.kind]} {_needed(condition)}" for condition in asked)


_MEASURED = {
    ConditionKind.SQL: "its query returns",
    ConditionKind.STALE: "tables with stale statistics are",
    ConditionKind.INDEX_BYTES: "its indexes have",
    ConditionKind.GROWTH: "its indexes have grown by",
    ConditionKind.TRANSACTION_AGE: "the age of its oldest rows in transactions is",
}


def _needed(condition: Condition) -> str:
    low, high = (_spelled(condition, bound) for bound in (condition.at_least, condition.at_most))
    if low and high:
        return f"between {low} and {high}"
    return f"at least {low}" if low else f"at most {high}"


def _spelled(condition: Condition, bound: float | None) -> str:
    if bound is None:
        return ""
    if condition.kind is ConditionKind.INDEX_BYTES:
        return byte_size(bound)
    return percent(100 * bound) if condition.kind is ConditionKind.GROWTH else number(bound)


def number_of(plan_target: PlanTarget, query: str) -> float:
    """Return the one number that a query returns, read in a session that cannot write.

    Raises:
        ToolkitError: TK-0203, TK-0201; TK-0303 for what would need a licence nobody declared.
    """
    target = plan_target.resolved.target
    session = open_session(target, Role.CONTROL, ASKING, read_only=True)
    try:
        with limited(session, CONDITION_SECONDS):
            check_query(query, target, session)
            rows = session.execute(query).rows
    except DatabaseError as error:
        raise refused(dialect_of(target.engine), error, "the query of its condition") from None
    finally:
        session.close()
    values = [value for row in rows for value in row.values()]
    if len(values) != 1 or isinstance(values[0], bool) or not isinstance(values[0], int | float):
        raise ToolkitError(
            "the query of a condition must return one number", code="TK-0203", hint="such as SELECT count(*)"
        )
    found = float(values[0])
    if not isfinite(found):
        raise ToolkitError(
            f"the query of a condition returned {found}, which no bound can be compared with",
            code="TK-0203",
            hint="let the query say what that means, such as CASE WHEN ... THEN 0",
        )
    return found


# -- figures of the catalogue ---------------------------------------------------------------------------------
_INDEXES = SizeReads("schema_indexes", "table_indexes", "index")
_STATISTICS = SizeReads("table_statistics", "table_statistics")
_AGES = SizeReads("transaction_age", "transaction_age")
_DATABASE = ("backup_files", "backup_size")
"""The sizes of a database, among what is read before a backup, or by itself."""


def work_size(job: TargetStep, plan_target: PlanTarget) -> Size:
    """Return the size of what a step works on: of indexes themselves, of the tables read, of the database.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = tuple(_rows(_read(job, plan_target, declaration(job.step.operation).sizes, SIZE_SECONDS)))
    return Size(_sum(rows, "byte_count"), _sum(rows, "row_estimate"))


def _sum(rows: Sequence[Row], column: str) -> float | None:
    """Return the sum of a column; None where nothing is known, for the catalogue then tells no size."""
    known = [float(size) for row in rows if isinstance(size := row.get(column), int | float)]
    return sum(known) if known else None


def stale_tables(job: TargetStep, plan_target: PlanTarget) -> int:
    """Return how many of the step's tables that it gathers have stale statistics or none.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = _rows(_read(job, plan_target, _STATISTICS))
    locked = () if job.step.options.get("force_locked") is True else ("yes",)
    return sum(row.get("is_stale") == "yes" and row.get("is_locked") not in locked for row in rows)


def transaction_age(job: TargetStep, plan_target: PlanTarget) -> float:
    """Return how many transactions ago the oldest row of the step's tables that is not frozen was written.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = _rows(_read(job, plan_target, _AGES))
    return max(
        (float(age) for row in rows if isinstance(age := row.get("transaction_age"), int | float)), default=0.0
    )


def old_statistics(job: TargetStep, plan_target: PlanTarget, seconds: float, stop: Stop) -> list[str]:
    """Return the tables of a step whose statistics are older than so many seconds; locked ones are left alone.

    A `stop` cuts the look off.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = [row for row in _rows(_read(job, plan_target, _STATISTICS, stop=stop)) if row.get("is_locked") != "yes"]
    return [str(row["table_name"]) for row in rows if not _is_younger(row.get("age_seconds"), seconds)]


def _is_younger(age: Scalar, seconds: float) -> bool:
    return isinstance(age, int | float) and age <= seconds


def invalid_indexes(job: TargetStep, plan_target: PlanTarget, stop: Stop) -> list[str]:
    """Return the names of those indexes of the step's tables that the engine calls invalid.

    A `stop` cuts the look off.

    Raises:
        ToolkitError: TK-0201, TK-0203.
    """
    rows = _rows(_read(job, plan_target, _INDEXES, stop=stop))
    return [str(row["index_name"]) for row in rows if str(row.get("is_valid", "yes")) != "yes"]


def _rows(facts: Facts) -> Iterator[Row]:
    for key in facts.answers:
        if key != "server":
            yield from facts.rows(key)


def _read(
    job: TargetStep,
    plan_target: PlanTarget,
    files: SizeReads,
    limit_seconds: float = CONDITION_SECONDS,
    stop: Stop | None = None,
) -> Facts:
    """Read the files for all that the step names; what takes longer than the limit, or a stop, is cancelled."""
    target = plan_target.resolved.target
    dialect = dialect_of(target.engine)
    timeouts = None if stop is None else stop.timeouts
    session = open_session(target, Role.CONTROL, ASKING, read_only=True, timeouts=timeouts)
    try:
        with limited(session, limit_seconds):
            server = read_facts(session, dialect, (Query("server", "server"),))
            return read_facts(session, dialect, tuple(_queries(job, server, files)), server)
    finally:
        session.close()


def _queries(job: TargetStep, server: Facts, files: SizeReads) -> Iterator[Query]:
    dialect = dialect_of(server.engine)
    spec = spec_of(job.experiment)
    if files.database:
        yield from _of_database(job, server)
    here = str(server.value("server", "current_schema", "") or "") or None
    for text in spec.names("schema") if files.schema else ():
        name = dialect.parse_name(text, server.release).name
        binds = {"schema": name, "name": None} if files.schema == files.table else {"schema": name}
        yield Query(f"of {name}", files.schema, binds)
    for option, file in (("table", files.table), ("index", files.index), ("source", files.source)):
        given = spec.text(option)
        if given is not None and file:
            name_given = dialect.parse_name(given, server.release)
            yield Query(option, file, {"schema": name_given.schema or here, "name": name_given.name})


def _of_database(job: TargetStep, server: Facts) -> Iterator[Query]:
    ways = dialect_of(server.engine).work.of(job.experiment.operation)
    asked = ways.reads(job.experiment.options, server) if isinstance(ways, Backups) else ()
    found = [query for query in asked if query.key in _DATABASE]
    yield from found or (Query("backup_size", "backup_size", optional=True),)
