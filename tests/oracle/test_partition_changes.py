"""EXCHANGE, SPLIT, MERGE and COALESCE PARTITION against the stand-in: what is sent, refused, and found done."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle import wreck
from tests.oracle.make import SOURCE, assumed, texts, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, break_connection
from tests.oracle.standin.state import Made
from tests.oracle.test_command_line import dbatk
from tests.oracle.test_loads import ByProfile
from toolkit.dialects.indexes import IndexPart
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import Mode, ObjectKind, OperationName

_PLAIN = ("--table", "SALES", "--snapshot", "none")
EXCHANGE = ("partition", "exchange", *_PLAIN, "--partition", "P2", "--with-table", "NEW_SALES")
SPLIT = ("partition", "split", *_PLAIN, "--partition", "P3", "--at", "3000", "--new-names", "P3,PMAX")
MERGE = ("partition", "merge", *_PLAIN, "--merged", "P1,P2", "--new-name", "P12")
COALESCE = ("partition", "coalesce", *_PLAIN)


@contextmanager
def licensed(folder: Path) -> Iterator[Standin]:
    """Run a stand-in with SALES, reached by a profile that declares the Partitioning option."""
    with running_standin(Scenario(partitioned=True)) as standin:
        (folder / "config").mkdir(mode=0o700)
        profile = folder / "config" / "targets.toml"
        profile.write_text(
            f'[targets.here]\nurl = "{standin.url}"\npassword = {{env = "DBATK_PASSWORD"}}\nproduction = false\n'
            'licenses.partitioning = {by = "A DBA", on = 2026-01-01, until = 2099-01-01}\n',
            encoding="utf-8",
        )
        profile.chmod(0o600)
        yield ByProfile(standin.host, standin.port, standin.engine, standin.password)


def sales(standin: Standin) -> Made:
    """Return SALES, whose partitions are by ranges of ID, without the domain index of the stand-in."""
    standin.engine.state.objects.pop(("INDEX", ("DBATK", "SALES_TEXT")), None)
    return standin.engine.state.objects["TABLE", ("DBATK", "SALES")]


def hashed(standin: Standin) -> None:
    made = sales(standin)
    made.method, made.bounds, made.parts = "HASH", ["", "", ""], []


def new_sales(
    standin: Standin, low: int = 1000, columns: str = "ID, IDNAME, AMOUNT", *, index: bool = True
) -> None:
    """Make the table that a partition is exchanged with."""
    standin.engine.run_as_dba(
        f'CREATE TABLE "DBATK"."NEW_SALES" AS SELECT {columns} FROM DBATK.SALES '
        f"WHERE ID >= {low} AND ID < {low + 5}"
    )
    if index:
        standin.engine.run_as_dba('CREATE INDEX "DBATK"."NEW_IX" ON "DBATK"."NEW_SALES" ("ID")')


def altered(standin: Standin) -> list[str]:
    return [" ".join(text.split()) for text in standin.statements if re.match(r"\s*ALTER TABLE .*PARTITION", text)]


def parts(standin: Standin) -> list[str]:
    return [part.name for part in sales(standin).parts]


def rows(standin: Standin, table: str) -> int:
    found = standin.engine.data.execute(f'SELECT count(*) FROM "DBATK"."{table}"').fetchone()
    assert found is not None
    return int(found[0])


def test_a_partition_and_a_table_change_rows_and_a_second_exchange_takes_it_back(tmp_path: Path) -> None:
    with licensed(tmp_path) as standin:
        sales(standin)
        new_sales(standin)
        status, run = dbatk(standin, tmp_path, *EXCHANGE, "--degree", "4")
        assert status == 0, run
        assert (rows(standin, "SALES"), rows(standin, "NEW_SALES")) == (3005, 1000)
        assert altered(standin) == [
            'ALTER TABLE "DBATK"."SALES" EXCHANGE PARTITION "P2" WITH TABLE "DBATK"."NEW_SALES" INCLUDING INDEXES '
            "WITH VALIDATION UPDATE GLOBAL INDEXES PARALLEL 4"
        ]
        status, run = dbatk(standin, tmp_path, *EXCHANGE, "--validation", "without")
        assert (status, rows(standin, "SALES"), rows(standin, "NEW_SALES")) == (0, 4000, 5), run
        assert altered(standin)[-1].endswith("WITHOUT VALIDATION UPDATE GLOBAL INDEXES")


def test_partitions_are_not_made_where_nobody_declared_the_licence(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        sales(standin)
        for line in (SPLIT, MERGE):
            status, run = dbatk(standin, tmp_path, *line)
            assert (status, altered(standin), "licenses.partitioning" in str(run)) == (5, [], True), run


def test_rows_that_do_not_belong_into_the_partition_fail_and_nothing_changes(tmp_path: Path) -> None:
    with licensed(tmp_path) as standin:
        sales(standin)
        new_sales(standin, low=2500)
        status, run = dbatk(standin, tmp_path, *EXCHANGE)
        assert (status, rows(standin, "SALES"), rows(standin, "NEW_SALES")) == (3, 4000, 5), run
        assert "ORA-14099" in str(run)


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    ("columns", "index", "options", "words"),
    [
        ("ID, AMOUNT, IDNAME", True, (), "column 2 is `IDNAME` VARCHAR2(400) in"),
        ("ID, IDNAME", True, (), "has 3 columns and"),
        ("ID, IDNAME, AMOUNT", False, (), "ORA-14098"),
        ("ID, IDNAME, AMOUNT", False, ("--exchange-indexes", "excluding"), ""),
    ],
)
def test_other_columns_or_indexes_are_refused_before_anything_is_sent(
    tmp_path: Path, columns: str, index: bool, options: tuple[str, ...], words: str
) -> None:
    with licensed(tmp_path) as standin:
        sales(standin)
        new_sales(standin, columns=columns, index=index)
        status, run = dbatk(standin, tmp_path, *EXCHANGE, *options)
        assert (status, len(altered(standin))) == ((5, 0) if words else (0, 1)), run
        assert words in str(run)


@pytest.mark.thin(4)
@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize("line", [EXCHANGE, SPLIT, MERGE, COALESCE], ids=lambda line: line[1])
def test_a_killed_change_is_resumed_or_found_done_and_never_done_twice(
    tmp_path: Path, line: tuple[str, ...], when: str
) -> None:
    with licensed(tmp_path) as standin:
        sales(standin)
        if line is EXCHANGE:
            new_sales(standin)
        if line is COALESCE:
            hashed(standin)
        words = f"{line[1].upper()} PARTITION"
        assert wreck.kill(standin, tmp_path, Fault(break_connection, words=words, when=when), *line)
        sent = len(altered(standin))
        status, run = wreck.run(standin, tmp_path, "runs", "resume", "last", "-t", standin.url, "--not-production")
        assert status == 0, run
        assert len(altered(standin)) == (sent if when == AFTER else sent + 1), altered(standin)
        again, run = wreck.run(standin, tmp_path, "runs", "resume", "last", "-t", standin.url, "--not-production")
        assert (again, len(altered(standin))) == (0, sent if when == AFTER else sent + 1), run
        if line is EXCHANGE:
            assert (rows(standin, "SALES"), rows(standin, "NEW_SALES")) == (3005, 1000)
        else:
            wanted = {"split": ["P1", "P2", "P3", "PMAX"], "merge": ["P12", "P3"], "coalesce": ["P1", "P2"]}
            assert parts(standin) == wanted[line[1]]


def test_an_exchange_that_somebody_made_meanwhile_is_not_made_back(tmp_path: Path) -> None:
    with licensed(tmp_path) as standin:
        made = sales(standin)
        new_sales(standin)
        done = standin.engine._do_plsql

        def meddling(*arguments: object) -> None:
            made.parts[1].data_object_id += 7
            done(*arguments)  # type: ignore[arg-type]

        standin.engine._do_plsql = meddling  # type: ignore[method-assign,assignment]
        status, run = dbatk(standin, tmp_path, *EXCHANGE)
        assert (status, altered(standin)) == (3, []), run
        assert "another segment" in json.dumps(run)


# -- what is spelled and refused --------------------------------------------------------------------------------
_BOUNDS = ("10", "20", "MAXVALUE")


def about(
    release: str = "19-ee",
    kind: str = "RANGE",
    key: str = "NUMBER",
    bounds: tuple[str, ...] = _BOUNDS,
    **more: Row,
) -> Facts:
    """Return facts of GTEST with partitions P1, P2 ...; `table` and `part` are laid over their rows."""
    table: Row = {"schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "partitioned": "YES",
                  **more.get("table", {})}  # fmt: skip
    listed = tuple(
        {"schema_name": "DBATK", "table_name": "GTEST", "part_name": f"P{n}", "high_value": bound,
         "partitioning_type": kind, "key_count": 1, "key_type": key, "now": "2026-11-26 22:00:00",
         **more.get("part", {})}
        for n, bound in enumerate(bounds, 1)
    )  # fmt: skip
    return replace(assumed(release, target=(table,), aging_partitions=listed), assumed=False)


def asked(operation: OperationName, **options: OptionValue):  # type: ignore[no-untyped-def]
    made = work(operation, 1, Mode.JOB, ref=ObjectRef(ObjectKind.TABLE, SOURCE), **options)
    part = options.get("partition")
    return made if part is None else replace(made, part=IndexPart(str(part), "partition"))


def split(at: str = "15", into: tuple[str, ...] = ("P2", "P2B"), **more: OptionValue):  # type: ignore[no-untyped-def]
    return asked("partition-split", partition="P2", at=at, new_names=into, **more)


@for_each(
    ("item", "found", "words"),
    [
        (split("20"), about(), "between 10 and 20 (ORA-14080)"),
        (split("10"), about(), "ORA-14080"),
        (split("15x"), about(), "a number"),
        *((split(at), about(), "a number") for at in ("inf", "1e999999999", "15.12345678901234567890", "")),
        (split("2026-01-01+01:00"), about(key="DATE"), "a date"),
        (split(into=("P1", "P2")), about(), "ORA-14012"),
        (split(online=True), about("12.1-ee"), "from 12.2"),
        (split(online=True), about("19-se2"), "Enterprise Edition"),
        (split(), about(kind="HASH"), "partitioned by hash"),
        (split(), about(kind="LIST"), "--in-values"),
        (split(), about(part={"key_count": 2}), "several columns"),
        (split(), about(table={"domain_index_count": 1}), "domain index"),
        (split(), about(table={"iot_type": "IOT"}), "index-organized"),
        (asked("partition-merge", merged=("P1", "P3"), new_name="P9"), about(), "come `P2`"),
        (asked("partition-merge", merged=("P1", "P2"), new_name="P1"), about(), "ORA-14275"),
        (asked("partition-merge", merged=("P1", "P2"), new_name="P3"), about(), "another partition"),
        (asked("partition-merge", merged=("P1", "P7"), new_name="P9"), about(), "has no partition `P7`"),
        (asked("partition-merge", merged=("P1", "P2", "P3"), new_name="P9"), about("11.2-ee"), "two partitions"),
        (asked("partition-coalesce"), about(), "only hash partitions"),
        (asked("partition-coalesce"), about(kind="HASH", bounds=("",)), "ORA-14285"),
    ],
)  # fmt: skip
def test_what_oracle_would_refuse_is_refused_in_a_sentence(item: object, found: Facts, words: str) -> None:
    support = DIALECT.work.support(item, found)  # type: ignore[arg-type]
    assert not support.ok
    assert words in support.sentence


@for_each(
    ("item", "found", "wanted"),
    [
        (split("15.5", online=True, tablespace="fast"), about(),
         'SPLIT PARTITION "P2" AT (15.5) INTO (PARTITION "P2" TABLESPACE "FAST", PARTITION "P2B" '
         'TABLESPACE "FAST") UPDATE INDEXES ONLINE'),
        (split("1234567890123456789"), about(bounds=("1234567890123456788", "1234567890123456790", "MAXVALUE")),
         "AT (1234567890123456789) INTO"),
        (split("2026-11-01"), about(key="DATE", bounds=("", "", "")),
         """SPLIT PARTITION "P2" AT (TO_DATE('2026-11-01 00:00:00', 'YYYY-MM-DD HH24:MI:SS')) INTO"""),
        (split("2026-11-01T06:00:00.5"), about(key="TIMESTAMP(6)", bounds=("", "", "")),
         "AT (TIMESTAMP '2026-11-01 06:00:00.500000') INTO"),
        (replace(split(), options={"partition": "P2", "in_values": "it's, SOUTH", "new_names": ("A", "B")}),
         about(kind="LIST", key="VARCHAR2"), """VALUES ('it''s', 'SOUTH') INTO (PARTITION "A", PARTITION "B")"""),
        (asked("partition-merge", merged=("P1", "P2"), new_name="P12", tablespace="fast"), about(),
         'MERGE PARTITIONS "P1", "P2" INTO PARTITION "P12" TABLESPACE "FAST" UPDATE INDEXES'),
        (asked("partition-coalesce"), about(kind="HASH"), "COALESCE PARTITION UPDATE INDEXES"),
    ],
)  # fmt: skip
def test_statements_are_spelled_by_the_type_of_the_key(item: object, found: Facts, wanted: str) -> None:
    assert DIALECT.work.support(item, found).ok  # type: ignore[arg-type]
    assert wanted in texts(DIALECT.work.timed(item, found))[-1]  # type: ignore[arg-type]
    assert any("no undo" in remark for remark in DIALECT.work.remarks(item, found))  # type: ignore[arg-type]
