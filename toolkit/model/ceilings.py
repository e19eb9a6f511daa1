"""What a host can do at most: measured once, kept, and held beside what a trial reached."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

DATABASE_READ = "database read"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that was measured of one thing.

    Attributes:
        name: `read`, `write`, `cpu` or `memory` of the host; `database read` of the files of a database.
        value: in its unit.
        unit: as `toolkit.units.quantity` spells it: `bytes_per_second`, `per second` ...
        how: by what it was measured, and on what: fio in a folder, CALIBRATE_IO ...
        at: when.
    """

    name: str
    value: float
    unit: str
    how: str
    at: datetime

    @property
    def title(self) -> str:
        """Name what has the ceiling."""
        return _TITLES.get(self.name, self.name)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of a trial that reach for it, the best first; each is divided by the time."""
        return _METRICS.get(self.name, ())


_TITLES = {"read": "reading", "write": "writing", "memory": "the memory", "cpu": "the CPU",
           DATABASE_READ: "reading of the database's files"}  # fmt: skip
_METRICS = {
    "read": ("host_disk_read_bytes", "physical read total bytes"),
    DATABASE_READ: ("physical read total bytes",),
    "write": ("host_disk_write_bytes", "physical write total bytes"),
}
