"""The Oracle dialect: one object that answers the protocol, each answer from the module that knows it."""

# ruff: noqa: ARG002 (the protocol gives every engine the same arguments)
from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from toolkit.dialects.answers import Calibration, Check, DegreeLimit, ErrorAdvice, Grant, LockWaits, Room, Watching
from toolkit.dialects.auxiliaries import Auxiliaries
from toolkit.dialects.implementations import Implementations
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.oracle import (
    archiving,
    assumed,
    copies,
    degrees,
    doctor,
    errors,
    grants,
    index_facts,
    load_facts,
    names,
    objects,
    redo,
    releases,
    session,
    space,
    spfile,
)
from toolkit.dialects.oracle.auxiliary import AUXILIARY
from toolkit.dialects.oracle.backup import client as rman
from toolkit.dialects.oracle.calibration import CALIBRATION
from toolkit.dialects.oracle.redefinition import REDEFINITION
from toolkit.dialects.oracle.settings import SETTINGS
from toolkit.dialects.oracle.work import WORK, loads
from toolkit.dialects.oracle.work.base import USUAL
from toolkit.dialects.redefinitions import Redefinitions
from toolkit.dialects.settings import Settings
from toolkit.dialects.work import Call, Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts, Query, Release
from toolkit.model.protocols import DatabaseError
from toolkit.model.steps import Attribute, ObjectRef, Place, Step, Takes
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import EngineName, ObjectKind, OperationName


@dataclass(frozen=True)
class OracleDialect:
    """Oracle 11.2 to 26ai; see `toolkit.dialects.base.Dialect` for what each answer means."""

    engine: EngineName = "oracle"
    upper_names: bool = True
    terminator: str = ";"
    doctor_files: tuple[str, ...] = doctor.FILES
    place_files: tuple[str, ...] = doctor.PLACE_FILES
    copy_files: tuple[str, ...] = ()
    logs_file: str | None = archiving.FILE
    scheduler_files: tuple[str, ...] = ("scheduler_windows", "scheduler_statistics")
    gathers_schemas: bool = True
    work: Implementations = WORK
    settings: Settings | None = SETTINGS
    calibration: Calibration | None = CALIBRATION
    auxiliary: Auxiliaries | None = AUXILIARY
    redefinition: Redefinitions | None = REDEFINITION
    online_rebuilds_apart = False
    # OBJECT_ID and CREATED survive TRUNCATE, MOVE and REBUILD; DATA_OBJECT_ID does not (Database Reference,
    # ALL_OBJECTS).
    keeps_identity = True
    set_by_others: str | None = "ORA-20002"
    # An index has no comment, and that of a table is its owner's.
    usual_values: tuple[tuple[str, str], ...] = tuple(USUAL.items())

    def quote(self, name: str) -> str:
        return names.quote(name)

    def literal(self, value: Scalar) -> str:
        return names.literal(value)

    def parse_name(self, text: str, release: Release | None = None) -> QualifiedName:
        return names.parse_name(text, release)

    def release(self, server: Row) -> Release:
        return releases.read_release(server)

    def assume(self, text: str) -> Facts:
        return assumed.assume(text)

    def explain(self, code: str, message: str) -> ErrorAdvice | None:
        return errors.explain(code, message)

    def program_error(self, name: str, status: int, lines: Sequence[str]) -> DatabaseError | None:
        if name == spfile.CLIENT:
            return spfile.error(status, lines)
        if name == "oracle/datapump.par":
            from toolkit.dialects.oracle.datapump import client as datapump

            return datapump.error(status, lines)
        return rman.error(name, status, lines)

    def environment_files(self, release: Release) -> tuple[str, ...]:
        # V$SYSTEM_PARAMETER.DEFAULT_VALUE and DBA_REGISTRY_SQLPATCH came with 12.1 (Database Reference)
        if release.number < (12,):
            return ("environment_11", "environment_size")
        return ("environment", "environment_patches", "environment_size")

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        return doctor.checks(facts)

    def object_files(self, operation: OperationName, *, calls: bool = False) -> tuple[str, ...]:
        return doctor.object_files(operation, calls=calls)

    def degree_limit(self, facts: Facts, work: Work | None = None) -> DegreeLimit:
        return degrees.degree_limit(facts) if work is None else degrees.degree_limit_of(work, facts)

    def grants(self, facts: Facts, operation: OperationName | None = None) -> tuple[Grant, ...]:
        return grants.grants(facts, operation)

    def shown_by(self, name: QualifiedName, kind: ObjectKind, facts: Facts) -> str | None:
        return grants.shown_by(name, kind, facts)

    def watching(self, facts: Facts) -> Watching:
        return WATCHING

    def statement_id(self, text: str) -> str | None:
        return sql_id(text)

    def space_files(self, facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
        return load_facts.place_files(facts, owners)

    def table_reads(self, table: QualifiedName, facts: Facts, prefix: str = "") -> tuple[Query, ...]:
        return load_facts.table_reads(table, facts.release, prefix)

    def filled_reads(self, table: QualifiedName, facts: Facts) -> tuple[Query, ...]:
        return load_facts.filled_reads(table, facts.release)

    def room(self, place: Place, facts: Facts) -> Room:
        logs = archiving.room(facts) if archiving.FILE in (*facts.answers, *facts.refused) else None
        return logs if logs is not None and place == archiving.place(facts) else space.room(place, facts)

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
        return copies.copy_table(source, copy, mark, facts, degree, nologging=nologging)

    def empty_copy(
        self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool
    ) -> tuple[Call, ...]:
        return copies.empty_copy(source, copy, mark, facts, bare=bare)

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
        return objects.build_index_copy(index, copy, on, facts, degree, nologging=nologging)

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        return copies.fill_copy(source, copy, columns, facts)

    def logged(self, step: Step, facts: Facts) -> Takes | None:
        return archiving.logged(step, facts)

    def index_reads(
        self, schema: str | None, name: str | None, facts: Facts, suffix: str = "", *, copied: bool = False
    ) -> tuple[Query, ...]:
        return index_facts.reads(schema, name, facts, suffix, copied=copied)

    def has_rows(self, table: QualifiedName) -> Call:
        return objects.has_rows(table)

    def query_rows(self, query: str) -> Call:
        return Call("query_rows", {"query": query})

    def reading_begin(self) -> tuple[Call, ...]:
        return (Call("reading_begin"),)

    def count_target(self, work: Work) -> Call:
        return loads.count_target(work)

    def count_source(self, work: Work) -> Call:
        return loads.count_source(work)

    def in_one_go(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        return objects.in_one_go(calls)

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        return objects.drop(ref)

    def identity(self, ref: ObjectRef) -> Call:
        return objects.identity(ref)

    def absence(self, ref: ObjectRef) -> Call | None:
        return objects.absence(ref)

    def attributes(self, ref: ObjectRef) -> Call | None:
        return objects.attributes(ref)

    def definition(self, ref: ObjectRef) -> Call | None:
        return objects.definition(ref)

    def unfinished(self, ref: ObjectRef) -> Call | None:
        return objects.unfinished(ref)

    def instant(self) -> Call:
        return objects.instant()

    def scratch_objects(self) -> tuple[Call, ...]:
        return objects.scratch_objects()

    def renamed(self, ref: ObjectRef, identity: Scalar) -> Call | None:
        return objects.renamed(ref, identity)

    def still_as_read(self, ref: ObjectRef, change: Attribute) -> Call | None:
        return objects.still_as_read(ref, change)

    def by_hand(
        self, text: str, ref: ObjectRef, identity: Scalar, born: Scalar, restores: Sequence[Attribute] = ()
    ) -> Call | None:
        return objects.by_hand(text, ref, identity, born, restores)

    def backup_reads(self, since: Scalar) -> Call | None:
        return redo.backup_reads(since)

    def backup_sentence(self, what: str, since: Scalar, rows: Sequence[Row] | None) -> str | None:
        return redo.backup_sentence(what, since, rows)

    def sessions_of(self, run: str) -> Call:
        return objects.sessions_of(run)

    def lock_waits(self, options: Mapping[str, OptionValue]) -> LockWaits:
        return session.lock_waits(options)

    def claim(self) -> None:
        return None

    def sessions_there(self) -> None:
        return None

    def sessions_waiting(self) -> None:
        return None

    def sessions_everywhere(self, run: str) -> Call | None:
        return Call("sessions_everywhere", file=True, binds={"run": run})

    def other_instances(self) -> Call | None:
        return Call("other_instances", file=True)

    def transaction(self) -> tuple[Call, ...]:
        return ()

    def transaction_end(self, noted: Mapping[str, Scalar]) -> tuple[Call, ...]:
        if "notes_table" in noted:
            notes = QualifiedName(str(noted["notes_table"]), str(noted["notes_schema"]))
            return (Call("transaction_noted", {"table": notes, "item": noted["item"]}),)
        # A block returns no rows: it leaves its answer in CLIENT_INFO of the session.
        return (Call("transaction_end", noted), Call("transaction_told", file=True))


DIALECT = OracleDialect()


WATCHING = Watching(
    snapshots=(
        "snapshot_vstat_instance",
        "snapshot_vstat",
        "snapshot_vstat_waits",
        "snapshot_vstat_time",
        "snapshot_vstat_host",
        "snapshot_vstat_io",
        "snapshot_vstat_session",
        "snapshot_vstat_session_time",
        "snapshot_vstat_session_waits",
    ),
    samples=("sample_parallel", "sample_statements", "sample_temp"),
    progress="progress",
    plan="plan",
    together=True,
    after_evidence=False,
)

_DIGITS = "0123456789abcdfghjkmnpqrstuvwxyz"
_LENGTH = 13


def sql_id(text: str) -> str:
    """Return the SQL_ID of a statement as it is sent, so that it can be found without a search of V$SQL.

    It is the lower half of the MD5 of the text and a NUL, in base 32 (public since 2007; `select * from dual` is
    a5ks9fhw2v9s1 everywhere). A database whose character set spells the text otherwise has another one, and then
    finds nothing.
    """
    words = struct.unpack("<4I", hashlib.md5(text.encode() + b"\0", usedforsecurity=False).digest())
    number = words[2] << 32 | words[3]
    return "".join(_DIGITS[number >> 5 * place & 31] for place in reversed(range(_LENGTH)))
