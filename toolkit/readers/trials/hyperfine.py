"""hyperfine's `--export-json`: times of each command, its parameters as factors.

A result has `command`, `times` (seconds), `exit_codes`, in newer releases `memory_usage_byte`, and `parameters`.
`user` and `system` are means over all runs of a command and are left out: they belong to no trial. From 2.0 on
(`schema_version` 2) each run is a measurement of its own, with values and their units, CPU times too.
https://github.com/sharkdp/hyperfine/blob/master/src/benchmark/benchmark_result.rs
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import (
    ForeignTrial,
    LineOfFile,
    TrialFiles,
    check_factor,
    check_level,
    one_shape,
    refuse,
)

KIND = "hyperfine JSON"
_SHELL = ("sh", "-c")
_SCHEMA = 2
_METRICS = {
    "memory_usage_byte": ("memory_peak_resident", "byte", "peak_memory_bytes"),
    "user_of_run": ("time_user", "second", "user_cpu_seconds"),
    "system_of_run": ("time_system", "second", "system_cpu_seconds"),
}
"""What a run has beside its time: its key here, name and unit in a file of schema 2, and our name."""
_HINT = "give the file that `hyperfine --export-json FILE` wrote, unchanged"
_IN_BLOCKS = (
    "hyperfine measures all runs of a command before the next one, so that drift of the host falls on single "
    "configurations and its repeats are no sweeps"
)


def is_hyperfine(document: object) -> bool:
    """Whether a JSON document is of hyperfine."""
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        return False
    own = "measurements" if "schema_version" in document else "mean"
    return all(isinstance(one, dict) and "command" in one and own in one for one in document["results"])


def read_hyperfine(documents: Sequence[tuple[str, Mapping[str, object]]]) -> TrialFiles:
    """Read documents of hyperfine, by the names of their files.

    Where parameters do not tell commands apart, `command` is a factor.

    Raises:
        ToolkitError: TK-0117.
    """
    found = [result for name, document in documents for result in _results(name, document)]
    if not found:
        refuse(f"`{documents[0][0]}` holds no results", _HINT)
    commands: dict[tuple[tuple[str, str], ...], set[str]] = {}
    for command, trials in found:
        commands.setdefault(trials[0].levels, set()).add(command)
    apart = all(len(each) == 1 for each in commands.values())
    trials = [
        each if apart else replace(each, levels=(*each.levels, ("command", command)))
        for command, several in found
        for each in several
    ]
    one_shape(trials)
    templates = {_template(command, several[0].levels) for command, several in found}
    text = templates.pop() if apart and len(templates) == 1 else ""
    notes = (_IN_BLOCKS,) if len({each.levels for each in trials}) > 1 else ()
    return TrialFiles(KIND, tuple(trials), (*_SHELL, text) if text else (), notes=notes)


def _results(name: str, document: Mapping[str, object]) -> Iterator[tuple[str, list[ForeignTrial]]]:
    results, version = document["results"], document.get("schema_version", 1)
    assert isinstance(results, list)
    if version not in (1, _SCHEMA):
        refuse(f"`{name}` is of a newer hyperfine (schema {version!r:.20})", "export it with a release up to 2.0")
    for number, found in enumerate(results, 1):
        where = f"result {number} of `{name}`"
        result = _by_run(found, where) if version == _SCHEMA else found
        command, times = result["command"], result.get("times")
        if not isinstance(command, str) or not isinstance(times, list) or not times:
            refuse(f"{where} has no command or no single times", _HINT)
        beside = [_beside(result, key, len(times), where) for key in ("exit_codes", *_METRICS)]
        levels = _levels(result.get("parameters") or {}, LineOfFile(name, number))
        yield (
            " ".join(command.split()),
            [
                _trial(levels, LineOfFile(name, number), values, where)
                for values in zip(times, *beside, strict=True)
            ],
        )


def _by_run(result: Mapping[str, object], where: str) -> Mapping[str, object]:
    """Return a result of schema 2 in the shape of those before: lists of what each run had."""
    runs, parameters = result["measurements"], result.get("parameters") or {}
    if not isinstance(runs, list) or not isinstance(parameters, dict):
        refuse(f"{where} has no single runs", _HINT)
    plain = {
        name: each["value"] if isinstance(each, dict) and "value" in each else each
        for name, each in parameters.items()
    }
    keys = (("times", "time_wall_clock", "second"), *((key, *of) for key, (*of, _) in _METRICS.items()))
    lists = {key: [_value(run, of, unit, where) for run in runs] for key, of, unit in keys}
    known = {key: values for key, values in lists.items() if key == "times" or None not in values}
    codes = [run.get("exit_code") for run in runs]
    return {"command": result["command"], "parameters": plain, "exit_codes": codes, **known}


def _value(run: object, name: str, unit: str, where: str) -> object:
    if not isinstance(run, dict):
        refuse(f"{where} has a run that cannot be read", _HINT)
    found = run.get(name)
    if found is None:
        return None
    if not isinstance(found, dict) or found.get("unit") != unit:
        refuse(f"{where} has a `{name}` that is not in the unit `{unit}`", _HINT)
    value: object = found.get("value")
    return value


def _beside(result: Mapping[str, object], key: str, count: int, where: str) -> Sequence[object]:
    """Return what stands beside the times of a result, each None where the file lacks it."""
    found = result.get(key)
    unknown = [0 if key == "exit_codes" else None] * count
    if found is None:
        return unknown
    if not isinstance(found, list) or len(found) != count:
        refuse(f"{where} has another number of `{key}` than of times", _HINT)
    return found


def _levels(parameters: object, place: LineOfFile) -> tuple[tuple[str, str], ...]:
    if not isinstance(parameters, dict):
        refuse(f"the parameters of a result of `{place.file}` cannot be read", _HINT)
    return tuple(
        (check_factor(name, place), check_level(name, str(level), place)) for name, level in parameters.items()
    )


def _trial(
    levels: tuple[tuple[str, str], ...], place: LineOfFile, values: Sequence[object], where: str
) -> ForeignTrial:
    seconds, code, *others = values
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e9:
        refuse(f"{where} has a time that is not a number above 0", _HINT)
    if code != 0:
        reason = "ended by a signal" if code is None else f"exit status {code}"
        return ForeignTrial(levels, place, outcome=Outcome.FAILED, reason=reason)
    metrics = tuple(
        Metric(metric, float(value), f"{unit}s", "hyperfine")
        for (_, unit, metric), value in zip(_METRICS.values(), others, strict=True)
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    return ForeignTrial(levels, place, elapsed_seconds=float(seconds), metrics=metrics)


def _template(command: str, levels: tuple[tuple[str, str], ...]) -> str:
    """Put `{factor}` where a level stands as a word of its own; hyperfine keeps only the filled text."""
    for name, level in levels:
        command = f"{{{name}}}".join(re.split(rf"(?<![\w.]){re.escape(level)}(?![\w.])", command))
    return command
