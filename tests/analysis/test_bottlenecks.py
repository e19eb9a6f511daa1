"""What held a configuration up: each cause by the evidence that shows it, and nothing without evidence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.for_each import for_each
from tests.report.make import cell, metric, run_of, trial
from toolkit.analysis.bottlenecks import BottleneckKind as Kind
from toolkit.analysis.bottlenecks import bottlenecks
from toolkit.analysis.cells import analyse
from toolkit.model.ceilings import Ceiling
from toolkit.model.records import PLAN_IS_SERIAL, THREADS_AT_WORK, Artifact, ItemRecord, RunRecord, Sample
from toolkit.model.words import Outcome

OF = cell(degree=4)
IDLE = {"effective_parallelism": 0.4}


def instants(*waiting: dict[str, float]) -> tuple[Sample, ...]:
    """A sample each second: one leader, and what it and its workers waited for."""
    return tuple(
        Sample(float(at), name, value)
        for at, values in enumerate(waiting, 1)
        for name, value in {"active_sessions": 1.0, **values}.items()
    )


def run_with(**fields: object) -> RunRecord:
    environment = {"cpu_count": 8}
    return run_of([trial(at, OF, at, 10.0, **fields) for at in (1, 2, 3)], environment=environment)


def causes(run: RunRecord, *ceilings: Ceiling) -> list[Kind]:
    return [each.kind for each in bottlenecks(analyse(replace(run, ceilings=ceilings)), OF)]


BLOCKED = instants({"waiting_lock": 1}, {"waiting_lock": 1}, {"waiting_not": 4}, {"waiting_not": 4})
TO_STANDBY = instants({"waiting_not": 4}, {"waiting_log": 1}, {"waiting_log": 1})
READING = instants({"waiting_io": 4}, {"waiting_io": 3, "waiting_not": 1})
LEADER = instants(
    {"parallel_workers": 3, "working_leaders": 1, "working_workers": 3, "waiting_not": 4},
    *({"parallel_workers": 3, "working_leaders": 1, "waiting_not": 1, "waiting_ipc": 3},) * 3,
)
LAST_WORKER = instants(
    {"parallel_workers": 3, "working_leaders": 1, "working_workers": 3, "waiting_not": 4},
    *({"parallel_workers": 1, "working_workers": 1, "waiting_not": 1, "waiting_ipc": 1},) * 3,
)
PLANTED: dict[str, tuple[dict[str, object], Kind, str]] = {
    "a lock": ({"samples": BLOCKED}, Kind.LOCKS, "50 % of the processes' time waited for locks"),
    "a lock of Oracle": (
        {"metrics": (metric("wait Application (session)", 12.0, "s"),)}, Kind.LOCKS, "took 30 % of the time",
    ),
    "the log": ({"samples": TO_STANDBY}, Kind.LOG, "67 % of the processes' time waited for the write-ahead log"),
    "the log of Oracle": ({"metrics": (metric("event log file sync (session)", 20.0, "s"),)}, Kind.LOG, "50 %"),
    "exhausted servers": (
        {"outcome": Outcome.DOWNGRADED, "granted_degree": 2, "reason": "1 of 3 planned workers were launched"},
        Kind.SERVERS, "degree 2 of 4 was granted: 1 of 3 planned workers",
    ),
    "a serial plan": (
        {"outcome": Outcome.DOWNGRADED, "granted_degree": 1, "granted_source": PLAN_IS_SERIAL,
         "reason": "serial plan"},
        Kind.SERIAL, "the whole plan runs in one process",
    ),
    "idle threads": (
        {"outcome": Outcome.DOWNGRADED, "granted_degree": 1, "granted_source": THREADS_AT_WORK,
         "reason": "1 of 4 threads did the work"},
        Kind.SERIAL, "1 of 4 threads did the work: the rest had nothing to do",
    ),
    "one thread": ({"metrics": (metric("db_busiest_thread_pct", 91.0, "%"),)}, Kind.SERIAL, "one thread used"),
    "a coordinator that loads": (
        {"metrics": (metric("plan: load or build below PX SEND QC", 0.0, "yes/no"),)}, Kind.SERIAL, "coordinator",
    ),
    "a leader alone": ({"samples": LEADER}, Kind.SERIAL, "the leader worked alone for 75 % of the time"),
    "a worker alone": ({"samples": LAST_WORKER}, Kind.SKEW, "one of 3 workers worked alone for 75 %"),
    "skewed rows": ({"metrics": (metric("row skew of parallel servers", 3.1, ""),)}, Kind.SKEW, "3.10 times"),
    "one big object": (
        {"items": (ItemRecord("small", Outcome.OK, 1.0, 0.0, 0), ItemRecord("huge", Outcome.OK, 10.0, 0.0, 1))},
        Kind.SKEW, "`huge` was worked on alone for 9.00 s, 90 % of the time: nothing else was ready to begin",
    ),
    "little memory": ({"metrics": (metric("temp_bytes", 9e7),)}, Kind.MEMORY, "85.8 MiB were written to"),
    "others": (
        {"metrics": (metric("host_others_pct", 60.0, "%"), metric("host_cpu_user_seconds", 78.0, "s"))},
        Kind.OTHERS, "others used 60 % of this host's CPU, which was 98 % busy",
    ),
    "I/O": ({"samples": READING}, Kind.IO, "of the processes' time waited for I/O"),
    "I/O of Oracle": ({"metrics": (metric("wait User I/O (session)", 30.0, "s"),)}, Kind.IO, "75 % of the time"),
    "all CPUs": ({"effective_parallelism": 7.4}, Kind.CPU, "7.40 of 8 CPUs were busy with it"),
    "each process": ({"effective_parallelism": 3.9}, Kind.CPU, "each of 4 processes kept a CPU busy"),
}  # fmt: skip


@for_each("name", PLANTED)
def test_each_cause_is_named_first_by_its_evidence(name: str) -> None:
    fields, cause, words = PLANTED[name]
    first = bottlenecks(analyse(run_with(**{**IDLE, **fields})), OF)[0]
    assert first.kind is cause
    assert words in first.evidence
    assert first.sentence.startswith(str(cause))


def test_without_evidence_it_cannot_be_told() -> None:
    assert causes(run_with(**IDLE)) == []
    assert causes(run_with(samples=instants({"waiting_not": 4}), **IDLE)) == []
    assert bottlenecks(analyse(run_with(**IDLE)), cell(degree=2)) == ()


def test_what_can_be_removed_stands_before_what_is_merely_used() -> None:
    spilling = run_with(metrics=(metric("temp_bytes", 9e7),), effective_parallelism=7.9)
    assert causes(spilling) == [Kind.MEMORY, Kind.CPU]


def test_others_on_an_idle_host_held_nothing_up() -> None:
    idle = (metric("host_others_pct", 30.0, "%"), metric("host_cpu_user_seconds", 30.0, "s"))
    assert causes(run_with(metrics=idle, **IDLE)) == []


def test_a_rate_near_the_ceiling_of_the_host_is_io() -> None:
    ceiling = Ceiling("read", 127e6, "bytes_per_second", "fio", datetime(2026, 11, 24, tzinfo=UTC))
    near = run_with(metrics=(metric("host_disk_read_bytes", 1.2e9),), **IDLE)
    assert causes(near, ceiling) == [Kind.IO]
    (found,) = bottlenecks(analyse(replace(near, ceilings=(ceiling,))), OF)
    assert "114 MiB/s of the 121 MiB/s that reading can do" in found.evidence
    assert causes(run_with(metrics=(metric("host_disk_read_bytes", 6e8),), **IDLE), ceiling) == []


PLAN = """Aggregate  (cost=9.00..9.01 rows=1 width=8)
  ->  Gather  (cost=1.00..8.00 rows=4 width=8)
        Workers Planned: 3
        ->  Parallel Seq Scan on t  (cost=0.00..7.00 rows=2 width=8)
"""


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (PLAN, "line 1 of the plan, `Aggregate`"),
        (PLAN.partition("\n")[2], "line 1 of the plan, `Gather`"),
        ("", ""),
    ],
)
def test_the_line_of_the_plan_is_named(plan: str, line: str) -> None:
    kept = (Artifact(f"plan-{OF}.txt", "text/plain", plan.encode()),)
    found = bottlenecks(analyse(replace(run_with(samples=LEADER, **IDLE), artifacts=kept)), OF)
    assert line in found[0].evidence
