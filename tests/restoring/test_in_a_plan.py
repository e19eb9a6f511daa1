"""A restore as a step of a plan: verified by its own checks; the report shows when a backup was last proved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.restoring.conftest import Place
from toolkit.cli.main import main


def test_a_plan_restores_and_its_report_shows_when(
    place_of: Callable[..., Place], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE orders AS SELECT i AS id FROM range(100) AS t(i)")
    place = place_of("-t", f"duckdb:///{file}")
    status, document = place.run("backup", "run", "--destination", str(place.folder), "--tag", "sunday")
    assert status == 0, document
    plan = tmp_path / "night.toml"
    plan.write_text(
        f'[plan]\nname = "night"\ntargets = ["duckdb:///{file}"]\n[[step]]\nname = "prove"\n'
        f'operation = "restore-try"\nbackup = "{place.folder / "sunday"}"\n'
        f'destination = "{place.scratch}"\ntables = "orders"\nrpo = "1d"\n'
    )
    assert main(["run", str(plan)]) == 0, capsys.readouterr()
    capsys.readouterr()
    assert main(["plan", "report", "last"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a restore last proved a backup of" in shown
    assert "SHA256SUMS confirms every file" in shown
    assert place.left() == []
