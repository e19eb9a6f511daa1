"""A process that writes to a store, for tests of several at once: `python -m tests.store.writer WORD STORE ...`.

It says `ready` when the store is open and waits for a line before it goes on, so that a test begins all together.
"""

from __future__ import annotations

import sys
import threading
import warnings

from tests.store.make import BEGAN, CELL, head, item, step, trial
from toolkit.errors import ToolkitError
from toolkit.store import open_store
from toolkit.store.store import Store


def sweep(store: Store, run: str, trials: str) -> None:
    """Write a run of so many trials, and say each that has ended."""
    store.create_run(head(run))
    journal = store.journal(run)
    for number in range(1, int(trials) + 1):
        store.begin_trial(run, number, 1, CELL, 1, BEGAN)
        entry = journal.intend(step(), trial=number, proof={})
        for each in trial().items:
            store.add_items(run, number, 1, [each])
        journal.made(entry, {"oid": number})
        store.end_trial(run, trial(number))
        journal.undone(entry)
        print(number, flush=True)


def lease(store: Store, run: str) -> None:
    """Try to get the lease, say how it went, and stay."""
    try:
        store.acquire_lease("db", run)
    except ToolkitError as error:
        print(error.code, flush=True)
    else:
        print("mine", flush=True)
    sys.stdin.readline()


def heart(store: Store, run: str, trials: str) -> None:
    """Sweep while another thread keeps the lease alive a hundred times a second."""
    held = store.acquire_lease(run, run)
    over = threading.Event()

    def beat() -> None:
        while not over.wait(0.01):
            assert store.heartbeat(held)

    beating = threading.Thread(target=beat)
    beating.start()
    sweep(store, run, trials)
    over.set()
    beating.join()


def items(store: Store, run: str, workers: str) -> None:
    """Let several threads add items to one trial."""
    store.create_run(head(run))
    store.begin_trial(run, 1, 1, CELL, 1, BEGAN)

    def work(worker: int) -> None:
        for number in range(25):
            store.add_items(run, 1, 1, [item(f"{worker}-{number}", worker=worker)])

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(int(workers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def opening(store: Store, run: str) -> None:
    """Write one run to a store that several processes made together."""
    store.create_run(head(run))


if __name__ == "__main__":
    warnings.simplefilter("error")
    word, location, *rest = sys.argv[1:]
    if word == "opening":
        print("ready", flush=True)
        sys.stdin.readline()
    with open_store(location) as opened:
        if word != "opening":
            print("ready", flush=True)
            sys.stdin.readline()
        {"sweep": sweep, "lease": lease, "heart": heart, "items": items, "opening": opening}[word](opened, *rest)
