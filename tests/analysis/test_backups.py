"""What a sweep of backups tells: throughput, its ceiling and limit, who waited, whether it fits the window."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.for_each import for_each
from tests.report.make import cell, metric, run_of, trial
from toolkit.analysis.advice import advice
from toolkit.analysis.backups import throughputs, trial_lanes
from toolkit.analysis.cells import analyse
from toolkit.analysis.lanes import LaneBar, balance_sentences, lanes_of, longest_alone
from toolkit.analysis.rman_lanes import lanes_of_log
from toolkit.model.records import ItemRecord, Metric, RunRecord
from toolkit.model.words import Mode, Outcome
from toolkit.readers.rman.log import read_log
from toolkit.readers.rman.model import BackupPiece, Log, RmanMessage

PUBLISHED = Path(__file__).parents[2] / "examples" / "published" / "rman-channels.csv"
MIB = 2**20


def backup_run(
    seconds: Mapping[int, Sequence[float]], *, volume: float = 1024 * MIB, written: float | None = None,
    metrics: Mapping[int, Sequence[Metric]] | None = None, items: Mapping[int, Sequence[ItemRecord]] | None = None,
    environment: Mapping[str, str | int | float | bool | None] | None = None, **options: str | int | float | bool,
) -> RunRecord:  # fmt: skip
    """A sweep over channels; every trial moves the same volume."""
    made = []
    for repeat in range(1, max(map(len, seconds.values())) + 1):
        for channels, times in seconds.items():
            if repeat > len(times):
                continue
            told = [metric("bytes_read", volume)]
            told += [metric("bytes_written", written)] if written else []
            told += list((metrics or {}).get(channels, ()))
            made.append(
                trial(
                    len(made) + 1, cell(channels=channels), repeat, times[repeat - 1], metrics=tuple(told),
                    items=recorded(times[repeat - 1], (items or {}).get(channels, ())), requested_degree=channels,
                )
            )  # fmt: skip
    run = run_of(
        made, operation="backup", engine="oracle",
        environment=environment or {"cpu_count": 8}, mode=Mode.MEASUREMENT if len(made) > 1 else Mode.JOB,
    )  # fmt: skip
    experiment = replace(run.head.experiment, options={"tablespace": "users", **options})
    return replace(run, head=replace(run.head, experiment=experiment))


def piece(label: str, channel: int, begin: float, took: float, size: int | None = None) -> ItemRecord:
    return ItemRecord(label, Outcome.OK, took, begin, channel - 1, bytes=size)


def recorded(took: float, pieces: Sequence[ItemRecord]) -> tuple[ItemRecord, ...]:
    """Return items as a run records them: the backup as a whole, then its pieces."""
    return (piece("written trial database", 1, 0.00002, took), *pieces) if pieces else ()


def said(run: RunRecord) -> str:
    return "\n".join(advice(run).sentences)


RISING = {1: [100, 101, 99], 2: [50, 51, 49], 4: [25, 25.5, 24.5]}
FLAT = {1: [100, 101, 99], 2: [50, 51, 49], 4: [26, 26.5, 25.5], 8: [26, 25.6, 26.4]}


def test_rates_are_of_the_trials_that_count_and_read_alone_gives_a_rate_too() -> None:
    found = throughputs(analyse(backup_run(RISING, written=256 * MIB)))
    assert [one.channels for one in found] == [1, 2, 4]
    assert found[2].read_rate == pytest.approx(1024 * MIB / 25)
    assert found[2].written_rate == pytest.approx(256 * MIB / 25)
    assert found[2].compression_ratio == pytest.approx(4)
    alone = throughputs(analyse(backup_run(RISING)))
    assert (alone[0].written_rate, alone[0].compression_ratio) == (None, None)


def test_a_ceiling_that_was_reached_is_named_with_the_first_level_at_it() -> None:
    told = said(backup_run(FLAT))
    assert "the limit is about 39.4 MiB/s, reached at `channels=4`: more channels bring no more" in told


def test_a_rate_that_still_rose_asks_for_more() -> None:
    assert "still rose at the highest `channels=4` (41.0 MiB/s): its limit is higher" in said(backup_run(RISING))


CPU_FULL = {
    4: [Metric("program_cpu_seconds", 8 * 24.0, "s", "x")],
    8: [Metric("program_cpu_seconds", 8 * 25.0, "s", "x")],
}
IO_WAITS = {4: [Metric("input_long_wait_share", 0.4, "ratio", "x")]}
IDLE = {4: [Metric("host_cpu_user_seconds", 20.0, "s", "x"), Metric("host_cpu_system_seconds", 5.0, "s", "x")]}
ONE_CPU = {4: [Metric("program_cpu_seconds", 4 * 24.5, "s", "x")]}


@for_each(
    ("times", "metrics", "words"),
    [(FLAT, CPU_FULL, "CPU is the limit: all of the CPUs were busy"), (FLAT, IO_WAITS, "I/O is the limit: 40 %"),
     (FLAT, IDLE, "I/O is the limit (disks, network or the media): only 12 % of the CPUs were busy"),
     (RISING, ONE_CPU, "CPU is the limit of each channel")],
)  # fmt: skip
def test_what_limits_is_told_by_what_was_measured(
    times: Mapping[int, Sequence[float]], metrics: Mapping[int, Sequence[Metric]], words: str
) -> None:
    assert words in said(backup_run(times, metrics=metrics))


def test_a_host_that_others_kept_busy_tells_no_limit() -> None:
    busy = {4: [*IDLE[4], Metric("host_others_pct", 60.0, "%", "x")]}
    told = said(backup_run(FLAT, metrics=busy))
    assert "others used 60 % of the host's CPU meanwhile, so the limiting resource is unknown" in told
    assert "is the limit" not in told


def test_a_backup_larger_than_what_was_read_is_called_so() -> None:
    assert "the backup is 2.00 times as large as what was read" in said(backup_run(RISING, written=2048 * MIB))
    assert "the backup is 4.00 times smaller than what was read" in said(backup_run(RISING, written=256 * MIB))


def test_without_evidence_no_limit_is_named() -> None:
    assert "is the limit" not in said(backup_run(FLAT))


def test_one_big_file_on_one_channel_wants_a_section_size() -> None:
    pieces = [
        piece("big.bkp", 1, 0, 25),
        piece("a.bkp", 2, 0, 6),
        piece("b.bkp", 3, 0, 7),
        piece("c.bkp", 4, 0, 5),
    ]
    told = said(backup_run(RISING, items={4: pieces}))
    assert "`big.bkp` on channel 1 ran alone for 18.0 s (72 % of the time)" in told
    assert "--section-size" in told
    run = backup_run(RISING, items={4: pieces})
    other = said(replace(run, head=replace(run.head, engine="postgresql")))
    assert "more channels cannot make it faster than its largest piece" in other and "--section-size" not in other
    even = [piece(f"{n}.bkp", n, 0, 25) for n in range(1, 5)]
    assert "--section-size" not in said(backup_run(RISING, items={4: even}))


def test_channels_without_a_piece_are_counted() -> None:
    told = said(backup_run(RISING, items={4: [piece("a.bkp", 1, 0, 25), piece("b.bkp", 2, 0, 24)]}))
    assert "2 of 4 channels were idle" in told


@pytest.mark.parametrize(
    ("window", "words"),
    [("4h", "it fits the window of 4 h 00 min: 0.2 % of it is used"),
     (14400.0, "it fits the window of 4 h 00 min"),
     ("20s", "it does not fit the window of 20.0 s: 5.00 s too long; 819 MiB can be backed up within it")],
)  # fmt: skip
def test_the_window_is_held_against_the_time(window: str | float, words: str) -> None:
    assert words in said(backup_run(RISING, window=window, write=True))


@for_each("window", ["4h", "20s"])
@for_each("options", [{}, {"write": True, "action": "validate"}, {"action": "restore_validate"}])
def test_trials_that_only_read_do_not_tell_whether_a_backup_fits(window: str, options: dict[str, Any]) -> None:
    told = said(backup_run(RISING, window=window, **options))
    assert "was not measured" in told and "unused blocks" in told
    assert "it fits the window" not in told and "it does not fit" not in told


def test_the_real_database_takes_its_own_time() -> None:
    environment = {"cpu_count": 8, "database_bytes": 1024 * 1024 * MIB}
    run = backup_run(RISING, window="1h", environment=environment, write=True)
    assert "reading the whole database" not in said(run)
    assert "the whole database (1.00 TiB) takes about 7 h 07 min at that rate" in said(run)
    assert "it does not fit the window of 60 min 00 s" in said(run)
    assert "at that rate each TiB takes 7 h 07 min" in said(backup_run(RISING))


def test_another_operation_says_nothing_of_channels() -> None:
    run = backup_run(RISING, window="1s")
    other = replace(run.head.experiment, operation="ctas")
    assert "window" not in said(replace(run, head=replace(run.head, experiment=other)))


def logged(*stamps: tuple[str, str]) -> Log:
    pieces = [
        BackupPiece(f"c{at}", "full datafile", start=begin, finish=end, elapsed_seconds=60)
        for at, (begin, end) in enumerate(stamps, 1)
    ]
    return replace(read_log([]), pieces=pieces, channel_busy_seconds={one.channel: 60 for one in pieces})


def test_lanes_of_a_log_lie_where_its_clock_says() -> None:
    lanes = lanes_of_log(
        logged(
            ("2026-03-02 01:00:00", "2026-03-02 01:01:00"),
            ("2026-03-02 01:00:30", "2026-03-02 01:01:30"),
        )
    )
    assert (lanes.exact, lanes.span_seconds) == (True, 90)


@pytest.mark.parametrize(("days", "exact", "span"), [(89, True, 89 * 86_400 + 60), (91, False, 60)])
def test_dates_too_far_apart_for_one_backup_are_not_trusted(days: int, exact: bool, span: float) -> None:
    first = datetime(2026, 6, 1, 1)
    later = first + timedelta(days=days)
    minute = timedelta(minutes=1)
    stamps = [(f"{begin:%Y-%m-%d %H:%M:%S}", f"{begin + minute:%Y-%m-%d %H:%M:%S}") for begin in (first, later)]
    lanes = lanes_of_log(logged(*stamps))
    assert (lanes.exact, lanes.span_seconds) == (exact, span)


FAILED = "failure of backup command on c1 channel at 03/02/2026 01:10:00"


@pytest.mark.parametrize(
    ("errors", "busy"),
    [
        pytest.param((RmanMessage("RMAN-03009", FAILED, 9),), 600, id="its failure is stamped"),
        pytest.param((), 60, id="else until the last piece of the others"),
    ],
)
def test_a_channel_that_failed_shows_its_time_until_then(errors: tuple[RmanMessage, ...], busy: float) -> None:
    log = logged(("2026-03-02 01:00:00", "2026-03-02 01:01:00"))
    lost = BackupPiece("c1", "full datafile", start="2026-03-02 01:00:00")
    other = [one._replace(channel="c2") for one in log.pieces]
    busy_seconds = {"c1": 0, "c2": 60}
    log = replace(log, pieces=other, unfinished=[lost], errors=errors, channel_busy_seconds=busy_seconds)
    lanes = lanes_of_log(log)
    assert [(lane.name, lane.busy_seconds, lane.bars) for lane in lanes.lanes] == [("c1", busy, 1), ("c2", 60, 1)]
    assert [bar.good for bar in lanes.bars if bar.lane == "c1"] == [False]
    assert not any("fewer backup sets" in one for one in balance_sentences(lanes))


def test_a_channel_is_busy_for_as_long_as_rman_says_on_every_screen() -> None:
    log = replace(logged(("2026-03-02 01:00:00", "2026-03-02 01:02:47")), channel_busy_seconds={"c1": 168})
    assert [lane.busy_seconds for lane in lanes_of_log(log).lanes] == [168]


def test_lanes_know_who_waited() -> None:
    lanes = lanes_of(
        [LaneBar("c1", "a", 10, 30), LaneBar("c2", "b", 10, 15), LaneBar("c2", "c", 14, 20)], ["c1", "c2", "c10"]
    )
    busy = [(lane.name, lane.busy_seconds, lane.bars) for lane in lanes.lanes]
    assert busy == [("c1", 20, 1), ("c2", 10, 2), ("c10", 0, 0)]
    assert (lanes.span_seconds, lanes.imbalance, lanes.utilisation) == (20, 2.0, 0.5)
    assert lanes.waited_seconds == 20
    bar, alone = longest_alone(lanes)
    assert bar is not None and (bar.label, alone) == ("a", 10)


@pytest.mark.parametrize(
    ("good", "said"), [(True, "the other channels had nothing to do"), (False, "no other channel worked")]
)
def test_a_channel_that_failed_had_no_choice_but_to_leave_the_other_alone(good: bool, said: str) -> None:
    lanes = lanes_of(
        [LaneBar("c1", "a", 0, 100, good=good), LaneBar("c2", "b", 0, 40), LaneBar("c2", "a", 100, 200)]
    )
    (sentence,) = balance_sentences(lanes)
    assert sentence == f"`c2` (a) worked alone for 100 s, 50 % of the time, while {said}"


def test_items_without_a_place_on_the_clock_make_no_lanes() -> None:
    assert trial_lanes(trial(1, cell(channels=2), 1, 5.0, items=(ItemRecord("a", Outcome.OK, 5.0),))) is None


def published_rows() -> list[dict[str, str]]:
    lines = PUBLISHED.read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def published() -> RunRecord:
    """The published sweep: the volume is what the twenty channels moved until the slowest of them was done."""
    rows = published_rows()
    rates = {int(one["channels"]): float(one["throughput[MB/s]"]) for one in rows}
    volume = rates[20] * float(rows[-1]["slowest_channel[s]"])
    return backup_run(
        {channels: [volume / rate] for channels, rate in rates.items()},
        volume=volume * 1e6, written=volume * 1e6, compression="basic", max_piece_size="1024M",
    )  # fmt: skip


def test_the_published_sweep_of_channels_comes_out_with_its_numbers() -> None:
    run = published()
    found = analyse(run)
    one, twenty = throughputs(found)
    assert [one.channels, twenty.channels] == [1, 20]
    for told, wanted in zip((one, twenty), published_rows(), strict=True):
        assert (told.written_rate or 0) / 1e6 == pytest.approx(float(wanted["throughput[MB/s]"]))
    summary = found.by_cell[twenty.cell]
    assert (summary.speedup, summary.efficiency) == (pytest.approx(16), pytest.approx(0.8))
    assert "still rose at the highest `channels=20`" in said(run)


def test_channels_that_end_as_far_apart_as_the_published_ones_are_evenly_loaded() -> None:
    last = published_rows()[-1]
    ends = float(last["fastest_channel[s]"]), float(last["slowest_channel[s]"])
    (two,) = throughputs(
        analyse(
            backup_run({2: [max(ends)]}, items={2: [piece(f"p{n}", n, 0, end) for n, end in enumerate(ends, 1)]})
        )
    )
    assert two.imbalance == pytest.approx(64 / ((55 + 64) / 2))
    assert two.imbalance < 1.1
