"""Kill dbatk at random moments of a workload, a load and a mix on PostgreSQL, and look at what is left.

    PYTHONPATH=. python benchmarks/kills_at_work.py [--kills 20] [--seed 1] [--only load] [--resume]

A PostgreSQL server of its own. Each kill is SIGKILL, to dbatk alone, at a time drawn from the length of what it
does, after its first session or program began. Then nothing is done but waiting until no session of the run and no
process with its number is left: how long that takes is shown. `dbatk clean` follows, and no table of a run may be
left; of a load, a job, `dbatk runs resume` follows instead, after which each row must be there once. With
`--resume` it follows of all of them, and must end what was cut off.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from tests.servers.restartable import Restartable, restartable

ROWS = 1_500_000
_WAIT_SECONDS = 60.0
_MIX = """
[experiment]
name = "jobs"
operation = "mix"
repeat = 6
warmup = 0

[mix]
[[job]]
name = "made"
operation = "ctas"
target = "pg"
source = "big"
table = "made"
repeat = 3
warmup = 0
copies = 2

[[job]]
name = "sleeps"
command = "sh -c 'sleep 2 & sleep 1; wait'"
copies = 3
"""


class Place:
    """A folder with store and profiles of its own."""

    def __init__(self, folder: Path, server: Restartable) -> None:
        self.folder, self.server = folder, server
        self.before: list[str] = []
        self.environment = {
            **os.environ, "DBATK_CONFIG": str(folder / "config"), "DBATK_STORE": str(folder / "store.sqlite"),
            "PYTHONPATH": str(Path(__file__).parents[1].absolute()),
        }  # fmt: skip

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Begin a command; what it says goes to a file, which nothing that outlives it can hold open here."""
        with (self.folder / "said").open("wb") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "toolkit", *arguments], env=self.environment, cwd=self.folder, stdout=said,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command to its end; return its exit status and what it said."""
        status = self.begin(*arguments).wait(timeout=900)
        return status, (self.folder / "said").read_text(errors="replace").strip()

    def ask(self, query: str) -> list[tuple[object, ...]]:
        with self.server.connect() as session:
            answer = session.execute(query)
            return answer.fetchall() if answer.description else []

    def runs(self) -> list[str]:
        """Return the runs of the store, the newest last."""
        path = self.folder / "store.sqlite"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as store:
            try:
                return [str(run) for (run,) in store.execute("SELECT run FROM run ORDER BY run")]
            except sqlite3.OperationalError:  # its tables are being made
                return []

    def left(self) -> tuple[int, int]:
        """Return how many sessions and how many processes of runs there are."""
        query = "SELECT pid FROM pg_stat_activity WHERE application_name ~ '^[0-9]{8}-[0-9]{6}-'"
        ours = {f"DBATK_STORE={self.folder / 'store.sqlite'}", *(f"DBATK_RUN={run}" for run in self.runs())}
        return len(self.ask(query)), len(processes_with(ours))

    def until_alone(self) -> float | None:
        """Wait until nothing of a run is left; return after how many seconds that was, None where it was not."""
        begun = time.monotonic()
        while time.monotonic() - begun < _WAIT_SECONDS:
            if self.left() == (0, 0):
                return time.monotonic() - begun
            time.sleep(0.1)
        return None


def processes_with(variables: set[str]) -> list[int]:
    """Return the processes that have one of these in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and folder.name != str(os.getpid()):
            with suppress(OSError):
                own = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
                found += [int(folder.name)] if variables & {*own} else []
    return found


# -- what is killed -----------------------------------------------------------------------------------------------
def workload(place: Place) -> subprocess.Popen[bytes]:
    place.before = place.runs()
    return place.begin(
        "workload", "-t", "pg", "--builtin", "tpcb", "--users", "4,8", "--scale", "1", "--measure-for", "2s",
        "--ramp-up", "1s", "--repeat", "3", "-q",
    )  # fmt: skip


def load(place: Place) -> subprocess.Popen[bytes]:
    place.ask("TRUNCATE lines")
    place.before = place.runs()
    return place.begin(
        "load", "-t", "pg", str(place.folder / "lines.csv"), "--table", "lines", "--degree", "2",
        "--commit-every", "256K", "-q",
    )  # fmt: skip


def mix(place: Place) -> subprocess.Popen[bytes]:
    place.before = place.runs()
    return place.begin("run", str(place.folder / "mix.toml"), "--allow-commands", "-q")


def measured(place: Place) -> str:
    """Resume a measurement: each of its trials is there then, once, and ended well."""
    if place.runs() == place.before:
        return cleaned(place)
    run = place.runs()[len(place.before)]  # the jobs of a mix are runs that began later
    status, said = place.run("runs", "resume", run, "--allow-commands", "-q")
    if status and "has ended" not in said:
        return f"resume: exit {status}: {said}"
    _, text = place.run("runs", "show", run, "--json")
    trials = [trial for trial in json.loads(text)["trials"] if trial["outcome"] != "interrupted"]
    cells = [(str(trial["factors"]), trial["repeat"]) for trial in trials]
    if len(cells) != len({*cells}) or {trial["outcome"] for trial in trials} != {"ok"}:
        return f"trials: {cells}, {[trial['outcome'] for trial in trials]}"
    return cleaned(place)


def cleaned(place: Place) -> str:
    status, said = place.run("clean", "-t", "pg")
    tables = place.ask("SELECT relname FROM pg_class WHERE relname LIKE 'dbatk%' OR relname LIKE 'pgbench%'")
    return "" if not status and not tables else f"exit {status}, {tables}; clean said: {said}"


def resumed(place: Place) -> str:
    if place.runs() == place.before:  # it was killed before it was a run: then nothing was loaded
        rows = place.ask("SELECT count(*) FROM lines")
        return "" if rows == [(0,)] else f"{rows} rows without a run"
    status, said = place.run("runs", "resume", "last")
    if "has ended" not in said and status:
        return f"resume: exit {status}: {said}"
    found = place.ask("SELECT count(*), count(DISTINCT id), sum(id) FROM lines")[0]
    whole = (ROWS, ROWS, ROWS * (ROWS - 1) // 2)
    return cleaned(place) if found == whole else f"{found} of {whole}; resume said: {said}"


WORKS: dict[str, tuple[Callable[[Place], subprocess.Popen[bytes]], Callable[[Place], str], float]] = {
    "workload": (workload, cleaned, 12.0),
    "load": (load, resumed, 4.0),
    "mix": (mix, cleaned, 8.0),
}


def strike(place: Place, name: str, seconds: float, *, resume: bool) -> str:
    """Kill one of them after so long; return what went wrong, or after how long nothing was left."""
    begin, mend, _ = WORKS[name]
    mend = measured if resume and mend is cleaned else mend
    work = begin(place)
    while work.poll() is None and place.left() in {(0, 0), (0, 1)}:
        time.sleep(0.05)  # it has not begun to work
    time.sleep(seconds)
    there = place.left()
    work.send_signal(signal.SIGKILL)
    ended = work.wait()
    said = (place.folder / "said").read_text(errors="replace").strip()
    alone = place.until_alone()
    if alone is None:
        return f"left after {_WAIT_SECONDS:g} s: {place.left()}"
    wrong = mend(place)
    how = "killed" if ended == -signal.SIGKILL else f"had ended with {ended}"
    if ended not in {-signal.SIGKILL, 0, 3}:
        wrong = wrong or f"{how}: {said}"
    return wrong or f"ok: {how} with {there[0]} sessions, {there[1]} processes; none after {alone:.1f} s"


def ready(place: Place) -> None:
    """Make what the works need."""
    place.server.write_profile(place.folder / "config")
    place.ask("CREATE TABLE lines (id int, name text)")
    place.ask("CREATE TABLE big AS SELECT g, g::text AS t FROM generate_series(1, 1000000) g")
    with (place.folder / "lines.csv").open("w") as file:
        file.write("id,name\n")
        file.writelines(f"{number},line {number}\n" for number in range(ROWS))
    (place.folder / "mix.toml").write_text(_MIX)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=tuple(WORKS))
    parser.add_argument("--resume", action="store_true")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    folder, bad = Path(tempfile.mkdtemp(prefix="dbatk-kills-")), 0
    try:
        with restartable(folder) as server:
            place = Place(folder, server)
            ready(place)
            for name in [asked.only] if asked.only else WORKS:
                for number in range(1, asked.kills + 1):
                    seconds = chance.uniform(0.5, WORKS[name][2])
                    told = strike(place, name, seconds, resume=asked.resume)
                    bad += not told.startswith("ok")
                    print(f"{name} {number}: after {seconds:.2f} s: {told}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{bad} went wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
