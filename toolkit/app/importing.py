"""`import`: trials that others measured, and exported runs, as runs of this store; all files or none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import SystemRandom

from toolkit import __version__
from toolkit.config.urls import parse_url
from toolkit.design.judging import ELAPSED, THROUGHPUT, read_judge
from toolkit.design.order import cells_of
from toolkit.documents import open_file, unreadable
from toolkit.errors import ToolkitError
from toolkit.executors.csv_text import wide_encoding
from toolkit.model.engines import engines
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.operations import declaration, degree_level, operations
from toolkit.model.records import MEASURED_BY, Artifact, RunHead, RunRecord, TrialRecord, new_run_id
from toolkit.model.values import Cell, Factor
from toolkit.model.words import EngineName, Mode, RunState
from toolkit.operations.registry import operation
from toolkit.readers.trials import ForeignTrial, TrialFiles, read_trials
from toolkit.readers.trials.model import typed
from toolkit.readers.trials.recognise import READ
from toolkit.store import Store
from toolkit.store.exchange import KIND

LARGEST_BYTES = 64 * 2**20
_MOST_KEPT = 64 * 2**20
"""Bytes of files that an import keeps with every run; beyond them with the first one, and the others say so."""
_OPERATION, _TARGET = "command", "host://"
_UNDATED = "the file does not say when it was measured: the time of the import stands for it"


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one run: its id, the kind of its files, and how much it is."""

    run: str
    kind: str
    trials: int
    configurations: int
    warnings: tuple[str, ...] = ()


def import_files(
    paths: Sequence[Path], store: Store, label: str | None = None, judge: str | None = None
) -> list[Imported]:
    """Store what files hold: one exported run, or trials of one kind.

    Args:
        paths: of the files.
        store: where the runs go.
        label: of the run, where it is one.
        judge: what configurations are compared by, as typed.

    Raises:
        ToolkitError: TK-0117 for what cannot be imported, TK-0106 for a file that cannot be read.
    """
    contents = [(path.name, _content(path)) for path in paths]
    if _is_exported(contents[0][1]):
        if label is not None or judge is not None:
            raise ToolkitError(
                "an exported run keeps its label and what it is judged by",
                code="TK-0107",
                hint="leave out `--label` and `--judge`",
            )
        return [_exported(contents, store)]
    names = _names(paths)
    files = [(name, _text(name, content)) for name, (_, content) in zip(names, contents, strict=True)]
    artifacts = tuple(_artifact(name, content) for name, content in contents)
    if len({each.name.rpartition("/")[0] for each in artifacts}) < len(artifacts):
        raise ToolkitError("the same file is given twice", code="TK-0117", hint="give each file once")
    found = read_trials(files)
    runs = _runs(found, label, judge, artifacts)
    store.put_runs(runs)
    return [
        Imported(
            run.head.run, found.kind, len(run.trials), len({each.cell for each in run.trials}), tuple(run.warnings)
        )
        for run in runs
    ]


# -- files ------------------------------------------------------------------------------------------------------
def _names(paths: Sequence[Path]) -> list[str]:
    """Return what files are called in messages and by readers: with their folders where these are several."""
    several = len({path.parent.absolute() for path in paths}) > 1
    return [str(path) if several else path.name for path in paths]


def _content(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        piped = "save the output of the pipe to a file first" if str(path) == "-" else ""
        raise unreadable(path, error, piped) from None
    if len(content) > LARGEST_BYTES:
        raise ToolkitError(
            f"`{path.name}` has more than {LARGEST_BYTES // 2**20} MiB",
            code="TK-0117",
            hint="import a part of it",
        )
    return content


def _text(name: str, content: bytes) -> str:
    wide = wide_encoding(content)
    if wide:
        raise ToolkitError(
            f"`{name}` is {wide[:6]} text, not UTF-8",
            code="TK-0117",
            hint=f"convert it first: iconv -f {wide} -t UTF-8",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0\0\0" in content:
            raise ToolkitError(f"`{name}` is not a text file", code="TK-0117", hint=f"give {READ}") from None
        line = content.count(b"\n", 0, error.start) + 1
        raise ToolkitError(
            f"`{name}`, line {line}: this is not UTF-8 text",
            code="TK-0117",
            hint="convert it first, for example: iconv -f LATIN1 -t UTF-8",
        ) from None


def _artifact(name: str, content: bytes) -> Artifact:
    """Return a file as it is kept; its name tells it from all other files by its content."""
    media_type = "application/json" if content.lstrip().startswith(b"{") else "text/csv"
    return Artifact(f"import/{hashlib.sha256(content).hexdigest()}/{name}", media_type, content)


def _is_exported(content: bytes) -> bool:
    return content.startswith(f'{{"kind": "{KIND}"'.encode())


def _exported(contents: Sequence[tuple[str, bytes]], store: Store) -> Imported:
    if len(contents) > 1:
        raise ToolkitError("an exported run is imported by itself", code="TK-0117", hint="give one file at a time")
    run = store.import_run(contents[0][1])
    trials = store.load_run(run, samples=False).trials
    return Imported(run, KIND, len(trials), len({each.cell for each in trials}))


# -- runs -------------------------------------------------------------------------------------------------------
def _runs(
    found: TrialFiles, label: str | None, judge: str | None, artifacts: tuple[Artifact, ...]
) -> list[RunRecord]:
    groups: dict[str, list[ForeignTrial]] = {}
    for each in found.trials:
        groups.setdefault(each.run, []).append(each)
    if label is not None and len(groups) > 1:
        raise ToolkitError(
            f"the column `run` names {len(groups)} runs", code="TK-0107", hint="leave out `--label`"
        )
    now, random = datetime.now(UTC), SystemRandom()
    everywhere = len(groups) * sum(len(each.content) for each in artifacts) <= _MOST_KEPT
    runs: dict[str, RunRecord] = {}
    for name, trials in groups.items():
        record = _run(replace(found, trials=tuple(trials)), label or name or None, judge, now)
        run = next(one for one in iter(lambda: new_run_id(now, random), "") if one not in runs)
        runs[run] = replace(record, head=replace(record.head, run=run), artifacts=artifacts)
        if not everywhere:
            told = f"the file is kept with run {next(iter(runs))}\n".encode()
            artifacts = tuple(replace(each, media_type="text/plain", content=told) for each in artifacts)
    return list(runs.values())


def _run(found: TrialFiles, label: str | None, judge: str | None, now: datetime) -> RunRecord:
    work, target, engine = _work(found.trials)
    trials = _trials(found.trials, now)
    names = [name for name, _ in found.trials[0].levels]
    factors = tuple(Factor(name, tuple(dict.fromkeys(each.cell[name] for each in trials))) for name in names)
    cells = tuple(dict.fromkeys(each.cell for each in trials))
    by, volume = _judged(found, trials, judge, work)
    repeats = [each.repeat for each in trials]
    options: Mapping[str, OptionValue] = {"command": found.command} if found.command else {}
    experiment = Experiment(
        target=target,
        operation=work,
        options=options,
        factors=factors,
        mode=Mode.MEASUREMENT,
        repeat=max(1, *repeats),
        warmup=int(0 in repeats),
        label=label,
        snapshot="none",
        only=() if set(cells) == set(cells_of(factors)) else cells,
        judge=by,
        volume=volume,
    )
    dated = all(each.began_at is not None for each in found.trials)
    head = RunHead(
        run="",
        experiment=experiment,
        engine=engine,
        state=RunState.DONE,
        began_at=min(each.began_at for each in trials) if dated else now,
        ended_at=max(each.ended_at for each in trials),
        operation_version=operation(work).version,
        tool_version=__version__,
        trials_planned=len(trials),
        target_name=f"imported, {target}",
    )
    environment = {MEASURED_BY: f"imported, {found.kind}", **found.environment}
    warnings = (*found.notes, *(() if dated else (_UNDATED,)))
    return RunRecord(head, tuple(trials), environment, warnings)


def _work(trials: Sequence[ForeignTrial]) -> tuple[str, str, EngineName]:
    """Return operation, target and engine of the trials of a run; a program on a host where nothing is said."""
    first = trials[0]
    for each in trials:
        if (each.operation, each.target) != (first.operation, first.target):
            raise ToolkitError(
                f"{each.place}: a run has one operation and one target",
                code="TK-0117",
                hint="name several runs in a column `run`, or call what is varied otherwise",
            )
    work, target = first.operation or _OPERATION, first.target or _TARGET
    if work not in operations():
        raise ToolkitError(
            f"{first.place}: there is no operation `{work[:40]}`",
            code="TK-0117",
            hint="one of " + ", ".join(sorted(operations())),
        )
    if target in engines():
        return work, target, target
    if not target.isprintable() or "://" not in target:
        raise ToolkitError(
            f"{first.place}: `{target[:80]}` is not a target that can be read here",
            code="TK-0117",
            hint="an engine (" + ", ".join(sorted(engines())) + ") or a URL without password",
        )
    return work, target, parse_url(target).engine


def _trials(found: Sequence[ForeignTrial], now: datetime) -> list[TrialRecord]:
    names = [name for name, _ in found[0].levels]
    levels = {name: typed(dict(each.levels)[name] for each in found) for name in names}
    counted: dict[Cell, int] = {}
    taken: dict[tuple[Cell, int], ForeignTrial] = {}
    trials = []
    for number, each in enumerate(found, 1):
        cell = Cell(tuple((name, levels[name][text]) for name, text in each.levels))
        counted[cell] = counted.get(cell, 0) + (each.repeat != 0)  # a warm-up is no repeat
        repeat = counted[cell] if each.repeat is None else each.repeat
        other = taken.setdefault((cell, repeat), each)
        if other is not each and repeat > 0:
            raise ToolkitError(
                f"{each.place}: repeat {repeat} of `{cell}` is there already, in {other.place}",
                code="TK-0117",
                hint="number the repeats of a configuration, or leave the column out",
            )
        began = each.began_at or now
        degree = degree_level(cell)
        trials.append(
            TrialRecord(
                trial=number,
                attempt=1,
                cell=cell,
                repeat=repeat,
                outcome=each.outcome,
                began_at=began,
                ended_at=began + timedelta(seconds=min(each.elapsed_seconds or 0.0, 1e9)),
                reason=each.reason,
                elapsed_seconds=each.elapsed_seconds,
                requested_degree=degree if isinstance(degree, int) else None,
                metrics=each.metrics,
            )
        )
    return trials


def _judged(found: TrialFiles, trials: Sequence[TrialRecord], judge: str | None, work: str) -> tuple[str, str]:
    """Return what the run is judged by, and the volume whose rate a throughput is.

    Raises:
        ToolkitError: TK-0117 where nothing says which metric it is, or which way is better.
    """
    units = {metric.name: metric.unit for each in trials for metric in each.metrics}
    timed = any(each.elapsed_seconds is not None for each in trials)
    if not timed and not units:
        raise ToolkitError(
            "no trial has a value, so that there is nothing to compare",
            code="TK-0117",
            hint="a failed trial may be without one where others have it",
        )
    volume = units.get(THROUGHPUT, "").removesuffix("/s")
    name = judge or _first_choice(found.better, units, timed=timed)
    if name is None or (name.partition(":")[0] in units and ":" not in name and name != THROUGHPUT):
        better = found.better.get(name or "")
        if better is None:
            known = ", ".join(f"`{one}`" for one in units) or "none"
            raise ToolkitError(
                f"it is not said which metric is judged, and which way is better (metrics: {known})",
                code="TK-0117",
                hint="add `--judge NAME:higher` or `--judge NAME:lower`, or name the column `tps[1/s,higher]`",
            )
        name = f"{name}:{better}"
    by = read_judge(name, work, {}, volume or "rows")
    judged = by.partition(":")[0]
    if (judged == ELAPSED and not timed) or (judged != ELAPSED and judged not in units):
        known = ", ".join(f"`{one}`" for one in (*([ELAPSED] if timed else []), *units))
        raise ToolkitError(
            f"no trial has `{judged}`, by which they are to be judged", code="TK-0117", hint=f"they have {known}"
        )
    # an operation that is judged by its elapsed time needs no choice
    plain = by == ELAPSED and declaration(work).judged_by.metric == "elapsed_seconds"
    return "" if plain else by, volume if judged == THROUGHPUT else ""


def _first_choice(better: Mapping[str, str], units: Mapping[str, str], *, timed: bool) -> str | None:
    if timed:
        return ELAPSED
    if THROUGHPUT in units:
        return THROUGHPUT
    declared = [name for name in units if name in better]
    return declared[0] if len(declared) == 1 else None
