"""Every statement about statistics: all options on all releases, judged; all names documented."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import pytest

from tests.oracle.judging import judge
from tests.oracle.make import (
    EVERY_RELEASE,
    OURS,
    SCHEMA,
    assumed,
    documented_columns,
    documented_parameters,
    steps,
    work,
)
from tests.oracle.standin import grammar
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.statistics import LiveStatistics
from toolkit.dialects.work import Call, Work
from toolkit.model.experiment import OptionValue
from toolkit.model.facts import Facts
from toolkit.model.operations import declaration
from toolkit.model.options import OptionKind
from toolkit.model.steps import ObjectRef, Step
from toolkit.model.values import QualifiedName, Row
from toolkit.model.words import Mode, ObjectKind

STATS = "stats-gather"
TABLE = ObjectRef(ObjectKind.TABLE, QualifiedName("Orders 'of 2026'", "APP"))
SERVER = ObjectRef(ObjectKind.STATISTICS, QualifiedName("server"))
_METHODS = (
    "FOR ALL COLUMNS SIZE AUTO", "FOR ALL INDEXED COLUMNS SIZE 254", "FOR ALL HIDDEN COLUMNS SIZE REPEAT",
    "FOR ALL COLUMNS SIZE SKEWONLY", 'FOR COLUMNS SIZE 10 A, "b c" SIZE 2', "FOR ALL COLUMNS SIZE 1 FOR COLUMNS A",
)  # fmt: skip
_RECORD: tuple[Row, ...] = (
    {"kind": "table", "recorded_table": TABLE.name.name, "objects": 1, "analyzed": 1, "ages": 1, "rows_told": 1,
     "newest": "2026-01-01 00:00:00"},
)  # fmt: skip


def _ways() -> LiveStatistics:
    found = DIALECT.work.of("stats-gather")
    assert isinstance(found, LiveStatistics)
    return found


def levels() -> Iterator[tuple[str, OptionValue]]:
    """Give every option of statistics each of its levels."""
    for option in declaration(STATS).options:
        if option.kind in (OptionKind.NAMES, OptionKind.FLAG) or option.name in (
            "incremental",
            "publish",
            "server",
        ):
            continue
        chosen: tuple[OptionValue, ...] = option.choices + option.words
        if option.name == "estimate_percent":
            chosen += (0.000001, 12.5, 100)
        if option.name == "method_opt":
            chosen = _METHODS
        for level in chosen:
            yield option.name, level
    yield "partition", '"p\'1"'


def works() -> Iterator[Work]:
    """Make a work of every level: of a schema, a table and a copy, as a job and as a measurement."""
    for name, level in levels():
        of_columns = name == "method_opt" and "FOR COLUMNS" in str(level)
        for ref in (TABLE, OURS) if of_columns or name == "partition" else (SCHEMA, TABLE, OURS):
            for mode in Mode:
                said: dict[str, OptionValue] = {name: level}
                if name == "block_sample":
                    said["estimate_percent"] = 5
                named = {"schema": ("APP",)} if ref is SCHEMA else {"table": "T"}
                plain = said.pop("degree", 1)
                yield work(STATS, plain if isinstance(plain, int | str) else 1, mode, ref=ref, **named, **said)


FORMS: tuple[dict[str, OptionValue], ...] = (
    {"incremental": "yes"}, {"incremental": "no"}, {"concurrent": True}, {"publish": "later"},
    {"max_difference": 12.5, "no_invalidate": "auto", "force_locked": True},
    {"max_difference": 5, "only_tables": ("ITEM%", '"Odd_one"')},
    {"force_locked": True}, {"only_tables": ("ORDERS", "ITEM%", '"it\'s"')},
    {"only_tables": ("A",), "force_locked": True, "gather": "auto"},
)  # fmt: skip
"""What only a job can ask for."""


def forms() -> Iterator[Work]:
    """Make a job of each."""
    for options in FORMS:
        for ref in (SCHEMA,) if "only_tables" in options else (SCHEMA, TABLE):
            yield work(STATS, 1, Mode.JOB, ref=ref, **options)
    for what in ("dictionary", "fixed_objects", "system"):
        yield work(STATS, 1, Mode.JOB, ref=SERVER, server=what)
    for level in ("gather", "stale", "empty", "auto"):
        options = {} if level == "auto" else {"estimate_percent": "auto", "no_invalidate": "yes"}
        degree = 1 if level == "auto" else 8
        yield work(STATS, degree, Mode.JOB, ref=SERVER, server="dictionary", gather=level, **options)


def facts_of(release: str) -> Facts:
    """Return facts with what the recipe for live objects needs."""
    rows = ({"shielded_table": TABLE.name.name, "publish": None}, {"shielded_table": "B", "publish": "TRUE"})
    parts = (
        {"partitioned_table": TABLE.name.name, "incremental": None},
        {"partitioned_table": "B", "incremental": "FALSE"},
        {"partitioned_table": "C", "incremental": "TRUE"},
    )
    clock = ({"instant": "2026-11-21 05:13:42.120000 +01:00", "instant_date": "2026-11-21 05:13:42",
              "oldest": "2026-10-21 05:13:42 +01:00"},)  # fmt: skip
    return assumed(release, **{"stats_shielded:APP": rows, "stats_clock": clock, "stats_record:APP": _RECORD,
                               "stats_partitioned:APP": parts})  # fmt: skip


def calls(item: Work, facts: Facts) -> Iterator[Call]:
    """Return all that is done and asked about a work."""
    yield from (
        *_ways().setup(item, facts),
        *DIALECT.work.prepare(item, facts),
        *DIALECT.work.timed(item, facts),
        *DIALECT.work.evidence(item, facts),
    )
    yield from (*DIALECT.work.settle(item, facts), *_ways().preview(item, facts), *_ways().proof([item]))
    if item.mode is Mode.MEASUREMENT and not item.object.scratch:
        yield from _ways().isolate([item], OURS, "mark", facts)
        yield from _ways().end_isolation([item], facts)


def mends(oldest: str) -> Iterator[Call]:
    """Return what takes a moved table back, as far as the history reaches."""
    facts = facts_of("19-ee")
    clock = {**facts.first("stats_clock"), "oldest": oldest}
    facts = assumed(**{"stats_clock": (clock,), "stats_record:APP": _RECORD})
    item = work(STATS, ref=SCHEMA)
    moved = tuple({**row, "newest": "2026-11-21 06:00:00"} for row in _RECORD)
    yield from _ways().proven([item], facts, {"stats_record:APP": moved}, OURS).mend


@functools.cache
def statements() -> dict[str, str]:
    """Return every distinct statement with where it comes from."""
    found: dict[str, str] = {}
    for release in EVERY_RELEASE:
        facts = facts_of(release)
        for item in works():
            if DIALECT.work.support(item, facts).ok:
                for step in steps(calls(item, facts)):
                    _enter(found, step, release)
        for item in forms():
            if DIALECT.work.support(item, facts).ok:
                for step in steps(calls(item, facts)):
                    _enter(found, step, f"form {release}")
    for oldest in ("2026-10-21 05:13:42 +01:00", "2026-11-21 09:00:00 +01:00"):
        for step in steps(mends(oldest)):
            _enter(found, step, "mend")
    return found


def _enter(found: dict[str, str], step: Step, origin: str) -> None:
    found.setdefault(step.text, f"{origin} {step.name}")
    for text in step.undo:
        found.setdefault(text, f"{origin} {step.name} undo")


@pytest.mark.full
def test_every_option_on_every_release_stands_before_two_grammars() -> None:
    found = statements()
    assert len(found) > 100
    assert judge(found) == {}


def test_every_call_of_the_package_has_documented_parameters() -> None:
    documented = documented_parameters()
    called: set[str] = set()
    for text in statements():
        for name, arguments in re.findall(
            r"(DBMS_STATS\.[A-Z_]+)\s*\((.*?)\)(?:;| AS | = |\) d)", text, re.DOTALL
        ):
            if name == "DBMS_STATS.OBJECTTAB":  # a type
                continue
            called.add(name)
            assert set(_names(arguments)) <= documented[name], text
    assert len(called) == 20, called


def _names(arguments: str) -> set[str]:
    inner = re.sub(r"'(?:[^']|'')*'", "''", re.sub(r"TO_TIMESTAMP_TZ\([^)]*\)", "x", arguments))
    return set(re.findall(r"(\w+)\s*=>", inner))


def test_blocks_read_documented_columns_only() -> None:
    documented = documented_columns()
    blocks = [text for text in statements() if "BEGIN" in text]
    read = [(text, found) for text in blocks for found in re.findall(r"FROM ((?:dba|all)_\w+) (\w)\b", text, re.I)]
    assert {view.upper() for _, (view, _) in read} >= {"DBA_TABLES", "ALL_TABLES", "DBA_TAB_PENDING_STATS"}
    for text, (view, alias) in read:
        assert {name.upper() for name in re.findall(rf"\b{alias}\.(\w+)", text)} <= documented[view.upper()]


@pytest.mark.full
def test_every_block_is_one_the_standin_knows() -> None:
    for text in statements():
        if text.startswith(("BEGIN", "DECLARE")) and "RESTORE" not in text and "IMPORT" not in text:
            assert grammar.recognise(text, "DBATK").kind


@pytest.mark.full
def test_nothing_is_forced_published_or_set_for_everybody_unasked() -> None:
    assert any(origin.startswith("form ") for origin in statements().values())
    for text in (text for text, origin in statements().items() if not origin.startswith("form ")):
        assert not re.search(r"force\s*=>\s*TRUE|PUBLISH_PENDING|SET_GLOBAL|SET_SCHEMA_PREFS|CONCURRENT", text), (
            text
        )
        assert not re.search(r"DELETE_PENDING_STATS\((?![^)]*tabname)", text), text


def test_what_a_release_lacks_is_not_asked() -> None:
    old = " ".join(step.text for item in works() for step in steps(calls(item, facts_of("11.2-ee"))))
    new = " ".join(step.text for item in works() for step in steps(calls(item, facts_of("12.1-ee"))))
    for name in ("dba_optstat_operation_tasks", "REPORT_GATHER", "o.status"):
        assert name not in old and name in new


def test_a_history_that_does_not_reach_back_leads_to_our_own_copy() -> None:
    (restored,) = steps(mends("2026-10-21 05:13:42 +01:00"))
    (imported,) = steps(mends("2026-11-21 09:00:00 +01:00"))
    assert "RESTORE_TABLE_STATS" in restored.text and "'2026-11-21 05:13:42.120000 +01:00'" in restored.text
    assert "IMPORT_TABLE_STATS" in imported.text and OURS.name.name in imported.text
