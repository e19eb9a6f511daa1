"""`--setting`: checked against the catalogue, set, verified, and put back, on real databases."""

from __future__ import annotations

import json
import os
import select
import signal
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.servers.forks import Forked
from tests.servers.postgresql import Server
from tests.tiers import thinned

DUCKDB = (
    "ctas",
    "-t",
    "duckdb:///small.duckdb",
    "--source",
    "small",
    "--table",
    "made",
    "--repeat",
    "1",
    "--warmup",
    "0",
)


def outcomes(out: str) -> list[tuple[object, object]]:
    return sorted((trial["factors"].get("memory_limit"), trial["outcome"]) for trial in json.loads(out)["trials"])


def test_the_memory_limit_of_duckdb_may_be_a_share_or_none(dbatk: Dbatk, url: str) -> None:
    answer = dbatk(*DUCKDB, "--setting", "memory_limit=40%,none", "--json")
    assert answer.status == 0, answer.err
    assert outcomes(answer.out) == [("40%", "ok"), ("none", "ok")]


@pytest.mark.full
def test_the_memory_limit_of_duckdb_in_its_natural_spellings(dbatk: Dbatk, url: str) -> None:
    answer = dbatk(*DUCKDB, "--setting", "memory_limit=4G,1GB,512MiB,1.5GB", "--json")
    assert answer.status == 0, answer.err
    assert outcomes(answer.out) == [("1.5GB", "ok"), ("1GB", "ok"), ("4G", "ok"), ("512MiB", "ok")]


def test_a_script_shows_how_a_setting_is_set_and_put_back(dbatk: Dbatk, url: str) -> None:
    settings = ("--setting", "memory_limit=4G", "--setting", "preserve_insertion_order=off")
    before, _, after = dbatk(*DUCKDB, *settings, "--dry-run").out.partition("CREATE TABLE")
    assert """SET "memory_limit" = '4G';""" in before
    assert """SET "preserve_insertion_order" = 'false';""" in before
    assert 'RESET "memory_limit";' in after
    assert 'RESET "preserve_insertion_order";' in after


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("setting", "code", "hint"),
    [("memory_limt=1GB", "TK-0101", "did you mean `memory_limit`?"),
     ("memory_limit=1GB,1000MB", "TK-0103", "give each once"),
     ("memory_limit=1000000000", "TK-0102", "nothing was changed"),
     ("checkpoint_threshold=80%", "TK-0102", "nothing was changed"),
     ("temp_directory=/tmp", "TK-0102", "?external=yes"),
     ("threads=1,2", "TK-0107", "use the option for it"),
     ("checkpoint_threshold=lots", "TK-0102", "nothing was changed"),
     ("http_proxy_password=x", "TK-0102", "it may hold a secret"),
     ("search_path=main", "TK-0102", "it decides what names mean"),
     ("autoload_known_extensions=on", "TK-0102", "it decides which code is loaded"),
     ("preserve_insertion_order=on,true", "TK-0103", "give each once"),
     ("memory_limit", "TK-0102", "--setting work_mem=4MB,64MB")],
)  # fmt: skip
def test_what_cannot_be_set_is_refused_before_anything_is_changed(
    dbatk: Dbatk, url: str, setting: str, code: str, hint: str
) -> None:
    before = Path("small.duckdb").read_bytes()
    answer = dbatk(*DUCKDB, "--setting", setting)
    assert (answer.status, f"[{code}]" in answer.err) == (2, True), answer.err
    assert hint in answer.err
    assert Path("small.duckdb").read_bytes() == before


OTHERWISE = {
    "a step": """
[plan]
name = "n"
target = "duckdb:///small.duckdb?external=yes"
[[step]]
name = "copy"
operation = "ctas"
query = "select * from small"
table = "made"
setting = {SETTING}
""",
    "an experiment": """
[experiment]
name = "n"
target = "duckdb:///small.duckdb?external=yes"
operation = "ctas"
query = "select * from small"
table = "made"
[factors.setting]
SETTING
""",
}


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    "setting", ['search_path = "evil"', 'SCHEMA = "evil"', 'file_search_path = "/tmp"', 'home_directory = "/tmp"']
)
@pytest.mark.parametrize("text", thinned([pytest.param(text, id=name) for name, text in OTHERWISE.items()], 2))
def test_what_decides_which_table_a_name_is_can_be_neither_approved_nor_run(
    dbatk: Dbatk, url: str, home: Path, text: str, setting: str
) -> None:
    with duckdb.connect(url.removeprefix("duckdb:///")) as made:
        made.execute("create schema evil; create table evil.small as select 666 as i")
    (home / "n.toml").write_text(text.replace("SETTING", setting))
    approved, ran = dbatk("plan", "approve", "n.toml"), dbatk("run", "n.toml", "-q")
    assert (approved.status, "it decides what names mean" in approved.err) == (2, True), approved.err
    assert (ran.status != 0, "cannot be changed" in ran.err) == (True, True), ran.err
    assert not (home / "n.approval.toml").exists()
    with duckdb.connect("small.duckdb") as looked:
        assert looked.execute("from duckdb_tables() select count(*) where table_name = 'made'").fetchone() == (0,)


def test_a_host_has_no_settings(dbatk: Dbatk) -> None:
    answer = dbatk("command", "--setting", "work_mem=4MB", "--", "true")
    assert (answer.status, "[TK-0107]" in answer.err) == (2, True)


def test_a_file_with_settings_runs_and_is_written_from_a_command_line(dbatk: Dbatk, url: str) -> None:
    assert dbatk(*DUCKDB, "--setting", "memory_limit=1GB,2GB", "--save-as", "exp.toml").status == 0
    assert '[factors.setting]\nmemory_limit = ["1GB", "2GB"]' in Path("exp.toml").read_text()
    answer = dbatk("run", "exp.toml", "--json")
    assert outcomes(answer.out) == [("1GB", "ok"), ("2GB", "ok")]


# -- PostgreSQL ---------------------------------------------------------------------------------------------------
PROGRAM = ("--", "sh", "-c", "exit 0")


@pytest.fixture
def source(postgresql_server: Server, postgresql_schema: str) -> str:
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".small AS SELECT g AS i FROM generate_series(1, 50) g')
    return f"{postgresql_schema}.small"


def system(server: Server, name: str) -> tuple[object, object]:
    """Return a setting as a new session has it, and what ALTER SYSTEM wrote of it."""
    with server.connect() as session:
        value = session.execute("SELECT setting FROM pg_settings WHERE name = %s", [name]).fetchone()
        written = session.execute(
            "SELECT setting FROM pg_file_settings WHERE name = %s AND sourcefile LIKE '%%auto.conf'", [name]
        ).fetchone()
    return value and value[0], written and written[0]


@pytest.mark.postgresql
def test_settings_of_a_session_are_set_where_the_work_is_done(
    dbatk: Dbatk, postgresql_server: Server, source: str
) -> None:
    answer = dbatk(
        "ctas", "-t", postgresql_server.url, "--source", source, "--table", f"{source}2", "--not-production",
        "--setting", "work_mem=64kB,64M", "--setting", "jit=on,off", "--setting", "random_page_cost=1.1",
        "--repeat", "1", "--warmup", "0", "--json",
    )  # fmt: skip
    trials = json.loads(answer.out)["trials"]
    assert [trial["outcome"] for trial in trials] == ["ok"] * 4, answer.err
    assert system(postgresql_server, "work_mem")[1] is None


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("setting", "code"),
    [("work_men=1", "TK-0101"), ("work_mem=1kB", "TK-0102"), ("work_mem=4MB,4096kB", "TK-0103"),
     ("shared_buffers=64MB", "TK-0107"), ("block_size=4096", "TK-0102"), ("application_name=x", "TK-0102"),
     ("max_parallel_workers_per_gather=1", "TK-0107"),
     ("default_transaction_isolation=none", "TK-0102"), ("log_connections=on", "TK-0102"),
     ("search_path=public", "TK-0102"), ("standard_conforming_strings=off", "TK-0102"),
     ("local_preload_libraries=plpgsql", "TK-0102"), ("dynamic_library_path=/tmp", "TK-0102")],
)  # fmt: skip
def test_the_catalogue_of_postgresql_says_what_cannot_be_set(
    dbatk: Dbatk, postgresql_server: Server, source: str, setting: str, code: str
) -> None:
    answer = dbatk(
        "ctas", "-t", postgresql_server.url, "--source", source, "--table", f"{source}2", "--not-production",
        "--setting", setting,
    )  # fmt: skip
    assert (answer.status, f"[{code}]" in answer.err) == (2, True), answer.err
    assert "hint: " in answer.err


@pytest.mark.postgresql
def test_a_setting_of_the_server_holds_while_programs_work_and_is_put_back(
    dbatk: Dbatk, postgresql_server: Server, tmp_path: Path
) -> None:
    with postgresql_server.connect() as session:
        session.execute("ALTER SYSTEM SET work_mem = '5MB'")
        session.execute("SELECT pg_reload_conf()")
    try:
        answer = dbatk(
            "command", "-t", postgresql_server.url, "--not-production", "--setting", "work_mem=1MB,2MB",
            "--setting", "log_lock_waits=on", "--repeat", "1", "--warmup", "0", "--json", *PROGRAM,
        )  # fmt: skip
        assert [trial["outcome"] for trial in json.loads(answer.out)["trials"]] == ["ok", "ok"], answer.err
        assert system(postgresql_server, "work_mem") == ("5120", "5MB")
        assert system(postgresql_server, "log_lock_waits")[1] is None
    finally:
        with postgresql_server.connect() as session:
            session.execute("ALTER SYSTEM RESET work_mem")
            session.execute("SELECT pg_reload_conf()")


@pytest.mark.postgresql
def test_a_killed_run_leaves_a_setting_that_the_next_run_refuses_and_clean_puts_back(
    dbatk: Dbatk, postgresql_server: Server, tmp_path: Path
) -> None:
    line = (
        "command",
        "-t",
        postgresql_server.url,
        "--not-production",
        "--setting",
        "work_mem=1MB,2MB",
        "--repeat",
        "2",
    )
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    reading = os.open(begun, os.O_RDONLY | os.O_NONBLOCK)
    process = Forked("toolkit", *line, "--", "sh", "-c", f"echo x > {begun}; exec sleep 600")
    assert select.select([reading], [], [], 300)[0], process.communicate(timeout=300)
    process.kill()
    process.communicate(timeout=300)
    os.close(reading)
    assert process.returncode == -signal.SIGKILL
    assert system(postgresql_server, "work_mem")[1] in {"1MB", "2MB"}
    again = dbatk(*line, *PROGRAM)
    assert (again.status, "[TK-0307]" in again.err) == (5, True), again.err
    job = ("command", "-t", postgresql_server.url, "--not-production", *PROGRAM)
    told = dbatk(*job)
    assert (told.status, "changed setting `work_mem`" in " ".join(told.err.split())) == (0, True), told
    shown = dbatk("clean", "-t", postgresql_server.url, "--dry-run")
    assert (shown.status, shown.err) == (0, "") and "work_mem" in shown.out and "ALTER SYSTEM" in shown.out
    document = json.loads(dbatk("clean", "-t", postgresql_server.url, "--dry-run", "--json").out)
    assert list(document["scripts"].values()) == [shown.out]
    cleaned = dbatk("clean", "-t", postgresql_server.url)
    assert (cleaned.status, "restored setting `work_mem` to `4MB`" in cleaned.out + cleaned.err) == (0, True)
    again = dbatk("clean", "-t", postgresql_server.url, "--dry-run")
    assert (again.status, again.out, again.err) == (0, "", "nothing to clean up\n")
    assert system(postgresql_server, "work_mem") == ("4096", None)
    assert "has not restored" not in dbatk(*job).err
