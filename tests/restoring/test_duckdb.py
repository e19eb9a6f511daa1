"""Exports of DuckDB: imported by another process, compared, and nothing left; every change is caught."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.restoring.conftest import Place, metrics, reason, trial


@pytest.fixture
def duck(place_of: Callable[..., Place], tmp_path: Path) -> Place:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE orders AS SELECT i AS id, md5(i::text) AS name FROM range(5000) AS t(i)")
        session.execute("CREATE TABLE other AS SELECT 1 AS one")
        session.execute("CREATE VIEW few AS SELECT * FROM orders WHERE id < 10")
    return place_of("-t", f"duckdb:///{file}")


@pytest.fixture
def export(duck: Place) -> Path:
    (duck.folder / "backups").mkdir()
    status, document = duck.run("backup", "run", "--destination", str(duck.folder / "backups"), "--tag", "sunday")
    assert status == 0, document
    return duck.folder / "backups" / "sunday"


def test_an_export_is_imported_compared_checked_and_removed(duck: Place, export: Path, tmp_path: Path) -> None:
    check = tmp_path / "check.sql"
    check.write_text("SELECT 'view', count(*) = 10 FROM few")
    status, document = duck.restore(export, "--tables", "orders,other", "--check", str(check), "--rpo", "1h")
    assert status == 0, reason(document)
    labels = [item["label"] for item in trial(document)["items"][1:]]  # type: ignore[index]
    assert labels == [
        "table orders: the same as on the target", "table other: the same as on the target", "check view: true",
    ]  # fmt: skip
    told = metrics(document)
    assert told["proved"] == 1
    assert told["recovery_seconds"] > 0
    assert 0 <= told["recovery_point_age_seconds"] < 3600
    assert duck.left() == []


@pytest.mark.full
def test_an_export_without_checksums_is_restored_but_not_proved(duck: Place, export: Path) -> None:
    (export / "SHA256SUMS").unlink()
    status, document = duck.restore(export)
    assert status == 0, reason(document)
    assert metrics(document)["proved"] == 0


def test_the_scripts_of_an_export_reach_no_other_file(duck: Place, export: Path, tmp_path: Path) -> None:
    """What stands in them is as trustworthy as whoever could write there."""
    (export / "SHA256SUMS").unlink()
    secret, stolen = tmp_path / "secret.csv", tmp_path / "stolen.csv"
    secret.write_text("a\n1\n")
    with (export / "schema.sql").open("a") as script:
        script.write(f"COPY (SELECT * FROM read_csv('{secret}')) TO '{stolen}';\n")
    status, document = duck.restore(export)
    assert status == 3
    assert "file system operations are disabled by configuration" in reason(document)
    assert not stolen.exists()
    assert duck.left() == []


def _flip(file: Path, at: float) -> None:
    content = bytearray(file.read_bytes())
    content[min(int(len(content) * at), len(content) - 1)] ^= 0xFF
    file.write_bytes(content)


def _edit(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text()))


_ORDERS, _SUMS = "orders.parquet", "SHA256SUMS"


def _without_first_line(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[1:])


def _without_last_line(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-1])


def _wrong_digit(text: str) -> str:
    return ("0" if text[0] != "0" else "1") + text[1:]


PLANTED: dict[str, Callable[[Path], object]] = {
    "a flipped byte at the begin of a table": lambda b: _flip(b / _ORDERS, 0.0),
    "a flipped byte in the data": lambda b: _flip(b / _ORDERS, 0.5),
    "a flipped byte in the footer": lambda b: _flip(b / _ORDERS, 0.99),
    "a table cut off": lambda b: (b / _ORDERS).write_bytes((b / _ORDERS).read_bytes()[:-7]),
    "a table missing": lambda b: (b / _ORDERS).unlink(),
    "a table empty": lambda b: (b / _ORDERS).write_bytes(b""),
    "two tables exchanged": lambda b: shutil.copy(b / "other.parquet", b / _ORDERS),
    "the schema missing": lambda b: (b / "schema.sql").unlink(),
    "the schema without a table": lambda b: _edit(b / "schema.sql", lambda text: text.replace("orders", "o")),
    "the load script missing": lambda b: (b / "load.sql").unlink(),
    "the load script without a table": lambda b: _edit(b / "load.sql", _without_first_line),
    "the load script empty": lambda b: (b / "load.sql").write_text(""),
    "the list of checksums cut in a line": lambda b: _edit(b / _SUMS, lambda text: text[:-20]),
    "the list of checksums cut after a line": lambda b: _edit(b / _SUMS, _without_last_line),
    "the list of checksums empty": lambda b: (b / _SUMS).write_text(""),
    "a wrong checksum": lambda b: _edit(b / _SUMS, _wrong_digit),
    "a checksum of another file": lambda b: _edit(b / _SUMS, lambda text: text.replace("other.", "o.")),
    "a file that nobody exported": lambda b: (b / "extra.parquet").write_bytes(b"PAR1"),
    "a file that is a folder": lambda b: ((b / _ORDERS).unlink(), (b / _ORDERS).mkdir()),
    "a stale export": lambda b: _age(b, 3 * 86400),
}


def _age(backup: Path, seconds: float) -> None:
    import os
    import time

    for each in backup.iterdir():
        os.utime(each, (time.time() - seconds,) * 2)


@pytest.mark.full
def test_twenty_planted_corruptions_are_all_caught(duck: Place, export: Path) -> None:
    assert len(PLANTED) == 20
    missed = {}
    for name, plant in PLANTED.items():
        broken = duck.folder / "broken"
        shutil.copytree(export, broken)
        plant(broken)
        status, document = duck.restore(broken, "--rpo", "1d")
        if status == 0:
            missed[name] = document
        assert duck.left() == [], name
        shutil.rmtree(broken)
    assert missed == {}
