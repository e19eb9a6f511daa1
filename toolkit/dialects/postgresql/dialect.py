"""PostgreSQL 14 to 18: everything particular to it, without a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.dialects.base import Call, Ceiling, Check, ErrorAdvice, Grant, Granted, Room, Told, Watching, Work
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.postgresql import advice, checks, names, objects, release, support
from toolkit.dialects.postgresql import granted as granting
from toolkit.dialects.postgresql import work as working
from toolkit.dialects.statistics import LiveStatistics
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import EngineName, OperationName


class PostgresqlDialect:
    """PostgreSQL 14 to 18."""

    engine = EngineName.POSTGRESQL
    upper_names = False
    terminator = ";"
    doctor_files = checks.FILES
    place_files: tuple[str, ...] = ()
    copy_files: tuple[str, ...] = ()
    space_files: tuple[str, ...] = ()
    gathers_schemas = False
    statistics: LiveStatistics | None = None
    degree_by_sessions: frozenset[OperationName] = frozenset({OperationName.STATS_GATHER})
    # REINDEX CONCURRENTLY waits for older snapshots; the second one on a table waits for the first one's lock with
    # such a snapshot: a deadlock. reindexdb gives all indexes of a table to one session for the same reason.
    online_rebuilds_apart = True
    # REINDEX CONCURRENTLY gives the name to a new relation with an oid of its own.
    keeps_identity = False

    # -- names and values ---------------------------------------------------------------------------------------
    def quote(self, name: str) -> str:
        return names.quote(name)

    def literal(self, value: Scalar) -> str:
        return names.literal(value)

    def parse_name(self, text: str, release: Release | None = None) -> QualifiedName:
        del release
        return names.parse_name(text)

    # -- the server ---------------------------------------------------------------------------------------------
    def release(self, server: Row) -> Release:
        return release.release_of(server)

    def assume(self, text: str) -> Facts:
        return release.assumed(text)

    def explain(self, code: str, message: str) -> ErrorAdvice | None:
        return advice.explain(code, message)

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        return checks.checks(facts)

    def object_files(self, operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def ceiling(self, facts: Facts, work: Work | None = None) -> Ceiling:  # noqa: ARG002
        return Ceiling()

    def grants(self, facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:  # noqa: ARG002
        return ()

    def watching(self, facts: Facts) -> Watching:
        return Watching(
            snapshots=release.snapshot_files(facts.release), samples=("sample_pgstat",), progress="progress"
        )

    def statement_id(self, text: str) -> str | None:
        del text
        return None

    # -- work ---------------------------------------------------------------------------------------------------
    def support(self, work: Work, facts: Facts) -> Support:
        return support.support(work, facts)

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return working.begin(work, facts)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        return working.end(work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        return working.prepare(work)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return working.timed(work, facts)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return working.evidence(work, facts)

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        return working.settle(work)

    def tell(
        self, work: Work, kept: Mapping[str, tuple[Row, ...]], deltas: Mapping[str, float], seconds: float
    ) -> Told:
        del work, kept, deltas, seconds
        return Told()

    def granted(
        self, work: Work, kept: Mapping[str, tuple[Row, ...]], peaks: Mapping[str, float], notices: tuple[str, ...]
    ) -> Granted:
        return granting.granted(work, kept, peaks, notices)

    def table_files(self, facts: Facts, *, filled: bool) -> tuple[str, ...]:
        del facts, filled
        return ()

    def room(self, facts: Facts, schema: str | None, tablespace: str | None) -> Room:
        del schema, tablespace
        said = facts.value("space", "free_byte_count")
        return Room(free_bytes=float(said) if isinstance(said, int | float) else None)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        del work, facts
        return ()

    # -- objects of ours ----------------------------------------------------------------------------------------
    def copy_table(self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
        del facts
        return objects.copy_table(source, copy, mark)

    def empty_copy(
        self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool
    ) -> tuple[Call, ...]:
        del facts
        return objects.empty_copy(source, copy, mark, bare=bare)

    def build_index_copy(
        self, index: IndexDefinition, copy: ObjectRef, on: QualifiedName, facts: Facts
    ) -> tuple[Call, ...]:
        del facts
        return objects.build_index_copy(index, copy, on)

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        del facts
        return objects.fill_copy(source, copy, columns)

    def index_reads(
        self, schema: str | None, name: str | None, facts: Facts, suffix: str = "", *, copied: bool = False
    ) -> tuple[Query, ...]:
        del schema, name, facts, suffix, copied
        return ()

    def has_rows(self, table: QualifiedName) -> Call:
        return Call("has_rows", {"table": table}, keep_as="has_rows")

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        return objects.drop(ref)

    def identity(self, ref: ObjectRef) -> Call:
        return objects.identity(ref)

    def absence(self, ref: ObjectRef) -> Call | None:
        del ref
        return None

    def instant(self) -> Call:
        return Call("instant", file=True)

    def by_hand(self, text: str, ref: ObjectRef, identity: Scalar, born: Scalar) -> Call | None:
        del born
        return objects.by_hand(text, ref, identity)

    def backup_reads(self, since: Scalar) -> Call | None:
        del since
        return None

    def backup_sentence(self, what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
        del what, since, rows
        return None

    def sessions_of(self, run: str) -> Call:
        return Call("sessions_of", file=True, binds={"run": run})


DIALECT = PostgresqlDialect()
