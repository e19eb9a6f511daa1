"""Limits of a profile hold for its database, by whatever address or profile one gets there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import TWO_STEPS, Answer, Dbatk
from tests.oracle.standin import Scenario, running_standin
from tests.servers.postgresql import Server

SWEEP = """
[experiment]
name = "s"
target = "{target}"
operation = "ctas"
source = "small"
table = "made"
"""


def profiles(home: Path, text: str) -> None:
    (home / "config").mkdir(exist_ok=True)
    (home / "config/targets.toml").write_text(text)
    (home / "config/targets.toml").chmod(0o600)


def refused(answer: Answer, *sentences: str, code: str = "TK-0313") -> None:
    assert answer.status in (2, 5) and code in answer.err, (answer.status, answer.err)
    for sentence in sentences:
        assert sentence in answer.err
    with duckdb.connect("small.duckdb", read_only=True) as looked:
        assert looked.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("small",)]


@pytest.fixture
def spellings(home: Path, url: str) -> list[str]:
    """One database by other names: a URL, a link, another name of the file, another profile, a longer path."""
    assert url
    (home / "link.duckdb").symlink_to("small.duckdb")
    os.link(home / "small.duckdb", home / "hard.duckdb")
    (home / "folder").symlink_to(home)
    profiles(
        home,
        f'[targets.dwh]\nurl = "duckdb:///{home}/small.duckdb"\napproved_only = true\nmax_degree = 2\n'
        f'[targets.loose]\nurl = "duckdb:///{home}/folder/small.duckdb"\nmax_degree = 64\n',
    )
    return [
        "duckdb:///small.duckdb", "duckdb:///link.duckdb", "duckdb:///hard.duckdb", "loose",
        "duckdb:///folder/small.duckdb",
    ]  # fmt: skip


def test_only_approved_work_runs_whatever_the_database_is_called(
    dbatk: Dbatk, home: Path, spellings: list[str]
) -> None:
    for target in spellings:
        said = "only approved work may run on `dwh`"
        refused(dbatk("ctas", "-t", target, "--source", "small", "--table", "made"), said)
        (home / "p.toml").write_text(TWO_STEPS.replace("duckdb:///small.duckdb", target))
        refused(dbatk("run", "p.toml"), "`p.toml` is not approved")
        (home / "s.toml").write_text(SWEEP.format(target=target))
        refused(dbatk("run", "s.toml"), "`s.toml` is not approved")
    assert dbatk("plan", "approve", "p.toml").status == 0
    assert dbatk("run", "p.toml").status == 0


def test_no_target_that_reaches_the_file_works_in_it_unapproved(
    dbatk: Dbatk, home: Path, spellings: list[str]
) -> None:
    """Statements of a factor attach it as another database."""
    assert spellings
    attaching = """
[[factor]]
name = "how"
levels = ["x"]
apply_sql = "ATTACH '{home}/small.duckdb' AS z; CREATE TABLE z.planted AS SELECT '{level}' AS x"
read_sql = "SELECT 'x'"
undo_sql = "DETACH z"
"""
    with duckdb.connect("other.duckdb") as made:
        made.execute("CREATE TABLE small AS SELECT 1 AS i")
    (home / "in.csv").write_text("i\n1\n")
    said = "only approved work may run on `dwh`"
    for reached in ("external=yes", f"files={home}/small.duckdb", f"files={home}/hard.duckdb", f"files={home}"):
        text = SWEEP.format(target=f"duckdb:///other.duckdb?{reached}") + attaching.replace("{home}", str(home))
        (home / "s.toml").write_text(text)
        refused(dbatk("run", "s.toml"), "`s.toml` is not approved")
        refused(
            dbatk("ctas", "-t", f"duckdb:///other.duckdb?{reached}", "--source", "small", "--table", "m"), said
        )
    beside = f"duckdb:///other.duckdb?files={home}/in.csv"
    assert dbatk("ctas", "-t", beside, "--source", "small", "--table", "m").status == 0


def test_a_condition_that_nobody_approved_is_not_sent_to_show_what_it_would_delete(
    dbatk: Dbatk, home: Path, spellings: list[str]
) -> None:
    said = "only approved work may run on `dwh`; to show this it would have to count the rows by its condition"
    for target in ("dwh", *spellings):
        asked = ("purge", "-t", target, "--table", "small", "--where", "error('sent') IS NULL")
        refused(dbatk(*asked, "--dry-run"), said)
    made = dbatk(*asked, "--save-as", "p.toml")
    assert made.status == 0, made.err
    refused(dbatk("run", "p.toml", "--dry-run"), said)
    refused(dbatk("plan", "show", "p.toml"), said)


@pytest.mark.full
def test_the_lowest_degree_of_all_profiles_counts(dbatk: Dbatk, home: Path, spellings: list[str]) -> None:
    profiles(home, (home / "config/targets.toml").read_text().replace("approved_only = true\n", ""))
    for target in spellings:
        answer = dbatk("ctas", "-t", target, "--source", "small", "--table", "made", "--degree", "4")
        refused(answer, "degree 4 is above the max_degree 2 of profile `dwh`", code="TK-0304")
        (home / "p.toml").write_text(
            TWO_STEPS.replace("duckdb:///small.duckdb", target).replace(
                'table = "copied"', 'table = "copied"\ndegree = 4', 1
            )
        )
        refused(dbatk("run", "p.toml"), "of profile `dwh`", code="TK-0304")
    assert dbatk("ctas", "-t", "loose", "--source", "small", "--table", "made", "--degree", "2").status == 0


def test_a_run_begun_before_is_not_resumed_by_another_name(dbatk: Dbatk, home: Path, url: str) -> None:
    assert dbatk("ctas", "-t", url, "--source", "small", "--table", "made").status == 0
    with duckdb.connect("small.duckdb") as session:
        session.execute("DROP TABLE made")
    profiles(home, f'[targets.dwh]\nurl = "duckdb:///{home}/small.duckdb"\napproved_only = true\n')
    refused(dbatk("runs", "resume", "last"), "only approved work may run on `dwh`")


def test_another_database_is_not_ruled(dbatk: Dbatk, home: Path, spellings: list[str]) -> None:
    (home / "own.duckdb").write_bytes((home / "small.duckdb").read_bytes())
    assert dbatk("ctas", "-t", "duckdb:///own.duckdb", "--source", "small", "--table", "made").status == 0


@pytest.fixture
def of_host(home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of the host, with a profile for approved work only, and settings of the user without any."""
    assert url
    folder = home / "etc"
    folder.mkdir()
    (folder / "targets.toml").write_text(
        f'[targets.dwh]\nurl = "duckdb:///{home}/small.duckdb"\napproved_only = true\nmax_degree = 2\n'
    )
    monkeypatch.setattr("toolkit.config.paths.SYSTEM_FOLDER", folder)
    monkeypatch.setenv("DBATK_CONFIG", str(home / "mine"))
    return folder


def test_the_hosts_profiles_rule_whatever_the_users_settings_are(dbatk: Dbatk, home: Path, of_host: Path) -> None:
    work, said = ("--source", "small", "--table", "made"), "only approved work may run on `dwh`"
    (home / "mine").mkdir()
    for own in ("", f'[targets.dwh]\nurl = "duckdb:///{home}/small.duckdb"\nmax_degree = 64\n'):
        (home / "mine/targets.toml").write_text(own)
        for target in ("duckdb:///small.duckdb", "dwh"):
            refused(dbatk("ctas", "-t", target, *work), said)
    (home / "mine/targets.toml").unlink()
    assert '"dwh"' in dbatk("target", "list", "--json").out
    answer = dbatk("target", "remove", "dwh")
    assert answer.status == 1 and "is one of this host" in answer.err
    assert (of_host / "targets.toml").exists()


def test_what_the_host_rules_is_not_passed_over_where_it_cannot_be_read(
    dbatk: Dbatk, of_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (of_host / "targets.toml").unlink()
    (of_host / "targets.toml").mkdir()
    answer = dbatk("ctas", "-t", "duckdb:///small.duckdb", "--source", "small", "--table", "made")
    assert answer.status == 2 and "cannot be read" in answer.err
    monkeypatch.setattr("toolkit.config.paths.SYSTEM_FOLDER", of_host / ("x" * 300))
    answer = dbatk("ctas", "-t", "duckdb:///small.duckdb", "--source", "small", "--table", "made")
    assert answer.status == 2 and "rules for all users of this host" in answer.err


@pytest.mark.postgresql
def test_nobody_but_the_host_says_which_database_its_profiles_lead_to(
    dbatk: Dbatk, home: Path, of_host: Path, postgresql_server: Server, postgresql_schema: str
) -> None:
    server = postgresql_server
    with server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".a AS SELECT 1 AS i')
    far = f"postgresql://{server.user}@db.invalid:{server.port}/{server.database}?hostaddr=127.0.0.1"
    (of_host / "targets.toml").write_text(f'[targets.dwh]\nurl = "{far}"\napproved_only = true\n')
    work = ("--source", f"{postgresql_schema}.a", "--table", f"{postgresql_schema}.made", "--not-production")
    answer = dbatk("ctas", "-t", server.url, *work)
    assert answer.status == 5 and "may be the database of profile `dwh`" in answer.err
    (home / "mine").mkdir()
    (home / "mine/identities.toml").write_text(f'[identities]\n"{far}" = "17 5"\n')
    answer = dbatk("ctas", "-t", server.url, *work)
    assert answer.status == 5 and "may be the database of profile `dwh`" in answer.err
    assert dbatk("target", "test", "dwh").status == 0
    assert oct((of_host / "identities.toml").stat().st_mode)[-3:] == "644"
    answer = dbatk("ctas", "-t", server.url, *work)
    assert answer.status == 5 and "only approved work may run on `dwh`" in answer.err


@pytest.mark.postgresql
def test_a_server_is_known_by_what_it_says_of_itself(
    dbatk: Dbatk, home: Path, postgresql_server: Server, postgresql_schema: str
) -> None:
    server = postgresql_server
    with server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".a AS SELECT 1 AS i')
    # an address that nothing compares with: only the server itself tells
    other = f"postgresql://{server.user}@127.0.0.1:{server.port}/{server.database}?application_name=x"
    far = f"postgresql://{server.user}@db.invalid:{server.port}/{server.database}?hostaddr=127.0.0.1"
    profiles(home, f'[targets.dwh]\nurl = "{far}"\napproved_only = true\nproduction = true\n')
    work = ("--source", f"{postgresql_schema}.a", "--table", f"{postgresql_schema}.made", "--not-production")
    answer = dbatk("ctas", "-t", other.replace("127.0.0.1", "localhost"), *work)
    assert answer.status == 5 and "TK-0313" in answer.err
    profiles(home, (home / "config/targets.toml").read_text().replace("hostaddr=127.0.0.1", "hostaddr=127.0.0.2"))
    answer = dbatk("ctas", "-t", other, *work)
    assert answer.status == 5 and "may be the database of profile `dwh`" in answer.err, answer.err
    assert "`dbatk target test dwh` records" in answer.err
    profiles(home, f'[targets.dwh]\nurl = "{other}"\napproved_only = true\nproduction = true\n')
    assert dbatk("target", "test", "dwh").status == 0
    kept = (home / "config/identities.toml").read_text()
    assert "@" in kept and oct((home / "config/identities.toml").stat().st_mode)[-3:] == "600"
    answer = dbatk(
        "ctas", "-t", f"postgresql://{server.user}@localhost/{server.database}?port={server.port}", *work
    )
    assert answer.status == 5 and "only approved work may run on `dwh`" in answer.err
    (home / "p.toml").write_text(
        f'[plan]\nname = "p"\ntarget = "{server.url}"\n[[step]]\nname = "s"\noperation = "stats-gather"\n'
        f'table = "{postgresql_schema}.a"\n'
    )
    assert "`p.toml` is not approved" in dbatk("run", "p.toml", "--not-production").err
    answer = dbatk("clean", "-t", server.url, "--json")
    assert answer.status == 0 and json.loads(answer.out)["done"] == []


@pytest.mark.full
def test_oracle_is_known_by_dbid_and_container_and_licences_are_those_all_profiles_declare(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin() as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        port = standin.url.rpartition(":")[2].partition("/")[0]
        licence = 'licenses.diagnostics_pack = {by = "me", on = 2026-01-31}\n'
        profiles(
            home,
            f'[targets.strict]\nurl = "{standin.url}"\nproduction = true\nmax_degree = 2\n'
            f'[targets.loose]\nurl = "oracle://dbatk@localhost:{port}/FREEPDB1"\nproduction = false\n{licence}',
        )
        assert dbatk("target", "test", "strict").status == 0
        work = ("--source", "GTEST", "--table", "MADE")
        answer = dbatk("ctas", "-t", "loose", *work)
        assert answer.status == 5 and "is a production database, says profile `strict`" in answer.err, answer.err
        answer = dbatk("ctas", "-t", "loose", *work, "--degree", "4", "--allow-production", "strict")
        assert "degree 4 is above the max_degree 2 of profile `strict`" in answer.err
        answer = dbatk("ctas", "-t", "loose", *work, "--snapshot", "awr", "--allow-production", "strict")
        assert answer.status == 5 and "TK-0303" in answer.err, answer.err
        profiles(home, (home / "config/targets.toml").read_text().replace("max_degree = 2", licence))
        answer = dbatk("ctas", "-t", "loose", *work, "--snapshot", "awr", "--allow-production", "strict")
        assert "TK-0303" not in answer.err or "not declared" not in answer.err, answer.err


def test_a_bundle_of_a_database_for_approved_work_only_is_neither_written_nor_taken(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin(Scenario()) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        text = SWEEP.format(target=standin.url).replace("small", "GTEST").replace("made", "MADE")
        (home / "s.toml").write_text(text)
        profiles(home, f'[targets.dwh]\nurl = "{standin.url}"\napproved_only = true\n')
        answer = dbatk("export", "s.toml", "--out", "b")
        assert answer.status == 5 and "only approved work may run on `dwh`" in answer.err, answer.err
        (home / "s.toml").write_text(text.replace("127.0.0.1", "elsewhere"))
        answer = dbatk("export", "s.toml", "--out", "b", "--assume", "19-ee")
        assert answer.status == 5 and "may be the database of profile `dwh`" in answer.err
        assert not (home / "b").exists()
