"""pytest-benchmark's JSON: each round of a test is a trial, its parameters are factors.

A time is that of one iteration, as pytest-benchmark stores it. `--benchmark-json` keeps the single times; what
`--benchmark-save` stores has them only with `--benchmark-save-data`. https://pytest-benchmark.readthedocs.io/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, check_factor, check_level, refuse
from toolkit.readers.trials.outputs import (
    ForeignResult,
    instant_of,
    listed,
    number_of,
    over_settings,
    seconds_of,
    text_of,
    told_of,
    within,
)

KIND = "JSON of pytest-benchmark"
_HINT = "measure with `--benchmark-json FILE`, or store with `--benchmark-save-data`"
_NOTES = (
    "all rounds of a test are measured before the next test, so that drift of the host falls on single tests",
    "the instant is that at which the file was written",
)
_MACHINE = {
    "cpu": ("machine_info", "cpu", "brand_raw"), "cores": ("machine_info", "cpu", "count"),
    "system": ("machine_info", "system"), "kernel": ("machine_info", "release"), "host": ("machine_info", "node"),
    "python": ("machine_info", "python_version"), "commit": ("commit_info", "id"),
    "pytest_benchmark": ("version",),
}  # fmt: skip


def is_pytest_benchmark(document: object) -> bool:
    """Whether a JSON document is of pytest-benchmark."""
    return (
        isinstance(document, dict) and "machine_info" in document and isinstance(document.get("benchmarks"), list)
    )


def read_pytest_benchmark(documents: Sequence[tuple[str, Mapping[str, object]]]) -> TrialFiles:
    """Read documents of pytest-benchmark, by the names of their files.

    Where not all tests have the same parameters, the test with its parameters is the one factor.

    Raises:
        ToolkitError: TK-0117.
    """
    tests = [each for name, document in documents for each in _tests(name, document)]
    if not tests:
        refuse(f"`{documents[0][0]}` holds no benchmarks", _HINT)
    alike = len({tuple(parameters) for _, parameters, _ in tests}) == 1 and "test" not in tests[0][1]
    outputs = [
        ForeignResult({"test": name.partition("[")[0], **parameters} if alike else {"test": name}, trial)
        for name, parameters, trials in tests
        for trial in trials
    ]
    environment = told_of([document for _, document in documents], _MACHINE)
    notes = _NOTES if len({tuple(each.settings.items()) for each in outputs}) > 1 else _NOTES[1:]
    return over_settings(KIND, outputs, environment=environment, notes=notes)


def _tests(name: str, document: Mapping[str, object]) -> Iterator[tuple[str, dict[str, str], list[ForeignTrial]]]:
    written = instant_of(text_of(document, "datetime"))
    for number, test in enumerate(listed(document, "benchmarks"), 1):
        place = LineOfFile(name, number, "test")
        full, times = text_of(test, "fullname"), listed(test, "stats", "data")
        if not full or not times:
            refuse(f"{place} has no name or no single times", _HINT)
        parameters = within(test, "params")
        factors = {
            check_factor(each, place): check_level(each, text_of(parameters, each), place)
            for each in (parameters if isinstance(parameters, dict) else {})
        }
        trial = ForeignTrial((), place, began_at=written)
        yield (
            full,
            factors,
            [
                replace(trial, elapsed_seconds=seconds_of(number_of({"at": seconds}, "at"), place))
                for seconds in times
            ],
        )
