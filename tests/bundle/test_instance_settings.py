"""Parameters of the whole instance in bundles: set for each trial, restored after it, never put over another's."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from tests.bundle.conftest import Maker, Workshop
from tests.oracle.standin import Scenario, privileges
from tests.oracle.standin.faults import AFTER, Act, Fault, break_connection
from toolkit.model.words import Outcome

TARGET = "pga_aggregate_target"
FORMER = str(2**30)
LEVELS = '[factors.setting]\npga_aggregate_target = ["2G", "3G"]'
DBA = Scenario(privileges=(*privileges.PRIVILEGES, "ALTER SYSTEM"), parameters={"processes": "300"})


def now(shop: Workshop) -> str:
    return shop.standin.engine.state.parameters.get(TARGET, FORMER)


def turned_to(shop: Workshop, value: str) -> Act:
    return lambda *_: shop.standin.engine.state.parameters.update({TARGET: value})


def test_each_level_holds_for_its_trial_and_is_restored_after_it(workshop: Maker) -> None:
    shop = workshop(DBA)
    shop.export(factors=f"degree = [1]\n{LEVELS}")
    assert f"# set for the whole instance while a trial runs: {TARGET}" in (shop.bundle / "PLAN").read_text(
        "utf-8"
    )
    assert f"Note: {TARGET}: set for the whole instance" in (shop.bundle / "README.txt").read_text("utf-8")
    seen: list[str] = []
    note: Act = lambda *_: seen.append(now(shop))  # noqa: E731
    shop.standin.engine.faults += [Fault(note, words="CREATE TABLE", spared=spared) for spared in (0, 1)]
    status, said = shop.run()
    assert (status, now(shop), sorted(seen)) == (0, FORMER, [str(2 * 2**30), str(3 * 2**30)]), said
    assert "set for the whole instance while a trial runs" in said
    assert shop.ingest().returncode == 0
    trials = shop.record().trials
    assert [trial.outcome for trial in trials] == [Outcome.OK, Outcome.OK]
    assert {trial.cell[TARGET] for trial in trials} == {"2G", "3G"}


@pytest.mark.full
def test_a_trial_that_broke_off_is_restored_before_it_runs_again(workshop: Maker) -> None:
    shop = workshop(DBA)
    shop.export(factors=f"degree = [1]\n{LEVELS}")
    shop.standin.engine.faults.append(Fault(break_connection, words="CREATE TABLE", when=AFTER))
    status, said = shop.run()
    assert (status, now(shop)) == (3, FORMER), said
    assert shop.run()[0] == 0 and now(shop) == FORMER


def test_undo_restores_it_whatever_was_done(workshop: Maker) -> None:
    shop = workshop(DBA)
    shop.export(factors=f"degree = [1]\n{LEVELS}")
    for left, then in ((str(3 * 2**30), FORMER), (FORMER, FORMER), (str(5 * 2**30), str(5 * 2**30))):
        shop.standin.engine.state.parameters[TARGET] = left
        user, _, at = shop.where.partition("@")
        text = f'CONNECT {user}/"{shop.standin.password}"@{at}\n@{shop.bundle / "undo.sql"}\nEXIT\n'
        done = subprocess.run(
            [str(shop.client), "-S", "/nolog"], input=text, text=True, check=False, capture_output=True
        )
        assert now(shop) == then, done.stdout
    assert "which somebody else set meanwhile" in done.stdout
    assert f"ALTER SYSTEM SET PGA_AGGREGATE_TARGET = {FORMER} SCOPE=MEMORY" in done.stdout


@pytest.mark.full
def test_what_somebody_set_before_or_during_a_trial_is_left_and_said(workshop: Maker) -> None:
    shop = workshop(DBA)
    shop.export(factors=f"degree = [1]\n{LEVELS}")
    shop.standin.engine.faults.append(Fault(turned_to(shop, "7"), words="CREATE TABLE", when=AFTER))
    status, said = shop.run()
    assert (status, now(shop)) == (3, "7"), said
    assert f"parameter `{TARGET}` is `7`, which somebody else set meanwhile (it was `{FORMER}`" in said
    assert f"parameter `{TARGET}` is `7`, it was `{FORMER}` when the script was made: export it again" in said
    assert sum("CREATE TABLE" in text for text in shop.standin.statements) == 1


@pytest.mark.full
def test_a_level_that_the_instance_rounds_is_no_level(workshop: Maker) -> None:
    shop = workshop(replace(DBA, granules={TARGET: 2**30}))
    shop.export(factors=f"degree = [1]\n{LEVELS.replace('3G', '3584M')}")
    status, said = shop.run()
    assert (status, now(shop)) == (3, FORMER), said
    assert f"was set to `{3584 * 2**20}` but is `{4 * 2**30}`: the instance rounds or limits it" in said


@pytest.mark.parametrize(
    ("level", "privilege", "code"),
    [
        ('processes = ["400", "500"]', "ALTER SYSTEM", "TK-0304"),
        (LEVELS.partition("\n")[2], "SELECT ANY TABLE", "TK-0306"),
    ],
)
def test_what_a_script_cannot_set_or_restore_is_refused(
    workshop: Maker, level: str, privilege: str, code: str
) -> None:
    shop = workshop(Scenario(privileges=(*privileges.PRIVILEGES, privilege), parameters={"processes": "300"}))
    file = shop.write(factors=f"degree = [1]\n[factors.setting]\n{level}")
    done = shop.dbatk("export", str(file), "--out", str(shop.bundle))
    assert (done.returncode, code in done.stderr, shop.bundle.exists()) == (5, True, False), done.stderr
