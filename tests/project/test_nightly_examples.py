"""The nightly plans of `examples/`: read, each step rendered for its engine, and PostgreSQL's run on a server."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import tomli_w

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


@pytest.mark.parametrize(("plan", "step", "target"), _steps())
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


def _states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    main(["plan", "report", "last", "--json"])
    return {step["step"]: step["state"] for step in json.loads(capsys.readouterr().out)["steps"]}
