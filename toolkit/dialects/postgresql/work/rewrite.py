"""VACUUM FULL and CLUSTER: a table and its indexes rewritten, under a lock that lets nobody in; or by pg_repack.

A degree is workers of the index builds at the end; one process copies the rows. The new files take the
place of the old ones when it commits, so that a kill leaves the table as it was.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolkit.dialects import reclaimed
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.implementations import BEFORE, Kept, Options
from toolkit.dialects.postgresql import granted, reclaim, space, support, workers
from toolkit.dialects.postgresql.backup.programs import REPACK, probes_of
from toolkit.dialects.postgresql.objects import name_binds
from toolkit.dialects.postgresql.work import repack
from toolkit.dialects.postgresql.work.base import INDEX_DEGREE, InSession, Values, change, on_table
from toolkit.dialects.postgresql.work.vacuum import TABLES, grant_of, not_ours, row_of
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.steps import Takes, Until
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Mode, Role

_NOT_COUNTED = frozenset({"dead_rows"})
"""The server's statistics keep the dead rows of a table after a rewrite, which has none."""


class Rewrite(InSession):
    """VACUUM FULL, or CLUSTER by an index, or pg_repack; measured on a copy."""

    table_files = (TABLES, repack.TABLES)
    object_files = (reclaim.BLOAT,)
    sizes = ()

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        return (repack.FACTS,) if REPACK in asked.get("method", ()) else ()

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return probes_of((REPACK,), options, facts) if options.get("method") == REPACK else ()

    def judge(self, work: Work, facts: Facts) -> Support | None:
        if facts.value("target", "kind") in ("view", "foreign table"):
            return support.refused("only tables and materialized views are rewritten", "name the table it reads")
        if not work.object.scratch and row_of(work, facts).get("may_vacuum") == "no":
            return support.refused(not_ours(work.object.name), grant_of(work.object.name, facts))
        if not work.object.scratch and (empty := _never_filled(work, facts)):
            return support.refused(empty, "`dbatk mview refresh` fills it, into a new file")
        if work.index is not None and not work.index.valid:
            return support.refused(f"`{work.index.name}` is invalid and orders nothing; rebuild it first")
        if repack.asked(work) and (found := repack.judge(work, facts)) is not None:
            return found
        return workers.judge_memory(work, "maintenance_work_mem")

    def left_out(self, work: Work, facts: Facts) -> str | None:
        if row_of(work, facts).get("may_vacuum") == "no":
            return not_ours(work.object.name)
        never = repack.left_out(work, facts) if repack.asked(work) else None
        return never or _never_filled(work, facts)

    def settings(self, work: Work) -> dict[str, Scalar]:
        if repack.asked(work):
            return {}  # it has sessions of its own
        settings: dict[str, Scalar] = {INDEX_DEGREE: work.degree - 1}
        if work.degree > 1 or work.mode is Mode.MEASUREMENT:
            settings["client_min_messages"] = "debug1"
        return settings | workers.memory(work, "maintenance_work_mem")

    def plan(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if work.degree < 2 or repack.asked(work):
            return ()
        binds = name_binds(work.object.name)
        return (Call("maintenance_plan", session=Role.WORKER, file=True, binds=binds, keep_as="plan"),)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*repack.key_of_copy(work, facts), *repack.prepare(work)) if repack.asked(work) else ()

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        return Call("reclaimed", file=True, binds={"objects": reclaimed.names_of(works)})

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if repack.asked(work):
            return repack.timed(work, facts, workers.share(work, "maintenance_work_mem"))
        index = None if work.index is None else QualifiedName(work.index.name.name)
        values: Values = {"table": work.object.name, "index": index}
        return (change("table_rewrite", values, work),)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        asked = super().evidence(work, facts)
        return (*asked, *repack.evidence(work)) if repack.asked(work) else asked

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree <= 1:
            return Granted(1, f"{INDEX_DEGREE} = 0")
        if repack.asked(work):
            return repack.granted(work, kept)
        if granted.requested_workers(notices) is None:
            return Granted(
                1, "notice of the server", "no index was built in parallel: the table has none that can be"
            )
        return granted.of_build(work, kept, peaks, notices)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return reclaimed.tell(kept, repack.rows_told(kept), without=_NOT_COUNTED)

    def verification(self, works: Sequence[Work], kept: Kept) -> Call | None:
        before = str(kept[BEFORE][0]["file_nodes"] or "{}")
        return Call("rewritten", file=True, binds={"objects": reclaimed.names_of(works), "before": before})

    def undone(self, rows: tuple[Row, ...], warnings: tuple[str, ...]) -> str | None:
        """Tell by its file: what the server skips for want of a right is a warning alone."""
        asked, done = (int(str(rows[0][column] or 0)) if rows else 0 for column in ("asked_count", "done_count"))
        if done >= asked:
            return None
        warned = f"; the server warned: {warnings[0]}" if warnings else ""
        return (
            "it was not rewritten" if asked == 1 else f"{asked - done} of {asked} tables were skipped"
        ) + warned

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say that table and indexes are there twice until the old ones go; pg_repack also logs changes."""
        row = row_of(work, facts)
        name = work.source or work.object.name
        sizes = [row.get(column) for column in ("table_bytes", "index_bytes")]
        known = [float(size) for size in sizes if isinstance(size, int | float)]
        place = space.new(None, facts) if work.object.scratch else space.own(row.get("tablespace"), facts)
        why = "" if len(known) == len(sizes) else f"the size of `{name}` is not known"
        times = repack.TIMES if repack.asked(work) else 1.0
        return (Takes(None if why else times * sum(known), place, Until.STEP, why),)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(self._remarks(work, facts))

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield from on_table(work, facts)
        if work.object.scratch:
            yield "measured on a copy, which has no dead rows: reading a bloated table takes longer"
            return
        if repack.asked(work):
            yield from repack.remarks(work, facts)
            return
        yield (
            "locks: ACCESS EXCLUSIVE on each table from its beginning to its end: nobody reads or writes it "
            "meanwhile, and who comes waits (the time of a measurement tells how long)"
        )
        yield "what it frees goes back to the disk; there is no undo, and none is needed: the rows are the same"
        if work.index is not None:
            yield (
                f"the table is marked as clustered by `{work.index.name}` (ALTER TABLE ... SET WITHOUT CLUSTER "
                "removes the mark)"
            )


def _never_filled(work: Work, facts: Facts) -> str | None:
    if row_of(work, facts).get("filled") != "no":
        return None
    return f"`{work.object.name}` was never filled: there is nothing to rewrite"
