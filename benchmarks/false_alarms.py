"""How often `compare` gives a verdict on identical runs.

    python benchmarks/false_alarms.py                    simulated pairs
    python benchmarks/false_alarms.py --duckdb [PAIRS]   pairs of real sweeps that dbatk runs on DuckDB (60)
    python benchmarks/false_alarms.py --runs FOLDER      pairs of stored sweeps: `--json` documents, two by two

Each pair is compared by other runs of the same work, without which there is no verdict: simulated ones have 14 of
their own, real ones those before them. Prints the share of pairs of runs with any verdict (5 % is expected of
intervals that hold together at 95 %) among those that have intervals; exits 1 above 5 % and two standard errors,
or where no pair has one.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.analysis.compare import compare
from toolkit.model.address import Address
from toolkit.model.experiment import Experiment
from toolkit.model.protocols import Event
from toolkit.model.records import RunHead, RunRecord, TrialRecord
from toolkit.model.values import Cell, Factor
from toolkit.model.words import Mode, Outcome, RunState, Verdict

if TYPE_CHECKING:
    from toolkit.store import Store
    from toolkit.targets.base import Target

Trio = tuple[RunRecord, RunRecord, Sequence[RunRecord]]
"""Two runs, and others of the same work."""

DEGREES = (1, 2, 4)
ROWS = 100_000
REPEATS = 3
STORED = 14
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def run_of(name: str, trials: Iterable[TrialRecord]) -> RunRecord:
    """A run around trials: what `compare` needs and no more."""
    experiment = Experiment("duckdb:///x.duckdb", "ctas", {}, (), Mode.MEASUREMENT, repeat=REPEATS)
    head = RunHead(name, experiment, "duckdb", RunState.DONE, BEGAN)
    return RunRecord(head, tuple(trials))


def trial_of(number: int, cell: Cell, repeat: int, elapsed: float | None, *, outcome: str = "ok") -> TrialRecord:
    """A trial with a time."""
    return TrialRecord(number, 1, cell, repeat, Outcome(outcome), BEGAN, BEGAN, elapsed_seconds=elapsed)


def simulated(source: random.Random, name: str, noise: float, drift: float) -> RunRecord:
    """A sweep over degree with noise of each trial and drift of each whole sweep."""
    blocks = [source.gauss(0, drift) for _ in range(REPEATS)]
    cells = [Cell((("degree", degree),)) for degree in DEGREES]
    return run_of(
        name,
        (
            trial_of(
                len(cells) * repeat + index + 1,
                cell,
                repeat + 1,
                8 / 1.8**index * math.exp(block + source.gauss(0, noise)),
            )
            for repeat, block in enumerate(blocks)
            for index, cell in enumerate(cells)
        ),
    )


def simulated_pairs(pairs: int) -> Iterator[tuple[str, Iterator[Trio]]]:
    """Pairs under several kinds of disturbance."""
    for noise, drift in ((0.02, 0.0), (0.02, 0.02), (0.02, 0.1), (0.1, 0.02)):
        yield f"simulated, noise {noise:.0%}, drift {drift:.0%}", _drawn(pairs, noise, drift)


def _drawn(pairs: int, noise: float, drift: float) -> Iterator[Trio]:
    source = random.Random(1)
    for _ in range(pairs):
        a, b, *others = (simulated(source, f"r{number}", noise, drift) for number in range(2 + STORED))
        yield a, b, others


def from_document(text: str) -> RunRecord:
    """Read the trials of a stored run back from its JSON document."""
    document = json.loads(text)
    trials = []
    for one in document["trials"]:
        made = trial_of(
            one["trial"],
            Cell(tuple(one["factors"].items())),
            one["repeat"],
            one["elapsed_seconds"],
            outcome=one["outcome"],
        )
        if not one["disturbed"]:
            trials.append(made)
    return run_of(document["run"], trials)


def duckdb_pairs(pairs: int) -> Iterator[Trio]:
    """Run identical sweeps with dbatk itself, two for each pair, one after the other."""
    from toolkit.store import open_store
    from toolkit.targets.base import Access
    from toolkit.targets.duckdb import DuckdbTarget

    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "alarms.duckdb"
        _make_source(database)
        target = DuckdbTarget(Access(Address("duckdb", str(database))))
        try:
            with open_store(Path(folder) / "store.sqlite") as store:
                before = [_sweep(target, store) for _ in range(STORED)]
                for number in range(1, pairs + 1):
                    begin = time.perf_counter()
                    a, b = _sweep(target, store), _sweep(target, store)
                    yield a, b, before
                    before += a, b
                    print(f"pair {number}: {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
        finally:
            target.close()


def _make_source(database: Path) -> None:
    import duckdb

    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"CREATE TABLE gtest AS SELECT range AS id, md5(range::VARCHAR) AS idname, range % 1000 AS amount"
            f" FROM range({ROWS})"
        )


class Silent:
    """Takes the events of a run and shows none."""

    def emit(self, event: Event) -> None:
        pass


def _sweep(target: Target, store: Store) -> RunRecord:
    """One sweep by the runner itself, as `dbatk ctas --degree 1,2,4 --repeat 3` does it."""
    from toolkit.app.approvals import Approvals
    from toolkit.app.runs.execute import start

    factors = (Factor("degree", DEGREES),)
    options = {"source": "gtest", "table": "gtest_copy"}
    experiment = Experiment(
        "alarms", "ctas", options, factors, Mode.MEASUREMENT, REPEATS, 1, seed=7, snapshot="none"
    )
    return store.load_run(start(experiment, target, store=store, approvals=Approvals(), events=Silent()))


def stored_pairs(folder: Path) -> Iterator[Trio]:
    """Pair stored documents of identical sweeps in the order of their names."""
    runs = [from_document(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    for a, b in zip(runs[::2], runs[1::2], strict=False):
        yield a, b, runs


def share_of_alarms(title: str, pairs: Iterable[Trio]) -> bool:
    """Print the share of verdicts; return whether it is as small as it should be, of pairs that can have one."""
    compared = [compare(a, b, force=True, history=history).pairs for a, b, history in pairs]
    able = [found for found in compared if any(pair.interval is not None for pair in found)]
    alarms = sum(any(pair.verdict is not Verdict.INCONCLUSIVE for pair in found) for found in able)
    share, limit = alarms / max(len(able), 1), 0.05 + 2 * math.sqrt(0.05 * 0.95 / max(len(able), 1))
    without = f", {len(compared) - len(able)} without an interval" if len(able) < len(compared) else ""
    print(f"{title}: verdicts in {alarms} of {len(able)} pairs of runs ({share:.1%}){without}", flush=True)
    return bool(able) and share <= limit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duckdb", nargs="?", type=int, const=60, metavar="PAIRS")
    parser.add_argument("--runs", type=Path, metavar="FOLDER")
    chosen = parser.parse_args()
    if chosen.duckdb:
        good = [share_of_alarms("real DuckDB sweeps", duckdb_pairs(chosen.duckdb))]
    elif chosen.runs:
        good = [share_of_alarms(f"runs of {chosen.runs}", stored_pairs(chosen.runs))]
    else:
        good = [share_of_alarms(title, pairs) for title, pairs in simulated_pairs(500)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
