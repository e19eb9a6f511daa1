"""Reading an RMAN log takes time in proportion to its size, 20 MB/s and more, and memory for its pieces only.

A made-up log is made 10 and 1000 times as large. Told are ratios, and the rate by processor time: a host that is
busy with other work shows less. Logs of other languages, and short lines that are no message, are read one by one
and take longer; for them only the growth is held.
Run: `python benchmarks/rman_growth.py`.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.readers.rman_samples import ENGLISH, GERMAN, whole_log
from toolkit.readers.rman.log import read_log

_SIZES = (10, 1000)
_MOST_TIMES_WORSE = 1.5
_LEAST_MB_PER_SECOND = 20.0
_NOISE = ["channel c9: throttle time: 0:00:02", "current log archived", "=" * 60, "File Name: /fra/ACME/x.arc", ""]
_PATHS = "/u01/app/oracle/oradata/ACME/datafile/o1_mf_"


def sets(times: int) -> Iterator[str]:
    """A night's log over and over: most lines tell of pieces."""
    lines = [line.replace("/data/ACME/", _PATHS).replace("/backup/", _PATHS) for line in whole_log(ENGLISH)]
    for _ in range(times * 10):
        yield from lines


def noise(times: int) -> Iterator[str]:
    """A log that is mostly other output: lists, crosschecks, what a script prints."""
    lines = whole_log(ENGLISH)
    for _ in range(times):
        yield from lines
        for _ in range(300):
            yield from _NOISE


def german(times: int) -> Iterator[str]:
    """A log in another language, told by structure."""
    for _ in range(times):
        yield from whole_log(GERMAN)


def rate(make: Callable[[int], Iterator[str]], times: int) -> tuple[float, float]:
    """Return MB and MB per second of processor time, the best of a few."""
    lines = list(make(times))
    megabytes = sum(len(line) + 1 for line in lines) / 1e6
    best = float("inf")
    for _ in range(5 if megabytes < 5 else 2):
        begin = time.process_time()
        read_log(iter(lines))
        best = min(best, time.process_time() - begin)
    return megabytes, megabytes / best


def peak(make: Callable[[int], Iterator[str]], times: int) -> tuple[float, int]:
    """Return the peak of memory in MB while the lines come one by one, and the pieces that stay."""
    tracemalloc.start()
    log = read_log(make(times))
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most, len(log.pieces)


def grow(name: str, make: Callable[[int], Iterator[str]], least: float) -> bool:
    (small, slow), (large, fast) = (rate(make, times) for times in _SIZES)
    worse = slow / fast
    (less, few), (more, many) = (peak(make, times) for times in (1, 20))
    each = (more - less) * 1e6 / max(many - few, 1)
    print(
        f"{name:<7} {small:.1f} and {large:.0f} MB: {worse:.2f} times the time per byte, {fast:.0f} MB/s; "
        f"peak memory {less:.1f} MB, {more:.1f} MB for 20 times the log, {each:.0f} bytes for each piece"
    )
    return worse < _MOST_TIMES_WORSE and fast >= least


if __name__ == "__main__":
    kept = [
        grow("sets", sets, _LEAST_MB_PER_SECOND),
        grow("noise", noise, 1),
        grow("german", german, 1),
    ]
    sys.exit(not all(kept))
