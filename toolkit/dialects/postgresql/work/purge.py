"""DELETE in chunks, by n sessions: each takes the next range of the key, in a transaction of its own.

A range is one comparison of rows, `(a, b) >= (1, 2)`, so that the key's index finds it; texts of a key are spelled
as the server spelled them, and read as values of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.chunks import ChunkedChange
from toolkit.dialects.postgresql import support
from toolkit.dialects.postgresql.work.base import InSession
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts
from toolkit.model.values import Support
from toolkit.model.words import Mode


class DeleteInChunks(ChunkedChange, InSession):
    """DELETE."""

    degree_by_sessions = True
    address = "ctid"
    address_type = "tid"

    def judge(self, work: Work, facts: Facts) -> Support | None:
        del work
        if not self.key(facts).is_address:
            return None
        if facts.value("target", "partitioned") == "yes":
            return support.refused(
                "a partitioned table without a key cannot be divided: addresses of rows repeat in its partitions",
                "name each partition with --table, or add a primary key",
            )
        return None

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*InSession.evidence(self, work, facts), *super().evidence(work, facts))

    sizes = ()

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield from super()._remarks(work, facts)
        if work.mode is Mode.JOB:
            yield "deleted rows make room for new ones after (auto)vacuum; the files stay as big as they are"
