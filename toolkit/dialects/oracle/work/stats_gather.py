"""DBMS_STATS in named notation: two overloads of GATHER_SCHEMA_STATS differ by an OUT argument only.

On live objects a measurement asks before each gathering whether it would still harm nobody, and deletes afterwards
what it left pending; see `toolkit.dialects.oracle.statistics`.
"""

# ruff: noqa: ARG001 (every operation answers with the same arguments)

from __future__ import annotations

from toolkit.dialects.oracle.statistics import arguments, counts, isolation, preferences, remarks, server
from toolkit.dialects.oracle.statistics.reads import PARTITION
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, Role, StepKind, SupportState


def prepare(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Count the locked tables; on live objects ask whether it is still safe."""
    safe = isolation.still_safe(work, facts) if isolation.on_live(work) else ()
    return (*safe, *counts.before(work))


def timed(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Spell the block that gathers a table's or a whole schema's statistics, and what publishes them."""
    if server.is_server(work):
        return (server.timed(work),)
    call = Call(
        "stats_schema" if arguments.of_schema(work) else "stats_table",
        arguments.values(work),
        kind=StepKind.BLOCK,
        session=Role.WORKER,
        effect=Effect.CHANGES,
        object=work.object,
        undo=(isolation.delete_pending(work, facts),) if isolation.on_live(work) else (),
    )
    compared = work.mode is Mode.JOB and work.option("max_difference") is not None
    return (call, isolation.publish_pending(work, facts)) if compared else (call,)


def evidence(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Ask what was gathered, and in which time each."""
    return counts.counts(work, facts)


def settle(work: Work, facts: Facts) -> tuple[Call, ...]:
    """Delete what a measurement left pending; what a job gathered stays."""
    return (isolation.delete_pending(work, facts),) if isolation.on_live(work) else ()


def takes(work: Work, facts: Facts) -> tuple[Takes, ...]:
    """Nothing that stays; how much is sorted for distinct values is the package's secret."""
    return ()


def judge(work: Work, facts: Facts) -> Support | None:
    """Judge arguments, partition, locks, rights, and whether live objects can be measured now.

    Raises:
        ToolkitError: as `arguments.judge`; TK-0204 for a partition that is not there.
    """
    if server.is_server(work):
        return server.judge(work, facts)
    return (
        arguments.judge(work, facts)
        or _partition(work, facts)
        or _column_groups(work)
        or remarks.judge(work, facts)
        or preferences.judge(work, facts)
        or isolation.judge(work, facts)
    )


def _partition(work: Work, facts: Facts) -> Support | None:
    partition = work.option("partition")
    if partition is None:
        return None
    if work.object.scratch:
        return _no("a copy has no partitions; measure on the table itself (--on-live-objects)")
    if PARTITION in facts.answers and not facts.rows(PARTITION):
        raise ToolkitError(
            f"`{work.object.name}` has no partition `{partition}`",
            code="TK-0204",
            hint="names in double quotes keep their case; ALL_TAB_PARTITIONS lists them",
        )
    return None


def _column_groups(work: Work) -> Support | None:
    """Refuse to measure on live objects what makes a column of the table: a group of columns, an expression."""
    if isolation.on_live(work) and arguments.extends(work):
        return _no(
            "METHOD_OPT with a group of columns or an expression adds a hidden column to the table, which would "
            "stay: measure on a copy (omit --on-live-objects), or gather as a job"
        )
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
