"""An operation and an engine are added by a folder each: nothing else of the program knows of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.adding import elsewhere, pause, scrub
from tests.engines.arena import Arena, Heard, duckdb_arena
from toolkit.analysis.advice import advice
from toolkit.app.approvals import Approvals
from toolkit.app.doctor import doctor
from toolkit.app.runs.execute import resume, start
from toolkit.app.runs.preview import describe, script
from toolkit.app.targets import find_target
from toolkit.cli.main import build_app, main
from toolkit.design.build import General, build_experiment
from toolkit.dialects.registry import dialect_of
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.engines import engines
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts, Release
from toolkit.model.operations import declaration, operations, registered
from toolkit.model.steps import ObjectRef
from toolkit.model.values import QualifiedName
from toolkit.model.words import Mode, ObjectKind, Outcome, RunState, SupportState
from toolkit.report.render import Format, render
from toolkit.runner import Stop
from toolkit.store.store import Store

ALLOWED = Approvals(not_production=True)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with duckdb_arena(tmp_path) as found:
        yield found


def scrubbing(arena: Arena, repeat: int | None = None) -> Experiment:
    general = General(target=arena.url, repeat=repeat, warmup=0 if repeat else None)
    return build_experiment("scrub", {"table": "main.gtest"}, {}, general)


# -- an operation of the database ---------------------------------------------------------------------------------
def test_a_new_operation_is_measured_and_leaves_nothing(arena: Arena, store: Store) -> None:
    with scrub.added():
        run = start(scrubbing(arena, 2), arena.target(), store=store, approvals=ALLOWED, events=Heard())
        record = store.load_run(run)
        assert [trial.outcome for trial in record.trials] == [Outcome.OK, Outcome.OK]
        assert any(statement.startswith("VACUUM ANALYZE") for statement in arena.statements)
        assert arena.leftovers() == []
        assert "scrub" in render([record], Format.TEXT)


def test_a_new_operation_is_a_command_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    with scrub.added():
        assert "scrub" in {group.name for group in build_app().registered_groups}
        assert main(["scrub", "table", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Scrub a table" in shown
    assert "--table" in shown


# -- what is absent -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ["oracle", "postgresql", "duckdb"])
def test_an_operation_that_an_engine_has_none_of_is_unsupported(engine: str) -> None:
    with scrub.added(implemented=False):
        ref = ObjectRef(ObjectKind.TABLE, QualifiedName("T"))
        work = Work("scrub", Mode.JOB, ref, {})
        ways, facts = dialect_of(engine).work, Facts(engine, Release((19,), "", ""))
        found = ways.support(work, facts)
        assert found.state is SupportState.UNSUPPORTED
        assert found.sentence == f"dbatk does not support `scrub` on {engines()[engine].title}"
        with pytest.raises(ToolkitError, match="does not support `scrub`"):
            ways.timed(work, facts)


@pytest.mark.parametrize("repeat", [None, 2])
def test_what_an_engine_has_none_of_is_neither_run_nor_planned_nor_printed(
    arena: Arena, store: Store, repeat: int | None
) -> None:
    sentence = "dbatk does not support `scrub` on DuckDB"
    with scrub.added(implemented=False):
        work = scrubbing(arena, repeat)
        with closing(arena.target()) as target, pytest.raises(ToolkitError, match=sentence):
            start(work, target, store=store, approvals=ALLOWED, events=Heard())
        with closing(arena.target()) as target, pytest.raises(ToolkitError, match=sentence):
            describe(work, target)
        with closing(arena.target()) as target, pytest.raises(ToolkitError, match=sentence):
            script(work, target)
        with closing(arena.target()) as target:
            assert [check.evidence for check in doctor(target, work).support] == [sentence]
            # beside others that DuckDB has none of
            assert any(
                re.search(r"does not support .*`scrub`", str(check.evidence)) for check in doctor(target).support
            )
    assert store.list_runs() == []
    assert not any(text.startswith(("ANALYZE", "VACUUM")) for text in arena.statements)


# -- work on the host alone, on an engine from outside --------------------------------------------------------
def pausing(*milliseconds: int, repeat: int = 4) -> Experiment:
    return build_experiment(
        "pause",
        {},
        {"milliseconds": milliseconds},
        General(target="elsewhere://", repeat=repeat, warmup=1, seed=7),
    )


@pytest.fixture
def this_host() -> Iterator[None]:
    with elsewhere.added(), registered(pause.DECLARATION):
        yield


@pytest.mark.usefixtures("this_host")
def test_work_without_a_database_is_a_sweep_like_any_other(store: Store) -> None:
    target = find_target("elsewhere://").target
    heard = Heard()
    run = start(pausing(1, 60), target, store=store, approvals=ALLOWED, events=heard)
    record = store.load_run(run)
    assert record.head.state is RunState.DONE
    assert heard.texts("mode") == [f"run {run}, a measurement: it only reads and creates nothing"]
    assert {trial.outcome for trial in record.trials} == {Outcome.OK}
    assert len(record.trials) == 2 * (4 + 1)
    assert {str(trial.cell) for trial in record.trials} == {"milliseconds=1", "milliseconds=60"}
    told = {metric.name for trial in record.trials for metric in trial.metrics}
    assert declaration("pause").judged_by.metric in told
    assert store.journal(run).open_entries() == ()
    told = advice(record)
    assert str(told.best) == "milliseconds=60", "the longer one waits a greater share of its time"
    shown = render([record], Format.TEXT)
    assert "median share of waiting" in shown
    assert "compared by share of waiting (`share_waited`): higher is better" in " ".join(shown.split())


@pytest.mark.usefixtures("this_host")
def test_work_without_a_database_is_resumed_where_it_was_cut_off(store: Store) -> None:
    class AfterThree(Heard):
        def emit(self, event: object) -> None:
            super().emit(event)  # type: ignore[arg-type]
            if len([each for each in self.events if each.kind == "trial-ended"]) == 3:
                stop.request()

    stop, target = Stop(), find_target("elsewhere://").target
    with pytest.raises(ToolkitError, match="was interrupted"):
        start(pausing(1, 2), target, store=store, approvals=ALLOWED, events=AfterThree(), stop=stop)
    (head,) = store.list_runs()
    assert head.state is RunState.INTERRUPTED
    assert resume(head.run, target, store=store, approvals=ALLOWED, events=Heard()) == head.run
    record = store.load_run(head.run)
    assert record.head.state is RunState.DONE
    done = [trial.trial for trial in record.trials if trial.outcome is Outcome.OK]
    assert sorted(done) == list(range(1, 2 * (4 + 1) + 1))


@pytest.mark.usefixtures("this_host")
def test_an_engine_without_tables_refuses_work_on_them(store: Store) -> None:
    work = build_experiment("ctas", {"source": "a", "table": "b"}, {}, General(target="elsewhere://"))
    with pytest.raises(ToolkitError, match="dbatk does not support `ctas` on Elsewhere"):
        start(work, find_target("elsewhere://").target, store=store, approvals=ALLOWED, events=Heard())


def test_what_was_added_is_gone_afterwards() -> None:
    with scrub.added(), elsewhere.added():
        assert "scrub" in operations()
        assert "elsewhere" in engines()
    assert "scrub" not in operations()
    assert "elsewhere" not in engines()
    assert "scrub" not in dialect_of("duckdb").work
