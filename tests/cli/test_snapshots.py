"""`dbatk snapshot` and `dbatk awr fetch` as a user types them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Dbatk
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.observed import Cursor
from tests.oracle.standin.scenarios import enterprise_19c_rac
from tests.oracle.test_snapshot_sources import WITH_STATSPACK, packs
from tests.servers.postgresql import Server
from tests.tiers import thinned


def change(file: Path, text: str) -> None:
    import duckdb

    with duckdb.connect(str(file)) as connection:
        connection.execute(text)


# -- embedded ---------------------------------------------------------------------------------------------------
def test_before_and_after_on_an_embedded_database(dbatk: Dbatk, url: str, home: Path) -> None:
    assert dbatk("snapshot", "take", "before", "-t", url).status == 0
    change(home / "small.duckdb", "create table large as select range i from range(100000)")
    assert dbatk("snapshot", "take", "after", "-t", url).status == 0
    told = dbatk("compare", "before", "after")
    assert told.status == 0
    assert "new: table main.large" in told.out
    assert dbatk("snapshot", "list").out.count("duckstat") == 2


def test_the_page_stands_alone_and_the_document_is_one(dbatk: Dbatk, url: str, home: Path) -> None:
    for label in ("a", "b"):
        dbatk("snapshot", "take", label, "-t", url)
    told = dbatk("compare", "a", "b", "--json", "--out", "d.html")
    assert json.loads(told.out)["after"]["label"] == "b"
    page = (home / "d.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page


def test_the_newest_of_one_label_is_meant_and_it_is_said(dbatk: Dbatk, url: str) -> None:
    dbatk("snapshot", "take", "a", "-t", url)
    assert "an older snapshot `a`" in dbatk("snapshot", "take", "a", "-t", url).err
    dbatk("snapshot", "take", "b", "-t", url)
    told = dbatk("compare", "a", "b", "--json")
    assert json.loads(told.out)["before"]["snapshot"] == 2
    assert "the newest is used (#2)" in json.loads(told.out)["warnings"][0]
    assert json.loads(dbatk("compare", "#1", "b", "--json").out)["before"]["snapshot"] == 1


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("typed", "code", "says"),
    thinned(
        [
            (("take", "a..b", "-t", "URL"), "TK-0102", "is not a valid snapshot label"),
            (("take", "", "-t", "URL"), "TK-0102", "is not a valid snapshot label"),
            (("take", "a", "-t", "URL", "--provider", "awr"), "TK-0304", "duckdb has no awr"),
            (("take", "a", "-t", "URL", "--provider", "pgstat"), "TK-0102", "no snapshot provider"),
            (("take", "a", "-t", "URL", "--watch", "3s"), "TK-0107", "no waits to watch"),
            (("take", "a"), "TK-0107", "no target"),
            (("compare", "here", "nowhere"), "TK-0114", "there is no snapshot"),
            (("compare", "here", "here"), "TK-0110", "the same snapshot twice"),
            (("compare", "here..here", "here"), "TK-0110", "the same snapshot twice"),
            (("list", "--limit", "0"), "TK-0102", "--limit"),
        ],
        3,
    ),
)
def test_bad_input_gets_a_sentence(dbatk: Dbatk, url: str, typed: tuple[str, ...], code: str, says: str) -> None:
    dbatk("snapshot", "take", "here", "-t", url)
    group = () if typed[0] == "compare" else ("snapshot",)
    told = dbatk(*group, *(url if word == "URL" else word for word in typed))
    assert told.status in (2, 5)
    assert code in told.err
    assert says in told.err


def test_two_databases_are_not_one(dbatk: Dbatk, url: str, home: Path) -> None:
    change(home / "other.duckdb", "create table t as select 1 i")
    dbatk("snapshot", "take", "a", "-t", url)
    dbatk("snapshot", "take", "b", "-t", "duckdb:///other.duckdb")
    told = dbatk("compare", "a", "b")
    assert told.status == 2
    assert "another database" in told.err


def test_this_host_can_be_a_snapshot_by_itself(dbatk: Dbatk, url: str) -> None:
    for label in ("a", "b"):
        assert dbatk("snapshot", "take", label, "-t", url, "--provider", "osstat").status == 0
        before = psutil.cpu_times()
        while psutil.cpu_times() == before:  # it counts in hundredths of a second
            pass
    assert "host_cpu_" in json.dumps(json.loads(dbatk("compare", "a", "b", "--json").out))


# -- PostgreSQL -------------------------------------------------------------------------------------------------
@pytest.mark.postgresql
def test_a_dropped_index_and_a_setting_are_told_on_postgresql(
    dbatk: Dbatk, postgresql_server: Server, postgresql_schema: str
) -> None:
    url, schema = postgresql_server.url, postgresql_schema
    with postgresql_server.connect() as session:
        session.execute(f'create table "{schema}".t as select i from generate_series(1, 20000) i')
        session.execute(f'create index t_i on "{schema}".t (i)')
        assert dbatk("snapshot", "take", "before", "-t", url).status == 0
        session.execute(f'drop index "{schema}".t_i')
        session.execute(f'select count(*) from "{schema}".t where i = 7')
        session.execute(
            "select pg_stat_force_next_flush()" if session.info.server_version >= 150000 else "select 1"
        )
    assert dbatk("snapshot", "take", "after", "-t", url).status == 0
    told = dbatk("compare", "before", "after", "--json")
    document = json.loads(told.out)
    assert told.status == 0
    gone = [one for one in document["changed"] if one["after"] is None]
    assert [(one["section"], one["name"]) for one in gone] == [("indexes", f"{schema}.t_i")]
    assert f"no longer there: index {schema}.t_i" in " ".join(dbatk("compare", "before", "after").out.split())
    tables = {tuple(row["key"]): row for row in document["sections"]["tables"]["rows"]}
    assert tables[schema, "t"]["counters"]["full_scans"] >= 1  # each parallel worker counts one
    assert document["elapsed_seconds"] > 0


@pytest.mark.postgresql
def test_a_reset_of_the_statistics_is_found_and_nothing_of_it_is_told(
    dbatk: Dbatk, postgresql_server: Server
) -> None:
    url = postgresql_server.url
    dbatk("snapshot", "take", "a", "-t", url)
    with postgresql_server.connect() as session:
        session.execute("select pg_stat_reset()")
    dbatk("snapshot", "take", "b", "-t", url)
    told = dbatk("compare", "a", "b")
    assert told.status == 3
    assert "the statistics of the database were reset (pg_stat_reset)" in told.out
    assert "commits" not in told.out


@pytest.mark.postgresql
def test_what_sessions_wait_for_is_kept_when_asked(dbatk: Dbatk, postgresql_server: Server) -> None:
    told = dbatk("snapshot", "take", "a", "-t", postgresql_server.url, "--watch", "0.3s")
    assert told.status == 0
    assert "pg_stat_statements is not installed" in told.err


# -- Oracle -----------------------------------------------------------------------------------------------------
def site(home: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch, *, declared: bool) -> None:
    licence = 'licenses.diagnostics_pack = {by = "J. Doe", on = 2026-01-31}\n' if declared else ""
    (home / "config").mkdir(exist_ok=True)
    text = f'[targets.dwh]\nurl = "{standin.url}"\nproduction = false\n{licence}'
    (home / "config/targets.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("DBATK_PASSWORD", standin.password)


def test_counters_of_an_instance_are_read_without_a_licence(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=False)
        first = dbatk("snapshot", "take", "a", "-t", "dwh")
        assert first.status == 0
        assert "snapshots by vstat: no AWR" in first.err
        assert "could not be read" not in first.err
        standin.engine.state.statements_run += 1000
        dbatk("snapshot", "take", "b", "-t", "dwh")
        told = dbatk("compare", "a", "b")
        assert "DB time 5.00 s" in told.out
        assert "log file sync" in told.out
        assert packs(standin) == []


@pytest.mark.full
def test_a_declared_pack_lets_awr_take_a_snapshot_too(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=True)
        for label in ("a", "b"):
            assert "the database's own snapshot is" in dbatk("snapshot", "take", label, "-t", "dwh").err
        told = dbatk("compare", "a", "b")
        assert "awr snapshots 101 to 102" in " ".join(told.out.split())


@pytest.mark.parametrize("typed", [("snapshot", "take", "a", "--provider", "awr"), ("awr", "fetch", "101-102")])
def test_awr_without_a_declaration_is_refused_and_nothing_of_it_is_sent(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=False)
        told = dbatk(*typed, "-t", "dwh")
        assert (told.status, packs(standin)) == (5, [])
        assert "TK-0303" in told.err
        assert "licenses.diagnostics_pack" in told.err


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("more", "function"),
    [
        ((), "AWR_REPORT_HTML 2810, 1, 101, 102"),
        (("--global",), "AWR_GLOBAL_REPORT_HTML 2810, CAST(NULL AS VARCHAR2(10)), 101, 102"),
        (("--diff", "102-103"), "AWR_DIFF_REPORT_HTML 2810, 1, 101, 102, 2810, 1, 102, 103"),
        (("--out", "-"), "AWR_REPORT_HTML 2810, 1, 101, 102"),
    ],
)
def test_oracles_own_report_is_fetched_line_by_line(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], function: str
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=True)
        for _ in range(3):
            standin.engine.state.awr.take(standin.engine.state)
        told = dbatk("awr", "fetch", "101-102", "-t", "dwh", *more)
        assert told.status == 0
        assert told.out == f"<html><head>\n\n{function}\n"


def test_the_name_of_the_file_chooses_text(dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin(Scenario()) as standin:
        site(home, standin, monkeypatch, declared=True)
        for _ in range(2):
            standin.engine.state.awr.take(standin.engine.state)
        assert dbatk("awr", "fetch", "101-102", "-t", "dwh", "--out", "r.txt").status == 0
        assert "AWR_REPORT_TEXT" in (home / "r.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("101",), "not a range of snapshots"),
        (("101-101",), "a single snapshot"),
        (("101-999",), "awr has no snapshots 101 and 999"),
        (("101-102", "--pdb"), "not a pluggable database"),
    ],
)
def test_a_range_that_cannot_be_gets_a_sentence(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], says: str
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=True)
        for _ in range(2):
            standin.engine.state.awr.take(standin.engine.state)
        told = dbatk("awr", "fetch", *typed, "-t", "dwh")
        assert told.status in (2, 5)
        assert says in told.err


def test_a_run_by_awr_keeps_its_bracket_and_the_report_and_says_which_rung(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolkit.store import open_store

    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=True)
        done = dbatk("ctas", "-t", "dwh", "--source", "GTEST", "--table", "C")
        assert done.status == 0, done.err
        assert "snapshots by awr" in done.err
        with open_store(home / "store.sqlite") as store:
            run = store.resolve("last")
            names = {one.name for one in store.load_run(run).artifacts}
            assert {"snapshot-bracket.json", "awr-101-102.html"} <= names
            assert store.load_run(run).environment["snapshot_provider"] == "awr"


# -- ranges of the database's own snapshots ---------------------------------------------------------------------
def four_snapshots(standin: Standin) -> None:
    """Take four AWR and four Statspack snapshots, ten minutes and more work from one to the next."""
    state = standin.engine.state
    for repository in (state.awr, state.statspack):
        for number in range(4):
            state.statements_run += 40_000 * (number + 1)
            repository.take(state)
            for snap in repository.snaps:
                snap.taken -= timedelta(minutes=10)


@pytest.mark.thin(2)
@pytest.mark.parametrize(("declared", "snapshot_source"), [(True, "awr"), (False, "statspack")])
def test_two_ranges_of_a_database_are_compared_by_what_may_be_read(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, declared: bool, snapshot_source: str
) -> None:
    with running_standin(Scenario(views=WITH_STATSPACK)) as standin:
        site(home, standin, monkeypatch, declared=declared)
        four_snapshots(standin)
        told = dbatk("compare", "dwh:101-102", "dwh:103-104", "--json")
        document = json.loads(told.out)
        assert told.status == 0
        text = json.dumps(document)
        assert f'"snapshot_source": "{snapshot_source}"' in text
        assert '"begin_snapshot": 101' in text
        assert bool(packs(standin)) is declared


def test_a_range_of_statspack_tells_what_each_statement_cost(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin(Scenario(views=WITH_STATSPACK)) as standin:
        site(home, standin, monkeypatch, declared=False)
        standin.engine.state.cursors["abcdfghjkmn12"] = Cursor("query", 1, 5)
        four_snapshots(standin)
        told = dbatk("compare", "dwh:101-102", "dwh:103-104", "--json")
        statements = json.loads(told.out)["statements"]
        assert statements
        for one in statements:
            assert one["text"] == f"statement {one['sql_id']}"
            assert (one["elapsed_s"]["before"]["total"], one["executions"]["after"]["total"]) == (2.0, 1)


@pytest.fixture
def cluster(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Standin]:
    """A cluster of two instances whose pack is declared."""
    with running_standin(enterprise_19c_rac()) as standin:
        site(home, standin, monkeypatch, declared=True)
        standin.engine.state.awr.instances = 2
        yield standin


def test_a_range_of_a_cluster_tells_the_whole_and_each_instance(dbatk: Dbatk, cluster: Standin) -> None:
    four_snapshots(cluster)
    told = dbatk("compare", "dwh:101-102", "dwh:103-104", "--json")
    document = json.loads(told.out)
    assert document["before"]["scope"] == "rac_global", told.err
    assert len(document["instances"]) == 2
    parts = [one["db_time"]["after"]["total"] for one in document["instances"]]
    assert document["db_time"]["after"]["total"] == pytest.approx(sum(parts))
    assert document["unmatched_instances"] == []
    names = [one["before"]["instance"] for one in document["instances"]]
    assert (len(names), names[1]) == (2, "DWH2")
    shown = dbatk("compare", "dwh:101-102", "dwh:103-104").out
    assert "DWH2" in shown


def test_ranges_without_a_licence_and_without_statspack_are_refused(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=False)
        four_snapshots(standin)
        told = dbatk("compare", "dwh:101-102", "dwh:103-104")
        assert (told.status, packs(standin)) == (5, [])
        assert "no Statspack: it is not installed" in told.err


def test_a_range_over_a_restart_is_no_interval(dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=True)
        standin.engine.state.awr.restarts = True
        four_snapshots(standin)
        told = dbatk("compare", "dwh:101-102", "dwh:103-104")
        assert told.status == 2
        assert "the instance was restarted during it" in told.err


# -- series and runs --------------------------------------------------------------------------------------------
@pytest.mark.thin(2)
@pytest.mark.parametrize("declared", [True, False])
def test_a_range_of_a_database_becomes_a_series_of_its_snapshots(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    with running_standin(Scenario(views=WITH_STATSPACK)) as standin:
        site(home, standin, monkeypatch, declared=declared)
        four_snapshots(standin)
        told = dbatk("awr", "trend", "dwh:101-104", "--json")
        assert told.status == 0, told.err
        (series,) = json.loads(told.out)["series"]
        assert len(series["points"]) == 3
        assert bool(packs(standin)) is declared


@pytest.mark.full
def test_a_series_of_a_cluster_is_of_the_whole_and_of_each_instance(dbatk: Dbatk, cluster: Standin) -> None:
    four_snapshots(cluster)
    told = dbatk("awr", "trend", "dwh:101-104", "--json")
    assert told.status == 0, told.err
    series = json.loads(told.out)["series"]
    instances = {one["points"][0]["instance"] for one in series}
    assert (len(instances), {None, "DWH2"} - instances) == (3, set())
    assert [len(one["points"]) for one in series] == [3, 3, 3]
    busy = {one["points"][0]["instance"]: one["lines"][0]["values"][0] for one in series}
    assert busy[None] == pytest.approx(sum(value for name, value in busy.items() if name))


@pytest.mark.full
def test_a_series_of_a_cluster_has_no_whole_where_an_instance_lacks_a_snapshot(
    dbatk: Dbatk, cluster: Standin
) -> None:
    cluster.engine.state.awr.absent = {(2, 103)}
    four_snapshots(cluster)
    told = dbatk("awr", "trend", "dwh:101-104", "--json")
    assert told.status == 0, told.err
    points = {one["points"][0]["instance"]: one["points"] for one in json.loads(told.out)["series"]}
    assert [one["begin_snapshot"] for one in points[None]] == [101]
    assert [one["begin_snapshot"] for one in points["DWH2"]] == [101]
    assert sorted(len(one) for one in points.values()) == [1, 1, 3]
    assert "102-103: the cluster total lacks instance 2: it lacks one of the snapshots" in told.err


def test_a_series_leaves_out_what_lies_over_a_restart_and_says_so(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_standin() as standin:
        site(home, standin, monkeypatch, declared=True)
        standin.engine.state.awr.restarts = True
        four_snapshots(standin)
        told = dbatk("awr", "trend", "dwh:101-104")
        assert "is skipped: the instance was restarted during it" in told.err


@pytest.mark.full
def test_snapshots_of_one_label_become_a_series(dbatk: Dbatk, url: str, home: Path) -> None:
    assert dbatk("awr", "trend", "label:hourly").status == 2
    for number in range(4):
        change(home / "small.duckdb", f"create table t{number} as select range i from range(1000)")
        assert dbatk("snapshot", "take", "hourly", "-t", url).status == 0
    told = dbatk("awr", "trend", "label:hourly", "--json")
    assert told.status == 0, told.err
    (series,) = json.loads(told.out)["series"]
    assert len(series["points"]) == 3


@pytest.mark.full
def test_two_runs_are_compared_by_the_reports_kept_with_them(dbatk: Dbatk, url: str, home: Path) -> None:
    from tests.cli.test_awr_intervals import report
    from toolkit.model.records import Artifact
    from toolkit.store import open_store

    for day in (1, 2):
        label = f"run{day}"
        gather = ("stats", "gather", "-t", url, "--table", "small", "--repeat", "1", "--label", label)
        assert dbatk(*gather).status == 0
        if day == 1:
            refused = dbatk("compare", "run1", "run1", "--awr")
            assert refused.status == 2 and "no AWR report was stored" in refused.err
        with open_store(home / "store.sqlite") as store:
            content = report(day).encode()
            store.keep_artifact(store.resolve(label), Artifact("awr-101-102.html", "text/html", content))
    told = dbatk("compare", "run1", "run2", "--awr")
    assert told.status == 0, told.err
    assert "LOAD PER SECOND" in told.out
    assert "B / A" in dbatk("compare", "run1", "run2").out


@pytest.mark.parametrize(
    ("declared", "taken"),
    [(True, "DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT"), (False, "PERFSTAT.STATSPACK.SNAP")],
)
def test_a_dry_run_shows_the_snapshots_it_would_take_and_what_they_are_paid_with(
    dbatk: Dbatk, home: Path, monkeypatch: pytest.MonkeyPatch, declared: bool, taken: str
) -> None:
    table = {"OWNER": "DBATK", "OBJECT_NAME": "GTEST", "OBJECT_TYPE": "TABLE"}
    views = {**WITH_STATSPACK, "ALL_OBJECTS": [*WITH_STATSPACK["ALL_OBJECTS"], table]}
    with running_standin(Scenario(views=views)) as standin:
        site(home, standin, monkeypatch, declared=declared)
        told = dbatk("ctas", "-t", "dwh", "--source", "GTEST", "--table", "C", "--dry-run")
        assert told.status == 0, told.err
        assert told.out.count(taken) == 2
        bill = [line for line in told.out.splitlines() if line.startswith("-- licence")]
        assert any("Diagnostics Pack (" in line for line in bill) is declared, bill
        assert "END;;" not in told.out
        assert "more than 60 s" in told.out
        assert packs(standin) == []
