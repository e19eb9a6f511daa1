"""What the programs, logs and plans of a trial show besides its time: kept as it came, and read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace

from toolkit.design.judging import ELAPSED, THROUGHPUT, volume_of, volume_unit
from toolkit.design.output_metrics import log_phases, names_read
from toolkit.dialects.answers import TrialFindings
from toolkit.dialects.implementations import PRINTED
from toolkit.dialects.work import Work
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment, PlannedTrial
from toolkit.model.protocols import Answer, DatabaseError, OutputLine
from toolkit.model.records import PROGRAMS, RUN_ID, Artifact, ItemRecord, Metric
from toolkit.model.steps import Stages, Step, TimedItem
from toolkit.model.values import Row, Scalar
from toolkit.model.words import ON_HOST, Mode, Outcome, StepKind
from toolkit.rendering import step_of
from toolkit.runner.context import RunContext
from toolkit.runner.item_result import ItemResult, TimedResult
from toolkit.runner.judging import JudgedTrial
from toolkit.snapshots import CounterProvider, Provider


def log_of(timed: TimedResult) -> tuple[OutputLine, ...]:
    """Return what the programs on the clock wrote, whether they ended well or not."""
    return tuple(line for item in timed.items for line in item.lines)


def kept_of(timed: TimedResult) -> dict[str, tuple[Row, ...]]:
    """Return log and resources of the programs on the clock as rows under `log` and `program`."""
    log = log_of(timed)
    rows: dict[str, tuple[Row, ...]] = {}
    if log:
        rows["log"] = tuple({"at_seconds": line.at_seconds, "line": line.text} for line in log)
    if any(step.kind is StepKind.RMAN for each in timed.items for step in each.item.steps):
        # The reader of its logs is large, and most runs have none.
        from toolkit.runner.rman_log import rows_of as rows_of_rman

        rows |= rows_of_rman(log)
    if moved := tuple(row for item in timed.items for row in item.moved):
        rows["moved"] = moved
    programs = tuple(row for _, row in _programs(timed))
    return {**rows, "program": programs} if programs else rows


def _programs(timed: TimedResult) -> Iterator[tuple[ItemResult, dict[str, Scalar]]]:
    """Yield what each program used, with the item that it belongs to."""
    for each in timed.items:
        for row in each.programs:
            yield each, {"label": each.item.label, "begin_seconds": each.begin_seconds, **row}


_WARNINGS_SHOWN = 5
"""Of one statement: an ANALYZE of a thousand partitions may warn of each."""
NOT_DONE = "TK-0208"


def item_record(result: ItemResult) -> ItemRecord:
    """Return an item as the store keeps it."""
    error = result.error
    outcome = Outcome.OK if error is None else (Outcome.INTERRUPTED if error.cancelled else Outcome.FAILED)
    return ItemRecord(
        result.item.label,
        outcome,
        elapsed_seconds=result.elapsed_seconds if error is None else None,
        begin_seconds=result.begin_seconds,
        worker=result.worker,
        rows=result.rows,
        reason=None if error is None else error.sentence,
        error_code=None if error is None else error.code,
    )


def skipped_record(item: TimedItem) -> ItemRecord:
    """Return an item that nobody began as the store keeps it."""
    needed = f": it begins after `{', '.join(item.needs)}`" if item.needs else ""
    return ItemRecord(item.label, Outcome.SKIPPED, reason=f"not started{needed}")


def look_at_items(
    context: RunContext,
    works: Mapping[str, Work],
    kept: Mapping[str, tuple[Row, ...]],
    ended: Sequence[ItemResult],
) -> list[ItemResult]:
    """Say what the server warned of, and return items whose work the server left undone as failed.

    Only what is the user's is looked at: on copies the look would take time from the sessions beside it.

    Args:
        context: of the run.
        works: of the trial, by the labels of its items.
        kept: what was read before the clock.
        ended: items that ended, with or without an error.
    """
    for result in ended:
        _tell_warnings(context, result)
    looked_at = {
        each.item.label: works[each.item.label] for each in ended
        if each.error is None and each.item.label in works and not works[each.item.label].object.scratch
    }  # fmt: skip
    rows = _verified(context, list(looked_at.values()), kept)
    if rows is None:
        return list(ended)
    how = context.dialect.work.of(context.experiment.operation)
    own: dict[Scalar, list[Row]] = defaultdict(list)
    for row in rows:
        own[row["number"]].append(row)
    warnings = {each.item.label: each.warnings for each in ended}
    undone = {label: how.undone(tuple(own[number]), warnings[label]) for number, label in enumerate(looked_at, 1)}
    return [
        each if (why := undone.get(each.item.label)) is None
        else replace(each, error=DatabaseError(why, code=NOT_DONE))
        for each in ended
    ]  # fmt: skip


def _tell_warnings(context: RunContext, result: ItemResult) -> None:
    for warning in result.warnings[:_WARNINGS_SHOWN]:
        context.warn(f"`{result.item.label}`: the server warned: {warning}")
    if more := result.warnings[_WARNINGS_SHOWN:]:
        context.warn(f"`{result.item.label}`: the server gave {len(more)} more warnings")


def _verified(
    context: RunContext, works: Sequence[Work], kept: Mapping[str, tuple[Row, ...]]
) -> tuple[Row, ...] | None:
    """Ask whether works were done; None where nobody need ask, or the answer cannot be had, which is said."""
    if not works:
        return None
    call = context.dialect.work.of(works[0].operation).verification(works, kept)
    if call is None:
        return None
    try:
        return context.sessions.run(step_of(context.dialect, call)).rows
    except (DatabaseError, ToolkitError) as error:
        names = ", ".join(f"`{work.object.name}`" for work in works)
        context.warn(f"it could not be verified whether {names} was done: {error.sentence}")
        return None


def rows_of(step: Step, answer: Answer) -> tuple[Row, ...]:
    """Return what is kept of an answer: rows of a statement, what a program wrote."""
    if step.kind is StepKind.FOLDER or step.kind not in ON_HOST:
        return answer.rows
    return tuple({"at_seconds": line.at_seconds, "line": line.text} for line in answer.lines)


def keep_programs(context: RunContext, trial: int, timed: TimedResult) -> None:
    """Keep what each of several programs used, with the run of each that was dbatk itself."""
    found = tuple(_programs(timed))
    if len(found) > 1:
        own = {head.run for head in context.store.children_of(context.run)}
        rows = [{**row, **_own_run(each, own)} for each, row in found]
        text = json.dumps({"programs": rows}, indent=1)
        context.store.keep_artifact(context.run, Artifact(PROGRAMS, "application/json", text.encode(), trial))


def _own_run(result: ItemResult, own: Collection[str]) -> Row:
    """Return the run that an item says it did, where it is dbatk itself; it may speak of runs of others, too.

    Args:
        result: of the item.
        own: the runs below this one.
    """
    if not any(step.program is not None and step.program.own for step in result.item.steps):
        return {}
    named = (found for line in result.lines for found in RUN_ID.findall(line.text))
    return {"run": next((run for run in named if run in own), None)}


def keep_log(context: RunContext, trial: int, name: str, lines: Iterable[OutputLine]) -> None:
    """Keep a log with its trial, named after the operation or the step; nothing where nothing was written."""
    text = "\n".join(line.text for line in lines)
    if text:
        own = f"{name.rpartition('/')[2]}.log"
        context.store.keep_artifact(context.run, Artifact(own, "text/plain", (text + "\n").encode(), trial))


def not_whole(rows: dict[str, tuple[Row, ...]]) -> DatabaseError | None:
    """Return an error where the log of a program that ended well says otherwise."""
    if "rman" not in rows:
        return None
    from toolkit.runner.rman_log import LOG
    from toolkit.runner.rman_log import not_whole as not_whole_by_rman

    return not_whole_by_rman(rows[LOG])


def say_left(context: RunContext, kept: Mapping[str, tuple[Row, ...]]) -> None:
    """Say which server sessions outlived their client, and how each is ended."""
    for row in kept.get("channels_left", ()):
        session, text = _word(row.get("session_id")), _word(row.get("kill_text"))
        context.warn(f"session {session} ({_word(row.get('client_info'))}) is still active; to end it: {text}")


def _word(value: Scalar) -> str:
    return "" if value is None else str(value)


def rates(
    experiment: Experiment, timed: TimedResult | None, rows: float | None, size: float | None
) -> tuple[Metric, ...]:
    """Return the throughput of a trial, where its volume was stated or is what configurations are compared by."""
    wanted = experiment.volume or experiment.judge == THROUGHPUT
    volume = volume_of(experiment, rows, size) if wanted else None
    if volume is None or timed is None or timed.elapsed_seconds <= 0:
        return ()
    unit = f"{volume_unit(experiment)}/s"
    return (Metric(THROUGHPUT, volume / timed.elapsed_seconds, unit, "volume over time"),)


# -- figures and plans --------------------------------------------------------------------------------------------
def ask_for_plan(context: RunContext, planned: PlannedTrial, stages: Stages) -> None:
    """Ask once for each cell how its one statement was run; a warm-up has no numbers beside it."""
    first = stages.timed.items[0].steps[0]
    if planned.warmup or planned.cell in context.plans_kept or len(stages.timed.items) > 1:
        return
    statement = context.dialect.statement_id(first.text) if first.kind is StepKind.SQL else None
    asked = next((one for one in context.providers if isinstance(one, CounterProvider) and one.explains), None)
    if statement is not None and asked is not None:
        asked.explain(statement)


def plan_of(provider: Provider) -> Mapping[str, tuple[Row, ...]]:
    """Return the plan that a provider read, as rows that are kept."""
    lines = provider.plan if isinstance(provider, CounterProvider) else ()
    return {"plan": tuple({"line": line} for line in lines)} if lines else {}


def keep_plan(context: RunContext, planned: PlannedTrial, kept: Mapping[str, tuple[Row, ...]]) -> None:
    """Keep the plan as it was printed, with the first trial of its cell that has a time."""
    if planned.warmup or planned.cell in context.plans_kept:
        return
    lines = [str(value) for row in kept.get(PRINTED, ()) for value in row.values()]
    # Another engine's `plan` is evidence of its dialect alone, in columns of its own.
    if not lines and context.dialect.watching(context.facts).plan:
        lines = [str(row["line"]) for row in kept.get("plan", ()) if "line" in row]
    if lines:
        name = f"plan-{planned.cell}.txt"
        text = "\n".join(lines) + "\n"
        context.store.keep_artifact(context.run, Artifact(name, "text/plain", text.encode(), planned.number))
        context.plans_kept.add(planned.cell)


def tell(
    context: RunContext,
    planned: PlannedTrial,
    work: Work,
    kept: MutableMapping[str, tuple[Row, ...]],
    peaks: MutableMapping[str, float],
    seconds: float,
) -> TrialFindings:
    """Warn of doubts, put size and CPU seconds where the record is made from, and return the findings."""
    found = context.dialect.work.tell(work, kept, peaks, seconds)
    for sentence in found.sentences:
        context.warn(f"{planned.cell}: {sentence}" if planned.cell else sentence)
    if found.bytes is not None:
        kept.setdefault("bytes", ({"byte_count": found.bytes},))
    if found.cpu_seconds is not None:
        peaks.setdefault("cpu_seconds", found.cpu_seconds)
    if not context.experiment.options.get(_FIGURES):
        return found
    known = {metric.name for metric in found.metrics}
    figures = figures_in(kept.get("log", ()))
    if isinstance(figures, str):
        context.warn(f"{planned.cell}: {figures}" if planned.cell else figures)
        return found
    return replace(found, metrics=(*found.metrics, *(each for each in figures if each.name not in known)))


_FIGURES = "figures"


def figures_in(log: Iterable[Row]) -> tuple[Metric, ...] | str:
    """Return the figures of the one trial that a benchmark program wrote of; a sentence where that is none."""
    from toolkit.readers.trials.recognise import read_trials

    text = "".join(f"{row['line']}\n" for row in log)
    try:
        trials = read_trials([("its output", text)]).trials
    except ToolkitError as error:
        return f"no figures are taken (--figures): {error.message}"
    if len(trials) != 1:
        return f"no figures are taken (--figures): the output tells of {len(trials)} trials, and one is expected"
    return trials[0].metrics


def by_its_metric(experiment: Experiment, judged: JudgedTrial, metrics: Iterable[Metric]) -> JudgedTrial:
    """Return a trial as failed whose output or log lacks the number that it is judged by; a job is not judged."""
    name = experiment.judge.partition(":")[0]
    figure = bool(experiment.options.get(_FIGURES)) and name not in {"", ELAPSED, THROUGHPUT}
    read = figure or name in names_read(experiment.options)
    if (
        judged.outcome is not Outcome.OK
        or experiment.mode is Mode.JOB
        or not read
        or any(metric.name == name for metric in metrics)
    ):
        return judged
    logged = name in {f"{phase}_seconds" for phase, _, _ in log_phases(experiment.options)}
    where = "the server's log" if logged else "its output"
    reason = f"{where} has no number for the metric `{name}`, by which it is judged"
    return replace(judged, outcome=Outcome.FAILED, reason=reason, has_time=False)
