"""The environment of a run: server, settings, and the host when it is the database's."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

from toolkit import __version__
from toolkit.model.facts import Facts
from toolkit.model.values import Scalar


def environment_of(facts: Facts, *, host_is_ours: bool) -> dict[str, Scalar]:
    """Return what may explain a difference between two runs, by name.

    Args:
        facts: with the answers of `server` and `settings`.
        host_is_ours: whether the database runs on this host, so that its CPU, memory and kernel are the host's.
    """
    server = facts.first("server")
    found: dict[str, Scalar] = {
        "dbatk_version": __version__,
        "server_version": facts.release.text,
        "server_edition": facts.release.edition,
        "database_name": server.get("database_name"),
        "server_started_at": server.get("started_at"),
        "cpu_count": server.get("cpu_count") or _setting(facts, "cpu_count"),
        "client_host": platform.node(),
    }
    for row in facts.rows("settings"):
        unit = f" {row['unit']}" if row.get("unit") else ""
        found[f"setting.{row['name']}"] = f"{row['value']}{unit}"
    if host_is_ours:
        found.update(host_environment())
        found["host_disk"] = _disk_of(_data_folder(facts))
        found["cpu_count"] = found["cpu_count"] or psutil.cpu_count()
    return {name: value for name, value in found.items() if value not in {None, ""}}


def _data_folder(facts: Facts) -> Path | None:
    """Return where the database's files are, when the catalogue says so."""
    place = facts.value("space", "place")
    folder = _setting(facts, "data_directory") or (Path(str(place)).parent if place else None)
    return Path(str(folder)) if folder is not None and Path(str(folder)).is_dir() else None


def _disk_of(folder: Path | None) -> Scalar:
    """Describe the file system that holds a folder: kind, device, size."""
    if folder is None:
        return None
    holders = [
        part for part in psutil.disk_partitions(all=True) if folder.resolve().is_relative_to(part.mountpoint)
    ]
    if not holders:
        return None
    best = max(holders, key=lambda part: len(part.mountpoint))
    size = psutil.disk_usage(best.mountpoint).total
    return f"{best.fstype} on {best.device}, {size / 2**30:.0f} GiB"


def _setting(facts: Facts, name: str) -> Scalar:
    return next((row["value"] for row in facts.rows("settings") if row["name"] == name), None)


def host_environment() -> dict[str, Scalar]:
    """Describe this host: CPU, memory, kernel."""
    return {
        "host_cpu_count": psutil.cpu_count() or 0,
        "host_cpu_model": _cpu_model(),
        "host_memory_bytes": psutil.virtual_memory().total,
        "host_kernel": f"{platform.system()} {platform.release()}",
        "host_load_1min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    lines = (line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(lines, platform.processor())
