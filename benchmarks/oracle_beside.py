"""What commands on Oracle cost beside another version of dbatk, both against the same stand-in.

Each command is run by both versions in turns, in a process of its own; the stand-in runs in this process, so
only dbatk's own CPU time (user and system) is counted. The ratio, this version's over the other's, is taken pair
by pair; what is printed are the median, the lowest and the highest of them, the least times, and how many
statements each version sent, besides what samples a running statement. The exit status is 1 if a median is above
`--at-most`.

    PYTHONPATH=. python benchmarks/oracle_beside.py [--revision e1c041d] [--pairs 15] [--only ctas] [--at-most 1.0]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.oracle.make import connect
from tests.oracle.standin import Standin, running_standin

HERE = Path(__file__).resolve().parents[1]
SWEEP = ("--degree", "1,4", "--repeat", "2", "--warmup", "0", "--seed", "7")
JOB = ("--degree", "4")
WORK = {
    "ctas": ("ctas", "--source", "GTEST", "--table", "MADE"),
    "insert": ("insert", "--source", "GTEST", "--table", "GTEST"),
    "index build": ("index", "build", "--table", "GTEST", "--columns", "ID,AMOUNT"),
    "index rebuild": ("index", "rebuild", "--table", "GTEST"),
    "statistics": ("stats", "gather", "--table", "GTEST"),
}
COMMANDS = {
    **{f"{name}, sweep": (*work, *SWEEP) for name, work in WORK.items()},
    "ctas, job": (*WORK["ctas"], *JOB),
    "insert, job": (*WORK["insert"], *JOB),
}
SAMPLES = ("'parallel_workers' AS metric_name", "v$session_longops")


def checked_out(revision: str, folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(HERE), str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "checkout", "--quiet", revision], check=True)
    return folder


def environment(standin: Standin, code: Path, folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(code),
        "DBATK_STORE": str(folder / "store.db"),
        "DBATK_CONFIG": str(folder / "config"),
        "DBATK_PASSWORD": standin.password,
        "DBATK_CACHE": str(folder / "cache"),
    }


def measured(code: Path, arguments: tuple[str, ...]) -> tuple[float, int]:
    """Run a command against a fresh stand-in; return its CPU seconds and how many statements it sent."""
    with tempfile.TemporaryDirectory() as name, running_standin() as standin:
        with closing(connect(standin)) as session:
            for number, key in enumerate(("ID", "AMOUNT, ID")):
                session.execute(f"CREATE INDEX GTEST_{number} ON GTEST ({key})")
        standin.engine.sent.clear()
        process = subprocess.Popen(
            [sys.executable, "-m", "toolkit", *arguments, "-t", standin.url, "--not-production", "--json"],
            env=environment(standin, code, Path(name)),
            cwd=name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        said = process.stderr.read().decode()
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{code}: {' '.join(arguments)} ended with {process.returncode}\n{said}")
        sent = [text for _, text in standin.engine.sent if not any(mark in text for mark in SAMPLES)]
    return used.ru_utime + used.ru_stime, len(sent)


def beside(codes: tuple[Path, Path], arguments: tuple[str, ...], pairs: int) -> tuple[str, float]:
    took: tuple[list[float], list[float]] = ([], [])
    sent = [0, 0]
    for pair in range(-1, pairs):  # the first one compiles and warms up
        for of in (0, 1) if pair % 2 else (1, 0):
            seconds, sent[of] = measured(codes[of], arguments)
            took[of].append(seconds)
    ratios = [mine / other for other, mine in zip(took[0][1:], took[1][1:], strict=True)]
    middle = statistics.median(ratios)
    told = f"{middle:.3f} ({min(ratios):.2f} to {max(ratios):.2f})"
    least = f"least {min(took[0]):.3f} s and {min(took[1]):.3f} s"
    return f"{told}, {least}; statements {sent[0]} and {sent[1]}", middle


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--revision", default="e1c041d", help="of the other version, as git names it")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", action="append", metavar="TEXT", help="only commands whose name contains this")
    parser.add_argument("--at-most", type=float, default=1.0, help="the highest median that exits with 0")
    asked = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        codes = (checked_out(asked.revision, Path(name) / "other"), HERE)
        for what, arguments in COMMANDS.items():
            if asked.only and not any(part in what for part in asked.only):
                continue
            told, middle = beside(codes, arguments, asked.pairs)
            print(f"{what:22} {told}", flush=True)
            worst = max(worst, middle)
    return 0 if worst <= asked.at_most else 1


if __name__ == "__main__":
    sys.exit(main())
