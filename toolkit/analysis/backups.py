"""What a sweep of backups shows besides its times: throughput, its limit and cause, waiting channels, the window.

Works on recorded trials of any engine: the factor `channels`, the metrics `bytes_read` and `bytes_written`, and
the pieces with their channel (`worker`), their begin and their time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from toolkit.analysis.cells import RunAnalysis, other_levels, scale_level
from toolkit.analysis.doubts import cpu_count
from toolkit.analysis.lanes import LaneBar, Lanes, lanes_of, longest_alone
from toolkit.model.operations import every_option
from toolkit.model.records import ItemRecord, TrialRecord
from toolkit.model.values import Cell
from toolkit.model.words import Mode, Outcome
from toolkit.units import byte_size, number, parse_duration, percent, quantity, seconds

READ, WRITTEN = "bytes_read", "bytes_written"
_STILL_RISING = 1.1
_SAME = 0.93
"""A rate within 7 % of the highest counts as the limit."""
_CPU_FULL, _CHANNEL_FULL, _WAITS_MUCH, _CPU_FREE = 85.0, 0.85, 0.2, 60.0
_ALONE, _OTHERS_MUCH = 0.1, 25.0
_AT_ONCE = 0.001
_ALIKE, _LEAST_SHOWN = 0.005, 0.05
_TEBIBYTE = 2**40
_REMEDY = {
    True: "a section size (`--section-size`) would split its file across the channels",
    False: "more channels cannot make it faster than its largest piece",
}


@dataclass(frozen=True, slots=True)
class Throughput:
    """What one cell moved: medians over its trials that count; None where it was not recorded."""

    cell: Cell
    channels: float | None
    seconds: float
    read_rate: float | None
    written_rate: float | None
    bytes_read: float | None
    bytes_written: float | None
    compression_ratio: float | None
    cpu_per_channel: float | None
    cpu_busy_pct: float | None
    io_wait_pct: float | None
    long_wait_share: float | None
    imbalance: float | None
    others_pct: float | None

    @property
    def rate(self) -> float | None:
        """Bytes read per second, else bytes written."""
        return self.read_rate if self.read_rate is not None else self.written_rate


def throughputs(found: RunAnalysis) -> tuple[Throughput, ...]:
    """Return the throughput of each cell that has counted trials, in the order of the levels."""
    by_cell: dict[Cell, list[TrialRecord]] = {}
    for trial in found.run.trials:
        if trial.counts and trial.elapsed_seconds:
            by_cell.setdefault(trial.cell, []).append(trial)
    return tuple(_throughput(found, one.cell, by_cell[one.cell]) for one in found.cells if one.cell in by_cell)


def _throughput(found: RunAnalysis, cell: Cell, trials: Sequence[TrialRecord]) -> Throughput:
    channels = scale_level(cell, found.scale)
    cpus = cpu_count(found)
    read, written = _median(trials, READ), _median(trials, WRITTEN)
    ratio = _median(trials, "compression_ratio")
    lanes = [lanes for trial in trials if (lanes := trial_lanes(trial)) is not None]
    busy = [_busy(trial, cpus) for trial in trials]
    return Throughput(
        cell=cell,
        channels=channels,
        seconds=median(trial.elapsed_seconds or 0.0 for trial in trials),
        read_rate=_rate(trials, READ),
        written_rate=_rate(trials, WRITTEN),
        bytes_read=read,
        bytes_written=written,
        compression_ratio=ratio if ratio is not None else read / written if read and written else None,
        cpu_per_channel=_middle(_cpu_per_channel(trial, channels) for trial in trials),
        cpu_busy_pct=_middle(one[0] for one in busy),
        io_wait_pct=_middle(one[1] for one in busy),
        long_wait_share=_middle(
            _highest(trial, ("input_long_wait_share", "output_long_wait_share")) for trial in trials
        ),
        imbalance=_middle(one.imbalance for one in lanes),
        others_pct=_median(trials, "host_others_pct"),
    )


def trial_lanes(trial: TrialRecord) -> Lanes | None:
    """Return the pieces of a trial in lanes, one for each channel asked for; None without pieces on a clock."""
    bars = [
        LaneBar(
            f"channel {item.worker + 1}",
            item.label,
            item.begin_seconds,
            item.begin_seconds + item.elapsed_seconds,
            item.bytes,
            item.outcome is Outcome.OK,
        )
        for item in _pieces(trial)
        if item.begin_seconds is not None and item.elapsed_seconds is not None
    ]
    if not bars:
        return None
    asked = range(1, (trial.requested_degree or 0) + 1)
    return lanes_of(bars, [f"channel {number}" for number in asked])


def _pieces(trial: TrialRecord) -> Sequence[ItemRecord]:
    """Return what the channels did: the backup as a whole is recorded before its pieces, and is none of them."""
    first, rest = trial.items[:1], trial.items[1:]
    return rest if first and _is_whole(first[0], trial) else trial.items


def _is_whole(item: ItemRecord, trial: TrialRecord) -> bool:
    """Whether an item is on the clock from its first instant to its last."""
    begin, took = item.begin_seconds, item.elapsed_seconds
    if begin is None or took is None:
        return False
    return begin <= _AT_ONCE and took >= (1 - _AT_ONCE) * (trial.elapsed_seconds or 0.0)


def middle_trial(found: RunAnalysis, cell: Cell) -> TrialRecord | None:
    """Return the counted trial of a cell whose time is nearest to the median, with pieces on a clock."""
    counted = [trial for trial in found.run.trials if trial.cell == cell and trial.counts and trial_lanes(trial)]
    if not counted:
        return None
    middle = median(trial.elapsed_seconds or 0.0 for trial in counted)
    return min(counted, key=lambda trial: abs((trial.elapsed_seconds or 0.0) - middle))


def backup_sentences(found: RunAnalysis, chosen: Cell | None) -> tuple[str, ...]:
    """Say how fast it went, where the limit is, what causes it, whether big files hold it up, and the window."""
    measured = throughputs(found)
    mine = next((one for one in measured if one.cell == chosen), None)
    if mine is None:
        return ()
    group = _group(found, measured, mine)
    return (
        *_moved(mine), *_degree_limit(found, group), *_limit(found, group, mine), *_held_up(found, mine),
        *_window(found, mine),
    )  # fmt: skip


def degree_limit(group: Iterable[Throughput]) -> tuple[Throughput, Throughput, bool] | None:
    """Return the first cell at the limit, the fastest cell, and whether the rate still rose at the end.

    Args:
        group: cells that differ in their channels only; two rates at least are needed.
    """
    rated = [one for one in group if one.channels is not None and one.rate]
    cells = sorted(rated, key=lambda one: one.channels or 0.0)
    if len(cells) < 2:
        return None
    best = max(cells, key=lambda one: one.rate or 0.0)
    first = next(one for one in cells if (one.rate or 0.0) >= _SAME * (best.rate or 0.0))
    rising = best is cells[-1] and (best.rate or 0.0) >= _STILL_RISING * (cells[-2].rate or 0.0)
    return first, best, rising


def _group(found: RunAnalysis, measured: Sequence[Throughput], mine: Throughput) -> list[Throughput]:
    kind = other_levels(mine.cell, found.scale)
    return [one for one in measured if other_levels(one.cell, found.scale) == kind]


def _moved(mine: Throughput) -> Iterator[str]:
    parts = []
    if mine.read_rate:
        parts.append(f"{quantity(mine.read_rate, 'bytes_per_second')} read")
    if mine.written_rate:
        parts.append(f"{quantity(mine.written_rate, 'bytes_per_second')} written")
    if mine.compression_ratio and mine.written_rate:
        parts.append(_size_of(mine.compression_ratio))
    if mine.cpu_per_channel is not None:
        parts.append(f"each channel kept {number(mine.cpu_per_channel)} CPUs busy")
    if parts:
        yield f"at `{mine.cell}`: {', '.join(parts)}"


def _size_of(ratio: float) -> str:
    if abs(ratio - 1) < _ALIKE:
        return "the backup is as large as what was read"
    if ratio >= 1:
        return f"the backup is {number(ratio)} times smaller than what was read"
    return f"the backup is {number(1 / ratio)} times as large as what was read"


def _degree_limit(found: RunAnalysis, group: Sequence[Throughput]) -> Iterator[str]:
    limit = degree_limit(group)
    if limit is None or found.scale is None:
        return
    first, best, rising = limit
    rate = quantity(best.rate, "bytes_per_second")
    if rising:
        yield f"the throughput still rose at the highest `{best.cell}` ({rate}): its limit is higher, try more"
    elif first is best and best is max(group, key=lambda one: one.channels or 0.0):
        yield f"the throughput hardly rose at the end: about {rate} is the limit"
    else:
        yield f"the limit is about {rate}, reached at `{first.cell}`: more {found.scale} bring no more"


def _limit(found: RunAnalysis, group: Sequence[Throughput], mine: Throughput) -> Iterator[str]:
    """Say whether CPU or I/O is the limit, by what was measured; nothing where nothing tells."""
    limit = degree_limit(group)
    flat = limit is not None and not limit[2]
    if (mine.others_pct or 0.0) >= _OTHERS_MUCH:
        others = percent(mine.others_pct)
        yield f"others used {others} of the host's CPU meanwhile, so the limiting resource is unknown"
        return
    busy, waits, each = mine.cpu_busy_pct, mine.long_wait_share, mine.cpu_per_channel
    cpus = cpu_count(found)
    all_cpus = each is not None and cpus and mine.channels and each * mine.channels >= _CHANNEL_FULL * cpus
    if (busy is not None and busy >= _CPU_FULL) or all_cpus:
        share = percent(busy) if busy is not None else "all"
        yield f"CPU is the limit: {share} of the CPUs were busy; more channels need more CPUs, or less compression"
    elif waits is not None and waits >= _WAITS_MUCH:
        yield f"I/O is the limit: {percent(100 * waits)} of the reads or writes had long waits"
    elif each is not None and each >= _CHANNEL_FULL:
        yield "CPU is the limit of each channel: it keeps a CPU busy, so more channels help while CPUs are idle"
    elif (mine.io_wait_pct or 0.0) >= 10.0 or (flat and busy is not None and busy < _CPU_FREE):
        cause = f"only {percent(busy)} of the CPUs were busy" if busy is not None else "the CPUs waited for I/O"
        yield f"I/O is the limit (disks, network or the media): {cause}"


def _held_up(found: RunAnalysis, mine: Throughput) -> Iterator[str]:
    trial = middle_trial(found, mine.cell)
    lanes = trial_lanes(trial) if trial is not None else None
    if lanes is None or len(lanes.lanes) < 2:
        return
    idle = sum(1 for lane in lanes.lanes if not lane.bars)
    if idle:
        yield f"{idle} of {len(lanes.lanes)} channels were idle: there were fewer pieces than channels"
    shared = every_option()["section_size"].is_of(found.run.head.engine)
    bar, alone = longest_alone(lanes)
    if bar is not None and lanes.span_seconds and alone >= _ALONE * lanes.span_seconds:
        yield (
            f"`{bar.label}` on {bar.lane} ran alone for {seconds(alone)} "
            f"({percent(100 * alone / lanes.span_seconds)} of the time) while the others waited: "
            f"{_REMEDY[shared]}"
        )


def _window(found: RunAnalysis, mine: Throughput) -> Iterator[str]:
    size, rate = mine.bytes_read or mine.bytes_written, mine.rate
    whole = found.run.environment.get("database_bytes")
    needed = mine.seconds
    if isinstance(whole, int | float) and rate and size and whole > 1.05 * size:
        needed = whole / rate
        what = "reading the whole database" if _only_reads(found) else "the whole database"
        yield f"{what} ({byte_size(float(whole))}) takes about {seconds(needed)} at that rate"
    elif size and rate:
        yield f"{byte_size(size)} took {seconds(needed)}; at that rate each TiB takes {seconds(_TEBIBYTE / rate)}"
    window = window_seconds(found)
    if window is None:
        return
    used = 100 * needed / window
    share = percent(used) if used >= _LEAST_SHOWN else "almost none"
    if _only_reads(found):
        yield (
            f"whether a backup fits the window of {seconds(window)} was not measured: reading takes {share} of "
            "it, but a backup also writes, and may skip unused blocks; measure backups that are written"
        )
    elif needed <= window:
        yield f"it fits the window of {seconds(window)}: {share} of it is used"
    else:
        reach = f"; {byte_size(rate * window)} can be backed up within it" if rate else ""
        yield f"it does not fit the window of {seconds(window)}: {seconds(needed - window)} too long{reach}"


def _only_reads(found: RunAnalysis) -> bool:
    """Tell whether the trials validated: they wrote nothing, and read what a backup may skip."""
    experiment = found.run.head.experiment
    if experiment.options.get("action") in ("validate", "restore_validate"):
        return True
    asks = every_option()["write"].is_of(found.run.head.engine) and experiment.mode is Mode.MEASUREMENT
    return asks and experiment.options.get("write") not in (True, "yes")


def window_seconds(found: RunAnalysis) -> float | None:
    """Return the window that the user named, in seconds."""
    window = found.run.head.experiment.options.get("window")
    if isinstance(window, str):
        return parse_duration(window)
    return float(window) if isinstance(window, int | float) and not isinstance(window, bool) else None


# -- numbers of trials --------------------------------------------------------------------------------------------
def _values(trial: TrialRecord, name: str) -> list[float]:
    return [metric.value for metric in trial.metrics if metric.name == name]


def _first(trial: TrialRecord, name: str) -> float | None:
    return next(iter(_values(trial, name)), None)


def _highest(trial: TrialRecord, names: Sequence[str]) -> float | None:
    return max((value for name in names for value in _values(trial, name)), default=None)


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _median(trials: Sequence[TrialRecord], name: str) -> float | None:
    return _middle(_first(trial, name) for trial in trials)


def _rate(trials: Sequence[TrialRecord], name: str) -> float | None:
    return _middle(
        value / trial.elapsed_seconds if (value := _first(trial, name)) and trial.elapsed_seconds else None
        for trial in trials
    )


def _cpu_per_channel(trial: TrialRecord, channels: float | None) -> float | None:
    used = _first(trial, "program_cpu_seconds")
    if used is None:
        used = _first(trial, "db_cpu_seconds")
    if used is None or not channels or not trial.elapsed_seconds:
        return None
    return used / trial.elapsed_seconds / channels


def _busy(trial: TrialRecord, cpus: float | None) -> tuple[float | None, float | None]:
    """Return the share of all CPUs that were busy, and that waited for I/O, in per cent."""
    told = _first(trial, "host CPU busy")
    user, system = _first(trial, "host_cpu_user_seconds"), _first(trial, "host_cpu_system_seconds")
    waited = _first(trial, "host_cpu_iowait_seconds")
    room = (cpus or 0) * (trial.elapsed_seconds or 0.0)
    busy = told
    if busy is None and user is not None and system is not None and room:
        busy = min(100.0, 100 * (user + system) / room)
    return busy, 100 * waited / room if waited is not None and room else None
