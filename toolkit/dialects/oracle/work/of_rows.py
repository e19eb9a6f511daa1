"""Rows that are put into a table: of a query, of files of the server, of files of this host."""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolkit.dialects import transfers
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import Implementation, Kept, Options
from toolkit.dialects.oracle.directories import DIRECTORIES
from toolkit.dialects.oracle.work import external, insert, load, sqlldr
from toolkit.dialects.oracle.work.base import COLUMNS, INDEXES
from toolkit.dialects.oracle.work.in_session import OracleInSession
from toolkit.dialects.transfers import FileParts
from toolkit.dialects.work import Call, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.steps import ObjectRef
from toolkit.model.words import OperationName


class _Insert(OracleInSession):
    """INSERT AS SELECT; also of files of the server, through an external table."""

    in_transaction, ends_by_commit = True, True

    def option_files(self, asked: Mapping[str, Sequence[object]]) -> tuple[str, ...]:
        directories = (DIRECTORIES,) if "external_files" in asked else ()
        return (*super().option_files(asked), *directories)

    def make_source(self, source: ObjectRef, work: Work, facts: Facts, mark: str) -> tuple[Call, ...]:
        return external.make(source, work, facts, mark)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        found, files = super().tell(work, kept, deltas, seconds), external.tell(work, kept)
        return replace(
            found, metrics=(*found.metrics, *files.metrics), sentences=(*found.sentences, *files.sentences)
        )

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*external.remarks(work), *super().remarks(work, facts))


class _LoadFiles(OracleInSession):
    """Array INSERT of what is in files, or SQL*Loader."""

    degree_by_sessions, ends_by_commit = True, True
    parts = FileParts()
    keeps_notes = True

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        if options.get("method") in sqlldr.METHODS:
            return ()  # the files are where the bundle runs
        size = transfers.bytes_of_commit(options, load.COMMIT_BYTES)
        return transfers.probes_of(options, size, transfers.sessions_of(options))

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        return load.make_notes(notes, mark)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        if sqlldr.is_asked(work):
            return sqlldr.tell(work, kept, seconds)
        return transfers.told(work, kept, seconds)

    def notes_transactions(self, options: Options) -> bool:
        return options.get("method") not in sqlldr.METHODS

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*sqlldr.remarks(work), *transfers.on_hosts(work), *super().remarks(work, facts))


_FILES = (COLUMNS, INDEXES, "doctor_object_archive")
WORK: Mapping[OperationName, Implementation] = {
    "insert": _Insert(insert, files=_FILES),
    "load": _LoadFiles(load, files=_FILES),
}
