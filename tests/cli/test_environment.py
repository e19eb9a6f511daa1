"""`environment`: what is set on a target, what differs between several, and what changed since the last run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.oracle.standin import running_standin, scenarios
from tests.servers.postgresql import Server
from toolkit.app.environments import environment_at
from toolkit.app.targets import find_target
from toolkit.model.environment import Environment, differences

SMALL = "duckdb:///small.duckdb"


def test_one_target_is_shown_and_written_and_read_again(dbatk: Dbatk, url: str) -> None:
    shown = dbatk("environment", "-t", SMALL)
    assert (shown.status, "CPU: model" in shown.out) == (0, True)
    assert "sysctl" not in shown.out
    assert "--all" in shown.err
    assert "sysctl vm.swappiness" in dbatk("environment", "show", "-t", SMALL, "--all").out
    document = dbatk("environment", "-t", SMALL, "--json").out
    assert {"setting.threads", "server.version"} <= {value["name"] for value in json.loads(document)["values"]}
    Path("then.json").write_text(document)
    same = dbatk("environment", "diff", "then.json", SMALL)
    assert (same.status, "nothing differs between then.json and" in same.out) == (0, True)
    Path("then.json").write_text(
        document.replace('"setting.threads",\n      "value": "', '"setting.threads",\n      "value": "9')
    )
    other = dbatk("environment", "diff", "then.json", SMALL, "--json")
    assert [one["name"] for one in json.loads(other.out)["differences"]] == ["setting.threads"]


@pytest.mark.full
def test_a_database_that_grew_by_the_work_is_no_change(dbatk: Dbatk, url: str) -> None:
    Path("big.sql").write_text("SELECT range AS i FROM range(2000000)")
    for name in ("one", "two"):
        assert "changed since" not in dbatk("ctas", "-t", url, "--query", "big.sql", "--table", name).err


@pytest.mark.full
def test_the_files_that_a_load_may_read_are_no_change(dbatk: Dbatk, url: str) -> None:
    Path("q.sql").write_text("SELECT 1 AS i")
    dbatk("ctas", "-t", url, "--query", "q.sql", "--table", "filled")
    for name in ("one.csv", "two.csv"):
        Path(name).write_text("i\n1\n")
        answer = dbatk("load", name, "-t", url, "--table", "filled")
        assert answer.status == 0 and "changed since" not in answer.err


def test_masked_it_holds_no_name_of_a_machine_or_folder(dbatk: Dbatk, url: str) -> None:
    document = json.loads(dbatk("environment", "-t", SMALL, "--mask", "--salt", "x", "--json").out)
    texts = {value["name"]: str(value["value"]) for value in document["values"]}
    assert not any("/" in text for name, text in texts.items() if not name.startswith("mount."))
    assert not any(name.startswith("mount./") for name in texts)
    assert texts["host.kernel_command_line"].startswith("text_")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((SMALL,), 2, "two sides or more"),
        ((SMALL, SMALL), 2, "each named once"),
        ((SMALL, "nosuch"), 2, "no run is named `nosuch`"),
        ((SMALL, "q.sql"), 2, "is not an environment"),
        ((SMALL, "duckdb:///nosuch.duckdb"), 1, "nosuch.duckdb"),
    ],
)
def test_what_cannot_be_compared_is_said(
    dbatk: Dbatk, url: str, words: tuple[str, ...], status: int, said: str
) -> None:
    Path("q.sql").write_text("SELECT 1")
    answer = dbatk("environment", "diff", *words)
    assert (answer.status, said in answer.err) == (status, True), answer.err


@pytest.mark.postgresql
def test_a_setting_changed_between_two_runs_is_said_and_compared(
    dbatk: Dbatk, postgresql_server: Server, postgresql_url: str, postgresql_schema: str
) -> None:
    build = ("stats", "gather", "-t", postgresql_url, "--table", f"{postgresql_schema}.t", "--not-production")
    with postgresql_server.connect() as session:
        session.execute(f'CREATE TABLE "{postgresql_schema}".t AS SELECT 1 AS i')
        assert dbatk(*build, "--label", "night").status == 0
        assert "changed since" not in dbatk(*build, "--label", "night").err
        session.execute("ALTER ROLE CURRENT_USER SET random_page_cost = 1.5")
        try:
            after = dbatk(*build, "--label", "night")
            shown = json.loads(dbatk("environment", "-t", postgresql_url, "--json").out)["values"]
        finally:
            session.execute("ALTER ROLE CURRENT_USER RESET random_page_cost")
    assert "changed since the last run on this target: setting random_page_cost 4 -> 1.5" in " ".join(
        after.err.split()
    )
    cost = next(value for value in shown if value["name"] == "setting.random_page_cost")
    assert (cost["value"], cost["default"], cost["origin"]) == ("1.5", "4", "user")
    compared = json.loads(dbatk("compare", "night~1", "night", "--json").out)
    assert {"name": "setting.random_page_cost", "a": "4", "b": "1.5"} in compared["differences"]
    reported = dbatk("report", "night~1", "night", "--format", "text").out
    assert any(line.split() == ["setting", "random_page_cost", "4", "1.5"] for line in reported.splitlines())
    fleet = dbatk("environment", "diff", "night~2", "night~1", "night")
    assert any(line.split() == ["setting", "random_page_cost", "4", "4", "1.5"] for line in fleet.out.splitlines())


@pytest.mark.parametrize("name", ["ee-19c", "11g"])
def test_parameters_of_oracle_say_where_they_were_set(
    dbatk: Dbatk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = replace(scenarios.EVERY[name](), parameters={"parallel_max_servers": "64"})
    with running_standin(scenario) as standin:
        monkeypatch.setenv("DBATK_PASSWORD", standin.password)
        answer = dbatk("environment", "-t", standin.url, "--json")
        sent = " ".join(standin.statements)
    found = {value["name"]: value["origin"] for value in json.loads(answer.out)["values"]}
    assert found["setting.parallel_max_servers"] == "parameter file"
    assert ("p.default_value" in sent, "patch.37260974" in found) == (name != "11g", name != "11g")


PLANTED = {
    "work_mem": "12MB", "maintenance_work_mem": "96MB", "effective_cache_size": "5GB", "random_page_cost": "1.3",
    "seq_page_cost": "0.9", "cpu_tuple_cost": "0.02", "checkpoint_timeout": "7min", "wal_writer_delay": "321ms",
    "commit_delay": "17", "synchronous_commit": "off", "default_statistics_target": "250", "jit": "off",
    "max_parallel_workers_per_gather": "3", "effective_io_concurrency": "17", "autovacuum_naptime": "45s",
    "vacuum_cost_limit": "321", "log_lock_waits": "on", "deadlock_timeout": "2s", "temp_file_limit": "3GB",
    "cursor_tuple_fraction": "0.2",
    # what a session of dbatk has its own values of
    "statement_timeout": "90min", "lock_timeout": "70s", "idle_session_timeout": "3h", "search_path": "public",
    "default_tablespace": "pg_default", "client_connection_check_interval": "7s",
}  # fmt: skip


@pytest.mark.postgresql
def test_each_setting_changed_by_hand_is_shown_and_nothing_else(dbatk: Dbatk, postgresql_server: Server) -> None:
    now = ("environment", "-t", postgresql_server.url, "--json")
    Path("before.json").write_text(dbatk(*now).out)
    Path("again.json").write_text(dbatk(*now).out)
    assert json.loads(dbatk("environment", "diff", "before.json", "again.json", "--json").out)["differences"] == []
    with postgresql_server.connect() as session:
        try:
            for name, value in PLANTED.items():
                session.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            session.execute("SELECT pg_reload_conf()")
            with postgresql_server.connect() as other:  # which begins when the server has read them
                assert other.execute("SHOW work_mem").fetchone() == ("12MB",)
            Path("after.json").write_text(dbatk(*now).out)
        finally:
            for name in PLANTED:
                session.execute(f"ALTER SYSTEM RESET {name}")
            session.execute("SELECT pg_reload_conf()")
    shown = json.loads(dbatk("environment", "diff", "before.json", "after.json", "--json").out)["differences"]
    assert sorted(one["name"] for one in shown) == sorted(f"setting.{name}" for name in PLANTED)


OF_DUCKDB = {
    "memory_limit": "1.5GB", "threads": "3", "preserve_insertion_order": "false", "default_order": "DESC",
    "default_null_order": "NULLS_FIRST", "checkpoint_threshold": "32MB", "temp_file_encryption": "true",
    "index_scan_max_count": "4096", "index_scan_percentage": "0.01", "max_vacuum_tasks": "50",
    "merge_join_threshold": "2000", "nested_loop_join_threshold": "7", "ordered_aggregate_threshold": "1000",
    "perfect_ht_threshold": "10", "pivot_limit": "5000", "max_expression_depth": "500",
    "partitioned_write_max_open_files": "20", "integer_division": "true", "late_materialization_max_rows": "60",
    "zstd_min_string_length": "1024",
}  # fmt: skip
SAME_SETTING = {
    "max_memory",
    "wal_autocheckpoint",
    "null_order",
    "worker_threads",
    "write_buffer_row_group_memory_limit",
}
"""Other names of settings among them, by which DuckDB lists them again; the last one follows the memory limit."""


def test_each_of_twenty_settings_of_duckdb_changed_by_hand_is_shown_and_nothing_else(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> Environment:
        found = find_target(SMALL)
        try:
            return environment_at(found)
        finally:
            found.target.close()

    before, again, connect = read(), read(), duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *given, **how: connect(*given, **how, config=OF_DUCKDB))
    shown = {one.name.removeprefix("setting.") for one in differences([before, read()])}
    assert differences([before, again]) == ()
    assert shown - SAME_SETTING == set(OF_DUCKDB)
