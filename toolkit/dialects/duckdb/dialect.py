"""How DuckDB spells the work: names, support, and the calls of each operation.

`threads` is one setting of the whole process, global to all cursors: several sessions with a degree each cannot be
had, and reading the setting back proves nothing. The granted degree is the number of threads of our process that
used CPU while the clock ran.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolkit.dialects import backups
from toolkit.dialects.answers import Check, ErrorAdvice, Granted, TrialFindings, Watching
from toolkit.dialects.backups import Backups
from toolkit.dialects.duckdb import backup
from toolkit.dialects.duckdb.errors import ERRORS
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.names import bad_name, split_name
from toolkit.dialects.quiet import Quiet
from toolkit.dialects.rows import ALL_ROWS, count_source, count_target, rows_of
from toolkit.dialects.work import Call, ContextValue, Work
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName, Row, Scalar, Support
from toolkit.model.words import Effect, ObjectKind, OperationName, Role, SupportState

_OLDEST = (2,)
"""The release that `pyproject.toml` requires: the engine is a library of this process."""
_ASSUME = "write --assume 2.0"
_PLAIN = re.compile(r"[^\W\d]\w*")
_TABLE_HEAD = re.compile(r'CREATE TABLE (?:"(?:[^"]|"")*"|[^\s."(]+)(?:\.(?:"(?:[^"]|"")*"|[^\s."(]+))*')
_COMPRESSION = {"none": "uncompressed", "auto": "auto"}
_SUPPORTED = Support(SupportState.SUPPORTED)


def _refused(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)


def _of_index(work: Work) -> Support | None:
    if any(key.column is None or key.descending for key in work.keys):
        return _refused(
            "dbatk indexes plain columns on DuckDB, whose indexes know no order: no expression, no DESC"
        )
    if work.option("on_live_objects") and work.operation == "index-build":
        return _refused("DuckDB has no invisible index; measure on the copy")
    return None


def _compression_of_tables(work: Work) -> object:
    """Return the compression that is a setting of the session; that of an export is its own."""
    return None if work.operation == "backup" else work.option("compression")


def _keyword(ref: ObjectRef) -> str:
    return "INDEX" if ref.kind is ObjectKind.INDEX else "TABLE"


class DuckdbDialect(Quiet):
    """DuckDB 2.0 and later."""

    engine = "duckdb"
    doctor_files = ("settings",)
    copy_files = ("table_definition",)
    scheduler_files: tuple[str, ...] = ()
    backups: Backups | None = backup.DuckdbBackups()
    degree_by_sessions: frozenset[OperationName] = frozenset()
    online_rebuilds_apart = False
    keeps_identity = False

    # -- names and values ---------------------------------------------------------------------------------------
    def quote(self, name: str) -> str:
        if not name or "\0" in name:
            raise bad_name(name.replace("\0", "\\0"), "it is empty or holds a NUL character")
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: Scalar) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, bool | int | float):
            return str(value).upper() if isinstance(value, bool) else str(value)
        return "'" + value.replace("'", "''") + "'"

    def parse_name(self, text: str, release: Release | None = None) -> QualifiedName:
        del release
        return split_name(text, str, _PLAIN, 1024)

    # -- the server ---------------------------------------------------------------------------------------------
    def release(self, server: Row) -> Release:
        text = str(server.get("version_text", ""))
        return Release(tuple(int(part) for part in re.findall(r"\d+", text)[:3]), "", text)

    def assume(self, text: str) -> Facts:
        if not re.fullmatch(r"v?\d+(\.\d+){0,2}", text):
            raise ToolkitError(f"`{text}` is no release of DuckDB", code="TK-0102", hint=_ASSUME)
        server: Row = {"version_text": text, "current_schema": "main", "database_name": "memory", "cpu_count": 1}
        release = self.release(server)
        if release.number < _OLDEST:
            raise ToolkitError(
                f"DuckDB {text.removeprefix('v')} is older than {_OLDEST[0]}.0, the oldest supported release",
                code="TK-0102",
                hint=_ASSUME,
            )
        return Facts(self.engine, release, {"server": (server,)}, assumed=True)

    def explain(self, code: str, message: str) -> ErrorAdvice | None:
        del message
        return ERRORS.get(code)

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        settings = {str(row["name"]): row["value"] for row in facts.rows("settings")}
        threads = settings.get("threads")
        lines = [
            Check("release", "ok", f"DuckDB {facts.release.text.removeprefix('v')}"),
            Check("threads", "ok", f"{threads} threads",
                  "the default degree of every statement, one setting for the whole process",
                  "sweep --degree to see what helps"),
            Check("memory", "ok", f"limit {settings.get('memory_limit')}",
                  "above it sorts and hash tables spill to the temporary folder"),
            Check("temporary folder", "ok" if settings.get("temp_directory") else "warning",
                  f"{settings.get('temp_directory') or 'none'}, at most {settings.get('max_temp_directory_size')}",
                  "" if settings.get("temp_directory") else "work larger than memory fails",
                  "" if settings.get("temp_directory") else "SET temp_directory = 'folder'"),
            Check("several sessions", "note", "threads is shared by all sessions of the process",
                  "--concurrency above 1 is not supported"),
            Check("statistics", "note", "ANALYZE has no sampling and no degree of its own"),
        ]  # fmt: skip
        if settings.get("preserve_insertion_order") == "true":
            lines.append(
                Check("insertion order", "note", "preserve_insertion_order is on",
                      "rows are kept in order, which costs memory and some speed in CTAS and INSERT",
                      "SET preserve_insertion_order = false, where order does not matter")
            )  # fmt: skip
        return tuple(lines)

    def watching(self, facts: Facts) -> Watching:
        del facts
        return Watching(snapshots=("snapshot_duckstat",), samples=("sample",))

    # -- work ---------------------------------------------------------------------------------------------------
    def support(self, work: Work, facts: Facts) -> Support:
        del facts
        if work.concurrency > 1:
            return _refused(
                "threads is one setting for the whole DuckDB process, so sessions cannot have a degree each"
            )
        if work.degree < 1:
            return _refused("DuckDB has no automatic degree; give a number")
        if work.operation == "backup":
            return backup.support(work) or _SUPPORTED
        compression = work.option("compression")
        if compression is not None and str(compression) not in _COMPRESSION:
            return _refused(f"DuckDB knows no compression `{compression}`; it takes none or auto")
        if compression is not None and work.operation != "ctas":
            return _refused("an index of DuckDB is never compressed")
        return _of_index(work) or _SUPPORTED

    def worker_begin(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        calls = [Call("set_threads", {"threads": work.degree}, session=Role.WORKER, effect=Effect.CHANGES)]
        compression = _compression_of_tables(work)
        if compression is not None:
            method = _COMPRESSION[str(compression)]
            calls.append(Call("set_compression", {"method": method}, session=Role.WORKER, effect=Effect.CHANGES))
        return tuple(calls)

    def worker_end(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        calls = [Call("reset_threads", session=Role.WORKER, effect=Effect.CHANGES)]
        if _compression_of_tables(work) is not None:
            calls.append(Call("reset_compression", session=Role.WORKER, effect=Effect.CHANGES))
        return tuple(calls)

    def prepare(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        """Begin every trial with an empty write-ahead log."""
        del facts
        checkpoint = Call("checkpoint", effect=Effect.CHANGES, tolerates=frozenset({"TransactionException"}))
        folder = backup.prepare(work) if work.operation == "backup" else ()
        return (checkpoint, *folder)

    def timed(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        if work.operation == "ctas":
            return self._marked(work, self._ctas(work))
        if work.operation == "insert":
            return (self._insert(work),)
        if work.operation == "index-build":
            return self._marked(work, self._build(work))
        if work.operation == "index-rebuild":
            return self._rebuild(work)
        if work.operation == "backup":
            return backup.timed(work)
        return (
            Call(
                "analyze",
                {"table": work.object.name},
                session=Role.WORKER,
                effect=Effect.CHANGES,
                object=work.object,
            ),
        )

    def _ctas(self, work: Work) -> Call:
        values: dict[str, ContextValue] = {
            "table": work.object.name, "source": work.source, "query": work.query, **rows_of(work),
        }  # fmt: skip
        return Call("ctas", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)

    def _insert(self, work: Work) -> Call:
        values: dict[str, ContextValue] = {
            "table": work.object.name, "source": work.source, "query": work.query, **rows_of(work),
            "columns": work.columns,
        }  # fmt: skip
        return Call("insert", values, session=Role.WORKER, effect=Effect.CHANGES, object=work.object)

    def _build(self, work: Work) -> Call:
        values: dict[str, ContextValue] = {
            "index": QualifiedName(work.object.name.name),
            "table": work.object.table,
            "columns": work.columns,
            "unique": bool(work.option("unique")),
        }
        return Call("index_build", values, session=Role.WORKER, effect=Effect.CREATES, object=work.object)

    def _rebuild(self, work: Work) -> tuple[Call, ...]:
        """DuckDB has no REINDEX: drop and build in one transaction, so that a kill leaves the old index."""
        assert work.index is not None
        on = work.object.table or work.index.table
        drop = Call("drop", {"kind": "INDEX", "name": work.object.name}, session=Role.WORKER,
                    effect=Effect.CHANGES, object=work.object)  # fmt: skip
        build = Call("index_like", {"index": QualifiedName(work.object.name.name), "table": on,
                                    "unique": work.index.unique, "definition": work.index.definition},
                     session=Role.WORKER, effect=Effect.CHANGES, object=work.object)  # fmt: skip
        comment = self._comment(work.object, work.mark, Role.WORKER)
        return self._transaction(drop, build, *comment)

    def _marked(self, work: Work, call: Call) -> tuple[Call, ...]:
        """Make and mark in one transaction: whatever of ours exists bears its mark."""
        comment = self._comment(work.object, work.mark, Role.WORKER)
        return self._transaction(call, *comment) if comment else (call,)

    def _comment(self, ref: ObjectRef, mark: str | None, session: Role) -> tuple[Call, ...]:
        if mark is None:
            return ()
        values: dict[str, ContextValue] = {"kind": _keyword(ref), "name": ref.name, "text": mark}
        return (Call("comment", values, session=session, effect=Effect.CHANGES, object=ref),)

    def _transaction(self, *calls: Call) -> tuple[Call, ...]:
        session = calls[0].session
        begin = Call("begin", session=session, effect=Effect.COMMITS)
        return (begin, *calls, Call("commit", session=session, effect=Effect.COMMITS))

    def evidence(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del facts
        if work.operation == "backup":
            return backup.evidence(work)
        if work.object.kind is not ObjectKind.TABLE or work.operation == "stats-gather":
            return ()
        name = work.object.name
        text = ".".join(self.quote(part) for part in (name.schema, name.name) if part)
        return (Call("table_bytes", {"name": text}, session=Role.WORKER, keep_as="bytes"),)

    def tell(
        self, work: Work, kept: Mapping[str, tuple[Row, ...]], deltas: Mapping[str, float], seconds: float
    ) -> TrialFindings:
        del deltas
        return backup.tell(kept, seconds) if work.operation == "backup" else TrialFindings()

    def settle(self, work: Work, facts: Facts) -> tuple[Call, ...]:
        del work, facts
        return ()

    def granted(
        self, work: Work, kept: Mapping[str, tuple[Row, ...]], peaks: Mapping[str, float], notices: tuple[str, ...]
    ) -> Granted:
        del kept, notices
        source = "threads that used CPU"
        if "busy_threads" not in peaks:
            return Granted(None, source, "the statement was too short to see which threads worked")
        busy = int(peaks["busy_threads"])
        if busy >= work.degree:
            return Granted(work.degree, source)
        return Granted(busy, source, f"{busy} of {work.degree} threads did the work")

    # -- scratch objects ----------------------------------------------------------------------------------------
    def copy_table(self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts) -> tuple[Call, ...]:
        del facts
        values: dict[str, ContextValue] = {"table": copy.name, "source": source, "query": None, **ALL_ROWS}
        make = Call("ctas", values, effect=Effect.CREATES, object=copy)
        return self._transaction(make, *self._comment(copy, mark, Role.CONTROL))

    def empty_copy(
        self, source: QualifiedName, copy: ObjectRef, mark: str, facts: Facts, *, bare: bool
    ) -> tuple[Call, ...]:
        if bare:
            make = Call("create_bare", {"table": copy.name, "source": source}, effect=Effect.CREATES, object=copy)
        else:
            text = str(facts.require("table_definition")[0]["definition"])
            definition = _TABLE_HEAD.sub("", text, count=1).rstrip().removesuffix(";")
            make = Call(
                "create_like", {"table": copy.name, "definition": definition}, effect=Effect.CREATES, object=copy
            )
        return self._transaction(make, *self._comment(copy, mark, Role.CONTROL))

    def build_index_copy(
        self, index: IndexDefinition, copy: ObjectRef, on: QualifiedName, facts: Facts
    ) -> tuple[Call, ...]:
        del facts
        values: dict[str, ContextValue] = {
            "index": QualifiedName(copy.name.name), "table": on, "unique": index.unique,
            "definition": index.definition,
        }  # fmt: skip
        return (Call("index_like", values, effect=Effect.CREATES, object=copy),)

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        del facts
        values: dict[str, ContextValue] = {
            "table": copy.name, "source": source, "query": None, **ALL_ROWS, "columns": columns,
        }  # fmt: skip
        return (Call("insert", values, effect=Effect.CHANGES, object=copy),)

    def has_rows(self, table: QualifiedName) -> Call:
        return Call("has_rows", {"table": table}, keep_as="has_rows")

    def reading_begin(self) -> tuple[Call, ...]:
        return (Call("reading_begin"),)

    def count_target(self, work: Work) -> Call:
        return count_target(work)

    def count_source(self, work: Work) -> Call:
        return count_source(work)

    def in_one_go(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        return tuple(calls)

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        if ref.kind is ObjectKind.BACKUP:
            return backups.remove(ref)
        return (Call("drop", {"kind": _keyword(ref), "name": ref.name}, effect=Effect.DROPS, object=ref),)

    def identity(self, ref: ObjectRef) -> Call:
        if ref.kind is ObjectKind.BACKUP:
            return backups.look(ref)
        file = "identity_index" if ref.kind is ObjectKind.INDEX else "identity_table"
        return Call(file, file=True, binds={"schema": ref.name.schema, "name": ref.name.name})

    def instant(self) -> Call:
        return Call("instant", file=True)

    def by_hand(self, text: str, ref: ObjectRef, identity: Scalar, born: Scalar) -> Call | None:
        """Return None: the shell knows no conditional statement."""
        del text, ref, identity, born
        return None

    def sessions_of(self, run: str) -> Call:
        return Call("sessions_of", file=True, binds={"run": run})


DIALECT = DuckdbDialect()
