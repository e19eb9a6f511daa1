"""The demo: an embedded database, a table like the published GTEST, four sweeps, one report.

The table is sized to the machine by a small trial beforehand, so that the whole demo stays within its time.
Nothing is promised: whatever comes out is shown. Each sweep is repeated until a difference of 20 % is detected or
excluded, or its part of the time is used up; what one does not need is left to the next.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolkit.app.approvals import Approvals
from toolkit.app.runs.execute import start
from toolkit.design.build import MOST_SWEEPS
from toolkit.errors import ToolkitError
from toolkit.executors import Sessions
from toolkit.model.address import Address
from toolkit.model.experiment import Experiment, OptionValue
from toolkit.model.protocols import Event, Events
from toolkit.model.steps import Step
from toolkit.model.values import Factor
from toolkit.model.words import Effect, Mode, OperationName
from toolkit.rendering import sql_file
from toolkit.runner import Stop
from toolkit.store import Store, open_store
from toolkit.targets.base import Access
from toolkit.targets.duckdb import DuckdbTarget

DEGREES = (1, 2, 4)
DETECT_PCT = 20.0
EXPECTED_REPEATS = 8
"""As many as the table is sized for: half as many show a difference of 20 % on a machine that is not busy, and
many short trials bear a disturbance better than few long ones."""
_TRIAL_ROWS = 100_000
_LEAST_ROWS, _MOST_ROWS = 100_000, 6_000_000
_SWEEP_SHARE = 0.82
"""Part of the whole time that goes into the trials; the rest is data, start and report."""

_AROUND_SECONDS = 0.07
"""What a trial takes besides its statement: set-up, snapshots, cleanup."""

_SWEEPS: tuple[tuple[OperationName, Mapping[str, OptionValue], float], ...] = (
    ("ctas", {"source": "gtest", "table": "gtest_copy"}, 1.0),
    ("insert", {"source": "gtest", "table": "gtest"}, 1.0),
    ("index-build", {"table": "gtest", "columns": ("idname",)}, 1.0),
    ("stats-gather", {"table": "gtest"}, 0.4),
)
"""Operation, options, and its part of the time that is left, against the others'."""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo leaves: its runs, a line for what came of each, the report, and the text of the tables."""

    run_ids: tuple[str, ...]
    report: Path
    store: Path
    rows: int
    answers: tuple[str, ...]
    text: str


def run_demo(out: Path, *, events: Events, seconds: float = 55.0, stop: Stop | None = None) -> DemoResult:
    """Make the data, sweep, compare and write `report.html` into a folder.

    Args:
        out: the folder; made when it is not there. Its table is made anew, its results are kept. A demo that runs
            there already holds the database file, so a second one is refused and changes nothing.
        events: receives what happens.
        seconds: how long the whole demo may take.
        stop: as in `start`.

    Raises:
        ToolkitError: TK-0405 when the folder cannot be written; TK-0130 when it is interrupted.
    """
    from toolkit.analysis.verdict import verdict_line
    from toolkit.app.files import write_file
    from toolkit.report.render import render
    from toolkit.report.summary import summary_text

    database = _folder(out) / "demo.duckdb"
    address = Address("duckdb", str(database), parameters=(("create", "yes"),))
    target = DuckdbTarget(Access(address))
    try:
        rows = _make_data(target, events, seconds * _SWEEP_SHARE)
        with open_store(out / "store.sqlite") as store:
            runs = _sweep_all(target, store, events, stop or Stop(), seconds * _SWEEP_SHARE)
            records = [store.load_run(run) for run in runs]
    except ToolkitError as error:
        if error.code == "TK-0130":
            error.hint = f"run the demo again; what ended before is in `{out / 'store.sqlite'}` (`--store`)"
        raise
    finally:
        target.close()
    report = out / "report.html"
    write_file(report, render(records, "html"))
    answers = tuple(verdict_line(record) for record in records)
    return DemoResult(tuple(runs), report, out / "store.sqlite", rows, answers, summary_text(records))


def _folder(out: Path) -> Path:
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = out / ".dbatk-probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise ToolkitError(
            f"`{out}` cannot be written: {error.strerror}", code="TK-0405", hint="give another folder with --out"
        ) from None
    return out


def _make_data(target: DuckdbTarget, events: Events, budget: float) -> int:
    """Make the table as large as the budget allows, judged by a small one made first."""
    sessions = Sessions(target, "dbatk-demo")
    try:
        rows = _fitting_rows(sessions, budget)
        events.emit(Event("setup", f"making the table gtest with {rows:,} rows"))
        _create(sessions, rows)
        return rows
    finally:
        sessions.close()


def _create(sessions: Sessions, rows: int) -> None:
    _run(sessions, "DROP TABLE IF EXISTS gtest")
    sessions.run(Step("demo", sql_file("duckdb", "demo_gtest"), binds={"rows": rows}, effect=Effect.CREATES))
    _run(sessions, "CHECKPOINT")


def _run(sessions: Sessions, text: str) -> float:
    begun = time.perf_counter()
    sessions.run(Step("demo", text, effect=Effect.CHANGES))
    return time.perf_counter() - begun


def _fitting_rows(sessions: Sessions, budget: float) -> int:
    """Return how many rows fit: one sweep of all operations on a small table, scaled up.

    A trial at degree 1 is the longest.
    """
    _create(sessions, _TRIAL_ROWS)
    _run(sessions, "SET threads = 1")
    copied = _run(sessions, "CREATE TABLE small AS SELECT * FROM gtest")
    indexed = _run(sessions, "CREATE INDEX small_ix ON small (idname)")
    _run(sessions, "DROP TABLE small")
    _run(sessions, "RESET threads")
    per_row = (1.3 * copied + 0.8 * indexed) / _TRIAL_ROWS
    trials = len(DEGREES) * (EXPECTED_REPEATS + 1)
    rows = max(0.0, budget - trials * len(_SWEEPS) * _AROUND_SECONDS) / (trials * per_row)
    return int(min(_MOST_ROWS, max(_LEAST_ROWS, rows)) // 100_000 * 100_000)


def _sweep_all(target: DuckdbTarget, store: Store, events: Events, stop: Stop, budget: float) -> list[str]:
    runs: list[str] = []
    ends = time.monotonic() + budget
    for number, (name, options, share) in enumerate(_SWEEPS, 1):
        left = sum(each for *_, each in _SWEEPS[number - 1 :])
        part = {"part": number, "parts": len(_SWEEPS)}
        events.emit(Event("part", f"sweep {number} of {len(_SWEEPS)}: {name}", part))
        experiment = Experiment(
            target.display,
            name,
            options,
            (Factor("degree", DEGREES),),
            Mode.MEASUREMENT,
            repeat=MOST_SWEEPS,
            detect_pct=DETECT_PCT,
            warmup=1,
            name=f"demo {name}",
            label=f"demo-{name}",
            seed=1,
            budget_seconds=max(1.0, (ends - time.monotonic()) * share / left),
        )
        runs.append(start(experiment, target, store=store, approvals=Approvals(), events=events, stop=stop))
    return runs
