"""Rows that are changed or removed chunk by chunk: a table in ranges of its key, each in a short transaction.

A survey reads the keys of all matching rows once, in order, and notes every n-th: so each chunk has as many rows
as were asked for, however the keys are spread, and the rows are counted before. A chunk begins at its first key
and ends before that of the next; what begins to match meanwhile is treated with the chunk that it falls into, and
what lies beyond the last key is left to the next run.

A table without a key is divided by the addresses of its rows. That is safe for removing: a row that moves
meanwhile may be left out, which the count afterwards shows, but none is removed twice. A row that is changed
moves, and would be changed again where its new address comes later: so rows are changed by a key alone. In a copy
addresses are those of rows that stand close together, so that its first and last chunk have no end.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Implementation, Implementations, Kept, Options
from toolkit.dialects.work import Call, Chunk, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.records import Metric
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, Mode, OperationName, Role, SupportState
from toolkit.units import counted, number

MATCHING = "matching"
"""Key of the answer whether rows of the table do not match (column `others`)."""
KEY_FILE = "key_columns"
AFTER = "rest"
_CHUNKS = "chunks_"
CHUNK_ROWS = 10_000
MOST_CHUNKS = 100_000


@dataclass(frozen=True, slots=True)
class Key:
    """What a table is divided by: the columns of a key, or the address of its rows.

    Attributes:
        columns: as the catalogue spells them.
        types: their types, as the catalogue spells them.
        name: of the constraint or index; empty for an address.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...] = ()
    name: str = ""

    @property
    def is_address(self) -> bool:
        return not self.name


def survey_key(chunk: int) -> str:
    """Return the key of the answer that divides a table into chunks of so many rows."""
    return f"{_CHUNKS}{chunk}"


def chunks_in(rows: Sequence[Row], size: int) -> tuple[Chunk, ...]:
    """Return the chunks that a survey noted: the row that begins each, and the very last one."""
    noted = [(int(str(row["row_number"])), _values(row)) for row in rows]
    begins = [(at, key) for at, key in noted if (at - 1) % size == 0]
    if not begins:
        return ()
    total, last = noted[-1]
    ends = [*((at, key, False) for at, key in begins[1:]), (total + 1, last, True)]
    return tuple(
        Chunk(low, high, begin == 1, closed, end - begin, number)
        for number, ((begin, low), (end, high, closed)) in enumerate(zip(begins, ends, strict=True), 1)
    )


def _values(row: Row) -> tuple[str, ...]:
    names = sorted((name for name in row if name.startswith("key_")), key=lambda name: int(name[4:]))
    return tuple(str(row[name]) for name in names)


def matching_rows(facts: Facts) -> int:
    """Return how many rows matched when they were counted."""
    return max(
        (
            int(str(rows[-1]["row_number"]))
            for key, rows in facts.answers.items()
            if key.startswith(_CHUNKS) and rows
        ),
        default=0,
    )


def _part(work: Work, first: int, chunks: tuple[Chunk, ...], total: int) -> Work:
    which = f"chunk {first + 1}" if len(chunks) == 1 else f"chunks {first + 1} to {first + len(chunks)}"
    return replace(work, chunks=chunks, label=f"{work.object.name} {which} of {total}")


def chunk_rows(options: Options) -> int:
    """Return how many rows a chunk is to have."""
    return int(str(options.get("chunk") or CHUNK_ROWS))


class ChunksAsBegun:
    """Goes on with the chunks that a run began with: each is named by its number among them."""

    even_alone = True

    def divided(self, work: Work, sessions: int, facts: Facts) -> tuple[tuple[str, Work], ...]:
        return (("", work),)

    def as_begun(self, facts: Facts, recorded: Facts) -> Facts:
        kept = {key: rows for key, rows in recorded.answers.items() if key == MATCHING or key.startswith(_CHUNKS)}
        keys = {KEY_FILE: recorded.rows(KEY_FILE)} if KEY_FILE in recorded.answers else {}
        return replace(facts, answers={**facts.answers, **kept, **keys})

    def source_changed(self, source: QualifiedName, proof: Mapping[str, Scalar]) -> Call | None:
        return None

    def still_there(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        return None

    def delete_by_hand(self, table: QualifiedName, noted: Sequence[Mapping[str, Scalar]]) -> Call | None:
        return None


class ChunkedChange(Implementation):
    """How rows are removed or changed in chunks; an engine says by which key, and has the templates.

    `survey_chunks` and `survey_rest` read before planning, `chunk_delete` works, `count_matching` counts after it.
    """

    address: str
    """The pseudo-column that addresses a row."""
    address_type: str = ""
    address_moves: bool = True
    """Whether others may move a row to an address that was worked on already."""
    archive_files: tuple[str, ...] = ()
    """SQL files about the table of `--archive-to` (binds `schema` and `name`)."""
    keeps_notes: bool = False
    """Whether each transaction is noted in a table of the run's own, since the engine cannot tell how it ended."""
    divides_copies: bool = False
    """Whether addresses of a copy are others than those of its table: then the copy is divided anew."""
    table_files: tuple[str, ...] = (KEY_FILE,)
    ends_by_commit = True
    parts = ChunksAsBegun()

    def key(self, facts: Facts) -> Key:
        """Return what the table is divided by, from what was read of its keys."""
        rows = facts.rows(KEY_FILE)
        if not rows:
            return Key((self.address,), (self.address_type,))
        columns, types = (tuple(str(row[name]) for row in rows) for name in ("column_name", "data_type"))
        return Key(columns, types, str(rows[0]["key_name"]))

    def ordered(self, firsts: tuple[int, ...], facts: Facts) -> tuple[int, ...]:
        """Return the transactions, by their first chunks, in the order in which they are to be worked on."""
        return firsts

    def survey(self, options: Options, facts: Facts) -> tuple[Call, ...]:
        table = facts.first("target")
        if not table or facts.value("target", "kind", "table") != "table":
            return ()
        size, key = chunk_rows(options), self.key(facts)
        values: dict[str, ContextValue] = {
            "table": QualifiedName(str(table["table_name"]), str(table["schema_name"])),
            "where": _where(options),
        }
        of_chunks = {**values, "key": key.columns, "size": size}
        return (
            Call("survey_rest", values, keep_as=MATCHING),
            Call("survey_chunks", of_chunks, keep_as=survey_key(size)),
        )

    def in_transactions(self, work: Work, chunks: tuple[Chunk, ...], each: int, facts: Facts) -> tuple[Work, ...]:
        """Divide a work into transactions, each with its label; at least one, which does nothing.

        Args:
            work: on the table.
            chunks: of the table.
            each: how many chunks a transaction has.
            facts: of the table's key.
        """
        if not chunks:
            return (replace(work, chunks=(Chunk(),), label=f"{work.object.name} without a chunk"),)
        firsts = self.ordered(tuple(range(0, len(chunks), each)), facts)
        return tuple(_part(work, first, chunks[first : first + each], len(chunks)) for first in firsts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        begin = Call("begin", session=Role.WORKER)
        commit = Call("commit", session=Role.WORKER, effect=Effect.COMMITS)
        changes = (call for chunk in work.chunks for call in self.change(work, chunk, facts))
        return (begin, *changes, *self.note(work), commit)

    def change(self, work: Work, chunk: Chunk, facts: Facts) -> tuple[Call, ...]:
        """Spell what is done to one chunk."""
        values = self.values(work, chunk, facts)
        if work.assignments:
            return (self.called("chunk_update", work.object, values),)
        first = self.archived(work, values, facts)
        return (*first, self.called("chunk_delete", work.object, values, same_rows=bool(first)))

    def archived(self, work: Work, values: Mapping[str, ContextValue], facts: Facts) -> tuple[Call, ...]:
        """Copy the rows of a chunk to the archive, where that is a statement of its own."""
        if work.archive is None:
            return ()
        return (self.called("chunk_archive", work.archive, values, same_rows=True),)

    @staticmethod
    def called(
        template: str, ref: ObjectRef, values: Mapping[str, ContextValue], *, same_rows: bool = False
    ) -> Call:
        """Call a template of a chunk in the worker's session."""
        return Call(template, values, session=Role.WORKER, effect=Effect.CHANGES, object=ref, same_rows=same_rows)

    def values(self, work: Work, chunk: Chunk, facts: Facts) -> dict[str, ContextValue]:
        """Return what the templates of a chunk take."""
        key = self.key(facts)
        anywhere = key.is_address and work.object.scratch
        return {
            "table": work.object.name,
            "key": key.columns,
            "types": key.types,
            "nothing": not chunk.low,
            "low": () if anywhere and chunk.first else chunk.low,
            "high": () if anywhere and chunk.closed else chunk.high,
            "closed": chunk.closed,
            "where": _where(work.options),
            "archive": None if work.archive is None else work.archive.name,
            "columns": work.columns,
            "set_columns": tuple(column for column, _ in work.assignments),
            "expressions": tuple(expression for _, expression in work.assignments),
        }

    def note(self, work: Work) -> tuple[Call, ...]:
        """Note a transaction in the table of notes."""
        return ()

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        """Create the table of notes."""
        return ()

    def divide_copy(self, work: Work, bounds: ObjectRef, mark: str) -> tuple[Call, ...]:
        """Create the table with the first row of each chunk of a copy."""
        return ()

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Count what still matches; copies are dropped, so nobody asks there."""
        if work.mode is not Mode.JOB:
            return ()
        values: dict[str, ContextValue] = {"table": work.object.name, "where": _where(work.options)}
        return (Call("count_matching", values, session=Role.WORKER, keep_as=AFTER),)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        rows = kept.get(AFTER, ())
        if not rows:
            return TrialFindings()
        left = int(str(rows[0]["row_count"]))
        name = "rows_matching_after" if work.assignments else "rows_left"
        metrics = (
            Metric("rows_before", float(work.matching), "rows", "count before"),
            Metric(name, float(left), "rows", "count after"),
        )
        if not left or work.assignments:
            return TrialFindings(metrics)
        return TrialFindings(
            metrics,
            (
                f"`{work.object.name}` has {counted(left, 'row')} left to which the condition applies: "
                "they came or were changed meanwhile, and the next run finds them",
            ),
        )

    def refuse_address(self, work: Work, facts: Facts) -> Support | None:
        """Refuse to change rows by their addresses: a changed row may have a later one."""
        if not work.assignments or not self.key(facts).is_address:
            return None
        sentence = "the table has no key, and by its address a row could be changed twice"
        return Support(SupportState.UNSUPPORTED, sentence, "add a primary key, or use one UPDATE statement")

    def bytes_of(self, work: Work, facts: Facts) -> float | None:
        """Estimate the bytes of the rows of one transaction, as rows of the table have on average."""
        rows, size = facts.value("target", "row_estimate"), facts.value("target", "byte_count")
        if not isinstance(rows, int | float) or not isinstance(size, int | float) or rows < 1:
            return None
        return float(size) / float(rows) * sum(chunk.rows for chunk in work.chunks)

    @staticmethod
    def unsized(work: Work) -> str:
        """Say why the bytes of rows are not known."""
        return f"how many bytes the rows of `{work.object.name}` have is not known"

    def ahead(self, works: Sequence[Work], facts: Facts) -> str:
        """Say how many rows match, and how they are divided."""
        key, size = self.key(facts), chunk_rows(works[0].options)
        chunks = sum(len(work.chunks) for work in works if work.matching)
        by = f"the address of its rows ({self.address})" if key.is_address else f"key {', '.join(key.columns)}"
        several = f", {counted(len(works), 'transaction')}" if chunks > len(works) else ""
        divided = f", in {counted(chunks, 'chunk')} of at most {number(size)} by {by}{several}" if chunks else ""
        return f"the condition applies to {counted(works[0].matching, 'row')} of `{works[0].object.name}`{divided}"

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return tuple(self._remarks(work, facts))

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        if self.key(facts).is_address and work.object.scratch and not self.divides_copies:
            yield "the table has no key, and in a copy rows stand closer: chunks may have more or fewer rows there"
        elif self.key(facts).is_address and self.address_moves:
            yield "the table has no key: a row that others change meanwhile may be left (it is counted afterwards)"
        if work.mode is Mode.JOB:
            yield "there is no undo: what is committed stays; `dbatk runs resume` goes on after an interruption"


def _where(options: Options) -> str | None:
    where = options.get("where")
    return None if where is None else str(where)


def chunked(work: Implementations, operation: OperationName) -> ChunkedChange:
    """Return how an engine works in chunks.

    Raises:
        ToolkitError: TK-0304 where it does not.
    """
    found = work.of(operation)
    if not isinstance(found, ChunkedChange):
        raise work.refusal(operation)
    return found
