"""How many channels fill a backup window: a real sweep of pgBackRest, and one of its backups restored.

    PYTHONPATH=. python benchmarks/backup_channels.py [--gb 1] [--repeat 3]

Needs Debian's postgresql-15 and pgbackrest. The sweep (`process-max` x compression) is a measurement: repositories
of its own, removed. Then the cell that was best is made once as a job into the cluster's stanza, restored into
another place with the WAL of the archive, begun as a server, and its rows are counted and summed. The exit status
says whether the restored server holds what the first one held.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.servers.pgbackrest import STANZA, Cluster, archiving_cluster
from tests.servers.postgresql import Server

CHANNELS = "1,2,4"
COMPRESSIONS = "none,lz4,zstd"
ROWS_PER_GB = 4_300_000
PROOF = "SELECT count(*), sum(hashtext(t::text)::bigint) FROM bulk t"
DBATK = [sys.executable, "-m", "toolkit"]


def dbatk(place: Path, *arguments: str) -> dict[str, object]:
    """Run a command as a user would and return its JSON."""
    own = {**os.environ, "DBATK_STORE": str(place / "store.sqlite"), "PYTHONPATH": "."}
    done = subprocess.run(
        [*DBATK, *arguments, "--json", "--debug"], capture_output=True, text=True, env=own, check=False
    )
    if not done.stdout.strip().startswith("{") or '"error"' in done.stdout[:20]:
        sys.exit(f"dbatk failed: {done.stdout}\n{done.stderr}")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def fill(server: Server, gigabytes: float) -> str:
    """Make a table of about so many gigabytes, half of it words that compress, and tell its size."""
    rows = int(ROWS_PER_GB * gigabytes)
    with server.connect() as session:
        session.execute(
            "CREATE TABLE bulk AS SELECT i AS id, md5(i::text) || md5((i * 7)::text) AS noise, "
            f"repeat('the quick brown fox ', 6) AS words, i % 1000 AS k FROM generate_series(1, {rows}) i"
        )
        session.execute("CHECKPOINT")
        row = session.execute("SELECT pg_size_pretty(pg_database_size(current_database()))").fetchone()
    return str(row[0]) if row else "?"


def sweep(cluster: Cluster, place: Path, repeat: int) -> dict[str, object]:
    """Measure every cell."""
    return dbatk(
        place, "backup", "run", "-t", cluster.server.url, "--not-production", "--method", "pgbackrest",
        "--channels", CHANNELS, "--compression", COMPRESSIONS, "--destination", str(place),
        "--repeat", str(repeat),
        "--warmup", "0", "--label", "channels",
    )  # fmt: skip


def best_of(run: dict[str, object]) -> dict[str, object]:
    """Return the factors of the cell with the lowest median."""
    cells = run["cells"]
    assert isinstance(cells, list)
    found: dict[str, object] = min(cells, key=lambda cell: cell["median_seconds"] or 1e9)["factors"]
    return found


def proven(cluster: Cluster, place: Path, best: dict[str, object]) -> bool:
    """Back up for good with the best setting, restore, and compare what both servers hold."""
    dbatk(
        place, "backup", "run", "-t", cluster.server.url, "--not-production", "--method", "pgbackrest",
        "--stanza", STANZA, "--backup-config", str(cluster.config), "--channels", str(best["channels"]),
        "--compression", str(best["compression"]), "--checkpoint", "fast",
    )  # fmt: skip
    with cluster.server.connect() as session:
        before = session.execute(PROOF).fetchone()
    begun = time.monotonic()
    with cluster.restored() as copy, copy.connect() as session:
        after = session.execute(PROOF).fetchone()
    print(f"restored in {time.monotonic() - begun:.1f} s: {after}, was {before}")
    return before == after


def main() -> int:
    """Run it and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    said = parser.parse_args()
    with archiving_cluster() as cluster, tempfile.TemporaryDirectory(prefix="dbatk-backup-") as folder:
        place = Path(folder)
        print(f"PostgreSQL 15, {fill(cluster.server, said.gb)}, {os.cpu_count()} CPUs, repeat {said.repeat}")
        run = sweep(cluster, place, said.repeat)
        cells = run["cells"]
        assert isinstance(cells, list)
        for cell in cells:
            print(json.dumps(cell))
        left = [each.name for each in place.iterdir() if each.name.startswith("dbatk_")]
        ok = proven(cluster, place, best_of(run)) and not left
    print("proven" if ok else f"NOT PROVEN; left: {left}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
