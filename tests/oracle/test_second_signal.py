"""A statement is deaf to its cancel: what is waited for is said, and a second signal ends dbatk at once."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import running_standin
from tests.oracle.standin.faults import AFTER, BEFORE, Fault, Struck
from tests.oracle.standin.state import State
from tests.servers.forks import Forked
from tests.tiers import thinned
from toolkit.errors import ExitCode
from toolkit.store import open_store

JOB = wreck.OPERATIONS
DEAF = {
    "the timed statement": (JOB["index-rebuild-job"], "REBUILD", AFTER, "`DBATK.GTEST_IX`"),
    "a load": (JOB["insert-job"], "INSERT /*+", BEFORE, "`APP.ORDERS`"),
    "the copy of a sweep": (JOB["insert-sweep"], 'CREATE TABLE "DBATK"."DBATK_', BEFORE, '`CREATE TABLE "DBATK"'),
    "what restores a degree": (JOB["index-rebuild-job"], "PARALLEL 2", BEFORE, "GTEST_IX"),
    "what drops a copy": (JOB["index-rebuild-sweep"], "DROP TABLE", BEFORE, "DROP TABLE"),
}


@pytest.mark.parametrize("case", thinned(DEAF, 5))
def test_a_second_signal_ends_at_once_and_clean_does_the_rest(case: str, tmp_path: Path) -> None:
    words, at, when, what = DEAF[case]
    begun: list[Forked] = []
    ended = threading.Event()

    def deaf(_: Struck, __: State) -> None:
        os.kill(begun[0].pid, signal.SIGINT)
        ended.wait(300)

    with running_standin() as standin:
        wreck.prepare(standin)
        before = wreck.look(standin)
        standin.engine.faults.append(Fault(deaf, words=at, when=when))
        try:
            begun.append(wreck.begin(standin, tmp_path, *words, "-t", standin.url, "--not-production"))
            said = _read_until("Ctrl-C once more", begun[0])
            os.kill(begun[0].pid, signal.SIGINT)
            _, rest = begun[0].communicate(timeout=300)
        finally:
            ended.set()
        assert begun[0].returncode == ExitCode.INTERRUPTED
        assert f"waiting for {what}" in said.rpartition("warning")[2] or what in said.rpartition("waiting for")[2]
        assert "dbatk clean -t" in said + rest and "Traceback" not in said + rest
        with open_store(str(tmp_path / "store.db")) as store:
            assert store.open_entries_all(), "what was changed is in the journal"
        standin.engine.faults.clear()
        status, cleaned = wreck.clean(standin, tmp_path)
        assert status == ExitCode.DONE, cleaned
        assert wreck.look(standin) == before
        assert wreck.clean(standin, tmp_path)[1]["done"] == []


def _read_until(words: str, process: Forked) -> str:
    """Return what a process wrote as messages when it has written these words, or has ended."""
    assert process.stderr is not None
    said = ""
    while words not in said and (more := process.stderr.read(1)):
        said += more
    return said
