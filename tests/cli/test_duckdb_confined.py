"""SQL of plans and files reaches nothing beside its DuckDB database, unless the target's URL says what."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.tiers import thinned
from toolkit.app.targets import find_target
from toolkit.errors import ToolkitError
from toolkit.model.protocols import DatabaseError
from toolkit.model.words import Role
from toolkit.targets.base import SessionTag

TAG = SessionTag("20261122-000000-0000")
REACHING = (
    "SELECT * FROM read_csv('{home}/secret.csv')",
    "SELECT * FROM '{home}/secret.csv'",
    "SELECT content FROM read_text('/etc/hostname')",
    "SELECT * FROM query('SELECT content FROM read_text(''{home}/secret.csv'')')",
    "SELECT * FROM glob('{home}/*')",
    "SELECT * FROM sniff_csv('{home}/secret.csv')",
    "SELECT * FROM read_csv('{home}/in/../secret.csv')",
    "SELECT * FROM read_csv('{home}/in/link.csv')",
    "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
    "SELECT * FROM read_duckdb('{home}/other.duckdb')",
    "ATTACH '{home}/other.duckdb' AS other",
    "COPY (SELECT 1) TO '{home}/out.csv'",
    "EXPORT DATABASE '{home}/out'",
    "IMPORT DATABASE '{home}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{home}/x.duckdb_extension'",
    "CREATE PERSISTENT SECRET s (TYPE http)",
    "SET enable_external_access = true",
    "SET autoinstall_known_extensions = true",
    "SET allowed_directories = ['/']",
    "SET allowed_configs = ['log_query_path']",
    "SET log_query_path = '{home}/out.log'",
    "SET profile_output = '{home}/out.json'",
    "SET temp_directory = '{home}/out'",
    "SET secret_directory = '{home}/out'",
    "CALL enable_logging(storage='file', storage_path='{home}/out')",
    "SELECT getenv('HOME')",
)


@pytest.fixture
def home(home: Path) -> Path:
    """The place of every test, with two databases, a file that nobody names, and a folder that somebody may."""
    for name in ("x", "other"):
        with duckdb.connect(str(home / f"{name}.duckdb")) as made:
            made.execute("CREATE TABLE t AS SELECT range AS a FROM range(9)")
    (home / "secret.csv").write_text("a\n1\n")
    (home / "in").mkdir()
    (home / "in/data.csv").write_text("a\n2\n")
    (home / "in/link.csv").symlink_to(home / "secret.csv")
    return home


def asked(url: str, text: str) -> list[object]:
    target = find_target(url).target
    try:
        session = target.connect(Role.WORKER, TAG)
        return [value for row in session.execute(text).rows for value in row.values()]
    finally:
        target.close()


@pytest.mark.thin(3)
@pytest.mark.parametrize("text", thinned(REACHING, 3))
def test_nothing_outside_is_reached(text: str, home: Path) -> None:
    before = sorted(os.walk(home))
    with pytest.raises(DatabaseError) as caught:
        asked("duckdb:///x.duckdb?files=in/", text.format(home=home))
    assert caught.value.code in {"PermissionException", "InvalidInputException", "CatalogException"}, caught.value
    assert sorted(os.walk(home)) == before


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "url", thinned(["duckdb:///:memory:", "duckdb:///x.duckdb", "duckdb:///x.duckdb?files=in/"], 3)
)
@pytest.mark.parametrize("text", ["SET threads = 1", "RESET threads", "SET preserve_insertion_order = false",
                                  "SET force_compression = 'zstd'", "SET memory_limit = '1GB'"])  # fmt: skip
def test_settings_that_reach_nothing_can_be_factors(url: str, text: str, home: Path) -> None:
    asked(url, text)


def test_the_url_says_which_files(home: Path) -> None:
    read = "SELECT a FROM read_csv('{}')"
    assert asked("duckdb:///x.duckdb?files=secret.csv", read.format("secret.csv")) == [1]
    assert asked("duckdb:///x.duckdb?files=secret.csv&files=in", read.format("in/data.csv")) == [2]
    assert asked("duckdb:///x.duckdb?files=in", read.format(home / "in/data.csv")) == [2]
    assert asked("duckdb:///x.duckdb?external=yes", read.format("secret.csv")) == [1]
    with pytest.raises(DatabaseError):
        asked("duckdb:///x.duckdb?files=secret.csv", read.format("in/data.csv"))


@pytest.mark.thin(5)
@pytest.mark.parametrize("query", ["external=no", "files=", "file=x", "create=no", "files=x&all=yes"])
def test_another_parameter_is_refused(query: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        find_target(f"duckdb:///x.duckdb?{query}")
    assert caught.value.code == "TK-0111"


def test_two_targets_of_one_process_keep_the_door_shut(home: Path) -> None:
    first, second = (find_target(url).target for url in ("duckdb:///x.duckdb", "duckdb:///x.duckdb?files=in"))
    try:
        first.connect(Role.WORKER, TAG)
        with pytest.raises(DatabaseError):
            second.connect(Role.WORKER, TAG).execute("SELECT * FROM read_csv('in/data.csv')")
    finally:
        first.close()
        second.close()


PLAN = """[plan]
name = "night"
target = "duckdb:///x.duckdb{parameters}"

[[step]]
name = "copy"
operation = "ctas"
table = "copied"
query = "SELECT a FROM read_csv('in/data.csv')"
{condition}

[[step]]
name = "backup"
operation = "backup"
destination = "{home}/backups"
"""


@pytest.mark.full
def test_a_plan_reads_no_file_that_it_does_not_name_and_its_backup_is_written(home: Path, dbatk: Dbatk) -> None:
    (home / "backups").mkdir()
    plan = home / "night.toml"
    plan.write_text(PLAN.format(home=home, parameters="", condition='on_failure = "continue"'))
    answer = dbatk("run", str(plan))
    assert answer.status == 3 and "?files=PATH" in answer.out + answer.err, answer.out + answer.err
    assert len(list(home.glob("backups/*/schema.sql"))) == 1
    condition = "only_if = {sql = \"SELECT count(*) FROM read_csv('secret.csv')\", at_least = 1}"
    plan.write_text(PLAN.format(home=home, parameters="?files=in", condition=condition))
    answer = dbatk("run", str(plan))
    assert answer.status != 0 and "secret.csv" in answer.out + answer.err, answer.out + answer.err
    plan.write_text(PLAN.format(home=home, parameters="?files=in", condition=""))
    assert dbatk("run", str(plan)).status == 0
    with duckdb.connect(str(home / "x.duckdb")) as looked:
        assert looked.execute("SELECT a FROM copied").fetchall() == [(2,)]
