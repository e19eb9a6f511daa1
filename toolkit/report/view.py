"""What a report says, once, for all its formats: spelled and cleaned, in the order a reader wants it."""

from __future__ import annotations

import math
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatch
from statistics import median
from typing import TYPE_CHECKING

from toolkit.analysis.choice import WORTH_PCT
from toolkit.analysis.fit import FEWEST_DEGREES
from toolkit.analysis.mixes import mix_trial
from toolkit.model.bill import bill_among
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import declaration, every_option
from toolkit.model.options import OptionKind
from toolkit.model.records import MEASURED_BY, SAMPLE_QUERIES, SAMPLER, SAMPLING_SECONDS, RunRecord
from toolkit.model.values import spell_level
from toolkit.model.words import Mode, status
from toolkit.report.backup_charts import backup_charts
from toolkit.report.cell_charts import heat_chart, phase_chart
from toolkit.report.chart import Chart
from toolkit.report.factor_charts import factor_charts
from toolkit.report.labels import PHASES
from toolkit.report.metric_tables import Metrics, cost_table, object_table, run_metrics
from toolkit.report.mix_charts import mix_charts, mix_sentences, mix_table
from toolkit.report.recommendation import recommendation_rows
from toolkit.report.restored import restored
from toolkit.report.safe import clean, clean_lines
from toolkit.report.tables import (
    Table,
    cells_table,
    environment_table,
    short_cells_table,
    short_environment,
    trials_table,
)
from toolkit.report.time_charts import order_chart, sample_charts
from toolkit.units import count, counted, number, seconds

if TYPE_CHECKING:
    from toolkit.analysis.advice import Advice
    from toolkit.analysis.cells import RunAnalysis
    from toolkit.analysis.laws import FittedLaw

_SCRIPTS = ("script*.sql", "plan-*.txt")
_LONGEST_WORK = 60


@dataclass(frozen=True, slots=True)
class KeptScript:
    """A script that ran, as kept."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as a reader sees it."""

    run: str
    title: str
    about: str
    facts: tuple[tuple[str, str], ...]
    advice: Advice
    setting: tuple[tuple[str, str], ...]
    """What it gains besides, what limits it, what to try next: nothing of a job."""
    cells: Table
    short_cells: Table
    charts: tuple[Chart, ...]
    resources: tuple[Chart, ...]
    """The trials in the order run, and what was sampled of the host and the database."""
    environment: Table
    short_environment: tuple[Table, tuple[str, ...]]
    warnings: tuple[str, ...]
    trials: Table
    short_trials: Table
    jobs: tuple[str, ...]
    """How the jobs of a mix fitted together."""
    objects: Table
    short_objects: Table
    costs: Table
    metrics: Metrics | None
    scripts: tuple[KeptScript, ...]
    method: tuple[str, ...]
    licences: tuple[str, ...]
    """What it used that is paid for, and who declared it; engines without licences have none."""


def run_view(run: RunRecord, worth_pct: float = WORTH_PCT) -> RunView:
    """Prepare a run for reading."""
    from toolkit.analysis.recommendation import recommend, rows_below_headline

    recommended = recommend(run, worth_pct)
    found, advice, mix = recommended.found, recommended.advice, mix_trial(run)
    return RunView(
        run=clean(run.head.run),
        title=_title(run),
        about=_about(run),
        facts=tuple((label, clean(text)) for label, text in _facts(run)),
        advice=_clean_advice(replace(advice, sentences=(*_restored(run), *advice.sentences))),
        setting=recommendation_rows(rows_below_headline(recommended)) if run.head.mode is Mode.MEASUREMENT else (),
        cells=cells_table(found, advice.best, advice.recommended),
        short_cells=short_cells_table(found, advice.best, advice.recommended),
        charts=(*_charts(found, advice, recommended.law), *mix_charts(mix)),
        resources=_during(found),
        environment=environment_table(run),
        short_environment=short_environment(run),
        warnings=tuple(clean(warning) for warning in run.warnings),
        trials=trials_table(run),
        short_trials=trials_table(run, narrow=True),
        jobs=mix_sentences(mix),
        objects=object_table(run) if mix is None else mix_table(mix),
        short_objects=object_table(run, 20) if mix is None else mix_table(mix),
        costs=cost_table(run, [summary.cell for summary in found.cells]),
        metrics=run_metrics(run, [summary.cell for summary in found.cells], advice.best),
        scripts=tuple(_scripts(run)),
        method=tuple(_method(found)),
        licences=tuple(_licences(run)),
    )


def _licences(run: RunRecord) -> Iterator[str]:
    bill = bill_among(run.artifacts)
    for sentence in () if bill is None else bill.sentences():
        yield clean(sentence)


def _restored(run: RunRecord) -> tuple[str, ...]:
    """Return what a restore showed that was tried once: how long, until when, what was compared."""
    job = run.head.mode is Mode.JOB
    return tuple(sentence for trial in run.trials if trial.counts for sentence in restored(trial)) if job else ()


def _clean_advice(advice: Advice) -> Advice:
    sentences = tuple(clean(sentence) for sentence in advice.sentences)
    doubts = tuple(clean(doubt) for doubt in advice.doubts)
    return replace(advice, headline=clean(advice.headline), sentences=sentences, doubts=doubts)


def _charts(found: RunAnalysis, advice: Advice, law: FittedLaw | None) -> tuple[Chart, ...]:
    both = heat_chart(found, advice.recommended)
    return (*factor_charts(found, law), *((both,) if both else ()), *backup_charts(found, advice.first))


def _during(found: RunAnalysis) -> tuple[Chart, ...]:
    drawn = (order_chart(found), phase_chart(found))
    return (*(chart for chart in drawn if chart), *sample_charts(found.run))


def _title(run: RunRecord) -> str:
    """Name a run so that a reader knows it a year later."""
    return clean(f"{work_and_factors(run)} ({run.head.began_at:%Y-%m-%d})")


def work_and_factors(run: RunRecord) -> str:
    """Name what a run did, and with which factors."""
    return ": ".join(filter(None, (work_of(run), factors_of(run))))


def factors_of(run: RunRecord) -> str:
    """Name the factors of a run with their levels; nothing where it has none."""
    return "; ".join(_factor(run))


def work_of(run: RunRecord) -> str:
    """Name what a run did: which operation, on which object and target."""
    experiment = run.head.experiment
    return f"{f'{experiment.operation} {worked_on(experiment)}'.strip()} on {place_of(experiment.target)}"


def worked_on(experiment: Experiment) -> str:
    """Name the object that an experiment works on, if it has one."""
    program = experiment.options.get("command")
    if isinstance(program, tuple):
        return _short(shlex.join(program))
    named = (experiment.options.get(name) for name in ("table", "index", "schema", "source", "builtin"))
    return next((_option(value) for value in named if value), "")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_WORK else f"{text[: _LONGEST_WORK - 1]}…"


def place_of(target: str) -> str:
    """Return a target's profile name, or the database and host of its URL."""
    _, separator, rest = target.partition("://")
    if not separator:
        return target
    if not rest:
        return "this host"
    where, _, database = rest.partition("?")[0].rpartition("/")
    host = where.rpartition("@")[2].rstrip("/").partition(":")[0]
    return (
        f"{database} at {host}" if database and host and not where.startswith("/") else database or host or target
    )


def _about(run: RunRecord) -> str:
    """Return what was done on what, in one line."""
    facts = dict(_facts(run))
    words = [facts[name] for name in ("what", "mode", "when")]
    return clean(f"{facts['target']}: {'; '.join(words)}")


def _factor(run: RunRecord) -> Iterator[str]:
    for factor in run.head.experiment.factors:
        levels = [spell_level(level) for level in factor.levels]
        shown = ", ".join(levels) if len(levels) <= 8 else f"{', '.join(levels[:7])} ... {levels[-1]}"
        # A degree counts threads on one engine and processes on another: its name says enough.
        parallel = factor.name == declaration(run.head.experiment.operation).degree
        unit = factor.unit if factor.unit and factor.unit not in factor.name and not parallel else ""
        yield f"{factor.name} {shown}{f' {unit}' if unit else ''}"


def _said(name: str, value: OptionValue) -> str:
    """Spell an option as it was given; of a program its line is enough, of a document the names of its entries."""
    option = every_option().get(name)
    kind = option.kind if option is not None else None
    if isinstance(value, tuple) and kind is OptionKind.ARGUMENTS:
        return shlex.join(value)
    named = _entries(str(value)) if kind in _DOCUMENTS else ()
    measured = isinstance(value, int | float) and not isinstance(value, bool)
    unit = f" {option.unit}" if option and measured and option.unit and option.unit not in name else ""
    return f"{name.rstrip('_')} {_option(named or value)}{unit}"


_DOCUMENTS = frozenset({OptionKind.JOBS, OptionKind.TRANSACTIONS})


def _entries(text: str) -> tuple[str, ...]:
    """Return the names of the entries of a TOML document, nothing where it has none or is something else."""
    try:
        lists = [value for value in tomllib.loads(text).values() if isinstance(value, list)]
    except tomllib.TOMLDecodeError:
        return ()
    return tuple(str(one["name"]) for each in lists for one in each if isinstance(one, dict) and "name" in one)


def _facts(run: RunRecord) -> Iterator[tuple[str, str]]:
    head, experiment = run.head, run.head.experiment
    yield "run", f"{head.run}{f' ({head.label})' if head.label else ''}"
    if experiment.name:
        yield "experiment", experiment.name
    yield "target", experiment.target
    if head.target_name not in ("", experiment.target):
        yield "identity", head.target_name
    what = ", ".join(_said(name, value) for name, value in experiment.options.items())
    yield "what", f"{experiment.operation}{f': {what}' if what else ''}"
    factors = factors_of(run)
    if factors:
        yield "factors", factors
    yield "mode", _mode(run)
    yield "when", _when(head.began_at, head.ended_at)
    planned = f"{count(head.trials_ended)} of {counted(head.trials_planned, 'trial')} ended"
    trials = planned if not experiment.open_ended else f"{counted(head.trials_ended, 'trial')} ended"
    yield "state", f"{status(head.state, well=run.all_ok)}, {trials}"
    from toolkit.analysis.sequential import how_it_ended

    for sentence in how_it_ended(run):
        yield "repeats", sentence


def _option(value: object) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    # a query can be pages long; the script has all of it
    return text if len(text) <= 160 else f"{text[:157]}..."


def _mode(run: RunRecord) -> str:
    experiment = run.head.experiment
    if run.head.mode is Mode.JOB:
        return "job: done once"
    warm = f", {counted(experiment.warmup, 'warm-up sweep')} before"
    warmed = warm if experiment.warmup else ""
    repeats = f"{counted(experiment.repeat, 'repeat')} of each configuration"
    if experiment.detect_pct is not None:
        repeats = f"repeats until a difference of {experiment.detect_pct:g} % is detected or excluded"
    if experiment.search:
        among = math.prod(len(factor.levels) for factor in experiment.factors)
        repeats = f"a search among {counted(among, 'configuration')}"
    return f"measurement: {repeats}{warmed}"


def _when(began: datetime, ended: datetime | None) -> str:
    text = f"{began:%Y-%m-%d %H:%M:%S} UTC"
    return f"{text}, took {seconds((ended - began).total_seconds())}" if ended else f"{text}, not ended"


def _scripts(run: RunRecord) -> Iterator[KeptScript]:
    for artifact in sorted(run.artifacts, key=lambda artifact: (artifact.name, artifact.trial or 0)):
        if any(fnmatch(artifact.name, each) for each in _SCRIPTS):
            of_trial = f", trial {artifact.trial}" if artifact.trial is not None else ""
            text = clean_lines(artifact.content.decode("utf-8", errors="replace"))
            yield KeptScript(clean(f"{artifact.name}{of_trial}"), text.strip("\n"))


def _method(found: RunAnalysis) -> Iterator[str]:
    run = found.run
    experiment = run.head.experiment
    elsewhere = run.environment.get(MEASURED_BY)
    if elsewhere is not None:
        yield clean(
            f"dbatk did not measure this ({elsewhere}): what was on the clock, in which order, and what else the "
            "host did is not known. Trials of one repeat are analysed as one sweep over all configurations."
        )
    else:
        yield "Only the statement itself is timed, including its commit; setup and cleanup are not."
    if not found.judged.is_time:
        by = found.judged.by
        better = "lower" if by.lower_is_better else "higher"
        yield clean(f"Configurations are compared by {by.title} (`{by.metric}`): {better} is better.")
    if run.head.mode is Mode.MEASUREMENT and elsewhere is None:
        yield (
            "Every repeat is one full sweep over all configurations in random order "
            f"(seed {experiment.seed}), so that drift affects all of them alike."
        )
    yield (
        "A trial counts if it ended ok, is not a warm-up and was not disturbed; "
        "the others are listed but not counted."
    )
    yield (
        f"Intervals are 95 %: Student's t on the logarithms of the {found.judged.values}, the variance pooled "
        "over all configurations, the effect of sweeps removed; those of ratios hold together for all pairs of "
        "configurations (Tukey's range). An interval always includes its median; none is "
        "given with fewer than "
        f"{FEWEST_DEGREES} degrees of freedom (here {found.fit.noise.degrees:g})."
    )
    yield (
        f"{found.judged.gain.capitalize()} is {found.judged.gain_formula}; "
        "efficiency divides it by the ratio of the levels."
    )
    version = clean(run.head.tool_version) or "of unknown version"
    yield f"Snapshots: {clean(experiment.snapshot)}. dbatk {version}."
    sampling = _sampling(run)
    if sampling:
        yield sampling
    phases = _phases(run)
    if phases:
        yield f"Longest phases outside the timed statement: {phases}."


def _sampling(run: RunRecord) -> str:
    """Say what sampling cost; runs of before that was counted have no figures of it."""
    metrics = [each for trial in run.trials for each in trial.metrics if each.source == SAMPLER]
    queries = [each.value for each in metrics if each.name == SAMPLE_QUERIES]
    spent = [each.value for each in metrics if each.name == SAMPLING_SECONDS]
    if not (queries and spent):
        return ""
    return (
        "Every configuration is sampled on the same schedule while the clock runs: "
        f"{number(median(queries))} queries and {seconds(median(spent))} a trial (medians)."
    )


def _phases(run: RunRecord) -> str:
    longest: dict[str, float] = {}
    for trial in run.trials:
        for name, spent in trial.phases.items():
            longest[name] = max(spent, longest.get(name, 0.0))
    return ", ".join(f"{clean(PHASES.get(name, name))} {seconds(spent)}" for name, spent in longest.items())
