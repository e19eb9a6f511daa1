"""Reading an RMAN log takes time in proportion to its size, 20 MB/s and more, and memory for its pieces only.

A made-up log is made 10 and 1000 times as large and read from its bytes. Told are ratios, and the rate by
processor time, the best of several: a host that is busy with other work shows less. Logs of other languages, and
short lines that are no message, take longer; they have floors of their own. In `names` no two lines are alike, so
that nothing learnt from one helps with another.
Run: `python benchmarks/rman_growth.py`.
"""

from __future__ import annotations

import io
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.readers.rman_samples import CHINESE, ENGLISH, GERMAN, whole_log
from toolkit.readers.rman.log import read_file, read_log

_SIZES = (10, 1000)
_MEMORY_SIZES = (40, 240)
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


def names(times: int) -> Iterator[str]:
    """A log that is mostly lists of files, each of another name."""
    lines = whole_log(ENGLISH)
    for night in range(times):
        yield from lines
        for number in range(200):
            own = "".join(chr(97 + (night * 200 + number) // 26**place % 26) for place in range(6))
            yield "crosschecked backup piece: found to be 'AVAILABLE'"
            yield f"backup piece handle=/fra/ACME/o1_mf_nnndf_{own}_.bkp RECID={number} STAMP=1226900000"
            yield f"File Name: /fra/ACME/archivelog/o1_mf_1_77_{own}_.arc"


def german(times: int) -> Iterator[str]:
    """A log in another language, told by structure."""
    for _ in range(times):
        yield from whole_log(GERMAN)


def chinese(times: int) -> Iterator[str]:
    """A log in another script."""
    for _ in range(times):
        yield from whole_log(CHINESE)


def rate(make: Callable[[int], Iterator[str]], times: int) -> tuple[float, float]:
    """Return MB and MB per second of processor time, the best of a few."""
    raw = "\n".join(make(times)).encode()
    megabytes = len(raw) / 1e6
    best = float("inf")
    for _ in range(15 if megabytes < 5 else 3):
        begin = time.process_time()
        read_file(io.BytesIO(raw))
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
    (less, few), (more, many) = (peak(make, times) for times in _MEMORY_SIZES)
    each = (more - less) * 1e6 / (many - few)
    print(
        f"{name:<7} {small:.1f} and {large:.0f} MB: {worse:.2f} times the time per byte, {fast:.0f} MB/s; "
        f"peak memory {less:.1f} MB, {more:.1f} MB for 6 times the log, {each:.0f} bytes for each piece"
    )
    return worse < _MOST_TIMES_WORSE and fast >= least


if __name__ == "__main__":
    kept = [
        grow("sets", sets, _LEAST_MB_PER_SECOND),
        grow("noise", noise, 10),
        grow("names", names, 4),
        grow("german", german, 5),
        grow("chinese", chinese, 5),
    ]
    sys.exit(not all(kept))
