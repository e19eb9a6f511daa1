"""What the stand-in does to indexes: builds, rebuilds, attributes; DuckDB behind builds and sorts."""

from __future__ import annotations

import re

import duckdb

from tests.oracle.standin import grammar, parallel
from tests.oracle.standin.duck import quote, run, spell
from tests.oracle.standin.errors import ora
from tests.oracle.standin.grammar import Command, Name
from tests.oracle.standin.index_grammar import Key, read_keys, split, unquoted
from tests.oracle.standin.indexes import Part, Shape, columns_of, logging_of, set_degree
from tests.oracle.standin.state import Made, Session, State


class IndexWork:
    """What an engine does to indexes."""

    def _do_index_build(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        table = grammar.qualified(command.parts["table"], session.user)
        on = self._found("TABLE", table)  # type: ignore[attr-defined]
        self._must_be_possible(on, command)
        keys = read_keys(command.parts["keys"] or "")
        columns = [name for key in keys for name in columns_of(key)]
        self._must_be_columns(on, columns)  # type: ignore[attr-defined]
        shape = Shape(_type(command, keys), keys, prefix=_prefix(command))
        _partition(shape, command.parts.get("partitioning"), on)
        self._must_differ(table, shape)
        degree = self._granted(session, command.degree())  # type: ignore[attr-defined]
        with self._working(session, command.degree(), degree):  # type: ignore[attr-defined]
            _make(data, command.name, table, columns, bool(command.parts["unique"]), degree)
        parallel.remember(session, self.scenario, "DDL Parallelized", degree, 2)  # type: ignore[attr-defined]
        made = self.state.add(  # type: ignore[attr-defined]
            "INDEX", command.name, table=table, columns=[(name, "", "") for name in columns], rows=on.rows,
            unique=bool(command.parts["unique"]), logging=logging_of(command.parts["logging"]), shape=shape,
            visibility="INVISIBLE" if command.parts["invisible"] else "VISIBLE",
        )  # fmt: skip
        set_degree(made, command.parts["parallel"])
        made.compression = _compression(command)

    def leave_half_done(self, session: Session, text: str) -> None:
        """Leave what an interrupted statement does: of an ONLINE build or rebuild a half-built index.

        Its row stays in the dictionary as VALID, with its journal table, until SMON or
        DBMS_REPAIR.ONLINE_INDEX_CLEAN takes it away (Error Help, ORA-08104 and ORA-08107).
        """
        command = grammar.recognise(text, session.user)
        if command.kind not in ("index_build", "index_rebuild") or not command.parts["online"]:
            return
        if command.kind == "index_build":
            table = grammar.qualified(command.parts["table"], session.user)
            self._must_be_possible(self._found("TABLE", table), command)  # type: ignore[attr-defined]
            shape = Shape("NORMAL", read_keys(command.parts["keys"] or ""))
            index = self.state.add(  # type: ignore[attr-defined]
                "INDEX", command.name, table=table, shape=shape, logging=logging_of(command.parts["logging"])
            )  # fmt: skip
            set_degree(index, command.parts["parallel"])
        else:
            index = self._usable(command.name)
        index.building = True
        self.state.add("TABLE", (index.name[0], f"SYS_JOURNAL_{index.object_id}"))  # type: ignore[attr-defined]

    def _usable(self, name: Name) -> Made:
        """Return an index that nobody builds ONLINE now.

        Raises:
            BackendError: ORA-01418, ORA-08104.
        """
        index: Made = self._found("INDEX", name, 1418)  # type: ignore[attr-defined]
        if index.building:
            raise ora(8104, str(index.object_id))
        return index

    def _do_index_rebuild(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        index = self._usable(command.name)
        shape: Shape = index.shape
        if command.parts["online"] and not self.scenario.parallel:  # type: ignore[attr-defined]
            raise ora(439)
        if shape.type == "DOMAIN":
            raise ora(29871)
        level, name = (command.parts.get("level") or "").upper(), command.parts.get("part")
        if shape.locality is not None and not name:
            raise ora(14086)
        if level == "SUBPARTITION" and (command.parts["logging"] or command.parts["compression"]):
            raise ora(14189)
        part = shape.find(level, unquoted(name)) if name else None
        degree = self._granted(session, command.degree())  # type: ignore[attr-defined]
        with self._working(session, command.degree(), degree):  # type: ignore[attr-defined]
            columns = [column for column, _, _ in index.columns]
            where = f"{quote(index.table[0])}.{quote(index.name[1])}"
            data.execute(f"DROP INDEX IF EXISTS {where}")
            _make(data, index.name, index.table, columns, index.unique, degree)
        parallel.remember(session, self.scenario, "DDL Parallelized", degree, 2)  # type: ignore[attr-defined]
        set_degree(index, command.parts["parallel"])
        target = part if part is not None else index
        target.status = "USABLE" if part is not None else "VALID"
        if level != "SUBPARTITION":
            target.logging = logging_of(command.parts["logging"])

    def _do_index_coalesce(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Merge blocks; the segment stays as large as it is.

        Raises:
            BackendError: ORA-01502 for an unusable index, ORA-14086 for a partitioned one as a whole.
        """
        index, name = self._usable(command.name), command.parts.get("part")
        part = index.shape.find((command.parts.get("level") or "").upper(), unquoted(name)) if name else None
        if index.shape.locality is not None and part is None:
            raise ora(14086)
        if (part or index).status == "UNUSABLE":
            raise ora(1502, ".".join(index.name))
        degree = self._granted(session, command.degree())  # type: ignore[attr-defined]
        with self._working(session, command.degree(), degree):  # type: ignore[attr-defined]
            run(data, f"SELECT count(*) FROM {quote(index.table[0])}.{quote(index.table[1])}", degree)
        parallel.remember(session, self.scenario, "DDL Parallelized", degree, 1)  # type: ignore[attr-defined]

    def _do_alter_index(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        index = self._usable(command.name)
        word, name = (command.parts["attribute"] or "").upper(), command.parts.get("part")
        level = (command.parts.get("level") or "").upper()
        target = index.shape.find(level, unquoted(name)) if name else index
        if word in ("LOGGING", "NOLOGGING"):
            target.logging = logging_of(word)
        elif word == "UNUSABLE":
            for each in (target, *(index.shape.parts if target is index else ())):
                each.status = "UNUSABLE"
        else:
            set_degree(index, word)

    def _must_be_possible(self, on: Made, command: Command) -> None:
        if ("INDEX", command.name) in self.state.objects:  # type: ignore[attr-defined]
            raise ora(955, command.name[1])
        if (command.parts["online"] or command.parts["bitmap"]) and not self.scenario.parallel:  # type: ignore[attr-defined]
            raise ora(439)
        partitioning = (command.parts.get("partitioning") or "").upper()
        if partitioning.startswith("LOCAL") and not on.bounds:
            raise ora(14016)
        if command.parts["bitmap"] and on.bounds and not partitioning.startswith("LOCAL"):
            raise ora(25122)

    def _must_differ(self, table: Name, shape: Shape) -> None:
        for made in self.state.indexes():  # type: ignore[attr-defined]
            if made.table == table and made.shape.keys == shape.keys:
                raise ora(1408)


def _make(
    data: duckdb.DuckDBPyConnection, index: Name, table: Name, columns: list[str], unique: bool, degree: int
) -> None:
    listed = ", ".join(dict.fromkeys(quote(name) for name in columns))
    if listed:
        word = "UNIQUE " if unique else ""
        run(data, f"CREATE {word}INDEX {quote(index[1])} ON {spell(table)} ({listed})", degree)


def _type(command: Command, keys: list[Key]) -> str:
    kind = "BITMAP" if command.parts["bitmap"] else "NORMAL"
    reverse = "/REV" if command.parts["reverse"] else ""
    return ("FUNCTION-BASED " if any(key.expression for key in keys) else "") + kind + reverse


def _prefix(command: Command) -> int | None:
    digits = re.search(r"COMPRESS (\d+)", command.parts["compression"] or "")
    return int(digits[1]) if digits else None


def _compression(command: Command) -> str:
    word = (command.parts["compression"] or "").upper()
    if "ADVANCED" in word:
        return word.removeprefix("COMPRESS ")
    return "ENABLED" if word.startswith("COMPRESS") else "DISABLED"


def _partition(shape: Shape, clause: str | None, on: Made) -> None:
    """Give an index its partitions; those of a local one hold what its table's hold."""
    if not clause:
        return
    shape.locality = "LOCAL" if clause.upper().startswith("LOCAL") else "GLOBAL"
    names = re.findall(r'(?<!SUB)PARTITION\s+("[^"]+"|\w+)\s*(?=[,()V])', clause)
    if shape.locality == "LOCAL":
        listed = [unquoted(name) for name in names] or [f"SYS_P{number}" for number in range(len(on.bounds))]
        if len(listed) != len(on.bounds):
            raise ora(14024)
        shape.parts = [Part(name, bound) for name, bound in zip(listed, on.bounds, strict=True)]
    elif "HASH" in clause.upper():
        shape.method = "HASH"
        count = re.search(r"PARTITIONS\s+(\d+)", clause)
        listed = [f"SYS_P{number}" for number in range(int(count[1]))] if count else [unquoted(n) for n in names]
        shape.parts = [Part(name) for name in listed]
    else:
        bounds = [split(each)[0] for each in re.findall(r"LESS\s+THAN\s*\((.*?)\)(?=\s*[,)])", clause)]
        shape.parts = [Part(unquoted(name), bound) for name, bound in zip(names, bounds, strict=True)]
    for part in shape.parts:
        part.rows = on.rows // len(shape.parts)


# -- what there is besides ----------------------------------------------------------------------------------------
def fill(state: State, data: duckdb.DuckDBPyConnection, schema: str) -> None:
    """Add partitioned tables with local indexes, composite ones too, and an index that no rebuild takes."""
    for table, rows in (("SALES", 4000), ("TRADES", 1000)):
        name = (schema, table)
        data.execute(
            f"CREATE TABLE {spell(name)} AS SELECT i AS ID, md5(i::VARCHAR) AS IDNAME, i % 97 AS AMOUNT "
            f"FROM range({rows}) t(i)"
        )
        made = state.add(
            "TABLE", name, columns=[("ID", "NUMBER", "Y"), ("IDNAME", "VARCHAR2", "Y"), ("AMOUNT", "NUMBER", "Y")],
            rows=rows, analyzed=True,
        )  # fmt: skip
        made.bounds, made.keyed_by = ["1000", "2000", "MAXVALUE"], "ID"
        made.sub_method = "HASH" if table == "TRADES" else "NONE"
        parts = [Part(f"P{number}", bound, rows=rows // 4 * number) for number, bound in enumerate(made.bounds, 1)]
        shape = Shape("NORMAL", [Key("ID")], "LOCAL", "RANGE", parts)
        if table == "TRADES":
            for part in parts:
                part.subs = [Part(f"{part.name}_S{number}", rows=part.rows // 2) for number in (1, 2)]
        index = (schema, f"{table}_IX")
        _make(data, index, name, ["ID"], unique=False, degree=1)
        state.add(
            "INDEX", index, table=name, columns=[("ID", "", "")], rows=rows, shape=shape, degree="4", status="N/A"
        )
    state.add("INDEX", (schema, "SALES_TEXT"), table=(schema, "SALES"), shape=Shape("DOMAIN", [Key("IDNAME")]))
