"""What reading commands cost beside another version of dbatk, over stores of the same content.

A store with 5,000 runs and 100,000 trials, and 200 runs of a plan of 36 steps, is written by each version, and
each command is run by both in turns, so that the load of others hits both alike. The ratio of CPU times, this
version over the other, is taken pair by pair; what is printed are the median, the lowest and the highest of them.

    python benchmarks/commands_beside.py [--revision e1c041d] [--no-earlier-names] [--pairs 15] [--runs 5000]
        [--only plan] [--folder DIR]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
FILL = """
import sys
from pathlib import Path
from datetime import timedelta
from sqlalchemy import insert
from benchmarks.store_growth import BEGAN, fill, head
from toolkit.store import open_store, schema

def nights(connection, count, steps):
    for number in range(count):
        began = BEGAN + timedelta(days=number)
        night = f"{began:%Y%m%d-%H%M%S}-{number:04x}"
        connection.execute(insert(schema.plan_run), dict(
            plan_run=night, plan="nightly", plan_hash="h", state="done", began_at=began,
            ended_at=began + timedelta(hours=2), host="a", text="[plan]",
        ))
        connection.execute(insert(schema.plan_step), [
            dict(plan_run=night, position=position, target=f"db{position % 3}", step=f"step{position // 3}",
                 state="done", tries=1, began_at=began + timedelta(minutes=position),
                 ended_at=began + timedelta(minutes=position, seconds=30 + number % 7), size_bytes=1e9)
            for position in range(steps)
        ])

with open_store(Path(sys.argv[1])) as store:
    fill(store, 0, int(sys.argv[2]), 20)
    fill(store, 1_000_000, 1, 1000)
    with store._database.write("a benchmark") as connection:
        nights(connection, 200, 36)
print(head(0, 20).run, head(1, 20).run, head(1_000_000, 1000).run)
"""


def checked_out(revision: str, folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(HERE), str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", revision], check=True)
    return folder


def environment(code: Path, settings: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(code), "XDG_CONFIG_HOME": str(settings)}


def cpu_seconds(code: Path, store: Path, arguments: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "toolkit", *arguments, "--store", str(store)],
        env=environment(code, folder),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spelt_before(arguments: list[str]) -> list[str]:
    """Return the words of a command at e1c041d, where what became of a plan had commands of its own."""
    before = {("plan", "report"): "account", ("plan", "history"): "history"}
    named = before.get((arguments[0], arguments[1]))
    return arguments if named is None else [named, *arguments[2:]]


def commands(first: str, second: str, large: str, page: str) -> dict[str, list[str]]:
    return {
        "runs list --limit 20": ["runs", "list", "--limit", "20"],
        "runs list --limit 5000": ["runs", "list", "--limit", "5000"],
        "runs show, 20 trials": ["runs", "show", first],
        "runs show, 1,000 trials": ["runs", "show", large],
        "compare": ["compare", first, second],
        "report, 20 trials": ["report", first, "--out", page],
        "report, 1,000 trials": ["report", large, "--out", page],
        "plan report": ["plan", "report", "last"],
        "plan history": ["plan", "history", "step7"],
        "report of two runs": ["report", first, second, "--format", "text"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", default="e1c041d", help="of the other version, as git names it")
    parser.add_argument("--earlier-names", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--only", default="", help="only the commands that have this in their name")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        codes = (checked_out(asked.revision, folder / "other"), HERE)
        stores = (folder / "other.sqlite", folder / "this.sqlite")
        for code, store in zip(codes, stores, strict=True):
            told = subprocess.run(
                [sys.executable, "-c", FILL, str(store), str(asked.runs)],
                env=environment(code, folder),
                cwd=code,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            first, second, large = told.stdout.split()
        chosen = commands(first, second, large, str(folder / "page.html"))
        for what, arguments in ((what, words) for what, words in chosen.items() if asked.only in what):
            ratios = []
            for pair in range(asked.pairs):
                order = (0, 1) if pair % 2 else (1, 0)
                spelt = (spelt_before(arguments) if asked.earlier_names else arguments, arguments)
                took = {of: cpu_seconds(codes[of], stores[of], spelt[of], folder) for of in order}
                ratios.append(took[1] / took[0])
            middle = statistics.median(ratios)
            print(f"{what:26} {middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)


if __name__ == "__main__":
    main()
