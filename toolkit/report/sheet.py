"""The trials of runs as CSV: one row a trial, raw values, for a spreadsheet or a data frame."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime

from toolkit.model.records import RunRecord, TrialRecord
from toolkit.model.values import Scalar
from toolkit.report.safe import csv_text

_BEFORE = ("run", "label", "engine", "operation", "mode", "trial", "attempt")
_AFTER = (
    "repeat",
    "warmup",
    "outcome",
    "reason",
    "error_code",
    "began_at",
    "ended_at",
    "elapsed_seconds",
    "requested_degree",
    "granted_degree",
    "effective_parallelism",
    "rows",
    "bytes",
    "disturbed",
)


def sheet(runs: Sequence[RunRecord]) -> str:
    """Return the trials of all runs; every factor of any run is a column, named `factor:<name>`."""
    factors = list(dict.fromkeys(name for run in runs for trial in run.trials for name in trial.cell))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    writer.writerow([*_BEFORE, *(csv_text(f"factor:{name}") for name in factors), *_AFTER])
    for run in runs:
        for trial in sorted(run.trials, key=lambda trial: (trial.trial, trial.attempt)):
            writer.writerow([_spell(value) for value in _row(run, trial, factors)])
    return out.getvalue()


def _row(run: RunRecord, trial: TrialRecord, factors: Iterable[str]) -> list[Scalar | datetime]:
    head = run.head
    return [
        *(head.run, head.label, head.engine, head.experiment.operation, head.mode.value),
        *(trial.trial, trial.attempt),
        *(trial.cell.get(name) for name in factors),
        *(trial.repeat, trial.warmup, trial.outcome.value, trial.reason, trial.error_code),
        *(trial.began_at, trial.ended_at, trial.elapsed_seconds),
        *(trial.requested_degree, trial.granted_degree, trial.effective_parallelism),
        *(trial.rows, trial.bytes, trial.disturbed),
    ]


def _spell(value: Scalar | datetime) -> str:
    """Spell raw values for machines; only text can carry a formula, so only text is guarded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return csv_text(value) if isinstance(value, str) else repr(value)
