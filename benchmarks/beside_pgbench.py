"""Throughput and latency of users beside pgbench: the same script and tables, one server, in turn.

    PYTHONPATH=. python benchmarks/beside_pgbench.py [--latency] [--rounds 7] [--seconds 3] [--users 1 2 8]

A PostgreSQL server of its own with the tables of `pgbench -i -s 4`; with `--port` one of this host that has
them in the database `postgres`. A round runs each of them once, in changing order, so that the load of
others hits all alike; ratios are taken within a round. With `--latency` pgbench writes each transaction into its
log, which costs it time, so that throughputs are not compared then; it runs each way twice in each round, and what
it differs from itself is the noise. The latency of a transaction of pgbench goes from the end of its client's one
before to its own end, as a user who does not pause sees it: what it calls latency itself leaves out how long a
client waits for its turn in a thread that serves several (of 8 clients a fifth of the time). Ours is of the call
alone; what a user's process does between two is seen in the throughput.
pgbench runs in two threads, and for more users with `--latency` also in as many as they have processes here: how
many share the processors with the server decides how long the slowest transactions take. The exit status says
whether, in as many, no median ratio of p50 and p95 to pgbench's default is above 1 by more than that noise is in
nine of ten rounds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median, quantiles

from tests.servers.postgresql import running_postgresql
from toolkit.executors.users.hosts import processes_for
from toolkit.executors.users.users import Users
from toolkit.model.address import Address
from toolkit.model.workload import Drawn, Transaction, UsersAct, UsersStep, Workload, bucket_of, seconds_of
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


_PLACES = processes_for(sys.maxsize)
WAYS = {"simple": ("simple", 2), "prepared": ("prepared", 2), f"simple in {_PLACES} threads": ("simple", _PLACES)}
"""How pgbench sends statements (-M), and in how many threads (-j)."""
QUANTILES = {"p50": 0.5, "p95": 0.95}
Told = dict[str, float]


def quantiles_of(buckets: Mapping[int, int]) -> Told:
    """Return the latencies in seconds below which the named shares of all transactions stay."""
    total, found = sum(buckets.values()), Told()
    for name, share in QUANTILES.items():
        below = 0
        for bucket, count in sorted(buckets.items()):
            below += count
            if below >= share * total:
                found[name] = seconds_of(bucket)
                break
    return found


def ours(access: Access, script: str, users: int, seconds: int) -> Told:
    """Return transactions per second, latencies, and microseconds of CPU time of the users' processes for each."""
    work = Workload((SCRIPTS[script],), users=users, measure_seconds=seconds, ramp_up_seconds=0.3)
    driven = Users(open_target(access), "beside-pgbench", {}, lambda: False)
    driven.run(UsersStep(UsersAct.BEGIN, work))
    rows = driven.run(UsersStep(UsersAct.MEASURE, work)).rows
    driven.run(UsersStep(UsersAct.END, work))
    done = sum(int(str(row["done"])) for row in rows if row["kind"] == "transaction")
    buckets = {int(str(row["bucket"])): int(str(row["count"])) for row in rows if row["kind"] == "latency"}
    cpu = 1e6 * float(str(rows[0]["driver_seconds"])) / done
    return {"rate": done / seconds, "cpu": cpu, **quantiles_of(buckets)}


def theirs(arguments: argparse.Namespace, script: str, users: int, way: str) -> Told:
    """Return transactions per second of pgbench, or latencies from its log, put into the same buckets as ours."""
    protocol, threads = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        argv = [
            arguments.pgbench, "-h", "127.0.0.1", "-p", str(arguments.port), "-U", arguments.user, "-n",
            "-b", script, "-M", protocol, "-c", str(users), "-j", str(min(users, threads)),
            "-T", str(arguments.seconds), *(["-l"] if arguments.latency else []), "postgres",
        ]  # fmt: skip
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=folder)
        found = re.search(r"tps = ([\d.]+)", done.stdout)
        assert found is not None
        spans = [span for log in Path(folder).iterdir() for span in from_end_to_end(log)]
    return {"rate": float(found[1]), **quantiles_of(Counter(bucket_of(each) for each in spans))}


def from_end_to_end(log: Path) -> Iterator[float]:
    """Yield the seconds from the end of one transaction of a client to that of its next.

    A line of the log: client, transaction, its latency, script, when it ended in seconds and microseconds
    (PostgreSQL, "pgbench", "Per-Transaction Logging").
    """
    before = dict[str, float]()
    with log.open() as lines:
        for client, _, _, _, seconds, microseconds, *_ in map(str.split, lines):
            ended = int(seconds) + int(microseconds) / 1e6
            if client in before:
                yield ended - before[client]
            before[client] = ended


def ways_of(arguments: argparse.Namespace, users: int) -> list[str]:
    """Return the ways of pgbench that differ for so many users and are asked for."""
    return [way for way, (_, threads) in WAYS.items() if threads == 2 or (arguments.latency and users > 2)]


def played(arguments: argparse.Namespace, access: Access, script: str, users: int) -> list[dict[str, Told]]:
    """Run ours and theirs in turn; return what each told in each round."""
    ways = ways_of(arguments, users)
    order = ["ours", *ways, *((f"{way} again" for way in ways) if arguments.latency else ())]
    rounds = list[dict[str, Told]]()
    for turn in range(arguments.rounds):
        first = turn % len(order)
        rounds.append({
            which: ours(access, script, users, arguments.seconds) if which == "ours"
            else theirs(arguments, script, users, which.removesuffix(" again"))
            for which in (*order[first:], *order[:first])
        })  # fmt: skip
    return rounds


def compared(rounds: list[dict[str, Told]], what: str, one: str, other: str) -> tuple[float, str]:
    """Return the median ratio of two in all rounds, and it with its range."""
    ratios = [each[one][what] / each[other][what] for each in rounds]
    return median(ratios), f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def throughputs(rounds: list[dict[str, Told]]) -> str:
    told = "  ".join(f"to {name} {compared(rounds, 'rate', 'ours', name)[1]}" for name in ("simple", "prepared"))
    rate, cpu = (median(each["ours"][what] for each in rounds) for what in ("rate", "cpu"))
    return f"{rate:>8,.0f} 1/s  {told}  driver {cpu:.0f} us"


def latencies(rounds: list[dict[str, Told]]) -> tuple[str, bool]:
    """Return a line for each quantile, and whether none is above pgbench's in as many threads beyond noise."""
    lines, as_short = list[str](), True
    alike = [way for way in WAYS if way in rounds[0] and way != "prepared"][-1]
    for what in QUANTILES:
        told = list[str]()
        for way in (way for way in WAYS if way in rounds[0]):
            ratio, beside = compared(rounds, what, "ours", way)
            _, noise = compared(rounds, what, f"{way} again", way)
            pairs = [(each[f"{way} again"][what], each[way][what]) for each in rounds]
            apart = [max(pair) / min(pair) for pair in pairs]
            most = quantiles(apart, n=10, method="inclusive")[-1] if len(apart) > 1 else apart[0]
            as_short = as_short and (way != alike or ratio <= most)
            told.append(f"to {way} {beside}, itself {noise}, noise {most:.2f}")
        lines.append(f"{what} {1000 * median(each['ours'][what] for each in rounds):7.3f} ms  " + "  ".join(told))
    return "\n    ".join(["", *lines]), as_short


def main() -> int:
    """Read what is asked for, and begin a server where none is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int)
    parser.add_argument("--user", default="postgres")
    parser.add_argument("--pgbench", default="pgbench")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--users", type=int, nargs="+", default=[1, 2, 8])
    arguments = parser.parse_args()
    if arguments.port is not None:
        return beside(arguments)
    with running_postgresql({"autovacuum": "on"}) as server:
        assert server.bin_dir is not None
        arguments.port, arguments.user, arguments.pgbench = server.port, server.user, server.bin_dir / "pgbench"
        connect = ["-h", "127.0.0.1", "-p", str(server.port), "-U", server.user]
        made = [arguments.pgbench, *connect, "-i", "-q", "-s", str(SCALE), "postgres"]
        subprocess.run(made, check=True, capture_output=True)
        return beside(arguments)


def beside(arguments: argparse.Namespace) -> int:
    """Print what was found for each script and number of users; return the exit status."""
    access, all_as_short = (
        Access(Address("postgresql", "postgres", arguments.user, "127.0.0.1", arguments.port)),
        True,
    )
    for script in SCRIPTS:
        for users in arguments.users:
            rounds = played(arguments, access, script, users)
            told, as_short = latencies(rounds) if arguments.latency else (throughputs(rounds), True)
            all_as_short = all_as_short and as_short
            print(f"{script:<12} {users:>2} users {told}", flush=True)
    return 0 if all_as_short else 1


if __name__ == "__main__":
    sys.exit(main())
