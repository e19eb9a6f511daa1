"""Files whose disk or server hangs are told in time, and nothing waits for them without end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.postgresql import Server
from toolkit.app.hosts.files import see_files
from toolkit.app.hosts.serving import ServedSessions, SessionCall
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.executors import csv_text, data_files
from toolkit.executors.loading import ChunkStream, KeptRows
from toolkit.model.protocols import DatabaseError
from toolkit.model.transfers import CsvStyle, FileFormat, FilePart, Transfer
from toolkit.model.values import QualifiedName
from toolkit.targets.base import Access
from toolkit.targets.postgresql import PostgresqlTarget


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that nobody ever gives anything to read."""
    monkeypatch.setattr(csv_text, "HANGS_SECONDS", 0.05)
    path = tmp_path / "rows.csv"
    os.mkfifo(path)
    yield path
    os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))


def test_blocks_come_in_their_order_until_one_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_text, "HANGS_SECONDS", 0.05)
    goes_on, found = threading.Event(), []

    def blocks() -> Iterator[int]:
        yield from range(3)
        goes_on.wait()

    with pytest.raises(TimeoutError, match="does its disk or file server hang"):
        for block in csv_text.in_time(blocks()):
            found.append(block)
    goes_on.set()
    assert found == [0, 1, 2]


def test_what_cannot_be_read_is_raised_where_it_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(csv_text.blocks_of(str(tmp_path / "none"), 0, None, gzipped=False))


def test_a_reader_that_is_left_early_ends_its_thread_and_closes_its_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"x" * 3 * csv_text.BLOCK_BYTES)
    before = set(threading.enumerate())
    blocks = csv_text.blocks_of(str(file), 0, None, gzipped=False)
    assert next(blocks) == b"x" * csv_text.BLOCK_BYTES
    (reader,) = set(threading.enumerate()) - before
    del blocks
    reader.join(30)
    assert not reader.is_alive()
    assert str(file) not in {str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}


def test_a_file_that_hangs_cannot_be_compared_between_hosts(hanging: Path) -> None:
    (seen,) = see_files([str(hanging)]).values()
    assert "nothing came for 50.0 ms" in seen.fault


def test_a_session_on_a_host_whose_file_hangs_fails_and_commits_nothing(
    hanging: Path, postgresql_server: Server, postgresql_schema: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(f"CREATE TABLE {postgresql_schema}.lines (id integer)".encode())
    path, table = str(hanging), f"{postgresql_schema}.lines"
    chunk = FilePart(path, FileFormat.CSV)
    transfer = Transfer(chunk, CsvStyle(), ("id",), QualifiedName("lines", postgresql_schema))
    sessions = ServedSessions(
        "run", {path: hanging.stat().st_mtime_ns},
        lambda: PostgresqlTarget(Access(parse_url(postgresql_server.url))), lambda: False,
    )  # fmt: skip
    try:
        assert sessions.do(1, SessionCall()).failure is None
        sessions.do(1, SessionCall(1, "BEGIN"))
        told = sessions.do(1, SessionCall(2, f"COPY {table} (id) FROM STDIN (FORMAT csv)", transfer=transfer))
        assert told.failure is not None and told.failure.code == "TK-0106", told
        assert "`rows.csv`: `" in str(told.failure.headline) and "hang" in told.failure.message
        assert not told.failure.lost
        assert sessions.do(1, SessionCall(3, "ROLLBACK")).failure is None
        answer = sessions.do(1, SessionCall(4, f"SELECT count(*) AS count FROM {table}")).answer
        assert answer is not None and answer.rows[0]["count"] == 0
    finally:
        sessions.close()


@pytest.mark.parametrize("quote", [b'"', b""])
def test_where_a_file_that_hangs_may_be_divided_is_not_waited_for(hanging: Path, quote: bytes) -> None:
    with pytest.raises(TimeoutError, match="does its disk or file server hang"):
        csv_text.borders(str(hanging), 0, 100, 30, quote)


@pytest.mark.parametrize("form", list(FileFormat))
def test_what_a_file_holds_and_where_it_is_divided_is_refused_with_its_name(
    hanging: Path, form: FileFormat
) -> None:
    row = {"path": str(hanging), "format": form.value, "is_gzipped": "no", "byte_count": 100, "data_begin": 0}
    for look in (
        lambda: data_files._file(str(hanging), CsvStyle()),
        lambda: data_files._divided(row, 30, CsvStyle()),
    ):
        with pytest.raises(ToolkitError, match=r"rows.csv` cannot be read: nothing came") as caught:
            look()
        assert caught.value.code == "TK-0106"


def test_rows_of_parquet_that_do_not_come_end_their_chunk(hanging: Path) -> None:
    chunk = FilePart(str(hanging), FileFormat.PARQUET)
    stream = ChunkStream(Transfer(chunk, CsvStyle(), ("id",), QualifiedName("lines")), KeptRows())
    with pytest.raises(DatabaseError, match="hang") as caught:
        list(stream.blocks())
    assert caught.value.code == "TK-0106"
