"""DuckDB: everything particular to it, without a connection."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from toolkit.dialects import backups, sizes
from toolkit.dialects.answers import Check, Continuation, ErrorAdvice, Watching
from toolkit.dialects.duckdb import space
from toolkit.dialects.duckdb.objects import keyword, marked, quote
from toolkit.dialects.duckdb.settings import SETTINGS
from toolkit.dialects.duckdb.work import WORK
from toolkit.dialects.indexes import IndexDefinition
from toolkit.dialects.names import split_name
from toolkit.dialects.quiet import Quiet
from toolkit.dialects.rows import ALL_ROWS
from toolkit.dialects.settings import Settings
from toolkit.dialects.work import Call, ContextValue
from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.steps import ObjectRef, Takes
from toolkit.model.values import QualifiedName, Row, Scalar
from toolkit.model.words import Effect, ObjectKind

ERRORS: dict[str, ErrorAdvice] = {
    advice.code: advice
    for advice in (
        ErrorAdvice("CatalogException", "an object is missing or already exists",
                    "check the name and the schema", Continuation.NOTHING, of_text=True),
        ErrorAdvice("BinderException", "a column or function is unknown",
                    "check the names in the query", Continuation.NOTHING, of_text=True),
        ErrorAdvice("ParserException", "the statement has a syntax error",
                    "check the query's syntax", Continuation.NOTHING, of_text=True),
        ErrorAdvice("ConversionException", "a value does not fit its type",
                    "cast it in the query", Continuation.NOTHING, of_text=True),
        ErrorAdvice("ConstraintException", "rows violate a key or check constraint",
                    "load into a table without it, or use --bare", Continuation.NOTHING),
        ErrorAdvice("OutOfMemoryException", "the memory limit was reached",
                    "raise memory_limit, lower the degree, or set temp_directory"),
        ErrorAdvice("InterruptException", "the statement was cancelled", "run it again"),
        ErrorAdvice("IOException", "the file cannot be read or written",
                    "check for a full disk, a missing folder, or another process using the file", outside=True),
        ErrorAdvice("TransactionException", "a conflict with another transaction", "run it again",
                    Continuation.TRIAL),
        ErrorAdvice("InvalidInputException", "a setting or argument was rejected", "see the message"),
        ErrorAdvice("PermissionException", "SQL may reach no file, network or extension beside the database",
                    "name the files in the target's URL: `duckdb:///x.duckdb?files=PATH` (again for each), or"
                    " `?external=yes` for everything", Continuation.NOTHING),
        ErrorAdvice("DependencyException", "another object depends on this one", "drop the other object first"),
        ErrorAdvice("HTTPException", "a remote file could not be read", "check the address and the network"),
        ErrorAdvice("FatalException", "the database was invalidated by an earlier error",
                    "open it again; `dbatk runs resume`", outside=True),
    )
}  # fmt: skip


_UNWRITTEN = re.compile(r"No space left on device|Disk quota exceeded|Could not write file")
_OLDEST = (2,)
"""The release that `pyproject.toml` requires: the engine is a library of this process."""
_ASSUME = "write --assume 2.0"
_PLAIN = re.compile(r"[^\W\d]\w*")
_TABLE_HEAD = re.compile(r'CREATE TABLE (?:"(?:[^"]|"")*"|[^\s."(]+)(?:\.(?:"(?:[^"]|"")*"|[^\s."(]+))*')


class DuckdbDialect(Quiet):
    """DuckDB 2.0 and later."""

    engine = "duckdb"
    doctor_files = ("settings",)
    copy_files = ("table_definition",)
    scheduler_files: tuple[str, ...] = ()
    work = WORK
    online_rebuilds_apart = False
    keeps_identity = False
    settings: Settings | None = SETTINGS

    # -- names and values ---------------------------------------------------------------------------------------
    def quote(self, name: str) -> str:
        return quote(name)

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
            raise ToolkitError(f"`{text}` is not a DuckDB release", code="TK-0102", hint=_ASSUME)
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
        # a COMMIT that could not write the log is a TransactionException as well
        return ERRORS["IOException" if _UNWRITTEN.search(message) else code] if code in ERRORS else None

    def environment_files(self, release: Release) -> tuple[str, ...]:
        del release
        return ("environment",)

    def checks(self, facts: Facts) -> tuple[Check, ...]:
        settings = {str(row["name"]): row["value"] for row in facts.rows("settings")}
        threads = settings.get("threads")
        lines = [
            Check("release", "ok", f"DuckDB {facts.release.text.removeprefix('v')}"),
            Check("threads", "ok", f"{threads} {'thread' if threads == '1' else 'threads'}",
                  "the default degree of every statement, one setting for the whole process",
                  "sweep --degree to see what helps"),
            Check("memory", "ok", f"limit {settings.get('memory_limit')}",
                  "above it, sorts and hash tables spill to the temporary folder"),
            Check("temporary folder", "ok" if settings.get("temp_directory") else "warning",
                  f"{settings.get('temp_directory') or 'none'}, at most {settings.get('max_temp_directory_size')}",
                  "" if settings.get("temp_directory") else "work larger than memory fails",
                  "" if settings.get("temp_directory") else "SET temp_directory = 'folder'"),
            Check("several sessions", "note", "threads is shared by all sessions of the process",
                  "--concurrency above 1 is not supported"),
            Check("statistics", "note", "ANALYZE has neither sampling nor a degree"),
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

    def space_files(self, facts: Facts, owners: Collection[str | None]) -> tuple[str, ...]:
        del facts, owners
        return (space.FILE,)

    def transaction_end(self, noted: Mapping[str, Scalar]) -> tuple[Call, ...]:
        if "notes_table" not in noted:
            return ()
        notes = QualifiedName(str(noted["notes_table"]), str(noted["notes_schema"]))
        return (Call("transaction_end", {"table": notes, "item": noted["item"]}),)

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
        values: dict[str, ContextValue] = {"table": copy.name, "source": source, "query": None, **ALL_ROWS}
        make = Call("ctas", values, effect=Effect.CREATES, object=copy, takes=_copied(source, facts))
        return marked(make, mark)

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
        return marked(make, mark)

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
        values: dict[str, ContextValue] = {
            "index": QualifiedName(copy.name.name), "table": on, "unique": index.unique,
            "definition": index.definition,
        }  # fmt: skip
        takes = space.takes(index.bytes or None, facts)
        return (Call("index_like", values, effect=Effect.CREATES, object=copy, takes=takes),)

    def fill_copy(
        self, source: QualifiedName, copy: ObjectRef, columns: tuple[str, ...], facts: Facts
    ) -> tuple[Call, ...]:
        values: dict[str, ContextValue] = {
            "table": copy.name, "source": source, "query": None, **ALL_ROWS, "columns": columns,
        }  # fmt: skip
        return (Call("insert", values, effect=Effect.CHANGES, object=copy, takes=_copied(source, facts)),)

    def drop(self, ref: ObjectRef) -> tuple[Call, ...]:
        if ref.kind is ObjectKind.BACKUP:
            return backups.remove(ref)
        return (Call("drop", {"kind": keyword(ref), "name": ref.name}, effect=Effect.DROPS, object=ref),)

    def identity(self, ref: ObjectRef) -> Call:
        if ref.kind is ObjectKind.BACKUP:
            return backups.look(ref)
        file = "identity_index" if ref.kind is ObjectKind.INDEX else "identity_table"
        return Call(file, file=True, binds={"schema": ref.name.schema, "name": ref.name.name})


def _copied(source: QualifiedName, facts: Facts) -> tuple[Takes, ...]:
    return space.takes(sizes.table_bytes(source, facts), facts)


DIALECT = DuckdbDialect()
