"""DuckDB gives a database up when its disk is full, and damages a file where it is killed within a write."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.engines.torn import mend_torn
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
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


def _with_a_half_written_block(tmp_path: Path) -> Path:
    """A file whose block of metadata was not written to its end."""
    file = tmp_path / "torn.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE t AS SELECT range AS i FROM range(10)")
        [(metadata,)] = made.execute("CHECKPOINT; SELECT min(block_id) FROM pragma_metadata_info()").fetchall()
    with file.open("r+b") as block:
        block.seek(_HEADERS + (metadata + 1) * _BLOCK_SIZE - 4096)
        block.write(bytes(range(8)))
    return file


def test_a_file_with_a_half_written_block_is_called_damaged_and_not_in_use(tmp_path: Path) -> None:
    file = _with_a_half_written_block(tmp_path)
    before = file.read_bytes()
    target = DuckdbTarget(Access(parse_url(f"duckdb:///{file}")))
    with pytest.raises(ToolkitError) as refused:
        target.connect(Role.CONTROL, SessionTag("first"))
    assert refused.value.code == "TK-0201"
    assert "Corrupt database file" in refused.value.message
    assert (refused.value.hint or "").startswith("restore a copy")
    assert "another process" not in f"{refused.value.message} {refused.value.hint}"
    assert file.read_bytes() == before


def test_a_series_goes_on_with_a_half_written_block_and_changes_nothing_else(tmp_path: Path) -> None:
    file = _with_a_half_written_block(tmp_path)
    before = file.read_bytes()
    assert mend_torn(file)
    after = file.read_bytes()
    changed = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert changed[-1] - changed[0] < 8 and (changed[0] - _HEADERS) % _BLOCK_SIZE < 8
    assert not mend_torn(file)
    with duckdb.connect(str(file)) as opened:
        assert opened.execute("SELECT count(*), sum(i) FROM t").fetchall() == [(10, 45)]


_HEADERS = 3 * 4096
_BLOCK_SIZE = 262_144
"""Bytes of DuckDB's three headers, and of a block, which begins with the 8 bytes of its checksum."""
