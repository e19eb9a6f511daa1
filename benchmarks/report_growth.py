"""How the time of a report grows with the number of trials: `python benchmarks/report_growth.py`.

Renders synthetic runs of 250 to 4,000 trials in every format and prints seconds, seconds per 1,000 trials and the
number of marks in the largest chart. Exits 1 when a page of 1,000 trials takes a second or more, or when the time
of a trial at 4,000 is more than twice that at 1,000.
"""

from __future__ import annotations

import math
import random
import sys
import time
from datetime import UTC, datetime, timedelta

from toolkit.model.experiment import Experiment
from toolkit.model.records import Metric, RunHead, RunRecord, Sample, TrialRecord
from toolkit.model.values import Cell, Factor
from toolkit.model.words import Mode, Outcome, RunState
from toolkit.report.render import Format, render

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
DEGREES = (1, 2, 4, 8, 16)
SIZES = (250, 500, 1000, 2000, 4000)
LIMIT_SECONDS = 1.0


def synthetic_run(trials: int, settings: int | None = None) -> RunRecord:
    """A run over degree x setting with so many trials, samples and metrics included."""
    source = random.Random(trials)
    settings = settings or max(1, trials // (len(DEGREES) * 3))
    cells = [Cell((("degree", degree), ("setting", number))) for degree in DEGREES for number in range(settings)]
    made = [_trial(number, cells[number % len(cells)], number // len(cells), source) for number in range(trials)]
    experiment = Experiment(
        "duckdb:///x.duckdb",
        "ctas",
        {"source": "t"},
        (Factor("degree", DEGREES), Factor("setting", tuple(range(settings)))),
        Mode.MEASUREMENT,
        repeat=3,
    )
    head = RunHead("20260101-000000-aaaa", experiment, "duckdb", RunState.DONE, BEGAN)
    return RunRecord(head, tuple(made), {"cpu_count": 8})


def _trial(number: int, cell: Cell, sweep: int, source: random.Random) -> TrialRecord:
    elapsed = 8 / math.sqrt(float(cell["degree"])) * math.exp(source.gauss(0, 0.03))
    began = BEGAN + timedelta(seconds=10 * number)
    return TrialRecord(
        number + 1,
        1,
        cell,
        sweep + 1,
        Outcome.OK,
        began,
        began + timedelta(seconds=elapsed),
        elapsed_seconds=elapsed,
        rows=1000,
        metrics=tuple(Metric(f"metric_{index}", elapsed * index, "bytes", "duckstat") for index in range(1, 9)),
        samples=tuple(Sample(float(at), "host_cpu_pct", 50.0 + source.random()) for at in range(8)),
    )


def seconds_of(run: RunRecord, chosen: Format) -> tuple[float, str]:
    """The best of three, which is what the work costs when nobody disturbs."""
    times, text = [], ""
    for _ in range(3):
        begin = time.perf_counter()
        text = render(run, chosen)
        times.append(time.perf_counter() - begin)
    return min(times), text


def main() -> int:
    for chosen in Format:
        render(synthetic_run(10), chosen)
    taken: dict[tuple[Format, int], float] = {}
    for size in SIZES:
        run = synthetic_run(size)
        for chosen in Format:
            taken[chosen, size], text = seconds_of(run, chosen)
            marks = max((part.count('class="m ') for part in text.split("<figure")), default=0)
            print(
                f"{size:>6,} trials {chosen:<9} {taken[chosen, size]:7.3f} s"
                f" {taken[chosen, size] / size * 1000:7.3f} s/1,000 {len(text) / 1024:8,.0f} KiB {marks:4} marks"
            )
    slow = taken[Format.HTML, 1000] >= LIMIT_SECONDS
    steep = [one for one in Format if taken[one, 4000] / 4 > 2 * taken[one, 1000]]
    print(f"page of 1,000 trials below {LIMIT_SECONDS} s: {not slow}; linear: {not steep}")
    return 1 if slow or steep else 0


if __name__ == "__main__":
    sys.exit(main())
