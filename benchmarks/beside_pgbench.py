"""Throughput of users beside pgbench: the same script and tables, one server, in turn.

    python benchmarks/beside_pgbench.py --port 5432 --pgbench /usr/lib/postgresql/17/bin/pgbench

needs a PostgreSQL server of this host with the tables of `pgbench -i -s 4` in the database `postgres`. A round
runs each of the three once, in changing order, so that the load of others hits all alike; ratios are taken within
a round.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from toolkit.executors.users import Users
from toolkit.model.address import Address
from toolkit.model.workload import Drawn, Transaction, UsersAct, UsersStep, Workload
from toolkit.targets.base import Access
from toolkit.targets.postgresql import open_target

SCALE = 4
ACCOUNT = Drawn("aid", high=100_000 * SCALE)
TPCB = Transaction(
    "tpcb",
    (
        "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid",
        "SELECT abalance FROM pgbench_accounts WHERE aid = :aid",
        "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid",
        "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid",
        "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) "
        "VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP)",
    ),
    1,
    (ACCOUNT, Drawn("bid", high=SCALE), Drawn("tid", high=10 * SCALE), Drawn("delta", low=-5000, high=5000)),
)
SELECT = Transaction("select", ("SELECT abalance FROM pgbench_accounts WHERE aid = :aid",), 1, (ACCOUNT,))
SCRIPTS = {"tpcb-like": TPCB, "select-only": SELECT}


def ours(access: Access, script: str, users: int, seconds: int) -> tuple[float, float]:
    """Return transactions per second, and microseconds of CPU time of the driving processes for each."""
    work = Workload((SCRIPTS[script],), users=users, measure_seconds=seconds, ramp_up_seconds=0.3)
    driven = Users(open_target(access), "beside-pgbench", {}, lambda: False)
    driven.run(UsersStep(UsersAct.BEGIN, work))
    rows = driven.run(UsersStep(UsersAct.MEASURE, work)).rows
    driven.run(UsersStep(UsersAct.END, work))
    done = sum(int(str(row["done"])) for row in rows if row["kind"] == "transaction")
    return done / seconds, 1e6 * float(str(rows[0]["driver_seconds"])) / done


def theirs(arguments: argparse.Namespace, script: str, users: int, seconds: int, protocol: str) -> float:
    """Return transactions per second of pgbench."""
    argv = [
        arguments.pgbench, "-h", "127.0.0.1", "-p", str(arguments.port), "-U", arguments.user, "-n", "-b", script,
        "-M", protocol, "-c", str(users), "-j", str(min(users, 2)), "-T", str(seconds), "postgres",
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    assert found is not None
    return float(found[1])


def main() -> None:
    """Print a line for each number of users."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=5432)
    parser.add_argument("--user", default="postgres")
    parser.add_argument("--pgbench", default="pgbench")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    arguments = parser.parse_args()
    access = Access(Address("postgresql", "postgres", arguments.user, "127.0.0.1", arguments.port))
    for script in SCRIPTS:
        for users in (1, 2, 8):
            rounds: list[dict[str, float]] = []
            for turn in range(arguments.rounds):
                order = ["ours", "simple", "prepared"]
                found: dict[str, float] = {}
                for which in order[turn % 3 :] + order[: turn % 3]:
                    if which == "ours":
                        found["ours"], found["cpu"] = ours(access, script, users, arguments.seconds)
                    else:
                        found[which] = theirs(arguments, script, users, arguments.seconds, which)
                rounds.append(found)
            ratios = {name: [each["ours"] / each[name] for each in rounds] for name in ("simple", "prepared")}
            told = "  ".join(
                f"to {name} {median(each):.2f} ({min(each):.2f} to {max(each):.2f})"
                for name, each in ratios.items()
            )
            rate, cpu = median(each["ours"] for each in rounds), median(each["cpu"] for each in rounds)
            print(f"{script:<12} {users:>2} users  {rate:>8,.0f} 1/s  {told}  driver {cpu:.0f} us", flush=True)


if __name__ == "__main__":
    main()
