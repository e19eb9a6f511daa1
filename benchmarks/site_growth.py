"""What `dbatk report --all` costs: `python benchmarks/site_growth.py [RUNS ...]` (50, 500 and 5,000 unless said).

The runs of a store have 24 trials of 4 configurations each, with 30 metrics and 20 samples a trial. Prints the
seconds and the CPU time of the first writing, of one where nothing changed and of one with a
single new run, the size of the folder and of its index, and the most memory of the process, each number of
runs in a process of its own. Exits 1 when the last number of runs passes a limit that docs/files.md states
for 5,000: 10 minutes of CPU time, 15 s of it to write again, 1 GiB in all, 4 MiB of index, 400 MiB of memory.
Limits are of CPU time, because others on the machine hardly change it; the seconds that pass depend on them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.store_growth import fill
from toolkit.app.site import write_site
from toolkit.store import open_store

SIZES = (50, 500, 5000)
TRIALS = 24
LIMITS = {
    "first CPU": 600.0,
    "again CPU": 15.0,
    "one CPU": 15.0,
    "bytes": 2.0**30,
    "index": 4 * 2.0**20,
    "memory": 400 * 2.0**20,
}


def measure(runs: int) -> dict[str, float]:
    """Write the site of a store of so many runs three times."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        with open_store(str(Path(folder) / "store.sqlite")) as store:
            fill(store, 0, runs, TRIALS)
            found = {}
            for name in ("first", "again", "one"):
                if name == "one":
                    fill(store, runs, 1, TRIALS)
                began, worked = perf_counter(), process_time()
                write_site(store, site, lambda text: print(text, file=sys.stderr))
                found[name], found[f"{name} CPU"] = perf_counter() - began, process_time() - worked
        found["bytes"] = float(sum(path.stat().st_size for path in site.rglob("*.*") if path.is_file()))
        found["index"] = float((site / "index.html").stat().st_size)
    found["memory"] = 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return 0
    found: dict[str, float] = {}
    print(
        "  runs           first, CPU       unchanged, CPU         one new, CPU      folder      index     memory"
    )
    for runs in map(int, sys.argv[1:] or SIZES):
        command = [sys.executable, __file__, "--child", str(runs)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        times = " ".join(
            f"{found[name]:9.2f} s {found[f'{name} CPU']:7.2f} s" for name in ("first", "again", "one")
        )
        mib = {name: found[name] / 2**20 for name in ("bytes", "index", "memory")}
        print(
            f"{runs:>6,} {times} {mib['bytes']:6.1f} MiB {mib['index']:6.2f} MiB {mib['memory']:6.0f} MiB",
            flush=True,
        )
    passed = [name for name, limit in LIMITS.items() if found[name] > limit]
    print(f"beyond the limits: {', '.join(passed) or 'nothing'}")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
