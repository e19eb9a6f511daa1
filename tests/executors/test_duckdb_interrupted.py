"""Ctrl-C in a query of DuckDB is an interrupt, whoever waits for the query, and leaves no transaction open."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from toolkit.model.address import Address
from toolkit.model.words import Role
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.duckdb import DuckdbTarget

_ENDLESS = (
    "SELECT count(*) FROM range(1000000000000) a, (SELECT tell_that_it_runs() AS i) x WHERE a.range * 3 = x.i"
)
"""Endless in short steps: in the midst of one, a cross join for example, DuckDB looks for no signal."""


@pytest.mark.parametrize("begun", [False, True])
def test_a_signal_in_a_query_is_an_interrupt(begun: bool) -> None:
    target = DuckdbTarget(Access(Address("duckdb", "")))
    session = target.connect(Role.CONTROL, SessionTag("r"))
    session.execute("SET threads = 4")
    running = threading.Event()

    def tell_that_it_runs() -> int:
        running.set()
        return -1

    def interrupt() -> None:
        running.wait()
        os.kill(os.getpid(), signal.SIGINT)

    session.cursor.create_function("tell_that_it_runs", tell_that_it_runs, [], "BIGINT")  # type: ignore[arg-type]
    if begun:
        session.execute("BEGIN")
        session.execute("CREATE TABLE t AS SELECT 1 AS i")
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        session.execute(_ENDLESS)
    assert session.execute("SELECT count(*) AS n FROM duckdb_tables()").rows[0]["n"] == 0
    target.close()
