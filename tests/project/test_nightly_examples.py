"""The nightly plans of `examples/`: read, each step rendered for its engine, and PostgreSQL's run on a server."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import tomli_w

from tests.for_each import for_each
from tests.oracle.standin import Scenario, Standin, running_standin
from tests.oracle.standin.indexes import Key, Shape
from tests.oracle.standin.privileges import ANY_TABLE, PRIVILEGES
from tests.oracle.standin.rman import oracle_home
from tests.project.tree import ROOT
from tests.servers.postgresql import Server
from toolkit.app.runs.preview import script
from toolkit.cli.main import main
from toolkit.design.plan_file import load_plan
from toolkit.design.plan_step import experiment_of
from toolkit.errors import ToolkitError

PLANS = sorted((ROOT / "examples").glob("nightly-*.toml"))
ENGINES = {"dwh": ("oracle", "19-ee"), "crm": ("postgresql", "17")}
"""What the profiles that the plans name stand for."""


def test_there_is_a_plan_for_each_engine_of_servers_and_one_for_both() -> None:
    assert [path.stem for path in PLANS] == ["nightly-both", "nightly-oracle", "nightly-postgresql"]


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_says_how_it_is_looked_at_run_and_scheduled(path: Path) -> None:
    opening = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line.startswith("#"))
    for command in ("dbatk plan ", "dbatk run ", "dbatk plan schedule "):
        assert f"{command}examples/{path.name}" in opening


def _steps() -> list[tuple[str, str, str]]:
    plans = ((path, load_plan(path)) for path in PLANS)
    return [
        (path.stem, step.name, target)
        for path, plan in plans
        for step in plan.steps
        for target in ((step.target,) if step.target else plan.targets)
    ]


@for_each(("plan", "step", "target"), _steps())
def test_each_step_is_rendered_for_its_engine(plan: str, step: str, target: str) -> None:
    found = next(one for one in load_plan(ROOT / f"examples/{plan}.toml").steps if one.name == step)
    engine, release = ENGINES[target]
    try:
        printed, _ = script(experiment_of(found, target), None, engine=engine, assume=release)
    except ToolkitError as error:
        assert error.code == "TK-0112", error.message  # which tables a schema has only a catalogue knows
        assert "schema" in found.options or found.operation == "purge"
    else:
        assert "timed" in printed


@pytest.mark.postgresql
def test_the_plan_of_postgresql_does_a_night_and_has_nothing_to_do_in_the_next(
    postgresql_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but the steps of pgBackRest, which needs a repository of its own."""
    monkeypatch.setenv("DBATK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("DBATK_STORE", str(tmp_path / "store.sqlite"))
    document = tomllib.loads((ROOT / "examples/nightly-postgresql.toml").read_text(encoding="utf-8"))
    document["step"] = [step for step in document["step"] if step.get("method") != "pgbackrest"]
    document["plan"]["targets"] = [postgresql_server.url]
    file = tmp_path / "night.toml"
    file.write_text(tomli_w.dumps(document))
    statements = (
        "CREATE TABLE shop.events AS SELECT g AS id, now() - g * interval '1 day' AS created"
        " FROM generate_series(1, 2000) g",
        "ALTER TABLE shop.events ADD PRIMARY KEY (id)",
    )
    with postgresql_server.schema("shop", *statements):
        assert main(["run", str(file), "--allow-closed-window", "--not-production"]) == 0, capsys.readouterr()
        states = _states(capsys)
        assert (states["old-events"], states["statistics"]) == ("done", "done")
        with postgresql_server.connect() as session:
            row = session.execute("SELECT count(*) FROM shop.events WHERE created < now() - interval '24 months'")
            assert row.fetchone() == (0,)
        assert main(["run", str(file), "--allow-closed-window", "--not-production"]) == 0, capsys.readouterr()
        states = _states(capsys)
        assert states["indexes"] == states["freeze"] == "skipped"


def test_the_plan_of_oracle_does_a_night_on_the_stand_in_and_rests_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = oracle_home(tmp_path / "home")
    area = tmp_path / "area"
    area.mkdir()
    home.tell(area=str(area))
    for name, value in {**home.variables, "DBATK_PASSWORD": "tiger", "DBATK_CONFIG": str(tmp_path / "config"),
                        "DBATK_STORE": str(tmp_path / "store.sqlite")}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    may = (
        *PRIVILEGES,
        *ANY_TABLE,
        "CREATE ANY TABLE",
        "COMMENT ANY TABLE",
        "ALTER ANY TABLE",
        "DROP ANY TABLE",
        "ALTER ANY INDEX",
        "ANALYZE ANY",
    )
    with running_standin(
        Scenario(views=home.views(), beside=home.beside(), privileges=may, unlimited=("SALES",))
    ) as standin:
        _sell(standin)
        assert main(["target", "add", "dwh", standin.url]) == 0
        command = ["run", str(ROOT / "examples/nightly-oracle.toml"), "--allow-closed-window", "--not-production"]
        assert main(command) == 0, capsys.readouterr()
        assert set(_states(capsys).values()) == {"done"}, _states(capsys)
        left = "SELECT COUNT(*) FROM sales.orders WHERE ordered < now() - INTERVAL 25 MONTH"
        moved = "SELECT COUNT(*) FROM sales.orders_history"
        (old,) = standin.engine.cursor().execute(left).fetchone() or (None,)
        (kept,) = standin.engine.cursor().execute(moved).fetchone() or (0,)
        assert old == 0 < kept
        assert [piece["tag"] for piece in home.pieces()], "the backup stays"
        assert main(command) == 0, capsys.readouterr()
        states = _states(capsys)
        skipped = {step for step, state in states.items() if state == "skipped"}
        assert skipped == {"backup-can-be-read", "orders", "indexes", "statistics"}, states


def _sell(standin: Standin) -> None:
    """Make the tables that the plan names, with orders of three years, and one whose statistics are locked."""
    data = standin.engine.data
    data.execute("CREATE SCHEMA sales")
    data.execute(
        "CREATE TABLE sales.orders AS SELECT i AS id, now()::TIMESTAMP - to_days(i::INT) AS ordered"
        " FROM range(1100) t(i)"
    )
    data.execute("CREATE TABLE sales.orders_history AS SELECT * FROM sales.orders WHERE false")
    data.execute("CREATE TABLE sales.rates AS SELECT 1 AS id")
    for name in ("ORDERS", "ORDERS_HISTORY", "RATES"):
        standin.engine.enter_table(("SALES", name))
    standin.engine.state.statistics.locked["SALES", "RATES"] = "ALL"
    keys = Shape(keys=[Key("ID")])
    standin.engine.state.add(
        "INDEX", ("SALES", "ORDERS_IX"), table=("SALES", "ORDERS"), columns=[("ID", "", "")], rows=1100, shape=keys
    )


def _states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    main(["plan", "report", "last", "--json"])
    return {step["step"]: step["state"] for step in json.loads(capsys.readouterr().out)["steps"]}
