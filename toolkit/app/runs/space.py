"""Whether what a run makes fits: looked at before the first trial, and for a disk between trials too."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from toolkit.dialects import sizes
from toolkit.dialects.answers import Room
from toolkit.dialects.backups import backups_of, too_small
from toolkit.dialects.base import Dialect
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.model.engines import engine
from toolkit.model.experiment import Experiment
from toolkit.model.facts import Facts
from toolkit.model.operations import SpaceEstimate, declaration
from toolkit.model.values import Level, Scalar
from toolkit.model.words import Mode
from toolkit.runner import PlanningContext
from toolkit.targets.base import Target
from toolkit.units import byte_size

SPARE = 1.2
"""What must be free before a trial for each byte of its estimate."""
_OF_INDEXES = frozenset({SpaceEstimate.INDEX_BUILD, SpaceEstimate.INDEX_REBUILD})


def needed_bytes(experiment: Experiment, facts: Facts) -> float | None:
    """Estimate the bytes that exist at once, or None when no size is known."""
    declared = declaration(experiment.operation)
    if declared.space is SpaceEstimate.NONE:
        return None
    if declared.space is SpaceEstimate.BACKUP:
        return needed_for_backup(experiment, facts)
    if declared.space in _OF_INDEXES:
        return needed_for_indexes(experiment, facts, _sessions(experiment))
    known = [
        float(size) * _share(experiment, key)
        for key, answer in facts.answers.items()
        for row in answer
        if isinstance(size := row.get("byte_count"), int | float) and _is_size(key)
    ]
    if not known:
        return None
    times = _sessions(experiment) if declared.makes_rows else 1
    return sum(known) * declared.space_factor * times


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
        return sorted_bytes(experiment, facts, _sessions(experiment))
    keys = len(facts.rows("table_indexes")) if not experiment.options.get("bare") else 0
    if not declared.sorts_keys or not keys:
        return 0.0
    size = facts.value("source", "byte_count")
    return float(size) * sizes.KEY_SHARE * keys if isinstance(size, int | float) else 0.0


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
        return free_folder_bytes(facts)
    if engine(target.engine).embedded:
        place = str(facts.value("space", "place", ""))
        if place and place != ":memory:" and Path(place).parent.is_dir():
            return float(shutil.disk_usage(Path(place).parent).free)
    return None


def short_of_disk(needed: float | None, free: float | None) -> str | None:
    """Say that what a trial needs, and a fifth more, is not free; None where it is, or one is not known."""
    if free is None or needed is None or free >= SPARE * needed:
        return None
    return f"only {byte_size(free)} are left on the disk that it writes to; free space, then `dbatk runs resume`"


def check_space(experiment: Experiment, facts: Facts, target: Target) -> None:
    """Refuse a run whose objects cannot fit; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes.
    """
    declared = declaration(experiment.operation)
    if declared.space is SpaceEstimate.BACKUP:
        check_backup_space(experiment, facts)
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
    temporary = needed_temporary_bytes(experiment, facts)
    if room.temporary_bytes is not None and temporary > room.temporary_bytes:
        raise ToolkitError(
            f"{what} about {byte_size(temporary)} of temporary space to sort its keys, but only "
            f"{byte_size(room.temporary_bytes)} are free",
            code="TK-0305",
            hint=declared.temporary_hint,
        )


def needed_for_backup(experiment: Experiment, facts: Facts) -> float | None:
    """Return the size of the largest backup among the cells: one exists at a time."""
    planning = PlanningContext(experiment, dialect_of(facts.engine), facts)
    ways = backups_of(planning.dialect.work, experiment.operation)
    found = (ways.needed_bytes(piece.work, facts) for piece in planning.all_pieces())
    sizes = [size for size in found if size is not None]
    return max(sizes, default=None)


def whole_bytes(experiment: Experiment, facts: Facts) -> dict[str, Scalar]:
    """Return the size of the whole database where only a part is backed up: what its rate means for all of it."""
    scope = experiment.options.get("scope", "database")
    if declaration(experiment.operation).space is not SpaceEstimate.BACKUP or scope in ("database", "archivelog"):
        return {}
    found = [row.get("byte_count") for row in facts.rows("backup_files")]
    known = sum(size for size in found if isinstance(size, int | float))
    return {"database_bytes": known} if known else {}


def free_folder_bytes(facts: Facts) -> float | None:
    """Return what is free now in the folder of this host that a backup goes to; None elsewhere."""
    place = facts.value("destination", "path")
    if place is None:
        return None
    try:
        return float(shutil.disk_usage(str(place)).free)
    except OSError:
        return None


def check_backup_space(experiment: Experiment, facts: Facts) -> None:
    """Refuse a backup that cannot fit; what is not known is not refused.

    Raises:
        ToolkitError: TK-0305 with both sizes.
    """
    planning = PlanningContext(experiment, dialect_of(facts.engine), facts)
    ways, needed = backups_of(planning.dialect.work, experiment.operation), needed_for_backup(experiment, facts)
    work = planning.pieces(planning.cells[0])[0].work
    free = ways.free_bytes(work, facts)
    if needed is not None and free is not None and needed > free:
        raise too_small(needed, free, str(facts.value("destination", "path", "") or work.object.name.schema or ""))


def needed_for_indexes(experiment: Experiment, facts: Facts, sessions: int) -> float | None:
    """Estimate the bytes of an index operation that exist at once beside what is there before it."""
    on_copy = experiment.mode is Mode.MEASUREMENT and not experiment.options.get("on_live_objects")
    table = facts.value("target", "byte_count") if on_copy else 0
    if not isinstance(table, int | float):
        return None
    if declaration(experiment.operation).space is SpaceEstimate.INDEX_BUILD:
        made = _built_bytes(experiment, facts)
        return None if made is None else float(table) + made
    rebuilt = sizes.rebuilt_sizes(facts)
    if not rebuilt:
        return None
    copies = float(table) + sum(rebuilt) if on_copy else 0.0
    return copies + sum(rebuilt[:sessions])


_SORTED = 1.2
"""Temporary space for each byte of keys that do not fit in memory (1.2 to 2 is seen; the least is refused)."""


def sorted_bytes(experiment: Experiment, facts: Facts, sessions: int) -> float:
    """Estimate the temporary space of the keys that are sorted at once; 0 when nothing is known."""
    if declaration(experiment.operation).space is SpaceEstimate.INDEX_BUILD:
        return _SORTED * (_built_bytes(experiment, facts) or 0.0)
    return _SORTED * sum(sizes.rebuilt_sizes(facts)[:sessions])


_SUMMARIES = frozenset({"brin"})
"""Methods whose index has an entry for many blocks, not for each row."""


def _built_bytes(experiment: Experiment, facts: Facts) -> float | None:
    """Estimate the bytes of an index to build: at least 0 where it does not have an entry for each row."""
    levels = [level for one in experiment.factors if one.name == "method" for level in one.levels]
    if experiment.options.get("where") is not None or (levels and _SUMMARIES.issuperset(map(str, levels))):
        return 0.0
    return sizes.built_bytes(_keys(experiment), facts)


def _keys(experiment: Experiment) -> tuple[str, ...]:
    texts = experiment.options.get("columns", ())
    return tuple(str(text) for text in texts) if isinstance(texts, tuple) else (str(texts),)
