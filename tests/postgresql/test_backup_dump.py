"""pg_dump on a real server: swept, read back, kept or removed, refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tests.for_each import for_each
from tests.postgresql.test_backup_basebackup import error, metrics, trial
from tests.servers.postgresql import Server
from toolkit.cli.main import main
from toolkit.dialects.postgresql.backup.dump import _BEGINS, _ENDS, at_once, tell
from toolkit.dialects.postgresql.names import quote
from toolkit.model.steps import SUMS

if TYPE_CHECKING:
    from toolkit.dialects.work import Work

pytestmark = pytest.mark.postgresql

Run = Callable[..., tuple[int, dict[str, object]]]
ODD = 'Odd "dump" $x'


@pytest.fixture(scope="module")
def tables(postgresql_server: Server) -> Iterator[str]:
    """A schema of an odd name with three tables, one of them partitioned."""
    quoted = quote(ODD)
    statements = (
        f'CREATE TABLE {quoted}."a ""b" AS SELECT g AS i, md5(g::text) AS t FROM generate_series(1, 60000) g',
        f"CREATE TABLE {quoted}.c AS SELECT g AS i, md5(g::text) AS t FROM generate_series(1, 60000) g",
        f"CREATE TABLE {quoted}.p (i int) PARTITION BY RANGE (i)",
        f"CREATE TABLE {quoted}.p1 PARTITION OF {quoted}.p FOR VALUES FROM (0) TO (100)",
        f"INSERT INTO {quoted}.p SELECT generate_series(1, 99)",
    )
    with postgresql_server.schema(quoted, *statements):
        yield quoted


@pytest.fixture
def dump(
    postgresql_server: Server, tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:  # fmt: skip
    """Run `dbatk backup run --method pg_dump` of the schema in this process; return its exit status and JSON."""
    if postgresql_server.bin_dir is None:
        pytest.skip("the server is not begun here, so its programs are not known")
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    (tmp_path / "dumps").mkdir()

    def run(
        *arguments: str, of: tuple[str, ...] = ("--scope", "schema", "--of", tables)
    ) -> tuple[int, dict[str, object]]:
        capsys.readouterr()
        common = ("-t", postgresql_server.url, "--not-production", "--bin-dir", str(postgresql_server.bin_dir))
        status = main(["backup", "run", *common, "--snapshot", "none", "--method", "pg_dump", "--destination",
                       str(tmp_path / "dumps"), "--json", *of, *arguments])  # fmt: skip
        return status, json.loads(capsys.readouterr().out)

    return run


def test_a_job_leaves_a_dump_that_was_read_back_with_checksums(dump: Run, tmp_path: Path) -> None:
    status, document = dump("--tag", "nightly", "--channels", "2", "--compression", "zstd")
    (only,) = cast("list[dict[str, object]]", document["trials"])
    # on a busy machine one session may have done all before the other begins
    assert status == 0 or only["reason"] == "at most 1 of 2 sessions had a table at once", document
    left = tmp_path / "dumps" / "nightly"
    assert [each.name for each in left.parent.iterdir()] == ["nightly"]
    assert {"toc.dat", SUMS} <= {each.name for each in left.iterdir()}
    found = metrics(document)
    assert (found["verified"], found["tables"]) == (1, 3)
    assert found["bytes_read"] > found["bytes_written"] > 0


@pytest.mark.full
def test_sessions_and_compressions_are_swept_and_nothing_stays(dump: Run, tmp_path: Path) -> None:
    # On a busy machine one session may have done all before the other begins: that is told, and tried again.
    for _ in range(5):
        status, document = dump(
            "--channels", "1,2", "--compression", "none,gzip", "--repeat", "1", "--warmup", "0"
        )
        trials = document["trials"]
        assert isinstance(trials, list)
        late = [each["reason"] for each in trials if each["granted_degree"] != each["requested_degree"]]
        assert set(late) <= {"at most 1 of 2 sessions had a table at once"}
        assert (status == 0) is (not late), [each["reason"] for each in trials]
        if not late:
            break
    assert {(each["requested_degree"], each["granted_degree"]) for each in trials} == {(1, 1), (2, 2)}
    sizes = {each["factors"]["compression"]: each["bytes"] for each in trials}
    assert sizes["gzip"] < sizes["none"]
    assert list((tmp_path / "dumps").iterdir()) == []


@for_each(
    ("log", "most"),
    [
        ('pg_dump: dumping contents of table "a.b"|pg_dump: dumping contents of table "a.c"', 2),
        ('pg_dump: pg_dump: dumping contents of table "a.b"dumping contents of table "a.c"||', 2),
        ('pg_dump: dumping contents of table "a.b"pg_dump: |finished item 7 TABLE DATA b|'
         'pg_dump: dumping contents of table "a.c"|pg_dump: finished item 8 TABLE DATA c', 1),
        ('pg_dump: dumping pg_dump: contents of table "a.b"|pg_dump: finished item 7 TABLE DATA b|'
         'pg_dump: dumping contents of table "a.c"', 1),
        ('pg_dump: dumping contents of table "a.b"|pg_dump: pg_dump: finished item 7 TABLE DATA bdumping contents'
         ' of table "a.c"|', 1),
        ('pg_dump: dumping contents of table "a.b"|pg_dump: finished item 3 TABLE DATA xdumping contents of table'
         ' "a.c"|pg_dump: pg_dump: launching item 9 TABLE DATA ydumping contents of table "a.d"', 2),
        ('pg_dump: creating dumping contents of table of table x', 0),
    ],
)  # fmt: skip
def test_lines_that_processes_write_into_each_other_are_read(log: str, most: int) -> None:
    kept = {"log": tuple({"line": line} for line in log.split("|"))}
    assert at_once("pg_dump", 2, kept, _BEGINS, _ENDS).degree == most


def test_tables_are_counted_where_one_process_reads_them_back() -> None:
    kept = {
        "log": (
            {"line": 'pg_dump: dumping pg_dump: contents of table "a.b"'},
        ),  # two processes write into one line
        "verified": (
            {"line": 'pg_restore: creating TABLE "a.processing data for table "'},
            {"line": 'pg_restore: processing data for table "a.b"'},
            {"line": 'pg_restore: processing data for table "a.c"'},
        ),
    }
    told = tell(cast("Work", SimpleNamespace(options={})), kept, 1.0)
    assert {each.name: each.value for each in told.metrics} == {"tables": 2.0, "verified": 1.0}


def test_more_sessions_than_tables_are_a_downgrade(dump: Run, tables: str) -> None:
    status, document = dump("--channels", "4", of=("--scope", "table", "--of", f"{tables}.c"))
    found = trial(document)
    assert (status, found["outcome"], found["granted_degree"]) == (3, "downgraded", 1), found["reason"]


def test_a_partitioned_table_is_dumped_with_its_partitions(dump: Run, tables: str) -> None:
    status, document = dump("--tag", "parts", of=("--scope", "table", "--of", f"{tables}.p"))
    assert (status, metrics(document)["tables"]) == (0, 1), document


@pytest.mark.parametrize(
    ("arguments", "of", "status", "sentence"),
    [
        ((), ("--scope", "schema"), 2, "needs names"),
        ((), ("--of", "x"), 2, "needs a scope"),
        ((), ("--scope", "tablespace", "--of", "x"), 2, "no `--scope tablespace`"),
        ((), ("--scope", "schema", "--of", "nowhere"), 2, "does not exist"),
        ((), ("--scope", "table", "--of", "nowhere.x"), 2, "does not exist"),
        (("--compression", "bzip2"), (), 5, "compresses with"),
        (("--compression", "lz4", "--compression-level", "20"), (), 5, "1 to 12"),
        (("--compression-level", "3"), (), 5, "needs --compression"),
        (("--file-format", "tar"), (), 5, "is for pg_basebackup"),
        (("--checkpoint", "fast"), (), 5, "is for pg_basebackup and pgbackrest"),
        (("--stanza", "x"), (), 2, "are for pgBackRest"),
    ],
)
def test_what_pg_dump_cannot_do_is_refused_before_anything_is_written(
    dump: Run, tmp_path: Path, arguments: tuple[str, ...], of: tuple[str, ...], status: int, sentence: str
) -> None:
    ended, document = dump(*arguments, of=of)
    assert ended == status, document
    assert sentence in error(document)["message"]
    assert list((tmp_path / "dumps").iterdir()) == []
