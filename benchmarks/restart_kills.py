"""Kill dbatk at random moments of a sweep of `shared_buffers`, and count how often `clean` restores it.

    PYTHONPATH=. python benchmarks/restart_kills.py [--kills 50] [--seed 1]

A PostgreSQL server of its own, whose profile says how it is restarted; one level of three is more memory than the
host has, so that the server does not come up with it. Each kill is SIGKILL, after a time drawn from the length of
a sweep; then `dbatk clean` runs. Counted is what a DBA would look at: the server answers, the value is the former
one, postgresql.auto.conf holds what it held, and no table of the run is left.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from tests.servers.restartable import AS_BEFORE, Restartable, restartable


def dbatk(place: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Begin a command with a store and profiles of its own."""
    environment = {**os.environ, "DBATK_CONFIG": str(place / "config"), "DBATK_STORE": str(place / "store.sqlite")}
    return subprocess.Popen(
        [sys.executable, "-m", "toolkit", *arguments], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def strike(place: Path, server: Restartable, seconds: float) -> str:
    """Kill one sweep and clean; return what went wrong, or nothing."""
    levels = "16MB,32MB,4000GB"
    sweep = dbatk(
        place, "ctas", "-t", "pg", "--source", "small", "--table", "made", "--setting", f"shared_buffers={levels}",
        "--repeat", "2", "--warmup", "0", "-q",
    )  # fmt: skip
    time.sleep(seconds)
    sweep.send_signal(signal.SIGKILL)
    sweep.communicate()
    cleaning = dbatk(place, "clean", "-t", "pg")
    said = cleaning.communicate(timeout=600)[0].decode(errors="replace").strip()
    try:
        found = server.state()
    except psycopg.Error as error:
        return f"the server does not answer: {error}; clean said: {said}"
    if cleaning.returncode or found != AS_BEFORE:
        return f"exit {cleaning.returncode}, {found}; clean said: {said}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=12.0, help="seconds within which the kills fall")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    place = Path(tempfile.mkdtemp(prefix="dbatk-restart-"))
    good = 0
    try:
        with restartable(place) as server:
            server.write_profile(place / "config")
            for number in range(1, asked.kills + 1):
                seconds = chance.uniform(0.5, asked.longest)
                wrong = strike(place, server, seconds)
                good += not wrong
                print(f"{number}: killed after {seconds:.2f} s: {wrong or 'restored'}", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"restored {good} of {asked.kills}")
    return 0 if good == asked.kills else 1


if __name__ == "__main__":
    sys.exit(main())
