"""PostgreSQL 14 to 18: everything particular to it, without a connection."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from toolkit.dialects import backups
from toolkit.dialects.answers import Check, ErrorAdvice, Grant, LockWaits, Room, Watching
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.postgresql import advice, checks, locks, names, objects, release, space, workers
from toolkit.dialects.postgresql.backup.programs import error_of
from toolkit.dialects.postgresql.settings import SETTINGS
from toolkit.dialects.postgresql.work import WORK
from toolkit.dialects.quiet import Quiet
from toolkit.dialects.settings import Settings
from toolkit.dialects.work import Call
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Attribute, ObjectRef, Place
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import ObjectKind, OperationName, Role


class PostgresqlDialect(Quiet):
    """PostgreSQL 14 to 18."""

    engine = "postgresql"
    doctor_files = checks.FILES
    copy_files: tuple[str, ...] = ()
    scheduler_files: tuple[str, ...] = ()
    work = WORK
    # REINDEX CONCURRENTLY waits for older snapshots; the second one on a table waits for the first one's lock with
    # such a snapshot: a deadlock. reindexdb gives all indexes of a table to one session for the same reason.
    online_rebuilds_apart = True
    # REINDEX CONCURRENTLY gives the name to a new relation with an oid of its own.
    keeps_identity = False
    usual_values = ((workers.ATTRIBUTE, workers.UNSET),)
    settings: Settings | None = SETTINGS

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

    def environment_files(self, release: Release) -> tuple[str, ...]:
        del release
        return ("environment", "environment_size")

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        return checks.checks(facts)

    def object_files(self, operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
        del calls
        return WORK.of(operation).object_files

    def grants(self, facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:
        return checks.grants(facts, operation)

    def watching(self, facts: Facts) -> Watching:
        return Watching(
            snapshots=release.snapshot_files(facts.release),
            gauges=release.GAUGES,
            samples=("sample_pgstat",),
            progress="progress",
        )

    def lock_waits(self, options: Mapping[str, OptionValue]) -> LockWaits:
        return locks.lock_waits(options)

    def sessions_there(self) -> Call | None:
        return Call("sessions_there", file=True)

    def sessions_waiting(self) -> Call | None:
        return Call("sessions_waiting", file=True)

    def claim(self) -> Call | None:
        return Call("claim", file=True)

    def transaction(self) -> tuple[Call, ...]:
        # The second one goes through another session: a commit there takes to disk that the id is in use.
        return (
            Call("transaction", session=Role.WORKER, file=True, keep_as="transaction"),
            Call("transaction_kept", file=True),
        )

    def transaction_end(self, noted: Mapping[str, Scalar]) -> tuple[Call, ...]:
        return (Call("transaction_end", file=True, binds=noted),)

    def program_error(self, name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
        return error_of(name, status, lines)

    # -- scratch objects ----------------------------------------------------------------------------------------
    def copy_table(
        self,
        source: QualifiedName,
        copy: ObjectRef,
        mark: str,
        facts: Facts,
        degree: int = 1,
        *,
        nologging: bool = False,
    ) -> tuple[Call, ...]:
        del degree, nologging
        return objects.copy_table(source, copy, mark, facts)

    def empty_copy(
        self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool
    ) -> tuple[Call, ...]:
        del facts
        return objects.empty_copy(source, copy, mark, bare=bare)

    def build_index_copy(
        self,
        index: IndexDefinition,
        copy: ObjectRef,
        on: QualifiedName,
        facts: Facts,
        degree: int = 1,
        *,
        nologging: bool = False,
    ) -> tuple[Call, ...]:
        del degree, nologging
        return objects.build_index_copy(index, copy, on, facts)

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        return objects.fill_copy(source, copy, columns, facts)

    def space_files(self, facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
        del facts, owners
        return (space.FILE,)

    def room(self, place: Place, facts: Facts) -> Room:
        return space.room(place, facts)

    def table_reads(self, table: QualifiedName, facts: Facts, prefix: str = "") -> tuple[Query, ...]:
        del facts
        binds = {"schema": table.schema, "name": table.name}
        return (Query(f"{prefix}virtual_columns", "virtual_columns", binds, optional=True),)

    def filled_reads(self, table: QualifiedName, facts: Facts) -> tuple[Query, ...]:
        return self.table_reads(table, facts)

    def reading_begin(self) -> tuple[Call, ...]:
        return (Call("reading_begin"), Call("instant", file=True))

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        return backups.remove(ref) if ref.kind is ObjectKind.BACKUP else objects.drop(ref)

    def identity(self, ref: ObjectRef) -> Call:
        return backups.look(ref) if ref.kind is ObjectKind.BACKUP else objects.identity(ref)

    def definition(self, ref: ObjectRef) -> Call | None:
        return objects.definition(ref)

    def unfinished(self, ref: ObjectRef) -> Call | None:
        return objects.unfinished(ref)

    def attributes(self, ref: ObjectRef) -> Call | None:
        return workers.attributes(ref)

    def scratch_objects(self) -> tuple[Call, ...]:
        return (Call("scratch_objects", file=True),)

    def renamed(self, ref: ObjectRef, identity: Scalar) -> Call | None:
        return objects.renamed(ref, identity)

    def by_hand(
        self, text: str, ref: ObjectRef, identity: Scalar, born: Scalar, restores: Sequence[Attribute] = ()
    ) -> Call | None:
        del born
        return objects.by_hand(text, ref, identity, restores)


DIALECT = PostgresqlDialect()
