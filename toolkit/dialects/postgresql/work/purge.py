"""DELETE and UPDATE in chunks, by n sessions: each takes the next range of the key, in a transaction of its own.

A range is one comparison of rows, `(a, b) >= (1, 2)`, so that the key's index finds it; texts of a key are spelled
as the server spelled them, and read as values of its columns.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.dialects.chunks import ChunkedChange
from toolkit.dialects.postgresql import space, support
from toolkit.dialects.postgresql.work.base import InSession
from toolkit.dialects.work import Call, Chunk, ContextValue, Work
from toolkit.model.facts import Facts
from toolkit.model.steps import Takes
from toolkit.model.values import Support
from toolkit.model.words import Mode


class ChangeInChunks(ChunkedChange, InSession):
    """DELETE, also into an archive, and UPDATE."""

    degree_by_sessions = True
    address = "ctid"
    address_type = "tid"

    archive_files = ("insert_filters",)

    def judge(self, work: Work, facts: Facts) -> Support | None:
        return self._judge_archive(work, facts) or self._judge_key(facts) or self.refuse_address(work, facts)

    def _judge_key(self, facts: Facts) -> Support | None:
        if not self.key(facts).is_address or facts.value("target", "partitioned") != "yes":
            return None
        return support.refused(
            "a partitioned table without a key cannot be divided: addresses of rows repeat in its partitions",
            "name each partition with --table, or add a primary key",
        )

    @staticmethod
    def _judge_archive(work: Work, facts: Facts) -> Support | None:
        """Refuse an archive that may silently not take a row which is deleted from the table."""
        if work.archive is None or not facts.rows("insert_filters"):
            return None
        row = facts.first("insert_filters")
        return support.refused(
            f"the {row['kind']} `{row['filter_name']}` of the archive may leave out rows that are deleted",
            "archive to a table without rules and BEFORE INSERT triggers",
        )

    def archived(self, work: Work, values: Mapping[str, ContextValue], facts: Facts) -> tuple[Call, ...]:
        """Do nothing apart: a DELETE hands its very rows to the INSERT of the same statement."""
        return ()

    def values(self, work: Work, chunk: Chunk, facts: Facts) -> dict[str, ContextValue]:
        always = any(row.get("identity") == "always" for row in facts.rows("archive_columns"))
        return {**super().values(work, chunk, facts), "overriding": always and work.archive is not None}

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        if work.archive is None:
            return ()
        size = self.bytes_of(work, facts)
        place = (
            space.new(None, facts)
            if work.archive.scratch
            else space.own(facts.value("archive", "tablespace"), facts)
        )
        return (Takes(size, place, unknown="" if size is not None else self.unsized(work)),)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*InSession.evidence(self, work, facts), *super().evidence(work, facts))

    sizes = ()

    def _remarks(self, work: Work, facts: Facts) -> Iterator[str]:
        yield from super()._remarks(work, facts)
        if work.mode is Mode.JOB:
            which = "former versions of changed rows" if work.assignments else "deleted rows"
            yield f"{which} make room for new ones after (auto)vacuum; the files stay as big as they are"
