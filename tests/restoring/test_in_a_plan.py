"""A restore as a step of a plan: verified by its own checks; the report shows when a backup was last proved."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.restoring.conftest import Place
from toolkit.app.maintenance.proved import overdue
from toolkit.cli.main import main
from toolkit.store import open_store


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """The URL of a database with one table."""
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE TABLE orders AS SELECT i AS id FROM range(100) AS t(i)")
    return f"duckdb:///{file}"


@pytest.fixture
def place(place_of: Callable[..., Place], shop: str) -> Place:
    return place_of("-t", shop)


def test_a_plan_restores_and_its_report_shows_when(
    place: Place, shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document = place.run("backup", "run", "--destination", str(place.folder), "--tag", "sunday")
    assert status == 0, document
    plan = tmp_path / "night.toml"
    plan.write_text(
        f'[plan]\nname = "night"\ntargets = ["{shop}"]\n[[step]]\nname = "prove"\n'
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


@pytest.mark.full
def test_a_plan_warns_when_no_restore_has_proved_a_backup_for_too_long(
    place: Place, shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "night.toml"
    text = (
        f'[plan]\nname = "night"\ntargets = ["{shop}"]\nproved_within = "8d"\n'
        '[[step]]\noperation = "stats-gather"\ntable = "orders"\n'
    )

    def told() -> str:
        """Run the plan, and return what its report and standard error say of it."""
        assert main(["run", str(plan)]) == 0
        said = capsys.readouterr().err
        assert main(["plan", "report", "last"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert ("proved_within" in said) is ("proved_within" in shown)
        return shown

    plan.write_text(text)
    assert "no restore has proved a backup ever" in told()
    assert place.run("backup", "run", "--destination", str(place.folder), "--tag", "sunday")[0] == 0
    assert place.restore(place.folder / "sunday")[0] == 0
    assert "proved_within" not in told()
    with open_store(tmp_path / "store.sqlite") as store:
        run = store.load_plan_run(store.plan_runs()[0].plan_run)
        notes = list(overdue(store, run, 60.0, datetime.now(UTC) + timedelta(days=9)))
    assert [note.text.startswith("no restore has proved a backup since 20") for note in notes] == [True]
    plan.write_text(text.replace("8d", "0s"))
    assert main(["run", str(plan)]) == 2  # no time at all is no limit
    capsys.readouterr()
