"""VACUUM of one table, or of several by as many sessions.

A degree is workers on the indexes of one table (`PARALLEL`): each takes an index, the leader one, and none is used
for an index below `min_parallel_index_scan_size` (manual, VACUUM). One process scans the table itself.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from toolkit.dialects import reclaimed
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import AFTER, Kept
from toolkit.dialects.postgresql import reclaim, support, workers
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.work.base import INDEX_DEGREE, InSession, Values, change, on_table
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode
from toolkit.units import count, counted, number

TABLES = "vacuum_tables"
_BEGAN = "began"
_LAUNCHED = re.compile(r"launched (?P<workers>\d+) parallel vacuum workers? for index", re.IGNORECASE)
_IN_ENGLISH = re.compile(r'(?:aggressively )?vacuuming "')
_VERBOSE = "VACUUM VERBOSE"
_DEAD_PERCENT = 20.0


class Vacuum(InSession):
    """VACUUM, measured on copies with dead rows."""

    table_files = (TABLES,)
    object_files = (reclaim.BLOAT,)
    sizes = ()

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        return (reclaim.HORIZON,)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        row = row_of(work, facts)
        if facts.value("target", "kind") in ("view", "foreign table"):
            return support.refused("only tables and materialized views are vacuumed", "name the table it reads")
        if work.mode is Mode.JOB and row.get("may_vacuum") == "no":
            return support.refused(not_ours(work.object.name), grant_of(work.object.name, facts))
        return workers.judge_memory(work, "maintenance_work_mem")

    def left_out(self, work: Work, facts: Facts) -> str | None:
        return not_ours(work.object.name) if row_of(work, facts).get("may_vacuum") == "no" else None

    def settings(self, work: Work) -> dict[str, Scalar]:
        memory = workers.memory(work, "maintenance_work_mem")
        return {INDEX_DEGREE: work.degree - 1, **memory} if work.degree > 1 else memory

    # -- before, on and after the clock -------------------------------------------------------------------------
    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Leave dead rows in a copy, and publish their number, which would reach others up to 1 s late."""
        if not work.object.scratch:
            return (Call("clock", file=True, keep_as=_BEGAN),)
        values: Values = {"table": work.object.name, "percent": dead_percent(work)}
        delete = Call("delete_sample", values, effect=Effect.CHANGES, object=work.object)
        return (delete, *((Call("force_stats_flush", file=True),) if major(facts.release) >= 15 else ()))

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        return Call("reclaimed", file=True, binds={"objects": reclaimed.names_of(works)})

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        cleanup, truncate = work.option("index_cleanup"), work.option("truncate")
        values: Values = {
            "table": work.object.name,
            # it alone says how many workers were launched
            "verbose": work.degree > 1 or work.mode is Mode.MEASUREMENT,
            "freeze": bool(work.option("freeze")),
            "index_cleanup": None if cleanup is None else str(cleanup).upper(),
            "truncate": None if truncate is None else {"yes": "ON", "no": "OFF"}[str(truncate)],
            "analyze": bool(work.option("analyze")),
            "workers": work.degree - 1,
        }
        return (change("vacuum", values, work),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree <= 1:
            return Granted(1, "PARALLEL 0")
        launched = [int(found["workers"]) for found in map(_LAUNCHED.search, notices) if found]
        if launched:
            return Granted(max(launched) + 1, _VERBOSE)
        if any(map(_IN_ENGLISH.match, notices)):
            return Granted(1, _VERBOSE, "no worker was launched: too few large indexes, or no dead rows")
        seen = int(peaks.get("parallel_workers", 0))
        if seen:
            return Granted(seen + 1, "workers seen in pg_stat_activity")
        return Granted(None, "none", "the server's messages are in a language that is not read")

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        left = reclaimed.figure(kept, AFTER, "dead_rows")
        said = () if not left else (
            f"{count(int(left))} dead rows remain: an older transaction may still see them, or their blocks were "
            "in use (doctor names what holds the horizon)",
        )  # fmt: skip
        return reclaimed.tell(kept, said)

    def verification(self, works: Sequence[Work], kept: Kept) -> Call | None:
        names = [work.object.name for work in works]
        objects = json.dumps([[name.schema, name.name] for name in names])
        return Call("vacuumed", file=True, binds={"objects": objects, "since": kept[_BEGAN][0]["now"]})

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        """Tell by the time of the last VACUUM: what it skips for want of a right or a lock is a warning alone."""
        asked, done = (int(str(rows[0][column] or 0)) if rows else 0 for column in ("asked_count", "done_count"))
        if done >= asked:
            return None
        warned = f"; the server warned: {warnings[0]}" if warnings else ""
        return ("it was not vacuumed" if asked == 1 else f"{asked - done} of {asked} tables were skipped") + warned

    # -- what to know before ------------------------------------------------------------------------------------
    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(self._remarks(work, facts))

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield from on_table(work, facts)
        if work.object.scratch:
            yield (
                f"measured on a new copy for each trial, of which {number(dead_percent(work))} % of the rows are "
                "deleted before the clock (--dead-rows)"
            )
        else:
            yield _locks(work)
            yield "what it removes cannot be undone; rows that a query can see stay as they are"
            yield from reclaim.held(facts)
        yield from _too_few_indexes(work, facts)


def dead_percent(work: Work) -> float:
    """Return the percentage of a copy's rows that are deleted."""
    asked = work.option("dead_rows")
    return float(asked) if isinstance(asked, int | float) else _DEAD_PERCENT


def _locks(work: Work) -> str:
    """Say what is locked, and how long others wait."""
    lock = (
        "locks: SHARE UPDATE EXCLUSIVE on each table, so that reads and writes go on, and DDL, ANALYZE and other "
        "VACUUMs of it wait until it ends"
    )
    if work.option("truncate") == "no":
        return lock
    return (
        f"{lock}; where it gives empty blocks at the end back it takes ACCESS EXCLUSIVE, in short steps that it "
        "gives up when somebody waits (--truncate no avoids that; replicas replay the lock)"
    )


def _too_few_indexes(work: Work, facts: Facts) -> Iterator[str]:
    large = row_of(work, facts).get("parallel_index_count")
    if work.degree > 1 and isinstance(large, int) and large < work.degree:
        indexes, used = counted(large, "index", "indexes"), counted(max(0, large - 1), "worker")
        yield (
            f"`{work.source or work.object.name}` has {indexes} of min_parallel_index_scan_size or more: VACUUM "
            f"uses {used} for them, whatever the degree"
        )


def row_of(work: Work, facts: Facts) -> Row:
    """Return what was read of the user's table; empty where it was not."""
    name = work.source or work.object.name
    rows = (row for key, found in facts.answers.items() if key.partition(":")[0] == TABLES for row in found)
    return next((row for row in rows if (row["schema_name"], row["table_name"]) == (name.schema, name.name)), {})


def not_ours(name: QualifiedName) -> str:
    return f"PostgreSQL would skip `{name}`: this user neither owns nor maintains it"


def grant_of(name: QualifiedName, facts: Facts) -> str:
    if major(facts.release) >= 17:
        return f"GRANT MAINTAIN ON {name} TO {facts.value('server', 'user_name')}"
    return "let its owner vacuum it"
