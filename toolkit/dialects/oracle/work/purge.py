"""DELETE and UPDATE in chunks of rowids, by n sessions: each takes the next range, in a transaction of its own.

A rowid is as good as a key here: a row keeps it for as long as it exists, also when it is changed, unless row
movement is enabled (SQL Language Reference, ROWID pseudocolumn; row_movement_clause). Ranges of it are what
DBMS_PARALLEL_EXECUTE works with, too. That package is not used: it divides a table by extents or by a statement
without counting what matches, its chunks are run by jobs of the scheduler that nobody can hold between two of
them, and nowhere is it said that SET_CHUNK_STATUS belongs to the transaction of its chunk. The note that dbatk
inserts in each transaction does, so that a chunk is known to be committed or not.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolkit.dialects.answers import EndlessWait, TrialFindings
from toolkit.dialects.chunks import ChunkedChange, ChunksAsBegun, chunk_rows
from toolkit.dialects.implementations import Kept
from toolkit.dialects.oracle import archiving, space
from toolkit.dialects.oracle.objects import comment
from toolkit.dialects.oracle.session import lock_wait_seconds
from toolkit.dialects.oracle.work.base import segment_bytes
from toolkit.dialects.oracle.work.in_session import OracleInSession
from toolkit.dialects.oracle.work.load import make_notes
from toolkit.dialects.oracle.work.loads import LONG_TYPES
from toolkit.dialects.work import Call, Chunk, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import Support
from toolkit.model.words import Effect, Mode, Role, SupportState

IN_PLACE, TRIGGERS, REFERRING = "rows_in_place", "triggers", "referring"


class _Words:
    """What an operation of a session says of its own, where the chunks do not say it."""

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return ()

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return ()

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return ()

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Measure the table."""
        return (segment_bytes(work.object, facts),)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        """Say what the rows of a transaction take of the archive; a deletion takes nothing."""
        if work.archive is None:
            return ()
        size, row = CHUNKS.bytes_of(work, facts), facts.first("archive")
        why = "" if size is not None else CHUNKS.unsized(work)
        if not work.archive.scratch and row.get("tablespace_name") is None and row:
            return (Takes(size, space.named(None, f"the partitions of `{work.archive.name}`"), unknown=why),)
        place = None if work.archive.scratch else row.get("tablespace_name")
        schema = work.archive.name.schema
        return tuple(space.takes(size, None if place is None else str(place), schema, facts, unknown=why))

    def judge(self, work: Work, facts: Facts) -> Support | None:
        """Refuse tables whose rowids do not divide them, or do not stay; and what no archive can take."""
        table = work.source or work.object.name
        if facts.value("target", "iot_type") is not None:
            return _no(
                f"`{table}` is index-organized: its rows have no addresses by which it could be divided",
                "delete or change its rows by ranges of its key with a statement of your own",
            )
        if facts.value("target", "temporary") == "Y":
            return _no(
                f"`{table}` is a temporary table: each session sees the rows of its own alone",
                "its rows go with their session, or by a TRUNCATE there",
            )
        longs = [row["column_name"] for row in facts.rows("columns") if row.get("data_type") in LONG_TYPES]
        if longs and (work.archive is not None or work.mode is Mode.MEASUREMENT):
            return _no(
                f"`{longs[0]}` is a LONG, which no INSERT AS SELECT can copy (ORA-00997)",
                "convert it to a LOB first (ALTER TABLE ... MODIFY); as a job without --archive-to it can stay",
            )
        if work.assignments and not work.object.scratch and _may_move(facts):
            return _no(
                f"row movement of `{table}` is enabled: a row that moves meanwhile could be changed twice",
                "ALTER TABLE ... DISABLE ROW MOVEMENT for as long as this works, or use one UPDATE statement",
            )
        return None


class RowidsAsBegun(ChunksAsBegun):
    """Goes on with the ranges of rowids that a run began with, as long as they are those of the same rows."""

    def as_begun(self, facts: Facts, recorded: Facts) -> Facts:
        """Go on with the ranges as they were.

        Raises:
            ToolkitError: TK-0211 where DDL changed the table since, such as a MOVE or a SHRINK, which give rows
                other rowids: a range would hold other rows, and a row could be changed a second time.
        """
        begun, now = (each.value(IN_PLACE, "altered_at") for each in (recorded, facts))
        if begun is not None and now is not None and begun != now:
            raise ToolkitError(
                f"`{facts.value('target', 'table_name')}` was altered at {now}, after it was divided by rowids",
                code="TK-0211",
                hint="begin a new run; with --set, give it a condition that changed rows no longer meet",
            )
        return super().as_begun(facts, recorded)


class ChunksOfRowids(ChunkedChange, OracleInSession):
    """DELETE, also into an archive, and UPDATE."""

    degree_by_sessions, in_transaction = True, True
    address, address_type, address_moves = "ROWID", "ROWID", False
    keeps_notes, divides_copies = True, True
    table_files = (IN_PLACE, TRIGGERS, REFERRING)
    parts = RowidsAsBegun()

    def __init__(self) -> None:
        rows, notes = (
            ("DELETE ANY TABLE", "UPDATE ANY TABLE"),
            ("CREATE ANY TABLE", "COMMENT ANY TABLE", "DROP ANY TABLE"),
        )
        super().__init__(_Words(), elsewhere=(*rows, *notes))

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        return make_notes(notes, mark)

    def divide_copy(self, work: Work, bounds: ObjectRef, mark: str) -> tuple[Call, ...]:
        where = work.options.get("where")
        values: dict[str, ContextValue] = {
            "bounds": bounds.name,
            "table": work.object.name,
            "where": None if where is None else str(where),
            "size": chunk_rows(work.options),
        }
        made = Call("chunk_bounds", values, effect=Effect.CREATES, object=bounds, redo_bytes=archiving.DICTIONARY)
        return (made, comment(bounds, mark))

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        # A chunk that failed in this session has left its transaction open.
        begin = [Call("rollback", session=Role.WORKER)]
        if work.archive is not None:
            begin.append(Call("serializable", session=Role.WORKER))
        changes = (call for chunk in work.chunks for call in self.change(work, chunk, facts))
        commit = Call("commit", session=Role.WORKER, effect=Effect.COMMITS)
        return (*begin, *changes, *self.note(work), commit)

    def change(self, work: Work, chunk: Chunk, facts: Facts) -> tuple[Call, ...]:
        written = archiving.redo_of_rows(self.bytes_of(replace(work, chunks=(chunk,)), facts), work, facts)
        return tuple(replace(call, redo_bytes=written) for call in super().change(work, chunk, facts))

    def values(self, work: Work, chunk: Chunk, facts: Facts) -> dict[str, ContextValue]:
        bounds = None if work.bounds is None else work.bounds.name
        return {**super().values(work, chunk, facts), "bounds": bounds, "number": chunk.number}

    def note(self, work: Work) -> tuple[Call, ...]:
        if work.notes is None:
            return ()
        values: dict[str, ContextValue] = {"table": work.notes.name, "item": work.label}
        noted = Call("note_transaction", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.notes)
        return (replace(noted, redo_bytes=archiving.DICTIONARY),)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*OracleInSession.evidence(self, work, facts), *super().evidence(work, facts))

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found, counted = (
            OracleInSession.tell(self, work, kept, deltas, seconds),
            super().tell(work, kept, deltas, seconds),
        )
        return replace(
            found,
            metrics=(*found.metrics, *counted.metrics),
            sentences=(*found.sentences, *counted.sentences),
        )

    def refuse_address(self, work: Work, facts: Facts) -> Support | None:
        """Refuse nothing: a row that is changed keeps its rowid."""
        return None

    def endless_wait(self, work: Work, facts: Facts) -> EndlessWait | None:
        """Bound the wait for rows that others have locked, which no parameter does."""
        if work.object.scratch:
            return None
        return EndlessWait(Call("transaction_waits", file=True), lock_wait_seconds(work.options), ends_late=True)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*OracleInSession.remarks(self, work, facts), *super().remarks(work, facts))

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield from super()._remarks(work, facts)
        if work.object.scratch:
            return
        yield (
            "the rows of a chunk are locked until its COMMIT; a chunk that waits for rows of others is cancelled "
            f"after {lock_wait_seconds(work.options)} s (--lock-wait), and resume does it"
        )
        if work.archive is not None:
            yield "a chunk of which others change rows meanwhile fails with ORA-08177, and resume does it"
        if not work.assignments:
            yield "deleted rows leave room in their blocks for new ones; `dbatk table shrink` gives it back"
        yield from _beside(work, facts)


CHUNKS = ChunksOfRowids()


def _beside(work: Work, facts: Facts) -> Iterator[str]:
    """Say what else works on each row, and what may refuse its deletion."""
    verb = "UPDATE" if work.assignments else "DELETE"
    firing = [row["trigger_name"] for row in facts.rows(TRIGGERS) if verb in str(row.get("triggering_event"))]
    if firing:
        yield f"trigger {firing[0]} of `{work.object.name}` fires with each chunk"
    row = facts.first(REFERRING)
    if row and not work.assignments:
        yield (
            f"the foreign key {row['constraint_name']} of `{row['referring_schema']}.{row['referring_table']}` "
            f"refers to `{work.object.name}`: a chunk with a row that is referred to fails (ORA-02292), unless "
            "the key deletes such rows, too"
        )


def _may_move(facts: Facts) -> bool:
    row = facts.first(IN_PLACE)
    return bool(row) and str(row.get("row_movement") or "").strip().upper() != "DISABLED"


def _no(sentence: str, hint: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence, hint)
