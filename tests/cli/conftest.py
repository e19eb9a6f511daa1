"""A place of its own for every test: settings, store and a small DuckDB file."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolkit.cli.main import main
from toolkit.terminal import use_whole_lines


@dataclass(frozen=True)
class Answer:
    """What a command line gave back."""

    status: int
    out: str
    err: str


Dbatk = Callable[..., Answer]
TWO_STEPS = """
[plan]
name = "nightly"
target = "duckdb:///small.duckdb"

[[step]]
name = "copy"
operation = "ctas"
source = "small"
table = "copied"

[[step]]
name = "index"
operation = "index-build"
table = "copied"
columns = "i"
needs = ["copy"]
"""
"""A plan whose second step needs the first one."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("DBATK_", "PG")) and not name.startswith(("DBATK_TEST", "DBATK_REQUIRE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay text out as on a screen of 80 columns."""
    monkeypatch.setattr("toolkit.cli.output.use_whole_lines", lambda: None)


@pytest.fixture
def pipe(screen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay text out as in a pipe."""
    monkeypatch.setattr("toolkit.cli.output.use_whole_lines", use_whole_lines)


@pytest.fixture
def dbatk(capsys: pytest.CaptureFixture[str]) -> Dbatk:
    """Run a command line in this process."""

    def run(*arguments: str) -> Answer:
        capsys.readouterr()
        status = main(arguments)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return run


@functools.cache
def _small() -> bytes:
    """Return a DuckDB file with a table of ten rows: to copy it costs far less than to make it."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        with duckdb.connect(f"{folder}/small.duckdb") as connection:
            connection.execute("create table small as select i, i % 3 as k from range(10) t(i)")
        return Path(folder, "small.duckdb").read_bytes()


@pytest.fixture
def url(home: Path) -> str:
    """A DuckDB file with a table of ten rows."""
    (home / "small.duckdb").write_bytes(_small())
    return "duckdb:///small.duckdb"
