"""Every statement we can render, judged by two independent grammars of Oracle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

import pytest

from tests.oracle.judging import judge
from tests.oracle.make import (
    EVERY_RELEASE,
    INDEX,
    ON_TABLES,
    OURS,
    RUN,
    SCHEMA,
    SOURCE,
    assumed,
    steps,
    work,
)
from toolkit.design.statements import split
from toolkit.dialects.indexes import IndexDefinition, IndexPart
from toolkit.dialects.oracle import objects, snapshot_sources
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.snapshot_sources import report_call
from toolkit.dialects.oracle.work.purge import ChunksOfRowids
from toolkit.dialects.repositories import RepositorySnapshot
from toolkit.dialects.work import Call, Chunk, Work
from toolkit.dialects.workloads import BUILT_IN, RunUsers, table_values, workloads_of
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import Attribute, Step
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode
from toolkit.model.workload import Draw, Drawn, Transaction
from toolkit.rendering import sql_file
from toolkit.resources import sql_root

CTAS, INSERT = "ctas", "insert"
BUILD, REBUILD, STATS, MOVE = "index-build", "index-rebuild", "stats-gather", "table-move"
_QUERY = "SELECT g.id, COUNT(*) AS n FROM dbatk.gtest g GROUP BY g.id"
_TABLE_LEVELS = ("none", "basic", "oltp", "advanced", "query_low", "query_high", "archive_low", "archive_high")


def works() -> Iterator[Work]:
    """Make works that reach every branch of every template."""
    for degree in (1, 8, "default", "auto"):
        for mode in Mode:
            for operation in ON_TABLES:
                yield work(operation, degree, mode)
            for query_operation in (CTAS, INSERT):
                yield work(query_operation, degree, mode, query=_QUERY)
    for level in _TABLE_LEVELS:
        yield work(CTAS, 4, compression=level, logging="nologging", pctfree=0, tablespace="users")
    for level in ("none", "basic", "low", "high"):
        yield work(BUILD, 4, compression=level, logging="nologging", pctfree=5, tablespace="ix", online=True)
        yield work(BUILD, 4, compression=level, unique=True, on_live_objects=True)
        yield work(REBUILD, 4, compression=level, logging="nologging", pctfree=5, tablespace="ix", online=True)
    yield work(CTAS, 2, online_statistics="yes")
    yield work(INSERT, 2, load="conventional", logging="nologging")
    yield work(INSERT, 2, load="direct", online_statistics="yes")
    yield from _statistics()
    yield from _moves()


def _moves(parts: Iterable[IndexPart | None] = (None,)) -> Iterator[Work]:
    index = IndexDefinition(QualifiedName("GTEST_IX", "DBATK"), SOURCE)
    for part in parts:
        for online in (True, False):
            for level in _TABLE_LEVELS:
                how: dict[str, OptionValue] = {"online": online, "compression": level, "tablespace": "users"}
                yield replace(work(MOVE, 4, Mode.JOB, **how), part=part, indexes=(index,))
        yield replace(work(MOVE, 1, Mode.JOB, update_indexes=True, pctfree=5), part=part)


def moves_of_lobs() -> Iterator[Step]:
    """Render moves with the LOB columns of a table and of a partition."""
    kinds = {"Text": "YES", "PICTURE": "NO", "SOUND": "NO"}
    facts = assumed(lob_columns=tuple({"lob_column": name, "securefile": kind} for name, kind in kinds.items()))
    for part in (None, IndexPart("P1", "partition")):
        for online in (True, False):
            item = work(MOVE, 1, Mode.JOB, lob_tablespace="users", tablespace="users", online=online)
            yield from steps(DIALECT.work.timed(replace(item, part=part), facts))


def coalesces() -> Iterator[Step]:
    """Yield what is sent to coalesce an index, and a partition of one."""
    for degree, part in ((1, None), (8, None), (1, IndexPart("P1", "partition"))):
        made = replace(work("index-rebuild", degree, Mode.JOB, coalesce=True), part=part)
        yield from steps(DIALECT.work.timed(made, assumed("19-ee")))


def validations() -> Iterator[Step]:
    """Yield what is sent to validate a constraint that is disabled, and the degree around it."""
    row = {"schema_name": SOURCE.schema, "table_name": SOURCE.name, "constraint_name": "It's",
           "status": "DISABLED", "constraint_type": "R", "degree": "4"}  # fmt: skip
    made = replace(work("constraint-validate", 8, Mode.JOB), part=IndexPart("It's", "constraint"))
    yield from _steps(made, assumed("19-ee", unvalidated=(row,)))
    how = DIALECT.work.of("constraint-validate")
    yield from steps(how.settle(made, assumed("19-ee", unvalidated=(row,))))


def moves_of_parts() -> Iterator[Step]:
    """Render moves of partitions; neither grammar knows the words of 11.2 for the compression of one."""
    parts = (IndexPart("P1", "partition"), IndexPart("P1_S1", "subpartition"))
    for item in _moves(parts):
        yield from steps(DIALECT.work.timed(item, assumed("19-ee")))
        plain = {name: value for name, value in item.options.items() if name != "compression"}
        yield from steps(DIALECT.work.timed(replace(item, options=plain), assumed("11.2-ee")))


def drops_of_partitions() -> Iterator[Step]:
    """Render the drop of an old partition, serially and in parallel, and what looks at it before."""
    row: Row = {"part_name": "P 1", "high_value": "TIMESTAMP' 2001-01-01 00:00:00'"}
    for degree in (1, 4):
        item = replace(work("partition-drop", degree, Mode.JOB), part=IndexPart("P 1", "partition"))
        yield from steps(DIALECT.work.timed(item, assumed("19-ee", aging_partitions=(row,))))


def changes_of_partitions(*, known: bool) -> Iterator[Step]:
    """Render changes of partitions: what the grammars know of them, or what they do not.

    Neither knows MERGE PARTITIONS, nor a degree, ONLINE or VALUES of a split, nor what an exchange updates.
    """
    row: Row = {"part_name": "P1", "data_object_id": 7, "key_type": "NUMBER"}
    facts = assumed(aging_partitions=(row,), segment_identities=(row,))
    split = {"partition": "P1", "at": "10", "new_names": ("P1", "P2")}
    lists = {"partition": "P1", "in_values": "1,2", "new_names": ("P1", "P2")}
    for degree in (1, 4):
        if known:
            yield from steps(DIALECT.work.timed(work("partition-coalesce", degree, Mode.JOB), facts))
        for step in steps(DIALECT.work.timed(work("partition-exchange", degree, Mode.JOB, partition="P1",
                                                  with_table="X", validation="without"), facts)):  # fmt: skip
            cut = step.text.partition("UPDATE GLOBAL")[0].strip()
            yield replace(step, text=cut) if known else step
    if known:
        yield from steps(DIALECT.work.timed(work("partition-split", 1, Mode.JOB, **split), facts))
        return
    for more in ({**split, "online": True}, {**split, "tablespace": "USERS"}, lists):
        yield from steps(DIALECT.work.timed(work("partition-split", 4, Mode.JOB, **more), facts))
    merge = work("partition-merge", 4, Mode.JOB, merged=("P1", "P2"), new_name="P12", tablespace="USERS")
    yield from steps(DIALECT.work.timed(merge, facts))


def shrinks() -> Iterator[Step]:
    """Render the shrink of a table and of its parts, with what is switched around it."""
    for part in (None, IndexPart("P 1", "partition"), IndexPart("P1_S1", "subpartition")):
        for more in ({}, {"compact": True}, {"cascade": True}, {"compact": True, "cascade": True}):
            item = replace(work("table-shrink", 1, Mode.JOB, **more), part=part)
            how = DIALECT.work.of("table-shrink")
            yield from steps(
                (*how.prepare(item, assumed()), *how.timed(item, assumed()), *how.settle(item, assumed()))
            )


def refreshes() -> Iterator[Step]:
    """Render refreshes of a materialized view by every method, with the switches of the session."""
    for degree in (1, 4, "default"):
        for method in (None, "complete", "fast", "force", "pct"):
            for more in ({}, {"atomic_refresh": "no"}, {"atomic_refresh": "no", "out_of_place": True}):
                how = more if method is None else {**more, "method": method}
                item = work("mview-refresh", degree, Mode.JOB, **how)
                yield from _steps(item, assumed())


def chunks() -> Iterator[Step]:
    """Render changes in chunks of a table and of a copy, and what divides and counts their rows."""
    how = DIALECT.work.of("purge")
    assert isinstance(how, ChunksOfRowids)
    place = Chunk(("AAAR3sAAEAAAACXAAA",), ("AAAR3sAAEAAAACXAAB",), rows=9, number=2)
    table: Row = {"table_name": "GTEST", "schema_name": "DBATK", "kind": "table"}
    set_to = (("AMOUNT", "AMOUNT + 1"), ("IDNAME", "(SELECT MAX(o.word) FROM app.words o)"))
    for each in (Chunk(), place, replace(place, closed=True), replace(place, low=()), replace(place, high=())):
        for where in ({}, {"where": "ID > 5 AND IDNAME LIKE 'a%'"}):
            plain = replace(
                work("purge", 2, Mode.JOB, **where), chunks=(each,), columns=("ID", "IDNAME"), notes=OURS
            )
            copy = replace(plain, object=OURS, bounds=OURS, notes=None, mode=Mode.MEASUREMENT)
            for item in (plain, copy):
                for more in (item, replace(item, archive=OURS), replace(item, assignments=set_to)):
                    yield from _steps(more, assumed())
            yield from steps((*how.divide_copy(copy, OURS, "mark"), *how.make_notes(OURS, "mark")))
            yield from steps(how.survey({**where, "chunk": 500}, assumed(target=(table,))))


def rds_calls() -> Iterator[Step]:
    """Render the procedures that stand for RMAN on Amazon RDS."""
    facts = assumed("19-ee", doctor_marks=({"schema_mark": "RDSADMIN"},))
    scopes: tuple[dict[str, OptionValue], ...] = ({}, {"scope": "tablespace", "of": ("USERS",)})
    for scope in scopes:
        yield from steps(DIALECT.work.timed(work("backup", 1, channels=4, section_size="1G", **scope), facts))
        for level in ({}, {"incremental": 0}):
            job = work(
                "backup", 1, Mode.JOB, channels=2, destination=("RMAN_DIR",), compression="basic",
                plus_archivelog=True, **level, **scope,
            )  # fmt: skip
            yield from steps(DIALECT.work.timed(job, facts))


OWN = Transaction(
    "own",
    (
        "WITH c AS (SELECT 1 AS n FROM dual) SELECT c.n, ':no' FROM c WHERE 'Rome' = :city",
        "SELECT id FROM gtest WHERE idname = :city FOR UPDATE",
        "DELETE FROM gtest WHERE id = :number_of_a_very_long_name_indeed",
        "LOCK TABLE gtest IN EXCLUSIVE MODE NOWAIT",
        "MERGE INTO gtest t USING (SELECT :city AS c FROM dual) s ON (t.idname = s.c) WHEN MATCHED THEN UPDATE "
        "SET t.amount = t.amount + :number_of_a_very_long_name_indeed",
    ),
    parameters=(
        Drawn("city", Draw.CHOICE, read="SELECT", column='"S"."T"."CITY"'),
        Drawn("number_of_a_very_long_name_indeed", high=9),
    ),
)


def _loop(implementation: RunUsers, transactions: list[Transaction]) -> tuple[Call, ...]:
    loop = implementation.loop(transactions)
    assert loop is not None
    return loop.calls


def users() -> Iterator[Step]:
    """Render the tables of the built-in workloads, and each statement of their transactions."""
    implementation = workloads_of(DIALECT.work, "workload")
    assert implementation is not None
    for built in BUILT_IN.values():
        tables = {
            table.name: replace(OURS, name=QualifiedName(f"{OURS.name.name}{letter}", "DBATK"))
            for letter, table in zip("ABCD", built.tables, strict=True)
        }
        for table in built.tables:
            yield from steps(implementation.makes(built, table, tables, 10, "it's ours", assumed()))
        yield from steps(implementation.renews(built, tables, 10))
        looped = []
        for one in built.transactions:
            (step,) = steps((Call(built.template(one.name), table_values(tables)),))
            texts = split(step.text, "oracle")
            yield from (replace(step, text=text) for text in texts)
            looped.append(Transaction(one.name, texts, one.weight, one.parameters))
        yield from steps(_loop(implementation, looped))
    yield from steps(_loop(implementation, [OWN]))
    # neither grammar knows ISOLATION_LEVEL = READ COMMITTED (SQLRF, ALTER SESSION), whose value is two words
    yield from steps(
        implementation.settings(Work("workload", Mode.MEASUREMENT, OURS, {"isolation": "serializable"}))
    )
    yield from steps((Call("values_of", {"table": SOURCE, "column": "ID"}),))


def _statistics() -> Iterator[Work]:
    for answer in ("yes", "no", "auto"):
        for ref in (None, SCHEMA):
            yield work(STATS, 4, ref=ref, cascade=answer, no_invalidate=answer, estimate_percent="auto")
    instant = "2026-11-25T22:00+01:00"
    for more in (
        {"as_of": instant},
        {"as_of": instant, "max_difference": 5},
        {"max_difference": 50},
        {"discard": True},
    ):
        yield work("stats-publish", 1, Mode.JOB, force_locked=True, no_invalidate="auto", **more)
    for degree, source in ((1, None), (3, SOURCE)):
        for content, level in (("all", "none"), ("data_only", "all"), ("metadata_only", "metadata_only")):
            dump = work("datapump-export", degree, schema=("APP", '"Old one"'), content=content, compression=level)
            yield replace(dump, source=source)
    for mode in (Mode.JOB, Mode.MEASUREMENT):
        yield replace(
            work("datapump-import", 4, mode, dump_files=("A_%U.dmp", "B and C.dmp")), tables=(OURS.name,)
        )
        for action in ("append", "truncate", "replace"):
            yield work("datapump-import", 2, mode, if_exists=action, dump_files=("A.dmp",), content="data_only")
        schemas = work("datapump-import", 2, mode, schema=("APP",), into_schema='"New one"', dump_files=("A.dmp",))
        yield replace(schemas, source=None, tables=())
    kept = {"stat_table": "KEPT", "stat_id": '"It is"'}
    for of in ({"table": "GTEST"}, {"schema": ("APP",)}):
        source = SOURCE if "table" in of else None
        yield replace(work("stats-export", 1, Mode.JOB, **kept, **of), source=source)
    for degree in (1, 4):
        yield work("stats-extend", degree, columns=("ID", '"Odd name"'))
    yield work("stats-extend", 1, Mode.JOB, columns=("ID", '"Odd name"'), drop=True)
    for drop in (False, True):
        yield work("stats-extend", 1, Mode.JOB, expression=("LOWER(IDNAME) || ', ''x'''",), drop=drop)
    yield work("stats-publish", 1, Mode.JOB, max_difference=5, **kept)
    yield work("stats-publish", 1, Mode.JOB, ref=SCHEMA, **kept)
    for gather in ("gather", "stale", "empty", "auto"):
        yield work(STATS, 1, ref=SCHEMA, gather=gather, estimate_percent=0.000001)
    for granularity in ("auto", "all", "global", "global_and_partition", "partition", "subpartition"):
        yield work(STATS, "auto", granularity=granularity, method_opt="FOR ALL COLUMNS SIZE AUTO")


def statements() -> dict[str, str]:
    """Return every distinct statement with where it comes from."""
    found: dict[str, str] = {}
    for release in EVERY_RELEASE:
        facts = assumed(release)
        for item in works():
            for step in _steps(item, facts):
                found.setdefault(step.text, f"{release} {step.name}")
                for text in step.undo:
                    found.setdefault(text, f"{release} {step.name} undo")
    for step in (
        *chunks(),
        *rds_calls(),
        *moves_of_parts(),
        *moves_of_lobs(),
        *drops_of_partitions(),
        *shrinks(),
        *validations(),
        *coalesces(),
        *refreshes(),
        *users(),
        *changes_of_partitions(known=True),
    ):
        found.setdefault(step.text, step.name)
    for step in (*_objects(assumed()), *_snapshots()):
        found.setdefault(step.text, step.name)
    for path in sorted((sql_root() / "oracle").glob("*.sql")):
        found.setdefault(sql_file("oracle", path.stem), path.name)
    return found


def _steps(item: Work, facts: Facts) -> Iterator[Step]:
    around = (DIALECT.work.worker_begin, DIALECT.work.worker_end, DIALECT.work.prepare, DIALECT.work.settle)
    for part in (*around, DIALECT.work.timed, DIALECT.work.evidence):
        yield from steps(part(item, facts))


def _objects(facts: Facts) -> Iterator[Step]:
    copy = work(CTAS).object
    row = {
        "schema_name": "DBATK", "index_name": "GTEST_IX", "table_schema": "DBATK", "table_name": "GTEST",
        "is_unique": "yes", "definition": '("ID", "IDNAME")',
    }  # fmt: skip
    with_index = assumed(table_indexes=(row,))
    yield from steps(DIALECT.copy_table(SOURCE, copy, "it's ours", facts))
    auxiliary = DIALECT.empty_copy(SOURCE, copy, "mark", with_index, bare=False)
    yield from steps((*auxiliary, *DIALECT.in_one_go(auxiliary)))
    yield from steps(
        (DIALECT.has_rows(SOURCE), DIALECT.identity(copy), DIALECT.instant(), DIALECT.sessions_of(RUN))
    )
    yield from steps((*DIALECT.drop(copy), *DIALECT.drop(INDEX), *DIALECT.reading_begin()))
    for load in (
        work(CTAS, 4), work(INSERT, 1, where="ID > 5 AND IDNAME LIKE 'a%'"), work(CTAS, 2, query=_QUERY),
    ):  # fmt: skip
        yield from steps((DIALECT.count_target(load), DIALECT.count_source(load)))
    for identity, born in (("70001 2026-11-21 05:13:42", None), (None, 1795284000), (None, None)):
        guarded = DIALECT.by_hand('DROP TABLE "DBATK"."it\'s" PURGE', copy, identity, born)
        assert guarded is not None
        yield from steps((guarded,))
    changes = [Attribute("logging", "NO", "YES", part) for part in (None, "P1")]
    changes += [Attribute("degree", "4", "3 INSTANCES 2")]
    for ref, change in product((copy, INDEX), changes):
        compared = DIALECT.by_hand("ALTER TABLE t LOGGING", ref, None, None, [change])
        assert compared is not None
        yield from steps((compared, objects.still_as_read(ref, change)))


def _snapshots() -> Iterator[Step]:
    """Render what takes snapshots of the database's own, and every report Oracle writes of them."""
    for repository in (snapshot_sources.AWR, snapshot_sources.STATSPACK):
        yield from steps((repository.snap("run 'it' 1"),))
    begin, end = RepositorySnapshot("awr", 1405, 1, 101), RepositorySnapshot("awr", 1405, 1, 104)
    for other in (None, (replace(begin, snapshot=105), replace(end, snapshot=108))):
        for whole in (False, True):
            for html in (False, True):
                yield from steps((report_call(begin, end, other, whole=whole, html=html),))


@pytest.mark.full
def test_every_statement_stands_before_two_grammars_and_broken_ones_fall() -> None:
    found = statements()
    assert len(found) > 120
    broken = {"CREATE TABLE t PARALLEL 8 AS FROM s": "broken ctas", "ALTER INDEX i REBUILT": "broken rebuild"}
    assert list(judge({**found, **broken})) == list(broken.values())
