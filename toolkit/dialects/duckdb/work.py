"""How DuckDB does each operation.

`threads` is one setting of the whole process, global to all cursors: several sessions with a degree each cannot be
had, and reading the setting back proves nothing. The granted degree is the number of threads of our process that
used CPU while the clock ran.
"""

# ruff: noqa: ARG002 (every implementation answers with the same arguments)

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolkit.dialects import new_tables, reclaimed, sizes, transfers
from toolkit.dialects.answers import Granted, TrialFindings
from toolkit.dialects.duckdb import backup, loading, reorganise, restore, space
from toolkit.dialects.duckdb.objects import comment, make_notes, marked, note, quote, transaction
from toolkit.dialects.duckdb.purge import InChunks
from toolkit.dialects.duckdb.workload import DuckdbWorkloads
from toolkit.dialects.implementations import Implementation, Implementations, Kept, Options
from toolkit.dialects.rows import rows_of
from toolkit.dialects.transfers import FileParts
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.model.facts import Facts, Probe
from toolkit.model.records import THREADS_AT_WORK
from toolkit.model.steps import ObjectRef, Takes, Until
from toolkit.model.values import QualifiedName, Support
from toolkit.model.words import Effect, Role, SupportState

_COMPRESSION = {"none": "uncompressed", "auto": "auto"}


def _refused(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


def _setting(template: str, **values: ContextValue) -> Call:
    return Call(template, values, session=Role.WORKER, effect=Effect.CHANGES)


def _change(template: str, work: Work, **values: ContextValue) -> Call:
    return Call(template, values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object)


class _InThreads(Implementation):
    """What all operations share: the degree is the process's `threads`."""

    def support(self, work: Work, facts: Facts) -> Support:
        if work.concurrency > 1:
            return _refused(
                "threads is one setting for the whole DuckDB process, so sessions cannot have a degree each"
            )
        if work.degree < 1:
            return _refused("DuckDB has no automatic degree; give a number")
        return self.judge(work) or Support(SupportState.SUPPORTED)

    def judge(self, work: Work) -> Support | None:
        """Say what of its own options stands in the way; None when nothing does."""
        return None

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_setting("set_threads", threads=work.degree),)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_setting("reset_threads"),)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Begin every trial with an empty write-ahead log."""
        return (Call("checkpoint", effect=Effect.CHANGES, tolerates=frozenset({"TransactionException"})),)

    def granted(self, work: Work, kept: Kept, peaks: Mapping[str, float], notices: tuple[str, ...]) -> Granted:
        source = THREADS_AT_WORK
        if "busy_threads" not in peaks:
            return Granted(None, source, "the statement was too short to detect which threads worked")
        busy = int(peaks["busy_threads"])
        if busy >= work.degree:
            return Granted(work.degree, source)
        return Granted(busy, source, f"{busy} of {work.degree} threads did the work")


def _compression(work: Work) -> Support | None:
    compression = str(work.option("compression"))
    if compression in _COMPRESSION:
        return None
    return _refused(f"DuckDB has no compression `{compression}`; use none or auto")


class _Load(_InThreads):
    """A table that is made or filled."""

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size, why = sizes.loaded_bytes(work, facts)
        return space.takes(size, facts, why)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        name = work.object.name
        text = ".".join(quote(part) for part in (name.schema, name.name) if part)
        return (Call("table_bytes", {"name": text}, session=Role.WORKER, keep_as="bytes"),)


def _rows(work: Work) -> dict[str, ContextValue]:
    return {"table": work.object.name, "source": work.source, "query": work.query, **rows_of(work)}


class _Ctas(_Load):
    """CREATE TABLE AS; the compression is a setting of the session."""

    def judge(self, work: Work) -> Support | None:
        return None if work.option("compression") is None else _compression(work)

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        compression = work.option("compression")
        calls = super().worker_begin(work, facts)
        if compression is None:
            return calls
        return (*calls, _setting("set_compression", method=_COMPRESSION[str(compression)]))

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        calls = super().worker_end(work, facts)
        return calls if work.option("compression") is None else (*calls, _setting("reset_compression"))

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        make = Call("ctas", _rows(work), session=Role.WORKER, effect=Effect.CREATES, object=work.object)
        return marked(make, work.mark)


class _Insert(_Load):
    """INSERT INTO ... SELECT; a job notes it within its transaction, which tells after a crash what is there."""

    keeps_notes, ends_by_commit = True, True

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        return make_notes(notes, mark)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        insert = _change("insert", work, **{**_rows(work), "columns": work.columns})
        return (insert,) if work.notes is None else transaction(insert, *note(work))


class _LoadFiles(_Load):
    """INSERT of what DuckDB's own readers read from a file."""

    parts = FileParts()
    keeps_notes, ends_by_commit = True, True

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return transfers.probes_of(options, transfers.bytes_of_commit(options, 0), 1)

    def support(self, work: Work, facts: Facts) -> Support:
        found = super().support(work, facts)
        return (loading.judge(work) or found) if found.ok else found

    def make_notes(self, notes: ObjectRef, mark: str) -> tuple[Call, ...]:
        return make_notes(notes, mark)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*loading.checks(work, facts), *super().prepare(work, facts))

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return loading.timed(work, facts)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        size, why = transfers.file_bytes(work)
        return space.takes(size, facts, why)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return transfers.told(work, kept, seconds)


class _TableCreate(Implementation):
    """CREATE TABLE for data files."""

    def support(self, work: Work, facts: Facts) -> Support:
        return Support(SupportState.SUPPORTED)

    def probes(self, options: Options, facts: Facts) -> tuple[Probe, ...]:
        return new_tables.probes_of(options)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (new_tables.create(work, tuple(map(loading.type_of, work.fields))),)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return (*new_tables.remarks_of(facts), *loading.remarks_of_types(work))


class _IndexBuild(_InThreads):
    """CREATE INDEX."""

    def judge(self, work: Work) -> Support | None:
        if any(key.column is None or key.ending for key in work.keys):
            return _refused("on DuckDB, dbatk indexes only plain columns: no expressions, no DESC")
        if work.option("on_live_objects"):
            return _refused("DuckDB has no invisible index; measure on the copy")
        return super().judge(work)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return space.takes(sizes.built_bytes(work.columns, facts), facts)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        values: dict[str, ContextValue] = {
            "index": QualifiedName(work.object.name.name),
            "table": work.object.table,
            "columns": work.columns,
            "unique": bool(work.option("unique")),
        }
        make = Call("index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)
        return marked(make, work.mark)


class _IndexRebuild(_InThreads):
    """DuckDB has no REINDEX: drop and build in one transaction, so that a kill leaves the old index."""

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return space.takes(sizes.rebuilt_bytes(work, {}), facts, until=Until.STEP)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        assert work.index is not None
        build = _change(
            "index_like", work, index=QualifiedName(work.object.name.name),
            table=work.object.table or work.index.table, unique=work.index.unique,
            definition=work.index.definition,
        )  # fmt: skip
        drop = _change("drop", work, kind="INDEX", name=work.object.name)
        return transaction(drop, build, *comment(work.object, work.mark, Role.WORKER))


class _StatsGather(_InThreads):
    """ANALYZE of a table."""

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_change("analyze", work, table=work.object.name),)


class _Vacuum(_InThreads):
    """CHECKPOINT: it alone writes the log into the file and frees the blocks of deleted rows."""

    whole_database = True

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        if not work.object.scratch:
            return ()
        return (*super().prepare(work, facts), reorganise.delete_sample(work))

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        return Call("reclaimed", file=True)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (_change("checkpoint", work),)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return reclaimed.tell(kept)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        said = "CHECKPOINT works on the whole database file, and waits for nobody: it fails while others write"
        return (said, reorganise.LOCKS[1])


class _Move(_InThreads):
    """All rows of a table taken out and put back, in one transaction."""

    table_files = reorganise.FILES

    def support(self, work: Work, facts: Facts) -> Support:
        found = super().support(work, facts)
        return found if not found.ok else reorganise.judge_move(work, facts) or found

    def left_out(self, work: Work, facts: Facts) -> str | None:
        return None if work.object.scratch else reorganise.referred_to(work, facts)

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return reorganise.takes_of_move(facts)

    def before_and_after(self, works: Sequence[Work], facts: Facts) -> Call | None:
        return Call("reclaimed", file=True)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return reorganise.move(work, facts)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return reclaimed.tell(kept)

    def remarks(self, work: Work, facts: Facts) -> tuple[str, ...]:
        return reorganise.LOCKS


class _Purge(InChunks, _InThreads):
    """DELETE in chunks."""

    def support(self, work: Work, facts: Facts) -> Support:
        found = self.hidden(facts) or self.refuse_address(work, facts)
        return found or _InThreads.support(self, work, facts)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return _InThreads.prepare(self, work, facts) if work.object.scratch else ()

    def takes(self, work: Work, facts: Facts) -> tuple[Takes, ...]:
        return () if work.archive is None else space.takes(None, facts, self.unsized(work))


class _Backup(backup.DuckdbBackups, _InThreads):
    """EXPORT DATABASE."""

    def judge(self, work: Work) -> Support | None:
        return backup.support(work)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return (*super().prepare(work, facts), *backup.prepare(work))

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return backup.timed(work)

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        return backup.evidence(work)

    def tell(self, work: Work, kept: Kept, deltas: Mapping[str, float], seconds: float) -> TrialFindings:
        return backup.tell(kept, seconds)


WORK = Implementations(
    "duckdb",
    {
        "ctas": _Ctas(),
        "insert": _Insert(),
        "load": _LoadFiles(),
        "table-create": _TableCreate(),
        "index-build": _IndexBuild(),
        "index-rebuild": _IndexRebuild(),
        "stats-gather": _StatsGather(),
        "vacuum": _Vacuum(),
        "table-move": _Move(),
        "purge": _Purge(),
        "backup": _Backup(),
        "workload": DuckdbWorkloads(),
        "restore-try": restore.DuckdbRestores(),
    },
)
