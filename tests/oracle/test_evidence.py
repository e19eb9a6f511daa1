"""Evidence end to end: what a run on the stand-in keeps of each trial, and what a refused view costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.standin import Scenario
from tests.oracle.test_round_trips import sampled, swept
from toolkit.model.records import RunRecord
from toolkit.model.words import Outcome

CTAS, INSERT = "ctas", "insert"


def metrics(run: RunRecord, degree: int) -> dict[str, float]:
    trial = next(each for each in run.trials if each.requested_degree == degree)
    return {one.name: one.value for one in trial.metrics}


@pytest.mark.full
def test_a_parallel_trial_keeps_servers_skew_cost_segment_and_counters(tmp_path: Path) -> None:
    with swept(CTAS, tmp_path) as (_, _, run):
        told, serial = metrics(run, 4), metrics(run, 1)
    assert [trial.granted_degree for trial in sorted(run.trials, key=lambda one: one.trial)] == [
        trial.requested_degree for trial in sorted(run.trials, key=lambda one: one.trial)
    ]
    assert (told["parallel servers"], told["rows of dfo 1 queue 0 producers"]) == (4, 2000)
    assert told["row skew of parallel servers"] > 1.5
    assert told["segment bytes"] == 65536 * told["segment extents"] > 0
    assert 0 < told["redo size (session)"] <= told["redo size"]
    assert "event direct path write (session)" in told
    assert not any("Idle" in name or "SQL*Net message from client" in name for name in told)
    assert told["plan: load or build below PX SEND QC"] == 1
    assert "parallel servers" not in serial


def test_the_plan_of_each_cell_is_kept_once_as_it_was_printed(tmp_path: Path) -> None:
    with swept(INSERT, tmp_path) as (_, _, run):
        plans = {one.name: one.content.decode() for one in run.artifacts if one.name.startswith("plan-")}
    assert set(plans) == {"plan-degree=1.txt", "plan-degree=4.txt"}
    assert "PX SEND QC" in plans["plan-degree=4.txt"]
    assert "PX" not in plans["plan-degree=1.txt"]


@pytest.mark.full
def test_a_view_that_is_not_granted_costs_its_own_figures_and_is_not_asked_for_again(tmp_path: Path) -> None:
    denied = Scenario(denied=frozenset({"V$PQ_TQSTAT", "V$SQL", "V$SESSION_EVENT"}))
    with swept(CTAS, tmp_path, denied) as (standin, marks, run):
        later = [text for _, text in standin.engine.sent[marks.begun[1] :] if not sampled(text)]
        told = metrics(run, 4)
    assert {trial.outcome for trial in run.trials} == {Outcome.OK}
    assert {trial.granted_degree for trial in run.trials} == {1, 4}
    assert "parallel servers" not in told and "redo size (session)" in told
    assert not [text for text in later if "v$pq_tqstat" in text or "v$sql " in text or "v$session_event" in text]
    assert any("pq_tqstat" in sentence and "ORA-00942" in sentence for sentence in run.warnings)
