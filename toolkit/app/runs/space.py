"""Whether the objects of a run fit: looked at before the first trial."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from toolkit.app.runs import backup_space, index_space
from toolkit.dialects.answers import Room
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.operations import SpaceEstimate, declaration
from toolkit.model.values import Level
from toolkit.model.words import Mode
from toolkit.targets.base import Target
from toolkit.units import byte_size

_KEY_SHARE = 0.3
_OF_INDEXES = frozenset({SpaceEstimate.INDEX_BUILD, SpaceEstimate.INDEX_REBUILD})


def needed_bytes(experiment: Experiment, facts: Facts) -> float | None:
    """Estimate the bytes that exist at once, or None when no size is known."""
    declared = declaration(experiment.operation)
    if declared.space is SpaceEstimate.NONE:
        return None
    if declared.space is SpaceEstimate.BACKUP:
        return backup_space.needed_bytes(experiment, facts)
    if declared.space in _OF_INDEXES:
        return index_space.needed_bytes(experiment, facts, _sessions(experiment))
    sizes = [
        float(size) * _share(experiment, key)
        for key, answer in facts.answers.items()
        for row in answer
        if isinstance(size := row.get("byte_count"), int | float) and _is_size(key)
    ]
    if not sizes:
        return None
    times = _sessions(experiment) if declared.makes_rows else 1
    return sum(sizes) * declared.space_factor * times


def _share(experiment: Experiment, key: str) -> float:
    """Return how much of a table read or filled is there again: a sample, or nothing of an empty target."""
    if not declaration(experiment.operation).makes_rows:
        return 1.0
    if key == "target":
        return 1.0 if "filled" in _levels(experiment, "into") else 0.0
    percent = experiment.options.get("sample", 100)
    return float(percent) / 100 if isinstance(percent, int | float) else 1.0


def _sessions(experiment: Experiment) -> int:
    return max((int(level) for level in _levels(experiment, "concurrency")), default=1)


def _levels(experiment: Experiment, name: str) -> tuple[Level, ...]:
    return next((factor.levels for factor in experiment.factors if factor.name == name), ())


def needed_temporary_bytes(experiment: Experiment, facts: Facts) -> float:
    """Estimate the bytes of keys that are sorted at once: an index holds about a third of its table."""
    declared = declaration(experiment.operation)
    if declared.space in _OF_INDEXES:
        return index_space.sorted_bytes(experiment, facts, _sessions(experiment))
    keys = len(facts.rows("table_indexes")) if not experiment.options.get("bare") else 0
    if not declared.sorts_keys or not keys:
        return 0.0
    size = facts.value("source", "byte_count")
    return float(size) * _KEY_SHARE * keys if isinstance(size, int | float) else 0.0


def _is_size(key: str) -> bool:
    return key in {"source", "target", "indexes"} or key.startswith(("tables:", "indexes:"))


def room_of(experiment: Experiment, facts: Facts, target: Target) -> Room:
    """Return the room where objects go: as the server says, or of the disk of an embedded file.

    Raises:
        ToolkitError: TK-0204, TK-0305 when nothing can be put there at all.
    """
    dialect = dialect_of(target.engine)
    tablespace = experiment.options.get("tablespace")
    room = dialect.room(facts, _schema(experiment, dialect), None if tablespace is None else str(tablespace))
    return room if room.free_bytes is not None else replace(room, free_bytes=free_disk_bytes(facts, target))


def _schema(experiment: Experiment, dialect: Dialect) -> str | None:
    """Return the schema that gets the objects, as far as the user named one."""
    text = experiment.work_schema if experiment.mode is Mode.MEASUREMENT else None
    if text is not None:
        return dialect.parse_name(text).name
    table = experiment.options.get("table")
    return None if table is None else dialect.parse_name(str(table)).schema


def free_disk_bytes(facts: Facts, target: Target) -> float | None:
    """Return the free bytes now under an embedded database's file, or where a backup goes; None elsewhere."""
    if "destination" in facts.answers:
        return backup_space.free_bytes(facts)
    if engine(target.engine).embedded:
        place = str(facts.value("space", "place", ""))
        if place and place != ":memory:" and Path(place).parent.is_dir():
            return float(shutil.disk_usage(Path(place).parent).free)
    return None


def check_space(experiment: Experiment, facts: Facts, target: Target) -> None:
    """Refuse a run whose objects cannot fit; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes.
    """
    declared = declaration(experiment.operation)
    if declared.space is SpaceEstimate.BACKUP:
        backup_space.check(experiment, facts)
        return
    room, needed = room_of(experiment, facts, target), needed_bytes(experiment, facts)
    if needed is None:
        return
    what = "the trials need" if experiment.mode is Mode.MEASUREMENT else "the job needs"
    if room.free_bytes is not None and needed > room.free_bytes:
        where = f" in `{room.place}`" if room.place else ""
        raise ToolkitError(
            f"{what} about {byte_size(needed)} at once, but only {byte_size(room.free_bytes)} are free{where}",
            code="TK-0305",
            hint="free space, choose another location (--work-schema, --tablespace), or use a smaller source",
        )
    sorted_bytes = needed_temporary_bytes(experiment, facts)
    if room.temporary_bytes is not None and sorted_bytes > room.temporary_bytes:
        raise ToolkitError(
            f"{what} about {byte_size(sorted_bytes)} of temporary space to sort its keys, but only "
            f"{byte_size(room.temporary_bytes)} are free",
            code="TK-0305",
            hint=declared.temporary_hint,
        )
