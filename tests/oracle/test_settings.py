"""Parameters as factors on Oracle: of the session, of the instance; put back after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import wreck
from tests.oracle.standin import Standin, privileges, running_standin
from tests.oracle.standin.faults import AFTER, Fault, break_connection
from tests.oracle.standin.scenario import Scenario

PARAMETERS = {"optimizer_features_enable": "19.1.0", "workarea_size_policy": "AUTO", "sort_area_size": "65536",
              "processes": "300", "audit_file_dest": "/adump"}  # fmt: skip
CTAS = ("ctas", "--source", "GTEST", "--table", "MADE", "--repeat", "1", "--warmup", "0", "--not-production")
INSTANCE = (*CTAS, "--setting", "pga_aggregate_target=2G,3G")


DBA = Scenario(parameters=PARAMETERS, privileges=(*privileges.PRIVILEGES, "ALTER SYSTEM"))


def run(standin: Standin, folder: Path, *arguments: str) -> tuple[int, list[dict[str, object]], str]:
    status, document = wreck.run(standin, folder, *arguments, "-t", standin.url)
    trials = document.get("trials")
    return status, trials if isinstance(trials, list) else [], str(document)


def test_a_parameter_of_the_session_is_set_verified_and_put_back(tmp_path: Path) -> None:
    with running_standin(Scenario(parameters=PARAMETERS)) as standin:
        status, trials, said = run(
            standin, tmp_path, *CTAS, "--setting", "optimizer_features_enable=19.1.0,12.2.0.1",
            "--setting", "sort_area_size=1M",
        )  # fmt: skip
        assert (status, [trial["outcome"] for trial in trials]) == (0, ["ok", "ok"]), said
        assert "ALTER SESSION SET SORT_AREA_SIZE = 1048576" in standin.engine.statements
        assert not standin.engine.state.parameters


def test_a_parameter_of_the_instance_holds_in_memory_for_the_run(tmp_path: Path) -> None:
    with running_standin(DBA) as standin:
        status, trials, said = run(standin, tmp_path, *INSTANCE)
        assert (status, [trial["outcome"] for trial in trials]) == (0, ["ok", "ok"]), said
        assert standin.engine.state.parameters == {"pga_aggregate_target": "1073741824"}


def test_a_killed_run_leaves_it_to_clean(tmp_path: Path) -> None:
    with running_standin(DBA) as standin:
        assert wreck.kill(
            standin,
            tmp_path,
            Fault(break_connection, words="CREATE TABLE", when=AFTER),
            *(word for word in INSTANCE if word != "--not-production"),
        )
        assert standin.engine.state.parameters["pga_aggregate_target"] in {str(2 * 2**30), str(3 * 2**30)}
        status, _ = wreck.clean(standin, tmp_path)
        assert (status, standin.engine.state.parameters["pga_aggregate_target"]) == (0, "1073741824")


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("setting", "code"),
    [("optimizer_features=19", "TK-0101"), ("optimizer_features_enable=8.1.7", "TK-0102"),
     ("pga_aggregate_target=lots", "TK-0102"), ("pga_aggregate_target=2G,2048M", "TK-0103"),
     ("audit_file_dest=/x", "TK-0102"), ("processes=400", "TK-0107"),
     ("compatible=19.0.0,23.0.0", "nothing puts it back")],
)  # fmt: skip
def test_what_cannot_be_set_is_refused_before_anything_is_changed(tmp_path: Path, setting: str, code: str) -> None:
    with running_standin(Scenario(parameters=PARAMETERS)) as standin:
        before = wreck.look(standin)
        status, _, said = run(standin, tmp_path, *CTAS, "--setting", setting)
        assert (status, f"{code}" in said) == (2, True), said
        assert (wreck.look(standin), standin.engine.state.parameters) == (before, {})


def test_who_may_not_alter_the_system_is_told_the_grant(tmp_path: Path) -> None:
    with running_standin(Scenario(parameters=PARAMETERS)) as standin:
        status, _, said = run(standin, tmp_path, *INSTANCE)
        assert (status, "GRANT ALTER SYSTEM TO DBATK" in said, standin.engine.state.parameters) == (5, True, {})
