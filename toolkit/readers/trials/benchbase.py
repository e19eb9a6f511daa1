"""BenchBase's `*.summary.json`: judged by its requests a second, aborted ones among them, as BenchBase does.

One file is one trial. https://github.com/cmu-db/benchbase
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from toolkit.model.records import Metric
from toolkit.model.words import Outcome
from toolkit.readers.trials.model import ForeignTrial, LineOfFile, TrialFiles, refuse
from toolkit.readers.trials.outputs import ForeignResult, number_of, over_settings, target_of, text_of

KIND = "summary of BenchBase"
_RATE, _GOODPUT = "Throughput (requests/second)", "Goodput (requests/second)"
_SETTINGS = {
    "terminals": "terminals", "scale": "scalefactor", "isolation": "isolation", "benchmark": "Benchmark Type",
    "dbms": "DBMS Type", "dbms_version": "DBMS Version",
}  # fmt: skip
_LATENCIES = {
    "latency_average_ms": "Average", "latency_median_ms": "Median", "latency_p95_ms": "95th Percentile",
    "latency_p99_ms": "99th Percentile", "latency_max_ms": "Maximum",
}  # fmt: skip
_ENDED = ("DONE", "EXIT")


def is_benchbase(document: object) -> bool:
    """Whether a JSON document is a summary of BenchBase."""
    return isinstance(document, dict) and _RATE in document and "Benchmark Type" in document


def read_benchbase(documents: Sequence[tuple[str, Mapping[str, object]]]) -> TrialFiles:
    """Read summaries of BenchBase, by the names of their files.

    Raises:
        ToolkitError: TK-0117.
    """
    outputs = [
        ForeignResult({word: text_of(document, key) for word, key in _SETTINGS.items()}, _trial(name, document))
        for name, document in documents
    ]
    return over_settings(KIND, outputs, better={"requests_per_second": "higher"})


def _trial(name: str, document: Mapping[str, object]) -> ForeignTrial:
    place = LineOfFile(name, 1)
    target = target_of(text_of(document, "DBMS Type"))
    rate, state = number_of(document, _RATE), text_of(document, "Final State")
    if rate is None:
        refuse(
            f"`{name}` does not say how many requests a second there were", "give BenchBase's summary unchanged"
        )
    if rate <= 0 or (state and state not in _ENDED):
        ended = re.sub(r"[^\w ]", "", state)[:20]
        reason = "no request was processed" if rate <= 0 else f"its final state is {ended}"
        return ForeignTrial((), place, outcome=Outcome.FAILED, reason=reason, target=target)
    metrics = [Metric("requests_per_second", rate, "1/s", "BenchBase")]
    goodput = number_of(document, _GOODPUT)
    if goodput is not None:
        metrics.append(Metric("goodput_per_second", goodput, "1/s", "BenchBase"))
    for word, what in _LATENCIES.items():
        value = number_of(document, "Latency Distribution", f"{what} Latency (microseconds)")
        if value is not None:
            metrics.append(Metric(word, value / 1000, "ms", "BenchBase"))
    return ForeignTrial(
        (), place, began_at=_instant(number_of(document, "Start timestamp (milliseconds)")),
        metrics=tuple(metrics), target=target,
    )  # fmt: skip


def _instant(milliseconds: float | None) -> datetime | None:
    if milliseconds is None or not 0 < milliseconds < 4e12:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
