"""A DuckDB file in a folder that its user cannot write: said before anything runs, and it can still be read."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.servers.forks import import_everything
from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag

NOBODY = 65534


@pytest.fixture
def locked() -> Iterator[Path]:
    """Give a file that everybody may write, in a folder that only its owner may."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t as select 1 as a")
        path.chmod(0o666)
        Path(folder).chmod(0o555)
        yield path
        Path(folder).chmod(0o700)


def opened(path: Path, *, read_only: bool) -> str:
    """Open a file in a process that may not write everywhere, and return what it says."""
    into, out_of = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            if os.getuid() == 0:
                os.setgroups([])
                os.setuid(NOBODY)
            target = find_target(f"duckdb:///{path}").target
            try:
                answer = target.connect(Role.CONTROL, SessionTag("r"), read_only=read_only).execute("from t")
                os.write(out_of, str(answer.rows).encode())
            except ToolkitError as error:
                os.write(out_of, f"{error.code} {error.message}; {error.hint}".encode())
        os._exit(0)
    os.close(out_of)
    os.waitpid(child, 0)
    with os.fdopen(into, "rb") as said:
        return said.read().decode()


def test_it_is_refused_before_anything_is_written(locked: Path) -> None:
    import_everything()
    said = opened(locked, read_only=False)
    assert said.startswith(f"TK-0201 `{locked}` cannot be changed: its folder is not writable")
    assert f"make `{locked.parent}` writable" in said


@pytest.mark.full
def test_it_can_be_read(locked: Path) -> None:
    import_everything()
    assert opened(locked, read_only=True) == "({'a': 1},)"
