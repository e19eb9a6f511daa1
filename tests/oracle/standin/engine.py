"""Executes what sessions send: queries on the catalogue or on DuckDB, DDL and DML with the degree granted."""

from __future__ import annotations

import datetime
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import duckdb
from seerdb.server.backend import BackendError

from tests.oracle.standin import (
    blocks,
    breaks,
    dml,
    external,
    grammar,
    indexes,
    observed,
    outcomes,
    parallel,
    plsql,
    privileges,
    repository,
    rooms,
    storage,
    tables,
)
from tests.oracle.standin.catalogue import UNFILTERED, VIEWS
from tests.oracle.standin.duck import Rows, count, ensure_schema, fetch, quote, run, spell
from tests.oracle.standin.errors import ora, stack
from tests.oracle.standin.faults import Fault
from tests.oracle.standin.grammar import Command, Name
from tests.oracle.standin.index_work import IndexWork, fill
from tests.oracle.standin.indexes import outside_of, partition_table
from tests.oracle.standin.mviews import Refreshing
from tests.oracle.standin.partition_changes import ChangedPartitions
from tests.oracle.standin.reorganised import Reorganised
from tests.oracle.standin.scenario import Scenario
from tests.oracle.standin.state import MODIFIABLE, Made, Session, State, instance_name
from tests.oracle.standin.statistics import chosen, literals, text_of
from tests.oracle.standin.translate import Translated, hinted_degree, translate

_STATS_ARGUMENTS = frozenset(
    {"ownname", "tabname", "partname", "estimate_percent", "method_opt", "degree", "granularity", "cascade",
     "options", "no_invalidate", "force", "obj_filter_list"}
)  # fmt: skip
_PUBLISH_ARGUMENTS = frozenset({"ownname", "tabname", "no_invalidate", "force"})
_PARAMETERS = frozenset(
    {"parallel_degree_policy", "parallel_min_percent", "ddl_lock_timeout", "nls_numeric_characters",
     "isolation_level",
     "optimizer_ignore_parallel_hints", "optimizer_ignore_hints", "workarea_size_policy", "sort_area_size",
     "query_rewrite_enabled", "tracefile_identifier", "current_schema", "optimizer_features_enable"}
)  # fmt: skip


def _valid(name: str, value: str) -> str:
    """Return a value as the catalogue shows it; of OPTIMIZER_FEATURES_ENABLE only a release is one."""
    if name == "optimizer_features_enable" and value.strip("'") not in {"12.2.0.1", "18.1.0", "19.1.0"}:
        raise ora(96, f"invalid value {value} for parameter {name}, must be from among 19.1.0, 18.1.0, 12.2.0.1")
    return value.strip("'")


_NO_ROOM = frozenset({1536, 1652, 1653, 1654, 30036})
"""What suspends a statement of a resumable session instead of failing it."""
_LOCKING = frozenset(
    {
        "table_move",
        "table_shrink",
        "partition_drop",
        "partition_exchange",
        "partition_split",
        "partition_merge",
        "partition_coalesce",
        "alter_table",
        "add_constraint",
        "drop_table",
        "drop_index",
        "index_build",
        "index_rebuild",
        "alter_index",
    }
)
"""What needs a table (of an index: its table) without open transactions, and waits DDL_LOCK_TIMEOUT for that."""


class Engine(Refreshing, Reorganised, ChangedPartitions, IndexWork):
    """One pretended database, shared by all its sessions."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.state = State(scenario)
        self.statements: list[str] = []
        self.sent: list[tuple[int, str]] = []  # the same with the number of the session
        self.failed: dict[str, int] = {}
        self.lock = threading.RLock()
        self.changing = threading.RLock()
        self.released = threading.Event()
        self.faults: list[Fault] = []
        self.database = storage.new_database()
        self.data = self.cursor()
        self._fill()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection to the data, for one session."""
        return storage.cursor(self.database)

    def close(self) -> None:
        """Let the data go; sessions that are still there find nothing any more."""
        self.data.close()
        storage.drop_database(self.database)

    def begin_session(self, service: str) -> Session:
        """Open a session; its number is never used twice."""
        with self.lock:
            sid = self.state.next_session
            self.state.next_session += 1
            began = datetime.datetime.now().replace(microsecond=0)
            session = Session(sid, 7, self.scenario.user, began, service, instance=self.state.lands_on)
            self.state.sessions[sid] = session
            return session

    def end_session(self, session: Session) -> None:
        """Forget a session."""
        with self.lock:
            self.state.sessions.pop(session.sid, None)

    def query(self, session: Session, data: duckdb.DuckDBPyConnection, text: str, binds: Sequence[object]) -> Rows:
        """Run a query where its tables are: in the catalogue, or in DuckDB."""
        shown = repository.with_reports(observed.with_plans(text), self.state)
        translated = translate(shown, binds, self._context(session), self.state.clock)
        tables = [name for _, name in translated.tables]
        self._refuse_after_direct_load(session, translated)
        if all(name in VIEWS for name in tables):
            return self._catalogue(session, tables, translated)
        for schema, name in translated.tables:
            if name not in VIEWS:
                self._readable(session, (schema, name))
        self._read_files(data, translated)
        self.state.cached = self.state.cached or "FULL(" in text
        asked = translated.degree if translated.degree is not None else 1
        parallel.remember(
            session, self.scenario, "Queries Parallelized", parallel.grant(session, self.state, asked), 1
        )
        return fetch(data, translated)

    def command(self, session: Session, data: duckdb.DuckDBPyConnection, text: str) -> int:
        """Run a statement that is no query; return the rows it touched."""
        if dml.is_change(text):
            return self.change(session, data, text, ())
        command = grammar.recognise(text, session.user)
        observed.begin(session, command.kind, text)
        privileges.refuse(self.state, session, command)
        rooms.refuse_columnar(self.state, text)
        while self.state.next_session < self.state.stuck_until and not self.released.wait(0.02):
            pass
        try:
            self._misfortune(session, command.kind, text)
        except (BackendError, ConnectionAbortedError):
            self.leave_half_done(session, text)
            raise
        if command.kind in _LOCKING and not command.parts.get("online"):
            self._await_lock(session, command)
        if command.kind in ("index_build", "index_rebuild") and command.parts.get("online"):
            self._await_transactions(session, command, text)
        if command.kind == "insert" and "APPEND" in (command.parts["hints"] or "").upper():
            self._await_table(session, command)
        handler: Callable[[Session, duckdb.DuckDBPyConnection, Command], int | None] = getattr(
            self, f"_do_{command.kind}"
        )
        # One at a time: DuckDB takes two changes of one table at once for a conflict, Oracle does not.
        calls = {each.sid: each.calls for each in list(self.state.sessions.values())}
        with self.changing:
            before = self.state.next_object
            done = handler(session, data, command)
            if command.kind in ("ctas", "index_build") and session.user != privileges.DBA:
                rooms.settle(
                    self.state,
                    text,
                    before,
                    lambda made: data.execute(f"DROP {made.kind} IF EXISTS {spell(made.name)}"),
                )
        if self.scenario.idle_time and command.kind in observed.TIMED:
            self._snipe(calls, session)
        self.state.statements_run += 1
        observed.end(self.state, session, command.kind, text, done or 0)
        return done or 0

    def change(self, session: Session, data: duckdb.DuckDBPyConnection, text: str, binds: Sequence[object]) -> int:
        """Change rows one by one, in the session's transaction."""
        with self.changing:
            if not session.in_transaction:
                data.execute("BEGIN")
            session.in_transaction = True
            tables = {name: made for (kind, name), made in self.state.objects.items() if kind == "TABLE"}
            dml.refuse_nulls(text, binds, tables, session.user)
            translated, done = dml.change(data, text, binds, self._context(session))
        for name in translated.tables:
            self._readable(session, name)
        return done

    def _do_truncate(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        table = self._found("TABLE", command.name)
        self.commit(session, data)
        data.execute(f"DELETE FROM {spell(command.name)}")
        table.rows = 0

    def run_as_dba(self, *statements: str) -> None:
        """Run statements in a session of their own that may do everything."""
        data = self.cursor()
        session = self.begin_session(self.scenario.service)
        session.user = privileges.DBA
        try:
            for text in statements:
                self.command(session, data, text)
        finally:
            self.end_session(session)
            data.close()

    def enter_table(self, name: Name) -> Made:
        """Put a table that was made in DuckDB into the catalogue."""
        return self._enter_table(self.data, name)

    def _await_lock(self, session: Session, command: Command) -> None:
        """Let the time of DDL_LOCK_TIMEOUT pass, or less when the lock is free before.

        Raises:
            BackendError: ORA-00054 when it is not.
        """
        index = self.state.objects.get(("INDEX", command.name))
        table = command.parts.get("table")
        name = index.table if index else grammar.qualified(table, session.user) if table else command.name
        held = self.state.locks.get(name, 0.0)
        waited = float(session.parameters.get("ddl_lock_timeout", "0"))
        self.state.locks[name] = max(0.0, held - waited)
        if held > waited:
            raise ora(54)

    def _await_transactions(self, session: Session, command: Command, text: str) -> None:
        """Let an ONLINE build wait until its table has no open transaction, first and last, or is cancelled.

        Raises:
            BackendError: ORA-01013; the index stays half-built.
        """
        index = self.state.objects.get(("INDEX", command.name))
        table = command.parts.get("table")
        name = index.table if index else grammar.qualified(table, session.user)
        try:
            for held in (self.state.transactions, self.state.late_transactions):
                while name in held:
                    session.waits_behind = held.get(name) or None
                    breaks.wait(0.02, self.released)
                session.waits_behind, session.waited_looks = None, 0
        except BackendError:
            self.leave_half_done(session, text)
            raise
        finally:
            session.waits_behind, session.waited_looks = None, 0

    def _await_table(self, session: Session, command: Command) -> None:
        """Let a direct-path load wait for its table's exclusive lock: DDL_LOCK_TIMEOUT is for DDL alone."""
        held, event = self.state.transactions, session.waits_for
        try:
            while command.name in held:
                session.waits_behind, session.waits_for = held.get(command.name) or None, "enq: TM - contention"
                breaks.wait(0.02, self.released)
        finally:
            session.waits_behind, session.waited_looks, session.waits_for = None, 0, event

    def _snipe(self, calls: Mapping[int, int], working: Session) -> None:
        """Let IDLE_TIME be over for every session that asked nothing while another one worked."""
        for each in list(self.state.sessions.values()):
            each.sniped = each.sniped or (each is not working and each.calls == calls.get(each.sid))

    # -- what is timed ------------------------------------------------------------------------------------------
    def _do_ctas(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> int:
        self._must_be_free(command.name)
        degree = self._granted(session, command.degree())
        query = self._query_of(session, data, command)
        ensure_schema(data, command.name)
        with self._working(session, command.degree(), degree):
            run(data, f"CREATE TABLE {spell(command.name)} AS {query}", degree)
        asked = hinted_degree(command.parts["query"] or "")
        kind = "DDL Parallelized" if degree > 1 else "Queries Parallelized"
        used = degree if degree > 1 else self._granted(session, asked if asked is not None else 1)
        parallel.remember(session, self.scenario, kind, used, 1)
        made = self._enter_table(data, command.name)
        indexes.set_degree(made, command.parts.get("parallel"))
        made.logging = "NO" if (command.parts.get("logging") or "").upper() == "NOLOGGING" else "YES"
        made.pct_free = int(command.parts.get("pctfree") or 10)
        partition_table(made, command.parts.get("partitioning"))
        made.compression = (
            "ENABLED" if "COMPRESS" in (command.parts.get("compression") or "NO").upper() else "DISABLED"
        )
        return made.rows

    def _do_insert(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> int:
        hints = command.parts["hints"] or ""
        table = self._found("TABLE", command.name)
        if table.read_only:
            raise ora(12081)
        asked = hinted_degree(f"/*+{hints}*/")
        parallel_dml = session.dml or "ENABLE_PARALLEL_DML" in hints
        load = self._granted(session, asked if asked is not None else 1) if parallel_dml else 1
        read = self._granted(session, self._query_degree(session, command))
        query = self._query_of(session, data, command)
        columns = grammar.names(command.parts["columns"])
        listed = f" ({', '.join(quote(name) for name in columns)})" if columns else ""
        self._must_fit(data, table, command, query)
        if not session.in_transaction:
            data.execute("BEGIN")
        session.in_transaction = True
        with self._working(session, asked or 1, max(load, read)):
            run(data, f"INSERT INTO {spell(command.name)}{listed} {query}", max(load, read))
            (added,) = data.fetchone() or (0,)
        parallel.remember(
            session, self.scenario, "DML Parallelized" if load > 1 else "Queries Parallelized", max(load, read), 1
        )
        if load > 1 or re.search(r"(?<!NO)APPEND\b", hints, re.IGNORECASE):
            session.loaded.add(command.name)
        table.rows = count(data, command.name)
        return int(added)  # others may have added rows meanwhile

    def _must_fit(self, data: duckdb.DuckDBPyConnection, table: Made, command: Command, query: str) -> None:
        if command.parts.get("part"):
            (part,) = grammar.names(command.parts["part"])
            outside = outside_of(table, str(command.parts["level"]).upper(), part)
            (found,) = data.execute(f"SELECT COUNT(*) FROM ({query}) WHERE {outside}").fetchone() or (0,)
            if found:
                raise ora(14401)

    def _do_stats(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        given = grammar.arguments(command.parts["arguments"] or "")
        unknown = set(given) - _STATS_ARGUMENTS
        if unknown:
            raise ora(6550, ", ".join(sorted(unknown)))
        owner = _package_text(given.get("ownname", "USER"), session.user)
        whole = (command.parts["procedure"] or "").upper() == "GATHER_SCHEMA_STATS"
        name = None if whole else _package_text(given.get("tabname", ""), "")
        tables = self.state.statistics.gather(self.state, owner, name, given)
        if command.parts["filters"]:
            patterns = chosen(command.parts["filters"], owner)
            tables = [made for made in tables if any(each.fullmatch(made.name[1]) for each in patterns)]
        degree = self._granted(session, int(given["degree"]) if given.get("degree", "").isdecimal() else 1)
        with self._working(session, max(session.asked, degree), degree):
            for made in tables:
                run(data, f"ANALYZE {spell(made.name)}", degree)
        target = f'"{owner}"' if name is None else f'"{owner}"."{name}"'
        self.state.statistics.note(self.state, target, tables, given, whole=whole)
        parallel.remember(session, self.scenario, "Queries Parallelized", degree, 1)

    def _do_dbms_stats(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        given = grammar.arguments(command.parts["arguments"] or "")
        made = self.state.statistics.call((command.parts["procedure"] or "").upper(), given, session.user)
        if made is not None:
            self._must_be_free(made)
            ensure_schema(data, made)
            data.execute(f"CREATE TABLE {spell(made)} (STATID VARCHAR, TYPE VARCHAR)")
            self._enter_table(data, made)

    def _do_extend_stats(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Create a column group and gather it; dropped again where that fails."""
        given = grammar.arguments(command.parts["arguments"] or "")
        table = (
            _package_text(given.get("ownname", "USER"), session.user),
            _package_text(given["tabname"], ""),
        )
        if ("TABLE", table) not in self.state.objects:
            raise ora(20000, ".".join(table))
        data.execute(f"SELECT * FROM {spell(table)} LIMIT 0")
        columns = {str(column[0]) for column in data.description or ()}
        self.state.statistics.extend(table, given["extension"], columns)
        gathered = {**command.parts, "arguments": command.parts["gathered"], "filters": None}
        try:
            self._do_stats(session, data, replace(command, parts=gathered))
        except BackendError:
            dropped = grammar.arguments(command.parts["dropped"] or "")
            self.state.statistics.shorten(table, dropped["extension"])
            raise

    def _do_stats_if_there(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        asked = literals(command.parts["query"] or "")
        name, view = (asked["owner"], asked["table_name"]), (command.parts["view"] or "").upper()
        if view in self.scenario.denied:
            raise ora(942, view)
        row = {"OWNER": name[0], "TABLE_NAME": name[1]}
        if ("TABLE", name) in self.state.objects and privileges.shows(self.state, session, view, row):
            self._restore_preference(session, data, command, name)
        elif command.parts["hidden"] and not privileges.sees_all(self.state, session, name):
            raise ora(20001, said=text_of(command.parts["unseen"]))

    def _restore_preference(
        self, session: Session, data: duckdb.DuckDBPyConnection, command: Command, table: Name | None
    ) -> None:
        parts, statistics = command.parts, self.state.statistics
        preference, former = str(parts["preference"]).upper(), parts["former"]
        now = statistics.preference(preference, table)
        if now == parts["wanted"]:
            self._do_dbms_stats(session, data, command)
        elif now != (statistics.preference(preference) if former is None else text_of(former)):
            raise ora(20002, said=text_of(parts["said"]) + text_of(parts["is"]) + now + text_of(parts["foreign"]))

    def _do_publish_pending(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        asked = literals(command.parts["query"] or "")
        since = datetime.datetime.fromisoformat(asked["since"])
        strange = set(grammar.arguments(command.parts["arguments"] or "")) - _PUBLISH_ARGUMENTS
        if strange:
            raise ora(6550, ", ".join(sorted(strange)))
        most, unknown = float(command.parts["most"] or 0), command.parts["unknown"] is not None
        self.state.statistics.publish(asked["owner"], asked.get("table_name"), since, most, unknown=unknown)

    def _do_stats_publish(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Compare, publish, delete or restore the statistics of one table, and look whether any stay pending."""
        parts, statistics = command.parts, self.state.statistics
        given = grammar.arguments(parts["arguments"] or "")
        owner, table = (_package_text(given.get(name, "*"), session.user) for name in ("ownname", "tabname"))
        if table != "*" and ("TABLE", (owner, table)) not in self.state.objects:
            raise ora(20000, f"{owner}.{table}")
        difference = statistics.differences.get((owner, table), 0)
        if parts["most"] is not None and difference is None and parts["unknown"] is not None:
            raise ora(20901, said=text_of(parts["unknown"]))
        if parts["most"] is not None and difference is not None and difference > float(parts["most"]):
            raise ora(20901, said=f"{text_of(parts['differs'])}{difference:.0f}{text_of(parts['unit'])}")
        statistics.call((parts["procedure"] or "").upper(), given, session.user)
        if parts["query"] is not None and "DBA_TAB_PENDING_STATS" in self.scenario.denied:
            raise ora(942, "DBA_TAB_PENDING_STATS")
        if parts["query"] is not None and (owner, table) in statistics.pending:
            raise ora(20902, said=text_of(parts["still"]))

    def _do_stats_if_still(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        self._restore_preference(session, data, command, None)

    def _do_pending_delete(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        asked = literals(command.parts["query"] or "")
        since = datetime.datetime.fromisoformat(asked["since"])
        self.state.statistics.delete_pending(asked["owner"], asked.get("table_name"), since)

    # -- what surrounds it --------------------------------------------------------------------------------------
    def _do_set(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        for word, value in re.findall(r"(\w+)\s*=\s*('[^']*'|[\w.]+)", command.parts["parameters"] or ""):
            name = word.lower()
            if name in self.scenario.parameters_refused:
                raise ora(65040)
            if name not in _PARAMETERS:
                raise ora(2248, name)
            session.parameters[name] = _valid(name, value)

    def _do_system_set(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Set a parameter of the instance in memory; sessions that set it themselves keep theirs."""
        name = (command.parts["parameter"] or "").lower()
        if "ALTER SYSTEM" not in self.scenario.privileges:
            raise ora(1031)
        if MODIFIABLE.get(name, ("", ""))[1] != "IMMEDIATE":
            raise ora(2095)
        value, granule = _valid(name, command.parts["value"] or ""), self.scenario.granules.get(name)
        self.state.parameters[name] = value if granule is None else str(-(-int(value) // granule) * granule)

    def _do_switch(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        verb, what = (command.parts["verb"] or "").upper(), (command.parts["what"] or "").upper()
        if what == "DML":
            if session.in_transaction:
                raise ora(12841)
            session.dml = verb != "DISABLE"
            session.forced_dml = int(command.parts["degree"] or 0) if verb == "FORCE" else None
        if what == "QUERY":
            session.query = {"ENABLE": "ENABLED", "DISABLE": "DISABLED"}.get(verb, "FORCED")
            session.forced = int(command.parts["degree"] or 0) if verb == "FORCE" else None

    def _do_switch_group(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        group = (command.parts["group"] or "").replace("''", "'")
        if group == "OTHER_GROUPS":
            raise ora(29396)
        if group not in self.scenario.groups:
            raise ora(1031 if group == "SYS_GROUP" else 29368, group)
        session.group = group

    def _do_session_trace(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        if "ALTER SESSION" not in self.scenario.privileges:
            raise ora(1031)
        session.traced = (command.parts["verb"] or "").upper() == "ENABLE"

    def _do_alter_table(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        table, part = self._found("TABLE", command.name), command.parts.get("part")
        if part is None:
            _set_attribute(table, command.parts["attribute"] or "")
        else:
            indexes.set_logging(table, part.strip('"'), command.parts["attribute"] or "")

    def _do_table_move(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Write the rows again; a table's indexes become unusable unless they are kept.

        Raises:
            BackendError: ORA-14511 for a whole partitioned table, ORA-02149 for an unknown partition, ORA-00439.
        """
        table, online = self._found("TABLE", command.name), command.parts["online"] or command.parts["partonline"]
        if online and not self.scenario.parallel:
            raise ora(439)
        part = command.parts.get("part")
        if table.bounds and part is None:
            raise ora(14511)
        known = [each.name for whole in table.parts for each in (whole, *whole.subs)]
        if part is not None and part.strip('"') not in known:
            raise ora(2149)
        degree = self._granted(session, command.degree())
        with self._working(session, command.degree(), degree):
            run(data, f"SELECT count(*) FROM {spell(command.name)}", degree)
        parallel.remember(session, self.scenario, "DDL Parallelized", degree, 2)
        indexes.set_degree(table, command.parts["parallel"])
        if part is None and not online and not command.parts["update"]:
            for index in self.state.indexes():
                if index.table == command.name:
                    index.status = "UNUSABLE"

    def _do_partition_drop(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Take a partition of a table and of its local indexes away.

        Raises:
            BackendError: ORA-02149 for an unknown partition, ORA-14083 for the only one.
        """
        table = self._found("TABLE", command.name)
        known = [part.name for part in indexes.table_parts(table)] if table.bounds else []
        name = (command.parts["part"] or "").strip('"')
        if name not in known:
            raise ora(2149)
        if len(known) == 1:
            raise ora(14083)
        degree = self._granted(session, command.degree())
        parallel.remember(session, self.scenario, "DDL Parallelized", degree, 1)
        at = known.index(name)
        del table.bounds[at], table.parts[at]
        for index in self.state.indexes():
            if index.table == command.name:
                index.shape.parts = [part for part in index.shape.parts if part.name != name]
                index.status = index.status if index.shape.locality or command.parts["update"] else "UNUSABLE"

    def _do_add_constraint(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        self._found("TABLE", command.name)

    def _do_set_defaults(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        self._found("TABLE", command.name)

    def _do_add_columns(self, _: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        table = self._found("TABLE", command.name)
        for column in tables.added_columns(command.parts["added"] or ""):
            data.execute(f"ALTER TABLE {spell(command.name)} ADD COLUMN {quote(column)} DOUBLE")
            table.columns.append((column, "NUMBER", "Y"))

    def _do_block(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        for text in blocks.statements(command.parts["inside"] or ""):
            self.command(session, data, text)

    def _do_plsql(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        plsql.Block(
            lambda text: self.query(session, data, text, ())[1], lambda text: self.command(session, data, text)
        ).run(f"DECLARE {command.parts['inside']}")

    def _do_datapump_job(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        """Run a job: it goes on when its session is gone or cancelled, unless the block ends it."""
        pump = self.state.datapump
        job = pump.begin(command.parts["open"] or "", command.parts["calls"] or "")
        imports = "'IMPORT'" in (command.parts["open"] or "")
        if imports:
            loaded, errors = self._import(data)
        try:
            while pump.ends == "forever" and job in pump.jobs:
                breaks.wait(0.02, self.released)
        except BackendError:
            if not breaks.gone():
                pump.jobs.discard(job)  # the handler of the block
            raise
        if job not in pump.jobs:
            raise ora(31623)
        pump.jobs.discard(job)
        if pump.ends != "COMPLETED":
            raise ora(20903, said=f"{text_of(command.parts['said'])}{pump.ends}")
        if imports:
            pump.tell_import(job, loaded, errors)
        else:
            pump.write(job, ((made.name, made.rows) for made in self.state.tables()))

    def _import(self, data: duckdb.DuckDBPyConnection) -> tuple[list[tuple[Name, int]], list[str]]:
        """Make and fill what the job's dump has; return the rows of each table, and the errors of its log."""
        pump, loaded, errors = self.state.datapump, [], []
        for _, name, query, action in pump.imported():
            table = self.state.objects.get(("TABLE", name))
            if table is not None and action == "SKIP":
                errors.append(f'ORA-39151: Table "{name[0]}"."{name[1]}" exists. It is skipped')
                continue
            if table is not None and action == "REPLACE":
                del self.state.objects["TABLE", name]
                data.execute(f"DROP TABLE {spell(name)}")
                table = None
            if table is None:
                data.execute(f"CREATE TABLE {spell(name)} AS SELECT * FROM ({query}) LIMIT 0")
                table = self._enter_table(data, name)
            if action == "TRUNCATE":
                data.execute(f"DELETE FROM {spell(name)}")
            (rows,) = data.execute(f"SELECT count(*) FROM ({query})").fetchone() or (0,)
            data.execute(f"INSERT INTO {spell(name)} SELECT * FROM ({query}) LIMIT {rows - pump.loses}")
            table.rows = count(data, name)
            loaded.append((name, rows))
        return loaded, errors

    def _do_datapump_remove(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        parts = command.parts
        self.state.datapump.remove(parts["job"] or "", parts["files"] or "", parts["said"] or "")
        if found := re.search(r"IMMEDIATE\s+'((?:[^']|'')*)'", parts["table"] or ""):
            try:
                self.command(session, data, found[1].replace("''", "'"))
            except BackendError as error:
                if error.ora_code != 942:
                    raise

    def _do_schedule_job(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        held = {str(row["PRIVILEGE"]) for row in self.rows("SESSION_PRIVS", session)}
        self.state.jobs.create(command.parts["arguments"] or "", command.parts["calls"] or "", held)

    def _do_schedule_drop(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        self.state.jobs.drop(command.parts["arguments"] or "")

    def _do_awr_snapshot(self, _: Session, __: duckdb.DuckDBPyConnection, ___: Command) -> None:
        self.state.awr.take(self.state)

    def _do_statspack_snapshot(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        self.state.statspack.take(self.state, (command.parts["mark"] or "")[1:-1])

    def _do_comment(self, _: Session, __: duckdb.DuckDBPyConnection, command: Command) -> None:
        self._found("TABLE", command.name).comment = (command.parts["text"] or "").replace("''", "'")

    def _do_drop_table(self, _: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        table = self._found("TABLE", command.name)
        data.execute(f"DROP TABLE {spell(command.name)}")
        kept = not command.parts.get("purge") and self.scenario.parameters.get("recyclebin", "on") == "on"
        for made in (table, *(made for made in self.state.indexes() if made.table == command.name)):
            del self.state.objects[made.kind, made.name]
            if kept:
                self._put_into_the_bin(made)

    def _put_into_the_bin(self, made: Made) -> None:
        """Keep what was dropped without PURGE: the same object, under a name of the recycle bin."""
        made.name = (made.name[0], f"BIN${made.object_id:022d}==$0")
        made.dropped = True
        self.state.objects[made.kind, made.name] = made

    def _do_drop_index(self, _: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        index = self._usable(command.name)
        data.execute(f"DROP INDEX {quote(index.table[0])}.{quote(index.name[1])}")
        del self.state.objects["INDEX", command.name]

    def _do_read_only(self, session: Session, data: duckdb.DuckDBPyConnection, _: Command) -> None:
        """See everything as it is now: DuckDB's transaction does from its first look at the catalogue on."""
        if session.in_transaction:
            raise ora(1453)
        data.execute("BEGIN TRANSACTION READ ONLY")
        data.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
        session.in_transaction = True

    def _do_serializable(self, session: Session, data: duckdb.DuckDBPyConnection, _: Command) -> None:
        """Begin a transaction: those of DuckDB see one state of the rows anyway."""
        if session.in_transaction:
            raise ora(1453)
        data.execute("BEGIN")
        session.in_transaction = True

    def _do_commit(self, session: Session, data: duckdb.DuckDBPyConnection, _: Command) -> None:
        self.commit(session, data)

    def _do_rollback(self, session: Session, data: duckdb.DuckDBPyConnection, _: Command) -> None:
        self.rollback(session, data)

    def _do_flush(self, _: Session, __: duckdb.DuckDBPyConnection, ___: Command) -> None:
        if "ALTER SYSTEM" not in self.scenario.privileges:
            raise ora(1031)
        self.state.cached = False

    def _do_kill(self, session: Session, _: duckdb.DuckDBPyConnection, command: Command) -> None:
        """End a session of this instance, or of the one named."""
        instance = int(command.parts.get("instance") or session.instance)
        found = self.state.sessions.get(int(command.parts["sid"] or 0))
        if found is None or (found.serial, found.instance) != (int(command.parts["serial"] or 0), instance):
            raise ora(30)
        if found.deaf:
            found.marked = True
            raise ora(31)
        self.state.sessions.pop(found.sid)

    def commit(self, session: Session, data: duckdb.DuckDBPyConnection) -> None:
        """End the transaction, keeping its work."""
        if session.in_transaction:
            outcomes.committed(self.state, session)
            data.execute("COMMIT")
        session.in_transaction = False
        session.loaded.clear()

    def rollback(self, session: Session, data: duckdb.DuckDBPyConnection) -> None:
        """End the transaction, dropping its work."""
        if session.in_transaction:
            data.execute("ROLLBACK")
            for name in session.loaded:
                self.state.objects["TABLE", name].rows = count(data, name)
        session.in_transaction = False
        session.loaded.clear()

    # -- inside -------------------------------------------------------------------------------------------------
    def _fill(self) -> None:
        user = self.scenario.user
        for schema, name, rows in ((user, "GTEST", self.scenario.rows), ("APP", "ORDERS", 500)):
            ensure_schema(self.data, (schema, name))
            self.data.execute(
                f"CREATE TABLE {spell((schema, name))} AS SELECT i AS ID, md5(i::VARCHAR) AS IDNAME, i % 97 "
                f"AS AMOUNT FROM range({rows}) t(i)"
            )
            made = self._enter_table(self.data, (schema, name))
            made.analyzed = True
        for schema, index, table in (("APP", "ORDERS_IX", "ORDERS"), (user, "GTEST_IX", "GTEST")):
            self.data.execute(f"CREATE INDEX {quote(index)} ON {spell((schema, table))} (IDNAME)")
            rows = self.state.objects["TABLE", (schema, table)].rows
            self.state.add(
                "INDEX",
                (schema, index),
                table=(schema, table),
                columns=[("IDNAME", "", "")],
                rows=rows,
                shape=indexes.Shape(keys=[indexes.Key("IDNAME")]),
            )
        if self.scenario.partitioned:
            fill(self.state, self.data, user)
        self.state.first_made = self.state.next_object

    def _suspended(self, session: Session) -> bool:
        """Suspend a statement that has no room, half of RESUMABLE_TIMEOUT: then the DBA has made some."""
        seconds = int(self.scenario.parameters.get("resumable_timeout", "0"))
        session.observed.suspended_seconds += seconds // 2
        return seconds > 0

    def _misfortune(self, session: Session, kind: str, sql: str) -> None:
        slow = kind in observed.TIMED if self.scenario.delay_text is None else self.scenario.delay_text in sql
        if self.scenario.delay_seconds and slow:
            breaks.wait(self.scenario.delay_seconds, self.released)
        if self.scenario.lose == kind:
            raise ConnectionAbortedError(kind)
        number = self.scenario.fail.get(kind)
        if number is not None and not (0 < self.scenario.fail_times <= self.failed.get(kind, 0)):
            self.failed[kind] = self.failed.get(kind, 0) + 1
            if number in _NO_ROOM and self._suspended(session):
                return
            raise stack(number) if isinstance(number, tuple) else ora(number)

    def _context(self, session: Session) -> dict[str, str | None]:
        known: dict[str, str | None] = {
            "DB_NAME": "FREEPDB1", "DB_UNIQUE_NAME": "FREE", "SESSION_USER": session.user,
            "CURRENT_SCHEMA": session.user, "CURRENT_USER": session.user, "SERVICE_NAME": session.service,
            "INSTANCE_NAME": instance_name(session.instance), "INSTANCE": str(session.instance),
            "SID": str(session.sid), "CON_NAME": "FREEPDB1", "CON_ID": "3", "SERVER_HOST": "standin",
            "CURRENT_EDITION_NAME": "ORA$BASE", "PROXY_USER": None, "LANGUAGE": "AMERICAN_AMERICA.AL32UTF8",
            "NLS_TERRITORY": "AMERICA", "NLS_CALENDAR": "GREGORIAN", "NLS_DATE_FORMAT": "DD-MON-RR",
            "NLS_DATE_LANGUAGE": "AMERICAN", "NLS_SORT": "BINARY",
            "CLOUD_SERVICE": None, "CLIENT_IDENTIFIER": session.client_identifier,
            "CLIENT_INFO": session.client_info,
        }  # fmt: skip
        there = {**known, **self.scenario.context}
        if schema := session.parameters.get("current_schema"):
            there["CURRENT_SCHEMA"] = schema
        return {key: value for key, value in there.items() if f"USERENV.{key}" not in self.scenario.lacking}

    def _catalogue(self, session: Session, tables: list[str], translated: Translated) -> Rows:
        for view in sorted(set(tables)):
            if view in self.scenario.denied:
                raise ora(self.scenario.denied_code, view)
            if view in self.scenario.lacking:
                raise ora(942, view)
        with self.lock, storage.dictionary() as dictionary:
            dictionary.state = self.state
            lacking = self.scenario.lacking
            views = {
                view: storage.content(view, lacking, translated.words, self.rows(view, session))
                for view in sorted(set(tables))
            }
            return dictionary.answer(translated, views)

    def rows(self, view: str, session: Session) -> list[Mapping[str, object]]:
        """Return the rows of a catalogue view, as this session sees them."""
        own = self.scenario.views.get(view)
        if own is not None:
            return [*own, *self.scenario.beside.get(view, ())]
        found: Iterable[Mapping[str, object]] = self.state.rows_of(UNFILTERED.get(view, view), session)
        if view not in UNFILTERED:
            found = (row for row in found if privileges.shows(self.state, session, view, row))
        return [*found, *self.scenario.beside.get(view, ())]

    def _refuse_after_direct_load(self, session: Session, translated: Translated) -> None:
        if any(name in session.loaded for name in translated.tables):
            raise ora(12838)

    def _query_of(self, session: Session, data: duckdb.DuckDBPyConnection, command: Command) -> str:
        translated = translate(dml.with_numbers(command.parts["query"] or ""), (), self._context(session))
        for schema, name in translated.tables:
            if name not in VIEWS:
                self._readable(session, (schema, name))
        self._read_files(data, translated)
        return translated.text

    def _read_files(self, data: duckdb.DuckDBPyConnection, translated: Translated) -> None:
        """Let the external tables of a query hold what is in their files now."""
        for name in translated.tables:
            made = self.state.objects.get(("TABLE", name))
            if made is None or made.external is None:
                continue
            rows = made.external.rows(self.state.datapump.files)
            with self.changing:
                data.execute(f"DELETE FROM {spell(name)}")
                if rows:
                    places = ", ".join("?" * len(made.columns))
                    data.executemany(f"INSERT INTO {spell(name)} VALUES ({places})", rows)

    def _do_external_table(self, _: Session, data: duckdb.DuckDBPyConnection, command: Command) -> None:
        self._must_be_free(command.name)
        found = external.made(command.parts, self.state.datapump.directories)
        columns = ", ".join(f"{quote(column.name)} {column.in_duckdb}" for column in found.columns)
        ensure_schema(data, command.name)
        data.execute(f"CREATE TABLE {spell(command.name)} ({columns})")
        self._enter_table(data, command.name).external = found

    def _query_degree(self, session: Session, command: Command) -> int:
        asked = hinted_degree(command.parts["query"] or "")
        if asked is not None:
            return asked
        return session.forced if session.forced else 1

    def _granted(self, session: Session, asked: int) -> int:
        return parallel.grant(session, self.state, asked)

    @contextmanager
    def _working(self, session: Session, asked: int, degree: int) -> Iterator[None]:
        session.requested, session.running = asked, degree
        try:
            yield
        finally:
            session.requested = session.running = 0

    def _must_be_free(self, name: Name) -> None:
        if ("TABLE", name) in self.state.objects or ("SYNONYM", name) in self.state.objects:
            raise ora(955, name[1])

    def _found(self, kind: str, name: Name, code: int = 942) -> Made:
        made = self.state.objects.get((kind, name))
        if made is None:
            raise ora(code, ".".join(name))
        if made.dropped:
            raise ora(38301)
        return made

    def _readable(self, session: Session, name: Name) -> None:
        if not privileges.may_read(self.state, session, name):
            raise ora(942, ".".join(name))
        self._found("TABLE", name)

    def _must_be_columns(self, table: Made, columns: list[str]) -> None:
        known = {name for name, _, _ in table.columns}
        for column in columns:
            if column not in known:
                raise ora(904, column)

    def _enter_table(self, data: duckdb.DuckDBPyConnection, name: Name) -> Made:
        described = data.execute(f"DESCRIBE {spell(name)}").fetchall()
        columns = [(row[0].upper(), _oracle_type(row[1]), "Y") for row in described]
        return self.state.add("TABLE", name, columns=columns, rows=count(data, name))


def _set_attribute(made: Made, attribute: str) -> None:
    word = attribute.upper()
    if word in ("LOGGING", "NOLOGGING"):
        made.logging = "YES" if word == "LOGGING" else "NO"
    elif word == "UNUSABLE":
        made.status = "UNUSABLE"
    else:
        indexes.set_degree(made, word)


def _package_text(text: str, user: str) -> str:
    if text.upper() == "USER":
        return user
    inner = text.strip("'").replace("''", "'")
    return inner[1:-1] if inner.startswith('"') else inner.upper()


def _oracle_type(kind: str) -> str:
    return "VARCHAR2" if kind == "VARCHAR" else "DATE" if kind.startswith(("DATE", "TIMESTAMP")) else "NUMBER"
