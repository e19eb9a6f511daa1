"""What sysbench prints at its end: tests of a database, of CPU, memory, files, threads and mutexes.

Judged by transactions a second, of files and memory by throughput, else by events a second. sysbench does not
print which script it ran: give outputs of one test at once. Releases 0.4.12, 0.5 and 1.0 are read.
https://github.com/akopytov/sysbench
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import ForeignResult, first_of, numbers_of, over_settings, parts_of

KIND = "output of sysbench"
_BEGIN = re.compile(r"sysbench (\d[\w.-]{0,20})")
_FATAL = re.compile(r"FATAL: (.*)")
_NUMBER = r"(\d{1,15}(?:\.\d{1,15})?)"
_SETTINGS = {
    "threads": re.compile(r"^Number of threads: (\d+)$"),
    "test": re.compile(r"^Doing (.{1,60}) test"),
    "prime_limit": re.compile(r"^Prime numbers limit: (\d+)$"),
    "files": re.compile(r"^(\d+ files, \S{1,20} each)"),
    "block_size": re.compile(r"^\s*[Bb]lock size:? (\S{1,20})$"),
    "memory_operation": re.compile(r"^\s+operation: (\w{1,20})$"),
    "memory_scope": re.compile(r"^\s+scope: (\w{1,20})$"),
}
_RATES = {
    "tps": (re.compile(rf"^\s*transactions:\s+\d+\s+\({_NUMBER} per sec\.\)"), "1/s"),
    "events_per_second": (
        re.compile(rf"(?:events per second:\s*|^Total operations: \d+ \(\s*){_NUMBER}"),
        "1/s",
    ),
    "queries_per_second": (re.compile(rf"^\s*queries:\s+\d+\s+\({_NUMBER} per sec\.\)"), "1/s"),
    "reads_per_second": (re.compile(rf"^\s*reads/s:\s+{_NUMBER}"), "1/s"),
    "writes_per_second": (re.compile(rf"^\s*writes/s:\s+{_NUMBER}"), "1/s"),
    "fsyncs_per_second": (re.compile(rf"^\s*fsyncs/s:\s+{_NUMBER}"), "1/s"),
    "ignored_errors": (re.compile(rf"^\s*ignored errors:\s+{_NUMBER}"), "errors"),
    "latency_average_ms": (re.compile(rf"^\s+avg:\s+{_NUMBER}(?:ms)?$"), "ms"),
    "latency_max_ms": (re.compile(rf"^\s+max:\s+{_NUMBER}(?:ms)?$"), "ms"),
    "latency_p95_ms": (
        re.compile(rf"^\s+(?:95th percentile|approx\.\s+95 percentile):\s+{_NUMBER}(?:ms)?$"),
        "ms",
    ),
    "latency_p99_ms": (
        re.compile(rf"^\s+(?:99th percentile|approx\.\s+99 percentile):\s+{_NUMBER}(?:ms)?$"),
        "ms",
    ),
}
_MOVED = (
    re.compile(rf"^\s+read, MiB/s:\s+{_NUMBER}"),
    re.compile(rf"^\s+written, MiB/s:\s+{_NUMBER}"),
    re.compile(rf"MiB transferred \({_NUMBER} MiB/sec\)"),
)
_TOTAL_TIME = re.compile(rf"^\s+total time:\s+{_NUMBER}s$")
_EVENTS = re.compile(r"^\s+total number of events:\s+(\d{1,15})$")
_HIGHER = ("tps", "throughput", "events_per_second")


def is_sysbench(text: str) -> bool:
    """Whether a text holds output of sysbench."""
    lines = text.splitlines()
    return any(_BEGIN.match(line) for line in lines) and any(
        line.startswith("Number of threads") for line in lines
    )


def read_sysbench(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read outputs of sysbench, by the names of their files; a file may hold several, one after the other.

    Raises:
        ToolkitError: TK-0117.
    """
    outputs = []
    for name, text in files:
        for place, lines in parts_of(name, text, _BEGIN):
            settings = {word: found for word, pattern in _SETTINGS.items() if (found := first_of(lines, pattern))}
            if "threads" not in settings:
                refuse(
                    f"{place}: this output of sysbench has no number of threads", "give the output of `run` whole"
                )
            settings["sysbench"] = first_of(lines, _BEGIN).rstrip(":")
            outputs.append(ForeignResult(settings, _trial(lines, place)))
    judged = {next((one for one in _HIGHER if one in _names(each.trial)), "") for each in outputs} - {""}
    if len(judged) > 1:
        refuse(
            f"`{files[0][0]}` and the others are outputs of different tests of sysbench",
            "import each test by itself",
        )
    return over_settings(KIND, outputs, better=dict.fromkeys(judged, "higher"))


def _names(trial: ForeignTrial) -> list[str]:
    return [metric.name for metric in trial.metrics]


def _trial(lines: Sequence[str], place: LineOfFile) -> ForeignTrial:
    trial = ForeignTrial((), place)
    seconds, events = first_of(lines, _TOTAL_TIME), first_of(lines, _EVENTS)
    if not seconds or not events:
        if first_of(lines, _FATAL):
            return replace(trial, outcome=Outcome.FAILED, reason="sysbench ended with a fatal error")
        refuse(f"{place}: this output of sysbench has no statistics at its end", "give the output of `run` whole")
    metrics = numbers_of(lines, _RATES, "sysbench")
    moved = [float(found) for pattern in _MOVED if (found := first_of(lines, pattern))]
    if moved:
        metrics.insert(0, Metric("throughput", sum(moved), "MiB/s", "sysbench"))
    if not {metric.name for metric in metrics} & set(_HIGHER):
        if float(seconds) <= 0:
            refuse(f"{place}: this output of sysbench took no time", "give the output of `run` whole")
        rate = float(events) / float(seconds)  # threads and mutex print no rate
        metrics.insert(0, Metric("events_per_second", rate, "1/s", "sysbench"))
    judged = next(metric for name in _HIGHER for metric in metrics if metric.name == name)
    if judged.value <= 0:
        return replace(trial, outcome=Outcome.FAILED, reason="no transaction or event was processed")
    metrics.append(Metric("total_time_seconds", float(seconds), "seconds", "sysbench"))
    return replace(trial, metrics=tuple(metrics))
