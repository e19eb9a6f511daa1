"""CREATE TABLE AS and INSERT ... SELECT."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping

from toolkit.dialects import sizes
from toolkit.dialects.answers import Granted
from toolkit.dialects.implementations import PRINTED, Kept
from toolkit.dialects.postgresql import granted, space, support, workers
from toolkit.dialects.postgresql.objects import marked, move_sequence, transaction
from toolkit.dialects.postgresql.release import major
from toolkit.dialects.postgresql.work import parts
from toolkit.dialects.postgresql.work.base import (
    QUERY_DEGREE,
    InSession,
    Values,
    change,
    fillfactor,
    tablespace,
)
from toolkit.dialects.postgresql.work.parts import BlockRanges
from toolkit.dialects.rows import rows_of
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Place, PlaceKind, Takes
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode, Role


class CreateTableAs(InSession):
    """CREATE TABLE AS: its query runs in parallel."""

    sizes = ("object_bytes",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        return (
            support.table_logging(work)
            or support.sample(work, facts)
            or workers.judge_memory(work, "work_mem")
            or workers.judge_workers(work, facts, facts.first("source"), copied=False)
            or support.table_compression(work, facts)
        )

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        row = facts.first("source")
        return (*workers.size_cap(work, facts, row), *workers.set_for_the_run(work, row, copied=False))

    def setup(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if work.source is None:
            return ()
        return workers.set_workers(work, facts.first("source"), work.source, copied=False)

    def settings(self, work: Work) -> dict[str, Scalar]:
        settings = {QUERY_DEGREE: work.degree - 1, **workers.memory(work, "work_mem")}
        if work.option("compression") is not None:
            settings["default_toast_compression"] = str(work.option("compression"))
        return settings

    def plan(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Ask for the plan, to be kept as it is printed, and above degree 1 for the workers in it."""
        values: Values = {"query": work.query, "source": work.source, **rows_of(work)}
        return tuple(
            Call("explain_query", {**values, "lines": key == PRINTED}, session=Role.WORKER, keep_as=key)
            for key in (PRINTED, *(["plan"] if work.degree > 1 else []))
        )

    def counted(self, work: Work, facts: Facts, key: str) -> tuple[Call, ...]:
        """Read the database's count of workers launched, which exists from 18 on, for queries only."""
        if work.degree < 2 or major(facts.release) < 18:
            return ()
        return (Call("workers_launched", session=Role.WORKER, file=True, keep_as=key),)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: Values = {
            "table": work.object.name,
            "source": work.source,
            "query": work.query,
            **rows_of(work),
            "unlogged": work.mode is Mode.MEASUREMENT and work.option("logging") == "nologging",
            "fillfactor": fillfactor(work),
            "tablespace": tablespace(work),
        }
        named = tuple(("column", column) for column in work.columns)
        make = Call(
            "ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object, definition=named,
            like=None if named else work.source,
        )  # fmt: skip
        return marked(make, work.mark)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size, why = sizes.loaded_bytes(work, facts)
        return (Takes(size, space.new(tablespace(work), facts), unknown=why),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        if work.degree <= 1:
            return Granted(1, f"{QUERY_DEGREE} = 0")
        return granted.of_query(work.degree - 1, kept, peaks)


class InsertSelect(InSession):
    """INSERT ... SELECT, by n sessions."""

    degree_by_sessions, ends_by_commit = True, True
    parts = BlockRanges()
    sizes = ("object_bytes",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        found = (
            support.table_logging(work) or support.sample(work, facts) or workers.judge_memory(work, "work_mem")
        )
        if found is None and work.option("logging") == "nologging" and not work.object.scratch:
            return support.refused("nologging would turn the user's table UNLOGGED; measure into a copy")
        if found is None and work.option("compression") is not None:
            return support.refused(
                "the compression of a column is set when its table is created, not by this operation"
            )
        return found or parts.judge(work, facts) or self._sequences(work, facts)

    def _sequences(self, work: Work, facts: Facts) -> Support | None:
        """Judge whether the sequences can be moved that a job has to move."""
        for row in _numbered(work, facts) if _moves(work) else ():
            if row.get("sequence_name") is None:
                return support.refused(
                    f"the sequence of `{row['column_name']}` belongs to the partitioned table: load into that"
                )
            if row.get("may_move") == "no":
                user = facts.value("server", "user_name", "") or "the user"
                return support.refused(
                    f"{user} may not move the sequence of `{row['column_name']}` past the values loaded",
                    f"GRANT SELECT, UPDATE ON SEQUENCE {row['sequence_name']} TO {user}, and SELECT on the table",
                )
        return None

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*parts.remarks(work, facts), *self._on_sequences(work, facts))

    def _on_sequences(self, work: Work, facts: Facts) -> tuple[str, ...]:
        names = ", ".join(f"`{row['column_name']}`" for row in _numbered(work, facts))
        if not names or work.mode is not Mode.JOB:
            return ()
        if _moves(work):
            return (
                f"the sequence of {names} is moved past the greatest value with the load; it is not moved back, "
                "since that only leaves a gap",
            )
        return (
            f"{names} gets the values of the source, and its sequence stays where it is: a later insert may fail "
            "with a duplicate key (--identity keep moves the sequence)",
        )

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size, why = sizes.loaded_bytes(work, facts)
        rows = Takes(size, place_of_rows(work, facts), unknown=why)
        row = facts.first("target")
        if not row or (work.object.scratch and work.option("bare")):
            return (rows,)
        table = QualifiedName(str(row["table_name"]), str(row["schema_name"]))
        return (rows, *space.of_entries(table, size, facts, why))

    def settings(self, work: Work) -> dict[str, Scalar]:
        return {QUERY_DEGREE: work.degree - 1, **workers.memory(work, "work_mem")}

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Turn our own, still empty table UNLOGGED where the level says nologging; export what parts read."""
        shared = parts.snapshot(work)
        if work.option("logging") == "nologging" and work.object.scratch:
            values: Values = {"table": work.object.name}
            return (Call("set_unlogged", values, effect=Effect.CHANGES, object=work.object), *shared)
        return shared

    def plan(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values = {**self._values(work, facts), "explain": True}
        return (Call("insert", values, session=Role.WORKER, keep_as=PRINTED),)

    def _values(self, work: Work, facts: Facts) -> Values:
        return {
            "table": work.object.name,
            "source": work.source,
            "query": work.query,
            **rows_of(work),
            "overriding": _overriding(work, facts),
            "explain": False,
            "first_block": work.blocks and work.blocks[0],
            "end_block": work.blocks and work.blocks[1],
        }

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        load = change("insert", self._values(work, facts), work)
        if work.blocks is not None:
            return parts.one_transaction(load)
        moved = _numbered(work, facts) if _moves(work) else ()
        moves = [move_sequence(work.object, str(row["column_name"]), Role.WORKER) for row in moved]
        # A job says COMMIT itself, so that its transaction can be recorded before that is sent.
        return transaction(load, *moves) if moves or work.mode is Mode.JOB else (load,)


def place_of_rows(work: Work, facts: Facts) -> Place:
    """Return where the rows go; a partitioned table does not tell where its partitions are."""
    row = facts.first("target")
    if work.object.scratch:
        return space.new(None, facts)
    if row.get("partitioned") == "yes":
        return Place(PlaceKind.TABLESPACE, "", f"the partitions of `{work.object.name}`")
    return space.own(row.get("tablespace"), facts)


def _moves(work: Work) -> bool:
    """Tell whether the sequences of the columns filled are moved; those of a copy serve nobody."""
    return work.mode is Mode.JOB and work.option("identity") == "keep"


def _overriding(work: Work, facts: Facts) -> bool:
    """Say OVERRIDING SYSTEM VALUE where that was asked for, and a column named is GENERATED ALWAYS AS IDENTITY.

    It changes nothing for tables without such a column, so it is also used if the columns were not read.
    """
    if work.option("identity") != "keep":
        return False
    read = facts.rows("columns")
    always = {row.get("column_name") for row in read if row.get("identity") == "always"}
    return not read or not always.isdisjoint(work.columns)


def _numbered(work: Work, facts: Facts) -> tuple[Row, ...]:
    """Return the columns filled that have a sequence of their own (identity, serial)."""
    filled = (row for row in facts.rows("columns") if row["column_name"] in work.columns)
    return tuple(row for row in filled if row.get("identity") or row.get("sequence_name"))
