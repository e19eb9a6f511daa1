"""ALTER TABLE DROP PARTITION against the stand-in: which partitions go, which stay, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.oracle.make import SOURCE, assumed, work
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.grammar import Command
from tests.oracle.test_command_line import dbatk
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.steps import ObjectRef
from toolkit.model.values import Row
from toolkit.model.words import Mode, ObjectKind

_LINE = ("partition", "drop", "--table", "SALES", "--snapshot", "none", "--keep-rows")
_OLD = "TO_DATE(' {}-01-01 00:00:00', 'SYYYY-MM-DD HH24:MI:SS', 'NLS_CALENDAR=GREGORIAN')"
_BOUNDS = [_OLD.format(2001), _OLD.format(2002), _OLD.format(9001), "MAXVALUE"]


def aging(standin: Standin) -> None:
    """Let SALES be partitioned by ranges of a date."""
    made = standin.engine.state.objects["TABLE", ("DBATK", "SALES")]
    made.bounds, made.keyed_by, made.method, made.parts = list(_BOUNDS), "SOLD", "RANGE", []
    made.columns.append(("SOLD", "DATE", "N"))


def dropped(standin: Standin) -> list[str]:
    return [" ".join(text.split()) for text in standin.statements if re.match(r"\s*ALTER TABLE .*DROP", text)]


def test_old_partitions_go_the_oldest_first_and_a_second_run_finds_none(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        aging(standin)
        told: list[str] = []
        status, run = dbatk(standin, tmp_path, *_LINE, "24 months", "--degree", "2", told=told)
        assert status == 0, run
        assert "before it: 2 partitions; 1 session" in told[0]
        assert dropped(standin) == [
            f'ALTER TABLE "DBATK"."SALES" DROP PARTITION "P{number}" UPDATE INDEXES PARALLEL 2'
            for number in (1, 2)
        ]
        status, run = dbatk(standin, tmp_path, *_LINE, "24 months")
        assert (status, len(dropped(standin))) == (0, 2), run


def test_where_children_of_others_cannot_be_looked_for_nothing_is_dropped(tmp_path: Path) -> None:
    with running_standin(Scenario(partitioned=True, denied=frozenset({"DBA_PART_TABLES"}))) as standin:
        aging(standin)
        status, run = dbatk(standin, tmp_path, *_LINE, "24 months")
        assert (status, dropped(standin)) == (5, []), run


def test_a_partition_with_another_bound_by_now_stays_and_one_that_is_gone_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin(Scenario(partitioned=True)) as standin:
        aging(standin)
        made, drop = standin.engine.state.objects["TABLE", ("DBATK", "SALES")], standin.engine._do_partition_drop

        def meddling(session: object, data: object, command: Command) -> None:
            drop(session, data, command)  # type: ignore[arg-type]
            made.parts[0].high_value = made.bounds[0] = _OLD.format(2003)

        monkeypatch.setattr(standin.engine, "_do_partition_drop", meddling)
        status, run = dbatk(standin, tmp_path, *_LINE, "24 months")
        assert (status, [part.name for part in made.parts]) == (3, ["P2", "P3", "P4"]), run
        assert "is left as it is" in str(run)
        monkeypatch.setattr(standin.engine, "_do_partition_drop", drop)
        status, run = dbatk(standin, tmp_path, "runs", "resume", str(run["run"]))
        assert (status, [part.name for part in made.parts]) == (0, ["P3", "P4"]), run


# -- what stands in the way -
def about(release: str = "19-ee", referring: tuple[Row, ...] = (), **row: object) -> Facts:
    """Facts of GTEST with two partitions and something special about them."""
    table: Row = {"schema_name": "DBATK", "table_name": "GTEST", "kind": "table", "partitioned": "YES"}
    parts = tuple(
        {"schema_name": "DBATK", "table_name": "GTEST", "part_name": name, "high_value": bound,
         "by_interval": "NO", "partitioning_type": "RANGE", "key_count": 1, "key_type": "DATE",
         "now": "2026-11-26 22:00:00", **row}
        for name, bound in (("P1", _OLD.format(2001)), ("P2", "TIMESTAMP' 2024-11-26 00:00:00'"))
    )  # fmt: skip
    facts = assumed(release, target=(table,), aging_partitions=parts, referring=referring)  # type: ignore[arg-type]
    return replace(facts, assumed=False)


def asked(**options: OptionValue):  # type: ignore[no-untyped-def]
    degree = int(str(options.pop("degree", 1)))
    return work("partition-drop", degree, Mode.JOB, ref=ObjectRef(ObjectKind.TABLE, SOURCE), **options)


@for_each(
    ("found", "words"),
    [
        (about(partitioning_type="LIST"), "ranges of one DATE"),
        (about(key_type="NUMBER"), "ranges of one DATE"),
        (about(key_count=2), "ranges of one DATE"),
        (about(referring=({"referring_schema": "X", "referring_table": "C", "constraint_name": "C_FK",
                           "partitions": "no"},)), "ORA-02266"),
        (about(referring=({"referring_schema": "X", "referring_table": "C", "constraint_name": "C_FK",
                           "partitions": "yes"},)), "its rows would go, too"),
        (replace(about(), refused={"referring": "ORA-00942"}), "cannot be read: ORA-00942"),
        (replace(about(), refused={"elsewhere_referring": "ORA-00942"}), "would lose its rows with it, is not"),
        (replace(about(), answers={**about().answers, "aging_partitions": ()}), "is not partitioned"),
    ],
)  # fmt: skip
def test_what_has_no_age_or_is_referred_to_is_refused(found: Facts, words: str) -> None:
    assert words in DIALECT.work.support(asked(keep_rows="1 year"), found).sentence


def test_the_newest_partition_and_before_12_2_the_last_of_the_range_section_stay() -> None:
    def going(found: Facts, keep: str) -> list[str]:
        return [part.name for part in DIALECT.work.of("partition-drop").parts_of(asked(keep_rows=keep), found)]

    assert going(about(), "2 years") == ["P1"], "P2 ends with the first day that is kept, and is the newest"
    ranges = about("12.1-ee", interval_text="NUMTOYMINTERVAL(1,'MONTH')")
    first, second = ranges.answers["aging_partitions"]
    third = {
        **second,
        "part_name": "P3",
        "by_interval": "YES",
        "high_value": "TIMESTAMP' 2025-01-01 00:00:00.000'",
    }
    found = replace(ranges, answers={**ranges.answers, "aging_partitions": (first, second, third)})
    assert going(found, "1 day") == ["P1"]
    later = replace(found, release=about("19-ee").release)
    assert going(later, "1 day") == ["P1", "P2"]
    assert any("ORA-14758" in each for each in DIALECT.work.remarks(asked(keep_rows="1 day"), found))
