"""How often a trial asks the database, and that nothing of ours is on the clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.oracle.make import target
from tests.oracle.standin import Scenario, Standin, running_standin
from toolkit.app.execute import Approvals, start
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.protocols import Event
from toolkit.model.records import RunRecord
from toolkit.model.values import Factor
from toolkit.model.words import Mode, OperationName
from toolkit.store import open_store

OPTIONS: dict[OperationName, dict[str, OptionValue]] = {
    OperationName.CTAS: {"source": "GTEST", "table": "GTEST_COPY"},
    OperationName.INSERT: {"source": "GTEST", "table": "GTEST", "bare": True},
    OperationName.INDEX_BUILD: {"table": "GTEST", "columns": ("ID", "AMOUNT")},
    OperationName.INDEX_REBUILD: {"table": "GTEST"},
    OperationName.STATS_GATHER: {"table": "GTEST"},
}
TIMED = re.compile(r"\s*(CREATE TABLE|INSERT|CREATE INDEX|ALTER INDEX \S+ REBUILD|BEGIN\s+DBMS_STATS|COMMIT$)")
SAMPLES = ("'parallel_workers' AS metric_name", "v$session_longops")
SNAPSHOT = "SELECT 'begin of the instance'"


@dataclass
class Marks:
    """Notes how much had been sent when a trial began and ended."""

    standin: Standin
    begun: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        marks = {"trial-begun": self.begun, "trial-ended": self.ended}.get(event.kind)
        if marks is not None:
            marks.append(len(self.standin.engine.sent))


def sampled(text: str) -> bool:
    return any(mark in text for mark in SAMPLES)


@contextmanager
def swept(
    name: OperationName, folder: Path, scenario: Scenario | None = None
) -> Iterator[tuple[Standin, Marks, RunRecord]]:
    """Sweep two degrees twice."""
    with running_standin(scenario) as standin, open_store(folder / "store.sqlite") as store:
        degrees = (Factor("degree", (1, 4)),)
        experiment = Experiment(standin.url, name, OPTIONS[name], degrees, Mode.MEASUREMENT, 2, 0, seed=7)
        marks = Marks(standin)
        run = start(
            experiment, target(standin), store=store, approvals=Approvals(not_production=True), events=marks
        )
        yield standin, marks, store.load_run(run)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_trial_asks_at_most_twelve_times_besides_sampling(name: OperationName, tmp_path: Path) -> None:
    with swept(name, tmp_path) as (standin, marks, run):
        asked = [
            [text for _, text in standin.engine.sent[begin:end] if not sampled(text)]
            for begin, end in zip(marks.begun, marks.ended, strict=True)
        ]
    assert [trial.outcome for trial in run.trials] == ["ok"] * 4
    assert all(len([text for text in texts if text.startswith(SNAPSHOT)]) == 2 for texts in asked)
    assert max(map(len, asked)) <= 12, "\n".join(max(asked, key=len))


@pytest.mark.parametrize("name", OPTIONS)
def test_on_the_clock_only_the_timed_statement_is_sent_in_the_workers_session(
    name: OperationName, tmp_path: Path
) -> None:
    with swept(name, tmp_path, Scenario(delay_seconds=0.2)) as (standin, _, _):
        sent = list(standin.engine.sent)
    snapshots = [place for place, (_, text) in enumerate(sent) if text.startswith(SNAPSHOT)]
    monitor = sent[snapshots[0]][0]
    for before, after in zip(snapshots[::2], snapshots[1::2], strict=True):
        clock = sent[before + 1 : after]
        work = [text for session, text in clock if session != monitor]
        assert work and all(TIMED.match(text) for text in work), work
        assert len({session for session, _ in clock if session != monitor}) == 1
        assert all(sampled(text) for session, text in clock if session == monitor)
