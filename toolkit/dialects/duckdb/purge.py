"""DELETE in chunks on DuckDB, which cannot tell later how a transaction ended: each leaves a note in a table.

Addresses of rows (`rowid`) move down when a checkpoint rewrites a table with deleted rows, never up: chunks by
them are worked on from the highest address to the lowest, so that no row slips past.
"""

from __future__ import annotations

from toolkit.dialects.chunks import ChunkedChange
from toolkit.dialects.duckdb.objects import make_notes, note
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Support
from toolkit.model.words import SupportState


class InChunks(ChunkedChange):
    """What is DuckDB's own of it."""

    address = "rowid"
    address_type = "BIGINT"
    address_moves = False
    keeps_notes = True

    def hidden(self, facts: Facts) -> Support | None:
        """Refuse addresses where a column hides them."""
        named = any(str(row["column_name"]).lower() == self.address for row in facts.rows("columns"))
        if not named or not self.key(facts).is_address:
            return None
        sentence = "the table has no primary key, and a column `rowid` hides the addresses of its rows"
        return Support(SupportState.UNSUPPORTED, sentence, "add a primary key, or rename the column")

    def ordered(self, firsts: tuple[int, ...], facts: Facts) -> tuple[int, ...]:
        return firsts[::-1] if self.key(facts).is_address else firsts

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        return make_notes(notes, mark)

    def note(self, work: Work) -> tuple[Call, ...]:
        return note(work)
