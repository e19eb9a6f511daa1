"""What the operations of a session share: its settings, and what is asked before and after the clock.

Our degree d is d - 1 workers beside the leader: `max_parallel_workers_per_gather` for queries,
`max_parallel_maintenance_workers` for index builds.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import Implementation, Kept
from toolkit.dialects.postgresql import locks, support
from toolkit.dialects.postgresql.names import parse_name
from toolkit.dialects.postgresql.objects import name_binds
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Scalar, Support
from toolkit.model.words import Effect, Role

QUERY_DEGREE = "max_parallel_workers_per_gather"
INDEX_DEGREE = "max_parallel_maintenance_workers"
Values = Mapping[str, ContextValue]


class InSession(Implementation):
    """What all operations of a session share; each says which settings it takes."""

    def support(self, work: Work, facts: Facts) -> Support:
        found = support.server(facts) or support.degree(work, self.serial) or self.judge(work, facts)
        return found or support.SUPPORTED

    serial = ""
    """Why a degree above 1 cannot be had; empty where it can."""

    def judge(self, work: Work, facts: Facts) -> Support | None:
        """Say what of its own options stands in the way; None when nothing does."""
        return None

    def settings(self, work: Work) -> dict[str, Scalar]:
        """Return the session's settings of a work."""
        return {}

    def _all_settings(self, work: Work) -> dict[str, Scalar]:
        return self.settings(work) | locks.timeout(work.options)

    def plan(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask, before the clock and under the same settings, what the statement will ask for."""
        return ()

    def counted(self, work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
        """Read the database's own count of workers launched, where it counts them."""
        return ()

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Set the worker's session up and keep, under `plan`, what decides on its workers."""
        settings = (
            Call("set", {"name": name, "value": value}, session=Role.WORKER)
            for name, value in self._all_settings(work).items()
        )
        return (*settings, *self.plan(work, facts), *self.counted(work, facts, "degree_before"))

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return tuple(Call("reset", {"name": name}, session=Role.WORKER) for name in self._all_settings(work))

    sizes: tuple[str, ...] = ("object_rows", "object_bytes")
    """What is asked of the object after the clock."""

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask right after the clock: workers launched, rows, bytes.

        The statistics of all sessions are flushed first (15 and later): the counters read around a trial would
        otherwise miss what they did, up to a second long, and the next trial would have it.
        """
        flush = self.evidence_of_sessions(work, facts)
        binds = name_binds(work.object.name)
        asked = tuple(
            Call(file, session=Role.WORKER, file=True, binds=binds, keep_as=file.removeprefix("object_"))
            for file in self.sizes
        )
        return (*flush, *self.counted(work, facts, "degree"), *asked)

    def evidence_of_sessions(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (Call("force_stats_flush", session=Role.WORKER, file=True),) if major(facts.release) >= 15 else ()

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        return Granted(1, "one process", "" if work.degree <= 1 else "PostgreSQL does this in one process")


def change(template: str, values: Values, work: Work, undo: tuple[Call, ...] = ()) -> Call:
    return Call(template, values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object, undo=undo)


def fillfactor(work: Work) -> int | None:
    free = work.option("pctfree")
    return None if free is None else 100 - int(str(free))


def tablespace(work: Work) -> str | None:
    name = work.option("tablespace")
    return None if name is None else parse_name(str(name)).name


def on_table(work: Work, facts: Facts) -> Iterator[str]:
    """Say that a measurement named a materialized view and works on a table with its rows."""
    row = facts.first("target")
    if work.object.scratch and row.get("kind") == "materialized view":
        name = f"{row.get('schema_name')}.{row.get('table_name')}"
        yield f"`{name}` is a materialized view: measured on a table with its rows"
