"""The load of others in two runs that are compared: when it was high, or differed, a difference may be its own."""

from __future__ import annotations

from statistics import median

from toolkit.model.records import RunRecord
from toolkit.units import percent

_METRIC = "host_others_pct"
_HIGH_PCT = 20.0
_APART_PCT = 10.0


def load_notes(a: RunRecord, b: RunRecord) -> tuple[str, ...]:
    """Say when others used much of the host during either run, or more in one than in the other."""
    of_a, of_b = _others(a), _others(b)
    if of_a is None or of_b is None or a.head.run == b.head.run:
        return ()
    if max(of_a, of_b) < _HIGH_PCT and abs(of_a - of_b) < _APART_PCT:
        return ()
    shown = f"{percent(of_a)} of the host's CPU in A and {percent(of_b)} in B (medians)"
    return (f"others used {shown}: a difference may be theirs; repeat both runs on a quiet host",)


def _others(run: RunRecord) -> float | None:
    """Return the median part of the host that others used in the trials that count, in per cent."""
    found = [
        metric.value for trial in run.trials if trial.counts for metric in trial.metrics if metric.name == _METRIC
    ]
    return median(found) if found else None
