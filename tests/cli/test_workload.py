"""`dbatk workload` as a user types it, on DuckDB."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Dbatk
from tests.for_each import for_each
from toolkit.cli.operations import experiment_of
from toolkit.cli.parameters import Arguments
from toolkit.dialects.registry import dialect_of
from toolkit.errors import ToolkitError
from toolkit.runner import PlanningContext
from toolkit.store import open_store

SHORT = ("--measure-for", "1s", "--ramp-up", "0")
READS = """
[[transaction]]
name = "look"
sql = "SELECT count(*) FROM small WHERE i = :i"
parameters = {i = {column = "i", of = "small"}}
"""


def metrics_of(dbatk: Dbatk) -> dict[str, float]:
    (trial,) = json.loads(dbatk("report", "last", "--json").out)["trials"]
    return {each["name"]: each["value"] for each in trial["metrics"]}


@pytest.mark.full
def test_own_transactions_that_read_are_run_once_as_a_job(dbatk: Dbatk, home: Path, url: str) -> None:
    (home / "t.toml").write_text(READS)
    answer = dbatk("workload", "-t", url, "--transactions", "t.toml", "--users", "2", *SHORT)
    assert answer.status == 0, answer.err
    assert "users 2" in answer.out
    found = metrics_of(dbatk)
    assert found["tps"] > 0
    assert found["errors"] == 0
    assert found["latency_p99_9"] >= found["latency_p50"] > 0


WRITES = """
[[transaction]]
name = "pay"
sql = "UPDATE small SET i = i WHERE i = 1"
"""


@pytest.mark.parametrize(
    ("written", "more", "said"),
    [
        (READS, (), "a job: it only reads and creates nothing"),
        (WRITES, ("--may-change-data",), "a job: what its transactions change stays changed"),
        pytest.param(
            WRITES, ("--may-change-data", "--users", "1,2", "--repeat", "1", "--warmup", "0"),
            "a measurement: what its transactions change stays changed", marks=pytest.mark.full,
        ),
        ("", ("--builtin", "order_entry"), "a job: every object is a scratch object and is dropped"),
    ],
)  # fmt: skip
def test_what_becomes_of_what_users_create_or_change_is_said_before_they_begin(
    dbatk: Dbatk, home: Path, url: str, written: str, more: tuple[str, ...], said: str
) -> None:
    (home / "t.toml").write_text(written)
    own = ("--transactions", "t.toml") if written else ()
    answer = dbatk("workload", "-t", url, *own, *more, *SHORT)
    assert answer.status == 0 and said in answer.err, answer.err


@pytest.mark.full
def test_the_throughput_of_each_second_is_kept_and_drawn(dbatk: Dbatk, home: Path, url: str) -> None:
    (home / "t.toml").write_text(READS)
    given = ("--transactions", "t.toml", "--users", "1", "--measure-for", "3s", "--ramp-up", "0")
    assert dbatk("workload", "-t", url, *given).status == 0
    with open_store(home / "store.sqlite") as store:
        (trial,) = store.load_run(store.resolve("last"), samples=True).trials
    drawn = [one for one in trial.samples if one.name == "transactions_per_s"]
    assert [one.at_seconds for one in drawn] == [0.5, 1.5, 2.5]
    assert sum(one.value for one in drawn) == metrics_of(dbatk)["transactions"]
    assert dbatk("report", "last", "--out", "page.html").status == 0
    assert "Throughput during the run" in (home / "page.html").read_text(encoding="utf-8")


def test_the_text_that_was_given_is_kept_with_the_experiment(dbatk: Dbatk, home: Path, url: str) -> None:
    (home / "t.toml").write_text(READS)
    line = ("workload", "-t", url, "--transactions", "t.toml", "--users", "2", *SHORT)
    assert dbatk(*line, "--save-as", "e.toml").status == 0
    (home / "t.toml").unlink()
    shown = dbatk("run", "e.toml", "--dry-run")
    assert shown.status == 0, shown.err
    assert "SELECT count(*) FROM small WHERE i = :i;" in shown.out
    assert ':i = one of: SELECT "i" FROM' in shown.out


def test_a_file_of_an_experiment_names_the_file_of_transactions(dbatk: Dbatk, home: Path, url: str) -> None:
    folder = home / "sub"
    folder.mkdir()
    (folder / "t.toml").write_text(READS)
    (folder / "e.toml").write_text(
        f'[experiment]\ntarget = "{url}"\noperation = "workload"\ntransactions = "t.toml"\nmeasure_for = "1s"\n'
        "ramp_up = 0\n\n[factors]\nusers = [1, 2]\n"
    )
    shown = dbatk("run", "sub/e.toml", "--dry-run")
    assert shown.status == 0, shown.err
    assert shown.out.count("transaction look, weight 1") == 2


@pytest.mark.full
def test_what_changes_data_must_be_said(dbatk: Dbatk, home: Path, url: str) -> None:
    (home / "t.toml").write_text(
        '[[transaction]]\nname = "add"\nsql = "INSERT INTO small (i) VALUES (:n)"\n'
        'parameters = {n = {after = "i", of = "small"}}\n'
    )
    line = ("workload", "-t", url, "--transactions", "t.toml", "--users", "2", *SHORT)
    refused = dbatk(*line)
    assert (refused.status, "`add` changes data of yours" in refused.err) == (2, True)
    assert "--may-change-data" in refused.err
    assert dbatk(*line, "--may-change-data").status == 0
    assert metrics_of(dbatk)["errors"] == 0
    with duckdb.connect(str(home / "small.duckdb"), read_only=True) as beside:
        rows = beside.execute("SELECT count(*), count(DISTINCT i) FROM small").fetchall()
    assert rows[0][0] == rows[0][1]


def test_a_transaction_that_always_fails_fails_the_trial_with_its_count(
    dbatk: Dbatk, home: Path, url: str
) -> None:
    (home / "t.toml").write_text(
        '[[transaction]]\nname = "bad"\nsql = "SELECT error(\'no such day\')"\n\n' + READS.strip()
    )
    answer = dbatk("workload", "-t", url, "--transactions", "t.toml", *SHORT)
    assert answer.status == 3
    assert "the transaction `bad` failed each of" in answer.out + answer.err
    assert "no such day" in answer.out + answer.err


@pytest.mark.full
def test_what_fails_now_and_then_is_said_once_of_a_run_and_counted_in_each_trial(
    dbatk: Dbatk, home: Path, url: str
) -> None:
    (home / "t.toml").write_text(
        "[[transaction]]\nname = \"odd\"\nsql = \"SELECT CASE WHEN :n = 1 THEN error('odd day') ELSE 'x' END\"\n"
        "parameters = {n = {uniform = [1, 2]}}\n"
    )
    line = ("workload", "-t", url, "--transactions", "t.toml", *SHORT, "--repeat", "2", "--warmup", "0")
    answer = dbatk(*line)
    assert answer.status == 0, answer.err
    run = json.loads(dbatk("report", "last", "--json").out)
    (said,) = [one for one in run["warnings"] if "odd day" in one]
    assert "transactions `odd` failed with" in said
    names = [one["name"] for trial in run["trials"] for one in trial["metrics"] if one["name"] in said]
    assert len([name for name in names if name.startswith("errors_")]) == 2


def test_a_statement_that_is_wrong_is_said_before_anything_runs(dbatk: Dbatk, home: Path, url: str) -> None:
    (home / "t.toml").write_text('[[transaction]]\nname = "bad"\nsql = "SELECT x FROM no_such_table"\n')
    answer = dbatk("workload", "-t", url, "--transactions", "t.toml", *SHORT)
    assert answer.status == 3
    assert "statement 1 of the transaction `bad`" in answer.out + answer.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--builtin", "tpcb", "--users", "0"), "users"),
        (("--builtin", "tpcb", "--think-time", "-1"), "think_time"),
        (("--builtin", "tpcb", "--rate", "0"), "rate"),
        (("--builtin", "tpcb", "--scale", "0"), "scale"),
        (("--builtin", "tpcb", "--measure-for", "0.2s"), "shorter than a second"),
        (("--builtin", "tpc"), "tpcb"),
        (("--builtin", "tpcb", "--isolation", "serializable"), "isolation"),
        (("--builtin", "tpcb", "--loop", "server"), "the database is in the process of its users"),
        (("--builtin", "tpcb", "--transactions", "t.toml"), "builtin"),
        (("--transactions", "t.toml", "--scale", "3"), "scale"),
        (("--transactions", "none.toml"), "none.toml"),
        ((), "builtin"),
        (("--builtin", "tpcb", "--scale", "20000"), "free"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_made(
    dbatk: Dbatk, home: Path, url: str, more: tuple[str, ...], said: str
) -> None:
    (home / "t.toml").write_text(READS)
    answer = dbatk("workload", "-t", url, *more)
    assert (answer.status in {2, 5}, said in answer.err) == (True, True), answer.err
    assert "Traceback" not in answer.err
    assert json.loads(dbatk("runs", "list", "--json").out)["runs"] == []


@for_each(
    ("weights", "sentence"),
    [
        ("1:1", "has 2 numbers, and there are 4 transactions"),
        ("1:1:1:1,0:0:0:0", "cannot be `0:0:0:0`"),
        ("1:1:1:-1", "cannot be `1:1:1:-1`"),
        ("1:nan:1:1", "cannot be `1:nan:1:1`"),
    ],
)  # fmt: skip
def test_weights_that_say_nothing_are_refused(weights: str, sentence: str) -> None:
    with pytest.raises(ToolkitError) as refused:
        experiment_of(
            "workload", Arguments({"target": "duckdb:///x", "builtin": "order_entry", "weights": weights})
        )
    assert sentence in refused.value.message
    assert weights == "1:1" or "at least one of them above 0" in str(refused.value.hint)


def test_weights_are_those_of_each_configuration_and_zero_leaves_one_out() -> None:
    given = {
        "target": "duckdb:///x.duckdb",
        "builtin": "order_entry",
        "weights": "1:0:0:9,45:43:6:6",
        "users": "2",
    }
    experiment = experiment_of("workload", Arguments(given))
    planning = PlanningContext(experiment, dialect_of("duckdb"), dialect_of("duckdb").assume("2.0"))
    chosen = [
        {one.name: one.weight for piece in planning.operation.pieces(planning.planner(), cell)
         for one in (piece.work.users.transactions if piece.work.users else ())}
        for cell in planning.cells
    ]  # fmt: skip
    assert chosen == [
        {"new_order": 1.0, "stock_level": 9.0},
        {"new_order": 45.0, "payment": 43.0, "order_status": 6.0, "stock_level": 6.0},
    ]


@pytest.mark.parametrize("more", [{"rate": "10"}, {"think_time": "0,1"}])
def test_users_that_wait_do_not_go_with_a_loop_in_the_server(more: dict[str, str]) -> None:
    given = {"target": "postgresql://u@h/d", "builtin": "tpcb", "loop": "client,server"}
    with pytest.raises(ToolkitError, match="lets users wait") as refused:
        experiment_of("workload", Arguments({**given, **more}))
    assert refused.value.code == "TK-0107"
    experiment_of("workload", Arguments({**given, "think_time": "0"}))


def test_what_a_loop_in_plsql_cannot_do_is_refused(dbatk: Dbatk, home: Path) -> None:
    (home / "t.toml").write_text(
        '[[transaction]]\nname = "c"\nsql = "/* SELECT */ call p(:n)"\nparameters = {n = {sequence = 1}}\n'
    )
    line = ("workload", "-t", "oracle://u@h/s", "--assume", "19-ee", "--transactions", "t.toml", "--dry-run")
    refused = dbatk(*line, "--may-change-data", "--loop", "server")
    assert (refused.status, "`c` has CALL, which PL/SQL does not know" in refused.err) == (5, True), refused.err
    assert dbatk(*line, "--may-change-data", "--loop", "client").status == 0


def test_what_making_the_tables_did_is_reported_before_users_are_measured(dbatk: Dbatk) -> None:
    """PostgreSQL: an idle session reports it up to 10 s later, as if the users had done it."""
    given = ("workload", "-t", "postgresql://me@localhost/db", "--builtin", "tpcb", "--users", "2", "--dry-run")
    text = dbatk(*given, "--assume", "17").out
    last, users = text.rindex("-- reads sql/postgresql/force_stats_flush.sql"), text.index("-- worker session")
    assert text.index("TRUNCATE") < last < users
    assert "force_stats_flush" not in dbatk(*given, "--assume", "14").out
