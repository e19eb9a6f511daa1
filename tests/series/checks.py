"""What must hold after a fault, and after each word that repairs: the checks that all cases go through."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

import psutil
import psycopg

from tests.series.place import SOURCE_ROWS, Place
from tests.series.work import Work
from toolkit.app.results import ended_well, listed_runs
from toolkit.model.records import RunRecord
from toolkit.model.words import Outcome, RunState
from toolkit.store import open_store

_STATUSES = frozenset({0, 1, 3, 5, -9})
_FAULTS_OF_OURS = re.compile(r"Traceback|internal error of dbatk|something unexpected|unexpected error: TK-0901")
_HINTS = ("hint", "failed", "warning", "`dbatk runs resume ")
_DONE = frozenset({Outcome.OK, Outcome.DOWNGRADED})
_PICTURE = """
SELECT format('%%s %%s', c.relkind, c.relname) AS what,
       concat_ws(' | ', c.relpersistence, c.reloptions, t.spcname, obj_description(c.oid, 'pg_class'),
                 pg_get_userbyid(c.relowner), c.relacl, c.relispartition, pg_get_indexdef(x.indexrelid),
                 x.indisvalid, x.indisready, x.indislive, x.indisclustered, x.indisunique) AS state
  FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace LEFT JOIN pg_index x ON x.indexrelid = c.oid
 WHERE c.relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('column %%s.%%s', c.relname, a.attname),
       concat_ws(' | ', a.atttypid::regtype, a.attnotnull, a.attidentity, a.attgenerated, a.attstattarget,
                 a.attoptions, a.attstorage)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
UNION ALL
SELECT format('constraint %%s', n.conname), concat_ws(' | ', pg_get_constraintdef(n.oid), n.convalidated)
  FROM pg_constraint n WHERE n.connamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('setting of %%s in %%s', s.setrole, s.setdatabase), s.setconfig::text FROM pg_db_role_setting s
UNION ALL
SELECT format('inherits %%s', i.inhrelid::regclass), i.inhparent::regclass::text
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relnamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('schema %%s', n.nspname), n.nspacl::text FROM pg_namespace n
 WHERE n.nspname NOT LIKE 'pg\\_t%%temp\\_%%'
UNION ALL
SELECT format('statistics %%s', e.stxname),
       concat_ws(' | ', pg_get_statisticsobjdef(e.oid), pg_get_userbyid(e.stxowner), e.stxstattarget)
  FROM pg_statistic_ext e WHERE e.stxnamespace = %(schema)s::regnamespace
UNION ALL
SELECT format('trigger %%s of %%s', t.tgname, t.tgrelid::regclass), ''
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = %(schema)s::regnamespace AND NOT t.tgisinternal
UNION ALL
SELECT 'left by pg_repack: ' || c.relname, ''
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'repack' AND c.relname ~ '_[0-9]+$'
UNION ALL
SELECT 'function ' || p.proname, '' FROM pg_proc p WHERE p.pronamespace = %(schema)s::regnamespace
"""
_FILES = """
SELECT c.relname, c.relfilenode FROM pg_class c
 WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind = %(kind)s
"""
_GATHERED = (
    "SELECT DISTINCT c.relname FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid"
    " WHERE c.relnamespace = %(schema)s::regnamespace"
    # no rows leave nothing there: a view that was never filled is left out, and an empty table counted (else: -1)
    " UNION SELECT m.relname FROM pg_class m WHERE m.relnamespace = %(schema)s::regnamespace"
    " AND (m.relkind = 'm' AND NOT m.relispopulated OR m.relkind = 'r' AND m.reltuples = 0)"
)
_FILLED = """
SELECT FROM pg_statistic_ext e JOIN pg_statistic_ext_data d ON d.stxoid = e.oid
 WHERE e.stxnamespace = %(schema)s::regnamespace AND e.stxname = %(name)s
   AND num_nulls(d.stxdndistinct, d.stxddependencies, d.stxdmcv) < 3
"""
_SUM = "SELECT count(*), coalesce(sum(hashtextextended(concat_ws(',', {columns}), 0)), 0) FROM {table} {where}"
_SESSIONS = (
    "SELECT application_name, state, query FROM pg_stat_activity"
    " WHERE backend_type IN ('client backend', 'parallel worker') AND application_name <> 'series checks'"
)
_CORRUPT = (
    "SELECT bt_index_check(x.indexrelid, true) FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid"
    " WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind = 'i' AND x.indisvalid AND x.indisready"
)


class Checks:
    """Compares what is there with what was there before the first run, and with what the store claims.

    Attributes:
        wrong: what was found, in sentences.
        network_was_cut: whether sessions are there whose client cannot be heard any more.
    """

    def __init__(self, place: Place, work: Work, *, network_was_cut: bool = False) -> None:
        self._place, self._work = place, work
        self.wrong: list[str] = []
        self.network_was_cut = network_was_cut
        self._sessions: list[psycopg.Connection[tuple[object, ...]]] = []
        self._before, self._sums = self._picture(), self._all_sums()
        self._files, self._table_files = self._index_files(), self._files_of_tables()
        self._ended: set[tuple[object, ...]] = set()

    # -- reads
    def _rows(self, text: str, binds: dict[str, object] | None = None) -> list[tuple[object, ...]]:
        for session in self._sessions:
            with suppress(psycopg.OperationalError):
                return session.execute(text.encode(), binds).fetchall()
        self.close()
        self._sessions.append(self._place.server.connect(application_name="series checks"))
        return self._sessions[0].execute(text.encode(), binds).fetchall()

    def close(self) -> None:
        """End the session of the checks."""
        while self._sessions:
            self._sessions.pop().close()

    @property
    def _schema(self) -> dict[str, object]:
        return {"schema": self._place.schema}

    def _picture(self) -> dict[str, str]:
        return {str(what): str(state) for what, state in self._rows(_PICTURE, self._schema)}

    def _index_files(self, kind: str = "i") -> dict[str, object]:
        return {str(name): node for name, node in self._rows(_FILES, {**self._schema, "kind": kind})}

    def _files_of_tables(self) -> dict[str, object]:
        return self._index_files("r")

    def _sum(self, table: str, columns: str = "id, k, word", where: str = "") -> tuple[int, object]:
        return self._sum_of(f"{self._place.schema}.{table}", columns, where)

    def _sum_of(self, relation: str, columns: str, where: str = "") -> tuple[int, object]:
        count, total = self._rows(_SUM.format(columns=columns, table=relation, where=where))[0]
        return int(str(count)), total

    def _sum_of_source(self) -> tuple[int, object]:
        """Add up what no purge takes away: the rows in their two tables, or without what a change adds to them."""
        work, schema = self._work, self._place.schema
        if work.changes:
            return self._sum("source", "id, k % 1000, word")
        if work.archives:
            both = f"(SELECT * FROM {schema}.source UNION ALL SELECT * FROM {schema}.archived) AS rows"
            return self._sum_of(both, "id, k, word")
        return self._sum("source", where="" if work.purges is None else f"WHERE NOT ({work.purges})")

    def _all_sums(self) -> dict[str, tuple[int, object]]:
        return {
            "source": self._sum_of_source(),
            "filled": self._sum("filled", where="WHERE id < 0"),
            "parted": self._sum("parted", where="WHERE id < 0"),
            "aged": self._sum("aged", where="WHERE id < 0"),
            **{name: self._sum(name) for name in self._work.exchanges},
        }

    def is_loaded(self) -> bool:
        """Whether the rows of a load are there; what is neither all nor none is noted as wrong."""
        columns = "k, word" if "--identity" in self._work.arguments else "id, k, word"
        loaded = self._sum(str(self._work.loads), columns, "WHERE id > 0")
        whole = self._sum("source", columns)
        if self._work.in_parts and loaded != whole and self._is_part(columns):
            return False
        if loaded not in ((0, 0), whole):
            self._say(f"{self._work.loads} has {loaded[0]:,} of {SOURCE_ROWS:,} rows of the load")
        return loaded[0] > 0

    def _is_part(self, columns: str) -> bool:
        """Whether each row of a load that is there is one of `source`, and there once."""
        name, source = f"{self._place.schema}.{self._work.loads}", f"{self._place.schema}.source"
        extra = self._rows(
            f"SELECT {columns} FROM {name} WHERE id > 0 EXCEPT ALL SELECT {columns} FROM {source} LIMIT 1"
        )
        return not extra

    def _say(self, sentence: str) -> None:
        if sentence not in self.wrong:
            self.wrong.append(sentence)

    # -- after anything
    def after_a_fault(self, word: str, status: int, said: str) -> None:
        """Look after a command that a fault struck: what is there may be half-done, but nothing may be untrue."""
        if status not in _STATUSES:
            self._say(f"it ended with status {status}: {said[-600:]}")
        if status in (1, 3, 5) and not any(hint in said for hint in _HINTS):
            self._say(f"it exited {status} without a hint: {said[-600:]}")
        for found in sorted(set(_FAULTS_OF_OURS.findall(said))):
            line = next(each for each in said.splitlines() if found in each)
            self._say(f"`{found}`: {line[:300]} ... {said[-600:]}")
        self._look_at_rows()
        for record in self._store():
            self._look_at_claims(record)
            if status == 0 and word != "clean" and not ended_well(record):
                self._say(f"{word}: exit 0, and the run is {record.head.state}")

    def after_a_word(self, word: str, status: int, said: str) -> None:
        """Look after `resume` or `clean` in peace: nothing is left; a resume has done everything."""
        self.after_a_fault(word, status, said)
        records = list(self._store())
        in_part = word == "clean" and ("is loaded in part" in said or "is done in part" in said)
        mains = [each for each in records if each.head.parent is None]
        if status != 0 and not (status == 3 and (in_part or (mains and _is_done(mains[0])))):
            self._say(f"{word} exited {status}: {said[-900:]}")
        if word == "resume" and mains:
            self._look_at_end(mains[0])
        self._look_at_catalogue()
        self._look_at_backups()
        self._look_at_sessions()
        self._look_at_journal()

    def when_all_is_over(self) -> None:
        """Look at what takes longer: indexes against their tables."""
        try:
            self._rows(_CORRUPT, self._schema)
        except psycopg.Error as error:
            self._say(f"an index is not what its table is: {error}")
        self.close()

    def half_done(self) -> list[str]:
        """Name what is there, or is another, since the first run began."""
        now = self._picture()
        found = {what for what in self._before.keys() | now.keys() if self._before.get(what) != now.get(what)}
        return sorted(what for what in found if not what.startswith(("column", "constraint", "inherits")))

    # -- the parts
    def _look_at_rows(self) -> None:
        now = self._all_sums()
        for table, was in self._sums.items():
            if now[table] != was:
                self._say(f"the rows of {table} changed: {was} became {now[table]}")
        if self._work.changes:
            twice = self._sum("source", where=f"WHERE k >= 2000 OR k >= 1000 AND NOT ({self._work.changes})")[0]
            if twice:
                self._say(f"{twice:,} rows were changed twice, or unasked")
        if self._work.is_load:
            self.is_loaded()
        if self._work.exchanges and len(there := self._attached() & set(self._work.exchanges)) != 1:
            self._say(f"of {self._work.exchanges} {sorted(there)} are partitions")

    def _store(self) -> Iterator[RunRecord]:
        """Give the runs of the store, whose ended trials are all there still."""
        if not self._place.store.exists():
            return
        with open_store(self._place.store) as store:
            heads = store.list_runs()
            records = [store.load_run(head.run) for head in heads]
        ended = {
            (record.head.run, each.trial, each.attempt, each.outcome, each.began_at, each.elapsed_seconds)
            for record in records
            for each in record.trials
        }
        for lost in self._ended - ended:
            self._say(f"a finished trial is lost or changed: {lost}")
        self._ended = ended
        yield from records

    def _look_at_claims(self, record: RunRecord) -> None:
        done = [each for each in record.trials if each.outcome in _DONE]
        numbers = [each.trial for each in done]
        if len(set(numbers)) < len(numbers):
            self._say(f"trials were done twice: {numbers}")
        if self._work.measures:
            for each in done:
                if each.rows not in (None, SOURCE_ROWS) and self._work.copies_all:
                    self._say(f"trial {each.trial} is {each.outcome} with {each.rows} rows")
            if record.head.state is RunState.DONE and len(set(numbers)) < self._work.measures:
                self._say(f"the run is done with the trials {numbers} of {self._work.measures}")
        if ended_well(record) and not self._work.measures and not done:
            self._say(f"the run ended well, and no trial is done: {[each.outcome for each in record.trials]}")
        for label in self._items_done(record.head.run):
            self._look_at_item(label.rpartition(".")[2])

    def _items_done(self, run: str) -> set[str]:
        if self._work.measures:
            return set()
        with open_store(self._place.store) as store:
            found = store.items_of(run, 1)
        return {each.label for each in found if each.outcome in _DONE}

    def _look_at_item(self, name: str) -> None:
        """See in the catalogue that an item is done."""
        work = self._work
        if work.makes_table and self._made_table() is not True:
            self._say(f"`{name}` is done, and the table is not right")
        if work.makes_index and self._made_index() is not True:
            self._say(f"`{name}` is done, and the index is not right: {self._made_index()}")
        if work.is_load and not work.in_parts and not self.is_loaded():
            self._say(f"the load of `{name}` is done, and no rows are there")
        if work.rebuilds and self._index_files().get(name) in (None, self._files.get(name)):
            self._say(f"the rebuild of `{name}` is done, and it is the index of before")
        if name in work.rewrites and self._files_of_tables().get(name) in (None, self._table_files.get(name)):
            self._say(f"the move of `{name}` is done, and its file is that of before")
        if work.gathers and name not in self._gathered() and not (work.is_mix and name == "made"):
            self._say(f"the statistics of `{name}` are gathered, and there are none")
        if work.makes_statistics and self._made_statistics() is not True:
            self._say(f"the statistics of `{name}` are done, and they are not right: {self._made_statistics()}")
        if work.drops_statistics and self._has_statistics():
            self._say(f"the drop of the statistics of `{name}` is done, and they are there")
        part = name.rpartition(" ")[2]
        if part in self._attached() & set(work.drops):
            self._say(f"the drop of `{part}` is done, and it is there")
        if work.exchanges and not self._is_exchanged():
            self._say(f"the exchange of `{part}` is done, and it is the partition still")
        if work.validates and name.rpartition(" ")[2] in self._waiting():
            self._say(f"the validation of `{name}` is done, and it waits still")
        if work.refreshes and self._refreshed() != work.refreshes[1]:
            self._say(f"the refresh of `{name}` is done, and it has {self._refreshed()} rows")
        if work.backs_up and not self._is_backup():
            self._say(f"the backup `{name}` is done, and it is not there")

    def _attached(self) -> set[str]:
        """Return the partitions that `aged` has."""
        return {what.rpartition(".")[2] for what in self._picture() if what.startswith("inherits")}

    def _is_exchanged(self) -> bool:
        return self._attached() & set(self._work.exchanges) == {self._work.exchanges[1]}

    def _waiting(self) -> set[str]:
        """Return the constraints that are not validated."""
        now = self._picture()
        return {name for name in self._work.validates if not now[f"constraint {name}"].endswith(" | t")}

    def _refreshed(self) -> int | None:
        """Return how many rows the materialized view has; None where it was never filled."""
        name = str((self._work.refreshes or ("",))[0])
        filled = self._rows(
            "SELECT FROM pg_class WHERE relname = %(name)s AND relispopulated"
            " AND relnamespace = %(schema)s::regnamespace", {**self._schema, "name": name},
        )  # fmt: skip
        return int(str(self._rows(f"SELECT count(*) FROM {self._place.schema}.{name}")[0][0])) if filled else None

    def _is_backup(self) -> bool:
        return (self._place.backups / "made" / str(self._work.backs_up)).is_file()

    def _gathered(self) -> set[str]:
        return {str(row[0]) for row in self._rows(_GATHERED, self._schema)}

    def _made_table(self) -> bool | None:
        """Whether the table of a job is what it should be; None when it is not there."""
        if "r made" not in self._picture():
            return None
        return self._sum("made") == self._sum("source")

    def _made_index(self) -> bool | str | None:
        """Whether the index of a job is what it should be, or what it is; None when it is not there."""
        found = [state for what, state in self._picture().items() if what in ("i made", "I made")]
        if not found:
            return None
        definition = next(iter(self._work.makes_index.values()))
        right = f"USING {definition}" in found[0] and "| t | t | t | f" in found[0]
        return right or found[0]

    def _made_statistics(self) -> bool | str | None:
        """Whether the statistics of a job are filled and right, or what they are; None when they are not there."""
        found = self._picture().get("statistics made")
        if found is None:
            return None
        filled = bool(self._rows(_FILLED, {**self._schema, "name": "made"}))
        right = found.replace(f"{self._place.schema}.", "").startswith(
            f"CREATE STATISTICS made {self._work.makes_statistics} | "
        )
        return (right and filled) or f"{found}{'' if filled else ', empty'}"

    def _has_statistics(self) -> bool:
        """Whether the statistics that a job drops are there."""
        return f"statistics {self._work.drops_statistics}" in self._picture()

    def _look_at_end(self, record: RunRecord) -> None:
        """See that a resumed run has done all it was asked for."""
        work = self._work
        if record.head.state is not RunState.DONE:
            self._say(f"the resumed run is {record.head.state}")
        if (work.makes_table and self._made_table() is not True) or (
            work.makes_index and self._made_index() is not True
        ):
            self._say("the resumed run is over, and what it should have made is not right or not there")
        if work.purges and (left := self._sum("source", where=f"WHERE {work.purges}"))[0]:
            self._say(f"the resumed run is over, and {left[0]:,} rows were not deleted")
        if work.changes and (left := self._sum("source", where=f"WHERE {work.changes} AND k < 1000"))[0]:
            self._say(f"the resumed run is over, and {left[0]:,} rows were not changed")
        if work.is_load and not self.is_loaded():
            self._say("the resumed run is over, and its rows are not there")
        if work.rebuilds:
            now = self._index_files()
            same = [name for name, node in self._files.items() if now.get(name) == node and self._is_asked(name)]
            if same:
                self._say(f"the resumed run is over, and {same} were not rebuilt")
        tables = self._files_of_tables()
        if same := [name for name in work.rewrites if tables.get(name) == self._table_files.get(name)]:
            self._say(f"the resumed run is over, and {same} were not moved")
        if missing := set(work.gathers) - self._gathered():
            self._say(f"the resumed run is over, and {sorted(missing)} have no statistics")
        if there := self._attached() & set(work.drops):
            self._say(f"the resumed run is over, and {sorted(there)} are there")
        if work.makes_statistics and self._made_statistics() is not True:
            self._say(f"the resumed run is over, and its statistics are not right: {self._made_statistics()}")
        if work.drops_statistics and self._has_statistics():
            self._say(f"the resumed run is over, and `{work.drops_statistics}` is there")
        if work.exchanges and not self._is_exchanged():
            self._say("the resumed run is over, and nothing was exchanged")
        if work.validates and (left := self._waiting()):
            self._say(f"the resumed run is over, and {sorted(left)} are not validated")
        if work.refreshes and self._refreshed() != work.refreshes[1]:
            self._say(f"the resumed run is over, and the view has {self._refreshed()} rows")
        if work.backs_up and not self._is_backup():
            self._say("the resumed run is over, and its backup is not there")

    def _is_asked(self, index: str) -> bool:
        return any(index.startswith(f"{table}_") for table in self._work.rebuilds)

    def _look_at_catalogue(self) -> None:
        now = self._picture()
        for what in sorted(self._before.keys() | now.keys()):
            was, found = self._before.get(what), now.get(what)
            asked = (was is None and self._is_made(what)) or self._is_dropped(what, found) or self._is_moved(what)
            if was != found and not asked:
                self._say(f"`{what}` was {was!r} and is {found!r}")
        if self._work.makes_table and self._made_table() is False:
            self._say("the table of the job is there without its rows")
        if self._work.makes_index and self._made_index() not in (None, True):
            self._say(f"the index of the job is not right: {self._made_index()}")
        if self._work.makes_statistics and self._made_statistics() not in (None, True):
            self._say(f"the statistics of the job are not right: {self._made_statistics()}")
        for what, state in now.items():
            if what[0] in "iI" and what[1] == " " and "| t | t | t | f" not in state:
                self._say(f"the index `{what}` is not valid: {state}")

    def _is_made(self, what: str) -> bool:
        """Whether something new is what a job was asked to make."""
        if self._work.makes_table:
            return what == "r made" or what.startswith("column made.")
        if self._work.makes_index:
            children = re.fullmatch(r"i parted_[01]_k_idx|inherits case_\d+\.(made|parted_[01]_k_idx)", what)
            return what in ("i made", "I made") or bool(children)
        return self._work.makes_statistics is not None and what == "statistics made"

    def _is_moved(self, what: str) -> bool:
        """Whether it is what a job changes: which of two is the partition, a mark, what is validated."""
        if what == f"i {self._work.clusters}" or what.removeprefix("constraint ") in self._work.validates:
            return True
        of_both = {f"r {name}" for name in self._work.exchanges}
        return what in of_both or (what.startswith("inherits") and f"r {what.rpartition('.')[2]}" in of_both)

    def _is_dropped(self, what: str, found: str | None) -> bool:
        """Whether something is gone, or is a table of its own, as a job was asked for."""
        if what == f"statistics {self._work.drops_statistics}":
            return found is None
        for name in self._work.drops:
            if what == f"r {name}" and found is not None:
                return "--detach" in self._work.arguments and self._before[what].replace("| t", "| f") == found
            if what.startswith((f"r {name}", f"column {name}.")) or what.endswith(f".{name}"):
                return found is None
        return False

    def _look_at_backups(self) -> None:
        """See that of backups and restores only the backup of a job is left, and no process that works there."""
        kept = {"made"} if self._work.backs_up else set()
        if left := {each.name for each in self._place.backups.iterdir()} - kept:
            self._say(f"left of backups: {sorted(left)}")
        if kept and (self._place.backups / "made").exists() and not self._is_backup():
            self._say("the backup of the job is there in part")
        for each in psutil.process_iter(["cmdline"]):
            words = each.info["cmdline"] or ()
            ours = (str(self._place.backups), f'--table="{self._place.schema}"')
            if any(own in word for word in words for own in ours):
                self._say(f"a process is there: {' '.join(words)[:200]}")

    def _look_at_sessions(self) -> None:
        with open_store(self._place.store) as store:
            known = {head.run for head in store.list_runs()}
        for row in self._rows(_SESSIONS):
            # of a run that was cut off before it was stored nobody knows; TCP ends it (session_check_interval.sql)
            if not (self.network_was_cut and row[1] == "idle" and row[0] not in known):
                self._say(f"a session is there: {row}")
        for row in self._rows("SELECT locktype, classid, objid, pid FROM pg_locks WHERE locktype = 'advisory'"):
            self._say(f"an advisory lock is held: {row}")

    def _look_at_journal(self) -> None:
        if not self._place.store.exists():
            return
        with closing(sqlite3.connect(self._place.store)) as looked:
            for check in ("integrity_check", "foreign_key_check"):
                answer = looked.execute(f"PRAGMA {check}").fetchall()
                if answer not in ([], [("ok",)]):
                    self._say(f"{check}: {answer[:5]}")
        with open_store(self._place.store) as store:
            for entry in store.open_entries_all():
                self._say(f"the journal is open: {entry.state} {entry.effect} {entry.name}")
            for head in listed_runs(store, 9):
                if head.state is RunState.RUNNING:
                    self._say(f"run {head.run} is shown as running")
                if (holder := store.holder_for(head.run)) is not None and holder.alive:
                    self._say(f"a lease is held: {holder}")
        undo = self._place.store.parent / "undo"
        if undo.exists() and (files := sorted(each.name for each in undo.iterdir())):
            self._say(f"undo scripts are left: {files}")


def _is_done(record: RunRecord) -> bool:
    """Whether every trial of a run has a result, if with a lower degree than was asked for."""
    return record.head.state is RunState.DONE and any(each.outcome is Outcome.DOWNGRADED for each in record.trials)
