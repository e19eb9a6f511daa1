"""Earlier runs of the same work: what is known of its noise before a run begins or is compared."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from toolkit.analysis.judged import judged_of
from toolkit.analysis.noise import LOAD, NEWEST_RUNS
from toolkit.design.judging import chosen
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.records import RunRecord
from toolkit.model.values import Cell
from toolkit.model.words import EngineName, Mode
from toolkit.store import Store


def earlier_runs(store: Store, run: RunRecord, metrics: Collection[str] = ()) -> list[RunRecord]:
    """Return earlier runs of the operation on the database of a run, which show how much such runs differ.

    They are those that count for two runs that are compared, and room for these two among them.
    """
    head = run.head
    needed = {judged_of(run).by.metric, LOAD, *metrics}
    most = NEWEST_RUNS + 2
    return store.earlier_runs(head.engine, head.target_name, head.experiment.operation, needed, most)


def what_it_needs(
    store: Store, experiment: Experiment, cells: Sequence[Cell], engine: EngineName, target_name: str
) -> tuple[str, ...]:
    """Say how many repeats a measurement may need, by earlier runs, or what its fixed number may show."""
    if experiment.mode is Mode.JOB or len(cells) < 2:
        return ()
    if experiment.search:
        from toolkit.analysis.search import what_a_search_needs

        history = store.earlier_runs(engine, target_name, experiment.operation, ())
        return (what_a_search_needs(experiment, history),)
    from toolkit.analysis.outlook import detectable, expected

    metrics = {chosen(experiment).metric}
    history = store.earlier_runs(engine, target_name, experiment.operation, metrics)
    if experiment.detect_pct is None:
        shows = detectable(experiment, cells, history)
        return () if shows is None else (shows.sentence(),)
    return (expected(experiment, cells, history).sentence(experiment.detect_pct),)


def runs_of_target(store: Store, target: str) -> list[RunRecord]:
    """Return the newest runs on the databases that a target has stood for, with what they are judged by.

    Raises:
        ToolkitError: TK-0109 when none is stored.
    """
    heads = [head for head in store.list_runs() if head.experiment.target == target]
    if not heads:
        raise ToolkitError(
            f"no run on `{target}` is stored",
            code="TK-0109",
            hint="`dbatk runs list` shows the targets; `--measure FILE.toml` measures this one",
        )
    metrics = {chosen(head.experiment).metric for head in heads} | {LOAD}
    places = dict.fromkeys((head.engine, head.target_name) for head in heads)
    return [run for engine, name in places for run in store.earlier_runs(engine, name, metrics=metrics)]
