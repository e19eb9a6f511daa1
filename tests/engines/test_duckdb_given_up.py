"""DuckDB gives a database up when its disk is full: what comes after opens it anew, in the same process."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from toolkit.config.urls import parse_url
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Role
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.duckdb import DuckdbTarget


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_that_gave_itself_up_is_opened_anew(tmp_path: Path, read_only: bool) -> None:
    file = tmp_path / "x.duckdb"
    duckdb.connect(str(file)).close()
    # the setting that breaks it is one of those that are locked else
    target = DuckdbTarget(Access(parse_url(f"duckdb:///{file}?external=yes")))
    held = target.connect(Role.CONTROL, SessionTag("held"))
    broken = target.connect(Role.WORKER, SessionTag("broken"))
    broken.execute("CREATE TABLE t AS SELECT range AS i FROM range(10)")
    broken.execute("PRAGMA debug_checkpoint_abort = 'before_header'")
    with pytest.raises(DatabaseError) as given_up:
        broken.execute("CHECKPOINT")
    assert given_up.value.lost
    session = target.connect(Role.CONTROL, SessionTag("next"), read_only=read_only)
    assert session.execute("SELECT count(*) AS n FROM t").rows[0]["n"] == 10
    with pytest.raises(DatabaseError) as closed:
        held.execute("SELECT 1")
    assert closed.value.lost
    target.close()
