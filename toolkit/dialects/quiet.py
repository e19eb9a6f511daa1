"""What an engine answers that has nothing to say on a matter: most of Oracle's matters are no other engine's.

A dialect that knows better overrides the one answer. See `toolkit.dialects.base.Dialect` for what each means.
"""

# ruff: noqa: ARG002 (the protocol gives every engine the same arguments)

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from toolkit.dialects.answers import (
    Calibration,
    Check,
    DegreeLimit,
    ErrorAdvice,
    Grant,
    LockWaits,
    Room,
    Watching,
)
from toolkit.dialects.auxiliaries import Auxiliaries
from toolkit.dialects.backups import failed
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.redefinitions import Redefinitions
from toolkit.dialects.rows import count_source, count_target
from toolkit.dialects.settings import Settings
from toolkit.dialects.work import Call, Work
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine as declared
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Attribute, ObjectRef, Place, PlaceKind, Step, Takes
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import EngineName, ObjectKind, OperationName


class Quiet:
    """Answers of an engine without tables, statement ids, plans, segments, redo and parts of indexes."""

    engine: EngineName
    upper_names = False
    terminator = ";"
    place_files: tuple[str, ...] = ()
    gathers_schemas = False
    copy_files: tuple[str, ...] = ()
    logs_file: str | None = None
    doctor_files: tuple[str, ...] = ()
    scheduler_files: tuple[str, ...] = ()
    online_rebuilds_apart = False
    keeps_identity = False
    set_by_others: str | None = None
    usual_values: tuple[tuple[str, str], ...] = ()
    settings: Settings | None = None
    calibration: Calibration | None = None
    auxiliary: Auxiliaries | None = None
    redefinition: Redefinitions | None = None

    def _lacks(self, what: str) -> ToolkitError:
        return ToolkitError(f"{declared(self.engine).title} has no {what} in dbatk", code="TK-0304")

    def explain(self, code: str, message: str) -> ErrorAdvice | None:
        return None

    def environment_files(self, release: Release) -> tuple[str, ...]:
        return ()

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        return ()

    def watching(self, facts: Facts) -> Watching:
        return Watching()

    def program_error(self, name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
        """Believe the exit status."""
        return None if status == 0 else failed(name, status, lines)

    def object_files(self, operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
        return ()

    def degree_limit(self, facts: Facts, work: Work | None = None) -> DegreeLimit:
        return DegreeLimit()

    def shown_by(self, name: QualifiedName, kind: ObjectKind, facts: Facts) -> str | None:
        return None

    def grants(self, facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:
        return ()

    def statement_id(self, text: str) -> str | None:
        return None

    def space_files(self, facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
        return ()

    def table_reads(self, table: QualifiedName, facts: Facts, prefix: str = "") -> tuple[Query, ...]:
        return ()

    def filled_reads(self, table: QualifiedName, facts: Facts) -> tuple[Query, ...]:
        return ()

    def room(self, place: Place, facts: Facts) -> Room:
        """Ask the file system of a folder; of another place nothing is known."""
        if place.kind is PlaceKind.FOLDER and place.name:
            return Room(folder=place.name)
        return Room(unknown=f"{declared(self.engine).title} does not report it")

    def logged(self, step: Step, facts: Facts) -> Takes | None:
        return None

    def index_reads(
        self, schema: str | None, name: str | None, facts: Facts, suffix: str = "", *, copied: bool = False
    ) -> tuple[Query, ...]:
        return ()

    def absence(self, ref: ObjectRef) -> Call | None:
        return None

    def backup_reads(self, since: Scalar) -> Call | None:
        return None

    def backup_sentence(self, what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
        return None

    # -- tables: an engine that has them overrides these
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
        raise self._lacks("copies of tables")

    def empty_copy(
        self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool
    ) -> tuple[Call, ...]:
        raise self._lacks("copies of tables")

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
        raise self._lacks("copies of indexes")

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        raise self._lacks("copies of tables")

    def in_one_go(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        return tuple(calls)

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        raise self._lacks("objects to drop")

    def identity(self, ref: ObjectRef) -> Call:
        raise self._lacks("objects to identify")

    def attributes(self, ref: ObjectRef) -> Call | None:
        return None

    def definition(self, ref: ObjectRef) -> Call | None:
        return None

    def unfinished(self, ref: ObjectRef) -> Call | None:
        return None

    def scratch_objects(self) -> tuple[Call, ...]:
        return ()

    def renamed(self, ref: ObjectRef, identity: Scalar) -> Call | None:
        return None

    def still_as_read(self, ref: ObjectRef, change: Attribute) -> Call | None:
        return None

    def by_hand(
        self, text: str, ref: ObjectRef, identity: Scalar, born: Scalar, restores: Sequence[Attribute] = ()
    ) -> Call | None:
        return None

    def instant(self) -> Call:
        return Call("instant", file=True)

    def sessions_of(self, run: str) -> Call:
        return Call("sessions_of", file=True, binds={"run": run})

    def sessions_there(self) -> Call | None:
        return None

    def sessions_waiting(self) -> Call | None:
        return None

    def lock_waits(self, options: Mapping[str, OptionValue]) -> LockWaits:
        return LockWaits()

    def claim(self) -> Call | None:
        return None

    def transaction(self) -> tuple[Call, ...]:
        return ()

    def transaction_end(self, noted: Mapping[str, Scalar]) -> tuple[Call, ...]:
        return ()

    def sessions_everywhere(self, run: str) -> Call | None:
        return None

    def other_instances(self) -> Call | None:
        return None

    def has_rows(self, table: QualifiedName) -> Call:
        return Call("has_rows", {"table": table}, keep_as="has_rows")

    def query_rows(self, query: str) -> Call:
        return Call("query_rows", {"query": query})

    def reading_begin(self) -> tuple[Call, ...]:
        return (Call("reading_begin"),)

    def count_target(self, work: Work) -> Call:
        return count_target(work)

    def count_source(self, work: Work) -> Call:
        return count_source(work)
