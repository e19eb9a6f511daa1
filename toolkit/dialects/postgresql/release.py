"""Releases: what a server says of itself, what `--assume` stands for, and what differs between them."""

from __future__ import annotations

import re

from toolkit.errors import ToolkitError
from toolkit.model.facts import Facts, Release
from toolkit.model.values import Row

OLDEST, NEWEST = 14, 18
KNOWN = tuple(str(number) for number in range(OLDEST, NEWEST + 1))


def release_of(server: Row) -> Release:
    """Read the release from the row of `server.sql`."""
    text = str(server.get("version_text") or "")
    number = server.get("version_number")
    if isinstance(number, int):
        parts: tuple[int, ...] = (number // 10000, number % 10000)
    else:
        parts = tuple(int(part) for part in re.findall(r"\d+", text)[:2])
    edition = str(server.get("edition") or "")
    return Release(parts, "" if edition == "PostgreSQL" else edition, text)


def major(release: Release) -> int:
    """Return the major release; an unknown one counts as the newest we know."""
    return release.number[0] if release.number else NEWEST


def assumed(text: str) -> Facts:
    """Return default facts of a release.

    Raises:
        ToolkitError: TK-0102 naming the releases that are known.
    """
    match = re.fullmatch(r"(\d+)(\.\d+)?", text.strip())
    if match is None or match[1] not in KNOWN:
        raise ToolkitError(
            f"`{text}` is not a supported PostgreSQL release",
            code="TK-0102",
            hint=f"write --assume with one of {', '.join(KNOWN)}",
        )
    server: Row = {
        "version_text": text.strip(), "edition": "PostgreSQL", "database_name": "postgres", "database_id": None,
        "user_name": "dba", "current_schema": "public", "started_at": None, "cpu_count": None,
        "toast_compressions": "pglz,lz4", "in_recovery": "no",
    }  # fmt: skip
    return Facts("postgresql", release_of(server), {"server": (server,)}, assumed=True)


GAUGES = ("snapshot_pgstat_size",)
"""What is read with the first of the counter reads, where only the later value counts."""


def snapshot_files(release: Release) -> tuple[str, ...]:
    """Name the counter reads of a release.

    pg_stat_io came with 16 and lost `op_bytes` for `read_bytes` ... with 18, which also took the timings out of
    pg_stat_wal; checkpoints moved from pg_stat_bgwriter to pg_stat_checkpointer with 17 (release notes).
    """
    number = major(release)
    files = ["snapshot_pgstat"]
    files.append("snapshot_pgstat_checkpoint_17" if number >= 17 else "snapshot_pgstat_checkpoint_14")
    if number < 18:
        files.append("snapshot_pgstat_wal_14")
    if number >= 16:
        files.append("snapshot_pgstat_io_18" if number >= 18 else "snapshot_pgstat_io_16")
    if number >= 18:
        files.append("snapshot_pgstat_workers_18")
    return tuple(files)
