"""The cause that was planted in a real report stands first."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.analysis.awr.planting import Plan, buffer_cache, cpus, host_cpu, plant
from tests.tiers import thinned
from toolkit.analysis.awr.diff import IntervalDiff, compare_intervals
from toolkit.analysis.awr.from_report import interval_of
from toolkit.analysis.awr.sentences import cause_sentence
from toolkit.readers.awr.report import read_report

REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere")) / "awr"

pytestmark = pytest.mark.skipif(
    not REALDATA.is_dir(), reason="DBATK_REALDATA names no folder with reports of real databases"
)
BATCH, OLTP = "lizhenhuan__awr2.html", "jdmoreno__PRD_231001_1300.html"
OLD, CLUSTER = "pcambell__11g__awrrpt_1_36006_36007.html", "pcambell__19c_rac__awr_xydb_1_20230217_15_16.html"
SORTS = "pcambell__19c_rac__awrrpt_1_18192_18193.html"


@dataclass
class Case:
    """A cause and what it must be called; `words` stand in its sentence."""

    file: str
    plan: Plan
    kind: str
    key: str
    words: tuple[str, ...] = field(default=())


CASES = {
    "commits wait ten times as long": Case(
        OLTP, Plan(events={"log file sync": (1.0, 10.0)}), "event", "log file sync", ("takes longer",)
    ),
    "a statement is executed five times as often": Case(
        OLD,
        Plan(
            statements={"cs4bbffspwq1f": (5.0, 1.0, 1.0, 1.0)}, cpu=4 * 1591.0, victims=False,
            statistics={"execute count": 1.35, "session logical reads": 2.4},
            load_profile={"executes (sql)": 1.35},
        ),
        "statement", "cs4bbffspwq1f", ("more often",),
    ),
    "a statement has a plan that does twenty times the work": Case(
        OLTP,
        Plan(
            statements={"7wcmwtk6ay1c9": (1.0, 20.0, 20.0, 20.0)}, cpu=19 * 240.0, victims=False,
            events={"db file sequential read": (9.0, 1.0)},
            statistics={"session logical reads": 2.4, "physical reads": 4.8, "physical reads cache": 4.8},
            load_profile={"logical read (blocks)": 2.4, "physical read (blocks)": 4.8},
        ),
        "statement", "7wcmwtk6ay1c9", ("more buffer gets per execution",),
    ),
    "storage answers single block reads eight times slower": Case(
        BATCH, Plan(events={"db file sequential read": (1.0, 8.0)}), "reads", "db file sequential read"
    ),
    "hard parses crowd the library cache": Case(
        CLUSTER,
        Plan(
            events={"library cache lock": (8.0, 1.5), "cursor: pin S wait on X": (10.0, 1.5),
                    "latch: shared pool": (10.0, 1.5)},
            statistics={"parse count (hard)": 12.0}, load_profile={"hard parses (sql)": 12.0},
            model={"hard parse elapsed time": 48000.0, "parse time elapsed": 50000.0}, cpu=1500.0,
        ),
        "parsing", "hard parses",
    ),
    "the buffer cache is a quarter": Case(
        OLTP,
        Plan(
            events={"db file sequential read": (6.0, 1.05)}, reads=6.0,
            statistics={"physical reads": 6.0, "physical reads cache": 6.0, "physical read total IO requests": 5.5,
                        "physical read total bytes": 6.0},
            load_profile={"physical read (blocks)": 6.0}, other=[buffer_cache(0.25, 88.0)],
        ),
        "cache", "buffer cache",
    ),
    "half of the processors are gone": Case(
        OLD, Plan(queue=9000.0, other=[cpus(18), host_cpu(idle=1.4, user=93.0, system=5.6)]), "queue", "host CPU"
    ),
    "sessions wait for locked rows": Case(
        CLUSTER, Plan(events={"enq: TX - row lock contention": (4.0, 6.0)}),
        "event", "enq: TX - row lock contention",
    ),
    "sorts spill to temporary files": Case(
        SORTS,
        Plan(
            events={"direct path read temp": (30.0, 1.3), "direct path write temp": (40.0, 1.3)},
            statistics={"physical reads direct temporary tablespace": 30.0,
                        "physical writes direct temporary tablespace": 40.0, "physical reads direct": 25.0,
                        "physical reads": 12.0, "physical writes": 20.0},
            load_profile={"physical read (blocks)": 12.0, "physical write (blocks)": 20.0}, reads=12.0,
        ),
        "temp", "temporary I/O",
    ),
    "blocks of other instances are waited for": Case(
        BATCH,
        Plan(events={"gc current block busy": (3.0, 4.0), "gc buffer busy acquire": (3.0, 5.0),
                     "gc cr block busy": (3.0, 4.0)}),
        "cluster", "cluster waits",
    ),
    "twice the redo is written": Case(
        OLTP,
        Plan(
            events={"log file sync": (1.0, 2.4)}, statistics={"redo size": 2.0, "redo writes": 1.1,
                                                             "db block changes": 1.9},
            load_profile={"redo size (bytes)": 2.0, "block changes": 1.9},
        ),
        "redo", "redo",
    ),
}  # fmt: skip


def compared(case: Case, seed: int) -> IntervalDiff:
    text = (REALDATA / case.file).read_text(encoding="utf-8", errors="replace")
    sides = (text, plant(text, case.plan, seed=seed))
    before, after = (interval_of(read_report(one.encode(), "report").document()) for one in sides)
    return compare_intervals(before, after)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", thinned([1, 2], 3))
def test_the_planted_cause_stands_first(name: str, seed: int) -> None:
    case = CASES[name]
    diff = compared(case, seed)
    assert diff.causes, "no cause is told"
    first = diff.causes[0]
    assert (first.kind, first.key) == (case.kind, case.key), [cause_sentence(one, diff) for one in diff.causes[:4]]
    assert first.impact > 0
    for words in case.words:
        assert words in cause_sentence(first, diff)


@pytest.mark.parametrize("name", thinned(CASES, 4))
def test_undone_it_is_told_as_the_relief(name: str) -> None:
    """The same pair the other way round: the cause stands first, with its sign turned."""
    case = CASES[name]
    text = (REALDATA / case.file).read_text(encoding="utf-8", errors="replace")
    worse, later = plant(text, case.plan), plant(text, Plan(), seed=3)
    sides = [interval_of(read_report(one.encode(), "report").document()) for one in (worse, later)]
    from toolkit.analysis.awr.causes import causes

    first = causes(sides[0], sides[1])[0]
    assert (first.kind, first.key) == (case.kind, case.key)
    assert first.impact < 0


def test_noise_alone_has_no_cause_of_weight() -> None:
    for file in (OLTP, BATCH, OLD, CLUSTER):
        diff = compared(Case(file, Plan(victims=False), "", ""), 5)
        assert all(abs(one.impact) < 0.1 * (diff.db_time.before.rate or 0) for one in diff.causes), file


def test_reads_past_the_buffer_cache_are_not_laid_to_it() -> None:
    case = CASES["the buffer cache is a quarter"]
    text = (REALDATA / case.file).read_text(encoding="utf-8", errors="replace")
    before, after = (
        interval_of(read_report(one.encode(), "report").document())
        for one in (text, plant(text, case.plan, seed=1))
    )
    told = next(one for one in compare_intervals(before, after).causes if one.kind == "cache")
    assert {one.key for one in told.evidence} >= {"cached_reads", "Buffer Hit"}
    more = after.counters["physical reads"] - before.counters["physical reads"]
    direct = before.counters["physical reads direct"] + more
    past = replace(after, counters={**after.counters, "physical reads direct": direct})
    assert not [one for one in compare_intervals(before, past).causes if one.kind == "cache"]
