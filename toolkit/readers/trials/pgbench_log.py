"""pgbench's `--log` files: a trial each, judged by its transactions a second.

A line is a transaction (`0 1 3502 0 1795653684 811057`), or with `--aggregate-interval` all of an interval. The
files of the threads of one pgbench (`pgbench_log.1234`, `pgbench_log.1234.1`) are one trial: a prefix may end like
one of them (`pg.15.1234`), so that a thread is only told by the file of its pgbench beside it.

A log says nothing of how pgbench was called: the number of clients is counted, and logs of as many are repeats.
https://www.postgresql.org/docs/current/pgbench.html#id-1.9.4.11.9.11
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import ForeignResult, over_settings

KIND = "log of pgbench"
_SINGLE = re.compile(
    r"(?P<client>\d{1,9}) (?P<number>\d{1,15}) (?P<time>\d{1,15}|skipped|failed|serialization|deadlock) \d{1,9} "
    r"(?P<second>\d{9,10}) (?P<micro>\d{1,6})(?: \d{1,15}){0,2}",
    re.ASCII,
)
_INTERVAL = re.compile(
    r"(?P<second>\d{9,10}) (?P<number>\d{1,15}) (?P<sum>\d{1,18}) \d+ \d+ \d+(?: \d+){0,9}", re.ASCII
)
_THREAD = re.compile(r"(.+\.\d+)\.\d{1,4}")
_PREFIX = "pgbench_log."
"""What pgbench calls its logs where `--log-prefix` says nothing else."""
_SAMPLED = (
    "numbers of transactions are missing in it (`--sampling-rate`, or a part of a log)",
    "give the logs of all threads, whole",
)
_EDGES = "the first and the last interval of an aggregated log, which may be parts of one, are left out"
_FEWEST = 4


def is_pgbench_log(text: str) -> bool:
    """Whether a text is a log of pgbench: its first line is one."""
    line = text.split("\n", 1)[0].strip()
    return _SINGLE.fullmatch(line) is not None or _INTERVAL.fullmatch(line) is not None


def read_pgbench_logs(files: Sequence[tuple[str, str]]) -> TrialFiles:
    """Read logs of pgbench, by their folders and names; those of the threads of one pgbench together.

    Raises:
        ToolkitError: TK-0117.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    given = {name for name, _ in files}
    for name, text in files:
        thread = _THREAD.fullmatch(name)
        whole = thread[1] if thread is not None else name
        if whole not in given and PurePath(name).name.startswith(_PREFIX):
            refuse(f"`{name}` is the log of one thread, and `{whole}` is not given", _SAMPLED[1])
        groups.setdefault(whole if whole in given else name, []).append((name, text))
    outputs = [_output(own) for own in groups.values()]
    notes = (_EDGES,) if any("clients" not in each.settings for each in outputs) else ()
    return over_settings(KIND, outputs, better={"tps": "higher"}, notes=notes)


def _output(files: Sequence[tuple[str, str]]) -> ForeignResult:
    place = LineOfFile(files[0][0], 1)
    single = _SINGLE.fullmatch(files[0][1].split("\n", 1)[0].strip()) is not None
    lines = list(_lines(files, _SINGLE if single else _INTERVAL))
    return _of_transactions(lines, place) if single else _of_intervals(lines, place)


def _lines(files: Sequence[tuple[str, str]], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    for name, text in files:
        for number, line in enumerate(text.splitlines(), 1):
            if found := pattern.fullmatch(line.strip()):
                yield found
            elif line.strip():
                refuse(
                    f"{LineOfFile(name, number)}: this is not a line of such a log of pgbench", "give it unchanged"
                )


def _of_transactions(lines: Sequence[re.Match[str]], place: LineOfFile) -> ForeignResult:
    numbers: dict[str, list[int]] = {}
    for each in lines:
        numbers.setdefault(each["client"], []).append(int(each["number"]))
    for own in numbers.values():
        if max(own) - min(own) + 1 != len(own):
            refuse(f"`{place.file}`: {_SAMPLED[0]}", _SAMPLED[1])
    ends = [int(each["second"]) * 1_000_000 + int(each["micro"]) for each in lines]
    done = [(end, int(each["time"])) for end, each in zip(ends, lines, strict=True) if each["time"].isdigit()]
    skipped = sum(1 for each in lines if each["time"] == "skipped")
    trial = ForeignTrial((), place, began_at=datetime.fromtimestamp(min(ends) / 1e6, UTC), target="postgresql")
    settings = {"clients": str(len(numbers))}
    began = min((end - time for end, time in done), default=0)
    elapsed = (max(ends) - began) / 1e6
    if not done or elapsed <= 0:
        return ForeignResult(
            settings, replace(trial, outcome=Outcome.FAILED, reason="no transaction was processed")
        )
    times = sorted(time / 1000 for _, time in done)
    metrics = {
        "tps": (len(done) / elapsed, "1/s"),
        "latency_average_ms": (math.fsum(times) / len(times), "ms"),
        **{
            f"latency_p{share}_ms": (times[math.ceil(len(times) * share / 100) - 1], "ms")
            for share in (50, 95, 99)
        },
        "failed_transactions": (len(lines) - len(done) - skipped, "transactions"),
        "skipped_transactions": (skipped, "transactions"),
    }
    return ForeignResult(
        settings,
        replace(
            trial, metrics=tuple(Metric(name, value, unit, "pgbench") for name, (value, unit) in metrics.items())
        ),
    )


def _of_intervals(lines: Sequence[re.Match[str]], place: LineOfFile) -> ForeignResult:
    counts: dict[int, int] = {}
    sums: dict[int, int] = {}
    for each in lines:
        second = int(each["second"])
        counts[second] = counts.get(second, 0) + int(each["number"])
        sums[second] = sums.get(second, 0) + int(each["sum"])
    begins = sorted(counts)
    if len(begins) < _FEWEST:
        refuse(
            f"`{place.file}`: this aggregated log has {len(begins)} intervals, and no rate follows of fewer than "
            f"{_FEWEST}",
            "measure longer, or log each transaction",
        )
    inner = begins[1:-1]
    number = sum(counts[each] for each in inner)
    trial = ForeignTrial((), place, began_at=datetime.fromtimestamp(begins[0], UTC), target="postgresql")
    if number == 0:
        return ForeignResult({}, replace(trial, outcome=Outcome.FAILED, reason="no transaction was processed"))
    metrics = (
        Metric("tps", number / (begins[-1] - inner[0]), "1/s", "pgbench"),
        Metric("latency_average_ms", sum(sums[each] for each in inner) / number / 1000, "ms", "pgbench"),
    )
    return ForeignResult({}, replace(trial, metrics=metrics))
