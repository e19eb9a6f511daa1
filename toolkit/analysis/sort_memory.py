"""How much memory a sort needs so that what it wrote to disk is merged once, and how often it was merged.

A sort whose data does not fit writes sorted runs of the size of its memory M, and merges as many at once as it has
buffers of b bytes for, M / b. One merge is enough for D bytes when D / M <= M / b, so M >= sqrt(b D) (D. E. Knuth,
*The Art of Computer Programming* 3, 5.4.1). With the buffer of 256 KiB that the published formula stands on, that
is sqrt(MB) / 2; PostgreSQL merges with the same buffer (MERGE_BUFFER_SIZE in tuplesort.c).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from toolkit.model.records import TrialRecord

PUBLISHED_BUFFER = 256 * 1024
DEFAULT_MB = 20
"""The sort memory of a process that the published formula improves on."""
IN_MEMORY = 1.1
"""Memory over data from which on nothing is written."""
_MEBIBYTE = 2**20
_MULTIPASS = 1.5
"""What was written over what was sorted, above which some of it was written more than once."""


def one_pass_bytes(data_bytes: float, processes: float, buffer: float = PUBLISHED_BUFFER) -> float:
    """Return the bytes of memory of each process with which its share of the data is merged once."""
    return math.sqrt(buffer * data_bytes / processes)


def published_mb(data_mb: float, nodes: float) -> int | None:
    """Return the published setting, RMU MB >= sqrt(data MB / nodes) / 2; None where the default is enough."""
    needed = math.sqrt(data_mb / nodes) / 2
    return None if needed < DEFAULT_MB else round(needed)


@dataclass(frozen=True, slots=True)
class Spill:
    """What sorts and hashes of a configuration wrote to temporary storage: medians over its trials.

    Attributes:
        bytes: written; 0 where only passes are known.
        of: bytes of what was made, where known.
        onepass: how often the server merged once.
        multipass: how often it merged more than once.
    """

    bytes: float
    of: float | None = None
    onepass: float = 0.0
    multipass: float = 0.0

    @property
    def passes(self) -> str:
        """Say how often it was written and merged, as far as that is known."""
        if self.multipass:
            return "several passes"
        if self.onepass:
            return "one pass"
        if self.of and self.bytes:
            return "several passes" if self.bytes > _MULTIPASS * self.of else "one pass"
        return "passes not counted"


_WRITTEN = ("temp written (session)", "temp written", "temp_bytes", "temp_peak_bytes", "db_temp_bytes")
_ONEPASS, _MULTIPASSES = (f"workarea executions - {passes}" for passes in ("onepass", "multipass"))


def spill_of(trials: Iterable[TrialRecord]) -> Spill | None:
    """Return what the trials of a configuration wrote to temporary storage; None where nothing was."""
    found = list(trials)
    written = _median(found, _WRITTEN) or 0.0
    onepass = _median(found, (f"{_ONEPASS} (session)", _ONEPASS)) or 0.0
    multipass = _median(found, (f"{_MULTIPASSES} (session)", _MULTIPASSES)) or 0.0
    if not (written or onepass or multipass):
        return None
    sizes = [float(each.bytes) for each in found if each.bytes]
    return Spill(written, median(sizes) if sizes else None, onepass, multipass)


def _median(trials: Iterable[TrialRecord], names: Iterable[str]) -> float | None:
    """Return the median of the first of some metrics that any trial has; samples of it count as their peak."""
    every = list(trials)
    for name in names:
        values = [
            max([*(each.value for each in trial.metrics if each.name == name),
                 *(each.value for each in trial.samples if each.name == name)], default=None)
            for trial in every
        ]  # fmt: skip
        known = [value for value in values if value is not None]
        if known:
            return median(known)
    return None


def levels_to_try(spill: Spill, processes: float, shared: bool, buffer: float) -> tuple[int, ...]:
    """Return settings in MiB worth trying: merged once with room to spare, and nothing written.

    Args:
        spill: what was written.
        processes: that sort at the same time.
        shared: whether the setting is the memory of all processes together.
        buffer: bytes of memory that each run takes while it is merged.
    """
    data = spill.bytes / (2 if spill.passes == "several passes" else 1)
    times = processes if shared else 1.0
    once = one_pass_bytes(data, processes, buffer) * times
    whole = IN_MEMORY * data / processes * times
    return tuple(
        dict.fromkeys(max(1, math.ceil(each / _MEBIBYTE)) for each in (once, min(4 * once, whole), whole))
    )
