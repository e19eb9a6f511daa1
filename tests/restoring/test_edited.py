"""Dumps whose table of contents somebody edited: pg_dump writes nothing of the kind."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.restoring.conftest import Place, reason, target_of
from tests.servers.postgresql import Server
from toolkit.dialects.postgresql.dialect import DIALECT
from toolkit.dialects.postgresql.restore.dump import restricts
from toolkit.model.facts import Facts

pytestmark = pytest.mark.postgresql

COMMENT = "COMMENT ON EXTENSION hstore IS 'here';\n"


@pytest.fixture
def place(place_of: Callable[..., Place], loaded: Server) -> Iterator[Place]:
    """A place with a dump of a database that has one extension."""
    own = Server(loaded.host, loaded.port, "edited", loaded.user, bin_dir=loaded.bin_dir)
    found = place_of(*target_of(own))
    with loaded.connect() as session:
        session.execute("CREATE DATABASE edited")
    try:
        with own.connect() as session:
            session.execute(f"CREATE EXTENSION hstore; {COMMENT} CREATE TABLE t (i int); INSERT INTO t VALUES (1)")  # type: ignore[arg-type]
        subprocess.run(
            [f"{own.bin_dir}/pg_dump", "-Fd", "-f", str(found.folder / "dump"), "-h", own.host, "-p",
             str(own.port), "-U", own.user, "edited"],
            check=True,
        )  # fmt: skip
        yield found
    finally:
        with loaded.connect() as session:
            session.execute("DROP DATABASE edited")


def stored(text: str) -> bytes:
    """Spell a text as pg_dump does: its length, then its bytes."""
    return b"\0" + struct.pack("<i", len(text)) + text.encode()


def edit(toc: Path, old: str, new: str) -> None:
    assert stored(old) in toc.read_bytes()
    toc.write_bytes(toc.read_bytes().replace(stored(old), stored(new), 1))


def test_no_encoding_hides_where_a_statement_of_the_superuser_ends(place: Place) -> None:
    """In UTF-7 `+AAA-` is a zero byte: psql would pass over the rest of the line and read on behind the quote."""
    mark, toc = place.folder / "reached", place.folder / "dump" / "toc.dat"
    mark.mkdir()
    mark.chmod(0o777)
    edit(
        toc,
        COMMENT,
        "COMMENT ON EXTENSION hstore IS 'x+AAA-';\n\n"
        f"COMMENT ON EXTENSION hstore IS '; COPY (SELECT 1) TO PROGRAM $$cat >{mark}/by-copy$$; --';\n",
    )
    said = re.search(rb"\0....(1\d\.\d+[^\0]*)\0", toc.read_bytes()[:200], re.DOTALL)
    assert said is not None
    edit(toc, said[1].decode(), said[1].decode().replace("+", "-") + "\nSET client_encoding = 'utf_7';")
    status, document = place.restore(place.folder / "dump", "--method", "pg_dump")
    assert list(mark.iterdir()) == []
    assert status == 3
    assert "cannot be read in the dump's encoding UTF8 and utf_7" in reason(document)
    assert place.left() == []


def test_an_extension_that_is_not_installed_here_is_told_by_its_name(place: Place) -> None:
    toc = place.folder / "dump" / "toc.dat"
    toc.write_bytes(toc.read_bytes().replace(b"hstore", b"hstory"))
    status, document = place.restore(place.folder / "dump", "--method", "pg_dump")
    assert status == 3
    assert reason(document).startswith(
        'making the dump\'s schemas and extensions: extension "hstory" is not available'
    )


@for_each(("version", "known"), [
    ("13.22", False), ("14.18", False), ("14.19", True), ("15.13", False), ("15.20 (Debian)", True),
    ("16.9", False), ("16.10", True), ("17.5", False), ("17.6", True), ("18.0", True), ("18.1", True),
    ("19.0", True),
])  # fmt: skip
def test_psql_is_restricted_where_it_can_be(version: str, known: bool) -> None:
    answers = {"psql": ({"version_text": f"psql (PostgreSQL) {version}"},)}
    assert restricts(Facts("postgresql", DIALECT.assume("17").release, answers)) is known
