"""What Oracle itself measured that its files give to reads: DBMS_RESOURCE_MANAGER.CALIBRATE_IO.

It reads all data files of all instances at random, blocks first, then 1 MB at a time, for minutes; it needs SYSDBA
of the root and asynchronous I/O, and what it finds changes automatic degrees (Performance Tuning Guide, I/O
calibration inside the database; PL/SQL Packages and Types Reference, CALIBRATE_IO).
"""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.dialects.work import Call, ContextValue
from toolkit.model.values import Row
from toolkit.model.words import Effect, StepKind

_MARK = "DBATK|calibrated|"
_FIELDS = ("mbps", "iops", "disks", "measured")


class IoCalibration:
    """How the server measures its I/O, and what it measured last; see `toolkit.dialects.answers.Calibration`."""

    file = "io_calibration"
    place_file = "setting_instance"

    def measure(self, place: str, disks: int, latency_ms: int) -> Call:
        values: dict[str, ContextValue] = {"place": place, "disks": disks, "latency_ms": latency_ms}
        return Call("calibrate_io", values, kind=StepKind.SYSDBA, effect=Effect.CHANGES)

    def read(self) -> Call:
        # a session of a pluggable database may not see what the root measured
        return Call("calibrated_io", kind=StepKind.SYSDBA)

    def seen(self, lines: Iterable[str]) -> Row | None:
        for line in lines:
            if line.startswith(_MARK):
                return dict(zip(_FIELDS, line.removeprefix(_MARK).rstrip().split("|"), strict=False))
        return None


CALIBRATION = IoCalibration()
