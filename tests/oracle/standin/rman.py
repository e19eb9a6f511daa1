"""An ORACLE_HOME with our own `rman` in it, and the views of the control file that its work fills."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracle.standin.scenario import ViewRow

VIEWS = {
    "V$RMAN_CONFIGURATION": "CONF#:n NAME VALUE CON_ID:n",
    "V$RMAN_COMPRESSION_ALGORITHM": "ALGORITHM_ID:n ALGORITHM_NAME INITIAL_RELEASE TERMINAL_RELEASE "
    "ALGORITHM_DESCRIPTION ALGORITHM_COMPATIBILITY IS_VALID REQUIRES_ACO IS_DEFAULT CON_ID:n",
    "V$RMAN_STATUS": "SID:n RECID:n STAMP:n ROW_LEVEL:n ROW_TYPE COMMAND_ID OPERATION STATUS MBYTES_PROCESSED:n "
    "START_TIME:d END_TIME:d INPUT_BYTES:n OUTPUT_BYTES:n OBJECT_TYPE OUTPUT_DEVICE_TYPE CON_ID:n",
    "V$RECOVERY_FILE_DEST": "NAME SPACE_LIMIT:n SPACE_USED:n SPACE_RECLAIMABLE:n NUMBER_OF_FILES:n CON_ID:n",
    "V$TABLESPACE": "TS#:n NAME INCLUDED_IN_DATABASE_BACKUP BIGFILE FLASHBACK_ON ENCRYPT_IN_BACKUP CON_ID:n",
    "V$BLOCK_CHANGE_TRACKING": "STATUS FILENAME BYTES:n CON_ID:n",
    "V$BACKUP": "FILE#:n STATUS CHANGE#:n TIME:d CON_ID:n",
    "V$DATABASE_BLOCK_CORRUPTION": "FILE#:n BLOCK#:n BLOCKS:n CORRUPTION_CHANGE#:n CORRUPTION_TYPE CON_ID:n",
    "V$CONTROLFILE_RECORD_SECTION": "TYPE RECORD_SIZE:n RECORDS_TOTAL:n RECORDS_USED:n FIRST_INDEX:n LAST_INDEX:n "
    "LAST_RECID:n CON_ID:n",
    "V$BACKUP_SET_DETAILS": "SESSION_RECID:n SESSION_STAMP:n SET_STAMP:n SET_COUNT:n BACKUP_TYPE "
    "INCREMENTAL_LEVEL:n CONTROLFILE_INCLUDED PIECES:n COMPRESSED ORIGINAL_INPUT_BYTES:n OUTPUT_BYTES:n "
    "ELAPSED_SECONDS:n CON_ID:n",
    "V$RMAN_BACKUP_JOB_DETAILS": "SESSION_KEY:n SESSION_RECID:n SESSION_STAMP:n COMMAND_ID "
    "START_TIME:d END_TIME:d INPUT_BYTES:n OUTPUT_BYTES:n "
    "OUTPUT_DEVICE_TYPE AUTOBACKUP_COUNT:n AUTOBACKUP_DONE STATUS INPUT_TYPE ELAPSED_SECONDS:n "
    "COMPRESSION_RATIO:n "
    "CON_ID:n",
    "V$BACKUP_ASYNC_IO": "SID:n RMAN_STATUS_RECID:n RMAN_STATUS_STAMP:n DEVICE_TYPE TYPE FILENAME ELAPSED_TIME:n "
    "BYTES:n EFFECTIVE_BYTES_PER_SECOND:n IO_COUNT:n LONG_WAITS:n CON_ID:n",
    "V$BACKUP_SYNC_IO": "SID:n RMAN_STATUS_RECID:n RMAN_STATUS_STAMP:n DEVICE_TYPE TYPE "
    "FILENAME BYTES:n IO_COUNT:n "
    "DISCRETE_BYTES_PER_SECOND:n CON_ID:n",
    "V$ARCHIVED_LOG": "RECID:n STAMP:n NAME DEST_ID:n THREAD#:n SEQUENCE#:n RESETLOGS_ID:n "
    "FIRST_TIME:d NEXT_TIME:d BLOCKS:n BLOCK_SIZE:n STANDBY_DEST DELETED STATUS CON_ID:n",
    "V$BACKUP_DATAFILE": "SET_STAMP:n SET_COUNT:n FILE#:n INCREMENTAL_LEVEL:n CON_ID:n",
    "V$BACKUP_SET": "RECID:n STAMP:n SET_STAMP:n SET_COUNT:n KEEP CON_ID:n",
    "V$DATAFILE_COPY": "RECID:n STAMP:n NAME TAG FILE#:n INCREMENTAL_LEVEL:n DELETED STATUS KEEP CON_ID:n",
    "V$BACKUP_PIECE": "RECID:n STAMP:n SET_STAMP:n SET_COUNT:n PIECE#:n DEVICE_TYPE HANDLE TAG STATUS "
    "ELAPSED_SECONDS:n DELETED BYTES:n COMPRESSED CON_ID:n",
}
"""Columns as documented; a part of them."""


class Living(Mapping[str, Sequence[ViewRow]]):
    """Views whose rows are made anew at each query, from what the program keeps."""

    def __init__(
        self, home: Home, fixed: Mapping[str, Sequence[ViewRow]], living: Sequence[str] | None = None
    ) -> None:
        self._home = home
        self._fixed = dict(fixed)
        self._living = _LIVING if living is None else living

    def __getitem__(self, view: str) -> Sequence[ViewRow]:
        if view in self._fixed:
            return self._fixed[view]
        if view not in self._living:
            raise KeyError(view)
        return self._home.rows(view)

    def __iter__(self) -> Iterator[str]:
        return iter({*self._fixed, *self._living})

    def __len__(self) -> int:
        return len({*self._fixed, *self._living})


_LIVING = (
    "V$BACKUP_PIECE", "V$BACKUP_SET", "V$DATAFILE_COPY", "V$BACKUP_DATAFILE", "V$BACKUP_SET_DETAILS",
    "V$RMAN_BACKUP_JOB_DETAILS", "V$RMAN_STATUS", "V$RMAN_CONFIGURATION", "V$DATAFILE", "V$TABLESPACE",
    "V$RECOVERY_FILE_DEST", "V$ARCHIVED_LOG",
)  # fmt: skip
_OF_SESSIONS = ("V$SESSION", "V$SESSION_LONGOPS")
_BLOCK = 8192


@dataclass(frozen=True)
class Home:
    """A folder that is ORACLE_HOME, and what the program in it is told and keeps."""

    path: Path

    @property
    def variables(self) -> dict[str, str]:
        """What the environment needs for it."""
        return {"ORACLE_HOME": str(self.path), "ORACLE_SID": "FREE", "RMAN_STANDIN": str(self.path)}

    def tell(self, **scenario: object) -> None:
        """Say what the program is, and what goes wrong in it."""
        (self.path / "scenario.json").write_text(json.dumps(scenario))

    @property
    def state(self) -> dict[str, list[dict[str, object]]]:
        path = self.path / "state.json"
        kept = json.loads(path.read_text()) if path.exists() else {}
        return {"pieces": [], "status": [], "calls": [], "channels": [], "working": [], **kept}

    def pieces(self, *, deleted: bool = False) -> list[dict[str, object]]:
        """Return the pieces that are there, or those that were deleted."""
        return [piece for piece in self.state["pieces"] if piece["deleted"] is deleted]

    def foreign_copy(self, tag: str, *, keep: bool = False) -> None:
        """Make an image copy of a data file of somebody else."""
        kept = self.state
        kept["copies"] = [*kept.get("copies", []), {"tag": tag, "keep": keep}]
        (self.path / "state.json").write_text(json.dumps(kept))

    def foreign_piece(self, handle: Path, tag: str, *, keep: bool = False) -> None:
        """Make a backup piece of somebody else; with `keep` one that no retention policy counts."""
        handle.write_bytes(b"theirs")
        kept = self.state
        kept["pieces"].append(
            {"handle": str(handle), "tag": tag, "bytes": 6, "deleted": False, "compressed": "NO", "keep": keep}
        )
        (self.path / "state.json").write_text(json.dumps(kept))

    def configure(self, **settings: str) -> None:
        """Set what RMAN is configured to; `_` in a name stands for a blank."""
        kept = self.state
        kept["configuration"] = [[name.replace("_", " "), value] for name, value in settings.items()]  # type: ignore[misc]
        (self.path / "state.json").write_text(json.dumps(kept))

    def views(self, **fixed: Sequence[ViewRow]) -> Living:
        """Return views for a `Scenario`; names with `$` are given with `__` instead."""
        return Living(self, {name.replace("__", "$"): rows for name, rows in fixed.items()})

    def beside(self) -> Living:
        """Return rows for a `Scenario` that stand beside those of its own sessions: what RMAN's sessions show."""
        return Living(self, {}, _OF_SESSIONS)

    def rows(self, view: str) -> Sequence[ViewRow]:
        kept = self.state
        if view == "V$BACKUP_PIECE":
            return [
                {"RECID": number, "STAMP": number, "SET_STAMP": number, "SET_COUNT": number, "PIECE#": 1,
                 "HANDLE": piece["handle"], "TAG": piece["tag"], "STATUS": "D" if piece["deleted"] else "A",
                 "DELETED": "YES" if piece["deleted"] else "NO", "BYTES": piece["bytes"],
                 "COMPRESSED": piece["compressed"]}
                for number, piece in enumerate(kept["pieces"], start=1)
            ]  # fmt: skip
        if view == "V$BACKUP_SET":
            return [{"SET_STAMP": number, "SET_COUNT": number, "KEEP": "YES" if piece.get("keep") else "NO"}
                    for number, piece in enumerate(kept["pieces"], start=1)]  # fmt: skip
        if view == "V$DATAFILE_COPY":
            return [{"NAME": "/copies/users01.dbf", "TAG": copy["tag"], "FILE#": 7, "DELETED": "NO", "STATUS": "A",
                     "KEEP": "YES" if copy["keep"] else "NO"} for copy in kept.get("copies", [])]  # fmt: skip
        if view == "V$BACKUP_DATAFILE":
            return [{"SET_STAMP": number, "SET_COUNT": number, "FILE#": 1}
                    for number in range(1, len(kept["pieces"]) + 1)]  # fmt: skip
        if view in {"V$RMAN_BACKUP_JOB_DETAILS", "V$RMAN_STATUS"}:
            return [self._job(view, number, row) for number, row in enumerate(kept["status"], start=1)]
        if view == "V$SESSION":
            return [
                {"SID": each["sid"], "SERIAL#": 1, "USERNAME": "SYS", "STATUS": "ACTIVE", "TYPE": "USER",
                 "PROGRAM": "rman@standin", "CLIENT_INFO": each["info"]}
                for each in kept["channels"] if is_alive(each["pid"])
            ]  # fmt: skip
        if view == "V$SESSION_LONGOPS":
            return [row for work in kept["working"] for row in _longops(work)]
        if view == "V$BACKUP_SET_DETAILS":
            return self._sets(kept)
        if view == "V$RMAN_CONFIGURATION":
            return [{"CONF#": number, "NAME": name, "VALUE": value}
                    for number, (name, value) in enumerate(kept.get("configuration", []), start=1)]  # fmt: skip
        return self._files(view)

    def _job(self, view: str, number: int, row: Mapping[str, object]) -> ViewRow:
        shared = {"COMMAND_ID": row["command_id"], "STATUS": "COMPLETED", "INPUT_BYTES": row["input"],
                  "OUTPUT_BYTES": row["output"]}  # fmt: skip
        if view == "V$RMAN_STATUS":
            return {**shared, "RECID": number, "STAMP": number, "ROW_LEVEL": 1, "OPERATION": row["operation"]}
        return {
            **shared,
            "SESSION_RECID": number,
            "SESSION_STAMP": number,
            "ELAPSED_SECONDS": row["seconds"],
            "AUTOBACKUP_DONE": "NO",
            "AUTOBACKUP_COUNT": 0,
        }

    def _sets(self, kept: Mapping[str, list[dict[str, object]]]) -> Sequence[ViewRow]:
        """One set for each piece that our program wrote, of the job that wrote it."""
        jobs = {row["command_id"]: number for number, row in enumerate(kept["status"], start=1)}
        return [
            {"SESSION_RECID": jobs.get(piece["command_id"], 0), "SESSION_STAMP": jobs.get(piece["command_id"], 0),
             "SET_STAMP": number, "SET_COUNT": number, "BACKUP_TYPE": "D", "CONTROLFILE_INCLUDED": "NO",
             "PIECES": 1, "COMPRESSED": piece["compressed"], "ORIGINAL_INPUT_BYTES": piece["input"],
             "OUTPUT_BYTES": piece["bytes"], "ELAPSED_SECONDS": piece["seconds"]}
            for number, piece in enumerate(kept["pieces"], start=1) if "command_id" in piece
        ]  # fmt: skip

    def _files(self, view: str) -> Sequence[ViewRow]:
        told = (
            json.loads((self.path / "scenario.json").read_text()) if (self.path / "scenario.json").exists() else {}
        )
        files = told.get("files") or [{"number": 7, "name": "/u01/oradata/FREE/users01.dbf", "bytes": 2**20}]
        if view == "V$DATAFILE":
            return [{"FILE#": file["number"], "NAME": file["name"], "BYTES": file["bytes"], "TS#": 4, "CON_ID": 3}
                    for file in files]  # fmt: skip
        if view == "V$ARCHIVED_LOG":
            then = datetime.datetime(2026, 11, 1, 12)
            return [{"NAME": log, "DEST_ID": dest, "THREAD#": 1, "SEQUENCE#": 100 + number, "RESETLOGS_ID": 1,
                     "FIRST_TIME": then, "NEXT_TIME": then,
                     "BLOCKS": 2048, "BLOCK_SIZE": 512, "STANDBY_DEST": "NO", "STATUS": "A",
                     "DELETED": "NO" if Path(log).exists() else "YES"}
                    for dest in range(1, told.get("log_destinations", 1) + 1)
                    for number, log in enumerate(told.get("logs", []), start=1)]  # fmt: skip
        if view == "V$TABLESPACE":
            return [{"TS#": 4, "NAME": "USERS", "BIGFILE": "NO", "CON_ID": 3,
                     "ENCRYPT_IN_BACKUP": told.get("encrypt_in_backup")}]  # fmt: skip
        area = told.get("area")
        if area is None:
            return []
        return [
            {"NAME": area, "SPACE_LIMIT": 2**40, "SPACE_USED": told.get("area_used", 0), "SPACE_RECLAIMABLE": 0}
        ]


def is_alive(pid: object) -> bool:
    """Whether the client of a channel still runs: its server process ends with it."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def _longops(work: Mapping[str, Any]) -> Iterator[ViewRow]:
    """Show a command as RMAN does: a row for all its input, one for its output, one for each set at work.

    Backup and Recovery User's Guide, monitoring jobs: aggregate rows move when a set is complete; how many
    blocks will be written is not known, so TOTALWORK of output is 0.
    """
    now = datetime.datetime.now().replace(microsecond=0)
    begun = datetime.datetime.fromtimestamp(int(work["begun"]))
    shared = {"SERIAL#": 1, "UNITS": "Blocks", "START_TIME": begun, "LAST_UPDATE_TIME": now, "SQL_EXEC_ID": 0,
              "QCSID": 0, "ELAPSED_SECONDS": int(now.timestamp() - work["begun"])}  # fmt: skip
    for side, total in (("input", work["total"] // _BLOCK), ("output", 0)):
        yield {**shared, "SID": 201, "OPNAME": f"RMAN: aggregate {side}", "TARGET": "33", "TARGET_DESC": "backup",
               "SOFAR": work["done"] // _BLOCK, "TOTALWORK": total, "TIME_REMAINING": 7}  # fmt: skip
    for number, size in work["sets"].items():
        yield {**shared, "SID": 200 + int(number), "OPNAME": "RMAN: full datafile backup", "TARGET": "12",
               "TARGET_DESC": "Set Count", "SOFAR": 0, "TOTALWORK": size // _BLOCK,
               "TIME_REMAINING": 1}  # fmt: skip


def oracle_home(path: Path) -> Home:
    """Make an ORACLE_HOME whose bin/rman is our program."""
    folder = path / "bin"
    folder.mkdir(parents=True)
    program = folder / "rman_program.py"
    shutil.copy(Path(__file__).with_name("rman_program.py"), program)
    rman = folder / "rman"
    rman.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {program} "$@"\n')
    rman.chmod(0o755)
    return Home(path)
