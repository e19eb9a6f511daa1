"""What surrounds the trials of a run: its environment, a calm host, the database's snapshots before and after."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from toolkit import __version__
from toolkit.dialects.repositories import RepositorySnapshot
from toolkit.errors import ToolkitError
from toolkit.model.environment import DATABASE_ID
from toolkit.model.facts import Facts
from toolkit.model.protocols import DatabaseError, Event
from toolkit.model.records import Artifact
from toolkit.model.values import Scalar
from toolkit.runner.context import RunContext
from toolkit.snapshots import HostProvider
from toolkit.snapshots.brackets import BracketProvider


# -- environment --------------------------------------------------------------------------------------------------
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
        DATABASE_ID: server.get(DATABASE_ID),
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
    folder = _setting(facts, "data_directory") or (Path(str(place)).parent if Path(str(place)).is_file() else None)
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


# -- a calm host --------------------------------------------------------------------------------------------------
CALM_BELOW = 0.1
"""Part of the host's CPU that others may use in a calm second."""
_LOOK_SECONDS = 0.5


def wait_for_calm(context: RunContext) -> None:
    """Wait until others leave the host alone, or the time is over: then the trial runs all the same."""
    limit = context.experiment.quiet_wait_seconds
    host = next((each for each in context.providers if isinstance(each, HostProvider)), None)
    if limit is None or host is None:
        return
    begun = time.monotonic()
    announced = False
    while (part := host.others_now(_LOOK_SECONDS, context.stop.wait)) > CALM_BELOW:
        if context.stop.requested:
            return
        if time.monotonic() - begun > limit:
            context.warn("the host did not become idle within --quiet-wait before every trial")
            return
        if not announced:
            announced = True
            context.events.emit(Event("waiting", f"others use {100 * part:.0f} % of the host's CPU"))


# -- snapshots of the database around the whole run ---------------------------------------------------------------
ARTIFACT = "snapshot-bracket.json"


def _bracket(context: RunContext) -> BracketProvider | None:
    return next((each for each in context.providers if isinstance(each, BracketProvider)), None)


def expect(context: RunContext, seconds: float | None) -> None:
    """Tell the bracket what the next trial is expected to take; None: no trial of the cell has ended yet."""
    bracket = _bracket(context)
    if bracket is not None:
        bracket.expected_seconds = seconds


@contextmanager
def bracketed(context: RunContext) -> Iterator[None]:
    """Take a snapshot before the first trial and one after the last, and keep what lies between with the run.

    Nothing of it fails a run: what goes wrong is a warning.
    """
    bracket = _bracket(context)
    if bracket is None:
        yield
        return
    begun = bracket.attempt()
    _warn(context, bracket)
    try:
        yield
    finally:
        if begun is not None and not context.stop.requested:
            with suppress(DatabaseError, ToolkitError):
                _end(context, bracket, begun)


def _end(context: RunContext, bracket: BracketProvider, begun: RepositorySnapshot) -> None:
    ended = bracket.attempt()
    if ended is None:
        _warn(context, bracket)
        return
    metrics = bracket.difference(begun, ended)
    _warn(context, bracket)
    document = {
        "provider": bracket.name,
        "dbid": begun.dbid,
        "instance": begun.instance,
        "begin_snapshot": begun.snapshot,
        "end_snapshot": ended.snapshot,
        "metrics": [{"name": one.name, "value": one.value, "unit": one.unit} for one in metrics],
    }
    content = json.dumps(document, indent=1).encode()
    with suppress(ToolkitError):
        context.store.keep_artifact(context.run, Artifact(ARTIFACT, "application/json", content))
    if metrics:
        _keep_report(context, bracket, begun, ended)


def _keep_report(
    context: RunContext, bracket: BracketProvider, begun: RepositorySnapshot, ended: RepositorySnapshot
) -> None:
    """Keep the database's own report of the run, as it is received."""
    try:
        text = bracket.repositories.report(begun, ended)
        if text is not None:
            name = f"{bracket.name}-{begun.snapshot}-{ended.snapshot}.html"
            context.store.keep_artifact(context.run, Artifact(name, "text/html", text.encode()))
    except (DatabaseError, ToolkitError) as error:
        context.warn(f"`{bracket.name}`: the database's own report could not be fetched: {error.sentence}")


def _warn(context: RunContext, bracket: BracketProvider) -> None:
    for sentence in bracket.warnings():
        context.warn(f"`{bracket.name}`: {sentence}")
