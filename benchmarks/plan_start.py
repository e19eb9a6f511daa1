"""How long `dbatk run PLAN.toml` takes from its start to the first statement that the database sees.

    PYTHONPATH=. python benchmarks/plan_start.py [--calls 5]

The command runs as a scheduler runs it, as a process of its own, with a store of many nights, on a PostgreSQL
server that logs every statement with its instant. Limit: 1.5 s. Beside it stands where the time goes: the
interpreter, imports, the store and the plan, the connection.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.servers.postgresql import Server, running_postgresql

LIMIT_SECONDS = 1.5
_LOGGING = {"log_statement": "all", "log_min_messages": "log", "log_line_prefix": "%n %a "}
_LINE = re.compile(r"^(\d+\.\d+) (\S*) LOG:  (?:statement|execute \S+): (.*)$", re.MULTILINE)
_PLAN = """[plan]
name = "start"
target = "{url}"

[[step]]
name = "gather"
operation = "stats-gather"
table = "public.g"
"""
_PARTS = {
    "interpreter": "pass",
    "command line": "from toolkit.cli.main import build_app; build_app()",
    "plan and store": "from toolkit.app.maintenance import plan_targets_of; from toolkit.store import open_store",
    "driver": "import psycopg",
}


def first_statement(server: Server, folder: Path) -> tuple[float, float]:
    """Return the seconds to the first statement, and to the end, of one run of the plan."""
    assert server.data is not None
    log = server.data.parent / "server.log"
    seen = log.stat().st_size
    environment = {**os.environ, "DBATK_STORE": str(folder / "store.sqlite"), "DBATK_CONFIG": str(folder)}
    begun, clock = datetime.now(UTC).timestamp(), time.perf_counter()
    command = [sys.executable, "-m", "toolkit", "run", "start.toml", "--quiet", "--not-production"]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    took = time.perf_counter() - clock
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    with log.open("rb") as read:
        read.seek(seen)
        lines = _LINE.findall(read.read().decode())
    return float(lines[0][0]) - begun, took


def part_seconds(program: str, calls: int) -> float:
    """Return the median wall time of a program as a process of its own."""
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=5)
    calls = parser.parse_args().calls
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    with tempfile.TemporaryDirectory() as place, running_postgresql(_LOGGING) as server:
        folder = Path(place)
        with server.connect() as session:
            session.execute("CREATE TABLE public.g AS SELECT i FROM generate_series(1, 1000) i")
        (folder / "start.toml").write_text(_PLAN.format(url=server.url))
        times = [first_statement(server, folder) for _ in range(calls + 1)][1:]
    first = statistics.median(each for each, _ in times)
    whole = statistics.median(each for _, each in times)
    print(f"start to first statement: {first:.2f} s (limit {LIMIT_SECONDS} s); to the end {whole:.2f} s")
    for name, program in _PARTS.items():
        print(f"  {name:16} {part_seconds(program, calls):.2f} s")
    return 0 if first < LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
