"""What an experiment is judged by: what its operation declares, or what the user chose, with unit and direction.

The choice is kept as text: `elapsed`, `throughput`, or the name of a metric with its direction (`tps:higher`).
The volume of which throughput is the rate is kept as a number with a unit (`1048576 bytes`), or as what each trial
itself tells (`rows`, `bytes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from toolkit.design.output_metrics import metric_specs, names_read
from toolkit.errors import ToolkitError
from toolkit.model.experiment import Experiment
from toolkit.model.operations import JudgedBy, Options, declaration, judged_by
from toolkit.model.records import TrialRecord
from toolkit.model.words import OperationName
from toolkit.units import parse_bytes

ELAPSED, THROUGHPUT = "elapsed", "throughput"
OF_TRIAL = ("rows", "bytes")
_METRIC = re.compile(r"(?P<name>[a-z][a-z0-9_.]{0,59})(?::(?P<better>higher|lower))?", re.ASCII)
_COUNT = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,6})?) *(?P<unit>[a-z][a-z_]{0,30})", re.ASCII)
_BYTE_UNITS = frozenset({"b", "byte", "bytes"})
_HINT = "give `elapsed`, `throughput`, or a metric as `tps:higher` or `peak_memory_bytes:lower`"


def read_judge(text: str, operation: OperationName, options: Options, volume: str) -> str:
    """Check what is to be judged by, and return it with its direction.

    Args:
        text: as typed.
        operation: of the experiment.
        options: of it; metrics of programs say which way is better.
        volume: of which throughput is the rate; empty for none.

    Raises:
        ToolkitError: TK-0102, TK-0107.
    """
    match = _METRIC.fullmatch(text)
    if match is None:
        raise ToolkitError(f"`--judge {text[:80]}` cannot be read", code="TK-0102", hint=_HINT)
    name, better = match["name"], match["better"]
    if name in {ELAPSED, "elapsed_seconds"}:
        return ELAPSED
    if name == THROUGHPUT:
        if not volume and not declaration(operation).counts_rows:
            raise ToolkitError(
                "`--judge throughput` needs the volume that each trial works on",
                code="TK-0107",
                hint="add `--volume 10GiB`, `--volume '1000000 rows'`, or `--volume @FILE` for the size of a file",
            )
        return THROUGHPUT
    own = {one.name: one.better for one in metric_specs(options) if one.better}
    if better is not None and own.get(name, better) != better:
        raise ToolkitError(
            f"`--judge {text}` and `--metric {name}[...,{own[name]}]` differ in what is better",
            code="TK-0107",
            hint="give the direction once",
        )
    return f"{name}:{better or own.get(name, 'lower')}"


def read_volume(text: str) -> str:
    """Read a volume: a size, the size of a file, a number of something, or what each trial tells.

    Raises:
        ToolkitError: TK-0102, TK-0204 for a file that is not there.
    """
    if text in OF_TRIAL:
        return text
    if text.startswith("@"):
        try:
            return f"{Path(text[1:]).stat().st_size} bytes"
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise ToolkitError(
                f"the size of `{text[1:]}` cannot be read: {reason}", code="TK-0204", hint="check the path"
            ) from None
    match = _COUNT.fullmatch(text)
    if match is not None and match["unit"] not in _BYTE_UNITS:
        return f"{match['number']} {match['unit']}"
    size = parse_bytes(text.replace("bytes", "").replace("byte", ""))
    if not size:
        raise ToolkitError("`--volume` cannot be nothing", code="TK-0102", hint="give what each trial works on")
    return f"{size} bytes"


def chosen(experiment: Experiment, trials: Iterable[TrialRecord] = ()) -> JudgedBy:
    """Return what an experiment is judged by.

    Args:
        experiment: of a run.
        trials: of it; their metrics tell the unit of one that dbatk itself measures.
    """
    name, _, better = experiment.judge.partition(":")
    if not name:
        return judged_by(experiment.operation)
    if name == ELAPSED:
        return JudgedBy()
    if name == THROUGHPUT:
        return JudgedBy(THROUGHPUT, f"{volume_unit(experiment)}/s", lower_is_better=False, title="throughput")
    own = {one.name: one.unit for one in metric_specs(experiment.options)}
    found = (one.unit for trial in trials for one in trial.metrics if one.name == name)
    unit = own[name] if name in own else next(found, "")
    title = name.removesuffix("_seconds").removesuffix("_bytes").replace("_", " ")
    unit, is_lower = "seconds" if unit == "s" else unit, better == "lower"
    passes = name in names_read(experiment.options)
    return JudgedBy(name, unit, lower_is_better=is_lower, title=title, passes=passes)


def metric_missing(experiment: Experiment, trial: TrialRecord) -> str | None:
    """Return the metric that the user chose to judge by, where a trial lacks it; None where nothing is missing."""
    name = experiment.judge.partition(":")[0]
    if name in {"", ELAPSED} or any(metric.name == name for metric in trial.metrics):
        return None
    return name


def volume_unit(experiment: Experiment) -> str:
    """Return the unit of the volume of an experiment; rows where none is stated."""
    return experiment.volume.rpartition(" ")[2] or "rows"


def volume_of(experiment: Experiment, rows: float | None, size: float | None) -> float | None:
    """Return the volume that a trial worked on; None where nobody knows it.

    Args:
        experiment: states it, or what tells it.
        rows: of the trial.
        size: of the trial, in bytes.
    """
    number, _, unit = experiment.volume.rpartition(" ")
    if number:
        return float(number)
    return size if unit == "bytes" else rows
