"""Numbers from what programs write, and what configurations are judged by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_import import of_pgbench
from tests.for_each import for_each
from tests.operations.test_command import Heard, asked, ran, store
from toolkit.analysis.advice import advice
from toolkit.analysis.cells import cells
from toolkit.analysis.compare import compare
from toolkit.analysis.documents import run_document
from toolkit.analysis.judged import judged_of
from toolkit.analysis.limits import judge, parse_fail_if
from toolkit.design.build import General, build_experiment
from toolkit.design.file import dump_experiment, parse_experiment
from toolkit.design.output_metrics import metrics_in, phases_in, read_metric, read_phase
from toolkit.errors import ToolkitError
from toolkit.model.records import Metric
from toolkit.model.values import Row
from toolkit.model.words import Outcome, Verdict
from toolkit.report.render import Format, render
from toolkit.store.store import Store

__all__ = ["store"]


def log(*lines: str) -> list[Row]:
    return [{"at_seconds": float(at), "line": line} for at, line in enumerate(lines)]


def told(spec: str, *lines: str) -> Metric | str:
    (found,) = metrics_in(log(*lines), [read_metric(spec)])
    return found


# -- from output --------------------------------------------------------------------------------------------------
@for_each(
    ("spec", "lines", "value", "unit"),
    [
        (r"rows=(\d+) rows", ["1 rows", "12 rows done"], 12.0, ""),
        (r"rows[rows]=([\d,]+) rows", ["1,234,567 rows"], 1234567.0, "rows"),
        (r"lat[ms,lower]=avg = (-?\d+\.\d+(?:e[+-]\d+)?) ms", ["avg = 1.5e-3 ms"], 0.0015, "ms"),
        ("tps[1/s,higher]=$.summary.tps", ['noise {"x"', '{"summary": {"tps": 99.5}}'], 99.5, "1/s"),
        ("first=$.runs[0]", ["begin", "{", '"runs": [7, 8]', "}"], 7.0, ""),
        ('odd=$["a b"].c', ['{"a b": {"c": "3"}}'], 3.0, ""),
    ],
)
def test_a_number_is_found_in_the_output(spec: str, lines: list[str], value: float, unit: str) -> None:
    found = told(spec, *lines)
    assert isinstance(found, Metric)
    assert (found.value, found.unit, found.source) == (value, unit, "its output")


@for_each(
    ("spec", "lines", "said"),
    [
        (r"x=a(\d)", ["b1"], "the metric `x` is not in the output"),
        ("x=$.a.b", ['{"a": [1]}', "not json", "[" * 5000], "is not in the output"),
        ("x=is (.+)", ["it is nan"], None),
        ("x=is (.+)", ["it is many"], "is `many`, which is not a number"),
        ("x=is (.+)", ["it is 1e999"], "which is not a number"),
    ],
)
def test_what_is_not_there_is_a_sentence_never_a_number(spec: str, lines: list[str], said: str | None) -> None:
    found = told(spec, *lines)
    assert isinstance(found, str)
    assert (said or "not a number") in found


@for_each(
    ("spec", "said"),
    [
        ("x=(a)(b)", "has 2 groups and needs one"),
        ("x=ab", "has 0 groups and needs one"),
        ("x=(", "missing )"),
        (r"x=(?=a)(b)", "cannot be used"),
        (r"x=(a)\1", "cannot be used"),
        ("x", "cannot be read"),
        ("X y=(a)", "cannot be read"),
        ("x[ms,best]=(a)", "cannot be read"),
        ("x=$.a..b", "is not a path into JSON"),
    ],
)
def test_what_is_no_pattern_is_refused_when_it_is_typed(spec: str, said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        asked("true", metric=[spec])
    assert said in caught.value.message
    assert caught.value.exit_code == 2


def test_a_pattern_that_backtracks_without_end_elsewhere_takes_linear_time_here() -> None:
    assert "not in the output" in str(told(r"x=^(?:(a+)+)$", "a" * 5000 + "!"))


@given(st.lists(st.text(max_size=40), max_size=6), st.integers(-(10**12), 10**12))
def test_a_number_is_found_among_whatever_else_is_written(noise: list[str], number: int) -> None:
    lines = [line.replace("\n", " ").replace("=", "-") for line in noise]
    found = told(r"x=n=(-?\d+);", *lines, f"n={number};", *lines)
    assert isinstance(found, Metric)
    assert found.value == number


@given(
    st.dictionaries(st.text(st.characters(categories=["L"]), min_size=1, max_size=5), st.integers(), max_size=4)
)
def test_a_path_leads_where_json_leads(document: dict[str, int]) -> None:
    for name, value in document.items():
        found = told(f'x=$["{name}"]', json.dumps(document))
        assert isinstance(found, Metric)
        assert found.value == float(value)


def test_a_phase_lasts_from_its_first_line_to_the_next_that_ends_it() -> None:
    lines = log("x", "load begins", "y", "load ends", "load ends")
    (found,) = phases_in(lines, [read_phase("load=begins..ends")])
    assert found == Metric("load_seconds", 2.0, "s", "its output")
    (lacking,) = phases_in(lines, [read_phase("load=ends..begins")])
    assert lacking == "the end of the phase `load` is not in the output"


def test_output_that_says_so_fails_a_trial(store: Store) -> None:
    (trial,) = ran(store, asked("echo", "an ERROR", fail_if_output=["(?i)error"])).trials
    assert (trial.outcome, trial.reason) == (Outcome.FAILED, "`echo` wrote: an ERROR")
    assert ran(store, asked("echo", "fine", fail_if_output=["(?i)error"])).all_ok


def test_a_metric_with_the_name_of_another_is_refused() -> None:
    for more in ({"metric": ["a=(x)", "a=(y)"]}, {"metric": ["user_seconds=(x)"]}, {"metric": ["elapsed=(x)"]},
                 {"metric": ["a_seconds=(x)"], "phase": ["a=b..c"]}):  # fmt: skip
        with pytest.raises(ToolkitError, match="would be there twice"):
            asked("true", **more)


# -- what is judged by --------------------------------------------------------------------------------------------
@pytest.fixture
def rated(store: Store) -> Iterator[object]:
    """A sweep that writes what it reaches: 100 or 200 transactions a second, in 9 or 4 ms."""
    text = "[ {n} = 1 ] && echo 100 tps 9 ms || echo 200 tps 4 ms"
    yield ran(
        store,
        asked("sh", "-c", text, factor=["n=1,2"], repeat=6, warmup=0, judge="tps",
              metric=[r"tps[1/s,higher]=(\d+) tps", r"lat[ms]=(\d+) ms"]),
    )  # fmt: skip


def test_the_best_is_the_one_with_the_highest_of_the_chosen_metric(rated: object) -> None:
    told = advice(rated)  # type: ignore[arg-type]
    assert str(told.best) == "n=2"
    assert "200/s" in told.headline
    assert "2.00x the tps of `n=1`" in told.headline
    assert [one.median for one in cells(rated)] == [100.0, 200.0]  # type: ignore[arg-type]
    document = run_document(rated)  # type: ignore[arg-type]
    assert document["judged_by"]["metric"] == "tps"  # type: ignore[index]
    assert document["judged_by"]["unit"] == "1/s"  # type: ignore[index]
    shown = " ".join(render([rated], Format.TEXT).split())  # type: ignore[list-item]
    assert "median tps" in shown


def test_the_verdict_and_the_limit_go_by_the_chosen_metric(rated: object) -> None:
    one, two = (found.cell for found in cells(rated))  # type: ignore[arg-type]
    found = compare(rated, rated, cell_a=one, cell_b=two)  # type: ignore[arg-type]
    assert [pair.verdict for pair in found.pairs] == [Verdict.BETTER]
    found = compare(rated, rated, cell_a=two, cell_b=one)  # type: ignore[arg-type]
    assert [pair.verdict for pair in found.pairs] == [Verdict.WORSE]
    assert judge(found, parse_fail_if("tps < -5%")).exit_code() == 4
    assert judge(found, parse_fail_if("tps > +5%")).exit_code() == 0


@pytest.mark.thin(2)
@pytest.mark.parametrize("last", ["done", "many tps"])
def test_a_trial_without_the_number_that_it_is_judged_by_is_failed(store: Store, last: str) -> None:
    given = {"factor": ["n=1,2"], "repeat": 1, "warmup": 0, "metric": [r"tps[1/s,higher]=(\w+) tps"]}
    run = ran(store, asked("sh", "-c", f"[ {{n}} = 1 ] && echo 100 tps || echo {last}", judge="tps", **given))
    ended = {trial.cell["n"]: trial for trial in run.trials}
    assert [ended[n].outcome for n in (1, 2)] == [Outcome.OK, Outcome.FAILED]
    assert ended[2].reason == "its output has no number for the metric `tps`, by which it is judged"
    assert (ended[1].elapsed_seconds is None, ended[2].elapsed_seconds) == (False, None)
    beside = ran(store, asked("sh", "-c", f"echo {last}", repeat=1, warmup=0, metric=[r"tps=(\w+) tps"]))
    assert beside.all_ok, "nobody judges by it"


def test_throughput_is_the_stated_volume_over_the_time(store: Store, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * 5000)
    record = ran(store, asked("true", judge="throughput", volume=f"@{tmp_path}/data", repeat=2, warmup=0))
    for trial in record.trials:
        (rate,) = [one for one in trial.metrics if one.name == "throughput"]
        assert rate.value == pytest.approx(5000 / (trial.elapsed_seconds or 0))
        assert rate.unit == "bytes/s"
    by = judged_of(record).by
    assert (by.metric, by.unit, by.lower_is_better) == ("throughput", "bytes/s", False)


def test_a_metric_that_dbatk_measures_can_be_judged_by(store: Store) -> None:
    record = ran(store, asked("true", judge="user_seconds", repeat=2, warmup=0))
    judged = judged_of(record)
    assert (judged.by.unit, judged.is_time) == ("seconds", False)


def test_rows_of_a_load_are_its_volume() -> None:
    options = {"source": "a", "table": "b"}
    found = build_experiment("ctas", options, {}, General("duckdb:///x", judge="throughput", repeat=2))
    assert (found.judge, found.volume) == ("throughput", "")
    assert parse_experiment(dump_experiment(found)) == found
    with pytest.raises(ToolkitError, match="needs the volume"):
        build_experiment(
            "index-build", {"table": "b", "columns": ("c",)}, {}, General("duckdb:///x", judge="throughput")
        )


@for_each(
    ("typed", "kept"),
    [("10KiB", "10240 bytes"), ("100 bytes", "100 bytes"), ("1000 rows", "1000 rows"), ("rows", "rows")],
)
def test_a_volume_is_kept_as_a_number_with_a_unit(typed: str, kept: str) -> None:
    found = asked("true", volume=typed, judge="throughput", measure=True)
    assert found.volume == kept
    assert parse_experiment(dump_experiment(found)) == found


@for_each(
    ("judge", "metric", "kept"),
    [
        ("tps:higher", "tps=(x)", "tps:higher"), ("tps", "tps[1/s,higher]=(x)", "tps:higher"),
        ("tps:lower", "tps[s,lower]=(x)", "tps:lower"), ("tps", "tps[s]=(x)", "tps:lower"),
    ],
)  # fmt: skip
def test_which_way_is_better_is_said_with_the_metric_or_with_what_is_judged(
    judge: str, metric: str, kept: str
) -> None:
    assert asked("true", judge=judge, metric=[metric]).judge == kept


@for_each(
    ("more", "said"),
    [
        ({"judge": "tps:up"}, "cannot be read"),
        ({"judge": "throughput"}, "needs the volume"),
        ({"judge": "tps:lower", "metric": ["tps[1/s,higher]=(x)"]}, "differ in what is better"),
        ({"volume": "@/nowhere"}, "cannot be read"),
        ({"volume": "0B"}, "cannot be nothing"),
        ({"volume": "much"}, "is not a size"),
    ],
)
def test_what_cannot_be_judged_by_is_refused(more: dict[str, object], said: str) -> None:
    with pytest.raises(ToolkitError, match=said) as caught:
        asked("true", **more)
    assert caught.value.exit_code == 2


# -- from a server's log ------------------------------------------------------------------------------------------
def test_phases_of_a_servers_log_are_metrics_that_are_judged(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.touch()
    at = "2026-11-28 10:00:0"
    text = f"printf '%s\\n' '{at}0.000 UTC pass 1' '{at}{{n}}.500 UTC pass 2' >> {log}"
    run = ran(
        store,
        asked("sh", "-c", text, factor=["n=1,2"], repeat=6, warmup=0, judge="first_seconds",
              server_log=str(log), log_phase=["first=pass 1..pass 2"]),
    )  # fmt: skip
    assert {one.median for one in cells(run)} == {1.5, 2.5}
    assert str(advice(run).best) == "n=1"
    shown = " ".join(render([run], Format.TEXT).split())
    assert "n median first 95 % interval" in shown
    assert "`server log`: its clock, or its time zone, is" in shown


@pytest.mark.parametrize("option", [{"phase": ["a=x..y"]}, {"log_phase": ["a=x..y"]}])
def test_a_trial_without_the_phase_that_it_is_judged_by_is_failed(
    option: dict[str, object], store: Store, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.touch()
    more = {**option, **({"server_log": str(log)} if "log_phase" in option else {})}
    (trial,) = ran(store, asked("true", repeat=1, warmup=0, judge="a_seconds", **more)).trials
    where = "the server's log" if "log_phase" in option else "its output"
    assert trial.outcome is Outcome.FAILED
    assert trial.reason == f"{where} has no number for the metric `a_seconds`, by which it is judged"


@for_each(
    ("given", "said"),
    [
        ({"server_log": "x.log"}, "`--server-log` needs `--log-phase`"),
        ({"log_phase": ["a=x..y"]}, "`--log-phase` needs `--server-log`"),
        ({"server_log": "x.log", "log_phase": ["a=x"]}, "`--log-phase a=x` cannot be read"),
        ({"server_log": "x.log", "log_phase": ["a=(..y"]}, "of `--log-phase` cannot be used"),
        ({"server_log": "x.log", "log_phase": ["a=x..y"], "phase": ["a=x..y"]}, "would be there twice"),
    ],
)
def test_a_log_that_is_half_said_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        asked("true", **given)
    assert said in caught.value.message
    assert caught.value.exit_code == 2


def test_a_failed_trial_without_a_factor_is_named(store: Store) -> None:
    from toolkit.app.results import failures

    run = ran(store, asked("false", repeat=1, warmup=0))
    assert list(failures(run)) == ["failed: the only configuration (`false` ended with exit status 1)"]


# -- figures of benchmark programs ------------------------------------------------------------------------------
@pytest.fixture
def pgbench(tmp_path: Path) -> str:
    """A program that writes what pgbench does, with a throughput of its own."""
    script = tmp_path / "pgbench.sh"
    script.write_text(f"cat <<END\n{of_pgbench(0, 0).replace('tps = 0', 'tps = $1')}END\n")
    return str(script)


def test_the_figures_of_a_benchmark_program_are_those_that_import_reads(store: Store, pgbench: str) -> None:
    how = asked("sh", pgbench, "{n}", factor=["n=100,200"], repeat=2, warmup=0, figures=True, judge="tps:higher")
    record = ran(store, how)
    for trial in record.trials:
        found = {metric.name: metric for metric in trial.metrics}
        assert (found["tps"].value, found["tps"].source) == (trial.cell["n"], "pgbench")
        assert found["latency_average_ms"].value == 8.71
    assert [summary.median for summary in cells(record)] == [100, 200]


def test_a_metric_of_the_user_stands_before_a_figure_of_that_name(store: Store, pgbench: str) -> None:
    given = {"metric": [r"tps[1/s,higher]=duration: (\d+) s"], "judge": "tps"}
    record = ran(store, asked("sh", pgbench, "100", repeat=1, measure=True, warmup=0, figures=True, **given))
    (trial,) = record.trials
    assert [metric.value for metric in trial.metrics if metric.name == "tps"] == [2]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("echo", "done"), "this is not a file of trials"),
        (("sh", "-c", "sh {0} 1; sh {0} 2"), "tells of 2 trials, and one is expected"),
    ],
)
def test_output_without_figures_is_told_and_fails_what_is_judged_by_one(
    store: Store, pgbench: str, command: tuple[str, ...], says: str
) -> None:
    line, heard = [word.format(pgbench) for word in command], Heard()
    record = ran(store, asked(*line, repeat=1, measure=True, warmup=0, figures=True, judge="tps:higher"), heard)
    (trial,) = record.trials
    assert trial.outcome is Outcome.FAILED and "no number for the metric `tps`" in str(trial.reason)
    assert any(says in event.text for event in heard.events)
    (other,) = ran(store, asked(*line, repeat=1, measure=True, warmup=0, figures=True)).trials
    assert other.outcome is Outcome.OK, "the time is there all the same"
