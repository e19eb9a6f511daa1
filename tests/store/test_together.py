"""Several processes and threads at one store: nothing is lost, nothing is doubled, one gets the lease."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from tests.servers.forks import Forked
from tests.store.make import RUN, head, trial
from toolkit.model.records import ItemRecord, TrialRecord
from toolkit.store import open_store

RUNS = [f"20261121-051342-000{number}" for number in range(5)]
Begin = Callable[..., Forked]


@pytest.fixture
def begin(location: str) -> Iterator[Begin]:
    """Begins a writer on the store; writers left at the end are killed."""
    begun: list[Forked] = []

    def one(word: str, *rest: object) -> Forked:
        process = Forked("tests.store.writer", word, location, *map(str, rest), stdin=subprocess.PIPE)
        begun.append(process)
        return process

    yield one
    for process in begun:
        process.kill()
        process.communicate()


def line(process: Forked) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(*processes: Forked) -> None:
    """Let processes that are ready go on together."""
    for process in processes:
        assert line(process) == "ready"
    say(*processes)


def say(*processes: Forked) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def expected(trials: int) -> tuple[TrialRecord, ...]:
    return tuple(trial(number) for number in range(1, trials + 1))


def test_two_sweeps_lose_nothing_while_a_third_is_killed(begin: Begin, location: str) -> None:
    open_store(location).close()
    first, second, killed = (
        begin("sweep", RUNS[0], 200),
        begin("heart", RUNS[1], 200),
        begin("sweep", RUNS[2], 9999),
    )
    go(first, second, killed)
    said = [line(killed) for _ in range(30)]
    killed.send_signal(signal.SIGKILL)
    said += killed.communicate()[0].split()
    assert first.communicate()[0].split()[-1] == second.communicate()[0].split()[-1] == "200"
    assert (first.returncode, second.returncode, killed.returncode) == (0, 0, -signal.SIGKILL)

    with open_store(location) as store:
        for run in RUNS[:2]:
            assert store.load_run(run).trials == expected(200)
            assert [each.identity for each in store.journal(run).entries()] == [
                {"oid": number} for number in range(1, 201)
            ]
            assert store.journal(run).open_entries() == ()
        kept = store.load_run(RUNS[2]).trials
        assert kept == expected(len(kept))
        # what it said was durable; it may have died between the commit and saying so
        assert len(kept) - len(said) in (0, 1)
        assert [each.trial for each in store.unended_trials(RUNS[2])] in ([], [len(kept) + 1])


def test_a_store_is_whole_after_many_kills(begin: Begin, location: str) -> None:
    for number, run in enumerate(RUNS[:3]):
        process = begin("sweep", run, 9999)
        go(process)
        for _ in range(1 + 2 * number):
            line(process)
        process.kill()
        process.communicate()
    with open_store(location) as store:
        for number, run in enumerate(RUNS[:3]):
            kept = store.load_run(run).trials
            assert kept == expected(len(kept))
            assert len(kept) >= 1 + 2 * number
        if store._database.is_sqlite:
            with store._database.read() as connection:
                assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
                assert connection.execute(text("PRAGMA foreign_key_check")).all() == []


def test_of_many_that_want_the_lease_one_gets_it(begin: Begin, location: str) -> None:
    open_store(location).close()
    for _ in range(2):
        racers = [begin("lease", run) for run in RUNS[:4]]
        go(*racers)
        results = {run: line(racer) for run, racer in zip(RUNS, racers, strict=False)}
        assert sorted(results.values()) == ["TK-0302"] * 3 + ["mine"]
        (winner,) = [run for run, result in results.items() if result == "mine"]
        with open_store(location) as store:
            held = store.lease_of("db")
            assert held is not None
            assert held.run == winner
            for racer in racers:
                racer.kill()
                racer.communicate()
            assert store.acquire_lease("db", RUN).run == RUN, "the lease of a killed process is free at once"
            store.release(store.acquire_lease("db", RUN))


def test_a_new_store_is_made_once_by_many(begin: Begin, location: str) -> None:
    makers = [begin("opening", run) for run in RUNS]
    go(*makers)
    assert [maker.wait() for maker in makers] == [0] * len(RUNS)
    with open_store(location) as store:
        assert {each.run for each in store.list_runs()} == set(RUNS)


def test_threads_of_one_process_add_items_to_one_trial(begin: Begin, location: str) -> None:
    process = begin("items", RUN, 8)
    go(process)
    assert process.wait() == 0
    with open_store(location) as store:
        found: tuple[ItemRecord, ...] = store.items_of(RUN, 1)
    assert sorted(each.label for each in found) == sorted(f"{w}-{n}" for w in range(8) for n in range(25))


@pytest.mark.full
def test_a_reader_sees_one_state_while_others_write(begin: Begin, location: str) -> None:
    with open_store(location) as store:
        store.create_run(head())
    process = begin("sweep", RUNS[0], 60)
    go(process)
    line(process)
    with open_store(location) as store:
        while process.poll() is None:
            read = store.load_run(RUNS[0])
            assert read.head.trials_ended == len(read.trials)
            assert read.trials == expected(len(read.trials))
            if len(read.trials) == 60:
                break
