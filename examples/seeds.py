"""Runs, at a small size, every published experiment that this host can run, and writes one report of all of them.

python examples/seeds.py [FOLDER] [SECONDS]       FOLDER is dbatk-seeds, SECONDS 700; `make seeds` does it

Databases are DuckDB files of its own, programs those of this host. What a row would need besides stands in
`examples/README.md`; the published numbers are imported, and are in the report beside what was measured here.
"""

# ruff: noqa: T201 (a program that prints)
from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb

HERE = Path(__file__).resolve().parent
ROWS = 300_000
GTEST = (HERE.parent / "sql/duckdb/demo_gtest.sql").read_text(encoding="utf-8")
TWICE = "--repeat 2 --budget {budget}s"
EXPERIMENTS = (
    ("Sun CMT", "CREATE TABLE AS SELECT by degree", "ctas -t {db} --source gtest --table x --degree 1,2"),
    ("Sun CMT", "INSERT AS SELECT", "insert -t {db} --source gtest --table filled --degree 1,2"),
    ("Sun CMT", "b-tree index by degree", "index build -t {db} --table gtest --columns idname --degree 1,2"),
    ("Sun CMT", "statistics by degree and sample", "stats gather -t {db} --table gtest --degree 1,2"),
    ("System z", "users",
     "workload -t {db} --builtin order_entry --measure-for 3s --ramp-up 1 --users 8,10,12"),
    ("Sybase IQ", "load by page and record size", "load -t {db} lines/lines_*.csv --table lines --degree 1,2"),
    ("DataStage", "memory of each sort, read-ahead",
     "ctas -t {db} --query sort.sql --table x --setting memory_limit=300MB,2GB"),
    ("Sun CMT", "pbzip2 by threads", "run pbzip2-threads.toml --allow-commands"),
    ("Sun CMT", "builds by make -j", "run five-builds.toml --allow-commands"),
    ("SAS", "mixed analytics on one node", "run mix-20-test.toml --allow-commands"),
    ("SAS", "mixed analytics on one node", "run mix-30-test.toml --allow-commands"),
)  # fmt: skip
"""What can be run, by the study and row of `README.md`; of an example a smaller copy is run."""
PROGRAMS = {"pbzip2-threads.toml": ("pbzip2",), "five-builds.toml": ("make", "cc")}
"""What an example runs that not every host has."""


def missing(line: str) -> list[str]:
    """Return the programs of an experiment that this host does not have."""
    return [name for word in line.split() for name in PROGRAMS.get(word, ()) if shutil.which(name) is None]


def reduce_examples(folder: Path, budget: int) -> None:
    """Write the examples with two repeats, fewer levels and a budget."""
    for path in HERE.glob("*.toml"):
        text = path.read_text(encoding="utf-8").replace("examples/", f"{HERE}/")
        text = re.sub(r"^repeat = \d+", f'repeat = 2\nbudget = "{budget}s"', text, flags=re.MULTILINE)
        text = text.replace("threads = [1, 2, 4, 8, 16, 32]", "threads = [1, 2, 4]")
        (folder / path.name).write_text(text, encoding="utf-8")


def make_data(folder: Path) -> str:
    """Make the tables and files that the experiments work on; return the URL of the database."""
    with duckdb.connect(str(folder / "seeds.duckdb")) as made:
        made.execute(re.sub(r":rows\b", str(ROWS), GTEST))
        made.execute("CREATE TABLE filled AS FROM gtest LIMIT 0")
        made.execute("CREATE TABLE lines (id BIGINT, name VARCHAR, price DECIMAL(12, 2))")
    (folder / "sort.sql").write_text("SELECT * FROM gtest ORDER BY note, idname\n", encoding="utf-8")
    subprocess.run([sys.executable, str(HERE / "eight_files.py"), str(folder / "lines"), "0.005"], check=True)
    return f"duckdb:///{folder}/seeds.duckdb"


def dbatk(folder: Path, *words: str, seconds: float | None = None) -> int:
    """Run dbatk with a store of its own; what it prints is shown; it is interrupted after `seconds`."""
    variables = {**os.environ, "DBATK_STORE": str(folder / "store.sqlite"), "DBATK_CONFIG": str(folder)}
    argv = [sys.executable, "-m", "toolkit", *words]
    with subprocess.Popen(argv, cwd=folder, env=variables) as running:
        try:
            return running.wait(seconds)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)  # the trial ends, and what it made is dropped
            return running.wait()


def published(folder: Path) -> list[str]:
    """Import the published numbers; return the labels of their runs."""
    found = []
    for path in sorted((HERE / "published").glob("*.csv")):
        label = f"published {path.stem}"
        if dbatk(folder, "import", str(path), "--label", label) == 0:
            found.append(label)
    return found


def main(folder: Path, seconds: float) -> int:
    """Run all, write the report, and tell what did not end well."""
    folder.mkdir(mode=0o700, parents=True)
    end, url = time.monotonic() + seconds, make_data(folder)
    labels, short = list[str](), 0
    here = [experiment for experiment in EXPERIMENTS if not missing(experiment[2])]
    for study, row, line in EXPERIMENTS:
        if absent := missing(line):
            print(f"\n== not run: {study}, {row}: {', '.join(absent)} is not installed", flush=True)
    for number, (study, row, line) in enumerate(here):
        share = max(10.0, (end - time.monotonic()) / (len(here) - number))
        budget = int(share * _SHARE)
        reduce_examples(folder, budget)
        label = f"{EXPERIMENTS.index((study, row, line)) + 1:02} {study}, {row}"
        print(f"\n== {label} (at most about {budget} s)", flush=True)
        words = shlex.split(line if line.startswith("run ") else f"{line} {TWICE}")
        status = dbatk(
            folder, *(each.format(db=url, budget=budget) for each in words), "--label", label, "--quiet",
            seconds=share * _MOST,
        )  # fmt: skip
        short += status in (3, _INTERRUPTED)
        labels += [label] if status in (0, 3, _INTERRUPTED) else []
        print(f"== ended with exit status {status}", flush=True)
    status = dbatk(folder, "report", *labels, *published(folder), "--out", str(folder / "seeds.html"))
    failed = len(here) - len(labels)
    cut = f"{short} of them cut short by their budget or a failed trial"
    print(f"{len(labels)} of {len(EXPERIMENTS)} measured, {cut}; {len(EXPERIMENTS) - len(here)} not run")
    print(f"report: {folder / 'seeds.html'}")
    return status or (1 if failed else 3 if short else 0)


_INTERRUPTED = 130
_MOST = 1.4
"""Shares of the time after which a row is interrupted: on a busy host one trial may take longer than all."""
_SHARE = 0.7
"""Of the time that is left for a row: a budget ends between trials, and the last one goes on."""


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "dbatk-seeds").resolve()
    if place.exists():
        sys.exit(f"{place} is there already: remove it, or name another folder")
    sys.exit(main(place, float(sys.argv[2]) if len(sys.argv) > 2 else 700.0))
